/* SPDX-License-Identifier: MIT */
#include "sources/library.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "config/folder.h"
#include "core/log.h"
#include "core/peer.h"
#include "sources/code.h"
#include "sources/daemon.h"
#include "sources/session.h"
#include "sources/shelf.h"

struct pfdd_scope {
    struct pfdd_scope *next;
    struct pfdd_library *lib;
    unsigned refs;
    uint64_t number;
    size_t n_objects;
    size_t n_coming; /* code objects of its producer, read or built */
    size_t n_bytes;  /* of the library's room that its producer takes */
    struct pfdd_binding *binding; /* NULL: nobody has asked for it */
    bool has_set;                 /* of its own; otherwise it has everybody's */
    /* The job's. */
    struct pfdd_scope *next_stale; /* perhaps to be built anew */
    struct pfd_strings *set;
};

struct pfdd_library {
    struct pfdd_job job;
    struct pfdd *d;
    struct pfdd_binding *current;
    struct pfdd_bindings behind;      /* of chunks, when something went */
    bool has_shrunk;                  /* something has, since a set was begun */
    bool lacks;                       /* the set that is made, something old */
    struct pfdd_catalogue *catalogue; /* of current */
    size_t n_bytes;                   /* of its objects */
    size_t n_bytes_max;
    struct pfdd_scope *scopes; /* a list */
    uint64_t n_scopes;         /* so far */
    struct pfdd_code *waiting;
    size_t n_coming;    /* bytes of those that wait and that are read */
    size_t n_awaited;   /* objects among them that are no producer's */
    size_t n_kept_free; /* for what is behind URIs, while they are read */
    bool busy;
    uint64_t version;
    /* The job's. */
    struct pfdd_code *fresh;    /* what it reads, no part of a set yet */
    struct pfdd_catalogue *old; /* what there was before, a reference */
    size_t left;                /* bytes that URIs may add */
    struct pfdd_scope *stale;
    struct pfd_strings *set;
};

static void free_objects(struct pfdd_code *o)
{
    while (o) {
        struct pfdd_code *next = o->next;
        pfdd_code_free(o);
        o = next;
    }
}

static void run_job(struct pfdd_job *job);

static void job_done(struct pfdd_job *job);

struct pfdd_library *pfdd_library_new(struct pfdd *d, size_t n_bytes_max)
{
    struct pfdd_library *lib = calloc(1, sizeof *lib);
    struct pfdd_strings *empty = pfdd_strings_new(pfd_strings_new());
    struct pfdd_binding *binding = empty ? pfdd_binding_new(empty) : NULL;
    struct pfdd_catalogue *none = pfdd_catalogue_new(0);
    pfdd_strings_unref(empty);
    if (!lib || !binding || !none) {
        free(lib);
        pfdd_binding_unref(binding);
        pfdd_catalogue_drop(none);
        return NULL;
    }
    lib->d = d;
    lib->current = binding;
    lib->catalogue = none;
    lib->n_bytes_max = n_bytes_max;
    lib->job = (struct pfdd_job){ .run = run_job, .done = job_done };
    return lib;
}

void pfdd_library_free(struct pfdd_library *lib)
{
    if (!lib)
        return;
    pfdd_catalogue_drop(lib->catalogue);
    free_objects(lib->waiting);
    while (lib->scopes) {
        struct pfdd_scope *scope = lib->scopes;
        lib->scopes = scope->next;
        pfdd_binding_unref(scope->binding);
        free(scope);
    }
    pfdd_binding_unref(lib->current);
    free(lib);
}

struct pfdd_binding *pfdd_library_bind(struct pfdd_library *lib,
                                       struct pfdd_scope *scope)
{
    if (!scope)
        return lib->current;
    if (!scope->binding)
        scope->binding = pfdd_binding_new(lib->current->strings);
    return scope->binding ? scope->binding : lib->current;
}

/* ---- scopes ---- */

struct pfdd_scope *pfdd_scope_new(struct pfdd_library *lib)
{
    struct pfdd_scope *scope = calloc(1, sizeof *scope);
    if (!scope)
        return NULL;
    scope->refs = 1;
    scope->lib = lib;
    scope->number = ++lib->n_scopes;
    scope->next = lib->scopes;
    lib->scopes = scope;
    return scope;
}

struct pfdd_scope *pfdd_scope_ref(struct pfdd_scope *scope)
{
    if (scope)
        scope->refs++;
    return scope;
}

