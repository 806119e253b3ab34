/* SPDX-License-Identifier: MIT */
#include "dump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <check.h>

#include "core/decode/string_loader.h"

enum {
    N_STRINGS = sizeof((struct dump *)0)->ids / sizeof(uint64_t),
    PIECES_MAX = 5,
    TEXT_MAX = 512,
    WORDS_MAX = 64,
};

uint64_t dump_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

uint32_t dump_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)((dump_random(state) >> 32) * n >> 32);
}

void dump_add_string(struct pfd_strings *strings, uint64_t id, const char *text,
                     const char *widths)
{
    uint64_t mask[8] = { 0 };
    size_t n = strlen(widths);
    for (size_t i = 0; i < n; i++)
        mask[i / 64] |= (uint64_t)(widths[i] == '8') << (i % 64);
    struct pfd_string_info info = {
        .source = "test",
        .text = text,
        .n_text = strlen(text),
        .id = id,
        .argument_count = n,
    };
    ck_assert_int_eq(
        pfd_strings_add(strings, &info, mask, (n + 63) / 64, NULL, NULL, NULL),
        PFD_OK);
}

void dump_add_words(struct pfd_strings *strings, uint64_t id,
                    const char *conversion, size_t n)
{
    struct build text = { 0 };
    char widths[WORDS_MAX + 1] = "";
    ck_assert_uint_le(n, WORDS_MAX);
    for (size_t i = 0; i < n; i++)
        build_bytes(&text, conversion, strlen(conversion));
    build_bytes(&text, "", 1);
    memset(widths, '4', n);
    dump_add_string(strings, id, (const char *)text.bytes, widths);
    build_free(&text);
}

void dump_entry(struct build *b, uint64_t id, uint32_t size,
                const uint32_t *payload, size_t n_payload)
{
    uint64_t header = id << 16 | size;
    build_bytes(b, &header, sizeof header);
    build_bytes(b, payload, n_payload * sizeof *payload);
}

void dump_header(struct build *b, uint64_t used)
{
    uint64_t header[2] = { used, 0 };
    build_bytes(b, header, sizeof header);
}

/* ---- random ones ---- */

static void random_string(struct dump *d, uint64_t id)
{
    static const char *const pieces[] = {
        "plain ", "\"quoted\" ", "100%% ", "\xc3\xa9\n", "bell\a ",  "%d",
        "%u ",    "%x,",         "%08.3f", "%g ",        "%e",       "%c",
        "%v3f ",  "%v2d ",       "%*d ",   "%.*f",       "%s ",      "%hhd",
        "%300d",  "%lld ",       "%#llx ", "%a ",        "\xff\xfe", "%-12i|",
        "%p ",    "%q",          "%",      "\x1b[31m",
    };
    static const char taken[] = { 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 3, 2,
                                  2, 2, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0 };
    char text[TEXT_MAX] = "";
    char widths[64] = "";
    uint32_t n = dump_below(&d->rng, PIECES_MAX + 1);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = dump_below(&d->rng, sizeof pieces / sizeof *pieces);
        strcat(text, pieces[k]);
        for (int a = 0; a < taken[k]; a++)
            strcat(widths, dump_below(&d->rng, 3) ? "4" : "8");
    }
    if (dump_below(&d->rng, 10) == 0)
        strcat(widths, "4");
    dump_add_string(d->strings, id, text, widths);
}

static uint32_t random_word(struct dump *d)
{
    static const uint32_t some[] = { 0,          1,          7,
                                     0x3f800000, 0x7f800000, 0x7fc00000,
                                     0x80000000, 0xffffffff, 0x41 };
    if (dump_below(&d->rng, 3))
        return some[dump_below(&d->rng, sizeof some / sizeof *some)];
    return (uint32_t)dump_random(&d->rng);
}

static void random_entry(struct dump *d, struct build *body)
{
    uint32_t payload[128];
    uint32_t i = dump_below(&d->rng, N_STRINGS);
    for (uint32_t k = 0; k < d->n_words[i]; k++)
        payload[k] = random_word(d);
    dump_entry(body, d->ids[i], d->n_words[i] + 2, payload, d->n_words[i]);
}

static void note_layout(struct dump *d, size_t i)
{
    struct pfd_string_info info;
    uint8_t widths[64];
    ck_assert_int_eq(pfd_strings_get(d->strings, i, &info), PFD_OK);
    size_t n = pfd_strings_widths(d->strings, i, widths, 64);
    ck_assert_uint_le(n, 64);
    d->ids[i] = info.id;
    for (size_t k = 0; k < n; k++)
        d->n_words[i] += widths[k] / 32;
}

