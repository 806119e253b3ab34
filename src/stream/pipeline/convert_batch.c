/* SPDX-License-Identifier: MIT */
/* One batch of records: selected entries are rendered, all are counted. */
#include <stdlib.h>
#include <string.h>

#include "core/decode/entry.h"
#include "core/decode/inspect.h"
#include "stream/capture/chunk.h"
#include "stream/pipeline/convert_pool.h"

enum {
    OUT_MAX = 8 << 20, /* bytes rendered before a worker waits for its turn */
    CHUNK_MAX = 512 << 10, /* of a chunk, likewise */
    SENTENCE = 768,
    RUN = 64,           /* entries that are rendered at once */
    PREFETCH_AHEAD = 6, /* records */
    PREFETCH_BYTES = 320,
};

static void keep(struct pfd_worker *w, const struct pfd_finding *finding)
{
    if (w->made->n_kept == w->made->kept_room) {
        size_t room = w->made->kept_room ? w->made->kept_room * 2 : 16;
        struct pfd_stored_finding *kept =
            realloc(w->made->kept, room * sizeof *kept);
        if (!kept) {
            w->failed = true;
            return;
        }
        w->made->kept = kept;
        w->made->kept_room = room;
    }
    w->made->kept[w->made->n_kept++] = (struct pfd_stored_finding){
        .kind = finding->kind,
        .offset = finding->offset,
        .index = finding->index,
        .text = w->made->sentences.n,
    };
    pfd_text_add(&w->made->sentences, finding->text, strlen(finding->text) + 1);
}

/* Notes only on request. */
bool pfd_pool_reports(const struct pfd_convert *convert,
                      enum pfd_finding_kind kind)
{
    return convert->notes || !pfd_finding_is_note(kind);
}

static void give_finding(struct pfd_worker *w,
                         const struct pfd_finding *finding)
{
    struct pfd_pool *pool = w->pool;
    if (!pfd_finding_is_note(finding->kind))
        w->made->summary.findings++;
    if (!pfd_pool_reports(pool->convert, finding->kind))
        return;
    if (pool->sink && pool->sink->finding)
        pool->sink->finding(&w->made->out, finding, &w->sink_options);
    if (pool->convert->inline_findings && pool->sink && pool->sink->tell)
        pool->sink->tell(&w->made->out, finding, &w->sink_options);
    if (pool->convert->finding)
        keep(w, finding);
}

/* Counts the findings of an entry; the first one of an id gets a sentence. */
static void count_findings(struct pfd_worker *w, const struct pfd_entry *entry)
{
    uint64_t left = entry->findings & w->pool->reported;
    for (; left; left &= left - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(left);
        struct pfd_finding_counts_row *row =
            pfd_finding_counts_row(&w->made->finding_counts, kind, entry->id,
                                   pfd_entry_string_index(entry));
        if (!row)
            return;
        if (!row->has_text) {
            char sentence[SENTENCE];
            pfd_entry_finding_text(entry, kind, sentence, sizeof sentence);
            pfd_finding_counts_set_text(&w->made->finding_counts, row,
                                        sentence);
        }
        pfd_finding_counts_count(row, 1, entry->offset, entry->index);
        w->made->summary.findings += !pfd_finding_is_note(kind);
    }
}

/* Is entry number `wanted` of the ones that pass the filters emitted? */
static bool in_range(struct pfd_worker *w, uint64_t wanted)
{
    const struct pfd_convert *convert = w->pool->convert;
    if (wanted < convert->skip)
        return false;
    w->made->ended = wanted - convert->skip + 1 >= convert->limit;
    return wanted - convert->skip < convert->limit;
}

static void count_entry(struct pfd_worker *w, const struct pfd_record *r)
{
    w->made->summary.entries++;
    w->made->summary.unknown += pfd_record_is_unknown(r);
    w->made->summary.bytes += r->n_bytes;
}

