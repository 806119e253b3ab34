/* SPDX-License-Identifier: MIT */
/* The text that the layer puts around a message. */
#include <string.h>

#include "core/print/number.h"
#include "core/spirv/khronos.h"

/* ---- stages ---- */

static const struct stage_row {
    uint32_t model; /* SpvExecutionModel */
    const char *name;
    const char *title; /* in a message */
} stages[] = {
    [PFD_STAGE_VERTEX] = { 0, "vertex", "Vertex" },
    [PFD_STAGE_TESS_CONTROL] = { 1, "tessellation control",
                                 "Tessellation Control" },
    [PFD_STAGE_TESS_EVAL] = { 2, "tessellation evaluation",
                              "Tessellation Eval" },
    [PFD_STAGE_GEOMETRY] = { 3, "geometry", "Geometry" },
    [PFD_STAGE_FRAGMENT] = { 4, "fragment", "Fragment" },
    [PFD_STAGE_COMPUTE] = { 5, "compute", "Compute" },
    [PFD_STAGE_KERNEL] = { 6, "kernel", "Kernel" },
    [PFD_STAGE_TASK_NV] = { 5267, "task", "TaskNV" },
    [PFD_STAGE_MESH_NV] = { 5268, "mesh", "MeshNV" },
    [PFD_STAGE_RAY_GENERATION] = { 5313, "ray generation", "Ray Generation" },
    [PFD_STAGE_INTERSECTION] = { 5314, "intersection", "Intersection" },
    [PFD_STAGE_ANY_HIT] = { 5315, "any hit", "Any Hit" },
    [PFD_STAGE_CLOSEST_HIT] = { 5316, "closest hit", "Closest Hit" },
    [PFD_STAGE_MISS] = { 5317, "miss", "Miss" },
    [PFD_STAGE_CALLABLE] = { 5318, "callable", "Callable" },
    [PFD_STAGE_TASK] = { 5364, "task", "TaskEXT" },
    [PFD_STAGE_MESH] = { 5365, "mesh", "MeshEXT" },
    [PFD_STAGE_UNKNOWN] = { UINT32_MAX, "unknown", "" },
};

enum pfd_stage pfd_stage_of(uint32_t number)
{
    if (number < PFD_STAGE_UNKNOWN)
        return (enum pfd_stage)number;
    for (unsigned i = 0; i < PFD_STAGE_UNKNOWN; i++) {
        if (stages[i].model == number)
            return (enum pfd_stage)i;
    }
    return PFD_STAGE_UNKNOWN;
}

const char *pfd_stage_name(enum pfd_stage stage)
{
    return stages[stage].name;
}

/* As a C++ stream prints a float: %g. */
static void add_float(struct pfd_text *out, uint32_t bits)
{
    const struct pfd_spec spec = { .conv = 'g', .precision = 6 };
    float f;
    memcpy(&f, &bits, sizeof f);
    char *to = pfd_text_reserve(out, pfd_number_room(&spec));
    if (to)
        out->n += (size_t)(pfd_number_double(to, &spec, (double)f) - to);
}

static void add_coords(struct pfd_text *out, enum pfd_stage stage,
                       const uint32_t w[3], enum pfd_khronos_age age)
{
    bool task = stage == PFD_STAGE_TASK || stage == PFD_STAGE_MESH ||
                stage == PFD_STAGE_TASK_NV || stage == PFD_STAGE_MESH_NV;
    bool old = age == PFD_KHRONOS_OLD;
    if (old && task) {
        pfd_text_printf(
            out, "Stage = %.4s.%s", stages[stage].title,
            stage == PFD_STAGE_TASK || stage == PFD_STAGE_TASK_NV ? " " : "");
    } else {
        pfd_text_printf(out, "Stage = %s.%s", stages[stage].title,
                        task ? " " : "  ");
    }
    pfd_text_printf(out, "Global invocation ID (x, y, z) = (%u, %u, %u%s)",
                    w[0], w[1], w[2], old ? " " : "");
}

