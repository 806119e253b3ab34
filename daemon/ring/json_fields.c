/* SPDX-License-Identifier: MIT */
#include "ring/json_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <printfdecode/convert.h>

#include "base/timestamp.h"
#include "config/field_map.h"
#include "core/output/json.h"

enum {
    KEYS_MAX = 96, /* of a line; further ones are left out */
    OWN_MAX = 40,  /* bytes of a name of ours, with a NUL */
    DIGITS = 15,   /* of a number that every JSON parser keeps exactly */
};

struct line {
    struct pfd_text *out;
    const struct pfdd_field_map *map;
    /* The names in the line, each in two parts. */
    const char *prefixes[KEYS_MAX];
    const char *names[KEYS_MAX]; /* [n] */
    char own[KEYS_MAX][OWN_MAX]; /* names of fields, which live for a call */
    size_t n;
};

static bool is_same(const char *a, const char *more_of_a, const char *b,
                    const char *more_of_b)
{
    size_t n_a = strlen(a);
    size_t n_b = strlen(b);
    if (n_a > n_b)
        return is_same(b, more_of_b, a, more_of_a);
    size_t n = n_b - n_a;
    return !memcmp(a, b, n_a) && !strncmp(more_of_a, b + n_a, n) &&
           strlen(more_of_a) >= n && !strcmp(more_of_a + n, more_of_b);
}

/* A line has each name once: the first one counts. */
static bool is_new(struct line *l, const char *prefix, const char *name)
{
    for (size_t i = 0; i < l->n; i++) {
        if (is_same(l->prefixes[i], l->names[i], prefix, name))
            return false;
    }
    if (l->n == KEYS_MAX)
        return false;
    size_t n_name = strlen(name);
    l->prefixes[l->n] = prefix;
    l->names[l->n] = name;
    /* Longer ones are the configuration's. */
    if (n_name < OWN_MAX)
        l->names[l->n] = memcpy(l->own[l->n], name, n_name + 1);
    l->n++;
    return true;
}

static void put_text(struct pfd_text *out, const char *text, size_t n)
{
    char *at = pfd_text_reserve(out, 6 * n + 2);
    if (!at)
        return;
    size_t n_out = pfd_escape_for_json(at + 1, text, n);
    at[0] = at[n_out + 1] = '"';
    out->n += n_out + 2;
}

static void put_member(struct line *l, const char *prefix, const char *name,
                       const char *value, size_t n, bool is_number)
{
    if (!is_new(l, prefix, name))
        return;
    pfd_text_puts(l->out, l->n > 1 ? ",\"" : "{\"");
    pfd_text_puts(l->out, prefix);
    pfd_text_puts(l->out, name);
    pfd_text_puts(l->out, "\":");
    if (is_number && n <= DIGITS) {
        pfd_text_add(l->out, value, n);
    } else {
        put_text(l->out, value, n);
    }
}

static void put_value(struct line *l, const char *name, const char *value,
                      size_t n, bool is_number)
{
    const char *prefix = NULL;
    const char *theirs = NULL;
    bool is_label = false;
    if (!pfdd_field_map_find(l->map, name, &prefix, &theirs))
        return;
    /* Labels are strings, even if they look like numbers. */
    is_label = !strncmp(prefix, "labels.", 7);
    put_member(l, prefix, theirs, value, n, is_number && !is_label);
}

static void put_field(void *user, const struct pfdd_field *field)
{
    put_value(user, field->name, field->value, field->n, field->is_number);
}

static void put_time(struct line *l, uint64_t ns)
{
    char text[PFDD_TIMESTAMP];
    put_value(l, "time", text, pfdd_timestamp(text, ns, 9), false);
}

static void put(struct pfd_text *out, const struct pfdd_log_record *log_record)
{
    struct line l;
    l.out = out;
    l.map = log_record->map;
    l.n = 0;
    const char *severity = pfdd_severity_name(log_record->severity);
    const char *ecs = pfdd_field_map_ecs(log_record->map);
    put_time(&l, log_record->time);
    put_value(&l, "severity", severity, strlen(severity), false);
    put_value(&l, "message", log_record->text, log_record->n, false);
    if (ecs)
        put_member(&l, "", "ecs.version", ecs, strlen(ecs), false);
    pfdd_log_record_fields(log_record, put_field, &l);
    pfd_text_puts(out, l.n ? "}\n" : "{}\n");
}

const struct pfdd_encoding pfdd_json_fields_encoding = { .put = put,
                                                         .is_lines = true };

/* ---- recognizing lines ---- */

static void put_look(char *ret, size_t n, const char *before,
                     const struct pfdd_field_map *map, const char *name,
                     const char *behind)
{
    const char *prefix = "";
    const char *theirs = name;
    pfdd_field_map_find(map, name, &prefix, &theirs);
    snprintf(ret, n, "%s\"%s%s\":%s", before, prefix, theirs, behind);
}

void pfdd_json_style_init(struct pfdd_json_style *ret,
                          const struct pfdd_field_map *map)
{
    static const struct pfdd_json_style own = { .begin = "{\"type\":\"",
                                                .number = "\"sequence\":",
                                                .time = "\"time_unix_nano\":\"",
                                                .n_head = 256 };
    *ret = own;
    if (!map)
        return;
    /* Within the text of a message, the quotes of a name would follow a
     * backslash. */
    put_look(ret->begin, sizeof ret->begin, "{", map, "time", "\"");
    put_look(ret->number, sizeof ret->number, ",", map, "sequence", "");
    put_look(ret->time, sizeof ret->time, "{", map, "time", "\"");
    ret->is_rfc3339 = true;
    ret->n_head = SIZE_MAX;
}

/* The bytes after a text; NULL: it is not in the line. */
static const char *find_behind(const struct pfdd_json_style *json_style,
                               const char *line, size_t n, const char *text)
{
    size_t n_text = strlen(text);
    const char *at = memmem(
        line, n < json_style->n_head ? n : json_style->n_head, text, n_text);
    return at ? at + n_text : NULL;
}

uint64_t pfdd_json_style_number(const struct pfdd_json_style *json_style,
                                const char *line, size_t n)
{
    size_t n_begin = strlen(json_style->begin);
    if (n <= n_begin || memcmp(line, json_style->begin, n_begin) != 0 ||
        line[n - 2] != '}' || memchr(line, '\0', n))
        return 0;
    const char *at = find_behind(json_style, line, n, json_style->number);
    return at ? strtoull(at + (*at == '"'), NULL, 10) : 0;
}

uint64_t pfdd_json_style_time(const struct pfdd_json_style *json_style,
                              const char *line, size_t n)
{
    const char *at = find_behind(json_style, line, n, json_style->time);
    struct tm tm = { 0 };
    if (!at)
        return 0;
    if (!json_style->is_rfc3339)
        return strtoull(at, NULL, 10);
    const char *part = strptime(at, "%Y-%m-%dT%H:%M:%S.", &tm);
    return part ? (uint64_t)timegm(&tm) * 1000000000 + strtoull(part, NULL, 10)
                : 0;
}
