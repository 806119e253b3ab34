/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/find.h>
#include <printfdecode/loaded.h>

#include "tell.h"

enum {
    TOLD_MAX = 16, /* buffers, unless -v */
    PROGRESS_AFTER_MS = 500,
};

/* A found buffer, and where it comes from as other sources have it. */
struct origin {
    struct pfd_wire_frame frame;
    char device[48];
    char queue[32];
};

struct core {
    struct pfd_core *file;
    const char *path;
    struct pfd_found_list *found;
    struct origin *origins; /* [found->n] */
};

static struct pfd_wire_bytes text(const char *s)
{
    return (struct pfd_wire_bytes){ s, s ? strlen(s) : 0 };
}

bool core_open(struct inputs *in, const struct options *o, pfd_finding_fn tell,
               void *user)
{
    struct pfd_error err;
    struct core *core = calloc(1, sizeof *core);
    if (!core) {
        tell_error("out of memory");
        return false;
    }
    in->core = core;
    core->path = o->core;
    if (pfd_core_open(o->core, o->max_inflated, tell, user, &core->file,
                      &err) != PFD_OK ||
        pfd_memory_open_core(core->file, &in->memory, &err) != PFD_OK) {
        tell_error("%s: %s", o->core, err.text);
        return false;
    }
    return true;
}

void core_close(struct core *core)
{
    if (!core)
        return;
    pfd_found_free(core->found);
    pfd_core_close(core->file);
    free(core->origins);
    free(core);
}

const void *core_bytes(const struct core *core, uint64_t address, uint64_t n)
{
    uint64_t left = 0;
    const void *bytes = pfd_core_bytes(core->file, address, &left);
    return bytes && left >= n ? bytes : NULL;
}

/* ---- finding ---- */

struct searching {
    struct timespec start;
    bool is_shown;
};

static bool show_progress(void *user, uint64_t n_done, uint64_t n_all)
{
    struct searching *s = user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long ms = (now.tv_sec - s->start.tv_sec) * 1000 +
              (now.tv_nsec - s->start.tv_nsec) / 1000000;
    if (s->is_shown && ms >= PROGRESS_AFTER_MS)
        tell_progress_search(n_done, n_all);
    return true;
}

/* The agent's name, as a capture has it of its sender's device. */
static const char *name_device(const struct core *core, uint32_t gpu_id,
                               char *ret, size_t n)
{
    struct pfd_core_agent a;
    snprintf(ret, n, "gpu %u", gpu_id);
    for (size_t i = 0; pfd_core_agent(core->file, i, &a) == PFD_OK; i++) {
        if (a.gpu_id == gpu_id && *a.target)
            snprintf(ret, n, "%s, gpu %u", a.target, gpu_id);
    }
    return ret;
}

static void fill_origin(const struct core *core, const struct pfd_found *f,
                        struct origin *ret)
{
    const struct pfd_core_info *info = pfd_core_info(core->file);
    ret->frame.process = text(info->command);
    ret->frame.pid = info->pid;
    if (!f->has_queue)
        return;
    snprintf(ret->queue, sizeof ret->queue, "%u", f->queue_id);
    ret->frame.queue = text(ret->queue);
    ret->frame.device =
        text(name_device(core, f->gpu_id, ret->device, sizeof ret->device));
}

static unsigned share(const struct pfd_found *f)
{
    uint64_t used = f->used ? f->used : 1;
    uint64_t bytes = f->summary.bytes + f->summary.skipped_bytes;
    uint64_t all = bytes > used ? bytes : used;
    return f->summary.skipped_bytes || f->summary.unknown
               ? (unsigned)(100 * (f->summary.bytes) / all)
               : 100;
}

/* Why a buffer is believed to be one, and what comes of it. */
static void tell_found(const struct buffer *b, const struct pfd_found *f)
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
        snprintf(why, sizeof why, "header and entries agree");
    }
    tell_hint("%s: %s, %llu of %llu bytes used: %s; %llu %s, %u %% decodes%s",
              b->name, f->format, (unsigned long long)f->used,
              (unsigned long long)f->size, why,
              (unsigned long long)f->summary.entries,
              f->summary.entries == 1 ? "entry" : "entries", share(f),
              f->n_copies ? "; copies of it stand elsewhere" : "");
}

