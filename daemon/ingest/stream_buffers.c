/* SPDX-License-Identifier: MIT */
#include "ingest/stream_buffers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <printfdecode/capture.h>

#include "base/descriptor_limit.h"
#include "base/passed_fd.h"
#include "base/resource_account.h"
#include "config/reserved_names.h"
#include "ingest/fd_store.h"
#include "ingest/follower.h"
#include "ingest/ingest.h"
#include "ingest/origin.h"
#include "ingest/stream_objects.h"
#include "ingest/string_store.h"

enum {
    BUFFERS_MAX = 1024, /* of one stream */
    GAPS_MAX = 16,      /* gap records, */
    GAPS_MS = 1000,     /* in so many ms */
    PAGES = 8192,       /* bytes that data may take beyond its size */
};

#define BUFFER_MAX (UINT64_C(1) << 30) /* bytes of one buffer in a memfd */

struct pfdd_stream_buffer {
    struct pfdd_stream_buffer *next;
    struct pfdd_stream_buffers *of;
    uint64_t number;
    uint64_t generation;
    bool is_past;   /* of an earlier stream: its number is void */
    bool is_shared; /* memory of the producer */
    bool done;      /* this generation is complete */
    uint64_t size;  /* bytes of the buffer, as its frame says */
    uint64_t end;   /* end of the bytes that came */
    bool has_data;  /* some bytes came */
    struct pfdd_follower *follower;
    unsigned n_fds; /* descriptors charged */
    struct pfdd_doorbell *doorbell;
    struct pfdd_stored_buffer
        *stored_buffer; /* NULL: not stored over a restart */
    char *name;
    const char *format; /* static; NULL: chosen */
    struct pfd_options options;
};

static void tell_gap(struct pfdd_stream_buffers *all,
                     struct pfdd_stream_buffer *b, const char *reason,
                     uint64_t missed);

static void refuse(struct pfdd_stream_buffers *all, const char *why)
{
    all->refused(all->user, why);
}

static void lack(struct pfdd_stream_buffers *all, const char *why)
{
    all->lacking(all->user, why);
}

static void ring(void *user)
{
    struct pfdd_stream_buffer *b = user;
    if (b->follower)
        pfdd_follower_ring(b->follower);
}

static void drop_doorbell(struct pfdd_stream_buffer *b)
{
    pfdd_doorbell_drop(b->doorbell);
    b->doorbell = NULL;
}

static void follower_ended(void *user)
{
    struct pfdd_stream_buffer *b = user;
    struct pfdd_stream_buffers *all = b->of;
    b->follower = NULL;
    if (b->stored_buffer)
        pfdd_fd_store_drop(b->stored_buffer);
    b->stored_buffer = NULL;
    pfdd_resource_account_give_back(all->account, b->n_fds);
    b->n_fds = 0;
    all->n_followers--;
    bool was_awaited = all->waiting_for == b;
    if (was_awaited)
        all->waiting_for = NULL;
    all->ended(all->user, was_awaited);
}

static bool has_room(struct pfdd_stream_buffers *all, size_t n)
{
    if (pfdd_memory_budget_has_for(all->ingest->budget, all->account, n))
        return true;
    pfdd_string_store_evict(all->ingest->string_store, n);
    return pfdd_memory_budget_has_for(all->ingest->budget, all->account, n);
}

