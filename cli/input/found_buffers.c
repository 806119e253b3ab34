/* SPDX-License-Identifier: MIT */
#include "found_buffers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"
#include "memory/search/search_buffers.h"
#include "show/messages.h"

enum {
    LISTED_MAX = 16, /* buffers that are listed, unless -v */
    PROGRESS_AFTER_MS = 500,
};

/* The origin of a buffer, in the form that other sources give it. */
struct origin {
    struct pfd_wire_frame frame;
    char device[48];
    char queue[32];
};

struct found {
    struct origin *origins; /* of a core's buffers, owned */
};

static struct pfd_wire_bytes text(const char *s)
{
    return (struct pfd_wire_bytes){ s, s ? strlen(s) : 0 };
}

void found_buffers_free(struct found *found)
{
    if (found)
        free(found->origins);
    free(found);
}

/* ---- searching ---- */

struct searching {
    struct timespec start;
    bool is_shown;
    long after_ms;                 /* progress is shown only if the search takes
                                      longer */
    bool (*meanwhile)(void *user); /* or NULL */
    void *user;
};

static bool show_progress(void *user, uint64_t n_done, uint64_t n_all)
{
    struct searching *s = user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (now.tv_sec - s->start.tv_sec) * 1000 +
              (now.tv_nsec - s->start.tv_nsec) / 1000000;
    if (s->is_shown && ms >= s->after_ms)
        message_progress_search(n_done, n_all);
    return !s->meanwhile || s->meanwhile(s->user);
}

static enum pfd_status search(const struct inputs *in, const struct options *o,
                              struct searching *searching,
                              struct pfd_found_buffers **ret,
                              struct pfd_error *err)
{
    const struct pfd_buffer_search buffer_search = {
        .core = in->core ? core_file(in->core) : NULL,
        .memory = in->core ? NULL : in->memory,
        .strings = in->strings,
        .options = &o->reading.decoding,
        .threads = o->threads,
        .progress = show_progress,
        .user = searching,
    };
    clock_gettime(CLOCK_MONOTONIC, &searching->start);
    enum pfd_status status = pfd_search_buffers(&buffer_search, ret, err);
    message_progress_done();
    return status;
}

/* ---- where they come from ---- */

/* The agent's name, written as captures write the device of their sender. */
static const char *name_device(const struct pfd_core *core, uint32_t gpu_id,
                               char *ret, size_t n)
{
    struct pfd_core_agent a;
    snprintf(ret, n, "gpu %u", gpu_id);
    for (size_t i = 0; pfd_core_agent(core, i, &a) == PFD_OK; i++) {
        if (a.gpu_id == gpu_id && *a.target)
            snprintf(ret, n, "%s, gpu %u", a.target, gpu_id);
    }
    return ret;
}

static void fill_origin(const struct pfd_core *core,
                        const struct pfd_found_buffer *f, struct origin *ret)
{
    const struct pfd_core_info *info = pfd_core_info(core);
    ret->frame.process = text(info->command);
    ret->frame.pid = info->pid;
    if (!f->has_queue)
        return;
    snprintf(ret->queue, sizeof ret->queue, "%u", f->queue_id);
    ret->frame.queue = text(ret->queue);
    ret->frame.device =
        text(name_device(core, f->gpu_id, ret->device, sizeof ret->device));
}

/* ---- telling ---- */

static unsigned share(const struct pfd_found_buffer *f)
{
    uint64_t used = f->used ? f->used : 1;
    uint64_t bytes = f->summary.bytes + f->summary.skipped_bytes;
    uint64_t all = bytes > used ? bytes : used;
    return f->summary.skipped_bytes || f->summary.unknown
               ? (unsigned)(100 * (f->summary.bytes) / all)
               : 100;
}

/* Prints why a range is taken for a buffer, and what decoding it gives. */
static void message_found(const struct buffer *b,
                          const struct pfd_found_buffer *f)
{
    char why[256];
    char queue[64] = "";
    if (f->has_queue)
        snprintf(queue, sizeof queue, " of queue %u", f->queue_id);
    if (f->by_dispatch) {
        snprintf(why, sizeof why,
                 "the dispatch packet at 0x%llx%s, of kernel %.80s, leads to "
                 "it",
                 (unsigned long long)f->packet, queue, f->kernel);
    } else {
        snprintf(why, sizeof why, "%s", f->why);
    }
    message_hint(
        "%s: %s, %llu of %llu bytes used: %s; %llu %s, %u %% decodes%s",
        b->name, f->format, (unsigned long long)f->used,
        (unsigned long long)f->size, why,
        (unsigned long long)f->summary.entries,
        f->summary.entries == 1 ? "entry" : "entries", share(f),
        f->n_copies ? "; copies of it stand elsewhere" : "");
}

static void message_end(const struct buffer *b,
                        const struct pfd_found_buffer *f, pfd_finding_fn tell,
                        void *user)
{
    static const char text[] =
        "the header says no size: the buffer may have ended before what it "
        "counts, and the last entry then has bytes of what lies behind it";
    const struct pfd_finding finding = {
        .kind = PFD_FINDING_no_end,
        .offset = f->used,
        .index = PFD_NO_INDEX,
        .in_buffer = true,
        .source = b->name,
        .text = text,
    };
    if (f->is_end_doubtful)
        tell(user, &finding);
}