void pfd_khronos_stage_text(struct pfd_text *out, uint32_t number,
                            const uint32_t w[3], enum pfd_khronos_age age)
{
    enum pfd_stage stage = pfd_stage_of(number);
    switch (stage) {
    case PFD_STAGE_VERTEX:
        pfd_text_printf(out,
                        "Stage = Vertex. Vertex Index = %u Instance Index = "
                        "%u. ",
                        w[0], w[1]);
        break;
    case PFD_STAGE_TESS_CONTROL:
        pfd_text_printf(out,
                        "Stage = Tessellation Control.  Invocation ID = %u, "
                        "Primitive ID = %u",
                        w[0], w[1]);
        break;
    case PFD_STAGE_TESS_EVAL:
        pfd_text_printf(out,
                        "Stage = Tessellation Eval.  Primitive ID = %u, "
                        "TessCoord (u, v) = (%u, %u). ",
                        w[0], w[1], w[2]);
        break;
    case PFD_STAGE_GEOMETRY:
        pfd_text_printf(out,
                        "Stage = Geometry.  Primitive ID = %u Invocation ID = "
                        "%u. ",
                        w[0], w[1]);
        break;
    case PFD_STAGE_FRAGMENT:
        pfd_text_puts(out, "Stage = Fragment.  Fragment coord (x,y) = (");
        add_float(out, w[0]);
        pfd_text_puts(out, ", ");
        add_float(out, w[1]);
        pfd_text_puts(out, "). ");
        break;
    case PFD_STAGE_COMPUTE:
    case PFD_STAGE_TASK:
    case PFD_STAGE_MESH:
    case PFD_STAGE_TASK_NV:
    case PFD_STAGE_MESH_NV:
        add_coords(out, stage, w, age);
        break;
    case PFD_STAGE_RAY_GENERATION:
    case PFD_STAGE_INTERSECTION:
    case PFD_STAGE_ANY_HIT:
    case PFD_STAGE_CLOSEST_HIT:
    case PFD_STAGE_MISS:
    case PFD_STAGE_CALLABLE:
        pfd_text_printf(out,
                        "Stage = %s.  Global Launch ID (x,y,z) = (%u, %u, "
                        "%u). ",
                        stages[stage].title, w[0], w[1], w[2]);
        break;
    case PFD_STAGE_KERNEL:
    case PFD_STAGE_UNKNOWN:
        pfd_text_printf(out, "Internal Error (unexpected stage = %u). ",
                        number);
        break;
    }
}

/* ---- origins ---- */

struct info_row {
    const char *names[3];      /* NULL: an unused word */
    enum pfd_origin_type type; /* NUMBER: one a word; else one for all */
    uint32_t n;
};

static const struct info_row *info_of(enum pfd_stage stage)
{
    static const struct info_row vertex = { { "vertex", "instance", NULL },
                                            PFD_ORIGIN_NUMBER,
                                            2 };
    static const struct info_row control = {
        { "invocation", "primitive", NULL }, PFD_ORIGIN_NUMBER, 2
    };
    static const struct info_row geometry = {
        { "primitive", "invocation", NULL }, PFD_ORIGIN_NUMBER, 2
    };
    static const struct info_row fragment = { { "fragment" },
                                              PFD_ORIGIN_FLOATS,
                                              2 };
    static const struct info_row compute = { { "invocation" },
                                             PFD_ORIGIN_COORDS,
                                             3 };
    static const struct info_row rays = { { "launch" }, PFD_ORIGIN_COORDS, 3 };
    switch (stage) {
    case PFD_STAGE_VERTEX:
        return &vertex;
    case PFD_STAGE_TESS_CONTROL:
        return &control;
    case PFD_STAGE_GEOMETRY:
        return &geometry;
    case PFD_STAGE_FRAGMENT:
        return &fragment;
    case PFD_STAGE_COMPUTE:
    case PFD_STAGE_TASK:
    case PFD_STAGE_MESH:
    case PFD_STAGE_TASK_NV:
    case PFD_STAGE_MESH_NV:
        return &compute;
    case PFD_STAGE_TESS_EVAL:
    case PFD_STAGE_KERNEL:
    case PFD_STAGE_UNKNOWN:
        return NULL;
    case PFD_STAGE_RAY_GENERATION:
    case PFD_STAGE_INTERSECTION:
    case PFD_STAGE_ANY_HIT:
    case PFD_STAGE_CLOSEST_HIT:
    case PFD_STAGE_MISS:
    case PFD_STAGE_CALLABLE:
        break;
    }
    return &rays;
}

