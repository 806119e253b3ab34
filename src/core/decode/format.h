/* SPDX-License-Identifier: MIT */
/*
 * The interface of a buffer format to the rest of the library: a constant
 * struct, without state. A format allocates nothing and prints nothing.
 *
 * To add one:
 *  1. formats/NAME/NAME.c defines `const struct pfd_format pfd_format_NAME`
 *     and fills in the members below; the wire layout is a table in
 *     formats/NAME/README.md, with the source of each constant.
 *  2. one word in formats/meson.build. The list of formats, --format NAME, the
 *     fuzz target and the golden cases follow from it.
 *  3. tests/cases/NAME/CASE/: a buffer, its strings, the expected output.
 */
#ifndef PFD_FORMAT_H
#define PFD_FORMAT_H

#include <printfdecode/printfdecode.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/decode/inspect.h"
#include "core/objects/elf_image.h"
#include "core/spirv/shader_table.h"
#include "core/strings/strings.h"

enum pfd_record_kind {
    PFD_RECORD_ENTRY,
    PFD_RECORD_ALTERNATIVE, /* made by pfd_walk_alternative() */
    PFD_RECORD_FINDING,     /* made by pfd_walk_finding() only */
};

/* Bits of pfd_record.flags. */
enum pfd_record_flag {
    PFD_RECORD_STDOUT = 1, /* the stream that the program wrote to */
    PFD_RECORD_STDERR = 2,
    PFD_RECORD_SYNTHESIZED = 4, /* make() provides its text */
    PFD_RECORD_COPIED = 8,      /* its bytes are the batch's, not the view's */
    PFD_RECORD_OWN = 16, /* this and the next one: defined by the format */
    PFD_RECORD_OWN2 = 32,
    PFD_RECORD_SURE = 64, /* a mark in its bytes says they are whole */
};

/*
 * One entry, bounded; or another reading of the entry before it; or one finding
 * about the bytes between entries.
 */
struct pfd_record {
    uint64_t offset;                 /* bytes from the start of the buffer */
    const struct pfd_string *string; /* NULL: no string has this key */
    uint64_t key;      /* the entry's id; finding: place of its text */
    uint64_t findings; /* bits, beside the string's own */
    uint64_t layout;   /* 0: the string's own; else defined by the format, and
                          slots() is called. finding: enum pfd_finding_kind */
    uint32_t n_bytes;  /* header and payload; finding: bytes of its text.
                          COPIED: bytes of the buffer that it covers */
    uint8_t n_header;  /* bytes before the payload */
    uint8_t flags;     /* enum pfd_record_flag */
    uint8_t kind;      /* enum pfd_record_kind */
    uint8_t n_alternatives; /* records behind it that are other readings */
};

/* The limit of readings beside the one shown; further ones are dropped. */
enum {
    PFD_ALTERNATIVES_MAX = 4
};

/* True when the entry's message is unknown, and a format string would give
 * it. */
static inline bool pfd_record_is_unknown(const struct pfd_record *r)
{
    return !r->string && !(r->flags & PFD_RECORD_SYNTHESIZED) &&
           !(r->findings >> PFD_FINDING_incomplete & 1);
}

/* The bytes of a copied record begin at the end of those before. */
struct pfd_copy {
    size_t record; /* its number in the batch */
    size_t end;    /* in pfd_record_batch.bytes */
};

/* A record whose bytes are in no view, decoded from a chunk. */
struct pfd_place {
    uint64_t index;       /* of the entry */
    const uint8_t *bytes; /* [n], header and payload, borrowed; NULL: in the
                             batch's own bytes, from `at` on */
    uint32_t n;
    size_t at;
};

/* The limit of entries that a batch counts. */
enum {
    PFD_COUNTED_MAX = 8192
};

