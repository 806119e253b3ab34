/* SPDX-License-Identifier: MIT */
#include "stream/capture/wire_objects.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/spirv/spirv.h"

/* An object that is not complete, or a module. */
struct object {
    uint64_t number; /* first: the key of the tree */
    struct object *next;
    struct object **at_link; /* the pointer to it */
    char *bytes;             /* [n] of [room], owned */
    size_t n;
    size_t room;
    uint64_t total; /* bytes of all parts */
    uint64_t scope;
    uint64_t at;               /* of its first frame */
    bool is_refused;           /* and that was reported */
    bool is_whole;             /* a module */
    bool is_referred_to;       /* a shader refers to it */
    struct object *next_loose; /* in the list of loose candidates */
    size_t n_name;
    char name[];
};

struct pfd_wire_objects {
    struct pfd_wire_objects_options o;
    struct pfd_report report;
    void *tree;           /* the newest object of each number */
    struct object *first; /* in the order of their first frames */
    struct object **last; /* where the next one goes */
    size_t n;
    struct object *loose; /* modules, in order of arrival */
    struct object **last_loose;
    bool failed; /* out of memory */
};

static bool hold(struct pfd_wire_objects *set, size_t n)
{
    return !set->o.hold || set->o.hold(set->o.user, n);
}

