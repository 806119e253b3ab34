/* SPDX-License-Identifier: MIT */
/*
 * The widths of an entry's arguments: given by the metadata. Where the entry's
 * size or the compiler's known mistakes contradict the metadata, other evidence
 * decides.
 */
#include <string.h>

#include "layout.h"

enum {
    DWORD = 4,
    BITS = 64,
    HALF = 32,
    /* LLPC makes a word of the mask by shifting ints (LowerDebugPrintf.cpp,
     * bitVector[j] << (j % 64)): bit 31 also sets all bits above it, and a bit
     * above 31 is set 32 places too low. */
    SIGN = 31,
};

/* The source of an entry's widths. */
enum layout {
    LAYOUT_OWN,       /* the string's metadata */
    LAYOUT_32,        /* all arguments take one dword */
    LAYOUT_64,        /* all take two */
    LAYOUT_MODIFIERS, /* the length modifiers */
    LAYOUT_UNSHIFTED, /* the metadata; bits that the modifiers expect 32 places
                         higher are moved there */
    LAYOUT_SHIFTED,   /* likewise, also bits that may belong there */
    LAYOUT_FITTING,   /* the metadata, for as many arguments as the payload
                         holds */
    LAYOUT_MOVED,     /* the metadata; all bits that may belong 32 places higher
                         are moved there, against the modifiers, too */
};

/* A bit for each argument: 64 bits wide; else 32. */
struct wide {
    uint64_t words[(PFD_ARGUMENTS_MAX + BITS - 1) / BITS];
};

static bool is_wide(const struct wide *w, size_t i)
{
    return w->words[i / BITS] >> (i % BITS) & 1;
}

static void set_wide(struct wide *w, size_t i, bool wide)
{
    uint64_t bit = UINT64_C(1) << (i % BITS);
    w->words[i / BITS] =
        wide ? w->words[i / BITS] | bit : w->words[i / BITS] & ~bit;
}

static size_t argument_count(const struct pfd_string *s)
{
    return s->n_arguments < PFD_ARGUMENTS_MAX ? s->n_arguments
                                              : PFD_ARGUMENTS_MAX;
}

static bool mask_bit(const struct pfd_string *s, size_t i)
{
    return i / BITS < s->n_layout &&
           pfd_string_layout(s)[i / BITS] >> (i % BITS) & 1;
}

/* Dwords of the arguments, by the mask. */
static uint64_t mask_dwords(const struct pfd_string *s)
{
    uint64_t n = s->n_arguments;
    for (size_t i = 0; i < s->n_layout; i++)
        n += (uint64_t)__builtin_popcountll(pfd_string_layout(s)[i]);
    return n;
}

/* Are bits 31 to 63 of the word at `from` all set, as far as there are
 * arguments? A shifted negative int looks so. */
static bool is_sign_extended(const struct pfd_string *s, size_t from, size_t n)
{
    bool all = from + HALF < n;
    for (size_t i = from + SIGN; all && i < n && i < from + BITS; i++)
        all = mask_bit(s, i);
    return all;
}

/* Replaces the widths of n arguments, by the modifiers, in one word of the
 * mask: by the mask, with LLPC's shifts undone. */
static void unshift(const struct pfd_string *s, bool ties_move, size_t from,
                    struct wide *wide, size_t n)
{
    bool negative = is_sign_extended(s, from, n);
    for (size_t low = from; low < n && low < from + HALF; low++) {
        size_t high = low + HALF;
        bool set = mask_bit(s, low);
        bool wants_low = is_wide(wide, low);
        bool wants_high = high < n && is_wide(wide, high);
        bool tie = high < n && wants_low == wants_high;
        bool up = set && (wants_high || (tie && ties_move));
        bool stays = set && (!wants_high || wants_low) && !(tie && ties_move);
        set_wide(wide, low, stays);
        if (high < n)
            set_wide(wide, high, up || (mask_bit(s, high) && !negative));
    }
}

/* Moves all bits of the word at `from` that may belong 32 places higher. */
static void move_all(const struct pfd_string *s, size_t from, struct wide *wide,
                     size_t n)
{
    for (size_t low = from; low < from + HALF && low + HALF < n; low++) {
        if (mask_bit(s, low) && !mask_bit(s, low + HALF)) {
            set_wide(wide, low, false);
            set_wide(wide, low + HALF, true);
        }
    }
}

/* The widths of the first n arguments. By the modifiers, arguments that no
 * conversion takes have 32 bits. Bits after n are 0. Returns the sum in
 * dwords. */
