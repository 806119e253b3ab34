/* SPDX-License-Identifier: MIT */
#include "nats_stream.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/capture.h>
#include <printfdecode/wire.h>

#include "core/decode/string_loader.h"
#include "nats_lists.h"
#include "show/messages.h"
#include "stream/capture/chunk.h"
#include "stream/capture/wire.h"

enum {
    FRAME_MAX = 16 << 20,
    PIECE = PFD_WIRE_PIECE,
    THINGS_MAX = 1 << 16,
    MISSING_MAX = 16, /* missing code objects of a list before the rest is
                         skipped */
};

/* Limit for bytes of code objects; beyond it, the stream is restarted. */
#define HELD_MAX   (UINT64_C(512) << 20)
#define OBJECT_MAX (UINT64_C(256) << 20)

/* A list, an object or a buffer that was written to the stream. */
struct thing {
    size_t n;
    uint64_t number;
    char key[]; /* [n] */
};

static int compare(const void *a, const void *b)
{
    const struct thing *x = a;
    const struct thing *y = b;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return memcmp(x->key, y->key, x->n);
}

/* Finds or adds a key, which it takes over. *is_new: it was added. NULL: out of
 * memory. */
static struct thing *find_thing(struct nats_stream *s, void **tree,
                                struct thing *key, bool *is_new)
{
    struct thing **found = key ? tsearch(key, tree, compare) : NULL;
    *is_new = found && *found == key;
    if (*is_new) {
        key->number = ++s->number;
        s->n_things++;
        return key;
    }
    free(key);
    return found ? *found : NULL;
}

static struct thing *new_thing(const char *a, size_t n_a, const char *b,
                               size_t n_b)
{
    struct thing *t = calloc(1, sizeof *t + n_a + n_b);
    if (!t)
        return NULL;
    t->n = n_a + n_b;
    memcpy(t->key, a, n_a);
    memcpy(t->key + n_a, b, n_b);
    return t;
}

static void forget(struct nats_stream *s)
{
    tdestroy(s->lists, free);
    tdestroy(s->objects, free);
    tdestroy(s->buffers, free);
    s->lists = s->objects = s->buffers = NULL;
    s->n_held = 0;
    s->n_things = 0;
    s->has_begun = false;
}

void nats_stream_deinit(struct nats_stream *s)
{
    forget(s);
    pfd_wire_reader_free(s->reader);
    free(s->bytes);
}

static enum outcome no_memory(struct nats_stream *s)
{
    snprintf(s->why, sizeof s->why, "out of memory");
    return OUTCOME_FAILED;
}

/* ---- output ---- */

static bool add_bytes(void *user, const void *bytes, size_t n)
{
    struct nats_stream *s = user;
    if (n > s->size - s->n) {
        size_t size = 2 * (s->n + n);
        char *more = realloc(s->bytes, size);
        if (!more)
            return false;
        s->bytes = more;
        s->size = size;
    }
    if (n)
        memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
    return true;
}

/* Passes the added frames to the consumer. */
static enum outcome pass_on(struct nats_stream *s)
{
    const char *why = "";
    enum outcome outcome = s->take(s->user, s->bytes, s->n, &why);
    s->n = 0;
    if (outcome == OUTCOME_FAILED)
        snprintf(s->why, sizeof s->why, "%s", why);
    return outcome;
}

static bool begin(struct nats_stream *s)
{
    if (s->n_held > HELD_MAX || s->n_things > THINGS_MAX)
        forget(s);
    if (s->has_begun)
        return true;
    s->has_begun = true;
    return pfd_wire_write_start(add_bytes, s) == PFD_OK;
}

/* Adds an object in pieces. scope: the list whose shader it is, or 0. */
static bool add_object(struct nats_stream *s, const struct nats_object *o,
                       const char *bytes, uint64_t number, uint64_t scope)
{
    for (size_t at = 0; at < o->n; at += PIECE) {
        struct pfd_wire_frame frame = {
            .type = PFD_WIRE_CODE_OBJECT,
            .code_object = number,
            .name = pfd_wire_text(o->name),
            .scope = scope,
            .offset = at,
            .total = o->n,
            .bytes = { bytes + at, o->n - at < PIECE ? o->n - at : PIECE },
        };
        if (pfd_wire_write(&frame, add_bytes, s, NULL) != PFD_OK)
            return false;
    }
    struct pfd_wire_frame shader = {
        .type = PFD_WIRE_SHADER,
        .shader = o->shader,
        .code_object = number,
        .scope = scope,
    };
    return !o->is_shader ||
           pfd_wire_write(&shader, add_bytes, s, NULL) == PFD_OK;
}

/* ---- code objects ---- */