/* Records of one slice of a buffer, in order. */
struct pfd_record_batch {
    struct pfd_record *records; /* [n] of [max] */
    size_t n;
    size_t n_others; /* of them, added by a walk: no entries */
    size_t max;
    struct pfd_text text;    /* the sentences of findings */
    struct pfd_text bytes;   /* of copied records, one after another */
    struct pfd_copy *copies; /* [n_copies], by record; owned */
    size_t n_copies;
    size_t copies_room;
    struct pfd_place *places; /* [max], of copied records, instead of copies;
                                 NULL unless chunks fill the batch */
    /* NULL, unless the caller only needs the number of entries. A walk may then
     * count entries instead of adding records, if their strings have no
     * findings and their sizes are a header plus the string's n_payload. The
     * counted entries come before all records. */
    uint64_t *counts; /* [n_counts], by pfd_string.index; owned */
    size_t n_counts;
    size_t n_counted;        /* entries */
    uint32_t counted_header; /* bytes of each one's header */
    uint64_t lost_bytes;     /* never in the buffer */
    uint64_t skipped_bytes;  /* in the buffer, but not decoded */
};

/* The first bytes of a buffer, which detection uses. */
enum {
    PFD_PROBE_BYTES = 64 * 1024
};

/* The records that walk() keeps free in a batch for one offset: the entry, its
 * other readings, and the findings that one offset can cause. */
enum {
    PFD_RECORD_BATCH_SPARE = 8 + PFD_ALTERNATIVES_MAX
};

/*
 * A walk over one buffer. The view is bytes [base, base + n) of it. It always
 * holds `at`, and may move forward and grow between calls.
 */
struct pfd_walk {
    struct pfd_byte_reader view; /* borrowed */
    uint64_t base;               /* bytes from the start of the buffer */
    bool last;                   /* the view reaches the buffer's end */
    uint64_t at;                 /* where the walk is, same unit */
    uint64_t until; /* the walk ends before entries from here on; 0: no limit.
                       See pfd_format.split() */
    const struct pfd_table *table;
    const struct pfd_shader_table *shader_table; /* borrowed, never NULL */
    const struct pfd_options *options;           /* likewise */
    struct pfd_record_batch *batch;              /* where records go */
    const struct pfd_range *holes;               /* [n_holes], in order: see
                                          pfd_walk_pass() */
    size_t n_holes;
    const struct pfd_range *missing; /* [n_missing], in order: unknown bytes,
                                        which read as zeros */
    size_t n_missing;
    void *state;         /* [state_size] bytes, zero at the start */
    bool has_collisions; /* state has collisions_size more */
};

/* A record for the hooks below, which run after the walk, perhaps on another
 * thread. Borrowed until they return. */
struct pfd_record_view {
    const struct pfd_record *record;
    const struct pfd_string *string; /* the record's, or synthesized; or NULL */
    struct pfd_byte_reader
        bytes; /* of the entry; its position is the payload's */
    const struct pfd_table *table;
    const struct pfd_shader_table *shader_table;
    const struct pfd_options *options;
};

/*
 * make()'s result for an entry's text. Slots count from the payload, as they
 * always do.
 */
struct pfd_synthesized {
    struct pfd_text *text;  /* empty; make() appends */
    bool literal;           /* the message; else a format string */
    struct pfd_slot *slots; /* [PFD_ARGUMENTS_MAX], filled by make() */
    size_t n_slots;         /* of a literal: what `args` shows */
    bool lay_out;           /* instead: slots() is called, with the string
                               compiled from the text */
    bool cut;               /* each vector takes one scalar */
    uint64_t findings;      /* bits, beside the record's */
    bool own;               /* the text is of the format's other kind, with */
    uint64_t *layout;       /* [PFD_LAYOUT_MAX] words, n_layout of them filled
                               by make() */
    size_t n_layout;
};

/* A range of any memory that is searched, with the loaded strings and shaders.
 * Borrowed. */
struct pfd_field {
    const uint8_t *bytes; /* [n], in one piece */
    size_t n;
    uint64_t address;                            /* of the first */
    const struct pfd_table *table;               /* the format's; never NULL */
    const struct pfd_shader_table *shader_table; /* likewise */
    const struct pfd_options *options;           /* likewise */
};

