/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "build.h"
#include "guard.h"
#include "llpc/layout.h"
#include "suite.h"

static struct findings findings;
static struct pfd_strings *strings;
static struct build doc;
static struct build notes;
static struct build file;
static size_t n_rows;
static uint16_t machine;

static void setup(void)
{
    findings_init(&findings);
    strings = pfd_strings_new();
    ck_assert_ptr_nonnull(strings);
    n_rows = 0;
    machine = 0;
}

static void teardown(void)
{
    pfd_strings_free(strings);
    build_free(&doc);
    build_free(&notes);
    build_free(&file);
}

/* Puts doc into an ELF file, unless notes has something already, and loads
 * it. */
static void load(void)
{
    if (notes.n == 0)
        build_note(&notes, "AMDGPU", 32, &doc);
    build_elf(&file, &(struct build_elf){ .notes = &notes,
                                          .section = ".note",
                                          .machine = machine });
    struct guard guard = guard_new(file.bytes, file.n);
    struct pfd_image *image;
    ck_assert_int_eq(
        pfd_image_open(guard.bytes, guard.n, &image, &findings.report, NULL),
        PFD_OK);
    ck_assert_int_eq(llpc_load(pfd_format_find("llpc"), image, strings,
                               &findings.report, &n_rows, NULL),
                     PFD_OK);
    pfd_image_free(image);
    guard_free(&guard);
}

/* The document up to its rows. */
static void start_version(size_t rows, uint64_t version)
{
    build_map(&doc, 2);
    build_text(&doc, "amdpal.format_strings");
    build_map(&doc, 3);
    build_text(&doc, ".user_data_offset");
    build_uint(&doc, 4);
    build_text(&doc, ".version");
    build_uint(&doc, version);
    build_text(&doc, ".strings");
    build_array(&doc, rows);
}

static void start(size_t rows)
{
    start_version(rows, 1);
}

/* And what follows them. */
static void finish(void)
{
    build_text(&doc, "amdpal.version");
    build_array(&doc, 2);
    build_uint(&doc, 2);
    build_uint(&doc, 6);
}

/* A row as LLPC writes it; the mask is one word. */
static void row(uint64_t id, const char *text, uint64_t n_arguments,
                uint64_t mask)
{
    build_map(&doc, 4);
    build_text(&doc, ".64bit_arguments");
    build_array(&doc, n_arguments > 0);
    if (n_arguments > 0)
        build_uint(&doc, mask);
    build_text(&doc, ".argument_count");
    build_uint(&doc, n_arguments);
    build_text(&doc, ".index");
    build_uint(&doc, id);
    build_text(&doc, ".string");
    build_text(&doc, text);
}

static const struct pfd_string *find(uint64_t id)
{
    return pfd_table_find(
        pfd_strings_table(strings, &pfd_format_find("llpc")->strings), id);
}

static void assert_text(uint64_t id, const char *text)
{
    const struct pfd_string *s = find(id);
    ck_assert_ptr_nonnull(s);
    ck_assert_uint_eq(s->n_text, strlen(text));
    ck_assert_int_eq(memcmp(pfd_string_text(s), text, s->n_text), 0);
}

/* One finding of one kind and nothing else. */
static void assert_finding(enum pfd_finding_kind kind, const char *text)
{
    ck_assert_int_eq(findings.n_all, 1);
    ck_assert_int_eq(findings.n[kind], 1);
    if (!strstr(findings.last.text, text))
        ck_abort_msg("'%s' is not in '%s'", text, findings.last.text);
    ck_assert_uint_lt(findings.last.offset, file.n);
}

