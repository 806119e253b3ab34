/* SPDX-License-Identifier: MIT */
/* Copies entries out of a decoder. No function here needs the GIL. */
#include "block.h"

#include <string.h>

#include "core/decode/entry.h"
#include "core/decode/inspect.h"
#include "core/strings/json_parts.h"

static struct block_record *record_at(const struct pfd_text *out, size_t at)
{
    return (struct block_record *)(void *)(out->data + at);
}

static struct block_part add_bytes(struct pfd_text *out, size_t record,
                                   const void *bytes, size_t n)
{
    struct block_part part = { (uint32_t)(out->n - record), (uint32_t)n };
    pfd_text_add(out, bytes, n);
    return part;
}

static void end_record(struct pfd_text *out, size_t record)
{
    static const char zeros[8];
    pfd_text_add(out, zeros, -(out->n - record) & 7);
    if (!out->failed)
        record_at(out, record)->n_bytes = (uint32_t)(out->n - record);
}

/* ---- arguments ---- */

/* The arguments that conversions take; those behind them count where the entry
 * says that they are unused, as in JSON. */
static size_t argument_count(const struct pfd_entry *entry, size_t n)
{
    const uint64_t unused = PFD_FINDING_BIT(unused_arguments);
    size_t n_taken = 0;
    if (!entry->string || entry->findings & unused ||
        entry->string->flags & PFD_STRING_LITERAL)
        return n;
    for (const struct pfd_step *s = entry->steps; s->op != PFD_OP_END; s++)
        n_taken += pfd_step_has_argument(s);
    return n_taken < n ? n_taken : n;
}

/* An entry without a format string: its words. */
static uint32_t add_words(struct pfd_text *out, const struct pfd_entry *entry)
{
    const uint8_t *payload = entry->payload;
    uint32_t n = 0;
    for (uint32_t at = 0; at + 4 <= entry->n_payload; at += 4, n++) {
        struct block_argument a = { .type = PFD_ARGUMENT_UNSIGNED,
                                    .n_bytes = 4 };
        uint32_t word;
        memcpy(&word, payload + at, sizeof word);
        a.bits = word;
        pfd_text_add(out, &a, sizeof a);
    }
    return n;
}

static void add_arguments(struct pfd_text *out,
                          const struct pfd_argument *arguments, size_t n)
{
    struct block_argument *to =
        (struct block_argument *)(void *)pfd_text_reserve(out, n * sizeof *to);
    if (!to)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct pfd_argument *a = &arguments[i];
        to[i] = (struct block_argument){ .bits = a->u,
                                         .n = a->n_bytes,
                                         .type = (uint8_t)a->type,
                                         .n_bytes = (uint8_t)a->n_bytes,
                                         .conversion = a->conversion };
    }
    out->n += n * sizeof *to;
}

/* The bytes of texts, behind all that has a fixed size. */
static void add_texts(struct pfd_text *out, size_t record,
                      const struct pfd_argument *arguments, size_t n)
{
    for (size_t i = 0; i < n && !out->failed; i++) {
        const struct pfd_argument *a = &arguments[i];
        if (a->type != PFD_ARGUMENT_TEXT)
            continue;
        size_t at = out->n - record;
        pfd_text_add(out, a->text ? a->text : "", a->text ? a->n_bytes : 0);
        if (out->failed)
            return;
        struct block_argument *to =
            (struct block_argument *)(void *)((char *)record_at(out, record) +
                                              sizeof(struct block_record) +
                                              i * sizeof *to);
        to->bits = at;
        to->n = a->text ? a->n_bytes : BLOCK_NONE;
    }
}

/* ---- origins ---- */

static uint16_t add_origins(struct pfd_text *out, struct pfd_entry *entry,
                            const struct pfd_origin **ret)
{
    size_t n = 0;
    if (!pfd_format_has_origin(entry->of->format, entry->record->string))
        return 0;
    *ret = pfd_entry_origins(entry, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pfd_origin *o = &(*ret)[i];
        const struct block_origin made = {
            .name = o->name,
            .value = { o->value[0], o->value[1], o->value[2] },
            .type = (uint32_t)o->type,
            .n = o->n,
        };
        pfd_text_add(out, &made, sizeof made);
    }
    return (uint16_t)n;
}

static void add_origin_texts(struct pfd_text *out, size_t record,
                             const struct pfd_origin *origins, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (origins[i].type != PFD_ORIGIN_TEXT)
            continue;
        struct block_part text =
            add_bytes(out, record, origins[i].text, origins[i].n);
        if (out->failed)
            return;
        size_t at =
            (size_t)((const char *)block_origins(record_at(out, record)) -
                     out->data);
        struct block_origin *to =
            (struct block_origin *)(void *)(out->data + at);
        to[i].text = text;
    }
}

/* ---- a record ---- */

