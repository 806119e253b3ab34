/* SPDX-License-Identifier: MIT */
/*
 * Lines wait in a queue, in the order of their first entries. An open run takes
 * entries of its format string until too many other entries came since its last
 * one, or too many lines wait behind it.
 */
#include "analysis/collapse/collapse.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/collapse/value_range.h"
#include "core/base/fnv.h"
#include "core/base/safe_line.h"

enum {
    WINDOW = 1000,
    WINDOW_MAX = 1 << 20,
    BYTES_A_RANGE = 64,  /* the limit of ranges grows by one for so many
                               waiting bytes */
    LINES_MAX = 1000,    /* waiting lines beside the window's */
    OUT_KEPT = 64 << 10, /* bytes that the output buffer keeps allocated, */
    OUT_PART = 8,        /* and this part of what may wait */
    A_RANGE = 3 * sizeof(struct pfd_value_range_interval), /* its bytes, with
                                                              values to come */
    WAITING_MAX = 64 << 20, /* bytes of all waiting lines */
};

/* A waiting line. */
struct run {
    struct run *next;      /* in the queue */
    struct run *next_open; /* in the same slot */
    bool is_open;
    uint64_t key;
    uint64_t n;                           /* entries */
    uint64_t last;                        /* number of the last entry, counted
                                             over all */
    uint64_t last_index;                  /* in its buffer */
    uint64_t last_sequence;               /* UINT64_MAX: unknown */
    uint64_t last_time;                   /* 0: unknown */
    struct pfd_row *row;                  /* of the first entry, owned */
    struct pfd_value_range *value_ranges; /* [row->n_cells]; owned */
    struct pfd_value_range *origins; /* [row->n_origins], of numbers; owned */
};

struct pfd_collapse {
    struct pfd_collapse_spec spec;
    struct pfd_consumer consumer;
    bool is_json;
    struct run *first; /* the queue */
    struct run *last;
    uint64_t n_waiting;
    size_t n_bytes;     /* of waiting lines, without ranges */
    struct run **slots; /* [n_slots], a power of two: open runs, by key */
    size_t n_slots;
    uint64_t n; /* entries so far */
    struct pfd_value_range_limit room;
    struct pfd_text out;
    bool failed;
    bool stopped;
};

/* ---- which entries are alike ---- */

static uint64_t mix(uint64_t h, const void *bytes, size_t n)
{
    h = pfd_fnv1a(h, bytes, n);
    return h ^ h >> 31;
}

static uint64_t key_of(const struct pfd_collapse *c, const struct pfd_row *row)
{
    uint64_t h = PFD_FNV_START ^ row->string;
    h = mix(h, &row->id, sizeof row->id);
    h = mix(h, &row->stream, sizeof row->stream);
    h = mix(h, &row->buffer, sizeof row->buffer);
    h = mix(h, pfd_row_bytes(row, row->text), row->text.n);
    if (c->spec.equal)
        h = mix(h, pfd_row_bytes(row, row->message), row->message.n);
    return h;
}

static bool is_same(const struct pfd_row *a, struct pfd_row_part a_part,
                    const struct pfd_row *b, struct pfd_row_part b_part)
{
    return a_part.n == b_part.n && !memcmp(pfd_row_bytes(a, a_part),
                                           pfd_row_bytes(b, b_part), a_part.n);
}

static bool is_alike(const struct pfd_collapse *c, const struct pfd_row *a,
                     const struct pfd_row *b)
{
    return a->string == b->string && a->id == b->id && a->stream == b->stream &&
           a->buffer == b->buffer && a->generation == b->generation &&
           a->n_cells == b->n_cells && is_same(a, a->text, b, b->text) &&
           (!c->spec.equal || is_same(a, a->message, b, b->message));
}

/* Can the row join a run? Not with a finding, nor without a message. */
static bool may_collapse(const struct pfd_row *row)
{
    if (row->string == PFD_ROW_LINE || row->string == PFD_ROW_NO_STRING)
        return false;
    for (uint64_t left = row->findings; left; left &= left - 1) {
        if (!pfd_finding_is_note((enum pfd_finding_kind)__builtin_ctzll(left)))
            return false;
    }
    return true;
}

/* ---- a run ---- */

static struct run **slot_of(struct pfd_collapse *c, uint64_t key)
{
    return &c->slots[key & (c->n_slots - 1)];
}

static void close_run(struct pfd_collapse *c, struct run *run)
{
    struct run **at = slot_of(c, run->key);
    while (*at && *at != run)
        at = &(*at)->next_open;
    if (*at)
        *at = run->next_open;
    run->is_open = false;
}

