/* SPDX-License-Identifier: MIT */
#include "core/decode/entry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/decode/inspect.h"

/* Findings of a string that hold for any layout of its entry. */
#define LASTING (PFD_FINDING_BIT(width_clamped) | PFD_FINDING_BIT(vector_cut))

bool pfd_entry_source_init(struct pfd_entry_source *of, const char *source)
{
    *of = (struct pfd_entry_source){ .source = source };
    return pfd_json_parts_init(&of->json, source);
}

void pfd_entry_source_set(struct pfd_entry_source *of,
                          const struct pfd_strings *strings,
                          const struct pfd_format *format,
                          const struct pfd_options *options)
{
    of->format = format;
    of->table = pfd_strings_table(strings, &format->strings);
    of->shader_table = pfd_strings_shaders(strings);
    of->options = options;
}

void pfd_entry_source_deinit(struct pfd_entry_source *of)
{
    if (of->other)
        pfd_entry_source_deinit(of->other);
    free(of->other);
    pfd_text_free(&of->readings);
    pfd_text_free(&of->fields);
    pfd_text_free(&of->names);
    pfd_json_parts_deinit(&of->json);
    pfd_text_free(&of->text);
    free(of->synthesized);
    free(of->origins);
    pfd_text_free(&of->arguments);
    pfd_text_free(&of->values);
    free(of->steps);
    free(of->slots);
    free(of->layout);
    pfd_text_free(&of->message);
}

static bool reserve_slots(struct pfd_entry_source *of)
{
    if (!of->slots)
        of->slots = calloc(PFD_ARGUMENTS_MAX, sizeof *of->slots);
    if (!of->layout)
        of->layout = calloc(PFD_LAYOUT_MAX, sizeof *of->layout);
    return of->slots && of->layout;
}

static bool reserve(struct pfd_entry_source *of, size_t n_steps)
{
    if (n_steps > of->n_steps) {
        struct pfd_step *steps =
            realloc(of->steps, n_steps * sizeof *of->steps);
        if (!steps)
            return false;
        of->steps = steps;
        of->n_steps = n_steps;
    }
    return reserve_slots(of);
}

static struct pfd_record_view view_of(const struct pfd_entry *entry)
{
    const struct pfd_entry_source *of = entry->of;
    size_t n_header = entry->record->n_header;
    struct pfd_record_view record_view = {
        .record = entry->record,
        .string = entry->string,
        .bytes = pfd_byte_reader((const uint8_t *)entry->payload - n_header,
                                 n_header + entry->n_payload),
        .table = of->table,
        .shader_table = of->shader_table,
        .options = of->options,
    };
    pfd_byte_reader_skip(&record_view.bytes, n_header);
    return record_view;
}

/* Binds the string's steps again, to the layout of this one entry. */
static bool rebind(struct pfd_entry *ret)
{
    struct pfd_entry_source *of = ret->of;
    const struct pfd_string *s = ret->string;
    struct pfd_record_view record_view = view_of(ret);
    if (!reserve(of, s->n_steps))
        return false;
    memcpy(of->steps, s->steps, s->n_steps * sizeof *of->steps);
    size_t n = of->format->slots(&record_view, of->slots, &ret->findings);
    ret->findings |= (s->findings & LASTING) |
                     pfd_program_bind(of->steps, s->n_steps, of->slots, n,
                                      s->flags & PFD_STRING_CUT, &ret->room);
    ret->room += s->n_text;
    ret->steps = of->steps;
    return true;
}

/* ---- entries with text outside of tables ---- */

/* The synthesized text as a string in of->made; NULL when out of memory. */
static struct pfd_string *make_string(struct pfd_entry_source *of,
                                      const struct pfd_string_row *row,
                                      uint64_t *findings)
{
    struct pfd_program_facts facts = { 0 };
    size_t n_steps;
    if (!reserve(of, pfd_string_steps_max(&of->format->strings, row)))
        return NULL;
    n_steps = pfd_string_compile(&of->format->strings, row, of->steps, &facts);
    /* Printing copies literals in blocks. */
    size_t size = pfd_string_size(row, n_steps) + PFD_ARENA_SLACK;
    if (size > of->synthesized_room) {
        struct pfd_string *s = realloc(of->synthesized, size);
        if (!s)
            return NULL;
        of->synthesized = s;
        of->synthesized_room = size;
    }
    pfd_string_fill(of->synthesized, row, of->steps, n_steps);
    *findings |= facts.findings;
    return of->synthesized;
}

