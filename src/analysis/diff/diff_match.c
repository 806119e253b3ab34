/* SPDX-License-Identifier: MIT */
/*
 * Counts what both sides have, and looks for pairs among the rest: entries with
 * equal values of the arguments that they are paired by, or else of all
 * arguments that are no floats. A key is a set of such values.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff/diff_state.h"

enum {
    LOOKED_AT_MAX = 256 /* entries of B that are tried for one of A */
};

/* Entries with equal keys. */
struct key {
    uint64_t hash;
    uint32_t first; /* an entry with it */
    uint64_t n[PFD_DIFF_SIDES];
    uint32_t heads[PFD_DIFF_SIDES]; /* lists of the entries of one side alone */
    uint32_t tails[PFD_DIFF_SIDES];
};

struct keys {
    struct key *all; /* [n] of [room], owned */
    size_t n;
    size_t room;
    uint32_t *slots; /* [n_slots], a power of two: number + 1; owned */
    size_t n_slots;
    uint64_t *words[2]; /* room for two keys of the longest entries; owned */
};

/* An entry, its shape, and its format string. */
struct view {
    struct pfd_set_entry *entry;
    struct pfd_diff_shape shape;
    const uint8_t *types;
    struct pfd_diff_string *string;
};

static struct view view_of(const struct pfd_diff *diff, uint32_t at)
{
    struct view ret = { .entry = pfd_entry_set_at(&diff->entries, at) };
    ret.shape = pfd_diff_shape_get(diff, ret.entry->shape, &ret.types);
    ret.string = &diff->strings[ret.shape.string];
    return ret;
}

static bool has_tolerance(const struct pfd_diff *diff)
{
    return diff->spec.absolute > 0 || diff->spec.relative > 0;
}

/* ---- keys ---- */

/* Value i of the values that `by` compares; SIZE_MAX: the entry lacks one. */
static size_t by_place(const struct pfd_diff *diff, const struct view *v,
                       size_t by, size_t *origin)
{
    size_t n_origins = 0;
    for (size_t i = 0; i < diff->spec.n_by; i++)
        n_origins += v->string->by[i] == PFD_DIFF_ORIGIN;
    size_t n_rest = v->string->is_unknown; /* the payload comes last */
    size_t at = v->string->by[by] != PFD_DIFF_ORIGIN
                    ? v->string->by[by]
                    : v->shape.n - n_rest - n_origins + (*origin)++;
    return at < v->shape.n && v->types[at] != PFD_CELL_ABSENT ? at : SIZE_MAX;
}

/* Writes the key's words; their number. SIZE_MAX: the entry has no key. ret is
 * one of keys.words. */
static size_t key_words(const struct pfd_diff *diff, const struct view *v,
                        uint64_t *ret)
{
    size_t n = 0;
    size_t origin = 0;
    ret[n++] = v->shape.string;
    for (size_t i = 0; i < diff->spec.n_by; i++) {
        size_t at = by_place(diff, v, i, &origin);
        if (at == SIZE_MAX)
            return SIZE_MAX;
        ret[n++] = v->entry->values[at];
    }
    if (diff->spec.n_by)
        return n;
    ret[n++] = v->entry->shape;
    for (size_t i = 0; i < v->shape.n; i++) {
        if (v->types[i] != PFD_ARGUMENT_FLOAT)
            ret[n++] = v->entry->values[i];
    }
    return n;
}