/* Those that wait; returns their bytes. */
static size_t drop_waiting(struct pfdd_code **at,
                           const struct pfdd_scope *scope)
{
    size_t n = 0;
    while (*at) {
        struct pfdd_code *o = *at;
        if (o->scope != scope) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        n += o->n_coming;
        pfdd_code_free(o);
    }
    return n;
}

/* Its room is others', though it is there until the next set. */
static void drop_object(struct pfdd_library *lib, struct pfdd_code *o)
{
    if (!o->is_dropped)
        lib->n_bytes -= pfdd_code_cost(o->n);
    o->is_dropped = true;
}

/* A set without those that are dropped takes the place of the present one.
 * False: there is no memory for it. */
static bool sweep(struct pfdd_library *lib)
{
    struct pfdd_catalogue *old = lib->catalogue;
    struct pfdd_catalogue *c = pfdd_catalogue_new(old->n);
    if (!c)
        return false;
    for (size_t i = 0; i < old->n; i++) {
        if (!old->objects[i]->is_dropped)
            pfdd_catalogue_put(c, old->objects[i]);
    }
    lib->has_shrunk |= c->n < old->n;
    pfdd_catalogue_drop(old);
    lib->catalogue = c;
    return true;
}

/* Its producer has gone. False: there is no memory to see to that. */
static bool forget(struct pfdd_library *lib, const struct pfdd_scope *scope)
{
    const struct pfdd_catalogue *c = lib->catalogue;
    for (size_t i = 0; i < c->n; i++) {
        pfdd_code_disown(c->objects[i], scope);
        if (c->objects[i]->scope == scope)
            drop_object(lib, c->objects[i]);
    }
    for (struct pfdd_code *o = lib->waiting; o; o = o->next)
        o->sender = o->sender == scope ? NULL : o->sender;
    return !scope->n_objects || sweep(lib);
}

/* Scopes that nobody uses any more. */
static void drop_scopes(struct pfdd_library *lib)
{
    struct pfdd_scope **at = &lib->scopes;
    while (*at) {
        struct pfdd_scope *scope = *at;
        if (scope->refs > 0 || !forget(lib, scope)) {
            at = &scope->next;
            continue;
        }
        *at = scope->next;
        lib->n_coming -= drop_waiting(&lib->waiting, scope);
        if (scope->binding)
            pfdd_binding_leave(scope->binding, &lib->behind);
        free(scope);
    }
}

void pfdd_scope_unref(struct pfdd_scope *scope)
{
    /* A job builds for it. */
    if (scope && --scope->refs == 0 && !scope->lib->busy)
        drop_scopes(scope->lib);
}

uint64_t pfdd_scope_number(const struct pfdd_scope *scope)
{
    return scope ? scope->number : 0;
}

size_t pfdd_scope_count(const struct pfdd_scope *scope)
{
    return scope ? scope->n_objects : 0;
}

bool pfdd_library_is_busy(const struct pfdd_library *lib)
{
    return lib->busy;
}

bool pfdd_library_is_busy_for(const struct pfdd_library *lib,
                              const struct pfdd_scope *scope)
{
    return lib->n_awaited || (scope && scope->n_coming);
}

size_t pfdd_library_memory(const struct pfdd_library *lib)
{
    size_t n = lib->n_bytes + lib->n_coming + lib->n_kept_free +
               lib->current->strings->n_bytes + lib->behind.n_bytes;
    for (const struct pfdd_scope *s = lib->scopes; s; s = s->next)
        n += sizeof *s + (s->has_set ? s->binding->strings->n_bytes : 0);
    return n;
}

uint64_t pfdd_library_version(const struct pfdd_library *lib)
{
    return lib->version;
}

size_t pfdd_library_most(const struct pfdd_library *lib)
{
    return lib->n_coming + (lib->busy ? lib->current->strings->n_bytes : 0);
}

size_t pfdd_library_count(const struct pfdd_library *lib)
{
    size_t n_shared = pfd_strings_count(lib->current->strings->set);
    size_t n = n_shared;
    for (const struct pfdd_scope *s = lib->scopes; s; s = s->next) {
        size_t n_all =
            s->has_set ? pfd_strings_count(s->binding->strings->set) : 0;
        n += n_all > n_shared ? n_all - n_shared : 0;
    }
    return n;
}

