/* SPDX-License-Identifier: MIT */
#include "find/find.h"

#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

enum {
    /* All that is tried, in bytes of what is searched: places that lie in each
     * other could cost its square. */
    TRIED_FACTOR = 8,
    TRIED_LEAST = 1 << 26,
    /* So many equal bytes at the start, header and an entry, are a copy. */
    COPY_MIN = 32,
};

/* The bytes of a range: where they stand, or copied, which is the caller's to
 * free; [*n], fewer where the core ends. */
static const uint8_t *read_range(const struct pfd_core *core, uint64_t address,
                                 uint64_t n_wanted, size_t *n, uint8_t **copy)
{
    uint64_t left = 0;
    uint64_t n_there = 0;
    const void *bytes = pfd_core_bytes(core, address, &left);
    *copy = NULL;
    *n = 0;
    if (!bytes)
        return NULL;
    if (left >= n_wanted) {
        *n = (size_t)n_wanted;
        return bytes;
    }
    for (uint64_t more = left; n_there < n_wanted && bytes; n_there += more) {
        bytes = pfd_core_bytes(core, address + n_there, &more);
        if (!bytes)
            break;
    }
    *n = (size_t)(n_there < n_wanted ? n_there : n_wanted);
    if (*n <= left)
        return pfd_core_bytes(core, address, &left);
    *copy = malloc(*n);
    *n = *copy ? pfd_core_read(core, address, *copy, *n) : 0;
    return *copy;
}

static uint64_t decoded(const struct pfd_summary *s)
{
    return s->entries - s->unknown;
}

static void spend(struct pfd_search *s, uint64_t n)
{
    s->n_left = s->n_left > n ? s->n_left - n : 0;
}

/* ---- trying ---- */

/* Counts what of a candidate decodes as one format. */
static void try_format(struct pfd_search *s, const struct pfd_candidate *c,
                       const struct pfd_format *format, const uint8_t *bytes,
                       size_t n, struct pfd_summary *ret)
{
    const struct pfd_convert convert = {
        .strings = s->how->strings,
        .format = format->info.name,
        .source = "",
        .threads = 1,
        .limit = UINT64_MAX,
    };
    *ret = (struct pfd_summary){ 0 };
    if (c->found.used < n)
        n = (size_t)c->found.used;
    spend(s, n);
    if (pfd_convert_bytes(&convert, bytes, n, ret, NULL) == PFD_ERR_NOMEM)
        s->failed = true;
}

static bool has_strings(const struct pfd_search *s,
                        const struct pfd_format *format)
{
    return pfd_strings_table(s->how->strings, &format->strings)->n > 0;
}

/* A packet leads to it: a format whose header stands there, and which decodes
 * most of it. */
static void choose_format(struct pfd_search *s, struct pfd_candidate *c,
                          const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; pfd_formats[i]; i++) {
        const struct pfd_format *f = pfd_formats[i];
        struct pfd_candidate as = *c;
        struct pfd_summary summary;
        struct pfd_whole whole;
        if (!f->measure || !f->measure(bytes, n, &whole))
            continue;
        as.format = f;
        as.found.size = whole.size;
        as.found.used = whole.used;
        try_format(s, &as, f, bytes, n, &summary);
        as.found.summary = summary;
        if (!c->format || decoded(&summary) > decoded(&c->found.summary) ||
            (!decoded(&c->found.summary) && !has_strings(s, c->format)))
            *c = as;
    }
}

