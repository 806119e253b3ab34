/* SPDX-License-Identifier: MIT */
/*
 * Rings with their description, and buffers of ids with their module. Input: a
 * byte for the format, a byte for the pieces that the buffer comes in, the bytes
 * of the description or module (2), these (a description can have a file behind
 * it), the buffer. In pieces or whole, the same is said.
 */
#include <string.h>

#include <printfdecode/strings.h>

#include "pieces.h"

enum {
    PREFIX = 4,
};

static uint64_t say_argument(uint64_t hash, const struct pfd_argument *a)
{
    if (a->type != PFD_ARGUMENT_TEXT)
        return mix(hash, &a->u, sizeof a->u);
    return mix(hash, a->text, a->text ? a->n_bytes : 0);
}

static uint64_t say(uint64_t hash, struct pfd_item *item, uint64_t *next)
{
    size_t n = 0;
    (void)next;
    if (!item->is_entry)
        return mix(hash, item->finding->text, strlen(item->finding->text));
    struct pfd_entry *e = item->entry;
    const char *message = pfd_entry_message(e, &n);
    hash = mix(hash, message, message ? n : 0);
    hash = mix(hash, &e->offset, sizeof e->offset);
    hash = mix(hash, &e->findings, sizeof e->findings);
    const struct pfd_argument *arguments = pfd_entry_arguments(e, &n);
    for (size_t i = 0; i < n; i++)
        hash = say_argument(hash, &arguments[i]);
    return hash;
}

static void check(const struct pfd_decoder *d, const struct pieces *p)
{
    struct pfd_summary s;
    (void)p;
    s = *pfd_decoder_summary(d);
    FUZZ_CHECK(s.unknown <= s.entries);
}

static void see_columns(const struct pfd_strings *strings)
{
    enum {
        STRINGS = 16,
        COLUMNS = 8
    };
    struct pfd_column columns[COLUMNS];
    for (size_t i = 0; i < STRINGS && i < pfd_strings_count(strings); i++) {
        size_t n = pfd_strings_columns(strings, i, columns, COLUMNS);
        for (size_t k = 0; k < n && k < COLUMNS; k++) {
            FUZZ_CHECK(columns[k].name[0]);
            FUZZ_CHECK(memchr(columns[k].name, 0, sizeof columns[k].name));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const formats[] = { "described", "clspv", "rusticl" };
    if (n < PREFIX)
        return 0;
    size_t piece = 16 * (size_t)data[1] + 1;
    size_t n_strings = data[2] | (size_t)data[3] << 8;
    const char *format = formats[data[0] % 3];
    bool is_chosen = data[0] & 128;
    data += PREFIX;
    n -= PREFIX;
    if (n_strings > n)
        n_strings = n;
    struct pfd_strings *strings = pfd_strings_new();
    FUZZ_CHECK(strings);
    /* Behind a mark, a file that the description reads. */
    static const char mark[] = "\n...\n";
    const uint8_t *end = memmem(data, n_strings, mark, sizeof mark - 1);
    size_t n_first = end ? (size_t)(end - data) : n_strings;
    pfd_strings_load(strings, data, n_first, "fuzz", NULL, NULL, NULL);
    if (end) {
        end += sizeof mark - 1;
        pfd_strings_load(strings, end, n_strings - (size_t)(end - data), "file",
                         NULL, NULL, NULL);
    }
    see_columns(strings);
    struct pieces pieces = {
        .strings = strings,
        .format = format,
        .options.kernel = { is_chosen ? 'k' : '\0' },
        .data = data + n_strings,
        .n = n - n_strings,
        .say = say,
        .check = check,
    };
    uint64_t whole = decode_pieces(&pieces, 0);
    FUZZ_CHECK(decode_pieces(&pieces, piece) == whole);
    pfd_strings_free(strings);
    return 0;
}
