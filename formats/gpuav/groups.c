/* SPDX-License-Identifier: MIT */
/*
 * Errors of SDK 1.3.280 to 1.4.309: a group, a code and five parameters, each
 * in a dword of its own. Codes of groups 1 and 8 were renumbered in SDK
 * 1.4.304.
 */
#include "layout.h"

enum {
    DWORD = GPUAV_DWORD,
    EARLIER = 1, /* until SDK 1.3.296 */
    LATER = 2,   /* from SDK 1.4.304 on */
    ALWAYS = EARLIER | LATER,
    OP_STORE = 62,
    OP_ATOMIC_STORE = 228,
};

#define RESOURCE "set", "binding", "descriptor_index"
#define INDEXED                  \
    {                            \
        RESOURCE, "array_length" \
    }
#define ACCESSED                          \
    {                                     \
        RESOURCE, "access_offset", "size" \
    }
#define ADDRESSED                                      \
    {                                                  \
        "address", NULL, "size", "opcode", "alignment" \
    }
#define GROUPS          \
    {                   \
        "count", "draw" \
    }
#define WHERE "(set = $0, binding = $1, index $2) "
#define ACCESS_BYTES                                                     \
    WHERE "access out of bounds. The size is $4 bytes, and the highest " \
          "out of bounds access was at $3"
#define ACCESS_TEXELS                                                     \
    WHERE "access out of bounds. The size is $4 texels, and the highest " \
          "out of bounds access was at $3"

/* In a text, $0 to $4 are parameters; $i1 is a signed one, $x0 a hexadecimal
 * one. */
