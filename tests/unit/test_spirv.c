/* SPDX-License-Identifier: MIT */
/* The SPIR-V reader, with modules right before an unreadable page. */
#include <string.h>

#include <printfdecode/strings.h>

#include "build.h"
#include "core/spirv/spirv.h"
#include "core/strings/strings.h"
#include "guard.h"
#include "suite.h"

/* The module that most tests read; numbers behind words are dword offsets. */
static const uint32_t words[] = {
    0x07230203,
    0x00010300,
    0,
    40,
    0,
    /* 5: %1 = OpExtInstImport "NonSemantic.DebugPrintf" */
    8 << 16 | 11,
    1,
    0x536e6f4e,
    0x6e616d65,
    0x2e636974,
    0x75626544,
    0x69725067,
    0x0066746e,
    /* 13: OpEntryPoint GLCompute %2 "" */
    4 << 16 | 15,
    5,
    2,
    0,
    /* 17: %3 = OpString "a.c"; 20: %4 = OpString "%d" */
    3 << 16 | 7,
    3,
    0x00632e61,
    3 << 16 | 7,
    4,
    0x00006425,
    /* 23: OpSource GLSL 450 %3 "x\n#line 7\ny" in two chunks */
    6 << 16 | 3,
    2,
    450,
    3,
    0x69230a78 & 0x00000a78,
    0,
    4 << 16 | 2,
    0x6e696c23,
    0x0a372065,
    0x00000a79,
    /* 33: %5 = OpTypeVoid; 35: %6 = OpTypeInt 32 1; 39: %7 = OpUndef */
    2 << 16 | 19,
    5,
    4 << 16 | 21,
    6,
    32,
    1,
    3 << 16 | 1,
    6,
    7,
    /* 42: %8 = OpTypeFunction %5; 45: %2 = OpFunction; 50: OpLabel */
    3 << 16 | 33,
    8,
    5,
    5 << 16 | 54,
    5,
    2,
    0,
    8,
    2 << 16 | 248,
    9,
    /* 52: OpLine %3 7 2; 56: %10 = OpExtInst printf %4 %7 */
    4 << 16 | 8,
    3,
    7,
    2,
    7 << 16 | 12,
    5,
    10,
    1,
    1,
    4,
    7,
    /* 63: the same without a line of its own; 70: OpReturn, OpFunctionEnd */
    7 << 16 | 12,
    5,
    11,
    1,
    1,
    4,
    7,
    1 << 16 | 253,
    1 << 16 | 56,
};

enum {
    AT_CALL = 56,
    N_WORDS = sizeof words / sizeof *words
};

static unsigned n_findings;

static void hear(void *user, const struct pfd_finding *finding)
{
    (void)user;
    ck_assert_int_eq(finding->kind, PFD_FINDING_bad_spirv);
    n_findings++;
}

/* The caller frees the module; its bytes are gone already. */
static struct pfd_spirv *open_bytes(const void *bytes, size_t n)
{
    struct guard guard = guard_new(bytes, n);
    struct pfd_spirv *m = NULL;
    struct pfd_error err;
    n_findings = 0;
    ck_assert_int_eq(
        pfd_spirv_open(guard.bytes, n, "test", hear, NULL, &m, &err), PFD_OK);
    guard_free(&guard);
    return m;
}

START_TEST(calls)
{
    struct pfd_spirv *m = open_bytes(words, sizeof words);
    struct pfd_spirv_call call;
    char name[16];
    ck_assert_uint_eq(n_findings, 0);
    ck_assert_uint_eq(pfd_spirv_call_count(m), 2);
    ck_assert_int_eq(pfd_spirv_call_get(m, 0, &call), PFD_OK);
    ck_assert_uint_eq(call.format_id, 4);
    ck_assert_uint_eq(call.offset, AT_CALL);
    ck_assert_uint_eq(call.n_operands, 1);
    ck_assert_uint_eq(call.n_text, 2);
    ck_assert_int_eq(memcmp(call.text, "%d", 2), 0);
    pfd_spirv_operand_name(m, 0, 0, name);
    ck_assert_str_eq(name, "i32");
    pfd_spirv_operand_name(m, 0, 1, name);
    ck_assert_str_eq(name, "?");
    ck_assert_int_eq(pfd_spirv_call_get(m, 2, &call), PFD_END);
    ck_assert_uint_eq(pfd_spirv_check(m, 0, NULL, NULL), 0);
    pfd_spirv_free(m);
}
END_TEST

