/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "analysis/diff/diff.h"
#include "analysis/diff/diff_form.h"

enum {
    INDEX_BITS = 40, /* of a place: the index; above, the buffer */
    A_KEY = 80,      /* bytes of a key of pairs, with its slots */
    A_RANGE = 64,    /* the limit of ranges grows by one for so many bytes */
    BYTES_MAX = 1 << 30, /* if the caller has no limit */
};

uint64_t pfd_diff_index(uint64_t place)
{
    return place & ((UINT64_C(1) << INDEX_BITS) - 1);
}

static uint64_t place_of(const struct pfd_diff *diff, uint64_t index)
{
    return (uint64_t)diff->buffer << INDEX_BITS | index;
}

/* ---- entries ---- */

/* Bytes of memory for the entries so far, with what pairs will take. */
static size_t memory_of(const struct pfd_diff *diff)
{
    bool has_keys =
        diff->spec.n_by || diff->spec.absolute > 0 || diff->spec.relative > 0;
    return pfd_entry_set_memory(&diff->entries) + diff->texts.bytes.n +
           diff->texts.ends.n + diff->texts.n_slots * sizeof(uint32_t) +
           diff->shapes.bytes.n + diff->keys.bytes.n + diff->n_string_bytes +
           (has_keys ? diff->entries.n * A_KEY : 0);
}

static void add_entry(struct pfd_diff *diff, const struct pfd_row *row)
{
    uint32_t shape = 0;
    struct pfd_diff_string *s = pfd_diff_read_row(diff, row, &shape);
    if (!s) {
        diff->failed = true;
        return;
    }
    uint32_t n = (uint32_t)(diff->values.n / sizeof(uint64_t));
    const uint64_t *values = (const void *)diff->values.data;
    uint64_t hash = pfd_hash_words(diff->seed ^ shape, values, n);
    struct pfd_set_entry *e =
        pfd_entry_set_add(&diff->entries, hash, shape, values, n);
    if (!e) {
        diff->failed = true;
        return;
    }
    if (!e->n[diff->side]++)
        e->place[diff->side] = place_of(diff, row->index);
    s->n[diff->side]++;
    diff->is_full |= memory_of(diff) > diff->spec.n_bytes_max;
}

/* ---- lines of examples ---- */

/* The first line of a place from this one on, [*n] with those behind it. */
static struct pfd_diff_line *lines_from(const struct pfd_diff *diff,
                                        enum pfd_diff_side side, uint64_t place,
                                        size_t *n)
{
    struct pfd_diff_line *lines = (void *)diff->lines.of[side].data;
    size_t n_all = diff->lines.of[side].n / sizeof *lines;
    size_t low = 0;
    size_t high = n_all;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (lines[middle].place < place) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *n = n_all - low;
    return *n ? &lines[low] : NULL;
}

static struct pfd_diff_line *find_line(const struct pfd_diff *diff,
                                       enum pfd_diff_side side, uint64_t place)
{
    size_t n = 0;
    struct pfd_diff_line *ret = lines_from(diff, side, place, &n);
    return n && ret->place == place ? ret : NULL;
}

const char *pfd_diff_line(const struct pfd_diff *diff, enum pfd_diff_side side,
                          uint64_t place, size_t *n)
{
    const struct pfd_diff_line *line = find_line(diff, side, place);
    *n = line ? line->n : 0;
    return *n ? diff->lines.texts.data + line->at : "";
}

static void add_line(struct pfd_diff *diff, const struct pfd_row *row)
{
    struct pfd_diff_line *line =
        find_line(diff, diff->side, place_of(diff, row->index));
    if (!line)
        return;
    size_t at = diff->lines.texts.n;
    pfd_text_add(&diff->lines.texts, pfd_row_bytes(row, row->line),
                 row->line.n);
    diff->failed |= diff->lines.texts.failed;
    if (diff->failed)
        return;
    line->at = at;
    line->n = row->line.n;
}

