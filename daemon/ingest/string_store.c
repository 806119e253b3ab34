/* SPDX-License-Identifier: MIT */
#include "ingest/string_store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "base/log.h"
#include "base/peer.h"
#include "config/description.h"
#include "config/trusted_folder.h"
#include "ingest/ingest.h"
#include "ingest/string_space.h"

enum {
    AT_ONCE = 256, /* code objects of a build, at most */
};

static void run_job(struct pfdd_job *job)
{
    pfdd_string_build_run(&((struct pfdd_string_store *)job)->string_build);
}

static void job_done(struct pfdd_job *job);

struct pfdd_string_store *pfdd_string_store_new(struct pfdd_ingest *ingest,
                                                size_t n_bytes_max)
{
    struct pfdd_string_store *lib = calloc(1, sizeof *lib);
    struct pfdd_catalogue *none = pfdd_catalogue_new(0);
    if (!lib || !none || !pfdd_string_sets_init(&lib->string_sets)) {
        free(lib);
        pfdd_catalogue_drop(none);
        return NULL;
    }
    lib->ingest = ingest;
    lib->catalogue = none;
    lib->n_bytes_max = n_bytes_max;
    lib->floor = pfdd_producer_floor(n_bytes_max);
    lib->job = (struct pfdd_job){ .run = run_job, .done = job_done };
    return lib;
}

void pfdd_string_store_free(struct pfdd_string_store *lib)
{
    if (!lib)
        return;
    pfdd_catalogue_drop(lib->catalogue);
    pfdd_code_free_all(pfdd_code_queue_clear(&lib->fair_queue, &lib->files));
    pfdd_code_free_all(pfdd_code_queue_clear(&lib->fair_queue, &lib->orphans));
    pfd_strings_free(lib->busy ? lib->string_build.renewed
                               : lib->string_renewal.set);
    while (lib->producers.first) {
        struct pfdd_producer *producer = lib->producers.first;
        pfdd_code_free_all(
            pfdd_code_queue_clear(&lib->fair_queue, &producer->code_queue));
        pfdd_binding_unref(producer->binding);
        pfdd_producers_drop(&lib->producers, &lib->producers.first);
    }
    pfdd_string_sets_deinit(&lib->string_sets);
    free(lib);
}

struct pfdd_binding *pfdd_string_store_bind(struct pfdd_string_store *lib,
                                            struct pfdd_producer *producer)
{
    return pfdd_string_sets_bind(&lib->string_sets, producer);
}

/* ---- producers ---- */

struct pfdd_producer *pfdd_producer_new(struct pfdd_string_store *lib)
{
    struct pfdd_producer *producer = calloc(1, sizeof *producer);
    if (!producer)
        return NULL;
    producer->refs = 1;
    producer->lib = lib;
    producer->number = ++lib->n_scopes;
    pfdd_producers_put(&lib->producers, producer);
    return producer;
}

struct pfdd_producer *pfdd_producer_ref(struct pfdd_producer *producer)
{
    if (producer)
        producer->refs++;
    return producer;
}

/* The producer has gone: its queued shared objects are built all the same, as
 * far as producers that have gone have space together. */
static void drop_waiting(struct pfdd_string_store *lib,
                         struct pfdd_producer *producer)
{
    struct pfdd_code *next = NULL;
    struct pfdd_code *o =
        pfdd_code_queue_clear(&lib->fair_queue, &producer->code_queue);
    for (; o; o = next) {
        next = o->next;
        o->sender = NULL;
        producer->n_coming--;
        pfdd_producers_charge(&lib->producers, producer, o->n_coming, 0);
        if (o->producer == producer ||
            o->n_coming > pfdd_string_space_share(lib, lib->n_orphans)) {
            producer->n_objects -= o->producer == producer;
            lib->n_coming -= o->n_coming;
            pfdd_code_free(o);
        } else {
            lib->n_orphans += o->n_coming;
            pfdd_code_queue_put(&lib->fair_queue, &lib->orphans, o);
        }
    }
}

