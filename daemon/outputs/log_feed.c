/* SPDX-License-Identifier: MIT */
#include "outputs/log_feed.h"

#include "spool/spool.h"

static void on_reader(struct pfdd_cursor *cursor)
{
    struct pfdd_log_feed *log_feed = cursor->user;
    log_feed->wake(log_feed->user);
}

static void on_consumer(struct pfdd_consumer *consumer)
{
    struct pfdd_log_feed *log_feed = consumer->user;
    log_feed->wake(log_feed->user);
}

/* ---- lifetime ---- */

static bool open_reader(struct pfdd_log_feed *log_feed,
                        const struct pfdd_output *output,
                        const struct pfdd_encoding *encoding, char *err,
                        size_t n_err)
{
    const struct pfdd_output_config *config = output->config;
    uint64_t place = pfdd_output_take_place(output);
    struct pfdd_request request;
    snprintf(err, n_err, "out of memory");
    bool ok = pfdd_output_request(config, &request, err, n_err);
    request.form = PFDD_TEXT;
    request.wants.encoding = encoding;
    request.from.is_seq = true;
    request.from.value = place ? place : log_feed->delivery->ring->next_seq;
    ok = ok && pfdd_request_finish(&request, err, n_err) &&
         pfdd_cursor_init(&log_feed->cursor, log_feed->delivery->render_cache,
                          &request);
    pfdd_request_deinit(&request);
    return ok;
}

bool pfdd_log_feed_open(struct pfdd_log_feed *log_feed,
                        const struct pfdd_output *output,
                        const struct pfdd_encoding *encoding, char *err,
                        size_t n_err)
{
    const struct pfdd_output_config *config = output->config;
    log_feed->delivery = output->delivery;
    log_feed->is_required = config->required;
    log_feed->batch_size = config->batch_size;
    log_feed->batch_ms = config->batch_ms;
    if (!config->required) {
        if (!open_reader(log_feed, output, encoding, err, n_err))
            return false;
        log_feed->cursor.wake = on_reader;
        log_feed->cursor.user = log_feed;
        log_feed->cursor.name = pfdd_output_name(config);
        return true;
    }
    if (!pfdd_consumer_choose(&log_feed->consumer, config, encoding, err,
                              n_err))
        return false;
    log_feed->consumer.name = output->class->checkpoint_name(config);
    log_feed->consumer.wake = on_consumer;
    log_feed->consumer.user = log_feed;
    log_feed->consumer.absent = true;
    pfdd_spool_join(log_feed->delivery->spool, &log_feed->consumer);
    return true;
}

bool pfdd_log_feed_can_close(const struct pfdd_log_feed *log_feed)
{
    return !log_feed->is_required ||
           !pfdd_consumer_is_busy(&log_feed->consumer);
}

static void drop_batch(struct pfdd_log_feed *log_feed)
{
    pfd_text_free(&log_feed->batch);
    log_feed->batch_at = 0;
}

static size_t batch_left(const struct pfdd_log_feed *log_feed)
{
    return log_feed->batch.n - log_feed->batch_at;
}

void pfdd_log_feed_close(struct pfdd_log_feed *log_feed)
{
    drop_batch(log_feed);
    if (log_feed->is_required) {
        pfdd_spool_leave(log_feed->delivery->spool, &log_feed->consumer);
        return;
    }
    log_feed->delivery->count->missed += log_feed->cursor.missed;
    pfdd_cursor_deinit(&log_feed->cursor);
}

/* ---- records ---- */

/* Whole log records [*n bytes], borrowed until they are taken. */
static bool log_feed_peek(struct pfdd_log_feed *log_feed, const char **bytes,
                          size_t *n)
{
    return log_feed->is_required
               ? pfdd_consumer_peek(&log_feed->consumer, bytes, n)
               : pfdd_cursor_peek(&log_feed->cursor, bytes, n);
}

/* True: peek returned all records that there are. */
static bool are_last(const struct pfdd_log_feed *log_feed)
{
    const struct pfdd_rendered_block *rendered_block =
        log_feed->cursor.rendered_block;
    if (log_feed->is_required)
        return !pfdd_consumer_has_more(&log_feed->consumer);
    return !rendered_block ||
           rendered_block->end >= log_feed->delivery->ring->next_seq;
}

static void consume(struct pfdd_log_feed *log_feed, size_t n);

/* Moves records of bytes [n] to the batch, until it is full. False: out of
 * memory; none were moved. */
static bool collect(struct pfdd_log_feed *log_feed, const char *bytes, size_t n)
{
    size_t at = 0;
    while (at < n && log_feed->batch.n + at < log_feed->batch_size) {
        struct pfdd_log_record_made note;
        pfdd_log_record_at(bytes + at, n - at, &note);
        at += note.n_whole;
    }
    if (!pfd_text_reserve(&log_feed->batch, at)) {
        log_feed->batch.failed = false;
        return false;
    }
    pfd_text_add(&log_feed->batch, bytes, at);
    consume(log_feed, at);
    return true;
}

/* Blocks of text have records of one buffer: a batch goes on over them. Those of a
 * block that is large enough, or the last one, stay where they are. False: there
 * are none. */
static bool fill_batch(struct pfdd_log_feed *log_feed, const char **bytes,
                       size_t *n)
{
    while (log_feed->batch.n < log_feed->batch_size &&
           log_feed_peek(log_feed, bytes, n)) {
        bool is_alone = !log_feed->batch.n;
        if (is_alone && (*n >= log_feed->batch_size || are_last(log_feed)))
            return true;
        if (!collect(log_feed, *bytes, *n))
            return is_alone;
    }
    *bytes = log_feed->batch.data;
    *n = log_feed->batch.n;
    return *n > 0;
}

