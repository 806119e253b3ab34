/* SPDX-License-Identifier: MIT */
/* Reads chunks item by item. */
#include <stdlib.h>
#include <string.h>

#include "core/decode/walk.h"
#include "stream/capture/chunk.h"
#include "stream/capture/chunk_layout.h"

enum {
    BATCH = 64,
    SENTENCE = 768
};

struct pfd_chunk_reader {
    const struct pfd_strings *strings;
    struct pfd_options options;
    struct pfd_chunk chunk;
    struct pfd_record_batch batch;
    size_t next;           /* record of the batch */
    enum pfd_status after; /* status of the last fill */
    struct pfd_error error;
    struct pfd_entry_source of;
    char sentence[SENTENCE];
};

enum pfd_status pfd_chunk_reader_new(const struct pfd_strings *strings,
                                     const char *source,
                                     const struct pfd_options *options,
                                     struct pfd_chunk_reader **ret,
                                     struct pfd_error *err)
{
    struct pfd_chunk_reader *r = calloc(1, sizeof *r);
    if (!r || !pfd_entry_source_init(&r->of, source) ||
        !pfd_record_batch_init(&r->batch, BATCH) ||
        !pfd_record_batch_init_places(&r->batch)) {
        pfd_chunk_reader_free(r);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    r->strings = strings;
    if (options)
        r->options = *options;
    r->after = PFD_END;
    *ret = r;
    return PFD_OK;
}

void pfd_chunk_reader_free(struct pfd_chunk_reader *r)
{
    if (!r)
        return;
    pfd_chunk_close(&r->chunk);
    pfd_record_batch_deinit(&r->batch);
    pfd_entry_source_deinit(&r->of);
    free(r);
}

enum pfd_status pfd_chunk_reader_open(struct pfd_chunk_reader *r,
                                      const void *bytes, size_t n,
                                      struct pfd_error *err)
{
    pfd_record_batch_clear(&r->batch);
    r->next = 0;
    r->after = PFD_END;
    enum pfd_status status =
        pfd_chunk_open(&r->chunk, r->strings, &r->options, bytes, n, err);
    if (status != PFD_OK)
        return status;
    r->after = PFD_OK;
    if (r->chunk.format) {
        pfd_entry_source_set(&r->of, r->strings, r->chunk.format, &r->options);
    }
    return PFD_OK;
}

/* Fills the batch. An error that ends the chunk is returned behind all items
 * before it. */
static enum pfd_status fill(struct pfd_chunk_reader *r, struct pfd_error *err)
{
    while (r->after == PFD_OK) {
        pfd_record_batch_clear(&r->batch);
        r->next = 0;
        r->after = pfd_chunk_fill(&r->chunk, &r->batch, &r->error);
        if (r->batch.n && r->after != PFD_ERR_NOMEM)
            return PFD_OK;
    }
    if (r->after < 0 && err)
        *err = r->error;
    return r->after;
}

static void set_finding(struct pfd_chunk_reader *r, const struct pfd_record *in,
                        struct pfd_chunk_item *ret)
{
    struct pfd_finding finding = pfd_record_batch_finding(
        &r->batch, in, r->of.source, r->sentence, sizeof r->sentence);
    if (finding.kind != PFD_FINDING_gap || !in->n_header) {
        ret->type = PFD_CHUNK_FINDING;
        ret->finding = finding;
        return;
    }
    ret->type = PFD_CHUNK_GAP;
    ret->gap = (struct pfd_gap){ .missed = in->findings,
                                 .reason = finding.text + in->n_header };
}

enum pfd_status pfd_chunk_reader_next(struct pfd_chunk_reader *r,
                                      struct pfd_chunk_item *ret,
                                      struct pfd_error *err)
{
    if (r->next == r->batch.n) {
        enum pfd_status status = fill(r, err);
        if (status != PFD_OK)
            return status;
    }
    const struct pfd_record *in = &r->batch.records[r->next];
    uint64_t index = r->batch.places[r->next].index;
    r->next += 1u + in->n_alternatives;
    if (in->kind != PFD_RECORD_ENTRY) {
        set_finding(r, in, ret);
        return PFD_OK;
    }
    uint32_t n = 0;
    const uint8_t *payload = pfd_record_batch_copied(&r->batch, in, &n);
    ret->type = PFD_CHUNK_ENTRY;
    if (!pfd_entry_make(&r->of, in, payload, n, index, &ret->entry))
        return pfd_fail(err, PFD_ERR_NOMEM, in->offset, "out of memory");
    return PFD_OK;
}

void pfd_chunk_reader_loss(const struct pfd_chunk_reader *r,
                           uint64_t *lost_bytes, uint64_t *skipped_bytes)
{
    *lost_bytes = r->chunk.lost_bytes;
    *skipped_bytes = r->chunk.skipped_bytes;
}