/* A whole buffer found in memory, by its header. */
struct pfd_whole {
    uint64_t size;    /* its bytes, missing ones included */
    uint64_t used;    /* bytes of it that the device reserved, header and all */
    bool is_sure;     /* no other buffer starts within these */
    bool is_doubtful; /* other data could look so: accepted only where a memory
                         allocator would have put a buffer */
    bool has_no_size; /* its header has the used size alone: the buffer's end
                         is unknown */
    /* The reason to accept it, static; NULL: header and entries agree. */
    const char *why;
};

/* The limit of an entry's origins. */
enum {
    PFD_ORIGINS_MAX = 24
};

struct pfd_live_shape {
    uint32_t n_header;  /* bytes with the used size, before the first entry */
    uint32_t unit;      /* entries take a multiple of so many bytes */
    uint32_t n_counter; /* bytes that have the used size instead of the header,
                           and are elsewhere; 0: none are */
    bool is_ring; /* it begins anew at its end; the header has positions */
};

/* Where the program and its reader are in a ring that begins anew at its end, by
 * its header. Positions are bytes from its data on. */
struct pfd_live_ring {
    uint64_t data; /* its first byte in the buffer */
    uint64_t capacity;
    uint64_t write;
    uint64_t read;   /* 0 where no reader has one */
    uint64_t turn;   /* positions begin anew at so many bytes; 0: at 2^64 */
    bool grows;      /* they count on, over the data's end */
    bool is_whole;   /* what stands before `write` is written for certain */
    bool is_stalled; /* the program waits for room */
    const char *why; /* what cannot be, static; NULL: all of it can */
    uint64_t memo;   /* what the tail keeps of the entries before: 0: there are
                      none; UINT64_MAX: not known; else by memo() */
};

/*
 * How a live buffer is followed while it is written. Positions are bytes from
 * its start.
 */
struct pfd_format_live {
    uint32_t n_header; /* as above */
    uint32_t unit;

    /* Instead, where the loaded strings say both; false: such a buffer cannot be
     * followed. NULL: n_header and unit hold for all. */
    bool (*shape)(const struct pfd_table *table, struct pfd_live_shape *ret);

    /* First byte behind the device's reserved bytes, by the header, or by the
     * counter that stands elsewhere; it may be
     * beyond the buffer's end. */
    uint64_t (*used)(const struct pfd_table *table, const uint8_t *header);

    /* First byte behind what a buffer of n_buffer bytes can hold, by its header;
     * NULL: all of them. */
    uint64_t (*room)(const struct pfd_table *table, const uint8_t *header,
                     uint64_t n_buffer);

    /* Turns walk (its state is zero, its view need not hold the header) into a
     * walk over the entries in [walk->at, end). */
    void (*resume)(struct pfd_walk *walk, uint64_t end);

    /* Where shape() says is_ring, instead of both. ring: reads the header.
     * resume_ring: likewise, over n bytes from a position on, which may go on at
     * the data's begin; the view is the whole buffer, of which these bytes are
     * read. is_cut: they may begin within an entry. */
    struct pfd_live_ring (*ring)(const struct pfd_table *table,
                                 const uint8_t *header, uint64_t n_buffer);
    void (*resume_ring)(struct pfd_walk *walk, const struct pfd_live_ring *ring,
                        uint64_t from, uint64_t n, bool is_cut);

    /* What resume_ring() has to know behind an entry, or behind all that the walk
     * has seen (NULL). NULL: nothing. */
    uint64_t (*memo)(const struct pfd_walk *walk,
                     const struct pfd_record *record);

    /*
     * Recognizes entries in any memory; find is NULL where that is impossible.
     * find: the first offset in [from, to), both multiples of unit, of bytes
     * [n] where entry_at() is not 0, or `to` or beyond. entry_at: bytes of the
     * entry here, if its id is known and its size is exactly its string's, else
     * 0. is_telling: true when chance cannot produce such an entry. is_header:
     * could a buffer's header be here?
     */
    size_t (*find)(const struct pfd_table *table, const uint8_t *bytes,
                   size_t n, size_t from, size_t to);
    size_t (*entry_at)(const struct pfd_table *table, const uint8_t *bytes,
                       size_t n);
    bool (*is_telling)(const uint8_t *entry);
    bool (*is_header)(const uint8_t *header);
};