bool pfdd_log_feed_peek_batch(struct pfdd_log_feed *log_feed,
                              const char **bytes, size_t *n)
{
    uint64_t now = uv_now(log_feed->delivery->loop);
    if (batch_left(log_feed) && log_feed->batch_at) {
        *bytes = log_feed->batch.data + log_feed->batch_at;
        *n = batch_left(log_feed);
        return true;
    }
    if (log_feed->batch_ms == 0)
        return log_feed_peek(log_feed, bytes, n);
    if (!fill_batch(log_feed, bytes, n))
        return false;
    if (!log_feed->batch_begun)
        log_feed->batch_begun = now ? now : 1;
    return *n >= log_feed->batch_size ||
           now - log_feed->batch_begun >= log_feed->batch_ms ||
           *log_feed->delivery->stopping;
}

void pfdd_log_feed_consume(struct pfdd_log_feed *log_feed, size_t n)
{
    log_feed->batch_begun = 0;
    if (!log_feed->batch.n) {
        consume(log_feed, n);
        return;
    }
    log_feed->batch_at += n;
    if (!batch_left(log_feed))
        log_feed->batch.n = log_feed->batch_at = 0;
}

static void consume(struct pfdd_log_feed *log_feed, size_t n)
{
    if (log_feed->is_required) {
        pfdd_consumer_take(&log_feed->consumer, n);
    } else {
        pfdd_cursor_consume(&log_feed->cursor, n);
    }
}

/* Records that were rendered from the spool stay valid anyway. */
void pfdd_log_feed_lend(struct pfdd_log_feed *log_feed, bool is_lent)
{
    if (!log_feed->is_required)
        log_feed->cursor.is_lent = is_lent;
}

void pfdd_log_feed_resume(struct pfdd_log_feed *log_feed, uint64_t sequence,
                          uint64_t time)
{
    if (log_feed->is_required)
        pfdd_consumer_resume(&log_feed->consumer, sequence, time, "", 0);
}

void pfdd_log_feed_prefetch(struct pfdd_log_feed *log_feed)
{
    const char *bytes = NULL;
    size_t n = 0;
    if (log_feed->is_required)
        pfdd_consumer_peek(&log_feed->consumer, &bytes, &n);
}

void pfdd_log_feed_set_connected(struct pfdd_log_feed *log_feed, bool is_there)
{
    log_feed->consumer.absent = !is_there;
}

void pfdd_log_feed_ack(struct pfdd_log_feed *log_feed, uint64_t sequence)
{
    if (log_feed->is_required)
        pfdd_consumer_ack(&log_feed->consumer, sequence);
}

void pfdd_log_feed_rewind(struct pfdd_log_feed *log_feed)
{
    if (!log_feed->is_required)
        return;
    drop_batch(log_feed);
    pfdd_consumer_rewind(&log_feed->consumer);
    pfdd_log_feed_prefetch(log_feed);
}

/* ---- state ---- */

uint64_t pfdd_log_feed_place(const struct pfdd_log_feed *log_feed,
                             uint64_t taken)
{
    struct pfdd_log_record_made note;
    if (log_feed->is_required)
        return 0;
    if (taken)
        return taken;
    if (!batch_left(log_feed))
        return pfdd_cursor_seq(&log_feed->cursor);
    pfdd_log_record_at(log_feed->batch.data + log_feed->batch_at,
                       batch_left(log_feed), &note);
    return note.sequence;
}

bool pfdd_log_feed_is_done(const struct pfdd_log_feed *log_feed)
{
    return !batch_left(log_feed) &&
           (log_feed->is_required ? pfdd_consumer_is_done(&log_feed->consumer)
                                  : pfdd_cursor_is_done(&log_feed->cursor));
}

uint64_t pfdd_log_feed_dropped(const struct pfdd_log_feed *log_feed)
{
    return log_feed->is_required ? 0 : pfdd_cursor_dropped(&log_feed->cursor);
}

/* The spool accounts for the records that it has rendered. */
size_t pfdd_log_feed_memory(const struct pfdd_log_feed *log_feed)
{
    return log_feed->batch.room +
           (log_feed->is_required ? 0 : pfdd_cursor_memory(&log_feed->cursor));
}

static uint64_t time_at(const char *bytes, size_t n)
{
    struct pfdd_log_record_made note;
    pfdd_log_record_at(bytes, n, &note);
    return note.time;
}

/* 0: no record waits. */
static uint64_t oldest_time(const struct pfdd_log_feed *log_feed)
{
    const struct pfdd_ring *ring = log_feed->delivery->ring;
    const struct pfdd_spool_reader *s = &log_feed->consumer.spool_reader;
    uint64_t sequence = log_feed->is_required
                            ? log_feed->consumer.acked + 1
                            : pfdd_cursor_seq(&log_feed->cursor);
    if (batch_left(log_feed)) {
        return time_at(log_feed->batch.data + log_feed->batch_at,
                       batch_left(log_feed));
    }
    if (sequence >= ring->next_seq)
        return 0;
    if (!log_feed->is_required || sequence >= pfdd_ring_oldest(ring) ||
        s->at == s->n)
        return pfdd_ring_time(ring, sequence);
    return time_at(s->text + s->at, s->n - s->at);
}

uint64_t pfdd_log_feed_age(const struct pfdd_log_feed *log_feed, uint64_t taken)
{
    return pfdd_time_since(taken ? taken : oldest_time(log_feed));
}
