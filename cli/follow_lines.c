/* SPDX-License-Identifier: MIT */
#include "follow_lines.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "line.h"
#include "options.h"
#include "output.h"

enum {
    LINE_MAX_BYTES = 64 << 20, /* a daemon's have 1 MiB at most */
    HEAD = 64,                 /* bytes of a line that have its number */
    SHOWN = 40,                /* bytes of what is no line */
};

void follow_lines_init(struct follow_lines *ret, const struct options *o)
{
    *ret = (struct follow_lines){
        .o = o,
        .is_json = o->output && !strcmp(o->output, "json"),
        .is_raw = o->output && !strcmp(o->output, "raw"),
    };
}

void follow_lines_deinit(struct follow_lines *lines)
{
    free(lines->bytes);
    free(lines->room);
}

__attribute__((format(printf, 2, 3))) static enum outcome fail(
    struct follow_lines *l, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    vsnprintf(l->why, sizeof l->why, text, ap);
    va_end(ap);
    return OUTCOME_FAILED;
}

static bool has_room(char **bytes, size_t *size, size_t n)
{
    if (n <= *size)
        return true;
    size_t wanted = n < SIZE_MAX / 2 ? 2 * n : n;
    char *more = realloc(*bytes, wanted);
    if (!more)
        return false;
    *bytes = more;
    *size = wanted;
    return true;
}

static bool begins(const char *line, size_t n, const char *with)
{
    size_t n_with = strlen(with);
    return n >= n_with && memcmp(line, with, n_with) == 0;
}

/* ---- what is no record ---- */

static enum outcome stranger(struct follow_lines *l, const char *line, size_t n)
{
    char shown[4 * SHOWN + 1];
    size_t n_shown = n < SHOWN ? n : SHOWN;
    shown[pfd_escape_for_terminal(shown, line, n_shown)] = '\0';
    shown[strcspn(shown, "\r\n")] = '\0';
    return fail(l, "no printfdecoded that speaks to subscribers: '%s'", shown);
}

/* ---- records ---- */

static uint64_t sequence_of(const char *line, size_t n)
{
    static const char key[] = ",\"sequence\":";
    const char *at = memmem(line, n < HEAD ? n : HEAD, key, sizeof key - 1);
    return at ? strtoull(at + sizeof key - 1, NULL, 10) : 0;
}

static bool has_id(const struct options *o, uint64_t id)
{
    for (size_t i = 0; i < o->n_ids; i++) {
        if (o->ids[i] == id)
            return true;
    }
    return false;
}

/* A choice of entries leaves out what is said of single ones, as a pattern
 * does; about the others they say it themselves. */
static bool is_wanted(const struct follow_lines *l, enum line_kind kind,
                      const char *line, size_t n)
{
    uint64_t id = 0;
    if (kind != LINE_ENTRY && l->o->no_findings)
        return false;
    if (!l->o->n_ids)
        return true;
    if (kind != LINE_ENTRY)
        return line_is_of_buffer(line, n);
    return line_id(line, n, &id) && has_id(l->o, id);
}

/* The message first, what is escaped behind it. */
static bool write_message(struct follow_lines *l, const char *line, size_t n,
                          bool *has_message)
{
    size_t n_message = 0;
    *has_message = line_message(line, n, l->room, &n_message);
    if (!*has_message)
        return true;
    char *at = l->room;
    if (!l->is_raw) {
        at += n_message;
        n_message = pfd_escape_for_terminal(at, l->room, n_message);
        if (n_message == 0 || at[n_message - 1] != '\n')
            at[n_message++] = '\n';
    }
    return output_gather(at, n_message);
}

static bool write_text(struct follow_lines *l, enum line_kind kind,
                       const char *line, size_t n)
{
    bool has_message = false;
    size_t n_room = line_room(n, NULL) + 1;
    if (!has_room(&l->room, &l->n_room, n_room))
        return false;
    if (kind == LINE_ENTRY && !write_message(l, line, n, &has_message))
        return false;
    if (l->is_raw ||
        (has_message && (l->o->no_findings || !line_has_findings(line, n))))
        return true;
    size_t n_text = line_text(kind, line, n, NULL, l->room);
    return n_text == 0 || output_gather(l->room, n_text);
}

static enum outcome take_line(struct follow_lines *l, const char *line,
                              size_t n)
{
    enum line_kind kind = line_kind(line, n);
    char why[200];
    if (line_error(line, n, why, sizeof why))
        return fail(l, "refused: %s", why);
    if (!begins(line, n, "{\"type\":\""))
        return stranger(l, line, n);
    bool is_chosen = l->o->n_ids || l->o->no_findings;
    bool is_left_out = is_chosen && !is_wanted(l, kind, line, n);
    if (!is_left_out && kind == LINE_ENTRY && l->n_entries == l->o->limit)
        return OUTCOME_STOPPED;
    l->sequence = sequence_of(line, n);
    if (is_left_out)
        return OUTCOME_DONE;
    l->is_doubtful |= line_is_doubtful(kind, line, n);
    bool ok =
        l->is_json ? output_gather(line, n) : write_text(l, kind, line, n);
    l->n_entries += kind == LINE_ENTRY;
    return ok && l->n_entries < l->o->limit ? OUTCOME_DONE : OUTCOME_STOPPED;
}

enum outcome follow_lines_take(struct follow_lines *l, const char *bytes,
                               size_t n)
{
    enum outcome outcome = OUTCOME_DONE;
    size_t at = 0;
    char *newline = NULL;
    /* There may be no room yet to point into. */
    if (n == 0)
        return OUTCOME_DONE;
    if (l->n + n > LINE_MAX_BYTES || !has_room(&l->bytes, &l->size, l->n + n))
        return fail(l, "a line of more than %zu bytes", l->n);
    memcpy(l->bytes + l->n, bytes, n);
    size_t sought = l->n;
    l->n += n;
    while (outcome == OUTCOME_DONE &&
           (newline = memchr(l->bytes + sought, '\n', l->n - sought))) {
        size_t n_line = (size_t)(newline - l->bytes) + 1 - at;
        outcome = take_line(l, l->bytes + at, n_line);
        at += n_line;
        sought = at;
    }
    l->n -= at;
    memmove(l->bytes, l->bytes + at, l->n);
    l->is_closed = !output_flush();
    return l->is_closed && outcome == OUTCOME_DONE ? OUTCOME_STOPPED : outcome;
}

enum outcome follow_lines_end(struct follow_lines *l)
{
    if (l->n == 0)
        return OUTCOME_END;
    if (!begins(l->bytes, l->n, "{"))
        return stranger(l, l->bytes, l->n);
    return fail(l, "it has ended within a line, of which %zu bytes came", l->n);
}
