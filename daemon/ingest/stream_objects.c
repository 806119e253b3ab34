/* SPDX-License-Identifier: MIT */
#include "ingest/stream_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/strings.h>

#include "base/log.h"
#include "base/name.h"
#include "base/peer.h"
#include "base/resource_account.h"
#include "config/description.h"
#include "core/base/crc32c.h"
#include "core/decode/string_loader.h"
#include "ingest/ingest.h"
#include "ingest/string_store.h"
#include "stream/capture/wire_objects.h"

enum {
    NAME = 2 * PFDD_NAME_ROOM,
    OBJECT = 256, /* bytes of an object that has no content yet, at most */
};

/* A name for the log and for sources, not a key: as much as fits. */
static void put_name(char ret[NAME], const struct pfdd_objects *o,
                     struct pfd_wire_bytes own)
{
    char name[PFDD_NAME_ROOM];
    pfdd_name_put(name, own.at, own.n);
    snprintf(ret, NAME, "%s/%s", o->name, name);
}

/* ---- complete objects ---- */

/* A stream has one description. False: this is another one. */
static bool note_description(struct pfdd_objects *o,
                             const struct pfd_wire_object *given)
{
    uint32_t crc = pfd_crc32c(0, given->bytes, given->n);
    bool is_first = !o->is_described;
    if (is_first) {
        o->is_described = true;
        o->described_scope = given->scope;
        o->crc = crc;
    }
    o->has_other |= crc != o->crc;
    return crc == o->crc;
}

static void add_strings(struct pfdd_objects *o, struct pfd_wire_object *given)
{
    char name[NAME];
    put_name(name, o, given->name);
    bool is_description = pfd_strings_describes(given->bytes, given->n);
    if (is_description && !note_description(o, given)) {
        o->refused(o->user, "a second description of rings: a stream has one");
        return;
    }
    struct pfdd_object object = { .name = name,
                                  .producer =
                                      is_description ? o->producer : NULL,
                                  .owner = o->producer,
                                  .bytes = given->bytes,
                                  .n = given->n,
                                  .is_kept = o->is_kept };
    pfdd_string_store_add(o->ingest->string_store, &object);
    given->bytes = NULL;
}

/* Passes on a copy of a module, which stays with the stream for other shaders.
 * False: there is no memory for it. */
static bool add_module(struct pfdd_objects *o,
                       const struct pfd_wire_object *given)
{
    char name[NAME];
    bool is_shader = given->use == PFD_WIRE_OBJECT_SHADER;
    bool has_room =
        pfdd_memory_budget_has_for(o->ingest->budget, o->account, given->n);
    void *copy = has_room ? malloc(given->n) : NULL;
    if (!copy)
        return false;
    memcpy(copy, given->bytes, given->n);
    put_name(name, o, given->name);
    struct pfdd_object object = { .name = is_shader ? name : o->name,
                                  .producer = o->producer,
                                  .owner = o->producer,
                                  .bytes = copy,
                                  .n = given->n,
                                  .is_shader = is_shader,
                                  .shader = (uint32_t)given->shader,
                                  .is_kept = o->is_kept };
    pfdd_string_store_add(o->ingest->string_store, &object);
    return true;
}

/* A peer that may not read a file, or another process, cannot read it through
 * the daemon (read_as_peer.h). */
static const char *take_uri(struct pfdd_objects *o, struct pfd_wire_bytes from)
{
    char uri[4096];
    char own[40]; /* followed by # or ? */
    snprintf(uri, sizeof uri, "%.*s",
             from.n < sizeof uri ? (int)from.n : (int)sizeof uri - 1, from.at);
    if (!o->peer) {
        return "a code object by a URI, which this producer may not use (see "
               "'code_object_uris')";
    }
    snprintf(own, sizeof own, "memory://%d", (int)o->peer->pid);
    size_t n_own = strlen(own);
    bool is_file = !strncmp(uri, "file://", 7);
    bool is_own =
        !strncmp(uri, own, n_own) && (uri[n_own] == '#' || uri[n_own] == '?');
    if (from.n >= sizeof uri || (!is_file && !is_own)) {
        return "a code object by a URI that is none of file:// or memory:// "
               "of the process that sends";
    }
    pfdd_string_store_add_uri(o->ingest->string_store, uri, o->peer,
                              o->producer);
    return NULL;
}

