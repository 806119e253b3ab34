/* SPDX-License-Identifier: MIT */
#include "core/filter/filter.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/pattern.h"
#include "core/base/sized.h"
#include "core/decode/entry.h"
#include "core/filter/entry_value.h"
#include "core/filter/seen_names.h"
#include "core/filter/where_range.h"

/* More patterns are a mistake, or an attack. */
enum {
    PATTERNS_MAX = 64,
    MATCH_LEAST = 24 << 10, /* bytes that most matches do with */
    STATES_A_BYTE = 4,
};
_Static_assert((int)MATCH_LEAST < PFD_FILTER_ROOM_MIN, "beside plans");

/* Patterns of which one has to match. */
struct patterns {
    struct pfd_pattern *all[PATTERNS_MAX]; /* [n], owned */
    size_t n;
};

struct pfd_filter {
    struct pfd_pattern_memory memory; /* of all patterns */
    struct patterns messages;
    struct patterns format_strings;
    bool invert;
    uint64_t *ids; /* [n_ids], owned */
    size_t n_ids;
    char **sources; /* [n_sources], owned */
    size_t n_sources;
    struct pfd_where *where;           /* NULL: none */
    struct pfd_seen_names *seen_names; /* owned; NULL: no condition */
};

/* The decision for a string, before there is an entry. */
enum state {
    UNDECIDED,
    UNBOUND, /* accepted by id and text; the condition had no room for it */
    NEVER,
    PERHAPS,
};

struct plan {
    enum state state;
    struct pfd_where_bound *bound; /* where there is a condition; owned */
    /* This range alone decides before an entry is made; NULL: none does. */
    const struct pfd_where_range *range;
};

/* The range of a rejected string: holds nothing. A payload may have no readable
 * bytes: no_payload replaces it. */
static const struct pfd_where_range no_range = {
    .span = UINT64_MAX,
    .outside = true,
};
static const uint8_t no_payload[sizeof(uint64_t)];

struct pfd_filter_run {
    const struct pfd_filter *filter;
    struct plan *plans; /* [n_plans], by the strings' index */
    size_t n_plans;     /* 0: there are none yet, or no room */
    /* Where there is no room for plans: [n_strings] of two bits, the states by
     * id and text. NULL: there are none yet, or no room. */
    uint8_t *states;
    size_t n_strings;
    size_t n_bytes; /* of plans and what they have */
    size_t room;    /* for these and for matching; 0: no bound */
    struct pfd_pattern_memory matching;
    struct pfd_matcher *matcher; /* NULL: there are no patterns */
    struct pfd_filter_facts facts;
    uint64_t gave_up;
};

/* ---- construction ---- */

static enum pfd_status no_memory(struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
}

static enum pfd_status add_patterns(struct pfd_filter *f, struct patterns *to,
                                    const char *const *texts, size_t n,
                                    unsigned flags, struct pfd_error *err)
{
    if (n > PATTERNS_MAX) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "%zu patterns, %d are possible", n, PATTERNS_MAX);
    }
    for (size_t i = 0; i < n; i++) {
        enum pfd_status status =
            pfd_pattern_new(texts[i], flags, &f->memory, &to->all[i], err);
        if (status != PFD_OK)
            return status;
        to->n++;
    }
    return PFD_OK;
}

static void free_patterns(struct patterns *p)
{
    for (size_t i = 0; i < p->n; i++)
        pfd_pattern_free(p->all[i]);
}

static bool copy_names(struct pfd_filter *f, const char *const *names, size_t n)
{
    f->sources = calloc(n + 1, sizeof *f->sources);
    for (size_t i = 0; f->sources && i < n; i++) {
        f->sources[i] = strdup(names[i]);
        if (!f->sources[i])
            return false;
        f->n_sources++;
    }
    return f->sources != NULL;
}

static bool copy_ids(struct pfd_filter *f, const uint64_t *ids, size_t n)
{
    f->ids = calloc(n + 1, sizeof *f->ids);
    if (!f->ids)
        return false;
    for (size_t i = 0; i < n; i++)
        f->ids[i] = ids[i];
    f->n_ids = n;
    return true;
}

