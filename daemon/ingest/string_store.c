/* SPDX-License-Identifier: MIT */
#include "ingest/string_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "base/log.h"
#include "base/peer.h"
#include "config/trusted_folder.h"
#include "daemon.h"
#include "ingest/code_object.h"
#include "ingest/fd_store.h"
#include "ingest/follower.h"
#include "ingest/producer.h"
#include "ingest/string_build.h"
#include "ingest/string_renewal.h"
#include "ingest/string_sets.h"

enum {
    AT_ONCE = 256, /* code objects of a build, at most */
    SPARE = 16,    /* this part of all memory those who have gone leave */
};

struct pfdd_library {
    struct pfdd_job job;
    struct pfdd *d;
    struct pfdd_sets sets;
    struct pfdd_catalogue *catalogue; /* of current */
    size_t n_bytes;                   /* of its objects, */
    size_t n_bytes_max;
    size_t floor;   /* of these a producer always has */
    size_t n_alive; /* and of all that somebody still holds */
    struct pfdd_scopes scopes;
    uint64_t n_scopes; /* so far */
    struct pfdd_turns turns;
    struct pfdd_turn files;   /* of the configuration, and watched ones */
    struct pfdd_turn orphans; /* whose producers have gone, */
    size_t n_orphans;         /* and their bytes */
    size_t n_coming;          /* bytes of those that wait and that are read */
    size_t n_awaited;         /* objects among them that are no producer's */
    size_t n_kept_free;       /* for what a build takes */
    struct pfdd_renewal renewal;
    bool may_have_gone; /* producers of code objects that are here */
    bool busy;
    uint64_t version;
    uint64_t n_changes; /* of the catalogue, by what came */
    struct pfdd_build build;
    uint64_t n_numbers; /* of code objects, so far */
};

static void run_job(struct pfdd_job *job)
{
    pfdd_build_run(&((struct pfdd_library *)job)->build);
}

static void job_done(struct pfdd_job *job);

struct pfdd_library *pfdd_library_new(struct pfdd *d, size_t n_bytes_max)
{
    struct pfdd_library *lib = calloc(1, sizeof *lib);
    struct pfdd_catalogue *none = pfdd_catalogue_new(0);
    if (!lib || !none || !pfdd_sets_init(&lib->sets)) {
        free(lib);
        pfdd_catalogue_drop(none);
        return NULL;
    }
    lib->d = d;
    lib->catalogue = none;
    lib->n_bytes_max = n_bytes_max;
    lib->floor = pfdd_scope_floor(n_bytes_max);
    lib->job = (struct pfdd_job){ .run = run_job, .done = job_done };
    return lib;
}

void pfdd_library_free(struct pfdd_library *lib)
{
    if (!lib)
        return;
    pfdd_catalogue_drop(lib->catalogue);
    pfdd_code_free_all(pfdd_turns_clear(&lib->turns, &lib->files));
    pfdd_code_free_all(pfdd_turns_clear(&lib->turns, &lib->orphans));
    pfd_strings_free(lib->busy ? lib->build.renewed : lib->renewal.set);
    while (lib->scopes.first) {
        struct pfdd_scope *scope = lib->scopes.first;
        pfdd_code_free_all(pfdd_turns_clear(&lib->turns, &scope->turn));
        pfdd_binding_unref(scope->binding);
        pfdd_scopes_drop(&lib->scopes, &lib->scopes.first);
    }
    pfdd_sets_deinit(&lib->sets);
    free(lib);
}

struct pfdd_binding *pfdd_library_bind(struct pfdd_library *lib,
                                       struct pfdd_scope *scope)
{
    return pfdd_sets_bind(&lib->sets, scope);
}

/* ---- shares ---- */

/* Of the library's room, and the memory that there is. */
static size_t share_of(const struct pfdd_library *lib, size_t n_own)
{
    size_t room =
        pfdd_library_memory(lib) + pfdd_memory_budget_left(&lib->d->budget);
    size_t max = room < lib->n_bytes_max ? room : lib->n_bytes_max;
    /* What producers have sent that are here, and what comes of others. */
    size_t taken = lib->n_orphans + lib->scopes.n_bytes;
    return pfdd_scope_share(max, taken, n_own, lib->floor);
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
    pfdd_scopes_put(&lib->scopes, scope);
    return scope;
}

struct pfdd_scope *pfdd_scope_ref(struct pfdd_scope *scope)
{
    if (scope)
        scope->refs++;
    return scope;
}