static void message_rest(const char *name,
                         const struct pfd_found_buffers *found, size_t n_told)
{
    if (found->n > n_told) {
        message_hint("%s: %zu more buffers; -v tells of all", name,
                     found->n - n_told);
    }
    if (found->is_more) {
        message_hint(
            "%s: there are more places that could be buffers than were "
            "tried",
            name);
    }
    if (found->n_stray_entries) {
        message_hint(
            "%s: %llu more entries stand in %llu runs without a "
            "buffer's header: printfdecode recover --buffer shows them",
            name, (unsigned long long)found->n_stray_entries,
            (unsigned long long)found->n_stray_runs);
    }
}

static void message_none(const struct inputs *in, const struct options *o,
                         const char *name)
{
    bool has_strings = pfd_strings_count(in->strings) > 0;
    if (o->follows) {
        message_hint(
            "%s: no buffer is found in it yet%s; looking again and again", name,
            has_strings ? "" : ", and no format strings");
        return;
    }
    message_error("%s: no buffer is found in it%s", name,
                  has_strings
                      ? " with these format strings; --address says where "
                        "one is"
                      : ": without format strings there is nothing to "
                        "know one by; give the code objects as well");
}

/* ---- adding ---- */

static char *name_buffer(const struct inputs *in, const struct options *o,
                         const struct pfd_found_buffer *f)
{
    char *ret = NULL;
    unsigned long long at = f->address;
    int n = in->core ? asprintf(&ret, "%s@0x%llx", o->memory.core, at)
                     : asprintf(&ret, "memory://%llu#offset=0x%llx&size=%llu",
                                (unsigned long long)pfd_memory_pid(in->memory),
                                at, (unsigned long long)f->size);
    return n < 0 ? NULL : ret;
}

static bool add_buffer(struct inputs *in, const struct options *o,
                       const struct pfd_found_buffer *f, struct origin *origin)
{
    struct buffer *b = inputs_add(in);
    b->is_memory = true;
    b->n = (size_t)f->size;
    b->used = f->used;
    b->address = f->address;
    b->format = f->format;
    b->name = b->own_name = name_buffer(in, o, f);
    if (origin) { /* a core's buffer only */
        fill_origin(core_file(in->core), f, origin);
        b->origin = &origin->frame;
    }
    if (!b->name)
        message_error("out of memory");
    return b->name != NULL;
}

/* Is the buffer already listed, or part of a listed one? */
static bool is_known(struct inputs *in, const struct pfd_found_buffer *f)
{
    for (size_t i = 0; i < in->n_buffers; i++) {
        struct buffer *b = &in->buffers[i];
        if (!b->is_memory || f->address < b->address ||
            (f->address > b->address && f->address - b->address >= b->used))
            continue;
        if (f->address == b->address && f->used > b->used)
            b->used = f->used;
        return true;
    }
    return false;
}

static bool add_list(struct inputs *in, const struct options *o,
                     const struct pfd_found_buffers *found, const char *name,
                     pfd_finding_fn tell, void *user)
{
    size_t n_known = 0;
    size_t n_told = 0;
    for (size_t i = 0; i < found->n; i++) {
        const struct pfd_found_buffer *f = &found->at[i];
        if ((o->reading.format && strcmp(o->reading.format, f->format) != 0) ||
            is_known(in, f)) {
            n_known++;
            continue;
        }
        if (!add_buffer(in, o, f, in->core ? &in->found->origins[i] : NULL))
            return false;
        message_end(&in->buffers[in->n_buffers - 1], f, tell, user);
        if (n_told < LISTED_MAX || o->verbose) {
            message_found(&in->buffers[in->n_buffers - 1], f);
            n_told++;
        }
    }
    if (n_told)
        message_rest(name, found, n_told + n_known);
    return true;
}

static const char *name_memory(const struct inputs *in, const struct options *o)
{
    return in->core ? o->memory.core : pfd_memory_name(in->memory);
}

bool found_buffers_add(struct inputs *in, const struct options *o,
                       pfd_finding_fn tell, void *user)
{
    const char *name = name_memory(in, o);
    struct pfd_found_buffers *list = NULL;
    struct pfd_error err;
    struct searching searching = {
        .is_shown = o->progress == WHEN_AUTO ? isatty(STDERR_FILENO)
                                             : o->progress == WHEN_ALWAYS,
        .after_ms = o->progress == WHEN_ALWAYS ? 0 : PROGRESS_AFTER_MS,
    };
    enum pfd_status status = search(in, o, &searching, &list, &err);
    in->found = calloc(1, sizeof *in->found);
    if (list && in->found)
        in->found->origins = calloc(list->n + 1, sizeof *in->found->origins);
    if (status != PFD_OK || !in->found || !in->found->origins) {
        message_error("%s: %s", name,
                      status != PFD_OK ? err.text : "out of memory");
        pfd_found_buffers_free(list);
        return false;
    }
    bool ok = add_list(in, o, list, name, tell, user);
    if (ok && !list->n)
        message_none(in, o, name);
    ok = ok && (list->n || o->follows);
    pfd_found_buffers_free(list);
    return ok;
}

bool found_buffers_renew(struct inputs *in, const struct options *o,
                         bool (*meanwhile)(void *user), void *while_user,
                         pfd_finding_fn tell, void *user)
{
    struct pfd_found_buffers *list = NULL;
    struct searching searching = { .meanwhile = meanwhile, .user = while_user };
    bool ok = search(in, o, &searching, &list, NULL) == PFD_OK &&
              add_list(in, o, list, name_memory(in, o), tell, user);
    pfd_found_buffers_free(list);
    return ok;
}