START_TEST(byte_order)
{
    uint32_t swapped[N_WORDS];
    struct pfd_spirv_call call;
    for (size_t i = 0; i < N_WORDS; i++)
        swapped[i] = __builtin_bswap32(words[i]);
    struct pfd_spirv *m = open_bytes(swapped, sizeof swapped);
    ck_assert_int_eq(pfd_spirv_call_get(m, 0, &call), PFD_OK);
    ck_assert_int_eq(memcmp(call.text, "%d", 2), 0);
    ck_assert_uint_eq(call.place.line, 7);
    pfd_spirv_free(m);
}
END_TEST

/* The second call has the line, too: passes count a copy of it. */
START_TEST(numberings)
{
    struct pfd_spirv *m = open_bytes(words, sizeof words);
    uint32_t k = pfd_spirv_by_offset(m, AT_CALL);
    uint32_t first = pfd_spirv_counted(m, k);
    ck_assert_uint_ne(k, PFD_SPIRV_NONE);
    ck_assert_uint_eq(pfd_spirv_by_offset(m, AT_CALL + 1), PFD_SPIRV_NONE);
    ck_assert_uint_eq(first, k);
    ck_assert_uint_eq(pfd_spirv_counted(m, k + 1), first + 2);
    ck_assert_uint_eq(pfd_spirv_by_counted(m, first), k);
    ck_assert_uint_eq(pfd_spirv_by_counted(m, first + 1), PFD_SPIRV_NONE);
    ck_assert_uint_eq(pfd_spirv_by_counted(m, first + 2), k + 1);
    pfd_spirv_free(m);
}
END_TEST

START_TEST(lines)
{
    struct pfd_spirv *m = open_bytes(words, sizeof words);
    struct pfd_spirv_place place;
    struct pfd_spirv_line line;
    uint32_t k = pfd_spirv_by_offset(m, AT_CALL);
    pfd_spirv_place_of(m, k, &place);
    ck_assert_uint_eq(place.n_file, 3);
    ck_assert_int_eq(memcmp(place.file, "a.c", 3), 0);
    ck_assert_uint_eq(place.line, 7);
    ck_assert_uint_eq(place.column, 2);
    ck_assert_uint_eq(place.n_text, 1);
    ck_assert_int_eq(place.text[0], 'y');
    /* The line ends with the block; the layer's only with the function. */
    pfd_spirv_line(m, k + 3, PFD_LINE_TRUE, &line);
    ck_assert_uint_eq(line.k, PFD_SPIRV_NONE);
    pfd_spirv_line(m, k + 3, PFD_LINE_LAYER, &line);
    ck_assert_uint_eq(line.k, k - 1);
    pfd_spirv_free(m);
}
END_TEST

/* Of "x", "#line 7", "y": what the #line does not reach has no number. */
START_TEST(excerpt)
{
    struct pfd_spirv *m = open_bytes(words, sizeof words);
    struct pfd_spirv_place place;
    struct pfd_excerpt e;
    pfd_spirv_place_of(m, pfd_spirv_by_offset(m, AT_CALL), &place);
    ck_assert(pfd_spirv_excerpt(m, place.text, place.line, UINT32_MAX, &e));
    ck_assert_uint_eq(e.n, 3);
    ck_assert_uint_eq(e.marked, 2);
    ck_assert_uint_eq(e.lines[0].number, 0);
    ck_assert_uint_eq(e.lines[0].n, 1);
    ck_assert_int_eq(e.lines[0].text[0], 'x');
    ck_assert_uint_eq(e.lines[1].number, 0);
    ck_assert_uint_eq(e.lines[2].number, 7);
    ck_assert_ptr_eq(e.lines[2].text, place.text);
    ck_assert(pfd_spirv_excerpt(m, place.text, 7, 0, &e));
    ck_assert_uint_eq(e.n, 1);
    ck_assert_uint_eq(e.marked, 0);
    /* What is no beginning of a line of its own is nothing of its. */
    ck_assert(!pfd_spirv_excerpt(m, place.text + 1, 7, 1, &e) ||
              e.lines[e.marked].n == 0);
    ck_assert(!pfd_spirv_excerpt(m, place.text - 1, 7, 1, &e));
    ck_assert(!pfd_spirv_excerpt(m, "y", 7, 1, &e));
    ck_assert(!pfd_spirv_excerpt(m, NULL, 7, 1, &e));
    pfd_spirv_free(m);
}
END_TEST