/* The producer has gone: its own objects are dropped. False: out of memory. */
static bool forget(struct pfdd_string_store *lib,
                   struct pfdd_producer *producer)
{
    for (size_t i = 0; i < producer->n_owned; i++) {
        if (producer->owned[i]->producer == producer)
            pfdd_string_space_drop(lib, producer->owned[i]);
    }
    pfdd_producer_disown_all(producer);
    lib->may_have_gone = true;
    return !producer->n_objects || pfdd_string_space_sweep(lib);
}

/* Frees producers that have no references. */
static void drop_producers(struct pfdd_string_store *lib)
{
    struct pfdd_producer **at = &lib->producers.first;
    while (*at) {
        struct pfdd_producer *producer = *at;
        if (producer->refs > 0 || !forget(lib, producer)) {
            at = &producer->next;
            continue;
        }
        drop_waiting(lib, producer); /* objects that the build had no time
                                        for */
        if (producer->binding)
            pfdd_binding_leave(producer->binding, &lib->string_sets.behind);
        pfdd_producers_drop(&lib->producers, at);
    }
    pfdd_producers_recount(&lib->producers);
    pfdd_bindings_trim(&lib->string_sets.behind, lib->n_bytes_max / 2);
}

void pfdd_producer_unref(struct pfdd_producer *producer)
{
    if (!producer || --producer->refs > 0)
        return;
    drop_waiting(producer->lib, producer);
    if (!producer->lib->busy) /* no job builds for it */
        drop_producers(producer->lib);
}

uint64_t pfdd_producer_number(const struct pfdd_producer *producer)
{
    return producer ? producer->number : 0;
}

size_t pfdd_producer_count(const struct pfdd_producer *producer)
{
    return producer ? producer->n_objects : 0;
}

bool pfdd_string_store_is_busy(const struct pfdd_string_store *lib)
{
    return lib->busy;
}

bool pfdd_string_store_is_busy_for(const struct pfdd_string_store *lib,
                                   const struct pfdd_producer *producer)
{
    return lib->n_awaited ||
           (producer && (producer->n_coming || producer->is_awaited));
}

size_t pfdd_string_store_memory(const struct pfdd_string_store *lib)
{
    return pfdd_string_space_memory(lib);
}

uint64_t pfdd_string_store_version(const struct pfdd_string_store *lib)
{
    return lib->version;
}

size_t pfdd_string_store_most(const struct pfdd_string_store *lib)
{
    return lib->n_coming;
}

size_t pfdd_string_store_count(const struct pfdd_string_store *lib)
{
    size_t n_shared = pfd_strings_count(lib->string_sets.current->strings->set);
    size_t n = n_shared;
    for (const struct pfdd_producer *s = lib->producers.first; s; s = s->next) {
        size_t n_all =
            s->has_set ? pfd_strings_count(s->binding->strings->set) : 0;
        n += n_all > n_shared ? n_all - n_shared : 0;
    }
    return n;
}

static struct pfdd_object view(const struct pfdd_code *o)
{
    return (struct pfdd_object){ .name = o->name,
                                 .producer = o->producer,
                                 .bytes = o->bytes,
                                 .n = o->n,
                                 .is_shader = o->is_shader,
                                 .shader = o->shader,
                                 .is_kept = o->is_kept };
}

static bool belongs(const struct pfdd_code *o,
                    const struct pfdd_producer *producer)
{
    return !o->producer || o->producer == producer;
}

void pfdd_string_store_each(const struct pfdd_string_store *lib,
                            const struct pfdd_producer *producer,
                            pfdd_object_fn fn, void *user)
{
    const struct pfdd_catalogue *c = lib->catalogue;
    for (size_t i = 0; i < c->n; i++) {
        struct pfdd_object object = view(c->objects[i]);
        const struct pfdd_code *o = c->objects[i];
        if (!o->origin.is_file && !o->is_dropped && belongs(o, producer))
            fn(user, &object);
    }
}