size_t pfd_khronos_origin(struct pfd_origin *ret, uint32_t number,
                          const uint32_t w[3])
{
    enum pfd_stage stage = pfd_stage_of(number);
    const struct info_row *row = info_of(stage);
    if (stage == PFD_STAGE_TESS_EVAL) {
        ret[0] = (struct pfd_origin){ .name = "primitive",
                                      .n = 1,
                                      .value = { w[0] } };
        ret[1] = (struct pfd_origin){ .name = "tess_coord",
                                      .type = PFD_ORIGIN_FLOATS,
                                      .n = 2,
                                      .value = { w[1], w[2] } };
        return 2;
    }
    if (!row)
        return 0;
    if (row->type != PFD_ORIGIN_NUMBER) {
        ret[0] = (struct pfd_origin){ .name = row->names[0],
                                      .type = row->type,
                                      .n = row->n,
                                      .value = { w[0], w[1], w[2] } };
        return 1;
    }
    for (uint32_t i = 0; i < row->n; i++) {
        ret[i] = (struct pfd_origin){ .name = row->names[i],
                                      .n = 1,
                                      .value = { w[i] } };
    }
    return row->n;
}

static void set_text(struct pfd_origin *ret, const char *name, const char *text,
                     size_t n)
{
    *ret =
        (struct pfd_origin){ .name = name,
                             .type = PFD_ORIGIN_TEXT,
                             .n = (uint32_t)(n < UINT32_MAX ? n : UINT32_MAX),
                             .text = text };
}

size_t pfd_khronos_place_origin(struct pfd_origin *ret,
                                const struct pfd_spirv_place *place)
{
    size_t n = 0;
    if (!place->file)
        return 0;
    set_text(&ret[n++], "file", place->file, place->n_file);
    ret[n++] =
        (struct pfd_origin){ .name = "line", .n = 1, .value = { place->line } };
    if (place->column) {
        ret[n++] = (struct pfd_origin){ .name = "column",
                                        .n = 1,
                                        .value = { place->column } };
    }
    if (place->text)
        set_text(&ret[n++], "source_line", place->text, place->n_text);
    return n;
}

/* ---- objects and actions ---- */

/* A handle of 0 is unknown, and none is invented. */
static void add_object(struct pfd_text *out, const char *what,
                       const struct pfd_vulkan_object *object)
{
    pfd_text_puts(out, what);
    if (object->name && *object->name)
        pfd_text_printf(out, "(%s)", object->name);
    if (object->handle) {
        pfd_text_printf(out, "(0x%llx)", (unsigned long long)object->handle);
    } else {
        pfd_text_puts(out, "(unknown)");
    }
}

void pfd_khronos_common_2019(struct pfd_text *out,
                             const struct pfd_vulkan_capture *capture,
                             const struct pfd_vulkan_object *shader,
                             uint32_t position)
{
    static const char *const actions[] = { "Draw ", "Draw ",
                                           "Compute Dispatch ", "Ray Trace " };
    add_object(out, "Command buffer ", &capture->command_buffer);
    pfd_text_printf(out, ". %sIndex %s%x. ", actions[capture->action],
                    capture->action_index ? "0x" : "", capture->action_index);
    add_object(out, "Pipeline ", &capture->pipeline);
    add_object(out, ". Shader Module ", shader);
    pfd_text_printf(out, ". Shader Instruction Index = %u. ", position);
}

