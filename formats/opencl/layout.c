/* SPDX-License-Identifier: MIT */
/*
 * Where the arguments of one string lie in an entry's payload.
 */
#include "layout.h"

#include <string.h>

enum {
    DWORD = OPENCL_DWORD
};

/* ---- the arguments of a string ---- */

struct opencl_arguments opencl_arguments(const struct pfd_string *string)
{
    return (struct opencl_arguments){ string, string->steps, 0 };
}

bool opencl_next_argument(struct opencl_arguments *arguments,
                          struct opencl_argument *ret)
{
    const struct pfd_string *s = arguments->string;
    const struct pfd_step *step = arguments->step;
    while (step->op != PFD_OP_END && !pfd_step_takes(step))
        step++;
    arguments->step = step;
    if (arguments->next == s->n_arguments)
        return false;
    *ret = (struct opencl_argument){
        .size = opencl_size(s, arguments->next++),
        .n = 1,
    };
    if (step->op == PFD_OP_END)
        return true;
    ret->step = step;
    while (step[ret->n].flags & PFD_STEP_JOIN)
        ret->n++;
    ret->is_text = ret->n == 1 && step->conv == 's';
    arguments->step += ret->n;
    return true;
}

/* A vector of three is stored as one of four. */
uint32_t opencl_element(const struct opencl_argument *a)
{
    uint32_t n = a->n == 3 ? 4 : a->n;
    return a->size % n ? 0 : a->size / n;
}

/* ---- strings in entries ---- */

struct opencl_text opencl_look_at_text(const uint8_t *bytes, uint32_t n)
{
    struct opencl_text t = { 0 };
    const uint8_t *nul = n ? memchr(bytes, 0, n) : NULL;
    t.n = nul ? (size_t)(nul - bytes) : n;
    t.is_full = !nul;
    t.ended = nul != NULL;
    for (size_t i = t.n; i < n; i++)
        t.ended &= bytes[i] == 0;
    return t;
}

/*
 * Older compilers reserve align4(len + 1) bytes and write ceil(len / 4) dwords:
 * if the last dword would have no NUL, it already holds the next argument. A
 * size of 4 is never shorter: "" takes a dword, too.
 */
static bool is_shifted(const uint8_t *bytes, uint32_t size, uint64_t layout,
                       unsigned i)
{
    if (layout & OPENCL_LAYOUT_NEW)
        return false;
    if (i < OPENCL_SHIFTS_MAX)
        return layout >> (OPENCL_FIRST_SHIFT + i) & 1;
    struct opencl_text t = opencl_look_at_text(bytes, size);
    return t.n >= size - DWORD && (t.n == size - DWORD || !t.ended);
}

/* ---- laying out ---- */