static void try_candidate(struct pfd_search *s, struct pfd_candidate *c)
{
    const struct pfd_core *core = s->how->core;
    uint8_t *copy = NULL;
    size_t n = 0;
    /* Of one that a packet leads to, the header says how long it is. */
    uint64_t wanted = c->format ? c->found.size : UINT64_C(1) << 32;
    if (!s->n_left) {
        s->is_more = true;
        c->is_dropped = true;
        return;
    }
    const uint8_t *bytes =
        read_range(core, c->found.address, wanted, &n, &copy);
    if (bytes && c->format) {
        try_format(s, c, c->format, bytes, n, &c->found.summary);
    } else if (bytes) {
        choose_format(s, c, bytes, n);
    }
    free(copy);
    if (c->found.size > n)
        c->found.size = n;
    if (c->found.used > n)
        c->found.used = n;
    /* Where next to nothing decodes, chance has made the header. */
    bool is_chance = !decoded(&c->found.summary) ||
                     (c->format && c->format->measure &&
                      c->found.summary.bytes < c->found.used / 100);
    c->is_dropped =
        !bytes || !c->format || (!c->found.by_dispatch && is_chance);
    if (c->format)
        c->found.format = c->format->info.name;
}

/* ---- ranking ---- */

/* What a packet leads to comes first, then what decodes to the largest part,
 * then what decodes to more entries. */
static int compare(const void *a, const void *b)
{
    const struct pfd_candidate *x = a;
    const struct pfd_candidate *y = b;
    const struct pfd_summary *s = &x->found.summary;
    const struct pfd_summary *u = &y->found.summary;
    if (x->is_dropped != y->is_dropped)
        return x->is_dropped ? 1 : -1;
    if (x->found.by_dispatch != y->found.by_dispatch)
        return x->found.by_dispatch ? -1 : 1;
    double share =
        (double)s->bytes / (double)(x->found.used ? x->found.used : 1);
    double other =
        (double)u->bytes / (double)(y->found.used ? y->found.used : 1);
    bool is_clean = !s->skipped_bytes && !s->unknown && !s->lost_bytes;
    bool is_other = !u->skipped_bytes && !u->unknown && !u->lost_bytes;
    if (is_clean != is_other)
        return is_clean ? -1 : 1;
    if (!is_clean && share != other)
        return share > other ? -1 : 1;
    if (decoded(s) != decoded(u))
        return decoded(s) > decoded(u) ? -1 : 1;
    return x->found.address < y->found.address
               ? -1
               : x->found.address > y->found.address;
}

static bool is_sound(const struct pfd_candidate *c)
{
    const struct pfd_summary *s = &c->found.summary;
    return !s->skipped_bytes && !s->unknown && !s->lost_bytes;
}

static bool starts_alike(const struct pfd_core *core, const struct pfd_found *a,
                         const struct pfd_found *b)
{
    uint8_t head[2][COPY_MIN] = { { 0 }, { 0 } };
    uint64_t n = a->used < b->used ? a->used : b->used;
    n = n < COPY_MIN ? n : COPY_MIN;
    pfd_core_read(core, a->address, head[0], (size_t)n);
    pfd_core_read(core, b->address, head[1], (size_t)n);
    return !memcmp(head[0], head[1], COPY_MIN);
}

/* Does it say nothing that the better one does not say? */
static bool is_copy(struct pfd_search *s, const struct pfd_candidate *c,
                    const struct pfd_candidate *better)
{
    const struct pfd_core *core = s->how->core;
    uint8_t *copies[2] = { NULL, NULL };
    size_t n[2] = { 0, 0 };
    size_t i = 0;
    if (c->format != better->format || c->found.by_dispatch || !s->n_left ||
        !starts_alike(core, &c->found, &better->found))
        return false;
    const uint8_t *a =
        read_range(core, c->found.address, c->found.used, &n[0], &copies[0]);
    const uint8_t *b = read_range(core, better->found.address,
                                  better->found.used, &n[1], &copies[1]);
    size_t most = n[0] < n[1] ? n[0] : n[1];
    while (a && b && i < most && a[i] == b[i])
        i++;
    spend(s, i);
    free(copies[0]);
    free(copies[1]);
    if (i == n[0] && n[0] == n[1])
        return true;
    /* Part of one, such as a block of a file that was being written. */
    return i >= COPY_MIN && i < n[0] && !is_sound(c) &&
           decoded(&c->found.summary) <= decoded(&better->found.summary);
}