void pfd_khronos_debug_info(struct pfd_text *out,
                            const struct pfd_vulkan_capture *capture,
                            const struct pfd_vulkan_object *shader,
                            uint32_t shader_id)
{
    static const char *const actions[] = { "Draw", "Draw", "Compute Dispatch",
                                           "Ray Trace" };
    add_object(out, "Command buffer ", &capture->command_buffer);
    pfd_text_printf(out, "\n\t%s Index %u\n", actions[capture->action],
                    capture->action_index);
    add_object(out, "Shader Module ", shader);
    pfd_text_printf(out, " (internal ID %u)\n", shader_id);
}

/* ---- source lines, until 2023 ---- */

static void add_file_2019(struct pfd_text *out,
                          const struct pfd_spirv_line *line, bool is_printf)
{
    pfd_text_puts(out, is_printf ? "Debug shader printf message generated "
                                 : "Shader validation error occurred ");
    if (line->n_file) {
        pfd_text_puts(out, "in file ");
        pfd_text_add(out, line->file, line->n_file);
        pfd_text_puts(out, " ");
    }
    pfd_text_printf(out, "at line %u", line->line);
    if (line->column)
        pfd_text_printf(out, ", column %u", line->column);
    pfd_text_puts(out, ".");
}

void pfd_khronos_source_2019(struct pfd_text *out,
                             const struct pfd_spirv *module, uint32_t k,
                             bool is_printf)
{
    struct pfd_spirv_line line = { .k = PFD_SPIRV_NONE };
    struct pfd_spirv_text text;
    if (module)
        pfd_spirv_line(module, k, PFD_LINE_2019, &line);
    if (line.k == PFD_SPIRV_NONE || !line.file_id) {
        pfd_text_puts(out, "Unable to find SPIR-V OpLine for source "
                           "information.  Build shader with debug info to get "
                           "source information.");
        return;
    }
    add_file_2019(out, &line, is_printf);
    switch (pfd_spirv_source_2019(module, &line, &text)) {
    case PFD_FOUND_DIRECTIVE:
    case PFD_FOUND_DIRECT:
        pfd_text_printf(out, "\n%u: ", line.line);
        pfd_text_add(out, text.text, text.n);
        break;
    case PFD_FOUND_NO_SOURCE:
        pfd_text_puts(out, "Unable to find SPIR-V OpSource.");
        break;
    case PFD_FOUND_NO_LINE:
        pfd_text_puts(out, "Unable to find suitable #line directive in SPIR-V "
                           "OpSource.");
        break;
    case PFD_FOUND_BEYOND:
        pfd_text_printf(out,
                        "Internal error: calculated source line of %llu for "
                        "source size of %u lines.",
                        (unsigned long long)text.line, text.n_lines);
        break;
    }
}

/* ---- source lines, current layers ---- */

/* In the notation of a disassembler, for the instructions that records are
 * usually about. */
static void add_instruction(struct pfd_text *out,
                            const struct pfd_spirv *module, uint32_t k)
{
    static const struct {
        uint16_t op;
        bool has_result;
        const char *name;
    } rows[] = {
        { 12, true, "OpExtInst" },
        { 57, true, "OpFunctionCall" },
        { 61, true, "OpLoad" },
        { 62, false, "OpStore" },
        { 65, true, "OpAccessChain" },
        { 68, true, "OpArrayLength" },
        { 87, true, "OpImageSampleImplicitLod" },
        { 88, true, "OpImageSampleExplicitLod" },
        { 95, true, "OpImageFetch" },
        { 96, true, "OpImageGather" },
        { 98, true, "OpImageRead" },
        { 99, false, "OpImageWrite" },
        { 134, true, "OpUDiv" },
        { 135, true, "OpSDiv" },
        { 137, true, "OpUMod" },
        { 138, true, "OpSRem" },
        { 139, true, "OpSMod" },
        { 227, true, "OpAtomicLoad" },
        { 228, false, "OpAtomicStore" },
        { 234, true, "OpAtomicIAdd" },
    };
    uint32_t n = 0;
    const uint32_t *w = pfd_spirv_words(module, k, &n);
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows && rows[i].op != (w[0] & 0xffff))
        i++;
    bool known = i < sizeof rows / sizeof *rows;
    uint32_t first = 1;
    if (known && rows[i].has_result && n >= 3) {
        pfd_text_printf(out, "%%%u = %s %%%u", w[2], rows[i].name, w[1]);
        first = 3;
    } else if (known) {
        pfd_text_puts(out, rows[i].name);
    } else {
        pfd_text_printf(out, "Op%u", w[0] & 0xffff);
    }
    for (uint32_t a = first; a < n; a++) {
        bool literal = known && rows[i].op == PFD_SPV_EXT_INST && a == 4;
        pfd_text_printf(out, literal ? " %u" : " %%%u", w[a]);
    }
}

