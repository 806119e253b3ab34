/* SPDX-License-Identifier: MIT */
/* The meaning of an error record. */
#include <string.h>

#include "layout.h"

/* ---- names ---- */

static const struct group_row {
    uint8_t group;
    const char *name;
    const char *codes[14]; /* from 1 on */
} groups[] = {
    { 1,
      "descriptor indexing",
      { "out of bounds", "uninitialized", "destroyed" } },
    { 2, "buffer device address", { "no buffer there", "misaligned" } },
    { 3, "ray query", { NULL } }, /* until SDK 1.4.309 */
    { 4,
      "draw",
      { "draw buffer too small", "draw count over limit",
        "firstInstance is not zero", "group count x", "group count y",
        "group count z", "group count total", "index buffer too small",
        "vertex buffer too small" } },
    { 5, "dispatch", { "group count x", "group count y", "group count z" } },
    { 6, "trace rays", { "width", "height", "depth", "volume" } },
    { 7, "copy buffer to image", { "texel out of range" } },
    { 8,
      "descriptor access",
      { "buffer out of bounds", "texel buffer out of bounds",
        "cooperative matrix out of bounds" } },
    { 9,
      "indexed draw",
      { "vertex index out of bounds", "instance index out of bounds" } },
    { 10,
      "copy memory indirect",
      { "source alignment", "destination alignment", "size alignment",
        "image source alignment", "image row length", "image height",
        "source address", "destination address", "image source address" } },
    { 11,
      "sanitizer",
      { "division by zero", "image gather component", "pow", "atan2",
        "fmin or fmax", "cooperative matrix alignment" } },
    { 12,
      "build acceleration structures",
      { "address alignment", "invalid structure", "destroyed buffer",
        "invalid type", "destroyed memory", "overlap", "max index", "aabb x",
        "aabb y", "aabb z", "transform", "index buffer", "vertex buffer",
        "aabb buffer" } },
    { 13, "mesh shading", { "output counts", "task payload" } },
    { 15,
      "shared memory race",
      { "store", "load", "load or store and atomic", "atomic" } },
    { 16, "trace ray", { NULL } },
    { 17,
      "descriptor heap",
      { "heap out of bounds", "reserved range", "descriptor alignment",
        "descriptor alignment", "index push alignment",
        "address push alignment", "address buffer alignment", "invalid address",
        "invalid resource address", "buffer alignment", "hash missing",
        "hash wrong" } },
    { 18, "descriptor buffer", { "none bound", "wrong one bound" } },
};

static const char *const kind_names[] = {
    [GPUAV_BOUNDS] = "index out of bounds",
    [GPUAV_UNINITIALIZED] = "descriptor uninitialized",
    [GPUAV_DESTROYED] = "descriptor destroyed",
    [GPUAV_ADDRESS] = "address out of bounds",
    [GPUAV_ALIGNMENT] = "address misaligned",
    [GPUAV_BUFFER] = "buffer access out of bounds",
    [GPUAV_TEXEL] = "texel access out of bounds",
    [GPUAV_DRAW] = "draw",
    [GPUAV_DISPATCH] = "dispatch",
    [GPUAV_TRACE_RAYS] = "trace rays",
};

static const struct group_row *group_row(uint32_t group)
{
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (groups[i].group == group)
            return &groups[i];
    }
    return NULL;
}

static const char *code_name(uint32_t group, uint32_t code)
{
    const struct group_row *row = group_row(group);
    return row && code >= 1 && code <= 14 ? row->codes[code - 1] : NULL;
}

/* ---- reading ---- */

/* A descriptor's set and index in one word, as in current records. */
static void read_descriptor(struct gpuav_fault *f, uint32_t set_and_index)
{
    f->has_set = true;
    f->set = set_and_index >> 27;
    f->has_index = true;
    f->index = set_and_index & ((1u << 27) - 1);
}

static void read_address(struct gpuav_fault *f, uint32_t low, uint32_t high)
{
    f->address = low | (uint64_t)high << 32;
}

