/* SPDX-License-Identifier: MIT */
#include "ingest/fd_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "config/systemd.h"
#include "ingest/entry_check.h"
#include "ingest/ingest.h"
#include "ingest/string_store.h"
#include "stream/capture/wire.h"

enum {
    SLOTS_MAX = 128,
    PART = 1 << 20, /* bytes of a code object in one frame */
};

/* ---- saved position ---- */

void pfdd_saved_position_note(struct pfdd_saved_position *saved_position,
                              int fd, uint64_t generation, uint64_t index,
                              uint64_t offset, uint64_t n_bytes, bool is_ring)
{
    saved_position->n_noted = 0; /* in case the daemon ends in the middle of
                                    this */
    saved_position->generation = generation;
    saved_position->index = index;
    saved_position->offset = offset;
    saved_position->end = offset + n_bytes;
    saved_position->crc = pfdd_entry_check(fd, offset, n_bytes, is_ring);
    saved_position->n_noted = 1;
}

bool pfdd_saved_position_find(const struct pfdd_saved_position *saved_position,
                              struct pfdd_source_offset *ret)
{
    if (!saved_position->n_noted ||
        saved_position->end <= saved_position->offset)
        return false;
    *ret = (struct pfdd_source_offset){
        .generation = saved_position->generation,
        .index = saved_position->index,
        .offset = saved_position->offset,
        .n_bytes = saved_position->end - saved_position->offset,
        .check = saved_position->crc,
    };
    return true;
}

/* ---- stored buffers ---- */

struct pfdd_stored_buffer *pfdd_fd_store_take(struct pfdd_fd_store *fd_store,
                                              unsigned number, int memory,
                                              int meta)
{
    struct stat st;
    struct stat meta_st;
    struct pfdd_stored_buffer *stored_buffer = calloc(1, sizeof *stored_buffer);
    void *page =
        mmap(NULL, PFDD_META_HEAD, PROT_READ | PROT_WRITE, MAP_SHARED, meta, 0);
    if (!stored_buffer || page == MAP_FAILED || fstat(memory, &st) != 0 ||
        fstat(meta, &meta_st) != 0) {
        if (page != MAP_FAILED)
            munmap(page, PFDD_META_HEAD);
        free(stored_buffer);
        close(meta);
        return NULL;
    }
    stored_buffer->of = fd_store;
    stored_buffer->number = number;
    stored_buffer->device = st.st_dev;
    stored_buffer->inode = st.st_ino;
    stored_buffer->saved_position = page;
    stored_buffer->meta = meta;
    stored_buffer->end = (uint64_t)meta_st.st_size;
    fd_store->ingest->budget->inputs += stored_buffer->end;
    pfdd_memory_budget_note(fd_store->ingest->budget);
    stored_buffer->next = fd_store->stored_buffers;
    fd_store->stored_buffers = stored_buffer;
    fd_store->n_slots++;
    return stored_buffer;
}

static void unmap_slot(struct pfdd_stored_buffer *stored_buffer)
{
    stored_buffer->of->ingest->budget->inputs -= stored_buffer->end;
    munmap(stored_buffer->saved_position, PFDD_META_HEAD);
    close(stored_buffer->meta);
    free(stored_buffer);
}

static void free_stored_buffer(struct pfdd_stored_buffer *stored_buffer)
{
    struct pfdd_stored_buffer **at = &stored_buffer->of->stored_buffers;
    while (*at != stored_buffer)
        at = &(*at)->next;
    *at = stored_buffer->next;
    stored_buffer->of->n_slots--;
    unmap_slot(stored_buffer);
}

struct pfdd_stored_buffer *pfdd_fd_store_find(struct pfdd_fd_store *fd_store,
                                              int memory)
{
    struct stat st;
    if (fstat(memory, &st) != 0)
        return NULL;
    for (struct pfdd_stored_buffer *s = fd_store->stored_buffers; s;
         s = s->next) {
        if (s->device == st.st_dev && s->inode == st.st_ino)
            return s;
    }
    return NULL;
}

static bool append(void *user, const void *bytes, size_t n)
{
    struct pfdd_stored_buffer *stored_buffer = user;
    struct pfdd_memory_budget *budget = stored_buffer->of->ingest->budget;
    if (stored_buffer->end + n > PFDD_META_MAX ||
        !pfdd_memory_budget_has(budget, n) ||
        pwrite(stored_buffer->meta, bytes, n, (off_t)stored_buffer->end) !=
            (ssize_t)n)
        return false;
    stored_buffer->end += n;
    budget->inputs += n;
    pfdd_memory_budget_note(budget);
    return true;
}

static void cut(struct pfdd_stored_buffer *stored_buffer, uint64_t end)
{
    stored_buffer->of->ingest->budget->inputs -= stored_buffer->end - end;
    stored_buffer->end = end;
    if (ftruncate(stored_buffer->meta, (off_t)end) != 0)
        pfdd_log(PFDD_DEBUG, "shelf: %s", strerror(errno));
}

/* Appends all of a frame, or nothing. */
static bool append_frame(struct pfdd_stored_buffer *stored_buffer,
                         const struct pfd_wire_frame *frame)
{
    uint64_t before = stored_buffer->end;
    if (pfd_wire_write(frame, append, stored_buffer, NULL) == PFD_OK)
        return true;
    cut(stored_buffer, before);
    return false;
}

/* In parts: a stream takes no longer frames than producers may send. */
static bool append_bytes(struct pfdd_stored_buffer *stored_buffer,
                         const struct pfdd_object *object, uint64_t number)
{
    uint64_t at = 0;
    do {
        uint64_t n = object->n - at < PART ? object->n - at : PART;
        struct pfd_wire_frame part = { .type = PFD_WIRE_CODE_OBJECT,
                                       .code_object = number,
                                       .offset = at,
                                       .total = object->n,
                                       .name = pfd_wire_text(object->name) };
        part.bytes = (struct pfd_wire_bytes){ (const char *)object->bytes + at,
                                              (size_t)n };
        if (!append_frame(stored_buffer, &part))
            return false;
        at += n;
    } while (at < object->n);
    return true;
}

