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

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/objects/elf_image.h"
#include "core/spirv/shader_table.h"
#include "core/strings/strings.h"

enum pfd_record_kind {
    PFD_RECORD_ENTRY,
    PFD_RECORD_ALTERNATIVE, /* made by pfd_walk_alternative() */
    PFD_RECORD_FINDING,     /* made by pfd_walk_finding(), never by hand */
};

/* Bits of pfd_record.flags. */
enum pfd_record_flag {
    PFD_RECORD_STDOUT = 1, /* the stream that the program wrote to */
    PFD_RECORD_STDERR = 2,
    PFD_RECORD_SYNTHESIZED = 4, /* its text is what make() says */
    PFD_RECORD_COPIED = 8,      /* its bytes are the batch's, not the view's */
    PFD_RECORD_OWN = 16, /* this and the next one mean what the format says */
    PFD_RECORD_OWN2 = 32,
    PFD_RECORD_SURE = 64, /* its bytes are whole: they say so themselves */
};

/*
 * One entry, bounded; another reading of the entry before it; or one finding
 * about the bytes between entries.
 */
struct pfd_record {
    uint64_t offset;                 /* bytes from the start of the buffer */
    const struct pfd_string *string; /* NULL: no string has this key */
    uint64_t key;      /* the entry's id; finding: place of its text */
    uint64_t findings; /* bits, beside the string's own */
    uint64_t layout;   /* 0: the string's own; else the format's meaning, and
                          slots() is asked. finding: enum pfd_finding_kind */
    uint32_t n_bytes;  /* header and payload; finding: bytes of its text.
                          COPIED: those of the buffer that it stands for */
    uint8_t n_header;  /* bytes before the payload */
    uint8_t flags;     /* enum pfd_record_flag */
    uint8_t kind;      /* enum pfd_record_kind */
    uint8_t n_alternatives; /* records behind it that are other readings */
};

/* Readings beside the one that is shown; more are left out. */
enum {
    PFD_ALTERNATIVES_MAX = 4
};

/* True when nothing says what the entry's message is, and a format string
 * would. */
static inline bool pfd_record_is_unknown(const struct pfd_record *r)
{
    return !r->string && !(r->flags & PFD_RECORD_SYNTHESIZED) &&
           !(r->findings >> PFD_FINDING_incomplete & 1);
}

/* Where a copied record's bytes are: from the end of those before. */
struct pfd_copy {
    size_t record; /* its number in the batch */
    size_t end;    /* in pfd_batch.bytes */
};

/* A record whose bytes stand in no view, as it comes out of a chunk. */
struct pfd_place {
    uint64_t index;       /* of the entry */
    const uint8_t *bytes; /* [n], header and payload, borrowed; NULL: they are
                             the batch's own, from `at` on */
    uint32_t n;
    size_t at;
};

/* A batch counts no more entries than that. */
enum {
    PFD_COUNTED_MAX = 8192
};

/* Records of one stretch of a buffer, in order. */
struct pfd_batch {
    struct pfd_record *records; /* [n] of [max] */
    size_t n;
    size_t n_others; /* of them that a walk added and that are no entries */
    size_t max;
    struct pfd_text text;    /* the sentences of findings */
    struct pfd_text bytes;   /* of copied records, one after another */
    struct pfd_copy *copies; /* [n_copies], by record; owned */
    size_t n_copies;
    size_t copies_room;
    struct pfd_place *places; /* [max], of copied records, instead of copies;
                                 NULL unless the batch is filled by chunks */
    /* NULL, unless nobody asks for more than how many entries there are: then
     * a walk may count some instead of adding records, those whose strings have
     * no findings, and whose sizes are a header's and what their strings say.
     * They come before all records. */
    uint64_t *counts; /* [n_counts], by pfd_string.index; owned */
    size_t n_counts;
    size_t n_counted;        /* entries */
    uint32_t counted_header; /* bytes of each one's header */
    uint64_t lost_bytes;     /* never in the buffer */
    uint64_t skipped_bytes;  /* in the buffer, but not decoded */
};

/* The first bytes of a buffer, by which its format is told. */
enum {
    PFD_PROBE_BYTES = 64 * 1024
};

/* Room that walk() leaves in a batch when it looks at one place: the entry,
 * its other readings, and the findings that one place can cause. */
