/* SPDX-License-Identifier: MIT */
/* One file while it is rewritten: what is shared by the parts of that. */
#ifndef PFD_SCAN_SOURCE_H
#define PFD_SCAN_SOURCE_H

#include <printfdecode/scan.h>

#include "scan/call.h"
#include "scan/device.h"
#include "scan/table.h"
#include "scan/token.h"

struct pfd_scan {
    struct pfd_scan_options options;
    struct pfd_call_names names;
    struct pfd_scan_table table;
    size_t n_calls;
};

/* A place in the output, and what the source calls it. */
struct pfd_source_place {
    size_t at; /* bytes */
    uint32_t line;
    const char *file; /* [n_file]; NULL: no line marker names one */
    size_t n_file;
};

struct pfd_source {
    struct pfd_scan *scan;
    enum pfd_scan_language language;
    struct pfd_lexer lexer;
    struct pfd_device device; /* what it needs */
    struct pfd_text out;
    size_t done;          /* the source is in out up to here */
    size_t n_calls;       /* in this file */
    bool uses_parameters; /* it has words that the device's source defines */
    bool at_line_start;
    /* Where the device's source goes. */
    bool has_place;
    struct pfd_source_place place;
    uint32_t version; /* #version of GLSL; 0: none */
    bool is_es;
    struct pfd_token version_at;
    /* #if groups: how deep, and where the outermost begins. */
    size_t depth;
    struct pfd_source_place group;
    bool group_has_extension;
    size_t dead;            /* depth of the #if 0 that this is in; 0: none */
    struct pfd_error err;   /* what lexer.err is */
    struct pfd_error first; /* error of [n_errors] */
    size_t n_errors;
};

/* Takes the error that lexer.err has, unless it is in #if 0, where no compiler
 * reads. PFD_OK: there may be more; PFD_ERR_CORRUPT: there are too many. */
enum pfd_status pfd_source_error(struct pfd_source *f);

/* Says something that may help, of the token's line. */
void pfd_source_hint(struct pfd_source *f, const struct pfd_token *token,
                     const char *text);

/* A quote that does not end is no error, if no call is behind it. */
enum pfd_status pfd_source_broken(struct pfd_source *f,
                                  const struct pfd_token *token);

/* Where the source's byte `token->from`, which is not written yet, will be. */
struct pfd_source_place pfd_source_place(const struct pfd_source *f,
                                         const struct pfd_token *token);

/* Un-reads a token that ends a line. */
void pfd_source_give_back(struct pfd_source *f, const struct pfd_token *token);

/* Rewrites the call whose name was read; macro: the name that is defined where
 * it stands in a macro's text, else NULL. A call
 * that is wrong is taken as pfd_source_error() says. Each returns PFD_OK;
 * PFD_ERR_CORRUPT, said in lexer.err: the source ends here; PFD_ERR_NOMEM. */
enum pfd_status pfd_source_call(struct pfd_source *f,
                                const struct pfd_token *name,
                                const struct pfd_token *macro);

/* Reads the directive whose '#' was read. */
enum pfd_status pfd_source_directive(struct pfd_source *f,
                                     const struct pfd_token *hash);

/* In GLSL before 3.30 a #line says which line it is itself on. */
static inline bool pfd_source_line_is_next(const struct pfd_source *f)
{
    return f->language == PFD_SCAN_OPENCL || f->is_es || !f->version ||
           f->version >= 330;
}

#endif
