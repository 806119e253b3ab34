/* SPDX-License-Identifier: MIT */
#include "ingest/read_pass.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/decode/entry_run.h"
#include "stream/live/live_source.h"
#include "stream/live/tail_control.h"

bool pfdd_buffer_bytes_init(struct pfdd_buffer_bytes *b, int fd,
                            struct pfd_source *memory, uint64_t n)
{
    *b = (struct pfdd_buffer_bytes){ .source = memory,
                                     .fd = memory ? -1 : fd,
                                     .n = n };
    if (memory)
        return true;
    if (pfd_source_open_file(fd, &b->source, NULL) != PFD_OK)
        return false;
    pfdd_change_probe_init(&b->change_probe, fd);
    return true;
}

bool pfdd_buffer_bytes_are_of_process(const struct pfdd_buffer_bytes *b)
{
    return b->fd < 0;
}

void pfdd_buffer_bytes_deinit(struct pfdd_buffer_bytes *b)
{
    if (pfdd_buffer_bytes_are_of_process(b))
        return;
    pfdd_change_probe_deinit(&b->change_probe);
    pfd_source_close(b->source);
}

void pfdd_buffer_bytes_describe(const struct pfdd_buffer_bytes *b,
                                char ret[PFDD_FILE_ROOM])
{
    struct pfd_source_identity is = { 0 };
    if (!pfdd_buffer_bytes_are_of_process(b)) {
        pfdd_file_describe(b->fd, ret);
        return;
    }
    pfd_source_identify(b->source, &is, NULL);
    snprintf(ret, PFDD_FILE_ROOM,
             "process %" PRIu64 " of %" PRIu64 " at %" PRIx64, is.place,
             is.number, is.offset);
}

size_t pfdd_buffer_bytes_size(const struct pfdd_buffer_bytes *b)
{
    struct stat st;
    if (pfdd_buffer_bytes_are_of_process(b))
        return (size_t)b->n;
    return fstat(b->fd, &st) == 0 ? (size_t)st.st_size : SIZE_MAX;
}

bool pfdd_buffer_bytes_may_have_changed(struct pfdd_buffer_bytes *b)
{
    return pfdd_buffer_bytes_are_of_process(b) ||
           pfdd_change_probe_has_changed(&b->change_probe);
}

void pfdd_buffer_bytes_forget(struct pfdd_buffer_bytes *b)
{
    b->must_look = true;
    if (!pfdd_buffer_bytes_are_of_process(b))
        pfdd_change_probe_forget(&b->change_probe);
}

/* On a worker. True: a process' bytes have not changed since the last call, and
 * pfdd_buffer_bytes_forget() was not called. Always false of a file, whose
 * changes the loop sees. */
static bool buffer_bytes_are_still(struct pfdd_buffer_bytes *b)
{
    if (!pfdd_buffer_bytes_are_of_process(b))
        return false;
    bool changed = pfd_source_changed(b->source);
    bool must_look = b->must_look;
    b->must_look = false;
    return !changed && !must_look;
}

enum {
    QUIET = 4,
    LOOKS = 16, /* read passes of a finished buffer in one job */
    CHUNKS_ENOUGH = 256 * 1024,
    ON_NS = 5000000, /* ns of a burst in one job */
    HANDED = 4,      /* n_piece / HANDED: bytes handed to the loop at a time */
};

static bool is_known(const struct pfdd_follower *s,
                     const struct pfd_tail_item *item)
{
    return s->resume.skipping && item->is_entry &&
           (item->generation < s->resume.at.generation ||
            (item->generation == s->resume.at.generation &&
             item->entry->index <= s->resume.at.index));
}

/* Hands finished chunks to the loop, while the read pass goes on. */
static void hand_over(struct pfdd_follower *s)
{
    if (s->pass.chunker.chunk_batch.n <= s->memory.n_piece / HANDED)
        return;
    pfdd_pool_await(&s->job);
    pfdd_chunk_batch_move(&s->pass.handed, &s->pass.chunker.chunk_batch);
    pfdd_pool_hand(&s->job);
    s->pass.has_handed = true;
}

static void take_item(void *user, const struct pfd_tail_item *item)
{
    struct pfdd_follower *s = user;
    pfdd_follower_stats_at(&s->pass.stats, s->pass.tail, item->generation);
    if (is_known(s, item))
        return;
    pfdd_follower_stats_item(&s->pass.stats, item);
    if (s->options.is_trial)
        return;
    pfdd_chunker_put(&s->pass.chunker, item,
                     s->options.generation + item->generation);
    hand_over(s);
}