/* Reads errors with groups; p: three parameters. */
static void read_group(struct gpuav_fault *f, const uint32_t p[3])
{
    memcpy(f->params, p, 3 * sizeof *p);
    f->n_params = 3;
    f->kind = GPUAV_OTHER;
    switch (f->group) {
    case 1:
        if (f->code < 1 || f->code > 3)
            break;
        f->kind = (enum gpuav_kind)(GPUAV_BOUNDS + f->code - 1);
        read_descriptor(f, p[0]);
        f->a = p[1];
        f->binding = p[2];
        break;
    case 2:
        if (f->code < 1 || f->code > 2)
            break;
        f->kind = f->code == 1 ? GPUAV_ADDRESS : GPUAV_ALIGNMENT;
        read_address(f, p[0], p[1]);
        f->a = p[2] & 0x3fffffff;
        f->b = p[2] >> 30; /* 2: a write, 1: of a struct */
        break;
    case 4:
        f->kind = GPUAV_DRAW;
        f->a = f->code;
        f->b = p[0];
        break;
    case 5:
        f->kind = GPUAV_DISPATCH;
        f->a = f->code;
        f->b = p[0];
        break;
    case 8:
        if (f->code < 1 || f->code > 2)
            break;
        f->kind = f->code == 1 ? GPUAV_BUFFER : GPUAV_TEXEL;
        read_descriptor(f, p[0]);
        f->a = p[1];
        f->b = p[2];
        break;
    default:
        break;
    }
}

static void read_now(const uint8_t *bytes, struct gpuav_record *r)
{
    uint32_t error = gpuav_word(bytes, 1);
    uint32_t place = gpuav_word(bytes, 2);
    uint32_t p[3] = { gpuav_word(bytes, 7), gpuav_word(bytes, 8),
                      gpuav_word(bytes, 9) };
    r->is_now = true;
    r->shader = error & 0x3ffff;
    r->stage = place >> 27;
    r->position = place & ((1u << 27) - 1);
    r->has_action = true;
    r->action = gpuav_word(bytes, 6) >> 16;
    r->logger = gpuav_word(bytes, 6) & 0xffff;
    r->fault.group = error >> 24;
    r->fault.code = error >> 18 & 0x3f;
    read_group(&r->fault, p);
    switch (r->fault.group) {
    case 4:
    case 5:
    case 6:
    case 7:
    case 10:
    case 12:
        r->is_own = true; /* found by a check by the layer's own commands */
        break;
    default:
        break;
    }
}

/* Errors of 2018 to 2023, numbered from 0. */
static void read_old(struct gpuav_fault *f, const uint32_t p[3])
{
    f->has_index = f->code < 2 || (f->code > 2 && f->code < 8);
    f->index = p[0];
    f->a = p[1];
    f->b = p[2];
    switch (f->code) {
    case 0:
        f->kind = GPUAV_BOUNDS;
        break;
    case 1:
        f->kind = GPUAV_UNINITIALIZED;
        break;
    case 2:
        f->kind = GPUAV_ADDRESS;
        read_address(f, p[0], p[1]);
        break;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
        f->kind = f->code < 6 ? GPUAV_BUFFER : GPUAV_TEXEL;
        if (!p[2]) /* a size of 0 means uninitialized */
            f->kind = GPUAV_UNINITIALIZED;
        break;
    case 8:
    case 9:
        f->kind = f->code == 8 ? GPUAV_DRAW : GPUAV_DISPATCH;
        f->a = p[0];
        f->b = p[1];
        break;
    default:
        f->kind = GPUAV_OTHER;
        break;
    }
}

/* Errors of mid 2023, with set and binding, numbered from 1. */
static void read_2023(struct gpuav_fault *f, const uint8_t *bytes, uint32_t n)
{
    uint32_t p[3] = { gpuav_word(bytes, 8), gpuav_word(bytes, 9), 0 };
    static const uint8_t old_codes[] = { 0, 0, 1, 2, 5, 8, 9, 1, 0 };
    bool has_set = n == 13 && (f->code == 1 || f->code == 2 || f->code == 4 ||
                               f->code == 7);
    uint32_t code = f->code;
    if (has_set) {
        for (size_t i = 0; i < 3; i++)
            p[i] = gpuav_word(bytes, 10 + i);
    }
    if (code > 7) {
        f->kind = code == 8 ? GPUAV_TRACE_RAYS : GPUAV_OTHER;
        return;
    }
    f->code = old_codes[code];
    read_old(f, p);
    f->code = code;
    if (code == 7)
        f->kind = GPUAV_DESTROYED;
    f->has_set = has_set;
    f->set = gpuav_word(bytes, 8);
    f->binding = gpuav_word(bytes, 9);
}

