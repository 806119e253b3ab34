/* SPDX-License-Identifier: MIT */
/*
 * How the strings of a format string's entries are stored, by comparison of the
 * entries that a scout finds ahead of the walk. The state of the walk is here,
 * since verdicts are its largest part.
 */
#ifndef OPENCL_VERDICT_H
#define OPENCL_VERDICT_H

#include "core/decode/rocm_layout.h"
#include "half_evidence.h"
#include "shared_ids.h"

enum {
    /* Strings with %s whose verdicts are kept. Each costs a limited number of
     * looks ahead, so the work for a buffer is limited. */
    OPENCL_VERDICTS = 1024,
};

/* The decided layout of one string's entries. */
struct opencl_verdict {
    const struct pfd_string *string; /* NULL: free */
    uint64_t layout;
    uint64_t others[PFD_ALTERNATIVES_MAX]; /* [n_others], layouts that fit as
                                              well */
    struct opencl_literals literals;
    int32_t newer; /* bits of evidence for newer compilers */
    uint8_t n_others;
    bool is_decided;
    bool is_guess; /* decided by an entry that is taken for another string's */
    bool is_doubtful;
    bool is_stale_seen; /* counted in opencl_state.stale */
};

struct opencl_state {
    struct pfd_rocm_buffer buffer;
    bool is_lost;
    uint32_t lost_id;
    uint64_t from;               /* where the way was lost */
    uint64_t next;               /* next place to try */
    struct opencl_range stretch; /* planned range, if strings share IDs */
    struct opencl_stale stale;
    size_t n_verdicts;
    struct opencl_verdict verdicts[OPENCL_VERDICTS];
    struct opencl_halves_table halves;
};

/* A cursor over entries that are examined, but not decoded. */
struct opencl_scout {
    const struct pfd_walk *walk;
    const struct opencl_state *state;
    uint64_t at;
    uint64_t end;
    unsigned n_hops;
    unsigned n_tries;
    bool is_lost;
};

static inline uint64_t opencl_size_of(const struct pfd_string *s)
{
    return OPENCL_ENTRY_HEADER + (uint64_t)s->n_payload;
}

/* The plan; it exists if strings share IDs. */
static inline const struct opencl_plan *opencl_plan_of(const struct pfd_walk *w)
{
    const struct opencl_state *st = w->state;
    return w->has_collisions ? (const void *)(st + 1) : NULL;
}

/* Is there a known ID, followed by entries with known IDs up to `limit`? */
bool opencl_leads_on(const struct pfd_walk *w, const struct opencl_state *st,
                     uint64_t at, uint64_t limit);

/* A scout at `at`, ahead of the walk. */
struct opencl_scout opencl_send_scout(const struct pfd_walk *w,
                                      const struct opencl_state *st,
                                      uint64_t at);

/* The string and place of the next entry that is entirely in the range; NULL:
 * none. */
const struct pfd_string *opencl_hop(struct opencl_scout *scout, uint64_t *at);

/* The payload of an entry of s at `at`. */
struct pfd_byte_reader opencl_payload_at(const struct pfd_walk *w, uint64_t at,
                                         const struct pfd_string *s);

/* The verdict on a string that the entry here is taken for, or may have. */
const struct opencl_verdict *opencl_verdict_of(const struct pfd_walk *w,
                                               struct opencl_state *st,
                                               const struct pfd_string *s,
                                               bool is_taken);

#endif
