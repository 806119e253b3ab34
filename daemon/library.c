/* SPDX-License-Identifier: MIT */
#include "library.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/input.h>
#include <printfdecode/shaders.h>

#include "daemon.h"
#include "deputy.h"
#include "folder.h"
#include "log.h"
#include "session.h"
#include "shelf.h"

struct object {
    struct object *next;      /* of those that come */
    unsigned refs;            /* the sets' that it is in; the loop's */
    struct pfdd_scope *scope; /* NULL: everybody's */
    char *name;
    char *bytes; /* [n]; NULL: to be read */
    size_t n;
    size_t n_coming;            /* bytes that count as coming */
    bool is_file;               /* of the configuration: it can be read again */
    struct pfdd_folder *folder; /* to be read from; NULL: it is a path */
    struct pfdd_peer *peer;     /* who named it by a URI; NULL: nobody */
    bool is_kept;
    bool is_shader;
    uint32_t shader;    /* its number */
    char why[PFDD_WHY]; /* it cannot be used, or "" */
};

/* What came in and can be used, oldest first, so that numbers of strings stay
 * the same. Neither a set nor an object of it changes: a job reads one while
 * the loop goes on to the next. Counted on the loop. */
struct catalogue {
    unsigned refs;
    size_t n;
    struct object *objects[]; /* [n], a reference to each */
};

struct pfdd_scope {
    struct pfdd_scope *next;
    struct pfdd_library *lib;
    unsigned refs;
    uint64_t number;
    size_t n_objects;
    struct pfdd_strings *strings; /* NULL: no objects yet */
    /* The job's. */
    struct pfdd_scope *next_stale; /* perhaps to be built anew */
    struct pfd_strings *set;
};

struct pfdd_library {
    struct pfdd_job job;
    struct pfdd *d;
    struct pfdd_strings *current;
    struct catalogue *catalogue; /* of current */
    size_t n_bytes;              /* of its objects */
    size_t n_bytes_max;
    struct pfdd_scope *scopes; /* a list */
    uint64_t n_scopes;         /* so far */
    struct object *waiting;
    size_t n_coming; /* bytes of those that wait and that are read */
    bool busy;
    uint64_t version;
    /* The job's. */
    struct object *fresh;  /* what it reads, no part of a set yet */
    struct catalogue *old; /* what there was before, a reference */
    size_t left;           /* bytes that URIs may add */
    struct pfdd_scope *stale;
    struct pfd_strings *set;
};

static void free_object(struct object *o)
{
    pfdd_folder_unref(o->folder);
    pfdd_peer_unref(o->peer);
    free(o->name);
    free(o->bytes);
    free(o);
}

static void free_objects(struct object *o)
{
    while (o) {
        struct object *next = o->next;
        free_object(o);
        o = next;
    }
}

static void run_job(struct pfdd_job *job);

static void job_done(struct pfdd_job *job);

/* ---- catalogues ---- */

static struct catalogue *new_catalogue(size_t n_max)
{
    struct catalogue *c =
        calloc(1, sizeof *c + n_max * sizeof(struct object *));
    if (c)
        c->refs = 1;
    return c;
}

static void put(struct catalogue *c, struct object *o)
{
    o->refs++;
    c->objects[c->n++] = o;
}

static void drop_catalogue(struct catalogue *c)
{
    if (!c || --c->refs > 0)
        return;
    for (size_t i = 0; i < c->n; i++) {
        if (--c->objects[i]->refs == 0)
            free_object(c->objects[i]);
    }
    free(c);
}

struct pfdd_library *pfdd_library_new(struct pfdd *d, size_t n_bytes_max)
{
    struct pfdd_library *lib = calloc(1, sizeof *lib);
    struct pfdd_strings *empty = calloc(1, sizeof *empty);
    struct catalogue *none = new_catalogue(0);
    if (empty)
        empty->set = pfd_strings_new();
    if (!lib || !empty || !empty->set || !none) {
        free(lib);
        free(empty);
        drop_catalogue(none);
        return NULL;
    }
    empty->refs = 1;
    lib->d = d;
    lib->current = empty;
    lib->catalogue = none;
    lib->n_bytes_max = n_bytes_max;
    lib->job = (struct pfdd_job){ .run = run_job, .done = job_done };
    return lib;
}

void pfdd_strings_unref(struct pfdd_strings *strings)
{
    if (!strings || --strings->refs > 0)
        return;
    pfd_strings_free(strings->set);
    free(strings);
}

