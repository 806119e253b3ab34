/* SPDX-License-Identifier: MIT */
/* The values of an entry, which have their types before them. */
#include <string.h>

#include "layout.h"

static const struct {
    uint8_t store;
    uint8_t element;
    uint8_t room; /* bytes for each component */
} types[] = {
    [INTEL_BYTE] = { PFD_STORE_BYTE32, 4, 4 },
    [INTEL_SHORT] = { PFD_STORE_WORD32, 4, 4 },
    [INTEL_INT] = { PFD_STORE_DWORD, 4, 4 },
    [INTEL_FLOAT] = { PFD_STORE_DWORD, 4, 4 },
    [INTEL_STRING] = { PFD_STORE_STRING, 0, 0 }, /* as the entry's reference */
    [INTEL_LONG] = { PFD_STORE_QWORD, 8, 8 },
    [INTEL_POINTER] = { PFD_STORE_QWORD, 8, 8 },
    [INTEL_DOUBLE] = { PFD_STORE_QWORD, 8, 8 },
    /* Bytes and shorts of vectors are packed at the front of their room. */
    [INTEL_VECTORS] = { PFD_STORE_BYTE, 1, 4 },
    [INTEL_VECTORS + 1] = { PFD_STORE_WORD, 2, 4 },
    [INTEL_VECTORS + 2] = { PFD_STORE_DWORD, 4, 4 },
    [INTEL_VECTORS + 3] = { PFD_STORE_QWORD, 8, 8 },
    [INTEL_VECTOR_FLOAT] = { PFD_STORE_DWORD, 4, 4 },
    [INTEL_VECTOR_DOUBLE] = { PFD_STORE_QWORD, 8, 8 },
};

enum {
    N_TYPES = sizeof types / sizeof *types,
    COMPONENTS_MAX = 16,
    TEXT_LENGTH = 4, /* bytes before a text that a record carries */
};

enum intel_found intel_next_value(const struct pfd_byte_reader *payload,
                                  uint32_t n_header, uint32_t *at,
                                  struct intel_value *ret)
{
    struct pfd_byte_reader c = *payload;
    pfd_byte_reader_seek(&c, *at);
    ret->type = pfd_byte_reader_u32(&c);
    if (!pfd_byte_reader_ok(&c))
        return INTEL_CUT;
    if (!ret->type || ret->type >= N_TYPES)
        return INTEL_NO_TAG;
    ret->n = ret->type >= INTEL_VECTORS ? pfd_byte_reader_u32(&c) : 1;
    if (!pfd_byte_reader_ok(&c))
        return INTEL_CUT;
    if (!ret->n || ret->n > COMPONENTS_MAX)
        return INTEL_NO_TAG;
    uint32_t room = types[ret->type].room;
    ret->at = (uint32_t)c.at;
    ret->element = types[ret->type].element;
    ret->store = (enum pfd_store)types[ret->type].store;
    if (ret->type == INTEL_STRING)
        room = ret->element = n_header;
    pfd_byte_reader_skip(&c, (size_t)room * ret->n);
    if (!pfd_byte_reader_ok(&c))
        return INTEL_CUT;
    *at = (uint32_t)c.at;
    return INTEL_VALUE;
}

const struct pfd_step *intel_next_step(const struct pfd_step **step,
                                       uint32_t *n)
{
    const struct pfd_step *s = *step;
    while (s->op != PFD_OP_END && !pfd_step_takes(s))
        s++;
    if (s->op == PFD_OP_END)
        return NULL;
    *step = s + 1;
    for (*n = 1; (*step)->flags & PFD_STEP_JOIN; ++*step)
        ++*n;
    return s;
}

enum kind {
    KIND_INTEGER,
    KIND_FLOAT,
    KIND_TEXT,
};

static enum kind kind_of(const struct intel_value *v)
{
    if (v->type == INTEL_STRING)
        return KIND_TEXT;
    return v->type == INTEL_FLOAT || v->type == INTEL_DOUBLE ||
                   v->type >= INTEL_VECTOR_FLOAT
               ? KIND_FLOAT
               : KIND_INTEGER;
}

static enum kind kind_printed(char conv)
{
    return conv == 's'                ? KIND_TEXT
           : strchr("aAeEfFgG", conv) ? KIND_FLOAT
                                      : KIND_INTEGER;
}

/* Is a value one that the conversion prints? */
static bool is_of(const struct intel_value *v, const struct pfd_step *s,
                  uint32_t n)
{
    return v->n == n && kind_of(v) == kind_printed(s->conv);
}

bool intel_measure(const struct pfd_byte_reader *payload, uint32_t n_header,
                   const struct pfd_string *s, uint32_t *n_bytes, bool *fits)
{
    const struct pfd_step *step = s->steps;
    const struct pfd_step *conversion;
    struct intel_value v;
    uint32_t n = 0;
    uint32_t at = 0;
    *fits = true;
    while ((conversion = intel_next_step(&step, &n)) != NULL) {
        enum intel_found found = intel_next_value(payload, n_header, &at, &v);
        if (found == INTEL_CUT)
            return false;
        *fits = *fits && found == INTEL_VALUE && is_of(&v, conversion, n);
        if (found == INTEL_NO_TAG)
            break; /* the call has fewer values than conversions */
    }
    *n_bytes = at;
    return true;
}

/* ---- members of the format ---- */