static const void *open_objects(void *user, size_t *n, uint64_t *changes)
{
    struct pfdd_string_store *lib = user;
    lib->catalogue->refs++;
    *n = lib->catalogue->n;
    *changes = lib->n_changes;
    return lib->catalogue;
}

struct pfdd_object_lists pfdd_string_store_objects(
    struct pfdd_string_store *lib)
{
    return (struct pfdd_object_lists){ open_objects, pfdd_catalogue_get,
                                       pfdd_string_sets_close, lib };
}

/* ---- on the loop ---- */

static void choose_fresh(struct pfdd_string_store *lib)
{
    struct pfdd_code **at = &lib->string_build.fresh;
    for (int i = 0; i < AT_ONCE; i++) {
        *at = pfdd_code_queue_take(&lib->fair_queue);
        if (!*at)
            break;
        at = &(*at)->next;
    }
}

/* Chooses the producers whose sets may change in this build. */
static void choose_producers(struct pfdd_string_store *lib)
{
    for (struct pfdd_producer *s = lib->producers.first; s; s = s->next) {
        s->last_room = s->n_bytes < lib->floor ? lib->floor - s->n_bytes : 0;
        s->share = pfdd_string_space_share(lib, s->n_bytes);
        if (!s->n_objects)
            continue;
        s->set = NULL;
        s->is_tried = s->is_refreshed = s->must_refresh = false;
        s->n_next_messages = s->n_messages;
        s->next_built = lib->string_build.producers;
        lib->string_build.producers = s;
    }
}

static void begin_renewal(struct pfdd_string_store *lib)
{
    struct pfdd_string_build *b = &lib->string_build;
    b->begins =
        pfdd_string_space_wants_renewal(lib) && pfdd_string_space_sweep(lib) &&
        pfdd_string_renewal_begin(&lib->string_renewal,
                                  pfdd_string_space_current(lib),
                                  pfdd_memory_budget_left(lib->ingest->budget));
    b->renewed = lib->string_renewal.set;
    b->renewal_room = pfdd_string_renewal_rest(&lib->string_renewal);
}

static void start_job(struct pfdd_string_store *lib)
{
    struct pfdd_string_build *b = &lib->string_build;
    *b = (struct pfdd_string_build){ 0 };
    begin_renewal(lib);
    b->current = lib->string_sets.current->strings->set;
    b->old = lib->catalogue;
    b->old->refs++;
    choose_fresh(lib);
    choose_producers(lib);
    lib->n_kept_free = pfdd_string_build_give_room(
        b, lib->ingest->budget, lib->n_bytes + lib->n_coming, lib->n_bytes_max,
        lib->producers.first);
    pfdd_memory_budget_note(lib->ingest->budget);
    lib->busy = true;
    pfdd_pool_submit(lib->ingest->thread_pools->decoders, &lib->job);
}

/* An identical object has come: o is used again. */
static void revive(struct pfdd_string_store *lib, struct pfdd_code *o,
                   const struct pfdd_code *fresh)
{
    if (o->is_dropped) {
        lib->n_bytes += pfdd_code_cost(o->n);
        lib->string_renewal.n_garbage -=
            o->n_set < lib->string_renewal.n_garbage
                ? o->n_set
                : lib->string_renewal.n_garbage;
    }
    o->is_dropped = false;
    o->since = lib->n_changes;
    o->is_given = o->is_given && fresh->is_given;
    if (fresh->sender)
        pfdd_producer_own(fresh->sender, o);
}

static void arrive(struct pfdd_string_store *lib, const struct pfdd_code *o)
{
    lib->n_coming -= o->n_coming;
    lib->n_awaited -= !o->is_given;
    if (o->code_queue == &lib->orphans)
        lib->n_orphans -= o->n_coming;
    if (!o->sender)
        return;
    o->sender->n_coming--;
    /* Strings of an unusable object may be in the set, too. */
    pfdd_producers_charge(&lib->producers, o->sender, o->n_coming,
                          o->n_set + (o->why[0] ? 0 : pfdd_code_cost(o->n)));
}

/* What strangers send, or put into a folder, hides nothing that is wrong with
 * the configuration's objects. */