static uint64_t fill_widths(const struct pfd_string *s, enum layout layout,
                            bool cut, struct wide *ret, size_t n)
{
    uint64_t dwords = n;
    size_t n_words = (n + BITS - 1) / BITS;
    bool suggested = layout == LAYOUT_MODIFIERS || layout == LAYOUT_UNSHIFTED ||
                     layout == LAYOUT_SHIFTED;
    bool stated = layout == LAYOUT_OWN || layout == LAYOUT_FITTING ||
                  layout == LAYOUT_MOVED;
    for (size_t i = 0; i < n_words; i++) {
        bool has_word = stated && i < s->n_layout;
        ret->words[i] = layout == LAYOUT_64 ? UINT64_MAX
                        : has_word          ? pfd_string_layout(s)[i]
                                            : 0;
    }
    if (suggested)
        pfd_program_suggest(s->steps, s->n_steps, cut, ret->words, n);
    for (size_t i = 0; i < n; i += BITS) {
        if (suggested && layout != LAYOUT_MODIFIERS)
            unshift(s, layout == LAYOUT_SHIFTED, i, ret, n);
        if (layout == LAYOUT_MOVED)
            move_all(s, i, ret, n);
    }
    if (n_words && n % BITS)
        ret->words[n_words - 1] &= (UINT64_C(1) << (n % BITS)) - 1;
    for (size_t i = 0; i < n_words; i++)
        dwords += (uint64_t)__builtin_popcountll(ret->words[i]);
    return dwords;
}

/* Do two layouts give different widths? */
static bool differ(const struct pfd_string *s, bool cut, enum layout a,
                   enum layout b)
{
    struct wide wide;
    struct wide others;
    size_t n = argument_count(s);
    fill_widths(s, a, cut, &wide, n);
    fill_widths(s, b, cut, &others, n);
    return memcmp(wide.words, others.words,
                  (n + BITS - 1) / BITS * sizeof *wide.words) != 0;
}

static bool sums_to(const struct pfd_string *s, bool cut, enum layout layout,
                    uint64_t dwords)
{
    struct wide wide;
    size_t n = argument_count(s);
    return s->n_arguments == n &&
           fill_widths(s, layout, cut, &wide, n) == dwords;
}

/* Do the modifiers explain all of the metadata, by LLPC's shifts or without?
 * Modifiers that the metadata contradict are no evidence for any bit. */
static bool is_explained(const struct pfd_string *s, bool cut)
{
    return !differ(s, cut, LAYOUT_UNSHIFTED, LAYOUT_MODIFIERS);
}

/* May the metadata be one of LLPC's mistakes that leave the size the same? */
static bool is_doubtful(const struct pfd_string *s, bool cut)
{
    static const enum layout others[] = { LAYOUT_UNSHIFTED, LAYOUT_SHIFTED,
                                          LAYOUT_MOVED };
    bool doubtful = false;
    if (s->n_arguments <= HALF)
        return false;
    size_t n = is_explained(s, cut) ? 2 : 3;
    for (size_t i = 0; i < n; i++) {
        doubtful |= sums_to(s, cut, others[i], mask_dwords(s)) &&
                    differ(s, cut, LAYOUT_OWN, others[i]);
    }
    return doubtful;
}

size_t llpc_fill_slots(const struct pfd_string *s, uint64_t layout, bool cut,
                       uint32_t n_payload, struct pfd_slot *ret)
{
    struct wide wide;
    size_t n = argument_count(s);
    uint32_t at = 0;
    fill_widths(s, (enum layout)layout, cut, &wide, n);
    for (size_t i = 0; i < n; i++) {
        uint32_t n_bytes = is_wide(&wide, i) ? 2 * DWORD : DWORD;
        if (n_payload - at < n_bytes)
            return i;
        ret[i] = (struct pfd_slot){
            .at = at,
            .store = n_bytes > DWORD ? PFD_STORE_QWORD : PFD_STORE_DWORD,
        };
        at += n_bytes;
    }
    return n;
}

static void own_layout(const struct pfd_string *s, struct pfd_layout *ret)
{
    uint64_t texts = pfd_string_layout(s)[1];
    /* An entry with a commit word is checked before it is accepted, and texts
     * are inserted when an entry is made. */
    if (!llpc_is_committed(s) && !texts)
        ret->n_payload = (uint32_t)llpc_extension_payload(s);
    ret->n_slots =
        llpc_fill_slots(s, LAYOUT_OWN, false, UINT32_MAX, ret->slots);
    for (size_t i = 0; i < ret->n_slots && i < BITS; i++) {
        if (!(texts >> i & 1))
            continue;
        ret->slots[i].store = PFD_STORE_STRING;
        ret->slots[i].n_bytes = PFD_STRING_NULL;
    }
}