START_TEST(test_two_rows)
{
    start(2);
    row(0x123456789abc, "Output:%d\n", 1, 0);
    row(0xdeadbeef1122, "size:%f,%f\n", 2, 3);
    finish();
    load();
    ck_assert_int_eq(findings.n_all, 0);
    ck_assert_uint_eq(n_rows, 2);
    assert_text(0x123456789abc, "Output:%d\n");
    assert_text(0xdeadbeef1122, "size:%f,%f\n");
    ck_assert_uint_eq(find(0x123456789abc)->n_layout, 0);
    ck_assert_uint_eq(find(0x123456789abc)->n_arguments, 1);
    ck_assert_uint_eq(find(0xdeadbeef1122)->n_layout, 1);
    ck_assert_uint_eq(pfd_string_layout(find(0xdeadbeef1122))[0], 3);
}
END_TEST

/* One terminator is part of LLPC's strings; more are the program's. */
START_TEST(test_terminator)
{
    start(1);
    build_map(&doc, 2);
    build_text(&doc, ".index");
    build_uint(&doc, 7);
    build_text(&doc, ".string");
    build_text_n(&doc, "a\0\0", 3);
    finish();
    load();
    ck_assert_uint_eq(find(7)->n_text, 2);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_nil_is_empty_text)
{
    start(1);
    build_map(&doc, 2);
    build_text(&doc, ".index");
    build_uint(&doc, 7);
    build_text(&doc, ".string");
    build_nil(&doc);
    finish();
    load();
    assert_text(7, "");
    ck_assert_uint_eq(find(7)->n_arguments, 0);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_other_encodings)
{
    start(1);
    build_bytes(&doc, "\xdf\0\0\0\x02", 5);
    build_bytes(&doc, "\xdb\0\0\0\x06.index", 11);
    build_bytes(&doc, "\xd3\0\0\x01\x23\x45\x67\x89\xab", 9);
    build_text(&doc, ".string");
    build_bytes(&doc, "\xc4\x03one", 5);
    finish();
    load();
    assert_text(0x0123456789ab, "one");
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_unknown_keys)
{
    start(1);
    build_map(&doc, 4);
    build_uint(&doc, 5);
    build_array(&doc, 1);
    build_map(&doc, 0);
    build_text(&doc, ".index");
    build_uint(&doc, 7);
    build_text(&doc, ".file");
    build_text(&doc, "a.comp");
    build_text(&doc, ".string");
    build_text(&doc, "x");
    finish();
    load();
    assert_text(7, "x");
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

/* Rows like the one before them, and others: keys in any order and number. */
START_TEST(test_rows_differ)
{
    static const char *const orders[] = { "iscm", "iscm",  "mcis",
                                          "si",   "iscmo", "iosmc",
                                          "iscm", "is",    "sicom" };
    enum {
        N = sizeof orders / sizeof *orders
    };
    start(N);
    for (size_t i = 0; i < N; i++) {
        build_map(&doc, strlen(orders[i]));
        for (const char *o = orders[i]; *o; o++) {
            build_text(&doc, *o == 'i'   ? ".index"
                             : *o == 's' ? ".string"
                             : *o == 'c' ? ".argument_count"
                             : *o == 'm' ? ".64bit_arguments"
                                         : ".other");
            if (*o == 's') {
                build_text(&doc, "x %d");
            } else if (*o == 'm') {
                build_array(&doc, 1);
                build_uint(&doc, 1);
            } else {
                build_uint(&doc, *o == 'c' ? 1 : 100 + i);
            }
        }
    }
    finish();
    load();
    ck_assert_uint_eq(n_rows, N);
    for (size_t i = 0; i < N; i++) {
        bool has_mask = strchr(orders[i], 'm');
        assert_text(100 + i, "x %d");
        ck_assert_uint_eq(find(100 + i)->n_arguments,
                          strchr(orders[i], 'c') != NULL);
        ck_assert_uint_eq(find(100 + i)->n_layout, has_mask);
    }
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_version)
{
    start_version(1, 2);
    row(7, "x", 0, 0);
    finish();
    load();
    assert_text(7, "x");
    assert_finding(PFD_FINDING_version, "is 2, expected 1");
}
END_TEST

START_TEST(test_no_version)
{
    build_map(&doc, 1);
    build_text(&doc, "amdpal.format_strings");
    build_map(&doc, 1);
    build_text(&doc, ".strings");
    build_array(&doc, 1);
    row(7, "x", 0, 0);
    load();
    assert_text(7, "x");
    assert_finding(PFD_FINDING_version, "is missing");
}
END_TEST

START_TEST(test_no_table)
{
    switch (_i) {
    case 0: /* other metadata */
        build_map(&doc, 1);
        build_text(&doc, "amdhsa.version");
        build_nil(&doc);
        break;
    case 1: /* no map at all */
        build_array(&doc, 1);
        build_uint(&doc, 1);
        break;
    case 2: /* nothing in it */
        start(0);
        finish();
        break;
    default:
        build_uint(&doc, 1);
        break;
    }
    load();
    ck_assert_uint_eq(n_rows, 0);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_table_of_wrong_kind)
{
    build_map(&doc, 1);
    build_text(&doc, "amdpal.format_strings");
    if (_i == 0) {
        build_array(&doc, 0);
    } else {
        build_map(&doc, 2);
        build_text(&doc, ".version");
        build_uint(&doc, 1);
        build_text(&doc, ".strings");
        build_map(&doc, 0);
    }
    load();
    assert_finding(PFD_FINDING_bad_string_row, "expected");
}
END_TEST

/* One row: a value in place of another; then a good one. */
static void odd_row(const char *key, const char *value, size_t n)
{
    static const char *const keys[] = { ".index", ".string", ".argument_count",
                                        ".64bit_arguments" };
    start(2);
    build_map(&doc, 4);
    for (int i = 0; i < 4; i++) {
        build_text(&doc, keys[i]);
        if (strcmp(keys[i], key) == 0) {
            build_bytes(&doc, value, n);
        } else if (i == 1) {
            build_text(&doc, "odd");
        } else if (i == 3) {
            build_array(&doc, 0);
        } else {
            build_uint(&doc, 0);
        }
    }
    row(7, "good", 0, 0);
    finish();
    load();
    assert_text(7, "good");
}

START_TEST(test_bad_row)
{
    static const struct {
        const char *key;
        const char *value;
        size_t n;
        const char *text;
    } cases[] = {
        { ".index", "\xa1x", 2, "'.index' is text, expected an integer" },
        { ".index", "\xc3", 1, "'.index' is a boolean" },
        { ".index", "\xc0", 1, "'.index' is nil" },
        { ".string", "\x05", 1, "'.string' is an integer, expected text" },
        { ".string", "\x90", 1, "'.string' is an array" },
        { ".argument_count", "\xa0", 1, "'.argument_count' is text" },
        { ".argument_count", "\xc0", 1, "'.argument_count' is nil" },
        { ".argument_count", "\xff", 1, "'.argument_count' is -1" },
        { ".64bit_arguments", "\x05", 1, "expected an array" },
        { ".64bit_arguments", "\x91\xa0", 2, "expected integers only" },
    };
    odd_row(cases[_i].key, cases[_i].value, cases[_i].n);
    ck_assert_uint_eq(n_rows, 1);
    assert_finding(PFD_FINDING_bad_string_row, cases[_i].text);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "row 0"));
    ck_assert_uint_gt(findings.last.offset, 64);
}
END_TEST

