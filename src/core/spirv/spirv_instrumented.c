/* SPDX-License-Identifier: MIT */
/*
 * Modules that were instrumented for the validation layer, as drivers see them.
 * Positions are those of instructions in the original module; the functions
 * that write records store the shader's number behind a record's size.
 *
 * By SPIRV-Tools (observed from layer 1.3.239): each debugPrintf call has
 * become a call of inst_printf_stream_write_N(position, format id, dwords...),
 * each check a call of another inst_..._stream_write_N(position, ...). The
 * dwords' original values follow from the instructions that make the dwords,
 * and from the conversions: v.x and v.y for two of them, v for one %v2f.
 *
 * By the layer itself (since SDK 1.3.296, observed from 1.4.309): each
 * debugPrintf call that the layer prints is preceded by a call of
 * inst_debug_printf_N(position, format id, masks, stage words, dwords...), a
 * record of N dwords; the values are the operands of the debugPrintf call.
 * Checks are inst_descriptor_...(position, stage words, set, binding, ...) and
 * others.
 */
#include <stdlib.h>
#include <string.h>

#include "core/spirv/spirv_module.h"

enum {
    OP_NAME = 5,
    OP_FUNCTION_CALL = 57,
    OP_STORE = 62,
    OP_ACCESS_CHAIN = 65,
    OP_COMPOSITE_EXTRACT = 81,
    OP_U_CONVERT = 113,
    OP_F_CONVERT = 115,
    OP_BITCAST = 124,
    OP_I_ADD = 128,
    OP_SELECT = 169,
    OP_SHIFT_RIGHT_LOGICAL = 194,
    ARGUMENTS_AT = 4,          /* of a call, in words */
    SET_AT = ARGUMENTS_AT + 2, /* of a check by the layer */
    SHADER_AT = 1,             /* of the shader's number, in a record */
    NOT_PASSED = 2,            /* words of a record: its size, the shader */
    POSITION = (1u << 27) - 1, /* the stage may be in the upper bits */
    EXT_INST_OPERANDS = 6,     /* words before those of a debugPrintf call */
};

/* The kind of a function that writes records. */
enum writer {
    WRITER_NONE,
    WRITER_CHECK,
    WRITER_PRINTF,       /* by SPIRV-Tools */
    WRITER_DEBUG_PRINTF, /* by the layer */
};

/* Names of functions, the most specific first. */
static const struct writer_row {
    const char *prefix;
    const char *part; /* must also be in the rest of the name */
    enum writer writer;
    enum pfd_spirv_instrumenter maker;
} writer_rows[] = {
    { "inst_printf_stream_write_", "", WRITER_PRINTF, PFD_SPIRV_BY_TOOLS },
    { "inst_", "_stream_write_", WRITER_CHECK, PFD_SPIRV_BY_TOOLS },
    { "inst_debug_printf_", "", WRITER_DEBUG_PRINTF, PFD_SPIRV_BY_LAYER },
    { "inst_bindless_descriptor", "", WRITER_CHECK, PFD_SPIRV_BY_LAYER_2024 },
    { "inst_non_bindless_oob_", "", WRITER_CHECK, PFD_SPIRV_BY_LAYER_2024 },
    { "inst_descriptor_", "", WRITER_CHECK, PFD_SPIRV_BY_LAYER_2025 },
    { "inst_vertex_attribute_fetch_oob", "", WRITER_CHECK,
      PFD_SPIRV_BY_LAYER_2025 },
    { "inst_buffer_device_address", "", WRITER_CHECK, PFD_SPIRV_BY_LAYER },
    { "inst_ray_query", "", WRITER_CHECK, PFD_SPIRV_BY_LAYER },
};

/* ---- functions ---- */

struct writers {
    struct spirv_writer *at; /* [n], by id, owned */
    size_t n;
    size_t room;
};

static bool begins(const char *text, size_t n, const char *with)
{
    size_t n_with = strlen(with);
    return n >= n_with && !memcmp(text, with, n_with);
}

/* A digit or a letter of such names: functions of a front end have their types
 * behind a parenthesis. */
static bool is_plain_name(const char *name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (name[i] != '_' && !(name[i] >= 'a' && name[i] <= 'z') &&
            !(name[i] >= '0' && name[i] <= '9'))
            return false;
    }
    return true;
}

static const struct writer_row *row_named(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof writer_rows / sizeof *writer_rows; i++) {
        const struct writer_row *row = &writer_rows[i];
        if (begins(name, n, row->prefix) &&
            memmem(name, n, row->part, strlen(row->part)) &&
            (row->maker == PFD_SPIRV_BY_TOOLS || is_plain_name(name, n)))
            return row;
    }
    return NULL;
}

