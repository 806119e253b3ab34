/* SPDX-License-Identifier: MIT */
#include "delivery/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>
#include <uv.h>

#include <printfdecode/convert.h>

#include "core/name.h"
#include "delivery/line.h"

enum {
    OUT_ENOUGH = 64 * 1024, /* bytes made ahead of what is taken */
    DEAR_MAX = 4,           /* of a pattern's repeats */
    MATCHED_MAX = 8 * 1024, /* bytes until a pattern is compiled anew */
    COMPILE = REG_EXTENDED | REG_NOSUB,
};

#define LATELY_NS   UINT64_C(250000000)
#define PATIENCE_NS UINT64_C(5000000000)
#define PERIOD_NS   (6 * PATIENCE_NS)

/* ---- forms ---- */

bool pfdd_form_find(const char *name, enum pfdd_form *ret)
{
    static const char *const names[] = { "json", "text", "raw" };
    for (unsigned i = 0; i < 3; i++) {
        if (!strcmp(name, names[i])) {
            *ret = (enum pfdd_form)i;
            return true;
        }
    }
    return false;
}

/* ---- requests ---- */

void pfdd_filter_deinit(struct pfdd_filter *filter)
{
    pfdd_filter_unmatch(filter);
    free(filter->source);
    *filter = (struct pfdd_filter){ 0 };
}

void pfdd_filter_unmatch(struct pfdd_filter *filter)
{
    if (filter->pattern)
        regfree(&filter->match);
    free(filter->pattern);
    filter->pattern = NULL;
}

static bool is_repeat(char c)
{
    return c == '*' || c == '+' || c == '?';
}

/* Counted repeats and back references make glibc's matcher need as much memory
 * or time as it likes: others' patterns may have neither. A '+' doubles what it
 * repeats; behind a group that may be doubled already. Repeats of repeats cost
 * more with each of them. */
static bool is_costly(const char *pattern)
{
    unsigned n_dear = 0;
    char before = '\0';
    for (const char *c = pattern; *c; before = *c++) {
        if (*c == '{')
            return true;
        if (*c == '\\' && c[1] >= '1' && c[1] <= '9')
            return true;
        n_dear += is_repeat(*c) && is_repeat(before);
        n_dear += *c == '+' && before == ')';
        if (*c == '\\' && c[1])
            c++;
    }
    return n_dear > DEAR_MAX || strlen(pattern) > 256;
}

bool pfdd_filter_match(struct pfdd_filter *filter, const char *pattern,
                       char *err, size_t n_err)
{
    if (is_costly(pattern)) {
        snprintf(err, n_err,
                 "'match' may have no {repeats}, no back references, no more "
                 "than 4 '+' behind groups and repeats of repeats, and no more "
                 "than 256 bytes");
        return false;
    }
    char *copy = strdup(pattern);
    int rc = copy ? regcomp(&filter->match, pattern, COMPILE) : REG_ESPACE;
    if (rc) {
        regerror(rc, NULL, err, n_err);
        free(copy);
        return false;
    }
    filter->pattern = copy;
    filter->n_matched = 0;
    return true;
}

bool pfdd_filter_source(struct pfdd_filter *filter, const char *source,
                        char *err, size_t n_err)
{
    size_t n = strlen(source);
    if (n == 0 || n > PFDD_NAME_MAX) {
        snprintf(err, n_err, "'source' is a name of 1 to %d bytes",
                 PFDD_NAME_MAX);
        return false;
    }
    free(filter->source);
    filter->source = strdup(source);
    snprintf(err, n_err, "out of memory");
    return filter->source != NULL;
}

/* glibc's matcher remembers each state that a message brings it into, some
 * kilobytes for each byte of it at worst: it is made to forget. */
static void match_anew(struct pfdd_filter *filter)
{
    regex_t fresh;
    filter->n_matched = 0;
    if (regcomp(&fresh, filter->pattern, COMPILE) != 0)
        return;
    regfree(&filter->match);
    filter->match = fresh;
}

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

