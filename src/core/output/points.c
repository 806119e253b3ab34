/* SPDX-License-Identifier: MIT */
#include "core/output/points.h"

#include <stdlib.h>
#include <string.h>

/* ---- plans ---- */

/* Is it a number that can be loaded directly? */
static bool plan_step(const struct pfd_step *s, struct pfd_point_plan *plan,
                      size_t i)
{
    bool is_float = pfd_step_is_float(s);
    bool is_signed = !is_float && pfd_step_is_signed(s);
    bool is_wide = s->store == PFD_STORE_QWORD;
    bool is_part = s->conv == 'c' || s->length == PFD_LENGTH_HH ||
                   s->length == PFD_LENGTH_H;
    if ((s->store != PFD_STORE_DWORD && !is_wide) || (!is_float && is_part))
        return false;
    plan->at[i] = s->at;
    plan->load[i] = is_wide     ? PFD_LOAD_64
                    : is_float  ? PFD_LOAD_F32
                    : is_signed ? PFD_LOAD_I32
                                : PFD_LOAD_U32;
    plan->type[i] = !is_wide || is_float ? PFD_POINT_DOUBLE
                    : is_signed          ? PFD_POINT_INT
                                         : PFD_POINT_UNSIGNED;
    return true;
}

/* The step of argument `number`; NULL: there is none. */
static const struct pfd_step *find_step(const struct pfd_step *s,
                                        uint32_t number)
{
    for (uint32_t i = 0; s->op != PFD_OP_END; s++) {
        if (pfd_step_has_argument(s) && i++ == number)
            return s;
    }
    return NULL;
}

static void plan_string(const struct pfd_points *points,
                        const struct pfd_string *s, struct pfd_point_plan *ret)
{
    *ret = (struct pfd_point_plan){ .is_wanted = true, .is_quick = true };
    for (size_t i = 0; i < points->n; i++) {
        const struct pfd_point_column *c = &points->columns[i];
        if (c->from == PFD_POINT_OF_INDEX) { /* exact in a double */
            ret->load[i] = PFD_LOAD_INDEX;
            ret->type[i] = PFD_POINT_DOUBLE;
            continue;
        }
        const struct pfd_step *step = c->from == PFD_POINT_OF_ARGUMENT
                                          ? find_step(s->steps, c->number)
                                          : NULL;
        ret->is_quick &= step && plan_step(step, ret, i);
    }
}

bool pfd_points_plan(struct pfd_points *points,
                     const struct pfd_strings *strings)
{
    size_t n = pfd_strings_count(strings);
    if (points->plans && n == points->n_plans)
        return true;
    struct pfd_point_plan *plans =
        realloc(points->plans, (n + 1) * sizeof *plans);
    if (!plans)
        return false;
    memset(plans, 0, (n + 1) * sizeof *plans);
    points->plans = plans;
    points->n_plans = n;
    for (size_t i = 0; i < n; i++) {
        const struct pfd_string *s = pfd_strings_at(strings, i);
        if (!points->text ||
            (s->n_text == points->n_text &&
             !memcmp(pfd_string_text(s), points->text, s->n_text)))
            plan_string(points, s, &plans[i]);
    }
    return true;
}

void pfd_points_deinit(struct pfd_points *points)
{
    free(points->plans);
    free(points->text);
    *points = (struct pfd_points){ 0 };
}

/* ---- runs ---- */

/* Begins a run of up to `most` quick points, the first with this order. Returns
 * the place of their bits, or NULL when out of memory. */
static uint64_t *begin_run(struct pfd_text *out,
                           const struct pfd_points *points,
                           const struct pfd_point_plan *plan, size_t most,
                           uint64_t order)
{
    struct pfd_point_run run = { .kind = PFD_RUN_POINTS,
                                 .n_values = (uint8_t)points->n,
                                 .order = order };
    char *to =
        pfd_text_reserve(out, sizeof run + most * points->n * sizeof(uint64_t));
    if (!to)
        return NULL;
    memcpy(run.type, plan->type, sizeof run.type);
    memcpy(to, &run, sizeof run);
    return (uint64_t *)(void *)(to + sizeof run);
}

