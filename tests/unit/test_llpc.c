/* SPDX-License-Identifier: MIT */
/* The LLPC walk through pfd_decoder_*(), buffers before an unreadable page. */
#include <string.h>

#include "core/decode/inspect.h"
#include "dump.h"
#include "guard.h"
#include "suite.h"

#define ONE   UINT64_C(0x0123456789ab)
#define TWO   UINT64_C(0x0fedcba98765)
#define NONE  UINT64_C(0x00aabbccddee)
#define OTHER UINT64_C(0x777777777777)

static struct pfd_strings *strings;
static struct build body;
static struct build said;
static struct pfd_summary summary;

static void setup(void)
{
    strings = pfd_strings_new();
    dump_add_string(strings, ONE, "one %d\n", "4");
    dump_add_string(strings, TWO, "two %d %llx\n", "48");
    dump_add_string(strings, NONE, "none\n", "");
    body = (struct build){ 0 };
    said = (struct build){ 0 };
}

static void teardown(void)
{
    pfd_strings_free(strings);
    build_free(&body);
    build_free(&said);
}

static void one(uint32_t value)
{
    dump_entry(&body, ONE, 3, &value, 1);
}

static void note_item(struct pfd_item *item)
{
    if (!item->is_entry) {
        const char *name = pfd_finding_name(item->finding->kind);
        build_bytes(&said, "[", 1);
        build_bytes(&said, name, strlen(name));
        build_bytes(&said, "]", 1);
        return;
    }
    size_t n = 0;
    const char *message = pfd_entry_message(item->entry, &n);
    if (message) {
        build_bytes(&said, message, n);
    } else {
        build_bytes(&said, "?\n", 2);
    }
    for (uint64_t left = item->entry->findings; left; left &= left - 1) {
        const char *name =
            pfd_finding_name((enum pfd_finding_kind)__builtin_ctzll(left));
        build_bytes(&said, "<", 1);
        build_bytes(&said, name, strlen(name));
        build_bytes(&said, ">", 1);
    }
}