enum {
    PFD_BATCH_SPARE = 8 + PFD_ALTERNATIVES_MAX
};

/*
 * A walk over one buffer. The view is bytes [base, base + n) of it; it always
 * holds `at`, and may move forward and grow between calls.
 */
struct pfd_walk {
    struct pfd_byte_reader view; /* borrowed */
    uint64_t base;               /* bytes from the start of the buffer */
    bool last;                   /* the view reaches the buffer's end */
    uint64_t at;                 /* where the walk is, same unit */
    uint64_t until; /* entries that begin here or behind are left; 0:
                               none are. See pfd_format.split() */
    const struct pfd_table *table;
    const struct pfd_shader_table *shader_table; /* borrowed, never NULL */
    const struct pfd_options *options;           /* likewise */
    struct pfd_batch *batch;                     /* where records go */
    const struct pfd_range *holes;               /* [n_holes], in order: see
                                          pfd_walk_pass() */
    size_t n_holes;
    const struct pfd_range *missing; /* [n_missing], in order: bytes that are
                                        not known, and read as zeros */
    size_t n_missing;
    void *state;         /* [state_size] bytes, zero at the start */
    bool has_collisions; /* state has collisions_size more */
};

/* One record as the hooks below look at it, after the walk and perhaps on
 * another thread. All of it is borrowed until they return. */
struct pfd_record_view {
    const struct pfd_record *record;
    const struct pfd_string *string; /* the record's, or just made; or NULL */
    struct pfd_byte_reader
        bytes; /* of the entry; its position is the payload's */
    const struct pfd_table *table;
    const struct pfd_shader_table *shader_table;
    const struct pfd_options *options;
};

/*
 * What make() says of an entry's text. Slots count from the payload, as they
 * always do.
 */
struct pfd_synthesized {
    struct pfd_text *text;  /* empty: to be appended to */
    bool literal;           /* it is the message; else it is a format string */
    struct pfd_slot *slots; /* [PFD_ARGUMENTS_MAX], to be filled */
    size_t n_slots;         /* of a literal: what `args` shows */
    bool lay_out;           /* instead: slots() is asked, with the string
                               that the text became */
    bool cut;               /* each vector takes one scalar */
    uint64_t findings;      /* bits, beside the record's */
};

/* Memory of any kind that is searched, with what is known. Borrowed. */
struct pfd_field {
    const uint8_t *bytes; /* [n], in one piece */
    size_t n;
    uint64_t address;                            /* of the first */
    const struct pfd_table *table;               /* the format's; never NULL */
    const struct pfd_shader_table *shader_table; /* likewise */
};

/* A whole buffer that stands in memory of some kind, as its header tells. */
struct pfd_whole {
    uint64_t size;    /* bytes of it, those that are not there as well */
    uint64_t used;    /* bytes of it that the device reserved, header and all */
    bool is_sure;     /* no other one is to be looked for in those */
    bool is_doubtful; /* other data could look so: believed only where what
                         allocates memory would have put a buffer */
    bool has_no_size; /* its header says how much is used and no more: where it
                         ends is not known */
    /* Why it is believed, static; NULL: header and entries agree. */
    const char *why;
};

/* An entry has no more origins. */
enum {
    PFD_ORIGINS_MAX = 24
};

/*
 * How a buffer is followed while it is written. Positions are bytes from its
 * start.
 */
struct pfd_format_live {
    uint32_t n_header; /* bytes that say how much is used */
    uint32_t unit;     /* entries take a multiple of so many bytes */

    /* First byte behind what the device has reserved, by the header; it may
     * be beyond the buffer's end. */
    uint64_t (*used)(const uint8_t *header);

    /* Makes walk (its state is zero, its view need not hold the header) one
     * over the entries in [walk->at, end). */
    void (*resume)(struct pfd_walk *walk, uint64_t end);

    /*
     * For entries in memory of any kind; find is NULL where there is no way to
     * tell them. find: the first place in [from, to), both multiples of unit,
     * of bytes [n] where entry_at() says yes, or `to` or beyond. entry_at: bytes
     * of the entry here, whose id is known and whose size is exactly its
     * string's, else 0. is_telling: true when chance cannot make such an entry.
     * is_header: could a buffer's header be here?
     */
    size_t (*find)(const struct pfd_table *table, const uint8_t *bytes,
                   size_t n, size_t from, size_t to);
    size_t (*entry_at)(const struct pfd_table *table, const uint8_t *bytes,
                       size_t n);
    bool (*is_telling)(const uint8_t *entry);
    bool (*is_header)(const uint8_t *header);
};