static struct pfdd_log_topic *topic_of(struct pfdd_string_store *lib,
                                       const struct pfdd_code *o)
{
    return o->is_given                ? &lib->told_given
           : o->origin.trusted_folder ? &lib->told_found
                                      : &lib->told_own;
}

/* Adds an object to the catalogue, or frees it if it cannot be used or memory
 * is short. */
static void keep(struct pfdd_string_store *lib, struct pfdd_catalogue *c,
                 struct pfdd_code *o)
{
    arrive(lib, o);
    if (o->why[0] || !c || c->n == c->size) {
        if (!o->same) {
            pfdd_log_about(topic_of(lib, o), PFDD_WARNING,
                           "code object %.300s: %s", o->name,
                           o->why[0] ? o->why : "out of memory");
        }
        pfdd_code_free(o);
        return;
    }
    pfdd_log_peer(PFDD_INFO, "code object %s: %zu bytes", o->name, o->n);
    if (o->none.is_true) {
        pfdd_log_about(topic_of(lib, o),
                       o->none.is_note ? PFDD_INFO : PFDD_WARNING,
                       "code object %.300s: %s", o->name, o->none.why);
    }
    pfdd_code_forget_origin(o);
    o->since = lib->n_changes;
    pfdd_catalogue_put(c, o);
    if (o->sender) {
        pfdd_producer_own(o->sender, o);
        o->sender->is_awaited |=
            o->sender->has_set && !o->sender->reads_files && !o->producer;
    }
    o->sender = NULL; /* the sender may go before the object */
    lib->n_bytes += pfdd_code_cost(o->n);
    lib->n_alive += pfdd_code_cost(o->n);
    o->alive = &lib->n_alive;
    struct pfdd_object object = view(o);
    if (!o->origin.is_file)
        lib->ingest->on_object(lib->ingest, &object);
}

/* The objects that the job has read and the present ones are the next
 * catalogue. */
static void keep_all(struct pfdd_string_store *lib)
{
    struct pfdd_string_build *b = &lib->string_build;
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
        pfdd_code_queue_charge(o);
        keep(lib, c, o);
    }
    pfdd_catalogue_drop(b->old);
    b->old = NULL;
    if (!c)
        return;
    pfdd_catalogue_drop(lib->catalogue);
    lib->catalogue = c;
}

static bool has_work(const struct pfdd_string_store *lib)
{
    const struct pfdd_producer *s = lib->producers.first;
    while (s && !s->is_stale)
        s = s->next;
    return s || lib->fair_queue.first || lib->string_renewal.set ||
           pfdd_string_space_wants_renewal(lib);
}

static void job_done(struct pfdd_job *job)
{
    struct pfdd_string_store *lib = (struct pfdd_string_store *)job;
    struct pfdd_string_build *b = &lib->string_build;
    bool is_new = b->set != NULL;
    lib->n_kept_free = 0;
    for (struct pfdd_producer *s = b->producers; s; s = s->next_built) {
        pfdd_string_sets_take_own(&lib->string_sets, s);
        /* Tried once: without memory for it there is none the next time
         * either. */
        s->is_stale &= !s->is_tried;
        s->is_awaited &= !s->is_tried;
        pfdd_producers_charge(&lib->producers, s, s->n_messages,
                              s->n_next_messages);
        s->n_messages = s->n_next_messages;
    }
    keep_all(lib);
    for (struct pfdd_producer *s = b->producers; s; s = s->next_built) {
        if (s->has_set)
            pfdd_string_sets_hold_own(s, lib->catalogue);
    }
    pfdd_code_queue_give_back(&lib->fair_queue, b->undone);
    lib->version += is_new;
    pfdd_string_sets_take(&lib->string_sets, b->set, b->is_renewed,
                          lib->producers.first);
    if (lib->string_renewal.set && !b->renewed)
        pfdd_string_renewal_end(&lib->string_renewal, b->is_renewed);
    pfdd_producers_recount(&lib->producers);
    pfdd_memory_budget_note(lib->ingest->budget);
    lib->busy = false;
    drop_producers(lib);
    lib->ingest->on_changed(lib->ingest);
    if (has_work(lib))
        start_job(lib);
}

