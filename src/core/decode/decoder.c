/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/base/sized.h"
#include "core/decode/detect_format.h"
#include "core/decode/inspect.h"
#include "core/decode/walk.h"

enum {
    BATCH = 64,
    SENTENCE = 768
};

struct pfd_decoder {
    const struct pfd_strings *strings;
    struct pfd_options options;
    struct pfd_format_choice format_choice;
    const struct pfd_range *holes; /* [n_holes] */
    size_t n_holes;
    const struct pfd_range *missing; /* [n_missing] */
    size_t n_missing;
    struct pfd_item item;       /* the last result */
    struct pfd_entry entry;     /* of item */
    struct pfd_finding finding; /* of item */
    struct pfd_walk walk;       /* state NULL: no format selected yet */
    bool is_chosen;             /* by the first bytes, or these allow it */
    struct pfd_record_batch batch;
    size_t next;           /* record of the batch */
    enum pfd_status after; /* the walk's status for the batch */
    struct pfd_entry_source of;
    struct pfd_summary summary;
    char *source;
    char sentence[SENTENCE];
};

static enum pfd_status use_format(struct pfd_decoder *d, struct pfd_error *err)
{
    struct pfd_walk walk;
    if (!pfd_walk_init(&walk, d->format_choice.format, d->strings, &d->options))
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    walk.batch = &d->batch;
    walk.holes = d->holes;
    walk.n_holes = d->n_holes;
    walk.missing = d->missing;
    walk.n_missing = d->n_missing;
    walk.view = d->walk.view;
    walk.last = d->walk.last;
    pfd_walk_deinit(&d->walk);
    d->walk = walk;
    pfd_entry_source_set(&d->of, d->strings, d->format_choice.format,
                         &d->options);
    return PFD_OK;
}

