/* SPDX-License-Identifier: MIT */
#include "core/output/value_rows.h"

#include <string.h>

#include <printfdecode/filter.h>

#include "core/output/severity.h"

/* The row under construction, by its offset in the output. */
static struct pfd_row *row_at(const struct pfd_text *out, size_t at)
{
    return (struct pfd_row *)(void *)(out->data + at);
}

static struct pfd_cell *cells_at(const struct pfd_text *out, size_t at)
{
    return (struct pfd_cell *)(void *)(out->data + at + sizeof(struct pfd_row));
}

static uint64_t float_bits(const struct pfd_step *s, const uint8_t *payload,
                           uint8_t *n_bytes)
{
    static const uint8_t sizes[16] = {
        [PFD_STORE_DWORD] = 4,
        [PFD_STORE_QWORD] = 8,
        [PFD_STORE_WORD] = 2,
        [PFD_STORE_WORD32] = 2,
    };
    uint64_t bits = 0;
    *n_bytes = sizes[s->store];
    if (*n_bytes) {
        memcpy(&bits, payload + s->at, *n_bytes);
        return bits;
    }
    double d = pfd_step_double(s, payload);
    memcpy(&bits, &d, sizeof d);
    *n_bytes = sizeof d;
    return bits;
}

static void set_cell(const struct pfd_entry *entry, const struct pfd_step *s,
                     struct pfd_cell *ret)
{
    const struct pfd_slot slot = { .store = s->store & 15 };
    *ret = (struct pfd_cell){ .conversion = s->conv };
    if (s->store == PFD_STORE_NONE) {
        ret->type = PFD_CELL_ABSENT;
    } else if (s->store == PFD_STORE_STRING) {
        ret->type = PFD_ARGUMENT_TEXT;
    } else if (pfd_step_is_float(s)) {
        ret->type = PFD_ARGUMENT_FLOAT;
        ret->bits = float_bits(s, entry->payload, &ret->n_bytes);
    } else {
        ret->type =
            pfd_step_is_signed(s) ? PFD_ARGUMENT_INT : PFD_ARGUMENT_UNSIGNED;
        ret->n_bytes = (uint8_t)pfd_slot_bytes(&slot);
        ret->bits = pfd_step_integer(s, entry->payload);
    }
}

/* Does the step have a cell? Also where only this entry lacks its argument, so
 * that each argument has its place. */
static bool has_cell(const struct pfd_entry *entry, const struct pfd_step *s)
{
    const struct pfd_string *string = entry->string;
    return pfd_step_has_argument(s) ||
           (string && entry->steps != string->steps &&
            string->index != PFD_STRING_SYNTHESIZED &&
            pfd_step_has_argument(&string->steps[s - entry->steps]));
}

/* Appends bytes; returns their place in the row. */
static struct pfd_row_part add_bytes(struct pfd_text *out, size_t row,
                                     const void *bytes, size_t n)
{
    struct pfd_row_part part = { (uint32_t)(out->n - row), (uint32_t)n };
    pfd_text_add(out, bytes, n);
    return part;
}

/* Adds a cell for each step that takes an argument; returns their number. */
static size_t add_cells(struct pfd_text *out, const struct pfd_entry *entry)
{
    size_t n = 0;
    for (const struct pfd_step *s = entry->steps;
         s && s->op != PFD_OP_END && n < UINT16_MAX; s++) {
        if (!has_cell(entry, s))
            continue;
        char *to = pfd_text_reserve(out, sizeof(struct pfd_cell));
        if (!to)
            return n;
        set_cell(entry, s, (struct pfd_cell *)(void *)to);
        out->n += sizeof(struct pfd_cell);
        n++;
    }
    return n;
}

/* Appends the bytes of texts, behind the parts of fixed size. */
static void add_texts(struct pfd_text *out, size_t row,
                      const struct pfd_entry *entry)
{
    size_t i = 0;
    size_t n_cells = row_at(out, row)->n_cells;
    for (const struct pfd_step *s = entry->steps; i < n_cells; s++) {
        if (!has_cell(entry, s))
            continue;
        if (s->store == PFD_STORE_STRING) {
            size_t n;
            const char *text = pfd_step_string(s, entry->payload, &n);
            struct pfd_row_part part =
                add_bytes(out, row, text ? text : "", text ? n : 0);
            struct pfd_cell *cell = &cells_at(out, row)[i];
            cell->bits = part.at;
            cell->n_text = text ? part.n : PFD_ROW_NULL;
        }
        i++;
    }
}