bool pfdd_from_read(struct pfdd_from *ret, const char *text)
{
    *ret = (struct pfdd_from){ 0 };
    if (!strcmp(text, "oldest") || !strcmp(text, "now")) {
        ret->is_seq = text[0] == 'o';
        return true;
    }
    ret->is_time = true;
    return read_time(text, &ret->value);
}

static bool read_from(struct pfdd_from *ret, const json_t *value)
{
    *ret = (struct pfdd_from){ 0 };
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        ret->is_seq = true;
        ret->value = (uint64_t)json_integer_value(value);
        return true;
    }
    const char *text = json_string_value(value);
    return text && pfdd_from_read(ret, text);
}

static bool read_key(struct pfdd_request *ret, const char *key,
                     const json_t *value, char *err, size_t n_err)
{
    const char *text = json_string_value(value);
    if (!strcmp(key, "output")) {
        if (text && pfdd_form_find(text, &ret->form))
            return true;
        snprintf(err, n_err, "'output' is \"json\", \"text\" or \"raw\"");
        return false;
    }
    if (!strcmp(key, "from")) {
        if (read_from(&ret->from, value))
            return true;
        snprintf(err, n_err,
                 "'from' is a sequence number, a time such as "
                 "\"2026-11-20T20:09:49Z\", \"oldest\" or \"now\"");
        return false;
    }
    if (!strcmp(key, "match") && text && !ret->filter.pattern)
        return pfdd_filter_match(&ret->filter, text, err, n_err);
    if (!strcmp(key, "source") && text)
        return pfdd_filter_source(&ret->filter, text, err, n_err);
    if (!strcmp(key, "entries_only") && json_is_boolean(value)) {
        ret->filter.entries_only = json_is_true(value);
        return true;
    }
    if (!strcmp(key, "findings") && json_is_boolean(value)) {
        ret->filter.no_findings = !json_is_true(value);
        return true;
    }
    snprintf(err, n_err,
             "'%.32s' is no key of a request, or has a value of "
             "the wrong type",
             key);
    return false;
}

bool pfdd_request_read(struct pfdd_request *ret, const char *line, size_t n,
                       char *err, size_t n_err)
{
    json_error_t why;
    const char *key = NULL;
    json_t *value = NULL;
    bool ok = true;
    json_t *root = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(root)) {
        snprintf(err, n_err, "a request is one line with a JSON object: %s",
                 root ? "this is something else" : why.text);
        json_decref(root);
        return false;
    }
    json_object_foreach(root, key, value) ok =
        ok && read_key(ret, key, value, err, n_err);
    json_decref(root);
    return ok;
}

/* ---- cursor ---- */

static void attach(struct pfdd_reader *r, struct pfdd_chunk *chunk)
{
    pfdd_chunk_unref(r->chunk);
    r->chunk = chunk ? pfdd_chunk_ref(chunk) : NULL;
    r->line = 0;
    r->at = 0;
    if (chunk)
        r->n_chunk = chunk->number;
}

static void seek_line(struct pfdd_reader *r, size_t line)
{
    const struct pfdd_chunk *c = r->chunk;
    if (!c)
        return;
    r->line = line;
    r->at = line < c->n_lines ? c->lines[line].at : c->n;
}

static void seek_seq(struct pfdd_reader *r, uint64_t seq)
{
    struct pfdd_ring *ring = r->ring;
    for (size_t i = 0; i < ring->n_chunks; i++) {
        struct pfdd_chunk *c = ring->chunks[i];
        if (seq >= c->first_seq + c->n_lines && i + 1 < ring->n_chunks)
            continue;
        attach(r, c);
        if (seq > c->first_seq) {
            seek_line(r, seq - c->first_seq < c->n_lines
                             ? (size_t)(seq - c->first_seq)
                             : c->n_lines);
        }
        return;
    }
}

static uint64_t line_time(const struct pfdd_chunk *c, size_t line)
{
    static const char key[] = "\"time_unix_nano\":\"";
    const char *text = c->data + c->lines[line].at;
    const char *at = memmem(text, c->lines[line].n, key, sizeof key - 1);
    return at ? strtoull(at + sizeof key - 1, NULL, 10) : 0;
}

