/* SPDX-License-Identifier: MIT */
/* GLSL for Vulkan. The layout of its buffer: formats/llpc/README.md. */
#include <stdio.h>

#include <printfdecode/device/control.h>

#include "writer/device.h"

/* The host may change the control block while the shader runs: each load is
 * volatile. */
static const char control[] =
    "#ifndef PFD_CONTROL_BINDING\n"
    "#ifdef GL_ES\n"
    "#error GLSL ES: PFD_BINDING wants a PFD_CONTROL_BINDING, a literal\n"
    "#endif\n"
    "#define PFD_CONTROL_BINDING (PFD_BINDING + 1)\n"
    "#endif\n"
    "layout(std430, set = PFD_SET, binding = PFD_CONTROL_BINDING) volatile "
    "buffer pfd_control\n"
    "{\n"
    "    PFD_HIGH uint pfd_rules[];\n"
    "};\n"
    "bool pfd_is_on(PFD_HIGH uint gate)\n"
    "{\n"
    "    return pfd_rules[PFD_AT_GATES + gate] != 0u;\n"
    "}\n"
    "/* Counts in 64 bits; how many were before, 2^32 - 1 at most. */\n"
    "PFD_HIGH uint pfd_count(PFD_HIGH uint at)\n"
    "{\n"
    "    PFD_HIGH uint before = atomicAdd(pfd_rules[at], 1u);\n"
    "    if (before == 0xffffffffu)\n"
    "        atomicAdd(pfd_rules[at + 1u], 1u);\n"
    "    return pfd_rules[at + 1u] != 0u ? 0xffffffffu : before;\n"
    "}\n"
    "bool pfd_is_within(PFD_HIGH uint at, PFD_HIGH uvec3 number)\n"
    "{\n"
    "    bool ret = true;\n"
    "    for (PFD_HIGH uint i = 0u; i < 3u; i++)\n"
    "        ret = ret && number[i] >= pfd_rules[at + i] &&\n"
    "            number[i] <= pfd_rules[at + 3u + i];\n"
    "    return ret;\n"
    "}\n"
    "bool pfd_is_wanted()\n"
    "{\n"
    "    if (pfd_rules[PFD_AT_FILTERED] == 0u)\n"
    "        return true;\n"
    "#if defined(PFD_FRAGMENT)\n"
    "    return pfd_is_within(PFD_AT_PIXELS, uvec3(gl_FragCoord.xy, 0));\n"
    "#elif defined(PFD_COMPUTE)\n"
    "    return pfd_is_within(PFD_AT_THREADS, gl_GlobalInvocationID) &&\n"
    "        pfd_is_within(PFD_AT_GROUPS, gl_WorkGroupID);\n"
    "#else\n"
    "    return true;\n"
    "#endif\n"
    "}\n"
    "/* May this one print, by the rules of its site? Else it is counted. */\n"
    "bool pfd_keep(PFD_HIGH uint at)\n"
    "{\n"
    "    PFD_HIGH uint budget = pfd_rules[at + PFD_AT_BUDGET];\n"
    "    PFD_HIGH uint every = max(pfd_rules[at + PFD_AT_EVERY], 1u);\n"
    "    bool keep = pfd_is_wanted();\n"
    "    if (keep && (budget != 0xffffffffu || every > 1u)) {\n"
    "        PFD_HIGH uint seen = pfd_count(at + PFD_AT_SEEN);\n"
    "        keep = seen % every == 0u &&\n"
    "            (budget == 0xffffffffu || seen / every < budget);\n"
    "    }\n"
    "    if (!keep)\n"
    "        pfd_count(at + PFD_AT_WITHHELD);\n"
    "    return keep;\n"
    "}\n"
    "bool pfd_may(PFD_HIGH uint gate, PFD_HIGH uint low, PFD_HIGH uint high)\n"
    "{\n"
    "#ifdef PFD_HELPER\n"
    "    if (PFD_HELPER)\n"
    "        return false;\n"
    "#endif\n"
    "    PFD_HIGH uint number = pfd_rules[PFD_AT_GATES + gate];\n"
    "    for (PFD_HIGH uint left = pfd_rules[PFD_AT_N_SITES]; left > 0u && number != "
    "0u; left--) {\n"
    "        PFD_HIGH uint at = PFD_AT_SITES + PFD_AT_SITE * (number - 1u);\n"
    "        if (pfd_rules[at] == (high << 16 | low >> 16) &&\n"
    "            pfd_rules[at + 1u] == high >> 16)\n"
    "            return pfd_rules[at + PFD_AT_ON] != 0u && pfd_keep(at);\n"
    "        number = pfd_rules[at + PFD_AT_NEXT];\n"
    "    }\n"
    "    return false;\n"
    "}\n";

