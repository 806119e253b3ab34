/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "layout.h"

/* Writes a number of dwords times 4 as bytes: it can exceed 64 bits. */
static const char *bytes_text(unsigned __int128 bytes, char ret[48])
{
    char *at = ret + 47;
    *at = '\0';
    do {
        *--at = (char)('0' + (int)(bytes % 10));
        bytes /= 10;
    } while (bytes);
    return at;
}

void llpc_report_end(struct pfd_walk *w, const struct llpc_state *st)
{
    uint64_t n_odd = (pfd_walk_end(w) - LLPC_HEADER) % LLPC_DWORD;
    uint64_t capacity = llpc_capacity(w);
    uint64_t held = capacity < LLPC_CLAMP_DWORDS ? capacity : LLPC_CLAMP_DWORDS;
    char lost[48];
    char whole[48];

    if (st->is_absurd) { /* which was said */
        w->batch->skipped_bytes += n_odd;
        return;
    }
    if (n_odd) {
        pfd_walk_finding(w, PFD_FINDING_odd_size, pfd_walk_end(w) - n_odd,
                         "the buffer ends in %u bytes that are no whole dword",
                         (unsigned)n_odd);
        w->batch->skipped_bytes += n_odd;
    }
    if (st->used <= held)
        return;
    unsigned __int128 n_lost =
        (unsigned __int128)(st->used - held) * LLPC_DWORD;
    w->batch->lost_bytes = n_lost > UINT64_MAX ? UINT64_MAX : (uint64_t)n_lost;
    if (held == LLPC_CLAMP_DWORDS)
        return; /* llpc_report_clamp() reported it */
    pfd_walk_finding(
        w, PFD_FINDING_overflow, LLPC_HEADER + capacity * LLPC_DWORD,
        "bufferOffset is %llu dwords, the buffer holds %llu: %llu dwords "
        "(%s bytes) lost; a buffer of at least %s bytes would have held "
        "everything%s",
        (unsigned long long)st->used, (unsigned long long)capacity,
        (unsigned long long)(st->used - capacity), bytes_text(n_lost, lost),
        bytes_text((unsigned __int128)st->used * LLPC_DWORD + LLPC_HEADER,
                   whole),
        st->used > LLPC_CLAMP_DWORDS ? ", but shaders stop at 2 GiB" : "");
}

static const char *swapped_text(uint64_t used)
{
    return __builtin_bswap64(used) < LLPC_CLAMP_DWORDS
               ? "; byte-swapped it would make sense: is this a big-endian "
                 "dump?"
               : "";
}

void llpc_report_absurd(struct pfd_walk *w, uint64_t used)
{
    pfd_walk_finding(w, PFD_FINDING_bad_header, 0,
                     "bufferOffset %llu is more than shaders can ask for: this "
                     "is no LLPC buffer, or its header is damaged, and what is "
                     "lost is not known%s",
                     (unsigned long long)used, swapped_text(used));
}

void llpc_report_clamp(struct pfd_walk *w, uint64_t used)
{
    pfd_walk_finding(w, PFD_FINDING_over_2gib, 0,
                     "bufferOffset %llu is beyond 2^29 dwords, where shaders "
                     "stop writing%s",
                     (unsigned long long)used, swapped_text(used));
}

enum {
    PARTIAL_STEPS = 64,
    PARTIAL_ARGUMENTS = 64,
    PARTIAL_ROOM = 4096
};

/* ", so far 'message'" for an entry whose beginning alone is present. */
static void describe_partial(const struct pfd_walk *w, uint64_t at,
                             uint64_t end, const struct pfd_string *s,
                             struct pfd_quoted *ret)
{
    struct pfd_step steps[PARTIAL_STEPS];
    struct pfd_slot slots[PARTIAL_ARGUMENTS];
    char text[PARTIAL_ROOM];
    size_t room = 0;
    uint64_t findings = 0;

    ret->text[0] = '\0';
    if (llpc_is_synthesized(s) || s->n_steps > PARTIAL_STEPS ||
        s->n_arguments > PARTIAL_ARGUMENTS || s->room > PARTIAL_ROOM)
        return;
    bool cut = s->flags & PFD_STRING_CUT;
    struct pfd_byte_reader payload = w->view;
    pfd_byte_reader_seek(&payload, at + LLPC_ENTRY_HEADER - w->base);
    size_t n_payload = (size_t)(end - at - LLPC_ENTRY_HEADER);
    const uint8_t *bytes = pfd_byte_reader_bytes(&payload, n_payload);
    if (!bytes)
        return;
    memcpy(steps, s->steps, s->n_steps * sizeof *steps);
    size_t n = llpc_fill_slots(s, 0, cut, (uint32_t)n_payload, slots);
    pfd_program_bind(steps, s->n_steps, slots, n, cut, &room);
    char *done = pfd_program_print(text, steps, pfd_string_text(s), PFD_RAW,
                                   bytes, &findings);
    pfd_quote(ret, text, (size_t)(done - text));
}

/*
 * Reports an entry whose size leads past the end: of the buffer, if
 * bufferOffset counts all of it; else of the written bytes. Its bytes extend up
 * to `to`.
 */
static void report_cut(struct pfd_walk *w, const struct llpc_state *st,
                       uint64_t to, const char *then)
{
    const struct llpc_header *h = &st->lost;
    const struct pfd_string *s = pfd_table_find(w->table, h->id);
    bool cut = h->n_bytes <= st->wanted - st->from;
    uint64_t end = cut ? st->end : st->wanted;
    struct pfd_quoted so_far = { "" };
    if (s && to - st->from >= LLPC_ENTRY_HEADER)
        describe_partial(w, st->from, to, s, &so_far);
    pfd_walk_finding(
        w, cut ? PFD_FINDING_truncated_entry : PFD_FINDING_size_past_end,
        st->from,
        "entrySize %u (id 0x%012llx), only %llu dwords left%s%s%s; "
        "%s",
        h->size, (unsigned long long)h->id,
        (unsigned long long)llpc_dword(end - st->from),
        so_far.text[0] ? ": so far '" : "", so_far.text,
        so_far.text[0] ? "'" : "", then);
}

void llpc_report_gap(struct pfd_walk *w, const struct llpc_state *st,
                     uint64_t to)
{
    const struct llpc_header *h = &st->lost;
    struct pfd_walk_gap then;

    w->batch->skipped_bytes += to - st->from;
    if (st->is_absurd && st->from == LLPC_HEADER && to == st->end)
        return; /* no entry is here, and the header cannot be one */
    pfd_walk_describe_gap(&then, st->from, to, st->end);
    if (h->zero) {
        pfd_walk_finding(w, PFD_FINDING_unwritten, st->from,
                         "zero entry header in the used part, not written yet "
                         "or lost; %s",
                         then.text);
    } else if (h->size < LLPC_SIZE_MIN) {
        pfd_walk_finding(w, PFD_FINDING_bad_size, st->from,
                         "entrySize %u (id 0x%012llx), at least %d expected; "
                         "%s",
                         h->size, (unsigned long long)h->id, LLPC_SIZE_MIN,
                         then.text);
    } else if (h->n_bytes > st->end - st->from) {
        report_cut(w, st, to, then.text);
    } else {
        pfd_walk_finding(
            w,
            h->id < LLPC_TORN_ID ? PFD_FINDING_torn_header
                                 : PFD_FINDING_unknown_id,
            st->from,
            "no string has id 0x%012llx, and entrySize %u leads %s; %s",
            (unsigned long long)h->id, h->size,
            st->is_inside ? "over sound entries" : "to no entry", then.text);
    }
}
