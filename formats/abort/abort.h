/* SPDX-License-Identifier: MIT */
/* The parts of abort: abort.c reads messages, call_sites.c knows whose they are. */
#ifndef ABORT_H
#define ABORT_H

#include "core/decode/format.h"
#include "core/spirv/shader_table.h"

static inline uint64_t abort_align(uint64_t v, uint64_t to)
{
    return (v + to - 1) / to * to;
}

/* What a record's layout says: 0: no site; else its shader's place in bits 32
 * to 62, its own, from 1 on, in bits 0 to 31, and whether other places have the
 * same text and types. */
#define ABORT_SEVERAL (UINT64_C(1) << 63)

/* One OpAbortKHR of a shader. */
struct abort_site {
    const struct pfd_shader *shader;
    const struct pfd_spirv_abort *abort; /* NULL: none is known */
    uint64_t layout;                     /* of the record that is read by it */
};

enum {
    ABORT_SITES_MAX = 1 + PFD_ALTERNATIVES_MAX
};

/* The sites that have most of a payload's bytes, one of those that are alike. */
struct abort_sites {
    struct abort_site site[ABORT_SITES_MAX];
    size_t n;
    int64_t score;
    bool open; /* a site's text can be replaced when a pipeline is made */
};

/* That of a record's layout. */
struct abort_site abort_site_of(const struct pfd_shader_table *shader_table,
                                uint64_t layout);

/* Is this layout that of a site, whose messages can have n bytes? */
bool abort_is_site(const struct pfd_shader_table *shader_table, uint64_t layout,
                   uint64_t n);

/* Those that a payload [n] can be of. */
void abort_find_sites(const struct pfd_shader_table *shader_table,
                      const uint8_t *payload, uint64_t n,
                      struct abort_sites *ret);

/* Appends a payload's format string: its text members, without those that are
 * arguments. False: there is none. */
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
