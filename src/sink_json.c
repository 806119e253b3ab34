/* SPDX-License-Identifier: MIT */
/*
 * One JSON object a line. Record lines are written here, byte by byte; the
 * schema is share/printfdecode.schema.json.
 */
#include <string.h>

#include "escape.h"
#include "number_fast.h"
#include "sink.h"

/* Constant text whose length the compiler knows. */
#define PUT(out, literal) \
    (memcpy(out, literal, sizeof literal - 1), (out) + sizeof literal - 1)

enum {
    ROOM_FIXED = 320,  /* names, quotes, id, index, offset */
    ROOM_FINDING = 24, /* one kind's name */
    ESCAPE_MAX = 6,    /* bytes of JSON for one byte */
};

static char *put_escaped(char *out, const char *text)
{
    return pfd_escape_json(out, text, strlen(text));
}

static char *put_id(char *out, uint64_t id)
{
    static const char digits[] = "0123456789abcdef";
    out = PUT(out, "\"0x");
    for (int shift = 44; shift >= 0; shift -= 4)
        *out++ = digits[id >> shift & 15];
    *out++ = '"';
    return out;
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

/* Literals are escaped already; only %c can bring bytes that need it. */
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
        if (at)
            *out++ = ',';
        out = pfd_put_u32(out, word);
    }
    return out;
}

/* Arguments that no conversion takes are arguments all the same. */
static char *put_unused(char *out, struct pfd_entry *entry, size_t n_taken)
{
    size_t n = 0;
    const struct pfd_slot *slots = pfd_entry_slots(entry, &n);
    for (size_t i = n_taken; slots && i < n; i++) {
        if (i)
            *out++ = ',';
        out = pfd_program_print_slot(out, &slots[i], entry->payload);
    }
    return out;
}

static char *put_arguments(char *out, struct pfd_entry *entry)
{
    const uint64_t unused = UINT64_C(1) << PFD_FINDING_unused_arguments;
    size_t n = 0;
    if (!entry->string)
        return put_words(out, entry);
    out = pfd_program_print_arguments(out, entry->steps, entry->payload, &n);
    if (__builtin_expect((entry->findings & unused) != 0, 0))
        out = put_unused(out, entry, n);
    return out;
}

static char *put_message(char *out, struct pfd_entry *entry,
                         const char *message, size_t n)
{
    const struct pfd_string *s = entry->string;
    out = PUT(out, "{\"type\":\"entry\",\"message\":\"");
    if (message)
        out = put_loose_message(out, message, n);
    else
        out = pfd_program_print(out, entry->steps, pfd_string_escaped(s),
                                PFD_ESCAPED, entry->payload, &entry->findings);
    out = PUT(out, "\",\"format\":\"");
    out = put_escaped(out, entry->of->format->info.name);
    out = PUT(out, "\",\"id\":");
    out = put_id(out, entry->id);
    out = PUT(out, ",\"format_string\":\"");
    memcpy(out, pfd_string_escaped(s), s->n_escaped);
    return PUT(out + s->n_escaped, "\"");
}

static char *put_unknown(char *out, const struct pfd_entry *entry)
{
    out = PUT(out, "{\"type\":\"entry\",\"message\":null,\"format\":\"");
    out = put_escaped(out, entry->of->format->info.name);
    out = PUT(out, "\",\"id\":");
    out = put_id(out, entry->id);
    return PUT(out, ",\"format_string\":null");
}

static size_t entry_room(const struct pfd_entry *entry, size_t n_message)
{
    size_t room = ROOM_FIXED + ROOM_FINDING * PFD_N_FINDING_KINDS +
                  (size_t)entry->n_payload / 4 * PFD_ROOM_ARGUMENT +
                  ESCAPE_MAX * strlen(entry->of->source) +
                  (ESCAPE_MAX + 2) * n_message;
    if (entry->string)
        room += entry->room + 2 * (size_t)entry->string->n_escaped;
    return room;
}

static void json_entry(struct pfd_text *out, struct pfd_entry *entry,
                       const struct pfd_sink_options *options)
{
    size_t n = 0;
    const char *message = NULL;
    if (entry->string && !is_escaped(entry->string)) {
        message = pfd_entry_message(entry, &n);
        out->failed |= message == NULL;
    }
    char *at = pfd_text_reserve(out, entry_room(entry, n));
    if (!at || out->failed)
        return;
    char *end = entry->string ? put_message(at, entry, message, n)
                              : put_unknown(at, entry);
    end = PUT(end, ",\"args\":[");
    end = put_arguments(end, entry);
    end = PUT(end, "],\"index\":");
    end = pfd_put_u64(end, entry->index);
    end = PUT(end, ",\"offset\":");
    end = pfd_put_u64(end, entry->offset);
    end = PUT(end, ",\"source\":\"");
    end = put_escaped(end, entry->of->source);
    *end++ = '"';
    if (__builtin_expect(entry->findings != 0, 0))
        end = put_findings(end, entry->findings);
    end = PUT(end, "}\n");
    out->n += (size_t)(end - at);
}

static void add_string(struct pfd_text *out, const char *name, const char *text)
{
    size_t n = strlen(text);
    pfd_text_printf(out, ",\"%s\":\"", name);
    char *at = pfd_text_reserve(out, ESCAPE_MAX * n + 1);
    if (!at)
        return;
    char *end = pfd_escape_json(at, text, n);
    *end++ = '"';
    out->n += (size_t)(end - at);
}

static void json_finding(struct pfd_text *out,
                         const struct pfd_finding *finding)
{
    pfd_text_printf(out, "{\"type\":\"finding\",\"kind\":\"%s\"",
                    pfd_finding_name(finding->kind));
    add_string(out, "text", finding->text);
    if (finding->index != PFD_NO_INDEX)
        pfd_text_printf(out, ",\"index\":%llu",
                        (unsigned long long)finding->index);
    if (finding->offset != PFD_NO_OFFSET)
        pfd_text_printf(out, ",\"offset\":%llu",
                        (unsigned long long)finding->offset);
    add_string(out, "source", finding->source);
    pfd_text_puts(out, "}\n");
}

static void json_summary(struct pfd_text *out,
                         const struct pfd_summary *summary, const char *source)
{
    pfd_text_printf(out,
                    "{\"type\":\"summary\",\"entries\":%llu,\"unknown\":%llu,"
                    "\"bytes\":%llu,\"lost_bytes\":%llu,"
                    "\"skipped_bytes\":%llu,\"findings\":%llu",
                    (unsigned long long)summary->entries,
                    (unsigned long long)summary->unknown,
                    (unsigned long long)summary->bytes,
                    (unsigned long long)summary->lost_bytes,
                    (unsigned long long)summary->skipped_bytes,
                    (unsigned long long)summary->findings);
    add_string(out, "source", source);
    pfd_text_puts(out, "}\n");
}

const struct pfd_sink pfd_sink_json = {
    "json",
    json_entry,
    json_finding,
    json_summary,
};
