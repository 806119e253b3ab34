/* SPDX-License-Identifier: MIT */
/*
 * Decodes GPU printf buffers: a buffer's bytes and a set of format strings in,
 * entries out. An entry is one printf call of one lane.
 *
 *   pfd_strings_load_file()  format strings of a file (strings.h)
 *   pfd_decoder_next()       one entry or finding at a time, from whole buffers
 *                            or from bytes as they come
 *   pfd_convert_bytes()      a whole buffer to text, raw bytes or JSON, on
 *                            several threads (convert.h)
 *   pfd_tail_poll()          a buffer that is being written (tail.h)
 *
 * Thread rule: a decoder belongs to one thread at a time; any number of
 * decoders may share one set of strings.
 */
#ifndef PRINTFDECODE_PRINTFDECODE_H
#define PRINTFDECODE_PRINTFDECODE_H

#include <printfdecode/common.h>
#include <printfdecode/strings.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One buffer format; static storage. */
struct pfd_format_info {
    const char *name;  /* as in --format and in JSON: "llpc" */
    const char *title; /* one line */
    /* Names of the dwords of a buffer's header and of an entry's header, in
     * formats where they are fixed; pfd_decoder_word() and pfd_entry_word()
     * describe any dword. */
    const char *const *header_words; /* [n_header_words] */
    size_t n_header_words;
    const char *const *entry_words; /* [n_entry_words] */
    size_t n_entry_words;
};

/* Format i. NULL: there is no i. Any thread. */
PFD_API const struct pfd_format_info *pfd_format_get(size_t i);

enum pfd_compat {
    PFD_COMPAT_NONE,
    PFD_COMPAT_CLR,     /* AMD's OpenCL and HIP runtime */
    PFD_COMPAT_KHRONOS, /* the Vulkan validation layer */
};

enum pfd_opencl_strings {
    PFD_OPENCL_STRINGS_AUTO, /* decided by each string's entries */
    PFD_OPENCL_STRINGS_OLD,
    PFD_OPENCL_STRINGS_NEW,
};

enum pfd_printf_layout {
    PFD_PRINTF_LAYOUT_AUTO, /* decided by the records and their shaders */
    PFD_PRINTF_LAYOUT_P1,
    PFD_PRINTF_LAYOUT_P2,
    PFD_PRINTF_LAYOUT_P3,
    PFD_PRINTF_LAYOUT_P4,
    PFD_PRINTF_LAYOUT_P5,
    PFD_PRINTF_LAYOUT_P6,
};

/* Bytes of a member of struct pfd_options that takes any text, its NUL
 * included. */
#define PFD_OPTION_TEXT 256

/*
 * Choices in how buffers are read; all zero is the default. Each member can
 * also be set by the name and a word of pfd_option_get().
 */
struct pfd_options {
    size_t struct_size; /* as common.h says */
    /* "compat": the runtime whose text is imitated where it differs from
     * printf's. */
    enum pfd_compat compat;
    /* "opencl-strings": how OpenCL programs store %s, by the compiler's age. */
    enum pfd_opencl_strings opencl_strings;
    /* "layout": which of the validation layer's printf layouts
     * (formats/debugprintf). */
    enum pfd_printf_layout printf_layout;
    /* "kernel": the one whose messages buffers have, of formats that number
     * them for each kernel anew (formats/rusticl); empty: it is searched. */
    char kernel[PFD_OPTION_TEXT];
};

/* One member of struct pfd_options; static storage. */
struct pfd_option_info {
    const char *name;         /* such as "layout", as in --layout */
    const char *value;        /* placeholder for a word, as in --layout NAME */
    const char *const *words; /* [n_words]; the first is the default; a word's
                                 index is the member's value */
    size_t n_words;   /* 0: any text below PFD_OPTION_TEXT; empty by default */
    const char *help; /* one line */
    bool of_text;     /* changes the text only, not the decoding */
};

/* Fills ret with option i of all formats. PFD_OK; PFD_END: there is no i. Any
 * thread. */
PFD_API enum pfd_status pfd_option_get(size_t i, struct pfd_option_info *ret);

/*
 * Sets an option by its name, in which _ may stand for -, to one of its words,
 * or to a text, which is copied.
 *
 * PFD_OK; PFD_ERR_USAGE: no such option or word, and err's text lists the valid
 * ones; the text is too long; `options` states a size without the member.
 */
PFD_API enum pfd_status pfd_options_set(struct pfd_options *options,
                                        const char *name, const char *word,
                                        struct pfd_error *err);

/* Where the program wanted a message to go. */
enum pfd_stream {
    PFD_STREAM_UNKNOWN,
    PFD_STREAM_STDOUT,
    PFD_STREAM_STDERR,
};

