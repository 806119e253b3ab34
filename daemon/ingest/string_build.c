/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <printfdecode/wire.h>

#include "base/job_pool.h"
#include "base/memory_budget.h"
#include "core/base/crc32c.h"
#include "core/decode/string_loader.h"
#include "core/spirv/spirv.h"
#include "core/strings/strings.h"
#include "ingest/string_space.h"

enum {
    TURN_NS = 8000000,  /* of processor time, for each kind of work */
    ENTRY = 24,         /* bytes of a string that each set has for itself */
    SET = 16 << 10,     /* bytes of a set */
    ROOM_MIN = 8 << 20, /* least memory of a build, */
    ROOM_FACTOR = 64,   /* and so much more for each byte of code objects */
    OTHERS = 5 << 18,   /* bytes left to newcomers: more than a follower
                           requests */
};

size_t pfdd_string_build_cost(const struct pfd_strings *of)
{
    return SET + ENTRY * pfd_strings_count(of);
}

static size_t lower(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Bytes that a producer may take; NULL: no producer. */
static size_t room_for(const struct pfdd_string_build *b,
                       const struct pfdd_producer *s)
{
    return b->room + (s ? lower(b->last, s->last_room) : 0);
}

/* Takes n bytes of the build's memory. False: it has not so many. */
static bool take(struct pfdd_string_build *b, struct pfdd_producer *s, size_t n)
{
    if (n > room_for(b, s))
        return false;
    size_t n_last = n - lower(n, b->room);
    b->room -= n - n_last;
    b->last -= n_last;
    if (n_last)
        s->last_room -= n_last;
    return true;
}

/* Likewise for a set that many use: no producer's share is charged. */
static bool take_shared(struct pfdd_string_build *b,
                        const struct pfdd_producer *s, size_t n)
{
    size_t n_last = n - lower(n, b->room);
    if (n_last && (!s || !s->last_room || n_last > b->last))
        return false;
    b->room -= n - n_last;
    b->last -= n_last;
    return true;
}

/* Half of the room is for the set, at most `most` bytes; half is temporary
 * memory. *n: bytes by which the set has grown. */
static enum pfd_status load_within(struct pfd_strings *set, size_t room,
                                   size_t most, const struct pfdd_code *o,
                                   struct pfdd_no_strings *none, size_t *n,
                                   struct pfd_error *err)
{
    size_t before = pfd_strings_memory(set);
    pfd_strings_set_max_inflated(set, room / 2 + 1);
    pfd_strings_set_room(set, lower(room / 2, most));
    enum pfd_status status = pfdd_code_load(set, o, none, err);
    size_t after = pfd_strings_memory(set);
    *n = after > before ? after - before : 0;
    return status;
}

static enum pfd_status load(struct pfdd_string_build *b,
                            struct pfd_strings *set, const struct pfdd_code *o,
                            struct pfdd_no_strings *none, struct pfd_error *err)
{
    struct pfdd_producer *s = o->sender;
    size_t n = 0;
    enum pfd_status status = load_within(
        set, room_for(b, s), s ? s->share : SIZE_MAX, o, none, &n, err);
    take(b, s, n);
    if (s)
        s->share -= lower(n, s->share);
    if (status == PFD_ERR_NOMEM)
        snprintf(err->text, sizeof err->text, "no room for its strings");
    return status;
}

/* ---- memory of a build ---- */

/* The size of an object named by a URI is known when it has been read.
 * Meanwhile others have half of the memory, so that their data is not
 * refused. */
static size_t room_for_uris(const struct pfdd_string_build *b, size_t n_left,
                            size_t share)
{
    const struct pfdd_code *o = b->fresh;
    while (o && !o->origin.peer)
        o = o->next;
    return o ? lower(share, n_left / 2) : 0;
}

/* In these bytes strings are built, and compressed objects are inflated. */
static size_t room_for_sets(const struct pfdd_string_build *b, size_t left,
                            size_t n_max)
{
    size_t room = left > 2 * (size_t)OTHERS ? left / 2
                  : left > OTHERS           ? left - OTHERS
                                            : left / 4;
    size_t n = ROOM_MIN + ROOM_FACTOR * b->uri_room;
    for (const struct pfdd_code *o = b->fresh; o; o = o->next)
        n += ROOM_FACTOR * o->n;
    n += 2 * pfdd_string_build_cost(b->current);
    return lower(lower(n, n_max), room);
}

size_t pfdd_string_build_give_room(struct pfdd_string_build *b,
                                   const struct pfdd_memory_budget *budget,
                                   size_t n_taken, size_t n_max,
                                   const struct pfdd_producer *producers)
{
    size_t left = pfdd_memory_budget_left(budget);
    const struct pfdd_producer *s = producers;
    while (s && (!s->last_room || (!s->n_coming && !s->is_awaited)))
        s = s->next;
    b->uri_room = room_for_uris(b, left, n_max - lower(n_taken, n_max));
    b->room = room_for_sets(b, left - b->uri_room, n_max);
    /* Producers with little have some of this, whatever others have. */
    b->last = s ? (pfdd_memory_budget_left_for_last(budget) - left) / 2 : 0;
    return b->uri_room + b->room + b->last;
}

/* ---- new code objects ---- */

static void read_object(struct pfdd_string_build *b, struct pfdd_code *o)
{
    if (!o->bytes)
        pfdd_code_read(o, b->uri_room);
    b->uri_room -= o->origin.peer ? o->n : 0;
    o->crc = o->why[0] ? 0 : pfd_crc32c(0, o->bytes, o->n);
    o->same = o->why[0] ? NULL : pfdd_code_index_find(&b->index, o);
    if (o->same)
        snprintf(o->why, sizeof o->why, "known");
}

/* The set of a producer (NULL: the shared one), as far as it is built, for an object
 * that `sender` has sent. NULL: not enough memory. */
static struct pfd_strings *set_for(struct pfdd_string_build *b,
                                   struct pfdd_producer *s,
                                   const struct pfdd_producer *sender)
{
    struct pfd_strings **set = s ? &s->set : &b->set;
    struct pfd_strings *from =
        s && s->has_set ? s->binding->strings->set : b->current;
    if (*set || !take_shared(b, sender, pfdd_string_build_cost(from)))
        return *set;
    *set =
        s && !s->has_set ? pfd_strings_branch(from) : pfd_strings_extend(from);
    return *set;
}

static bool is_description(const struct pfdd_code *o)
{
    return !o->is_shader && pfd_strings_describes(o->bytes, o->n);
}

/* Loads an object of the shared set into a producer's own, which is charged with
 * it, as with its own objects. False: there is no memory for it. */
static bool load_messages(struct pfd_strings *set, struct pfdd_producer *s,
                          size_t room, const struct pfdd_code *o)
{
    struct pfd_error err;
    size_t n = 0;
    size_t n_most = s->share + s->n_messages;
    enum pfd_status status =
        load_within(set, room, n_most - lower(s->n_next_messages, n_most), o,
                    NULL, &n, &err);
    s->n_next_messages += n;
    return status != PFD_ERR_NOMEM;
}

static void add_messages(struct pfdd_string_build *b, struct pfdd_producer *s,
                         const struct pfdd_code *o)
{
    struct pfd_strings *set =
        s->reads_files && !s->must_refresh ? set_for(b, s, s) : NULL;
    size_t before = s->n_next_messages;
    if (set)
        load_messages(set, s, room_for(b, s), o);
    take(b, s, s->n_next_messages - before);
}

/* A shared object has messages for its sender, by whose description they are found;
 * one of the configuration for all. */
static void add_messages_of(struct pfdd_string_build *b,
                            const struct pfdd_code *o)
{
    const struct pfdd_code *content = o->same ? o->same : o;
    if (o->is_given && o->sender) {
        add_messages(b, o->sender, content);
    } else if (!o->is_given) {
        for (struct pfdd_producer *s = b->producers; s; s = s->next_built)
            add_messages(b, s, content);
    }
}

/* Objects that were loaded before the description are loaded again. */
static void note_description(const struct pfdd_code *o,
                             const struct pfd_strings *set)
{
    if (is_description(o)) {
        o->producer->reads_files = pfd_strings_reads_files(set);
        o->producer->must_refresh |= o->producer->reads_files;
    }
}

/* False: there may be memory for it when the renewed set is done. */
static bool take_object(struct pfdd_string_build *b, struct pfdd_code *o)
{
    struct pfd_error err = { .text = "no room for its strings" };
    enum pfd_status status = PFD_ERR_NOMEM;
    read_object(b, o);
    if (o->same && !o->producer)
        add_messages_of(b, o);
    if (!o->why[0] && !o->producer && is_description(o)) {
        snprintf(o->why, sizeof o->why,
                 "a description of rings, which belongs to an input (its key "
                 "'describe')");
    }
    if (o->why[0])
        return true;
    struct pfd_strings *set = set_for(b, o->producer, o->sender);
    size_t before = set ? pfd_strings_memory(set) : 0;
    if (set)
        status = load(b, set, o, &o->none, &err);
    o->n_set = set ? pfd_strings_memory(set) - before : 0;
    if (status == PFD_ERR_NOMEM && b->renewed)
        return false;
    if (status < 0) {
        snprintf(o->why, sizeof o->why, "%.190s", err.text);
    } else if (o->producer) {
        note_description(o, set);
    } else {
        add_messages_of(b, o);
    }
    return true;
}

/* Takes at least one, if there is memory for it. */
static void take_objects(struct pfdd_string_build *b)
{
    uint64_t begun = pfdd_job_cpu_ns();
    uint64_t before = begun;
    struct pfdd_code **at = &b->fresh;
    while (*at && (at == &b->fresh || before - begun < TURN_NS) &&
           take_object(b, *at)) {
        uint64_t now = pfdd_job_cpu_ns();
        (*at)->spent = now - before;
        before = now;
        at = &(*at)->next;
    }
    b->undone = *at;
    *at = NULL;
}

/* ---- producers' own sets ---- */

/* The objects of a producer's set, in the order in which they are loaded. */
enum part {
    DESCRIPTIONS, /* they say where the following have messages */
    SHARED,       /* of the configuration, and those that it has sent */
    OWN,          /* but modules, which come from the previous set */
};

static bool is_of(const struct pfdd_code *o, const struct pfdd_producer *s,
                  enum part part)
{
    if (part == SHARED)
        return !o->producer;
    return o->producer == s && is_description(o) == (part == DESCRIPTIONS) &&
           !pfd_spirv_recognise(o->bytes, o->n);
}

static enum pfd_status take_one(struct pfdd_string_build *b,
                                struct pfd_strings *set,
                                struct pfdd_producer *s,
                                const struct pfdd_code *o, enum part part)
{
    struct pfd_error err;
    size_t n = 0;
    size_t room = room_for(b, s);
    if (!is_of(o, s, part))
        return PFD_OK;
    room -= lower(pfd_strings_memory(set), room);
    bool ok = part == SHARED ? load_messages(set, s, room, o)
                             : load_within(set, room, SIZE_MAX, o, NULL, &n,
                                           &err) != PFD_ERR_NOMEM;
    return ok ? PFD_OK : PFD_ERR_NOMEM;
}

static enum pfd_status take_part(struct pfdd_string_build *b,
                                 struct pfd_strings *set,
                                 struct pfdd_producer *s, enum part part)
{
    enum pfd_status status = PFD_OK;
    for (size_t i = 0; i < s->n_owned && status == PFD_OK; i++)
        status = take_one(b, set, s, s->owned[i], part);
    for (size_t i = 0; part == SHARED && i < b->old->n && status == PFD_OK;
         i++) {
        if (!b->old->objects[i]->is_given)
            status = take_one(b, set, s, b->old->objects[i], part);
    }
    for (struct pfdd_code *o = b->fresh; o && status == PFD_OK; o = o->next) {
        const struct pfdd_code *content = o->why[0] ? o->same : o;
        if (content && (o->sender == s || !o->is_given))
            status = take_one(b, set, s, content, part);
    }
    return status;
}

/* Loads objects of the shared set again, for the messages that the producer's
 * description says they have. */
static enum pfd_status take_messages(struct pfdd_string_build *b,
                                     struct pfd_strings *set,
                                     struct pfdd_producer *s)
{
    s->n_next_messages = 0;
    s->reads_files = pfd_strings_reads_files(set);
    return s->reads_files ? take_part(b, set, s, SHARED) : PFD_OK;
}

/* Builds a producer's set anew, on the present shared set. */
static void refresh(struct pfdd_string_build *b, struct pfdd_producer *s)
{
    struct pfd_error err;
    s->is_tried = true;
    struct pfd_strings *base = b->set ? b->set : b->current;
    const struct pfd_strings *from = s->set ? s->set : s->binding->strings->set;
    struct pfd_strings *set = take_shared(b, s, pfdd_string_build_cost(base))
                                  ? pfd_strings_branch(base)
                                  : NULL;
    if (!set)
        return;
    pfd_strings_set_room(set, room_for(b, s) / 2);
    size_t n_messages = s->n_next_messages;
    enum pfd_status status = take_part(b, set, s, DESCRIPTIONS);
    if (status == PFD_OK)
        status = take_messages(b, set, s);
    if (status == PFD_OK)
        status = pfd_strings_take_shaders(set, from, &err);
    if (status == PFD_OK)
        status = take_part(b, set, s, OWN);
    if (status != PFD_OK) {
        s->n_next_messages = n_messages;
        pfd_strings_free(set);
        return;
    }
    pfd_strings_free(s->set);
    s->set = set;
    s->is_refreshed = true;
    take(b, s, pfd_strings_memory(set));
}

/* Refreshes the sets that their own producers wait for, and others as far as
 * there is time. */
static void refresh_scopes(struct pfdd_string_build *b)
{
    uint64_t begun = pfdd_job_cpu_ns();
    for (struct pfdd_producer *s = b->producers; s; s = s->next_built) {
        bool has_time = s->is_awaited || pfdd_job_cpu_ns() - begun < TURN_NS;
        if (s->must_refresh || (s->is_stale && has_time))
            refresh(b, s);
    }
}

/* ---- renewal ---- */

/* An object that was loaded before fails only for lack of memory. */
static bool renew_one(struct pfdd_string_build *b, const struct pfdd_code *o)
{
    struct pfd_error err;
    size_t n = 0;
    enum pfd_status status =
        load_within(b->renewed, b->renewal_room, SIZE_MAX, o, NULL, &n, &err);
    b->renewal_room -= lower(n, b->renewal_room);
    b->lacks_room |= status == PFD_ERR_NOMEM;
    return !b->lacks_room;
}

/* False: there is no time for more, or no memory. */
static bool renew_some(struct pfdd_string_build *b)
{
    uint64_t begun = pfdd_job_cpu_ns();
    for (size_t i = 0; i < b->old->n; i++) {
        struct pfdd_code *o = b->old->objects[i];
        if (o->producer || o->is_renewed)
            continue;
        if (pfdd_job_cpu_ns() - begun >= TURN_NS || !renew_one(b, o))
            return false;
        o->is_renewed = true;
    }
    for (struct pfdd_code *o = b->fresh; o; o = o->next) {
        if (!o->why[0] && !o->producer && !renew_one(b, o))
            return false;
    }
    return true;
}

/* The renewed set is used only when it is complete. */
static void renew(struct pfdd_string_build *b)
{
    for (size_t i = 0; b->begins && i < b->old->n; i++)
        b->old->objects[i]->is_renewed = false;
    bool has_all = b->renewed && renew_some(b);
    if (has_all) {
        pfd_strings_free(b->set);
        b->set = b->renewed;
        b->is_renewed = true;
    } else if (b->lacks_room) {
        pfd_strings_free(b->renewed);
    }
    if (has_all || b->lacks_room)
        b->renewed = NULL;
}

static void trim(struct pfd_strings *set)
{
    if (set)
        pfd_strings_trim(set);
}

void pfdd_string_build_run(struct pfdd_string_build *b)
{
    pfdd_code_index_init(&b->index, b->old);
    take_objects(b);
    pfdd_code_index_deinit(&b->index);
    renew(b);
    refresh_scopes(b);
    trim(b->set);
    trim(b->renewed);
    for (struct pfdd_producer *s = b->producers; s; s = s->next_built)
        trim(s->set);
}
