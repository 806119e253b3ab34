/* SPDX-License-Identifier: MIT */
/* Where the arguments of an id buffer's entries are. */
#include <string.h>

#include "core/decode/id_buffer.h"

enum {
    DWORD = 4,
    /* The first layout word: sizes, bytes of literals, rules. */
    LITERALS_SHIFT = 16,
    RULES_SHIFT = 48,
};

static uint32_t aligned(uint32_t n)
{
    return (n + DWORD - 1) / DWORD * DWORD;
}

bool pfd_id_layout_make(struct pfd_id_layout *ret, unsigned rules,
                        const uint32_t *sizes, size_t n_sizes,
                        const char *literals, size_t n_literals)
{
    uint64_t total = 0;
    if (n_sizes > PFD_ID_SIZES_MAX)
        return false;
    size_t n = 1 + (n_sizes + 1) / 2;
    if (n_literals > (PFD_LAYOUT_MAX - n) * 8)
        return false;
    ret->n = n + (n_literals + 7) / 8;
    memset(ret->words, 0, ret->n * sizeof *ret->words);
    ret->words[0] = n_sizes | (uint64_t)n_literals << LITERALS_SHIFT |
                    (uint64_t)rules << RULES_SHIFT;
    for (size_t i = 0; i < n_sizes; i++) {
        total += sizes[i];
        if (total > PFD_ID_SIZE_MAX)
            return false;
        ret->words[1 + i / 2] |= (uint64_t)sizes[i] << 32 * (i % 2);
    }
    if (n_literals)
        memcpy(ret->words + n, literals, n_literals);
    return true;
}

/* Reads the words of a string. */
struct sizes {
    const uint64_t *words;
    size_t n;
    size_t n_literals;
    unsigned rules;
};

static struct sizes sizes_of(const struct pfd_string *s)
{
    static const uint64_t none = 0;
    const uint64_t *words = s->n_layout ? pfd_string_layout(s) : &none;
    struct sizes ret = {
        .words = words,
        .n = words[0] & UINT16_MAX,
        .n_literals = words[0] >> LITERALS_SHIFT & UINT32_MAX,
        .rules = (unsigned)(words[0] >> RULES_SHIFT),
    };
    size_t n_words = 1 + (ret.n + 1) / 2 + (ret.n_literals + 7) / 8;
    return n_words <= s->n_layout ? ret : (struct sizes){ .words = &none };
}

static uint32_t size_at(const struct sizes *sizes, size_t i)
{
    return (uint32_t)(sizes->words[1 + i / 2] >> 32 * (i % 2));
}

const char *pfd_id_literals(const struct pfd_string *string, size_t *n)
{
    struct sizes sizes = sizes_of(string);
    *n = sizes.n_literals;
    return (const char *)(sizes.words + 1 + (sizes.n + 1) / 2);
}

static uint32_t payload_of(const struct sizes *sizes)
{
    uint32_t n = 0;
    for (size_t i = 0; i < sizes->n; i++) {
        uint32_t size = size_at(sizes, i);
        n += sizes->rules & PFD_ID_WHOLE_DWORDS ? size : aligned(size);
    }
    return n / DWORD * DWORD;
}

struct layer {
    struct pfd_byte_reader texts; /* of %s, behind the arguments */
    uint32_t n_payload;
    struct pfd_slot *slots;
    size_t n_slots;
};

static bool add_slot(struct layer *l, uint32_t at, uint32_t size,
                     enum pfd_store store)
{
    if (l->n_slots == PFD_ARGUMENTS_MAX || size > l->n_payload ||
        at > l->n_payload - size)
        return false;
    l->slots[l->n_slots++] = (struct pfd_slot){
        .at = at,
        .store = (unsigned)store & 15,
        .n_bytes = size & PFD_STRING_NULL,
    };
    return true;
}

/* STRING for a size that no scalar has: shown, but printed by no number's
 * conversion. */
static enum pfd_store store_of(uint32_t size)
{
    static const uint8_t stores[] = {
        [1] = PFD_STORE_BYTE,
        [2] = PFD_STORE_WORD,
        [4] = PFD_STORE_DWORD,
        [8] = PFD_STORE_QWORD,
    };
    return size < sizeof stores && stores[size] ? (enum pfd_store)stores[size]
                                                : PFD_STORE_STRING;
}

/* Bytes of each of n components; the modifier says them where more were
 * reserved. */
