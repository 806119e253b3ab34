/* SPDX-License-Identifier: MIT */
/*
 * One JSON object a line. Record lines are written here, byte by byte; the
 * schema is share/printfdecode.schema.json.
 */
#include <string.h>

#include <printfdecode/convert.h>

#include "core/base/escape.h"
#include "core/decode/inspect.h"
#include "core/output/entry_fields.h"
#include "core/output/json.h"
#include "core/output/json_notices.h"
#include "core/output/sink.h"
#include "core/print/json_exact.h"
#include "core/print/number_fast.h"
#include "core/strings/json_parts.h"

/* Constant text whose length the compiler knows. */
#define PUT(out, literal) \
    (memcpy((out), (literal), sizeof(literal) - 1), (out) + sizeof(literal) - 1)

enum {
    ROOM_FIXED = 640,  /* names, index, offset, overshoot of copies */
    ROOM_FINDING = 24, /* one kind's name */
    ROOM_ORIGIN = 72,  /* one origin without its name and text */
    ESCAPE_MAX = 6,    /* bytes of JSON for one byte */
};

#define UNUSED PFD_FINDING_BIT(unused_arguments)

static char *put_escaped(char *out, const char *text)
{
    return pfd_escape_json(out, text, strlen(text));
}

static char *put_findings(char *out, uint64_t findings)
{
    out = PUT(out, ",\"findings\":[");
    for (bool first = true; findings; findings &= findings - 1) {
        const char *name =
            pfd_finding_name((enum pfd_finding_kind)__builtin_ctzll(findings));
        if (!first)
            *out++ = ',';
        first = false;
        *out++ = '"';
        out = put_escaped(out, name);
        *out++ = '"';
    }
    *out++ = ']';
    return out;
}

/* Literals are escaped already; only %c can print bytes that need it. */
static bool is_escaped(const struct pfd_string *s)
{
    return (s->flags & (PFD_STRING_UTF8 | PFD_STRING_CHAR)) == PFD_STRING_UTF8;
}

static char *put_loose_message(char *out, const char *message, size_t n)
{
    out = pfd_escape_json(out, message, n);
    if (!pfd_is_utf8(message, n)) {
        out = PUT(out, "\",\"message_b64\":\"");
        out = pfd_base64(out, message, n);
    }
    return out;
}

static char *put_words(char *out, const struct pfd_entry *entry)
{
    const uint8_t *payload = entry->payload;
    for (uint32_t at = 0; at + 4 <= entry->n_payload; at += 4) {
        uint32_t word;
        memcpy(&word, payload + at, sizeof word);
        out = pfd_put_u32(out, word);
        *out++ = ',';
    }
    return out;
}

/* Arguments without a conversion are in `args` as well. */
static char *put_unused(char *out, struct pfd_entry *entry)
{
    size_t n = 0;
    size_t n_taken = 0;
    const struct pfd_slot *slots = pfd_entry_slots(entry, &n);
    for (const struct pfd_step *s = entry->steps; s->op != PFD_OP_END; s++)
        n_taken += s->store != PFD_STORE_NONE;
    for (size_t i = n_taken; slots && i < n; i++)
        out = pfd_program_print_slot(out, &slots[i], entry->payload);
    return out;
}

/* ---- members that few formats have ---- */

static size_t origins_room(struct pfd_entry *entry)
{
    size_t n;
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    size_t room = ROOM_FIXED;
    for (; n; n--, o++) {
        room += 2 * strlen(o->name) + ROOM_ORIGIN;
        if (o->type == PFD_ORIGIN_TEXT)
            room += ESCAPE_MAX * (size_t)o->n;
    }
    return room;
}

static char *put_origin(char *out, const struct pfd_origin *o)
{
    switch (o->type) {
    case PFD_ORIGIN_NUMBER:
        return pfd_put_u64(out, o->value[0]);
    case PFD_ORIGIN_HEX:
        out = PUT(out, "\"0x");
        out = pfd_put_hex64(out, o->value[0]);
        *out++ = '"';
        return out;
    case PFD_ORIGIN_COORDS:
    case PFD_ORIGIN_FLOATS:
        *out++ = '[';
        for (uint32_t i = 0; i < o->n && i < 3; i++) {
            if (i)
                *out++ = ',';
            if (o->type == PFD_ORIGIN_FLOATS) {
                out = pfd_put_shortest32(out, (uint32_t)o->value[i]);
            } else {
                out = pfd_put_u64(out, o->value[i]);
            }
        }
        *out++ = ']';
        return out;
    case PFD_ORIGIN_TEXT:
        break;
    }
    *out++ = '"';
    out = pfd_escape_json(out, o->text, o->n);
    *out++ = '"';
    return out;
}

