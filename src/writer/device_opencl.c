/* SPDX-License-Identifier: MIT */
/* OpenCL C 1.2 and later. The layout of its buffer: formats/llpc/README.md. */
#include <stdio.h>

#include <printfdecode/device/control.h>

#include "writer/device.h"

static const char control[] =
    "static inline bool pfd_is_on(PFD_PARAMETERS, uint gate)\n"
    "{\n"
    "    return pfd_rules[PFD_AT_GATES + gate] != 0;\n"
    "}\n"
    "/* Counts in 64 bits; how many were before, 2^32 - 1 at most. */\n"
    "static inline uint pfd_count(PFD_PARAMETERS, uint at)\n"
    "{\n"
    "    uint before = atomic_inc(pfd_rules + at);\n"
    "    if (before == 0xffffffffu)\n"
    "        atomic_inc(pfd_rules + at + 1);\n"
    "    return pfd_rules[at + 1] ? 0xffffffffu : before;\n"
    "}\n"
    "static inline bool pfd_is_within(PFD_PARAMETERS, uint at, uint x, uint y, "
    "uint z)\n"
    "{\n"
    "    volatile __global uint *range = pfd_rules + at;\n"
    "    return x >= range[0] && y >= range[1] && z >= range[2] &&\n"
    "        x <= range[3] && y <= range[4] && z <= range[5];\n"
    "}\n"
    "static inline bool pfd_is_wanted(PFD_PARAMETERS)\n"
    "{\n"
    "    return !pfd_rules[PFD_AT_FILTERED] ||\n"
    "        (pfd_is_within(PFD_ARGUMENTS, PFD_AT_THREADS, "
    "(uint)get_global_id(0),\n"
    "                       (uint)get_global_id(1), (uint)get_global_id(2)) "
    "&&\n"
    "         pfd_is_within(PFD_ARGUMENTS, PFD_AT_GROUPS, "
    "(uint)get_group_id(0),\n"
    "                       (uint)get_group_id(1), (uint)get_group_id(2)));\n"
    "}\n"
    "/* May this one print, by the rules of its site? Else it is counted. */\n"
    "static inline bool pfd_keep(PFD_PARAMETERS, uint at)\n"
    "{\n"
    "    uint budget = pfd_rules[at + PFD_AT_BUDGET];\n"
    "    uint every = max(pfd_rules[at + PFD_AT_EVERY], 1u);\n"
    "    bool keep = pfd_is_wanted(PFD_ARGUMENTS);\n"
    "    if (keep && (budget != 0xffffffffu || every > 1)) {\n"
    "        uint seen = pfd_count(PFD_ARGUMENTS, at + PFD_AT_SEEN);\n"
    "        keep = seen % every == 0 &&\n"
    "            (budget == 0xffffffffu || seen / every < budget);\n"
    "    }\n"
    "    if (!keep)\n"
    "        pfd_count(PFD_ARGUMENTS, at + PFD_AT_WITHHELD);\n"
    "    return keep;\n"
    "}\n"
    "static inline bool pfd_may(PFD_PARAMETERS, uint gate, uint low, uint "
    "high)\n"
    "{\n"
    "    uint number = pfd_rules[PFD_AT_GATES + gate];\n"
    "    for (uint left = pfd_rules[PFD_AT_N_SITES]; left && number; left--) "
    "{\n"
    "        uint at = PFD_AT_SITES + PFD_AT_SITE * (number - 1);\n"
    "        if (pfd_rules[at] == (high << 16 | low >> 16) &&\n"
    "            pfd_rules[at + 1] == high >> 16)\n"
    "            return pfd_rules[at + PFD_AT_ON] && pfd_keep(PFD_ARGUMENTS, "
    "at);\n"
    "        number = pfd_rules[at + PFD_AT_NEXT];\n"
    "    }\n"
    "    return false;\n"
    "}\n";