static enum pfd_status fill(struct pfd_filter *f,
                            const struct pfd_filter_spec *spec,
                            struct pfd_error *err)
{
    unsigned flags = (spec->ignore_case ? PFD_PATTERN_IGNORE_CASE : 0) |
                     (spec->jit ? PFD_PATTERN_JIT : 0);
    f->invert = spec->invert;
    f->memory.n_max = spec->n_bytes_max;
    if (!copy_names(f, spec->sources, spec->n_sources) ||
        !copy_ids(f, spec->ids, spec->n_ids))
        return no_memory(err);
    enum pfd_status status = add_patterns(f, &f->messages, spec->patterns,
                                          spec->n_patterns, flags, err);
    if (status == PFD_OK) {
        status = add_patterns(f, &f->format_strings, spec->format_strings,
                              spec->n_format_strings, flags, err);
    }
    if (status == PFD_OK && spec->where) {
        struct pfd_quoted text;
        status = pfd_where_new(spec->where, &f->where, err);
        if (status != PFD_OK) {
            pfd_quote(&text, spec->where, strlen(spec->where));
            pfd_error_context(err, "condition '%s'", text.text);
        }
    }
    if (status == PFD_OK && f->where) {
        f->seen_names = pfd_seen_names_new(f->where);
        status = f->seen_names ? PFD_OK : no_memory(err);
    }
    return status;
}

enum pfd_status pfd_filter_new(const struct pfd_filter_spec *spec,
                               struct pfd_filter **ret, struct pfd_error *err)
{
    struct pfd_filter_spec own;
    if (pfd_sized_take(&own, sizeof own, spec, err) != PFD_OK)
        return PFD_ERR_USAGE;
    spec = &own;
    struct pfd_filter *f = calloc(1, sizeof *f);
    if (!f)
        return no_memory(err);
    enum pfd_status status = fill(f, spec, err);
    if (status != PFD_OK) {
        pfd_filter_free(f);
        return status;
    }
    *ret = f;
    return PFD_OK;
}

size_t pfd_filter_memory(const struct pfd_filter *filter)
{
    if (!filter)
        return 0;
    size_t n = sizeof *filter + filter->memory.n;
    if (filter->where)
        n += pfd_where_memory(filter->where) + PFD_SEEN_NAMES_BYTES;
    return n;
}

void pfd_filter_free(struct pfd_filter *filter)
{
    if (!filter)
        return;
    free_patterns(&filter->messages);
    free_patterns(&filter->format_strings);
    for (size_t i = 0; i < filter->n_sources; i++)
        free(filter->sources[i]);
    free(filter->sources);
    free(filter->ids);
    pfd_where_free(filter->where);
    pfd_seen_names_free(filter->seen_names);
    free(filter);
}

enum pfd_status pfd_filter_run_new(const struct pfd_filter *filter,
                                   const struct pfd_strings *strings,
                                   struct pfd_filter_run **ret,
                                   struct pfd_error *err)
{
    struct pfd_filter_run *run = calloc(1, sizeof *run);
    if (!run)
        return no_memory(err);
    run->filter = filter;
    run->n_strings = pfd_strings_count(strings);
    bool has_patterns = filter->messages.n + filter->format_strings.n > 0;
    run->matcher = has_patterns ? pfd_matcher_new(&run->matching) : NULL;
    if (has_patterns && !run->matcher) {
        pfd_filter_run_free(run);
        return no_memory(err);
    }
    *ret = run;
    return PFD_OK;
}

static void drop_plans(struct pfd_filter_run *run)
{
    for (size_t i = 0; i < run->n_plans; i++)
        free(run->plans[i].bound);
    free(run->plans);
    free(run->states);
    run->plans = NULL;
    run->states = NULL;
    run->n_plans = run->n_bytes = 0;
}

void pfd_filter_run_free(struct pfd_filter_run *run)
{
    if (!run)
        return;
    drop_plans(run);
    pfd_matcher_free(run->matcher);
    free(run);
}

/* What plans leave is for matching. */
static void bound_matching(struct pfd_filter_run *run)
{
    size_t n = run->room > run->n_bytes ? run->room - run->n_bytes : 1;
    run->matching.n_max = run->room ? n : 0;
}

void pfd_filter_run_set_room(struct pfd_filter_run *run, size_t n)
{
    run->matching.n_max = 0; /* until it is bound again */
    if (n && run->matcher && pfd_filter_run_memory(run) > n)
        pfd_matcher_trim(run->matcher);
    if (n && pfd_filter_run_memory(run) > n)
        drop_plans(run);
    run->room = n;
    bound_matching(run);
}