static int compare_lines(const void *a, const void *b)
{
    const struct pfd_diff_line *x = a;
    const struct pfd_diff_line *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Lists the wanted lines of each side. */
static void want_lines(struct pfd_diff *diff)
{
    const struct pfd_diff_example *all = (const void *)diff->examples.data;
    size_t n = diff->examples.n / sizeof *all;
    for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
        struct pfd_text *lines = &diff->lines.of[side];
        for (size_t i = 0; i < n; i++) {
            struct pfd_diff_line line = { .place = all[i].places[side] };
            if (line.place != PFD_DIFF_NO_PLACE)
                pfd_text_add(lines, &line, sizeof line);
        }
        if (lines->n) {
            qsort(lines->data, lines->n / sizeof(struct pfd_diff_line),
                  sizeof(struct pfd_diff_line), compare_lines);
        }
        diff->failed |= lines->failed;
    }
}

const struct pfd_range *pfd_diff_examples(struct pfd_diff *diff,
                                          enum pfd_diff_side side,
                                          uint32_t buffer, size_t *n)
{
    static const struct pfd_range none;
    size_t n_lines = 0;
    const struct pfd_diff_line *lines =
        lines_from(diff, side, (uint64_t)buffer << INDEX_BITS, &n_lines);
    diff->lines.ranges.n = 0;
    *n = 0;
    for (size_t i = 0; i < n_lines && lines[i].place >> INDEX_BITS == buffer;
         i++) {
        uint64_t index = pfd_diff_index(lines[i].place);
        struct pfd_range *last = (void *)diff->lines.ranges.data;
        if (*n && index <= last[*n - 1].to) {
            last[*n - 1].to = index + 1;
            continue;
        }
        struct pfd_range range = { index, index + 1 };
        pfd_text_add(&diff->lines.ranges, &range, sizeof range);
        if (diff->lines.ranges.failed)
            return NULL;
        ++*n;
    }
    return *n ? (const void *)diff->lines.ranges.data : &none;
}

/* ---- the whole ---- */

static bool take_rows(void *user, const void *bytes, size_t n)
{
    struct pfd_diff *diff = user;
    const struct pfd_row *row;
    for (size_t at = 0; !diff->failed && !diff->is_full &&
                        (row = pfd_row_next(bytes, n, &at));) {
        if (row->string == PFD_ROW_LINE)
            continue;
        if (diff->is_over) {
            add_line(diff, row);
        } else {
            add_entry(diff, row);
        }
    }
    /* pfd_diff_write() says that lines are missing. */
    return diff->is_over || (!diff->failed && !diff->is_full);
}

