/* SPDX-License-Identifier: MIT */
/*
 * The files of a command line: told apart, strings loaded, buffers opened.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include <printfdecode/capture.h>
#include <printfdecode/convert.h>
#include <printfdecode/input.h>
#include <printfdecode/memory.h>
#include <printfdecode/process_code.h>

#include "options.h"

/* A buffer to read: mapped where it can be, else a stream. */
struct buffer {
    const char *name; /* as given; "-" is standard input */
    int fd;
    const void *bytes; /* [n], mapped; NULL: read what is in head, then fd */
    size_t n;
    bool is_mapped;          /* bytes are the file's, and pages of it clean */
    struct pfd_input *input; /* what a URI names, and bytes are in it */
    char *slurped;           /* what a stream gave, and bytes are in it */
    char head[64];           /* [n_head], read to tell what it is */
    size_t n_head;
    const struct pfd_range *holes; /* [n_holes], in order: zeros that are not
                                      even in the file */
    size_t n_holes;
    struct pfd_range *own_holes;     /* when nobody else's */
    const struct pfd_range *missing; /* [n_missing], in order: not known, and
                                        zero in bytes */
    size_t n_missing;
    struct pfd_memory_copy copied; /* from memory, and bytes are in it */
    bool needs_strings;            /* of what was decoded, some has an id */
    bool is_memory;                /* of inputs.memory, [n] at address */
    uint64_t address;
    uint64_t used;    /* of one that was found: bytes that it has reserved, as
                         was seen last */
    bool is_borrowed; /* bytes are a part of inputs.core's */
    char *own_name;
    const char *format; /* that it was found to have; NULL: not known */
    const struct pfd_wire_frame *origin; /* where it comes from, or NULL */
    struct pfd_capture *capture; /* that it is in, as number i; bytes are there
                                    once it is mapped. Its first owns it */
    bool owns_capture;
    size_t i;
    struct pfd_capture_buffer captured; /* when capture */
};

/* A file that has no format strings, and why; both owned. */
struct vain {
    char *source;
    char *text;
};

enum {
    INPUTS_VAIN_TOLD = 8
};

struct inputs {
    struct pfd_strings *strings;
    size_t n_strings_files;
    size_t n_found;         /* of them in folders */
    struct buffer *buffers; /* [n_buffers], in the order given */
    size_t n_buffers;
    size_t n_captures;         /* whose buffers are among them */
    struct pfd_memory *memory; /* that is read; NULL: none */
    struct core *core;         /* that memory is of; NULL: of none */
    struct found *found; /* what was found in it; NULL: not searched for */
    struct pfd_process_code
        *process_code; /* what is loaded there; NULL: not asked for */
    struct vain vain[INPUTS_VAIN_TOLD]; /* the first of [n_vain] that were not
                                           told of */
    size_t n_vain;
    uint64_t n_findings; /* of the strings and of memory, notes left out */
    bool failed;         /* a file could not be read; said already */
};

/*
 * Opens all files and loads the strings. Findings go to tell (a pfd_finding_fn)
 * with user; notes only when they are asked for. Ends at the first file that
 * cannot be read, with no buffers, unless --keep-going is given.
 */
void inputs_open(struct inputs *ret, const struct options *options,
                 pfd_finding_fn tell, void *user);
void inputs_close(struct inputs *inputs);

/* Says why files have no format strings, where that was not said: for what
 * should have had some. */
void inputs_tell_vain(const struct inputs *inputs);

/* Likewise, and what to give: there are no strings at all. */
void inputs_tell_no_strings(const struct inputs *inputs);

/* Adds a buffer to the list, which is the caller's to fill in. */
struct buffer *inputs_add(struct inputs *inputs);

/* Has all bytes [n] of a buffer in memory until they are handed back: those of
 * captures are put in place, and streams are read to their end. False: err says
 * why. */
bool input_map(struct buffer *buffer, struct pfd_error *err);
void input_unmap(struct buffer *buffer);

/* Fails when no buffer is among the files, unless a capture should have had
 * some and that was said; advice is what the message ends in. */
void inputs_want_buffers(struct inputs *inputs, const char *advice);

/* How a buffer is read: as the command line says; what that leaves open, as the
 * buffer's capture does. */
void input_reading(const struct options *options, const struct buffer *buffer,
                   const char **format, struct pfd_options *decoding);

/* Nothing came of this captured buffer: that was said, and there is nothing to
 * read. */
bool input_is_missing(const struct buffer *buffer);

/* A pfd_read_fn; user is a struct buffer. */
long input_read(void *user, void *bytes, size_t n);

/* A pfd_read_at_fn of one that is mapped, likewise. */
long input_read_at(void *user, uint64_t offset, void *bytes, size_t n);

/* Reads a stream to its end into *ret [*n], the caller's to free, also after a
 * failure (false, with err filled). */
bool input_slurp(struct buffer *buffer, char **ret, size_t *n,
                 struct pfd_error *err);

/* What a code object URI names, copied; [*n] bytes, the caller's to free. */
bool input_copy_uri(const char *uri, char **ret, size_t *n,
                    struct pfd_error *err);

/* Moves buffers that will not change any more, those of captures and compressed
 * files, behind those that may be followed, if there are any: how many. */
size_t inputs_put_complete_last(struct inputs *inputs);

/* From now on a mapped file that is cut while it is read is an error message
 * and not a crash. */
void input_guard(void);

#endif
