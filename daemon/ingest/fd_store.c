/* SPDX-License-Identifier: MIT */
#include "ingest/fd_store.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "config/systemd.h"
#include "daemon.h"
#include "ingest/stream.h"
#include "ingest/string_store.h"

enum {
    SLOTS_MAX = 128,
    PAGE = 4096,         /* struct pfdd_kept; frames begin behind it */
    META_MAX = 64 << 20, /* bytes of frames kept for one buffer */
    PART = 1 << 20,      /* bytes of a code object in one frame */
    SAMPLE = 4096,       /* bytes up to the end of the last entry */
    HEAD = 64,           /* at most, of any format */
    LOOK_MS = 500,       /* between looks for producers that are gone */
};

static const char magic[8] = "PFDKEPT1";

struct pfdd_shelf {
    struct pfdd *d;
    struct pfdd_slot *slots;
    unsigned n_slots;
    unsigned next_number;
    uv_timer_t timer;
    bool ticking;
};

/* ---- how far ---- */

/* Of the last entry and what stands before it, but not of the buffer's header,
 * which moves. */
static uint64_t sample(int fd, uint64_t offset, uint64_t end)
{
    char bytes[SAMPLE];
    uint64_t start = end > SAMPLE + HEAD ? end - SAMPLE : HEAD;
    if (offset < start)
        start = offset;
    size_t n = end - start < SAMPLE ? (size_t)(end - start) : SAMPLE;
    ssize_t got = pread(fd, bytes, n, (off_t)start);
    return got > 0 ? pfd_crc32c(0, bytes, (size_t)got) : 0;
}

void pfdd_saved_position_note(struct pfdd_kept *kept, int fd,
                              uint64_t generation, uint64_t index,
                              uint64_t offset, uint64_t n_bytes)
{
    kept->n_noted = 0; /* in case we end in the middle of this */
    kept->generation = generation;
    kept->index = index;
    kept->offset = offset;
    kept->end = offset + n_bytes;
    kept->crc = sample(fd, offset, kept->end);
    kept->n_noted = 1;
}

bool pfdd_saved_position_holds(const struct pfdd_kept *kept, int fd)
{
    return kept->n_noted && kept->end > kept->offset &&
           kept->crc == sample(fd, kept->offset, kept->end);
}

/* ---- slots ---- */

static struct pfdd_slot *new_slot(struct pfdd_shelf *shelf, unsigned number,
                                  int memory, int meta)
{
    struct stat st;
    struct stat meta_st;
    struct pfdd_slot *slot = calloc(1, sizeof *slot);
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, meta, 0);
    if (!slot || page == MAP_FAILED || fstat(memory, &st) != 0 ||
        fstat(meta, &meta_st) != 0) {
        if (page != MAP_FAILED)
            munmap(page, PAGE);
        free(slot);
        close(meta);
        return NULL;
    }
    slot->of = shelf;
    slot->number = number;
    slot->device = st.st_dev;
    slot->inode = st.st_ino;
    slot->kept = page;
    slot->meta = meta;
    slot->end = (uint64_t)meta_st.st_size;
    shelf->d->budget.inputs += slot->end;
    pfdd_memory_budget_note(&shelf->d->budget);
    slot->next = shelf->slots;
    shelf->slots = slot;
    shelf->n_slots++;
    return slot;
}

static void unmap_slot(struct pfdd_slot *slot)
{
    slot->of->d->budget.inputs -= slot->end;
    munmap(slot->kept, PAGE);
    close(slot->meta);
    free(slot);
}

static void free_slot(struct pfdd_slot *slot)
{
    struct pfdd_slot **at = &slot->of->slots;
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    slot->of->n_slots--;
    unmap_slot(slot);
}

struct pfdd_slot *pfdd_shelf_find(struct pfdd_shelf *shelf, int memory)
{
    struct stat st;
    if (fstat(memory, &st) != 0)
        return NULL;
    for (struct pfdd_slot *s = shelf->slots; s; s = s->next) {
        if (s->device == st.st_dev && s->inode == st.st_ino)
            return s;
    }
    return NULL;
}

static bool append(void *user, const void *bytes, size_t n)
{
    struct pfdd_slot *slot = user;
    struct pfdd_memory_budget *budget = &slot->of->d->budget;
    if (slot->end + n > META_MAX || !pfdd_memory_budget_has(budget, n) ||
        pwrite(slot->meta, bytes, n, (off_t)slot->end) != (ssize_t)n)
        return false;
    slot->end += n;
    budget->inputs += n;
    pfdd_memory_budget_note(budget);
    return true;
}