size_t pfd_filter_run_memory(const struct pfd_filter_run *run)
{
    return run ? run->n_bytes + run->matching.n : 0;
}

enum pfd_status pfd_filter_run_set(struct pfd_filter_run *run,
                                   const struct pfd_filter_facts *facts)
{
    return pfd_sized_take(&run->facts, sizeof run->facts, facts, NULL);
}

uint64_t pfd_filter_gave_up(const struct pfd_filter_run *run)
{
    return run->gave_up;
}

/* ---- deciding ---- */

static bool has_id(const struct pfd_filter *f, uint64_t id)
{
    for (size_t i = 0; i < f->n_ids; i++) {
        if (f->ids[i] == id)
            return true;
    }
    return f->n_ids == 0;
}

const struct pfd_pattern *pfd_filter_pattern(const struct pfd_filter *filter,
                                             size_t i)
{
    return !filter->invert && i < filter->messages.n ? filter->messages.all[i]
                                                     : NULL;
}

/* Is a buffer of this name wanted at all? */
static bool filter_want_source(const struct pfd_filter *filter,
                               const char *source)
{
    for (size_t i = 0; i < filter->n_sources; i++) {
        if (!strcmp(filter->sources[i], source))
            return true;
    }
    return filter->n_sources == 0;
}

/* Does a pattern match? GAVE_UP: none does, but one might. */
static enum pfd_match match_any(struct pfd_filter_run *run,
                                const struct patterns *p, const char *text,
                                size_t n)
{
    enum pfd_match ret = PFD_MATCH_NO;
    for (size_t i = 0; i < p->n; i++) {
        enum pfd_match match =
            pfd_pattern_match(p->all[i], run->matcher, text, n);
        if (match == PFD_MATCH_YES)
            return match;
        if (match == PFD_MATCH_GAVE_UP)
            ret = match;
    }
    return ret;
}

/* Can entries of this string (NULL: of an unknown id) be accepted? */
static bool want_string(struct pfd_filter_run *run, const struct pfd_string *s)
{
    const struct patterns *p = &run->filter->format_strings;
    bool is_literal = s && s->flags & PFD_STRING_LITERAL;
    if (!p->n)
        return true;
    return s && !is_literal &&
           match_any(run, p, pfd_string_text(s), s->n_text) != PFD_MATCH_NO;
}

bool pfd_filter_may_want(struct pfd_filter_run *run,
                         const struct pfd_strings *strings, size_t i)
{
    const struct pfd_string *s = pfd_strings_at(strings, i);
    return s && has_id(run->filter, s->key) && want_string(run, s);
}

/* Many buffers mix accepted and rejected strings: a range decides without a
 * branch. */
static void set_range(const struct pfd_filter *f, struct plan *plan)
{
    bool is_never = plan->state == NEVER;
    /* A string rejected by its text has no bound. */
    bool has_one = plan->bound && f->where->n == 1 && plan->bound->ranges;
    if (f->n_sources)
        return;
    if (is_never) {
        plan->range = &no_range;
    } else if (has_one) {
        plan->range = plan->bound->ranges;
    }
}

/* Of plans; false: there is no room. What a match needs is left free. */
static bool take(struct pfd_filter_run *run, size_t n)
{
    size_t left = run->matcher ? MATCH_LEAST : 0;
    left = run->matching.n > left ? run->matching.n : left;
    if (run->room && run->n_bytes + n + left > run->room)
        return false;
    run->n_bytes += n;
    bound_matching(run);
    return true;
}

/* Of a plan; NULL: there is no room. */
static struct pfd_where_bound *bind(struct pfd_filter_run *run,
                                    const struct pfd_string *s)
{
    const struct pfd_where *where = run->filter->where;
    size_t n = pfd_where_bound_memory(where, s);
    if (!take(run, n))
        return NULL;
    struct pfd_where_bound *ret = pfd_where_bind(where, s);
    run->n_bytes -= ret ? 0 : n;
    return ret;
}