/* "NAME_exact":"9007199254740993", */
static char *put_exact_origin(char *out, const struct pfd_origin *o)
{
    *out++ = '"';
    out = put_escaped(out, o->name);
    out = PUT(out, "_exact\":\"");
    out = pfd_put_u64(out, o->value[0]);
    return PUT(out, "\",");
}

/* The entry's stream and its origins. */
static char *put_circumstances(char *out, struct pfd_entry *entry,
                               const struct pfd_sink_options *options)
{
    const char *stream = pfd_stream_name((enum pfd_stream)entry->stream);
    size_t n;
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    if (stream) {
        out = PUT(out, ",\"stream\":\"");
        out = put_escaped(out, stream);
        *out++ = '"';
    }
    if (!n)
        return out;
    out = PUT(out, ",\"origin\":{");
    if (options->origin_members)
        out = mempcpy(out, options->origin_members, options->n_origin_members);
    for (size_t i = 0; i < n; i++) {
        *out++ = '"';
        out = put_escaped(out, o[i].name);
        out = PUT(out, "\":");
        out = put_origin(out, &o[i]);
        *out++ = ',';
        if (o[i].type == PFD_ORIGIN_NUMBER && o[i].value[0] > PFD_EXACT_MAX)
            out = put_exact_origin(out, &o[i]);
    }
    out[-1] = '}';
    return out;
}

static bool has_circumstances(const struct pfd_entry *entry)
{
    return entry->stream ||
           pfd_format_has_origin(entry->of->format, entry->record->string);
}

/* Are there arguments without a conversion? */
static bool has_unused(const struct pfd_entry *entry)
{
    return entry->string && (entry->findings & UNUSED ||
                             entry->string->flags & PFD_STRING_LITERAL);
}

/* Prints the message to out, the arguments to *arguments, each with a comma. */
static char *put_message(char *out, struct pfd_entry *entry, char **arguments)
{
    const struct pfd_string *s = entry->string;
    if (is_escaped(s)) {
        out = pfd_program_print_both(out, entry->steps, pfd_string_escaped(s),
                                     PFD_ESCAPED, entry->payload,
                                     &entry->findings, arguments);
    } else {
        size_t n = 0;
        const char *message = pfd_entry_message(entry, &n);
        out = message ? put_loose_message(out, message, n) : out;
        *arguments = pfd_program_print_arguments(*arguments, entry->steps,
                                                 entry->payload);
    }
    if (__builtin_expect(has_unused(entry), 0))
        *arguments = put_unused(*arguments, entry);
    return out;
}

/* Room for the arguments, with commas. */
static size_t arguments_room(struct pfd_entry *entry)
{
    size_t n = entry->n_payload / 4;
    size_t room = (n + 1) * PFD_ROOM_ARGUMENT;
    const struct pfd_string *s = entry->string;
    if (has_unused(entry)) { /* including slots without bytes */
        pfd_entry_slots(entry, &n);
        room += n * PFD_ROOM_ARGUMENT;
    }
    /* Small scalars, strings, and arguments that are printed twice. */
    if (s &&
        (s->flags & PFD_STRING_CHAR || s->index == PFD_STRING_SYNTHESIZED)) {
        room += s->n_steps * (size_t)PFD_ROOM_ARGUMENT +
                PFD_ROOM_BYTE * (entry->room + entry->n_payload);
    }
    return room;
}

/* Puts a comma behind each. */
static char *put_arguments(char *out, struct pfd_entry *entry)
{
    if (!entry->string)
        return put_words(out, entry);
    out = pfd_program_print_arguments(out, entry->steps, entry->payload);
    return has_unused(entry) ? put_unused(out, entry) : out;
}

size_t pfd_entry_args_room(struct pfd_entry *entry)
{
    return ROOM_FIXED + arguments_room(entry);
}

size_t pfd_entry_args(char *ret, struct pfd_entry *entry)
{
    char *out = ret;
    *out++ = '[';
    out = put_arguments(out, entry);
    out -= out > ret + 1; /* the last comma */
    *out++ = ']';
    return (size_t)(out - ret);
}

/* Room for members that only some entries have. */
static size_t rare_room(struct pfd_entry *entry)
{
    const struct pfd_string *s = entry->string;
    size_t room = ROOM_FINDING * PFD_N_FINDING_KINDS;
    if (has_circumstances(entry))
        room += origins_room(entry);
    if (s && !is_escaped(s))
        room += (ESCAPE_MAX + 2) * entry->room;
    if (entry->record->n_alternatives)
        room += entry->of->readings.n;
    return room;
}

