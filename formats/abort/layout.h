/* SPDX-License-Identifier: MIT */
/* Shared by the parts of abort: abort.c reads messages, call_sites.c finds the
 * call site of each. */
#ifndef ABORT_LAYOUT_H
#define ABORT_LAYOUT_H

#include "core/decode/format.h"
#include "core/spirv/shader_table.h"

static inline uint64_t abort_align(uint64_t v, uint64_t to)
{
    return (v + to - 1) / to * to;
}

/* A record's layout. 0: no site. Else bits 32 to 62 are the index of its
 * shader, bits 0 to 31 the index of the site, from 1 on, and this bit says that
 * other sites have the same text and types. */
#define ABORT_SEVERAL (UINT64_C(1) << 63)

/* One OpAbortKHR of a shader. */
struct abort_site {
    const struct pfd_shader *shader;
    const struct pfd_spirv_abort *abort; /* NULL: unknown */
    uint64_t layout;                     /* the layout of records that are
                                            decoded by it */
};

enum {
    ABORT_SITES_MAX = 1 + PFD_ALTERNATIVES_MAX
};

/* The sites with the largest score, that is, bytes of constants that the
 * payload has; of sites that are alike, one. */
struct abort_sites {
    struct abort_site site[ABORT_SITES_MAX];
    size_t n;
    int64_t score;
    bool open; /* a site's text can change when a pipeline is created */
};

/* The site of a record's layout. */
struct abort_site abort_site_of(const struct pfd_shader_table *shader_table,
                                uint64_t layout);

/* Is this layout that of a site whose messages can have n bytes? */
bool abort_is_site(const struct pfd_shader_table *shader_table, uint64_t layout,
                   uint64_t n);

/* Finds the sites that a payload [n] can belong to. */
void abort_find_sites(const struct pfd_shader_table *shader_table,
                      const uint8_t *payload, uint64_t n,
                      struct abort_sites *ret);

/* Appends a payload's format string: its text members, except arguments. False:
 * it has none. */
bool abort_text(const struct abort_site *site, const uint8_t *payload,
                uint64_t n, struct pfd_text *ret);

/* Members of pfd_format_abort. */
uint64_t abort_adapt(const struct pfd_record_view *record_view,
                     struct pfd_step *steps, size_t n_steps);
size_t abort_slots(const struct pfd_record_view *record_view,
                   struct pfd_slot *ret, uint64_t *findings);
size_t abort_find(const struct pfd_field *field, size_t from, size_t to,
                  struct pfd_whole *ret);

#endif