void llpc_layout(const struct pfd_string *s,
                 const struct pfd_program_facts *facts, struct pfd_layout *ret)
{
    /* No entry is so large: each is examined by itself. */
    ret->n_payload = UINT32_MAX;
    if (llpc_is_abort(s) ||
        (llpc_is_extension(s) && s->flags & PFD_STRING_LITERAL))
        return;
    if (llpc_is_extension(s)) {
        own_layout(s, ret);
        return;
    }
    /* LLPC writes component 0 of a vector and counts it as one argument. */
    ret->cut = facts->n_scalars != facts->n_cut_scalars &&
               s->n_arguments == facts->n_cut_scalars;
    if (ret->cut)
        ret->findings |= PFD_FINDING_BIT(vector_cut);
    uint64_t n_payload = mask_dwords(s) * DWORD;
    if (n_payload < UINT32_MAX && !is_doubtful(s, ret->cut))
        ret->n_payload = (uint32_t)n_payload;
    ret->n_slots =
        llpc_fill_slots(s, LAYOUT_OWN, ret->cut, UINT32_MAX, ret->slots);
}

size_t llpc_slots(const struct pfd_record_view *record_view,
                  struct pfd_slot *ret, uint64_t *findings)
{
    const struct pfd_record *r = record_view->record;
    return llpc_fill_slots(
        r->string, r->layout, r->string->flags & PFD_STRING_CUT,
        (uint32_t)pfd_byte_reader_left(&record_view->bytes), ret);
}

const char *llpc_layout_text(uint64_t layout)
{
    switch ((enum layout)layout) {
    case LAYOUT_32:
        return "read as if all were 32 bits wide";
    case LAYOUT_64:
        return "read as if all were 64 bits wide";
    case LAYOUT_MODIFIERS:
        return "read as the length modifiers say";
    case LAYOUT_UNSHIFTED:
    case LAYOUT_SHIFTED:
    case LAYOUT_MOVED:
        return "read as the metadata says, with the compiler's shifts undone";
    case LAYOUT_OWN:
    case LAYOUT_FITTING:
        break;
    }
    return "read as the metadata says, as far as it goes";
}

uint64_t llpc_payload(const struct pfd_string *s)
{
    if (s->n_payload != UINT32_MAX)
        return s->n_payload;
    if (llpc_is_extension(s))
        return llpc_extension_payload(s);
    return (llpc_is_abort(s) ? s->n_arguments : mask_dwords(s)) * DWORD;
}

/* Does an entry with this payload match the string? The storage of abort
 * messages is not documented, so they may also be stored whole. */
static bool fits(const struct pfd_string *s, uint64_t n_payload)
{
    return n_payload == llpc_payload(s) ||
           (llpc_is_abort(s) &&
            n_payload == llpc_abort_dwords(s) * (uint64_t)DWORD);
}

bool llpc_law_holds(const struct pfd_string *s, uint64_t n_payload)
{
    while (s && !fits(s, n_payload))
        s = s->next;
    return s != NULL;
}

/* ---- records from elsewhere ---- */

/* Can a walk have used this layout for a payload of n_payload bytes? */
static bool is_layout(const struct pfd_string *s, uint64_t layout,
                      uint64_t n_payload)
{
    if (layout == LAYOUT_OWN)
        return fits(s, n_payload);
    if (layout == LAYOUT_FITTING)
        return !fits(s, n_payload);
    return layout <= LAYOUT_MOVED && !llpc_is_abort(s) &&
           !llpc_is_extension(s) &&
           sums_to(s, s->flags & PFD_STRING_CUT, (enum layout)layout,
                   n_payload / DWORD);
}

bool llpc_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_string *s = r->string;
    unsigned flags = s && llpc_is_synthesized(s) ? PFD_RECORD_SYNTHESIZED : 0;
    unsigned free = PFD_RECORD_COPIED | PFD_RECORD_SURE;
    uint64_t n_payload = pfd_byte_reader_left(&record_view->bytes);
    return r->n_header == LLPC_ENTRY_HEADER && n_payload % DWORD == 0 &&
           (r->flags & ~free) == flags && r->key >> LLPC_ID_BITS == 0 &&
           (!s || (r->key == s->key && is_layout(s, r->layout, n_payload)));
}

