/* SPDX-License-Identifier: MIT */
/*
 * One poll: read the header, detect a reset, copy the bytes that are reserved
 * and not emitted, and emit entries in two passes over the copy. The first pass
 * covers bytes that were reserved at least settle_ns ago, and gives up the ones
 * that it cannot read; the second covers the rest and stops at the first entry
 * that is not settled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/tail.h>

#include "core/base/crc32c.h"
#include "core/base/sized.h"
#include "core/decode/detect_format.h"
#include "stream/live/tail_control.h"
#include "stream/live/tail_pass.h"

enum {
    BATCH = 512,
    HEADER_MIN = 64, /* bytes that are read for it, at least */
    WINDOW = 4 << 20,
    WINDOW_MIN = 1 << 19, /* holds any entry of any format's 16-bit size */
    MEMORY = 16 << 20,
    /* An entry that a device never stops changing blocks only for so many
     * settle_ns. */
    PATIENCE = 4,
    SATURATED = 4096, /* bytes reserved between two polls */
    FARTHER = 4,      /* windows */
};

#define SETTLE_NS UINT64_C(100000000)
/* Where entries state that they are whole, an incomplete one is on its way. */
#define PATIENT_NS UINT64_C(2000000000)
#define APART_NS   UINT64_C(1000000)

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static enum pfd_status use_format(struct pfd_tail *t, const char *name,
                                  const struct pfd_byte_reader *first,
                                  bool last, struct pfd_error *err)
{
    struct pfd_format_choice format_choice;
    struct pfd_walk walk;
    char text[192];
    enum pfd_status status =
        pfd_detect_format(t->o.strings, name, first, last, &format_choice, err);
    if (status == PFD_OK && !format_choice.format)
        format_choice.format = pfd_format_of_strings(t->o.strings);
    if (status != PFD_OK || !format_choice.format)
        return status;
    /* It may become one when more of it is written. */
    if (format_choice.format == &pfd_format_none)
        return PFD_END;
    if (pfd_format_choice_describe(&format_choice, text, sizeof text))
        pfd_tail_say(t, PFD_FINDING_format_choice, 0, "%s", text);
    if (!pfd_walk_init(&walk, format_choice.format, t->o.strings, &t->options))
        return no_memory(err);
    const struct pfd_format_live *live = format_choice.format->live;
    t->can_follow = live != NULL;
    t->shape = (struct pfd_live_shape){ 0 };
    if (live) {
        t->shape.n_header = live->n_header;
        t->shape.unit = live->unit;
    }
    if (live && live->shape) {
        t->can_follow = live->shape(walk.table, &t->shape) &&
                        !(t->shape.is_ring && t->o.arrives);
    }
    pfd_walk_deinit(&t->walk);
    t->walk = walk;
    t->walk.batch = &t->batch;
    t->format = format_choice.format;
    pfd_entry_source_set(&t->of, t->o.strings, t->format, &t->options);
    return PFD_OK;
}

enum pfd_status pfd_tail_new(const struct pfd_tail_options *options,
                             struct pfd_tail **ret, struct pfd_error *err)
{
    struct pfd_tail *t = calloc(1, sizeof *t);
    if (!t)
        return no_memory(err);
    if (pfd_sized_take(&t->o, sizeof t->o, options, err) != PFD_OK ||
        (t->o.options && pfd_sized_take(&t->options, sizeof t->options,
                                        t->o.options, err) != PFD_OK)) {
        free(t);
        return PFD_ERR_USAGE;
    }
    t->o.options = &t->options;
    t->summary.struct_size = sizeof t->summary;
    t->o.settle_ns = t->o.settle_ns ? t->o.settle_ns : SETTLE_NS;
    t->o.apart_ns = t->o.apart_ns ? t->o.apart_ns : APART_NS;
    t->o.window = t->o.window ? t->o.window : WINDOW;
    if (t->o.window < WINDOW_MIN)
        t->o.window = WINDOW_MIN;
    if (!t->o.farther)
        t->o.farther = FARTHER * t->o.window;
    if (t->o.farther < t->o.window)
        t->o.farther = t->o.window;
    if (!t->o.emit_max || t->o.emit_max > t->o.window / 2)
        t->o.emit_max = t->o.window / 2;
    t->image.max = t->o.memory ? t->o.memory : MEMORY;
    t->source = strdup(t->o.source ? t->o.source : "-");
    if (!t->source || !pfd_entry_source_init(&t->of, t->source) ||
        !pfd_record_batch_init(&t->batch, BATCH)) {
        pfd_tail_free(t);
        return no_memory(err);
    }
    t->o.source = t->source;
    enum pfd_status status = use_format(t, t->o.format, NULL, false, err);
    if (status != PFD_OK) {
        pfd_tail_free(t);
        return status;
    }
    *ret = t;
    return PFD_OK;
}