static void tell_rest(const struct core *core, size_t n_told)
{
    const struct pfd_found_list *found = core->found;
    if (found->n > n_told) {
        tell_hint("%s: %zu more buffers; -v tells of all", core->path,
                  found->n - n_told);
    }
    if (found->is_more) {
        tell_hint("%s: there are more places that could be buffers than were "
                  "tried",
                  core->path);
    }
    if (found->n_stray_entries) {
        tell_hint("%s: %llu more entries stand in %llu runs without a "
                  "buffer's header: printfdecode recover --buffer shows them",
                  core->path, (unsigned long long)found->n_stray_entries,
                  (unsigned long long)found->n_stray_runs);
    }
}

static bool add_found(struct inputs *in, const struct pfd_found *f,
                      const struct origin *origin)
{
    struct buffer *b = inputs_add(in);
    struct core *core = in->core;
    b->n = (size_t)f->size;
    b->address = f->address;
    b->format = f->format;
    b->origin = &origin->frame;
    if (asprintf(&b->own_name, "%s@0x%llx", core->path,
                 (unsigned long long)f->address) < 0) {
        b->own_name = NULL;
        tell_error("out of memory");
        return false;
    }
    b->name = b->own_name;
    return true;
}

/* ---- what is loaded ---- */

/* Copies of code objects, whose kernels packets start. */
struct objects {
    struct pfd_find_object *at; /* [n] */
    size_t n;
};

static enum pfd_status keep_object(void *user,
                                   const struct pfd_loaded_object *object)
{
    struct objects *all = user;
    void *bytes =
        object->bytes && !object->is_found ? malloc(object->n + 1) : NULL;
    if (!object->bytes || object->is_found)
        return PFD_OK;
    void *at = realloc(all->at, (all->n + 1) * sizeof *all->at);
    if (at)
        all->at = at;
    if (!at || !bytes) {
        free(bytes);
        return PFD_ERR_NOMEM;
    }
    memcpy(bytes, object->bytes, object->n);
    all->at[all->n++] =
        (struct pfd_find_object){ bytes, object->n, object->load_address };
    return PFD_OK;
}

static void free_objects(struct objects *all)
{
    for (size_t i = 0; i < all->n; i++)
        free((void *)(uintptr_t)all->at[i].bytes);
    free(all->at);
}

/* Their list is in the core, or there are no packets of theirs to look for. */
static void keep_objects(const struct inputs *in, struct objects *ret)
{
    struct pfd_loaded *loaded = NULL;
    if (pfd_loaded_open(in->memory, &loaded, NULL) == PFD_OK) {
        (void)pfd_loaded_read(loaded, keep_object, ret, NULL, NULL, NULL, NULL);
    }
    pfd_loaded_close(loaded);
}

static enum pfd_status search(const struct inputs *in, const struct options *o,
                              struct pfd_error *err)
{
    struct core *core = in->core;
    struct objects objects = { 0 };
    struct searching searching = {
        .is_shown = o->progress == WHEN_AUTO ? isatty(STDERR_FILENO)
                                             : o->progress == WHEN_ALWAYS,
    };
    keep_objects(in, &objects);
    const struct pfd_find find = {
        .core = core->file,
        .strings = in->strings,
        .objects = objects.at,
        .n_objects = objects.n,
        .progress = show_progress,
        .user = &searching,
    };
    clock_gettime(CLOCK_MONOTONIC, &searching.start);
    enum pfd_status status = pfd_find_buffers(&find, &core->found, err);
    tell_progress_done();
    free_objects(&objects);
    return status;
}

bool core_add_found(struct inputs *in, const struct options *o)
{
    struct core *core = in->core;
    struct pfd_error err;
    size_t n_told = 0;
    bool ok = true;
    enum pfd_status status = search(in, o, &err);
    if (status == PFD_OK)
        core->origins = calloc(core->found->n + 1, sizeof *core->origins);
    if (status != PFD_OK || !core->origins) {
        tell_error("%s: %s", core->path,
                   status != PFD_OK ? err.text : "out of memory");
        return false;
    }
    for (size_t i = 0; ok && i < core->found->n; i++) {
        const struct pfd_found *f = &core->found->at[i];
        if (o->format && strcmp(o->format, f->format) != 0)
            continue;
        fill_origin(core, f, &core->origins[i]);
        ok = add_found(in, f, &core->origins[i]);
        if (ok && (n_told < TOLD_MAX || o->verbose)) {
            tell_found(&in->buffers[in->n_buffers - 1], f);
            n_told++;
        }
    }
    tell_rest(core, n_told);
    if (!core->found->n) {
        tell_error("%s: no buffer is found in it%s", core->path,
                   pfd_strings_count(in->strings)
                       ? " with these format strings; --address says where "
                         "one is"
                       : ": without format strings there is nothing to know "
                         "one by; give the code objects as well");
        return false;
    }
    return ok;
}
