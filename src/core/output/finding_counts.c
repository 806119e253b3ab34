/* SPDX-License-Identifier: MIT */
#include "core/output/finding_counts.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_FIRST = 64,
};

void pfd_finding_counts_free(struct pfd_finding_counts *t)
{
    free(t->rows);
    free(t->slots);
    pfd_text_free(&t->text);
}

void pfd_finding_counts_clear(struct pfd_finding_counts *t)
{
    if (t->n == 0)
        return;
    t->n = 0;
    t->text.n = 0;
    memset(t->slots, 0, t->n_slots * sizeof *t->slots);
}

static size_t slot_of(const struct pfd_finding_counts *t,
                      enum pfd_finding_kind kind, uint64_t id, uint64_t string)
{
    uint64_t hash = (id ^ string << 32 ^ (uint64_t)kind << 56) *
                    UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash >> 32) & (t->n_slots - 1);
    while (t->slots[i]) {
        const struct pfd_finding_counts_row *row = &t->rows[t->slots[i] - 1];
        if (row->id == id && row->kind == kind && row->string == string)
            break;
        i = (i + 1) & (t->n_slots - 1);
    }
    return i;
}

static void place(struct pfd_finding_counts *t, size_t i)
{
    const struct pfd_finding_counts_row *row = &t->rows[i];
    t->slots[slot_of(t, row->kind, row->id, row->string)] = (uint32_t)i + 1;
}

/* Room for one more row, and twice as many slots as rows. */
static bool reserve(struct pfd_finding_counts *t)
{
    if (t->n < t->room)
        return true;
    size_t room = t->room ? 2 * t->room : SLOTS_FIRST / 2;
    struct pfd_finding_counts_row *rows = realloc(t->rows, room * sizeof *rows);
    if (!rows)
        return false;
    t->rows = rows;
    uint32_t *slots = calloc(2 * room, sizeof *slots);
    if (!slots)
        return false;
    free(t->slots);
    t->slots = slots;
    t->n_slots = 2 * room;
    t->room = room;
    for (size_t i = 0; i < t->n; i++)
        place(t, i);
    return true;
}

struct pfd_finding_counts_row *pfd_finding_counts_row(
    struct pfd_finding_counts *t, enum pfd_finding_kind kind, uint64_t id,
    uint64_t string)
{
    if (!reserve(t)) {
        t->failed = true;
        return NULL;
    }
    size_t slot = slot_of(t, kind, id, string);
    if (t->slots[slot])
        return &t->rows[t->slots[slot] - 1];
    if (t->max && t->n == t->max) {
        t->rest[kind].kind = kind;
        return &t->rest[kind];
    }
    struct pfd_finding_counts_row *row = &t->rows[t->n++];
    t->slots[slot] = (uint32_t)t->n;
    *row = (struct pfd_finding_counts_row){ .id = id,
                                            .string = string,
                                            .kind = kind };
    return row;
}

void pfd_finding_counts_count(struct pfd_finding_counts_row *row, uint64_t n,
                              uint64_t offset, uint64_t index)
{
    if (row->count == 0) {
        row->offset = offset;
        row->index = index;
    }
    row->count += n;
}

void pfd_finding_counts_set_text(struct pfd_finding_counts *t,
                                 struct pfd_finding_counts_row *row,
                                 const char *text)
{
    row->text = t->text.n;
    row->has_text = true;
    pfd_text_add(&t->text, text, strlen(text) + 1);
    t->failed |= t->text.failed;
}

void pfd_finding_counts_merge(struct pfd_finding_counts *to,
                              const struct pfd_finding_counts *from)
{
    to->failed |= from->failed;
    for (size_t i = 0; i < from->n && !to->failed; i++) {
        const struct pfd_finding_counts_row *row = &from->rows[i];
        struct pfd_finding_counts_row *sum =
            pfd_finding_counts_row(to, row->kind, row->id, row->string);
        if (!sum)
            return;
        if (!sum->has_text && sum != &to->rest[row->kind])
            pfd_finding_counts_set_text(to, sum, from->text.data + row->text);
        pfd_finding_counts_count(sum, row->count, row->offset, row->index);
    }
}

static void describe(const struct pfd_finding_counts *t,
                     const struct pfd_finding_counts_row *row, bool is_rest,
                     struct pfd_text *text)
{
    unsigned long long n = row->count;
    text->n = 0;
    if (is_rest) {
        pfd_text_printf(text,
                        "%llu more entries, of more ids than the %zu "
                        "that are told one by one",
                        n, t->max);
    } else {
        pfd_text_puts(text, t->text.data + row->text);
        if (n > 1)
            pfd_text_printf(text, "; the first of %llu such entries", n);
    }
    pfd_text_add(text, "", 1);
}

/* The rows for the rest of a kind come last. */
static const struct pfd_finding_counts_row *rest_row(
    const struct pfd_finding_counts *t, size_t i)
{
    for (size_t k = 0; k < PFD_ENTRY_FINDING_KINDS; k++) {
        if (t->rest[k].count && i-- == 0)
            return &t->rest[k];
    }
    return NULL;
}

bool pfd_finding_counts_finding(const struct pfd_finding_counts *t, size_t i,
                                const char *source, struct pfd_text *text,
                                struct pfd_finding *ret)
{
    bool is_rest = i >= t->n;
    const struct pfd_finding_counts_row *row =
        is_rest ? rest_row(t, i - t->n) : &t->rows[i];
    if (!row || t->failed)
        return false;
    describe(t, row, is_rest, text);
    if (text->failed)
        return false;
    *ret = (struct pfd_finding){
        .kind = row->kind,
        .offset = row->offset,
        .index = row->index,
        .in_buffer = true,
        .source = source,
        .text = text->data,
        .id = row->id,
        .has_id = !is_rest,
        .count = row->count,
    };
    return true;
}

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

static bool reserve_parts(struct pfd_unknown_parts *u)
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
        reserve_parts(u)
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
