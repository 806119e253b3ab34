/* SPDX-License-Identifier: MIT */
/*
 * A compiled format string: a checked list of steps, and the text that the
 * steps make of one entry's payload. Knows conversions and values; does not
 * know buffers, ids or the source of a payload.
 *
 * Two stages. pfd_program_compile() reads the format string once: each step is
 * literal text followed by at most one conversion of one scalar (a vector
 * becomes a step for each component, a `*` a step of its own).
 * pfd_program_bind() then assigns each scalar its place in the payload and its
 * type; a conversion that cannot be printed becomes a step that shows it as
 * written. A bound list is immutable, can be shared between threads and never
 * reads outside of the slots it was bound to.
 *
 * The grammar is C99's printf, plus vN (N = 2, 3, 4, 8, 16) before or after
 * the precision and the length modifiers hl, q and Z (an old name of z):
 *   % [-+ #0']* (digits | *)? (. (digits | *)?)? vN? length? conversion
 * Length modifiers other than hh and h never decide a width: the stored scalar
 * does. %s prints a stored string, cut and padded as in C, %lc and %C a
 * character in UTF-8. %s of any other scalar, %n and unknown letters take their
 * scalar and are shown as written; no part of the format string ever reaches
 * the C library.
 */
#ifndef PFD_PROGRAM_H
#define PFD_PROGRAM_H

#include "core/print/number.h"
#include "core/print/step.h"

/* The bytes [*n] of a PFD_STORE_STRING step; NULL: a null string. */
const char *pfd_step_string(const struct pfd_step *step, const uint8_t *payload,
                            size_t *n);

/*
 * Upper bounds for the caller's memory: steps and escaped bytes that a text of
 * [n] bytes can need.
 */
size_t pfd_program_steps_max(const char *text, size_t n);

/*
 * Compiles text [n] into ret [pfd_program_steps_max()]; the last step is END.
 * `escaped offsets` are those of pfd_escape_json() over the same text. Returns
 * the number of steps. Any bytes are a format string: there is no failure.
 */
size_t pfd_program_compile(const char *text, size_t n, struct pfd_step *ret,
                           struct pfd_program_facts *facts);

/* The same for text that is no format string: all of it is literal. ret has
 * room for pfd_program_steps_max(). */
size_t pfd_program_literal(const char *text, size_t n, struct pfd_step *ret);

/* Joins vector components by "," instead of ", ". */
void pfd_program_join_tight(struct pfd_step *steps, size_t n_steps);

/*
 * Binds steps to slots [n_slots], scalar by scalar in order. cut: each vector
 * takes one scalar. Returns finding bits (payload_short, unused_arguments,
 * bad_conversion, width_clamped). room: the bytes that printing raw may need.
 */
uint64_t pfd_program_bind(struct pfd_step *steps, size_t n_steps,
                          const struct pfd_slot *slots, size_t n_slots,
                          bool cut, size_t *room);

/* Finds scalars that are 64 bits wide by their length modifiers, in order: sets
 * the bits of the first `max` of them in ret, which is zeroed. Returns the
 * number of scalars. */
size_t pfd_program_suggest(const struct pfd_step *steps, size_t n_steps,
                           bool cut, uint64_t *ret, size_t max);

/*
 * Printing. out has room for bind()'s result plus the text's own bytes (raw or
 * escaped); payload holds every bound slot. Each returns the end of its output.
 * findings: bits are added (width_clamped, from a `*`). text is followed by
 * PFD_PROGRAM_READ_BEYOND bytes that may be read and that no thread writes.
 *
 * pfd_program_print(): the bytes that the program's printf would have written
 * (mode PFD_RAW, text is the format string), or the same as the inside of a
 * JSON string (PFD_ESCAPED, text is the escaped format string; exact only
 * without %c and %s, whose bytes can need escaping: pfd_program_has_char()
 * tests for them).
 */
enum {
    PFD_PROGRAM_READ_BEYOND = 16
};
char *pfd_program_print(char *out, const struct pfd_step *steps,
                        const char *text, unsigned mode, const uint8_t *payload,
                        uint64_t *findings);

/* One scalar of a bound step as its conversion reads it: integers narrowed and
 * extended to 64 bits. */
bool pfd_step_is_float(const struct pfd_step *step);
bool pfd_step_is_signed(const struct pfd_step *step);
uint64_t pfd_step_integer(const struct pfd_step *step, const uint8_t *payload);
double pfd_step_double(const struct pfd_step *step, const uint8_t *payload);

bool pfd_program_has_char(const struct pfd_step *steps, size_t n_steps);

/*
 * The scalars of the steps as JSON values, each with a comma behind it:
 * integers with the conversion's sign and narrowing, floats in the shortest
 * form that reads back exactly (a 4-byte one as binary32), strings as strings
 * or null. out has room for PFD_ROOM_ARGUMENT bytes for each step, and for
 * PFD_ROOM_BYTE for each byte of strings.
 */
enum {
    PFD_ROOM_ARGUMENT = 72,
    PFD_ROOM_BYTE = 6
};
char *pfd_program_print_arguments(char *out, const struct pfd_step *steps,
                                  const uint8_t *payload);

/* pfd_program_print() and pfd_program_print_arguments() in one pass: the latter
 * writes at *arguments, which moves to the end. */
char *pfd_program_print_both(char *out, const struct pfd_step *steps,
                             const char *text, unsigned mode,
                             const uint8_t *payload, uint64_t *findings,
                             char **arguments);

/* An argument without a conversion, as an unsigned JSON integer or a string,
 * with a comma. */
char *pfd_program_print_slot(char *out, const struct pfd_slot *slot,
                             const uint8_t *payload);

#endif