/* The number of entries of a run for which is_known() holds. */
static size_t count_known(const struct pfdd_follower *s,
                          const struct pfd_entry_run *entry_run,
                          uint64_t generation)
{
    struct pfd_entry first;
    size_t n = pfd_entry_run_count(entry_run);
    pfd_entry_run_entry(entry_run, 0, &first);
    if (!s->resume.skipping || generation > s->resume.at.generation ||
        (generation == s->resume.at.generation &&
         first.index > s->resume.at.index))
        return 0;
    uint64_t n_known = generation < s->resume.at.generation
                           ? n
                           : s->resume.at.index - first.index + 1;
    return n_known < n ? (size_t)n_known : n;
}

static void take_run(void *user, const struct pfd_entry_run *entry_run,
                     uint64_t generation)
{
    struct pfdd_follower *s = user;
    pfdd_follower_stats_at(&s->pass.stats, s->pass.tail, generation);
    size_t from = count_known(s, entry_run, generation);
    size_t n = pfd_entry_run_count(entry_run);
    pfdd_follower_stats_entries(&s->pass.stats, n - from);
    while (from < n && !s->options.is_trial) {
        from = pfdd_chunker_put_run(&s->pass.chunker, entry_run, from,
                                    s->options.generation + generation);
        hand_over(s);
    }
}

static void take_runs(void *user, const struct pfd_entry_run *const *entry_runs,
                      size_t n, uint64_t generation)
{
    struct pfdd_follower *s = user;
    if (s->resume.skipping || s->options.is_trial) {
        for (size_t i = 0; i < n; i++)
            take_run(user, entry_runs[i], generation);
        return;
    }
    pfdd_follower_stats_at(&s->pass.stats, s->pass.tail, generation);
    for (size_t i = 0; i < n; i++) {
        pfdd_follower_stats_entries(&s->pass.stats,
                                    pfd_entry_run_count(entry_runs[i]));
    }
    pfdd_chunker_put_runs(&s->pass.chunker, s->pass.tail, entry_runs, n,
                          s->options.generation + generation);
    hand_over(s);
}

static bool make_tail(struct pfdd_follower *s)
{
    struct pfd_tail_options options = {
        .strings = s->strings->set,
        .format = s->options.format,
        .options = &s->options.options,
        .source = s->options.name,
        .settle_ns = s->options.settle_ms * 1000000,
        .apart_ns = PFDD_BETWEEN_LOOKS_US * UINT64_C(1000),
        .window = s->memory.n_window,
        .emit_max = s->memory.n_piece / HANDED,
        .farther = s->memory.n_window,
        .memory = s->memory.n_image,
        .arrives = s->options.arrives,
        .read = pfd_source_read,
        .read_user = s->buffer_bytes.source,
        .item = take_item,
        .item_user = s,
    };
    s->pass.status = pfd_tail_new(&options, &s->pass.tail, &s->pass.err);
    if (s->pass.status == PFD_OK) {
        pfd_tail_take_runs(
            s->pass.tail,
            &(struct pfd_tail_runs){ take_run, take_runs, s->walk_pool });
    }
    return s->pass.status == PFD_OK;
}

static uint64_t clock_of(const struct pfdd_follower *s)
{
    return uv_hrtime() + s->pass.ahead;
}

/*
 * Reads a complete buffer window by window, with the tail's clock running
 * ahead, so that memory stays bounded; then the rest. True: all of it was read.
 */
static bool read_to_end(struct pfdd_follower *s)
{
    pfd_tail_give_whole(s->pass.tail, s->pass.n_whole);
    for (int i = 0; i < LOOKS && s->pass.chunker.chunk_batch.n < CHUNKS_ENOUGH;
         i++) {
        s->pass.ahead += 2 * (s->options.settle_ms + 1) * UINT64_C(1000000);
        s->pass.status = pfd_tail_poll(s->pass.tail, s->pass.n_buffer,
                                       clock_of(s), &s->pass.err);
        s->pass.n_quiet = s->pass.status == PFD_OK ? 0 : s->pass.n_quiet + 1;
        if (s->pass.n_quiet < QUIET)
            continue;
        s->pass.n_quiet = 0;
        s->pass.status =
            pfd_tail_finish(s->pass.tail, s->pass.n_buffer, &s->pass.err);
        return true;
    }
    return false;
}

/* Reads more of a burst while no other job needs this thread, so that the loop
 * is entered less often. */