static struct pfdd_object view(const struct pfdd_code *o)
{
    return (struct pfdd_object){ .name = o->name,
                                 .scope = o->scope,
                                 .bytes = o->bytes,
                                 .n = o->n,
                                 .is_shader = o->is_shader,
                                 .shader = o->shader,
                                 .is_kept = o->is_kept };
}

static bool belongs(const struct pfdd_code *o, const struct pfdd_scope *scope)
{
    return !o->scope || o->scope == scope;
}

void pfdd_library_each(const struct pfdd_library *lib,
                       const struct pfdd_scope *scope, pfdd_object_fn fn,
                       void *user)
{
    const struct pfdd_catalogue *c = lib->catalogue;
    for (size_t i = 0; i < c->n; i++) {
        struct pfdd_object object = view(c->objects[i]);
        const struct pfdd_code *o = c->objects[i];
        if (!o->is_file && !o->is_dropped && belongs(o, scope))
            fn(user, &object);
    }
}

/* ---- on a worker ---- */

static void load_fresh(struct pfd_strings *set, struct pfdd_code *o,
                       const struct pfdd_scope *scope)
{
    struct pfd_error err;
    if (o->why[0] || !belongs(o, scope))
        return;
    if (pfdd_code_load(set, o, &err) < 0 && o->scope == scope)
        snprintf(o->why, sizeof o->why, "%.190s", err.text);
}

/* The older one that is the same; NULL: there is none. */
static struct pfdd_code *find_same(const struct pfdd_library *lib,
                                   const struct pfdd_code *o)
{
    for (size_t i = 0; i < lib->old->n; i++) {
        struct pfdd_code *old = lib->old->objects[i];
        if (old->n == o->n && old->crc == o->crc &&
            old->is_shader == o->is_shader && old->shader == o->shader &&
            old->scope == o->scope && !memcmp(old->bytes, o->bytes, o->n))
            return old;
    }
    return NULL;
}

static struct pfd_strings *build(struct pfdd_library *lib,
                                 const struct pfdd_scope *scope)
{
    struct pfd_strings *set = pfd_strings_new();
    if (!set)
        return NULL;
    pfd_strings_set_max_inflated(set, lib->n_bytes_max);
    struct pfd_error err;
    for (size_t i = 0; i < lib->old->n; i++) {
        if (belongs(lib->old->objects[i], scope))
            pfdd_code_load(set, lib->old->objects[i], &err);
    }
    for (struct pfdd_code *o = lib->fresh; o; o = o->next)
        load_fresh(set, o, scope);
    return set;
}

/* Has something come for it that can be used? */
static bool has_news(const struct pfdd_library *lib,
                     const struct pfdd_scope *scope)
{
    for (const struct pfdd_code *o = lib->fresh; o; o = o->next) {
        if (!o->why[0] && o->scope == scope)
            return true;
    }
    return false;
}

static void run_job(struct pfdd_job *job)
{
    struct pfdd_library *lib = (struct pfdd_library *)job;
    for (struct pfdd_code *o = lib->fresh; o; o = o->next) {
        if (!o->bytes)
            pfdd_code_read(o, lib->left);
        lib->left -= o->peer ? o->n : 0;
        o->crc = o->why[0] ? 0 : pfd_crc32c(0, o->bytes, o->n);
        o->same = o->why[0] ? NULL : find_same(lib, o);
        if (o->same)
            snprintf(o->why, sizeof o->why, "known");
    }
    bool news = has_news(lib, NULL);
    lib->set = news ? build(lib, NULL) : NULL;
    for (struct pfdd_scope *s = lib->stale; s; s = s->next_stale) {
        bool wanted = has_news(lib, s) || (news && s->has_set);
        s->set = wanted ? build(lib, s) : NULL;
    }
}

/* ---- on the loop ---- */

/* How much is behind a URI is known when it has been read. */
static size_t room_for_uris(const struct pfdd_library *lib)
{
    size_t taken = lib->n_bytes + lib->n_coming;
    size_t share = taken < lib->n_bytes_max ? lib->n_bytes_max - taken : 0;
    size_t room = pfdd_room(lib->d);
    const struct pfdd_code *o = lib->fresh;
    while (o && !o->peer)
        o = o->next;
    if (!o)
        return 0;
    return share < room ? share : room;
}

