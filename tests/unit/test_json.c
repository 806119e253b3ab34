/* SPDX-License-Identifier: MIT */
/* Every line of JSON output, read back with jansson, says what the decoder
 * says. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "core/base/escape.h"
#include "core/print/json_exact.h"
#include "dump.h"
#include "suite.h"

enum {
    SEEDS = 60
};

static struct build lines;
static size_t at;

static bool take(void *user, const void *bytes, size_t n)
{
    build_bytes(user, bytes, n);
    return true;
}

static json_t *next_line(void)
{
    json_error_t error;
    const char *from = (const char *)lines.bytes + at;
    const char *end = memchr(from, '\n', lines.n - at);
    ck_assert_ptr_nonnull(end);
    at += (size_t)(end - from) + 1;
    size_t flags = JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
    json_t *ret = json_loadb(from, (size_t)(end - from), flags, &error);
    /* jansson has no integers above 2^63 - 1. */
    if (!ret && json_error_code(&error) == json_error_numeric_overflow) {
        ret = json_loadb(from, (size_t)(end - from),
                         flags | JSON_DECODE_INT_AS_REAL, &error);
    }
    ck_assert_msg(ret != NULL, "%s in %.*s", error.text,
                  (int)(end - from < 800 ? end - from : 800), from);
    return ret;
}