/* MurmurHash3 of 32 bits, a word at a time. */
static const char commit[] =
    "static inline uint pfd_mix(uint h, uint word)\n"
    "{\n"
    "    h ^= rotate(word * 0xcc9e2d51u, 15u) * 0x1b873593u;\n"
    "    return rotate(h, 13u) * 5 + 0xe6546b64u;\n"
    "}\n"
    "static inline uint pfd_mixed(uint h, uint n)\n"
    "{\n"
    "    h ^= n * 4;\n"
    "    h = (h ^ h >> 16) * 0x85ebca6bu;\n"
    "    h = (h ^ h >> 13) * 0xc2b2ae35u;\n"
    "    return h ^ h >> 16;\n"
    "}\n";

/* Unknown numbers are all ones; OpenCL has no clock: 0. */
static const char origin[] =
    "static inline uint pfd_lane(void)\n"
    "{\n"
    "#ifdef PFD_BALLOT\n"
    "    return get_sub_group_id() << 8 | get_sub_group_local_id();\n"
    "#else\n"
    "    return 0xffffffffu;\n"
    "#endif\n"
    "}\n";

static const struct pfd_extras extras = { control, commit, origin };

static const char subgroups[] = "#ifndef PFD_SUBGROUPS\n"
                                "#define PFD_SUBGROUPS 1\n"
                                "#endif\n";

static const char has_control[] = "#ifndef PFD_CONTROL\n"
                                  "#define PFD_CONTROL 1\n"
                                  "#endif\n";

static const char core[] =
    "#ifndef PFD_DEVICE\n"
    "#define PFD_DEVICE\n"
    "#ifdef PFD_CONTROL\n"
    "#define PFD_PARAMETERS volatile __global uint *pfd_buffer, uint pfd_size, "
    "volatile __global uint *pfd_rules\n"
    "#define PFD_ARGUMENTS pfd_buffer, pfd_size, pfd_rules\n"
    "#else\n"
    "#define PFD_PARAMETERS volatile __global uint *pfd_buffer, uint pfd_size\n"
    "#define PFD_ARGUMENTS pfd_buffer, pfd_size\n"
    "#endif\n"
    "#define PFD_OVER __attribute__((overloadable))\n"
    "#if defined(cl_khr_int64_base_atomics) && !defined(PFD_ATOMICS_32)\n"
    "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
    "#define PFD_ATOMICS_64\n"
    "#endif\n"
    "/* PoCL's sub_group_ballot() waits for all lanes, also in a loop that some\n"
    "   have left, and there are no functions for what it returns. */\n"
    "#if defined(PFD_SUBGROUPS) && defined(cl_khr_subgroup_ballot) && \\\n"
    "    !defined(POCL_DEVICE_ADDRESS_BITS)\n"
    "#define PFD_BALLOT\n"
    "#endif\n"
    "#ifdef cl_khr_fp16\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#endif\n"
    "#if defined(cl_khr_fp64) || defined(__opencl_c_fp64)\n"
    "#define PFD_DOUBLES\n"
    "#endif\n"
    "/* What printf returns. */\n"
    "static inline int pfd_printed(bool ok)\n"
    "{\n"
    "    return ok ? 0 : -1;\n"
    "}\n"
    "/* Where n dwords begin; 2^29 stands for any place beyond. */\n"
    "static inline uint pfd_add(PFD_PARAMETERS, uint n)\n"
    "{\n"
    "#ifdef PFD_ATOMICS_64\n"
    "    ulong at = atom_add((volatile __global ulong *)pfd_buffer, "
    "(ulong)n);\n"
    "    return (uint)min(at, (ulong)0x20000000);\n"
    "#else\n"
    "    uint at = atomic_add(pfd_buffer, n);\n"
    "    if (at + n < at)\n"
    "        atomic_inc(pfd_buffer + 1);\n"
    "    return pfd_buffer[1] ? 0x20000000u : min(at, 0x20000000u);\n"
    "#endif\n"
    "}\n"
    "static inline uint pfd_reserve(PFD_PARAMETERS, uint n)\n"
    "{\n"
    "    if (pfd_size < 4) /* no room for a header */\n"
    "        return 0x20000000u;\n"
    "#ifdef PFD_BALLOT\n"
    "    uint4 lanes = sub_group_ballot(1);\n"
    "    uint rank = sub_group_ballot_exclusive_scan(lanes);\n"
    "    uint at = 0;\n"
    "    if (rank == 0)\n"
    "        at = pfd_add(PFD_ARGUMENTS, n * "
    "sub_group_ballot_bit_count(lanes));\n"
    "    at = sub_group_broadcast_first(at);\n"
    "    return min(at + n * rank, 0x20000000u);\n"
    "#else\n"
    "    return pfd_add(PFD_ARGUMENTS, n);\n"
    "#endif\n"
    "}\n"
    "static inline void pfd_put(PFD_PARAMETERS, uint at, uint word)\n"
    "{\n"
    "    if (at < 0x20000000u && at + 4 < pfd_size)\n"
    "        pfd_buffer[at + 4] = word;\n"
    "}\n"
    "/* The half with the size last: what is not zero there is complete. */\n"
    "static inline void pfd_end(PFD_PARAMETERS, uint at, uint low, uint high)\n"
    "{\n"
    "    write_mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "    pfd_put(PFD_ARGUMENTS, at + 1, high);\n"
    "    write_mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
    "    pfd_put(PFD_ARGUMENTS, at, low);\n"
    "}\n"
    "#endif\n";