/* Room for all but the arguments; part: its string's, or NULL. */
static size_t entry_room(struct pfd_entry *entry,
                         const struct pfd_json_part *part)
{
    const struct pfd_string *s = entry->string;
    size_t room = ROOM_FIXED + entry->of->json.source.n;
    room +=
        part ? part->n : pfd_json_string_room(s, entry->of->format->info.name);
    if (s)
        room += s->n_escaped + entry->room;
    return room;
}

/* The shared parts of a table string's lines; NULL for other strings, for
 * entries whose id is not the string's, and when out of memory. */
static const struct pfd_json_string *line_of(struct pfd_entry_source *of,
                                             const struct pfd_string *s,
                                             uint64_t id)
{
    if (__builtin_expect(!s || s->index == PFD_STRING_SYNTHESIZED, 0) ||
        __builtin_expect(id != s->key, 0))
        return NULL;
    return pfd_json_parts_get(&of->json, s, of->format->info.name);
}

/* The entry's message, or null, and the members of its string. */
static char *put_start(char *out, struct pfd_entry *entry,
                       const struct pfd_json_part *part, char **arguments,
                       const struct pfd_sink_options *options)
{
    const char *format = entry->of->format->info.name;
    out = PUT(out, "{\"type\":\"entry\"");
    if (options->stamp)
        out = pfd_stamp_put(options->stamp, out);
    if (!entry->string) {
        out = PUT(out, ",\"message\":null");
        *arguments = put_words(*arguments, entry);
        return pfd_json_put_string(out, NULL, format, entry->id);
    }
    out = PUT(out, ",\"message\":\"");
    out = put_message(out, entry, arguments);
    if (__builtin_expect(part != NULL, 1))
        return pfd_json_put_part(out, part);
    *out++ = '"';
    return pfd_json_put_string(out, entry->string, format, entry->id);
}

static char *put_place(char *out, struct pfd_entry *entry,
                       const struct pfd_sink_options *options)
{
    struct pfd_json_parts *json = &entry->of->json;
    out = PUT(out, ",\"index\":");
    out = pfd_counter_put(&json->index, out, entry->index);
    out = PUT(out, ",\"offset\":");
    out = pfd_counter_put(&json->offset, out, entry->offset);
    out = pfd_json_put_part(out, &json->source);
    if (__builtin_expect(entry->findings != 0, 0))
        out = put_findings(out, entry->findings);
    if (__builtin_expect(entry->record->n_alternatives, 0)) {
        const struct pfd_text *readings = &entry->of->readings;
        memcpy(out, readings->data, readings->n);
        out += readings->n;
    }
    if (__builtin_expect(has_circumstances(entry), 0))
        out = put_circumstances(out, entry, options);
    return PUT(out, "}\n");
}

/* Puts any entry. */
static char *put_entry(char *out, struct pfd_entry *entry,
                       const struct pfd_json_part *part, char *args,
                       const struct pfd_sink_options *options)
{
    char *args_end = args;
    out = put_start(out, entry, part, &args_end, options);
    struct pfd_json_part list = { args, (size_t)(args_end - args) };
    list.n -= list.n > 0; /* the last comma */
    out = pfd_json_put_part(out, &list);
    *out++ = ']';
    out = pfd_json_put_exact(out, list.text, list.n);
    if (options->fields) {
        const struct pfd_text *fields = &entry->of->fields;
        memcpy(out, fields->n ? fields->data : "", fields->n);
        out += fields->n;
    }
    return put_place(out, entry, options);
}

/* ---- other readings of the same bytes ---- */

static void add_message(struct pfd_text *out, struct pfd_entry *entry)
{
    size_t n = 0;
    const char *message = pfd_entry_message(entry, &n);
    char *at = pfd_text_reserve(out, ROOM_FIXED + (ESCAPE_MAX + 2) * n);
    if (!at)
        return;
    char *end = at;
    if (message) {
        end = PUT(end, "\"message\":\"");
        end = put_loose_message(end, message, n);
        *end++ = '"';
    } else {
        out->failed |= n > 0;
        end = PUT(end, "\"message\":null");
    }
    out->n += (size_t)(end - at);
}