void pfd_tail_take_runs(struct pfd_tail *t, const struct pfd_tail_runs *runs)
{
    t->runs = *runs;
    t->walk_ahead = runs->walk_pool ? pfd_tail_slices_walk : NULL;
}

void pfd_tail_set_counter(struct pfd_tail *t, pfd_read_at_fn read, void *user)
{
    t->counter.read = read;
    t->counter.user = user;
}

void pfd_tail_free(struct pfd_tail *t)
{
    if (!t)
        return;
    pfd_walk_deinit(&t->walk);
    pfd_record_batch_deinit(&t->batch);
    pfd_entry_source_deinit(&t->of);
    free(t->now.bytes);
    free(t->before.bytes);
    free(t->scratch.bytes);
    free(t->holes.hole);
    pfd_tail_image_free(&t->image);
    free(t->source);
    free(t);
}

void pfd_tail_restart(struct pfd_tail *t)
{
    t->restart = true;
}

enum pfd_status pfd_tail_set_strings(struct pfd_tail *t,
                                     const struct pfd_strings *strings,
                                     struct pfd_error *err)
{
    struct pfd_entry_source of;
    const char *name = t->o.format;
    if (t->format)
        name = t->format->info.name;
    /* Cached lines belong to the old strings. */
    if (!pfd_entry_source_init(&of, t->source)) {
        pfd_entry_source_deinit(&of);
        return no_memory(err);
    }
    pfd_entry_source_deinit(&t->of);
    t->of = of;
    t->o.strings = strings;
    t->block.has_seen = false;
    return use_format(t, name, NULL, false, err);
}

uint64_t pfd_tail_due(const struct pfd_tail *t)
{
    return t->last_poll.has_been ? t->last_poll.ns + t->o.apart_ns : 0;
}

uint64_t pfd_tail_pending(const struct pfd_tail *t)
{
    return t->place.end > t->place.at ? t->place.end - t->place.at : 0;
}

uint64_t pfd_tail_holes(const struct pfd_tail *t)
{
    return t->holes.n;
}

size_t pfd_tail_memory(const struct pfd_tail *t)
{
    return sizeof *t + t->now.room + t->before.room + t->scratch.room +
           t->image.room + t->image.room / 32 +
           t->holes.room * sizeof *t->holes.hole;
}

void pfd_tail_trim(struct pfd_tail *t)
{
    pfd_tail_copy_drop(&t->now);
    pfd_tail_copy_drop(&t->before);
    pfd_tail_copy_drop(&t->scratch);
    t->ring.seen_from = t->ring.seen_to;
    t->last_poll.has_more = false;
}

uint64_t pfd_tail_generation(const struct pfd_tail *t)
{
    return t->place.generation;
}

const struct pfd_summary *pfd_tail_summary(const struct pfd_tail *t)
{
    return &t->summary;
}

/* ---- polls ---- */

/* Chooses the format by the first bytes, which are in scratch. PFD_END: not
 * yet. */
static enum pfd_status choose_format(struct pfd_tail *t, uint64_t n_buffer,
                                     struct pfd_error *err)
{
    struct pfd_byte_reader first =
        pfd_byte_reader(t->scratch.bytes, t->scratch.n);
    uint32_t crc = pfd_crc32c(0, t->scratch.bytes, t->scratch.n);
    if (t->unlike.is_known && t->unlike.crc == crc)
        return PFD_END; /* of no format, and unchanged */
    enum pfd_status status =
        use_format(t, NULL, &first, t->scratch.n == n_buffer, err);
    t->unlike = (struct pfd_tail_unlike){ status == PFD_END, crc };
    return status;
}

