/* SPDX-License-Identifier: MIT */
/*
 * ROCm's buffers with a code object. Input: a byte for the format and the
 * options, a byte for the pieces that the buffer comes in, the bytes of the
 * rows (2), the rows with a NUL after each, the buffer. In pieces or whole, the
 * same is said, and every used byte is in an entry or skipped.
 */
#include <string.h>

#include "pieces.h"

enum {
    PREFIX = 4,
    ELF_HEADER = 64,
    PROGRAM_HEADER = 56,
    ROOM = 1 << 18,
};

struct writer {
    uint8_t bytes[ROOM];
    size_t n;
};

static void put(struct writer *w, const void *bytes, size_t n)
{
    FUZZ_CHECK(n <= ROOM - w->n);
    memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

static void put_number(struct writer *w, uint64_t v, size_t n)
{
    put(w, &v, n);
}

static void put_big(struct writer *w, uint8_t type, uint32_t v)
{
    const uint8_t bytes[] = { type, (uint8_t)(v >> 24), (uint8_t)(v >> 16),
                              (uint8_t)(v >> 8), (uint8_t)v };
    put(w, bytes, sizeof bytes);
}

/* {"amdhsa.printf": [rows]} in MessagePack. */
static void put_metadata(struct writer *w, const uint8_t *rows, size_t n)
{
    uint32_t n_rows = 0;
    for (size_t i = 0; i < n; i++)
        n_rows += rows[i] == 0;
    put(w,
        "\x81\xad"
        "amdhsa.printf",
        15);
    put_big(w, 0xdd, n_rows);
    for (size_t i = 0, from = 0; i < n; i++) {
        if (rows[i])
            continue;
        put_big(w, 0xdb, (uint32_t)(i - from));
        put(w, rows + from, i - from);
        from = i + 1;
    }
}

/* A code object that is a note and what shows where it is. */
static void put_elf(struct writer *w, const uint8_t *rows, size_t n)
{
    static const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, 64, 2 };
    static struct writer note;
    note.n = 0;
    put_metadata(&note, rows, n);
    put(w, ident, sizeof ident);
    put_number(w, 3 | 224 << 16, 4);
    put_number(w, 1, 4);
    put_number(w, 0, 8);
    put_number(w, ELF_HEADER, 8);
    put_number(w, 0, 8);
    put_number(w, 0, 4);
    put_number(w, ELF_HEADER | PROGRAM_HEADER << 16, 4);
    put_number(w, 1, 8);
    put_number(w, 4 | UINT64_C(4) << 32, 8);
    for (int i = 0; i < 3; i++)
        put_number(w, ELF_HEADER + PROGRAM_HEADER, 8);
    for (int i = 0; i < 2; i++)
        put_number(w, 20 + note.n, 8);
    put_number(w, 4, 8);
    put_number(w, 7, 4);
    put_number(w, note.n, 4);
    put_number(w, 32, 4);
    put(w, "AMDGPU\0", 8);
    put(w, note.bytes, note.n);
}

static uint64_t say_argument(uint64_t hash, const struct pfd_argument *a)
{
    if (a->type != PFD_ARGUMENT_TEXT)
        return mix(hash, &a->u, sizeof a->u);
    return mix(hash, a->text, a->text ? a->n_bytes : 0);
}

static uint64_t say(uint64_t hash, struct pfd_item *item, uint64_t *next)
{
    (void)next;
    struct pfd_argument argument;
    struct pfd_origin origin;
    size_t n = 0;
    if (!item->is_entry)
        return mix(hash, item->finding.text, strlen(item->finding.text));
    struct pfd_entry *e = &item->entry;
    const char *message = pfd_entry_message(e, &n);
    hash = mix(hash, message, message ? n : 0);
    hash = mix(hash, &e->offset, sizeof e->offset);
    hash = mix(hash, &e->findings, sizeof e->findings);
    hash = mix(hash, &e->stream, 1);
    for (size_t i = 0; pfd_entry_argument(e, i, &argument) == PFD_OK; i++) {
        FUZZ_CHECK(argument.at <= e->n_payload &&
                   argument.n_bytes <= e->n_payload - argument.at);
        hash = say_argument(hash, &argument);
    }
    for (size_t i = 0; pfd_entry_origin(e, i, &origin) == PFD_OK; i++)
        hash = mix(hash, origin.value, sizeof origin.value[0]);
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
    pfd_decoder_summary(d, &s);
    FUZZ_CHECK(s.unknown <= s.entries);
    if (!strcmp(pfd_decoder_format(d), "hostcall"))
        return;
    if (n >= 8)
        memcpy(&used, p->data, sizeof used);
    uint64_t held = n < 8 ? n : n - 8 < used ? n - 8 : used;
    FUZZ_CHECK(s.bytes + s.skipped_bytes == held);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const formats[] = { "opencl", "hip", "hostcall" };
    static struct writer object;
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
    object.n = 0;
    put_elf(&object, data, n_rows);
    FUZZ_CHECK(pfd_strings_load(strings, object.bytes, object.n, "fuzz", NULL,
                                NULL, NULL) == PFD_OK);
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