static void cut(struct pfdd_slot *slot, uint64_t end)
{
    slot->of->d->budget.inputs -= slot->end - end;
    slot->end = end;
    if (ftruncate(slot->meta, (off_t)end) != 0)
        pfdd_log(PFDD_DEBUG, "shelf: %s", strerror(errno));
}

/* All of a frame, or nothing. */
static bool append_frame(struct pfdd_slot *slot,
                         const struct pfd_wire_frame *frame)
{
    uint64_t before = slot->end;
    if (pfd_wire_write(frame, append, slot, NULL) == PFD_OK)
        return true;
    cut(slot, before);
    return false;
}

/* In parts: a stream takes no longer frames than producers may send. */
static bool append_bytes(struct pfdd_slot *slot,
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
        if (!append_frame(slot, &part))
            return false;
        at += n;
    } while (at < object->n);
    return true;
}

static void append_object(void *user, const struct pfdd_object *object)
{
    struct pfdd_slot *slot = user;
    uint64_t before = slot->end;
    uint64_t number = before; /* no other one's */
    struct pfd_wire_frame shader = { .type = PFD_WIRE_SHADER,
                                     .code_object = number,
                                     .shader = object->shader,
                                     .name = pfd_wire_text(object->name) };
    if (append_bytes(slot, object, number) &&
        (!object->is_shader || append_frame(slot, &shader)))
        return;
    cut(slot, before);
    pfdd_log(PFDD_WARNING,
             "%s: not kept over a restart: more than 64 MiB of them, or memory "
             "is up to its cap",
             object->name);
}

static int new_meta(void)
{
    struct pfdd_kept kept = { .n_noted = 0 };
    memcpy(kept.magic, magic, sizeof magic);
    int fd = memfd_create("printfdecoded-kept", MFD_CLOEXEC);
    if (fd >= 0 && (ftruncate(fd, PAGE) != 0 ||
                    pwrite(fd, &kept, sizeof kept, 0) != sizeof kept)) {
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

struct pfdd_slot *pfdd_shelf_put(struct pfdd_shelf *shelf, int memory, int bell,
                                 long long pid, const struct pfdd_scope *scope,
                                 const struct pfd_wire_frame *hello,
                                 const struct pfd_wire_frame *buffer)
{
    if (!pfdd_systemd_stores() || shelf->n_slots >= SLOTS_MAX)
        return NULL;
    int meta = new_meta();
    struct pfdd_slot *slot =
        meta < 0 ? NULL : new_slot(shelf, shelf->next_number, memory, meta);
    if (!slot)
        return NULL;
    if (pfd_wire_write_start(append, slot) != PFD_OK ||
        !append_frame(slot, hello) || !append_frame(slot, buffer)) {
        free_slot(slot);
        return NULL;
    }
    shelf->next_number++;
    slot->kept->pid = pid;
    slot->scope = pfdd_scope_number(scope);
    pfdd_library_each(shelf->d->library, scope, append_object, slot);
    store(slot->number, "memory", memory);
    if (bell >= 0)
        store(slot->number, "bell", bell);
    store(slot->number, "meta", meta);
    return slot;
}

void pfdd_shelf_object(struct pfdd_shelf *shelf,
                       const struct pfdd_object *object)
{
    for (struct pfdd_slot *slot = shelf->slots; slot; slot = slot->next) {
        bool is_its =
            !object->scope || pfdd_scope_number(object->scope) == slot->scope;
        if (is_its && (!object->is_kept || !slot->is_restored))
            append_object(slot, object);
    }
}

static void remove_stored(unsigned number)
{
    static const char *const parts[] = { "memory", "bell", "meta" };
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "buffer-%u-%s", number, parts[i]);
        pfdd_systemd_unstore(name);
    }
}

void pfdd_shelf_drop(struct pfdd_slot *slot)
{
    if (!slot->of->d->stopping)
        remove_stored(slot->number);
    free_slot(slot);
}

unsigned pfdd_shelf_count(const struct pfdd_shelf *shelf)
{
    return shelf->n_slots;
}

/* ---- after a restart ---- */

static void stream_resumes(void *user)
{
}

static void stream_ended(void *user)
{
}

/* Frames of meta, with the descriptors that belong to them. */
static void feed(struct pfdd_stream *stream, int meta, uint64_t n, int memory,
                 int bell)
{
    int fds[] = { memory, bell };
    size_t taken = 0;
    char *frames = mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, meta, 0);
    if (frames == MAP_FAILED)
        return;
    pfdd_stream_feed(stream, frames + PAGE, (size_t)n - PAGE, fds,
                     bell >= 0 ? 2 : 1, &taken);
    munmap(frames, (size_t)n);
    pfdd_stream_settle(stream);
}

