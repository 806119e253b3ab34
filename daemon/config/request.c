/* SPDX-License-Identifier: MIT */
#include "config/request.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/name.h"
#include "config/field_map.h"

enum {
    SAMPLE_MAX = 1000000,
};

/* ---- forms ---- */

/* "json", "text", "raw", "entries"; false: none of these. */
static bool form_find(const char *name, enum pfdd_form *ret)
{
    static const char *const names[] = { "json", "text", "raw", "entries" };
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!strcmp(name, names[i])) {
            *ret = (enum pfdd_form)i;
            return true;
        }
    }
    return false;
}

void pfdd_wants_deinit(struct pfdd_selection *wants)
{
    pfd_filter_free(wants->entries);
    free(wants->source);
    free(wants->host);
    pfdd_field_map_free(wants->map);
    *wants = (struct pfdd_selection){ 0 };
}

static void free_words(struct pfdd_words *words)
{
    while (words->n)
        free(words->items[--words->n]);
}

void pfdd_request_widen(struct pfdd_request *request)
{
    free_words(&request->match);
    free_words(&request->format_strings);
    free(request->where);
    request->where = NULL;
    request->n_ids = 0;
    request->ignore_case = request->invert = false;
}

void pfdd_request_deinit(struct pfdd_request *request)
{
    pfdd_request_widen(request);
    pfdd_wants_deinit(&request->wants);
}

/* ---- values ---- */

static bool read_time(const char *text, uint64_t *ret)
{
    struct tm tm = { 0 };
    char fraction[10] = "000000000";
    const char *at = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (!at)
        return false;
    if (*at == '.') {
        size_t n = strspn(++at, "0123456789");
        memcpy(fraction, at, n < 9 ? n : 9);
        at += n;
    }
    if (strcmp(at, "Z") != 0)
        return false;
    time_t seconds = timegm(&tm);
    if (seconds < 0 || (uint64_t)seconds >= UINT64_MAX / 1000000000)
        return false;
    *ret = (uint64_t)seconds * 1000000000 + strtoull(fraction, NULL, 10);
    return true;
}

static bool is_digits(const char *text)
{
    size_t n = strlen(text);
    return n && n < 20 && strspn(text, "0123456789") == n;
}

static bool read_bool(bool *ret, const char *value)
{
    *ret = !strcmp(value, "true");
    return *ret || !strcmp(value, "false");
}

static bool read_id(uint64_t *ret, const char *text)
{
    char *end = NULL;
    bool is_hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    const char *digits = is_hex ? text + 2 : text;
    const char *all = is_hex ? "0123456789abcdefABCDEF" : "0123456789";
    errno = 0;
    *ret = strtoull(digits, &end, is_hex ? 16 : 10);
    return *digits && strspn(digits, all) == strlen(digits) && errno == 0;
}

/* ---- keys ---- */

typedef struct pfdd_request request_t;

static bool set_output(request_t *r, const char *value)
{
    /* The form of events is always JSON. */
    return r->form != PFDD_SSE && form_find(value, &r->form);
}

static bool set_from(request_t *r, const char *value)
{
    struct pfdd_from *from = &r->from;
    *from = (struct pfdd_from){ 0 };
    if (!strcmp(value, "oldest") || !strcmp(value, "now")) {
        from->is_seq = value[0] == 'o';
        return true;
    }
    from->is_seq = is_digits(value);
    from->is_time = !from->is_seq;
    if (from->is_time)
        return read_time(value, &from->value);
    from->value = strtoull(value, NULL, 10);
    return true;
}

static bool add_word(struct pfdd_words *words, const char *value)
{
    char *copy = words->n < PFDD_WORDS_MAX ? strdup(value) : NULL;
    if (copy)
        words->items[words->n++] = copy;
    return copy != NULL;
}

static bool set_match(request_t *r, const char *value)
{
    return add_word(&r->match, value);
}

static bool set_format_string(request_t *r, const char *value)
{
    return add_word(&r->format_strings, value);
}

static bool set_id(request_t *r, const char *value)
{
    return r->n_ids < PFDD_WORDS_MAX && read_id(&r->ids[r->n_ids++], value);
}

static bool set_text(char **to, const char *value)
{
    free(*to);
    *to = strdup(value);
    return *to != NULL;
}

static bool set_where(request_t *r, const char *value)
{
    return set_text(&r->where, value);
}