static void check_text(const json_t *object, const char *name, const char *text,
                       size_t n)
{
    const json_t *value = json_object_get(object, name);
    char *escaped = malloc(6 * n + 3);
    if (!text) {
        ck_assert(json_is_null(value));
        free(escaped);
        return;
    }
    ck_assert(json_is_string(value));
    escaped[0] = '"';
    char *end = pfd_escape_json(escaped + 1, text, n);
    *end++ = '"';
    json_t *want = json_loadb(escaped, (size_t)(end - escaped),
                              JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    ck_assert_uint_eq(json_string_length(value), json_string_length(want));
    ck_assert(!memcmp(json_string_value(value), json_string_value(want),
                      json_string_length(want)));
    json_decref(want);
    free(escaped);
}

static void check_number(const json_t *object, const char *name, uint64_t want)
{
    const json_t *value = json_object_get(object, name);
    ck_assert(json_is_number(value));
    if (json_is_integer(value)) {
        ck_assert_uint_eq((uint64_t)json_integer_value(value), want);
    } else {
        ck_assert(json_real_value(value) == (double)want);
    }
}

static void check_float(const json_t *value, const struct pfd_argument *a)
{
    if (isfinite(a->f)) {
        ck_assert(json_is_real(value));
        double got = json_real_value(value);
        if (a->n_bytes == 4)
            got = (double)(float)got; /* shortest form of a binary32 */
        ck_assert(got == a->f && signbit(got) == signbit(a->f));
        return;
    }
    ck_assert_str_eq(json_string_value(value), isnan(a->f) ? "nan"
                                               : a->f > 0  ? "inf"
                                                           : "-inf");
}

static void check_argument(const json_t *value, const struct pfd_argument *a)
{
    if (a->type == PFD_ARGUMENT_FLOAT) {
        check_float(value, a);
    } else if (json_is_integer(value)) {
        ck_assert_int_eq(json_integer_value(value), a->i);
    } else if (a->type == PFD_ARGUMENT_INT) {
        ck_assert(json_real_value(value) == (double)a->i);
    } else {
        ck_assert(json_real_value(value) == (double)a->u);
    }
}

static void check_arguments(const json_t *object, struct pfd_entry *e)
{
    const json_t *list = json_object_get(object, "args");
    size_t n = 0;
    ck_assert(json_is_array(list));
    if (pfd_entry_string_index(e) == SIZE_MAX) {
        ck_assert_uint_eq(json_array_size(list), e->n_payload / 4);
        return;
    }
    const struct pfd_argument *arguments = pfd_entry_arguments(e, &n);
    ck_assert_uint_eq(json_array_size(list), n);
    for (size_t i = 0; i < n; i++)
        check_argument(json_array_get(list, i), &arguments[i]);
}

static void check_findings(const json_t *object, uint64_t findings)
{
    const json_t *list = json_object_get(object, "findings");
    ck_assert_uint_eq(json_array_size(list),
                      (unsigned)__builtin_popcountll(findings));
    for (size_t i = 0; findings; findings &= findings - 1, i++) {
        ck_assert_str_eq(
            json_string_value(json_array_get(list, i)),
            pfd_finding_name((enum pfd_finding_kind)__builtin_ctzll(findings)));
    }
}

static void check_entry(const json_t *object, struct pfd_entry *e)
{
    char id[20];
    size_t n = 0;
    size_t n_format = 0;
    const char *message = pfd_entry_message(e, &n);
    const char *format = pfd_entry_format_string(e, &n_format);
    ck_assert_str_eq(json_string_value(json_object_get(object, "type")),
                     "entry");
    check_text(object, "message", message, n);
    const json_t *b64 = json_object_get(object, "message_b64");
    ck_assert_int_eq(b64 != NULL, message && !pfd_is_utf8(message, n));
    if (b64) {
        char *want = malloc(n * 2 + 8);
        *pfd_base64(want, message, n) = '\0';
        ck_assert_str_eq(json_string_value(b64), want);
        free(want);
    }
    ck_assert_str_eq(json_string_value(json_object_get(object, "format")),
                     "llpc");
    snprintf(id, sizeof id, "0x%012" PRIx64, e->id);
    ck_assert_str_eq(json_string_value(json_object_get(object, "id")), id);
    check_text(object, "format_string", format, n_format);
    check_number(object, "index", e->index);
    check_number(object, "offset", e->offset);
    check_text(object, "source", "a \"source\"", 10);
    check_arguments(object, e);
    check_findings(object, e->findings);
}

static void check_finding(const json_t *object, const struct pfd_finding *f)
{
    ck_assert_str_eq(json_string_value(json_object_get(object, "type")),
                     "finding");
    ck_assert_str_eq(json_string_value(json_object_get(object, "kind")),
                     pfd_finding_name(f->kind));
    check_text(object, "text", f->text, strlen(f->text));
    check_number(object, "offset", f->offset);
}

/* What is to be told behind the entries: their findings, by kind, id and
 * string. */
static struct told {
    struct pfd_finding finding; /* of the first entry */
    size_t string;
    char text[768];
} told[4096];
static size_t n_told;

static void count_entry_findings(const struct pfd_entry *e)
{
    for (uint64_t left = e->findings; left; left &= left - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(left);
        size_t string = pfd_entry_string_index(e);
        size_t i = 0;
        while (i < n_told &&
               (told[i].finding.kind != kind || told[i].finding.id != e->id ||
                told[i].string != string))
            i++;
        if (i == n_told) {
            ck_assert_uint_lt(++n_told, 4096);
            told[i].string = string;
            told[i].finding = (struct pfd_finding){ .kind = kind,
                                                    .offset = e->offset,
                                                    .index = e->index,
                                                    .id = e->id };
            pfd_entry_finding_text(e, kind, told[i].text, sizeof told[i].text);
        }
        told[i].finding.count++;
    }
}

static void check_entry_findings(void)
{
    for (size_t i = 0; i < n_told; i++) {
        struct pfd_finding *f = &told[i].finding;
        char text[800];
        char id[32];
        json_t *object = next_line();
        snprintf(text, sizeof text, "%s", told[i].text);
        if (f->count > 1) {
            snprintf(text + strlen(text), sizeof text - strlen(text),
                     "; the first of %llu such entries",
                     (unsigned long long)f->count);
        }
        snprintf(id, sizeof id, "0x%012llx", (unsigned long long)f->id);
        f->text = text;
        check_finding(object, f);
        check_number(object, "index", f->index);
        check_number(object, "count", f->count);
        ck_assert_str_eq(json_string_value(json_object_get(object, "id")), id);
        json_decref(object);
    }
    n_told = 0;
}

static void check_lines(const struct dump *d)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    struct pfd_summary s = { 0 };
    ck_assert_int_eq(
        pfd_decoder_new(d->strings, NULL, "a \"source\"", &decoder, NULL),
        PFD_OK);
    pfd_decoder_view(decoder, d->bytes.bytes, d->bytes.n, 0, true, NULL);
    while (pfd_decoder_next(decoder, &item, NULL) == PFD_OK) {
        json_t *object = next_line();
        if (item->is_entry) {
            check_entry(object, item->entry);
        } else {
            check_finding(object, item->finding);
        }
        json_decref(object);
        if (item->is_entry)
            count_entry_findings(item->entry);
    }
    check_entry_findings();
    s = *pfd_decoder_summary(decoder);
    json_t *object = next_line();
    ck_assert_str_eq(json_string_value(json_object_get(object, "type")),
                     "summary");
    check_number(object, "entries", s.entries);
    check_number(object, "unknown", s.unknown);
    check_number(object, "bytes", s.bytes);
    check_number(object, "skipped_bytes", s.skipped_bytes);
    json_decref(object);
    ck_assert_uint_eq(at, lines.n);
    pfd_decoder_free(decoder);
}

START_TEST(reads_back)
{
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct dump d;
        struct pfd_summary summary = { 0 };
        dump_init(&d, seed, 200);
        for (uint64_t i = seed % 3; i; i--)
            dump_damage(&d);
        /* No loss beyond what jansson's integers hold. */
        if (d.bytes.n >= 8)
            memset(d.bytes.bytes + 5, 0, 3);
        struct pfd_convert convert = {
            .strings = d.strings,
            .output = "json",
            .source = "a \"source\"",
            .limit = UINT64_MAX,
            .notes = true,
            .write = take,
            .write_user = &lines,
        };
        lines.n = 0;
        at = 0;
        ck_assert_int_eq(pfd_convert_bytes(&convert, d.bytes.bytes, d.bytes.n,
                                           &summary, NULL),
                         PFD_OK);
        check_lines(&d);
        dump_deinit(&d);
    }
    build_free(&lines);
}
END_TEST