static bool start_follower(struct pfdd_stream_buffer *b, int fd,
                           const struct pfd_wire_frame *frame)
{
    const struct pfd_wire_frame none = { 0 };
    struct pfdd_origin origin;
    struct pfdd_stream_buffers *all = b->of;
    unsigned n_fds = 2 + (b->stored_buffer != NULL);
    if (!pfdd_objects_describe(all->objects, frame ? frame->scope : 0,
                               b->format)) {
        close(fd);
        refuse(all, "a buffer whose description is another than the stream's "
                    "first: it is not read");
        return false;
    }
    bool too_many = 2 * (all->n_followers + 1) + PFDD_UNCLAIMED_MAX >
                    pfdd_descriptor_limit_share();
    if (too_many || !pfdd_resource_account_take(all->account, n_fds)) {
        close(fd);
        lack(all, "too many descriptors: a buffer is not followed");
        return false;
    }
    if (!has_room(all, PFDD_FOLLOWER_BYTES)) {
        pfdd_resource_account_give_back(all->account, n_fds);
        close(fd);
        lack(all, "memory, or this producer's share of it, is up to its cap: "
                  "a buffer is not followed");
        return false;
    }
    const char *why = pfdd_origin_init(&origin, frame ? frame : &none);
    if (why)
        refuse(all, why);
    /* A frame `buffer` need not have the sender's names. */
    if (!origin.frame.host.n)
        origin.frame.host = pfd_wire_text(all->host);
    if (!origin.frame.process.n)
        origin.frame.process = pfd_wire_text(all->process);
    if (!origin.frame.pid)
        origin.frame.pid = all->said_pid;
    struct pfdd_follower_options options = {
        .name = b->name,
        .format = b->format,
        .options = b->options,
        .origin = &origin.frame,
        .producer = all->objects->producer,
        .fd = fd,
        .account = all->account,
        .settle_ms = all->settle_ms,
        .arrives = !b->is_shared,
        .generation = b->generation,
        .resume = b->is_shared,
        .saved_position =
            b->stored_buffer ? b->stored_buffer->saved_position : NULL,
        .ended = follower_ended,
        .user = b,
    };
    b->follower = pfdd_follower_new(all->ingest, &options);
    pfdd_origin_deinit(&origin);
    b->n_fds = b->follower ? n_fds : 0;
    pfdd_resource_account_give_back(all->account, n_fds - b->n_fds);
    all->n_followers += b->follower != NULL;
    b->done = false;
    return b->follower != NULL;
}

/* A record for each wrong frame of a flood would evict other entries from the
 * ring: gaps beyond GAPS_MAX a second are combined. */
static bool is_too_often(struct pfdd_stream_buffers *all)
{
    uint64_t now = uv_now(all->ingest->loop);
    if (now - all->gaps_since >= GAPS_MS) {
        all->gaps_since = now;
        all->n_gaps = 0;
    }
    return ++all->n_gaps > GAPS_MAX;
}

void pfdd_stream_buffers_flush_gaps(struct pfdd_stream_buffers *all,
                                    bool at_end)
{
    const char *reason = all->held_reason;
    if (!reason ||
        (!at_end && uv_now(all->ingest->loop) - all->gaps_since < GAPS_MS))
        return;
    all->held_reason = NULL;
    all->n_gaps = 0;
    tell_gap(all, NULL, reason, all->held_missed);
    all->held_missed = 0;
}

static void tell_gap(struct pfdd_stream_buffers *all,
                     struct pfdd_stream_buffer *b, const char *reason,
                     uint64_t missed)
{
    if (is_too_often(all)) {
        all->held_reason = reason;
        all->held_missed += missed;
        return;
    }
    if (b && b->follower) {
        pfdd_follower_gap(b->follower, reason, missed);
        return;
    }
    struct pfdd_stamp stamp = {
        .source =
            pfdd_source_table_find(all->ingest->source_table, all->name, ""),
        .time = pfdd_time_now(),
    };
    struct pfdd_buffer_options options = {
        .name = all->name,
        .binding = pfdd_string_store_bind(all->ingest->string_store, NULL),
    };
    stamp.buffer = pfdd_buffer_new(&options);
    all->ingest->count->gap_lines += missed;
    pfdd_source_table_count(all->ingest->source_table, stamp.source, 0, 1);
    if (stamp.buffer)
        pfdd_ring_gap(all->ingest->ring, &stamp, reason, missed);
    pfdd_buffer_unref(stamp.buffer);
}

static int own_memory(void)
{
    int fd = memfd_create("printfdecoded", MFD_CLOEXEC);
    if (fd < 0 || pfdd_descriptor_limit_is_spare(fd))
        return fd;
    close(fd);
    return -1;
}

static struct pfdd_stream_buffer *find_buffer(struct pfdd_stream_buffers *all,
                                              uint64_t number)
{
    struct pfdd_stream_buffer *b = all->first;
    while (b && (b->is_past || b->number != number))
        b = b->next;
    return b;
}

static struct pfdd_stream_buffer *add_buffer(struct pfdd_stream_buffers *all,
                                             uint64_t number)
{
    struct pfdd_stream_buffer *b = all->first;
    while (b && (!b->is_past || b->follower))
        b = b->next;
    if (b) {
        b->number = number;
        b->is_past = false;
        return b;
    }
    b = all->n < BUFFERS_MAX ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->of = all;
    b->number = number;
    b->next = all->first;
    all->first = b;
    all->n++;
    return b;
}