void intel_layout(const struct pfd_string *string,
                  const struct pfd_program_facts *facts, struct pfd_layout *ret)
{
    (void)string;
    ret->n_payload = 0;
    for (uint32_t i = 0; i < facts->n_scalars && i < PFD_ARGUMENTS_MAX; i++) {
        ret->slots[ret->n_slots++] =
            (struct pfd_slot){ .at = i * INTEL_DWORD,
                               .store = PFD_STORE_DWORD };
        ret->n_payload += INTEL_DWORD;
    }
}

bool intel_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    return (r->n_header == INTEL_BY_INDEX || r->n_header == INTEL_BY_ADDRESS) &&
           (r->string ? r->layout == 1 && r->key == r->string->key
                      : !r->layout && !(r->flags & PFD_RECORD_SYNTHESIZED)) &&
           !(r->flags & ~(PFD_RECORD_COPIED | PFD_RECORD_SYNTHESIZED));
}

/* The next text that a record carries; where its reference leads to none, the
 * reference, which no %s prints. */
static struct pfd_slot carried(struct pfd_byte_reader *texts,
                               const struct intel_value *v)
{
    bool is_wide = v->element == INTEL_BY_ADDRESS;
    struct pfd_slot ret = {
        .at = v->at,
        .store = is_wide ? PFD_STORE_QWORD : PFD_STORE_DWORD,
    };
    uint32_t n = pfd_byte_reader_u32(texts);
    uint32_t at = (uint32_t)texts->at;
    if (n == UINT32_MAX || !pfd_byte_reader_bytes(texts, n))
        return ret;
    ret.at = at;
    ret.store = PFD_STORE_STRING;
    ret.n_bytes = n & PFD_STRING_NULL;
    return ret;
}

static size_t add_value(struct pfd_slot *ret, size_t n_slots,
                        const struct intel_value *v, uint32_t n)
{
    for (uint32_t i = 0; i < n && n_slots < PFD_ARGUMENTS_MAX; i++) {
        ret[n_slots++] = i < v->n ? (struct pfd_slot){
            .at = v->at + i * v->element,
            .store = (unsigned)v->store & 15,
        } : (struct pfd_slot){ .store = PFD_STORE_NONE };
    }
    return n_slots;
}

/* The values of a record, and the texts behind them. */
static struct pfd_byte_reader payload_of(
    const struct pfd_record_view *record_view, struct pfd_byte_reader *texts)
{
    const struct pfd_record *r = record_view->record;
    struct pfd_byte_reader c = record_view->bytes;
    size_t n = pfd_byte_reader_left(&c);
    size_t n_values = r->n_bytes > r->n_header ? r->n_bytes - r->n_header : 0;
    struct pfd_byte_reader ret =
        pfd_byte_reader(pfd_byte_reader_bytes(&c, n), n);
    *texts = ret;
    ret.n = n_values < n ? n_values : n;
    pfd_byte_reader_seek(texts, ret.n);
    return ret;
}

size_t intel_slots(const struct pfd_record_view *record_view,
                   struct pfd_slot *ret, uint64_t *findings)
{
    const struct pfd_record *r = record_view->record;
    struct pfd_byte_reader texts;
    struct pfd_byte_reader payload = payload_of(record_view, &texts);
    const struct pfd_step *step = r->string->steps;
    struct intel_value v;
    uint32_t at = 0;
    uint32_t n = 0;
    size_t n_slots = 0;
    (void)findings;
    while (intel_next_step(&step, &n) &&
           intel_next_value(&payload, r->n_header, &at, &v) == INTEL_VALUE) {
        if (v.type == INTEL_STRING && n_slots < PFD_ARGUMENTS_MAX) {
            ret[n_slots++] = carried(&texts, &v);
            n--;
            v.n = 0;
        }
        n_slots = add_value(ret, n_slots, &v, n);
    }
    return n_slots;
}

/* ---- values of another type than their conversion's ---- */

void intel_make(const struct pfd_record_view *record_view,
                struct pfd_synthesized *ret)
{
    const struct pfd_string *s = record_view->record->string;
    pfd_text_add(ret->text, pfd_string_text(s), s->n_text);
    ret->lay_out = true;
}

static void set_letter(struct pfd_step *s, enum kind kind)
{
    static const char letters[] = { 'd', 'g', 's' };
    s->conv = letters[kind];
    s->length = PFD_LENGTH_NONE;
    s->precision = kind == KIND_FLOAT ? 6 : -1;
}

uint64_t intel_adapt(const struct pfd_record_view *record_view,
                     struct pfd_step *steps, size_t n_steps)
{
    const struct pfd_record *r = record_view->record;
    struct pfd_byte_reader texts;
    struct pfd_byte_reader payload = payload_of(record_view, &texts);
    const struct pfd_step *step = steps;
    const struct pfd_step *conversion;
    struct intel_value v;
    uint64_t ret = 0;
    uint32_t at = 0;
    uint32_t n = 0;
    (void)n_steps;
    while ((conversion = intel_next_step(&step, &n)) != NULL &&
           intel_next_value(&payload, r->n_header, &at, &v) == INTEL_VALUE) {
        if (is_of(&v, conversion, n))
            continue;
        ret = PFD_FINDING_BIT(type_mismatch);
        if (kind_of(&v) == kind_printed(conversion->conv))
            continue; /* of other components */
        for (uint32_t i = 0; i < n; i++)
            set_letter(&steps[(conversion - steps) + i], kind_of(&v));
    }
    return ret;
}