static void start_job(struct pfdd_library *lib)
{
    /* Newest first, as they came in; loaded in the order of the list, which
     * matters for collisions only. */
    lib->fresh = lib->waiting;
    lib->waiting = NULL;
    lib->old = lib->catalogue;
    lib->old->refs++;
    lib->left = lib->n_kept_free = room_for_uris(lib);
    lib->busy = true;
    lib->lacks = lib->has_shrunk;
    lib->has_shrunk = false;
    lib->stale = NULL;
    for (struct pfdd_scope *s = lib->scopes; s; s = s->next) {
        if (!s->n_objects)
            continue;
        s->next_stale = lib->stale;
        lib->stale = s;
    }
    pfdd_pool_submit(lib->d->decoders, &lib->job);
}

/* It has come: it may be had again. */
static void revive(struct pfdd_library *lib, struct pfdd_code *o,
                   const struct pfdd_code *fresh)
{
    if (o->is_dropped)
        lib->n_bytes += pfdd_code_cost(o->n);
    o->is_dropped = false;
    o->is_given = o->is_given && fresh->is_given;
    pfdd_code_own(o, fresh->sender);
}

static void arrive(struct pfdd_library *lib, const struct pfdd_code *o)
{
    lib->n_coming -= o->n_coming;
    lib->n_awaited -= !o->is_given;
    if (!o->sender)
        return;
    o->sender->n_coming--;
    o->sender->n_bytes += (o->why[0] ? 0 : pfdd_code_cost(o->n)) - o->n_coming;
}

/* One that cannot be used, or for which there is no memory, goes. */
static void keep(struct pfdd_library *lib, struct pfdd_catalogue *c,
                 struct pfdd_code *o)
{
    arrive(lib, o);
    if (o->why[0] || !c) {
        if (!o->same) {
            pfdd_log_about(&lib->d->told_peers, PFDD_WARNING,
                           "code object %.300s: %s", o->name,
                           o->why[0] ? o->why : "out of memory");
        }
        pfdd_code_free(o);
        return;
    }
    pfdd_log_about(&lib->d->told_well, PFDD_INFO, "code object %s: %zu bytes",
                   o->name, o->n);
    pfdd_folder_unref(o->folder);
    pfdd_peer_unref(o->peer);
    o->folder = NULL;
    o->peer = NULL;
    pfdd_catalogue_put(c, o);
    pfdd_code_own(o, o->sender);
    lib->n_bytes += pfdd_code_cost(o->n);
    struct pfdd_object object = view(o);
    if (!o->is_file)
        pfdd_shelf_object(lib->d->shelf, &object);
}

/* What the job has read and what there was are the next set. */
static void keep_all(struct pfdd_library *lib)
{
    size_t n = lib->old->n;
    for (const struct pfdd_code *o = lib->fresh; o; o = o->next)
        n++;
    struct pfdd_catalogue *c = pfdd_catalogue_new(n);
    for (const struct pfdd_code *o = lib->fresh; o; o = o->next) {
        if (o->same)
            revive(lib, o->same, o);
    }
    for (size_t i = 0; c && i < lib->old->n; i++) {
        if (!lib->old->objects[i]->is_dropped)
            pfdd_catalogue_put(c, lib->old->objects[i]);
    }
    lib->has_shrunk |= c && c->n < lib->old->n;
    while (lib->fresh) {
        struct pfdd_code *o = lib->fresh;
        lib->fresh = o->next;
        keep(lib, c, o);
    }
    pfdd_catalogue_drop(lib->old);
    lib->old = NULL;
    if (!c)
        return;
    pfdd_catalogue_drop(lib->catalogue);
    lib->catalogue = c;
}

/* NULL: nothing is new, or out of memory. */
static bool take_set(struct pfdd_library *lib, struct pfdd_binding **at,
                     struct pfd_strings *set)
{
    struct pfdd_strings *strings = set ? pfdd_strings_new(set) : NULL;
    if (strings)
        pfdd_binding_move(at, strings, !lib->lacks, &lib->behind);
    pfdd_strings_unref(strings);
    return strings != NULL;
}

/* One without a set of its own has everybody's. */
static void take_shared(struct pfdd_library *lib)
{
    for (struct pfdd_scope *s = lib->scopes; s; s = s->next) {
        if (s->binding && !s->has_set) {
            pfdd_binding_move(&s->binding, lib->current->strings, !lib->lacks,
                              &lib->behind);
        }
    }
}