static void describe(struct pfdd_stream_buffer *b,
                     const struct pfd_wire_frame *f)
{
    char name[PFDD_NAME_ROOM];
    struct pfd_error err;
    free(b->name);
    b->name = NULL;
    b->options = *b->of->options;
    if (pfd_capture_reading(f, &b->format, &b->options, &err) != PFD_OK)
        refuse(b->of, err.text);
    if (!f->format.n)
        b->format = b->of->format;
    if (pfdd_name_put(name, f->name.at, f->name.n) &&
        pfdd_reserved_name_release(b->of->ingest->config, name)) {
        b->name = strdup(name);
    }
    b->generation = f->generation;
    b->size = f->size;
    b->end = 0;
    b->has_data = false;
    if (f->name.n && !b->name) {
        refuse(b->of, "a buffer's name is longer than 255 bytes: it goes by "
                      "its number");
    }
    if (!b->name &&
        asprintf(&b->name, "%s/%" PRIu64, b->of->name, f->buffer) < 0)
        b->name = NULL;
}

void pfdd_stream_buffers_pass(struct pfdd_stream_buffers *all, const int *fds,
                              size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (all->n_fds < PFDD_UNCLAIMED_MAX &&
            pfdd_resource_account_take(all->account, 1)) {
            all->fds[all->n_fds++] = fds[i];
        } else {
            pfdd_passed_fd_close(fds[i]);
        }
    }
}

static int take_fd(struct pfdd_stream_buffers *all)
{
    if (all->n_fds == 0)
        return -1;
    int fd = all->fds[0];
    pfdd_resource_account_give_back(all->account, 1);
    all->n_fds--;
    memmove(all->fds, all->fds + 1, all->n_fds * sizeof *all->fds);
    return fd;
}

void pfdd_stream_buffers_hello(struct pfdd_stream_buffers *all,
                               const struct pfd_wire_frame *f)
{
    pfdd_name_put(all->host, f->host.at, f->host.n);
    pfdd_name_put(all->process, f->process.at, f->process.n);
    all->said_pid = f->pid;
}

/* Stores the buffer with the service manager, or finds the stored one. */
static void store_buffer(struct pfdd_stream_buffers *all,
                         struct pfdd_stream_buffer *b, int memory, int bell,
                         const struct pfd_wire_frame *f)
{
    struct pfdd_fd_store *fd_store = all->ingest->fd_store;
    struct pfd_wire_frame hello = { .type = PFD_WIRE_HELLO };
    struct pfd_wire_frame buffer = *f;
    b->stored_buffer = pfdd_fd_store_find(fd_store, memory);
    if (b->stored_buffer) {
        /* A stored buffer that another buffer uses stays with that one. */
        if (!b->stored_buffer->stream) {
            b->stored_buffer = NULL;
        } else if (all->stream == b->stored_buffer->stream) {
            b->stored_buffer->scope =
                pfdd_producer_number(all->objects->producer);
        }
        return;
    }
    hello.pid = all->said_pid;
    hello.host = pfd_wire_text(all->host);
    hello.process = pfd_wire_text(all->process);
    buffer.name = pfd_wire_text(b->name);
    /* What its input says is not there when it is restored. */
    buffer.format = buffer.format.n ? buffer.format : pfd_wire_text(b->format);
    buffer.fds = bell >= 0 ? 2 : 1;
    b->stored_buffer =
        pfdd_fd_store_put(fd_store, memory, bell, pfdd_stream_buffers_pid(all),
                          all->objects->producer, &hello, &buffer);
}

/* The producer of a restored buffer has connected again: takes over the
 * follower. */
static bool adopt(struct pfdd_stream_buffers *all, struct pfdd_stream_buffer *b)
{
    struct pfdd_stored_buffer *stored_buffer = b->stored_buffer;
    struct pfdd_stream_buffer *old =
        stored_buffer ? stored_buffer->holder : NULL;
    if (!old || !stored_buffer->stream || !old->follower)
        return false;
    b->follower = old->follower;
    b->n_fds = pfdd_resource_account_take(all->account, 3) ? 3 : 0;
    b->done = false;
    all->n_followers++;
    pfdd_follower_hand_over(b->follower, b, all->account);
    /* The producer has sent its shaders again, or relies on the stored ones. */
    if (pfdd_producer_count(all->objects->producer)) {
        pfdd_follower_use(b->follower, all->objects->producer);
        stored_buffer->scope = pfdd_producer_number(all->objects->producer);
    }
    drop_doorbell(old);
    old->follower = NULL;
    old->stored_buffer = NULL;
    old->of->n_followers--;
    pfdd_fd_store_end_stream(stored_buffer);
    stored_buffer->saved_position->pid = pfdd_stream_buffers_pid(all);
    return true;
}

/* A buffer that is not followed releases its stored buffer; nothing else
 * would. */
