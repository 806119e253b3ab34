/* SPDX-License-Identifier: MIT */
/*
 * What a daemon's line of JSON says: an entry's message, and as text for a
 * terminal what has none.
 */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_kind {
    LINE_ENTRY,
    LINE_FINDING,
    LINE_GAP,
    LINE_OTHER,
};

/* Of a line, by its type. */
enum line_kind line_kind(const char *line, size_t n);

/* True: it refuses something; why is in ret [n_ret]. */
bool line_error(const char *line, size_t n, char *ret, size_t n_ret);

/* The id of an entry line; false: it has none. */
bool line_id(const char *line, size_t n, uint64_t *ret);

/* True: it says of something that it is lost, damaged or doubtful; notes do
 * not. */
bool line_is_doubtful(enum line_kind kind, const char *line, size_t n);

/* The message of an entry line [n], unescaped, into ret (room for n bytes);
 * false: it has none (unknown id). */
bool line_message(const char *line, size_t n, char *ret, size_t *n_ret);

/* True: it may say more than its message: line_text() knows. */
bool line_has_findings(const char *line, size_t n);

/* True: a finding about the buffer, none of a single entry. */
bool line_is_of_buffer(const char *line, size_t n);

/*
 * What a line [n] says beside its message, as text: "! SOURCE: ..." of a gap,
 * of a finding that is no note, and of an entry's findings; the words of an
 * entry without message, "<unknown id ...>". source: of a gap. ret has
 * line_room(); returns how many bytes, 0: nothing.
 */
size_t line_text(enum line_kind kind, const char *line, size_t n,
                 const char *source, char *ret);
size_t line_room(size_t n, const char *source);

#endif