/* Are the string's own arguments those of the entry? */
static bool has_own_names(const struct pfd_entry *entry,
                          struct block_place place)
{
    return place.has_no_set || entry->steps != entry->string->steps ||
           entry->string->index == PFD_STRING_SYNTHESIZED;
}

/* Names of the arguments that the entry has, in their order. */
static void add_names(struct pfd_text *out, const struct pfd_entry *entry)
{
    const struct pfd_string *s = entry->string;
    struct pfd_text all = { 0 };
    pfd_json_add_names(&all, s);
    const char *name = all.data;
    for (size_t i = 0; i < s->n_steps && !all.failed; i++) {
        if (!pfd_step_has_argument(&s->steps[i]))
            continue;
        size_t n = strlen(name) + 1;
        if (pfd_step_has_argument(&entry->steps[i]))
            pfd_text_add(out, name, n);
        name += n;
    }
    out->failed |= all.failed;
    pfd_text_free(&all);
}

static void add_string(struct pfd_text *out, size_t record,
                       const struct pfd_entry *entry, struct block_place place)
{
    const struct pfd_string *s = entry->string;
    struct block_part format = { 0, BLOCK_NONE };
    struct block_part names = { 0, BLOCK_NONE };
    bool is_format = s && !(s->flags & PFD_STRING_LITERAL);
    bool is_in_set =
        is_format && s->index != PFD_STRING_SYNTHESIZED && !place.has_no_set;
    if (is_format && !is_in_set)
        format = add_bytes(out, record, pfd_string_text(s), s->n_text);
    if (s && has_own_names(entry, place)) {
        names.at = (uint32_t)(out->n - record);
        add_names(out, entry);
        names.n = (uint32_t)(out->n - record) - names.at;
    }
    if (out->failed)
        return;
    struct block_record *r = record_at(out, record);
    r->string = is_in_set ? s->index : BLOCK_NONE;
    r->format = format;
    r->names = names;
}

static void add_one(struct pfd_text *out, struct pfd_entry *entry,
                    struct block_place place)
{
    size_t record = out->n;
    size_t n = 0;
    size_t n_message = 0;
    const struct pfd_origin *origins = NULL;
    struct block_record made = {
        .index = entry->index,
        .offset = entry->offset,
        .id = entry->id,
        .time = place.time,
        .sequence = place.sequence,
        .stream = entry->stream,
        .size = entry->n_bytes,
        .message = { 0, BLOCK_NONE },
    };
    const struct pfd_argument *arguments = pfd_entry_arguments(entry, &n);
    out->failed |= !arguments && n;
    n = arguments ? argument_count(entry, n) : 0;
    pfd_text_add(out, &made, sizeof made);
    add_arguments(out, arguments, n);
    uint32_t n_words = entry->string ? 0 : add_words(out, entry);
    uint16_t n_origins = add_origins(out, entry, &origins);
    if (out->failed)
        return;
    record_at(out, record)->n_arguments = (uint32_t)n + n_words;
    record_at(out, record)->n_origins = n_origins;
    add_texts(out, record, arguments, n);
    add_origin_texts(out, record, origins, n_origins);
    const char *message = pfd_entry_message(entry, &n_message);
    struct block_part part = { 0, BLOCK_NONE };
    if (message)
        part = add_bytes(out, record, message, n_message);
    out->failed |= !message && n_message;
    add_string(out, record, entry, place);
    if (out->failed)
        return;
    record_at(out, record)->message = part;
    record_at(out, record)->findings = entry->findings;
    end_record(out, record);
}

void block_add_entry(struct pfd_text *out, struct pfd_entry *entry,
                     struct block_place place)
{
    size_t record = out->n;
    size_t n = 0;
    add_one(out, entry, place);
    struct pfd_entry other;
    while (!out->failed && n < entry->record->n_alternatives) {
        if (pfd_entry_alternative(entry, n++, &other) != PFD_OK) {
            out->failed = true;
            return;
        }
        add_one(out, &other, place);
    }
    if (!out->failed)
        record_at(out, record)->n_alternatives = (uint8_t)n;
}

const char *block_format(const struct pfd_entry *entry)
{
    return entry->of->format->info.name;
}

void block_add_finding(struct pfd_text *out, const struct pfd_finding *f)
{
    size_t record = out->n;
    const struct block_record made = {
        .string = BLOCK_NONE,
        .index = f->index,
        .offset = f->offset,
        .id = f->id,
        .count = f->count,
        .kind = (uint8_t)f->kind,
        .has_id = f->has_id,
        .is_finding = true,
    };
    pfd_text_add(out, &made, sizeof made);
    struct block_part text =
        add_bytes(out, record, f->text, strlen(f->text) + 1);
    struct block_part source =
        add_bytes(out, record, f->source, strlen(f->source) + 1);
    if (out->failed)
        return;
    record_at(out, record)->message = text;
    record_at(out, record)->format = source;
    end_record(out, record);
}