static size_t add_origins(struct pfd_text *out, struct pfd_entry *entry,
                          const struct pfd_origin **ret)
{
    size_t n = 0;
    *ret = pfd_entry_origins(entry, &n);
    for (size_t i = 0; i < n; i++) {
        const struct pfd_origin *o = &(*ret)[i];
        struct pfd_row_origin made = {
            .name = o->name,
            .type = (uint32_t)o->type,
            .n = o->n,
            .value = { o->value[0], o->value[1], o->value[2] },
        };
        pfd_text_add(out, &made, sizeof made);
    }
    return n;
}

static void add_origin_texts(struct pfd_text *out, size_t row,
                             const struct pfd_origin *origins)
{
    const struct pfd_row *r = row_at(out, row);
    size_t at = row + sizeof *r + r->n_cells * sizeof(struct pfd_cell);
    for (size_t i = 0; i < row_at(out, row)->n_origins; i++) {
        if (origins[i].type != PFD_ORIGIN_TEXT)
            continue;
        struct pfd_row_part part =
            add_bytes(out, row, origins[i].text, origins[i].n);
        struct pfd_row_origin *to =
            (struct pfd_row_origin *)(void *)(out->data + at);
        to[i].text = part;
    }
}

/* ---- the message, argument by argument ---- */

/* A conversion that is printed as written includes all of its components, and so
 * does a {}, whose components have brackets together. */
static bool goes_on(const struct pfd_step *last, const struct pfd_step *next)
{
    if (pfd_step_serves(last))
        return next->op != PFD_OP_END;
    return next->flags & PFD_STEP_JOIN &&
           (last->op == PFD_OP_VERBATIM || last->op == PFD_OP_SKIP ||
            last->op == PFD_OP_BRACE);
}

enum {
    STEPS = 72, /* `*` twice, what {} asks for, 64 components, and END */
};

/* A conversion with the steps that serve it, and where it stands in its text. */
struct piece {
    struct pfd_step steps[STEPS];
    size_t n;                           /* of them before END */
    struct pfd_row_piece places[STEPS]; /* of each step, in the piece's text */
};

/* Bytes of one component of a {}, printed at `to` by itself. */
static size_t measure_component(char *to, const struct pfd_entry *entry,
                                const struct piece *p, size_t first, size_t k)
{
    struct pfd_step one[STEPS];
    uint64_t findings = 0;
    for (size_t i = 0; i <= first; i++)
        one[i] = p->steps[i];
    one[first] = p->steps[k];
    one[first].flags &= (uint8_t)~PFD_STEP_JOIN;
    one[first + 1] = p->steps[p->n];
    for (size_t i = 0; i <= first; i++)
        one[i].n_literal[PFD_RAW] = 0;
    char *end = pfd_program_print(to, one, pfd_string_text(entry->string),
                                  PFD_RAW, entry->payload, &findings);
    return (size_t)(end - to);
}

/* Finds the components of a {} with several, whose first is step `first`. */
static void place_components(char *to, const struct pfd_entry *entry,
                             struct piece *p, size_t first)
{
    size_t row = p->steps[first - 1].length;
    size_t n_bracket = row ? 2 : 1;
    size_t at = p->steps[0].n_literal[PFD_RAW] + n_bracket;
    for (size_t k = first; k < p->n; k++) {
        size_t i = k - first;
        bool is_row = row && i && i % row == 0;
        if (i)
            at += is_row ? sizeof "}, {" - 1 : sizeof ", " - 1;
        p->places[k].from = (uint32_t)at;
        at += measure_component(to, entry, p, first, k);
        p->places[k].to = (uint32_t)at;
    }
}

/* Prints the steps up to and including the next conversion other than `*`, and
 * moves on. */