/* Codes from 0 with set and binding, used in May 2023 only. */
static void read_may_2023(struct gpuav_fault *f, const uint8_t *bytes)
{
    uint32_t p[3];
    for (size_t i = 0; i < 3; i++)
        p[i] = gpuav_word(bytes, 10 + i);
    read_old(f, p);
    f->has_set = f->has_index;
    f->set = gpuav_word(bytes, 8);
    f->binding = gpuav_word(bytes, 9);
}

void gpuav_read(const uint8_t *bytes, uint32_t n, bool from_one,
                struct gpuav_record *r)
{
    uint32_t p[3] = { 0 };
    *r = (struct gpuav_record){ .size = n };
    if (n == GPUAV_NOW) {
        read_now(bytes, r);
        for (size_t i = 0; i < 3; i++)
            r->words[i] = gpuav_word(bytes, 3 + i);
        return;
    }
    uint32_t n_words = n < 10 ? 2 : 3; /* words of the stage */
    uint32_t at = 4 + n_words;         /* index of the error word */
    r->shader = gpuav_word(bytes, 1);
    r->position = gpuav_word(bytes, 2);
    r->stage = gpuav_word(bytes, 3);
    for (uint32_t i = 0; i < n_words; i++)
        r->words[i] = gpuav_word(bytes, 4 + i);
    if (n > 13) {
        gpuav_read_grouped(bytes, n, from_one, r);
        return;
    }
    r->fault.code = gpuav_word(bytes, at);
    for (uint32_t i = 0; i < 3 && at + 1 + i < n; i++)
        p[i] = gpuav_word(bytes, at + 1 + i);
    memcpy(r->fault.params, p, sizeof p);
    r->fault.n_params = 3;
    if (from_one && n >= GPUAV_OWN_CHECK) { /* shorter ones are of 2018 */
        read_2023(&r->fault, bytes, n);
    } else if (n == 13) {
        read_may_2023(&r->fault, bytes);
    } else {
        read_old(&r->fault, p);
    }
    r->is_own = gpuav_word(bytes, 0) == 0;
}

uint64_t gpuav_id(const struct gpuav_record *r)
{
    return r->fault.group ? (uint64_t)r->fault.group << 16 | r->fault.code
                          : r->fault.code;
}

/* ---- in words ---- */

static void add_descriptor(struct pfd_text *out, const struct gpuav_fault *f)
{
    if (f->has_set)
        pfd_text_printf(out, "(set = %u, binding = %u) ", f->set, f->binding);
}

static void add_dispatch(struct pfd_text *out, const struct gpuav_fault *f,
                         const struct pfd_vulkan_capture *capture,
                         bool as_layer)
{
    /* The single colon before y is the layer's. */
    static const char *const axes[] = { "::x", ":y", "::z" };
    unsigned axis = f->a >= 1 && f->a <= 3 ? f->a - 1 : 0;
    uint32_t limit = capture->max_work_groups[axis];
    if (as_layer) {
        pfd_text_printf(out,
                        "Indirect dispatch VkDispatchIndirectCommand%s of %u "
                        "would exceed maxComputeWorkGroupCount[%u] limit of %u",
                        axes[axis], f->b, axis, limit);
    } else if (limit) {
        pfd_text_printf(out,
                        "Indirect dispatch of %u work groups in %c exceeds the "
                        "limit of %u",
                        f->b, "xyz"[axis], limit);
    } else {
        pfd_text_printf(out,
                        "Indirect dispatch of %u work groups in %c exceeds the "
                        "device's limit",
                        f->b, "xyz"[axis]);
    }
}

static void add_draw(struct pfd_text *out, const struct gpuav_fault *f)
{
    const char *name = code_name(4, f->a);
    if (f->a == 3) {
        pfd_text_printf(out,
                        "The drawIndirectFirstInstance feature is not enabled, "
                        "but the firstInstance member of the "
                        "VkDrawIndirectCommand structure at index %u is not "
                        "zero",
                        f->b);
    } else {
        pfd_text_printf(out, "Indirect draw: %s (%u)",
                        name ? name : "unknown check", f->b);
    }
}