/* A choice of how its buffers are read. Formats may share one. */
struct pfd_format_option {
    struct pfd_option_info info;
    size_t member; /* where struct pfd_options has the word's number */
};

/* Whose habits the text follows. */
extern const struct pfd_format_option pfd_option_compat;

struct pfd_format {
    /* Its name (--format NAME, "format" in JSON, the folder of its cases), a
     * line for `printfdecode formats`, and words for `inspect`. */
    struct pfd_format_info info;

    /* NULL at the end; NULL: none. A choice of its own is also a member of
     * struct pfd_options, an enum of the words' numbers. */
    const struct pfd_format_option *const *options;

    size_t state_size; /* of pfd_walk.state; 0: none */
    /* More of it, not cleared between buffers, where strings share keys. */
    size_t collisions_size;

    /* Raised when what `layout` and `flags` of its records mean changes: chunks
     * keep them. */
    uint32_t record_version;

    /* Where its strings are read and how their arguments lie in a payload. */
    struct pfd_string_kind strings;

    /*
     * Adds the format's strings in a code object to strings; *n_rows: how many
     * it saw. PFD_OK, or PFD_ERR_NOMEM.
     */
    enum pfd_status (*load)(const struct pfd_format *self,
                            const struct pfd_image *image,
                            struct pfd_strings *strings,
                            struct pfd_report *report, size_t *n_rows,
                            struct pfd_error *err);

    /* An entry's bytes stand in several places: n_bytes says only how many. */
    bool is_scattered;

    /* Its messages are of errors, all of them. */
    bool complains;

    /* Its buffers speak of shaders (walk->shaders, look->shaders). */
    bool reads_shaders;

    /* Adds the format's strings in a shader. PFD_OK, or PFD_ERR_NOMEM. NULL:
     * it has none. */
    enum pfd_status (*shader)(const struct pfd_format *self,
                              struct pfd_strings *strings,
                              const struct pfd_shader *shader,
                              struct pfd_report *report, struct pfd_error *err);

    /*
     * How much the first bytes (PFD_PROBE_BYTES, or all) look like a buffer of
     * this format, 0 to 100: 0 cannot be, 20 nothing speaks against it, 60 the
     * header makes sense, 80 and more it could hardly be chance. n_buffer:
     * bytes of the whole buffer, 0 where it is longer than what is seen: how
     * long is never asked then, since a stream could not tell. NULL: never
     * guessed.
     */
    int (*probe)(const struct pfd_byte_reader *first, uint64_t n_buffer);

    /*
     * Adds records to the batch until it is full (PFD_OK), the buffer ends
     * (PFD_END) or more bytes are needed to decide (PFD_MORE; never where the
     * view is the last). Always advances, always ends. Where bytes can be read
     * in several ways, it decides once from all evidence in a bounded stretch,
     * the same however much is in view; what is left beside the entry's reading
     * goes to pfd_walk_alternative(), and the entry has a finding that says so.
     */
    enum pfd_status (*walk)(struct pfd_walk *walk);

    /*
     * Moves a copy of a walk that has made records to the first place in
     * [from, to), any multiple of 8, where an entry begins beyond doubt; its
     * state is then that of any walk that comes there. False: there is none.
     * walk() obeys walk->until, and is between two entries where it ends at or
     * behind that: what came before has no bearing on what comes. The view is
     * all of the buffer. NULL: such places cannot be told.
     */
    bool (*split)(struct pfd_walk *walk, uint64_t from, uint64_t to);

    /*
     * Could walk() have made this record, of these bytes, with this string?
     * Asked of records that come from elsewhere, before slots(), make(),
     * origin() and entry_word(), which may then rely on it as they rely on the
     * walk; never of the walk's own. A record of the walk whose string is not
     * there (NULL, and layout 0) passes. NULL: what pfd_record_is_sound() checks
     * of every format is enough.
     */
    bool (*is_record)(const struct pfd_record_view *record_view);
    /* What it says hangs on the record, its string and how many bytes there
     * are, not on what they are: it need not be asked again of the same. */
    bool is_record_by_size;