/* The types that a function takes, and its dwords of each; %s is the number of
 * components. */
struct taker {
    const char *type;
    const char *expression;
    bool is_scalar_only;
    bool is_vector_only;
    const char *needs; /* a macro; NULL: nothing */
};

static const struct taker takers_u[] = {
    { "uint", "v", false, false, NULL },
    { "int", "as_uint%s(v)", false, false, NULL },
    { "char", "as_uint%s(convert_int%s(v))", false, true, NULL },
    { "uchar", "convert_uint%s(v)", false, true, NULL },
    { "short", "as_uint%s(convert_int%s(v))", false, true, NULL },
    { "ushort", "convert_uint%s(v)", false, true, NULL },
    { 0 },
};
static const struct taker takers_f[] = {
    { "float", "as_uint%s(v)", false, false, NULL },
    { "half", "as_uint%s(convert_float%s(v))", false, false, "cl_khr_fp16" },
    { 0 },
};
static const struct taker takers_q[] = {
    { "ulong", "v", false, false, NULL },
    { "long", "as_ulong%s(v)", false, false, NULL },
    { "int", "as_ulong((long)v)", true, false, NULL },
    { "uint", "(ulong)v", true, false, NULL },
    { 0 },
};
static const struct taker takers_d[] = {
    { "double", "as_ulong%s(v)", false, false, "PFD_DOUBLES" },
    { 0 },
};

static const struct taker *const takers[PFD_N_SHAPE_CLASSES] = {
    [PFD_ARGUMENT_SHAPE_U] = takers_u,
    [PFD_ARGUMENT_SHAPE_F] = takers_f,
    [PFD_ARGUMENT_SHAPE_Q] = takers_q,
    [PFD_ARGUMENT_SHAPE_D] = takers_d,
};

static const char refusal[] =
    "#define PFD_NO(text) __attribute__((overloadable, unavailable(text)))\n";

static const char pointer[] = "#define pfd_p(v) ((ulong)(v))\n";

/* The number behind a type's name. */
static const char *size_name(unsigned n)
{
    static const char *const names[] = { "", "2", "3", "4", "8", "16" };
    return names[pfd_device_size_index(n)];
}

/* Adds the expression, with `size` in place of %s. */
static void put_expression(struct pfd_text *ret, const char *expression,
                           const char *size)
{
    for (; *expression; expression++) {
        if (*expression == '%') {
            pfd_text_puts(ret, size);
            expression++;
        } else {
            pfd_text_add(ret, expression, 1);
        }
    }
}

