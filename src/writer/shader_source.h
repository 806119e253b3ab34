/* SPDX-License-Identifier: MIT */
/* One file, from reading to writing. */
#ifndef PFD_SCAN_SHADER_SOURCE_H
#define PFD_SCAN_SHADER_SOURCE_H

#include "writer/descriptor.h"
#include "writer/device.h"
#include "writer/print_call.h"
#include "writer/scan_options.h"
#include "writer/scan_table.h"
#include "writer/token.h"

enum {
    PFD_SOURCE_ERRORS_MAX = 100, /* of a source */
};

struct pfd_scan {
    struct pfd_scan_options options;
    struct pfd_print_call_names names;
    struct pfd_scan_table table;
    struct pfd_text sources; /* of struct pfd_shader_source *; owned */
    uint64_t mark;           /* of the last closure */
    size_t n_calls;
};

/* A place in the output, and its file and line in the source. */
struct pfd_shader_source_place {
    size_t at; /* bytes */
    uint32_t line;
    const char *file; /* [n_file]; NULL: no line marker names it */
    size_t n_file;
};

/* A source that another one includes. */
struct pfd_shader_source_link {
    size_t of;
    uint32_t line;
};

struct pfd_shader_source {
    struct pfd_scan *scan;
    char *name;       /* owned */
    bool is_foreign;  /* it is included, and not rewritten */
    bool is_reported; /* it was reported that it prints */
    enum pfd_scan_language language;
    struct pfd_lexer lexer;
    struct pfd_device device; /* its needs */
    struct pfd_text out;
    size_t done;          /* bytes of the source that are in `out` */
    size_t n_calls;       /* in this file */
    bool uses_parameters; /* it has words that the device's source defines */
    bool at_line_start;
    /* The place of the device's source. */
    bool has_place;
    struct pfd_shader_source_place place;
    uint32_t version; /* #version of GLSL; 0: none */
    bool is_es;
    struct pfd_token version_at;
    struct {
        size_t depth;
        size_t dead; /* depth of the #if 0 around this; 0: none */
        struct pfd_shader_source_place begin; /* of the outermost group */
        bool has_extension;                   /* that group */
    } conditions;                             /* #if groups */
    struct pfd_error err;                     /* lexer.err points here */
    struct pfd_error first; /* the first error of [n_errors] */
    size_t n_errors;
    struct pfd_descriptors descriptors;
    size_t n_braces;          /* around the code that is read */
    struct pfd_token outside; /* the first call outside of any function; line 0:
                                 none */
    struct pfd_token other;   /* a printf that is no call; likewise */
    struct pfd_text includes; /* of struct pfd_scan_include */
    struct pfd_text links;    /* of struct pfd_shader_source_link */
    bool is_included;
    struct {
        uint64_t mark; /* scan's, if it is in that closure, */
        const struct pfd_shader_source
            *by;          /* the source that includes it there, */
        uint32_t by_line; /* in this line */
    } closure;
};

size_t pfd_scan_n_sources(const struct pfd_scan *scan);
struct pfd_shader_source *pfd_scan_at(const struct pfd_scan *scan, size_t i);

/* The steps of a file: read it, complete it. Each returns PFD_OK;
 * PFD_ERR_CORRUPT; PFD_ERR_NOMEM. */
enum pfd_status pfd_shader_source_take(struct pfd_shader_source *f);
enum pfd_status pfd_shader_source_complete(struct pfd_shader_source *f);

/* Takes the error in lexer.err, unless it is in #if 0, which no compiler reads.
 * PFD_OK: more errors may follow; PFD_ERR_CORRUPT: there are too many. */
enum pfd_status pfd_shader_source_error(struct pfd_shader_source *f);

/* Adds a hint for a line of f or of another file. */
void pfd_shader_source_hint(const struct pfd_shader_source *f,
                            const struct pfd_shader_source *of, uint32_t line,
                            const char *text);

/* Takes an unterminated quote: it is no error unless a call is behind it. */
enum pfd_status pfd_shader_source_broken(struct pfd_shader_source *f,
                                         const struct pfd_token *token);

/* The place in the output of the source's byte `token->from`, which is not
 * written yet. */
struct pfd_shader_source_place pfd_shader_source_place(
    const struct pfd_shader_source *f, const struct pfd_token *token);

/* Un-reads a token that ends a line. */
void pfd_shader_source_give_back(struct pfd_shader_source *f,
                                 const struct pfd_token *token);

/*
 * Rewrites the call whose name was read. macro: the name of the macro whose
 * text has it, else NULL. A wrong call is handled by pfd_shader_source_error().
 * Returns PFD_OK; PFD_ERR_CORRUPT, with the error in lexer.err: the source ends
 * here; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_shader_source_call(struct pfd_shader_source *f,
                                       const struct pfd_token *name,
                                       const struct pfd_token *macro);

/* Reads the directive whose '#' was read. */
enum pfd_status pfd_shader_source_directive(struct pfd_shader_source *f,
                                            const struct pfd_token *hash);

/* Does #line give the number of its own line? In GLSL before 3.30 it does. */
static inline bool pfd_shader_source_line_is_next(
    const struct pfd_shader_source *f)
{
    return f->language == PFD_SCAN_OPENCL || f->is_es || !f->version ||
           f->version >= 330;
}

#endif
