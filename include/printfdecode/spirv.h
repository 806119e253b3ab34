/* SPDX-License-Identifier: MIT */
/*
 * SPIR-V modules as far as shader messages are concerned: the debugPrintf calls
 * of a module, their places in its source, and the remarks of the validation
 * layer's checker before a shader runs.
 *
 * Modules may be of either byte order and may be damaged: unreadable parts are
 * findings, and the rest is used. A module is immutable once opened; any number
 * of threads may read it.
 */
#ifndef PRINTFDECODE_SPIRV_H
#define PRINTFDECODE_SPIRV_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_spirv;

/* True when these first bytes [n] of a file (4 are enough) are SPIR-V's. */
PFD_API bool pfd_spirv_recognise(const void *bytes, size_t n);

/*
 * Reads a module: bytes [n], copied. source: its name in findings, borrowed
 * for the call. fn may be NULL.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: not SPIR-V, or above 64 MiB; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_spirv_open(const void *bytes, size_t n,
                                       const char *source, pfd_finding_fn fn,
                                       void *user, struct pfd_spirv **ret,
                                       struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_spirv_free(struct pfd_spirv *module);

/* A place in a source file. Texts are borrowed from the module, [n] bytes, any
 * bytes, not NUL-terminated. */
struct pfd_spirv_place {
    const char *file; /* NULL: the module does not name one */
    size_t n_file;
    uint32_t line;    /* from 1 */
    uint32_t column;  /* 0: unknown */
    const char *text; /* the source line itself, or NULL */
    size_t n_text;
};

/* A line of source, [n] bytes, any bytes, without its line break. */
struct pfd_excerpt_line {
    uint32_t number; /* as the place counts; 0: a #line lies between */
    const char *text;
    size_t n;
};

enum {
    PFD_EXCERPT_AROUND = 20 /* lines before and behind, at most */
};

/* A line of source and its neighbours. Texts are borrowed from the module. */
struct pfd_excerpt {
    struct pfd_excerpt_line lines[2 * PFD_EXCERPT_AROUND + 1]; /* [n] */
    size_t n;
    size_t marked; /* the line itself is lines[marked] */
};

/* One debugPrintf call. */
struct pfd_spirv_call {
    uint32_t format_id; /* of the OpString */
    uint32_t offset;    /* dwords from the start of the module */
    uint32_t ordinal;   /* number of the instruction, from 0; lines count */
    uint32_t n_operands;
    const char *text; /* the format string, [n_text] bytes; NULL: no OpString */
    size_t n_text;
    struct pfd_spirv_place place;
};

PFD_API size_t pfd_spirv_call_count(const struct pfd_spirv *module);

/* Fills ret with call i, in module order. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_spirv_call_get(const struct pfd_spirv *module,
                                           size_t i,
                                           struct pfd_spirv_call *ret);

/* The type of operand k of call i as a word: "i32", "u64", "f16x3", "bool",
 * "ptr"; "?" when it is none of these or unknown. NUL-terminated. */
PFD_API void pfd_spirv_operand_name(const struct pfd_spirv *module, size_t i,
                                    uint32_t k, char ret[16]);

/* How severe a remark of the layer's checker (since SDK 1.3.296) is. */
enum pfd_verdict {
    PFD_VERDICT_WARNING, /* prints all the same */
    PFD_VERDICT_SILENT,  /* error: no record is ever written for this call */
    PFD_VERDICT_PRINTS,  /* error, yet records are written */
};

/* Takes one remark; text is one sentence, borrowed for the call. */
typedef void (*pfd_verdict_fn)(void *user, enum pfd_verdict verdict,
                               const char *text);

/* Gives fn all of the checker's remarks on call i; returns their number. */
PFD_API size_t pfd_spirv_check(const struct pfd_spirv *module, size_t i,
                               pfd_verdict_fn fn, void *user);

#ifdef __cplusplus
}
#endif

#endif
