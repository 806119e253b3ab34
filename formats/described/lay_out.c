/* SPDX-License-Identifier: MIT */
/* How the arguments of a message and of an entry lie, by types, text or tags. */
#include "arguments.h"
#include "brace_text.h"

enum {
    /* Where a place has to begin, of a ring whose messages state no types. */
    ALIGN_DEFAULT = 4,
};

/* The next argument of a message's text: letter of its conversion and the
 * components; 0: there is none. */
static char next_conversion(const struct pfd_step **step,
                            struct described_type *t)
{
    const struct pfd_step *s = *step;
    while (s->op != PFD_OP_END && !pfd_step_takes(s))
        s++;
    if (s->op == PFD_OP_END)
        return 0;
    uint32_t n = 1;
    while (s[n].flags & PFD_STEP_JOIN)
        n++;
    bool is_wide = s->length == PFD_LENGTH_LONG ||
                   s->length == PFD_LENGTH_LONGF || s->conv == 'p';
    *t = (struct described_type){
        .store = is_wide && s->conv != 's' ? PFD_STORE_QWORD : PFD_STORE_DWORD,
        .conv = s->conv,
        .n = n,
        .run = n,
        .text = s->conv == 's' ? TEXT_ID : TEXT_NONE,
    };
    *step = s + n;
    return s->conv;
}

static bool add_by_text(struct arguments *a, const struct pfd_string *s)
{
    const struct pfd_step *step = s->steps;
    struct described_type t;
    bool ok = true;
    while (ok && next_conversion(&step, &t))
        ok = arguments_add(a, &t);
    return ok;
}

/* A value with a name that a conversion prints as a number is one. *step: NULL:
 * the type says all. */
static struct described_type as_printed(uint64_t word,
                                        const struct pfd_step **step)
{
    struct described_type ret = described_unpack(word);
    struct described_type by_text;
    for (uint32_t i = 0; *step && i < ret.n;) {
        char conv = next_conversion(step, &by_text);
        if (conv && conv != 's' && ret.text == TEXT_NAME)
            ret.text = TEXT_NONE;
        i += conv ? by_text.n : ret.n;
    }
    return ret;
}

static const struct pfd_step *first_step(const struct pfd_string *s)
{
    return s->flags & PFD_STRING_OWN ? NULL : s->steps;
}

static bool add_by_types(struct arguments *a, const struct pfd_string *s)
{
    const uint64_t *words = pfd_string_layout(s);
    const struct pfd_step *step = first_step(s);
    bool ok = true;
    size_t n = described_n_types(s);
    for (size_t i = 1; i <= n && ok; i++) {
        struct described_type t = as_printed(words[i], &step);
        ok = arguments_add(a, &t);
    }
    return ok;
}

/* The largest elements first: in a pass for each size, the slots of others are
 * passed over. */
static bool add_by_size(struct arguments *a, const struct pfd_string *s)
{
    const uint64_t *words = pfd_string_layout(s);
    size_t n = described_n_types(s);
    size_t n_slots = 0;
    bool ok = true;
    for (uint32_t size = 8; size && ok; size /= 2) {
        const struct pfd_step *step = first_step(s);
        a->n_slots = 0;
        for (size_t i = 1; i <= n && ok; i++) {
            struct described_type t = as_printed(words[i], &step);
            if (arguments_size(&t) == size) {
                ok = arguments_add(a, &t);
            } else {
                a->n_slots += t.n;
            }
            ok &= a->n_slots <= PFD_ARGUMENTS_MAX;
        }
        n_slots = a->n_slots > n_slots ? a->n_slots : n_slots;
    }
    a->n_slots = ok ? n_slots : 0;
    return ok;
}

bool arguments_lay_out(struct arguments *a, const struct pfd_string *s)
{
    uint64_t facts = described_facts(s);
    a->align = s->n_layout ? (uint32_t)(facts >> FACT_ALIGN) : ALIGN_DEFAULT;
    if (!(facts & FACT_TYPES))
        return add_by_text(a, s);
    return facts & FACT_ORDER ? add_by_size(a, s) : add_by_types(a, s);
}

bool described_has_texts(const struct pfd_table *table,
                         const struct pfd_string *s)
{
    uint64_t facts = s ? described_facts(s) : FACT_TAGS;
    if (facts & FACT_TAGS)
        return pfd_table_find(table, RING_KEY) != NULL;
    return s->flags & PFD_STRING_CHAR &&
           (facts & FACT_TEXTS || !(facts & FACT_TYPES));
}

bool described_lay_out(struct arguments *a, const struct pfd_table *table,
                       const struct pfd_string *s, struct described_tags *tags)
{
    const struct pfd_string *ring = pfd_table_find(table, RING_KEY);
    if (s && !(described_facts(s) & FACT_TAGS))
        return arguments_lay_out(a, s);
    return ring && ring->n_layout >= RING_NUMBERS &&
           tags_lay_out(a, ring, tags);
}

/* ---- members of the format ---- */

void described_layout(const struct pfd_string *string,
                      const struct pfd_program_facts *facts,
                      struct pfd_layout *ret)
{
    struct arguments a = {
        .n_payload = UINT32_MAX,
        .slots = ret->slots,
    };
    (void)facts;
    if (string->key >= RESERVED_KEY || described_facts(string) & FACT_TAGS)
        return;
    arguments_lay_out(&a, string);
    ret->n_slots = a.n_slots;
    if (described_facts(string) & FACT_NUMBERED) {
        ret->n_slots =
            braces_reorder(string, pfd_string_layout(string) + 1,
                           described_n_types(string), ret->slots, a.n_slots);
    }
    ret->n_payload = arguments_end(&a);
}

struct arguments arguments_of(const struct pfd_record_view *record_view,
                              struct pfd_slot *slots)
{
    const struct pfd_record *r = record_view->record;
    struct pfd_byte_reader c = record_view->bytes;
    uint32_t n = (uint32_t)pfd_byte_reader_left(&c);
    struct arguments ret = {
        .payload = pfd_byte_reader_bytes(&c, n),
        .n_payload = n,
        .carried = n,
        .n_carried = n,
        .n_header = r->n_header,
        .slots = slots,
    };
    if (r->flags & PFD_RECORD_COPIED && r->n_bytes - r->n_header < n)
        ret.n_payload = ret.carried = r->n_bytes - r->n_header;
    return ret;
}

size_t described_slots(const struct pfd_record_view *record_view,
                       struct pfd_slot *ret, uint64_t *findings)
{
    const struct pfd_record *r = record_view->record;
    struct arguments a = arguments_of(record_view, ret);
    (void)findings;
    struct described_tags tags;
    tags.n = 0;
    if (r->string || r->flags & PFD_RECORD_SYNTHESIZED)
        described_lay_out(&a, record_view->table, r->string, &tags);
    if (!r->string && !a.n_slots && record_view->string) {
        a.at = arguments_end(&a); /* behind the text in the entry */
        add_by_text(&a, record_view->string);
    }
    uint64_t facts = r->string ? described_facts(r->string) : 0;
    const struct pfd_string *made = record_view->string;
    if (!r->string && made && made->flags & PFD_STRING_OWN)
        return braces_reorder(made, tags.words, tags.n, ret, a.n_slots);
    if (!(facts & FACT_NUMBERED))
        return a.n_slots;
    if (facts & FACT_TAGS)
        return braces_reorder(r->string, tags.words, tags.n, ret, a.n_slots);
    return braces_reorder(r->string, pfd_string_layout(r->string) + 1,
                          described_n_types(r->string), ret, a.n_slots);
}
