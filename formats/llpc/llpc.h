/* SPDX-License-Identifier: MIT */
/*
 * AMD's LLPC DebugPrintf: what the files of this format share. Nothing
 * outside of this folder includes it but the list of formats.
 */
#ifndef LLPC_H
#define LLPC_H

#include "core/decode/format.h"

/* Bits of an id: an entry's header has 16 bits of size and 48 of id. */
enum {
    LLPC_ID_BITS = 48,
    LLPC_ENTRY_HEADER = 8, /* bytes */
};

/*
 * A message of OpAbortKHR in the place of a format string: a literal whose
 * layout words are the message's number of dwords, a bit for each of them (1:
 * constant), and the constants, two to a word. n_arguments: dwords that are
 * not constant, which an entry holds in their order.
 */
static inline bool llpc_is_abort(const struct pfd_string *s)
{
    return (s->flags & (PFD_STRING_LITERAL | PFD_STRING_OWN)) ==
           PFD_STRING_LITERAL;
}

/*
 * A string of PFD_PRINTF (extension.c, row_strings.c). Its layout words are the arguments
 * that take two dwords, as a mask; those of them that stand for texts, as
 * another; flags, level << 8 and bytes of its file's name << 32; the line; the
 * name. As a literal it is a text that an argument can stand for.
 */
enum {
    LLPC_OWN_WORDS = 4, /* before the name */
};

static inline bool llpc_is_own(const struct pfd_string *s)
{
    return s->flags & PFD_STRING_OWN;
}

/* Enum PFD_ROW_ORIGIN... of one. */
static inline unsigned llpc_extension_flags(const struct pfd_string *s)
{
    return (unsigned)pfd_string_layout(s)[2] & 0xff;
}

/* Does its entry say itself whether it is whole? */
bool llpc_is_committed(const struct pfd_string *s);

/* Bytes of payload of one's entry. */
uint64_t llpc_extension_payload(const struct pfd_string *s);

/* The commit word of bytes [n] at byte `at` of a buffer. */
uint32_t llpc_commit_word(const uint8_t *bytes, size_t n, uint64_t at);

/* Whether an entry's text takes more than its steps: abort messages, and
 * arguments that stand for texts. */
static inline bool llpc_is_made(const struct pfd_string *s)
{
    return llpc_is_abort(s) || (llpc_is_own(s) && pfd_string_layout(s)[1]);
}

/* As llpc_abort_make(), of one with such arguments. */
void llpc_extension_make(const struct pfd_record_view *record_view,
                         struct pfd_synthesized *ret);

/* Member of pfd_format_llpc, and its origin_names. */
size_t llpc_origin(const struct pfd_record_view *record_view,
                   struct pfd_origin *ret);
extern const char *const llpc_origin_names[];

/* As llpc_load(), of rows; adds to *n_rows. */
enum pfd_status llpc_load_rows(const struct pfd_format *format,
                               const struct pfd_image *image,
                               struct pfd_strings *strings,
                               struct pfd_report *report, size_t *n_rows,
                               struct pfd_error *err);

/* Dwords of the whole message. */
static inline uint32_t llpc_abort_dwords(const struct pfd_string *s)
{
    return (uint32_t)pfd_string_layout(s)[0];
}

/* Puts the message together: its bytes, and its text where it has one. */
void llpc_abort_make(const struct pfd_record_view *record_view,
                     struct pfd_synthesized *ret);

/* Bytes of payload that an entry of the string has, by the metadata. */
uint64_t llpc_payload(const struct pfd_string *s);

/* True when a string of this id has exactly this payload. */
bool llpc_law_holds(const struct pfd_string *s, uint64_t n_payload);

/*
 * Chooses among the strings of one id and among the widths that their arguments
 * can have: sets string, layout, flags and findings of the batch's newest
 * record, an entry, and adds the other readings.
 */
void llpc_choose(struct pfd_walk *walk, const struct pfd_string *first,
                 struct pfd_record *entry);

/* The slots of the arguments that n_payload bytes hold; layout 0: the
 * metadata's. Returns how many. */
size_t llpc_fill_slots(const struct pfd_string *s, uint64_t layout, bool cut,
                       uint32_t n_payload, struct pfd_slot *ret);

/* Members of pfd_format_llpc. */
void llpc_layout(const struct pfd_string *s,
                 const struct pfd_program_facts *facts, struct pfd_layout *ret);
bool llpc_is_record(const struct pfd_record_view *record_view);
size_t llpc_slots(const struct pfd_record_view *record_view,
                  struct pfd_slot *ret, uint64_t *findings);
const char *llpc_layout_text(uint64_t layout);

/*
 * Reads the string table of a code object into self's table: key is the 48-bit
 * id, layout the bit mask of arguments that take two dwords, cut to the
 * arguments that there are and without zero words at its end, so that equal
 * layouts are equal.
 *
 * n_rows: how many rows the table has that could be read, those that no entry
 * can reach (wide_index) and those of another machine's file (wrong_machine)
 * included. What is odd is a finding, at its offset in the file; a file
 * without a table has none here.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status llpc_load(const struct pfd_format *self,
                          const struct pfd_image *image,
                          struct pfd_strings *strings,
                          struct pfd_report *report, size_t *n_rows,
                          struct pfd_error *err);

#endif
