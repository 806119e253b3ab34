/* SPDX-License-Identifier: MIT */
#include "core/decode/detect_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file_kind.h"
#include "core/decode/inspect.h"
#include "core/decode/walk.h"
#include "core/objects/container.h"

enum {
    /* Score of having strings of the format, */
    OWN_STRINGS = 10,
    /* and of first entries whose ids these strings have. */
    KNOWN_IDS = 20,
    SCORE_MAX = 100,
    /* Below this a format has no evidence; it is only not excluded. */
    FLOOR = 50,
    /* The header makes sense: from here on a magic number of another file type
     * counts as chance. */
    SENSIBLE = 60,
    /* The score of a plausible alternative... */
    PLAUSIBLE = 40,
    /* ...which is so near to the best that chance may have decided. */
    NEAR = 12,
    TRIAL_RECORDS = 64,
    /* The header is possible: enough where the format's strings are loaded and
     * no bytes behind it contradict them, */
    HEADER_ONLY = 30,
    /* or where the first entry is known. */
    HEADER_SURE = 40,
    SHORT_BYTES = 64, /* too short for evidence, */
    LEAST_BYTES = 8,  /* or not even for a header */
    HEADER_BYTES = 16,
    /* Entries that lead to the used part's very end by their strings. */
    FILLED = 3,
};

static bool has_strings(const struct pfd_strings *strings,
                        const struct pfd_format *format)
{
    return pfd_strings_table(strings, &format->strings)->n > 0 ||
           (format->reads_shaders && pfd_strings_shaders(strings)->n > 0);
}

/* The number of formats with loaded strings, and the first of them. */
static size_t count_loaded(const struct pfd_strings *strings,
                           const struct pfd_format **ret)
{
    size_t n = 0;
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        if (has_strings(strings, *f) && n++ == 0)
            *ret = *f;
    }
    return n;
}

const struct pfd_format *pfd_format_of_strings(
    const struct pfd_strings *strings)
{
    const struct pfd_format *ret = NULL;
    return count_loaded(strings, &ret) == 1 ? ret : NULL;
}

/* ---- a trial: decoding the first bytes with the strings ---- */

struct trial {
    size_t n_entries;
    bool knows;       /* an entry that a string explains without a doubt */
    bool begins;      /* the first thing is such an entry */
    bool explains;    /* and it is more than chance */
    bool is_telling;  /* by an id that no other data has */
    uint64_t n_known; /* bytes of entries that a string explains */
    uint64_t largest; /* of these, bytes of one */
    uint64_t skipped; /* bytes of no entries */
    uint64_t begin;   /* where the first entry is */
    uint64_t end;     /* of the last entry */
    bool is_filled;   /* entries alone lead to the used part's end */
};

static bool is_known(const struct pfd_record *r)
{
    return r->kind == PFD_RECORD_ENTRY && r->string;
}

/* Adds a batch to the trial so far. Small ids are common in other data, and
 * so are numbers of shaders, so their entries must be at least as much as what
 * was skipped. */
static void judge(struct trial *ret, const struct pfd_record_batch *batch,
                  bool has_hashes)
{
    for (size_t i = 0; i < batch->n; i++) {
        const struct pfd_record *r = &batch->records[i];
        if (r->kind == PFD_RECORD_ENTRY && !ret->n_entries++)
            ret->begin = r->offset;
        if (!is_known(r))
            continue;
        ret->begins |= ret->n_entries == 1 && !r->findings;
        ret->knows |= !r->findings;
        ret->is_telling |= has_hashes && r->key >> 32 != 0;
        ret->n_known += r->n_bytes;
        ret->end = r->offset + r->n_bytes;
        if (r->n_bytes > ret->largest)
            ret->largest = r->n_bytes;
    }
    ret->skipped += batch->skipped_bytes;
    ret->explains =
        ret->is_telling || (ret->n_known && ret->n_known >= ret->skipped);
}

/* all: goes on to the end of the first bytes, unless an id tells before; else
 * the first entries are enough. Sets *failed when out of memory. */
