/* SPDX-License-Identifier: MIT */
/*
 * A buffer as dwords, each with what it is, to one of two forms: text and JSON.
 */
#ifndef CLI_INSPECT_DWORDS_H
#define CLI_INSPECT_DWORDS_H

#include <printfdecode/printfdecode.h>

struct inspect_argument {
    size_t index;
    struct pfd_argument argument;
};

/* One dword, or a stretch of dwords that are the same thing. */
struct inspect_piece {
    uint64_t at;        /* bytes from the buffer's start */
    uint64_t n;         /* dwords; 0: what stands here takes no bytes */
    uint32_t value;     /* of the first */
    const char *what;   /* "": its arguments say it all */
    const char *source; /* the buffer's name */
    const struct pfd_entry *entry; /* NULL: it is in none */
    /* Arguments that begin in it, [n_arguments]. */
    const struct inspect_argument *arguments;
    size_t n_arguments;
    bool is_first; /* of its entry */
    bool is_asked; /* the one that was asked for */
};

struct inspect_form {
    void (*buffer)(const char *name); /* one of several begins */
    void (*piece)(const struct inspect_piece *piece);
    /* Before the dwords of an entry, and behind those of its header. */
    void (*entry)(struct pfd_entry *entry, const char *source,
                  const struct inspect_argument *arguments, size_t n);
    void (*message)(struct pfd_entry *entry, bool color);
    void (*finding)(const struct pfd_finding *finding, bool color);
};

extern const struct inspect_form dwords_text;
extern const struct inspect_form dwords_json;

/* What to show of a buffer. */
struct inspect_wish {
    uint64_t at;    /* this dword and those around it; UINT64_MAX: all */
    uint64_t entry; /* this entry; UINT64_MAX: all */
    bool unfolded;  /* stretches dword by dword */
    bool
        is_mapped; /* the buffer's pages can be given back once they are read */
    bool color;
};

/*
 * Shows bytes [n] of a buffer; the decoder has them in view, all of them. False
 * with err filled: out of memory, or what is wished for is not there.
 * *findings: those that were shown, notes left out.
 */
bool inspect_show(struct pfd_decoder *decoder, const char *name,
                  const uint8_t *bytes, uint64_t n,
                  const struct inspect_form *form,
                  const struct inspect_wish *wish, uint64_t *findings,
                  struct pfd_error *err);

#endif