static bool grow_keys(struct keys *keys)
{
    size_t n = keys->n_slots ? 2 * keys->n_slots : 1024;
    uint32_t *slots = calloc(n, sizeof *slots);
    void *all = realloc(keys->all, n / 2 * sizeof *keys->all);
    if (all)
        keys->all = all;
    if (!slots || !all) {
        free(slots);
        return false;
    }
    for (size_t i = 0; i < keys->n; i++) {
        size_t at = keys->all[i].hash & (n - 1);
        while (slots[at])
            at = (at + 1) & (n - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(keys->slots);
    keys->slots = slots;
    keys->n_slots = n;
    keys->room = n / 2;
    return true;
}

/* Have both entries the same key? other: room for words. */
static bool is_key_of(const struct pfd_diff *diff, uint32_t entry,
                      const uint64_t *words, size_t n, uint64_t *other)
{
    struct view v = view_of(diff, entry);
    return key_words(diff, &v, other) == n &&
           !memcmp(words, other, n * sizeof *words);
}

/* The key of an entry, which may be new; NULL: it has none, or there is no
 * memory. */
static struct key *key_of(struct pfd_diff *diff, struct keys *keys,
                          const struct view *v, uint32_t at)
{
    const uint64_t *words = keys->words[0];
    size_t n = key_words(diff, v, keys->words[0]);
    if (n == SIZE_MAX)
        return NULL;
    if (keys->n == keys->room && !grow_keys(keys)) {
        diff->failed = true;
        return NULL;
    }
    uint64_t hash = pfd_hash_words(diff->seed, words, n);
    size_t i = hash & (keys->n_slots - 1);
    for (; keys->slots[i]; i = (i + 1) & (keys->n_slots - 1)) {
        struct key *k = &keys->all[keys->slots[i] - 1];
        if (k->hash == hash &&
            is_key_of(diff, k->first, words, n, keys->words[1]))
            return k;
    }
    struct key *k = &keys->all[keys->n++];
    *k = (struct key){
        .hash = hash,
        .first = at,
        .heads = { PFD_SET_NONE, PFD_SET_NONE },
        .tails = { PFD_SET_NONE, PFD_SET_NONE },
    };
    keys->slots[i] = (uint32_t)keys->n;
    return k;
}

static void add_to_key(const struct pfd_diff *diff, struct key *k,
                       enum pfd_diff_side side, uint32_t at)
{
    if (k->heads[side] == PFD_SET_NONE) {
        k->heads[side] = at;
    } else {
        pfd_entry_set_at(&diff->entries, k->tails[side])->next = at;
    }
    k->tails[side] = at;
}

/* ---- examples ---- */

static void add_example(struct pfd_diff *diff, uint32_t string, uint64_t a,
                        uint64_t b)
{
    struct pfd_diff_string *s = &diff->strings[string];
    size_t kind = a == PFD_DIFF_NO_PLACE   ? (size_t)PFD_DIFF_B
                  : b == PFD_DIFF_NO_PLACE ? (size_t)PFD_DIFF_A
                                           : (size_t)PFD_DIFF_SIDES;
    struct pfd_diff_example example = { string, { a, b } };
    if (s->n_examples[kind]++ < diff->spec.n_examples)
        pfd_text_add(&diff->examples, &example, sizeof example);
}

/* ---- pairs ---- */

/* Are all values alike? close: some are by tolerance only. */
static bool are_alike(const struct pfd_diff *diff, const struct view *a,
                      const struct view *b, bool *close)
{
    *close = false;
    if (a->entry->shape != b->entry->shape)
        return false;
    for (size_t i = 0; i < a->shape.n; i++) {
        if (!pfd_diff_is_alike(diff, a->types[i], a->entry->values[i],
                               b->entry->values[i], close))
            return false;
    }
    return true;
}

/* Takes a pair: counts the arguments in which it differs. */
static void take_pair(struct pfd_diff *diff, const struct view *a,
                      const struct view *b, bool is_alike)
{
    struct pfd_diff_string *s = a->string;
    uint64_t n = a->entry->n[PFD_DIFF_A] < b->entry->n[PFD_DIFF_B]
                     ? a->entry->n[PFD_DIFF_A]
                     : b->entry->n[PFD_DIFF_B];
    size_t most = a->shape.n < b->shape.n ? a->shape.n : b->shape.n;
    a->entry->n[PFD_DIFF_A] -= n;
    b->entry->n[PFD_DIFF_B] -= n;
    *(is_alike ? &s->n_close : &s->n_changed) += n;
    for (size_t i = 0; i < most && i < s->n_arguments; i++) {
        struct pfd_diff_argument *argument = &s->arguments[i];
        uint64_t x = a->entry->values[i];
        uint64_t y = b->entry->values[i];
        bool close = false;
        bool same_type = a->types[i] == b->types[i];
        if (same_type && x == y)
            continue;
        bool alike =
            same_type && pfd_diff_is_alike(diff, a->types[i], x, y, &close);
        *(alike ? &argument->n_close : &argument->n_changed) += n;
        if (same_type)
            pfd_diff_add_delta(argument, a->types[i], x, y);
    }
    if (!is_alike) {
        add_example(diff, a->shape.string, a->entry->place[PFD_DIFF_A],
                    b->entry->place[PFD_DIFF_B]);
    }
}

/* Pairs a key's remaining entries, in the order of the buffers. */
static void pair_in_order(struct pfd_diff *diff, const struct key *k)
{
    uint32_t i = k->heads[PFD_DIFF_A];
    uint32_t j = k->heads[PFD_DIFF_B];
    while (i != PFD_SET_NONE && j != PFD_SET_NONE) {
        struct view a = view_of(diff, i);
        struct view b = view_of(diff, j);
        if (!a.entry->n[PFD_DIFF_A]) {
            i = a.entry->next;
        } else if (!b.entry->n[PFD_DIFF_B]) {
            j = b.entry->next;
        } else {
            take_pair(diff, &a, &b, false);
        }
    }
}

/* ---- tolerance ---- */

/* An entry by its floats. */
struct candidate {
    const struct pfd_diff *diff;
    uint32_t at;
};

static int compare_floats(const void *x, const void *y)
{
    const struct candidate *a = x;
    const struct candidate *b = y;
    struct view v = view_of(a->diff, a->at);
    struct view w = view_of(b->diff, b->at);
    for (size_t i = 0; i < v.shape.n && i < w.shape.n; i++) {
        double d;
        double e;
        if (v.types[i] != PFD_ARGUMENT_FLOAT || w.types[i] != v.types[i])
            continue;
        memcpy(&d, &v.entry->values[i], sizeof d);
        memcpy(&e, &w.entry->values[i], sizeof e);
        if (isnan(d) || isnan(e)) { /* behind numbers */
            if (isnan(d) != isnan(e))
                return isnan(d) ? 1 : -1;
        } else if (d != e) {
            return d < e ? -1 : 1;
        }
    }
    return a->at < b->at ? -1 : a->at > b->at;
}

/* A side's list of a key, by floats; NULL: out of memory. */
static struct candidate *sorted(const struct pfd_diff *diff, uint32_t head,
                                size_t *n)
{
    *n = 0;
    for (uint32_t at = head; at != PFD_SET_NONE;
         at = pfd_entry_set_at(&diff->entries, at)->next)
        ++*n;
    struct candidate *ret = calloc(*n + 1, sizeof *ret);
    for (uint32_t at = head, i = 0; ret && at != PFD_SET_NONE;
         at = pfd_entry_set_at(&diff->entries, at)->next)
        ret[i++] = (struct candidate){ diff, at };
    if (ret)
        qsort(ret, *n, sizeof *ret, compare_floats);
    return ret;
}

/* Is the first float of b so much larger than that of a that no later entry can
 * be alike? Then *below is false; true: so much smaller. */
static bool is_apart(const struct pfd_diff *diff, const struct view *a,
                     const struct view *b, bool *below)
{
    bool close = false;
    size_t i = 0;
    double x;
    double y;
    if (a->entry->shape != b->entry->shape)
        return false;
    while (i < a->shape.n && a->types[i] != PFD_ARGUMENT_FLOAT)
        i++;
    if (i == a->shape.n ||
        pfd_diff_is_alike(diff, PFD_ARGUMENT_FLOAT, a->entry->values[i],
                          b->entry->values[i], &close))
        return false;
    memcpy(&x, &a->entry->values[i], sizeof x);
    memcpy(&y, &b->entry->values[i], sizeof y);
    *below = y < x || (isnan(x) && !isnan(y));
    return true;
}

/* Finds entries of B that are alike: each of A takes the first one. */
static void pair_alike(struct pfd_diff *diff, const struct key *k)
{
    size_t n_a;
    size_t n_b;
    size_t low = 0;
    struct candidate *as = sorted(diff, k->heads[PFD_DIFF_A], &n_a);
    struct candidate *bs = sorted(diff, k->heads[PFD_DIFF_B], &n_b);
    diff->failed |= !as || !bs;
    for (size_t i = 0; as && bs && i < n_a; i++) {
        struct view a = view_of(diff, as[i].at);
        for (size_t j = low;
             j < n_b && j - low < LOOKED_AT_MAX && a.entry->n[PFD_DIFF_A];
             j++) {
            struct view b = view_of(diff, bs[j].at);
            bool below = false;
            bool close;
            bool apart = is_apart(diff, &a, &b, &below);
            bool is_used = !b.entry->n[PFD_DIFF_B];
            if (j == low && (is_used || (apart && below))) {
                low++;
            } else if (apart && !below) {
                break;
            } else if (!is_used && !apart && are_alike(diff, &a, &b, &close)) {
                take_pair(diff, &a, &b, true);
            }
        }
    }
    free(as);
    free(bs);
}

/* ---- all ---- */

/* Cancels entries that both sides have, and adds the others to their keys. */
static void cancel(struct pfd_diff *diff, struct keys *keys)
{
    bool has_keys = diff->spec.n_by || has_tolerance(diff);
    for (uint32_t at = pfd_entry_set_first(&diff->entries);
         at != PFD_SET_NONE && !diff->failed;
         at = pfd_entry_set_next(&diff->entries, at)) {
        struct view v = view_of(diff, at);
        uint64_t *n = v.entry->n;
        uint64_t equal = n[0] < n[1] ? n[0] : n[1];
        struct key *k = NULL;
        if (has_keys && (diff->spec.n_by || n[0] != n[1])) {
            k = key_of(diff, keys, &v, at);
            v.string->n_keyless += k ? 0 : n[0] + n[1];
        }
        for (size_t side = 0; k && side < PFD_DIFF_SIDES; side++)
            k->n[side] += n[side];
        v.string->n_equal += equal;
        n[0] -= equal;
        n[1] -= equal;
        if (k && (n[0] || n[1]))
            add_to_key(diff, k, n[0] ? PFD_DIFF_A : PFD_DIFF_B, at);
    }
}

static void pair_all(struct pfd_diff *diff, const struct keys *keys)
{
    for (size_t i = 0; i < keys->n && !diff->failed; i++) {
        const struct key *k = &keys->all[i];
        struct view v = view_of(diff, k->first);
        bool both = k->heads[PFD_DIFF_A] != PFD_SET_NONE &&
                    k->heads[PFD_DIFF_B] != PFD_SET_NONE;
        v.string->n_keys += diff->spec.n_by && (k->n[0] > 1 || k->n[1] > 1);
        if (both && has_tolerance(diff))
            pair_alike(diff, k);
        if (both && diff->spec.n_by)
            pair_in_order(diff, k);
    }
}

/* Counts an entry that one side has alone. */
static void take_rest(struct pfd_diff *diff, uint32_t at,
                      enum pfd_diff_side side)
{
    struct view v = view_of(diff, at);
    uint64_t n = v.entry->n[side];
    uint64_t place = v.entry->place[side];
    v.string->only[side] += n;
    for (size_t i = 0; i < v.string->n_arguments && i < v.shape.n; i++) {
        if (v.string->arguments[i].is_ignored)
            continue;
        pfd_diff_add_value(diff, &v.string->arguments[i], side, v.types[i],
                           v.entry->values[i], n);
    }
    add_example(diff, v.shape.string,
                side == PFD_DIFF_A ? place : PFD_DIFF_NO_PLACE,
                side == PFD_DIFF_B ? place : PFD_DIFF_NO_PLACE);
}

void pfd_diff_match(struct pfd_diff *diff)
{
    struct keys keys = { 0 };
    for (size_t i = 0; i < 2; i++) {
        keys.words[i] =
            malloc((UINT16_MAX + 4 + diff->spec.n_by) * sizeof *keys.words[i]);
        diff->failed |= !keys.words[i];
    }
    cancel(diff, &keys);
    pair_all(diff, &keys);
    for (uint32_t at = pfd_entry_set_first(&diff->entries);
         at != PFD_SET_NONE && !diff->failed;
         at = pfd_entry_set_next(&diff->entries, at)) {
        const struct pfd_set_entry *e = pfd_entry_set_at(&diff->entries, at);
        if (e->n[0] || e->n[1])
            take_rest(diff, at, e->n[0] ? PFD_DIFF_A : PFD_DIFF_B);
    }
    diff->failed |= diff->examples.failed || diff->range_limit.failed;
    free(keys.all);
    free(keys.slots);
    free(keys.words[0]);
    free(keys.words[1]);
}
