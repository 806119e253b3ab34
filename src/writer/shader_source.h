/* SPDX-License-Identifier: MIT */
/* One file from when it is read until it is written. */
#ifndef PFD_SCAN_SHADER_SOURCE_H
#define PFD_SCAN_SHADER_SOURCE_H

#include <printfdecode/scan.h>

#include "writer/descriptor.h"
#include "writer/device.h"
#include "writer/print_call.h"
#include "writer/scan_table.h"
#include "writer/token.h"

struct pfd_scan {
    struct pfd_scan_options options;
    struct pfd_print_call_names names;
    struct pfd_scan_table table;
    struct pfd_text sources; /* of struct pfd_source *; owned */
    uint64_t mark;           /* of the closure that was found last */
    size_t n_calls;
};

/* A place in the output, and what the source calls it. */
struct pfd_shader_source_place {
    size_t at; /* bytes */
    uint32_t line;
    const char *file; /* [n_file]; NULL: no line marker names one */
    size_t n_file;
};

/* A source that another one includes. */
struct pfd_shader_source_link {
    size_t of;
    uint32_t line;
};

struct pfd_source {
    struct pfd_scan *scan;
    char *name;      /* owned */
    bool is_foreign; /* it is included, and not rewritten */
    bool is_told;    /* that it prints */
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
    struct pfd_shader_source_place place;
    uint32_t version; /* #version of GLSL; 0: none */
    bool is_es;
    struct pfd_token version_at;
    /* #if groups: how deep, and where the outermost begins. */
    size_t depth;
    struct pfd_shader_source_place group;
    bool group_has_extension;
    size_t dead;            /* depth of the #if 0 that this is in; 0: none */
    struct pfd_error err;   /* what lexer.err is */
    struct pfd_error first; /* error of [n_errors] */
    size_t n_errors;
    struct pfd_descriptors descriptors;
    size_t n_braces;          /* around the code that is read */
    struct pfd_token outside; /* the first call outside of all; line 0: none */
    struct pfd_token other;   /* a printf that is no call; likewise */
    struct pfd_text includes; /* of struct pfd_scan_include */
    struct pfd_text links;    /* of struct pfd_shader_source_link */
    bool is_included;
    uint64_t mark;               /* scan's, when it is in that closure, */
    const struct pfd_source *by; /* where this one includes it, */
    uint32_t by_line;            /* in this line */
};

size_t pfd_scan_n_sources(const struct pfd_scan *scan);
struct pfd_source *pfd_scan_at(const struct pfd_scan *scan, size_t i);

/* Reads it; adds what it needs of the device, or says why that cannot be. Each
 * returns PFD_OK; PFD_ERR_CORRUPT; PFD_ERR_NOMEM. */
enum pfd_status pfd_shader_source_take(struct pfd_source *f);
enum pfd_status pfd_shader_source_complete(struct pfd_source *f);

/* Takes the error that lexer.err has, unless it is in #if 0, where no compiler
 * reads. PFD_OK: there may be more; PFD_ERR_CORRUPT: there are too many. */
enum pfd_status pfd_shader_source_error(struct pfd_source *f);

/* Says something that may help, of a line of f or of another file. */
void pfd_shader_source_hint(const struct pfd_source *f,
                            const struct pfd_source *of, uint32_t line,
                            const char *text);

/* A quote that does not end is no error, if no call is behind it. */
enum pfd_status pfd_shader_source_broken(struct pfd_source *f,
                                         const struct pfd_token *token);

/* Where the source's byte `token->from`, which is not written yet, will be. */
struct pfd_shader_source_place pfd_shader_source_place(
    const struct pfd_source *f, const struct pfd_token *token);

/* Un-reads a token that ends a line. */
void pfd_shader_source_give_back(struct pfd_source *f,
                                 const struct pfd_token *token);

/* Rewrites the call whose name was read; macro: the name that is defined where
 * it stands in a macro's text, else NULL. A call
 * that is wrong is taken as pfd_shader_source_error() says. Each returns PFD_OK;
 * PFD_ERR_CORRUPT, said in lexer.err: the source ends here; PFD_ERR_NOMEM. */
enum pfd_status pfd_shader_source_call(struct pfd_source *f,
                                       const struct pfd_token *name,
                                       const struct pfd_token *macro);

/* Reads the directive whose '#' was read. */
enum pfd_status pfd_shader_source_directive(struct pfd_source *f,
                                            const struct pfd_token *hash);

/* In GLSL before 3.30 a #line says which line it is itself on. */
static inline bool pfd_shader_source_line_is_next(const struct pfd_source *f)
{
    return f->language == PFD_SCAN_OPENCL || f->is_es || !f->version ||
           f->version >= 330;
}

#endif
