/* SPDX-License-Identifier: MIT */
/*
 * One format of the list, FORMAT; meson makes a target of this for each. Input:
 * as any_format.h has it, and a byte for the pieces that the buffer comes in. In
 * pieces or whole, the same is said.
 */
#include <string.h>

#include "any_format.h"
#include "pieces.h"

static uint64_t say_arguments(uint64_t hash, struct pfd_entry *e)
{
    size_t n = 0;
    const struct pfd_argument *all = pfd_entry_arguments(e, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pfd_argument *a = &all[i];
        FUZZ_CHECK(a->at <= e->n_payload && a->n_bytes <= e->n_payload - a->at);
        if (a->type == PFD_ARGUMENT_TEXT) {
            hash = mix(hash, a->text, a->text ? a->n_bytes : 0);
        } else {
            hash = mix(hash, &a->u, sizeof a->u);
        }
    }
    return hash;
}

static uint64_t say_origins(uint64_t hash, struct pfd_entry *e)
{
    size_t n;
    const struct pfd_origin *o = pfd_entry_origins(e, &n);
    for (size_t i = 0; i < n; i++, o++) {
        hash = mix(hash, o->name, strlen(o->name));
        if (o->type == PFD_ORIGIN_TEXT) {
            hash = mix(hash, o->text, o->n);
        } else {
            hash = mix(hash, o->value, sizeof o->value[0]);
        }
    }
    return hash;
}

static uint64_t say_findings(uint64_t hash, const struct pfd_entry *e)
{
    hash = mix(hash, &e->findings, sizeof e->findings);
    for (uint64_t left = e->findings; left; left &= left - 1) {
        char text[200];
        pfd_entry_finding_text(e, (enum pfd_finding_kind)__builtin_ctzll(left),
                               text, sizeof text);
        hash = mix(hash, text, strlen(text));
    }
    return hash;
}

static uint64_t say(uint64_t hash, struct pfd_item *item, uint64_t *next)
{
    size_t n = 0;
    if (!item->is_entry)
        return mix(hash, item->finding->text, strlen(item->finding->text));
    struct pfd_entry *e = item->entry;
    FUZZ_CHECK(e->index == (*next)++);
    const char *message = pfd_entry_message(e, &n);
    hash = mix(hash, message, message ? n : 0);
    hash = mix(hash, &e->offset, sizeof e->offset);
    hash = mix(hash, &e->stream, 1);
    return say_findings(say_origins(say_arguments(hash, e), e), e);
}

static void check(const struct pfd_decoder *d, const struct pieces *p)
{
    struct pfd_summary s;
    (void)p;
    s = *pfd_decoder_summary(d);
    FUZZ_CHECK(s.unknown <= s.entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct any_format in;
    if (!any_format_read(&in, data, n))
        return 0;
    struct pieces pieces = {
        .strings = in.strings,
        .format = FORMAT,
        .options = in.options,
        .data = in.buffer.base,
        .n = in.buffer.n,
        .say = say,
        .check = check,
    };
    uint64_t whole = decode_pieces(&pieces, 0);
    size_t piece = 4 * (size_t)pfd_byte_reader_u8(&in.rest) + 1;
    FUZZ_CHECK(decode_pieces(&pieces, piece) == whole);
    pfd_strings_free(in.strings);
    return 0;
}