static struct trial try_format(const struct pfd_strings *strings,
                               const struct pfd_format *format,
                               const struct pfd_byte_reader *first, bool all,
                               bool *failed)
{
    static const struct pfd_options plain = { 0 };
    struct trial ret = { 0 };
    struct pfd_record_batch batch;
    struct pfd_walk walk = { 0 };
    bool ok = pfd_record_batch_init(&batch, TRIAL_RECORDS) &&
              pfd_walk_init(&walk, format, strings, &plain);
    walk.batch = &batch;
    walk.view = *first;
    walk.last = true;
    bool goes_on = ok;
    bool is_over = false;
    while (goes_on) {
        enum pfd_status status = format->walk(&walk);
        goes_on = status == PFD_OK && all;
        is_over = status == PFD_END;
        judge(&ret, &batch, !format->reads_shaders);
        ok = !batch.text.failed && !batch.bytes.failed;
        goes_on &= ok && !ret.is_telling;
        if (goes_on)
            pfd_record_batch_clear(&batch);
    }
    ret.is_filled = is_over && !ret.skipped && ret.n_entries >= FILLED;
    *failed |= !ok;
    pfd_walk_deinit(&walk);
    pfd_record_batch_deinit(&batch);
    return ret;
}

/* ---- the likeliest format ---- */

struct candidate {
    const struct pfd_format *format;
    size_t place; /* in the list of formats: the first of equals is preferred */
    int evidence; /* without strings */
    int score;    /* with what its strings add */
    bool explains;
    bool is_empty; /* no entries with its strings */
};

/* The best of some candidates, and the second best. */
struct ranking {
    struct candidate best;
    struct candidate other;
};

static bool is_better(const struct candidate *a, const struct candidate *b)
{
    return !b->format || a->score > b->score ||
           (a->score == b->score && a->place < b->place);
}

static void rank(struct ranking *r, const struct candidate *c)
{
    if (is_better(c, &r->best)) {
        r->other = r->best;
        r->best = *c;
    } else if (is_better(c, &r->other)) {
        r->other = *c;
    }
}

/* Bytes before an end that are not zero; end 0: all count. */
static size_t count_written(const struct pfd_byte_reader *c, uint64_t end)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n && (!end || i < end); i++)
        n += c->base[i] != 0;
    return n;
}

/* Small ids are everywhere: where the header says little for the format, they
 * have to explain what is there, but for the header and an entry that the first
 * bytes end in. */
static bool is_explained(const struct trial *t, int evidence,
                         const struct pfd_byte_reader *first, bool is_cut)
{
    uint64_t n_header = t->begin <= HEADER_BYTES ? t->begin : 0;
    uint64_t n_cut = is_cut ? t->largest : 0;
    /* Behind the used bytes, stale ones are left. */
    uint64_t end = t->is_filled ? t->end : 0;
    return t->explains &&
           (t->is_telling || evidence >= HEADER_SURE ||
            n_header + t->n_known + n_cut >= count_written(first, end));
}

static struct candidate weigh(const struct pfd_strings *strings,
                              const struct pfd_format *format,
                              const struct pfd_byte_reader *first,
                              uint64_t n_buffer, bool *failed)
{
    struct candidate c = { .format = format };
    c.evidence = c.score = format->probe(first, n_buffer);
    if (!has_strings(strings, format))
        return c;
    struct trial t =
        try_format(strings, format, first, c.evidence < HEADER_SURE, failed);
    c.is_empty = !t.n_entries;
    c.explains = is_explained(&t, c.evidence, first, !n_buffer) ||
                 (t.begins && c.evidence >= HEADER_SURE);
    if (c.explains && c.evidence < FLOOR)
        c.evidence = c.score = FLOOR;
    if (!c.score || !pfd_strings_table(strings, &format->strings)->n)
        return c;
    if (t.knows || !t.n_entries)
        c.score += OWN_STRINGS + (t.knows ? KNOWN_IDS : 0);
    c.score = c.score < SCORE_MAX ? c.score : SCORE_MAX;
    return c;
}