static void add_arguments(struct pfd_text *out, struct pfd_entry *entry)
{
    char *at = pfd_text_reserve(out, ROOM_FIXED + 2 * arguments_room(entry));
    if (!at)
        return;
    char *start = PUT(at, ",\"args\":[");
    char *end = put_arguments(start, entry);
    end -= end > start; /* the last comma */
    const char *last = end;
    *end++ = ']';
    end = pfd_json_put_exact(end, start, (size_t)(last - start));
    out->n += (size_t)(end - at);
}

/* The id and the format string, where they differ from the entry's. */
static void add_other_string(struct pfd_text *out,
                             const struct pfd_entry *other,
                             const struct pfd_entry *entry)
{
    const struct pfd_string *s = other->string;
    if (other->id != entry->id) {
        unsigned n = pfd_digits16(other->id);
        pfd_text_printf(out, ",\"id\":\"0x%0*llx\"", n < 12 ? 12 : (int)n,
                        (unsigned long long)other->id);
    }
    if (!s || s == entry->string || s->flags & PFD_STRING_LITERAL)
        return;
    pfd_text_puts(out, ",\"format_string\":\"");
    pfd_text_add(out, pfd_string_escaped(s), s->n_escaped);
    pfd_text_puts(out, "\"");
}

static void add_circumstances(struct pfd_text *out, struct pfd_entry *entry)
{
    const struct pfd_sink_options plain = { 0 };
    char *at = pfd_text_reserve(out, origins_room(entry));
    if (at)
        out->n += (size_t)(put_circumstances(at, entry, &plain) - at);
}

/* Renders all readings into the source's readings. */
static void render_readings(const struct pfd_entry *entry)
{
    struct pfd_text *out = &entry->of->readings;
    struct pfd_entry other;
    out->n = 0;
    pfd_text_puts(out, ",\"alternatives\":[");
    for (size_t i = 0; i < entry->record->n_alternatives; i++) {
        if (pfd_entry_alternative(entry, i, &other) != PFD_OK) {
            out->failed = true;
            return;
        }
        pfd_text_puts(out, i ? ",{" : "{");
        add_message(out, &other);
        add_other_string(out, &other, entry);
        add_arguments(out, &other);
        add_circumstances(out, &other);
        pfd_text_puts(out, "}");
    }
    pfd_text_puts(out, "]");
}

/* ---- the caller's members, shared by all entries of a buffer ---- */

static bool has_shared(const struct pfd_sink_options *options)
{
    return options->members || options->origin_members;
}

static size_t shared_room(const struct pfd_sink_options *options)
{
    return ROOM_FIXED + options->n_members + options->n_origin_members;
}

static size_t stamp_room(const struct pfd_sink_options *options)
{
    return options->stamp ? PFD_STAMP_ROOM : 0;
}

/* Inserts shared members into a complete record; n_origins: it has an "origin"
 * of its own, which contains them already. */
static char *put_shared(char *out, size_t n_origins,
                        const struct pfd_sink_options *options)
{
    out -= 2; /* "}\n" */
    if (options->origin_members && !n_origins) {
        out = PUT(out, ",\"origin\":{");
        memcpy(out, options->origin_members, options->n_origin_members);
        out += options->n_origin_members;
        out[-1] = '}'; /* the last comma */
    }
    memcpy(out, options->members ? options->members : "", options->n_members);
    return PUT(out + options->n_members, "}\n");
}

/* An entry that matches its string, without stream and origins. */
struct common {
    struct pfd_entry_source *of;
    const struct pfd_json_string *line;
    const struct pfd_string *string;
    const uint8_t *payload;
    uint64_t index;
    uint64_t offset;
};

/* A straight version of put_entry(); findings: of a `*`, if any. Inline: nearly
 * all entries are rendered here. */
