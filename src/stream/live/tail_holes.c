/* SPDX-License-Identifier: MIT */
/* Looks again at places of a buffer that were given up. */
#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "stream/live/tail_pass.h"

enum {
    HOLES_AT_ONCE = 2 << 20, /* bytes of holes that one poll checks, where */
    HOLE_COSTS = 1024,       /* each hole costs so many more */
};

/* Replaces hole i by the holes that a pass over it has left. */
static bool split_hole(struct pfd_tail *t, size_t i,
                       const struct pfd_tail_pass *p)
{
    uint64_t to = t->holes.hole[i].to;
    struct pfd_tail_hole rest = {
        .from = p->rest ? p->rest : to,
        .to = to,
        .is_fresh = true,
    };
    bool ok = true;
    pfd_tail_holes_remove(&t->holes, i);
    for (size_t k = 0; k < p->n_left && ok; k++) {
        struct pfd_tail_hole hole = p->left[k];
        hole.is_fresh = p->has_doubts;
        ok = pfd_tail_holes_add(&t->holes, &hole);
    }
    if (ok && rest.to > rest.from)
        ok = pfd_tail_holes_add(&t->holes, &rest);
    pfd_tail_holes_join(&t->holes, to, PFD_TAIL_HOLE_MAX);
    return ok;
}

static enum pfd_status check_hole(struct pfd_tail *t, size_t i, bool final,
                                  struct pfd_error *err)
{
    struct pfd_tail_hole *hole = &t->holes.hole[i];
    size_t n = (size_t)(hole->to - hole->from);
    enum pfd_status status =
        pfd_tail_copy_read(&t->scratch, &t->o, hole->from, n, err);
    if (status != PFD_OK || t->scratch.n < n)
        return status;
    uint32_t crc = pfd_crc32c(0, t->scratch.bytes, t->scratch.n);
    if (crc != hole->crc) {
        hole->crc = crc;
        hole->is_fresh = true;
        if (!final)
            return PFD_OK; /* settled once it stops changing */
    } else if (!hole->is_fresh) {
        return PFD_OK;
    }
    struct pfd_tail_pass p = {
        .copy = &t->scratch,
        .other = &t->scratch,
        .end = hole->to,
        .settled = UINT64_MAX,
        .patient = UINT64_MAX,
        .is_hole = true,
        .is_final = final,
    };
    uint64_t n_entries = t->summary.entries;
    pfd_tail_pass_run(t, &p, hole->from);
    hole->is_fresh = p.has_doubts;
    if (!p.failed && t->summary.entries != n_entries)
        p.failed = !split_hole(t, i, &p);
    return p.failed
               ? pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}

enum pfd_status pfd_tail_holes_check(struct pfd_tail *t, bool final,
                                     struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    uint64_t at = final ? 0 : t->place.hole_at;
    uint64_t n = 0;
    const struct pfd_tail_hole *hole = pfd_tail_holes_find(&t->holes, at);
    while (hole && status == PFD_OK && (final || n < HOLES_AT_ONCE)) {
        size_t i = (size_t)(hole - t->holes.hole);
        n += hole->to - hole->from + HOLE_COSTS;
        at = hole->to;
        status = check_hole(t, i, final, err);
        hole = pfd_tail_holes_find(&t->holes, at);
    }
    t->place.hole_at = hole ? at : 0;
    return status;
}
