/* SPDX-License-Identifier: MIT */
/*
 * The values of a message whose site is known: each member is an argument, and
 * each conversion takes its own arguments. The module defines the type of a
 * value, the conversion only how it is printed.
 */
#include <string.h>

#include "layout.h"

/* ---- texts ---- */

static const char *text_of(const struct pfd_spirv_member *member,
                           const uint8_t *payload, uint64_t n, size_t *ret)
{
    uint64_t left = member->offset < n ? n - member->offset : 0;
    size_t room = member->type.n < left ? member->type.n : (size_t)left;
    const char *text = (const char *)payload + member->offset;
    *ret = room ? strnlen(text, room) : 0;
    return room ? text : NULL;
}

/* Counts the %s of a text. */
static size_t count_strings(const char *text, size_t n)
{
    size_t ret = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (text[i] != '%')
            continue;
        for (i++; i < n && strchr("-+ #0'123456789.*lhjztqL", text[i]); i++)
            ;
        ret += i < n && text[i] == 's';
    }
    return ret;
}

/* Decides which text members are arguments. */
struct texts {
    const struct abort_site *site;
    const uint8_t *payload; /* [n] */
    uint64_t n;
    size_t n_strings; /* %s without an argument in the joined text */
    bool any;
};

/* Is the member an argument? The first text is not. A later one is if a %s is
 * left for it; else it is joined to the text, since a compiler may split a
 * literal. */
static bool is_argument(struct texts *t, const struct pfd_spirv_member *member)
{
    size_t n = 0;
    if (!member->is_text)
        return true;
    const char *text = text_of(member, t->payload, t->n, &n);
    if (!text)
        return false;
    if (t->any && t->n_strings) {
        t->n_strings--;
        return true;
    }
    t->n_strings += count_strings(text, n);
    t->any = true;
    return false;
}

static const struct pfd_spirv_member *member_of(const struct abort_site *site,
                                                uint32_t i)
{
    return pfd_spirv_member(site->shader->module, site->abort->first + i);
}

bool abort_text(const struct abort_site *site, const uint8_t *payload,
                uint64_t n, struct pfd_text *ret)
{
    struct texts t = { site, payload, n, 0, false };
    for (uint32_t i = 0; i < site->abort->n; i++) {
        const struct pfd_spirv_member *member = member_of(site, i);
        size_t n_text = 0;
        if (is_argument(&t, member))
            continue;
        const char *text = text_of(member, payload, n, &n_text);
        if (text)
            pfd_text_add(ret, text, n_text);
    }
    return t.any;
}

/* ---- arguments and conversions ---- */

/* The arguments of an entry, in order. */
struct arguments {
    struct texts texts;
    uint32_t next; /* member */
};

static struct arguments arguments_of(const struct pfd_record_view *record_view,
                                     const struct abort_site *site)
{
    struct pfd_byte_reader c = record_view->bytes;
    struct texts t = { .site = site, .n = pfd_byte_reader_left(&c) };
    t.payload = pfd_byte_reader_bytes(&c, (size_t)t.n);
    return (struct arguments){ .texts = t };
}

/* NULL: there are no more. */
static const struct pfd_spirv_member *next_argument(struct arguments *a)
{
    while (a->next < a->texts.site->abort->n) {
        const struct pfd_spirv_member *m = member_of(a->texts.site, a->next++);
        if (is_argument(&a->texts, m))
            return m;
    }
    return NULL;
}

/* A conversion: its stars and length stand before `main`; its components are
 * the steps [main, end). */
struct conversion {
    size_t main;
    size_t end;
    unsigned stars;
};

static bool next_conversion(const struct pfd_step *steps, size_t n_steps,
                            struct conversion *ret)
{
    size_t i = ret->end;
    while (i < n_steps && (!steps[i].conv || steps[i].conv == 'm'))
        i++;
    *ret = (struct conversion){ .main = i, .end = i };
    while (i + 1 < n_steps &&
           (steps[i].conv == PFD_CONV_STAR || steps[i].conv == PFD_CONV_LENGTH))
        ret->stars += steps[i++].conv == PFD_CONV_STAR;
    ret->main = i;
    for (i++; i < n_steps && steps[i].flags & PFD_STEP_JOIN; i++)
        ;
    ret->end = i;
    return ret->main < n_steps;
}