void dump_init(struct dump *d, uint64_t seed, size_t n_entries)
{
    struct build body = { 0 };
    *d = (struct dump){ .rng = seed, .strings = pfd_strings_new() };
    ck_assert_ptr_nonnull(d->strings);
    for (unsigned i = 0; i < N_STRINGS; i++)
        random_string(d, dump_random(&d->rng) >> 16);
    for (size_t i = 0; i < N_STRINGS; i++)
        note_layout(d, i);
    for (size_t i = 0; i < n_entries; i++)
        random_entry(d, &body);
    dump_header(&d->bytes, body.n / 4);
    build_bytes(&d->bytes, body.bytes, body.n);
    build_free(&body);
}

void dump_deinit(struct dump *d)
{
    pfd_strings_free(d->strings);
    build_free(&d->bytes);
}

void dump_damage(struct dump *d)
{
    static const uint8_t zeros[40];
    uint32_t n = (uint32_t)d->bytes.n;
    uint32_t what = dump_below(&d->rng, 7);
    uint64_t used = (n - 16) / 4;
    switch (what) {
    case 0:
        d->bytes.n = dump_below(&d->rng, n);
        break;
    case 1:
        build_bytes(&d->bytes, zeros, dump_below(&d->rng, 40));
        break;
    case 2:
        used += dump_below(&d->rng, 20);
        memcpy(d->bytes.bytes, &used, sizeof used);
        break;
    case 3:
        used = dump_random(&d->rng) >> dump_below(&d->rng, 64);
        memcpy(d->bytes.bytes, &used, sizeof used);
        break;
    case 4:
        if (n > 64) {
            memset(d->bytes.bytes + 16 + 4 * dump_below(&d->rng, (n - 48) / 4),
                   0, 4 * (size_t)dump_below(&d->rng, 8));
        }
        break;
    default:
        for (uint32_t i = dump_below(&d->rng, 8) + 1; i && n > 16; i--) {
            d->bytes.bytes[16 + dump_below(&d->rng, n - 16)] =
                (uint8_t)dump_random(&d->rng);
        }
        break;
    }
}

/* ---- items as text ---- */

__attribute__((format(printf, 2, 3))) static void add(struct build *out,
                                                      const char *text, ...)
{
    char line[1600];
    va_list ap;
    va_start(ap, text);
    int n = vsnprintf(line, sizeof line, text, ap);
    va_end(ap);
    ck_assert_int_lt(n, (int)sizeof line);
    build_bytes(out, line, (size_t)n);
}

static void add_argument(struct build *out, const struct pfd_argument *a)
{
    add(out, " %c%u@%u=%016" PRIx64, a->conversion ? a->conversion : '_',
        a->n_bytes, a->at, a->u);
}

static void describe_entry(struct build *out, struct pfd_entry *e)
{
    char sentence[768];
    size_t n = 0;
    const char *message = pfd_entry_message(e, &n);
    ck_assert(message || n == 0);
    add(out, "entry %" PRIu64 " at %" PRIu64 " id %" PRIx64 " bytes %u/%u '",
        e->index, e->offset, e->id, e->n_bytes, e->n_payload);
    build_bytes(out, message ? message : "", n);
    add(out, "'");
    const struct pfd_argument *arguments = pfd_entry_arguments(e, &n);
    ck_assert(arguments || n == 0);
    for (size_t i = 0; i < n; i++)
        add_argument(out, &arguments[i]);
    for (uint64_t left = e->findings; left; left &= left - 1) {
        enum pfd_finding_kind kind =
            (enum pfd_finding_kind)__builtin_ctzll(left);
        pfd_entry_finding_text(e, kind, sentence, sizeof sentence);
        add(out, " %s: %s;", pfd_finding_name(kind), sentence);
    }
    add(out, "\n");
}

void dump_describe(struct build *out, struct pfd_item *item)
{
    if (item->is_entry) {
        describe_entry(out, item->entry);
    } else {
        add(out, "%s at %" PRIu64 " of %s: %s\n",
            pfd_finding_name(item->finding->kind), item->finding->offset,
            item->finding->source, item->finding->text);
    }
}

void dump_describe_summary(struct build *out, const struct pfd_summary *s)
{
    add(out,
        "%" PRIu64 " entries, %" PRIu64 " unknown, %" PRIu64 " bytes, %" PRIu64
        " lost, %" PRIu64 " skipped, %" PRIu64 " findings\n",
        s->entries, s->unknown, s->bytes, s->lost_bytes, s->skipped_bytes,
        s->findings);
}
