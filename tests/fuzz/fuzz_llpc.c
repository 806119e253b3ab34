/* SPDX-License-Identifier: MIT */
/*
 * The walk over a buffer. The first four bytes choose how the buffer is cut
 * into pieces; ids and strings are fixed. In pieces or whole, the same is
 * said; offsets only grow; and every used byte is in an entry or skipped.
 */
#include <string.h>

#include <printfdecode/convert.h>

#include "llpc_strings.h"

enum {
    PREFIX = 4,
    HEADER = 16
};

static struct pfd_strings *strings;

/* A hash of all that is said, in order. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

struct said {
    uint64_t hash;
    uint64_t next; /* no entry may begin before */
    uint64_t index;
    bool is_refused; /* the bytes are a file of another kind */
};

static void say_entry(struct said *said, struct pfd_entry *e)
{
    size_t n = 0;
    FUZZ_CHECK(e->offset >= said->next && e->offset >= HEADER);
    FUZZ_CHECK(e->offset % 4 == 0 && e->index == said->index);
    FUZZ_CHECK(e->n_payload + 8 == e->n_bytes);
    said->next = e->offset + e->n_bytes;
    said->index++;
    const char *message = pfd_entry_message(e, &n);
    FUZZ_CHECK((message != NULL) == (pfd_entry_string_index(e) != SIZE_MAX));
    said->hash = mix(said->hash, &e->offset, 8);
    said->hash = mix(said->hash, &e->findings, 8);
    said->hash = mix(said->hash, message, n);
    const struct pfd_argument *arguments = pfd_entry_arguments(e, &n);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(arguments[i].at + arguments[i].n_bytes <= e->n_payload);
        said->hash = mix(said->hash, &arguments[i].u, 8);
    }
    for (uint64_t left = e->findings; left; left &= left - 1) {
        char text[200];
        pfd_entry_finding_text(e, (enum pfd_finding_kind)__builtin_ctzll(left),
                               text, sizeof text);
        said->hash = mix(said->hash, text, strlen(text));
    }
}

static void say(struct said *said, struct pfd_item *item)
{
    if (item->is_entry) {
        say_entry(said, item->entry);
        return;
    }
    said->is_refused |= item->finding->kind == PFD_FINDING_unknown_format;
    said->hash = mix(said->hash, &item->finding->kind, sizeof(int));
    said->hash = mix(said->hash, &item->finding->offset, 8);
    said->hash =
        mix(said->hash, item->finding->text, strlen(item->finding->text));
}

static uint64_t used_bytes(const uint8_t *data, size_t n)
{
    uint64_t used = 0;
    memcpy(&used, data, sizeof used);
    uint64_t capacity = (n - HEADER) / 4;
    return 4 * (used < capacity ? used : capacity);
}

static void check_accounts(const struct pfd_summary *s, const uint8_t *data,
                           size_t n)
{
    uint64_t all = n < HEADER ? n : used_bytes(data, n) + n % 4;
    FUZZ_CHECK(s->bytes + s->skipped_bytes == all);
    FUZZ_CHECK(s->unknown <= s->entries);
}

/* Pieces of sizes that the seed gives; 0: all at once. */
static uint64_t walk(const uint8_t *data, size_t n, uint32_t seed)
{
    struct pfd_decoder *decoder = NULL;
    struct pfd_summary summary;
    struct pfd_item *item;
    struct said said = { 0 };
    uint8_t *view = NULL;
    size_t end = seed ? 0 : n;
    bool last = !seed;
    FUZZ_CHECK(pfd_decoder_new(strings, "llpc", "fuzz", &decoder, NULL) ==
               PFD_OK);
    for (;;) {
        uint64_t base = seed % 2 ? pfd_decoder_position(decoder) : 0;
        view = realloc(NULL, end - base + 1);
        FUZZ_CHECK(view && base <= end);
        memcpy(view, data + base, end - base);
        FUZZ_CHECK(pfd_decoder_view(decoder, view, end - base, base, last,
                                    NULL) == PFD_OK);
        enum pfd_status status;
        while ((status = pfd_decoder_next(decoder, &item, NULL)) == PFD_OK)
            say(&said, item);
        free(view);
        if (status == PFD_END)
            break;
        FUZZ_CHECK(status == PFD_MORE && !last);
        seed = seed * 1664525 + 1013904223;
        size_t more = seed >> 26;
        last = more >= n - end && (seed >> 8 & 1);
        end = more < n - end ? end + more : n;
    }
    summary = *pfd_decoder_summary(decoder);
    if (said.is_refused) {
        FUZZ_CHECK(summary.entries == 0);
    } else {
        check_accounts(&summary, data, n);
    }
    pfd_decoder_free(decoder);
    return mix(said.hash, &summary, sizeof summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint32_t seed = 0;
    if (!strings)
        strings = make_llpc_strings();
    if (n < PREFIX)
        return 0;
    memcpy(&seed, data, PREFIX);
    data += PREFIX;
    n -= PREFIX;
    uint64_t whole = walk(data, n, 0);
    FUZZ_CHECK(walk(data, n, seed | 1) == whole);
    FUZZ_CHECK(walk(data, n, (seed & ~1u) + 2) == whole);
    return 0;
}
