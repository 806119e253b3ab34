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

/*
 * The walk over an LLPC buffer, for the files of this folder that implement it:
 * its state, and reports about places without an entry.
 */

enum {
    /* u64 bufferOffset, u32 reserved0, u32 reserved1 (LLPC's
     * docs/DdnDebugPrintf.md, "Buffer"; xgl icd/api/debug_printf.cpp). */
    LLPC_HEADER = 16,
    LLPC_DWORD = 4,
    /* An entry of two dwords has no payload. */
    LLPC_SIZE_MIN = 2,
    /* Real ids are hashes; a smaller id means that the high dword was not
     * written. */
    LLPC_TORN_ID = 0x10000,
};

/* The shader clamps its offset: umin(offset, 1 << 29) dwords
 * (LLPC LowerDebugPrintf.cpp). */
#define LLPC_CLAMP_DWORDS (UINT64_C(1) << 29)

/* The header of an entry, u64: formatStringId << 16 | entrySize. */
struct llpc_header {
    uint64_t id;
    uint64_t n_bytes; /* of the entry */
    uint32_t size;    /* entrySize */
    bool zero;
};

/* Dwords that shaders can ask for before anything stops them. */
#define LLPC_USED_MAX (UINT64_C(1) << 38)

struct llpc_state {
    uint64_t used;   /* bufferOffset, dwords */
    uint64_t end;    /* end of the entries; final once `closed` */
    uint64_t wanted; /* the same, for a buffer of sufficient size */
    bool opened;     /* the header is read */
    bool is_absurd;  /* and cannot be one: the loss is not known */
    bool closed;     /* the end of the buffer is known */
    bool done;       /* no entries follow */
    /* A search for the next entry beyond doubt, which may wait for bytes. */
    bool is_lost;
    struct llpc_header lost; /* header at the place where it began */
    uint64_t from;           /* where it began */
    uint64_t next;           /* next place to try */
    bool is_inside;          /* next is inside the lost entry */
    uint64_t sought; /* no entry inside the one at `at` begins before this */
};

static inline uint64_t llpc_dword(uint64_t at)
{
    return at / LLPC_DWORD;
}

/* Dwords that the buffer holds after its header; its size is known. */
static inline uint64_t llpc_capacity(const struct pfd_walk *w)
{
    return (pfd_walk_end(w) - LLPC_HEADER) / LLPC_DWORD;
}

/* Reports lost entries, and defects at the end. These are the last findings,
 * since a buffer that is read as a stream shows its size at the end only. */
void llpc_report_end(struct pfd_walk *w, const struct llpc_state *st);

/* bufferOffset is beyond what shaders can have asked for. */
void llpc_report_absurd(struct pfd_walk *w, uint64_t used);

/* bufferOffset is beyond what shaders write. */
void llpc_report_clamp(struct pfd_walk *w, uint64_t used);

/* Takes entries that are exactly as their strings describe, up to the first
 * other one, the walk's end, or a full batch (fast_walk.c). */
void llpc_walk_sound(struct pfd_walk *w, const struct llpc_state *st);

/* Reports why the walk lost its way at st->from, and how many bytes were
 * skipped. */
void llpc_report_gap(struct pfd_walk *w, const struct llpc_state *st,
                     uint64_t to);

#endif