static void decode_bytes(const void *bytes, size_t n)
{
    struct guard g = guard_new(bytes, n);
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    enum pfd_status status;
    said.n = 0;
    ck_assert_int_eq(pfd_decoder_new(strings, NULL, "test", &decoder, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_decoder_view(decoder, g.bytes, n, 0, true, NULL),
                     PFD_OK);
    while ((status = pfd_decoder_next(decoder, &item, NULL)) == PFD_OK)
        note_item(item);
    ck_assert_int_eq(status, PFD_END);
    ck_assert_int_eq(pfd_decoder_next(decoder, &item, NULL), PFD_END);
    summary = *pfd_decoder_summary(decoder);
    pfd_decoder_free(decoder);
    build_bytes(&said, "", 1);
    guard_free(&g);
}

static const char *decode(uint64_t used)
{
    struct build whole = { 0 };
    dump_header(&whole, used);
    build_bytes(&whole, body.bytes, body.n);
    decode_bytes(whole.bytes, whole.n);
    build_free(&whole);
    return (const char *)said.bytes;
}

static const char *decode_all(void)
{
    return decode(body.n / 4);
}

START_TEST(sound)
{
    setup();
    one(1);
    dump_entry(&body, TWO, 5, (uint32_t[]){ 2, 0xcafe, 1 }, 3);
    dump_entry(&body, NONE, 2, NULL, 0);
    ck_assert_str_eq(decode_all(), "one 1\ntwo 2 10000cafe\nnone\n");
    ck_assert_uint_eq(summary.entries, 3);
    ck_assert_uint_eq(summary.bytes, body.n);
    ck_assert_uint_eq(summary.findings, 0);
    teardown();
}
END_TEST

START_TEST(short_files)
{
    static const uint8_t zeros[16];
    setup();
    for (size_t n = 0; n < 16; n++) {
        decode_bytes(zeros, n);
        ck_assert_str_eq((const char *)said.bytes, "[no_header]");
        ck_assert_uint_eq(summary.skipped_bytes, n);
    }
    decode_bytes(zeros, 16);
    ck_assert_str_eq((const char *)said.bytes, "");
    teardown();
}
END_TEST

START_TEST(bad_sizes)
{
    setup();
    one(1);
    dump_entry(&body, ONE, 0, NULL, 0);
    one(2);
    one(3);
    dump_entry(&body, ONE, 1, (uint32_t[]){ 5 }, 1);
    one(4);
    one(5);
    dump_entry(&body, ONE, 6000, NULL, 0);
    one(6);
    ck_assert_str_eq(decode_all(),
                     "one 1\n[bad_size]one 2\none 3\n[bad_size]one 4\n"
                     "one 5\n[size_past_end]one 6\n");
    ck_assert_uint_eq(summary.skipped_bytes, 8 + 12 + 8);
    teardown();
}
END_TEST

/* What stands before something that cannot be an entry is beyond doubt only
 * where chance cannot have made its id. */
START_TEST(doubtful_entries)
{
    setup();
    dump_add_string(strings, 7, "seven %u\n", "4");
    one(1);
    dump_entry(&body, ONE, 0, NULL, 0);
    one(2);
    dump_entry(&body, ONE, 1, NULL, 0);
    dump_entry(&body, 7, 3, (uint32_t[]){ 7 }, 1);
    dump_entry(&body, ONE, 1, NULL, 0);
    one(3);
    ck_assert_str_eq(decode_all(), "one 1\n[bad_size]one 2\n[bad_size]one 3\n");
    ck_assert_uint_eq(summary.skipped_bytes, 8 + 8 + 12 + 8);
    teardown();
}
END_TEST

/* A size that no string has, and sound entries inside of what it claims: they
 * are decoded, and the entry is what they leave of it. */
START_TEST(swallowed_entries)
{
    static const uint32_t claimed[] = { 4, 5, 6, 7, 9, 11, 12, 14 };
    for (size_t i = 0; i < sizeof claimed / sizeof *claimed; i++) {
        setup();
        dump_entry(&body, ONE, claimed[i], (uint32_t[]){ 1 }, 1);
        for (uint32_t k = 2; k <= 5; k++)
            one(k);
        ck_assert_str_eq(decode_all(), "one 1\n<bad_size>one 2\none 3\none 4\n"
                                       "one 5\n");
        ck_assert_uint_eq(summary.skipped_bytes, 0);
        teardown();
    }
}
END_TEST

/* One that claims too little, and the next begins where its string ends. */
START_TEST(clipped_entries)
{
    static const uint32_t payload[] = { 1, 0, 2, 0x1000001 };
    setup();
    dump_add_string(strings, 0x7777777777, "%lld %d %u\n", "844");
    for (uint32_t size = 2; size <= 4; size++)
        dump_entry(&body, 0x7777777777, size, payload, 4);
    one(2);
    ck_assert_str_eq(decode_all(),
                     "1 2 16777217\n<bad_size>1 2 16777217\n<bad_size>"
                     "1 2 16777217\n<bad_size>one 2\n");
    teardown();
}
END_TEST

/* Payloads that are as long as they say, whatever the strings expect. */
START_TEST(long_entries)
{
    setup();
    dump_entry(&body, ONE, 6, (uint32_t[]){ 1, 2, 3, 4 }, 4);
    one(2);
    dump_entry(&body, ONE, 2, NULL, 0);
    one(3);
    /* One sound entry inside, which need not be one. */
    dump_entry(
        &body, ONE, 9,
        (uint32_t[]){ 4, (uint32_t)(ONE << 16) | 3, ONE >> 16, 5, 6, 7, 8 }, 7);
    one(9);
    ck_assert_str_eq(decode_all(), "one 1\n<payload_long>one 2\n"
                                   "one %d\n<payload_short>one 3\n"
                                   "one 4\n<payload_long>one 9\n");
    teardown();
}
END_TEST

START_TEST(holes)
{
    static const uint32_t zeros[9];
    setup();
    one(1);
    build_bytes(&body, zeros, 12);
    one(2);
    build_bytes(&body, zeros, 8);
    one(3);
    build_bytes(&body, zeros, 36);
    ck_assert_str_eq(decode_all(), "one 1\n[unwritten]one 2\n[unwritten]"
                                   "one 3\n[unwritten]");
    ck_assert_uint_eq(summary.skipped_bytes, 12 + 8 + 36);
    teardown();
}
END_TEST

START_TEST(unknown_ids)
{
    setup();
    one(1);
    dump_entry(&body, OTHER, 4, (uint32_t[]){ 1, 2 }, 2);
    dump_entry(&body, OTHER + 1, 2, NULL, 0);
    one(2);
    dump_entry(&body, 0x1234, 3, (uint32_t[]){ 1 }, 1);
    one(3);
    /* Its size leads into the middle of what follows. */
    dump_entry(&body, OTHER, 4, (uint32_t[]){ 1 }, 1);
    one(4);
    one(5);
    ck_assert_str_eq(decode_all(),
                     "one 1\n?\n<unknown_id>?\n<unknown_id>one 2\n"
                     "?\n<torn_header>one 3\n[unknown_id]one 4\none 5\n");
    ck_assert_uint_eq(summary.unknown, 3);
    teardown();
}
END_TEST

/* A large unknown entry must not swallow sound ones that it claims. */
START_TEST(unknown_swallows_nothing)
{
    setup();
    one(1);
    dump_entry(&body, OTHER, 2 + 9, NULL, 0);
    one(2);
    one(3);
    one(4);
    dump_entry(&body, OTHER + 1, 2, NULL, 0);
    ck_assert_str_eq(decode_all(), "one 1\n[unknown_id]one 2\none 3\none 4\n"
                                   "?\n<unknown_id>");
    teardown();
}
END_TEST

START_TEST(overflow_counts_the_loss)
{
    setup();
    one(1);
    dump_entry(&body, TWO, 5, (uint32_t[]){ 2 }, 1);
    ck_assert_str_eq(decode(1000), "one 1\n[truncated_entry][overflow]");
    ck_assert_uint_eq(summary.lost_bytes, 4 * (1000 - 6));
    ck_assert_uint_eq(summary.skipped_bytes, 12);
    ck_assert_str_eq(decode(((uint64_t)1 << 38) - 1),
                     "[over_2gib]one 1\n[truncated_entry][overflow]");
    /* More than shaders can ask for says nothing of a loss. */
    ck_assert_str_eq(decode(UINT64_MAX),
                     "[bad_header]one 1\n[truncated_entry]");
    ck_assert_uint_eq(summary.lost_bytes, 0);
    ck_assert_str_eq(decode((uint64_t)1 << 38),
                     "[bad_header]one 1\n[truncated_entry]");
    ck_assert_str_eq(decode(((uint64_t)1 << 29)),
                     "one 1\n[truncated_entry][overflow]");
    ck_assert_str_eq(decode(3), "one 1\n");
    ck_assert_str_eq(decode(4), "one 1\n[stray_dword]");
    ck_assert_str_eq(decode(0), "");
    teardown();
}
END_TEST

START_TEST(odd_end_and_reserved)
{
    struct build b = { 0 };
    static const uint32_t reserved[2] = { 0xdead, 1 };
    setup();
    dump_header(&b, 3);
    memcpy(b.bytes + 8, reserved, sizeof reserved);
    dump_entry(&b, ONE, 3, (uint32_t[]){ 7 }, 1);
    build_bytes(&b, "xyz", 3);
    decode_bytes(b.bytes, b.n);
    ck_assert_str_eq((const char *)said.bytes, "[reserved]one 7\n[odd_size]");
    ck_assert_uint_eq(summary.skipped_bytes, 3);
    build_free(&b);
    teardown();
}
END_TEST

START_TEST(width_recovery)
{
    setup();
    dump_add_string(strings, 0x1000001, "%d %d\n", "48");
    dump_add_string(strings, 0x1000002, "%ld %d %d\n", "484");
    dump_add_string(strings, 0x1000003, "%v2d\n", "4");
    dump_entry(&body, 0x1000001, 4, (uint32_t[]){ 1, 2 }, 2);
    dump_entry(&body, 0x1000001, 6, (uint32_t[]){ 1, 0, 2, 0 }, 4);
    dump_entry(&body, 0x1000001, 5, (uint32_t[]){ 1, 2, 0 }, 3);
    dump_entry(&body, 0x1000001, 7, (uint32_t[]){ 1, 2, 0, 9, 9 }, 5);
    dump_entry(&body, 0x1000001, 3, (uint32_t[]){ 1 }, 1);
    dump_entry(&body, 0x1000003, 3, (uint32_t[]){ 8 }, 1);
    ck_assert_str_eq(decode_all(),
                     "1 2\n<width_mismatch>1 2\n<width_mismatch>1 2\n"
                     "1 2\n<payload_long>1 %d\n<payload_short>"
                     "8\n<vector_cut>");
    teardown();
}
END_TEST

START_TEST(collisions_by_size)
{
    setup();
    dump_add_string(strings, ONE, "wide %lld\n", "8");
    dump_add_string(strings, ONE, "also %u\n", "4");
    one(1);
    dump_entry(&body, ONE, 4, (uint32_t[]){ 2, 0 }, 2);
    dump_entry(&body, ONE, 5, (uint32_t[]){ 3, 0, 0 }, 3);
    ck_assert_str_eq(decode_all(), "one 1\n<ambiguous>wide 2\n"
                                   "one 3\n<payload_long><ambiguous>");
    teardown();
}
END_TEST

/* What a walk learnt of a string holds until there is another one. */
START_TEST(collisions_that_come_later)
{
    setup();
    one(1);
    ck_assert_str_eq(decode_all(), "one 1\n");
    ck_assert_str_eq(decode_all(), "one 1\n");
    struct pfd_strings *first = strings;
    strings = pfd_strings_branch(first);
    dump_add_string(strings, ONE, "also %u\n", "4");
    ck_assert_str_eq(decode_all(), "one 1\n<ambiguous>");
    pfd_strings_free(strings);
    strings = first;
    ck_assert_str_eq(decode_all(), "one 1\n");
    dump_add_string(strings, ONE, "also %u\n", "4");
    ck_assert_str_eq(decode_all(), "one 1\n<ambiguous>");
    teardown();
}
END_TEST

START_TEST(other_readings)
{
    setup();
    dump_add_string(strings, ONE, "also %u\n", "4");
    one(7);
    struct build buffer = { 0 };
    dump_header(&buffer, body.n / 4);
    build_bytes(&buffer, body.bytes, body.n);
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    struct pfd_entry other;
    const struct pfd_argument *arguments;
    size_t n = 0;
    ck_assert_int_eq(pfd_decoder_new(strings, NULL, "test", &decoder, NULL),
                     PFD_OK);
    ck_assert_int_eq(
        pfd_decoder_view(decoder, buffer.bytes, buffer.n, 0, true, NULL),
        PFD_OK);
    ck_assert_int_eq(pfd_decoder_next(decoder, &item, NULL), PFD_OK);
    ck_assert_int_eq(pfd_entry_alternative(item->entry, 0, &other), PFD_OK);
    const char *message = pfd_entry_message(&other, &n);
    ck_assert_mem_eq(message, "also 7\n", 7);
    arguments = pfd_entry_arguments(&other, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(arguments[0].type, PFD_ARGUMENT_UNSIGNED);
    ck_assert_uint_eq(other.index, item->entry->index);
    ck_assert_int_eq(pfd_entry_alternative(item->entry, 1, &other), PFD_END);
    /* The entry is what it was. */
    message = pfd_entry_message(item->entry, &n);
    ck_assert_mem_eq(message, "one 7\n", 6);
    ck_assert_int_eq(pfd_decoder_next(decoder, &item, NULL), PFD_END);
    pfd_decoder_free(decoder);
    build_free(&buffer);
    teardown();
}
END_TEST

START_TEST(wrong_use)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    struct pfd_error err;
    static const uint8_t zeros[64];
    setup();
    ck_assert_int_eq(pfd_decoder_new(strings, "nothing", "x", &decoder, &err),
                     PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_decoder_new(strings, "llpc", NULL, &decoder, NULL),
                     PFD_OK);
    ck_assert_str_eq(pfd_decoder_format(decoder), "llpc");
    ck_assert_int_eq(pfd_decoder_next(decoder, &item, NULL), PFD_MORE);
    ck_assert_int_eq(pfd_decoder_view(decoder, zeros, 64, 4, false, &err),
                     PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_decoder_view(decoder, zeros, 64, 0, true, &err),
                     PFD_OK);
    ck_assert_int_eq(pfd_decoder_next(decoder, &item, NULL), PFD_END);
    pfd_decoder_free(decoder);
    pfd_decoder_free(NULL);
    teardown();
}
END_TEST

/* More bytes than a view of a buffer over 2 GiB would need in memory. */
struct huge {
    uint64_t at;
    uint64_t n;
    uint64_t used;
};

/* Entries of the largest size with zero payload. */
static long read_huge(void *user, void *bytes, size_t n)
{
    struct huge *h = user;
    size_t done = 0;
    while (done < n && h->at < h->n) {
        uint64_t entry = ONE << 16 | 65535;
        uint64_t in_entry = h->at < 16 ? 0 : (h->at - 16) % (65535 * 4);
        bool header = h->at >= 16 && in_entry < 8;
        const uint64_t *word = header ? &entry : &h->used;
        uint64_t in_word = header ? in_entry : h->at;
        uint64_t k = 65535 * 4 - in_entry;
        if (header || h->at < 8) {
            k = 8 - in_word;
        } else if (h->at < 16) {
            k = 16 - h->at;
        }
        k = k < h->n - h->at ? k : h->n - h->at;
        k = k < n - done ? k : n - done;
        if (header || h->at < 8) {
            memcpy((char *)bytes + done, (const char *)word + in_word, k);
        } else {
            memset((char *)bytes + done, 0, k);
        }
        done += k;
        h->at += k;
    }
    return (long)done;
}

START_TEST(over_two_gib)
{
    const uint64_t clamp = UINT64_C(1) << 29;
    struct huge huge = { .n = 16 + 4 * (clamp + 100000),
                         .used = clamp + 65000 };
    struct pfd_convert convert;
    setup();
    convert = (struct pfd_convert){ .strings = strings,
                                    .source = "huge",
                                    .threads = 1 };
    ck_assert_int_eq(
        pfd_convert_stream(&convert, read_huge, &huge, &summary, NULL), PFD_OK);
    /* Entries that begin below the clamp; the last one crosses it. */
    ck_assert_uint_eq(summary.entries, clamp / 65535);
    ck_assert_uint_eq(summary.bytes + summary.skipped_bytes, 4 * clamp);
    ck_assert_uint_eq(summary.lost_bytes, 4 * 65000);
    teardown();
}
END_TEST

int main(void)
{
    return suite_run("llpc",
                     TESTS(sound, short_files, bad_sizes, doubtful_entries,
                           swallowed_entries, clipped_entries, long_entries,
                           holes, unknown_ids, unknown_swallows_nothing,
                           overflow_counts_the_loss, odd_end_and_reserved,
                           width_recovery, collisions_by_size,
                           collisions_that_come_later, other_readings,
                           wrong_use, over_two_gib),
                     200);
}