/* MurmurHash3 of 32 bits, a word at a time. */
static const char commit[] =
    "PFD_HIGH uint pfd_mix(PFD_HIGH uint h, PFD_HIGH uint word)\n"
    "{\n"
    "    word *= 0xcc9e2d51u;\n"
    "    h ^= (word << 15 | word >> 17) * 0x1b873593u;\n"
    "    return (h << 13 | h >> 19) * 5u + 0xe6546b64u;\n"
    "}\n"
    "PFD_HIGH uint pfd_mixed(PFD_HIGH uint h, PFD_HIGH uint n)\n"
    "{\n"
    "    h ^= n * 4u;\n"
    "    h = (h ^ h >> 16) * 0x85ebca6bu;\n"
    "    h = (h ^ h >> 13) * 0xc2b2ae35u;\n"
    "    return h ^ h >> 16;\n"
    "}\n";

/* Unknown numbers are all ones; an unknown clock is 0. */
static const char origin[] =
    "PFD_HIGH uvec3 pfd_group()\n"
    "{\n"
    "#if defined(PFD_FRAGMENT)\n"
    "    return uvec3(gl_FragCoord.xy, 0xffffffffu);\n"
    "#elif defined(PFD_COMPUTE)\n"
    "    return gl_WorkGroupID;\n"
    "#else\n"
    "    return uvec3(0xffffffffu);\n"
    "#endif\n"
    "}\n"
    "PFD_HIGH uint pfd_lane()\n"
    "{\n"
    "#if defined(PFD_SUBGROUPS) && defined(PFD_COMPUTE)\n"
    "    return gl_SubgroupID << 8 | gl_SubgroupInvocationID;\n"
    "#elif defined(PFD_SUBGROUPS)\n"
    "    return 0xffffff00u | gl_SubgroupInvocationID;\n"
    "#else\n"
    "    return 0xffffffffu;\n"
    "#endif\n"
    "}\n"
    "PFD_HIGH uvec2 pfd_clock()\n"
    "{\n"
    "#ifdef PFD_CLOCK\n"
    "    return clockRealtime2x32EXT();\n"
    "#else\n"
    "    return uvec2(0u);\n"
    "#endif\n"
    "}\n";

static const struct pfd_extras extras = { control, commit, origin };

static const char components[] = "xyzw";

static const char begin[] = "#ifndef PFD_DEVICE\n"
                            "#define PFD_DEVICE\n"
                            "#ifdef GL_ES\n"
                            "#define PFD_HIGH highp\n"
                            "#else\n"
                            "#define PFD_HIGH\n"
                            "#endif\n"
                            "#ifndef PFD_SET\n"
                            "#define PFD_SET %u\n"
                            "#endif\n"
                            "#ifndef PFD_BINDING\n"
                            "#define PFD_BINDING %u\n";

/* GLSL ES takes literals only. */
static const char control_binding[] = "#ifndef PFD_CONTROL_BINDING\n"
                                      "#define PFD_CONTROL_BINDING %u\n"
                                      "#endif\n";