/* Counts n entries of one string, with n_bytes in all. */
static inline void count_given(struct pfd_worker *w,
                               const struct pfd_string *string, size_t n,
                               uint64_t n_bytes)
{
    w->n_given += n;
    if (!string)
        return;
    if (w->sums) {
        w->sums[string->index].entries += n;
        w->sums[string->index].bytes += n_bytes;
    } else if (w->used) {
        w->used[string->index] = true;
    }
}

static const uint8_t *payload_of(const struct pfd_worker *w,
                                 const struct pfd_record *r, uint32_t *n)
{
    return pfd_record_batch_payload(&w->batch, &w->view, w->base, r, n);
}

static enum pfd_look_result ask_filter(const struct pfd_worker *w,
                                       const struct pfd_record *r)
{
    uint32_t n = 0;
    return pfd_filter_test_record(w->filter, r, payload_of(w, r, &n));
}

/* The decision on a record before its entry is made. */
static inline enum pfd_look_result look(const struct pfd_worker *w,
                                        const struct pfd_record *r)
{
    return w->filter ? ask_filter(w, r) : PFD_LOOK_YES;
}

static uint64_t index_of(const struct pfd_worker *w, size_t i)
{
    return w->batch.places ? w->batch.places[i].index
                           : w->first_index + w->made->summary.entries;
}

/* Indexes never decrease. */
static bool in_ranges(struct pfd_worker *w, uint64_t index)
{
    const struct pfd_convert *convert = w->pool->convert;
    while (w->range < convert->n_ranges &&
           convert->ranges[w->range].to <= index)
        w->range++;
    return w->range < convert->n_ranges &&
           convert->ranges[w->range].from <= index;
}

/* Is this entry emitted, by its contents and its number? */
static bool is_selected(struct pfd_worker *w, struct pfd_entry *entry)
{
    if (w->pool->convert->ranges && !in_ranges(w, entry->index))
        return false;
    return (!w->filter || pfd_filter_want(w->filter, entry)) &&
           in_range(w, w->first_wanted++);
}

static bool may_be_hidden(const struct pfd_pool *pool,
                          const struct pfd_entry *entry)
{
    return pool->limits_unknown && !entry->string &&
           pfd_record_is_unknown(entry->record);
}

static void print_entry(struct pfd_worker *w, struct pfd_entry *entry)
{
    struct pfd_pool *pool = w->pool;
    if (__builtin_expect(!may_be_hidden(pool, entry), 1)) {
        pool->sink->entry(&w->made->out, entry, &w->sink_options);
    } else if (atomic_load(&pool->shows_no_more)) {
        w->made->unsure.n_hidden++;
    } else if (pfd_unsure_begin(&w->made->unsure, entry->id, w->made->out.n)) {
        pool->sink->entry(&w->made->out, entry, &w->sink_options);
        pfd_unsure_end(&w->made->unsure, w->made->out.n);
    }
}

/* Output beside an entry: its index, and the line between ranges. */
static void note_given(struct pfd_worker *w, uint64_t index)
{
    const struct pfd_convert *convert = w->pool->convert;
    const struct pfd_sink *sink = w->pool->sink;
    if (convert->emitted)
        pfd_text_add(&w->made->given, &index, sizeof index);
    if (convert->ranges && convert->marks_ranges && w->range && sink &&
        sink->between && index == convert->ranges[w->range].from)
        sink->between(&w->made->out, w->sink_options.color);
}

static void give_entry(struct pfd_worker *w, const struct pfd_record *r,
                       uint64_t index)
{
    const struct pfd_pool *pool = w->pool;
    struct pfd_entry entry;
    uint32_t n = 0;
    const uint8_t *payload = payload_of(w, r, &n);
    if (!pfd_entry_make(&w->of, r, payload, n, index, &entry)) {
        w->failed = true;
        return;
    }
    if (pool->is_selective) {
        if (!is_selected(w, &entry))
            return;
        note_given(w, index);
    }
    count_given(w, r->string, 1, r->n_bytes);
    if (w->sums && r->flags & PFD_RECORD_SYNTHESIZED &&
        w->pool->convert->string_sum)
        pfd_synthesized_counts_add(&w->synthesized_counts, &entry);
    bool is_full = false;
    if (pool->sink) {
        print_entry(w, &entry);
        is_full = w->made->out.n > OUT_MAX;
    } else if (w->made->chunk) {
        w->failed |=
            pfd_chunk_add_entry(w->made->chunk, &entry, NULL) != PFD_OK;
        is_full = pfd_chunk_size(w->made->chunk) > CHUNK_MAX;
    }
    if (__builtin_expect((entry.findings & pool->reported) != 0, 0))
        count_findings(w, &entry);
    if (__builtin_expect(is_full, 0))
        pfd_worker_write(w);
}

