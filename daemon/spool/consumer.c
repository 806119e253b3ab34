/* SPDX-License-Identifier: MIT */
#include "spool/consumer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "config/output_options.h"
#include "ring/json_fields.h"

static void tell_lost(struct pfdd_consumer *c)
{
    struct pfdd_segment_reader *r = &c->spool_reader.place.reader;
    if (!r->lost)
        return;
    c->of->cut += r->lost;
    pfdd_log(PFDD_ERROR,
             "queue in %s: %" PRIu64 " bytes cannot be read any more: %s does "
             "not get their lines",
             c->of->spool_readers.dir, r->lost, c->name);
    r->lost = 0;
}

static void retry_later(struct pfdd_consumers *of)
{
    of->waits = true;
    of->retry_later(of);
}

static bool has_more(const struct pfdd_consumer *c)
{
    struct pfdd_segment more;
    return c->spool_reader.batch.n_chunks ||
           pfdd_segments_next(&c->of->segments, c->of->n_going,
                              &c->spool_reader.place.reader, &more);
}

static void on_step_done(struct pfdd_spool_reader *s)
{
    struct pfdd_consumer *c =
        PFDD_MEMBER_OF(struct pfdd_consumer, s, spool_reader);
    bool is_behind = false;
    tell_lost(c);
    if (!s->waits && !s->is_busy) {
        bool has_chunks = s->is_raw && s->batch.n_chunks;
        bool is_caught_up = s->n == 0 && !has_chunks && c->acked >= c->last;
        c->given = s->end - 1;
        uint64_t last = has_chunks ? c->given : pfdd_spool_reader_last(s);
        c->last = last ? last : c->last;
        c->passed = has_more(c) ? c->given : c->of->durable;
        /* Do not wait for items that could not be read. */
        is_behind = is_caught_up && c->acked < c->passed;
    }
    if (is_behind)
        pfdd_consumer_ack(c, c->given);
    if (s->waits || s->place.reader.error)
        retry_later(c->of);
    c->wake(c);
}

bool pfdd_consumer_choose(struct pfdd_consumer *c,
                          const struct pfdd_output_config *config,
                          const struct pfdd_encoding *encoding, char *err,
                          size_t n_err)
{
    struct pfdd_request request;
    snprintf(err, n_err, "out of memory");
    bool ok = pfdd_output_request(config, &request, err, n_err);
    if (!encoding && request.wants.map)
        encoding = &pfdd_json_fields_encoding;
    request.wants.encoding = encoding;
    ok = ok && pfdd_request_finish(&request, err, n_err) &&
         pfdd_render_choice_new(&request, &c->render_choice);
    pfdd_request_deinit(&request);
    return ok;
}

void pfdd_consumer_init(struct pfdd_consumer *c, struct pfdd_consumers *of,
                        uint64_t acked)
{
    const struct pfdd_segments *s = &of->segments;
    c->saved = acked;
    c->acked = acked > of->durable ? of->durable : acked;
    /* A new consumer begins with the oldest item. */
    uint64_t oldest =
        s->n > of->n_going ? s->items[of->n_going].first : of->durable + 1;
    if (c->acked + 1 < oldest)
        c->acked = oldest - 1;
    c->given = c->last = c->passed = c->acked;
    c->of = of;
    pfdd_spool_reader_init(&c->spool_reader, &of->spool_readers, c->acked,
                           on_step_done);
    c->spool_reader.render_choice = c->render_choice;
    c->spool_reader.is_raw = c->is_raw;
    c->next = of->first;
    of->first = c;
}

void pfdd_consumer_deinit(struct pfdd_consumer *c)
{
    struct pfdd_consumer **at = &c->of->first;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    pfdd_spool_reader_deinit(&c->spool_reader);
    pfdd_render_choice_free(c->render_choice);
}

void pfdd_consumer_rewind(struct pfdd_consumer *consumer)
{
    consumer->given = consumer->last = consumer->passed = consumer->acked;
    pfdd_spool_reader_rewind(&consumer->spool_reader, consumer->acked);
}

void pfdd_consumer_begin(struct pfdd_consumer *consumer, bool is_entries)
{
    consumer->spool_reader.wants_entries = is_entries;
    pfdd_consumer_rewind(consumer);
}

bool pfdd_consumer_has_lines(const struct pfdd_consumer *consumer)
{
    return !consumer->spool_reader.is_busy && consumer->spool_reader.has_lines;
}

bool pfdd_consumer_is_between(const struct pfdd_consumer *consumer)
{
    return consumer->spool_reader.at == 0;
}

bool pfdd_consumer_has_more(const struct pfdd_consumer *consumer)
{
    const struct pfdd_spool_reader *s = &consumer->spool_reader;
    struct pfdd_segment more;
    return (s->batch.n_chunks && s->batch.first_seq < s->batch.end_seq) ||
           pfdd_segments_next(&consumer->of->segments, consumer->of->n_going,
                              &s->place.reader, &more);
}

bool pfdd_consumer_is_done(const struct pfdd_consumer *consumer)
{
    return !consumer->spool_reader.is_busy &&
           pfdd_spool_reader_is_empty(&consumer->spool_reader);
}

bool pfdd_consumer_is_busy(const struct pfdd_consumer *consumer)
{
    return consumer->spool_reader.is_busy;
}