static char *print_piece(char *to, const struct pfd_entry *entry,
                         const struct pfd_step **step, struct piece *p,
                         uint64_t *findings)
{
    p->n = 0;
    do {
        p->steps[p->n++] = *(*step)++;
    } while (p->n < STEPS - 1 && goes_on(&p->steps[p->n - 1], *step));
    /* The next literal's offset ends a conversion printed as written. */
    struct pfd_step *end = &p->steps[p->n];
    *end = **step;
    end->op = PFD_OP_END;
    end->flags = 0;
    end->n_literal[PFD_RAW] = 0;
    /* The separator of vector components is not a literal. */
    const struct pfd_step *some = p->steps;
    size_t n_before = some[0].flags & PFD_STEP_JOIN ? 2u - some[0].tight : 0;
    n_before += some[0].n_literal[PFD_RAW];
    size_t first = p->n - 1;
    while (some[first].flags & PFD_STEP_JOIN && first > 0)
        first--;
    bool is_vector = first + 1 < p->n && some[first].op == PFD_OP_BRACE;
    if (is_vector)
        place_components(to, entry, p, first);
    char *ret = pfd_program_print(to, some, pfd_string_text(entry->string),
                                  PFD_RAW, entry->payload, findings);
    for (size_t i = 0; i < (is_vector ? first : p->n); i++) {
        p->places[i] =
            (struct pfd_row_piece){ (uint32_t)n_before, (uint32_t)(ret - to) };
    }
    return ret;
}

/* Prints the END step's literal, behind the last conversion. */
static char *print_end(char *to, const struct pfd_entry *entry,
                       const struct pfd_step *end, uint64_t *findings)
{
    return pfd_program_print(to, end, pfd_string_text(entry->string), PFD_RAW,
                             entry->payload, findings);
}

static void add_message(struct pfd_text *out, size_t row,
                        struct pfd_entry *entry)
{
    size_t n_pieces = row_at(out, row)->n_cells;
    struct pfd_row_part pieces = { (uint32_t)(out->n - row),
                                   (uint32_t)n_pieces };
    char *at = pfd_text_reserve(out, n_pieces * sizeof(struct pfd_row_piece) +
                                         entry->room + 1);
    if (!at || !entry->string)
        return;
    struct pfd_row_piece *piece = (struct pfd_row_piece *)(void *)at;
    memset(piece, 0, n_pieces * sizeof *piece);
    char *message = (char *)(piece + n_pieces);
    char *end = message;
    size_t i = 0;
    const struct pfd_step *step = entry->steps;
    while (step->op != PFD_OP_END) {
        struct piece p;
        const struct pfd_step *first = step;
        char *from = end;
        end = print_piece(end, entry, &step, &p, &entry->findings);
        for (size_t k = 0; k < p.n; k++) {
            if (has_cell(entry, first + k) && i < n_pieces) {
                uint32_t base = (uint32_t)(from - message);
                piece[i++] = (struct pfd_row_piece){ base + p.places[k].from,
                                                     base + p.places[k].to };
            }
        }
    }
    end = print_end(end, entry, step, &entry->findings);
    struct pfd_row *r = row_at(out, row);
    r->pieces = pieces;
    r->message = (struct pfd_row_part){
        pieces.at + (uint32_t)(n_pieces * sizeof *piece),
        (uint32_t)(end - message),
    };
    out->n = (size_t)(end - out->data);
}

/* ---- a row ---- */

size_t pfd_rows_begin_line(struct pfd_text *out)
{
    static const struct pfd_row none = { .string = PFD_ROW_LINE,
                                         .sequence = UINT64_MAX };
    size_t row = out->n;
    pfd_text_add(out, &none, sizeof none);
    return row;
}

/* Rows begin at multiples of 8. */
static void end_row(struct pfd_text *out, size_t row)
{
    static const char zeros[8];
    pfd_text_add(out, zeros, -(out->n - row) & 7);
    if (!out->failed)
        row_at(out, row)->n_bytes = (uint32_t)(out->n - row);
}

/* Sets severity and watched. */
static void judge(struct pfd_text *out, size_t row, struct pfd_entry *entry,
                  const struct pfd_watch *watch)
{
    uint8_t watched = 0;
    for (size_t i = 0; i < PFD_WATCHES; i++) {
        if (watch->runs[i] && pfd_filter_want(watch->runs[i], entry))
            watched |= (uint8_t)(1u << i);
    }
    row_at(out, row)->watched = watched;
    row_at(out, row)->severity = (uint8_t)pfd_entry_severity(entry);
}