START_TEST(test_row_is_no_map)
{
    start(2);
    build_uint(&doc, 5);
    row(7, "good", 0, 0);
    finish();
    load();
    assert_text(7, "good");
    assert_finding(PFD_FINDING_bad_string_row, "is an integer, expected a map");
    ck_assert_uint_eq(findings.last.offset, 64); /* the note */
}
END_TEST

START_TEST(test_abort_message)
{
    start(1);
    build_map(&doc, 3);
    build_text(&doc, ".index");
    build_uint(&doc, 7);
    build_text(&doc, ".is_abort_message");
    build_uint(&doc, 1);
    build_text(&doc, ".data_count");
    build_uint(&doc, 2);
    finish();
    load();
    ck_assert_uint_eq(n_rows, 1);
    assert_text(7, "shader abort message of 2 dwords, 0 constant");
}
END_TEST

START_TEST(test_wide_index)
{
    static const uint64_t ids[] = { UINT64_C(1) << 48, UINT64_MAX };
    start(1);
    row(ids[_i], "x", 0, 0);
    finish();
    load();
    ck_assert_uint_eq(n_rows, 1);
    ck_assert_uint_eq(pfd_strings_count(strings), 0);
    assert_finding(PFD_FINDING_wide_index, "48 bits");
}
END_TEST