/*
 * Stores are not ordered by memoryBarrierBuffer(): llvmpipe up to Mesa 22
 * treats it as a workgroup barrier for subgroups; if they print in loops of
 * different length, the first one to finish ends all of them.
 *
 * No reader needs the order. After the submission all stores are visible. A
 * reader of a live buffer waits until the reserved bytes have not changed for
 * its settling time, in which a header may become visible before its arguments.
 * A commit word is made of each word of its entry, header and place included,
 * so it is correct only when all have arrived, in any order.
 */
static const char core[] =
    "#ifdef PFD_SUBGROUPS\n"
    "#extension GL_KHR_shader_subgroup_ballot : require\n"
    "#endif\n"
    "#ifdef PFD_WIDE_ATOMICS\n"
    "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
    "#extension GL_EXT_shader_atomic_int64 : require\n"
    "#endif\n"
    "#ifdef PFD_CLOCK\n"
    "#extension GL_EXT_shader_realtime_clock : require\n"
    "#endif\n"
    "#if !defined(GL_ES) && __VERSION__ < 430\n"
    "#extension GL_ARB_shader_storage_buffer_object : require\n"
    "#endif\n"
    "layout(std430, set = PFD_SET, binding = PFD_BINDING) coherent buffer "
    "pfd_buffer\n"
    "{\n"
    "#ifdef PFD_WIDE_ATOMICS\n"
    "    uint64_t pfd_used;\n"
    "#else\n"
    "    PFD_HIGH uint pfd_used;\n"
    "    PFD_HIGH uint pfd_used_high;\n"
    "#endif\n"
    "    PFD_HIGH uint pfd_reserved[2];\n"
    "    PFD_HIGH uint pfd_words[];\n"
    "};\n"
    "/* Where n dwords begin; 2^29 stands for any place beyond. */\n"
    "PFD_HIGH uint pfd_add(PFD_HIGH uint n)\n"
    "{\n"
    "#ifdef PFD_WIDE_ATOMICS\n"
    "    return uint(min(atomicAdd(pfd_used, uint64_t(n)), "
    "uint64_t(0x20000000u)));\n"
    "#else\n"
    "    PFD_HIGH uint at = atomicAdd(pfd_used, n);\n"
    "    if (at + n < at)\n"
    "        atomicAdd(pfd_used_high, 1u);\n"
    "    return pfd_used_high != 0u ? 0x20000000u : min(at, 0x20000000u);\n"
    "#endif\n"
    "}\n"
    "/* Where helper invocations are not known, each lane is on its own. */\n"
    "#if defined(PFD_FRAGMENT) && (defined(GL_ES) || __VERSION__ >= 450)\n"
    "#define PFD_HELPER gl_HelperInvocation\n"
    "#endif\n"
    "PFD_HIGH uint pfd_reserve(PFD_HIGH uint n)\n"
    "{\n"
    "#if defined(PFD_SUBGROUPS) && (defined(PFD_HELPER) || "
    "!defined(PFD_FRAGMENT))\n"
    "#ifdef PFD_HELPER\n"
    "    if (PFD_HELPER)\n"
    "        return 0x20000000u;\n"
    "#endif\n"
    "    PFD_HIGH uvec4 lanes = subgroupBallot(true);\n"
    "    PFD_HIGH uint at = 0u;\n"
    "    if (subgroupElect())\n"
    "        at = pfd_add(n * subgroupBallotBitCount(lanes));\n"
    "    at = subgroupBroadcastFirst(at);\n"
    "    return min(at + n * subgroupBallotExclusiveBitCount(lanes), "
    "0x20000000u);\n"
    "#else\n"
    "    return pfd_add(n);\n"
    "#endif\n"
    "}\n"
    "void pfd_put(PFD_HIGH uint at, PFD_HIGH uint word)\n"
    "{\n"
    "    if (at < min(uint(pfd_words.length()), 0x20000000u))\n"
    "        pfd_words[at] = word;\n"
    "}\n"
    "void pfd_end(PFD_HIGH uint at, PFD_HIGH uint low, PFD_HIGH uint high)\n"
    "{\n"
    "    pfd_put(at + 1u, high);\n"
    "    pfd_put(at, low);\n"
    "}\n"
    "#endif\n";