/* An option for how a format's buffers are read. Formats may share one. */
struct pfd_format_option {
    struct pfd_option_info info;
    size_t member; /* of struct pfd_options: the word's number, or the text */
};

/* The program whose conventions the text follows. */
extern const struct pfd_format_option pfd_option_compat;

struct pfd_format;

/* How descriptions of rings are read. */
struct pfd_format_description {
    /* Is this file one? */
    bool (*is)(const void *bytes, size_t n);

    /* Adds it to strings. PFD_OK; PFD_ERR_CORRUPT: err names the mistake and its
     * place; PFD_ERR_USAGE: the strings have another description;
     * PFD_ERR_NOMEM. */
    enum pfd_status (*load)(const struct pfd_format *self, const void *bytes,
                            size_t n, struct pfd_strings *strings,
                            struct pfd_report *report, struct pfd_error *err);

    /* Does the description say where files have messages? Else the format's
     * load() and load_file() are not called. */
    bool (*reads_files)(const struct pfd_format *self,
                        const struct pfd_strings *strings);
};

struct pfd_format {
    /* Its name (--format NAME, "format" in JSON, the folder of its cases), a
     * line for `printfdecode formats`, and words for `inspect`. */
    struct pfd_format_info info;

    /* NULL at the end; NULL: none. An option of its own is also a member of
     * struct pfd_options: an enum of the words' numbers, or a text. */
    const struct pfd_format_option *const *options;

    size_t state_size; /* of pfd_walk.state; 0: none */
    /* Further state, not cleared between buffers, where strings share keys. */
    size_t collisions_size;

    /* Incremented when the meaning of `layout` or `flags` of its records
     * changes: chunks store it. */
    uint32_t record_version;

    /* How its strings are read, and the layout of their arguments. */
    struct pfd_string_kind strings;

    /*
     * Adds the format's strings in a code object to strings; *n_rows: rows
     * found. PFD_OK, or PFD_ERR_NOMEM.
     */
    enum pfd_status (*load)(const struct pfd_format *self,
                            const struct pfd_image *image,
                            struct pfd_strings *strings,
                            struct pfd_report *report, size_t *n_rows,
                            struct pfd_error *err);

    /*
     * Adds the format's strings in a file, whatever it is; *is_taken: it had
     * some, and is not read otherwise. PFD_OK, or PFD_ERR_NOMEM. NULL: program
     * files are read by load() and shader() alone.
     */
    enum pfd_status (*load_file)(const struct pfd_format *self,
                                 const void *bytes, size_t n,
                                 struct pfd_strings *strings,
                                 struct pfd_report *report, bool *is_taken,
                                 struct pfd_error *err);

    /* NULL: no description describes its buffers. */
    const struct pfd_format_description *description;

    /* An entry's bytes are in several places: n_bytes is only their number. */
    bool is_scattered;

    /* All of its messages are errors. */
    bool complains;

    /* Its buffers refer to shaders (shader_table of the walk and the view). */
    bool reads_shaders;

    /* Adds the format's strings in a shader. PFD_OK, or PFD_ERR_NOMEM. NULL:
     * it has none. */
    enum pfd_status (*shader)(const struct pfd_format *self,
                              struct pfd_strings *strings,
                              const struct pfd_shader *shader,
                              struct pfd_report *report, struct pfd_error *err);

    /*
     * How much the first bytes (PFD_PROBE_BYTES, or all) look like a buffer of
     * this format, 0 to 100. 0: impossible; 20: nothing speaks against it; 60:
     * the header makes sense; 80 and more: hardly chance. n_buffer: the size of
     * the buffer, 0 where it is larger than `first`; a longer buffer's size is
     * not used, since a stream does not know it. NULL: never guessed.
     */
    int (*probe)(const struct pfd_byte_reader *first, uint64_t n_buffer);

