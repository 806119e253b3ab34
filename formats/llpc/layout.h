/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of AMD's LLPC DebugPrintf. Only files of this folder and
 * tests include it.
 */
#ifndef LLPC_LAYOUT_H
#define LLPC_LAYOUT_H

#include "core/decode/format.h"

/* Parts of an entry's header: 16 bits of size, 48 of id. */
enum {
    LLPC_ID_BITS = 48,
    LLPC_ENTRY_HEADER = 8, /* bytes */
};

/*
 * A string that stands for a message of OpAbortKHR: a literal. Its layout words
 * are the message's number of dwords, a bit for each dword (1: constant), and
 * the constants, two to a word. n_arguments: the number of other dwords, which
 * an entry holds in their order.
 */
static inline bool llpc_is_abort(const struct pfd_string *s)
{
    return (s->flags & (PFD_STRING_LITERAL | PFD_STRING_OWN)) ==
           PFD_STRING_LITERAL;
}

/*
 * A string of PFD_PRINTF (extension.c, row_strings.c). Its layout words are a
 * mask of arguments that take two dwords; a mask of arguments that stand for
 * texts; flags, level << 8 and length of the file name << 32; the line; the
 * file name. A literal is a text that an argument can stand for.
 */
enum {
    LLPC_OWN_WORDS = 4, /* before the name */
};

static inline bool llpc_is_extension(const struct pfd_string *s)
{
    return s->flags & PFD_STRING_OWN;
}

/* Bits of enum PFD_ROW_ORIGIN... of the string. */
static inline unsigned llpc_extension_flags(const struct pfd_string *s)
{
    return (unsigned)pfd_string_layout(s)[2] & 0xff;
}

/* Do its entries have a commit word? */
bool llpc_is_committed(const struct pfd_string *s);

/* Bytes of payload of its entries. */
uint64_t llpc_extension_payload(const struct pfd_string *s);

/* The commit word of bytes [n] at byte `at` of a buffer. */
uint32_t llpc_commit_word(const uint8_t *bytes, size_t n, uint64_t at);

/* Is the text of an entry more than its steps? So it is for abort messages, and
 * for arguments that stand for texts. */
static inline bool llpc_is_synthesized(const struct pfd_string *s)
{
    return llpc_is_abort(s) ||
           (llpc_is_extension(s) && pfd_string_layout(s)[1]);
}

/* Like llpc_abort_make(), for a string with arguments that stand for texts. */
void llpc_extension_make(const struct pfd_record_view *record_view,
                         struct pfd_synthesized *ret);

/* Member of pfd_format_llpc, and its names of origins. */
size_t llpc_origin(const struct pfd_record_view *record_view,
                   struct pfd_origin *ret);
extern const char *const llpc_origin_names[];

/* Like llpc_load(), for rows; adds to *n_rows. */
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

/* Assembles the message: its bytes, and its text if it has one. */
void llpc_abort_make(const struct pfd_record_view *record_view,
                     struct pfd_synthesized *ret);

/* Bytes of payload of the string's entries, by the metadata. */
uint64_t llpc_payload(const struct pfd_string *s);

/* Does a string of this id have exactly this payload? */
bool llpc_law_holds(const struct pfd_string *s, uint64_t n_payload);

/*
 * Chooses among the strings of one id, and among the widths that their
 * arguments can have. Sets string, layout, flags and findings of the batch's
 * newest record, an entry, and adds the other readings.
 */
void llpc_choose(struct pfd_walk *walk, const struct pfd_string *first,
                 struct pfd_record *entry);

/* Fills the slots of the arguments that n_payload bytes hold; layout 0: the
 * metadata's. Returns their number. */
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
 * Reads the string table of a code object into self's table. key: the 48-bit
 * id. layout: the mask of arguments that take two dwords, limited to the
 * existing arguments and without trailing zero words, so that equal layouts
 * compare equal.
 *
 * n_rows: the number of readable rows, including rows that no entry can reach
 * (wide_index) and rows of another machine's file (wrong_machine). Defects are
 * findings with their offset in the file; a file without a table has none here.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status llpc_load(const struct pfd_format *self,
                          const struct pfd_image *image,
                          struct pfd_strings *strings,
                          struct pfd_report *report, size_t *n_rows,
                          struct pfd_error *err);

/* Rows of a note in the usual form. */

#define LLPC_TABLE_KEY "amdpal.format_strings"

/* A row with its id, its text and at most 64 arguments. */
struct llpc_note_table_row {
    uint64_t key;
    uint64_t mask;    /* of arguments that take two dwords */
    const char *text; /* [n_text], borrowed from the document */
    uint32_t n_text;
    uint32_t offset; /* of the first key's text, in the document */
    uint8_t n_arguments;
    uint8_t n_masks; /* words of the mask: 0 or 1 */
};

struct llpc_note_table {
    struct pfd_text rows; /* [n] of them */
    size_t n;
};

/*
 * Reads the document at the cursor; nothing may follow it. False: it has an
 * unusual form, or out of memory; ret is empty. The caller frees ret; the texts
 * of its rows are borrowed from the document.
 */
bool llpc_note_table_read(struct pfd_byte_reader document,
                          struct llpc_note_table *ret);

struct llpc_note_table_row llpc_note_table_at(
    const struct llpc_note_table *plain, size_t i);

void llpc_note_table_free(struct llpc_note_table *plain);

#endif