static void end_run(struct pfd_text *out, size_t n, size_t n_values)
{
    struct pfd_point_run *run =
        (struct pfd_point_run *)(void *)(out->data + out->n);
    run->n = (uint32_t)n;
    run->n_bytes = (uint32_t)(sizeof *run + n * n_values * sizeof(uint64_t));
    out->n += run->n_bytes;
}

/* ---- any entry ---- */

struct value {
    uint8_t type;
    uint64_t bits;
    const char *text;
};

static struct value of_double(double d)
{
    struct value v = { .type = PFD_POINT_DOUBLE };
    memcpy(&v.bits, &d, sizeof d);
    return v;
}

static struct value of_text(const char *text, size_t n)
{
    return (struct value){ PFD_POINT_TEXT, n, text };
}

static struct value of_step(const struct pfd_step *s, const uint8_t *payload)
{
    struct value none = { 0 };
    if (!pfd_step_has_argument(s))
        return none;
    if (s->store == PFD_STORE_STRING) {
        size_t n = 0;
        const char *text = pfd_step_string(s, payload, &n);
        return text ? of_text(text, n) : none;
    }
    if (pfd_step_is_float(s))
        return of_double(pfd_step_double(s, payload));
    uint64_t bits = pfd_step_integer(s, payload);
    return (struct value){ .type = pfd_step_is_signed(s) ? PFD_POINT_INT
                                                         : PFD_POINT_UNSIGNED,
                           .bits = bits };
}

/* Counts every argument of the string, also one that this entry lacks. */
static struct value of_argument(const struct pfd_entry *entry, uint32_t number)
{
    const struct pfd_string *string = entry->string;
    const struct pfd_step *s = entry->steps;
    bool as_string =
        string && s != string->steps && string->index != PFD_STRING_SYNTHESIZED;
    uint32_t i = 0;
    for (; s && s->op != PFD_OP_END; s++) {
        bool is_one = pfd_step_has_argument(s) ||
                      (as_string &&
                       pfd_step_has_argument(&string->steps[s - entry->steps]));
        if (is_one && i++ == number)
            return of_step(s, entry->payload);
    }
    return (struct value){ 0 };
}

static struct value of_origin(struct pfd_entry *entry,
                              const struct pfd_point_column *c)
{
    size_t n = 0;
    const struct pfd_origin *o = pfd_entry_origins(entry, &n);
    for (; n; n--, o++) {
        bool several =
            o->type == PFD_ORIGIN_COORDS || o->type == PFD_ORIGIN_FLOATS;
        if (strcmp(o->name, c->name) != 0 || (several && c->number >= o->n))
            continue;
        if (o->type == PFD_ORIGIN_TEXT)
            return of_text(o->text, o->n);
        if (o->type == PFD_ORIGIN_FLOATS) {
            uint32_t bits = (uint32_t)o->value[c->number];
            float f;
            memcpy(&f, &bits, sizeof f);
            return of_double((double)f);
        }
        return (struct value){ .type = PFD_POINT_UNSIGNED,
                               .bits = o->value[several ? c->number : 0] };
    }
    return (struct value){ 0 };
}

static struct value value_of(struct pfd_entry *entry,
                             const struct pfd_point_column *c, uint64_t time)
{
    switch (c->from) {
    case PFD_POINT_OF_ORIGIN:
        return of_origin(entry, c);
    case PFD_POINT_OF_INDEX:
        return of_double((double)entry->index);
    case PFD_POINT_OF_TIME:
        return (struct value){ .type =
                                   time ? PFD_POINT_UNSIGNED : PFD_POINT_NONE,
                               .bits = time };
    case PFD_POINT_OF_ARGUMENT:
        break;
    }
    return of_argument(entry, c->number);
}

static enum pfd_run_kind kind_of(const struct pfd_entry *entry,
                                 const struct pfd_points *points)
{
    const struct pfd_string *s = entry->string;
    if (!s)
        return PFD_RUN_UNKNOWN;
    if (s->index < points->n_plans) {
        return points->plans[s->index].is_wanted ? PFD_RUN_POINTS
                                                 : PFD_RUN_OTHER;
    }
    return !points->text ||
                   (s->n_text == points->n_text &&
                    !memcmp(pfd_string_text(s), points->text, s->n_text))
               ? PFD_RUN_POINTS
               : PFD_RUN_OTHER;
}