    /*
     * Adds records to the batch until it is full (PFD_OK), the buffer ends
     * (PFD_END) or more bytes are needed to decide (PFD_MORE; never where the
     * view is the last). Always advances, always ends. Where bytes have several
     * readings, it decides once from all evidence in a bounded range, the same
     * for a view of any size; the other readings go to pfd_walk_alternative(),
     * and the entry has a finding that says so.
     */
    enum pfd_status (*walk)(struct pfd_walk *walk);

    /*
     * Moves a copy of a walk that has added records to the first offset in
     * [from, to), any multiple of 8, where an entry certainly begins; its state
     * is then that of any walk that arrives there. False: there is none.
     * walk() respects walk->until, and is between two entries where it ends at
     * or behind it: bytes before have no influence on the entries behind. The
     * view is the whole buffer. NULL: such offsets cannot be recognized.
     */
    bool (*split)(struct pfd_walk *walk, uint64_t from, uint64_t to);

    /*
     * Could walk() have made this record, of these bytes, with this string?
     * Called for records from outside, before slots(), make(), origin() and
     * entry_word(), which may then trust the record as they trust the walk;
     * never for the walk's own. A record of the walk with a missing string
     * (NULL, and layout 0) passes. NULL: the checks of pfd_record_is_sound(),
     * which hold for every format, are enough.
     */
    bool (*is_record)(const struct pfd_record_view *record_view);
    /* The answer depends on the record, its string and the number of bytes, not
     * on their values: it need not be repeated for the same ones. */
    bool is_record_by_size;

    /*
     * Slots of a record whose string is known, into ret [PFD_ARGUMENTS_MAX];
     * all of them lie within the payload. Returns their number. Called for each
     * record whose layout is not 0 (findings: bits are added), and for others
     * when the caller wants arguments without a conversion.
     */
    size_t (*slots)(const struct pfd_record_view *record_view,
                    struct pfd_slot *ret, uint64_t *findings);

    /* One sentence that explains a record's layout, for width_mismatch and
     * types_guessed; NULL where neither occurs, or the latter needs none. */
    const char *(*layout_text)(uint64_t layout);

    /*
     * The text of a record with PFD_RECORD_SYNTHESIZED: a format string stored
     * in the entry, or a message that the format composes. The record's string
     * may be NULL, or one of the table that determines the text. NULL: no such
     * records.
     */
    void (*make)(const struct pfd_record_view *record_view,
                 struct pfd_synthesized *ret);
    /* Adapts the compiled steps of a synthesized text with lay_out to its
     * values, before slots() is called; returns finding bits. May be NULL. */
    uint64_t (*adapt)(const struct pfd_record_view *record_view,
                      struct pfd_step *steps, size_t n_steps);

    /* Origins of entries; all zeros: none, at no cost. */
    struct {
        /* The known ones of an entry, into ret [PFD_ORIGINS_MAX], in the order
         * of display; returns their number. Texts are static, of the table or
         * of the entry. */
        size_t (*list)(const struct pfd_record_view *record_view,
                       struct pfd_origin *ret);
        const char *const *names; /* that it can return, NULL at the end */
        /* Of records with a known string, only those with this flag have any;
         * 0: any may. */
        uint8_t flag;
    } origins;

    /*
     * Describe the dwords at byte `at`, for pfd_decoder_word() and
     * pfd_entry_word(); the result is made by pfd_word_set(). False: info's
     * tables of words describe it, or it is unknown. NULL: these tables alone.
     */
    bool (*buffer_word)(const struct pfd_walk *walk, uint64_t at,
                        struct pfd_word *ret);
    bool (*entry_word)(const struct pfd_record_view *record_view, uint32_t at,
                       struct pfd_word *ret);

    /* NULL: only whole buffers can be read. */
    const struct pfd_format_live *live;

    /*
     * For whole buffers in any memory: the first offset in [from, to) of a
     * field, at an address that is a multiple of 8, with a header and an entry
     * behind it that are hardly chance; ret describes the buffer. `to` or
     * beyond: there is none. NULL: the header cannot be recognized.
     */
    size_t (*find)(const struct pfd_field *field, size_t from, size_t to,
                   struct pfd_whole *ret);