/* Features that some versions of GLSL lack. Each is a condition for #if. */
static const char has_int64[] = "!defined(GL_ES) && __VERSION__ >= 400";
static const char has_double[] = "!defined(GL_ES)";

static const char int64_extension[] =
    "#if !defined(GL_ES) && __VERSION__ >= 400\n"
    "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
    "#endif\n";
static const char double_extension[] =
    "#if !defined(GL_ES) && __VERSION__ < 400\n"
    "#extension GL_ARB_gpu_shader_fp64 : require\n"
    "#endif\n";

/* The types that a function takes, and its dwords of each. The default
 * precisions of a GLSL ES shader do not apply: PFD_HIGH is highp. */
struct taker {
    const char *type; /* of a scalar */
    const char *vector;
    const char *expression; /* of a scalar */
    const char *needs;      /* NULL: nothing */
};

static const struct taker takers_u[] = {
    { "PFD_HIGH uint", "PFD_HIGH uvec", "v", NULL },
    { "PFD_HIGH int", "PFD_HIGH ivec", "uint(v)", NULL },
    { "bool", "bvec", "uint(v)", NULL },
    { 0 },
};
static const struct taker takers_f[] = {
    { "PFD_HIGH float", "PFD_HIGH vec", "floatBitsToUint(v)", NULL },
    { 0 },
};
static const struct taker takers_q[] = {
    { "uint64_t", "u64vec", "uvec2(uint(v), uint(v >> 32))", has_int64 },
    { "int64_t", "i64vec", "uvec2(uint(v), uint(v >> 32))", has_int64 },
    { "PFD_HIGH uint", "PFD_HIGH uvec", "uvec2(v, 0u)", NULL },
    { "PFD_HIGH int", "PFD_HIGH ivec",
      "uvec2(uint(v), v < 0 ? 0xffffffffu : 0u)", NULL },
    { 0 },
};
static const struct taker takers_d[] = {
    { "double", "dvec", "unpackDouble2x32(v)", has_double },
    { 0 },
};

static const struct taker *const takers[PFD_N_SHAPE_CLASSES] = {
    [PFD_ARGUMENT_SHAPE_U] = takers_u, [PFD_ARGUMENT_SHAPE_F] = takers_f,
    [PFD_ARGUMENT_SHAPE_Q] = takers_q, [PFD_ARGUMENT_SHAPE_D] = takers_d,
    [PFD_ARGUMENT_SHAPE_P] = takers_q,
};

static bool is_wide(unsigned class)
{
    return pfd_argument_shape_is_wide(
        &(struct pfd_argument_shape_argument){ .class = (uint8_t) class });
}

/* The type of n components of 32 or 64 bits. */
static void put_type(struct pfd_text *ret, bool wide, unsigned n)
{
    if (wide && n > 1) {
        pfd_text_printf(ret, "PFD_HIGH uvec2[%u]", n);
    } else if (wide || n > 1) {
        pfd_text_printf(ret, "PFD_HIGH uvec%u", wide ? 2 : n);
    } else {
        pfd_text_puts(ret, "PFD_HIGH uint");
    }
}

/* The function for vectors, which calls the scalar's for each component. */
static void put_vector_taker(struct pfd_text *ret, const char *name,
                             const struct taker *taker, unsigned class,
                             unsigned n)
{
    put_type(ret, is_wide(class), n);
    pfd_text_printf(ret, " %s%u(%s%u v) { return ", name, n, taker->vector, n);
    pfd_text_printf(ret, is_wide(class) ? "uvec2[%u]" : "uvec%u", n);
    for (unsigned i = 0; i < n; i++) {
        pfd_text_printf(ret, "%s%s(v.%c)", i ? ", " : "(", name, components[i]);
    }
    pfd_text_puts(ret, "); }\n");
}