static bool set_source(request_t *r, const char *value)
{
    size_t n = strlen(value);
    return n && n <= PFDD_NAME_MAX && set_text(&r->wants.source, value);
}

static bool set_host(request_t *r, const char *value)
{
    size_t n = strlen(value);
    return n && n <= PFDD_NAME_MAX && set_text(&r->wants.host, value);
}

static bool set_ignore_case(request_t *r, const char *value)
{
    return read_bool(&r->ignore_case, value);
}

static bool set_invert(request_t *r, const char *value)
{
    return read_bool(&r->invert, value);
}

static bool set_entries_only(request_t *r, const char *value)
{
    return read_bool(&r->wants.entries_only, value);
}

static bool set_findings(request_t *r, const char *value)
{
    bool ok = read_bool(&r->wants.no_findings, value);
    r->wants.no_findings = !r->wants.no_findings;
    return ok;
}

static bool set_fields(request_t *r, const char *value)
{
    return read_bool(&r->wants.fields, value);
}

static bool set_collapse(request_t *r, const char *value)
{
    bool wanted = false;
    if (!strcmp(value, "equal")) {
        r->wants.collapse = PFDD_COLLAPSE_EQUAL;
        return true;
    }
    if (!read_bool(&wanted, value))
        return false;
    r->wants.collapse = wanted ? PFDD_COLLAPSE_STRING : PFDD_COLLAPSE_NO;
    return true;
}

static bool set_window(request_t *r, const char *value)
{
    r->wants.window = is_digits(value) ? strtoull(value, NULL, 10) : 0;
    return r->wants.window > 0;
}

static bool set_sample(request_t *r, const char *value)
{
    unsigned long n = is_digits(value) ? strtoul(value, NULL, 10) : 0;
    r->wants.sample = n <= SAMPLE_MAX ? (uint32_t)n : 0;
    return r->wants.sample;
}

static bool set_sample_history(request_t *r, const char *value)
{
    bool ok = read_bool(&r->wants.sample_new, value);
    r->wants.sample_new = !r->wants.sample_new;
    return ok;
}

enum kind {
    TEXT = 1,
    NUMBER = 2,
    BOOLEAN = 4,
    LIST = 8, /* may be set several times */
};

static const struct key {
    const char *name;
    unsigned kinds; /* types in JSON: enum kind */
    bool (*set)(request_t *r, const char *value);
    const char *what; /* allowed values, for messages */
} keys[] = {
    { "output", TEXT, set_output, "json, text or raw (events are JSON)" },
    { "from", TEXT | NUMBER, set_from,
      "a sequence number, a time such as 2026-11-20T20:09:49Z, 'oldest' or "
      "'now'" },
    { "match", TEXT | LIST, set_match, "up to 16 regular expressions" },
    { "format_string", TEXT | LIST, set_format_string,
      "up to 16 regular expressions" },
    { "id", TEXT | NUMBER | LIST, set_id, "up to 16 ids of format strings" },
    { "where", TEXT, set_where, "a condition" },
    { "source", TEXT, set_source, "a name of 1 to 255 bytes" },
    { "host", TEXT, set_host, "a name of 1 to 255 bytes" },
    { "ignore_case", BOOLEAN, set_ignore_case, "true or false" },
    { "invert", BOOLEAN, set_invert, "true or false" },
    { "entries_only", BOOLEAN, set_entries_only, "true or false" },
    { "findings", BOOLEAN, set_findings, "true or false" },
    { "fields", BOOLEAN, set_fields, "true or false" },
    { "collapse", TEXT | BOOLEAN, set_collapse, "true, false or equal" },
    { "window", TEXT | NUMBER, set_window, "a number of entries, from 1 on" },
    { "sample", NUMBER | TEXT, set_sample,
      "a number of entries a second, up to 1000000" },
    { "sample_history", BOOLEAN, set_sample_history, "true or false" },
};

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (!strcmp(name, keys[i].name))
            return &keys[i];
    }
    return NULL;
}

static bool refuse(const struct key *key, const char *name, char *err,
                   size_t n_err)
{
    if (key) {
        snprintf(err, n_err, "'%s' is %s", key->name, key->what);
    } else {
        snprintf(err, n_err, "there is no parameter '%.64s'", name);
    }
    return false;
}

