/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/strings.h>

#include "build.h"
#include "guard.h"
#include "suite.h"

static struct findings findings;

/* What was seen, one line for each code object. */
static char seen[4096];

static void say(const char *text, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *text, ...)
{
    size_t n = strlen(seen);
    va_list ap;
    va_start(ap, text);
    vsnprintf(seen + n, sizeof seen - n, text, ap);
    va_end(ap);
}

static const char *feature(enum pfd_feature f)
{
    static const char *const names[] = { "no", "any", "off", "on" };
    return names[f];
}

static enum pfd_status take(void *user, const struct pfd_object_info *o)
{
    (void)user;
    say("%s %s V%u %s %s %s %llu", o->kind, o->os ? o->os : "-", o->version,
        o->target ? o->target : "-", feature(o->xnack), feature(o->sramecc),
        (unsigned long long)o->n_strings);
    for (size_t i = 0; i < o->n_kernels; i++) {
        say(" %s:%lld:%lld", o->kernels[i].name,
            (long long)o->kernels[i].printf_buffer,
            (long long)o->kernels[i].hostcall_buffer);
    }
    say("%s\n", !o->why_none                      ? ""
                : strstr(o->why_none, "hostcall") ? " (hostcall)"
                : strstr(o->why_none, "metadata") ? " (stripped)"
                : strstr(o->why_none, "calls")    ? " (no printf)"
                                                  : " (other)");
    return PFD_OK;
}

static void look_at(const void *bytes, size_t n)
{
    struct guard guard = guard_new(bytes, n);
    seen[0] = '\0';
    findings_init(&findings);
    ck_assert_int_eq(pfd_objects_read(guard.bytes, n, "test", 0, take, NULL,
                                      findings.report.fn, &findings, NULL),
                     PFD_OK);
    guard_free(&guard);
}

/* An object with one note, of HSA and this ABI version and these flags. */
static void look(const char *owner, uint32_t type, const struct build *desc,
                 unsigned abi_version, uint32_t flags)
{
    struct build notes = { 0 };
    struct build elf = { 0 };
    build_note(&notes, owner, type, desc);
    build_elf(&elf, &(struct build_elf){ .notes = &notes, .section = ".note" });
    build_ehdr(&elf)->e_ident[7] = 64;
    build_ehdr(&elf)->e_ident[8] = (unsigned char)abi_version;
    build_ehdr(&elf)->e_flags = flags;
    look_at(elf.bytes, elf.n);
    build_free(&notes);
    build_free(&elf);
}

static void argument(struct build *b, const char *kind, uint64_t offset)
{
    build_map(b, 2);
    build_text(b, ".value_kind");
    build_text(b, kind);
    build_text(b, ".offset");
    build_uint(b, offset);
}

/* A document with n_rows of printf and one kernel that has these arguments. */
static struct build document(unsigned n_rows, const char *hidden)
{
    struct build b = { 0 };
    build_map(&b, 3);
    build_text(&b, "amdhsa.kernels");
    build_array(&b, 1);
    build_map(&b, 2);
    build_text(&b, ".name");
    build_text(&b, "k");
    build_text(&b, ".args");
    build_array(&b, hidden ? 2 : 1);
    argument(&b, "by_value", 0);
    if (hidden)
        argument(&b, hidden, 80);
    build_text(&b, "amdhsa.printf");
    build_array(&b, n_rows);
    for (unsigned i = 0; i < n_rows; i++)
        build_text(&b, "1:0:hello");
    build_text(&b, "amdhsa.target");
    build_text(&b, "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-");
    return b;
}

START_TEST(test_v3_to_v6)
{
    struct build doc = document(2, "hidden_printf_buffer");
    look("AMDGPU", 32, &doc, 1, 0x32c);
    ck_assert_str_eq(seen, "elf HSA V3 gfx900 on on 2 k:80:-1\n");
    look("AMDGPU", 32, &doc, 2, 0xe2f);
    ck_assert_str_eq(seen, "elf HSA V4 gfx906 off on 2 k:80:-1\n");
    look("AMDGPU", 32, &doc, 3, 0x36);
    ck_assert_str_eq(seen, "elf HSA V5 gfx1030 no no 2 k:80:-1\n");
    look("AMDGPU", 32, &doc, 4, 0x1000548);
    ck_assert_str_eq(seen, "elf HSA V6 gfx1200 any any 2 k:80:-1\n");
    look("AMDGPU", 32, &doc, 9, 0x5f);
    ck_assert_str_eq(seen, "elf HSA V11 gfx9-4-generic no no 2 k:80:-1\n");
    build_free(&doc);
}
END_TEST

