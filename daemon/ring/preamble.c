/* SPDX-License-Identifier: MIT */
#include "ring/preamble.h"

#include <stdlib.h>
#include <string.h>

#include "ring/ring.h"
#include "stream/capture/wire.h"

enum {
    BUFFERS_MAX = 4096, /* of one stream; each generation counts */
    SCOPES_MAX = 1024,
    OUTGROWN = 64 << 20, /* bytes sent, beyond twice the existing ones */
};

static void close_list(struct pfdd_preamble *t)
{
    if (t->list && !t->strings)
        t->lists->close(t->lists->user, t->list);
    pfdd_strings_unref(t->strings);
    t->strings = NULL;
    t->list = NULL;
    t->i = t->at = 0;
}

void pfdd_preamble_deinit(struct pfdd_preamble *t)
{
    close_list(t);
    free(t->buffers);
    free(t->scopes);
    *t = (struct pfdd_preamble){ 0 };
}

size_t pfdd_preamble_memory(const struct pfdd_preamble *t)
{
    return t->n_buffers * sizeof *t->buffers + t->n_scopes * sizeof *t->scopes;
}

bool pfdd_preamble_hello(pfd_wire_write_fn write, void *user)
{
    struct pfd_wire_frame hello = {
        .type = PFD_WIRE_HELLO,
        .time = pfdd_time_now(),
    };
    return pfd_wire_write_start(write, user) == PFD_OK &&
           pfd_wire_write(&hello, write, user, NULL) == PFD_OK;
}

bool pfdd_preamble_begin(struct pfdd_preamble *t, pfd_wire_write_fn write,
                         void *user)
{
    if (t->has_begun)
        return true;
    t->has_begun = true;
    return pfdd_preamble_hello(write, user);
}

/* ---- buffers ---- */

static bool has_buffer(const struct pfdd_preamble *t, uint64_t number,
                       uint64_t generation)
{
    /* The newest one is looked up most. */
    for (size_t i = t->n_buffers; i > 0; i--) {
        if (t->buffers[i - 1].number == number &&
            t->buffers[i - 1].generation == generation)
            return true;
    }
    return false;
}

static bool add_buffer(struct pfdd_preamble *t, uint64_t number,
                       uint64_t generation)
{
    struct pfdd_preamble_buffer *more =
        realloc(t->buffers, (t->n_buffers + 1) * sizeof *more);
    if (!more)
        return false;
    t->buffers = more;
    more[t->n_buffers++] = (struct pfdd_preamble_buffer){ number, generation };
    return true;
}

/* ---- code objects ---- */

static struct pfdd_preamble_scope *find_scope(struct pfdd_preamble *t,
                                              uint64_t scope)
{
    for (size_t i = 0; i < t->n_scopes; i++) {
        if (t->scopes[i].scope == scope)
            return &t->scopes[i];
    }
    struct pfdd_preamble_scope *more =
        realloc(t->scopes, (t->n_scopes + 1) * sizeof *more);
    if (!more)
        return NULL;
    t->scopes = more;
    more[t->n_scopes] = (struct pfdd_preamble_scope){ .scope = scope };
    return &more[t->n_scopes++];
}

/* False: it was sent, or is of another scope. */
static bool is_news(struct pfdd_preamble *t, const struct pfdd_code_object *o)
{
    const struct pfdd_preamble_scope *s = find_scope(t, t->scope);
    return s && o->scope == t->scope && o->since > s->changes && o->n;
}

static bool tell_shader(const struct pfdd_code_object *o, uint64_t number,
                        pfd_wire_write_fn write, void *user)
{
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_SHADER,
        .shader = o->shader,
        .code_object = number,
        .scope = o->scope,
        .name = pfd_wire_text(o->name),
    };
    return pfd_wire_write(&frame, write, user, NULL) == PFD_OK;
}

bool pfdd_preamble_object(const struct pfdd_code_object *o, uint64_t number,
                          size_t *at, pfd_wire_write_fn write, void *user)
{
    size_t left = o->n - *at;
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_CODE_OBJECT,
        .code_object = number,
        .scope = o->scope,
        .name = pfd_wire_text(o->name),
        .offset = *at,
        .total = o->n,
        .bytes = { (const char *)o->bytes + *at,
                   left < PFDD_PREAMBLE_PART ? left : PFDD_PREAMBLE_PART },
    };
    bool ok = pfd_wire_write(&frame, write, user, NULL) == PFD_OK;
    *at += frame.bytes.n;
    return ok &&
           (*at < o->n || !o->is_shader || tell_shader(o, number, write, user));
}