static bool decide(struct pfd_filter_run *run, struct plan *plan,
                   const struct pfd_string *s)
{
    const struct pfd_filter *f = run->filter;
    if (plan->state == UNDECIDED) {
        bool may = has_id(f, s->key) && want_string(run, s);
        plan->state = !may ? NEVER : f->where ? UNBOUND : PERHAPS;
    }
    if (plan->state != UNBOUND)
        return true;
    plan->bound = bind(run, s);
    if (!plan->bound)
        return false;
    pfd_seen_names_note(f->seen_names, f->where, s, plan->bound);
    plan->state = plan->bound->is_never ? NEVER : PERHAPS;
    return true;
}

static bool make_plan(struct pfd_filter_run *run, struct plan *plan,
                      const struct pfd_string *s)
{
    bool ok = decide(run, plan, s);
    if (ok)
        set_range(run->filter, plan);
    return ok;
}

/* False: the string is in no table, or there is no room. */
static bool has_plans(struct pfd_filter_run *run, const struct pfd_string *s)
{
    size_t n = run->n_strings * sizeof *run->plans;
    if (run->n_plans || s->index >= run->n_strings || !take(run, n))
        return s->index < run->n_plans;
    run->plans = calloc(run->n_strings, sizeof *run->plans);
    if (run->plans) {
        run->n_plans = run->n_strings;
    } else {
        run->n_bytes -= n;
    }
    return run->plans;
}

/* NULL: the string is in no table, or memory is out: it is decided for the entry
 * alone. */
static const struct plan *plan_of(struct pfd_filter_run *run,
                                  const struct pfd_string *s)
{
    if (!s || (s->index >= run->n_plans && !has_plans(run, s)))
        return NULL;
    struct plan *plan = &run->plans[s->index];
    if (__builtin_expect(plan->state <= UNBOUND, 0) && !make_plan(run, plan, s))
        return NULL;
    return plan;
}

/* False: there is no room. */
static bool has_states(struct pfd_filter_run *run)
{
    size_t n = run->n_strings / STATES_A_BYTE + 1;
    if (run->states || !take(run, n))
        return run->states;
    run->states = calloc(n, 1);
    run->n_bytes -= run->states ? 0 : n;
    return run->states;
}

/* Is a string without a plan accepted by its id and text? A pattern is tried on
 * its text once. */
static bool want_unplanned(struct pfd_filter_run *run,
                           const struct pfd_string *s)
{
    const struct pfd_filter *f = run->filter;
    if (s->index < run->n_plans &&
        run->plans[s->index].state == UNBOUND) /* only that had no room */
        return true;
    if (!f->format_strings.n || s->index >= run->n_strings || !has_states(run))
        return has_id(f, s->key) && want_string(run, s);
    uint8_t *at = &run->states[s->index / STATES_A_BYTE];
    unsigned shift = 2 * (s->index % STATES_A_BYTE);
    unsigned state = (unsigned)*at >> shift & 3u;
    if (state == UNDECIDED) {
        bool may = has_id(f, s->key) && want_string(run, s);
        state = may ? PERHAPS : NEVER;
        *at = (uint8_t)(*at | state << shift);
    }
    return state == PERHAPS;
}

static bool fulfils(const struct pfd_where *where,
                    const struct pfd_where_bound *bound,
                    const struct pfd_record *record, const uint8_t *payload)
{
    if (bound->ranges)
        return pfd_where_ranges_hold(where, bound->ranges, payload);
    return pfd_where_test(where, bound, record->string->steps, payload, NULL,
                          NULL);
}

/* For a plan with a range. */
static inline bool range_holds(const struct plan *plan, const uint8_t *payload)
{
    return pfd_where_range_holds(
        plan->range, plan->range == &no_range ? no_payload : payload);
}

enum pfd_look_result pfd_filter_test_record(struct pfd_filter_run *run,
                                            const struct pfd_record *record,
                                            const uint8_t *payload)
{
    const struct pfd_string *s = record->string;
    const struct plan *plan = plan_of(run, s);
    if (!plan || record->flags & PFD_RECORD_SYNTHESIZED ||
        record->key != s->key || record->n_header < PFD_RANGE_HEADER)
        return PFD_LOOK_ASK;
    if (plan->range && !record->layout) {
        bool holds = range_holds(plan, payload);
        return !holds                    ? PFD_LOOK_NO
               : run->filter->messages.n ? PFD_LOOK_ASK
                                         : PFD_LOOK_YES;
    }
    if (plan->state == NEVER)
        return PFD_LOOK_NO;
    if (record->layout || run->filter->n_sources ||
        (plan->bound && plan->bound->asks_entry))
        return PFD_LOOK_ASK;
    if (plan->bound &&
        !fulfils(run->filter->where, plan->bound, record, payload))
        return PFD_LOOK_NO;
    return run->filter->messages.n ? PFD_LOOK_ASK : PFD_LOOK_YES;
}