/* ---- the readings of one entry ---- */

struct readings {
    struct pfd_walk *walk;
    struct pfd_record *entry; /* the batch's newest record */
    uint64_t n_payload;
    size_t n;
};

static void offer(struct readings *all, const struct pfd_string *s,
                  enum layout layout, uint64_t findings)
{
    struct pfd_record r = *all->entry;
    r.string = s;
    r.layout = layout;
    r.findings |= findings;
    r.flags = llpc_is_synthesized(s) ? PFD_RECORD_SYNTHESIZED : 0;
    if (all->n++ == 0) {
        *all->entry = r;
        return;
    }
    all->entry->findings |= PFD_FINDING_BIT(ambiguous);
    r.findings |= PFD_FINDING_BIT(ambiguous);
    pfd_walk_alternative(all->walk, &r);
}

/* Adds readings by those layouts that sum to the payload, each reading once. */
static void offer_layouts(struct readings *all, const struct pfd_string *s,
                          const enum layout *layouts, size_t n_layouts,
                          uint64_t findings)
{
    bool cut = s->flags & PFD_STRING_CUT;
    for (size_t i = 0; i < n_layouts; i++) {
        bool is_new = sums_to(s, cut, layouts[i], all->n_payload / DWORD);
        for (size_t k = 0; k < i && is_new; k++) {
            is_new = !sums_to(s, cut, layouts[k], all->n_payload / DWORD) ||
                     differ(s, cut, layouts[k], layouts[i]);
        }
        if (is_new)
            offer(all, s, layouts[i], findings);
    }
}

/* Adds readings by the metadata, whose bits LLPC may have shifted. The metadata
 * come first, unless they are exactly what LLPC makes of the modifiers'
 * widths. */
static void offer_stated(struct readings *all, const struct pfd_string *s)
{
    static const enum layout stated[] = { LAYOUT_OWN, LAYOUT_UNSHIFTED,
                                          LAYOUT_SHIFTED, LAYOUT_MOVED };
    static const enum layout undone[] = { LAYOUT_UNSHIFTED, LAYOUT_OWN,
                                          LAYOUT_SHIFTED };
    bool cut = s->flags & PFD_STRING_CUT;
    if (!fits(s, all->n_payload))
        return;
    if (llpc_is_abort(s) || llpc_is_extension(s) ||
        s->n_payload != UINT32_MAX || s->n_arguments > PFD_ARGUMENTS_MAX) {
        offer(all, s, LAYOUT_OWN, 0);
    } else if (is_explained(s, cut)) {
        offer_layouts(all, s, undone, sizeof undone / sizeof *undone, 0);
    } else {
        offer_layouts(all, s, stated, sizeof stated / sizeof *stated, 0);
    }
}

/* Adds readings by other layouts that sum to the payload. */
static void offer_recovered(struct readings *all, const struct pfd_string *s)
{
    static const enum layout layouts[] = { LAYOUT_32, LAYOUT_64,
                                           LAYOUT_UNSHIFTED, LAYOUT_SHIFTED,
                                           LAYOUT_MODIFIERS };
    uint64_t dwords = all->n_payload / DWORD;
    size_t n = s->n_arguments;
    if (llpc_is_abort(s) || llpc_is_extension(s) || n > PFD_ARGUMENTS_MAX ||
        dwords < n || dwords > 2 * n)
        return;
    offer_layouts(all, s, layouts, 5, PFD_FINDING_BIT(width_mismatch));
}

void llpc_choose(struct pfd_walk *walk, const struct pfd_string *first,
                 struct pfd_record *entry)
{
    struct readings all = {
        .walk = walk,
        .entry = entry,
        .n_payload = entry->n_bytes - entry->n_header,
    };
    for (const struct pfd_string *s = first; s; s = s->next)
        offer_stated(&all, s);
    bool stated = all.n > 0;
    for (const struct pfd_string *s = first; s && !stated; s = s->next)
        offer_recovered(&all, s);
    bool known = all.n > 0;
    for (const struct pfd_string *s = first; s && !known; s = s->next) {
        offer(&all, s, LAYOUT_FITTING,
              all.n_payload < llpc_payload(s) ? PFD_FINDING_BIT(payload_short)
                                              : PFD_FINDING_BIT(payload_long));
    }
}