static enum pfd_status read_first(struct pfd_tail *t, uint64_t n_buffer,
                                  size_t n, struct pfd_error *err)
{
    return pfd_tail_copy_read(&t->scratch, &t->o, 0,
                              n_buffer < n ? (size_t)n_buffer : n, err);
}

/* Are the first bytes a whole header that is not zero? */
static bool has_header(const struct pfd_tail *t)
{
    bool any = false;
    for (size_t i = 0; i < t->scratch.n; i++)
        any |= t->scratch.bytes[i] != 0;
    return any && t->scratch.n == HEADER_MIN;
}

/* The bytes of n_buffer that belong to the buffer whose header is in scratch. */
static uint64_t cut_to_room(const struct pfd_tail *t, uint64_t n_buffer)
{
    return t->can_follow && t->format->live->room && t->scratch.bytes &&
                   t->scratch.n >= t->shape.n_header
               ? t->format->live->room(t->walk.table, t->scratch.bytes,
                                       n_buffer)
               : n_buffer;
}

/* Reads the header into scratch, chooses the format, and cuts *room, bytes, to
 * what the buffer can hold; of an empty buffer nothing else is read. PFD_END:
 * not yet. */
static enum pfd_status read_header(struct pfd_tail *t, uint64_t *room,
                                   struct pfd_error *err)
{
    uint64_t n_buffer = *room;
    size_t n = t->format && t->shape.n_header > HEADER_MIN ? t->shape.n_header
                                                           : HEADER_MIN;
    enum pfd_status status = read_first(t, n_buffer, n, err);
    if (status == PFD_OK && !t->format) {
        if (!has_header(t))
            return PFD_END;
        status = read_first(t, n_buffer, PFD_PROBE_BYTES + 1, err);
        if (status == PFD_OK)
            status = choose_format(t, n_buffer, err);
    }
    if (status == PFD_OK)
        *room = cut_to_room(t, n_buffer);
    if (status == PFD_OK && t->shape.n_counter && !t->counter.read)
        return PFD_END;
    if (status == PFD_OK && t->shape.n_counter)
        status = pfd_tail_read_used(t, &t->scratch, err);
    if (status != PFD_OK)
        return status;
    return t->can_follow && t->scratch.bytes &&
                   t->scratch.n >= pfd_tail_used_bytes(t)
               ? PFD_OK
               : PFD_END;
}

static uint64_t cut_to_buffer(const struct pfd_tail *t, uint64_t used,
                              uint64_t n_buffer)
{
    if (used <= n_buffer || n_buffer < t->shape.n_header)
        return used;
    return n_buffer - (n_buffer - t->shape.n_header) % t->shape.unit;
}

static uint64_t patience(const struct pfd_tail *t)
{
    uint64_t settle_ns = t->o.settle_ns;
    return t->of.table->has_committed && settle_ns < PATIENT_NS ? PATIENT_NS
                                                                : settle_ns;
}

/* Takes over the header's values, and detects a reset. */
static enum pfd_status take_header(struct pfd_tail *t, uint64_t n_buffer,
                                   uint64_t now_ns, struct pfd_error *err)
{
    bool other = false;
    enum pfd_status status = read_header(t, &n_buffer, err);
    if (status != PFD_OK)
        return status;
    uint64_t used = t->format->live->used(t->walk.table, t->scratch.bytes);
    if (!t->last_poll.has_been)
        pfd_tail_generation_clear(t);
    if (t->last_poll.has_been && !t->restart && used >= t->place.used)
        status = pfd_tail_generation_check(t, &other, err);
    if (status == PFD_OK && t->restart) {
        status = pfd_tail_generation_next(t, "the program begins anew", err);
    } else if (status == PFD_OK && used < t->place.used) {
        status = pfd_tail_generation_next(t, "the cursor moved back", err);
    } else if (status == PFD_OK && other) {
        status = pfd_tail_generation_next(t, "entries were written over", err);
    }
    if (status != PFD_OK)
        return status;
    t->restart = false;
    t->place.used = used;
    t->place.n_buffer = n_buffer;
    t->place.end = cut_to_buffer(t, used, n_buffer);
    if (!t->last_poll.has_been)
        status = pfd_tail_generation_attach(t, n_buffer, err);
    t->last_poll.has_been = true;
    pfd_tail_marks_add(&t->marks, t->place.end, now_ns, patience(t));
    return status;
}