/* Reports a failure of the connection, or that an object is missing. */
static enum outcome report_missing(struct nats_stream *s, enum outcome outcome,
                                   const char *what)
{
    if (outcome == OUTCOME_FAILED) {
        snprintf(s->why, sizeof s->why, "%s", s->class->why(s->nats));
        return OUTCOME_FAILED;
    }
    s->wrong = what;
    return OUTCOME_DONE;
}

/* A description belongs to its list. A SPIR-V module is keyed by its list as well, since shader numbers are local
 * to a list. */
static enum outcome put_object(struct nats_stream *s,
                               const struct nats_message *m,
                               const struct nats_object *o, uint64_t scope)
{
    char *bytes = NULL;
    size_t n = 0;
    bool is_new = false;
    char key[NATS_DIGEST_HEX + 40];
    int n_key = snprintf(key, sizeof key, "%s", o->digest);
    if (o->is_shader) {
        n_key =
            snprintf(key, sizeof key, "%s %llu %llu", o->digest,
                     (unsigned long long)scope, (unsigned long long)o->shader);
    }
    if (o->n > OBJECT_MAX)
        return report_missing(s, OUTCOME_END, "a code object is too large");
    struct thing *t = find_thing(s, &s->objects,
                                 new_thing(key, (size_t)n_key, "", 0), &is_new);
    if (!t)
        return no_memory(s);
    if (!is_new)
        return OUTCOME_DONE;
    enum outcome outcome =
        s->class->fetch(s->nats, o->digest, m->place, o->n, &bytes, &n);
    if (outcome == OUTCOME_DONE && n != o->n) {
        free(bytes);
        outcome = OUTCOME_END;
    }
    if (outcome != OUTCOME_DONE) {
        tdelete(t, &s->objects, compare);
        free(t);
        return report_missing(
            s, outcome, "a code object that it needs is not at the servers");
    }
    s->n_held += n;
    bool is_description = !o->is_shader && pfd_strings_describes(bytes, n);
    bool is_own = o->is_shader || is_description;
    bool ok = add_object(s, o, bytes, t->number, is_own ? scope : 0);
    if (is_description) { /* other lists have it for their own buffers */
        tdelete(t, &s->objects, compare);
        free(t);
    }
    free(bytes);
    return ok ? pass_on(s) : no_memory(s);
}

/* Reports a missing object once per message. Skips the rest after MISSING_MAX,
 * since each costs a request. */
static enum outcome put_objects(struct nats_stream *s,
                                const struct nats_message *m, const char *text,
                                size_t n, uint64_t scope)
{
    struct nats_list list;
    enum outcome outcome = OUTCOME_DONE;
    unsigned n_missing = 0;
    if (!nats_list_read(text, n, &list)) {
        s->wrong = "what should be its list of code objects is none";
        return OUTCOME_DONE;
    }
    for (size_t i = 0;
         i < list.n && outcome == OUTCOME_DONE && n_missing < MISSING_MAX;
         i++) {
        const char *before = s->wrong;
        s->wrong = NULL;
        outcome = put_object(s, m, &list.objects[i], scope);
        n_missing += s->wrong != NULL;
        if (!s->wrong)
            s->wrong = before;
    }
    nats_list_deinit(&list);
    return outcome;
}

/* Adds all code objects of a list; *scope: its number. Missing ones are
 * requested again with the next message. */
static enum outcome put_list(struct nats_stream *s,
                             const struct nats_message *m, uint64_t *scope)
{
    const char *digest = m->code;
    char *text = NULL;
    size_t n = 0;
    bool is_new = false;
    *scope = 0;
    if (!*digest)
        return OUTCOME_DONE;
    struct thing *t = find_thing(
        s, &s->lists, new_thing(digest, strlen(digest), "", 0), &is_new);
    if (!t)
        return no_memory(s);
    *scope = t->number;
    if (!is_new)
        return OUTCOME_DONE;
    enum outcome outcome =
        s->class->fetch(s->nats, digest, m->place, NATS_LIST_MAX, &text, &n);
    if (outcome == OUTCOME_DONE) {
        outcome = put_objects(s, m, text, n, t->number);
    } else {
        outcome = report_missing(
            s, outcome, "its list of code objects is not at the servers");
    }
    free(text);
    if (outcome == OUTCOME_FAILED || s->wrong) {
        tdelete(t, &s->lists, compare);
        free(t);
    }
    return outcome;
}

/* ---- messages ---- */