/* The number at the end of a name, up to nine digits; 0: none. */
static uint32_t number_of(const char *name, size_t n)
{
    size_t at = n;
    uint32_t ret = 0;
    while (at && n - at < 9 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    for (; at < n; at++)
        ret = ret * 10 + (uint32_t)(name[at] - '0');
    return ret;
}

static bool add_writer(struct writers *writers,
                       const struct spirv_writer *writer)
{
    if (writers->n == writers->room) {
        size_t room = writers->room ? writers->room * 2 : 16;
        struct spirv_writer *at = realloc(writers->at, room * sizeof *at);
        if (!at)
            return false;
        writers->at = at;
        writers->room = room;
    }
    writers->at[writers->n++] = *writer;
    return true;
}

static int by_id(const void *a, const void *b)
{
    const struct spirv_writer *x = a;
    const struct spirv_writer *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* An application's variables can have such names: only functions count. */
static bool is_function(const struct pfd_spirv *m, uint32_t id)
{
    uint32_t k = pfd_spirv_definition(m, id);
    return k != PFD_SPIRV_NONE && spirv_op(m, k) == PFD_SPV_FUNCTION;
}

/* Finds functions that write records; names come before all functions. */
static bool find_writers(struct pfd_spirv *m, struct writers *ret)
{
    for (uint32_t k = 0; k < m->n && spirv_op(m, k) != PFD_SPV_FUNCTION; k++) {
        uint32_t n = 0;
        const uint32_t *w = spirv_at(m, k, &n);
        if ((w[0] & 0xffff) != OP_NAME || n < 3)
            continue;
        size_t n_name = 0;
        const char *name = spirv_literal(w + 2, n - 2, &n_name);
        const struct writer_row *row = row_named(name, n_name);
        if (!row || (row->maker != PFD_SPIRV_BY_TOOLS && !is_function(m, w[1])))
            continue;
        struct spirv_writer writer = { w[1], row->writer,
                                       number_of(name, n_name) };
        if (!add_writer(ret, &writer))
            return false;
        m->instrumented.maker = row->maker > m->instrumented.maker
                                    ? row->maker
                                    : m->instrumented.maker;
    }
    if (ret->n)
        qsort(ret->at, ret->n, sizeof *ret->at, by_id);
    return true;
}

/* The function with this id; NULL: it writes no records. */
static const struct spirv_writer *writer_of(const struct writers *writers,
                                            uint32_t id)
{
    struct spirv_writer key = { .id = id };
    return writers->n
               ? bsearch(&key, writers->at, writers->n, sizeof key, by_id)
               : NULL;
}

/* ---- the shader's number ---- */

/* The instruction that defines a value, if its opcode is op; else NULL. */
static const uint32_t *made_by(const struct pfd_spirv *m, uint32_t id,
                               uint32_t op, uint32_t n_min)
{
    uint32_t k = pfd_spirv_definition(m, id);
    uint32_t n = 0;
    if (k == PFD_SPIRV_NONE || spirv_op(m, k) != op)
        return NULL;
    const uint32_t *w = spirv_at(m, k, &n);
    return n >= n_min ? w : NULL;
}

/* Does the pointer lead into a record, so many dwords from its start? */
static bool is_place(const struct pfd_spirv *m, uint32_t pointer,
                     uint32_t dwords)
{
    uint32_t value = 0;
    const uint32_t *chain = made_by(m, pointer, OP_ACCESS_CHAIN, 6);
    const uint32_t *sum =
        chain ? made_by(m, chain[(chain[0] >> 16) - 1], OP_I_ADD, 5) : NULL;
    return sum && pfd_spirv_constant(m, sum[4], &value) && value == dwords;
}

/* Finds the shader's number in the function that begins at instruction k. */
static void find_shader(struct pfd_spirv *m, uint32_t k)
{
    while (++k < m->n) {
        uint32_t n = 0;
        const uint32_t *w = spirv_at(m, k, &n);
        uint32_t op = w[0] & 0xffff;
        if (op == PFD_SPV_FUNCTION || op == PFD_SPV_FUNCTION_END)
            return;
        if (op == OP_STORE && n >= 3 && is_place(m, w[1], SHADER_AT) &&
            pfd_spirv_constant(m, w[2], &m->instrumented.shader))
            return;
    }
}

/* ---- operands ---- */

/* The argument that the next conversion of a format string takes. */
struct wish {
    unsigned n; /* components; 0: there is no conversion */
    bool is_long;
    bool is_float;
    bool is_scarce; /* more dwords are passed than conversions take */
};

struct format {
    const char *at; /* [n] */
    size_t n;
};

static struct wish next_wish(struct format *f)
{
    struct wish ret = { .n = 0 };
    if (!f->n) /* f->at may be NULL */
        return ret;
    const char *end = f->at + f->n;
    const char *at = f->at;
    while (at + 1 < end && (at[0] != '%' || at[1] == '%'))
        at += at[0] == '%' ? 2 : 1;
    while (at < end && !memchr("diouxXaAeEfFgGp", *at, 15)) {
        if (*at == 'v' && at + 1 < end && at[1] >= '2' && at[1] <= '4')
            ret.n = (unsigned)(at[1] - '0');
        ret.is_long |= *at++ == 'l';
    }
    if (at < end) {
        ret.n = ret.n ? ret.n : 1;
        ret.is_float = memchr("aAeEfFgG", *at, 8);
        ret.is_long |= *at == 'p';
        at++;
        if (at < end && *at == 'l' && at[-1] == 'u') {
            ret.is_long = true;
            at++;
        }
    } else {
        ret.n = 0;
    }
    f->n = (size_t)(end - at);
    f->at = at;
    return ret;
}

static size_t dwords_of(const struct wish *wish)
{
    return wish->is_long ? 2u * wish->n : wish->n;
}

/* The number of dwords that a format string needs. */
static size_t n_wished(struct format rest)
{
    size_t n = 0;
    for (;;) {
        struct wish demand = next_wish(&rest);
        if (!demand.n)
            return n;
        n += dwords_of(&demand);
    }
}

/* The 64-bit value of which these two dwords are the halves; 0: none. */
static uint32_t whole_of(const struct pfd_spirv *m, uint32_t low, uint32_t high)
{
    const uint32_t *l = made_by(m, low, OP_U_CONVERT, 4);
    const uint32_t *h = made_by(m, high, OP_U_CONVERT, 4);
    const uint32_t *shift =
        h ? made_by(m, h[3], OP_SHIFT_RIGHT_LOGICAL, 5) : NULL;
    if (!l || !shift || shift[3] != l[3])
        return 0;
    const uint32_t *cast = made_by(m, l[3], OP_BITCAST, 4);
    return cast ? cast[3] : l[3];
}

/* The value whose bits this dword has; the dword itself if there is none. */
static uint32_t value_of(const struct pfd_spirv *m, uint32_t id, bool is_float)
{
    const uint32_t *cast = made_by(m, id, OP_BITCAST, 4);
    const uint32_t *wider = made_by(m, id, OP_U_CONVERT, 4);
    if (cast) {
        struct pfd_spirv_type t = pfd_spirv_value_type(m, cast[3]);
        bool is_right = (t.kind == PFD_SPIRV_FLOAT) == is_float;
        return is_right && t.kind != PFD_SPIRV_OTHER ? cast[3] : id;
    }
    if (!wider || pfd_spirv_value_type(m, wider[3]).width >= 32)
        return id;
    cast = made_by(m, wider[3], OP_BITCAST, 4);
    return cast ? cast[3] : wider[3];
}

/* One scalar of the arguments [n]; *taken: how many of them it takes. Two
 * halves of 64 bits may also be two values of the shader, where the format
 * string has a conversion for each. */
static uint32_t scalar_of(const struct pfd_spirv *m, const uint32_t *arguments,
                          size_t n, const struct wish *wish, size_t *taken)
{
    uint32_t whole = n > 1 ? whole_of(m, arguments[0], arguments[1]) : 0;
    struct pfd_spirv_type t = pfd_spirv_value_type(m, whole);
    bool is_right = wish->is_long || wish->is_scarce ||
                    (t.kind == PFD_SPIRV_FLOAT && wish->is_float);
    *taken = 1;
    if (whole && is_right) {
        *taken = 2;
        return whole;
    }
    return value_of(m, arguments[0], wish->is_float);
}

/* The value before it was widened for storing: binary16, bool; else itself. */
static uint32_t narrow_of(const struct pfd_spirv *m, uint32_t id)
{
    const uint32_t *wider = made_by(m, id, OP_F_CONVERT, 4);
    const uint32_t *select = made_by(m, id, OP_SELECT, 6);
    return wider ? wider[3] : select ? select[3] : id;
}

/* The vector whose component i this is; 0: none. */
static uint32_t vector_of(const struct pfd_spirv *m, uint32_t component,
                          unsigned i)
{
    const uint32_t *w = made_by(m, component, OP_COMPOSITE_EXTRACT, 5);
    return w && w[0] >> 16 == 5 && w[4] == i ? w[3] : 0;
}

/* The vector that the arguments form together, if the conversion is for one;
 * 0: none. Narrow components were widened after the extraction. */
static uint32_t whole_vector(const struct pfd_spirv *m,
                             const uint32_t *arguments, size_t n,
                             const struct wish *wish, size_t *taken)
{
    uint32_t vector = 0;
    size_t at = 0;
    for (unsigned i = 0; i < wish->n; i++) {
        size_t step = 0;
        if (at >= n)
            return 0;
        uint32_t scalar = scalar_of(m, arguments + at, n - at, wish, &step);
        uint32_t of = vector_of(m, narrow_of(m, scalar), i);
        if (!of || (i && of != vector))
            return 0;
        vector = of;
        at += step;
    }
    struct pfd_spirv_type t = pfd_spirv_value_type(m, vector);
    *taken = at;
    return t.is_vector && t.n == wish->n ? vector : 0;
}

/* Adds the call at instruction k, made of the call at a position of the
 * original module; its operands are appended to m->instrumented.operands. */
static void add_call(struct pfd_spirv *m, uint32_t k, uint32_t position)
{
    uint32_t n_words = 0;
    const uint32_t *w = spirv_at(m, k, &n_words);
    struct spirv_call call = { .k = k,
                               .position = position,
                               .first = (uint32_t)m->instrumented.n_operands,
                               .n_operands = 0 };
    if (n_words < ARGUMENTS_AT + 2 ||
        !pfd_spirv_constant(m, w[ARGUMENTS_AT + 1], &call.format_id))
        return;
    struct format format = { .n = 0 };
    format.at = pfd_spirv_string(m, call.format_id, &format.n);
    format.n = format.at ? format.n : 0;
    const uint32_t *arguments = w + ARGUMENTS_AT + 2;
    size_t n = n_words - ARGUMENTS_AT - 2;
    size_t wished = n_wished(format);
    for (size_t at = 0; at < n;) {
        struct wish demand = next_wish(&format);
        size_t taken = 1;
        demand.is_scarce = n - at > wished;
        wished -= dwords_of(&demand);
        uint32_t id = demand.n > 1 ? whole_vector(m, arguments + at, n - at,
                                                  &demand, &taken)
                                   : 0;
        if (!id)
            id = scalar_of(m, arguments + at, n - at, &demand, &taken);
        m->instrumented.operands[m->instrumented.n_operands++] = id;
        call.n_operands++;
        at += taken;
    }
    m->calls[m->n_calls++] = call;
}

/* ---- calls by the layer ---- */

/* The debugPrintf call, still in the module, behind the call at k;
 * PFD_SPIRV_NONE: none. */
static uint32_t printed_by(const struct pfd_spirv *m, uint32_t k)
{
    uint32_t n = 0;
    const uint32_t *call = spirv_at(m, k, &n);
    for (uint32_t i = k + 1; i < m->n; i++) {
        uint32_t op = spirv_op(m, i);
        if (op == PFD_SPV_LINE || op == PFD_SPV_NO_LINE ||
            spirv_debug_number(m, i))
            continue;
        if (!spirv_is_print(m, i))
            return PFD_SPIRV_NONE;
        uint32_t format_id = spirv_at(m, i, &n)[EXT_INST_OPERANDS - 1];
        uint32_t passed = 0;
        uint32_t n_call = call[0] >> 16;
        for (uint32_t at = ARGUMENTS_AT + 1; at < n_call; at++) {
            if (pfd_spirv_constant(m, call[at], &passed) && passed == format_id)
                return i;
        }
        return PFD_SPIRV_NONE;
    }
    return PFD_SPIRV_NONE;
}

/* Adds the call at k, which passes all words of a record but two. */
static void add_printed(struct pfd_spirv *m, uint32_t k, uint32_t position,
                        uint32_t n_record)
{
    uint32_t n = 0;
    spirv_at(m, k, &n);
    uint32_t printed = printed_by(m, k);
    if (printed == PFD_SPIRV_NONE || n - ARGUMENTS_AT + NOT_PASSED != n_record)
        return;
    const uint32_t *w = spirv_at(m, printed, &n);
    struct spirv_call call = { .k = k,
                               .position = position,
                               .format_id = w[EXT_INST_OPERANDS - 1],
                               .first = (uint32_t)m->instrumented.n_operands,
                               .n_operands = n - EXT_INST_OPERANDS };
    memcpy(m->instrumented.operands + m->instrumented.n_operands,
           w + EXT_INST_OPERANDS, call.n_operands * sizeof *w);
    m->instrumented.n_operands += call.n_operands;
    m->calls[m->n_calls++] = call;
}

/* ---- calls ---- */

static int by_position(const void *a, const void *b)
{
    const struct spirv_report *x = a;
    const struct spirv_report *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->k > y->k) - (x->k < y->k);
}

/* The function that instruction k calls, if it writes records. */
static const struct spirv_writer *called_at(const struct pfd_spirv *m,
                                            const struct writers *writers,
                                            uint32_t k)
{
    uint32_t n = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    return (w[0] & 0xffff) == OP_FUNCTION_CALL && n > ARGUMENTS_AT
               ? writer_of(writers, w[3])
               : NULL;
}

static bool make_room(struct pfd_spirv *m, const struct writers *writers)
{
    size_t n = 0;
    size_t n_operands = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        uint32_t n_words = 0;
        const struct spirv_writer *writer = called_at(m, writers, k);
        if (!writer)
            continue;
        uint32_t printed = writer->kind == WRITER_DEBUG_PRINTF
                               ? printed_by(m, k)
                               : PFD_SPIRV_NONE;
        spirv_at(m, printed == PFD_SPIRV_NONE ? k : printed, &n_words);
        n_operands += n_words;
        n++;
    }
    m->instrumented.reports =
        spirv_alloc(m, n, sizeof *m->instrumented.reports);
    m->instrumented.operands =
        spirv_alloc(m, n_operands, sizeof *m->instrumented.operands);
    m->calls = spirv_alloc(m, n, sizeof *m->calls);
    return m->instrumented.reports && m->instrumented.operands && m->calls;
}

