/* SPDX-License-Identifier: MIT */
/*
 * Explains a buffer dword by dword, for two forms: text and JSON.
 */
#ifndef CLI_INSPECT_DWORDS_H
#define CLI_INSPECT_DWORDS_H

#include <printfdecode/printfdecode.h>

struct inspect_argument {
    size_t index;
    struct pfd_argument argument;
};

/* One dword, or a row of dwords with the same meaning. */
struct inspect_piece {
    uint64_t at;        /* offset in the buffer, bytes */
    uint64_t n;         /* dwords; 0: an item without bytes */
    uint32_t value;     /* of the first dword */
    const char *what;   /* the meaning; "": its arguments explain it */
    const char *source; /* the buffer's name */
    const struct pfd_entry *entry; /* NULL: the dword is in no entry */
    /* Arguments that begin in the dword, [n_arguments]. */
    const struct inspect_argument *arguments;
    size_t n_arguments;
    bool is_first; /* the first dword of its entry */
    bool is_asked; /* the requested dword */
};

struct inspect_form {
    void (*buffer)(const char *name); /* called before each of several
                                         buffers */
    void (*piece)(const struct inspect_piece *piece);
    /* Called before the dwords of an entry, and after its header. */
    void (*entry)(struct pfd_entry *entry, const char *source,
                  const struct inspect_argument *arguments, size_t n);
    void (*message)(struct pfd_entry *entry, bool color);
    void (*finding)(const struct pfd_finding *finding, bool color);
};

extern const struct inspect_form dwords_text;
extern const struct inspect_form dwords_json;

/* The part of a buffer to show. */
struct inspect_wish {
    uint64_t at;    /* dword, with those around it; UINT64_MAX: all */
    uint64_t entry; /* index of an entry; UINT64_MAX: all */
    bool unfolded;  /* show rows dword by dword */
    bool is_mapped; /* pages of the buffer can be released after reading */
    bool color;
};

/*
 * Shows bytes [n] of a buffer, all of which the decoder has in view. False with
 * err filled: out of memory, or the requested part does not exist. *findings:
 * the number of findings shown, without notes.
 */
bool inspect_show(struct pfd_decoder *decoder, const char *name,
                  const uint8_t *bytes, uint64_t n,
                  const struct inspect_form *form,
                  const struct inspect_wish *wish, uint64_t *findings,
                  struct pfd_error *err);

#endif