static void notice_shrinking(struct pfd_tail *t, uint64_t n_buffer)
{
    bool is_short = t->last_poll.has_been && n_buffer < t->place.end;
    if (is_short && !t->too_short) {
        pfd_tail_say(t, PFD_FINDING_shrunk, n_buffer,
                     "the buffer is now %llu bytes, of which %llu were used",
                     (unsigned long long)n_buffer,
                     (unsigned long long)t->place.end);
    }
    t->too_short = is_short;
}

/* Runs a pass over the bytes that were reserved long enough ago, then one over
 * the rest; `most`: bytes of the copy to walk. False: out of memory. */
static bool run_passes(struct pfd_tail *t, size_t most)
{
    /* The arrived bytes end anywhere, also within an entry. */
    bool is_arriving = t->o.arrives && t->place.used > t->place.end;
    uint64_t now = t->last_poll.ns;
    uint64_t settled = pfd_tail_marks_older(&t->marks, now, t->o.settle_ns);
    struct pfd_tail_pass old = {
        .copy = &t->now,
        .other = &t->before,
        .most = most,
        .end = t->o.arrives ? t->place.end : settled,
        .settled = settled,
        .patient = pfd_tail_marks_older(&t->marks, now, patience(t)),
        .hard = pfd_tail_marks_older(&t->marks, now, PATIENCE * t->o.settle_ns),
        .is_arriving = is_arriving,
    };
    struct pfd_tail_pass recent = {
        .copy = &t->now,
        .other = &t->before,
        .most = most,
        .end = t->place.end,
    };
    pfd_tail_pass_run(t, &old, t->place.at);
    if (!old.failed && !t->o.arrives && t->place.at >= old.end)
        pfd_tail_pass_run(t, &recent, t->place.at);
    return !old.failed && !recent.failed;
}

/*
 * Emits some of the copy, and notes whether more of it may be emitted. The
 * limit is half a window: this poll has then seen half of the bytes that the
 * next poll reads.
 */
static bool emit_some(struct pfd_tail *t)
{
    uint64_t at = t->place.at;
    size_t most = (size_t)(at - t->now.base) + t->o.emit_max;
    bool ok = run_passes(t, most);
    /* An entry larger than the limit of one call is emitted all the same. */
    if (ok && t->place.at == at && most < t->now.n)
        ok = run_passes(t, t->o.window);
    uint64_t given = t->place.at - t->now.base;
    t->last_poll.has_more = ok && t->place.at > at && given < t->now.n &&
                            given + t->o.emit_max <= t->o.window / 2;
    if (!t->last_poll.has_more) {
        struct pfd_tail_copy swap = t->before;
        t->before = t->now;
        t->now = swap;
        if (!t->now.n)
            pfd_tail_copy_shrink(&t->now);
    }
    return ok;
}

/*
 * Reserved bytes that are not emitted, up to one window. A blocked poll reads
 * farther ahead: the bytes that it sees are not lost when the buffer begins
 * anew meanwhile.
 */
static size_t reserved_bytes(const struct pfd_tail *t)
{
    uint64_t n = t->place.end > t->place.at ? t->place.end - t->place.at : 0;
    size_t most = t->block.is_blocked ? t->o.farther : t->o.window;
    return n < most ? (size_t)n : most;
}

static enum pfd_status read_reserved(struct pfd_tail *t, struct pfd_error *err)
{
    return pfd_tail_copy_read(&t->now, &t->o, t->place.at, reserved_bytes(t),
                              err);
}

