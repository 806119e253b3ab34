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
#ifndef PFD_SPIRV_H
#define PFD_SPIRV_H

#include <printfdecode/common.h>

#include "core/base/error.h"

struct pfd_spirv;

/* True when these bytes [n] are a SPIR-V module (4 are enough), or a program
 * binary of Mesa's rusticl with one (all are needed). */
bool pfd_spirv_recognise(const void *bytes, size_t n);

/*
 * Reads a module: bytes [n], copied. source: its name in findings, borrowed
 * for the call. fn may be NULL.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: not SPIR-V, or above 64 MiB; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_spirv_open(const void *bytes, size_t n, const char *source,
                               pfd_finding_fn fn, void *user,
                               struct pfd_spirv **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_spirv_free(struct pfd_spirv *module);

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

size_t pfd_spirv_call_count(const struct pfd_spirv *module);

/* Fills ret with call i, in module order. PFD_OK; PFD_END: there is no i. */
enum pfd_status pfd_spirv_call_get(const struct pfd_spirv *module, size_t i,
                                   struct pfd_spirv_call *ret);

/* The type of operand k of call i as a word: "i32", "u64", "f16x3", "bool",
 * "ptr"; "?" when it is none of these or unknown. NUL-terminated. */
void pfd_spirv_operand_name(const struct pfd_spirv *module, size_t i,
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
size_t pfd_spirv_check(const struct pfd_spirv *module, size_t i,
                       pfd_verdict_fn fn, void *user);

/*
 * A SPIR-V module, indexed: instructions, ids, debugPrintf calls, lines,
 * sources and abort messages. Owns a copy of the words in host byte order; no
 * read leaves an instruction, whatever its words say. Does not know buffers.
 *
 * An instruction is named by its number k, 0 for the first one behind the
 * header: the plain ordinal. Two more numberings occur in buffers: the dword
 * offset from the start of the module, and the ordinal of instrumentation
 * passes that count copies of debug lines (pfd_spirv_by_counted()).
 */

/* No such instruction. */
#define PFD_SPIRV_NONE UINT32_MAX

enum {
    PFD_SPIRV_MAX = 64 << 20, /* bytes of a module */
    PFD_SPIRV_HEADER = 5,     /* dwords */
};

/* SPIR-V 1.6, and the extensions named. */
enum pfd_spv {
    PFD_SPV_SOURCE_CONTINUED = 2,
    PFD_SPV_SOURCE = 3,
    PFD_SPV_STRING = 7,
    PFD_SPV_LINE = 8,
    PFD_SPV_EXT_INST_IMPORT = 11,
    PFD_SPV_EXT_INST = 12,
    PFD_SPV_ENTRY_POINT = 15,
    PFD_SPV_TYPE_VOID = 19,
    PFD_SPV_TYPE_BOOL = 20,
    PFD_SPV_TYPE_INT = 21,
    PFD_SPV_TYPE_FLOAT = 22,
    PFD_SPV_TYPE_VECTOR = 23,
    PFD_SPV_TYPE_MATRIX = 24,
    PFD_SPV_TYPE_ARRAY = 28,
    PFD_SPV_TYPE_STRUCT = 30,
    PFD_SPV_TYPE_POINTER = 32,
    PFD_SPV_TYPE_FORWARD_POINTER = 39,
    PFD_SPV_CONSTANT = 43,
    PFD_SPV_CONSTANT_COMPOSITE = 44,
    PFD_SPV_SPEC_CONSTANT_COMPOSITE = 51,
    PFD_SPV_FUNCTION = 54,
    PFD_SPV_FUNCTION_PARAMETER = 55,
    PFD_SPV_FUNCTION_END = 56,
    PFD_SPV_VARIABLE = 59,
    PFD_SPV_DECORATE = 71,
    PFD_SPV_MEMBER_DECORATE = 72,
    PFD_SPV_COMPOSITE_CONSTRUCT = 80,
    PFD_SPV_LABEL = 248,
    PFD_SPV_NO_LINE = 317,
    PFD_SPV_COPY_LOGICAL = 400,
    PFD_SPV_ABORT = 5121,         /* SPV_KHR_abort */
    PFD_SPV_CONSTANT_DATA = 5147, /* SPV_KHR_constant_data */
    PFD_SPV_SPEC_CONSTANT_DATA = 5148,
};

enum pfd_spirv_kind {
    PFD_SPIRV_OTHER,
    PFD_SPIRV_BOOL,
    PFD_SPIRV_INT,
    PFD_SPIRV_UINT,
    PFD_SPIRV_FLOAT,
    PFD_SPIRV_POINTER,
};

/* A scalar or vector type. */
struct pfd_spirv_type {
    uint8_t kind; /* enum pfd_spirv_kind, of a component */
    bool is_vector;
    uint16_t width;   /* bits of a component; 0 for bool and others */
    uint32_t n;       /* components; 1 for a scalar */
    uint8_t encoding; /* enum pfd_spirv_encoding, of a float */
};

/* The encoding of a float; its width alone does not determine it. */
enum pfd_spirv_encoding {
    PFD_SPIRV_IEEE,
    PFD_SPIRV_BFLOAT,
    PFD_SPIRV_E4M3,
    PFD_SPIRV_E5M2,
    PFD_SPIRV_ENCODED, /* an unknown encoding */
};

/* ---- instructions ---- */

/* A total order of modules by their words alone; 0: equal. */
int pfd_spirv_order(const struct pfd_spirv *a, const struct pfd_spirv *b);
uint32_t pfd_spirv_n_instructions(const struct pfd_spirv *module);

/* Instruction k: its words, *n of them, at least one. */
const uint32_t *pfd_spirv_words(const struct pfd_spirv *module, uint32_t k,
                                uint32_t *n);
uint32_t pfd_spirv_offset(const struct pfd_spirv *module, uint32_t k);

/* The instruction at this dword offset, or with this counted ordinal, or
 * PFD_SPIRV_NONE. */
uint32_t pfd_spirv_by_offset(const struct pfd_spirv *module, uint32_t offset);
uint32_t pfd_spirv_by_counted(const struct pfd_spirv *module, uint32_t counted);
uint32_t pfd_spirv_counted(const struct pfd_spirv *module, uint32_t k);

/* The instruction that defines an id, or PFD_SPIRV_NONE. */
uint32_t pfd_spirv_definition(const struct pfd_spirv *module, uint32_t id);

/* The text of an OpString; NULL: the id is none. [*n] bytes. */
const char *pfd_spirv_string(const struct pfd_spirv *module, uint32_t id,
                             size_t *n);

struct pfd_spirv_type pfd_spirv_type_of(const struct pfd_spirv *module,
                                        uint32_t type_id);
/* The type of an id's value. */
struct pfd_spirv_type pfd_spirv_value_type(const struct pfd_spirv *module,
                                           uint32_t id);
/* The value of an OpConstant's first word; false: the id is no OpConstant. */
bool pfd_spirv_constant(const struct pfd_spirv *module, uint32_t id,
                        uint32_t *ret);

/* ---- calls ---- */

/* The tool that instrumented a module for the validation layer; later tools are
 * larger. */
enum pfd_spirv_instrumenter {
    PFD_SPIRV_NOT_MADE,
    PFD_SPIRV_BY_TOOLS,      /* SPIRV-Tools, until SDK 1.3.280 */
    PFD_SPIRV_BY_LAYER,      /* the layer; its checks show no version */
    PFD_SPIRV_BY_LAYER_2024, /* with the checks of SDK 1.3.283 to 1.3.296 */
    PFD_SPIRV_BY_LAYER_2025, /* with those of SDK 1.4.304 and later */
};
enum pfd_spirv_instrumenter pfd_spirv_instrumenter(
    const struct pfd_spirv *module);

/* True: the module is instrumented. Positions of records are then those of the
 * calls that write them, or counted ones; see spirv_instrumented.c. */
bool pfd_spirv_is_instrumented(const struct pfd_spirv *module);
/* The layer's number of an instrumented shader; false: the module has none. */
bool pfd_spirv_shader(const struct pfd_spirv *module, uint32_t *ret);

/* Instruction of call i. */
uint32_t pfd_spirv_call_instruction(const struct pfd_spirv *module, size_t i);
/* The id of operand k of call i. */
uint32_t pfd_spirv_call_operand(const struct pfd_spirv *module, size_t i,
                                uint32_t k);
uint32_t pfd_spirv_call_format(const struct pfd_spirv *module, size_t i);

/* True: the instrumented module was made of this original, which has all of its
 * lines, and its calls at their positions. */
bool pfd_spirv_is_original(const struct pfd_spirv *original,
                           const struct pfd_spirv *module);
/* The original's call that became call i of an instrumented module, or the
 * original's pfd_spirv_call_count(). */
size_t pfd_spirv_original_call(const struct pfd_spirv *module, size_t i,
                               const struct pfd_spirv *original);

/* The stage of the module's one entry point as a SpvExecutionModel; false:
 * there is none, or there are several stages. */
bool pfd_spirv_stage(const struct pfd_spirv *module, uint32_t *ret);

/* ---- lines ---- */

/* The rule that determines "the current line" of an instruction. */
enum pfd_spirv_rule {
    PFD_LINE_TRUE,  /* SPIR-V's: up to OpNoLine or the block's end */
    PFD_LINE_LAYER, /* current layer's: up to the function's end */
    PFD_LINE_2019,  /* the layer's until 2023: the last OpLine, ever */
};

/* One line instruction, parsed. */
struct pfd_spirv_line {
    uint32_t k;      /* the OpLine or DebugLine; PFD_SPIRV_NONE: no line */
    uint32_t source; /* id of the file's OpString, or of a DebugSource */
    uint32_t line;
    uint32_t end; /* last line; the same for OpLine */
    uint32_t column;
    bool is_debug;    /* a DebugLine */
    const char *file; /* [n_file] bytes; NULL: its string is missing */
    size_t n_file;
    uint32_t file_id; /* the OpString; 0: none is named */
};

void pfd_spirv_line(const struct pfd_spirv *module, uint32_t k,
                    enum pfd_spirv_rule rule, struct pfd_spirv_line *ret);

/* The way in which a source line was found. */
enum pfd_spirv_found {
    PFD_FOUND_DIRECTIVE, /* by a #line */
    PFD_FOUND_DIRECT,    /* by its number */
    PFD_FOUND_NO_SOURCE, /* no text of this file */
    PFD_FOUND_NO_LINE,   /* the text has no such line */
    PFD_FOUND_BEYOND,    /* a #line leads to a line beyond the text */
};

struct pfd_spirv_text {
    const char *text; /* [n] bytes; NULL unless found */
    size_t n;
    uint64_t line;    /* BEYOND: the line it leads to, from 0 */
    uint32_t n_lines; /* of the source */
};

/* The text of a line, by the layer's current rules for its kind; number: from
 * line->line to line->end. */
enum pfd_spirv_found pfd_spirv_source(const struct pfd_spirv *module,
                                      const struct pfd_spirv_line *line,
                                      uint32_t number,
                                      struct pfd_spirv_text *ret);

/* The same by the rules until 2023: an OpSource without its continuations,
 * and a #line is needed (NO_LINE: there is none). */
enum pfd_spirv_found pfd_spirv_source_2019(const struct pfd_spirv *module,
                                           const struct pfd_spirv_line *line,
                                           struct pfd_spirv_text *ret);

/* The place in the source of instruction k, if the module has one. */
void pfd_spirv_place_of(const struct pfd_spirv *module, uint32_t k,
                        struct pfd_spirv_place *ret);

/* The lines around a line: `text` is its text from pfd_spirv_place_of(), number
 * its number. False: it is no line of this module. */
bool pfd_spirv_excerpt(const struct pfd_spirv *module, const char *text,
                       uint32_t number, uint32_t around,
                       struct pfd_excerpt *ret);

/* ---- accesses ---- */

/* The access of an instruction: the resource behind its pointer or image. */
struct pfd_spirv_access {
    bool is_image;
    bool has_set; /* the variable is known, and has one */
    uint32_t set;
    bool has_binding;
    uint32_t binding;
    bool is_address;    /* behind a buffer's address */
    uint32_t alignment; /* stated by a load or store; 0: none */
};

/* False: instruction k is no core access to memory or to an image. */
bool pfd_spirv_access(const struct pfd_spirv *module, uint32_t k,
                      struct pfd_spirv_access *ret);

/* The resource that the check at instruction k of an instrumented module is
 * about, if the layer passes it; false: k is no such check. */
bool pfd_spirv_checked(const struct pfd_spirv *module, uint32_t k,
                       struct pfd_spirv_access *ret);
/* Call i of the calls that report this position; PFD_SPIRV_NONE: no such
 * call. */
uint32_t pfd_spirv_reported(const struct pfd_spirv *module, uint32_t position,
                            size_t i);

/* ---- abort messages ---- */

/* A scalar or vector of a message, or a text. */
struct pfd_spirv_member {
    uint32_t offset; /* bytes from the start of the message */
    struct pfd_spirv_type type;
    bool is_text;         /* type.n bytes of text */
    bool is_specialized;  /* a pipeline may replace `known` */
    const uint8_t *known; /* [n_known] constant bytes, or NULL */
    uint32_t n_known;
};

/* One OpAbortKHR. */
struct pfd_spirv_abort {
    uint32_t k;
    uint32_t size;  /* bytes of a message; 0: not known */
    uint32_t align; /* of its largest scalar, bytes */
    bool guessed;   /* the module does not state all offsets */
    uint32_t first; /* members [first, first + n) */
    uint32_t n;
};

size_t pfd_spirv_n_aborts(const struct pfd_spirv *module);
const struct pfd_spirv_abort *pfd_spirv_abort(const struct pfd_spirv *module,
                                              size_t i);
const struct pfd_spirv_member *pfd_spirv_member(const struct pfd_spirv *module,
                                                uint32_t i);

size_t pfd_spirv_memory(const struct pfd_spirv *module);

#endif
