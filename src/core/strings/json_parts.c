/* SPDX-License-Identifier: MIT */
#include "core/strings/json_parts.h"

#include <stdlib.h>

#include "core/base/escape.h"
#include "core/print/json_exact.h"
#include "core/strings/column_names.h"

enum {
    ROOM_FIXED = 128,
    ESCAPE_MAX = 6
};

static char *put(char *out, const char *text)
{
    size_t n = strlen(text);
    memcpy(out, text, n);
    return out + n;
}

size_t pfd_json_string_room(const struct pfd_string *string, const char *format)
{
    return ROOM_FIXED + strlen(format) + (string ? string->n_escaped : 0);
}

char *pfd_json_put_string(char *out, const struct pfd_string *string,
                          const char *format, uint64_t id)
{
    out = put(out, ",\"format\":\"");
    out = put(out, format);
    out = put(out, "\",\"id\":\"0x");
    /* 48 bits of id are twelve digits; wider ones have more. */
    unsigned n = pfd_digits16(id);
    out = pfd_put_hex_len(out, id, PFD_HEX_LOWER, n < 12 ? 12 : n);
    if (!string || string->flags & PFD_STRING_LITERAL)
        return put(out, "\",\"format_string\":null,\"args\":[");
    out = put(out, "\",\"format_string\":\"");
    memcpy(out, pfd_string_escaped(string), string->n_escaped);
    return put(out + string->n_escaped, "\",\"args\":[");
}

bool pfd_json_parts_init(struct pfd_json_parts *parts, const char *source)
{
    *parts = (struct pfd_json_parts){ 0 };
    char *text =
        pfd_arena_take(&parts->arena, ESCAPE_MAX * strlen(source) + 16);
    if (!text)
        return false;
    char *end = put(text, ",\"source\":\"");
    end = pfd_escape_json(end, source, strlen(source));
    end = put(end, "\"");
    parts->source = (struct pfd_json_part){ text, (size_t)(end - text) };
    return true;
}

void pfd_json_parts_deinit(struct pfd_json_parts *parts)
{
    free(parts->strings);
    pfd_arena_free(&parts->arena);
}

static bool reserve(struct pfd_json_parts *parts, size_t i)
{
    size_t n = parts->n_strings;
    if (i < n)
        return true;
    size_t room = i + i / 2 + 16;
    struct pfd_json_string *strings =
        realloc(parts->strings, room * sizeof *strings);
    if (!strings)
        return false;
    memset(strings + n, 0, (room - n) * sizeof *strings);
    parts->strings = strings;
    parts->n_strings = room;
    return true;
}

/* Only %c and %s can print bytes that need escaping. */
static bool is_plain(const struct pfd_string *string)
{
    const unsigned odd = PFD_STRING_UTF8 | PFD_STRING_CHAR | PFD_STRING_LITERAL;
    return (string->flags & odd) == PFD_STRING_UTF8;
}

static bool is_wide(const struct pfd_string *string)
{
    const struct pfd_step *s = string->steps;
    while (s->op != PFD_OP_END && !pfd_step_is_wide(s))
        s++;
    return s->op != PFD_OP_END;
}

const struct pfd_json_string *pfd_json_parts_make(
    struct pfd_json_parts *parts, const struct pfd_string *string,
    const char *format)
{
    char *text =
        pfd_arena_take(&parts->arena, pfd_json_string_room(string, format));
    if (!text || !reserve(parts, string->index))
        return NULL;
    struct pfd_json_string *ret = &parts->strings[string->index];
    *text = '"';
    char *end = pfd_json_put_string(text + 1, string, format, string->key);
    size_t n = (size_t)(end - text);
    *ret = (struct pfd_json_string){
        .part = { text, n },
        .room = n + string->n_escaped + string->room + parts->source.n,
        .arguments_room = string->n_steps * (size_t)PFD_ROOM_ARGUMENT,
        .is_plain = is_plain(string),
        .is_wide = is_wide(string),
        .names = ret->names,
    };
    return ret;
}

void pfd_json_add_names(struct pfd_text *out, const struct pfd_string *string)
{
    char name[PFD_COLUMN_NAME_MAX];
    size_t number = 0;
    for (size_t i = 0; i < string->n_steps; i++) {
        if (!pfd_step_has_argument(&string->steps[i]))
            continue;
        pfd_column_name(string, i, number++, name);
        pfd_text_add(out, name, strlen(name) + 1);
    }
}

const char *pfd_json_parts_names(struct pfd_json_parts *parts,
                                 const struct pfd_string *string,
                                 struct pfd_text *scratch)
{
    if (!reserve(parts, string->index))
        return NULL;
    struct pfd_json_string *of = &parts->strings[string->index];
    if (of->names)
        return of->names;
    scratch->n = 0;
    pfd_json_add_names(scratch, string);
    char *names = pfd_arena_take(&parts->arena, scratch->n + 1);
    if (scratch->failed || !names)
        return NULL;
    memcpy(names, scratch->n ? scratch->data : "", scratch->n);
    of->names = names;
    return names;
}

char *pfd_counter_restart(struct pfd_counter *counter, char *out, uint64_t v)
{
    counter->high = v / 10000;
    counter->n =
        (size_t)(pfd_put_u64(counter->text, counter->high) - counter->text);
    /* Only sixteen digits are copied: enough up to 10^20. */
    return pfd_put_u64(out, v);
}