START_TEST(test_widest_index)
{
    start(1);
    row((UINT64_C(1) << 48) - 1, "x", 0, 0);
    finish();
    load();
    assert_text((UINT64_C(1) << 48) - 1, "x");
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_short_mask)
{
    static const uint64_t counts[] = { 65, 128, UINT64_C(1) << 63, UINT64_MAX };
    start(1);
    row(7, "%d", counts[_i], 1);
    finish();
    load();
    ck_assert_uint_eq(pfd_string_layout(find(7))[0], 1);
    assert_finding(PFD_FINDING_short_bitmask, "bits for 64");
}
END_TEST

static void masked_row(uint64_t id, uint64_t n_arguments, size_t n_words,
                       const uint64_t *words)
{
    build_map(&doc, 4);
    build_text(&doc, ".index");
    build_uint(&doc, id);
    build_text(&doc, ".string");
    build_text(&doc, "x");
    build_text(&doc, ".argument_count");
    build_uint(&doc, n_arguments);
    build_text(&doc, ".64bit_arguments");
    build_array(&doc, n_words);
    for (size_t i = 0; i < n_words; i++)
        build_uint(&doc, words[i]);
}

/* The same layout, written differently, is the same: no collision. */
START_TEST(test_equal_masks)
{
    start(5);
    masked_row(7, 65, 2, (uint64_t[]){ 5, 0 });
    masked_row(7, 65, 3, (uint64_t[]){ 5, 0, 9 });
    masked_row(7, 65, 2, (uint64_t[]){ 5, UINT64_MAX - 1 });
    masked_row(8, 64, 1, (uint64_t[]){ UINT64_MAX });
    masked_row(9, 65, 2, (uint64_t[]){ 0, UINT64_MAX });
    finish();
    load();
    ck_assert_int_eq(findings.n_all, 0);
    ck_assert_uint_eq(pfd_strings_count(strings), 3);
    ck_assert_uint_eq(find(7)->n_layout, 1);
    ck_assert_uint_eq(pfd_string_layout(find(7))[0], 5);
    ck_assert_uint_eq(pfd_string_layout(find(8))[0], UINT64_MAX);
    ck_assert_uint_eq(find(9)->n_layout, 2);
    ck_assert_uint_eq(pfd_string_layout(find(9))[0], 0);
    ck_assert_uint_eq(pfd_string_layout(find(9))[1], 1);
}
END_TEST

/* A mask longer than that of any entry is cut, not believed. */
START_TEST(test_huge_mask)
{
    enum {
        N = 3000
    };
    uint64_t *words = malloc(N * sizeof *words);
    memset(words, 255, N * sizeof *words);
    start(1);
    masked_row(7, UINT64_C(64) * N, N, words);
    free(words);
    finish();
    load();
    ck_assert_uint_eq(find(7)->n_layout, 1024);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_collision)
{
    start(3);
    row(7, "one", 0, 0);
    row(7, "one", 0, 0);
    row(7, "two", 0, 0);
    finish();
    load();
    ck_assert_uint_eq(pfd_strings_count(strings), 2);
    ck_assert_int_eq(findings.n_all, 1);
    ck_assert_int_eq(findings.n[PFD_FINDING_collision], 1);
    assert_text(7, "one");
}
END_TEST