static bool take_object(void *user, struct pfd_wire_object *given)
{
    struct pfdd_objects *o = user;
    const char *why = NULL;
    bool is_lacking = false;
    switch (given->use) {
    case PFD_WIRE_OBJECT_STRINGS:
        add_strings(o, given);
        break;
    case PFD_WIRE_OBJECT_NAMED:
        why = take_uri(o, given->uri);
        break;
    case PFD_WIRE_OBJECT_MODULE: /* it waits for a shader */
        break;
    case PFD_WIRE_OBJECT_SHADER:
    case PFD_WIRE_OBJECT_LOOSE:
        is_lacking = !add_module(o, given);
        break;
    }
    if (is_lacking)
        o->lacking(o->user, "memory is up to its cap: a shader is not taken");
    if (why)
        o->refused(o->user, why);
    return true;
}

bool pfdd_objects_describe(struct pfdd_objects *o, uint64_t scope,
                           const char *format)
{
    bool may_be_other =
        o->has_other && (!o->described_scope || scope != o->described_scope);
    if (may_be_other && (!format || !strcmp(format, "described")))
        return false;
    if (!o->is_described && o->description) {
        o->is_described = o->description->path;
        o->crc = pfd_crc32c(0, o->description->bytes, o->description->n);
        pfdd_producer_describe(o->producer, o->description);
    }
    return true;
}

/* ---- memory ---- */

/* A shader's module is copied for the string store. */
static size_t cost_of(const struct pfdd_objects *o,
                      const struct pfd_wire_frame *f)
{
    size_t n_module = o->set ? pfd_wire_objects_module(o->set, f) : 0;
    uint64_t n = f->total <= PFD_WIRE_OBJECT_MAX ? f->total : 0;
    n = n > f->offset ? n - f->offset : 0;
    return OBJECT + f->name.n + n_module +
           (n > f->bytes.n ? (size_t)n : f->bytes.n);
}

bool pfdd_objects_have_room(struct pfdd_objects *o,
                            const struct pfd_wire_frame *f)
{
    size_t n = cost_of(o, f);
    if (pfdd_memory_budget_has_for(o->ingest->budget, o->account, n))
        return true;
    pfdd_string_store_evict(o->ingest->string_store, n);
    return pfdd_memory_budget_has_for(o->ingest->budget, o->account, n);
}

bool pfdd_objects_are_short(const struct pfdd_objects *o,
                            const struct pfd_wire_frame *f)
{
    return pfdd_memory_budget_is_short_for(o->ingest->budget, o->account,
                                           cost_of(o, f));
}

static bool hold(void *user, size_t n)
{
    struct pfdd_objects *o = user;
    if (!pfdd_memory_budget_has_for(o->ingest->budget, o->account, n))
        return false;
    o->ingest->budget->inputs += n;
    pfdd_resource_account_count(o->account, 0, n);
    return true;
}

static void release(void *user, size_t n)
{
    struct pfdd_objects *o = user;
    o->ingest->budget->inputs -= n;
    pfdd_resource_account_count(o->account, n, 0);
}

static void on_finding(void *user, const struct pfd_finding *finding)
{
    struct pfdd_objects *o = user;
    o->refused(o->user, finding->text);
}

static void out_of_memory(struct pfdd_objects *o, enum pfd_status status)
{
    if (status == PFD_ERR_NOMEM)
        o->lacking(o->user, "out of memory: a code object is not taken");
}

void pfdd_objects_take(struct pfdd_objects *o, const struct pfd_wire_frame *f)
{
    out_of_memory(o, o->set ? pfd_wire_objects_take(o->set, f) : PFD_ERR_NOMEM);
}

void pfdd_objects_settle(struct pfdd_objects *o)
{
    if (o->set)
        out_of_memory(o, pfd_wire_objects_settle(o->set));
}

void pfdd_objects_finish(struct pfdd_objects *o)
{
    if (o->set)
        out_of_memory(o, pfd_wire_objects_finish(o->set));
}

void pfdd_objects_init(struct pfdd_objects *o)
{
    struct pfd_wire_objects_options options = {
        .give = take_object,
        .hold = hold,
        .release = release,
        .user = o,
        .fn = on_finding,
        .fn_user = o,
        .source = o->name,
    };
    o->set = pfd_wire_objects_new(&options);
    o->producer = pfdd_producer_new(o->ingest->string_store);
}

void pfdd_objects_reset(struct pfdd_objects *o)
{
    pfdd_objects_finish(o);
    o->is_described = o->has_other = false;
    pfdd_producer_unref(o->producer);
    o->producer = pfdd_producer_new(o->ingest->string_store);
}

void pfdd_objects_deinit(struct pfdd_objects *o)
{
    pfd_wire_objects_free(o->set);
    pfdd_producer_unref(o->producer);
    pfdd_peer_unref(o->peer);
    o->producer = NULL;
}