static void append_object(void *user, const struct pfdd_object *object)
{
    struct pfdd_stored_buffer *stored_buffer = user;
    uint64_t before = stored_buffer->end;
    uint64_t number = before; /* unique */
    struct pfd_wire_frame shader = { .type = PFD_WIRE_SHADER,
                                     .code_object = number,
                                     .shader = object->shader,
                                     .name = pfd_wire_text(object->name) };
    if (append_bytes(stored_buffer, object, number) &&
        (!object->is_shader || append_frame(stored_buffer, &shader)))
        return;
    cut(stored_buffer, before);
    pfdd_log(PFDD_WARNING,
             "%s: not kept over a restart: more than 64 MiB of them, or memory "
             "is up to its cap",
             object->name);
}

static int new_meta(void)
{
    struct pfdd_saved_position saved_position = { .n_noted = 0 };
    memcpy(saved_position.magic, PFDD_META_MAGIC, sizeof saved_position.magic);
    int fd = memfd_create("printfdecoded-kept", MFD_CLOEXEC);
    if (fd >= 0 && (ftruncate(fd, PFDD_META_HEAD) != 0 ||
                    pwrite(fd, &saved_position, sizeof saved_position, 0) !=
                        sizeof saved_position)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void store(unsigned number, const char *part, int fd)
{
    char name[64];
    snprintf(name, sizeof name, "buffer-%u-%s", number, part);
    pfdd_systemd_store(name, fd);
}

struct pfdd_stored_buffer *pfdd_fd_store_put(
    struct pfdd_fd_store *fd_store, int memory, int bell, long long pid,
    const struct pfdd_producer *producer, const struct pfd_wire_frame *hello,
    const struct pfd_wire_frame *buffer)
{
    if (!pfdd_systemd_stores() || fd_store->n_slots >= SLOTS_MAX)
        return NULL;
    int meta = new_meta();
    struct pfdd_stored_buffer *stored_buffer =
        meta < 0
            ? NULL
            : pfdd_fd_store_take(fd_store, fd_store->next_number, memory, meta);
    if (!stored_buffer)
        return NULL;
    if (pfd_wire_write_start(append, stored_buffer) != PFD_OK ||
        !append_frame(stored_buffer, hello) ||
        !append_frame(stored_buffer, buffer)) {
        free_stored_buffer(stored_buffer);
        return NULL;
    }
    fd_store->next_number++;
    stored_buffer->saved_position->pid = pid;
    stored_buffer->scope = pfdd_producer_number(producer);
    pfdd_string_store_each(fd_store->ingest->string_store, producer,
                           append_object, stored_buffer);
    store(stored_buffer->number, "memory", memory);
    if (bell >= 0)
        store(stored_buffer->number, "bell", bell);
    store(stored_buffer->number, "meta", meta);
    return stored_buffer;
}

void pfdd_fd_store_object(struct pfdd_fd_store *fd_store,
                          const struct pfdd_object *object)
{
    for (struct pfdd_stored_buffer *stored_buffer = fd_store->stored_buffers;
         stored_buffer; stored_buffer = stored_buffer->next) {
        bool is_its =
            !object->producer ||
            pfdd_producer_number(object->producer) == stored_buffer->scope;
        if (is_its && (!object->is_kept || !stored_buffer->is_restored))
            append_object(stored_buffer, object);
    }
}

void pfdd_fd_store_forget(unsigned number)
{
    static const char *const parts[] = { "memory", "bell", "meta" };
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "buffer-%u-%s", number, parts[i]);
        pfdd_systemd_unstore(name);
    }
}

void pfdd_fd_store_drop(struct pfdd_stored_buffer *stored_buffer)
{
    if (!*stored_buffer->of->ingest->stopping)
        pfdd_fd_store_forget(stored_buffer->number);
    free_stored_buffer(stored_buffer);
}

unsigned pfdd_fd_store_count(const struct pfdd_fd_store *fd_store)
{
    return fd_store->n_slots;
}

/* ---- its life ---- */

void pfdd_fd_store_end_stream(struct pfdd_stored_buffer *stored_buffer)
{
    struct pfdd_stream *stream = stored_buffer->stream;
    stored_buffer->stream = NULL;
    stored_buffer->end_stream(stream);
}

struct pfdd_fd_store *pfdd_fd_store_new(struct pfdd_ingest *ingest)
{
    struct pfdd_fd_store *fd_store = calloc(1, sizeof *fd_store);
    if (!fd_store)
        return NULL;
    fd_store->ingest = ingest;
    uv_timer_init(ingest->loop, &fd_store->timer);
    fd_store->timer.data = fd_store;
    return fd_store;
}

void pfdd_fd_store_close(struct pfdd_fd_store *fd_store)
{
    struct pfdd_stored_buffer *next = NULL;
    uv_close((uv_handle_t *)&fd_store->timer, NULL);
    for (struct pfdd_stored_buffer *s = fd_store->stored_buffers; s; s = next) {
        next = s->next;
        if (s->stream)
            pfdd_fd_store_end_stream(s);
    }
}

void pfdd_fd_store_free(struct pfdd_fd_store *fd_store)
{
    if (!fd_store)
        return;
    while (fd_store->stored_buffers) {
        struct pfdd_stored_buffer *first = fd_store->stored_buffers;
        fd_store->stored_buffers = first->next;
        unmap_slot(first);
    }
    free(fd_store);
}