void pfd_points_entry(struct pfd_text *out, struct pfd_entry *entry,
                      const struct pfd_points *points, uint64_t time)
{
    static const char zeros[8];
    size_t at = out->n;
    struct pfd_point_run run = { .n = 1,
                                 .kind = (uint8_t)kind_of(entry, points),
                                 .order = entry->index };
    struct value values[PFD_POINT_VALUES];
    if (run.kind == PFD_RUN_POINTS)
        run.n_values = (uint8_t)points->n;
    pfd_text_add(out, &run, sizeof run);
    for (size_t i = 0; i < run.n_values; i++) {
        values[i] = value_of(entry, &points->columns[i], time);
        run.type[i] = values[i].type;
        pfd_text_add(out, &values[i].bits, sizeof values[i].bits);
    }
    for (size_t i = 0; i < run.n_values; i++) {
        if (run.type[i] == PFD_POINT_TEXT)
            pfd_text_add(out, values[i].text, (size_t)values[i].bits);
    }
    pfd_text_add(out, zeros, -(out->n - at) & 7);
    run.n_bytes = (uint32_t)(out->n - at);
    if (!out->failed)
        memcpy(out->data + at, &run, sizeof run);
}

static void points_entry(struct pfd_text *out, struct pfd_entry *entry,
                         const struct pfd_sink_options *options)
{
    pfd_points_entry(out, entry, options->points, options->time);
}

/* ---- points of payloads, by a conversion's workers ---- */

/* Loads the values of a quick point; returns the end of the output. */
static uint64_t *load(uint64_t *to, const uint8_t *payload,
                      const struct pfd_point_plan *plan, size_t n,
                      uint64_t index)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t *at = payload + plan->at[i];
        if (plan->load[i] == PFD_LOAD_64) {
            memcpy(to++, at, sizeof *to);
            continue;
        }
        double d =
            pfd_point_double((enum pfd_point_load)plan->load[i], at, index);
        memcpy(to++, &d, sizeof d);
    }
    return to;
}

struct worker {
    const struct pfd_points *points;
    const struct pfd_point_plan *plan; /* of the payloads that come */
    void *share;                       /* of the reducer; NULL: none */
    bool shares;                       /* it takes points of this plan */
};

static void begin(const struct pfd_sink_options *options)
{
    const struct pfd_points *points = options->points;
    if (points->reducer)
        points->reducer->begin(points->reducer_of);
}

static void close_worker(void *worker)
{
    struct worker *w = worker;
    if (w && w->share)
        w->points->reducer->end(w->share);
    free(w);
}

static void *open_worker(const struct pfd_sink_options *options)
{
    const struct pfd_points *points = options->points;
    struct worker *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->points = points;
    if (points->reducer)
        w->share = points->reducer->share(points->reducer_of);
    if (w->share || !points->reducer)
        return w;
    close_worker(w);
    return NULL;
}

static bool accepts(void *worker, const struct pfd_string *string)
{
    struct worker *w = worker;
    const struct pfd_points *points = w->points;
    if (string->index >= points->n_plans ||
        !points->plans[string->index].is_quick)
        return false;
    w->plan = &points->plans[string->index];
    w->shares = w->share && points->reducer->opens(w->share, w->plan);
    return true;
}

static void take_payloads(void *worker, struct pfd_text *out,
                          const uint8_t *const *payloads, size_t n,
                          uint64_t index)
{
    struct worker *w = worker;
    const struct pfd_points *points = w->points;
    size_t i =
        w->shares ? points->reducer->take(w->share, payloads, n, index) : 0;
    size_t n_run = n - i;
    uint64_t *to =
        n_run ? begin_run(out, points, w->plan, n_run, index + i) : NULL;
    for (; to && i < n; i++)
        to = load(to, payloads[i], w->plan, points->n, index + i);
    if (to)
        end_run(out, n_run, points->n);
}

static void turn(void *worker)
{
    struct worker *w = worker;
    if (w->share)
        w->points->reducer->turn(w->share);
}

static const struct pfd_sink_worker points_worker = {
    .begin = begin,
    .open = open_worker,
    .accepts = accepts,
    .payloads = take_payloads,
    .turn = turn,
    .close = close_worker,
};

const struct pfd_sink pfd_sink_points = {
    .name = "points",
    .entry = points_entry,
    .worker = &points_worker,
};