/* Does a text differ from the first entry's? Compares bytes: value ranges have
 * only hashes. */
static bool is_other_text(const struct pfd_row *a, const struct pfd_row *b,
                          size_t i)
{
    const struct pfd_cell *x = &pfd_row_cells(a)[i];
    const struct pfd_cell *y = &pfd_row_cells(b)[i];
    if (x->type != PFD_ARGUMENT_TEXT || y->type != PFD_ARGUMENT_TEXT)
        return false;
    return x->n_text != y->n_text ||
           (x->n_text && x->n_text != PFD_ROW_NULL &&
            memcmp(pfd_row_text(a, x), pfd_row_text(b, y), x->n_text) != 0);
}

/* The origin of this name, at place i in most rows; NULL: the row has none.
 * Entries of one format string may have different origins. */
static const struct pfd_row_origin *find_origin(
    const struct pfd_row *row, const struct pfd_row_origin *like, size_t i)
{
    const struct pfd_row_origin *all = pfd_row_origins(row);
    if (i < row->n_origins && !strcmp(all[i].name, like->name))
        return &all[i];
    for (i = 0; i < row->n_origins; i++) {
        if (!strcmp(all[i].name, like->name))
            return &all[i];
    }
    return NULL;
}

/* The origin as a cell, where it is a number in which entries of a run may
 * differ. */
static struct pfd_cell origin_cell(const struct pfd_row_origin *o)
{
    if (!o)
        return (struct pfd_cell){ .type = (uint8_t)PFD_CELL_ABSENT };
    bool is_number = o->type == PFD_ORIGIN_NUMBER || o->type == PFD_ORIGIN_HEX;
    return (struct pfd_cell){
        .bits = o->value[0],
        .type = is_number ? (uint8_t)PFD_ARGUMENT_UNSIGNED
                          : (uint8_t)PFD_CELL_ABSENT,
        .n_bytes = 8,
        .conversion = o->type == PFD_ORIGIN_HEX ? 'x' : 'u',
    };
}

static void extend_ranges(struct pfd_collapse *c, struct run *run,
                          const struct pfd_row *row)
{
    void (*add)(struct pfd_value_range *, const struct pfd_row *,
                const struct pfd_cell *, struct pfd_value_range_limit *) =
        run->n ? pfd_value_range_add : pfd_value_range_begin;
    for (size_t i = 0; i < row->n_cells; i++) {
        add(&run->value_ranges[i], row, &pfd_row_cells(row)[i], &c->room);
        run->value_ranges[i].varies |= is_other_text(run->row, row, i);
    }
    for (size_t i = 0; i < run->row->n_origins; i++) {
        struct pfd_cell cell =
            origin_cell(find_origin(row, &pfd_row_origins(run->row)[i], i));
        add(&run->origins[i], row, &cell, &c->room);
    }
    run->n++;
    run->last = c->n;
    run->last_index = row->index;
    run->last_sequence = row->sequence;
    run->last_time = row->time;
}

static void free_run(struct pfd_collapse *c, struct run *run)
{
    for (size_t i = 0; run->value_ranges && i < run->row->n_cells; i++)
        pfd_value_range_free(&run->value_ranges[i], &c->room);
    for (size_t i = 0; run->origins && i < run->row->n_origins; i++)
        pfd_value_range_free(&run->origins[i], &c->room);
    free(run->value_ranges);
    free(run->origins);
    free(run->row);
    free(run);
}

static size_t run_bytes(const struct run *run)
{
    size_t n_spans = run->row->n_cells + run->row->n_origins + 2u;
    return sizeof *run + run->row->n_bytes +
           n_spans * sizeof *run->value_ranges;
}

static struct run *new_run(struct pfd_collapse *c, const struct pfd_row *row)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->row = malloc(row->n_bytes);
    run->value_ranges = calloc(row->n_cells + 1u, sizeof *run->value_ranges);
    run->origins = calloc(row->n_origins + 1u, sizeof *run->origins);
    if (!run->row || !run->value_ranges || !run->origins) {
        free(run->row);
        free(run->value_ranges);
        free(run->origins);
        free(run);
        return NULL;
    }
    memcpy(run->row, row, row->n_bytes);
    c->n_bytes += run_bytes(run);
    if (c->last) {
        c->last->next = run;
    } else {
        c->first = run;
    }
    c->last = run;
    c->n_waiting++;
    return run;
}

/* ---- a run's line ---- */