/* Its producer has gone: what is everybody's comes all the same, as far as
 * those have room together that have gone. */
static void drop_waiting(struct pfdd_library *lib, struct pfdd_scope *scope)
{
    struct pfdd_code *next = NULL;
    struct pfdd_code *o = pfdd_turns_clear(&lib->turns, &scope->turn);
    for (; o; o = next) {
        next = o->next;
        o->sender = NULL;
        scope->n_coming--;
        pfdd_scopes_charge(&lib->scopes, scope, o->n_coming, 0);
        if (o->scope == scope || o->n_coming > share_of(lib, lib->n_orphans)) {
            scope->n_objects -= o->scope == scope;
            lib->n_coming -= o->n_coming;
            pfdd_code_free(o);
        } else {
            lib->n_orphans += o->n_coming;
            pfdd_turns_put(&lib->turns, &lib->orphans, o);
        }
    }
}

/* Its room is others', though it is there until the next set. */
static void drop_object(struct pfdd_library *lib, struct pfdd_code *o)
{
    if (!o->is_dropped) {
        lib->n_bytes -= pfdd_code_cost(o->n);
        lib->renewal.n_garbage += o->scope ? 0 : o->n_set;
    }
    o->is_dropped = true;
}

/* A set without those that are dropped takes the place of the present one.
 * False: there is no memory for it. */
static bool sweep(struct pfdd_library *lib)
{
    struct pfdd_catalogue *c = pfdd_catalogue_sweep(lib->catalogue, 0);
    if (!c)
        return false;
    pfdd_catalogue_drop(lib->catalogue);
    lib->catalogue = c;
    return true;
}

/* Its producer has gone. False: there is no memory to see to that. */
static bool forget(struct pfdd_library *lib, struct pfdd_scope *scope)
{
    for (size_t i = 0; i < scope->n_owned; i++) {
        if (scope->owned[i]->scope == scope)
            drop_object(lib, scope->owned[i]);
    }
    pfdd_scope_disown_all(scope);
    lib->may_have_gone = true;
    return !scope->n_objects || sweep(lib);
}

/* Scopes that nobody uses any more. */
static void drop_scopes(struct pfdd_library *lib)
{
    struct pfdd_scope **at = &lib->scopes.first;
    while (*at) {
        struct pfdd_scope *scope = *at;
        if (scope->refs > 0 || !forget(lib, scope)) {
            at = &scope->next;
            continue;
        }
        drop_waiting(lib, scope); /* what the build had no time for */
        if (scope->binding)
            pfdd_binding_leave(scope->binding, &lib->sets.behind);
        pfdd_scopes_drop(&lib->scopes, at);
    }
    pfdd_scopes_recount(&lib->scopes);
    pfdd_bindings_trim(&lib->sets.behind, lib->n_bytes_max / 2);
}

void pfdd_scope_unref(struct pfdd_scope *scope)
{
    if (!scope || --scope->refs > 0)
        return;
    drop_waiting(scope->lib, scope);
    if (!scope->lib->busy) /* no job builds for it */
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
    return lib->n_awaited || (scope && (scope->n_coming || scope->is_awaited));
}

size_t pfdd_library_memory(const struct pfdd_library *lib)
{
    return lib->n_alive + lib->n_coming + lib->n_kept_free +
           lib->renewal.n_bytes + pfdd_sets_memory(&lib->sets) +
           lib->scopes.n_memory;
}

uint64_t pfdd_library_version(const struct pfdd_library *lib)
{
    return lib->version;
}

size_t pfdd_library_most(const struct pfdd_library *lib)
{
    return lib->n_coming;
}