static bool make(struct pfd_entry *ret)
{
    struct pfd_entry_source *of = ret->of;
    struct pfd_record_view record_view = view_of(ret);
    if (!reserve_slots(of))
        return false;
    of->text.n = 0;
    struct pfd_synthesized synthesized = { .text = &of->text,
                                           .slots = of->slots,
                                           .layout = of->layout };
    of->format->make(&record_view, &synthesized);
    struct pfd_string_row row = {
        .key = ret->id,
        .text = of->text.n ? of->text.data : "",
        .n_text = of->text.n < PFD_TEXT_MAX ? of->text.n : PFD_TEXT_MAX,
        .n_arguments = synthesized.n_slots,
        .layout = synthesized.layout,
        .n_layout = synthesized.n_layout,
        .literal = synthesized.literal,
        .own = synthesized.own,
    };
    ret->findings |= synthesized.findings;
    struct pfd_string *s = make_string(of, &row, &ret->findings);
    if (!s || of->text.failed)
        return false;
    if (synthesized.lay_out) {
        record_view.string = s;
        if (of->format->adapt) {
            ret->findings |=
                of->format->adapt(&record_view, s->steps, s->n_steps);
        }
        synthesized.n_slots =
            of->format->slots(&record_view, of->slots, &ret->findings);
    }
    s->index = PFD_STRING_SYNTHESIZED;
    s->n_arguments = (uint32_t)synthesized.n_slots;
    s->n_payload = ret->n_payload;
    if (of->format->strings.tight)
        pfd_program_join_tight(s->steps, s->n_steps);
    uint64_t bound =
        pfd_program_bind(s->steps, s->n_steps, of->slots,
                         synthesized.literal ? 0 : synthesized.n_slots,
                         synthesized.cut, &ret->room);
    ret->findings |= bound;
    ret->room += s->n_text;
    ret->string = s;
    ret->steps = s->steps;
    of->n_slots = synthesized.n_slots;
    return true;
}

static uint8_t stream_of(const struct pfd_record *record)
{
    return record->flags & PFD_RECORD_STDERR   ? PFD_STREAM_STDERR
           : record->flags & PFD_RECORD_STDOUT ? PFD_STREAM_STDOUT
                                               : PFD_STREAM_UNKNOWN;
}

const char *pfd_stream_name(enum pfd_stream stream)
{
    return stream == PFD_STREAM_STDOUT   ? "stdout"
           : stream == PFD_STREAM_STDERR ? "stderr"
                                         : NULL;
}

/* Makes an entry whose string alone does not determine its text. */
__attribute__((noinline)) bool pfd_entry_make_special(struct pfd_entry *ret)
{
    ret->stream = stream_of(ret->record);
    if (ret->record->flags & PFD_RECORD_SYNTHESIZED)
        return make(ret);
    if (ret->string && ret->record->layout)
        return rebind(ret);
    return true;
}

const char *pfd_entry_format_string(const struct pfd_entry *entry, size_t *n)
{
    *n = entry->string ? entry->string->n_text : 0;
    return entry->string ? pfd_string_text(entry->string) : NULL;
}

size_t pfd_entry_string_index(const struct pfd_entry *entry)
{
    return entry->string && entry->string->index != PFD_STRING_SYNTHESIZED
               ? entry->string->index
               : SIZE_MAX;
}

const char *pfd_entry_message(struct pfd_entry *entry, size_t *n)
{
    struct pfd_text *message = &entry->of->message;
    *n = 0;
    if (!entry->string)
        return NULL;
    message->n = 0;
    char *out = pfd_text_reserve(message, entry->room);
    if (!out) {
        *n = 1;
        return NULL;
    }
    char *end =
        pfd_program_print(out, entry->steps, pfd_string_text(entry->string),
                          PFD_RAW, entry->payload, &entry->findings);
    *n = (size_t)(end - out);
    return out;
}

const struct pfd_slot *pfd_entry_slots(struct pfd_entry *entry, size_t *n)
{
    struct pfd_entry_source *of = entry->of;
    uint64_t findings = 0;
    if (!reserve_slots(of)) {
        of->message.failed = true; /* the sink checks this at the end */
        return NULL;
    }
    struct pfd_record_view record_view = view_of(entry);
    *n = of->n_slots; /* still those of a synthesized entry */
    if (!(entry->record->flags & PFD_RECORD_SYNTHESIZED))
        *n = of->format->slots(&record_view, of->slots, &findings);
    return of->slots;
}

const struct pfd_origin *pfd_entry_origins(struct pfd_entry *entry, size_t *n)
{
    struct pfd_entry_source *of = entry->of;
    struct pfd_record_view record_view = view_of(entry);
    *n = 0;
    if (!pfd_format_has_origin(of->format, entry->record->string))
        return NULL;
    if (!of->origins)
        of->origins = malloc(PFD_ORIGINS_MAX * sizeof *of->origins);
    if (of->origins)
        *n = of->format->origins.list(&record_view, of->origins);
    return of->origins;
}

/* ---- other readings ---- */

/* Scratch memory of its own, so that the entry itself does not change. */
static struct pfd_entry_source *other_source(struct pfd_entry_source *of)
{
    if (!of->other) {
        struct pfd_entry_source *other = malloc(sizeof *other);
        if (!other)
            return NULL;
        *other = (struct pfd_entry_source){ .source = of->source };
        of->other = other;
    }
    of->other->format = of->format;
    of->other->table = of->table;
    of->other->shader_table = of->shader_table;
    of->other->options = of->options;
    return of->other;
}