/* The message, with ranges in the places of values that vary. */
static void add_message(struct pfd_text *out, const struct run *run)
{
    const struct pfd_row *row = run->row;
    const char *message = pfd_row_bytes(row, row->message);
    const struct pfd_row_piece *pieces =
        (const void *)pfd_row_bytes(row, row->pieces);
    size_t n = row->message.n;
    size_t at = 0;
    if (n && message[n - 1] == '\n')
        n--;
    for (size_t i = 0; i < row->n_cells && i < row->pieces.n; i++) {
        if (!run->value_ranges[i].varies)
            continue;
        if (pieces[i].from > at)
            pfd_text_add_safe(out, message + at, pieces[i].from - at);
        pfd_value_range_text(&run->value_ranges[i], out);
        at = pieces[i].to;
    }
    if (at < n)
        pfd_text_add_safe(out, message + at, n - at);
}

static void write_text(struct pfd_collapse *c, const struct run *run)
{
    const struct pfd_row_origin *origins = pfd_row_origins(run->row);
    add_message(&c->out, run);
    for (size_t i = 0; i < run->row->n_origins; i++) {
        if (run->origins[i].varies && run->origins[i].type != PFD_CELL_ABSENT) {
            pfd_text_printf(&c->out, "  %s: ", origins[i].name);
            pfd_value_range_text(&run->origins[i], &c->out);
        }
    }
    pfd_text_printf(&c->out, "  ×%llu\n", (unsigned long long)run->n);
}

static void add_origins(struct pfd_collapse *c, const struct run *run)
{
    const struct pfd_row_origin *origins = pfd_row_origins(run->row);
    bool any = false;
    for (size_t i = 0; i < run->row->n_origins; i++) {
        if (!run->origins[i].varies || run->origins[i].type == PFD_CELL_ABSENT)
            continue;
        pfd_text_printf(
            &c->out,
            any ? ",\"%s\":" : ",\"origin_ranges\":{\"%s\":", origins[i].name);
        pfd_value_range_json(&run->origins[i], &c->out);
        any = true;
    }
    pfd_text_puts(&c->out, any ? "}" : "");
}

/* The first entry's record, with members of the run behind its own. */
static void write_json(struct pfd_collapse *c, const struct run *run)
{
    const char *line = pfd_row_bytes(run->row, run->row->line);
    size_t n = run->row->line.n;
    while (n && line[n - 1] != '}')
        n--;
    pfd_text_add(&c->out, line, n ? n - 1 : 0);
    pfd_text_printf(&c->out, ",\"collapsed\":%llu,\"last_index\":%llu",
                    (unsigned long long)run->n,
                    (unsigned long long)run->last_index);
    if (run->last_sequence != UINT64_MAX) {
        pfd_text_printf(&c->out, ",\"last_sequence\":%llu",
                        (unsigned long long)run->last_sequence);
    }
    if (run->last_time) {
        pfd_text_printf(&c->out, ",\"last_time_unix_nano\":\"%llu\"",
                        (unsigned long long)run->last_time);
    }
    pfd_text_puts(&c->out, ",\"ranges\":[");
    for (size_t i = 0; i < run->row->n_cells; i++) {
        pfd_text_puts(&c->out, i ? "," : "");
        pfd_value_range_json(&run->value_ranges[i], &c->out);
    }
    pfd_text_puts(&c->out, "]");
    add_origins(c, run);
    pfd_text_puts(&c->out, "}\n");
}

static void write_run(struct pfd_collapse *c, const struct run *run)
{
    for (size_t i = 0; i < run->row->n_cells; i++)
        pfd_value_range_end(&run->value_ranges[i], &c->room);
    for (size_t i = 0; i < run->row->n_origins; i++)
        pfd_value_range_end(&run->origins[i], &c->room);
    if (run->n <= 1) {
        pfd_text_add(&c->out, pfd_row_bytes(run->row, run->row->line),
                     run->row->line.n);
    } else if (c->is_json) {
        write_json(c, run);
    } else {
        write_text(c, run);
    }
}

/* Hands the line over that has just been written. */
static void hand_line(struct pfd_collapse *c, const struct run *run)
{
    if (!c->out.failed && !c->stopped &&
        !c->spec.write_line(c->spec.write_user, run->row, c->out.data,
                            c->out.n))
        c->stopped = true;
    c->out.n = 0;
}

/* ---- the queue ---- */

static void emit_first(struct pfd_collapse *c)
{
    struct run *run = c->first;
    if (run->is_open)
        close_run(c, run);
    write_run(c, run);
    if (c->spec.write_line)
        hand_line(c, run);
    c->first = run->next;
    if (!c->first)
        c->last = NULL;
    c->n_waiting--;
    c->n_bytes -= run_bytes(run);
    free_run(c, run);
}

static bool is_over(const struct pfd_collapse *c, const struct run *run)
{
    return !run->is_open || c->n - run->last > c->spec.window;
}