static uint32_t element_of(const struct pfd_step *step, uint32_t n,
                           uint32_t size, unsigned rules)
{
    static const uint8_t by_length[] = {
        [PFD_LENGTH_HH] = 1,
        [PFD_LENGTH_H] = 2,
        [PFD_LENGTH_HL] = 4,
        [PFD_LENGTH_LONG] = 8,
    };
    uint32_t stated =
        step->length < sizeof by_length ? by_length[step->length] : 0;
    uint32_t room = n == 3 && rules & PFD_ID_THREE_AS_FOUR ? 4 : n;
    return n > 1 && stated && n * stated <= size ? stated : size / room;
}

/* The text of a %s, if the walk stored one. */
static bool add_text(struct layer *l)
{
    struct pfd_byte_reader *c = &l->texts;
    uint32_t n = pfd_byte_reader_u32(c);
    if (n == UINT32_MAX || !pfd_byte_reader_ok(c) ||
        n > pfd_byte_reader_left(c))
        return false;
    uint32_t at = (uint32_t)c->at;
    pfd_byte_reader_skip(c, n);
    l->slots[l->n_slots++] = (struct pfd_slot){
        .at = at,
        .store = PFD_STORE_STRING,
        .n_bytes = n & PFD_STRING_NULL,
    };
    return true;
}

static size_t components(const struct pfd_step *step)
{
    size_t n = 1;
    if (step->op == PFD_OP_END)
        return n;
    while (step[n].flags & PFD_STEP_JOIN)
        n++;
    return n;
}

bool pfd_id_next_argument(const struct pfd_string *string,
                          struct pfd_id_argument *a)
{
    struct sizes sizes = sizes_of(string);
    if (!a->step) {
        a->step = string->steps;
    } else {
        a->at += aligned(a->size);
        a->i++;
        a->step += a->step->op != PFD_OP_END ? a->n : 0;
    }
    if (a->i >= sizes.n)
        return false;
    while (a->step->op != PFD_OP_END && !pfd_step_takes(a->step))
        a->step++;
    a->size = size_at(&sizes, a->i);
    a->n = components(a->step);
    a->is_text = a->n == 1 && a->step->conv == 's';
    return true;
}

static bool lay_values(struct layer *l, const struct pfd_id_argument *a,
                       unsigned rules)
{
    uint32_t element = a->size;
    bool ok = true;
    if (a->n > 1)
        element = element_of(a->step, (uint32_t)a->n, a->size, rules);
    for (uint32_t k = 0; k < a->n && ok; k++)
        ok = add_slot(l, a->at + k * element, element, store_of(element));
    return ok;
}

static void lay_out(struct layer *l, const struct pfd_string *s)
{
    unsigned rules = sizes_of(s).rules;
    struct pfd_id_argument a = { 0 };
    bool ok = true;
    while (ok && pfd_id_next_argument(s, &a)) {
        bool is_text = a.is_text && l->texts.n &&
                       l->n_slots < PFD_ARGUMENTS_MAX && add_text(l);
        ok = is_text || lay_values(l, &a, rules);
    }
}

void pfd_id_buffer_layout(const struct pfd_string *string,
                          const struct pfd_program_facts *facts,
                          struct pfd_layout *ret)
{
    struct sizes sizes = sizes_of(string);
    struct layer l = { .slots = ret->slots };
    (void)facts;
    l.n_payload = ret->n_payload = payload_of(&sizes);
    lay_out(&l, string);
    ret->n_slots = l.n_slots;
}

bool pfd_id_buffer_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    if (r->n_header != PFD_ID_HEADER || r->layout > 1 ||
        r->flags & ~PFD_RECORD_COPIED)
        return false;
    return !r->string ||
           (r->key == r->string->key &&
            pfd_byte_reader_left(&record_view->bytes) >= r->string->n_payload);
}

size_t pfd_id_buffer_slots(const struct pfd_record_view *record_view,
                           struct pfd_slot *ret, uint64_t *findings)
{
    const struct pfd_string *s = record_view->record->string;
    struct pfd_byte_reader payload = record_view->bytes;
    struct layer l = { .n_payload = s->n_payload, .slots = ret };
    (void)findings;
    size_t n = pfd_byte_reader_left(&payload);
    l.texts = pfd_byte_reader(pfd_byte_reader_bytes(&payload, n), n);
    pfd_byte_reader_skip(&l.texts, s->n_payload);
    if (!record_view->record->layout)
        l.texts.n = 0;
    lay_out(&l, s);
    return l.n_slots;
}