/* Has it no finding that is reported? An entry that is not laid out as its
 * string says may get more findings when it is made. */
static inline bool is_quiet(const struct pfd_record *r, uint64_t reported)
{
    return !r->layout && !(r->flags & PFD_RECORD_SYNTHESIZED) &&
           !((r->findings | r->string->findings) & reported);
}

static void do_finding(struct pfd_worker *w, const struct pfd_record *r)
{
    char sentence[SENTENCE];
    struct pfd_finding finding = pfd_record_batch_finding(
        &w->batch, r, w->of.source, sentence, sizeof sentence);
    if (w->made->chunk) {
        w->failed |=
            pfd_chunk_add_finding(w->made->chunk, &finding, NULL) != PFD_OK;
    }
    give_finding(w, &finding);
}

/* Passes over entries from record i on that are not rendered, and counts the
 * selected ones; returns the index of the first other record. */
static size_t pass_quiet(struct pfd_worker *w, size_t i)
{
    const struct pfd_record_batch *batch = &w->batch;
    /* Copies, since the sums' pointers may alias anything. */
    const uint64_t reported = w->pool->reported;
    const bool has_filter = w->filter;
    struct pfd_string_sum *sums = w->sums;
    uint64_t n_given = 0;
    struct pfd_summary sum = { 0 };
    for (; i < batch->n; i++) {
        const struct pfd_record *r = &batch->records[i];
        if (r->kind != PFD_RECORD_ENTRY || !r->string || !is_quiet(r, reported))
            break;
        enum pfd_look_result result =
            has_filter ? ask_filter(w, r) : PFD_LOOK_YES;
        if (result == PFD_LOOK_ASK)
            break;
        if (result == PFD_LOOK_YES && sums) {
            sums[r->string->index].entries++;
            sums[r->string->index].bytes += r->n_bytes;
            n_given++;
        } else if (result == PFD_LOOK_YES) {
            count_given(w, r->string, 1, r->n_bytes);
        }
        sum.entries++;
        sum.bytes += r->n_bytes;
    }
    w->n_given += n_given;
    pfd_summary_add(&w->made->summary, &sum);
    return i;
}

/* Is its payload as its string says, without findings to report? */
static inline bool is_quick(const struct pfd_worker *w,
                            const struct pfd_record *r)
{
    const unsigned plain = PFD_RECORD_COPIED | PFD_RECORD_SURE;
    return r->kind == PFD_RECORD_ENTRY && !r->layout && !(r->flags & ~plain) &&
           !(r->findings & w->pool->reported);
}

/* Is record i of this string, and is its payload all that is needed? */
static inline bool is_next(const struct pfd_worker *w, size_t i,
                           const struct pfd_string *string)
{
    const struct pfd_record *r = &w->batch.records[i];
    return i < w->batch.n && r->string == string && is_quick(w, r) &&
           look(w, r) == PFD_LOOK_YES;
}

/* Gathers the payloads of such records from index i on; returns their
 * number. */
static size_t gather(struct pfd_worker *w, size_t i,
                     const struct pfd_string *string,
                     const uint8_t *payloads[PFD_PAYLOADS_MAX])
{
    uint64_t n_bytes = 0;
    uint32_t n_payload = 0;
    size_t n = 0;
    for (; n < PFD_PAYLOADS_MAX && is_next(w, i + n, string); n++) {
        const struct pfd_record *r = &w->batch.records[i + n];
        payloads[n] = payload_of(w, r, &n_payload);
        n_bytes += r->n_bytes;
    }
    if (n)
        count_given(w, string, n, n_bytes);
    w->made->summary.entries += n;
    w->made->summary.bytes += n_bytes;
    return n;
}