static void continue_burst(struct pfdd_follower *s)
{
    uint64_t until = uv_hrtime() + ON_NS;
    while (s->pass.burst && s->pass.linger && s->pass.status == PFD_OK &&
           uv_hrtime() < until) {
        enum pfd_status status = pfd_tail_poll(s->pass.tail, s->pass.n_buffer,
                                               clock_of(s), &s->pass.err);
        if (status == PFD_MORE)
            return;
        s->pass.status = status;
    }
}

/* Sleeps until the second read pass is due, instead of waiting for the loop's
 * timer, whose resolution is a millisecond. Only while no other job needs this
 * thread. */
static void sleep_until_due(const struct pfdd_follower *s)
{
    uint64_t due = pfd_tail_due(s->pass.tail);
    uint64_t now = clock_of(s);
    if (now < due)
        usleep((unsigned)((due - now) / 1000) + 1);
}

static void run_pass(struct pfdd_follower *s)
{
    s->pass.finished = false;
    s->pass.has_handed = false;
    s->pass.status = pfd_source_size(s->buffer_bytes.source, &s->pass.n_buffer,
                                     &s->pass.err);
    if (s->pass.status < 0) {
        s->pass.finished = s->pass.finish;
        return;
    }
    if (s->pass.finish) {
        s->pass.finished = read_to_end(s);
        return;
    }
    s->pass.was_still =
        s->pass.may_be_still && buffer_bytes_are_still(&s->buffer_bytes);
    if (s->pass.was_still) {
        s->pass.status = PFD_MORE;
        return;
    }
    s->pass.status = pfd_tail_poll(s->pass.tail, s->pass.n_buffer, clock_of(s),
                                   &s->pass.err);
    bool too_soon = s->pass.status == PFD_MORE && s->pass.burst;
    bool only_seen = s->pass.status == PFD_OK && !s->pass.has_handed &&
                     !pfdd_chunker_has_entries(&s->pass.chunker);
    if (s->pass.linger && (too_soon || only_seen) &&
        pfd_tail_pending(s->pass.tail)) {
        sleep_until_due(s);
        s->pass.status = pfd_tail_poll(s->pass.tail, s->pass.n_buffer,
                                       clock_of(s), &s->pass.err);
    }
    continue_burst(s);
}

/* Explains a read error of a process: the process has ended, or has unmapped
 * the bytes. */
static void explain_failure(struct pfdd_follower *s)
{
    uint64_t n = 0;
    uint64_t at = s->pass.err.offset;
    s->pass.is_gone =
        pfd_source_size(s->buffer_bytes.source, &n, &s->pass.err) < 0;
    if (!s->pass.is_gone) {
        snprintf(s->pass.err.text, sizeof s->pass.err.text,
                 "nothing that can be read is mapped at byte %" PRIu64
                 " of it (any more)",
                 at == PFD_NO_OFFSET ? 0 : at);
    }
}

/* A ring goes on behind the last entry; indices of what it holds say nothing. */
static void resume_ring(struct pfdd_follower *s)
{
    struct pfd_tail_resume resume = {
        .offset = s->resume.at.offset,
        .n_bytes = s->resume.at.n_bytes,
        .index = s->resume.at.index,
        .is_changed = s->resume.is_changed,
    };
    if (s->pass.is_ring || !pfd_tail_is_ring(s->pass.tail))
        return;
    s->pass.is_ring = true;
    s->resume.skipping = false;
    if (s->resume.is_known)
        pfd_tail_resume(s->pass.tail, &resume);
}

void pfdd_read_pass(struct pfdd_job *job)
{
    struct pfdd_follower *s = (struct pfdd_follower *)job;
    s->pass.status = PFD_OK;
    s->pass.was_still = false;
    if (!s->pass.tail && !make_tail(s))
        return;
    if (s->pass.restart)
        pfd_tail_restart(s->pass.tail);
    if (s->pass.new_strings) {
        s->pass.status =
            pfd_tail_set_strings(s->pass.tail, s->strings->set, &s->pass.err);
        if (s->pass.status < 0)
            return;
        s->pass.new_strings = false;
    }
    resume_ring(s);
    run_pass(s);
    if (s->pass.status < 0 &&
        pfdd_buffer_bytes_are_of_process(&s->buffer_bytes))
        explain_failure(s);
    pfdd_follower_stats_bytes(&s->pass.stats, s->pass.tail);
    pfdd_chunker_cut(&s->pass.chunker);
}
