/* SPDX-License-Identifier: MIT */
#include "core/output/entry_fields.h"

#include "core/base/escape.h"
#include "core/print/json_exact.h"

enum {
    ESCAPE_MAX = 6,
    ROOM_FIXED = 16, /* quotes, a colon, a comma */
};

/* The names of the string's arguments; NULL when out of memory. */
static const char *names_of(struct pfd_entry_source *of,
                            const struct pfd_string *s)
{
    if (s->index != PFD_STRING_SYNTHESIZED)
        return pfd_json_parts_names(&of->json, s, &of->names);
    of->names.n = 0;
    pfd_json_add_names(&of->names, s);
    pfd_text_add(&of->names, "", 1);
    return of->names.failed ? NULL : of->names.data;
}

/* A step as a list of its own, which begins at steps[1]: the length of a string
 * is in the step before it. */
struct alone {
    struct pfd_step steps[3];
};

static struct alone alone(const struct pfd_step *step)
{
    struct alone ret = { .steps = { [1] = *step, [2] = { .op = PFD_OP_END } } };
    if (step->store == PFD_STORE_STRING)
        ret.steps[0] = step[-1];
    return ret;
}

/* The most bytes of JSON for its value. */
static size_t value_room(const struct pfd_step *step, const uint8_t *payload)
{
    size_t n = 0;
    if (step->store == PFD_STORE_STRING)
        pfd_step_string(step, payload, &n);
    return PFD_ROOM_ARGUMENT + PFD_ROOM_BYTE * n;
}

/* "NAME":VALUE, */
static void add_field(struct pfd_text *out, const char *name,
                      const struct pfd_step *step, const uint8_t *payload,
                      bool is_quoted)
{
    const struct alone one = alone(step);
    size_t n_name = strlen(name);
    char *at = pfd_text_reserve(out, ESCAPE_MAX * n_name + ROOM_FIXED +
                                         value_room(step, payload));
    if (!at)
        return;
    char *end = at;
    *end++ = '"';
    end = pfd_escape_json(end, name, n_name);
    *end++ = '"';
    *end++ = ':';
    if (is_quoted)
        *end++ = '"';
    end = pfd_program_print_arguments(end, one.steps + 1, payload);
    if (is_quoted) {
        end[-1] = '"';
        *end++ = ',';
    }
    out->n += (size_t)(end - at);
}

static bool is_beyond(const struct pfd_step *step, const uint8_t *payload)
{
    const struct alone one = alone(step);
    return pfd_step_is_wide(step) && pfd_steps_exceed(one.steps + 1, payload);
}

/* One object of all fields, or of those beyond 2^53. */
static void add_object(struct pfd_text *out, const struct pfd_entry *entry,
                       const char *names, bool only_beyond)
{
    const struct pfd_string *s = entry->string;
    const char *name = names;
    for (size_t i = 0; i < s->n_steps; i++) {
        const struct pfd_step *step = &entry->steps[i];
        if (!pfd_step_has_argument(&s->steps[i]))
            continue;
        /* This entry may lack an argument of its string. */
        if (pfd_step_has_argument(step) &&
            (!only_beyond || is_beyond(step, entry->payload)))
            add_field(out, name, step, entry->payload, only_beyond);
        name += strlen(name) + 1;
    }
}

void pfd_json_fields(struct pfd_entry *entry)
{
    struct pfd_text *out = &entry->of->fields;
    out->n = 0;
    if (!entry->string)
        return;
    const char *names = names_of(entry->of, entry->string);
    if (!names) {
        out->failed = true;
        return;
    }
    pfd_text_puts(out, ",\"fields\":{");
    size_t empty = out->n;
    add_object(out, entry, names, false);
    out->n -= out->n > empty; /* the last comma */
    pfd_text_puts(out, "}");
    size_t before = out->n;
    pfd_text_puts(out, ",\"fields_exact\":{");
    empty = out->n;
    add_object(out, entry, names, true);
    if (out->n == empty) {
        out->n = before;
        return;
    }
    out->n--;
    pfd_text_puts(out, "}");
}