/* Likewise for entries of one format string, by their payloads alone where the
 * consumer takes these. */
static size_t pass_payloads(struct pfd_worker *w, size_t i)
{
    const struct pfd_sink_worker *hooks = w->pool->sink->worker;
    const struct pfd_string *string = w->batch.records[i].string;
    bool takes = string && !(string->findings & w->pool->reported) &&
                 hooks->accepts(w->consumer, string);
    while (takes && i < w->batch.n) {
        const uint8_t *payloads[PFD_PAYLOADS_MAX];
        uint64_t index = index_of(w, i);
        size_t n = gather(w, i, string, payloads);
        if (!n)
            break;
        i += n;
        hooks->payloads(w->consumer, &w->made->out, payloads, n, index);
    }
    return i;
}

/* Likewise for entries outside of all ranges. */
static size_t pass_between(struct pfd_worker *w, size_t i)
{
    const struct pfd_record_batch *batch = &w->batch;
    for (; i < batch->n; i++) {
        const struct pfd_record *r = &batch->records[i];
        if (r->kind != PFD_RECORD_ENTRY || in_ranges(w, index_of(w, i)))
            break;
        count_entry(w, r);
    }
    return i;
}

/* Likewise for entries that the filter rejects: most of them by their strings'
 * plans, the others one by one. */
static size_t pass_unwanted(struct pfd_worker *w, size_t i)
{
    const struct pfd_record_batch *batch = &w->batch;
    for (;;) {
        size_t to = pfd_filter_skip(w->filter, batch, i, &w->view, w->base,
                                    &w->made->summary.bytes);
        w->made->summary.entries += to - i;
        i = to;
        if (i == batch->n || batch->records[i].kind != PFD_RECORD_ENTRY ||
            look(w, &batch->records[i]) != PFD_LOOK_NO)
            return i;
        count_entry(w, &batch->records[i++]);
    }
}

/* For an entry of a chunk: each item of a chunk has a sequence number. */
static void number_row(struct pfd_worker *w, size_t i)
{
    for (; w->numbered < i; w->numbered++) {
        w->sequence +=
            w->batch.records[w->numbered].kind != PFD_RECORD_ALTERNATIVE;
    }
    w->sink_options.sequence = w->sequence;
}

/* Prefetches a string that is needed soon, if the table is larger than the
 * caches. */
static void prefetch_string(const struct pfd_worker *w, size_t i)
{
    const char *s =
        i < w->batch.n ? (const char *)w->batch.records[i].string : NULL;
    if (!s)
        return;
    for (size_t at = 0; at < PREFETCH_BYTES; at += 64)
        __builtin_prefetch(s + at);
}

/* The run of entries without findings from record i on. It ends where a ring
 * begins anew: a run is a range of bytes. */
static struct pfd_entry_run find_run(struct pfd_worker *w, size_t i)
{
    const struct pfd_record_batch *batch = &w->batch;
    const struct pfd_record *r = &batch->records[i];
    const size_t most = batch->n - i < RUN ? batch->n - i : RUN;
    size_t n = 0;
    while (n < most && pfd_entry_run_takes(&r[n]) &&
           (!n || r[n].offset >= r[n - 1].offset))
        n++;
    return (struct pfd_entry_run){
        .of = &w->of,
        .records = r,
        .n = n,
        .bytes =
            n ? pfd_byte_reader_peek(&w->view, (size_t)(r->offset - w->base))
              : NULL,
        .index = index_of(w, i),
    };
}