static bool index_calls(struct pfd_spirv *m, const struct writers *writers)
{
    if (!make_room(m, writers))
        return false;
    for (uint32_t k = 0; k < m->n; k++) {
        uint32_t n = 0;
        const uint32_t *w = spirv_at(m, k, &n);
        const struct spirv_writer *writer = called_at(m, writers, k);
        struct spirv_report report = { .k = k };
        if (writer &&
            pfd_spirv_constant(m, w[ARGUMENTS_AT], &report.position)) {
            if (writer->kind == WRITER_DEBUG_PRINTF)
                report.position &= POSITION;
            m->instrumented.reports[m->instrumented.n_reports++] = report;
            if (writer->kind == WRITER_PRINTF)
                add_call(m, k, report.position);
            if (writer->kind == WRITER_DEBUG_PRINTF)
                add_printed(m, k, report.position, writer->number);
        }
        if (m->instrumented.shader == PFD_SPIRV_NONE &&
            (w[0] & 0xffff) == PFD_SPV_FUNCTION && n > 2 &&
            writer_of(writers, w[2]))
            find_shader(m, k);
    }
    qsort(m->instrumented.reports, m->instrumented.n_reports,
          sizeof *m->instrumented.reports, by_position);
    return true;
}

bool spirv_index_instrumented(struct pfd_spirv *m)
{
    struct writers writers = { .n = 0 };
    m->instrumented.shader = PFD_SPIRV_NONE;
    bool ok = find_writers(m, &writers);
    if (ok && writers.n)
        ok = index_calls(m, &writers);
    m->is_instrumented = writers.n > 0;
    m->instrumented.writers = writers.at;
    m->instrumented.n_writers = writers.n;
    m->n_memory += writers.room * sizeof *writers.at;
    return ok;
}

bool spirv_calls_writer(const struct pfd_spirv *m, uint32_t k)
{
    struct writers writers = { .at = m->instrumented.writers,
                               .n = m->instrumented.n_writers };
    return called_at(m, &writers, k) != NULL;
}

bool pfd_spirv_checked(const struct pfd_spirv *m, uint32_t k,
                       struct pfd_spirv_access *ret)
{
    uint32_t n = 0;
    const uint32_t *w = spirv_at(m, k, &n);
    *ret = (struct pfd_spirv_access){ 0 };
    if (m->instrumented.maker < PFD_SPIRV_BY_LAYER ||
        !spirv_calls_writer(m, k) || n <= SET_AT + 1)
        return false;
    ret->has_set = pfd_spirv_constant(m, w[SET_AT], &ret->set);
    ret->has_binding = pfd_spirv_constant(m, w[SET_AT + 1], &ret->binding);
    return true;
}