static void add_blanks(struct pfd_text *out, uint32_t n)
{
    char *to = n <= 65536 ? pfd_text_reserve(out, n) : NULL;
    if (!to || !n)
        return;
    memset(to, ' ', n);
    out->n += n;
}

static unsigned digits_of(uint32_t v)
{
    unsigned n = 1;
    for (; v >= 10; v /= 10)
        n++;
    return n;
}

static void add_debug_source(struct pfd_text *out,
                             const struct pfd_spirv *module,
                             const struct pfd_spirv_line *line)
{
    struct pfd_spirv_text text;
    pfd_spirv_source(module, line, line->line, &text);
    if (!text.n_lines) {
        pfd_text_puts(out, "No Text operand found in DebugSource\n");
        return;
    }
    pfd_text_puts(out, "\n");
    for (uint32_t i = line->line; i <= line->end; i++) {
        pfd_spirv_source(module, line, i, &text);
        pfd_text_printf(out, "%u: ", i);
        if (!text.text) {
            pfd_text_puts(out, "[No line found in source]");
            break;
        }
        pfd_text_add(out, text.text, text.n);
        pfd_text_puts(out, "\n");
        if (i == UINT32_MAX)
            break;
    }
    if (line->column && line->line == line->end) {
        add_blanks(out, digits_of(line->line) + 1 + line->column);
        pfd_text_puts(out, "^");
    }
}

static void add_op_source(struct pfd_text *out, const struct pfd_spirv *module,
                          const struct pfd_spirv_line *line)
{
    struct pfd_spirv_text text;
    switch (pfd_spirv_source(module, line, line->line, &text)) {
    case PFD_FOUND_DIRECTIVE:
        pfd_text_printf(out, "\n%u: ", line->line);
        pfd_text_add(out, text.text, text.n);
        pfd_text_puts(out, "\n");
        break;
    case PFD_FOUND_DIRECT:
        pfd_text_puts(out, "\n");
        pfd_text_add(out, text.text, text.n);
        pfd_text_puts(out, "\n");
        if (line->column) {
            add_blanks(out, line->column - 1);
            pfd_text_puts(out, "^");
        }
        break;
    case PFD_FOUND_NO_SOURCE:
        pfd_text_puts(out, "Unable to find SPIR-V OpSource\n");
        break;
    case PFD_FOUND_NO_LINE:
        pfd_text_puts(out,
                      "Unable to find a suitable line in SPIR-V OpSource\n");
        break;
    case PFD_FOUND_BEYOND:
        pfd_text_printf(out,
                        "Internal error: calculated source line of %llu for "
                        "source size of %u lines\n",
                        (unsigned long long)text.line, text.n_lines);
        break;
    }
}

/* Appends the file's name; false: there is none, and the text says so. */
static bool add_file(struct pfd_text *out, const struct pfd_spirv_line *line)
{
    const char *from = line->is_debug ? "DebugSource" : "OpLine";
    if (!line->file_id) {
        pfd_text_printf(out, "(Unable to find file string from SPIR-V %s)\n",
                        from);
        return false;
    }
    if (!line->file) {
        pfd_text_printf(out,
                        "(Unable to find SPIR-V OpString %u from %s "
                        "instruction)\n",
                        line->file_id, from);
        return false;
    }
    if (line->n_file) {
        pfd_text_add(out, line->file, line->n_file);
    } else {
        pfd_text_puts(out, "<source>");
    }
    pfd_text_printf(out, ":%u", line->line);
    if (line->column)
        pfd_text_printf(out, ":%u", line->column);
    pfd_text_puts(out, "\n");
    return true;
}