/* True: a key is set twice, which would be ambiguous. */
static bool is_again(struct pfdd_request *r, const struct key *key)
{
    unsigned bit = 1U << (key - keys);
    bool ret = r->keys_seen & bit;
    r->keys_seen |= key->kinds & LIST ? 0 : bit;
    return ret;
}

bool pfdd_request_set(struct pfdd_request *request, const char *name,
                      const char *value, char *err, size_t n_err)
{
    const struct key *key = find_key(name);
    if (key && is_again(request, key)) {
        snprintf(err, n_err, "'%s' is given twice", key->name);
        return false;
    }
    if (key && key->set(request, value))
        return true;
    return refuse(key, name, err, n_err);
}

/* ---- JSON ---- */

static bool set_value(struct pfdd_request *r, const struct key *key,
                      const json_t *value)
{
    char number[24];
    const char *text = json_string_value(value);
    unsigned kind = TEXT;
    if (json_is_integer(value)) {
        snprintf(number, sizeof number, "%lld",
                 (long long)json_integer_value(value));
        text = number;
        kind = NUMBER;
    } else if (json_is_boolean(value)) {
        text = json_is_true(value) ? "true" : "false";
        kind = BOOLEAN;
    }
    return text && key->kinds & kind && key->set(r, text);
}

static bool set_list(struct pfdd_request *r, const struct key *key,
                     const json_t *list)
{
    bool ok = key->kinds & LIST && json_array_size(list) > 0;
    for (size_t i = 0; ok && i < json_array_size(list); i++)
        ok = set_value(r, key, json_array_get(list, i));
    return ok;
}

bool pfdd_request_read(struct pfdd_request *request, const char *line, size_t n,
                       char *err, size_t n_err)
{
    json_error_t why;
    const char *name = NULL;
    json_t *value = NULL;
    bool ok = true;
    json_t *root = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(root)) {
        snprintf(err, n_err, "a request is one line with a JSON object: %s",
                 root ? "this is something else" : why.text);
        json_decref(root);
        return false;
    }
    json_object_foreach(root, name, value)
    {
        const struct key *key = find_key(name);
        if (ok &&
            !(key && (json_is_array(value) ? set_list(request, key, value)
                                           : set_value(request, key, value))))
            ok = refuse(key, name, err, n_err);
    }
    json_decref(root);
    return ok;
}

/* ---- completion ---- */

bool pfdd_request_finish(struct pfdd_request *r, char *err, size_t n_err)
{
    struct pfd_error why = { 0 };
    const struct pfd_filter_spec spec = {
        .patterns = (const char *const *)r->match.items,
        .n_patterns = r->match.n,
        .ignore_case = r->ignore_case,
        .invert = r->invert,
        .ids = r->ids,
        .n_ids = r->n_ids,
        .format_strings = (const char *const *)r->format_strings.items,
        .n_format_strings = r->format_strings.n,
        .where = r->where,
        .n_bytes_max = r->n_patterns_max,
    };
    bool is_collapsed = r->wants.collapse != PFDD_COLLAPSE_NO;
    /* The names of fields apply to JSON only. */
    if (r->form != PFDD_JSON || is_collapsed) {
        pfdd_field_map_free(r->wants.map);
        r->wants.map = NULL;
    }
    if (is_collapsed && (r->form == PFDD_RAW || r->form == PFDD_ENTRIES)) {
        snprintf(err, n_err, "'collapse' is for text and json");
        return false;
    }
    if (r->wants.window && !is_collapsed) {
        snprintf(err, n_err, "'window' is for 'collapse'");
        return false;
    }
    if (r->wants.sample && is_collapsed) {
        snprintf(err, n_err, "'sample' and 'collapse' do not go together");
        return false;
    }
    if (r->wants.sample_new && !r->wants.sample) {
        snprintf(err, n_err, "'sample_history' is for 'sample'");
        return false;
    }
    if (r->wants.sample && r->form != PFDD_JSON && r->form != PFDD_SSE) {
        snprintf(err, n_err, "'sample' is for json, which says what it lacks");
        return false;
    }
    if (r->match.n + r->n_ids + r->format_strings.n == 0 && !r->where)
        return true;
    if (pfd_filter_new(&spec, &r->wants.entries, &why) == PFD_OK)
        return true;
    snprintf(err, n_err, "%s", why.text);
    return false;
}
