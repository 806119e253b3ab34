/* SPDX-License-Identifier: MIT */
#include "sources/stream_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/shaders.h>

#include "core/log.h"
#include "core/name.h"
#include "core/peer.h"
#include "sources/daemon.h"
#include "sources/library.h"

enum {
    MODULES_MAX = 64 << 20, /* bytes of modules, of one stream */
    OBJECT_MAX = 256 << 20, /* bytes of a code object that comes in parts */
    NAME = 2 * PFDD_NAME_ROOM,
};

/* A SPIR-V module of the stream. */
struct pfdd_module {
    struct pfdd_module *next;
    uint64_t number;
    bool is_loose; /* no shader has spoken of it */
    size_t n;
    char bytes[];
};

/* Of the log and of sources, which nothing is found by: as much as fits. */
static void put_name(char ret[NAME], const struct pfdd_objects *o,
                     const struct pfd_wire_frame *f)
{
    char name[PFDD_NAME_ROOM];
    pfdd_name_put(name, f->name.at, f->name.n);
    snprintf(ret, NAME, "%s/%s", o->name, name);
}

/* bytes are taken over. */
static void give(struct pfdd_objects *o, const char *name,
                 struct pfdd_scope *scope, void *bytes, size_t n)
{
    struct pfdd_object object = { .name = name,
                                  .scope = scope,
                                  .owner = o->scope,
                                  .bytes = bytes,
                                  .n = n,
                                  .is_kept = o->is_kept };
    pfdd_library_add(o->d->library, &object);
}

/* ---- modules ---- */

static bool is_module(const void *bytes, size_t n)
{
    static const unsigned char magic[] = { 0x03, 0x02, 0x23, 0x07 };
    return n >= sizeof magic && !memcmp(bytes, magic, sizeof magic);
}

/* Shaders speak of modules by their numbers. */
static const char *keep_module(struct pfdd_objects *o, uint64_t number,
                               const void *bytes, size_t n)
{
    struct pfdd_module *m =
        o->modules_bytes + n <= MODULES_MAX && pfdd_has_room(o->d, n)
            ? malloc(sizeof *m + n)
            : NULL;
    if (!m)
        return "more than 64 MiB of modules, or than there is room for";
    m->number = number;
    m->is_loose = true;
    m->n = n;
    memcpy(m->bytes, bytes, n);
    m->next = o->modules;
    o->modules = m;
    o->modules_bytes += n;
    o->d->input_bytes += n;
    return NULL;
}

/* NULL: there is no room for it. */
static void *copy_module(const struct pfdd_objects *o,
                         const struct pfdd_module *m)
{
    void *copy = pfdd_has_room(o->d, m->n) ? malloc(m->n) : NULL;
    if (copy)
        memcpy(copy, m->bytes, m->n);
    return copy;
}

void pfdd_objects_give_loose(struct pfdd_objects *o)
{
    for (struct pfdd_module *m = o->modules; m; m = m->next) {
        if (!m->is_loose)
            continue;
        void *copy = copy_module(o, m);
        m->is_loose = false;
        if (copy) {
            give(o, o->name, o->scope, copy, m->n);
        } else {
            pfdd_log(PFDD_WARNING, "code object %s: no room for it", o->name);
        }
    }
}

static void drop_modules(struct pfdd_objects *o)
{
    while (o->modules) {
        struct pfdd_module *m = o->modules;
        o->modules = m->next;
        free(m);
    }
    o->d->input_bytes -= o->modules_bytes;
    o->modules_bytes = 0;
}

void pfdd_objects_reset(struct pfdd_objects *o)
{
    drop_modules(o);
    pfdd_scope_unref(o->scope);
    o->scope = pfdd_scope_new(o->d->library);
}

static const char *take_shader(struct pfdd_objects *o,
                               const struct pfd_wire_frame *f)
{
    char name[NAME];
    struct pfdd_module *m = o->modules;
    while (m && m->number != f->code_object)
        m = m->next;
    if (!m || f->shader >= PFD_SHADER_NEXT)
        return "a shader of a module that has not come";
    void *copy = copy_module(o, m);
    if (!copy)
        return "memory is up to its cap: a shader is not taken";
    m->is_loose = false;
    put_name(name, o, f);
    struct pfdd_object object = { .name = name,
                                  .scope = o->scope,
                                  .owner = o->scope,
                                  .bytes = copy,
                                  .n = m->n,
                                  .is_shader = true,
                                  .shader = (uint32_t)f->shader,
                                  .is_kept = o->is_kept };
    pfdd_library_add(o->d->library, &object);
    return NULL;
}

