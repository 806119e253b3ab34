/* SPDX-License-Identifier: MIT */
#include "ingest/fd_restore.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "config/systemd.h"
#include "ingest/fd_store.h"
#include "ingest/ingest.h"
#include "ingest/stream.h"

enum {
    LOOK_MS = 500, /* between checks for producers that are gone */
};

static void stream_resumes(void *user)
{
}

static void stream_ended(void *user)
{
}

/* Feeds the frames of meta, with the descriptors that belong to them. */
static void feed(struct pfdd_stream *stream, int meta, uint64_t n, int memory,
                 int bell)
{
    int fds[] = { memory, bell };
    size_t taken = 0;
    char *frames = mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, meta, 0);
    if (frames == MAP_FAILED)
        return;
    pfdd_stream_feed(stream, frames + PFDD_META_HEAD,
                     (size_t)n - PFDD_META_HEAD, fds, bell >= 0 ? 2 : 1,
                     &taken);
    munmap(frames, (size_t)n);
    pfdd_stream_settle(stream);
}

static void refuse(unsigned number, struct pfdd_stored_buffer *stored_buffer)
{
    pfdd_log(PFDD_WARNING, "buffer %u of before: cannot be used", number);
    if (stored_buffer) {
        pfdd_fd_store_drop(stored_buffer);
    } else {
        pfdd_fd_store_forget(number);
    }
}

static void restore(struct pfdd_fd_store *fd_store, unsigned number, int memory,
                    int bell, int meta)
{
    char name[32];
    struct stat st;
    struct pfdd_saved_position saved_position;
    struct pfdd_stream_options options = {
        .name = name,
        .settle_ms = 100,
        .is_kept = true,
        .resume = stream_resumes,
        .ended = stream_ended,
    };
    snprintf(name, sizeof name, "kept %u", number);
    bool ok =
        memory >= 0 && meta >= 0 && fstat(meta, &st) == 0 &&
        st.st_size > PFDD_META_HEAD && st.st_size <= PFDD_META_MAX &&
        pfdd_memory_budget_has(fd_store->ingest->budget, (size_t)st.st_size) &&
        pread(meta, &saved_position, sizeof saved_position, 0) ==
            sizeof saved_position &&
        !memcmp(saved_position.magic, PFDD_META_MAGIC,
                sizeof saved_position.magic);
    struct pfdd_stored_buffer *stored_buffer =
        ok ? pfdd_fd_store_take(fd_store, number, memory, dup(meta)) : NULL;
    struct pfdd_stream *stream =
        stored_buffer ? pfdd_stream_new(fd_store->ingest, &options) : NULL;
    if (!stream) {
        refuse(number, stored_buffer);
        return;
    }
    stored_buffer->stream = stream;
    stored_buffer->end_stream = pfdd_stream_end;
    stored_buffer->is_restored = true;
    feed(stream, meta, (uint64_t)st.st_size, dup(memory),
         bell >= 0 ? dup(bell) : -1);
    if (stored_buffer->holder) {
        pfdd_log(PFDD_INFO, "buffer %u of before: followed again", number);
        return;
    }
    pfdd_stream_end(stream);
    refuse(number, stored_buffer);
}

/* There is no event when a producer of a restored buffer ends. */
static void on_timer(uv_timer_t *timer)
{
    struct pfdd_fd_store *fd_store = timer->data;
    struct pfdd_stored_buffer *next = NULL;
    for (struct pfdd_stored_buffer *s = fd_store->stored_buffers; s; s = next) {
        next = s->next;
        if (!s->stream || s->saved_position->pid <= 0 ||
            kill((pid_t)s->saved_position->pid, 0) == 0 || errno != ESRCH)
            continue;
        pfdd_log(PFDD_INFO, "buffer %u of before: its producer is gone",
                 s->number);
        pfdd_fd_store_end_stream(s);
    }
}

void pfdd_fd_store_restore(struct pfdd_fd_store *fd_store)
{
    unsigned number = 0;
    for (size_t i = 0; pfdd_systemd_stored(i, &number); i++) {
        if (number >= fd_store->next_number)
            fd_store->next_number = number + 1;
    }
    for (unsigned n = 0; n < fd_store->next_number; n++) {
        int fds[3] = { -1, -1, -1 };
        if (pfdd_systemd_parts(n, fds))
            restore(fd_store, n, fds[0], fds[1], fds[2]);
    }
    pfdd_systemd_forget();
    if (fd_store->n_slots)
        uv_timer_start(&fd_store->timer, on_timer, LOOK_MS, LOOK_MS);
}