static void keep_stored_buffer(struct pfdd_stream_buffer *b, bool is_followed)
{
    struct pfdd_stored_buffer *stored_buffer = b->stored_buffer;
    if (stored_buffer && is_followed) {
        stored_buffer->holder = b;
    } else if (stored_buffer) {
        b->stored_buffer = NULL;
        if (!stored_buffer->stream)
            pfdd_fd_store_drop(stored_buffer);
    }
}

static void share_memory(struct pfdd_stream_buffers *all,
                         struct pfdd_stream_buffer *b,
                         const struct pfd_wire_frame *f)
{
    int memory = take_fd(all);
    int bell = f->fds > 1 ? take_fd(all) : -1;
    for (uint64_t i = 2; i < f->fds && all->n_fds; i++)
        pfdd_passed_fd_close(take_fd(all));
    /* Only an eventfd can be waited for. */
    if (bell >= 0 && !pfdd_passed_fd_is_eventfd(bell)) {
        pfdd_passed_fd_close(bell);
        bell = -1;
        refuse(all, "a doorbell that is no eventfd");
    }
    if (memory < 0 || !pfdd_passed_fd_is_memory(memory, f->size)) {
        refuse(all, memory < 0 ? "a buffer's memory did not come with it"
                               : "shared memory without a seal against "
                                 "shrinking, or smaller than it says");
        if (memory >= 0)
            pfdd_passed_fd_close(memory);
        if (bell >= 0)
            pfdd_passed_fd_close(bell);
        return;
    }
    b->is_shared = true;
    store_buffer(all, b, memory, bell, f);
    bool is_followed = adopt(all, b);
    if (is_followed) {
        close(memory);
    } else {
        is_followed = start_follower(b, memory, f);
    }
    keep_stored_buffer(b, is_followed);
    if (is_followed && bell >= 0) {
        b->doorbell = pfdd_doorbell_hang(all->ingest->loop, bell, ring, b);
    } else if (bell >= 0) {
        pfdd_passed_fd_close(bell);
    }
}

static size_t cost_of(const struct pfd_wire_frame *f)
{
    return f->type == PFD_WIRE_BUFFER ? PFDD_FOLLOWER_BYTES
                                      : f->bytes.n + PAGES;
}

bool pfdd_stream_buffers_have_room(struct pfdd_stream_buffers *all,
                                   const struct pfd_wire_frame *f)
{
    const struct pfdd_stream_buffer *b = find_buffer(all, f->buffer);
    bool is_followed = b && b->follower;
    return is_followed == (f->type == PFD_WIRE_BUFFER) ||
           has_room(all, cost_of(f));
}

bool pfdd_stream_buffers_are_short(const struct pfdd_stream_buffers *all,
                                   const struct pfd_wire_frame *f)
{
    return pfdd_memory_budget_is_short_for(all->ingest->budget, all->account,
                                           cost_of(f));
}

/* False: the buffer's last generation has to be read to its end first. */
bool pfdd_stream_buffers_take(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f)
{
    struct pfdd_stream_buffer *b = find_buffer(all, f->buffer);
    if (b && b->follower && b->is_shared && !f->fds) {
        b->generation = f->generation;
        b->done = false;
        pfdd_follower_restart(b->follower);
        return true;
    }
    if (b && b->follower) {
        drop_doorbell(b);
        pfdd_follower_close(b->follower);
        all->waiting_for = b;
        return false;
    }
    if (!b)
        b = add_buffer(all, f->buffer);
    if (!b) {
        refuse(all, "more than 1024 buffers");
        return true;
    }
    describe(b, f);
    b->is_shared = false;
    if (!b->name) {
        lack(all, "out of memory");
    } else if (f->fds) {
        share_memory(all, b, f);
    } else {
        int fd = own_memory();
        if (fd < 0) {
            lack(all, "no memory or descriptor for a buffer");
        } else {
            start_follower(b, fd, f);
        }
    }
    return true;
}

/* Writes bytes; or zeros, which are there wherever no bytes are. */
static bool put_bytes(struct pfdd_stream_buffer *b,
                      const struct pfd_wire_frame *f, uint64_t end)
{
    bool is_farther = end > b->end;
    b->end = is_farther ? end : b->end;
    if (f->bytes.n) {
        return pfdd_follower_write(b->follower, f->offset, f->bytes.at,
                                   f->bytes.n);
    }
    return !is_farther || pfdd_follower_extend(b->follower, end);
}