static void add_other(struct pfd_text *out, const struct gpuav_fault *f)
{
    const struct group_row *row = group_row(f->group);
    const char *name = f->n_params == 3 ? code_name(f->group, f->code) : NULL;
    if (row) {
        pfd_text_printf(out, "Error %u.%u, %s%s%s", f->group, f->code,
                        row->name, name ? ": " : "", name ? name : "");
    } else if (f->group) {
        pfd_text_printf(out, "Error %u.%u", f->group, f->code);
    } else {
        pfd_text_printf(out, "Error %u", f->code);
    }
    for (uint32_t i = 0; i < f->n_params; i++)
        pfd_text_printf(out, "%s%u", i ? ", " : " (", f->params[i]);
    pfd_text_puts(out, ")");
}

/* Texts until 2023, with their original spacing. */
static void add_old(struct pfd_text *out, const struct gpuav_fault *f,
                    const struct pfd_vulkan_capture *capture, bool as_layer)
{
    const char *end = as_layer ? " " : "";
    bool texel = f->kind == GPUAV_TEXEL;
    add_descriptor(out, f);
    switch (f->kind) {
    case GPUAV_BOUNDS:
        pfd_text_printf(out,
                        "Index of %u used to index descriptor array of length "
                        "%u.%s",
                        f->index, f->a, end);
        break;
    case GPUAV_UNINITIALIZED:
        pfd_text_printf(out, "Descriptor index %u is uninitialized.", f->index);
        break;
    case GPUAV_DESTROYED:
        pfd_text_printf(out,
                        "Descriptor index %u references a resource that was "
                        "destroyed.",
                        f->index);
        break;
    case GPUAV_ADDRESS:
        pfd_text_printf(out, "Device address 0x%llx access out of bounds.%s",
                        (unsigned long long)f->address, end);
        break;
    case GPUAV_BUFFER:
    case GPUAV_TEXEL:
        pfd_text_printf(out,
                        "Descriptor index %u access out of bounds. Descriptor "
                        "size is %u%s and highest %s accessed was %u",
                        f->index, f->b, texel ? " texels" : "",
                        texel ? "texel" : "byte", f->a);
        break;
    case GPUAV_DRAW:
        add_draw(out, f);
        break;
    case GPUAV_DISPATCH:
        add_dispatch(out, f, capture, as_layer);
        break;
    case GPUAV_TRACE_RAYS:
    case GPUAV_ALIGNMENT:
    case GPUAV_OTHER:
        if (as_layer && !f->group) {
            pfd_text_printf(
                out, "Internal Error (unexpected error type = %u). ", f->code);
        } else {
            add_other(out, f);
        }
        break;
    }
}

static void add_now(struct pfd_text *out, const struct gpuav_fault *f,
                    const struct pfd_vulkan_capture *capture)
{
    bool write = f->b & 2;
    switch (f->kind) {
    case GPUAV_ADDRESS:
        pfd_text_printf(out,
                        "Out of bounds: trying to %s %u bytes at [0x%llx, "
                        "0x%llx) but no buffer device address was found at "
                        "this range.",
                        write ? "write" : "read", f->a,
                        (unsigned long long)f->address,
                        (unsigned long long)f->address + f->a);
        break;
    case GPUAV_ALIGNMENT:
        pfd_text_printf(out,
                        "Unaligned pointer access: The %s at buffer device "
                        "address 0x%llx is not aligned to the instruction "
                        "Aligned operand of %u.",
                        write ? "OpStore" : "OpLoad",
                        (unsigned long long)f->address, f->a);
        break;
    case GPUAV_BUFFER:
    case GPUAV_TEXEL:
        pfd_text_printf(out,
                        "(set = %u, descriptor %u) access out of bounds. The "
                        "size is %u %s, and the highest out of bounds access "
                        "was at %u",
                        f->set, f->index, f->b,
                        f->kind == GPUAV_TEXEL ? "texels" : "bytes", f->a);
        break;
    case GPUAV_DISPATCH:
        add_dispatch(out, f, capture, false);
        break;
    case GPUAV_BOUNDS:
    case GPUAV_UNINITIALIZED:
    case GPUAV_DESTROYED:
        add_old(out, f, capture, false);
        break;
    case GPUAV_DRAW:
    case GPUAV_TRACE_RAYS:
    case GPUAV_OTHER:
        add_other(out, f);
        break;
    }
}

