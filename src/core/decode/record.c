/* SPDX-License-Identifier: MIT */
/* Properties of every record that a walk makes, for any format. */
#include "core/decode/format.h"

enum {
    STREAMS = PFD_RECORD_STDOUT | PFD_RECORD_STDERR,
    FLAGS = STREAMS | PFD_RECORD_SYNTHESIZED | PFD_RECORD_COPIED |
            PFD_RECORD_OWN | PFD_RECORD_OWN2 | PFD_RECORD_SURE,
};

/* Bits that entries can have. */
#define FINDINGS       (UINT64_MAX >> (64 - PFD_ENTRY_FINDING_KINDS))
#define WIDTH_MISMATCH (UINT64_C(1) << PFD_FINDING_width_mismatch)

static bool is_reading(const struct pfd_record *r)
{
    return r->kind == PFD_RECORD_ENTRY
               ? r->n_alternatives <= PFD_ALTERNATIVES_MAX
               : r->kind == PFD_RECORD_ALTERNATIVE && !r->n_alternatives;
}

static bool has_sound_bits(const struct pfd_format *format,
                           const struct pfd_record *r)
{
    return !(r->flags & ~FLAGS) && (r->flags & STREAMS) != STREAMS &&
           (format->make || !(r->flags & PFD_RECORD_SYNTHESIZED)) &&
           !(r->findings & ~FINDINGS) &&
           (format->layout_text || !(r->findings & WIDTH_MISMATCH));
}

/* A copy can be longer than the bytes it covers, where a format reads past an
 * entry; a scattered entry has a count of its own. */
static bool has_sound_size(const struct pfd_format *format,
                           const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_byte_reader *c = &record_view->bytes;
    if (!pfd_byte_reader_ok(c) || c->at != r->n_header || c->n > UINT32_MAX ||
        r->offset > UINT64_MAX - r->n_bytes)
        return false;
    if (r->kind == PFD_RECORD_ALTERNATIVE && r->flags & PFD_RECORD_COPIED)
        return r->n_bytes == c->n;
    return format->is_scattered ||
           (r->n_bytes >= r->n_header && r->n_bytes <= c->n);
}

/* Does the payload hold all values of the string's own steps? Text is not among
 * them: strings in tables have no text slots. */
static bool holds_values(const struct pfd_string *s, size_t n_payload)
{
    if (s->n_payload != UINT32_MAX)
        return s->n_payload <= n_payload;
    for (const struct pfd_step *step = s->steps; step->op != PFD_OP_END;
         step++) {
        struct pfd_slot slot = { .at = step->at, .store = step->store & 15 };
        size_t n = pfd_slot_bytes(&slot);
        if (pfd_step_has_argument(step) &&
            (n > n_payload || slot.at > n_payload - n))
            return false;
    }
    return true;
}

static bool has_sound_string(const struct pfd_format *format,
                             const struct pfd_record_view *record_view)
{
    const struct pfd_record *r = record_view->record;
    const struct pfd_string *s = r->string;
    bool is_made = r->flags & PFD_RECORD_SYNTHESIZED;
    if (!s)
        return is_made || !r->layout;
    return pfd_string_kinds[s->table] == &format->strings &&
           (is_made || r->layout ||
            holds_values(s, pfd_byte_reader_left(&record_view->bytes)));
}

bool pfd_record_is_sound(const struct pfd_format *format,
                         const struct pfd_record_view *record_view)
{
    return is_reading(record_view->record) &&
           has_sound_bits(format, record_view->record) &&
           has_sound_size(format, record_view) &&
           has_sound_string(format, record_view) &&
           (!format->is_record || format->is_record(record_view));
}