static void count_run(struct pfd_worker *w, const struct pfd_record *r,
                      size_t n)
{
    /* A copy, since its pointer may alias anything. */
    bool *used = w->sums ? NULL : w->used;
    uint64_t n_bytes = 0;
    for (size_t i = 0; i < n; i++) {
        n_bytes += r[i].n_bytes;
        if (used)
            used[r[i].string->index] = true;
    }
    for (size_t i = 0; w->sums && i < n; i++) {
        struct pfd_string_sum *sum = &w->sums[r[i].string->index];
        sum->entries++;
        sum->bytes += r[i].n_bytes;
    }
    w->n_given += n;
    w->made->summary.entries += n;
    w->made->summary.bytes += n_bytes;
}

/* Likewise for runs of entries, all of which are rendered; returns the index of
 * the first record that needs more. */
static size_t pass_runs(struct pfd_worker *w, size_t i)
{
    const struct pfd_sink *sink = w->pool->sink;
    struct pfd_text *out = &w->made->out;
    size_t n = RUN;
    for (; n == RUN; i += n) {
        const struct pfd_entry_run entry_run = find_run(w, i);
        n = entry_run.n ? sink->run(out, &entry_run, OUT_MAX, &w->sink_options)
                        : 0;
        count_run(w, entry_run.records, n);
        if (__builtin_expect(out->n > OUT_MAX, 0))
            pfd_worker_write(w);
    }
    return i;
}

/* Adds the counts of entries without records, which come before all records. */
static void take_counts(struct pfd_worker *w)
{
    const struct pfd_record_batch *batch = &w->batch;
    if (!batch->n_counted)
        return;
    w->made->summary.entries += batch->n_counted;
    for (size_t i = 0; i < batch->n_counts; i++) {
        uint64_t n = batch->counts[i];
        if (!n)
            continue;
        const struct pfd_string *s =
            pfd_strings_at(w->pool->convert->strings, i);
        uint64_t n_bytes = n * (s->n_payload + batch->counted_header);
        w->made->summary.bytes += n_bytes;
        count_given(w, s, n, n_bytes);
    }
}

void pfd_worker_do_batch(struct pfd_worker *w)
{
    const struct pfd_convert *convert = w->pool->convert;
    bool is_any = !w->made->chunk && !convert->emitted && !convert->ranges &&
                  convert->limit == UINT64_MAX && !convert->skip;
    bool is_plain = !w->pool->sink && is_any;
    /* One by one, strings of a large table are prefetched in time; the strings
     * of a run are more than a processor fetches at once. */
    const bool is_large = pfd_table_is_large(w->of.table);
    bool has_runs = w->pool->sink && w->pool->sink->run && is_any &&
                    !w->pool->is_selective && !w->pool->chunks && !is_large;
    const bool has_sequence = w->pool->sink && w->pool->sink->has_sequence;
    take_counts(w);
    for (size_t i = 0; i < w->batch.n && !w->made->ended; i++) {
        if (has_runs) {
            i = pass_runs(w, i);
        } else if (is_plain) {
            i = pass_quiet(w, i);
        } else if (w->consumer && is_any) {
            i = w->filter ? pass_unwanted(w, i) : i;
            i = i < w->batch.n ? pass_payloads(w, i) : i;
        } else if (convert->ranges) {
            i = pass_between(w, i);
        } else if (w->filter) {
            i = pass_unwanted(w, i);
        }
        if (i == w->batch.n)
            break;
        const struct pfd_record *r = &w->batch.records[i];
        if (__builtin_expect(r->kind != PFD_RECORD_ENTRY, 0)) {
            if (r->kind == PFD_RECORD_FINDING)
                do_finding(w, r);
            continue;
        }
        uint64_t index = index_of(w, i);
        if (is_large)
            prefetch_string(w, i + PREFETCH_AHEAD);
        count_entry(w, r);
        if (w->pool->chunks && has_sequence)
            number_row(w, i);
        give_entry(w, r, index);
    }
    if (w->made->chunk) {
        pfd_chunk_add_loss(w->made->chunk, w->batch.lost_bytes,
                           w->batch.skipped_bytes);
    }
    w->failed |= w->synthesized_counts.failed || w->made->out.failed ||
                 w->made->sentences.failed || w->of.message.failed ||
                 w->made->finding_counts.failed || w->made->unsure.failed ||
                 w->made->given.failed;
}
