/* SPDX-License-Identifier: MIT */
#include "core/filter/entry_value.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <printfdecode/wire.h>

#include "core/base/near_word.h"
#include "core/decode/entry.h"
#include "core/decode/inspect.h"

enum {
    NS = 1000000000
};

static const struct pfd_value nothing;

static struct pfd_value text_of(const char *text)
{
    return pfd_value_of_text(text, text ? strlen(text) : 0);
}

/* ---- members of its JSON line ---- */

struct excerpt_query {
    struct pfd_entry *entry;
    const struct pfd_filter_facts *facts;
    struct pfd_own_texts *texts;
};

static struct pfd_value index_of(const struct excerpt_query *a)
{
    return pfd_value_of_integer(a->entry->index);
}

static struct pfd_value offset_of(const struct excerpt_query *a)
{
    return pfd_value_of_integer(a->entry->offset);
}

static struct pfd_value id_of(const struct excerpt_query *a)
{
    return pfd_value_of_integer(a->entry->id);
}

static struct pfd_value sequence_of(const struct excerpt_query *a)
{
    return pfd_value_of_known(a->facts->sequence, 0);
}

static struct pfd_value generation_of(const struct excerpt_query *a)
{
    return pfd_value_of_integer(a->facts->generation);
}

static struct pfd_value nanoseconds_of(const struct excerpt_query *a)
{
    return pfd_value_of_known(a->facts->time_unix_ns, 0);
}

/* Formatted as in JSON, all of one length: texts compare in order of time, and
 * a prefix ("2026-11-26T09") is before all times that begin with it. */
static struct pfd_value time_of(const struct excerpt_query *a)
{
    char *to = a->texts->time;
    uint64_t ns = a->facts->time_unix_ns;
    time_t second = (time_t)(ns / NS);
    struct tm tm;
    if (!ns || !gmtime_r(&second, &tm))
        return nothing;
    size_t n = strftime(to, PFD_OWN_TIME_ROOM, "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(to + n, PFD_OWN_TIME_ROOM - n, ".%09lluZ",
                          (unsigned long long)(ns % NS));
    return pfd_value_of_text(to, n);
}

static struct pfd_value source_of(const struct excerpt_query *a)
{
    return text_of(a->entry->of->source);
}

static struct pfd_value format_of(const struct excerpt_query *a)
{
    return text_of(a->entry->of->format->info.name);
}

static struct pfd_value stream_of(const struct excerpt_query *a)
{
    return text_of(pfd_stream_name((enum pfd_stream)a->entry->stream));
}

static struct pfd_value format_string_of(const struct excerpt_query *a)
{
    size_t n = 0;
    const char *text = pfd_entry_format_string(a->entry, &n);
    return pfd_value_of_text(text, n);
}

static struct pfd_value message_of(const struct excerpt_query *a)
{
    size_t n = 0;
    const char *text = pfd_entry_message(a->entry, &n);
    return pfd_value_of_text(text, n);
}

/* Words with blanks between, as in a column of a table; without notes. */
static struct pfd_value findings_of(const struct excerpt_query *a)
{
    char *to = a->texts->findings;
    size_t n = 0;
    for (uint64_t left = a->entry->findings; left; left &= left - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(left);
        size_t room = PFD_OWN_FINDINGS_ROOM - n;
        int written = pfd_finding_is_note(kind)
                          ? 0
                          : snprintf(to + n, room, "%s%s", n ? " " : "",
                                     pfd_finding_name(kind));
        if (written > 0 && (size_t)written < room)
            n += (size_t)written;
    }
    return pfd_value_of_text(to, n);
}

/* The names of a line of JSON. */
static const struct own {
    const char *name;
    struct pfd_value (*value)(const struct excerpt_query *a);
} owns[PFD_OWN_N] = {
    [PFD_OWN_INDEX] = { "index", index_of },
    [PFD_OWN_OFFSET] = { "offset", offset_of },
    [PFD_OWN_ID] = { "id", id_of },
    [PFD_OWN_SEQUENCE] = { "sequence", sequence_of },
    [PFD_OWN_GENERATION] = { "generation", generation_of },
    [PFD_OWN_TIME] = { "time", time_of },
    [PFD_OWN_NANOSECONDS] = { "time_unix_nano", nanoseconds_of },
    [PFD_OWN_SOURCE] = { "source", source_of },
    [PFD_OWN_FORMAT] = { "format", format_of },
    [PFD_OWN_FORMAT_STRING] = { "format_string", format_string_of },
    [PFD_OWN_MESSAGE] = { "message", message_of },
    [PFD_OWN_STREAM] = { "stream", stream_of },
    [PFD_OWN_FINDINGS] = { "findings", findings_of },
};

static const char *without(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) ? name : name + n;
}

/* The name without its prefix "entry.". */
static const char *own_bare(const char *name)
{
    return without(name, "entry.");
}

size_t pfd_own_find(const char *name)
{
    const char *bare = own_bare(name);
    for (size_t i = 0; i < PFD_OWN_N; i++) {
        if (!strcmp(owns[i].name, bare))
            return i;
    }
    return SIZE_MAX;
}

struct pfd_value pfd_own_value(size_t own, struct pfd_entry *entry,
                               const struct pfd_filter_facts *facts,
                               struct pfd_own_texts *texts)
{
    const struct excerpt_query asked = { entry, facts, texts };
    return owns[own].value(&asked);
}

