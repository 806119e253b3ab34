/* SPDX-License-Identifier: MIT */
/*
 * What a line of the ring says, for outputs that are not JSON: an entry's
 * message, and as text for a terminal what has none. `printfdecode follow`
 * has it, too: a subscriber that gets JSON and shows text.
 */
#ifndef PFDD_LINE_H
#define PFDD_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "delivery/ring.h"

/* Of a line, by its type. */
enum pfdd_kind pfdd_line_kind(const char *line, size_t n);

/* True: it refuses something; why is in ret [n_ret]. */
bool pfdd_line_error(const char *line, size_t n, char *ret, size_t n_ret);

/* The id of an entry line; false: it has none. */
bool pfdd_line_id(const char *line, size_t n, uint64_t *ret);

/* True: it says of something that it is lost, damaged or doubtful; notes do
 * not. */
bool pfdd_line_is_doubtful(enum pfdd_kind kind, const char *line, size_t n);

/* The message of an entry line [n], unescaped, into ret (room for n bytes);
 * false: it has none (unknown id). */
bool pfdd_line_message(const char *line, size_t n, char *ret, size_t *n_ret);

/* True: it may say more than its message: pfdd_line_text() knows. */
bool pfdd_line_has_findings(const char *line, size_t n);

/* True: a finding about the buffer, none of a single entry. */
bool pfdd_line_is_of_buffer(const char *line, size_t n);

/*
 * What a line [n] says beside its message, as text: "! SOURCE: ..." of a gap,
 * of a finding that is no note, and of an entry's findings; the words of an
 * entry without message, "<unknown id ...>". source: of a gap. ret has
 * pfdd_line_room(); returns how many bytes, 0: nothing.
 */
size_t pfdd_line_text(enum pfdd_kind kind, const char *line, size_t n,
                      const char *source, char *ret);
size_t pfdd_line_room(size_t n, const char *source);

#endif
