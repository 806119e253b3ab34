/* SPDX-License-Identifier: MIT */
/* Rows as PFD_PRINTF leaves them, entries that say that they are whole, and
 * the control block. Rows and commit words are made by code of the test's
 * own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <check.h>

#include <printfdecode/printfdecode.h>
#include <printfdecode/sites.h>
#include <printfdecode/tail.h>

#include "core/base/text.h"
#include "core/objects/site_rows.h"
#include "llpc/layout.h"
#include "suite.h"

#define MS UINT64_C(1000000)

enum {
    N_BUFFER = 4096,
    N_ENTRY = 16, /* header, one argument, commit word */
};

static uint64_t fnv(uint64_t h, const uint8_t *p, size_t n)
{
    while (n--)
        h = (h ^ *p++) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t finish_hash(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (h ^ h >> 33) >> 16 | UINT64_C(1) << 47;
}

static void sign(uint8_t *row, size_t n)
{
    uint64_t h = fnv(UINT64_C(0xcbf29ce484222325), row + 8, 8);
    uint64_t id = finish_hash(fnv(h, row + 24, n - 24));
    memcpy(row + 16, &id, 8);
}

/* A row behind those in out; returns its id. */
static uint64_t add_row(struct pfd_text *out, const char *types,
                        const char *text, unsigned flags, uint32_t line)
{
    uint8_t row[512] = { 0x89, 'P', 'F', 'D', 'R', 'O', 'W', '\n' };
    size_t n_types = strlen(types);
    size_t n_text = strlen(text);
    uint32_t n = (uint32_t)(32 + (n_types + n_text + 4 + 7) / 8 * 8);
    uint64_t id = 0;
    memcpy(row + 8, &n, 4);
    row[12] = 1;
    row[13] = (uint8_t)(line % 6);
    row[14] = (uint8_t)flags;
    row[15] = (uint8_t)n_types;
    memcpy(row + 24, &line, 4);
    row[28] = (uint8_t)n_text;
    row[30] = 4;
    memcpy(row + 32, types, n_types);
    memcpy(row + 32 + n_types, text, n_text);
    memcpy(row + 32 + n_types + n_text, "a.cu", 4);
    sign(row, n);
    memcpy(&id, row + 16, 8);
    pfd_text_add(out, (const char *)row, n);
    return id;
}

static struct pfd_strings *load(const struct pfd_text *object)
{
    struct pfd_strings *strings = pfd_strings_new();
    ck_assert_int_eq(pfd_strings_load(strings, object->data, object->n, "rows",
                                      NULL, NULL, NULL),
                     PFD_OK);
    return strings;
}

static size_t count_rows(const void *bytes, size_t n)
{
    struct pfd_byte_reader c = pfd_byte_reader(bytes, n);
    struct pfd_site_row row;
    size_t at = 0;
    size_t ret = 0;
    while (pfd_site_row_next(&c, &at, &row))
        ret++;
    return ret;
}

START_TEST(test_found)
{
    struct pfd_text out = { 0 };
    pfd_text_puts(&out, "abc");
    add_row(&out, "if", "%d %f", 0, 7);
    pfd_text_puts(&out, "\x89PFDROW\n and nothing behind it");
    add_row(&out, "", "text", 0, 8);
    ck_assert_uint_eq(count_rows(out.data, out.n), 2);
    for (size_t n = 0; n < out.n; n++) {
        void *cut = malloc(n ? n : 1); /* a read beyond it is seen */
        memcpy(cut, out.data, n);
        ck_assert_uint_le(count_rows(cut, n), 1);
        free(cut);
    }
    pfd_text_free(&out);
}
END_TEST

/* Whichever bit is another one, it is no row. */
START_TEST(test_damaged)
{
    struct pfd_text out = { 0 };
    add_row(&out, "uI", "%u %lld\n", 2, 77);
    for (size_t i = 0; i < 8 * out.n; i++) {
        out.data[i / 8] ^= (char)(1 << i % 8);
        ck_assert_uint_eq(count_rows(out.data, out.n), 0);
        out.data[i / 8] ^= (char)(1 << i % 8);
    }
    pfd_text_free(&out);
}
END_TEST

/* What a later version may have is said and not read. */
START_TEST(test_unknown)
{
    struct pfd_text out = { 0 };
    pfd_rows_begin_file(&out);
    add_row(&out, "i", "%d of later flags\n", 8, 1);
    add_row(&out, "x", "%d of a later type\n", 0, 2);
    add_row(&out, "i", "%d\n", 0, 3);
    pfd_rows_finish_file(&out);
    struct pfd_strings *strings = load(&out);
    struct pfd_string_info info;
    ck_assert_uint_eq(pfd_strings_count(strings), 1);
    ck_assert_int_eq(pfd_strings_get(strings, 0, &info), PFD_OK);
    ck_assert_uint_eq(info.n_text, 3);
    pfd_strings_free(strings);
    pfd_text_free(&out);
}
END_TEST

/* ---- entries that say that they are whole ---- */

static struct world {
    uint8_t bytes[N_BUFFER];
    uint64_t id;
    struct pfd_text out;
    struct pfd_text notes;
    struct pfd_tail *tail;
    struct pfd_strings *strings;
    uint64_t now;
} w;

static long read_bytes(void *user, uint64_t offset, void *bytes, size_t n)
{
    if (offset >= N_BUFFER)
        return 0;
    n = n < N_BUFFER - offset ? n : N_BUFFER - (size_t)offset;
    memcpy(bytes, w.bytes + offset, n);
    return (long)n;
}

static void take(void *user, const struct pfd_tail_item *item)
{
    size_t n = 0;
    if (!item->is_entry) {
        pfd_text_printf(&w.notes, "%s ", pfd_finding_name(item->finding->kind));
        return;
    }
    const char *text = pfd_entry_message(item->entry, &n);
    pfd_text_add(&w.out, text, n);
    if (item->entry->findings)
        pfd_text_puts(&w.notes, "+late ");
}

static void setup(void)
{
    struct pfd_text object = { 0 };
    w = (struct world){ .now = 5000 * MS };
    pfd_rows_begin_file(&object);
    w.id = add_row(&object, "u", "%u\n", PFD_ROW_COMMIT, 5);
    pfd_rows_finish_file(&object);
    w.strings = load(&object);
    pfd_text_free(&object);
    struct pfd_tail_options o = {
        .strings = w.strings,
        .format = "llpc",
        .settle_ns = MS,
        .read = read_bytes,
        .item = take,
    };
    ck_assert_int_eq(pfd_tail_new(&o, &w.tail, NULL), PFD_OK);
}

static void teardown(void)
{
    pfd_tail_free(w.tail);
    pfd_strings_free(w.strings);
    pfd_text_free(&w.out);
    pfd_text_free(&w.notes);
}

/* MurmurHash3, 32 bits, over three dwords. */
static uint32_t murmur(const uint32_t *words, uint32_t seed)
{
    uint32_t h = seed;
    for (int i = 0; i < 3; i++) {
        uint32_t k = words[i] * UINT32_C(0xcc9e2d51);
        k = (k << 15 | k >> 17) * UINT32_C(0x1b873593);
        h ^= k;
        h = (h << 13 | h >> 19) * 5 + UINT32_C(0xe6546b64);
    }
    h ^= 12;
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

static void reserve(uint32_t n)
{
    uint64_t dwords;
    memcpy(&dwords, w.bytes, 8);
    dwords += n * N_ENTRY / 4;
    memcpy(w.bytes, &dwords, 8);
}

/* Writes the first dwords of entry i. */
static void write_entry(uint32_t i, unsigned n_dwords)
{
    uint64_t header = w.id << 16 | N_ENTRY / 4;
    uint32_t words[4] = { (uint32_t)header, (uint32_t)(header >> 32), i };
    words[3] = murmur(words, i * N_ENTRY / 4);
    memcpy(w.bytes + 16 + i * N_ENTRY, words, 4 * (size_t)n_dwords);
}

static void look(uint64_t after_ns)
{
    w.now += after_ns;
    ck_assert_int_ge(pfd_tail_poll(w.tail, N_BUFFER, w.now, NULL), 0);
}

static void expect(const char *out, const char *notes)
{
    pfd_text_add(&w.out, "", 1);
    pfd_text_add(&w.notes, "", 1);
    ck_assert_str_eq(w.out.data, out);
    ck_assert_str_eq(w.notes.data, notes);
    w.out.n = 0;
    w.notes.n = 0;
}

START_TEST(test_at_once)
{
    reserve(3);
    write_entry(0, 4);
    write_entry(1, 4);
    look(MS);
    expect("0\n1\n", "");
    write_entry(2, 4);
    look(MS);
    expect("2\n", "");
}
END_TEST

/* However it stands there in parts, and for longer than settle. */
START_TEST(test_torn)
{
    look(MS);
    reserve(3);
    for (unsigned n = 0; n < 4; n++) {
        write_entry(0, n);
        write_entry(1, 4);
        for (int i = 0; i < 100; i++)
            look(4 * MS);
        expect("", "");
    }
    write_entry(0, 4);
    look(MS);
    expect("0\n1\n", "");
    /* Two seconds, and it is given up; then it comes. */
    write_entry(2, 3);
    for (int i = 0; i < 1100; i++)
        look(2 * MS);
    expect("", "unwritten ");
    write_entry(2, 4);
    for (int i = 0; i < 10; i++)
        look(MS);
    expect("2\n", "+late ");
}
END_TEST

/* One that stood elsewhere is no entry of this place. */
START_TEST(test_elsewhere)
{
    write_entry(0, 4);
    memcpy(w.bytes + 16 + N_ENTRY, w.bytes + 16, N_ENTRY);
    reserve(2);
    for (int i = 0; i < 100; i++)
        look(MS);
    expect("0\n", "");
}
END_TEST

/* Damaged in any bit: it is said, and no line. */
START_TEST(test_not_whole)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    reserve(1);
    for (size_t i = 0; i <= 64; i++) {
        unsigned n_entries = 0;
        write_entry(0, 4);
        if (i < 64)
            w.bytes[24 + i / 8] ^= (uint8_t)(1 << i % 8);
        ck_assert_int_eq(
            pfd_decoder_new(w.strings, "llpc", "b", &decoder, NULL), PFD_OK);
        pfd_decoder_view(decoder, w.bytes, 16 + N_ENTRY, 0, true, NULL);
        while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
            n_entries += item->is_entry;
            if (!item->is_entry)
                ck_assert_int_eq(item->finding->kind, PFD_FINDING_unwritten);
        }
        ck_assert_uint_eq(n_entries, i == 64);
        pfd_decoder_free(decoder);
    }
}
END_TEST