/* Reads the next frame of a message; false: there is none, or it is invalid. */
static bool next_frame(struct nats_stream *s, const struct nats_message *m,
                       size_t *at, struct pfd_wire_frame *ret)
{
    for (;;) {
        size_t taken = 0;
        enum pfd_status status = pfd_wire_reader_next(s->reader, ret, NULL);
        if (status == PFD_OK && ret->type != PFD_WIRE_START)
            return true;
        if (status == PFD_OK)
            continue;
        if (status != PFD_MORE || *at == m->n ||
            pfd_wire_reader_feed(s->reader, m->bytes + *at, m->n - *at, &taken,
                                 NULL) != PFD_OK)
            return false;
        *at += taken;
    }
}

static bool feed_start(void *user, const void *bytes, size_t n)
{
    struct nats_stream *s = user;
    size_t taken = 0;
    return pfd_wire_reader_feed(s->reader, bytes, n, &taken, NULL) == PFD_OK &&
           taken == n;
}

static bool is_text(const struct pfd_wire_bytes *bytes, const char *text)
{
    return bytes->n == strlen(text) && !memcmp(bytes->at, text, bytes->n);
}

/* Does the frame pass --source, by its source or its GPU? */
static bool is_wanted(const struct nats_stream *s,
                      const struct pfd_wire_frame *buffer)
{
    bool ret = s->n_sources == 0;
    for (size_t i = 0; i < s->n_sources; i++) {
        ret |= is_text(&buffer->name, s->sources[i]) ||
               is_text(&buffer->device, s->sources[i]);
    }
    return ret;
}

/* The stream's number of the message's buffer; 0: out of memory. */
static uint64_t put_buffer(struct nats_stream *s, const struct nats_message *m,
                           const struct pfd_wire_frame *buffer, uint64_t scope)
{
    char of[NATS_EDGE_NAME + 24];
    bool is_new = false;
    int n_of =
        snprintf(of, sizeof of, "%s %llu ", m->edge, (unsigned long long)scope);
    size_t n = buffer->n_bytes < m->n ? (size_t)buffer->n_bytes : m->n;
    struct thing *t = find_thing(
        s, &s->buffers, new_thing(of, (size_t)n_of, m->bytes, n), &is_new);
    if (!t || !is_new)
        return t ? t->number : 0;
    struct pfd_wire_frame frame = *buffer;
    frame.buffer = t->number;
    frame.scope = scope;
    frame.fds = 0;
    return pfd_wire_write(&frame, add_bytes, s, NULL) == PFD_OK ? t->number : 0;
}

static enum outcome put_entries(struct nats_stream *s,
                                const struct nats_message *m,
                                const struct pfd_wire_frame *buffer,
                                struct pfd_wire_frame *entries)
{
    struct pfd_chunk_counts counts;
    uint64_t scope = 0;
    if (entries->time && entries->time < s->since)
        return OUTCOME_DONE;
    if (entries->type == PFD_WIRE_ENTRIES &&
        pfd_chunk_count(entries->bytes.at, entries->bytes.n, &counts, NULL) !=
            PFD_OK) {
        s->wrong = "it has no entries that can be read";
        return OUTCOME_DONE;
    }
    enum outcome outcome = begin(s) ? put_list(s, m, &scope) : no_memory(s);
    if (outcome != OUTCOME_DONE)
        return outcome;
    entries->buffer = put_buffer(s, m, buffer, scope);
    entries->generation = buffer->generation;
    if (!entries->buffer ||
        pfd_wire_write(entries, add_bytes, s, NULL) != PFD_OK)
        return no_memory(s);
    s->has_put = true;
    return pass_on(s);
}

enum outcome nats_stream_put(struct nats_stream *s,
                             const struct nats_message *m)
{
    struct pfd_wire_frame frame;
    enum outcome outcome = OUTCOME_DONE;
    size_t at = 0;
    s->has_put = false;
    s->wrong = "it is none of an edge";
    s->n = 0;
    if (!m->is_edges)
        return OUTCOME_DONE;
    pfd_wire_reader_free(s->reader);
    s->reader = pfd_wire_reader_new(FRAME_MAX);
    if (!s->reader || pfd_wire_write_start(feed_start, s) != PFD_OK)
        return no_memory(s);
    s->wrong = "its frames are not sound";
    if (!next_frame(s, m, &at, &frame) || frame.type != PFD_WIRE_BUFFER)
        return OUTCOME_DONE;
    struct pfd_wire_frame *buffer = pfd_wire_copy(&frame);
    if (!buffer)
        return no_memory(s);
    if (!is_wanted(s, buffer)) {
        s->wrong = NULL;
    } else if (next_frame(s, m, &at, &frame) &&
               (frame.type == PFD_WIRE_ENTRIES || frame.type == PFD_WIRE_GAP)) {
        s->wrong = NULL;
        outcome = put_entries(s, m, buffer, &frame);
    }
    free(buffer);
    return outcome;
}