/* After a poll that emitted nothing: has it seen the same bytes as the one
 * before? */
static bool has_seen_same(const struct pfd_tail *t)
{
    const struct pfd_tail_copy *a = &t->before;
    const struct pfd_tail_copy *b = &t->now;
    return t->block.unwritten == t->place.at && a->base == t->place.at &&
           b->base == a->base && a->n && b->n == a->n &&
           !memcmp(a->bytes, b->bytes, a->n);
}

/*
 * Would a poll stop again where the last one did? While a device writes as fast
 * as it can, a dword that may be unwritten blocks everything behind it, and
 * reading all that again in each poll costs more than emitting it: only the
 * blocking entry is read.
 */
static enum pfd_status is_stuck(struct pfd_tail *t, uint64_t now_ns, bool *ret,
                                struct pfd_error *err)
{
    uint64_t hard =
        pfd_tail_marks_older(&t->marks, now_ns, PATIENCE * t->o.settle_ns);
    size_t n = t->block.n_unwritten;
    *ret = false;
    if (!t->block.is_blocked || !t->block.has_seen ||
        !t->last_poll.is_saturated || t->block.unwritten != t->place.at ||
        t->place.at < hard || t->before.base != t->place.at ||
        t->before.n < n || t->before.n < reserved_bytes(t))
        return PFD_OK;
    enum pfd_status status =
        pfd_tail_copy_read(&t->scratch, &t->o, t->place.at, n, err);
    *ret = status == PFD_OK && t->scratch.n == n &&
           !memcmp(t->scratch.bytes, t->before.bytes, n);
    return status;
}

static enum pfd_status poll_buffer(struct pfd_tail *t, uint64_t n_buffer,
                                   uint64_t now_ns, struct pfd_error *err)
{
    uint64_t end = t->place.end;
    uint64_t generation = t->place.generation;
    notice_shrinking(t, n_buffer);
    enum pfd_status status = take_header(t, n_buffer, now_ns, err);
    t->last_poll.is_saturated =
        generation == t->place.generation && t->place.end > end + SATURATED;
    if (status == PFD_OK && now_ns - t->place.holes_ns >= t->o.settle_ns / 4) {
        t->place.holes_ns = now_ns;
        status = pfd_tail_holes_check(t, false, err);
    }
    if (status != PFD_OK)
        return status;
    t->last_poll.ns = now_ns;
    bool stuck = false;
    status = is_stuck(t, now_ns, &stuck, err);
    if (!t->holes.n)
        pfd_tail_copy_shrink(&t->scratch);
    if (status != PFD_OK || stuck)
        return status;
    uint64_t at = t->place.at;
    status = read_reserved(t, err);
    if (status != PFD_OK)
        return status;
    bool ok = emit_some(t);
    t->block.is_blocked = t->place.at == at && t->place.at < t->place.end;
    t->block.has_seen = t->block.is_blocked && has_seen_same(t);
    return ok ? PFD_OK : no_memory(err);
}

enum pfd_status pfd_tail_poll(struct pfd_tail *t, uint64_t n_buffer,
                              uint64_t now_ns, struct pfd_error *err)
{
    uint64_t at = t->place.at;
    uint64_t end = t->place.end;
    uint64_t generation = t->place.generation;
    uint64_t n_entries = t->summary.entries;
    if (t->last_poll.has_more && !emit_some(t))
        return no_memory(err);
    if (t->place.at != at)
        return PFD_OK;
    if (now_ns < pfd_tail_due(t))
        return PFD_MORE;
    enum pfd_status status = pfd_tail_is_ring(t)
                                 ? pfd_tail_ring_poll(t, n_buffer, now_ns, err)
                                 : poll_buffer(t, n_buffer, now_ns, err);
    if (status == PFD_OK && !t->has_looked_behind && t->last_poll.has_been)
        status = pfd_tail_look_behind(t, n_buffer, err);
    if (status == PFD_END)
        status = PFD_MORE;
    bool moved = at != t->place.at || end != t->place.end ||
                 generation != t->place.generation ||
                 n_entries != t->summary.entries;
    return status == PFD_OK && !moved ? PFD_MORE : status;
}

