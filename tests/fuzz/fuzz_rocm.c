/* SPDX-License-Identifier: MIT */
/*
 * ROCm's buffers with a code object. Input: a byte for the format and the
 * options, a byte for the pieces that the buffer comes in, the bytes of the
 * rows (2), the rows with a NUL after each, the buffer. In pieces or whole, the
 * same is said, and every used byte is in an entry or skipped.
 */
#include <string.h>

#include "code_object.h"
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
    (void)next;
    size_t n = 0;
    if (!item->is_entry)
        return mix(hash, item->finding->text, strlen(item->finding->text));
    struct pfd_entry *e = item->entry;
    const char *message = pfd_entry_message(e, &n);
    hash = mix(hash, message, message ? n : 0);
    hash = mix(hash, &e->offset, sizeof e->offset);
    hash = mix(hash, &e->findings, sizeof e->findings);
    hash = mix(hash, &e->stream, 1);
    const struct pfd_argument *arguments = pfd_entry_arguments(e, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pfd_argument *a = &arguments[i];
        FUZZ_CHECK(a->at <= e->n_payload && a->n_bytes <= e->n_payload - a->at);
        hash = say_argument(hash, a);
    }
    const struct pfd_origin *origins = pfd_entry_origins(e, &n);
    for (size_t i = 0; i < n; i++)
        hash = mix(hash, origins[i].value, sizeof origins[i].value[0]);
    for (uint64_t left = e->findings; left; left &= left - 1) {
        char text[200];
        pfd_entry_finding_text(e, (enum pfd_finding_kind)__builtin_ctzll(left),
                               text, sizeof text);
        hash = mix(hash, text, strlen(text));
    }
    return hash;
}

/* OpenCL's and HIP's headers say how much is used. */
static void check_accounts(const struct pfd_decoder *d, const struct pieces *p)
{
    struct pfd_summary s;
    uint32_t used = 0;
    size_t n = p->n;
    s = *pfd_decoder_summary(d);
    FUZZ_CHECK(s.unknown <= s.entries);
    const char *name = pfd_decoder_format(d);
    if (!name || !strcmp(name, "hostcall"))
        return;
    if (n >= 8)
        memcpy(&used, p->data, sizeof used);
    uint64_t held = n < 8 ? n : n - 8 < used ? n - 8 : used;
    FUZZ_CHECK(s.bytes + s.skipped_bytes == held);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const formats[] = { "opencl", "hip", "hostcall" };
    if (n < PREFIX)
        return 0;
    struct pfd_options options = {
        .compat = data[0] & 4 ? PFD_COMPAT_CLR : PFD_COMPAT_NONE,
        .opencl_strings = (enum pfd_opencl_strings)((data[0] >> 3) % 3),
    };
    const char *format = formats[(data[0] & 3) % 3];
    size_t piece = 16 * (size_t)data[1] + 1;
    size_t n_rows = data[2] | (size_t)data[3] << 8;
    data += PREFIX;
    n -= PREFIX;
    if (n_rows > n)
        n_rows = n;
    struct pfd_strings *strings = pfd_strings_new();
    FUZZ_CHECK(strings);
    load_rows(strings, data, n_rows);
    data += n_rows;
    n -= n_rows;
    struct pieces pieces = {
        .strings = strings,
        .format = format,
        .options = options,
        .data = data,
        .n = n,
        .say = say,
        .check = check_accounts,
    };
    uint64_t whole = decode_pieces(&pieces, 0);
    FUZZ_CHECK(decode_pieces(&pieces, piece) == whole);
    pfd_strings_free(strings);
    return 0;
}