struct pfd_string;
struct pfd_step;
struct pfd_record;
struct pfd_entry_source;

/*
 * One entry. Everything in it is borrowed until the next call on its decoder.
 */
struct pfd_entry {
    uint64_t index;      /* among the buffer's entries, from 0 */
    uint64_t offset;     /* bytes from the start of the buffer */
    uint64_t id;         /* the format string's id */
    uint64_t findings;   /* bits: PFD_FINDING_BIT() */
    const void *payload; /* the entry's words, [n_payload] bytes */
    uint32_t n_payload;
    uint32_t n_bytes; /* header and payload, bytes of the buffer */
    uint8_t stream;   /* enum pfd_stream */

    /* Private from here. */
    const struct pfd_string *string;
    const struct pfd_record *record;
    const struct pfd_step *steps;
    struct pfd_entry_source *of;
    size_t room;
};

/* The format string, *n bytes, not NUL-terminated; NULL: unknown id. Borrowed
 * from the set of strings. */
PFD_API const char *pfd_entry_format_string(const struct pfd_entry *entry,
                                            size_t *n);

/* Its index for pfd_strings_get(); SIZE_MAX: unknown id, or the format string
 * stands in the entry itself. */
PFD_API size_t pfd_entry_string_index(const struct pfd_entry *entry);

/*
 * The bytes that the program's printf would have written, *n of them; not
 * NUL-terminated and perhaps not UTF-8. Borrowed as the entry is. Unknown id:
 * NULL with *n = 0. Out of memory: NULL with *n = 1. If the width of a `*` is
 * clamped, this call adds the finding to the entry.
 */
PFD_API const char *pfd_entry_message(struct pfd_entry *entry, size_t *n);

/* The type of an argument, as its conversion reads it. */
enum pfd_argument_type {
    PFD_ARGUMENT_INT,      /* signed: i */
    PFD_ARGUMENT_UNSIGNED, /* u */
    PFD_ARGUMENT_FLOAT,    /* f; floats of 2 and 4 bytes are exact */
    PFD_ARGUMENT_TEXT,     /* text, [n_bytes] of it; NULL: a null string */
};

/* One argument of an entry. */
struct pfd_argument {
    enum pfd_argument_type type;
    uint32_t at;      /* bytes from the start of the payload */
    uint32_t n_bytes; /* 1, 2, 4 or 8; a text has any number */
    char conversion;  /* its letter; '*' for a width or precision, 0: none */
    union {
        int64_t i;
        uint64_t u;
        double f;
        const char *text; /* not NUL-terminated; borrowed as the entry is */
    };
};

/* All arguments, [*n]: the conversions' in their order, then the arguments that
 * no conversion takes. Borrowed as the entry is. No arguments or an unknown id:
 * NULL with *n = 0. Out of memory: NULL with *n = 1. */
PFD_API const struct pfd_argument *pfd_entry_arguments(struct pfd_entry *entry,
                                                       size_t *n);

/* One argument of a format string, before any entry is seen. */
struct pfd_column {
    char name[64]; /* NUL-terminated: the word before its conversion, as
                      conditions of a filter name it, or "a0", "a1" ... */
    enum pfd_argument_type type;
    uint32_t n_bytes; /* 1, 2, 4 or 8; 0: a text */
    char conversion;  /* its letter; '*' for a width or precision */
};

/*
 * The arguments that the conversions of string i of a set take, in the order of
 * pfd_entry_arguments(), into ret [max]. Returns their number; 0 also if there
 * is no string i. An entry with another layout has other arguments. Any thread.
 */
PFD_API size_t pfd_strings_columns(const struct pfd_strings *strings, size_t i,
                                   struct pfd_column *ret, size_t max);

enum pfd_origin_type {
    PFD_ORIGIN_NUMBER, /* value[0] */
    PFD_ORIGIN_HEX,    /* value[0], an address or a handle */
    PFD_ORIGIN_COORDS, /* value[0 .. n - 1]: x, y, z */
    PFD_ORIGIN_FLOATS, /* the same, the bits of binary32 */
    PFD_ORIGIN_TEXT,   /* text, n bytes of it, not NUL-terminated */
};

/* One known fact about the origin of a message. */
struct pfd_origin {
    const char *name; /* such as "lane"; static storage */
    enum pfd_origin_type type;
    uint32_t n;
    uint64_t value[3];
    const char *text; /* borrowed as the entry is */
};