/* True: all bytes from an offset on are zero. */
static bool is_zero(const struct pfd_byte_reader *c, size_t from)
{
    return from >= c->n ||
           (!c->base[from] &&
            !memcmp(c->base + from, c->base + from + 1, c->n - from - 1));
}

/* What is asked, and how formats stand so far. */
struct decision {
    const struct pfd_strings *strings;
    const struct pfd_byte_reader *first;
    uint64_t n_buffer;
    bool is_bare;          /* nothing but a header, or little more */
    struct ranking loaded; /* formats with loaded strings */
    struct ranking all;
    bool failed; /* out of memory */
};

static void weigh_formats(struct decision *d, bool are_loaded)
{
    for (size_t i = 0; pfd_formats[i]; i++) {
        const struct pfd_format *f = pfd_formats[i];
        if (!f->probe || has_strings(d->strings, f) != are_loaded)
            continue;
        struct candidate c =
            weigh(d->strings, f, d->first, d->n_buffer, &d->failed);
        c.place = i;
        if (are_loaded) {
            if ((d->is_bare || c.is_empty) && c.evidence >= HEADER_ONLY &&
                c.evidence < FLOOR)
                c.evidence = c.score = FLOOR;
            rank(&d->loaded, &c);
        }
        rank(&d->all, &c);
    }
}

/* Formats with loaded strings come first, unless no entry matches these, and
 * another format is likelier by far. Where the only ones explain the bytes, no
 * other format can change the choice, and none is asked. */
static struct pfd_format_choice decide(struct decision *d)
{
    const struct pfd_byte_reader *first = d->first;
    const struct pfd_format *alone = pfd_format_of_strings(d->strings);
    d->is_bare = (d->n_buffer && d->n_buffer < SHORT_BYTES) ||
                 is_zero(first, HEADER_BYTES);
    weigh_formats(d, true);
    const struct candidate *best = &d->loaded.best;
    bool is_loaded = best->format && best->evidence >= FLOOR;
    if (!is_loaded || !best->explains || best->format != alone) {
        weigh_formats(d, false);
        is_loaded &= best->explains || best->score + NEAR >= d->all.best.score;
    }
    const struct ranking *r = is_loaded ? &d->loaded : &d->all;
    bool is_other = r->best.evidence < SENSIBLE && !r->best.explains &&
                    pfd_file_kind_of(first->base, first->n);
    if (r->best.evidence < FLOOR || is_other)
        return (struct pfd_format_choice){ .format = &pfd_format_none };
    struct pfd_format_choice ret = {
        .format = r->best.format,
        .score = r->best.score,
        .other = r->other.format,
        .other_score = r->other.score,
    };
    if (alone == ret.format || ret.other_score < PLAUSIBLE ||
        ret.score - ret.other_score > NEAR)
        ret.other = NULL;
    return ret;
}

/* True: the bytes are a file of another kind, and nothing speaks for the format
 * that was named. */
static bool is_refuted(const struct pfd_strings *strings,
                       const struct pfd_format *format,
                       const struct pfd_byte_reader *first, uint64_t n_buffer,
                       bool *failed)
{
    return format->probe && pfd_file_kind_sure(first->base, first->n) &&
           weigh(strings, format, first, n_buffer, failed).evidence < FLOOR;
}

/* A format that is never guessed is meant where its strings are loaded. */
static const struct pfd_format *meant_format(const struct pfd_strings *strings)
{
    const struct pfd_format *const *f = pfd_formats;
    while (*f && ((*f)->probe || !has_strings(strings, *f)))
        f++;
    return *f;
}