static const struct gpuav_error errors[] = {
    { 1, 1, ALWAYS, GPUAV_BOUNDS, "out of bounds", NULL, INDEXED },
    { 1, 2, ALWAYS, GPUAV_UNINITIALIZED, "uninitialized", NULL, INDEXED },
    { 1, 3, EARLIER, GPUAV_BUFFER, "access out of bounds",
      WHERE "access out of bounds. The size is $4, and the highest out of "
            "bounds access was at $3",
      ACCESSED },
    { 1, 4, EARLIER, GPUAV_DESTROYED, "destroyed", NULL, { RESOURCE } },
    { 1, 3, LATER, GPUAV_DESTROYED, "destroyed", NULL, INDEXED },
    { 2, 1, ALWAYS, GPUAV_ADDRESS, "no buffer there", NULL, ADDRESSED },
    { 2, 2, LATER, GPUAV_ALIGNMENT, "misaligned", NULL, ADDRESSED },
    { 3,
      1,
      ALWAYS,
      GPUAV_OTHER,
      "negative Tmin",
      "Ray query: Tmin is negative",
      { NULL } },
    { 3,
      2,
      ALWAYS,
      GPUAV_OTHER,
      "negative Tmax",
      "Ray query: Tmax is negative",
      { NULL } },
    { 3,
      3,
      ALWAYS,
      GPUAV_OTHER,
      "flags skip both",
      "Ray query: the ray flags 0x$x0 skip triangles and AABBs",
      { "ray_flags" } },
    { 3,
      4,
      ALWAYS,
      GPUAV_OTHER,
      "flags skip and cull",
      "Ray query: the ray flags 0x$x0 skip triangles and cull them",
      { "ray_flags" } },
    { 3,
      5,
      ALWAYS,
      GPUAV_OTHER,
      "flags on opacity",
      "Ray query: the ray flags 0x$x0 contradict each other on opacity",
      { "ray_flags" } },
    { 3,
      6,
      ALWAYS,
      GPUAV_OTHER,
      "Tmax below Tmin",
      "Ray query: Tmax is less than Tmin",
      { NULL } },
    { 3,
      7,
      ALWAYS,
      GPUAV_OTHER,
      "Tmin is NaN",
      "Ray query: Tmin is NaN",
      { NULL } },
    { 3,
      8,
      ALWAYS,
      GPUAV_OTHER,
      "Tmax is NaN",
      "Ray query: Tmax is NaN",
      { NULL } },
    { 3,
      9,
      ALWAYS,
      GPUAV_OTHER,
      "NaN in the origin",
      "Ray query: the origin contains a NaN",
      { NULL } },
    { 3,
      10,
      ALWAYS,
      GPUAV_OTHER,
      "NaN in the direction",
      "Ray query: the direction contains a NaN",
      { NULL } },
    { 3,
      11,
      ALWAYS,
      GPUAV_OTHER,
      "origin not finite",
      "Ray query: the origin is not finite",
      { NULL } },
    { 3,
      12,
      ALWAYS,
      GPUAV_OTHER,
      "direction not finite",
      "Ray query: the direction is not finite",
      { NULL } },
    { 4,
      1,
      ALWAYS,
      GPUAV_DRAW,
      "draw buffer too small",
      "Indirect draw count of $0 exceeds the size of the draw buffer",
      { "count" } },
    { 4,
      2,
      ALWAYS,
      GPUAV_DRAW,
      "draw count over limit",
      "Indirect draw count of $0 exceeds the limit",
      { "count" } },
    { 4,
      3,
      ALWAYS,
      GPUAV_DRAW,
      "firstInstance is not zero",
      "The drawIndirectFirstInstance feature is not enabled, but firstInstance "
      "of the indirect draw at index $0 is not zero",
      { "draw" } },
    { 4, 4, ALWAYS, GPUAV_DRAW, "group count x",
      "In draw $1, the mesh group count x is $0, which exceeds the device's "
      "limit",
      GROUPS },
    { 4, 5, ALWAYS, GPUAV_DRAW, "group count y",
      "In draw $1, the mesh group count y is $0, which exceeds the device's "
      "limit",
      GROUPS },
    { 4, 6, ALWAYS, GPUAV_DRAW, "group count z",
      "In draw $1, the mesh group count z is $0, which exceeds the device's "
      "limit",
      GROUPS },
    { 4, 7, ALWAYS, GPUAV_DRAW, "group count total",
      "In draw $1, the total mesh group count is $0, which exceeds the "
      "device's limit",
      GROUPS },
    { 4,
      8,
      LATER,
      GPUAV_DRAW,
      "index buffer too small",
      "Draw $0 reads $2 indices from index $1 on, which the bound index "
      "buffer does not have",
      { "draw", "first_index", "index_count" } },
    { 4,
      9,
      LATER,
      GPUAV_DRAW,
      "vertex buffer too small",
      "Vertex index $2 (index $0 of the index buffer, vertex offset $i1) is "
      "not within the smallest bound vertex buffer",
      { "index_offset", "vertex_offset", "vertex_index" } },
    { 5, 1, ALWAYS, GPUAV_DISPATCH, "group count x", NULL, { "count" } },
    { 5, 2, ALWAYS, GPUAV_DISPATCH, "group count y", NULL, { "count" } },
    { 5, 3, ALWAYS, GPUAV_DISPATCH, "group count z", NULL, { "count" } },
    { 6,
      1,
      ALWAYS,
      GPUAV_TRACE_RAYS,
      "width",
      "Indirect trace rays: a width of $0 exceeds the device's limit",
      { "width" } },
    { 6,
      2,
      ALWAYS,
      GPUAV_TRACE_RAYS,
      "height",
      "Indirect trace rays: a height of $0 exceeds the device's limit",
      { "height" } },
    { 6,
      3,
      ALWAYS,
      GPUAV_TRACE_RAYS,
      "depth",
      "Indirect trace rays: a depth of $0 exceeds the device's limit",
      { "depth" } },
    { 6,
      4,
      LATER,
      GPUAV_TRACE_RAYS,
      "volume",
      "Indirect trace rays: $0 x $1 x $2 invocations exceed the device's limit",
      { "width", "height", "depth" } },
    { 7,
      1,
      ALWAYS,
      GPUAV_OTHER,
      "texel out of range",
      "The source buffer of a copy to an image has a value at offset $0 that "
      "is not in the range 0 to 1",
      { "texel_offset" } },
    { 8, 1, EARLIER, GPUAV_BOUNDS, "buffer index out of bounds", NULL,
      INDEXED },
    { 8, 2, EARLIER, GPUAV_BUFFER, "buffer out of bounds", ACCESS_BYTES,
      ACCESSED },
    { 8, 3, EARLIER, GPUAV_BOUNDS, "texel buffer index out of bounds", NULL,
      INDEXED },
    { 8, 4, EARLIER, GPUAV_TEXEL, "texel buffer out of bounds", ACCESS_TEXELS,
      ACCESSED },
    { 8, 1, LATER, GPUAV_BUFFER, "buffer out of bounds", ACCESS_BYTES,
      ACCESSED },
    { 8, 2, LATER, GPUAV_TEXEL, "texel buffer out of bounds", ACCESS_TEXELS,
      ACCESSED },
    { 9,
      1,
      LATER,
      GPUAV_OTHER,
      "vertex index out of bounds",
      "Vertex index $v is not within the smallest bound vertex buffer",
      { NULL } },
    { 9,
      2,
      LATER,
      GPUAV_OTHER,
      "instance index out of bounds",
      "Instance index $w is not within the smallest bound vertex buffer of "
      "instances",
      { NULL } },
};

static const struct gpuav_error *error_of(uint32_t group, uint32_t code,
                                          unsigned age)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        const struct gpuav_error *e = &errors[i];
        if (e->group == group && e->code == code && e->ages & age)
            return e;
    }
    return NULL;
}

/* ---- reading ---- */

static void read_resource(struct gpuav_fault *f)
{
    const uint32_t *p = f->params;
    f->has_set = f->has_index = true;
    f->set = p[0];
    f->binding = p[1];
    f->index = p[2];
    f->a = p[3];
    f->b = p[4];
    /* The layer of that age reports a resource without a size as this. */
    if (f->group == 1 && f->kind == GPUAV_BUFFER && !p[4])
        f->kind = GPUAV_UNINITIALIZED;
}

static void read_address(struct gpuav_fault *f)
{
    const uint32_t *p = f->params;
    bool writes = p[3] == OP_STORE || p[3] == OP_ATOMIC_STORE;
    f->address = p[0] | (uint64_t)p[1] << 32;
    f->opcode = p[3];
    f->a = f->kind == GPUAV_ADDRESS ? p[2] : p[4];
    f->b = writes ? GPUAV_WRITES : 0;
}

