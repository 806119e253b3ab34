/* SPDX-License-Identifier: MIT */
/* A buffer decoded whole and in pieces, which must say the same. */
#ifndef PIECES_H
#define PIECES_H

#include <printfdecode/printfdecode.h>

#include "fuzz.h"

/* What is decoded, and how a target looks at it. */
struct pieces {
    const struct pfd_strings *strings;
    const char *format;
    struct pfd_options options;
    const uint8_t *data; /* [n] bytes */
    size_t n;
    /* Mixes all that an item says into the hash. *next: 0 at the start, then
     * the target's own. */
    uint64_t (*say)(uint64_t hash, struct pfd_item *item, uint64_t *next);
    /* Looks at the decoder at the end; may be NULL. */
    void (*check)(const struct pfd_decoder *d, const struct pieces *p);
};

static inline uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 0x100000001b3;
    return hash;
}

/* Decodes in pieces of [piece] bytes (0: whole); a hash of all that is said. */
static inline uint64_t decode_pieces(const struct pieces *p, size_t piece)
{
    struct pfd_decoder *d = NULL;
    struct pfd_item *item;
    uint64_t hash = 1;
    uint64_t next = 0;
    size_t n = p->n;
    size_t end = piece && piece < n ? piece : n;
    FUZZ_CHECK(pfd_decoder_new(p->strings, p->format, "fuzz", &d, NULL) ==
               PFD_OK);
    pfd_decoder_set_options(d, &p->options, NULL);
    FUZZ_CHECK(pfd_decoder_view(d, p->data, end, 0, end == n, NULL) == PFD_OK);
    for (;;) {
        enum pfd_status status = pfd_decoder_next(d, &item, NULL);
        if (status == PFD_OK) {
            hash = p->say(hash, item, &next);
            continue;
        }
        if (status == PFD_END)
            break;
        FUZZ_CHECK(status == PFD_MORE && end < n);
        end = n - end > piece ? end + piece : n;
        uint64_t from = pfd_decoder_position(d);
        FUZZ_CHECK(from <= end);
        FUZZ_CHECK(pfd_decoder_view(d, p->data + from, end - from, from,
                                    end == n, NULL) == PFD_OK);
    }
    if (p->check)
        p->check(d, p);
    pfd_decoder_free(d);
    return hash;
}

#endif