/* ---- the end ---- */

/* Emits everything that the copy has of this generation. */
static bool emit_rest(struct pfd_tail *t)
{
    struct pfd_tail_pass p = {
        .copy = &t->now,
        .other = &t->before,
        .end = t->place.end,
        .settled = t->place.end,
        .patient = t->place.end,
        .hard = t->place.end,
    };
    pfd_tail_pass_run(t, &p, t->place.at);
    return !p.failed;
}

/* Emits a buffer that could not be followed, as a whole, like any other. */
static enum pfd_status emit_whole(struct pfd_tail *t, uint64_t n_buffer,
                                  struct pfd_error *err)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    if (t->n_whole && n_buffer > t->n_whole) {
        pfd_tail_say(t, PFD_FINDING_too_large, 0,
                     "%llu bytes that cannot be followed are more than there "
                     "is memory for",
                     (unsigned long long)n_buffer);
        t->summary.skipped_bytes += n_buffer;
        return PFD_OK;
    }
    enum pfd_status status =
        pfd_tail_copy_read(&t->now, &t->o, 0, (size_t)n_buffer, err);
    if (status == PFD_OK) {
        status = pfd_decoder_new(t->o.strings, t->o.format, t->source, &decoder,
                                 err);
    }
    if (status != PFD_OK)
        return status;
    pfd_tail_ring_tell_whole(t);
    pfd_decoder_set_options(decoder, &t->options, NULL);
    status = pfd_decoder_view(decoder, t->now.bytes, t->now.n, 0, true, err);
    while (status == PFD_OK &&
           (status = pfd_decoder_next(decoder, &item, err)) == PFD_OK) {
        struct pfd_tail_item out = {
            .is_entry = item->is_entry,
            .entry = item->entry,
            .finding = item->finding,
            .generation = t->place.generation,
        };
        t->o.item(t->o.item_user, &out);
    }
    pfd_summary_add(&t->summary, pfd_decoder_summary(decoder));
    pfd_decoder_free(decoder);
    pfd_tail_trim(t);
    return status < 0 ? status : PFD_OK;
}

bool pfd_tail_is_followed(const struct pfd_tail *t)
{
    return t->last_poll.has_been;
}

void pfd_tail_give_whole(struct pfd_tail *t, size_t n)
{
    t->n_whole = n;
}

static void report_forgotten(struct pfd_tail *t)
{
    if (t->holes.n_forgotten) {
        pfd_tail_say(
            t, PFD_FINDING_unwritten, 0,
            "%llu places that had been given up were not looked after to the "
            "end",
            (unsigned long long)t->holes.n_forgotten);
    }
    t->holes.n_forgotten = 0;
}

enum pfd_status pfd_tail_finish(struct pfd_tail *t, uint64_t n_buffer,
                                struct pfd_error *err)
{
    while (t->last_poll.has_more) {
        if (!emit_some(t))
            return no_memory(err);
    }
    enum pfd_status status =
        pfd_tail_is_ring(t) ? pfd_tail_ring_finish(t, n_buffer, err)
                            : take_header(t, n_buffer, t->last_poll.ns, err);
    if (status == PFD_END) {
        return n_buffer && !t->last_poll.has_been ? emit_whole(t, n_buffer, err)
                                                  : PFD_OK;
    }
    if (status == PFD_OK)
        status = pfd_tail_look_behind(t, n_buffer, err);
    if (pfd_tail_is_ring(t))
        return status;
    if (status == PFD_OK)
        status = pfd_tail_holes_check(t, true, err);
    while (status == PFD_OK && t->place.at < t->place.end) {
        uint64_t from = t->place.at;
        status = read_reserved(t, err);
        if (status == PFD_OK && !emit_rest(t))
            status = no_memory(err);
        if (t->place.at == from)
            break;
    }
    if (status == PFD_OK) {
        pfd_tail_report_overflow(t);
        report_forgotten(t);
    }
    t->before.n = 0;
    return status;
}