static void start(struct pfdd_string_store *lib)
{
    if (!lib->busy && has_work(lib))
        start_job(lib);
}

void pfdd_string_store_evict(struct pfdd_string_store *lib, size_t n)
{
    pfdd_string_space_leave_spare(lib);
    if (!pfdd_memory_budget_has_for_last(lib->ingest->budget, n))
        pfdd_string_space_make_room(lib, NULL, n);
    start(lib);
}

static struct pfdd_code *add(struct pfdd_string_store *lib, const char *name,
                             bool is_given, struct pfdd_producer *sender,
                             size_t n)
{
    struct pfdd_code *o = calloc(1, sizeof *o);
    if (o)
        o->name = strdup(name);
    pfdd_string_space_leave_spare(lib);
    if (!o || !o->name ||
        !pfdd_string_space_make_room(lib, sender, pfdd_code_cost(n))) {
        pfdd_log_about(&lib->told_no_room[is_given], PFDD_WARNING,
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
        pfdd_producers_charge(&lib->producers, sender, 0, o->n_coming);
    }
    pfdd_code_queue_put(&lib->fair_queue,
                        sender     ? &sender->code_queue
                        : is_given ? &lib->orphans
                                   : &lib->files,
                        o);
    return o;
}

void pfdd_string_store_add_file(struct pfdd_string_store *lib, const char *path)
{
    struct stat st;
    bool is_there = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    struct pfdd_code *o =
        add(lib, path, false, NULL, is_there ? (size_t)st.st_size : 0);
    if (o)
        o->origin.is_file = true;
    start(lib);
}

void pfdd_string_store_add_from(struct pfdd_string_store *lib,
                                struct pfdd_trusted_folder *trusted_folder,
                                const char *path, size_t n)
{
    struct pfdd_code *o = add(lib, path, false, NULL, n);
    if (o) {
        o->origin.is_file = true;
        o->origin.trusted_folder = pfdd_trusted_folder_ref(trusted_folder);
    }
    start(lib);
}

void pfdd_string_store_add_uri(struct pfdd_string_store *lib, const char *uri,
                               struct pfdd_peer *peer,
                               struct pfdd_producer *owner)
{
    struct pfdd_code *o = add(lib, uri, true, owner, 0);
    if (o)
        o->origin.peer = pfdd_peer_ref(peer);
    start(lib);
}

void pfdd_string_store_add(struct pfdd_string_store *lib,
                           const struct pfdd_object *object)
{
    struct pfdd_producer *owner =
        object->owner ? object->owner : object->producer;
    struct pfdd_code *o = add(lib, object->name, true, owner, object->n);
    if (!o) {
        free((void *)(uintptr_t)object->bytes);
    } else {
        o->bytes = (char *)(uintptr_t)object->bytes;
        o->is_kept = object->is_kept;
        o->producer = object->producer;
        o->scope_number = pfdd_producer_number(object->producer);
        if (o->producer)
            o->producer->n_objects++;
        o->is_shader = object->is_shader;
        o->shader = object->shader;
    }
    start(lib);
}

/* ---- descriptions ---- */

void pfdd_producer_describe(struct pfdd_producer *producer,
                            const struct pfdd_description *description)
{
    void *bytes = producer && description->path ? malloc(description->n) : NULL;
    if (!bytes)
        return;
    memcpy(bytes, description->bytes, description->n);
    const struct pfdd_object object = { .name = description->path,
                                        .producer = producer,
                                        .owner = producer,
                                        .bytes = bytes,
                                        .n = description->n };
    pfdd_string_store_add(producer->lib, &object);
}

struct pfdd_producer *pfdd_producer_described(
    struct pfdd_string_store *lib, const struct pfdd_description *description)
{
    struct pfdd_producer *ret =
        description->path ? pfdd_producer_new(lib) : NULL;
    pfdd_producer_describe(ret, description);
    return ret;
}
