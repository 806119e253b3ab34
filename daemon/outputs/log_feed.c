/* SPDX-License-Identifier: MIT */
#include "outputs/log_feed.h"

#include "spool/spool.h"

static void on_reader(struct pfdd_cursor *cursor)
{
    struct pfdd_notes *notes = cursor->user;
    notes->wake(notes->user);
}

static void on_consumer(struct pfdd_consumer *consumer)
{
    struct pfdd_notes *notes = consumer->user;
    notes->wake(notes->user);
}

/* ---- life ---- */

static bool open_reader(struct pfdd_notes *notes,
                        const struct pfdd_output_config *config,
                        const struct pfdd_encoding *encoding, char *err,
                        size_t n_err)
{
    struct pfdd_request request;
    snprintf(err, n_err, "out of memory");
    bool ok = pfdd_output_request(config, &request, err, n_err);
    request.form = PFDD_TEXT;
    request.wants.encoding = encoding;
    request.from.is_seq = true;
    request.from.value = notes->d->ring.next_seq;
    ok = ok && pfdd_request_finish(&request, err, n_err) &&
         pfdd_cursor_init(&notes->cursor, &notes->d->render_cache, &request);
    pfdd_request_deinit(&request);
    return ok;
}

bool pfdd_notes_open(struct pfdd_notes *notes, const struct pfdd_output *output,
                     const struct pfdd_encoding *encoding, char *err,
                     size_t n_err)
{
    const struct pfdd_output_config *config = output->config;
    notes->d = output->d;
    notes->is_required = config->required;
    notes->batch_size = config->batch_size;
    notes->batch_ms = config->batch_ms;
    if (!config->required) {
        if (!open_reader(notes, config, encoding, err, n_err))
            return false;
        notes->cursor.wake = on_reader;
        notes->cursor.user = notes;
        notes->cursor.name = pfdd_output_name(config);
        return true;
    }
    if (!pfdd_consumer_choose(&notes->consumer, config, encoding, err, n_err))
        return false;
    notes->consumer.name = output->class->checkpoint_name(config);
    notes->consumer.wake = on_consumer;
    notes->consumer.user = notes;
    notes->consumer.absent = true;
    pfdd_spool_join(notes->d->spool, &notes->consumer);
    return true;
}

bool pfdd_notes_can_close(const struct pfdd_notes *notes)
{
    return !notes->is_required || !pfdd_consumer_is_busy(&notes->consumer);
}

void pfdd_notes_close(struct pfdd_notes *notes)
{
    if (notes->is_required) {
        pfdd_spool_leave(notes->d->spool, &notes->consumer);
        return;
    }
    notes->d->count.missed += notes->cursor.missed;
    pfdd_cursor_deinit(&notes->cursor);
}

/* ---- notes ---- */

bool pfdd_notes_peek(struct pfdd_notes *notes, const char **bytes, size_t *n)
{
    return notes->is_required ? pfdd_consumer_peek(&notes->consumer, bytes, n)
                              : pfdd_cursor_peek(&notes->cursor, bytes, n);
}

/* True: what was peeked at is all that there is. */
static bool are_last(const struct pfdd_notes *notes)
{
    const struct pfdd_rendered_block *rendered_block =
        notes->cursor.rendered_block;
    if (notes->is_required)
        return !pfdd_consumer_has_more(&notes->consumer);
    return !rendered_block || rendered_block->end >= notes->d->ring.next_seq;
}

bool pfdd_notes_gather(struct pfdd_notes *notes, const char **bytes, size_t *n)
{
    uint64_t now = uv_now(notes->d->loop);
    if (!pfdd_notes_peek(notes, bytes, n))
        return false;
    if (!notes->gathers)
        notes->gathers = now ? now : 1;
    return *n >= notes->batch_size || now - notes->gathers >= notes->batch_ms ||
           notes->d->stopping || !are_last(notes);
}

void pfdd_notes_take(struct pfdd_notes *notes, size_t n)
{
    notes->gathers = 0;
    if (notes->is_required) {
        pfdd_consumer_take(&notes->consumer, n);
    } else {
        pfdd_cursor_consume(&notes->cursor, n);
    }
}

/* What the queue has made stays anyway. */
void pfdd_notes_lend(struct pfdd_notes *notes, bool is_lent)
{
    if (!notes->is_required)
        notes->cursor.is_lent = is_lent;
}

void pfdd_notes_resume(struct pfdd_notes *notes, uint64_t sequence,
                       uint64_t time)
{
    if (notes->is_required)
        pfdd_consumer_resume(&notes->consumer, sequence, time, "", 0);
}

void pfdd_notes_look(struct pfdd_notes *notes)
{
    const char *bytes = NULL;
    size_t n = 0;
    if (notes->is_required)
        pfdd_consumer_peek(&notes->consumer, &bytes, &n);
}

void pfdd_notes_attend(struct pfdd_notes *notes, bool is_there)
{
    notes->consumer.absent = !is_there;
}

void pfdd_notes_ack(struct pfdd_notes *notes, uint64_t sequence)
{
    if (notes->is_required)
        pfdd_consumer_ack(&notes->consumer, sequence);
}

void pfdd_notes_rewind(struct pfdd_notes *notes)
{
    if (!notes->is_required)
        return;
    pfdd_consumer_rewind(&notes->consumer);
    pfdd_notes_look(notes);
}

/* ---- how it is ---- */

bool pfdd_notes_are_done(const struct pfdd_notes *notes)
{
    return notes->is_required ? pfdd_consumer_is_done(&notes->consumer)
                              : pfdd_cursor_is_done(&notes->cursor);
}

uint64_t pfdd_notes_dropped(const struct pfdd_notes *notes)
{
    return notes->is_required ? 0 : pfdd_cursor_dropped(&notes->cursor);
}

/* What the queue has read counts there. */
size_t pfdd_notes_memory(const struct pfdd_notes *notes)
{
    return notes->is_required ? 0 : pfdd_cursor_memory(&notes->cursor);
}

/* Of an item that the ring has; of older ones, of its oldest. */
static uint64_t time_of(const struct pfdd_ring *ring, uint64_t sequence)
{
    uint64_t oldest = pfdd_ring_oldest(ring);
    size_t i = pfdd_ring_find(ring, sequence > oldest ? sequence : oldest);
    return i < ring->n_chunks ? pfdd_ring_at(ring, i)->time : 0;
}

/* 0: none waits. */
static uint64_t oldest_time(const struct pfdd_notes *notes)
{
    const struct pfdd_ring *ring = &notes->d->ring;
    const struct pfdd_spool_reader *s = &notes->consumer.spool_reader;
    uint64_t sequence = notes->is_required ? notes->consumer.acked + 1
                                           : pfdd_cursor_seq(&notes->cursor);
    if (sequence >= ring->next_seq)
        return 0;
    if (!notes->is_required || sequence >= pfdd_ring_oldest(ring) ||
        s->at == s->n)
        return time_of(ring, sequence);
    struct pfdd_log_record_made note;
    pfdd_log_record_at(s->text + s->at, s->n - s->at, &note);
    return note.time;
}

uint64_t pfdd_notes_age(const struct pfdd_notes *notes, uint64_t taken)
{
    uint64_t now = pfdd_time_now();
    uint64_t time = taken ? taken : oldest_time(notes);
    return time && time < now ? now - time : 0;
}