void gpuav_read_grouped(const uint8_t *bytes, uint32_t n, bool earlier,
                        struct gpuav_record *r)
{
    struct gpuav_fault *f = &r->fault;
    uint32_t at = n == GPUAV_RECORD_MAX ? 9 : GPUAV_HEADER;
    if (n == GPUAV_RECORD_MAX) {
        r->has_action = true;
        r->action = gpuav_word(bytes, 7);
        r->logger = gpuav_word(bytes, 8);
    }
    f->group = gpuav_word(bytes, at);
    f->code = gpuav_word(bytes, at + 1);
    for (size_t i = 0; i < GPUAV_PARAMS; i++)
        f->params[i] = gpuav_word(bytes, at + 2 + i);
    f->n_params = GPUAV_PARAMS;
    f->error = error_of(f->group, f->code,
                        n != GPUAV_RECORD_MAX || earlier ? EARLIER : LATER);
    f->kind = f->error ? f->error->kind : GPUAV_OTHER;
    /* Found by checks by the layer's own commands. */
    r->is_own = f->group >= 4 && f->group <= 7;
    if (f->error && (f->group == 1 || f->group == 8))
        read_resource(f);
    if (f->error && f->group == 2)
        read_address(f);
    if (f->kind == GPUAV_DISPATCH) {
        f->a = f->code;
        f->b = f->params[0];
    }
}

bool gpuav_group_has(const uint8_t *bytes, bool earlier)
{
    return error_of(gpuav_word(bytes, 9), gpuav_word(bytes, 10),
                    earlier ? EARLIER : LATER) != NULL;
}

bool gpuav_group_fits(const uint8_t *bytes, bool earlier)
{
    uint32_t group = gpuav_word(bytes, 9);
    uint32_t code = gpuav_word(bytes, 10);
    uint32_t index = gpuav_word(bytes, 13);
    uint32_t a = gpuav_word(bytes, 14); /* a length, or an offset */
    uint32_t b = gpuav_word(bytes, 15); /* a size, or nothing */
    if (!gpuav_group_has(bytes, earlier))
        return false;
    /* Earlier layers store no length with this error. */
    if (group == 1 && code == 2)
        return !b && (!earlier || !a);
    if (group == 1 && code == 3)
        return earlier == (b || (a && a <= index));
    if (group == 8 && earlier && code % 2)
        return !b && a <= index;
    return true;
}

/* ---- in words ---- */

/* Adds the value of a $ in a text; returns the length of its name. */
static size_t add_value(struct pfd_text *out, const char *at,
                        const struct gpuav_record *r)
{
    char letter = at[0];
    bool is_number = letter >= '0' && letter < '0' + GPUAV_PARAMS;
    unsigned i = (unsigned)(at[is_number ? 0 : 1] - '0') % GPUAV_PARAMS;
    uint32_t v = r->fault.params[i];
    switch (letter) {
    case 'v':
        pfd_text_printf(out, "%u", r->words[0]);
        return 1;
    case 'w':
        pfd_text_printf(out, "%u", r->words[1]);
        return 1;
    case 'i':
        pfd_text_printf(out, "%d", (int)v);
        return 2;
    case 'x':
        pfd_text_printf(out, "%x", v);
        return 2;
    default:
        pfd_text_printf(out, "%u", v);
        return 1;
    }
}

void gpuav_error_text(struct pfd_text *out, const struct gpuav_record *r)
{
    const char *at = r->fault.error->text;
    for (const char *next; (next = strchr(at, '$'));) {
        pfd_text_printf(out, "%.*s", (int)(next - at), at);
        at = next + 1;
        at += add_value(out, at, r);
    }
    pfd_text_puts(out, at);
}

/* Is it a parameter that older layers lack, and leave 0? */
static bool is_spare(const struct gpuav_fault *f, size_t i)
{
    return i > 2 && (f->group == 2 || f->kind == GPUAV_UNINITIALIZED ||
                     f->kind == GPUAV_DESTROYED);
}

size_t gpuav_error_origin(const struct gpuav_fault *f, struct pfd_origin *ret)
{
    size_t n = 0;
    if (f->group == 2) {
        ret[n++] = (struct pfd_origin){ .name = "access",
                                        .type = PFD_ORIGIN_TEXT,
                                        .n = f->b ? 5 : 4,
                                        .text = f->b ? "write" : "read" };
    }
    for (size_t i = 0; i < GPUAV_PARAMS; i++) {
        const char *name = f->error->names[i];
        if (!name || (!f->params[i] && is_spare(f, i)))
            continue;
        bool is_address = !strcmp(name, "address");
        bool is_bits =
            !strcmp(name, "ray_flags") || !strcmp(name, "vertex_offset");
        ret[n++] = (struct pfd_origin){
            .name = name,
            .type = is_address || is_bits ? PFD_ORIGIN_HEX : PFD_ORIGIN_NUMBER,
            .n = 1,
            .value = { is_address ? f->address : f->params[i] },
        };
    }
    return n;
}