/* ---- letters ---- */

static bool is_letter_of(char c, const char *letters)
{
    return c && strchr(letters, c);
}

/* The letter that prints a value of this type where the text has conv. A letter
 * that prints no number is replaced as well. */
static char letter_for(char conv, const struct pfd_spirv_type *t)
{
    bool floats = is_letter_of(conv, "fFeEgGaA");
    bool integers = is_letter_of(conv, "diouxXpcC");
    if (t->kind == PFD_SPIRV_FLOAT && t->encoding == PFD_SPIRV_ENCODED)
        return 'x';
    if (t->kind == PFD_SPIRV_FLOAT)
        return floats ? conv : 'g';
    if (!integers)
        return t->kind == PFD_SPIRV_INT ? 'd' : 'u';
    /* A small unsigned value has no sign bit. */
    if (t->kind == PFD_SPIRV_UINT && t->width < 32 &&
        (conv == 'd' || conv == 'i'))
        return 'u';
    return conv;
}

/* Is it reported that letter replaces conv? */
static bool is_told(char letter, char conv, const struct pfd_spirv_type *t)
{
    return letter != conv && (t->kind == PFD_SPIRV_FLOAT || letter != 'u' ||
                              !is_letter_of(conv, "di"));
}

static void set_letter(struct pfd_step *s, char letter,
                       const struct pfd_spirv_type *t)
{
    bool was_float = is_letter_of(s->conv, "fFeEgGaA");
    if (t->kind == PFD_SPIRV_FLOAT || was_float)
        s->length = PFD_LENGTH_NONE;
    if (letter == 'g') {
        s->precision = s->precision < 0 ? 6 : s->precision;
    } else if (was_float) {
        s->precision = -1;
    }
    if (letter == 'x' && t->kind == PFD_SPIRV_FLOAT)
        s->flags |= PFD_SPEC_HASH;
    s->conv = letter;
}

/* Adapts the conversion to the value's type. Returns whether that is
 * reported. */
static bool adapt_one(struct pfd_step *steps, const struct conversion *c,
                      const struct pfd_spirv_type *t)
{
    char conv = steps[c->main].conv;
    char letter = letter_for(conv, t);
    size_t n = c->end - c->main;
    for (size_t i = c->main; i < c->end && letter != conv; i++)
        set_letter(&steps[i], letter, t);
    /* Components that the value lacks are not printed. */
    for (size_t i = c->main + t->n; i < c->end; i++) {
        steps[i].conv = '\0';
        steps[i].op = PFD_OP_LITERAL;
        steps[i].flags = 0;
    }
    return is_told(letter, conv, t) || n != t->n;
}

/* Does the argument of a star count columns? A float does not: the conversion
 * is printed without it. */
static bool adapt_star(struct pfd_step *steps, const struct conversion *c,
                       const struct pfd_spirv_member *m)
{
    if (!m || m->is_text || m->type.kind != PFD_SPIRV_FLOAT)
        return true;
    for (size_t i = c->main; i < c->end; i++) {
        steps[i].flags &=
            (uint8_t) ~(PFD_STEP_STAR_WIDTH | PFD_STEP_STAR_PRECISION);
        steps[i].precision = is_letter_of(steps[i].conv, "fFeEgG") ? 6 : -1;
    }
    return false;
}

uint64_t abort_adapt(const struct pfd_record_view *record_view,
                     struct pfd_step *steps, size_t n_steps)
{
    struct abort_site site =
        abort_site_of(record_view->shader_table, record_view->record->layout);
    struct arguments a = arguments_of(record_view, &site);
    struct conversion c = { 0 };
    bool differs = false;
    while (next_conversion(steps, n_steps, &c)) {
        for (unsigned i = 0; i < c.stars; i++)
            differs |= !adapt_star(steps, &c, next_argument(&a));
        const struct pfd_spirv_member *m = next_argument(&a);
        if (!m)
            break;
        if (!m->is_text)
            differs |= adapt_one(steps, &c, &m->type);
    }
    return differs ? PFD_FINDING_BIT(type_mismatch) : 0;
}

/* ---- slots ---- */

static unsigned bytes_of(const struct pfd_spirv_type *t)
{
    unsigned n = t->width ? t->width / 8u : 4;
    return n == 1 || n == 2 || n == 8 ? n : 4;
}