void pfdd_library_free(struct pfdd_library *lib)
{
    if (!lib)
        return;
    drop_catalogue(lib->catalogue);
    free_objects(lib->waiting);
    while (lib->scopes) {
        struct pfdd_scope *scope = lib->scopes;
        lib->scopes = scope->next;
        pfdd_strings_unref(scope->strings);
        free(scope);
    }
    pfdd_strings_unref(lib->current);
    free(lib);
}

struct pfdd_strings *pfdd_library_get(struct pfdd_library *lib,
                                      const struct pfdd_scope *scope)
{
    struct pfdd_strings *strings =
        scope && scope->strings ? scope->strings : lib->current;
    strings->refs++;
    return strings;
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
static size_t drop_waiting(struct object **at, const struct pfdd_scope *scope)
{
    size_t n = 0;
    while (*at) {
        struct object *o = *at;
        if (o->scope != scope) {
            at = &o->next;
            continue;
        }
        *at = o->next;
        n += o->n;
        free_object(o);
    }
    return n;
}

/* A set without those of a scope takes the place of the present one. False:
 * there is no memory for it. */
static bool forget(struct pfdd_library *lib, const struct pfdd_scope *scope)
{
    struct catalogue *old = lib->catalogue;
    struct catalogue *c = new_catalogue(old->n);
    if (!c)
        return false;
    for (size_t i = 0; i < old->n; i++) {
        if (old->objects[i]->scope == scope) {
            lib->n_bytes -= old->objects[i]->n;
        } else {
            put(c, old->objects[i]);
        }
    }
    drop_catalogue(old);
    lib->catalogue = c;
    return true;
}

/* Scopes that nobody uses any more. */
static void drop_scopes(struct pfdd_library *lib)
{
    struct pfdd_scope **at = &lib->scopes;
    while (*at) {
        struct pfdd_scope *scope = *at;
        if (scope->refs > 0 || (scope->n_objects && !forget(lib, scope))) {
            at = &scope->next;
            continue;
        }
        *at = scope->next;
        lib->n_coming -= drop_waiting(&lib->waiting, scope);
        pfdd_strings_unref(scope->strings);
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

size_t pfdd_library_memory(const struct pfdd_library *lib)
{
    size_t n = lib->n_bytes + lib->n_coming + lib->current->n_bytes;
    for (const struct pfdd_scope *s = lib->scopes; s; s = s->next)
        n += sizeof *s + (s->strings ? s->strings->n_bytes : 0);
    return n;
}

uint64_t pfdd_library_version(const struct pfdd_library *lib)
{
    return lib->version;
}

size_t pfdd_library_most(const struct pfdd_library *lib)
{
    return lib->n_coming + (lib->busy ? lib->current->n_bytes : 0);
}

size_t pfdd_library_count(const struct pfdd_library *lib)
{
    size_t n_shared = pfd_strings_count(lib->current->set);
    size_t n = n_shared;
    for (const struct pfdd_scope *s = lib->scopes; s; s = s->next) {
        size_t n_all = s->strings ? pfd_strings_count(s->strings->set) : 0;
        n += n_all > n_shared ? n_all - n_shared : 0;
    }
    return n;
}

static struct pfdd_object view(const struct object *o)
{
    return (struct pfdd_object){ .name = o->name,
                                 .scope = o->scope,
                                 .bytes = o->bytes,
                                 .n = o->n,
                                 .is_shader = o->is_shader,
                                 .shader = o->shader,
                                 .is_kept = o->is_kept };
}

static bool belongs(const struct object *o, const struct pfdd_scope *scope)
{
    return !o->scope || o->scope == scope;
}

void pfdd_library_each(const struct pfdd_library *lib,
                       const struct pfdd_scope *scope, pfdd_object_fn fn,
                       void *user)
{
    const struct catalogue *c = lib->catalogue;
    for (size_t i = 0; i < c->n; i++) {
        struct pfdd_object object = view(c->objects[i]);
        if (!c->objects[i]->is_file && belongs(c->objects[i], scope))
            fn(user, &object);
    }
}

/* ---- on a worker ---- */

static int open_object(struct object *o)
{
    struct stat st;
    if (o->folder) {
        return pfdd_folder_open_file(o->folder, strrchr(o->name, '/') + 1, &st,
                                     o->why);
    }
    int fd = open(o->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        snprintf(o->why, sizeof o->why, "%s", strerror(errno));
    return fd;
}

/* As much of it as was counted; one that has grown since is read when that is
 * over. */
static void read_object(struct object *o)
{
    struct stat st;
    int fd = open_object(o);
    if (fd < 0)
        return;
    if (fstat(fd, &st) != 0) {
        snprintf(o->why, sizeof o->why, "%s", strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(o->why, sizeof o->why, "not a regular file");
    } else {
        o->bytes = malloc(o->n_coming + 1);
        ssize_t n = o->bytes ? pread(fd, o->bytes, o->n_coming, 0) : -1;
        o->n = n > 0 ? (size_t)n : 0;
        if (n < 0)
            snprintf(o->why, sizeof o->why, "%s", strerror(errno));
    }
    close(fd);
}

/* Producers choose it: at most n_max bytes. */
static void read_uri(struct object *o, size_t n_max)
{
    struct pfd_input *input = NULL;
    struct pfd_error err = { .text = "out of memory" };
    size_t n = 0;
    if (pfdd_deputy_read(o->peer, o->name, n_max, &input, &err) == PFD_OK) {
        const void *bytes = pfd_input_bytes(input, &n);
        o->bytes = malloc(n + 1);
        if (o->bytes)
            memcpy(o->bytes, bytes, n);
        o->n = n;
        pfd_input_close(input);
    }
    if (!o->bytes)
        snprintf(o->why, sizeof o->why, "%.190s", err.text);
}

static enum pfd_status load_object(struct pfd_strings *set,
                                   const struct object *o,
                                   struct pfd_error *err)
{
    struct pfd_shader_info info = {
        .id = o->shader, .bytes = o->bytes, .n_bytes = o->n, .source = o->name
    };
    if (o->is_shader)
        return pfd_strings_add_shader(set, &info, NULL, NULL, err);
    return pfd_strings_load(set, o->bytes, o->n, o->name, NULL, NULL, err);
}

static void load_fresh(struct pfd_strings *set, struct object *o,
                       const struct pfdd_scope *scope)
{
    struct pfd_error err;
    if (o->why[0] || !belongs(o, scope))
        return;
    if (load_object(set, o, &err) < 0 && o->scope == scope)
        snprintf(o->why, sizeof o->why, "%.190s", err.text);
}

static bool is_known(const struct pfdd_library *lib, const struct object *o)
{
    for (size_t i = 0; i < lib->old->n; i++) {
        const struct object *old = lib->old->objects[i];
        if (old->n == o->n && old->is_shader == o->is_shader &&
            old->shader == o->shader && old->scope == o->scope &&
            !memcmp(old->bytes, o->bytes, o->n))
            return true;
    }
    return false;
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
            load_object(set, lib->old->objects[i], &err);
    }
    for (struct object *o = lib->fresh; o; o = o->next)
        load_fresh(set, o, scope);
    return set;
}

/* Has something come for it that can be used? */
static bool has_news(const struct pfdd_library *lib,
                     const struct pfdd_scope *scope)
{
    for (const struct object *o = lib->fresh; o; o = o->next) {
        if (!o->why[0] && o->scope == scope)
            return true;
    }
    return false;
}

static void run_job(struct pfdd_job *job)
{
    struct pfdd_library *lib = (struct pfdd_library *)job;
    for (struct object *o = lib->fresh; o; o = o->next) {
        if (!o->bytes && o->peer) {
            read_uri(o, lib->left);
            lib->left -= o->n;
        } else if (!o->bytes) {
            read_object(o);
        }
        if (!o->why[0] && is_known(lib, o))
            snprintf(o->why, sizeof o->why, "known");
    }
    bool news = has_news(lib, NULL);
    lib->set = news ? build(lib, NULL) : NULL;
    for (struct pfdd_scope *s = lib->stale; s; s = s->next_stale) {
        bool wanted = has_news(lib, s) || (news && s->strings);
        s->set = wanted ? build(lib, s) : NULL;
    }
}

/* ---- on the loop ---- */

static void start_job(struct pfdd_library *lib)
{
    /* Newest first, as they came in; loaded in the order of the list, which
     * matters for collisions only. */
    lib->fresh = lib->waiting;
    lib->waiting = NULL;
    lib->old = lib->catalogue;
    lib->old->refs++;
    size_t taken = lib->n_bytes + lib->n_coming;
    lib->left = taken < lib->n_bytes_max ? lib->n_bytes_max - taken : 0;
    lib->busy = true;
    lib->stale = NULL;
    for (struct pfdd_scope *s = lib->scopes; s; s = s->next) {
        if (!s->n_objects)
            continue;
        s->next_stale = lib->stale;
        lib->stale = s;
    }
    pfdd_pool_submit(lib->d->decoders, &lib->job);
}

/* One that cannot be used, or for which there is no memory, goes. */
static void keep(struct pfdd_library *lib, struct catalogue *c,
                 struct object *o)
{
    bool is_known = !strcmp(o->why, "known");
    lib->n_coming -= o->n_coming;
    if (o->why[0] || !c) {
        if (!is_known) {
            pfdd_log(PFDD_WARNING, "code object %.300s: %s", o->name,
                     o->why[0] ? o->why : "out of memory");
        }
        free_object(o);
        return;
    }
    pfdd_log(PFDD_INFO, "code object %s: %zu bytes", o->name, o->n);
    pfdd_folder_unref(o->folder);
    pfdd_peer_unref(o->peer);
    o->folder = NULL;
    o->peer = NULL;
    put(c, o);
    lib->n_bytes += o->n;
    struct pfdd_object object = view(o);
    if (!o->is_file)
        pfdd_shelf_object(lib->d->shelf, &object);
}

/* What the job has read and what there was are the next set. */
static void keep_all(struct pfdd_library *lib)
{
    size_t n = lib->old->n;
    for (const struct object *o = lib->fresh; o; o = o->next)
        n++;
    struct catalogue *c = new_catalogue(n);
    for (size_t i = 0; c && i < lib->old->n; i++)
        put(c, lib->old->objects[i]);
    while (lib->fresh) {
        struct object *o = lib->fresh;
        lib->fresh = o->next;
        keep(lib, c, o);
    }
    drop_catalogue(lib->old);
    lib->old = NULL;
    if (!c)
        return;
    drop_catalogue(lib->catalogue);
    lib->catalogue = c;
}

static void take_set(struct pfdd_strings **at, struct pfd_strings *set)
{
    struct pfdd_strings *strings = set ? calloc(1, sizeof *strings) : NULL;
    if (!strings) {
        pfd_strings_free(set);
        return;
    }
    strings->refs = 1;
    strings->set = set;
    strings->n_bytes = pfd_strings_memory(set);
    pfdd_strings_unref(*at);
    *at = strings;
}

static void job_done(struct pfdd_job *job)
{
    struct pfdd_library *lib = (struct pfdd_library *)job;
    keep_all(lib);
    lib->version += lib->set != NULL;
    take_set(&lib->current, lib->set);
    for (struct pfdd_scope *s = lib->stale; s; s = s->next_stale)
        take_set(&s->strings, s->set);
    lib->busy = false;
    drop_scopes(lib);
    if (lib->waiting) {
        start_job(lib);
    } else {
        pfdd_sessions_wake(lib->d);
    }
}

/* Its share has room for n bytes more, and memory for these, for what becomes
 * of them, and for the set that takes the place of the present one. */
static bool has_room(const struct pfdd_library *lib, size_t n)
{
    return lib->n_bytes + lib->n_coming + n <= lib->n_bytes_max &&
           (n == 0 || pfdd_has_room(lib->d, 2 * n + lib->current->n_bytes));
}

static struct object *add(struct pfdd_library *lib, const char *name, size_t n)
{
    struct object *o = calloc(1, sizeof *o);
    if (o)
        o->name = strdup(name);
    if (!o || !o->name || !has_room(lib, n)) {
        pfdd_log(PFDD_WARNING, "code object %.300s: no room for it", name);
        free(o ? o->name : NULL);
        free(o);
        return NULL;
    }
    o->n = n;
    o->n_coming = n;
    lib->n_coming += n;
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
    struct object *o = add(lib, path, is_there ? (size_t)st.st_size : 0);
    if (o)
        o->is_file = true;
    start(lib);
}

void pfdd_library_add_from(struct pfdd_library *lib, struct pfdd_folder *folder,
                           const char *path, size_t n)
{
    struct object *o = add(lib, path, n);
    if (o) {
        o->is_file = true;
        o->folder = pfdd_folder_ref(folder);
    }
    start(lib);
}

void pfdd_library_add_uri(struct pfdd_library *lib, const char *uri,
                          struct pfdd_peer *peer)
{
    struct object *o = add(lib, uri, 0);
    if (o)
        o->peer = pfdd_peer_ref(peer);
    start(lib);
}

void pfdd_library_add(struct pfdd_library *lib,
                      const struct pfdd_object *object)
{
    struct object *o = add(lib, object->name, object->n);
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