void pfdd_stream_buffers_data(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f)
{
    struct pfdd_stream_buffer *b = find_buffer(all, f->buffer);
    if (!b || !b->follower || b->is_shared || b->done ||
        f->generation != b->generation) {
        refuse(all, "data for a buffer that was not announced");
        return;
    }
    uint64_t end = 0;
    uint64_t n = f->bytes.n ? f->bytes.n : f->zeros;
    b->has_data |= f->bytes.n > 0;
    if (__builtin_add_overflow(f->offset, n, &end) || end > BUFFER_MAX ||
        !pfdd_memory_budget_has_for(all->ingest->budget, all->account,
                                    f->bytes.n + PAGES)) {
        tell_gap(all, b, "too_large", 0);
        all->ingest->count->bad_frames++;
        return;
    }
    if (!put_bytes(b, f, end)) {
        tell_gap(all, b, "no_memory", 0);
        return;
    }
    pfdd_follower_time(b->follower, f->time);
    pfdd_follower_ring(b->follower);
}

/* In a stream that does not say which bytes are zero, all bytes behind the last
 * one that came are. */
static void fill_up(struct pfdd_stream_buffer *b)
{
    bool says_zeros = b->of->features & PFD_WIRE_HAS_END;
    if (!says_zeros && b->has_data && b->size > b->end && b->size <= BUFFER_MAX)
        pfdd_follower_extend(b->follower, b->size);
}

void pfdd_stream_buffers_done(struct pfdd_stream_buffers *all,
                              const struct pfd_wire_frame *f)
{
    struct pfdd_stream_buffer *b = find_buffer(all, f->buffer);
    if (!b || !b->follower || b->generation != f->generation)
        return;
    b->done = true;
    if (b->is_shared) {
        pfdd_follower_complete(b->follower);
        return;
    }
    fill_up(b);
    pfdd_follower_close(b->follower);
}

bool pfdd_stream_buffers_raw(struct pfdd_stream_buffers *all, const void *bytes,
                             size_t n)
{
    struct pfdd_stream_buffer *b = all->first;
    if (!b) {
        int fd = own_memory();
        b = add_buffer(all, 1);
        if (b) {
            b->name = strdup(all->name);
            b->format = all->format;
            b->options = *all->options;
        }
        if (fd < 0 || !b || !b->name || !start_follower(b, fd, NULL)) {
            lack(all, "no memory or descriptor for a buffer");
            return false;
        }
    }
    if (all->raw_bytes + n > BUFFER_MAX ||
        !pfdd_memory_budget_has_for(all->ingest->budget, all->account,
                                    n + PAGES)) {
        tell_gap(all, b, "too_large", 0);
        return false;
    }
    if (!pfdd_follower_write(b->follower, all->raw_bytes, bytes, n)) {
        tell_gap(all, b, "no_memory", 0);
        return false;
    }
    all->raw_bytes += n;
    pfdd_follower_ring(b->follower);
    return true;
}

bool pfdd_stream_buffers_entries(struct pfdd_stream_buffers *all,
                                 const struct pfd_wire_frame *f)
{
    struct pfdd_stream_buffer *b = find_buffer(all, f->buffer);
    const char *why = "bad_frame";
    if (b && b->follower && !b->is_shared) {
        if (!pfdd_follower_append_chunk(b->follower, f, &why))
            return false;
    } else {
        refuse(all, "entries of a buffer that was not announced, or is shared");
        return true;
    }
    if (why) {
        refuse(all, "entries that cannot be used");
        tell_gap(all, b, why, 0);
    }
    return true;
}

void pfdd_stream_buffers_gap(struct pfdd_stream_buffers *all,
                             const uint64_t *number, const char *reason,
                             uint64_t missed)
{
    tell_gap(all, number ? find_buffer(all, *number) : NULL, reason, missed);
}

void pfdd_stream_buffers_leave(struct pfdd_stream_buffers *all)
{
    for (struct pfdd_stream_buffer *b = all->first; b; b = b->next) {
        b->is_past = true;
        drop_doorbell(b);
        if (b->follower)
            pfdd_follower_close(b->follower);
    }
}

long long pfdd_stream_buffers_pid(const struct pfdd_stream_buffers *all)
{
    return all->pid ? all->pid : (long long)all->said_pid;
}

void pfdd_stream_buffers_deinit(struct pfdd_stream_buffers *all)
{
    pfdd_resource_account_give_back(all->account, (unsigned)all->n_fds);
    for (size_t i = 0; i < all->n_fds; i++)
        pfdd_passed_fd_close(all->fds[i]);
    while (all->first) {
        struct pfdd_stream_buffer *b = all->first;
        all->first = b->next;
        free(b->name);
        free(b);
    }
}