enum pfd_status pfd_detect_format(const struct pfd_strings *strings,
                                  const char *name,
                                  const struct pfd_byte_reader *view, bool last,
                                  struct pfd_format_choice *ret,
                                  struct pfd_error *err)
{
    *ret = (struct pfd_format_choice){ 0 };
    if (name)
        ret->format = pfd_format_find(name);
    if (name && !ret->format) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "no buffer format is called '%s'", name);
    }
    if (!view)
        return PFD_OK;
    if (name && !pfd_file_kind_sure(view->base, view->n))
        return view->n < PFD_FILE_KIND_BYTES && !last ? PFD_MORE : PFD_OK;
    if (!name && (ret->format = meant_format(strings)))
        return PFD_OK;
    bool longer = view->n > PFD_PROBE_BYTES;
    if (!longer && !last)
        return PFD_MORE;
    bool failed = false;
    struct pfd_byte_reader first = *view;
    first.n = longer ? PFD_PROBE_BYTES : view->n;
    if (name) {
        if (is_refuted(strings, ret->format, &first, longer ? 0 : view->n,
                       &failed))
            ret->format = &pfd_format_none;
    } else if (first.n >= LEAST_BYTES && !is_zero(&first, 0)) {
        struct decision d = {
            .strings = strings,
            .first = &first,
            .n_buffer = longer ? 0 : view->n,
        };
        *ret = decide(&d);
        failed = d.failed;
    } else if (!count_loaded(strings, &ret->format)) {
        ret->format = pfd_formats[0];
    }
    if (failed)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return PFD_OK;
}

/* ---- no format ---- */

static void tell_none(struct pfd_walk *w)
{
    const struct pfd_file_kind *kind =
        pfd_file_kind_of(w->view.base, w->view.n);
    size_t at = kind ? w->view.n : pfd_container_find(w->view.base, w->view.n);
    if (kind) {
        pfd_walk_finding(w, PFD_FINDING_unknown_format, 0,
                         "this is %s, and is not known to be a buffer of any "
                         "format: %s",
                         kind->name, kind->advice);
    } else if (at < w->view.n) {
        pfd_walk_finding(w, PFD_FINDING_unknown_format, 0,
                         "this is not known to be a buffer of any format, and "
                         "what looks like a code object begins at byte %zu: "
                         "--scan reads the format strings of such files",
                         at);
    } else {
        pfd_walk_finding(w, PFD_FINDING_unknown_format, 0,
                         "this is not known to be a buffer of any format: no "
                         "header and no entries speak for one; --format NAME "
                         "reads it all the same");
    }
}

static enum pfd_status none_walk(struct pfd_walk *w)
{
    if (w->base == 0 && w->at == 0)
        tell_none(w);
    w->batch->skipped_bytes += pfd_walk_end(w) - w->at;
    w->at = pfd_walk_end(w);
    return w->last ? PFD_END : PFD_MORE;
}

const struct pfd_format pfd_format_none = {
    .info = { .name = "none", .title = "not known to be a buffer" },
    .walk = none_walk,
};

bool pfd_format_choice_describe(const struct pfd_format_choice *format_choice,
                                char *ret, size_t n)
{
    if (!format_choice->other)
        return false;
    snprintf(ret, n,
             "read as '%s' (likelihood %d of 100), '%s' (%d) is possible as "
             "well; --format NAME decides",
             format_choice->format->info.name, format_choice->score,
             format_choice->other->info.name, format_choice->other_score);
    return true;
}

void pfd_walk_report_choice(struct pfd_walk *walk,
                            const struct pfd_format_choice *format_choice)
{
    char text[192];
    if (pfd_format_choice_describe(format_choice, text, sizeof text))
        pfd_walk_finding(walk, PFD_FINDING_format_choice, 0, "%s", text);
}

enum pfd_status pfd_format_likelihood(size_t i, const void *bytes, size_t n,
                                      int *ret)
{
    bool longer = n > PFD_PROBE_BYTES;
    struct pfd_byte_reader first =
        pfd_byte_reader(bytes, longer ? PFD_PROBE_BYTES : n);
    if (!pfd_format_get(i))
        return PFD_END;
    if (!pfd_formats[i]->probe)
        return PFD_ERR_UNSUPPORTED;
    *ret = pfd_formats[i]->probe(&first, longer ? 0 : n);
    return PFD_OK;
}
