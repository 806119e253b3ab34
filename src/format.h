/* SPDX-License-Identifier: MIT */
/*
 * What a buffer format is, to the rest of the library: a constant struct of
 * four answers, without state. A format allocates nothing and prints nothing.
 *
 * To add one:
 *  1. formats/NAME/NAME.c defines `const struct pfd_format pfd_format_NAME`
 *     and fills in the members below; the wire layout is a table in
 *     formats/NAME/README.md, with the source of each constant.
 *  2. one word in formats/meson.build. The list of formats, --format NAME, the
 *     fuzz target and the golden cases follow from it.
 *  3. tests/cases/NAME/CASE/: a buffer, its strings, what is expected.
 */
#ifndef PFD_FORMAT_H
#define PFD_FORMAT_H

#include <printfdecode/printfdecode.h>

#include "cursor.h"
#include "error.h"
#include "image.h"
#include "strings.h"
#include "text.h"

enum pfd_record_kind {
    PFD_RECORD_ENTRY,
    PFD_RECORD_FINDING, /* made by pfd_walk_finding(), never by hand */
};

/* One entry, bounded, or one finding about the bytes between entries. */
struct pfd_record {
    uint64_t offset;                 /* bytes from the start of the buffer */
    const struct pfd_string *string; /* NULL: no string has this key */
    uint64_t key;      /* the entry's id; finding: place of its text */
    uint64_t findings; /* bits, beside the string's own */
    uint32_t n_bytes;  /* header and payload; finding: bytes of its text */
    uint16_t n_header; /* bytes before the payload */
    uint8_t kind;      /* enum pfd_record_kind */
    uint8_t layout;    /* 0: the string's own; else the format's meaning.
                          finding: enum pfd_finding_kind */
};

/* Records of one stretch of a buffer, in order. */
struct pfd_batch {
    struct pfd_record *records; /* [n] of [max] */
    size_t n;
    size_t max;
    struct pfd_text text;   /* the sentences of findings */
    uint64_t lost_bytes;    /* never in the buffer */
    uint64_t skipped_bytes; /* in the buffer, but not decoded */
};

/* Room that walk() leaves in a batch when it looks at one place: the findings
 * that one place can cause. */
enum {
    PFD_BATCH_SPARE = 8
};

/*
 * A walk over one buffer. The view is bytes [base, base + n) of it; it always
 * holds `at`, and may move forward and grow between calls.
 */
struct pfd_walk {
    struct pfd_cursor view; /* borrowed */
    uint64_t base;          /* bytes from the start of the buffer */
    bool last;              /* the view reaches the buffer's end */
    uint64_t at;            /* where the walk is, same unit */
    const struct pfd_table *table;
    struct pfd_batch *batch; /* where records go */
    void *state;             /* [state_size] bytes, zero at the start */
};

struct pfd_format {
    /* Its name (--format NAME, "format" in JSON, the folder of its cases), a
     * line for `printfdecode formats`, and words for `inspect`. */
    struct pfd_format_info info;

    size_t state_size; /* of pfd_walk.state; 0: none */

    /* Where its strings are read and how their arguments lie in a payload. */
    struct pfd_string_kind strings;

    /*
     * Adds the format's strings in a code object to strings; *n_rows: how many
     * it saw. PFD_OK, or PFD_ERR_NOMEM.
     */
    enum pfd_status (*load)(const struct pfd_image *image,
                            struct pfd_strings *strings,
                            struct pfd_report *report, size_t *n_rows,
                            struct pfd_error *err);

    /* How much the first bytes look like a buffer of this format, 0 to 100. */
    int (*probe)(const struct pfd_cursor *first, uint64_t n_buffer);

    /*
     * Adds records to the batch until it is full (PFD_OK), the buffer ends
     * (PFD_END) or more bytes are needed to decide (PFD_MORE; never where the
     * view is the last). Always advances, always ends.
     */
    enum pfd_status (*walk)(struct pfd_walk *walk);

    /*
     * Slots of a record whose layout is not 0, into ret [PFD_ARGUMENTS_MAX];
     * n_payload: its payload in bytes. Returns how many.
     */
    size_t (*slots)(const struct pfd_record *record, uint32_t n_payload,
                    struct pfd_slot *ret);

    /* One sentence on what a record's layout means, for width_mismatch. */
    const char *(*layout_text)(unsigned layout);
};

/* All formats, NULL at the end; written by meson from formats/meson.build. */
extern const struct pfd_format *const pfd_formats[];

const struct pfd_format *pfd_format_find(const char *name);

/* Adds a finding record; PFD_PRINTF text as for pfd_report_add(). */
void pfd_walk_finding(struct pfd_walk *walk, enum pfd_finding_kind kind,
                      uint64_t offset, const char *text, ...) PFD_PRINTF(4, 5);

/* "N dwords skipped, on at dword M" for bytes [from, to) of a buffer whose
 * used part ends at `end`. */
struct pfd_walk_gap {
    char text[96];
};
void pfd_walk_describe_gap(struct pfd_walk_gap *ret, uint64_t from, uint64_t to,
                           uint64_t end);

/* The next free record of the batch. */
static inline struct pfd_record *pfd_walk_record(struct pfd_walk *walk)
{
    return &walk->batch->records[walk->batch->n++];
}

/* True while the batch has room for one more place. */
static inline bool pfd_walk_has_room(const struct pfd_walk *walk)
{
    return walk->batch->n + PFD_BATCH_SPARE <= walk->batch->max;
}

/* First byte after the view. */
static inline uint64_t pfd_walk_end(const struct pfd_walk *walk)
{
    return walk->base + walk->view.n;
}

/* Reads of the view at an absolute place that the caller has checked. */
static inline uint64_t pfd_walk_u64(const struct pfd_walk *walk, uint64_t at)
{
    return pfd_cursor_peek_u64(&walk->view, (size_t)(at - walk->base));
}

static inline uint32_t pfd_walk_u32(const struct pfd_walk *walk, uint64_t at)
{
    return pfd_cursor_peek_u32(&walk->view, (size_t)(at - walk->base));
}

#endif
