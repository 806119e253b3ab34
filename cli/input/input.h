/* SPDX-License-Identifier: MIT */
/* The buffers and strings of a command line, and how bytes of them are read. */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>

#include "core/base/input.h"
#include "memory/space/address_space.h"
#include "memory/space/process_code.h"
#include "options/options.h"

/* A buffer to read: mapped if possible, else a stream. */
struct buffer {
    const char *name; /* as given; "-" is standard input */
    int fd;
    const void *bytes; /* [n], mapped; NULL: a stream, whose bytes are in head,
                          then fd */
    size_t n;
    bool is_mapped;          /* bytes are a clean mapping of the file */
    struct pfd_input *input; /* owner of bytes that a URI names */
    char *slurped;           /* owner of bytes that were read from a stream */
    char head[64];           /* [n_head], read to detect the type */
    size_t n_head;
    const struct pfd_range *holes; /* [n_holes], in order: holes of a sparse
                                      file, which read as zeros */
    size_t n_holes;
    struct pfd_range *own_holes;     /* holes that this buffer owns, or NULL */
    const struct pfd_range *missing; /* [n_missing], in order: unknown bytes,
                                        zero in bytes */
    size_t n_missing;
    struct pfd_memory_copy copied; /* owner of bytes copied from memory */
    bool needs_strings;            /* has ids, outside of entries, that no
                                      string has */
    bool is_memory;                /* a range of inputs.memory: at address */
    uint64_t address;
    uint64_t used;    /* of a found buffer: bytes that were reserved when it was
                         read last */
    bool is_borrowed; /* bytes are part of inputs.core */
    char *own_name;
    const char *format;                  /* detected format; NULL: unknown */
    const struct pfd_wire_frame *origin; /* origin of the buffer, or NULL */
    struct pfd_capture *capture; /* contains the buffer as number i; its bytes
                                    exist while they are mapped. The capture's
                                    first buffer owns it */
    bool owns_capture;
    size_t i;
    struct pfd_capture_buffer captured; /* valid with capture */
};

/* A file without format strings, and the reason; both owned. */
struct stringless_file {
    char *source;
    char *text;
};

enum {
    INPUTS_STRINGLESS_MAX = 8
};

struct checks;

struct inputs {
    struct checks *checks; /* gets findings; NULL: nothing is checked */
    pfd_finding_fn heard;  /* likewise, of buffers; NULL: none does */
    void *heard_user;
    struct pfd_strings *strings;
    size_t n_strings_files;
    size_t n_found;         /* files from folders among them */
    struct buffer *buffers; /* [n_buffers], in the order given */
    size_t n_buffers;
    size_t n_captures;         /* captures, replaced by their buffers */
    struct pfd_memory *memory; /* memory to read; NULL: none */
    struct core *core;         /* the core that memory belongs to; NULL: none */
    struct found *found; /* result of the search in it; NULL: not searched */
    struct pfd_process_code
        *process_code; /* code that the process has loaded; NULL: not wanted */
    struct stringless_file stringless
        [INPUTS_STRINGLESS_MAX]; /* the first of [n_vain] that were not
                                           reported yet */
    size_t n_stringless;
    uint64_t n_findings; /* of strings and memory, without notes */
    bool failed;         /* a file could not be read; an error was printed */
};

/* Like inputs_tell_vain(), with advice: no strings at all are loaded. */
void inputs_report_no_strings(const struct inputs *inputs);

/* Adds a buffer to the list; the caller fills it in. */
struct buffer *inputs_add(struct inputs *inputs);

/* Makes all bytes [n] of a buffer available until input_unmap(): assembles
 * those of captures, and reads streams to their end. False: err says why. */
bool input_map(struct buffer *buffer, struct pfd_error *err);
void input_unmap(struct buffer *buffer);

/* Maps all streams, so that they can be read again, as files can. False: an
 * error was printed. */
bool inputs_map_streams(struct inputs *inputs);

/* Fails with a message that ends in advice when no buffer is among the files.
 * Does not fail when a capture should have had some: that was reported. */
void inputs_want_buffers(struct inputs *inputs, const char *advice);

/* How a buffer is decoded: by the command line, then by the buffer's
 * capture. */
void input_reading(const struct options *options, const struct buffer *buffer,
                   const char **format, struct pfd_options *decoding);

/* Is it a buffer of a capture without any contents? That was reported. */
bool input_is_missing(const struct buffer *buffer);

/* A pfd_read_fn; user is a struct buffer. */
long input_read(void *user, void *bytes, size_t n);

/* A pfd_read_at_fn of a mapped buffer; user is a struct buffer. */
long input_read_at(void *user, uint64_t offset, void *bytes, size_t n);

/* Reads a stream to its end into *ret [*n]. The caller frees it, also after a
 * failure (false, with err filled). */
bool input_slurp(struct buffer *buffer, char **ret, size_t *n,
                 struct pfd_error *err);

/* A copy of the bytes that a code object URI names, [*n]; the caller frees
 * them. */
bool input_copy_uri(const char *uri, char **ret, size_t *n,
                    struct pfd_error *err);

/* Moves buffers that cannot change any more (of captures and compressed files)
 * behind buffers that may be followed. Returns the number of the latter. */
size_t inputs_put_complete_last(struct inputs *inputs);

/* From now on, a mapped file that is truncated while it is read causes an error
 * message instead of a crash. */
void input_guard(void);

#endif