size_t pfdd_library_count(const struct pfdd_library *lib)
{
    size_t n_shared = pfd_strings_count(lib->sets.current->strings->set);
    size_t n = n_shared;
    for (const struct pfdd_scope *s = lib->scopes.first; s; s = s->next) {
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

static const void *open_objects(void *user, size_t *n, uint64_t *changes)
{
    struct pfdd_library *lib = user;
    lib->catalogue->refs++;
    *n = lib->catalogue->n;
    *changes = lib->n_changes;
    return lib->catalogue;
}

struct pfdd_object_lists pfdd_library_objects(struct pfdd_library *lib)
{
    return (struct pfdd_object_lists){ open_objects, pfdd_catalogue_get,
                                       pfdd_sets_close, lib };
}

/* ---- on the loop ---- */

static void choose_fresh(struct pfdd_library *lib)
{
    struct pfdd_code **at = &lib->build.fresh;
    for (int i = 0; i < AT_ONCE; i++) {
        *at = pfdd_turns_take(&lib->turns);
        if (!*at)
            break;
        at = &(*at)->next;
    }
}

/* Whose set may be another one behind this build. */
static void choose_scopes(struct pfdd_library *lib)
{
    for (struct pfdd_scope *s = lib->scopes.first; s; s = s->next) {
        s->last_room = s->n_bytes < lib->floor ? lib->floor - s->n_bytes : 0;
        s->share = share_of(lib, s->n_bytes);
        if (!s->n_objects)
            continue;
        s->set = NULL;
        s->is_tried = s->is_refreshed = false;
        s->next_built = lib->build.scopes;
        lib->build.scopes = s;
    }
}

/* Bytes of everybody's set. */
static size_t n_current(const struct pfdd_library *lib)
{
    return lib->sets.current->strings->n_bytes;
}

static bool wants_renewal(const struct pfdd_library *lib)
{
    return pfdd_renewal_is_due(&lib->renewal, n_current(lib),
                               pfdd_memory_budget_left(&lib->d->budget));
}

static void begin_renewal(struct pfdd_library *lib)
{
    struct pfdd_build *b = &lib->build;
    b->begins = wants_renewal(lib) && sweep(lib) &&
                pfdd_renewal_begin(&lib->renewal, n_current(lib),
                                   pfdd_memory_budget_left(&lib->d->budget));
    b->renewed = lib->renewal.set;
    b->renewal_room = pfdd_renewal_rest(&lib->renewal);
}

static void start_job(struct pfdd_library *lib)
{
    struct pfdd_build *b = &lib->build;
    *b = (struct pfdd_build){ 0 };
    begin_renewal(lib);
    b->current = lib->sets.current->strings->set;
    b->old = lib->catalogue;
    b->old->refs++;
    choose_fresh(lib);
    choose_scopes(lib);
    lib->n_kept_free =
        pfdd_build_give_room(b, &lib->d->budget, lib->n_bytes + lib->n_coming,
                             lib->n_bytes_max, lib->scopes.first);
    pfdd_memory_budget_note(&lib->d->budget);
    lib->busy = true;
    pfdd_pool_submit(lib->d->thread_pools.decoders, &lib->job);
}

/* It has come: it may be had again. */
static void revive(struct pfdd_library *lib, struct pfdd_code *o,
                   const struct pfdd_code *fresh)
{
    if (o->is_dropped) {
        lib->n_bytes += pfdd_code_cost(o->n);
        lib->renewal.n_garbage -= o->n_set < lib->renewal.n_garbage
                                      ? o->n_set
                                      : lib->renewal.n_garbage;
    }
    o->is_dropped = false;
    o->since = lib->n_changes;
    o->is_given = o->is_given && fresh->is_given;
    if (fresh->sender)
        pfdd_scope_own(fresh->sender, o);
}

static void arrive(struct pfdd_library *lib, const struct pfdd_code *o)
{
    lib->n_coming -= o->n_coming;
    lib->n_awaited -= !o->is_given;
    if (o->turn == &lib->orphans)
        lib->n_orphans -= o->n_coming;
    if (!o->sender)
        return;
    o->sender->n_coming--;
    /* What came of one that cannot be used is in the set, too. */
    pfdd_scopes_charge(&lib->scopes, o->sender, o->n_coming,
                       o->n_set + (o->why[0] ? 0 : pfdd_code_cost(o->n)));
}

/* One that cannot be used, or for which there is no memory, goes. */
static void keep(struct pfdd_library *lib, struct pfdd_catalogue *c,
                 struct pfdd_code *o)
{
    arrive(lib, o);
    if (o->why[0] || !c || c->n == c->size) {
        if (!o->same) {
            pfdd_log_about(&lib->d->told_peers, PFDD_WARNING,
                           "code object %.300s: %s", o->name,
                           o->why[0] ? o->why : "out of memory");
        }
        pfdd_code_free(o);
        return;
    }
    pfdd_log_about(&lib->d->outcome.told_well, PFDD_INFO,
                   "code object %s: %zu bytes", o->name, o->n);
    if (o->none.is_true) {
        pfdd_log_about(&lib->d->told_peers,
                       o->none.is_note ? PFDD_INFO : PFDD_WARNING,
                       "code object %.300s: %s", o->name, o->none.why);
    }
    pfdd_trusted_folder_unref(o->trusted_folder);
    pfdd_peer_unref(o->peer);
    o->trusted_folder = NULL;
    o->peer = NULL;
    o->since = lib->n_changes;
    pfdd_catalogue_put(c, o);
    if (o->sender) {
        pfdd_scope_own(o->sender, o);
        o->sender->is_awaited |= o->sender->has_set && !o->scope;
    }
    o->sender = NULL; /* which may go before it does */
    lib->n_bytes += pfdd_code_cost(o->n);
    lib->n_alive += pfdd_code_cost(o->n);
    o->alive = &lib->n_alive;
    struct pfdd_object object = view(o);
    if (!o->is_file)
        pfdd_shelf_object(lib->d->shelf, &object);
}

/* What the job has read and what there was are the next catalogue. */
static void keep_all(struct pfdd_library *lib)
{
    struct pfdd_build *b = &lib->build;
    size_t n = 0;
    lib->n_changes++;
    lib->may_have_gone = true;
    for (const struct pfdd_code *o = b->fresh; o; o = o->next) {
        n++;
        if (o->same)
            revive(lib, o->same, o);
    }
    struct pfdd_catalogue *c = pfdd_catalogue_sweep(b->old, n);
    while (b->fresh) {
        struct pfdd_code *o = b->fresh;
        b->fresh = o->next;
        pfdd_turns_charge(o);
        keep(lib, c, o);
    }
    pfdd_catalogue_drop(b->old);
    b->old = NULL;
    if (!c)
        return;
    pfdd_catalogue_drop(lib->catalogue);
    lib->catalogue = c;
}

static bool has_work(const struct pfdd_library *lib)
{
    const struct pfdd_scope *s = lib->scopes.first;
    while (s && !s->is_stale)
        s = s->next;
    return s || lib->turns.first || lib->renewal.set || wants_renewal(lib);
}

static void job_done(struct pfdd_job *job)
{
    struct pfdd_library *lib = (struct pfdd_library *)job;
    struct pfdd_build *b = &lib->build;
    bool is_new = b->set != NULL;
    lib->n_kept_free = 0;
    for (struct pfdd_scope *s = b->scopes; s; s = s->next_built) {
        pfdd_sets_take_scope(&lib->sets, s);
        /* Once: without room for it there is none the next time either. */
        s->is_stale &= !s->is_tried;
        s->is_awaited &= !s->is_tried;
    }
    keep_all(lib);
    for (struct pfdd_scope *s = b->scopes; s; s = s->next_built) {
        if (s->has_set)
            pfdd_sets_hold_own(s, lib->catalogue);
    }
    pfdd_turns_give_back(&lib->turns, b->undone);
    lib->version += is_new;
    pfdd_sets_take(&lib->sets, b->set, b->is_renewed, lib->scopes.first);
    if (lib->renewal.set && !b->renewed)
        pfdd_renewal_end(&lib->renewal, b->is_renewed);
    pfdd_scopes_recount(&lib->scopes);
    pfdd_memory_budget_note(&lib->d->budget);
    lib->busy = false;
    drop_scopes(lib);
    pfdd_sessions_wake(lib->d);
    if (has_work(lib))
        start_job(lib);
}

/* The library has room for n bytes more, and there is memory for these, and, with
 * what a build gives back that is on its way, for what becomes of them and for
 * the next set. */
static bool has_room(const struct pfdd_library *lib, bool is_little, size_t n)
{
    const struct pfdd_memory_budget *budget = &lib->d->budget;
    size_t left = is_little ? pfdd_memory_budget_left_for_last(budget)
                            : pfdd_memory_budget_left(budget);
    size_t n_build = n + pfdd_build_cost(lib->sets.current->strings->set);
    return lib->n_bytes + lib->n_coming + n <= lib->n_bytes_max && n < left &&
           n + n_build < left + lib->n_kept_free;
}

static bool has_little(const struct pfdd_library *lib,
                       const struct pfdd_scope *sender, size_t n)
{
    return sender && sender->n_bytes + n <= lib->floor;
}

/* The oldest that nobody who is here has sent, from place *i on; NULL: there is
 * none. */
static struct pfdd_code *next_gone(struct pfdd_library *lib, size_t *i)
{
    const struct pfdd_catalogue *c = lib->catalogue;
    while (lib->may_have_gone && *i < c->n) {
        struct pfdd_code *o = c->objects[(*i)++];
        if (pfdd_code_has_gone(o))
            return o;
    }
    lib->may_have_gone = false;
    return NULL;
}

/* What nobody who is here has sent goes for it, oldest first. */
static bool make_room(struct pfdd_library *lib, const struct pfdd_scope *sender,
                      size_t n)
{
    size_t i = 0;
    struct pfdd_code *o = NULL;
    bool is_swept = true;
    bool is_little = has_little(lib, sender, n);
    if (sender && n > share_of(lib, sender->n_bytes))
        return false;
    while (!has_room(lib, is_little, n) && (o = next_gone(lib, &i))) {
        drop_object(lib, o);
        is_swept = false;
    }
    if (!is_swept && !lib->busy)
        sweep(lib);
    return has_room(lib, is_little, n);
}

static void start(struct pfdd_library *lib)
{
    if (!lib->busy && has_work(lib))
        start_job(lib);
}

/* Memory that nobody has, but for what the library wants for a while. */
static size_t steady_left(const struct pfdd_library *lib)
{
    return pfdd_memory_budget_left(&lib->d->budget) + lib->n_kept_free +
           lib->renewal.n_bytes;
}

/* Whoever comes finds some memory, and as much as there are strings, which the
 * next set may take at once: what those who have gone had is the first to go,
 * the oldest before others. */
static void leave_spare(struct pfdd_library *lib)
{
    size_t wanted = lib->d->budget.max / SPARE + n_current(lib);
    size_t left = steady_left(lib);
    if (left >= wanted)
        return;
    size_t n_most = lib->sets.behind.n_bytes + left;
    pfdd_bindings_trim(&lib->sets.behind,
                       n_most > wanted ? n_most - wanted : 0);
    if (steady_left(lib) >= wanted || lib->renewal.set)
        return;
    size_t i = 0;
    struct pfdd_code *o = NULL;
    while (!wants_renewal(lib) && (o = next_gone(lib, &i)))
        drop_object(lib, o);
}

void pfdd_library_make_way(struct pfdd_library *lib, size_t n)
{
    leave_spare(lib);
    if (!pfdd_memory_budget_has_for_last(&lib->d->budget, n))
        make_room(lib, NULL, n);
    start(lib);
}

static struct pfdd_code *add(struct pfdd_library *lib, const char *name,
                             bool is_given, struct pfdd_scope *sender, size_t n)
{
    struct pfdd_code *o = calloc(1, sizeof *o);
    if (o)
        o->name = strdup(name);
    leave_spare(lib);
    if (!o || !o->name || !make_room(lib, sender, pfdd_code_cost(n))) {
        pfdd_log_about(&lib->d->told_peers, PFDD_WARNING,
                       "code object %.300s: no room for it", name);
        free(o ? o->name : NULL);
        free(o);
        return NULL;
    }
    o->number = ++lib->n_numbers;
    o->n = n;
    o->n_coming = pfdd_code_cost(n);
    o->is_given = is_given;
    o->sender = sender;
    lib->n_coming += o->n_coming;
    lib->n_awaited += !is_given;
    if (sender) {
        sender->n_coming++;
        pfdd_scopes_charge(&lib->scopes, sender, 0, o->n_coming);
    }
    pfdd_turns_put(&lib->turns,
                   sender     ? &sender->turn
                   : is_given ? &lib->orphans
                              : &lib->files,
                   o);
    return o;
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

void pfdd_library_add_from(struct pfdd_library *lib,
                           struct pfdd_trusted_folder *trusted_folder,
                           const char *path, size_t n)
{
    struct pfdd_code *o = add(lib, path, false, NULL, n);
    if (o) {
        o->is_file = true;
        o->trusted_folder = pfdd_trusted_folder_ref(trusted_folder);
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
    struct pfdd_scope *owner = object->owner ? object->owner : object->scope;
    struct pfdd_code *o = add(lib, object->name, true, owner, object->n);
    if (!o) {
        free((void *)(uintptr_t)object->bytes);
    } else {
        o->bytes = (char *)(uintptr_t)object->bytes;
        o->is_kept = object->is_kept;
        o->scope = object->scope;
        o->scope_number = pfdd_scope_number(object->scope);
        if (o->scope)
            o->scope->n_objects++;
        o->is_shader = object->is_shader;
        o->shader = object->shader;
    }
    start(lib);
}