START_TEST(test_target_without_machine)
{
    struct build doc = document(1, NULL);
    look("AMDGPU", 32, &doc, 3, 0xfe);
    ck_assert_str_eq(seen, "elf HSA V5 gfx90a no no 1 k:-1:-1\n");
    build_free(&doc);
}
END_TEST

START_TEST(test_no_table_is_explained)
{
    struct build doc = document(0, "hidden_hostcall_buffer");
    look("AMDGPU", 32, &doc, 3, 0x36);
    ck_assert_str_eq(seen, "elf HSA V5 gfx1030 no no 0 k:-1:80 (hostcall)\n");
    build_free(&doc);
    doc = document(0, NULL);
    look("AMDGPU", 32, &doc, 3, 0x36);
    ck_assert_str_eq(seen, "elf HSA V5 gfx1030 no no 0 k:-1:-1 (no printf)\n");
    build_free(&doc);
    build_text(&doc, "no map");
    look("else", 32, &doc, 3, 0x36);
    ck_assert_str_eq(seen, "elf HSA V5 gfx1030 no no 0 (stripped)\n");
    build_free(&doc);
}
END_TEST

/* V2: YAML, with sizes and alignments in place of offsets. */
START_TEST(test_v2)
{
    static const char yaml[] =
        "---\n"
        "Version: [ 1, 0 ]\n"
        "Printf: [ '1:1:4:%d\\n', \"2:0:caf\\u00e9\" ]\n"
        "Kernels:\n"
        "  - Name:       'a b'\n"
        "    Args:\n"
        "      - { Size: 1, Align: 1, ValueKind: ByValue }\n"
        "      - { Size: 8, Align: 8, ValueKind: HiddenGlobalOffsetX }\n"
        "      - { Size: 8, Align: 8, ValueKind: HiddenPrintfBuffer }\n"
        "  - Name:       plain\n"
        "...\n";
    struct build doc = { 0 };
    build_bytes(&doc, yaml, sizeof yaml); /* with its NUL */
    look("AMD", 10, &doc, 0, 0x2a);
    ck_assert_str_eq(seen, "elf HSA V2 gfx803 no no 2 a b:16:-1 plain:-1:-1\n");
    doc.n--;
    look("AMD", 10, &doc, 0, 0x12c);
    ck_assert_str_eq(seen, "elf HSA V2 gfx900 on no 2 a b:16:-1 plain:-1:-1\n");
    build_free(&doc);
}
END_TEST

START_TEST(test_v2_target_is_in_a_note)
{
    struct build doc = { 0 };
    build_bytes(&doc, "amdgcn-amd-amdhsa--gfx901", 25);
    look("AMD", 11, &doc, 0, 0);
    ck_assert_str_eq(seen, "elf HSA V2 gfx901 no no 0 (stripped)\n");
    build_free(&doc);
    build_bytes(&doc, "\4\0\7\0", 4);
    build_u32(&doc, 9);
    build_u32(&doc, 0);
    build_u32(&doc, 10);
    build_bytes(&doc, "AMD\0AMDGPU", 11);
    look("AMD", 3, &doc, 0, 0);
    ck_assert_str_eq(seen, "elf HSA V2 gfx90a no no 0 (stripped)\n");
    build_free(&doc);
}
END_TEST

START_TEST(test_other_kinds)
{
    look_at("\x03\x02\x23\x07xxxx", 8);
    ck_assert_str_eq(seen, "spirv - V0 - no no 0 (other)\n");
    look_at("BC\xc0\xdexxxx", 8);
    ck_assert_str_eq(seen, "bitcode - V0 - no no 0 (other)\n");
}
END_TEST

START_TEST(test_every_cut)
{
    struct build doc = document(2, "hidden_printf_buffer");
    struct build notes = { 0 };
    struct build elf = { 0 };
    build_note(&notes, "AMDGPU", 32, &doc);
    build_elf(&elf, &(struct build_elf){
                        .notes = &notes, .section = ".note", .segment = true });
    for (size_t n = 4; n <= elf.n; n++)
        look_at(elf.bytes, n);
    build_free(&doc);
    build_free(&notes);
    build_free(&elf);
}
END_TEST

int main(void)
{
    return suite_run("objects",
                     TESTS(test_v3_to_v6, test_target_without_machine,
                           test_no_table_is_explained, test_v2,
                           test_v2_target_is_in_a_note, test_other_kinds,
                           test_every_cut),
                     60);
}