static void job_done(struct pfdd_job *job)
{
    struct pfdd_library *lib = (struct pfdd_library *)job;
    lib->n_kept_free = 0;
    keep_all(lib);
    lib->version += lib->set != NULL;
    lib->has_shrunk |= lib->lacks && !lib->set;
    take_set(lib, &lib->current, lib->set);
    for (struct pfdd_scope *s = lib->stale; s; s = s->next_stale) {
        if (s->set && pfdd_library_bind(lib, s) == s->binding) {
            s->has_set |= take_set(lib, &s->binding, s->set);
        } else {
            pfd_strings_free(s->set);
        }
    }
    take_shared(lib);
    pfdd_bindings_trim(&lib->behind, lib->n_bytes_max / 2,
                       lib->current->strings);
    lib->busy = false;
    drop_scopes(lib);
    pfdd_sessions_wake(lib->d);
    if (lib->waiting)
        start_job(lib);
}

/* Its share has room for n bytes more, and memory for these, for what becomes
 * of them, and for the set that takes the place of the present one. */
static bool has_room(const struct pfdd_library *lib, size_t n)
{
    return lib->n_bytes + lib->n_coming + n <= lib->n_bytes_max &&
           pfdd_has_room(lib->d, 2 * n + lib->current->strings->n_bytes);
}

/* What nobody who is here has sent goes for it, oldest first. */
static bool make_room(struct pfdd_library *lib, const struct pfdd_scope *sender,
                      size_t n)
{
    const struct pfdd_catalogue *c = lib->catalogue;
    bool is_swept = true;
    if (sender && sender->n_bytes + n > lib->n_bytes_max / 4 * 3)
        return false;
    for (size_t i = 0; i < c->n && !has_room(lib, n); i++) {
        struct pfdd_code *o = c->objects[i];
        if (!o->is_given || o->n_owners || o->is_dropped)
            continue;
        drop_object(lib, o);
        is_swept = false;
    }
    if (!is_swept && !lib->busy)
        sweep(lib);
    return has_room(lib, n);
}

static struct pfdd_code *add(struct pfdd_library *lib, const char *name,
                             bool is_given, struct pfdd_scope *sender, size_t n)
{
    struct pfdd_code *o = calloc(1, sizeof *o);
    if (o)
        o->name = strdup(name);
    if (!o || !o->name || !make_room(lib, sender, pfdd_code_cost(n))) {
        pfdd_log_about(&lib->d->told_peers, PFDD_WARNING,
                       "code object %.300s: no room for it", name);
        free(o ? o->name : NULL);
        free(o);
        return NULL;
    }
    o->n = n;
    o->n_coming = pfdd_code_cost(n);
    o->is_given = is_given;
    o->sender = sender;
    lib->n_coming += o->n_coming;
    lib->n_awaited += !is_given;
    if (sender) {
        sender->n_coming++;
        sender->n_bytes += o->n_coming;
    }
    o->next = lib->waiting;
    lib->waiting = o;
    return o;
}

static void start(struct pfdd_library *lib)
{
    if (lib->waiting && !lib->busy)
        start_job(lib);
}

void pfdd_library_add_file(struct pfdd_library *lib, const char *path)
{
    struct stat st;
    bool is_there = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    struct pfdd_code *o =
        add(lib, path, false, NULL, is_there ? (size_t)st.st_size : 0);
    if (o)
        o->is_file = true;
    start(lib);
}

void pfdd_library_add_from(struct pfdd_library *lib, struct pfdd_folder *folder,
                           const char *path, size_t n)
{
    struct pfdd_code *o = add(lib, path, false, NULL, n);
    if (o) {
        o->is_file = true;
        o->folder = pfdd_folder_ref(folder);
    }
    start(lib);
}

void pfdd_library_add_uri(struct pfdd_library *lib, const char *uri,
                          struct pfdd_peer *peer, struct pfdd_scope *owner)
{
    struct pfdd_code *o = add(lib, uri, true, owner, 0);
    if (o)
        o->peer = pfdd_peer_ref(peer);
    start(lib);
}

void pfdd_library_add(struct pfdd_library *lib,
                      const struct pfdd_object *object)
{
    struct pfdd_code *o =
        add(lib, object->name, true, object->owner, object->n);
    if (!o) {
        free((void *)(uintptr_t)object->bytes);
    } else {
        o->bytes = (char *)(uintptr_t)object->bytes;
        o->is_kept = object->is_kept;
        o->scope = object->scope;
        if (o->scope)
            o->scope->n_objects++;
        o->is_shader = object->is_shader;
        o->shader = object->shader;
    }
    start(lib);
}
