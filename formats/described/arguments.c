/* SPDX-License-Identifier: MIT */
/* Types and places of a described ring's arguments. */
#include <string.h>

#include "layout.h"

/* ---- types ---- */

static const struct {
    const char *name;
    enum pfd_store store;
    char conv;
} types[] = {
    { "u8", PFD_STORE_BYTE, 'u' },   { "i8", PFD_STORE_BYTE, 'd' },
    { "u16", PFD_STORE_WORD, 'u' },  { "i16", PFD_STORE_WORD, 'd' },
    { "u32", PFD_STORE_DWORD, 'u' }, { "i32", PFD_STORE_DWORD, 'd' },
    { "u64", PFD_STORE_QWORD, 'u' }, { "i64", PFD_STORE_QWORD, 'd' },
    { "f16", PFD_STORE_WORD, 'f' },  { "f32", PFD_STORE_DWORD, 'f' },
    { "f64", PFD_STORE_QWORD, 'f' }, { "bf16", PFD_STORE_BFLOAT, 'f' },
    { "ptr", PFD_STORE_QWORD, 'x' },
};

bool described_type_of(const char *text, size_t n, struct described_type *ret)
{
    const char *x = memchr(text, 'x', n);
    size_t n_name = x ? (size_t)(x - text) : n;
    uint32_t count = x ? 0 : 1;
    for (size_t i = n_name + 1; i < n; i++) {
        if (text[i] < '0' || text[i] > '9' || count > 1)
            return false;
        count = count * 10 + (uint32_t)(text[i] - '0');
    }
    if (count < 1 || count > 16)
        return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) == n_name &&
            !memcmp(types[i].name, text, n_name)) {
            *ret =
                (struct described_type){ types[i].store, types[i].conv, count };
            return true;
        }
    }
    return false;
}

/* The type that a conversion asks for, where none is stated. */
static struct described_type type_of_step(const struct pfd_step *step, size_t n)
{
    bool is_wide = step->length == PFD_LENGTH_LONG ||
                   step->length == PFD_LENGTH_LONGF || step->conv == 'p';
    struct described_type ret = { PFD_STORE_DWORD, step->conv, (uint32_t)n };
    if (is_wide)
        ret.store = PFD_STORE_QWORD;
    return ret;
}

/* ---- places ---- */

struct layer {
    uint32_t n_payload; /* bytes that are there */
    uint32_t align;
    uint32_t at;
    struct pfd_slot *slots;
    size_t n_slots;
};

static bool add(struct layer *l, const struct described_type *t)
{
    l->at = (l->at + l->align - 1) / l->align * l->align;
    for (uint32_t i = 0; i < t->n; i++) {
        struct pfd_slot slot = { .at = l->at, .store = t->store & 15u };
        uint32_t n = pfd_slot_bytes(&slot);
        if (l->n_slots == PFD_ARGUMENTS_MAX || n > l->n_payload ||
            l->at > l->n_payload - n)
            return false;
        l->slots[l->n_slots++] = slot;
        l->at += n;
    }
    return true;
}

static void lay_out(struct layer *l, const struct pfd_string *s)
{
    const uint64_t *words = pfd_string_layout(s);
    bool ok = true;
    for (size_t i = 1; i < s->n_layout && ok; i++) {
        struct described_type t = described_unpack(words[i]);
        ok = add(l, &t);
    }
    if (s->n_layout)
        return;
    for (const struct pfd_step *step = s->steps;
         step->op != PFD_OP_END && ok;) {
        size_t n = 1;
        while (step[n].flags & PFD_STEP_JOIN)
            n++;
        struct described_type t = type_of_step(step, n);
        if (pfd_step_takes(step))
            ok = add(l, &t);
        step += n;
    }
}

/* Each argument begins at a multiple of this in the payload. */
enum {
    ARGUMENT_ALIGN = 4
};

void described_layout(const struct pfd_string *string,
                      const struct pfd_program_facts *facts,
                      struct pfd_layout *ret)
{
    struct layer l = {
        .n_payload = UINT32_MAX,
        .align = ARGUMENT_ALIGN,
        .slots = ret->slots,
    };
    (void)facts;
    if (string->key == RING_KEY)
        return;
    lay_out(&l, string);
    ret->n_slots = l.n_slots;
    ret->n_payload =
        (l.at + ARGUMENT_ALIGN - 1) / ARGUMENT_ALIGN * ARGUMENT_ALIGN;
}

size_t described_slots(const struct pfd_record_view *record_view,
                       struct pfd_slot *ret, uint64_t *findings)
{
    struct layer l = {
        .n_payload = (uint32_t)pfd_byte_reader_left(&record_view->bytes),
        .align = ARGUMENT_ALIGN,
        .slots = ret,
    };
    (void)findings;
    if (record_view->record->string)
        lay_out(&l, record_view->record->string);
    return l.n_slots;
}