enum pfd_status pfd_entry_alternative(const struct pfd_entry *entry, size_t i,
                                      struct pfd_entry *ret)
{
    if (i >= entry->record->n_alternatives)
        return PFD_END;
    const struct pfd_record *r = entry->record + 1 + i;
    struct pfd_entry_source *of = other_source(entry->of);
    const uint8_t *bytes =
        (const uint8_t *)entry->payload - entry->record->n_header;
    uint32_t n = entry->record->n_header + entry->n_payload;
    if (r->flags & PFD_RECORD_COPIED) {
        /* Its own bytes follow those of the readings before it. */
        bytes += n;
        for (const struct pfd_record *k = entry->record + 1; k < r; k++)
            bytes += k->n_bytes;
        n = r->n_bytes;
    }
    if (!of || !pfd_entry_make(of, r, bytes + r->n_header, n - r->n_header,
                               entry->index, ret))
        return PFD_ERR_NOMEM;
    ret->n_bytes = entry->n_bytes;
    return PFD_OK;
}

uint64_t pfd_entry_payload_offset(const struct pfd_entry *entry)
{
    return entry->of->format->is_scattered
               ? PFD_NO_OFFSET
               : entry->offset + entry->record->n_header;
}

enum pfd_status pfd_entry_word(struct pfd_entry *entry, uint32_t at,
                               struct pfd_word *ret)
{
    struct pfd_record_view record_view = view_of(entry);
    return pfd_format_entry_word(entry->of->format, &record_view, at, ret)
               ? PFD_OK
               : PFD_END;
}

/* ---- arguments ---- */

static void from_step(const struct pfd_entry *entry, const struct pfd_step *s,
                      struct pfd_argument *ret)
{
    struct pfd_slot slot = { .at = s->at, .store = s->store & 15 };
    *ret = (struct pfd_argument){
        .at = s->at,
        .n_bytes = pfd_slot_bytes(&slot),
        .conversion = s->conv,
    };
    if (s->store == PFD_STORE_STRING) {
        size_t n;
        ret->type = PFD_ARGUMENT_TEXT;
        ret->text = pfd_step_string(s, entry->payload, &n);
        ret->n_bytes = (uint32_t)n;
    } else if (pfd_step_is_float(s)) {
        ret->type = PFD_ARGUMENT_FLOAT;
        ret->f = pfd_step_double(s, entry->payload);
    } else {
        ret->type =
            pfd_step_is_signed(s) ? PFD_ARGUMENT_INT : PFD_ARGUMENT_UNSIGNED;
        ret->u = pfd_step_integer(s, entry->payload);
    }
}

static void from_slot(const struct pfd_entry *entry,
                      const struct pfd_slot *slot, struct pfd_argument *ret)
{
    *ret = (struct pfd_argument){
        .type = PFD_ARGUMENT_UNSIGNED,
        .at = slot->at,
        .n_bytes = pfd_slot_bytes(slot),
    };
    const uint8_t *from = (const uint8_t *)entry->payload + slot->at;
    if (slot->store != PFD_STORE_STRING && slot->n_bytes) {
        struct pfd_step s = pfd_slot_step(slot);
        from_step(entry, &s, ret);
        ret->conversion = 0;
    } else if (slot->store == PFD_STORE_STRING) {
        ret->type = PFD_ARGUMENT_TEXT;
        ret->text =
            slot->n_bytes == PFD_STRING_NULL ? NULL : (const char *)from;
    } else {
        memcpy(&ret->u, from, ret->n_bytes);
    }
}

/* Appends a zeroed argument. */
static struct pfd_argument *add_argument(struct pfd_text *values)
{
    static const struct pfd_argument none;
    pfd_text_add(values, &none, sizeof none);
    if (values->failed)
        return NULL;
    return (struct pfd_argument *)(void *)(values->data + values->n) - 1;
}

/* Adds the arguments of conversions; returns their number. */
static size_t add_taken(struct pfd_entry *entry, struct pfd_text *values)
{
    size_t n = 0;
    for (const struct pfd_step *s = entry->steps; s->op != PFD_OP_END; s++) {
        if (s->store == PFD_STORE_NONE)
            continue;
        struct pfd_argument *a = add_argument(values);
        if (!a)
            break;
        from_step(entry, s, a);
        n++;
    }
    return n;
}

static void add_unused(struct pfd_entry *entry, size_t n_taken,
                       struct pfd_text *values)
{
    size_t n = 0;
    const struct pfd_slot *slots = pfd_entry_slots(entry, &n);
    values->failed |= !slots;
    for (size_t i = n_taken; i < n && slots && !values->failed; i++) {
        struct pfd_argument *a = add_argument(values);
        if (a)
            from_slot(entry, &slots[i], a);
    }
}

const struct pfd_argument *pfd_entry_arguments(struct pfd_entry *entry,
                                               size_t *n)
{
    struct pfd_text *values = &entry->of->values;
    values->n = 0;
    values->failed = false;
    *n = 0;
    if (!entry->string)
        return NULL;
    add_unused(entry, add_taken(entry, values), values);
    *n = values->failed ? 1 : values->n / sizeof(struct pfd_argument);
    return *n && !values->failed ? (const void *)values->data : NULL;
}