static bool overlap(const struct pfd_found *a, const struct pfd_found *b)
{
    return a->address < b->address + b->used &&
           b->address < a->address + a->used;
}

/* Those that stand in a better one, or are a copy of it, are dropped. */
static void weed(struct pfd_search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pfd_candidate *c = &s->candidates[i];
        for (size_t k = 0; k < i && !c->is_dropped; k++) {
            struct pfd_candidate *better = &s->candidates[k];
            if (better->is_dropped && !better->is_copy)
                continue;
            c->is_dropped = overlap(&c->found, &better->found);
            if (!c->is_dropped && !better->is_copy && is_copy(s, c, better)) {
                c->is_dropped = true;
                c->is_copy = true;
                better->found.n_copies++;
            }
        }
    }
}

/* Where the next buffer begins, memory is that one's: a header that says more
 * than its buffer had room for reaches over it. */
static void trim(struct pfd_search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct pfd_found *f = &s->candidates[i].found;
        for (size_t k = 0; k < s->n && !s->candidates[i].is_dropped; k++) {
            uint64_t next = s->candidates[k].found.address;
            if (!s->candidates[k].is_dropped && next > f->address &&
                next - f->address < f->size)
                f->size = next - f->address;
        }
        if (f->used > f->size)
            f->used = f->size;
    }
}

/* ---- results ---- */

static struct pfd_found_list *make_list(const struct pfd_search *s)
{
    struct pfd_found_list *list = calloc(1, sizeof *list);
    if (!list)
        return NULL;
    list->at = calloc(s->n + 1, sizeof *list->at);
    for (size_t i = 0; list->at && i < s->n; i++) {
        if (s->candidates[i].is_dropped)
            continue;
        struct pfd_found *f = &list->at[list->n];
        *f = s->candidates[i].found;
        f->kernel = f->kernel ? strdup(f->kernel) : NULL;
        list->n++;
    }
    list->is_more = s->is_more;
    list->n_stray_runs = s->n_stray_runs;
    list->n_stray_entries = s->n_stray_entries;
    list->n_searched = s->n_searched;
    if (list->at)
        return list;
    free(list);
    return NULL;
}

static void judge(struct pfd_search *s)
{
    uint64_t n = s->n_searched;
    s->n_left = n < UINT64_MAX / TRIED_FACTOR - TRIED_LEAST
                    ? n * TRIED_FACTOR + TRIED_LEAST
                    : UINT64_MAX;
    for (size_t i = 0; i < s->n; i++)
        try_candidate(s, &s->candidates[i]);
    qsort(s->candidates, s->n, sizeof *s->candidates, compare);
    weed(s);
    trim(s);
}

enum pfd_status pfd_find_buffers(const struct pfd_find *find,
                                 struct pfd_found_list **ret,
                                 struct pfd_error *err)
{
    struct pfd_search s = { .how = find };
    enum pfd_status status = PFD_OK;
    s.candidates = calloc(PFD_CANDIDATES_MAX, sizeof *s.candidates);
    s.failed = !s.candidates;
    for (size_t i = 0; status == PFD_OK && i < find->n_objects; i++)
        status = pfd_kernels_add(&s.kernels, &find->objects[i], err);
    pfd_kernels_settle(&s.kernels);
    if (status == PFD_OK && !s.failed)
        pfd_search_all(&s);
    *ret = NULL;
    if (status == PFD_OK && !s.failed && !s.is_stopped) {
        judge(&s);
        *ret = make_list(&s);
    }
    free(s.candidates);
    pfd_kernels_free(&s.kernels);
    if (status == PFD_OK && s.is_stopped)
        return pfd_fail(err, PFD_ERR_STOPPED, PFD_NO_OFFSET, "stopped");
    if (status != PFD_OK || *ret)
        return status;
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

void pfd_found_free(struct pfd_found_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->n; i++)
        free((void *)(uintptr_t)list->at[i].kernel);
    free(list->at);
    free(list);
}