/* Stands at the first line of that time or later; lines of several sources
 * may come with times out of order. */
static void seek_time(struct pfdd_reader *r, uint64_t time)
{
    struct pfdd_ring *ring = r->ring;
    for (size_t i = 0; i < ring->n_chunks; i++) {
        const struct pfdd_chunk *c = ring->chunks[i];
        bool is_last = i + 1 == ring->n_chunks;
        size_t line = 0;
        if (c->time_max < time && !is_last)
            continue;
        while (line < c->n_lines && line_time(c, line) < time)
            line++;
        attach(r, ring->chunks[i]);
        seek_line(r, line);
        return;
    }
}

static void make_gap(struct pfdd_reader *r, uint64_t missed, uint64_t next_seq);

void pfdd_reader_init(struct pfdd_reader *r, struct pfdd_ring *ring,
                      struct pfdd_request *request)
{
    *r = (struct pfdd_reader){ .ring = ring,
                               .form = request->form,
                               .filter = request->filter,
                               .next = ring->readers,
                               .n_chunk = ring->next_chunk,
                               .first_seq = ring->next_seq };
    request->filter = (struct pfdd_filter){ 0 };
    ring->readers = r;
    const struct pfdd_from *from = &request->from;
    uint64_t oldest =
        ring->n_chunks ? ring->chunks[0]->first_seq : ring->next_seq;
    if (from->is_time) {
        seek_time(r, from->value);
    } else {
        seek_seq(r, from->is_seq ? from->value : ring->next_seq);
    }
    /* "oldest" is 0; sequence numbers begin with 1. */
    if (from->is_seq && from->value && from->value < oldest)
        make_gap(r, oldest - from->value, oldest);
}

void pfdd_reader_deinit(struct pfdd_reader *r)
{
    struct pfdd_reader **at = &r->ring->readers;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    attach(r, NULL);
    pfdd_filter_deinit(&r->filter);
    free(r->out);
}

uint64_t pfdd_reader_chunk(const struct pfdd_reader *r)
{
    return r->n_chunk;
}

bool pfdd_reader_has_missed(const struct pfdd_reader *r)
{
    const struct pfdd_ring *ring = r->ring;
    return r->missed || (r->chunk && ring->n_chunks &&
                         r->n_chunk + 1 < ring->chunks[0]->number);
}

uint64_t pfdd_reader_seq(const struct pfdd_reader *r)
{
    if (r->out_at < r->out_n)
        return r->out_seq;
    if (!r->chunk)
        return r->first_seq;
    return r->chunk->first_seq + r->line;
}

bool pfdd_reader_is_awaited(struct pfdd_reader *r, uint64_t now_ns)
{
    if (now_ns - r->taken_ns > LATELY_NS)
        return false;
    if (now_ns - r->period_ns > PERIOD_NS) {
        r->period_ns = now_ns;
        r->waited_ns = 0;
    }
    if (now_ns - r->awaited_ns < LATELY_NS)
        r->waited_ns += now_ns - r->awaited_ns;
    r->awaited_ns = now_ns;
    return r->waited_ns < PATIENCE_NS;
}

size_t pfdd_reader_memory(const struct pfdd_reader *r)
{
    return sizeof *r + r->out_size;
}

/* Moves on to the chunk behind this one; true: there is something to read or
 * a gap to tell of. */
static bool next_chunk(struct pfdd_reader *r)
{
    struct pfdd_ring *ring = r->ring;
    uint64_t number = r->chunk ? r->n_chunk + 1 : r->n_chunk;
    if (number >= ring->next_chunk)
        return false;
    uint64_t seq =
        r->chunk ? r->chunk->first_seq + r->chunk->n_lines : r->first_seq;
    struct pfdd_chunk *c = pfdd_ring_chunk(ring, number);
    if (c) {
        attach(r, c);
        return true;
    }
    c = ring->chunks[0];
    uint64_t missed = c->first_seq - seq;
    attach(r, c);
    if (missed)
        make_gap(r, missed, c->first_seq);
    return true;
}