/* ---- the control block ---- */

static struct pfd_sites *make_sites(const char *path)
{
    struct pfd_text object = { 0 };
    struct pfd_sites *sites = NULL;
    for (uint32_t line = 1; line <= 3000; line++)
        add_row(&object, "i", "%d\n", 0, line);
    FILE *f = fopen(path, "wb");
    ck_assert(f && fwrite(object.data, 1, object.n, f) == object.n);
    fclose(f);
    pfd_text_free(&object);
    ck_assert_int_eq(pfd_sites_new(path, &sites, NULL), PFD_OK);
    ck_assert_uint_eq(pfd_sites_count(sites), 3000);
    return sites;
}

/* What device code does. */
static bool is_on(const struct pfd_sites *sites, struct pfd_control *c,
                  const struct pfd_site_info *site)
{
    struct pfd_text row = { 0 };
    add_row(&row, "i", "%d\n", 0, site->line);
    struct pfd_byte_reader bytes = pfd_byte_reader(row.data, row.n);
    struct pfd_site_row found;
    size_t at = 0;
    ck_assert(pfd_site_row_next(&bytes, &at, &found));
    uint32_t next = c->gates[pfd_site_row_gate(&found)];
    pfd_text_free(&row);
    const struct pfd_site *all = (const void *)(c + 1);
    while (next && all[next - 1].id != site->id)
        next = all[next - 1].next;
    return next && all[next - 1].is_on;
}