struct layer {
    const struct pfd_string *string;
    const uint8_t *payload; /* NULL: lay out by the sizes alone */
    uint32_t n_payload;
    uint64_t layout;
    struct pfd_slot *slots;
    size_t n_slots;
    uint32_t at;       /* offset in the payload */
    unsigned n_shifts; /* strings so far that may be shorter */
    unsigned n_marks;  /* scalars that the layout marks; 0: none */
    unsigned next_mark;
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

/* STRING for a size that no scalar has: shown as bytes, printed by no
 * conversion. */
static enum pfd_store store_of(uint32_t size)
{
    switch (size) {
    case 1:
        return PFD_STORE_BYTE;
    case 2:
        return PFD_STORE_WORD;
    case 4:
        return PFD_STORE_DWORD;
    case 8:
        return PFD_STORE_QWORD;
    default:
        return PFD_STORE_STRING;
    }
}

static bool lay_text(struct layer *l, const struct opencl_argument *a)
{
    if (!l->payload) {
        bool ok = add_slot(l, l->at, 0, PFD_STORE_STRING);
        l->at += a->size;
        return ok;
    }
    if (a->size > l->n_payload - l->at)
        return false;
    const uint8_t *bytes = l->payload + l->at;
    uint32_t n = a->size;
    if (opencl_can_shift(a) && is_shifted(bytes, n, l->layout, l->n_shifts++))
        n -= DWORD;
    size_t n_text = opencl_look_at_text(bytes, n).n;
    bool ok = add_slot(l, l->at, (uint32_t)n_text, PFD_STORE_STRING);
    l->at += n;
    return ok;
}

/* Little-endian: the original value comes first. */
static enum pfd_store marked_store(struct layer *l,
                                   const struct opencl_argument *a,
                                   uint32_t element)
{
    static const uint8_t stores[] = {
        [OPENCL_MARK_HALF] = PFD_STORE_WORD,
        [OPENCL_MARK_BFLOAT] = PFD_STORE_BFLOAT,
    };
    enum opencl_mark mark =
        opencl_mark(l->layout, a, &l->next_mark, l->n_marks);
    return mark && mark < sizeof stores ? (enum pfd_store)stores[mark]
                                        : store_of(element);
}

/* Lays out an argument. The third of three components is followed by a fourth
 * that was not written. */
static bool lay_values(struct layer *l, const struct opencl_argument *a)
{
    uint32_t element = opencl_element(a);
    enum pfd_store store = marked_store(l, a, element);
    bool ok = true;
    for (uint32_t i = 0; i < a->n && ok; i++)
        ok = add_slot(l, l->at + i * element, element, store);
    l->at += a->size;
    return ok;
}

static void lay_out(struct layer *l)
{
    struct opencl_arguments arguments = opencl_arguments(l->string);
    struct opencl_argument a;
    bool ok = true;
    while (ok && opencl_next_argument(&arguments, &a))
        ok = a.is_text ? lay_text(l, &a) : lay_values(l, &a);
}

void opencl_layout(const struct pfd_string *s,
                   const struct pfd_program_facts *facts,
                   struct pfd_layout *ret)
{
    struct layer l = {
        .string = s,
        .n_payload = UINT32_MAX,
        .slots = ret->slots,
    };
    for (size_t i = 0; i < s->n_arguments; i++)
        ret->n_payload += opencl_size(s, i);
    lay_out(&l);
    ret->n_slots = l.n_slots;
}

bool opencl_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_string *s = r->string;
    bool is_made = r->flags & PFD_RECORD_SYNTHESIZED;
    bool is_text = r->layout & OPENCL_LAYOUT_STRINGS;
    uint64_t low = r->layout & ((UINT64_C(1) << OPENCL_LAYOUT_MARKS) - 1);
    if (r->n_header != OPENCL_ENTRY_HEADER ||
        r->flags & ~(PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED))
        return false;
    if (!s)
        return !is_made;
    return r->key == s->key &&
           pfd_byte_reader_left(&record_view->bytes) >= s->n_payload &&
           is_text == ((s->flags & PFD_STRING_CHAR) != 0) && (is_text || !low);
}

bool opencl_may_be_half(const struct opencl_argument *a)
{
    return a->step && a->n == 1 && a->size == OPENCL_DWORD &&
           pfd_step_is_float(a->step);
}

enum opencl_mark opencl_mark(uint64_t layout, const struct opencl_argument *a,
                             unsigned *next, unsigned n_marks)
{
    if (!n_marks || !opencl_may_be_half(a) || *next >= n_marks)
        return OPENCL_MARK_FLOAT;
    return layout >> (OPENCL_MARK_SHIFT_MAX - OPENCL_MARK_BITS * (*next)++) & 3;
}

unsigned opencl_marks_max(const struct pfd_string *string)
{
    struct opencl_arguments arguments = opencl_arguments(string);
    struct opencl_argument a;
    unsigned n = 0;
    while (n < OPENCL_SHIFTS_MAX && opencl_next_argument(&arguments, &a))
        n += opencl_can_shift(&a);
    n = (OPENCL_SHIFTS_MAX - n) / OPENCL_MARK_BITS;
    return n < OPENCL_MARKS_MAX ? n : OPENCL_MARKS_MAX;
}

size_t opencl_slots(const struct pfd_record_view *record_view,
                    struct pfd_slot *ret, uint64_t *findings)
{
    struct pfd_byte_reader payload = record_view->bytes;
    struct layer l = {
        .string = record_view->record->string,
        .n_payload = (uint32_t)pfd_byte_reader_left(&record_view->bytes),
        .layout = record_view->record->layout,
        .slots = ret,
    };
    l.payload = pfd_byte_reader_bytes(&payload, l.n_payload);
    if (l.layout >> OPENCL_LAYOUT_MARKS)
        l.n_marks = opencl_marks_max(l.string);
    lay_out(&l);
    return l.n_slots;
}

/* Explains a layout that was decided by the values. */
const char *opencl_layout_text(uint64_t layout)
{
    return layout >> OPENCL_LAYOUT_MARKS
               ? "floats that take 32 bits by its sizes are halves or bfloats, "
                 "by their values in several entries"
               : "floats of it may be halves or bfloats";
}

/* With --compat clr, a message without a newline at its end gets one. */
void opencl_make(const struct pfd_record_view *record_view,
                 struct pfd_synthesized *ret)
{
    const struct pfd_string *s = record_view->record->string;
    pfd_text_add(ret->text, pfd_string_text(s), s->n_text);
    pfd_text_add(ret->text, "\n", 1);
    ret->n_slots = opencl_slots(record_view, ret->slots, &ret->findings);
}