bool pfdd_consumer_peek(struct pfdd_consumer *consumer, const char **bytes,
                        size_t *n)
{
    const struct pfdd_consumers *of = consumer->of;
    struct pfdd_spool_reader *s = &consumer->spool_reader;
    struct pfdd_segment todo;
    if (s->is_busy || s->has_lines)
        return false;
    if (s->at < s->n) {
        *bytes = s->text + s->at;
        *n = s->n - s->at;
        return true;
    }
    bool waits = s->place.reader.error && of->waits;
    if (!waits && pfdd_spool_reader_is_empty(s) &&
        pfdd_segments_next(&of->segments, of->n_going, &s->place.reader, &todo))
        pfdd_spool_reader_read(s, &todo);
    return false;
}

void pfdd_consumer_take(struct pfdd_consumer *consumer, size_t n)
{
    pfdd_spool_reader_take(&consumer->spool_reader, n);
}

struct pfdd_chunk *const *pfdd_consumer_peek_chunks(
    struct pfdd_consumer *consumer, size_t *n, struct pfdd_manifest *manifest)
{
    const struct pfdd_spool_reader *s = &consumer->spool_reader;
    const char *bytes = NULL;
    if (s->is_busy || s->batch.n_chunks == 0) {
        pfdd_consumer_peek(consumer, &bytes, n);
        return NULL;
    }
    *n = s->batch.n_chunks;
    *manifest = s->batch.needs;
    return s->batch.chunks;
}

void pfdd_consumer_take_chunks(struct pfdd_consumer *consumer)
{
    pfdd_spool_reader_forget(&consumer->spool_reader);
}

/* ---- resuming ---- */

/* Lines are rendered anew, perhaps with strings that arrived since. Number and
 * time identify a record. */
static bool has_line(const struct pfdd_segment_reader *r, uint64_t seq,
                     uint64_t time, const char *line, size_t n)
{
    struct pfdd_spool_record_head head;
    if (r->version == PFDD_SEGMENT_LINES)
        return r->number == seq && r->n == n && !memcmp(r->bytes, line, n);
    return r->number && r->number <= seq &&
           pfdd_spool_record_get(r->bytes, r->n, &head) &&
           seq - r->number < pfdd_spool_record_items(&head) &&
           time == head.time;
}

static bool is_line(const struct pfdd_consumers *of, uint64_t seq,
                    uint64_t time, const char *line, size_t n)
{
    struct pfdd_segment segment;
    struct pfdd_segment_reader r;
    bool found = false;
    pfdd_segment_reader_init(&r, seq - 1);
    while (!found &&
           pfdd_segments_next(&of->segments, of->n_going, &r, &segment) &&
           segment.first <= seq &&
           pfdd_segment_enter(&r, of->spool_readers.dir, &segment)) {
        while (!found && pfdd_segment_peek(&r, &segment)) {
            found = has_line(&r, seq, time, line, n);
            pfdd_segment_step(&r);
        }
        if (r.error)
            break;
    }
    pfdd_segment_reader_deinit(&r);
    return found;
}

void pfdd_consumer_resume(struct pfdd_consumer *consumer, uint64_t seq,
                          uint64_t time, const char *line, size_t n)
{
    if (seq <= consumer->acked || seq > consumer->of->durable ||
        !is_line(consumer->of, seq, time, line, n))
        return;
    consumer->acked = seq;
    pfdd_consumer_rewind(consumer);
    consumer->of->acked(consumer->of);
}

void pfdd_consumer_ack(struct pfdd_consumer *consumer, uint64_t seq)
{
    /* Items behind the last line could not be read or are not wanted: the
     * consumer will not acknowledge them. */
    if (seq >= consumer->last)
        seq = consumer->passed;
    if (seq > consumer->acked)
        consumer->acked = seq;
    consumer->of->acked(consumer->of);
}

/* ---- all consumers ---- */

void pfdd_consumers_retry(struct pfdd_consumers *consumers)
{
    consumers->waits = false;
    for (struct pfdd_consumer *c = consumers->first; c; c = c->next) {
        pfdd_spool_reader_retry(&c->spool_reader);
        c->wake(c);
    }
}

const struct pfdd_consumer *pfdd_consumers_slowest(
    const struct pfdd_consumers *consumers, const struct pfdd_consumer *other)
{
    const struct pfdd_consumer *ret = NULL;
    for (const struct pfdd_consumer *c = consumers->first; c; c = c->next) {
        if (c != other && (!ret || c->acked < ret->acked))
            ret = c;
    }
    return ret;
}

uint64_t pfdd_consumers_acked(const struct pfdd_consumers *consumers,
                              const struct pfdd_consumer *other)
{
    const struct pfdd_consumer *c = pfdd_consumers_slowest(consumers, other);
    return c && c->acked < consumers->durable ? c->acked : consumers->durable;
}

bool pfdd_consumers_are_drained(const struct pfdd_consumers *consumers)
{
    for (const struct pfdd_consumer *c = consumers->first; c; c = c->next) {
        if (!c->absent && c->acked < consumers->durable)
            return false;
    }
    return true;
}

size_t pfdd_consumers_memory(const struct pfdd_consumers *consumers)
{
    size_t n = consumers->spool_readers.render_cache.n_bytes +
               consumers->segments.size * sizeof *consumers->segments.items;
    for (const struct pfdd_consumer *c = consumers->first; c; c = c->next)
        n += pfdd_spool_reader_memory(&c->spool_reader);
    return n;
}