    /*
     * Slots of a look whose string is known, into ret [PFD_ARGUMENTS_MAX];
     * all of them lie within the payload. Returns how many. Asked for each
     * record whose layout is not 0 (findings: bits are added), and for others
     * when somebody wants arguments that no conversion takes.
     */
    size_t (*slots)(const struct pfd_record_view *record_view,
                    struct pfd_slot *ret, uint64_t *findings);

    /* One sentence on what a record's layout means, for width_mismatch and
     * types_guessed; NULL where neither happens, or the latter needs none. */
    const char *(*layout_text)(uint64_t layout);

    /*
     * The text of a record with PFD_RECORD_SYNTHESIZED: a format string that stands
     * in the entry, or a message that the format composes. The record's string
     * may be NULL, or one of the table that says how. NULL: no such records.
     */
    void (*make)(const struct pfd_record_view *record_view,
                 struct pfd_synthesized *ret);
    /* Changes the compiled steps of a made text that is laid out to what its
     * values are, before slots() is asked; returns finding bits. May be NULL. */
    uint64_t (*adapt)(const struct pfd_record_view *record_view,
                      struct pfd_step *steps, size_t n_steps);

    /*
     * What is known of where an entry comes from, into ret [PFD_ORIGINS_MAX],
     * in the order to show it in; returns how many. Texts are static, of the
     * table or of the entry. NULL: nothing is, which costs nothing.
     */
    size_t (*origin)(const struct pfd_record_view *record_view,
                     struct pfd_origin *ret);
    /* The names that it can give, NULL at the end; NULL: none. */
    const char *const *origin_names;
    /* Only records of strings with this flag have any; 0: any record may. */
    uint8_t origin_flag;

    /*
     * What the dwords at byte `at` are, as pfd_decoder_word() and
     * pfd_entry_word() say it; made by pfd_word_set(). False: info's tables of
     * words say it, or nothing does. NULL: never more than these.
     */
    bool (*buffer_word)(const struct pfd_walk *walk, uint64_t at,
                        struct pfd_word *ret);
    bool (*entry_word)(const struct pfd_record_view *record_view, uint32_t at,
                       struct pfd_word *ret);

    /* NULL: only whole buffers can be read. */
    const struct pfd_format_live *live;

    /*
     * For whole buffers in memory of any kind: the first place in [from, to) of
     * a field whose address is a multiple of 8, where chance would hardly make
     * such a header and such an entry behind it; ret tells of it. `to` or
     * beyond: there is none. NULL: not to be found by its header.
     */
    size_t (*find)(const struct pfd_field *field, size_t from, size_t to,
                   struct pfd_whole *ret);

    /*
     * What stands where it is known from elsewhere that a buffer of this format
     * or of one like it begins, bytes [n]: how long it is. False: no such
     * header. NULL: nobody else knows.
     */
    bool (*measure)(const uint8_t *bytes, size_t n, struct pfd_whole *ret);
};

/* May a record of this string (or none) have an origin? */
static inline bool pfd_format_has_origin(const struct pfd_format *format,
                                         const struct pfd_string *string)
{
    return format->origin && (!format->origin_flag ||
                              (string && string->flags & format->origin_flag));
}

/* All formats, NULL at the end; written by meson from formats/meson.build. */
extern const struct pfd_format *const pfd_formats[];

const struct pfd_format *pfd_format_find(const char *name);

/*
 * Adds another reading of the batch's newest entry: reading is that entry's
 * record with another string, key, layout, findings or stream. Its bytes are
 * the entry's; or all readings of a copied entry are copied, each right behind
 * the one before it, and n_bytes is then how many bytes this one's copy has.
 * To be called right behind the entry, for one that carries a finding that says
 * so; more than PFD_ALTERNATIVES_MAX are left out.
 */
void pfd_walk_alternative(struct pfd_walk *walk,
                          const struct pfd_record *reading);

/* Adds a finding record; PFD_PRINTF text as for pfd_report_add(). */
void pfd_walk_finding(struct pfd_walk *walk, enum pfd_finding_kind kind,
                      uint64_t offset, const char *text, ...) PFD_PRINTF(4, 5);

/* Sets a word that ends before byte `end`; true. */
bool pfd_word_set(struct pfd_word *ret, uint64_t end, const char *text, ...)
    PFD_PRINTF(3, 4);

