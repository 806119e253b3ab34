/* SPDX-License-Identifier: MIT */
/* Where the arguments of an entry lie, and the meaning of its bytes. */
#include "core/decode/inspect.h"
#include "core/decode/rocm_layout.h"
#include "layout.h"

enum {
    DWORD = 4,
    SLOT = 8,
};

/* Is the record's string one of a table, or unknown (a hash)? */
static bool is_constant(const struct pfd_record *r, size_t n_payload)
{
    const struct pfd_string *s = r->string;
    if (r->n_header != HIP_ENTRY_MIN)
        return false;
    if (!s)
        return true;
    return r->key == s->key && (r->layout || (s->n_payload == n_payload &&
                                              !(s->flags & PFD_STRING_CHAR)));
}

bool hip_is_record(const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    size_t n = record_view->bytes.n;
    bool is_made = r->flags & PFD_RECORD_SYNTHESIZED;
    if (n < HIP_ENTRY_MIN || n > HIP_ENTRY_MAX || n % DWORD ||
        r->flags & (PFD_RECORD_OWN | PFD_RECORD_OWN2) ||
        !(r->flags & (PFD_RECORD_STDOUT | PFD_RECORD_STDERR)) ||
        (r->layout && !(r->layout & HIP_LAYOUT_TEXT)) ||
        (!(r->layout & HIP_LAYOUT_NULLS) && r->layout > HIP_LAYOUT_TEXT))
        return false;
    return is_made ? r->n_header == HIP_CONTROL && !r->string
                   : is_constant(r, n - HIP_ENTRY_MIN);
}

/* Without strings, each argument takes 8 bytes. */
void hip_layout(const struct pfd_string *s,
                const struct pfd_program_facts *facts, struct pfd_layout *ret)
{
    for (const struct pfd_step *step = s->steps; step->op != PFD_OP_END;
         step++) {
        if (!pfd_step_takes(step) || ret->n_slots == PFD_ARGUMENTS_MAX)
            continue;
        bool wide = step->length == PFD_LENGTH_LONG ||
                    step->length == PFD_LENGTH_LONGF ||
                    pfd_step_is_float(step) || step->conv == 'p' ||
                    step->conv == 'n';
        ret->slots[ret->n_slots++] = (struct pfd_slot){
            .at = ret->n_payload,
            .store = step->conv == 's' ? PFD_STORE_STRING
                     : wide            ? PFD_STORE_QWORD
                                       : PFD_STORE_DWORD,
        };
        ret->n_payload += SLOT;
    }
}

unsigned hip_count_texts(const struct pfd_step *steps)
{
    unsigned n = 0;
    for (; steps->op != PFD_OP_END; steps++)
        n += pfd_rocm_is_text(steps);
    return n;
}

/* Solves entries that the walk did not: those with a long format string, whose
 * steps are compiled here only. */
static void solve_late(const struct pfd_record_view *record_view, uint32_t from,
                       struct pfd_slot *slots, struct pfd_rocm_arguments *ret)
{
    const struct pfd_step *steps = record_view->string->steps;
    struct pfd_ways ways;
    bool all = pfd_rocm_weigh(steps, &record_view->bytes, from, &ways);
    if (ways.n) {
        pfd_rocm_lay_out(steps, &record_view->bytes, from, ways.way[0].choice,
                         slots, ret);
    }
    if (!all || pfd_ways_left(&ways) > 1)
        ret->findings |= PFD_FINDING_BIT(null_strings);
}

size_t hip_slots(const struct pfd_record_view *record_view,
                 struct pfd_slot *ret, uint64_t *findings)
{
    struct pfd_rocm_arguments arguments;
    const struct pfd_record *r = record_view->record;
    const struct pfd_step *steps = record_view->string->steps;
    uint64_t nulls =
        r->layout & HIP_LAYOUT_NULLS ? r->layout >> HIP_FIRST_NULL : 0;
    uint32_t n_text = 0;
    uint32_t from = 0;
    if (r->flags & PFD_RECORD_SYNTHESIZED && !r->string)
        pfd_rocm_text(&record_view->bytes, 0, &n_text, &from);
    bool fits = pfd_rocm_lay_out(steps, &record_view->bytes, from, nulls, ret,
                                 &arguments);
    unsigned n_texts =
        r->layout & HIP_LAYOUT_NULLS ? 0 : hip_count_texts(steps);
    if (n_texts > 1 || (n_texts && !fits))
        solve_late(record_view, from, ret, &arguments);
    *findings |= arguments.findings;
    return arguments.n_slots;
}

/* Makes the format string of an entry that contains it. */
void hip_make(const struct pfd_record_view *record_view,
              struct pfd_synthesized *ret)
{
    uint32_t n_text;
    uint32_t n_used;
    const char *text = pfd_rocm_text(&record_view->bytes, 0, &n_text, &n_used);
    bool is_long = n_text > PFD_ROCM_FORMAT_MAX;
    pfd_text_add(ret->text, text, is_long ? PFD_ROCM_FORMAT_MAX : n_text);
    if (n_text == n_used || is_long)
        ret->findings |= PFD_FINDING_BIT(clipped_string);
    ret->lay_out = true;
}

bool hip_entry_word(const struct pfd_record_view *record_view, uint32_t at,
                    struct pfd_word *ret)
{
    static const char *const hash[] = { "low", "high" };
    uint32_t control = pfd_byte_reader_peek_u32(&record_view->bytes, 0);
    uint32_t n_text;
    uint32_t n_used;
    uint64_t end = at / DWORD * DWORD + DWORD;
    if (at < HIP_CONTROL) {
        return pfd_word_set(
            ret, end, "entry: control (%u bytes, %s format string, %s)",
            control >> 2, control & HIP_FLAG_CONSTANT ? "hash of its" : "its",
            control & HIP_FLAG_STDERR ? "stderr" : "stdout");
    }
    if (control & HIP_FLAG_CONSTANT) {
        return at < HIP_CONTROL + HIP_HASH &&
               pfd_word_set(ret, end, "hash of the format string, %s half",
                            hash[(at - HIP_CONTROL) / DWORD]);
    }
    struct pfd_byte_reader payload = record_view->bytes;
    pfd_byte_reader_seek(&payload, HIP_CONTROL);
    payload = pfd_byte_reader_sub(&payload, pfd_byte_reader_left(&payload));
    pfd_rocm_text(&payload, 0, &n_text, &n_used);
    return at < HIP_CONTROL + n_used &&
           pfd_word_set(ret, HIP_CONTROL + (uint64_t)n_used, "format string");
}