enum pfd_status pfd_diff_new(const struct pfd_diff_spec *spec,
                             struct pfd_diff **ret, struct pfd_error *err)
{
    struct pfd_diff *diff = calloc(1, sizeof *diff);
    *ret = diff;
    if (!diff)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    diff->spec = *spec;
    if (!spec->n_bytes_max)
        diff->spec.n_bytes_max = BYTES_MAX;
    diff->range_limit.max = diff->spec.n_bytes_max / A_RANGE;
    diff->consumer = (struct pfd_consumer){ .sink = &pfd_sink_rows,
                                            .take = take_rows,
                                            .user = diff };
    /* Programs do not know the seed: their entries cannot be made to collide. */
    (void)!getrandom(&diff->seed, sizeof diff->seed, 0);
    diff->by_found = calloc(spec->n_by + 1, sizeof *diff->by_found);
    diff->ignored_found = calloc(spec->n_ignored + 1, sizeof(bool));
    bool ok = diff->by_found && diff->ignored_found;
    for (size_t i = 0; i < PFD_DIFF_SIDES; i++) {
        size_t n = pfd_strings_count(spec->strings[i]);
        diff->by_index[i] = calloc(n + 1, sizeof *diff->by_index[i]);
        ok = ok && diff->by_index[i];
    }
    if (ok)
        return PFD_OK;
    pfd_diff_free(diff);
    *ret = NULL;
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static void free_string(struct pfd_diff *diff, struct pfd_diff_string *s)
{
    for (size_t i = 0; i < s->n_arguments; i++) {
        for (size_t side = 0; side < PFD_DIFF_SIDES; side++) {
            pfd_value_range_free(&s->arguments[i].values[side],
                                 &diff->range_limit);
        }
    }
    free((char *)(uintptr_t)s->text);
    free(s->arguments);
    free(s->by);
}

void pfd_diff_free(struct pfd_diff *diff)
{
    if (!diff)
        return;
    for (size_t i = 0; i < diff->n_strings; i++)
        free_string(diff, &diff->strings[i]);
    for (size_t i = 0; i < PFD_DIFF_SIDES; i++) {
        free(diff->by_index[i]);
        pfd_text_free(&diff->lines.of[i]);
    }
    pfd_dictionary_free(&diff->keys);
    pfd_dictionary_free(&diff->names);
    pfd_dictionary_free(&diff->shapes);
    pfd_dictionary_free(&diff->texts);
    pfd_entry_set_free(&diff->entries);
    pfd_text_free(&diff->values);
    pfd_text_free(&diff->shape);
    pfd_text_free(&diff->examples);
    pfd_text_free(&diff->lines.ranges);
    pfd_text_free(&diff->lines.texts);
    free(diff->strings);
    free(diff->by_found);
    free(diff->ignored_found);
    free(diff);
}

void pfd_diff_begin(struct pfd_diff *diff, enum pfd_diff_side side,
                    uint32_t buffer)
{
    diff->side = side;
    diff->buffer = buffer;
}

const struct pfd_consumer *pfd_diff_consumer(const struct pfd_diff *diff)
{
    return &diff->consumer;
}

void pfd_diff_add_finding(void *user, const struct pfd_finding *finding)
{
    struct pfd_diff *diff = user;
    if (!diff->is_over && !pfd_finding_is_note(finding->kind)) {
        diff->findings[diff->side][finding->kind] +=
            finding->count ? finding->count : 1;
    }
}

void pfd_diff_set_summary(struct pfd_diff *diff, enum pfd_diff_side side,
                          const struct pfd_summary *summary)
{
    diff->summary[side] = *summary;
}

static enum pfd_status fail_name(const struct pfd_diff *diff, const char *name,
                                 struct pfd_error *err)
{
    const uint32_t *ends = (const void *)diff->names.ends.data;
    char list[PFD_COLUMN_LIST] = "";
    for (uint32_t i = 0; i < diff->names.n; i++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%.*s", i ? ", " : "",
                 (int)(ends[i + 1] - ends[i]),
                 diff->names.bytes.data + ends[i]);
    }
    return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                    "no entry has an argument or origin '%.64s'; there are: %s",
                    name, list);
}

/* Fails if a name means nothing in any entry. */
static enum pfd_status check_names(const struct pfd_diff *diff,
                                   const char *const *names, size_t n,
                                   const bool *found, struct pfd_error *err)
{
    for (size_t i = 0; i < n && diff->entries.n; i++) {
        if (!found[i])
            return fail_name(diff, names[i], err);
    }
    return PFD_OK;
}

enum pfd_status pfd_diff_end(struct pfd_diff *diff, struct pfd_error *err)
{
    const struct pfd_diff_spec *spec = &diff->spec;
    if (diff->is_full) {
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, PFD_NO_OFFSET,
                        "there are more different entries than fit into %zu "
                        "bytes of memory",
                        spec->n_bytes_max);
    }
    if (!diff->failed) {
        enum pfd_status status =
            check_names(diff, spec->by, spec->n_by, diff->by_found, err);
        if (status == PFD_OK) {
            status = check_names(diff, spec->ignored, spec->n_ignored,
                                 diff->ignored_found, err);
        }
        if (status != PFD_OK)
            return status;
        pfd_diff_match(diff);
        want_lines(diff);
        diff->is_over = true;
    }
    return diff->failed
               ? pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}

bool pfd_diff_is_equal(const struct pfd_diff *diff)
{
    const struct pfd_summary *a = &diff->summary[PFD_DIFF_A];
    const struct pfd_summary *b = &diff->summary[PFD_DIFF_B];
    for (size_t i = 0; i < diff->n_strings; i++) {
        const struct pfd_diff_string *s = &diff->strings[i];
        if (s->n_changed || s->only[PFD_DIFF_A] || s->only[PFD_DIFF_B])
            return false;
    }
    return a->lost_bytes == b->lost_bytes &&
           a->skipped_bytes == b->skipped_bytes &&
           !memcmp(diff->findings[PFD_DIFF_A], diff->findings[PFD_DIFF_B],
                   sizeof diff->findings[PFD_DIFF_A]);
}