START_TEST(test_key_twice)
{
    static const char *const keys[] = { ".version", ".index" };
    build_map(&doc, 1);
    build_text(&doc, "amdpal.format_strings");
    build_map(&doc, 3);
    build_text(&doc, ".version");
    build_uint(&doc, 1);
    build_text(&doc, _i == 0 ? ".version" : ".other");
    build_uint(&doc, 9);
    build_text(&doc, ".strings");
    build_array(&doc, 1);
    build_map(&doc, 3);
    build_text(&doc, ".index");
    build_uint(&doc, 7);
    build_text(&doc, _i == 1 ? ".index" : ".other");
    build_uint(&doc, 8);
    build_text(&doc, ".string");
    build_text(&doc, "x");
    load();
    assert_text(7, "x");
    assert_finding(PFD_FINDING_duplicate_key, keys[_i]);
}
END_TEST

START_TEST(test_two_notes)
{
    start(1);
    row(7, "one", 0, 0);
    finish();
    build_note(&notes, "AMDGPU", 32, &doc);
    build_free(&doc);
    start(1);
    row(8, "two", 0, 0);
    finish();
    build_note(&notes, "AMDGPU", 32, &doc);
    load();
    ck_assert_uint_eq(n_rows, 2);
    assert_text(7, "one");
    assert_text(8, "two");
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_other_notes)
{
    start(1);
    row(7, "x", 0, 0);
    finish();
    build_note(&notes, "OTHER", 32, &doc);
    build_note(&notes, "AMDGPU", 33, &doc);
    build_note(&notes, "AMDGPUX", 32, &doc);
    build_note(&notes, "AMD", 32, &doc);
    load();
    ck_assert_uint_eq(n_rows, 0);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_wrong_machine)
{
    start(2);
    row(7, "x", 0, 0);
    row(8, "y", 0, 0);
    finish();
    machine = 62;
    load();
    ck_assert_uint_eq(n_rows, 2);
    ck_assert_uint_eq(pfd_strings_count(strings), 0);
    assert_finding(PFD_FINDING_wrong_machine, "machine 62, expected 224");
}
END_TEST

START_TEST(test_other_machine_without_table)
{
    build_map(&doc, 0);
    machine = 62;
    load();
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_bytes_after_the_map)
{
    start(1);
    row(7, "x", 0, 0);
    finish();
    size_t n = doc.n;
    build_bytes(&doc, "\x01\x02", 2);
    load();
    assert_text(7, "x");
    assert_finding(PFD_FINDING_msgpack_tail, "2 bytes after");
    ck_assert_uint_eq(findings.last.offset, 64 + 20 + n);
}
END_TEST

/* The place is that of the object that is wrong. */
START_TEST(test_broken_document)
{
    static const struct {
        const char *bytes;
        size_t n;
        uint64_t at;
    } cases[] = {
        { "\x82\xa1x\xc1\xa1y\x01", 7, 3 },
        { "\x81\xa1x\xdd\xff\xff\xff\xff\x01", 9, 3 },
        { "\x81\xa1x", 3, 3 },
        { "", 0, 0 },
    };
    build_bytes(&doc, cases[_i].bytes, cases[_i].n);
    load();
    ck_assert_uint_eq(n_rows, 0);
    ck_assert_int_eq(findings.n[PFD_FINDING_msgpack], 1);
    ck_assert_int_eq(findings.n_all, 1);
    ck_assert_uint_eq(findings.last.offset, 64 + 20 + cases[_i].at);
}
END_TEST

START_TEST(test_too_deep)
{
    build_map(&doc, 1);
    build_text(&doc, "x");
    for (int i = 0; i < 100000; i++)
        build_array(&doc, 1);
    build_uint(&doc, 0);
    load();
    assert_finding(PFD_FINDING_msgpack, "32 levels");
}
END_TEST