/* ---- lines to bytes ---- */

static char *reserve(struct pfdd_reader *r, size_t n)
{
    if (r->out_at == r->out_n)
        r->out_at = r->out_n = 0;
    if (r->out_size - r->out_n >= n)
        return r->out + r->out_n;
    size_t size = r->out_n + n > 2 * OUT_ENOUGH ? r->out_n + n : 2 * OUT_ENOUGH;
    char *out = realloc(r->out, size);
    if (!out)
        return NULL;
    r->out = out;
    r->out_size = size;
    return out + r->out_n;
}

static void make_sse(struct pfdd_reader *r, const char *event, uint64_t seq,
                     const char *line, size_t n)
{
    char *at = reserve(r, n + 128);
    if (!at)
        return;
    int head = event ? sprintf(at, "event: %s\n", event) : 0;
    if (seq)
        head += sprintf(at + head, "id: %" PRIu64 "\n", seq);
    head += sprintf(at + head, "data: ");
    memcpy(at + head, line, n); /* ends with a newline */
    at[(size_t)head + n] = '\n';
    r->out_n += (size_t)head + n + 1;
}

static void make_gap(struct pfdd_reader *r, uint64_t missed, uint64_t next_seq)
{
    char line[160];
    r->missed += missed;
    r->gaps++;
    r->out_seq = next_seq; /* nothing else is in out */
    int n = 0;
    if (r->form == PFDD_TEXT) {
        n = snprintf(line, sizeof line,
                     "! gap: %" PRIu64 " records missed, next is %" PRIu64 "\n",
                     missed, next_seq);
    } else {
        n = snprintf(line, sizeof line,
                     "{\"type\":\"gap\",\"missed\":%" PRIu64
                     ",\"next_sequence\":%" PRIu64
                     ",\"reason\":\"subscriber_lag\"}\n",
                     missed, next_seq);
    }
    /* Bytes only: there is no place for it. */
    if (r->form == PFDD_RAW || r->filter.no_findings)
        return;
    if (r->form == PFDD_SSE) {
        make_sse(r, "gap", 0, line, (size_t)n);
        return;
    }
    char *at = reserve(r, (size_t)n);
    if (at) {
        memcpy(at, line, (size_t)n);
        r->out_n += (size_t)n;
    }
}

/* What it says beside its message. */
static void make_more(struct pfdd_reader *r, const struct pfdd_line *l,
                      const char *line)
{
    const char *source =
        r->source_name ? r->source_name(r->source_user, l->source) : NULL;
    char *at = reserve(r, pfdd_line_room(l->n, source));
    if (at)
        r->out_n += pfdd_line_text(l->kind, line, l->n, source, at);
}

static bool make_message(struct pfdd_reader *r, const struct pfdd_line *l,
                         const char *line)
{
    size_t n = 0;
    /* The message first, what is escaped behind it. */
    char *at = reserve(r, (size_t)l->n * 5 + 1);
    if (!at || !pfdd_line_message(line, l->n, at, &n))
        return false;
    if (r->form == PFDD_TEXT) {
        size_t n_escaped = pfd_escape_for_terminal(at + n, at, n);
        memmove(at, at + n, n_escaped);
        n = n_escaped;
        if (n == 0 || at[n - 1] != '\n')
            at[n++] = '\n';
    }
    r->out_n += n;
    return true;
}

static void make_text(struct pfdd_reader *r, const struct pfdd_line *l,
                      const char *line)
{
    bool has_message = l->kind == PFDD_ENTRY && make_message(r, l, line);
    bool has_more = !has_message || (!r->filter.no_findings &&
                                     pfdd_line_has_findings(line, l->n));
    /* Of raw bytes nobody could tell what is no message. */
    if (r->form == PFDD_TEXT && has_more)
        make_more(r, l, line);
}