START_TEST(stage)
{
    struct pfd_spirv *m = open_bytes(words, sizeof words);
    uint32_t model = 0;
    ck_assert(pfd_spirv_stage(m, &model));
    ck_assert_uint_eq(model, 5);
    pfd_spirv_free(m);
}
END_TEST

/* Every length: a module that ends anywhere is read as far as it goes. */
START_TEST(cut)
{
    for (size_t n = 4; n < sizeof words; n++) {
        struct pfd_spirv *m = open_bytes(words, n);
        struct pfd_spirv_call call;
        for (size_t i = 0; pfd_spirv_call_get(m, i, &call) == PFD_OK; i++)
            ck_assert_uint_lt(call.offset, n / 4);
        pfd_spirv_free(m);
    }
}
END_TEST

/* Every word in turn is 0, all ones, or claims a huge instruction. */
START_TEST(damaged)
{
    static const uint32_t damage[] = { 0, UINT32_MAX, 0xffff000c, 0x00010000 };
    for (size_t i = 1; i < N_WORDS; i++) {
        for (size_t d = 0; d < 4; d++) {
            uint32_t copy[N_WORDS];
            struct pfd_spirv_call call;
            memcpy(copy, words, sizeof copy);
            copy[i] = damage[d];
            struct pfd_spirv *m = open_bytes(copy, sizeof copy);
            for (size_t k = 0; pfd_spirv_call_get(m, k, &call) == PFD_OK; k++)
                pfd_spirv_check(m, k, NULL, NULL);
            pfd_spirv_free(m);
        }
    }
}
END_TEST

START_TEST(no_module)
{
    struct pfd_spirv *m = NULL;
    struct pfd_error err;
    ck_assert_int_eq(pfd_spirv_open("\177ELF", 4, "test", NULL, NULL, &m, &err),
                     PFD_ERR_UNSUPPORTED);
    ck_assert(!pfd_spirv_recognise("\3\2\43", 3));
    pfd_spirv_free(NULL);
}
END_TEST

/* Whatever a module says, its size says what it can take; a set asks for so
 * much, and counts what it is. */
START_TEST(memory)
{
    enum {
        ROOM = 256 << 10
    };
    struct pfd_spirv *m = open_bytes(words, sizeof words);
    ck_assert_uint_le(pfd_spirv_memory(m), 4096 + 16 * sizeof words);
    pfd_spirv_free(m);
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_shader_info info = { .bytes = words, .n_bytes = sizeof words };
    size_t before = pfd_strings_memory(strings);
    enum pfd_status status = PFD_OK;
    pfd_strings_set_room(strings, ROOM);
    for (; status == PFD_OK; info.id++) {
        status = pfd_strings_add_shader(strings, &info, NULL, NULL, NULL);
        ck_assert_uint_le(pfd_strings_memory(strings), before + ROOM);
        ck_assert_uint_lt(info.id, ROOM / sizeof words);
    }
    ck_assert_int_eq(status, PFD_ERR_NOMEM);
    ck_assert_uint_gt(info.id, 10);
    pfd_strings_free(strings);
}
END_TEST

int main(void)
{
    return suite_run("spirv",
                     TESTS(calls, byte_order, numberings, lines, excerpt, stage,
                           cut, damaged, no_module, memory),
                     60);
}