START_TEST(test_every_cut_of_the_document)
{
    start(2);
    row(7, "x", 3, 5);
    row(8, "y", 0, 0);
    finish();
    struct build whole = doc;
    for (size_t n = 0; n < whole.n; n++) {
        doc.n = n;
        build_free(&notes);
        build_free(&file);
        load();
    }
    ck_assert_uint_eq(pfd_strings_count(strings), 0);
    ck_assert_int_eq(findings.n_all, (int)whole.n);
    ck_assert_int_eq(findings.n[PFD_FINDING_msgpack], (int)whole.n);
}
END_TEST

START_TEST(test_truncated_note)
{
    start(1);
    row(7, "x", 0, 0);
    finish();
    build_note(&notes, "AMDGPU", 32, &doc);
    memset(notes.bytes + 4, 255, 4);
    load();
    ck_assert_uint_eq(n_rows, 0);
    assert_finding(PFD_FINDING_note_truncated, "runs past the end");
}
END_TEST

static void hear_cut(void *user, const struct pfd_finding *finding)
{
    bool *is_named = user;
    *is_named |= strstr(finding->text, "section headers") != NULL;
}

/* Also one behind all strings: another file may have been meant. */
START_TEST(test_every_cut_of_the_file)
{
    size_t n_loaded = 0;
    start(1);
    row(7, "seven %d", 1, 0);
    finish();
    build_note(&notes, "AMDGPU", 32, &doc);
    build_elf(&file, &(struct build_elf){ .notes = &notes,
                                          .section = ".note",
                                          .segment = true });
    for (size_t n = sizeof(Elf64_Ehdr); n <= file.n; n++) {
        struct guard guard = guard_new(file.bytes, n);
        struct pfd_strings *own = pfd_strings_new();
        bool is_named = false;
        ck_assert_ptr_nonnull(own);
        ck_assert_int_eq(pfd_strings_load(own, guard.bytes, guard.n, "a file",
                                          hear_cut, &is_named, NULL),
                         PFD_OK);
        ck_assert_int_eq(is_named, n < file.n);
        n_loaded += pfd_strings_count(own);
        pfd_strings_free(own);
        guard_free(&guard);
    }
    ck_assert_uint_gt(n_loaded, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("llpc_strings");
    TCase *tcase = tcase_create("llpc_strings");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, test_two_rows);
    tcase_add_test(tcase, test_terminator);
    tcase_add_test(tcase, test_nil_is_empty_text);
    tcase_add_test(tcase, test_other_encodings);
    tcase_add_test(tcase, test_unknown_keys);
    tcase_add_test(tcase, test_rows_differ);
    tcase_add_test(tcase, test_version);
    tcase_add_test(tcase, test_no_version);
    tcase_add_loop_test(tcase, test_no_table, 0, 4);
    tcase_add_loop_test(tcase, test_table_of_wrong_kind, 0, 2);
    tcase_add_loop_test(tcase, test_bad_row, 0, 10);
    tcase_add_test(tcase, test_row_is_no_map);
    tcase_add_test(tcase, test_abort_message);
    tcase_add_loop_test(tcase, test_wide_index, 0, 2);
    tcase_add_test(tcase, test_widest_index);
    tcase_add_loop_test(tcase, test_short_mask, 0, 4);
    tcase_add_test(tcase, test_equal_masks);
    tcase_add_test(tcase, test_huge_mask);
    tcase_add_test(tcase, test_collision);
    tcase_add_loop_test(tcase, test_key_twice, 0, 2);
    tcase_add_test(tcase, test_two_notes);
    tcase_add_test(tcase, test_other_notes);
    tcase_add_test(tcase, test_wrong_machine);
    tcase_add_test(tcase, test_other_machine_without_table);
    tcase_add_test(tcase, test_bytes_after_the_map);
    tcase_add_loop_test(tcase, test_broken_document, 0, 4);
    tcase_add_test(tcase, test_too_deep);
    tcase_add_test(tcase, test_every_cut_of_the_document);
    tcase_add_test(tcase, test_truncated_note);
    tcase_add_test(tcase, test_every_cut_of_the_file);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