/* ---- values of its buffer's sender ---- */

static const struct sent {
    const char *name;
    size_t member; /* of struct pfd_wire_frame */
    bool is_text;
} sents[] = {
#define TEXT(name)                                         \
    {                                                      \
#name, offsetof(struct pfd_wire_frame, name), true \
    }
#define NUMBER(name)                                        \
    {                                                       \
#name, offsetof(struct pfd_wire_frame, name), false \
    }
    TEXT(host),       TEXT(process),       TEXT(device),
    TEXT(queue),      TEXT(stage),         NUMBER(pid),
    NUMBER(dispatch), TEXT(pipeline_type), NUMBER(pipeline),
#undef TEXT
#undef NUMBER
};

static const char labels[] = "labels.";

static struct pfd_value of_bytes(const struct pfd_wire_bytes *b)
{
    return b->n ? pfd_value_of_text(b->at, b->n) : nothing;
}

static struct pfd_value label_of(const struct pfd_wire_frame *buffer,
                                 const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i < buffer->n_labels; i++) {
        const struct pfd_wire_label *l = &buffer->labels[i];
        if (l->key.n == n && !memcmp(l->key.at, key, n))
            return pfd_value_of_text(l->value.at, l->value.n);
    }
    return nothing;
}

static struct pfd_value of_sender(const struct pfd_wire_frame *buffer,
                                  const char *name)
{
    if (!strncmp(name, labels, sizeof labels - 1))
        return label_of(buffer, name + sizeof labels - 1);
    for (size_t i = 0; i < sizeof sents / sizeof *sents; i++) {
        const void *at = (const char *)buffer + sents[i].member;
        if (strcmp(name, sents[i].name) != 0)
            continue;
        return sents[i].is_text ? of_bytes(at)
                                : pfd_value_of_known(*(const uint64_t *)at, 0);
    }
    return nothing;
}

static bool is_of_sender(const char *name)
{
    if (!strncmp(name, labels, sizeof labels - 1))
        return name[sizeof labels - 1];
    for (size_t i = 0; i < sizeof sents / sizeof *sents; i++) {
        if (!strcmp(name, sents[i].name))
            return true;
    }
    return false;
}

/* ---- origins ---- */

const char *pfd_own_origin_name(const char *name)
{
    return without(own_bare(name), "origin.");
}

bool pfd_own_is_origin(const char *name)
{
    const char *bare = pfd_own_origin_name(name);
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        const char *const *known = (*f)->origins.names;
        for (; known && *known; known++) {
            size_t n = strlen(*known);
            if (!strncmp(bare, *known, n) && (!bare[n] || bare[n] == '.'))
                return true;
        }
    }
    return is_of_sender(bare);
}

bool pfd_own_is_lacking(const char *name)
{
    const char *bare = pfd_own_origin_name(name);
    bool is_part = !bare[1] || (bare[0] >= '0' && bare[0] <= '9');
    return bare != name && !is_part && pfd_own_find(name) == SIZE_MAX &&
           !pfd_own_is_origin(name);
}

const char *pfd_own_near(const char *name)
{
    const char *bare = pfd_own_origin_name(name);
    for (size_t i = 0; i < PFD_OWN_N; i++) {
        if (pfd_word_is_near(bare, owns[i].name))
            return owns[i].name;
    }
    for (size_t i = 0; i < sizeof sents / sizeof *sents; i++) {
        if (pfd_word_is_near(bare, sents[i].name))
            return sents[i].name;
    }
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        const char *const *known = (*f)->origins.names;
        for (; known && *known; known++) {
            if (pfd_word_is_near(bare, *known))
                return *known;
        }
    }
    return NULL;
}

static struct pfd_value of_coordinate(const struct pfd_origin *o, uint32_t i)
{
    if (i >= o->n || i > 2)
        return nothing;
    if (o->type == PFD_ORIGIN_COORDS)
        return pfd_value_of_integer(o->value[i]);
    uint32_t bits = (uint32_t)o->value[i];
    float f;
    memcpy(&f, &bits, sizeof f);
    return pfd_value_of_float((double)f);
}

bool pfd_own_origin_value(const struct pfd_origin *o, const char *bare,
                          struct pfd_value *ret)
{
    size_t n = strlen(o->name);
    const char *rest = bare + n;
    bool is_several =
        o->type == PFD_ORIGIN_COORDS || o->type == PFD_ORIGIN_FLOATS;
    if (strncmp(o->name, bare, n) != 0 || (*rest && *rest != '.'))
        return false;
    *ret = nothing;
    if (is_several && *rest && rest[1] && !rest[2]) {
        *ret = of_coordinate(o, (uint32_t)(rest[1] - 'x'));
    } else if (!is_several && !*rest) {
        *ret = o->type == PFD_ORIGIN_TEXT ? pfd_value_of_text(o->text, o->n)
                                          : pfd_value_of_integer(o->value[0]);
    }
    return true;
}

struct pfd_value pfd_own_origin(const char *name, struct pfd_entry *entry,
                                const struct pfd_filter_facts *facts)
{
    size_t n = 0;
    const char *bare = pfd_own_origin_name(name);
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    struct pfd_value ret;
    for (; n; n--, o++) {
        if (pfd_own_origin_value(o, bare, &ret) && ret.type)
            return ret;
    }
    return facts->buffer ? of_sender(facts->buffer, bare) : nothing;
}