static void put_taker(struct pfd_text *ret, const struct taker *taker,
                      const char *name, bool wide, unsigned n)
{
    const char *size = size_name(n);
    if (n > 1 ? taker->is_scalar_only : taker->is_vector_only)
        return;
    if (taker->needs)
        pfd_text_printf(ret, "#ifdef %s\n", taker->needs);
    pfd_text_printf(ret, "static inline PFD_OVER %s%s %s(%s%s v) { return ",
                    wide ? "ulong" : "uint", size, name, taker->type, size);
    put_expression(ret, taker->expression, size);
    pfd_text_puts(ret, "; }\n");
    if (taker->needs)
        pfd_text_puts(ret, "#endif\n");
}

static void put_takers(struct pfd_text *ret, unsigned class, unsigned n)
{
    struct pfd_text name = { 0 };
    const struct pfd_argument_shape_argument of = { .class = (uint8_t) class,
                                                    .n = (uint8_t)n };
    pfd_device_taker(&of, &name);
    pfd_text_add(&name, "", 1);
    ret->failed |= name.failed;
    if (!name.failed)
        pfd_device_guard(name.data, ret);
    if (class == PFD_ARGUMENT_SHAPE_P)
        pfd_text_puts(ret, pointer);
    for (const struct taker *t = takers[class]; t && t->type && !name.failed;
         t++)
        put_taker(ret, t, name.data, pfd_argument_shape_is_wide(&of), n);
    if (class == PFD_ARGUMENT_SHAPE_F && n == 1)
        pfd_text_puts(ret, refusal);
    pfd_text_puts(ret, "#endif\n");
    pfd_text_free(&name);
}

/* Rejects types that C would convert, and so print wrongly. */
static void put_refused(struct pfd_text *ret, const char *name)
{
    static const char cast[] = "takes a float: cast it";
    pfd_text_printf(ret,
                    "PFD_NO(\"%%f %s\") uint %s(int v);\n"
                    "PFD_NO(\"%%f %s\") uint %s(uint v);\n"
                    "#ifdef PFD_DOUBLES\n"
                    "PFD_NO(\"%%f %s, or print a double with %%lf\") "
                    "uint %s(double v);\n"
                    "#endif\n",
                    cast, name, cast, name, cast, name);
}

/* Adds the function that takes an argument: pfd_u3() and the like, with a name
 * that has the argument's number and conversion. */
static void put_argument(struct pfd_text *ret, const char *text)
{
    const char *name;
    struct pfd_argument_shape_argument a =
        pfd_device_argument_read(text, &name);
    bool is_wide = pfd_argument_shape_is_wide(&a);
    const char *size = size_name(a.n);
    pfd_device_guard(name, ret);
    if (a.class == PFD_ARGUMENT_SHAPE_P)
        pfd_text_printf(ret, "#define %s(v) pfd_p(v)\n", name);
    for (const struct taker *t = takers[a.class]; t && t->type; t++) {
        if (a.n > 1 ? t->is_scalar_only : t->is_vector_only)
            continue;
        if (t->needs)
            pfd_text_printf(ret, "#ifdef %s\n", t->needs);
        pfd_text_printf(ret, "static inline PFD_OVER %s%s %s(%s%s v) { return ",
                        is_wide ? "ulong" : "uint", size, name, t->type, size);
        pfd_device_taker(&a, ret);
        pfd_text_puts(ret, "(v); }\n");
        if (t->needs)
            pfd_text_puts(ret, "#endif\n");
    }
    if (a.class == PFD_ARGUMENT_SHAPE_F && a.n == 1)
        put_refused(ret, name);
    pfd_text_puts(ret, "#endif\n");
}

/* Stores a word, and adds it to the commit word, if there is one. */
static void put_store(struct pfd_text *ret, const char *name, unsigned at,
                      const char *word)
{
    pfd_text_printf(ret, "    pfd_put(PFD_ARGUMENTS, at + %u, %s);\n", at,
                    word);
    if (pfd_device_has(name, PFD_DEVICE_COMMIT))
        pfd_text_printf(ret, "    h = pfd_mix(h, %s);\n", word);
}