static unsigned store_of(const struct pfd_spirv_type *t)
{
    static const uint8_t stores[] = { [1] = PFD_STORE_BYTE,
                                      [2] = PFD_STORE_WORD,
                                      [4] = PFD_STORE_DWORD,
                                      [8] = PFD_STORE_QWORD };
    static const uint8_t encoded[] = { [PFD_SPIRV_BFLOAT] = PFD_STORE_BFLOAT,
                                       [PFD_SPIRV_E4M3] = PFD_STORE_E4M3,
                                       [PFD_SPIRV_E5M2] = PFD_STORE_E5M2,
                                       [PFD_SPIRV_ENCODED] = 0 };
    bool is_encoded = t->kind == PFD_SPIRV_FLOAT && t->encoding;
    unsigned store = is_encoded ? encoded[t->encoding] : 0;
    return store ? store : stores[bytes_of(t)];
}

struct slots {
    const struct arguments *of;
    struct pfd_slot *at; /* [n] <= PFD_ARGUMENTS_MAX */
    size_t n;
};

/* Adds the slot of component i of an argument; a missing component has an empty
 * slot. */
static void add_slot(struct slots *s, const struct pfd_spirv_member *m,
                     unsigned i)
{
    struct pfd_slot slot = { .store = PFD_STORE_NONE };
    uint64_t n = s->of->texts.n;
    if (s->n == PFD_ARGUMENTS_MAX)
        return;
    if (m && m->is_text) {
        size_t n_text = 0;
        text_of(m, s->of->texts.payload, n, &n_text);
        slot.store = PFD_STORE_STRING;
        slot.at = m->offset;
        slot.n_bytes = n_text < PFD_STRING_BYTES_MAX
                           ? (uint32_t)n_text & PFD_STRING_NULL
                           : PFD_STRING_BYTES_MAX;
    } else if (m && i < m->type.n) {
        unsigned width = bytes_of(&m->type);
        uint64_t at = m->offset + (uint64_t)i * width;
        if (at <= n && n - at >= width) {
            slot.at = (uint32_t)at;
            slot.store = store_of(&m->type) & 15u;
        }
    }
    s->at[s->n++] = slot;
}

/* Components of an argument that no conversion takes. */
struct rest {
    const struct pfd_spirv_member *member;
    unsigned from;
};

static unsigned n_components(const struct pfd_spirv_member *m)
{
    return m->is_text ? 1 : m->type.n;
}

static void add_rest(struct slots *s, const struct rest *rest)
{
    const struct pfd_spirv_member *m = rest->member;
    for (unsigned i = rest->from; i < n_components(m); i++) {
        add_slot(s, m, i);
        if (s->n < PFD_ARGUMENTS_MAX && !m->is_text)
            s->at[s->n - 1].n_bytes = (uint8_t)letter_for('?', &m->type);
    }
}

size_t abort_slots(const struct pfd_record_view *record_view,
                   struct pfd_slot *ret, uint64_t *findings)
{
    enum {
        RESTS_MAX = 64
    };
    struct abort_site site =
        abort_site_of(record_view->shader_table, record_view->record->layout);
    struct rest rests[RESTS_MAX];
    size_t n_rests = 0;
    struct conversion c = { 0 };
    (void)findings;
    if (!site.abort)
        return 0;
    struct arguments a = arguments_of(record_view, &site);
    struct slots s = { .of = &a, .at = ret };
    const struct pfd_step *steps = record_view->string->steps;
    while (next_conversion(steps, record_view->string->n_steps, &c)) {
        for (unsigned i = 0; i < c.stars; i++)
            add_slot(&s, next_argument(&a), 0);
        const struct pfd_spirv_member *m = next_argument(&a);
        unsigned n = (unsigned)(c.end - c.main);
        for (unsigned i = 0; i < n; i++)
            add_slot(&s, m, i);
        if (m && n < n_components(m) && n_rests < RESTS_MAX)
            rests[n_rests++] = (struct rest){ m, n };
    }
    for (size_t i = 0; i < n_rests; i++)
        add_rest(&s, &rests[i]);
    for (const struct pfd_spirv_member *m; (m = next_argument(&a));)
        add_rest(&s, &(struct rest){ m, 0 });
    return s.n;
}
