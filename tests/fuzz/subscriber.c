/* SPDX-License-Identifier: MIT */
#include "subscriber.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include <printfdecode/subscriber.h>

#include "fuzz.h"

void subscriber_init(struct subscriber *s, struct pfdd *d, const char *request,
                     bool is_sse, size_t bite)
{
    char err[256];
    struct pfdd_request wanted = { .from = { .is_seq = true, .value = 1 } };
    FUZZ_CHECK(
        pfdd_request_read(&wanted, request, strlen(request), err, sizeof err) &&
        pfdd_request_finish(&wanted, err, sizeof err));
    if (is_sse)
        wanted.form = PFDD_SSE;
    *s = (struct subscriber){ .d = d, .bite = bite, .next = 1 };
    FUZZ_CHECK(pfdd_cursor_init(&s->cursor, &d->render_cache, &wanted));
    pfdd_request_deinit(&wanted);
    s->is_filtered = s->cursor.render_choice != NULL;
}

/* ---- one line ---- */

static uint64_t number_of(const json_t *value)
{
    FUZZ_CHECK(json_is_number(value));
    return (uint64_t)json_number_value(value);
}

static void check_json(struct subscriber *s, const char *line, size_t n)
{
    json_error_t why;
    /* Numbers have up to 64 bits, jansson's integers 63. */
    json_t *root = json_loadb(line, n,
                              JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL |
                                  JSON_DECODE_INT_AS_REAL,
                              &why);
    if (!root)
        fprintf(stderr, "%s: %.*s\n", why.text, (int)n, line);
    FUZZ_CHECK(json_string_value(json_object_get(root, "type")));
    const json_t *behind = json_object_get(root, "next_sequence");
    if (behind) { /* The reader's own record of a gap. */
        uint64_t missed = number_of(json_object_get(root, "missed"));
        uint64_t next = number_of(behind);
        FUZZ_CHECK(next - missed == s->next ||
                   (s->is_filtered && next - missed > s->next));
        s->next = next;
    } else {
        uint64_t seq = number_of(json_object_get(root, "sequence"));
        FUZZ_CHECK(seq == s->next || (s->is_filtered && seq > s->next));
        FUZZ_CHECK(!s->id || s->id == seq);
        s->next = seq + 1;
    }
    json_decref(root);
}

static void check_event(struct subscriber *s, const char *line, size_t n)
{
    if (n > 4 && !memcmp(line, "id: ", 4)) {
        s->id = strtoull(line + 4, NULL, 10);
    } else if (n > 6 && !memcmp(line, "data: ", 6)) {
        check_json(s, line + 6, n - 6);
        s->id = 0;
    } else {
        FUZZ_CHECK(n == 0 || (n > 7 && !memcmp(line, "event: ", 7)));
    }
}

static void check_text(const char *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK((uint8_t)line[i] >= ' ' || line[i] == '\t');
}

static void check_line(struct subscriber *s, const char *line, size_t n)
{
    if (s->cursor.form == PFDD_JSON) {
        check_json(s, line, n);
    } else if (s->cursor.form == PFDD_SSE) {
        check_event(s, line, n);
    } else if (s->cursor.form == PFDD_TEXT) {
        check_text(line, n);
    }
}

/* ---- entries ---- */

/* All of a stream, whose items have the numbers that they should have. */
static void check_entries(const struct subscriber *s)
{
    struct pfd_subscriber *reader = NULL;
    const struct pfd_batch *batch;
    struct pfd_error err;
    uint64_t next = 1;
    size_t at = 0;
    enum pfd_status status = PFD_MORE;
    FUZZ_CHECK(pfd_subscriber_new(NULL, &reader, NULL) == PFD_OK);
    while (status == PFD_OK || at < s->n_line) {
        size_t taken = 0;
        pfd_subscriber_feed(reader, s->line + at, s->n_line - at, &taken, NULL);
        at += taken;
        while ((status = pfd_subscriber_next(reader, &batch, &err)) == PFD_OK) {
            struct pfd_chunk_item *item;
            uint64_t sequence = 0;
            FUZZ_CHECK(s->is_filtered ||
                       batch->sequence == next + batch->missed);
            next = batch->sequence;
            while (pfd_subscriber_item(reader, &item, &sequence, NULL) ==
                   PFD_OK) {
                FUZZ_CHECK(sequence == next);
                next++;
            }
        }
        FUZZ_CHECK(status == PFD_MORE);
    }
    FUZZ_CHECK(s->is_filtered || next == s->d->ring.next_seq);
    pfd_subscriber_free(reader);
}

/* ---- bytes ---- */

static void keep(struct subscriber *s, const char *bytes, size_t n)
{
    if (s->n_line + n + 1 > s->line_size) {
        s->line_size = 2 * (s->n_line + n) + 4096;
        s->line = realloc(s->line, s->line_size);
        FUZZ_CHECK(s->line);
    }
    memcpy(s->line + s->n_line, bytes, n);
    s->n_line += n;
    s->line[s->n_line] = '\0';
}

static void take_bytes(struct subscriber *s, const char *bytes, size_t n)
{
    while (n) {
        const char *newline =
            s->cursor.form == PFDD_ENTRIES ? NULL : memchr(bytes, '\n', n);
        size_t n_here = newline ? (size_t)(newline + 1 - bytes) : n;
        keep(s, bytes, n_here);
        bytes += n_here;
        n -= n_here;
        if (newline) {
            check_line(s, s->line, s->n_line - 1);
            s->n_line = 0;
        }
    }
}

void subscriber_read(struct subscriber *s)
{
    const char *bytes = NULL;
    size_t n = 0;
    while (pfdd_cursor_peek(&s->cursor, &bytes, &n)) {
        FUZZ_CHECK(n > 0);
        n = n < s->bite ? n : s->bite;
        take_bytes(s, bytes, n);
        pfdd_cursor_consume(&s->cursor, n);
    }
}

void subscriber_deinit(struct subscriber *s)
{
    const struct pfdd_cursor *r = &s->cursor;
    uint64_t end = s->d->ring.next_seq;
    subscriber_read(s);
    if (r->form == PFDD_ENTRIES) {
        check_entries(s);
    } else {
        FUZZ_CHECK(r->form == PFDD_RAW || s->n_line == 0);
    }
    FUZZ_CHECK(s->is_filtered || r->lines + r->missed == end - 1);
    FUZZ_CHECK(pfdd_cursor_seq(r) == end);
    if (!s->is_filtered && (r->form == PFDD_JSON || r->form == PFDD_SSE))
        FUZZ_CHECK(s->next == end);
    free(s->line);
    pfdd_cursor_deinit(&s->cursor);
}