static void make_line(struct pfdd_reader *r, const struct pfdd_line *l,
                      uint64_t seq)
{
    const char *line = r->chunk->data + l->at;
    static const char *const events[] = { NULL, "finding", "gap", "other" };
    if (r->form == PFDD_SSE) {
        make_sse(r, events[l->kind], seq, line, l->n);
    } else if (r->form == PFDD_JSON) {
        char *at = reserve(r, l->n);
        if (!at)
            return;
        memcpy(at, line, l->n);
        r->out_n += l->n;
    } else {
        make_text(r, l, line);
    }
}

static bool matches(struct pfdd_reader *r, const struct pfdd_line *l)
{
    regmatch_t range = { 0, 0 };
    size_t n = 0;
    /* Used as room only: nothing is added to out. */
    char *at = reserve(r, l->n);
    if (!at || !pfdd_line_message(r->chunk->data + l->at, l->n, at, &n))
        return false;
    range.rm_eo = (regoff_t)n;
    r->filter.n_matched += n;
    if (r->filter.n_matched > MATCHED_MAX)
        match_anew(&r->filter);
    return regexec(&r->filter.match, at, 1, &range, REG_STARTEND) == 0;
}

static bool is_wanted(struct pfdd_reader *r, const struct pfdd_line *l)
{
    const struct pfdd_filter *f = &r->filter;
    if (f->no_findings && l->kind != PFDD_ENTRY)
        return false;
    if (l->kind == PFDD_GAP)
        return true;
    if (f->source && r->source_name) {
        const char *name = r->source_name(r->source_user, l->source);
        if (!name || strcmp(name, f->source) != 0)
            return false;
    }
    if (l->kind == PFDD_ENTRY)
        return !f->pattern || matches(r, l);
    /* A pattern chooses messages, and what is found in them. */
    return !f->entries_only &&
           (!f->pattern ||
            pfdd_line_is_of_buffer(r->chunk->data + l->at, l->n));
}

static bool is_plain(const struct pfdd_reader *r)
{
    return r->form == PFDD_JSON && !r->filter.pattern && !r->filter.source &&
           !r->filter.entries_only && !r->filter.no_findings;
}

/* Makes lines until there are enough. A pattern that wants nothing must not
 * keep the loop from its other work: a chunk at a time. */
static void make_lines(struct pfdd_reader *r)
{
    while (r->line < r->chunk->n_lines && r->out_n - r->out_at < OUT_ENOUGH) {
        const struct pfdd_line *l = &r->chunk->lines[r->line];
        uint64_t seq = r->chunk->first_seq + r->line;
        if (r->out_at == r->out_n)
            r->out_seq = seq;
        if (is_wanted(r, l)) {
            make_line(r, l, seq);
            r->lines++;
        }
        r->line++;
    }
}

bool pfdd_reader_peek(struct pfdd_reader *r, const char **bytes, size_t *n)
{
    while (r->out_at == r->out_n) {
        bool at_end = !r->chunk || (is_plain(r) ? r->at == r->chunk->n
                                                : r->line == r->chunk->n_lines);
        if (at_end) {
            if (!next_chunk(r))
                return false;
        } else if (is_plain(r)) {
            *bytes = r->chunk->data + r->at;
            *n = r->chunk->n - r->at;
            return true;
        } else {
            make_lines(r);
        }
    }
    *bytes = r->out + r->out_at;
    *n = r->out_n - r->out_at;
    return true;
}

/* A long line needs several times its length for a moment. */
static void give_room_back(struct pfdd_reader *r)
{
    if (r->out_size <= 2 * OUT_ENOUGH)
        return;
    free(r->out);
    r->out = NULL;
    r->out_at = r->out_n = r->out_size = 0;
}

void pfdd_reader_take(struct pfdd_reader *r, size_t n)
{
    r->taken_ns = uv_hrtime();
    if (r->out_at < r->out_n) {
        r->out_at += n;
        if (r->out_at == r->out_n)
            give_room_back(r);
        return;
    }
    r->at += n;
    const struct pfdd_chunk *c = r->chunk;
    while (r->line < c->n_lines &&
           c->lines[r->line].at + (size_t)c->lines[r->line].n <= r->at) {
        r->line++;
        r->lines++;
    }
}