    /*
     * The size of a buffer, bytes [n], where another source says that a buffer
     * of this format or a similar one begins. False: no such header. NULL: no
     * other source knows of its buffers.
     */
    bool (*measure)(const uint8_t *bytes, size_t n, struct pfd_whole *ret);
};

/* May a record of this string (NULL: an unknown one, or its text is in the
 * entry) have an origin? */
static inline bool pfd_format_has_origin(const struct pfd_format *format,
                                         const struct pfd_string *string)
{
    uint8_t flag = format->origins.flag;
    return format->origins.list && (!flag || !string || string->flags & flag);
}

/* All formats, NULL at the end; written by meson from formats/meson.build. */
extern const struct pfd_format *const pfd_formats[];

const struct pfd_format *pfd_format_find(const char *name);

/*
 * Adds another reading of the batch's newest entry: reading is that entry's
 * record with another string, key, layout, findings or stream. Its bytes are
 * the entry's; or all readings of a copied entry are copied, each right behind
 * the one before it, and n_bytes is then the size of this one's copy. To be
 * called right behind the entry, which carries a finding that says so; readings
 * beyond PFD_ALTERNATIVES_MAX are dropped.
 */
void pfd_walk_alternative(struct pfd_walk *walk,
                          const struct pfd_record *reading);

/* Adds a finding record; PFD_PRINTF text as for pfd_report_add(). */
void pfd_walk_finding(struct pfd_walk *walk, enum pfd_finding_kind kind,
                      uint64_t offset, const char *text, ...) PFD_PRINTF(4, 5);

/* Sets a word that ends before byte `end`; true. */
bool pfd_word_set(struct pfd_word *ret, uint64_t end, const char *text, ...)
    PFD_PRINTF(3, 4);

/* A word behind a buffer's used part; true. */
bool pfd_word_set_unused(struct pfd_word *ret);

/* The default of buffer_word() and of entry_word(): by info's tables and
 * live->used(). */
bool pfd_format_buffer_word(const struct pfd_format *format,
                            const struct pfd_walk *walk, uint64_t at,
                            struct pfd_word *ret);
bool pfd_format_entry_word(const struct pfd_format *format,
                           const struct pfd_record_view *record_view,
                           uint32_t at, struct pfd_word *ret);

/* "N dwords skipped, on at dword M" for bytes [from, to) of a buffer whose
 * used part ends at `end`. */
struct pfd_walk_gap {
    char text[96];
};
void pfd_walk_describe_gap(struct pfd_walk_gap *ret, uint64_t from, uint64_t to,
                           uint64_t end);

/*
 * A sparse buffer is long and has few bytes: its holes are zeros that were
 * never written, and a search through them would take time in proportion to
 * the claimed size. A search over offsets gets its next one here: `at`, or,
 * where only zeros follow, a later one: before `end`, and a multiple of 8 bytes
 * away.
 */
uint64_t pfd_walk_pass_hole(const struct pfd_walk *walk, uint64_t at,
                            uint64_t end);

static inline uint64_t pfd_walk_pass(const struct pfd_walk *walk, uint64_t at,
                                     uint64_t end)
{
    if (__builtin_expect(!walk->n_holes, 1) || at < walk->holes[0].from)
        return at;
    return pfd_walk_pass_hole(walk, at, end);
}

/* After a walk: marks the batch's entries that have missing bytes. */
void pfd_walk_mark_missing(struct pfd_walk *walk);

/* Reports a skipped hole in which zeros would have a meaning. */
void pfd_walk_report_hole(struct pfd_walk *walk, uint64_t from, uint64_t to);

/* The sentence about bytes behind a ring's end: their number, and the ring's
 * bytes with those before it, both unsigned long long. */
#define PFD_RING_BEHIND                                                    \
    "the ring ends here, and the %llu bytes behind it, which are not all " \
    "zeros, are not read: a file of several rings is cut first (split -b " \
    "%llu, if each has so many bytes)"