/* A word of what lies behind a buffer's used part; true. */
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
 * A buffer can be said to be long and have few bytes: it has holes, which are
 * zeros that nobody wrote, and looking at them would cost time that nobody
 * paid for with bytes. Whoever looks for something, place by place, takes the
 * next place from here: `at`, or, where all is zero up to a place further on,
 * that one: before `end`, and a multiple of 8 bytes away.
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

/* After a walk: entries in the batch that have missing bytes say so. */
void pfd_walk_mark_missing(struct pfd_walk *walk);

/* Says that a hole was passed over in which zeros would mean something. */
void pfd_walk_report_hole(struct pfd_walk *walk, uint64_t from, uint64_t to);

/*
 * The bytes of a record that do not stand in one piece in the view: appends
 * some, then makes all that was appended since the last copied record those of
 * record (the batch's newest).
 */
void pfd_walk_copy_add(struct pfd_walk *walk, const void *bytes, size_t n);
void pfd_walk_copy_done(struct pfd_walk *walk, struct pfd_record *record);

/* The payload of a copied record, [*n] bytes; its header is before it. */
const uint8_t *pfd_batch_copied(const struct pfd_batch *batch,
                                const struct pfd_record *record, uint32_t *n);

/* The payload of any entry of a batch, likewise; view, base: the walk's when
 * the batch was filled. */
static inline const uint8_t *pfd_batch_payload(
    const struct pfd_batch *batch, const struct pfd_byte_reader *view,
    uint64_t base, const struct pfd_record *record, uint32_t *n)
{
    if (__builtin_expect(record->flags & PFD_RECORD_COPIED, 0))
        return pfd_batch_copied(batch, record, n);
    *n = record->n_bytes - record->n_header;
    return pfd_byte_reader_peek(view, (size_t)(record->offset - base) +
                                          record->n_header);
}

/*
 * Can an entry be made of a record (an entry's, or another reading) that comes
 * from elsewhere: of any bytes, findings, layout and flags, with a string of
 * any table or none? Its string, key and bytes are then such as the walk of
 * this format gives, and what is read of them stays within them. Of an entry
 * whose readings have bytes of their own, each is to be asked with those.
 */
bool pfd_record_is_sound(const struct pfd_format *format,
                         const struct pfd_record_view *record_view);

/* The next free record of the batch. */
static inline struct pfd_record *pfd_walk_record(struct pfd_walk *walk)
{
    return &walk->batch->records[walk->batch->n++];
}

/* Places that the batch still has room for. */
static inline size_t pfd_walk_room(const struct pfd_walk *walk)
{
    const struct pfd_batch *batch = walk->batch;
    return batch->n + PFD_BATCH_SPARE <= batch->max
               ? batch->max - PFD_BATCH_SPARE + 1 - batch->n
               : 0;
}

/* True while the batch has room for one more place. */
static inline bool pfd_walk_has_room(const struct pfd_walk *walk)
{
    const struct pfd_batch *batch = walk->batch;
    return batch->n + PFD_BATCH_SPARE <= batch->max &&
           batch->n_counted < PFD_COUNTED_MAX;
}

/* So many entries may be counted next, instead of adding records. */
static inline size_t pfd_walk_countable(const struct pfd_walk *walk)
{
    const struct pfd_batch *batch = walk->batch;
    return batch->counts && !batch->n && !walk->n_missing
               ? PFD_COUNTED_MAX - batch->n_counted
               : 0;
}

/* What a walk made of a stretch. */
static inline size_t pfd_batch_entries(const struct pfd_batch *batch)
{
    return batch->n_counted + batch->n - batch->n_others;
}

static inline bool pfd_batch_is_empty(const struct pfd_batch *batch)
{
    return !batch->n && !batch->n_counted;
}

/* First byte after the view. */
static inline uint64_t pfd_walk_end(const struct pfd_walk *walk)
{
    return walk->base + walk->view.n;
}

/* Reads of the view at an absolute place that the caller has checked. */
static inline uint64_t pfd_walk_u64(const struct pfd_walk *walk, uint64_t at)
{
    return pfd_byte_reader_peek_u64(&walk->view, (size_t)(at - walk->base));
}

static inline uint32_t pfd_walk_u32(const struct pfd_walk *walk, uint64_t at)
{
    return pfd_byte_reader_peek_u32(&walk->view, (size_t)(at - walk->base));
}

#endif