void pfd_khronos_source(struct pfd_text *out, const struct pfd_spirv *module,
                        uint32_t k, bool is_printf)
{
    struct pfd_spirv_line line = { .k = PFD_SPIRV_NONE };
    if (!module || k == PFD_SPIRV_NONE) {
        pfd_text_puts(out, "(This check was instrumented at the start of your "
                           "entrypoint function)\n");
        return;
    }
    pfd_spirv_line(module, k, PFD_LINE_LAYER, &line);
    if (line.k == PFD_SPIRV_NONE) {
        pfd_text_puts(out, "SPIR-V Instruction: ");
        add_instruction(out, module, k);
        pfd_text_puts(out, "\n(Unable to find shader source, build shader with "
                           "debug info to get source information)\n");
        return;
    }
    pfd_text_puts(out, is_printf ? "Debug shader printf message generated at "
                                 : "Shader validation error occurred at ");
    if (!add_file(out, &line))
        return;
    if (line.is_debug) {
        add_debug_source(out, module, &line);
    } else {
        add_op_source(out, module, &line);
    }
}

/* Names of the words of the layer's records, for dumps word by word. */

enum {
    N_WORDS = 3, /* stage words */
};

static const struct stage_words {
    const char *names[N_WORDS]; /* NULL: not used */
}

rows[] = {
    [PFD_STAGE_VERTEX] = { { "VertexIndex", "InstanceIndex" } },
    [PFD_STAGE_TESS_CONTROL] = { { "InvocationId", "PrimitiveId" } },
    [PFD_STAGE_TESS_EVAL] = { { "PrimitiveId", "TessCoord.u, a float",
                                "TessCoord.v, a float" } },
    [PFD_STAGE_GEOMETRY] = { { "PrimitiveId", "InvocationId" } },
    [PFD_STAGE_FRAGMENT] = { { "FragCoord.x, a float",
                               "FragCoord.y, a float" } },
    [PFD_STAGE_COMPUTE] = { { "GlobalInvocationId.x", "GlobalInvocationId.y",
                              "GlobalInvocationId.z" } },
    [PFD_STAGE_RAY_GENERATION] = { { "LaunchId.x", "LaunchId.y",
                                     "LaunchId.z" } },
};

/* Stages of one kind share their words. */
static enum pfd_stage row_of(enum pfd_stage stage)
{
    switch (stage) {
    case PFD_STAGE_KERNEL:
    case PFD_STAGE_TASK_NV:
    case PFD_STAGE_MESH_NV:
    case PFD_STAGE_TASK:
    case PFD_STAGE_MESH:
        return PFD_STAGE_COMPUTE;
    case PFD_STAGE_INTERSECTION:
    case PFD_STAGE_ANY_HIT:
    case PFD_STAGE_CLOSEST_HIT:
    case PFD_STAGE_MISS:
    case PFD_STAGE_CALLABLE:
        return PFD_STAGE_RAY_GENERATION;
    case PFD_STAGE_VERTEX:
    case PFD_STAGE_TESS_CONTROL:
    case PFD_STAGE_TESS_EVAL:
    case PFD_STAGE_GEOMETRY:
    case PFD_STAGE_FRAGMENT:
    case PFD_STAGE_COMPUTE:
    case PFD_STAGE_RAY_GENERATION:
    case PFD_STAGE_UNKNOWN:
        break;
    }
    return stage;
}

const char *pfd_khronos_stage_word(uint32_t number, unsigned i)
{
    enum pfd_stage stage = row_of(pfd_stage_of(number));
    if (stage == PFD_STAGE_UNKNOWN)
        return "of a stage that is not known";
    const char *name = i < N_WORDS ? rows[stage].names[i] : NULL;
    return name ? name : "not used by this stage";
}