static void put_takers(struct pfd_text *ret, unsigned class, unsigned n)
{
    struct pfd_text name = { 0 };
    const struct pfd_argument_shape_argument scalar = { .class =
                                                            (uint8_t) class,
                                                        .n = 1 };
    const struct pfd_argument_shape_argument vector = { .class =
                                                            (uint8_t) class,
                                                        .n = (uint8_t)n };
    pfd_device_taker(&vector, &name);
    pfd_text_add(&name, "", 1);
    if (!name.failed)
        pfd_device_guard(name.data, ret);
    name.n = 0;
    pfd_device_taker(&scalar, &name);
    pfd_text_add(&name, "", 1);
    for (const struct taker *t = takers[class]; t->type && !name.failed; t++) {
        if (t->needs)
            pfd_text_printf(ret, "#if %s\n", t->needs);
        if (n == 1) {
            put_type(ret, is_wide(class), 1);
            pfd_text_printf(ret, " %s(%s v) { return %s; }\n", name.data,
                            t->type, t->expression);
        } else {
            put_vector_taker(ret, name.data, t, class, n);
        }
        if (t->needs)
            pfd_text_puts(ret, "#endif\n");
    }
    pfd_text_puts(ret, "#endif\n");
    ret->failed |= name.failed;
    pfd_text_free(&name);
}

static void put_all_takers(const struct pfd_device *device, unsigned class,
                           struct pfd_text *ret)
{
    unsigned bits = device->takes[class];
    for (unsigned i = 0; i < PFD_DEVICE_N_SIZES && bits; i++) {
        if (i == 0 || bits >> i & 1) /* vectors need the scalar's */
            put_takers(ret, class, pfd_device_size(i));
    }
}

/* Adds the function that takes an argument: pfd_u3() and the like, with a name
 * that has the argument's number and conversion. */
static void put_argument(struct pfd_text *ret, const char *text)
{
    const char *name;
    struct pfd_argument_shape_argument a =
        pfd_device_argument_read(text, &name);
    pfd_device_guard(name, ret);
    for (const struct taker *t = takers[a.class]; t->type; t++) {
        if (t->needs)
            pfd_text_printf(ret, "#if %s\n", t->needs);
        put_type(ret, is_wide(a.class), a.n);
        pfd_text_printf(ret, " %s(", name);
        if (a.n > 1) {
            pfd_text_printf(ret, "%s%u", t->vector, a.n);
        } else {
            pfd_text_puts(ret, t->type);
        }
        pfd_text_puts(ret, " v) { return ");
        pfd_device_taker(&a, ret);
        pfd_text_puts(ret, "(v); }\n");
        if (t->needs)
            pfd_text_puts(ret, "#endif\n");
    }
    pfd_text_puts(ret, "#endif\n");
}

/* Stores a word, and adds it to the commit word, if there is one. */
static void put_store(struct pfd_text *ret, const char *name, unsigned at,
                      const char *word)
{
    pfd_text_printf(ret, "    pfd_put(at + %uu, %s);\n", at, word);
    if (pfd_device_has(name, PFD_DEVICE_COMMIT))
        pfd_text_printf(ret, "    h = pfd_mix(h, %s);\n", word);
}

/* Stores the words of a parameter, from dword *at on. */
static void put_stores(struct pfd_text *ret, const char *name,
                       const struct pfd_device_parameter *p, unsigned i,
                       unsigned *at)
{
    unsigned n = p->n << p->is_wide;
    char word[32];
    for (unsigned k = 0; k < n; k++, ++*at) {
        if (p->is_wide && p->n > 1) {
            snprintf(word, sizeof word, "a%u[%u].%c", i, k / 2,
                     components[k % 2]);
        } else if (n > 1) {
            snprintf(word, sizeof word, "a%u.%c", i, components[k % 4]);
        } else {
            snprintf(word, sizeof word, "a%u", i);
        }
        put_store(ret, name, *at, word);
    }
}

