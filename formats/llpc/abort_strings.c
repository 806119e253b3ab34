/* SPDX-License-Identifier: MIT */
/*
 * Messages of OpAbortKHR (LLPC's document DdnDebugPrintf.md, "Shader abort"):
 * their constant dwords are in the metadata, the others in the entry.
 */
#include "core/base/escape.h"
#include "layout.h"

enum {
    DWORD = 4,
    BITS = 64,
};

/* Reads the dwords of a message in order. */
struct message {
    const uint64_t *status;
    const uint64_t *constants;
    size_t next_constant;
    bool is_whole; /* the entry holds the constants as well */
    struct pfd_byte_reader payload;
};

static struct message open_message(const struct pfd_record_view *record_view)
{
    const struct pfd_string *s = record_view->record->string;
    uint32_t n = llpc_abort_dwords(s);
    const uint64_t *words = pfd_string_layout(s);
    size_t left = pfd_byte_reader_left(&record_view->bytes) / DWORD;
    return (struct message){
        .status = words + 1,
        .constants = words + 1 + (n + BITS - 1) / BITS,
        .is_whole = left != s->n_arguments && left == n,
        .payload = record_view->bytes,
    };
}

/* Dword i; the last one was i - 1. False: the entry does not hold it. */
static bool next_dword(struct message *m, uint32_t i, uint32_t *ret)
{
    if (m->status[i / BITS] >> (i % BITS) & 1) {
        size_t k = m->next_constant++;
        *ret = (uint32_t)(m->constants[k / 2] >> (32 * (k % 2)));
        if (m->is_whole)
            pfd_byte_reader_skip(&m->payload, DWORD);
        return true;
    }
    *ret = pfd_byte_reader_u32(&m->payload);
    return pfd_byte_reader_ok(&m->payload);
}

/* Adds the text that the message begins with: up to a NUL, if it is
 * printable. */
static void add_text(struct pfd_text *out, const char *bytes, size_t n)
{
    size_t n_text = 0;
    while (n_text < n && bytes[n_text])
        n_text++;
    if (!n_text || !pfd_is_plain(bytes, n_text) || !pfd_is_utf8(bytes, n_text))
        return;
    pfd_text_puts(out, " \"");
    pfd_text_add(out, bytes, n_text);
    pfd_text_puts(out, "\"");
}

void llpc_abort_make(const struct pfd_record_view *record_view,
                     struct pfd_synthesized *ret)
{
    struct message m = open_message(record_view);
    uint32_t n = llpc_abort_dwords(record_view->record->string);
    struct pfd_text bytes = { 0 };
    uint32_t dword = 0;
    pfd_text_puts(ret->text, "shader abort:");
    for (uint32_t i = 0; i < n; i++) {
        if (next_dword(&m, i, &dword)) {
            pfd_text_printf(ret->text, " %08x", dword);
            pfd_text_add(&bytes, &dword, DWORD);
        } else {
            pfd_text_puts(ret->text, " ????????");
            pfd_text_add(&bytes, "", 1); /* text ends at an unknown dword */
        }
    }
    if (bytes.n)
        add_text(ret->text, bytes.data, bytes.n);
    pfd_text_puts(ret->text, "\n");
    ret->text->failed |= bytes.failed;
    pfd_text_free(&bytes);
    ret->literal = true;
    size_t n_payload = pfd_byte_reader_left(&record_view->bytes) / DWORD;
    for (; ret->n_slots < n_payload && ret->n_slots < PFD_ARGUMENTS_MAX;
         ret->n_slots++) {
        ret->slots[ret->n_slots] =
            (struct pfd_slot){ .at = (uint32_t)ret->n_slots * DWORD,
                               .store = PFD_STORE_DWORD };
    }
}