static void rows_entry(struct pfd_text *out, struct pfd_entry *entry,
                       const struct pfd_sink_options *options)
{
    const struct pfd_origin *origins = NULL;
    size_t row = pfd_rows_begin_line(out);
    size_t n_cells = add_cells(out, entry);
    size_t n_origins = add_origins(out, entry, &origins);
    if (out->failed)
        return;
    struct pfd_row *r = row_at(out, row);
    size_t string =
        options->has_texts ? SIZE_MAX : pfd_entry_string_index(entry);
    r->string = string != SIZE_MAX ? (uint32_t)string
                : entry->string    ? (uint32_t)PFD_ROW_SYNTHESIZED
                                   : (uint32_t)PFD_ROW_NO_STRING;
    r->index = entry->index;
    r->offset = entry->offset;
    r->id = entry->id;
    r->time = options->time;
    r->sequence = options->sequence;
    r->buffer = options->buffer;
    r->generation = options->generation;
    r->n_cells = (uint16_t)n_cells;
    r->n_origins = (uint16_t)n_origins;
    r->stream = entry->stream;
    if (options->watch)
        judge(out, row, entry, options->watch);
    if (options->pieces)
        add_message(out, row, entry);
    add_texts(out, row, entry);
    add_origin_texts(out, row, origins);
    if (string == SIZE_MAX) {
        struct pfd_row_part part =
            entry->string
                ? add_bytes(out, row, pfd_string_text(entry->string),
                            entry->string->n_text)
                : add_bytes(out, row, entry->payload, entry->n_payload);
        if (!out->failed)
            row_at(out, row)->text = part;
    }
    if (options->form) {
        size_t from = out->n;
        struct pfd_sink_options of_form = *options;
        of_form.fails = !out->failed && row_at(out, row)->watched;
        options->form->entry(out, entry, &of_form);
        if (!out->failed) {
            row_at(out, row)->line =
                (struct pfd_row_part){ (uint32_t)(from - row),
                                       (uint32_t)(out->n - from) };
        }
    }
    if (!out->failed) /* printing may add findings */
        row_at(out, row)->findings = entry->findings;
    end_row(out, row);
}

/* ---- lines that are no entries ---- */

void pfd_rows_end_line(struct pfd_text *out, size_t row)
{
    if (out->failed)
        return;
    row_at(out, row)->line = (struct pfd_row_part){
        sizeof(struct pfd_row),
        (uint32_t)(out->n - row - sizeof(struct pfd_row))
    };
    end_row(out, row);
}

static void rows_finding(struct pfd_text *out,
                         const struct pfd_finding *finding,
                         const struct pfd_sink_options *options)
{
    const struct pfd_sink *form = options->form;
    bool is_told = options->inline_findings && form && form->tell;
    if (!is_told && (!form || !form->finding))
        return;
    size_t row = pfd_rows_begin_line(out);
    if (form->finding) {
        form->finding(out, finding, options);
    } else {
        form->tell(out, finding, options);
    }
    pfd_rows_end_line(out, row);
}

/* The summary as a row, printed by options->form; no row without a form. */
static void rows_summary(struct pfd_text *out,
                         const struct pfd_summary *summary, const char *source,
                         const struct pfd_sink_options *options)
{
    if (!options->form || !options->form->summary)
        return;
    size_t row = pfd_rows_begin_line(out);
    options->form->summary(out, summary, source, options);
    pfd_rows_end_line(out, row);
}

/* Likewise the form's line for n hidden entries of unknown ids; the form must
 * have one. */
static void rows_hidden(struct pfd_text *out, uint64_t n,
                        const struct pfd_sink_options *options)
{
    size_t row = pfd_rows_begin_line(out);
    options->form->hidden(out, n, options);
    pfd_rows_end_line(out, row);
}

const struct pfd_sink pfd_sink_rows = {
    .name = "rows",
    .entry = rows_entry,
    .finding = rows_finding,
    .summary = rows_summary,
    .hidden = rows_hidden,
    .has_sequence = true,
};