/* Counts and reports as lost what was wanted beyond the room, both in bytes from
 * the buffer's start, the latter less. by: the sentence's begin: "calls asked
 * for". */
void pfd_walk_report_overflow(struct pfd_walk *walk, const char *by,
                              uint64_t wanted, uint64_t room);

/*
 * Copies the bytes of a record that is not contiguous in the view: appends
 * some, then assigns all bytes appended since the last copied record to record
 * (the batch's newest).
 */
void pfd_walk_copy_add(struct pfd_walk *walk, const void *bytes, size_t n);
void pfd_walk_copy_done(struct pfd_walk *walk, struct pfd_record *record);

/* The payload of a copied record, [*n] bytes; its header is before it. */
const uint8_t *pfd_record_batch_copied(const struct pfd_record_batch *batch,
                                       const struct pfd_record *record,
                                       uint32_t *n);

/* The payload of any entry of a batch, likewise; view, base: the walk's when
 * the batch was filled. */
static inline const uint8_t *pfd_record_batch_payload(
    const struct pfd_record_batch *batch, const struct pfd_byte_reader *view,
    uint64_t base, const struct pfd_record *record, uint32_t *n)
{
    if (__builtin_expect(record->flags & PFD_RECORD_COPIED, 0))
        return pfd_record_batch_copied(batch, record, n);
    *n = record->n_bytes - record->n_header;
    return pfd_byte_reader_peek(view, (size_t)(record->offset - base) +
                                          record->n_header);
}

/*
 * Is a record from outside (an entry's, or another reading) sound? It may have
 * any bytes, findings, layout and flags, and a string of any table or none. If
 * true, the walk of this format could have made it with its string, key and
 * bytes, and no read of it leaves these bytes. Where the readings of an entry
 * have bytes of their own, check each with those.
 */
bool pfd_record_is_sound(const struct pfd_format *format,
                         const struct pfd_record_view *record_view);

/* The next free record of the batch. */
static inline struct pfd_record *pfd_walk_record(struct pfd_walk *walk)
{
    return &walk->batch->records[walk->batch->n++];
}

/* Records that the batch still has room for. */
static inline size_t pfd_walk_room(const struct pfd_walk *walk)
{
    const struct pfd_record_batch *batch = walk->batch;
    return batch->n + PFD_RECORD_BATCH_SPARE <= batch->max
               ? batch->max - PFD_RECORD_BATCH_SPARE + 1 - batch->n
               : 0;
}

/* True while the batch has room for one more offset. */
static inline bool pfd_walk_has_room(const struct pfd_walk *walk)
{
    const struct pfd_record_batch *batch = walk->batch;
    return batch->n + PFD_RECORD_BATCH_SPARE <= batch->max &&
           batch->n_counted < PFD_COUNTED_MAX;
}

/* The number of entries that may be counted next, instead of adding records. */
static inline size_t pfd_walk_countable(const struct pfd_walk *walk)
{
    const struct pfd_record_batch *batch = walk->batch;
    return batch->counts && !batch->n && !walk->n_missing
               ? PFD_COUNTED_MAX - batch->n_counted
               : 0;
}

/* The number of entries in a batch, records and counted ones. */
static inline size_t pfd_record_batch_entries(
    const struct pfd_record_batch *batch)
{
    return batch->n_counted + batch->n - batch->n_others;
}

static inline bool pfd_record_batch_is_empty(
    const struct pfd_record_batch *batch)
{
    return !batch->n && !batch->n_counted;
}

/* First byte after the view. */
static inline uint64_t pfd_walk_end(const struct pfd_walk *walk)
{
    return walk->base + walk->view.n;
}

/* Reads the view at an absolute offset that the caller has checked. */
static inline uint64_t pfd_walk_u64(const struct pfd_walk *walk, uint64_t at)
{
    return pfd_byte_reader_peek_u64(&walk->view, (size_t)(at - walk->base));
}

static inline uint32_t pfd_walk_u32(const struct pfd_walk *walk, uint64_t at)
{
    return pfd_byte_reader_peek_u32(&walk->view, (size_t)(at - walk->base));
}

#endif