static void settle(struct pfd_collapse *c)
{
    while (c->first &&
           (is_over(c, c->first) || c->n_waiting > c->spec.window + LINES_MAX ||
            c->n_bytes > c->spec.n_bytes_max))
        emit_first(c);
}

static struct run *find_open(struct pfd_collapse *c, uint64_t key,
                             const struct pfd_row *row)
{
    struct run *run = *slot_of(c, key);
    while (run && (run->key != key || !is_alike(c, run->row, row)))
        run = run->next_open;
    if (run && is_over(c, run)) {
        close_run(c, run);
        run = NULL;
    }
    return run;
}

static void add_row(struct pfd_collapse *c, const struct pfd_row *row)
{
    bool is_entry = row->string != PFD_ROW_LINE;
    bool may = may_collapse(row);
    uint64_t key = may ? key_of(c, row) : 0;
    struct run *run = may ? find_open(c, key, row) : NULL;
    if (!is_entry && !row->line.n)
        return;
    if (!run) {
        run = new_run(c, row);
        if (!run) {
            c->failed = true;
            return;
        }
        if (may) {
            run->key = key;
            run->is_open = true;
            run->next_open = *slot_of(c, key);
            *slot_of(c, key) = run;
        }
    }
    extend_ranges(c, run, row);
    c->n += is_entry;
    settle(c);
}

static bool hand_over(struct pfd_collapse *c)
{
    c->failed |= c->out.failed || c->room.failed;
    if (c->out.n && !c->stopped && !c->failed &&
        !c->spec.write(c->spec.write_user, c->out.data, c->out.n))
        c->stopped = true;
    c->out.n = 0;
    size_t kept = c->spec.n_bytes_max / OUT_PART;
    if (c->out.room > (kept < OUT_KEPT ? kept : OUT_KEPT))
        pfd_text_free(&c->out);
    return !c->stopped && !c->failed;
}

bool pfd_collapse_write(void *user, const void *bytes, size_t n)
{
    struct pfd_collapse *c = user;
    const struct pfd_row *row;
    for (size_t at = 0; !c->failed && (row = pfd_row_next(bytes, n, &at));)
        add_row(c, row);
    return hand_over(c);
}

const struct pfd_consumer *pfd_collapse_consumer(const struct pfd_collapse *c)
{
    return &c->consumer;
}

enum pfd_status pfd_collapse_end(struct pfd_collapse *c)
{
    while (c->first)
        emit_first(c);
    hand_over(c);
    pfd_text_free(&c->out);
    return c->failed ? PFD_ERR_NOMEM : c->stopped ? PFD_ERR_STOPPED : PFD_OK;
}

size_t pfd_collapse_memory(const struct pfd_collapse *c)
{
    return sizeof *c + c->n_slots * sizeof(void *) + c->n_bytes +
           c->room.n * A_RANGE + c->out.room;
}

void pfd_collapse_set_room(struct pfd_collapse *c, size_t n)
{
    c->spec.n_bytes_max = n;
    c->room.max = n / BYTES_A_RANGE;
}

enum pfd_status pfd_collapse_new(const struct pfd_collapse_spec *spec,
                                 struct pfd_collapse **ret,
                                 struct pfd_error *err)
{
    bool is_json = !strcmp(spec->output, "json");
    *ret = NULL;
    if (!is_json && strcmp(spec->output, "text") != 0) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "entries are collapsed in text and json, not in %s",
                        spec->output);
    }
    struct pfd_collapse *c = calloc(1, sizeof *c);
    if (c) {
        c->spec = *spec;
        c->consumer = (struct pfd_consumer){ .sink = &pfd_sink_rows,
                                             .pieces = true,
                                             .take = pfd_collapse_write,
                                             .user = c };
        c->is_json = is_json;
        c->spec.n_bytes_max =
            spec->n_bytes_max ? spec->n_bytes_max : WAITING_MAX;
        c->room.max = c->spec.n_bytes_max / BYTES_A_RANGE;
        c->spec.window = !spec->window               ? WINDOW
                         : spec->window > WINDOW_MAX ? WINDOW_MAX
                                                     : spec->window;
        c->n_slots = 1024;
        c->slots = calloc(c->n_slots, sizeof(struct run *));
    }
    if (!c || !c->slots) {
        free(c);
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    *ret = c;
    return PFD_OK;
}

void pfd_collapse_free(struct pfd_collapse *c)
{
    if (!c)
        return;
    while (c->first) {
        struct run *run = c->first;
        c->first = run->next;
        free_run(c, run);
    }
    free(c->slots);
    pfd_text_free(&c->out);
    free(c);
}