/* Stores the words of a parameter, from dword *at on. */
static void put_stores(struct pfd_text *ret, const char *name,
                       const struct pfd_device_parameter *p, unsigned i,
                       unsigned *at)
{
    for (unsigned k = 0; k < p->n << p->is_wide; k++, ++*at) {
        char component[8] = "";
        char word[40];
        if (p->n > 1) {
            snprintf(component, sizeof component, ".s%x",
                     k >> p->is_wide & 15u);
        }
        snprintf(word, sizeof word, p->is_wide ? "(uint)(a%u%s%s)" : "a%u%s%s",
                 i, component, p->is_wide && k % 2 ? " >> 32" : "");
        put_store(ret, name, *at, word);
    }
}

/* Stores the parts behind the arguments, from dword `at` on. */
static void put_extras(struct pfd_text *ret, const char *name, unsigned at)
{
    static const char *const words[PFD_ROW_ORIGIN_DWORDS] = {
        "(uint)get_group_id(0)",
        "(uint)get_group_id(1)",
        "(uint)get_group_id(2)",
        "pfd_lane()",
        "0u",
        "0u",
    };
    if (pfd_device_has(name, PFD_DEVICE_ORIGIN)) {
        for (unsigned i = 0; i < PFD_ROW_ORIGIN_DWORDS; i++)
            put_store(ret, name, at++, words[i]);
    }
    if (pfd_device_has(name, PFD_DEVICE_COMMIT)) {
        pfd_text_printf(
            ret, "    pfd_put(PFD_ARGUMENTS, at + %u, pfd_mixed(h, %u));\n", at,
            at);
    }
}

static void put_shape(struct pfd_text *ret, const char *name)
{
    struct pfd_device_parameter p;
    unsigned at = 2;
    unsigned i = 0;
    pfd_device_guard(name, ret);
    pfd_text_printf(
        ret, "static inline bool %s(PFD_PARAMETERS, uint low, uint high", name);
    for (const char *rest = name; pfd_device_parameter(&rest, &p); i++) {
        pfd_text_printf(ret, ", %s%s a%u", p.is_wide ? "ulong" : "uint",
                        size_name(p.n), i);
    }
    pfd_text_printf(ret,
                    ")\n{\n    uint at = pfd_reserve(PFD_ARGUMENTS, %u);\n",
                    pfd_device_dwords(name));
    if (pfd_device_has(name, PFD_DEVICE_COMMIT))
        pfd_text_puts(ret, "    uint h = pfd_mix(pfd_mix(at, low), high);\n");
    i = 0;
    for (const char *rest = name; pfd_device_parameter(&rest, &p); i++)
        put_stores(ret, name, &p, i, &at);
    put_extras(ret, name, at);
    pfd_text_printf(ret,
                    "    pfd_end(PFD_ARGUMENTS, at, low, high);\n"
                    "    return at < 0x20000000u && at + %u <= pfd_size;\n"
                    "}\n#endif\n",
                    pfd_device_dwords(name) + 4);
}

void pfd_device_opencl(const struct pfd_device *device, struct pfd_text *ret)
{
    if (device->subgroups)
        pfd_text_puts(ret, subgroups);
    if (device->control)
        pfd_text_puts(ret, has_control);
    pfd_text_puts(ret, core);
    pfd_extras_put(&extras, device, ret);
    for (unsigned class = 0; class < PFD_N_SHAPE_CLASSES; class ++) {
        for (unsigned i = 0; i < PFD_DEVICE_N_SIZES; i++) {
            if (device->takes[class] >> i & 1)
                put_takers(ret, class, pfd_device_size(i));
        }
    }
    for (size_t i = 0; i < device->arguments.n; i++)
        put_argument(ret, device->arguments.texts[i].text);
    for (size_t i = 0; i < device->shapes.n; i++)
        put_shape(ret, device->shapes.texts[i].text);
}
