/* SPDX-License-Identifier: MIT */
#include "decoder.h"

#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 64,
    SENTENCE = 768
};

struct pfd_decoder {
    struct pfd_walk walk;
    struct pfd_batch batch;
    size_t next;           /* record of the batch */
    enum pfd_status after; /* what the walk said when it filled the batch */
    struct pfd_entry_source of;
    struct pfd_summary summary;
    char *source;
    char sentence[SENTENCE];
};

enum pfd_status pfd_format_get(size_t i, struct pfd_format_info *ret)
{
    for (size_t k = 0; pfd_formats[k]; k++) {
        if (k == i) {
            *ret = pfd_formats[k]->info;
            return PFD_OK;
        }
    }
    return PFD_END;
}

const struct pfd_format *pfd_format_choose(const struct pfd_strings *strings,
                                           const char *name,
                                           struct pfd_error *err)
{
    if (name) {
        const struct pfd_format *named = pfd_format_find(name);
        if (!named)
            pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                     "no buffer format is called '%s'", name);
        return named;
    }
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        if (pfd_strings_table(strings, &(*f)->strings)->n)
            return *f;
    }
    return pfd_formats[0];
}

bool pfd_walk_init(struct pfd_walk *walk, const struct pfd_format *format,
                   const struct pfd_strings *strings)
{
    *walk = (struct pfd_walk){ 0 };
    walk->table = pfd_strings_table(strings, &format->strings);
    walk->state = calloc(1, format->state_size + 1);
    return walk->state != NULL;
}

void pfd_walk_deinit(struct pfd_walk *walk)
{
    free(walk->state);
}

bool pfd_batch_init(struct pfd_batch *batch, size_t max)
{
    *batch = (struct pfd_batch){ .max = max };
    batch->records = malloc(max * sizeof *batch->records);
    return batch->records != NULL;
}

void pfd_batch_deinit(struct pfd_batch *batch)
{
    free(batch->records);
    pfd_text_free(&batch->text);
}

void pfd_batch_clear(struct pfd_batch *batch)
{
    batch->n = 0;
    batch->text.n = 0;
    batch->lost_bytes = 0;
    batch->skipped_bytes = 0;
}

struct pfd_finding pfd_batch_finding(const struct pfd_batch *batch,
                                     const struct pfd_record *record,
                                     const char *source, char *sentence,
                                     size_t n)
{
    size_t length = record->n_bytes < n ? record->n_bytes : n - 1;
    if (length)
        memcpy(sentence, batch->text.data + record->key, length);
    sentence[length] = '\0';
    return (struct pfd_finding){
        .kind = (enum pfd_finding_kind)record->layout,
        .offset = record->offset,
        .index = PFD_NO_INDEX,
        .in_buffer = true,
        .source = source,
        .text = sentence,
    };
}

enum pfd_status pfd_decoder_new(const struct pfd_strings *strings,
                                const char *format, const char *source,
                                struct pfd_decoder **ret, struct pfd_error *err)
{
    const struct pfd_format *chosen = pfd_format_choose(strings, format, err);
    if (!chosen)
        return PFD_ERR_USAGE;
    struct pfd_decoder *d = calloc(1, sizeof *d);
    if (d)
        d->source = strdup(source ? source : "-");
    if (!d || !d->source ||
        !pfd_entry_source_init(&d->of, strings, chosen, d->source) ||
        !pfd_walk_init(&d->walk, chosen, strings) ||
        !pfd_batch_init(&d->batch, BATCH)) {
        pfd_decoder_free(d);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    d->walk.batch = &d->batch;
    d->after = PFD_MORE;
    *ret = d;
    return PFD_OK;
}

void pfd_decoder_free(struct pfd_decoder *d)
{
    if (!d)
        return;
    pfd_walk_deinit(&d->walk);
    pfd_batch_deinit(&d->batch);
    pfd_entry_source_deinit(&d->of);
    free(d->source);
    free(d);
}

/* Records that wait in the batch still point into the old view. */
uint64_t pfd_decoder_position(const struct pfd_decoder *d)
{
    for (size_t i = d->next; i < d->batch.n; i++) {
        if (d->batch.records[i].kind == PFD_RECORD_ENTRY)
            return d->batch.records[i].offset;
    }
    return d->walk.at;
}

enum pfd_status pfd_decoder_view(struct pfd_decoder *d, const void *bytes,
                                 size_t n, uint64_t base, bool last,
                                 struct pfd_error *err)
{
    uint64_t at = pfd_decoder_position(d);
    if (at < base || at > base + n)
        return pfd_fail(err, PFD_ERR_USAGE, at,
                        "the view [%llu, %llu) does not hold the position",
                        (unsigned long long)base,
                        (unsigned long long)(base + n));
    d->walk.view = pfd_cursor(bytes, n);
    d->walk.base = base;
    d->walk.last = last;
    if (d->after == PFD_MORE)
        d->after = PFD_OK;
    return PFD_OK;
}

static enum pfd_status fill(struct pfd_decoder *d, struct pfd_error *err)
{
    if (d->after != PFD_OK)
        return d->after;
    pfd_batch_clear(&d->batch);
    d->next = 0;
    d->after = d->of.format->walk(&d->walk);
    d->summary.lost_bytes += d->batch.lost_bytes;
    d->summary.skipped_bytes += d->batch.skipped_bytes;
    if (d->batch.text.failed)
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

enum pfd_status pfd_decoder_next(struct pfd_decoder *d, struct pfd_item *ret,
                                 struct pfd_error *err)
{
    while (d->next == d->batch.n) {
        enum pfd_status status = fill(d, err);
        if (status != PFD_OK)
            return status;
    }
    const struct pfd_record *r = &d->batch.records[d->next++];
    ret->is_entry = r->kind == PFD_RECORD_ENTRY;
    if (!ret->is_entry) {
        ret->finding = pfd_batch_finding(&d->batch, r, d->source, d->sentence,
                                         sizeof d->sentence);
        d->summary.findings += !pfd_finding_is_note(ret->finding.kind);
        return PFD_OK;
    }
    struct pfd_cursor view = d->walk.view;
    pfd_cursor_seek(&view, r->offset - d->walk.base + r->n_header);
    if (!pfd_entry_make(&d->of, r,
                        pfd_cursor_bytes(&view, r->n_bytes - r->n_header),
                        d->summary.entries, &ret->entry))
        return pfd_fail(err, PFD_ERR_NOMEM, r->offset, "out of memory");
    d->summary.entries++;
    d->summary.unknown += !r->string;
    d->summary.bytes += r->n_bytes;
    count_findings(&d->summary, ret->entry.findings);
    return PFD_OK;
}

const char *pfd_decoder_format(const struct pfd_decoder *d)
{
    return d->of.format->info.name;
}

void pfd_decoder_summary(const struct pfd_decoder *d, struct pfd_summary *ret)
{
    *ret = d->summary;
}
