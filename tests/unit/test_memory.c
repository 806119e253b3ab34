/* SPDX-License-Identifier: MIT */
/*
 * Each allocation of the library fails in turn: never a crash or a leak, but
 * PFD_ERR_NOMEM, or the same output where it can do without. The linker
 * sends malloc and its kin here (--wrap); those inside libelf, msgpack and the
 * C library are not touched.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "analysis/diff/diff.h"
#include "core/base/text.h"
#include "core/decode/string_loader.h"
#include "dump.h"
#include "suite.h"
#include "writer/scan.h"

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
char *__wrap_strdup(const char *s);

static atomic_long until; /* calls before the one that fails; < 0: never */
static atomic_bool did_fail;
static bool fail_on; /* that one and all after it */

static bool fails(void)
{
    long n = atomic_load(&until);
    if (n < 0)
        return false;
    if (n > 0) {
        atomic_fetch_sub(&until, 1);
        return false;
    }
    if (!fail_on)
        atomic_store(&until, -1);
    atomic_store(&did_fail, true);
    return true;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
    return fails() ? NULL : __real_realloc(p, n);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

static struct dump dump;
static struct build image;
static struct build archive;

/* An ELF file with format strings, and an archive of it. */
static void make_inputs(void)
{
    struct build map = { 0 };
    struct build notes = { 0 };
    build_map(&map, 1);
    build_text(&map, "amdpal.format_strings");
    build_map(&map, 2);
    build_text(&map, ".strings");
    build_array(&map, 40);
    for (unsigned i = 0; i < 40; i++) {
        build_map(&map, 4);
        build_text(&map, ".64bit_arguments");
        build_array(&map, 1);
        build_uint(&map, i % 2);
        build_text(&map, ".argument_count");
        build_uint(&map, 2);
        build_text(&map, ".index");
        build_uint(&map, 1000 + i / 3);
        build_text(&map, ".string");
        build_text(&map, i % 2 ? "a %d %v2f \xff" : "%s %c %d");
    }
    build_text(&map, ".version");
    build_uint(&map, 1);
    build_note(&notes, "AMDGPU", 32, &map);
    build_elf(&image,
              &(struct build_elf){ .notes = &notes, .section = ".note" });
    build_bytes(&archive, "!<arch>\n", 8);
    char size[16];
    snprintf(size, sizeof size, "%zu", image.n);
    build_member(&archive, "member.o/", size, image.bytes, image.n);
    build_free(&map);
    build_free(&notes);
}

static uint64_t written; /* a hash of what was */

static enum pfd_status load(void)
{
    struct pfd_error err;
    struct pfd_strings *strings = pfd_strings_new();
    if (!strings)
        return PFD_ERR_NOMEM;
    enum pfd_status status = pfd_strings_load(strings, image.bytes, image.n,
                                              "image", NULL, NULL, &err);
    if (status == PFD_OK) {
        status = pfd_strings_load(strings, archive.bytes, archive.n, "archive",
                                  NULL, NULL, &err);
    }
    if (status != PFD_OK && err.code != status)
        status = PFD_ERR_CORRUPT; /* not what the error says */
    if (status == PFD_OK)
        written = pfd_strings_count(strings);
    pfd_strings_free(strings);
    return status;
}

static enum pfd_status say_all(struct pfd_decoder *decoder)
{
    struct pfd_item *item;
    enum pfd_status status;
    while ((status = pfd_decoder_next(decoder, &item, NULL)) == PFD_OK) {
        size_t n = 0;
        if (!item->is_entry)
            continue;
        if (!pfd_entry_message(item->entry, &n) && n)
            return PFD_ERR_NOMEM;
        if (!pfd_entry_arguments(item->entry, &n) && n)
            return PFD_ERR_NOMEM;
    }
    return status == PFD_END ? PFD_OK : status;
}

static enum pfd_status decode(void)
{
    struct pfd_decoder *decoder = NULL;
    enum pfd_status status =
        pfd_decoder_new(dump.strings, NULL, "x", &decoder, NULL);
    if (status != PFD_OK)
        return status;
    pfd_decoder_view(decoder, dump.bytes.bytes, dump.bytes.n, 0, true, NULL);
    status = say_all(decoder);
    pfd_decoder_free(decoder);
    return status;
}

static bool drop(void *user, const void *bytes, size_t n)
{
    (void)user;
    for (size_t i = 0; i < n; i++)
        written = (written ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3;
    return true;
}

static void ignore(void *user, const struct pfd_finding *finding)
{
    (void)user;
    (void)finding;
}

static struct pfd_filter *new_filter(void)
{
    static const char *const any[] = { "." };
    struct pfd_filter *filter = NULL;
    const struct pfd_filter_spec spec = {
        .patterns = any,
        .n_patterns = 1,
        .sources = any,
        .where = "a0 != 77 || a1",
    };
    return pfd_filter_new(&spec, &filter, NULL) == PFD_OK ? filter : NULL;
}

static long read_bytes(void *user, void *ret, size_t n)
{
    size_t *at = user;
    size_t left = dump.bytes.n - *at;
    n = n < left ? n : left;
    if (n)
        memcpy(ret, dump.bytes.bytes + *at, n);
    *at += n;
    return (long)n;
}

static enum pfd_status convert_to(const char *output, bool stream,
                                  unsigned threads, bool with_match)
{
    uint64_t counts[64] = { 0 };
    uint64_t bytes[64] = { 0 };
    size_t at = 0;
    struct pfd_summary summary = { 0 };
    struct pfd_error err = { .code = PFD_OK };
    written = 0;
    struct pfd_filter *filter = with_match ? new_filter() : NULL;
    if (with_match && !filter)
        return PFD_ERR_NOMEM;
    struct pfd_convert convert = {
        .strings = dump.strings,
        .output = output,
        .threads = threads,
        .notes = true,
        .filter = filter,
        .write = drop,
        .finding = ignore,
        .string_entries = counts,
        .string_bytes = bytes,
    };
    enum pfd_status status =
        stream ? pfd_convert_stream(&convert, read_bytes, &at, &summary, &err)
               : pfd_convert_bytes(&convert, dump.bytes.bytes, dump.bytes.n,
                                   &summary, &err);
    pfd_filter_free(filter);
    /* libcheck allocates: assertions wait until nothing fails any more. */
    return err.code == status ? status : PFD_ERR_CORRUPT;
}

static enum pfd_status convert_json(void)
{
    return convert_to("json", false, 1, false);
}

static enum pfd_status convert_text(void)
{
    return convert_to("text", true, 1, true);
}

static enum pfd_status convert_threads(void)
{
    return convert_to("raw", true, 3, false);
}

static enum pfd_status add_and_list(void)
{
    uint8_t widths[8];
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_string_info info = { .text = "%d %v4f", .n_text = 7 };
    enum pfd_status status = strings ? PFD_OK : PFD_ERR_NOMEM;
    for (uint64_t i = 0; i < 300 && status == PFD_OK; i++) {
        info.id = i;
        status = pfd_strings_add(strings, &info, NULL, 0, NULL, NULL, NULL);
    }
    if (status == PFD_OK &&
        pfd_strings_widths(strings, 0, widths, 8) == SIZE_MAX)
        status = PFD_ERR_NOMEM;
    pfd_strings_free(strings);
    return status;
}

/* Calls of several shapes, each with a string of its own. */
static enum pfd_status scan(void)
{
    char source[64];
    void *out = NULL;
    size_t n;
    struct pfd_scan *scan = pfd_scan_new(NULL);
    enum pfd_status status = scan ? PFD_OK : PFD_ERR_NOMEM;
    for (int i = 0; i < 40 && status == PFD_OK; i++) {
        int n_source =
            snprintf(source, sizeof source,
                     "f();PFD_PRINTF(\"%d %%lf%.*s%%s\",1%.*s,\"\");", i,
                     i % 8 * 2, "%d%d%d%d%d%d%d", i % 8 * 2, ",1,1,1,1,1,1,1");
        status = pfd_scan_source(scan, PFD_SCAN_GLSL, "x", source,
                                 (size_t)n_source, &out, &n, NULL);
        free(out);
    }
    if (status == PFD_OK)
        status = pfd_scan_strings(scan, &out, &n, NULL);
    if (status == PFD_OK)
        free(out);
    pfd_scan_free(scan);
    return status;
}

/* A ring's description, whose messages are translated. */
static enum pfd_status describe(void)
{
    static const char text[] = "ring: x\n"
                               "counter: {at: 0, bits: 32, unit: 4, from: 4}\n"
                               "data: 4\n"
                               "text: braces\n"
                               "messages:\n"
                               "  - {text: \"{{}} {}\", types: [i32]}\n"
                               "  - {text: \"{1} {0:x}\", types: [i32, f32]}\n";
    struct pfd_error err = { .code = PFD_OK };
    struct pfd_strings *strings = pfd_strings_new();
    if (!strings)
        return PFD_ERR_NOMEM;
    enum pfd_status status = pfd_strings_load(strings, text, sizeof text - 1,
                                              "x.yaml", NULL, NULL, &err);
    if (status != PFD_OK && (status != err.code || !*err.text))
        status = PFD_ERR_CORRUPT; /* not what the error says */
    written = pfd_strings_count(strings);
    pfd_strings_free(strings);
    return status;
}

/* B has the first half of A's bytes. */
static enum pfd_status read_side(const struct pfd_convert *convert,
                                 struct pfd_diff *diff, enum pfd_diff_side side)
{
    struct pfd_summary summary = { 0 };
    size_t n = side == PFD_DIFF_A ? dump.bytes.n : dump.bytes.n / 2;
    pfd_diff_begin(diff, side, 0);
    return pfd_convert_bytes(convert, dump.bytes.bytes, n, &summary, NULL);
}

static enum pfd_status read_examples(struct pfd_convert *convert,
                                     struct pfd_diff *diff,
                                     enum pfd_diff_side side)
{
    convert->output = "text";
    convert->ranges = pfd_diff_examples(diff, side, 0, &convert->n_ranges);
    return !convert->ranges    ? PFD_ERR_NOMEM
           : convert->n_ranges ? read_side(convert, diff, side)
                               : PFD_OK;
}

static enum pfd_status write_diff(struct pfd_diff *diff)
{
    struct pfd_text text = { 0 };
    enum pfd_status status = pfd_diff_write(diff, false, false, &text);
    written = 0;
    drop(NULL, text.data, text.n);
    pfd_text_free(&text);
    return status;
}

static enum pfd_status compare_with(struct pfd_diff *diff)
{
    struct pfd_convert convert = {
        .strings = dump.strings,
        .threads = 1,
        .consumer = pfd_diff_consumer(diff),
    };
    enum pfd_status status = read_side(&convert, diff, PFD_DIFF_A);
    if (status == PFD_OK)
        status = read_side(&convert, diff, PFD_DIFF_B);
    if (status == PFD_OK || status == PFD_ERR_STOPPED)
        status = pfd_diff_end(diff, NULL);
    for (int side = 0; side < PFD_DIFF_SIDES && status == PFD_OK; side++)
        status = read_examples(&convert, diff, (enum pfd_diff_side)side);
    return status == PFD_OK ? write_diff(diff) : status;
}

static enum pfd_status compare(void)
{
    const struct pfd_diff_spec spec = {
        .strings = { dump.strings, dump.strings },
        .n_examples = 3,
    };
    struct pfd_diff *diff = NULL;
    enum pfd_status status = pfd_diff_new(&spec, &diff, NULL);
    if (status == PFD_OK)
        status = compare_with(diff);
    pfd_diff_free(diff);
    return status;
}

/* Without failure, then with failure number 0, 1, ... until none happens. */
static void try_all(enum pfd_status (*work)(void), bool may_hide)
{
    ck_assert_int_eq(work(), PFD_OK);
    uint64_t whole = written;
    for (int on = 0; on < 2; on++) {
        bool failed = true;
        fail_on = on;
        for (long n = 0; failed; n++) {
            atomic_store(&did_fail, false);
            atomic_store(&until, n);
            enum pfd_status status = work();
            atomic_store(&until, -1);
            failed = atomic_load(&did_fail);
            bool as_expected = (status == PFD_OK && (!failed || may_hide) &&
                                written == whole) ||
                               (status == PFD_ERR_NOMEM && failed);
            ck_assert_msg(as_expected, "allocation %ld%s: status %d", n,
                          on ? " and all later ones" : "", status);
        }
    }
}

static void prepare(size_t n_entries)
{
    dump_init(&dump, 11, n_entries);
    dump_damage(&dump);
    make_inputs();
}

static void clean(void)
{
    dump_deinit(&dump);
    build_free(&image);
    build_free(&archive);
}

START_TEST(loading)
{
    prepare(10);
    try_all(load, true);
    clean();
}
END_TEST

START_TEST(adding)
{
    try_all(add_and_list, false);
}
END_TEST

START_TEST(scanning)
{
    try_all(scan, false);
}
END_TEST

START_TEST(decoding)
{
    prepare(300);
    try_all(decode, false);
    clean();
}
END_TEST

START_TEST(converting)
{
    prepare(300);
    try_all(convert_json, true);
    try_all(convert_text, true);
    clean();
}
END_TEST

START_TEST(describing)
{
    try_all(describe, true);
}
END_TEST

START_TEST(comparing)
{
    prepare(100);
    try_all(compare, true);
    clean();
}
END_TEST

/* Where threads come and go, not every run makes the same calls. */
START_TEST(converting_on_threads)
{
    prepare(60000);
    ck_assert_int_eq(convert_threads(), PFD_OK);
    uint64_t whole = written;
    for (long n = 0; n < 60; n++) {
        fail_on = n % 2;
        atomic_store(&did_fail, false);
        atomic_store(&until, n / 2);
        enum pfd_status status = convert_threads();
        atomic_store(&until, -1);
        bool as_expected = status == PFD_OK ? written == whole
                                            : status == PFD_ERR_NOMEM &&
                                                  atomic_load(&did_fail);
        ck_assert(as_expected);
    }
    clean();
}
END_TEST

int main(void)
{
    atomic_init(&until, -1);
    return suite_run("memory",
                     TESTS(loading, adding, scanning, decoding, converting,
                           describing, comparing, converting_on_threads),
                     280);
}