/* ---- other code objects ---- */

/* Whoever has no access to a file, or to another process, has none through us
 * (deputy.h). */
static const char *take_uri(struct pfdd_objects *o,
                            const struct pfd_wire_frame *f)
{
    char uri[4096];
    char own[40]; /* behind it, # or ? */
    snprintf(uri, sizeof uri, "%.*s",
             f->uri.n < sizeof uri ? (int)f->uri.n : (int)sizeof uri - 1,
             f->uri.at);
    if (!o->peer) {
        return "a code object by a URI, which this producer may not use (see "
               "'code_object_uris')";
    }
    snprintf(own, sizeof own, "memory://%d", (int)o->peer->pid);
    size_t n_own = strlen(own);
    bool is_file = !strncmp(uri, "file://", 7);
    bool is_own =
        !strncmp(uri, own, n_own) && (uri[n_own] == '#' || uri[n_own] == '?');
    if (f->uri.n >= sizeof uri || (!is_file && !is_own)) {
        return "a code object by a URI that is none of file:// or memory:// "
               "of the process that sends";
    }
    pfdd_library_add_uri(o->d->library, uri, o->peer, o->scope);
    return NULL;
}

static void drop_part(struct pfdd_objects *o)
{
    if (o->part)
        o->d->input_bytes -= (size_t)o->total;
    free(o->part);
    o->part = NULL;
}

/* Room for all of it. */
static const char *begin_parts(struct pfdd_objects *o,
                               const struct pfd_wire_frame *f, uint64_t total)
{
    if (!pfdd_has_room(o->d, (size_t)total))
        return "memory is up to its cap: a code object is not taken";
    o->part = malloc((size_t)total + 1);
    o->d->input_bytes += o->part ? (size_t)total : 0;
    o->number = f->code_object;
    o->total = total;
    return NULL;
}

static bool goes_on(const struct pfdd_objects *o,
                    const struct pfd_wire_frame *f, uint64_t total)
{
    return o->part && o->number == f->code_object && o->at == f->offset &&
           o->total == total;
}

static const char *finish_parts(struct pfdd_objects *o,
                                const struct pfd_wire_frame *f)
{
    char name[NAME];
    size_t n = (size_t)o->total;
    if (is_module(o->part, n)) {
        const char *why = keep_module(o, f->code_object, o->part, n);
        drop_part(o);
        return why;
    }
    put_name(name, o, f);
    give(o, name, NULL, o->part, n);
    o->d->input_bytes -= n;
    o->part = NULL;
    return NULL;
}

static const char *take_part(struct pfdd_objects *o,
                             const struct pfd_wire_frame *f)
{
    uint64_t total = f->total ? f->total : f->bytes.n;
    bool first = f->offset == 0;
    if (first)
        drop_part(o);
    if (total > OBJECT_MAX || f->bytes.n > total ||
        f->offset > total - f->bytes.n || (!first && !goes_on(o, f, total))) {
        drop_part(o);
        return "parts of a code object that do not fit";
    }
    const char *why = first ? begin_parts(o, f, total) : NULL;
    if (!o->part)
        return why;
    if (f->bytes.n)
        memcpy(o->part + f->offset, f->bytes.at, f->bytes.n);
    o->at = f->offset + f->bytes.n;
    return o->at == total ? finish_parts(o, f) : NULL;
}

const char *pfdd_objects_take(struct pfdd_objects *o,
                              const struct pfd_wire_frame *f)
{
    if (f->type == PFD_WIRE_SHADER)
        return take_shader(o, f);
    return f->uri.n && !f->bytes.n ? take_uri(o, f) : take_part(o, f);
}

void pfdd_objects_deinit(struct pfdd_objects *o)
{
    drop_modules(o);
    drop_part(o);
    pfdd_scope_unref(o->scope);
    pfdd_peer_unref(o->peer);
    o->scope = NULL;
}