/* Parts that a line of text can have before an entry's message, if known. */
enum pfd_show {
    PFD_SHOW_TIME = 1,    /* when it arrived */
    PFD_SHOW_SOURCE = 2,  /* the buffer's name */
    PFD_SHOW_LINE = 4,    /* file and line of the shader's or kernel's source */
    PFD_SHOW_LANE = 8,    /* the lane of its wave */
    PFD_SHOW_ID = 16,     /* its format string's id */
    PFD_SHOW_ORIGIN = 32, /* everything that is known of its origin */
};

/* All origins of an entry, [*n], in the format's order; borrowed until the
 * decoder's next call. *n is 0 where a format has none, and when out of memory. */
PFD_API const struct pfd_origin *pfd_entry_origins(struct pfd_entry *entry,
                                                   size_t *n);

/* A decoder's result: an entry, or a finding about bytes between entries. */
struct pfd_item {
    bool is_entry;
    struct pfd_entry *entry;           /* when is_entry */
    const struct pfd_finding *finding; /* otherwise */
};

/* Exact counts of one buffer so far. */
struct pfd_summary {
    size_t struct_size;     /* as common.h says */
    uint64_t entries;       /* entries, unknown ones included */
    uint64_t unknown;       /* entries whose id no string has */
    uint64_t bytes;         /* in entries */
    uint64_t lost_bytes;    /* written by the device, never in the buffer */
    uint64_t skipped_bytes; /* in the buffer's used part, not decodable */
    uint64_t findings;      /* without notes */
};

struct pfd_decoder;

/*
 * Makes a decoder for one buffer. strings: borrowed until the decoder is freed.
 * format: a name of pfd_format_get(); NULL: chosen by the strings and, where
 * they do not decide, by the buffer's first 64 KiB, however they arrive; a
 * finding, format_choice, says so if another format is nearly as likely.
 * source: the buffer's name in findings, copied.
 *
 * PFD_OK; PFD_ERR_USAGE: no such format; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_decoder_new(const struct pfd_strings *strings,
                                        const char *format, const char *source,
                                        struct pfd_decoder **ret,
                                        struct pfd_error *err);

/* Call it before the first view; options is copied. PFD_OK; PFD_ERR_USAGE: it has
 * members that this library does not know. */
PFD_API enum pfd_status pfd_decoder_set_options(
    struct pfd_decoder *decoder, const struct pfd_options *options,
    struct pfd_error *err);

/* Call it before the first view, which must be the whole buffer. holes: [n]
 * ranges, in order, that are known to be zero because they were never written;
 * the decoder passes over them unread. Borrowed. */
PFD_API void pfd_decoder_set_holes(struct pfd_decoder *decoder,
                                   const struct pfd_range *holes, size_t n);

/* Likewise ranges of unknown bytes, which never arrived and read as zeros: an
 * entry with such bytes has the finding `incomplete`. */
PFD_API void pfd_decoder_set_missing(struct pfd_decoder *decoder,
                                     const struct pfd_range *missing, size_t n);

/* NULL is allowed. */
PFD_API void pfd_decoder_free(struct pfd_decoder *decoder);

/*
 * Gives the decoder a view: [n] bytes that stand at `base` in the buffer (bytes
 * from its start), borrowed until the next view or pfd_decoder_free(). last:
 * the view reaches the buffer's end. A view must contain
 * pfd_decoder_position(); it may be longer or begin later than the view before.
 *
 * PFD_OK; PFD_ERR_USAGE: the view does not contain the position.
 */
PFD_API enum pfd_status pfd_decoder_view(struct pfd_decoder *decoder,
                                         const void *bytes, size_t n,
                                         uint64_t base, bool last,
                                         struct pfd_error *err);

/* The decoder never needs the bytes before this offset again. */
PFD_API uint64_t pfd_decoder_position(const struct pfd_decoder *decoder);

/*
 * The next entry or finding, in buffer order; the decoder's, until its next
 * call. pfd_entry_finding_text() explains the findings of an entry.
 *
 * PFD_OK; PFD_END: the buffer is done; PFD_MORE: a longer view is needed (never
 * after the last one); PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_decoder_next(struct pfd_decoder *decoder,
                                         struct pfd_item **ret,
                                         struct pfd_error *err);

/* Writes one sentence that explains a finding of the entry into ret [n] bytes,
 * NUL-terminated; UTF-8, control bytes escaped. */
PFD_API void pfd_entry_finding_text(const struct pfd_entry *entry,
                                    enum pfd_finding_kind kind, char *ret,
                                    size_t n);

/* The name of the buffer format that the decoder uses; static storage. NULL:
 * not chosen yet; the first bytes decide. */
PFD_API const char *pfd_decoder_format(const struct pfd_decoder *decoder);

/* The decoder's, current at any time. */
PFD_API const struct pfd_summary *pfd_decoder_summary(
    const struct pfd_decoder *decoder);

#ifdef __cplusplus
}
#endif

#endif