/* Writes the next frame of the current object. */
static bool write_object_frame(struct pfdd_preamble *t,
                               const struct pfdd_code_object *o,
                               pfd_wire_write_fn write, void *user)
{
    t->n_objects += t->at == 0;
    t->n_bytes -= t->at;
    bool ok = pfdd_preamble_object(o, t->n_objects, &t->at, write, user);
    t->n_bytes += t->at;
    if (t->at < o->n)
        return ok;
    t->i++;
    t->at = 0;
    return ok;
}

/* The whole list was sent. */
static bool end_list(struct pfdd_preamble *t)
{
    struct pfdd_preamble_scope *s = find_scope(t, t->scope);
    if (s)
        s->changes = t->changes;
    close_list(t);
    return s;
}

static uint64_t count_bytes(const struct pfdd_preamble *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->n_list; i++) {
        struct pfdd_code_object o;
        t->lists->get(t->list, i, &o);
        n += o.n;
    }
    return n;
}

/* Opens the list that all buffers share. */
static void open_shared(struct pfdd_preamble *t)
{
    const struct pfdd_preamble_scope *s = find_scope(t, 0);
    t->scope = 0;
    t->list = s && t->lists->open
                  ? t->lists->open(t->lists->user, &t->n_list, &t->changes)
                  : NULL;
    if (t->list && t->changes <= s->changes)
        close_list(t);
    if (t->list)
        t->n_alive = count_bytes(t);
}

static uint64_t last_change(const struct pfdd_preamble *t,
                            const struct pfdd_strings *strings)
{
    uint64_t ret = 0;
    for (size_t i = 0; i < strings->n_own; i++) {
        struct pfdd_code_object o;
        t->lists->get(strings->own, i, &o);
        ret = o.since > ret ? o.since : ret;
    }
    return ret;
}

/* Opens the list of a scope, which is stored with the strings. */
static void open_own(struct pfdd_preamble *t, struct pfdd_strings *strings,
                     uint64_t scope)
{
    const struct pfdd_preamble_scope *s = find_scope(t, scope);
    uint64_t changes = scope ? last_change(t, strings) : 0;
    if (!s || changes <= s->changes)
        return;
    t->scope = scope;
    t->strings = pfdd_strings_ref(strings);
    t->list = strings->own;
    t->n_list = strings->n_own;
    t->changes = changes;
}

/* *done: no object is missing. */
static bool write_objects(struct pfdd_preamble *t, struct pfdd_strings *strings,
                          uint64_t scope, pfd_wire_write_fn write, void *user,
                          bool *done)
{
    if (!t->list)
        open_shared(t);
    if (!t->list)
        open_own(t, strings, scope);
    *done = !t->list;
    if (*done)
        return find_scope(t, scope);
    for (; t->i < t->n_list; t->i++) {
        struct pfdd_code_object o;
        t->lists->get(t->list, t->i, &o);
        if (is_news(t, &o))
            return write_object_frame(t, &o, write, user);
    }
    return end_list(t);
}

/* ---- the whole preamble ---- */

/* The receiver stores everything that it was sent, even objects that no longer
 * exist here. */
static bool has_outgrown(const struct pfdd_preamble *t)
{
    return t->n_buffers >= BUFFERS_MAX || t->n_scopes >= SCOPES_MAX ||
           t->n_bytes > 2 * t->n_alive + OUTGROWN;
}

/* Numbers of one stream mean nothing in the next. */
static void begin_anew(struct pfdd_preamble *t)
{
    uint64_t n_streams = t->n_streams + 1;
    pfdd_preamble_deinit(t);
    t->n_streams = n_streams;
}

bool pfdd_preamble_write(struct pfdd_preamble *t,
                         const struct pfdd_object_lists *lists,
                         const struct pfdd_buffer *buffer, uint64_t generation,
                         pfd_wire_write_fn write, void *user, bool *done)
{
    struct pfd_wire_frame frame = *buffer->frame;
    frame.generation = generation;
    *done = false;
    if (!t->list && has_outgrown(t) &&
        !has_buffer(t, frame.buffer, generation)) {
        begin_anew(t);
        return pfdd_preamble_begin(t, write, user);
    }
    if (!t->has_begun)
        return pfdd_preamble_begin(t, write, user);
    bool has_objects = false;
    t->lists = lists;
    if (!write_objects(t, buffer->binding->strings, frame.scope, write, user,
                       &has_objects))
        return false;
    if (!has_objects)
        return true;
    *done = true;
    if (has_buffer(t, frame.buffer, generation))
        return true;
    return add_buffer(t, frame.buffer, generation) &&
           pfd_wire_write(&frame, write, user, NULL) == PFD_OK;
}