static void restore(struct pfdd_shelf *shelf, unsigned number, int memory,
                    int bell, int meta)
{
    char name[32];
    struct stat st;
    struct pfdd_kept kept;
    struct pfdd_stream_options options = {
        .name = name,
        .settle_ms = 100,
        .is_kept = true,
        .resume = stream_resumes,
        .ended = stream_ended,
    };
    snprintf(name, sizeof name, "kept %u", number);
    bool ok = memory >= 0 && meta >= 0 && fstat(meta, &st) == 0 &&
              st.st_size > PAGE && st.st_size <= META_MAX &&
              pfdd_memory_budget_has(&shelf->d->budget, (size_t)st.st_size) &&
              pread(meta, &kept, sizeof kept, 0) == sizeof kept &&
              !memcmp(kept.magic, magic, sizeof magic);
    struct pfdd_slot *slot =
        ok ? new_slot(shelf, number, memory, dup(meta)) : NULL;
    struct pfdd_stream *stream =
        slot ? pfdd_stream_new(shelf->d, &options) : NULL;
    if (!stream) {
        pfdd_log(PFDD_WARNING, "buffer %u of before: cannot be used", number);
        remove_stored(number);
        if (slot)
            free_slot(slot);
        return;
    }
    slot->stream = stream;
    slot->is_restored = true;
    feed(stream, meta, (uint64_t)st.st_size, dup(memory),
         bell >= 0 ? dup(bell) : -1);
    if (slot->holder) {
        pfdd_log(PFDD_INFO, "buffer %u of before: followed again", number);
        return;
    }
    pfdd_log(PFDD_WARNING, "buffer %u of before: cannot be used", number);
    pfdd_stream_end(stream);
    remove_stored(number);
    free_slot(slot);
}

void pfdd_shelf_let_go(struct pfdd_slot *slot)
{
    struct pfdd_stream *stream = slot->stream;
    slot->stream = NULL;
    pfdd_stream_end(stream);
}

/* Nobody tells us when a producer of before ends. */
static void on_timer(uv_timer_t *timer)
{
    struct pfdd_shelf *shelf = timer->data;
    struct pfdd_slot *next = NULL;
    for (struct pfdd_slot *s = shelf->slots; s; s = next) {
        next = s->next;
        if (!s->stream || s->kept->pid <= 0 ||
            kill((pid_t)s->kept->pid, 0) == 0 || errno != ESRCH)
            continue;
        pfdd_log(PFDD_INFO, "buffer %u of before: its producer is gone",
                 s->number);
        pfdd_shelf_let_go(s);
    }
}

void pfdd_shelf_restore(struct pfdd_shelf *shelf)
{
    unsigned number = 0;
    for (size_t i = 0; pfdd_systemd_stored(i, &number); i++) {
        if (number >= shelf->next_number)
            shelf->next_number = number + 1;
    }
    for (unsigned n = 0; n < shelf->next_number; n++) {
        int fds[3] = { -1, -1, -1 };
        if (pfdd_systemd_parts(n, fds))
            restore(shelf, n, fds[0], fds[1], fds[2]);
    }
    pfdd_systemd_forget();
    if (shelf->n_slots)
        uv_timer_start(&shelf->timer, on_timer, LOOK_MS, LOOK_MS);
}

struct pfdd_shelf *pfdd_shelf_new(struct pfdd *d)
{
    struct pfdd_shelf *shelf = calloc(1, sizeof *shelf);
    if (!shelf)
        return NULL;
    shelf->d = d;
    uv_timer_init(d->loop, &shelf->timer);
    shelf->timer.data = shelf;
    return shelf;
}

void pfdd_shelf_close(struct pfdd_shelf *shelf)
{
    struct pfdd_slot *next = NULL;
    uv_close((uv_handle_t *)&shelf->timer, NULL);
    for (struct pfdd_slot *s = shelf->slots; s; s = next) {
        struct pfdd_stream *stream = s->stream;
        next = s->next;
        s->stream = NULL;
        if (stream)
            pfdd_stream_end(stream);
    }
}

void pfdd_shelf_free(struct pfdd_shelf *shelf)
{
    if (!shelf)
        return;
    while (shelf->slots) {
        struct pfdd_slot *first = shelf->slots;
        shelf->slots = first->next;
        unmap_slot(first);
    }
    free(shelf);
}
