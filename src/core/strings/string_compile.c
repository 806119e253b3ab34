/* SPDX-License-Identifier: MIT */
/* Compiles a row to a string: its steps, bound to its payload's layout. */
#include <string.h>

#include "core/base/escape.h"
#include "core/strings/string_set.h"

static uint8_t text_flags(const char *text, size_t n)
{
    uint8_t flags = 0;
    if (pfd_is_utf8(text, n))
        flags |= PFD_STRING_UTF8;
    if (pfd_is_plain(text, n))
        flags |= PFD_STRING_PLAIN;
    return flags;
}

/* One block: struct, steps, layout, text, escaped text. */
size_t pfd_string_size(const struct pfd_string_row *row, size_t n_steps)
{
    return sizeof(struct pfd_string) + n_steps * sizeof(struct pfd_step) +
           row->n_layout * sizeof *row->layout + row->n_text + 2 +
           pfd_escape_json_length(row->text, row->n_text);
}

void pfd_string_fill(struct pfd_string *ret, const struct pfd_string_row *row,
                     const struct pfd_step *steps, size_t n_steps)
{
    *ret = (struct pfd_string){
        .key = row->key,
        .n_steps = (uint32_t)n_steps,
        .n_layout = (uint16_t)row->n_layout,
        .n_text = (uint32_t)row->n_text,
        .n_arguments = row->n_arguments < UINT32_MAX
                           ? (uint32_t)row->n_arguments
                           : UINT32_MAX,
        .flags = text_flags(row->text, row->n_text),
    };
    if (row->literal)
        ret->flags |= PFD_STRING_LITERAL;
    if (row->own)
        ret->flags |= PFD_STRING_OWN;
    memcpy(ret->steps, steps, n_steps * sizeof *steps);
    if (pfd_program_has_char(steps, n_steps))
        ret->flags |= PFD_STRING_CHAR;
    char *at = (char *)(ret->steps + n_steps);
    if (row->n_layout)
        memcpy(at, row->layout, row->n_layout * sizeof *row->layout);
    at += row->n_layout * sizeof *row->layout;
    if (row->n_text)
        memcpy(at, row->text, row->n_text);
    at += row->n_text;
    ret->n_escaped =
        (uint32_t)(pfd_escape_json(at, row->text, row->n_text) - at);
}

static size_t compile(const struct pfd_string_row *row, struct pfd_step *ret,
                      struct pfd_program_facts *facts)
{
    *facts = (struct pfd_program_facts){ 0 };
    if (row->literal)
        return pfd_program_literal(row->text, row->n_text, ret);
    return pfd_program_compile(row->text, row->n_text, ret, facts);
}

static void bind(struct pfd_string *s, const struct pfd_string_kind *kind,
                 bool is_tight, const struct pfd_program_facts *facts,
                 struct pfd_slot *slots)
{
    struct pfd_layout layout = { .slots = slots };
    kind->layout(s, facts, &layout);
    size_t room = 0;
    if (is_tight || kind->tight)
        pfd_program_join_tight(s->steps, s->n_steps);
    s->findings =
        (uint32_t)(facts->findings | layout.findings |
                   pfd_program_bind(s->steps, s->n_steps, layout.slots,
                                    layout.n_slots, layout.cut, &room));
    s->n_payload = layout.n_payload;
    if (layout.cut)
        s->flags |= PFD_STRING_CUT;
    room += s->n_text;
    s->room = room < UINT32_MAX / 2 ? (uint32_t)room : UINT32_MAX / 2;
}

struct pfd_string *pfd_string_make(const struct pfd_string_maker *maker,
                                   const struct pfd_string_row *row)
{
    struct pfd_program_facts facts;
    size_t n_steps = compile(row, maker->steps, &facts);
    if (maker->kind->adapt)
        facts.findings |= maker->kind->adapt(row, maker->steps, n_steps);
    struct pfd_string *s =
        maker->take(maker->user, pfd_string_size(row, n_steps));
    if (!s)
        return NULL;
    pfd_string_fill(s, row, maker->steps, n_steps);
    if (row->counted)
        s->n_arguments = facts.n_scalars;
    bind(s, maker->kind, row->tight, &facts, maker->slots);
    return s;
}