static void release(struct pfd_wire_objects *set, size_t n)
{
    if (set->o.release && n)
        set->o.release(set->o.user, n);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

static struct object *find(struct pfd_wire_objects *set, uint64_t number)
{
    struct object *const *found = tfind(&number, &set->tree, compare);
    return found ? *found : NULL;
}

static size_t size_of(const struct object *o)
{
    return sizeof *o + o->n_name;
}

/* ---- the set ---- */

struct pfd_wire_objects *pfd_wire_objects_new(
    const struct pfd_wire_objects_options *options)
{
    struct pfd_wire_objects *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->o = *options;
    set->report = (struct pfd_report){
        .fn = options->fn,
        .user = options->fn_user,
        .source = options->source,
    };
    set->last = &set->first;
    set->last_loose = &set->loose;
    return set;
}

static void drop_bytes(struct pfd_wire_objects *set, struct object *o)
{
    free(o->bytes);
    release(set, o->room);
    o->bytes = NULL;
    o->room = o->n = 0;
}

static void drop(struct pfd_wire_objects *set, struct object *o)
{
    if (find(set, o->number) == o)
        tdelete(&o->number, &set->tree, compare);
    *o->at_link = o->next;
    if (o->next) {
        o->next->at_link = o->at_link;
    } else {
        set->last = o->at_link;
    }
    set->n--;
    drop_bytes(set, o);
    release(set, size_of(o));
    free(o);
}

void pfd_wire_objects_free(struct pfd_wire_objects *set)
{
    if (!set)
        return;
    while (set->first)
        drop(set, set->first);
    free(set);
}

static void refuse(struct pfd_wire_objects *set, const char *what,
                   uint64_t number, uint64_t at)
{
    pfd_report_add(&set->report, PFD_FINDING_too_large, at,
                   "memory is up to its cap: %s %llu is not taken", what,
                   (unsigned long long)number);
}

static struct object *add(struct pfd_wire_objects *set,
                          const struct pfd_wire_frame *frame)
{
    size_t size = sizeof(struct object) + frame->name.n;
    if (set->n == PFD_WIRE_OBJECTS_MAX) {
        pfd_report_add(&set->report, PFD_FINDING_too_large, frame->at,
                       "more than %d code objects", PFD_WIRE_OBJECTS_MAX);
        return NULL;
    }
    if (!hold(set, size)) {
        refuse(set, "code object", frame->code_object, frame->at);
        return NULL;
    }
    struct object *o = calloc(1, size);
    if (o)
        o->number = frame->code_object;
    struct object **found = o ? tsearch(o, &set->tree, compare) : NULL;
    if (!found) {
        set->failed = true;
        release(set, size);
        free(o);
        return NULL;
    }
    *found = o;
    o->total = frame->total ? frame->total : frame->bytes.n + frame->missing;
    o->at = frame->at;
    o->scope = frame->scope;
    o->n_name = frame->name.n;
    if (o->n_name)
        memcpy(o->name, frame->name.at, o->n_name);
    o->at_link = set->last;
    *set->last = o;
    set->last = &o->next;
    set->n++;
    return o;
}

/* ---- giving ---- */

static bool is_module(const struct object *o)
{
    return pfd_spirv_recognise(o->bytes, o->n);
}

static void give(struct pfd_wire_objects *set, struct pfd_wire_object *given)
{
    set->failed |= !set->o.give(set->o.user, given);
}

static void give_object(struct pfd_wire_objects *set, struct object *o,
                        enum pfd_wire_object_use use, uint64_t at)
{
    struct pfd_wire_object given = {
        .use = use,
        .number = o->number,
        .at = at,
        .scope = o->scope,
        .name = { o->name, o->n_name },
        .bytes = o->bytes,
        .n = o->n,
    };
    give(set, &given);
    if (use != PFD_WIRE_OBJECT_STRINGS || given.bytes)
        return;
    o->bytes = NULL; /* taken over */
    drop_bytes(set, o);
}

/* Gives an object that will not grow any more. Modules stay, since shaders
 * refer to them; no frame can refer to any other object again. */
static void use_object(struct pfd_wire_objects *set, struct object *o,
                       uint64_t at)
{
    if (is_module(o)) {
        o->is_whole = true;
        *set->last_loose = o;
        set->last_loose = &o->next_loose;
        give_object(set, o, PFD_WIRE_OBJECT_MODULE, at);
        return;
    }
    give_object(set, o, PFD_WIRE_OBJECT_STRINGS, at);
    drop(set, o);
}

/* Gives an object of which only the beginning came: it may have strings. */
static void use_beginning(struct pfd_wire_objects *set, struct object *o)
{
    struct pfd_quoted name;
    if (!o->is_refused) {
        pfd_report_add(&set->report, PFD_FINDING_missing_data, o->at,
                       "code object %llu ('%s'): %zu of %llu bytes came",
                       (unsigned long long)o->number,
                       pfd_quote(&name, o->name, o->n_name), o->n,
                       (unsigned long long)o->total);
    }
    if (o->n) {
        use_object(set, o, o->at);
    } else {
        drop(set, o);
    }
}

static void give_loose(struct pfd_wire_objects *set)
{
    for (struct object *o = set->loose; o; o = o->next_loose) {
        if (!o->is_referred_to)
            give_object(set, o, PFD_WIRE_OBJECT_LOOSE, o->at);
    }
    set->loose = NULL;
    set->last_loose = &set->loose;
}

/* ---- taking ---- */

/* Makes room for n bytes, by doubling; false: there is none. */
static bool make_room(struct pfd_wire_objects *set, struct object *o, size_t n)
{
    if (n <= o->room)
        return true;
    size_t room = 2 * o->room < o->total ? 2 * o->room : (size_t)o->total;
    room = room > n ? room : n;
    if (!hold(set, room - o->room))
        return false;
    char *bytes = realloc(o->bytes, room);
    if (!bytes) {
        release(set, room - o->room);
        set->failed = true;
        return false;
    }
    o->bytes = bytes;
    o->room = room;
    return true;
}

/* Appends the frame's bytes; false: they do not fit. */
static bool add_part(struct pfd_wire_objects *set, struct object *o,
                     const struct pfd_wire_frame *frame)
{
    size_t n = frame->bytes.n;
    if (frame->offset != o->n || o->total > PFD_WIRE_OBJECT_MAX ||
        n > o->total - o->n) {
        pfd_report_add(&set->report, PFD_FINDING_bad_frame, frame->at,
                       "part of code object %llu at %llu, but %zu of %llu "
                       "bytes have come",
                       (unsigned long long)frame->code_object,
                       (unsigned long long)frame->offset, o->n,
                       (unsigned long long)o->total);
        return false;
    }
    if (!n)
        return true;
    if (!make_room(set, o, o->n + n)) {
        refuse(set, "code object", o->number, frame->at);
        o->is_refused = true;
        drop_bytes(set, o);
        return false;
    }
    memcpy(o->bytes + o->n, frame->bytes.at, n);
    o->n += n;
    return true;
}

static void take_code_object(struct pfd_wire_objects *set,
                             const struct pfd_wire_frame *frame)
{
    struct object *o = find(set, frame->code_object);
    if (!frame->bytes.n && frame->uri.n) {
        struct pfd_wire_object given = {
            .use = PFD_WIRE_OBJECT_NAMED,
            .number = frame->code_object,
            .at = frame->at,
            .name = frame->name,
            .uri = frame->uri,
        };
        give(set, &given);
        return;
    }
    /* The number is used anew. */
    if (o && !o->is_whole && !frame->offset) {
        use_beginning(set, o);
        o = NULL;
    }
    if (!o || o->is_whole)
        o = add(set, frame);
    if (o && !o->is_refused && add_part(set, o, frame) && o->n == o->total &&
        o->n)
        use_object(set, o, frame->at);
}

/* NULL: it has not arrived. */
static struct object *find_module(struct pfd_wire_objects *set,
                                  const struct pfd_wire_frame *frame)
{
    struct object *o = find(set, frame->code_object);
    return o && is_module(o) && frame->shader < UINT32_MAX ? o : NULL;
}

size_t pfd_wire_objects_module(struct pfd_wire_objects *set,
                               const struct pfd_wire_frame *frame)
{
    const struct object *o =
        frame->type == PFD_WIRE_SHADER ? find_module(set, frame) : NULL;
    return o ? o->n : 0;
}

static void take_shader(struct pfd_wire_objects *set,
                        const struct pfd_wire_frame *frame)
{
    struct object *o = find_module(set, frame);
    if (!o) {
        pfd_report_add(&set->report, PFD_FINDING_bad_frame, frame->at,
                       "shader %llu is of module %llu, which has not come",
                       (unsigned long long)frame->shader,
                       (unsigned long long)frame->code_object);
        return;
    }
    o->is_referred_to = true;
    struct pfd_wire_object given = {
        .use = PFD_WIRE_OBJECT_SHADER,
        .number = o->number,
        .shader = frame->shader,
        .scope = frame->scope,
        .at = frame->at,
        .name = frame->name,
        .bytes = o->bytes,
        .n = o->n,
    };
    give(set, &given);
}

static enum pfd_status status_of(struct pfd_wire_objects *set)
{
    bool failed = set->failed;
    set->failed = false;
    return failed ? PFD_ERR_NOMEM : PFD_OK;
}

enum pfd_status pfd_wire_objects_take(struct pfd_wire_objects *set,
                                      const struct pfd_wire_frame *frame)
{
    if (frame->type == PFD_WIRE_START)
        return pfd_wire_objects_finish(set);
    if (frame->type == PFD_WIRE_CODE_OBJECT) {
        take_code_object(set, frame);
    } else if (frame->type == PFD_WIRE_SHADER) {
        take_shader(set, frame);
    } else {
        give_loose(set);
    }
    return status_of(set);
}

enum pfd_status pfd_wire_objects_settle(struct pfd_wire_objects *set)
{
    give_loose(set);
    return status_of(set);
}

enum pfd_status pfd_wire_objects_finish(struct pfd_wire_objects *set)
{
    for (struct object *o = set->first, *next = NULL; o; o = next) {
        next = o->next;
        if (!o->is_whole)
            use_beginning(set, o);
    }
    give_loose(set);
    while (set->first)
        drop(set, set->first);
    return status_of(set);
}