static inline __attribute__((always_inline)) void put_common(
    struct pfd_text *text, const struct common *c,
    const struct pfd_sink_options *options, uint64_t *findings)
{
    struct pfd_json_parts *json = &c->of->json;
    const struct pfd_json_string *line = c->line;
    const struct pfd_step *steps = c->string->steps;
    size_t room = line->room + ROOM_FIXED + stamp_room(options);
    if (__builtin_expect(has_shared(options), 0))
        room += shared_room(options);
    bool exact = line->is_wide && pfd_steps_exceed(steps, c->payload);
    size_t n_exact = exact ? PFD_ROOM_EXACT + line->arguments_room : 0;
    char *start = pfd_text_reserve(text, room + line->arguments_room + n_exact);
    if (!start) {
        text->failed = true;
        return;
    }
    /* The arguments are printed behind the room for the message. */
    char *args = start + room;
    char *args_end = args;
    char *out = PUT(start, "{\"type\":\"entry\"");
    if (options->stamp)
        out = pfd_stamp_put(options->stamp, out);
    out = PUT(out, ",\"message\":\"");
    out = pfd_program_print_both(out, steps, pfd_string_escaped(c->string),
                                 PFD_ESCAPED, c->payload, findings, &args_end);
    out = pfd_json_put_part(out, &line->part);
    struct pfd_json_part list = { args, (size_t)(args_end - args) };
    list.n -= list.n > 0; /* the last comma */
    out = pfd_json_put_part(out, &list);
    *out++ = ']';
    if (exact)
        out = pfd_steps_put_exact(out, steps, c->payload);
    out = PUT(out, ",\"index\":");
    out = pfd_counter_put(&json->index, out, c->index);
    out = PUT(out, ",\"offset\":");
    out = pfd_counter_put(&json->offset, out, c->offset);
    out = pfd_json_put_part(out, &json->source);
    if (__builtin_expect(*findings != 0, 0))
        out = put_findings(out, *findings);
    out = PUT(out, "}\n");
    if (__builtin_expect(has_shared(options), 0))
        out = put_shared(out, 0, options);
    text->n += (size_t)(out - start);
}

static bool is_common(const struct pfd_entry *entry,
                      const struct pfd_json_string *line)
{
    return line && line->is_plain && !entry->findings &&
           entry->steps == entry->string->steps && !has_circumstances(entry);
}

static size_t count_origins(struct pfd_entry *entry)
{
    size_t n = 0;
    if (has_circumstances(entry))
        pfd_entry_origins(entry, &n);
    return n;
}

static void json_entry(struct pfd_text *out, struct pfd_entry *entry,
                       const struct pfd_sink_options *options)
{
    const struct pfd_json_string *line =
        line_of(entry->of, entry->string, entry->id);
    if (__builtin_expect(!options->fields && is_common(entry, line), 1)) {
        const struct common common = {
            .of = entry->of,
            .line = line,
            .string = entry->string,
            .payload = entry->payload,
            .index = entry->index,
            .offset = entry->offset,
        };
        put_common(out, &common, options, &entry->findings);
        return;
    }
    const struct pfd_json_part *part = line ? &line->part : NULL;
    if (entry->record->n_alternatives)
        render_readings(entry);
    size_t n_arguments = arguments_room(entry);
    /* Arguments that also have exact texts are there twice. */
    size_t room = 2 * n_arguments + PFD_ROOM_EXACT + entry_room(entry, part) +
                  rare_room(entry) + stamp_room(options);
    if (has_shared(options))
        room += shared_room(options);
    if (options->fields) {
        pfd_json_fields(entry);
        room += entry->of->fields.n;
    }
    char *args = pfd_text_reserve(&entry->of->arguments, n_arguments);
    char *at = pfd_text_reserve(out, room);
    if (!at || !args) {
        out->failed = true;
        return;
    }
    char *end = put_entry(at, entry, part, args, options);
    if (has_shared(options))
        end = put_shared(end, count_origins(entry), options);
    out->n += (size_t)(end - at);
    out->failed |= entry->of->message.failed || entry->of->readings.failed ||
                   (options->fields && entry->of->fields.failed);
}

static size_t json_run(struct pfd_text *out,
                       const struct pfd_entry_run *entry_run, size_t full,
                       const struct pfd_sink_options *options)
{
    const struct pfd_format *format = entry_run->of->format;
    size_t i = 0;
    if (options->fields)
        return 0;
    for (; i < entry_run->n && out->n <= full; i++) {
        const struct pfd_record *r = &entry_run->records[i];
        const struct pfd_string *s = r->string;
        const size_t before = out->n;
        uint64_t findings = 0;
        const struct common common = {
            .of = entry_run->of,
            .line = line_of(entry_run->of, s, r->key),
            .string = s,
            .payload = pfd_entry_run_payload(entry_run, r),
            .index = entry_run->index + i,
            .offset = r->offset,
        };
        if (!common.line || !common.line->is_plain ||
            pfd_format_has_origin(format, s))
            break;
        put_common(out, &common, options, &findings);
        if (__builtin_expect(findings || out->failed, 0)) {
            out->n = before;
            break;
        }
    }
    return i;
}

const struct pfd_sink pfd_sink_json = {
    .name = "json",
    .entry = json_entry,
    .run = json_run,
    .finding = pfd_json_finding,
    .summary = pfd_json_summary,
    .has_type = true,
    .gap = pfd_json_gap,
};
