/* SPDX-License-Identifier: MIT */
/*
 * The internals of a module, for spirv*.c. pfd_spirv_open() builds every index;
 * a module never changes afterwards.
 */
#ifndef PFD_SPIRV_MODULE_H
#define PFD_SPIRV_MODULE_H

#include "core/spirv/spirv.h"

/* NonSemantic.DebugPrintf and NonSemantic.Shader.DebugInfo.100 instructions. */
enum {
    PFD_PRINTF_CALL = 1,
    PFD_DEBUG_SCOPE = 23,
    PFD_DEBUG_NO_SCOPE = 24,
    PFD_DEBUG_SOURCE = 35,
    PFD_DEBUG_SOURCE_CONTINUED = 102,
    PFD_DEBUG_LINE = 103,
    PFD_DEBUG_NO_LINE = 104,
};

enum {
    PFD_DECORATION_ARRAY_STRIDE = 6,
    PFD_DECORATION_MATRIX_STRIDE = 7,
    PFD_DECORATION_BINDING = 33,
    PFD_DECORATION_SET = 34,
    PFD_DECORATION_OFFSET = 35,
};

struct spirv_id {
    uint32_t id;
    uint32_t k; /* the instruction that defines it */
};

struct spirv_call {
    uint32_t k;
    uint32_t format_id;
    uint32_t position; /* in the original module, of an instrumented one */
    uint32_t first;    /* of its operands, where they are listed */
    uint32_t n_operands;
};

/* A function that writes records, of an instrumented module. */
struct spirv_writer {
    uint32_t id;
    uint32_t kind;   /* spirv_instrumented.c's own */
    uint32_t number; /* at the end of its name; 0: none is there */
};

/* A call that writes a record, of an instrumented module. */
struct spirv_report {
    uint32_t position; /* in the original module */
    uint32_t k;
};

/* A #line directive. */
struct spirv_directive {
    uint32_t line; /* its own line in the text, from 0 */
    uint32_t number;
    const char *name; /* its own, or the one of a directive above; or NULL */
    uint32_t n_name;
    bool is_named; /* the name is its own */
};

/* The text of one file, joined from its chunks. */
struct spirv_source {
    uint32_t id; /* the file's OpString, or the DebugSource */
    bool is_debug;
    char *text; /* [n], owned */
    size_t n;
    size_t n_first;   /* bytes of the first chunk */
    uint32_t *starts; /* [n_lines] offsets, owned */
    uint32_t n_lines;
    struct spirv_directive *directives; /* [n_directives], owned */
    uint32_t n_directives;
};

struct spirv_decoration {
    uint32_t target;
    uint32_t member; /* PFD_SPIRV_NONE: of the whole type */
    uint32_t kind;
    uint32_t value;
};

/* What an instrumented module has more. */
struct spirv_instrumented {
    uint32_t shader;    /* its number; PFD_SPIRV_NONE: none */
    uint32_t *operands; /* [n_operands] ids, of all calls */
    size_t n_operands;
    struct spirv_report *reports; /* [n_reports], by position */
    size_t n_reports;
    enum pfd_spirv_instrumenter maker;
    struct spirv_writer *writers; /* [n_writers], by id */
    size_t n_writers;
};

struct pfd_spirv {
    uint32_t *words; /* [n_words] */
    size_t n_words;
    uint32_t n;           /* instructions */
    uint32_t *offset;     /* [n] dwords */
    uint32_t *counted;    /* [n] never falls */
    uint32_t *line;       /* [n] line instruction by PFD_LINE_TRUE */
    uint32_t *layer_line; /* [n] by PFD_LINE_LAYER */
    struct spirv_id *ids; /* [n_ids], by id, then k */
    size_t n_ids;
    struct spirv_call *calls; /* [n_calls], in module order */
    size_t n_calls;
    bool is_instrumented;
    struct spirv_instrumented instrumented;
    struct spirv_source *sources; /* [n_sources] */
    size_t n_sources;
    struct spirv_decoration *decorations; /* [n_decorations], sorted */
    size_t n_decorations;
    struct pfd_spirv_abort *aborts; /* [n_aborts] */
    size_t n_aborts;
    struct pfd_spirv_member *members; /* [n_members] */
    size_t n_members;
    size_t members_room;
    uint8_t *known; /* constants whose words hold a byte each */
    size_t n_known;
    size_t n_memory;
};

static inline const uint32_t *spirv_at(const struct pfd_spirv *m, uint32_t k,
                                       uint32_t *n)
{
    const uint32_t *w = m->words + m->offset[k];
    *n = w[0] >> 16;
    return w;
}

static inline uint32_t spirv_op(const struct pfd_spirv *m, uint32_t k)
{
    return m->words[m->offset[k]] & 0xffff;
}

/* The number of a NonSemantic.Shader.DebugInfo instruction; 0: it is none. */
uint32_t spirv_debug_number(const struct pfd_spirv *m, uint32_t k);

/* Is instruction k a complete debugPrintf call? */
bool spirv_is_print(const struct pfd_spirv *m, uint32_t k);

/* Does instruction k call a function that writes records? */
bool spirv_calls_writer(const struct pfd_spirv *m, uint32_t k);

/*
 * True for instructions whose first operand can be a number that is also the id
 * of a type, or such an id, without the second one being a result. For all
 * others "the first operand is a type" tells that the second is a result.
 */
bool spirv_has_no_result(uint32_t op);

/* True for instructions that end a block. */
bool spirv_ends_block(uint32_t op);

/* A literal string in words [n]: up to its NUL; without one, all words. */
const char *spirv_literal(const uint32_t *words, uint32_t n, size_t *ret);

/* Memory that is counted; for the members of the module. NULL: out of
 * memory. */
void *spirv_alloc(struct pfd_spirv *m, size_t n, size_t size);

/* A decoration's value; member PFD_SPIRV_NONE: of the whole target. False: the
 * target has none of this kind. */
bool spirv_decoration(const struct pfd_spirv *m, uint32_t target,
                      uint32_t member, uint32_t kind, uint32_t *ret);

/* Line i of a source, from 0, [*n] bytes without its line break; "": no such
 * line. */
const char *spirv_line_text(const struct spirv_source *s, uint32_t i,
                            size_t *n);

/* The parts of pfd_spirv_open(); false when out of memory. */
bool spirv_index_instrumented(struct pfd_spirv *m);
bool spirv_index_calls(struct pfd_spirv *m);
bool spirv_index_decorations(struct pfd_spirv *m);
bool spirv_index_lines(struct pfd_spirv *m, struct pfd_report *report);
bool spirv_index_aborts(struct pfd_spirv *m, struct pfd_report *report);
void spirv_free_lines(struct pfd_spirv *m);

#endif