void gpuav_fault_text(struct pfd_text *out, const struct gpuav_record *record,
                      const struct pfd_vulkan_capture *capture, bool as_layer)
{
    if (record->fault.error && record->fault.error->text &&
        record->fault.kind == record->fault.error->kind) {
        gpuav_error_text(out, record);
    } else if (record->is_now || record->fault.error) {
        add_now(out, &record->fault, capture);
    } else {
        add_old(out, &record->fault, capture, as_layer);
    }
}

/* ---- as origins ---- */

static size_t add_number(struct pfd_origin *ret, const char *name,
                         uint64_t value)
{
    *ret = (struct pfd_origin){
        .name = name, .type = PFD_ORIGIN_NUMBER, .n = 1, .value = { value }
    };
    return 1;
}

static size_t add_name(struct pfd_origin *ret, const char *name,
                       const char *text)
{
    *ret = (struct pfd_origin){ .name = name,
                                .type = PFD_ORIGIN_TEXT,
                                .n = (uint32_t)strlen(text),
                                .text = text };
    return 1;
}

static size_t add_params(const struct gpuav_fault *f, struct pfd_origin *ret)
{
    static const char *const more[] = { "parameter_3", "parameter_4" };
    size_t n = 1;
    *ret = (struct pfd_origin){
        .name = "parameters",
        .type = PFD_ORIGIN_COORDS,
        .n = 3,
        .value = { f->params[0], f->params[1], f->params[2] },
    };
    for (size_t i = 0; i < sizeof more / sizeof *more && 3 + i < f->n_params;
         i++)
        n += add_number(ret + n, more[i], f->params[3 + i]);
    return n;
}

static size_t add_values(const struct gpuav_fault *f, struct pfd_origin *ret)
{
    size_t n = 0;
    switch (f->kind) {
    case GPUAV_BOUNDS:
        n += add_number(ret, "array_length", f->a);
        break;
    case GPUAV_UNINITIALIZED:
    case GPUAV_DESTROYED:
        break;
    case GPUAV_ADDRESS:
    case GPUAV_ALIGNMENT:
        ret[n++] = (struct pfd_origin){ .name = "address",
                                        .type = PFD_ORIGIN_HEX,
                                        .n = 1,
                                        .value = { f->address } };
        if (f->group) {
            n += add_name(ret + n, "access", f->b & 2 ? "write" : "read");
            n += add_number(
                ret + n, f->kind == GPUAV_ADDRESS ? "size" : "alignment", f->a);
        }
        break;
    case GPUAV_BUFFER:
    case GPUAV_TEXEL:
        n += add_number(ret, "access_offset", f->a);
        n += add_number(ret + n, "size", f->b);
        break;
    case GPUAV_DISPATCH:
        n += add_name(ret, "axis", f->a == 1 ? "x" : f->a == 2 ? "y" : "z");
        n += add_number(ret + n, "count", f->b);
        break;
    case GPUAV_DRAW:
    case GPUAV_TRACE_RAYS:
    case GPUAV_OTHER:
        n += add_params(f, ret);
        break;
    }
    return n;
}

static const char *error_name(const struct gpuav_fault *f)
{
    if (f->error)
        return f->error->name;
    if (f->group)
        return f->n_params == 3 ? code_name(f->group, f->code) : NULL;
    return f->kind == GPUAV_OTHER ? NULL : kind_names[f->kind];
}

size_t gpuav_fault_origin(const struct gpuav_fault *f, struct pfd_origin *ret)
{
    const struct group_row *row = group_row(f->group);
    size_t n = 0;
    const char *name = error_name(f);
    if (f->group)
        n += add_number(ret + n, "group", f->group);
    if (row)
        n += add_name(ret + n, "group_name", row->name);
    n += add_number(ret + n, "error", f->code);
    if (name)
        n += add_name(ret + n, "error_name", name);
    if (f->error && f->kind == GPUAV_DISPATCH)
        return n + add_values(f, ret + n);
    if (f->error)
        return n + gpuav_error_origin(f, ret + n);
    if (f->has_set) {
        n += add_number(ret + n, "set", f->set);
        if (f->group != 8)
            n += add_number(ret + n, "binding", f->binding);
    }
    if (f->has_index)
        n += add_number(ret + n, "descriptor_index", f->index);
    return n + add_values(f, ret + n);
}