/* ---- integers that readers of 53 bits round ---- */

#define MAX PFD_EXACT_MAX /* the last that none rounds */

static const struct {
    const char *format;
    uint64_t values[3];
    const char *args; /* from their bracket to the index */
} edges[] = {
    { "%lu", { MAX - 1 }, "[9007199254740991]" },
    { "%lu", { MAX }, "[9007199254740992]" },
    { "%lu",
      { MAX + 1 },
      "[9007199254740993],\"args_exact\":[\"9007199254740993\"]" },
    { "%lu",
      { UINT64_MAX },
      "[18446744073709551615],\"args_exact\":[\"18446744073709551615\"]" },
    { "%ld", { MAX }, "[9007199254740992]" },
    { "%ld",
      { MAX + 1 },
      "[9007199254740993],\"args_exact\":[\"9007199254740993\"]" },
    { "%ld", { -MAX }, "[-9007199254740992]" },
    { "%ld",
      { -MAX - 1 },
      "[-9007199254740993],\"args_exact\":[\"-9007199254740993\"]" },
    { "%ld", { UINT64_MAX }, "[-1]" },
    { "%ld",
      { UINT64_C(1) << 63 },
      "[-9223372036854775808],"
      "\"args_exact\":[\"-9223372036854775808\"]" },
    { "%llx", { MAX }, "[9007199254740992]" },
    { "%llx",
      { MAX + 1 },
      "[9007199254740993],\"args_exact\":[\"9007199254740993\"]" },
    { "%p", { MAX }, "[9007199254740992]" },
    { "%p",
      { MAX + 1 },
      "[9007199254740993],\"args_exact\":[\"9007199254740993\"]" },
    { "%v3ld",
      { MAX, -MAX - 1, 7 },
      "[9007199254740992,-9007199254740993,7],"
      "\"args_exact\":[null,\"-9007199254740993\",null]" },
    { "%c %lu", /* written another way: as text first */
      { 1, MAX + 1 },
      "[1,9007199254740993],\"args_exact\":[null,\"9007199254740993\"]" },
    { "%f", { UINT64_C(0x4350000000000000) }, "[1.8014398509481984e+16]" },
};

static void convert_edge(size_t i)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct build buffer = { 0 };
    struct pfd_summary summary = { 0 };
    size_t n = 1;
    while (n < 3 && edges[i].values[n])
        n++;
    ck_assert_ptr_nonnull(strings);
    dump_add_string(strings, 1, edges[i].format, &"888"[3 - n]);
    dump_header(&buffer, 2 + 2 * n);
    dump_entry(&buffer, 1, (uint32_t)(2 + 2 * n),
               (const uint32_t *)edges[i].values, 2 * n);
    struct pfd_convert convert = {
        .strings = strings,
        .output = "json",
        .source = "edge",
        .limit = UINT64_MAX,
        .write = take,
        .write_user = &lines,
    };
    lines.n = 0;
    ck_assert_int_eq(
        pfd_convert_bytes(&convert, buffer.bytes, buffer.n, &summary, NULL),
        PFD_OK);
    build_bytes(&lines, "", 1);
    build_free(&buffer);
    pfd_strings_free(strings);
}

START_TEST(exact_beyond_2_53)
{
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        char want[200];
        convert_edge(i);
        snprintf(want, sizeof want, "\"args\":%s,\"index\":0", edges[i].args);
        ck_assert_msg(strstr((const char *)lines.bytes, want) != NULL,
                      "%s is not in %s", want, (const char *)lines.bytes);
    }
    build_free(&lines);
}
END_TEST

/* What lists of other readings go through; no text and no float is a number. */
START_TEST(exact_from_text)
{
    static const char list[] = "9007199254740992,-9007199254740992,1e+20,"
                               "\"9007199254740993,\\\"\",90071992547409930.0";
    static const char more[] = ",-9007199254740993";
    char text[200];
    char out[400];
    ck_assert_ptr_eq(pfd_json_put_exact(out, list, strlen(list)), out);
    snprintf(text, sizeof text, "%s%s", list, more);
    *pfd_json_put_exact(out, text, strlen(text)) = 0;
    ck_assert_str_eq(out, ",\"args_exact\":[null,null,null,null,null,"
                          "\"-9007199254740993\"]");
}
END_TEST

int main(void)
{
    return suite_run(
        "json", TESTS(reads_back, exact_beyond_2_53, exact_from_text), 120);
}