/* Stores the parts behind the arguments, from dword `at` on. */
static void put_extras(struct pfd_text *ret, const char *name, unsigned at)
{
    static const char *const words[PFD_ROW_ORIGIN_DWORDS] = {
        "group.x", "group.y", "group.z", "lane", "clock.x", "clock.y",
    };
    if (pfd_device_has(name, PFD_DEVICE_ORIGIN)) {
        pfd_text_puts(ret, "    PFD_HIGH uvec3 group = pfd_group();\n"
                           "    PFD_HIGH uint lane = pfd_lane();\n"
                           "    PFD_HIGH uvec2 clock = pfd_clock();\n");
        for (unsigned i = 0; i < PFD_ROW_ORIGIN_DWORDS; i++)
            put_store(ret, name, at++, words[i]);
    }
    if (pfd_device_has(name, PFD_DEVICE_COMMIT)) {
        pfd_text_printf(ret, "    pfd_put(at + %uu, pfd_mixed(h, %uu));\n", at,
                        at);
    }
}

static void put_shape(struct pfd_text *ret, const char *name)
{
    struct pfd_device_parameter p;
    unsigned at = 2;
    unsigned i = 0;
    pfd_device_guard(name, ret);
    pfd_text_printf(ret, "bool %s(PFD_HIGH uint low, PFD_HIGH uint high", name);
    for (const char *rest = name; pfd_device_parameter(&rest, &p); i++) {
        pfd_text_puts(ret, ", ");
        put_type(ret, p.is_wide, p.n);
        pfd_text_printf(ret, " a%u", i);
    }
    pfd_text_printf(ret, ")\n{\n    PFD_HIGH uint at = pfd_reserve(%uu);\n",
                    pfd_device_dwords(name));
    if (pfd_device_has(name, PFD_DEVICE_COMMIT)) {
        pfd_text_puts(
            ret, "    PFD_HIGH uint h = pfd_mix(pfd_mix(at, low), high);\n");
    }
    i = 0;
    for (const char *rest = name; pfd_device_parameter(&rest, &p); i++)
        put_stores(ret, name, &p, i, &at);
    put_extras(ret, name, at);
    pfd_text_puts(ret, "    pfd_end(at, low, high);\n    return true;\n}\n"
                       "#endif\n");
}

/* Adds an extension: before all code, and outside of the other guards, whose
 * code another file may have. */
static void put_extension(struct pfd_text *ret, const char *name,
                          const char *extension)
{
    pfd_device_guard(name, ret);
    pfd_text_puts(ret, extension);
    pfd_text_puts(ret, "#endif\n");
}

void pfd_device_glsl(const struct pfd_device *device, struct pfd_text *ret)
{
    static const char *const defines[] = { "PFD_SUBGROUPS", "PFD_WIDE_ATOMICS",
                                           "PFD_FRAGMENT", "PFD_COMPUTE" };
    const bool wanted[] = { device->subgroups, device->wide_atomics,
                            device->fragment, device->compute };
    if (device->takes[PFD_ARGUMENT_SHAPE_Q] ||
        device->takes[PFD_ARGUMENT_SHAPE_P])
        put_extension(ret, "int64", int64_extension);
    if (device->takes[PFD_ARGUMENT_SHAPE_D])
        put_extension(ret, "doubles", double_extension);
    pfd_text_printf(ret, begin, device->set, device->binding);
    if (device->control)
        pfd_text_printf(ret, control_binding, device->binding + 1);
    pfd_text_puts(ret, "#endif\n");
    for (size_t i = 0; i < sizeof wanted; i++) {
        if (wanted[i]) {
            pfd_text_printf(ret, "#ifndef %s\n#define %s 1\n#endif\n",
                            defines[i], defines[i]);
        }
    }
    pfd_text_puts(ret, core);
    pfd_extras_put(&extras, device, ret);
    for (unsigned class = 0; class < PFD_N_SHAPE_CLASSES; class ++)
        put_all_takers(device, class, ret);
    for (size_t i = 0; i < device->arguments.n; i++)
        put_argument(ret, device->arguments.texts[i].text);
    for (size_t i = 0; i < device->shapes.n; i++)
        put_shape(ret, device->shapes.texts[i].text);
}
