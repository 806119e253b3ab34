/* SPDX-License-Identifier: MIT */
#include "core/output/unknown_limit.h"

#include <stdlib.h>
#include <string.h>

void pfd_unsure_free(struct pfd_unknown_parts *u)
{
    free(u->parts);
    pfd_finding_counts_free(&u->ids);
}

void pfd_unsure_clear(struct pfd_unknown_parts *u)
{
    u->n = 0;
    u->n_hidden = 0;
    pfd_finding_counts_clear(&u->ids);
}

static bool reserve(struct pfd_unknown_parts *u)
{
    if (u->n < u->room)
        return true;
    size_t room = u->room ? 2 * u->room : PFD_UNKNOWN_LIMIT_MAX;
    struct pfd_unsure_part *parts = realloc(u->parts, room * sizeof *parts);
    if (!parts)
        return false;
    u->parts = parts;
    u->room = room;
    return true;
}

bool pfd_unsure_begin(struct pfd_unknown_parts *u, uint64_t id, size_t at)
{
    struct pfd_finding_counts_row *row =
        reserve(u)
            ? pfd_finding_counts_row(&u->ids, PFD_FINDING_unknown_id, id, 0)
            : NULL;
    u->failed |= !row;
    if (!row || row->count == PFD_UNKNOWN_LIMIT_OF_ID) {
        u->n_hidden++;
        return false;
    }
    row->count++;
    u->parts[u->n++] = (struct pfd_unsure_part){ .from = at, .id = id };
    return true;
}

void pfd_unsure_end(struct pfd_unknown_parts *u, size_t at)
{
    u->parts[u->n - 1].to = at;
}

/* Is the next entry of this id to be printed? Then it is counted. */
static bool take(struct pfd_unknown_limit *s, uint64_t id)
{
    unsigned i = 0;
    if (s->n == PFD_UNKNOWN_LIMIT_MAX)
        return false;
    while (i < s->n_ids && s->ids[i].id != id)
        i++;
    if (i == s->n_ids) {
        s->ids[i].id = id;
        s->ids[i].n = 0;
        s->n_ids++;
    }
    if (s->ids[i].n == PFD_UNKNOWN_LIMIT_OF_ID)
        return false;
    s->ids[i].n++;
    s->n++;
    return true;
}

uint64_t pfd_unknown_limit_cut(struct pfd_unknown_limit *s,
                               struct pfd_unknown_parts *u,
                               struct pfd_text *out)
{
    uint64_t n_cut = 0;
    size_t kept = 0; /* bytes of the output that are final */
    size_t at = 0;   /* end of the parts handled so far */
    for (size_t i = 0; i < u->n; i++) {
        const struct pfd_unsure_part *part = &u->parts[i];
        if (take(s, part->id))
            continue;
        memmove(out->data + kept, out->data + at, part->from - at);
        kept += part->from - at;
        at = part->to;
        n_cut++;
    }
    if (n_cut) {
        memmove(out->data + kept, out->data + at, out->n - at);
        out->n -= at - kept;
    }
    u->n = 0;
    return n_cut;
}