/* An entry with its bytes in the view, with its string's layout and key, behind
 * a header that ranges can read. */
static inline bool is_plain(const struct pfd_record *r)
{
    return r->kind == PFD_RECORD_ENTRY && r->string && !r->layout &&
           !(r->flags & (PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED)) &&
           r->key == r->string->key && r->n_header >= PFD_RANGE_HEADER;
}

size_t pfd_filter_skip(const struct pfd_filter_run *run,
                       const struct pfd_record_batch *batch, size_t from,
                       const struct pfd_byte_reader *view, uint64_t base,
                       uint64_t *n_bytes)
{
    const struct plan *plans = run->plans;
    const struct pfd_byte_reader bytes = *view;
    const size_t n_plans = run->n_plans;
    uint64_t sum = 0;
    size_t i = from;
    for (; i < batch->n; i++) {
        const struct pfd_record *r = &batch->records[i];
        if (!is_plain(r) || r->string->index >= n_plans)
            break;
        const struct plan *plan = &plans[r->string->index];
        size_t at = (size_t)(r->offset - base) + r->n_header;
        if (!plan->range || range_holds(plan, pfd_byte_reader_peek(&bytes, at)))
            break;
        sum += r->n_bytes;
    }
    *n_bytes += sum;
    return i;
}

/* For an entry whose string is in no table, or when out of memory. */
static bool fulfils_alone(struct pfd_filter_run *run, struct pfd_entry *entry)
{
    struct pfd_where_bound *bound =
        pfd_where_bind(run->filter->where, entry->string);
    if (!bound) {
        entry->of->message.failed = true; /* the caller checks this */
        return false;
    }
    pfd_seen_names_note(run->filter->seen_names, run->filter->where,
                        entry->string, bound);
    bool ret = !bound->is_never &&
               pfd_where_test(run->filter->where, bound, entry->steps,
                              entry->payload, entry, &run->facts);
    free(bound);
    return ret;
}

static bool fulfils_condition(struct pfd_filter_run *run,
                              struct pfd_entry *entry)
{
    const struct plan *plan = plan_of(run, entry->string);
    if (!run->filter->where)
        return true;
    if (!plan || !plan->bound)
        return fulfils_alone(run, entry);
    return !plan->bound->is_never &&
           pfd_where_test(run->filter->where, plan->bound, entry->steps,
                          entry->payload, entry, &run->facts);
}

static bool want_message(struct pfd_filter_run *run, struct pfd_entry *entry)
{
    const struct pfd_filter *f = run->filter;
    size_t n = 0;
    if (!f->messages.n)
        return true;
    const char *message = pfd_entry_message(entry, &n);
    if (!message)
        return f->invert;
    enum pfd_match match = match_any(run, &f->messages, message, n);
    run->gave_up += match == PFD_MATCH_GAVE_UP;
    return match == PFD_MATCH_GAVE_UP || (match == PFD_MATCH_YES) != f->invert;
}

bool pfd_filter_want(struct pfd_filter_run *run, struct pfd_entry *entry)
{
    const struct pfd_filter *f = run->filter;
    const struct pfd_string *s = entry->string;
    const struct plan *plan = plan_of(run, s);
    bool has_key = s && entry->id == s->key;
    bool string_is_wanted = !has_key
                                ? has_id(f, entry->id) && want_string(run, s)
                            : plan ? plan->state != NEVER
                                   : want_unplanned(run, s);
    return string_is_wanted && filter_want_source(f, entry->of->source) &&
           fulfils_condition(run, entry) && want_message(run, entry);
}

/* ---- existing names ---- */

enum pfd_status pfd_filter_check(const struct pfd_filter *filter,
                                 const struct pfd_strings *strings,
                                 struct pfd_error *err)
{
    return pfd_seen_names_check(filter->seen_names, filter->where, strings,
                                err);
}

const char *pfd_filter_shadow(const struct pfd_filter *filter)
{
    return pfd_seen_names_shadow(filter->seen_names, filter->where);
}