START_TEST(test_sites)
{
    char path[] = "/tmp/pfd_rows_XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    struct pfd_sites *sites = make_sites(path);
    struct pfd_control *c = pfd_sites_control(sites, NULL);
    struct pfd_site_rule off = { .budget = PFD_NO_BUDGET };
    struct pfd_site_rule on = { .is_on = true, .budget = 5, .every = 2 };
    struct pfd_site_match one = { .file = "a.*", .line = 17 };
    struct pfd_site_match loud = { .above = PFD_LEVEL_INFO };
    struct pfd_site_info site = { 0 };
    for (int round = 0; round < 3; round++) {
        if (round == 1)
            ck_assert_uint_eq(pfd_sites_set(sites, NULL, &off), 3000);
        if (round == 2) {
            ck_assert_uint_eq(pfd_sites_set(sites, &one, &on), 1);
            ck_assert_uint_eq(pfd_sites_set(sites, &loud, &on), 1000);
        }
        for (size_t i = 0; pfd_sites_get(sites, i, &site) == PFD_OK; i++) {
            bool wanted =
                round == 0 ||
                (round == 2 && (site.line == 17 || site.line % 6 > 3));
            ck_assert(is_on(sites, c, &site) == wanted);
        }
    }
    ck_assert_int_eq(pfd_sites_take(sites, c, 5, NULL), PFD_ERR_USAGE);
    pfd_sites_free(sites);
    ck_assert_int_eq(pfd_sites_new("/proc/self/exe", &sites, NULL),
                     PFD_ERR_UNSUPPORTED);
    close(fd);
    remove(path);
}
END_TEST

int main(void)
{
    return suite_run_with("rows", setup, teardown,
                          TESTS(test_found, test_damaged, test_unknown,
                                test_at_once, test_torn, test_elsewhere,
                                test_not_whole, test_sites),
                          60);
}