enum pfd_status pfd_decoder_new(const struct pfd_strings *strings,
                                const char *format, const char *source,
                                struct pfd_decoder **ret, struct pfd_error *err)
{
    struct pfd_format_choice format_choice;
    if (pfd_detect_format(strings, format, NULL, false, &format_choice, err) !=
        PFD_OK)
        return PFD_ERR_USAGE;
    struct pfd_decoder *d = calloc(1, sizeof *d);
    if (d)
        d->source = strdup(source ? source : "-");
    if (!d || !d->source || !pfd_entry_source_init(&d->of, d->source) ||
        !pfd_record_batch_init(&d->batch, BATCH)) {
        pfd_decoder_free(d);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    d->summary.struct_size = sizeof d->summary;
    d->item = (struct pfd_item){ .entry = &d->entry, .finding = &d->finding };
    d->strings = strings;
    d->format_choice = format_choice;
    if (format_choice.format && use_format(d, err) != PFD_OK) {
        pfd_decoder_free(d);
        return PFD_ERR_NOMEM;
    }
    d->after = PFD_MORE;
    *ret = d;
    return PFD_OK;
}

enum pfd_status pfd_decoder_set_options(struct pfd_decoder *d,
                                        const struct pfd_options *options,
                                        struct pfd_error *err)
{
    return pfd_sized_take(&d->options, sizeof d->options, options, err);
}

void pfd_decoder_set_holes(struct pfd_decoder *d, const struct pfd_range *holes,
                           size_t n)
{
    d->holes = d->walk.holes = holes;
    d->n_holes = d->walk.n_holes = n;
}

void pfd_decoder_set_missing(struct pfd_decoder *d,
                             const struct pfd_range *missing, size_t n)
{
    d->missing = d->walk.missing = missing;
    d->n_missing = d->walk.n_missing = n;
}

void pfd_decoder_free(struct pfd_decoder *d)
{
    if (!d)
        return;
    pfd_walk_deinit(&d->walk);
    pfd_record_batch_deinit(&d->batch);
    pfd_entry_source_deinit(&d->of);
    free(d->source);
    free(d);
}

/* Pending records of the batch still point into the old view. */
uint64_t pfd_decoder_position(const struct pfd_decoder *d)
{
    for (size_t i = d->next; i < d->batch.n; i++) {
        const struct pfd_record *r = &d->batch.records[i];
        if (r->kind == PFD_RECORD_ENTRY && !(r->flags & PFD_RECORD_COPIED))
            return r->offset;
    }
    return d->walk.at;
}

enum pfd_status pfd_decoder_view(struct pfd_decoder *d, const void *bytes,
                                 size_t n, uint64_t base, bool last,
                                 struct pfd_error *err)
{
    uint64_t at = pfd_decoder_position(d);
    if (at < base || at > base + n) {
        return pfd_fail(err, PFD_ERR_USAGE, at,
                        "the view [%llu, %llu) does not hold the position",
                        (unsigned long long)base, (unsigned long long)base + n);
    }
    d->walk.view = pfd_byte_reader(bytes, n);
    d->walk.base = base;
    d->walk.last = last;
    if (d->after == PFD_MORE)
        d->after = PFD_OK;
    return PFD_OK;
}

/* Selects by the first bytes, once there are enough of them. */
static enum pfd_status choose(struct pfd_decoder *d, struct pfd_error *err)
{
    const struct pfd_format *told = d->format_choice.format;
    struct pfd_format_choice choice;
    d->is_chosen = told && d->walk.base; /* not the first bytes */
    if (d->is_chosen)
        return PFD_OK;
    enum pfd_status status =
        pfd_detect_format(d->strings, told ? told->info.name : NULL,
                          &d->walk.view, d->walk.last, &choice, err);
    if (status == PFD_MORE)
        d->after = PFD_MORE;
    if (status != PFD_OK)
        return status;
    d->is_chosen = true;
    d->format_choice = choice;
    return choice.format == told ? PFD_OK : use_format(d, err);
}

static enum pfd_status fill(struct pfd_decoder *d, struct pfd_error *err)
{
    if (d->after != PFD_OK)
        return d->after;
    pfd_record_batch_clear(&d->batch);
    d->next = 0;
    if (!d->is_chosen) {
        enum pfd_status status = choose(d, err);
        if (status != PFD_OK)
            return status;
        pfd_walk_report_choice(&d->walk, &d->format_choice);
    }
    d->after = d->of.format->walk(&d->walk);
    pfd_walk_mark_missing(&d->walk);
    d->summary.lost_bytes += d->batch.lost_bytes;
    d->summary.skipped_bytes += d->batch.skipped_bytes;
    if (d->batch.text.failed || d->batch.bytes.failed)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    return d->batch.n ? PFD_OK : d->after;
}

static void count_findings(struct pfd_summary *summary, uint64_t findings)
{
    for (; findings; findings &= findings - 1) {
        if (!pfd_finding_is_note(
                (enum pfd_finding_kind)__builtin_ctzll(findings)))
            summary->findings++;
    }
}

enum pfd_status pfd_decoder_next(struct pfd_decoder *d, struct pfd_item **ret,
                                 struct pfd_error *err)
{
    while (d->next == d->batch.n) {
        enum pfd_status status = fill(d, err);
        if (status != PFD_OK)
            return status;
    }
    const struct pfd_record *r = &d->batch.records[d->next];
    d->next += 1u + r->n_alternatives;
    d->item.is_entry = r->kind == PFD_RECORD_ENTRY;
    *ret = &d->item;
    if (!d->item.is_entry) {
        d->finding = pfd_record_batch_finding(&d->batch, r, d->source,
                                              d->sentence, sizeof d->sentence);
        d->summary.findings += !pfd_finding_is_note(d->finding.kind);
        return PFD_OK;
    }
    uint32_t n = 0;
    const uint8_t *payload =
        pfd_record_batch_payload(&d->batch, &d->walk.view, d->walk.base, r, &n);
    if (!pfd_entry_make(&d->of, r, payload, n, d->summary.entries, &d->entry))
        return pfd_fail(err, PFD_ERR_NOMEM, r->offset, "out of memory");
    d->summary.entries++;
    d->summary.unknown += pfd_record_is_unknown(r);
    d->summary.bytes += r->n_bytes;
    count_findings(&d->summary, d->entry.findings);
    return PFD_OK;
}

/* Skips records of the batch up to `to` and `index`. */
static void skip_batch(struct pfd_decoder *d, uint64_t to, uint64_t index,
                       uint64_t *end)
{
    struct pfd_summary *sum = &d->summary;
    while (d->next < d->batch.n && sum->entries < index) {
        const struct pfd_record *r = &d->batch.records[d->next];
        if (r->kind != PFD_RECORD_ENTRY || r->offset + r->n_bytes > to)
            return;
        d->next += 1u + r->n_alternatives;
        *end = r->offset + r->n_bytes;
        sum->entries++;
        sum->unknown += pfd_record_is_unknown(r);
        sum->bytes += r->n_bytes;
        count_findings(sum,
                       r->findings | (r->string ? r->string->findings : 0));
    }
}

enum pfd_status pfd_decoder_skip(struct pfd_decoder *d, uint64_t to,
                                 uint64_t index, uint64_t *end,
                                 struct pfd_error *err)
{
    enum pfd_status status = PFD_OK;
    for (;;) {
        skip_batch(d, to, index, end);
        if (d->next < d->batch.n || d->summary.entries >= index)
            return PFD_OK;
        status = fill(d, err);
        if (status != PFD_OK)
            return status;
    }
}

const char *pfd_decoder_format(const struct pfd_decoder *d)
{
    const struct pfd_format *format = d->format_choice.format;
    return format && format != &pfd_format_none ? format->info.name : NULL;
}

enum pfd_status pfd_decoder_word(const struct pfd_decoder *d, uint64_t at,
                                 struct pfd_word *ret)
{
    if (!d->walk.state)
        return PFD_END;
    return pfd_format_buffer_word(d->of.format, &d->walk, at, ret) ? PFD_OK
                                                                   : PFD_END;
}

const struct pfd_summary *pfd_decoder_summary(const struct pfd_decoder *d)
{
    return &d->summary;
}

void pfd_summary_add(struct pfd_summary *to, const struct pfd_summary *from)
{
    to->entries += from->entries;
    to->unknown += from->unknown;
    to->bytes += from->bytes;
    /* Headers can hold any value: the sum saturates. */
    if (__builtin_add_overflow(to->lost_bytes, from->lost_bytes,
                               &to->lost_bytes))
        to->lost_bytes = UINT64_MAX;
    to->skipped_bytes += from->skipped_bytes;
    to->findings += from->findings;
}
