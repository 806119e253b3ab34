/* SPDX-License-Identifier: MIT */
#include "core/decode/validation_chain.h"

#include <stdio.h>

#include "core/decode/inspect.h"

enum {
    DWORD = PFD_VALIDATION_CHAIN_DWORD
};

void pfd_validation_chain_open(struct pfd_validation_chain *c,
                               struct pfd_walk *w)
{
    w->at = (uint64_t)c->data * DWORD;
    c->end_of_last = w->at;
}

uint64_t pfd_validation_chain_limit(const struct pfd_validation_chain *c)
{
    return ((uint64_t)c->data + c->wanted) * DWORD;
}

bool pfd_validation_chain_is_likely(const struct pfd_validation_chain *c)
{
    return c->wanted <= 1 << 24;
}

bool pfd_validation_chain_has_header(struct pfd_walk *w)
{
    if (w->view.n >= 2 * (size_t)DWORD)
        return true;
    pfd_walk_finding(w, PFD_FINDING_no_header, 0,
                     "%zu bytes, a buffer's header needs 4 or 8", w->view.n);
    w->batch->skipped_bytes += w->view.n;
    w->at = w->view.n;
    return false;
}

void pfd_validation_chain_pass(struct pfd_validation_chain *c,
                               struct pfd_walk *w, uint32_t size,
                               uint64_t n_bytes)
{
    c->same_size = !c->any || c->same_size == size ? size : 0;
    c->largest = size > c->largest ? size : c->largest;
    c->any = true;
    w->at += n_bytes;
    c->end_of_last = w->at;
}

/* ---- bytes without records ---- */

/* Accounts for a word in no record. */
static void account(struct pfd_validation_chain *c, uint64_t at, uint32_t word)
{
    if (at < pfd_validation_chain_limit(c)) {
        c->saw_data |= word != 0;
    } else {
        c->n_left_over += word != 0;
    }
}

enum pfd_status pfd_validation_chain_lose(struct pfd_validation_chain *c,
                                          const struct pfd_walk *w,
                                          uint32_t size,
                                          enum pfd_validation_chain_break why)
{
    c->is_lost = true;
    c->why = why;
    c->from = w->at;
    c->next = w->at + DWORD;
    c->bad = size;
    c->saw_data = false;
    c->n_left_over = 0;
    account(c, w->at, size);
    return PFD_OK;
}

/* Reports the bytes between records; to: the next record, or the end. */
static void report_gap(struct pfd_validation_chain *c, struct pfd_walk *w,
                       uint64_t to, bool found)
{
    struct pfd_walk_gap gap;
    w->batch->skipped_bytes += to - c->from;
    c->end_of_last = to;
    pfd_walk_describe_gap(&gap, c->from, to, found ? UINT64_MAX : to);
    switch (c->why) {
    case PFD_VALIDATION_CHAIN_ZERO:
        pfd_walk_finding(w, PFD_FINDING_unwritten, c->from,
                         "a record of size 0, not written yet or lost; %s",
                         gap.text);
        break;
    case PFD_VALIDATION_CHAIN_BAD_SIZE:
        if (c->sizes) {
            pfd_walk_finding(w, PFD_FINDING_bad_size, c->from,
                             "a record of %u dwords, %s expected; %s", c->bad,
                             c->sizes, gap.text);
        } else {
            pfd_walk_finding(w, PFD_FINDING_bad_size, c->from,
                             "a record of %u dwords, at least %u expected; %s",
                             c->bad, c->header, gap.text);
        }
        break;
    case PFD_VALIDATION_CHAIN_PAST_END:
        pfd_walk_finding(w, PFD_FINDING_size_past_end, c->from,
                         "a record of %u dwords runs over the end; %s", c->bad,
                         gap.text);
        break;
    case PFD_VALIDATION_CHAIN_CUT:
        pfd_walk_finding(w, PFD_FINDING_truncated_entry, c->from,
                         "the buffer ends in a record of %u dwords; %s", c->bad,
                         gap.text);
        break;
    case PFD_VALIDATION_CHAIN_HIDING:
        pfd_walk_finding(w, PFD_FINDING_bad_size, c->from,
                         "a record of %u dwords that is none of those that are "
                         "known, with such records in it; %s",
                         c->bad, gap.text);
        break;
    case PFD_VALIDATION_CHAIN_STRAY:
        pfd_walk_finding(w, PFD_FINDING_bad_size, c->from,
                         "a record of %u dwords that is none of those that are "
                         "known, and none is behind it; %s",
                         c->bad, gap.text);
        break;
    }
}

/* Does the count claim far more than is here, where no record is? */
static bool is_no_header(const struct pfd_validation_chain *c,
                         const struct pfd_walk *w)
{
    enum {
        TIMES_MAX = 64
    };
    return !c->any && c->saw_data && !pfd_validation_chain_is_likely(c) &&
           pfd_validation_chain_limit(c) / TIMES_MAX > pfd_walk_end(w);
}

/* No record came any more: how much of the claimed count is there? */
static enum pfd_status account_rest(struct pfd_validation_chain *c,
                                    struct pfd_walk *w)
{
    uint64_t limit = pfd_validation_chain_limit(c);
    uint64_t end = pfd_walk_end(w) / DWORD * DWORD;
    uint64_t to = limit < end ? limit : end;
    if (is_no_header(c, w)) {
        w->batch->skipped_bytes += to - c->from;
    } else if (c->saw_data && c->from < to) {
        report_gap(c, w, to, false);
    }
    if (c->n_left_over) {
        pfd_walk_finding(w, PFD_FINDING_stale, limit,
                         "%llu dwords behind what the count claims are not "
                         "zero: left over, or records that it does not know",
                         (unsigned long long)c->n_left_over);
    }
    c->is_lost = false;
    w->at = end;
    return PFD_OK;
}

/* The next offset from c->next on with a record, or where that needs more
 * bytes; *found: there is one, and it is in view as far as it will ever be. */
static uint64_t find_record(struct pfd_validation_chain *c, struct pfd_walk *w,
                            bool *found)
{
    uint64_t end = pfd_walk_end(w) / DWORD * DWORD;
    uint64_t header = (uint64_t)c->header * DWORD;
    uint64_t at = c->next;
    *found = false;
    for (; at + header <= end; at += DWORD) {
        if (pfd_walk_u32(w, at) == 0) {
            at = pfd_walk_pass(w, at, end);
            continue;
        }
        uint32_t size = c->record_at(w, at);
        *found = size && (w->last || size <= (end - at) / DWORD);
        if (size)
            break;
        account(c, at, pfd_walk_u32(w, at));
    }
    return at;
}

enum pfd_status pfd_validation_chain_find(struct pfd_validation_chain *c,
                                          struct pfd_walk *w)
{
    bool found = false;
    uint64_t at = find_record(c, w, &found);
    uint64_t end = pfd_walk_end(w) / DWORD * DWORD;
    c->next = at;
    w->at = at;
    if (found) {
        c->is_lost = false;
        report_gap(c, w, at, true);
        return PFD_OK;
    }
    if (!w->last)
        return PFD_MORE;
    for (; at < end; at += DWORD)
        account(c, at, pfd_walk_u32(w, at));
    return account_rest(c, w);
}

/* ---- the end ---- */

/* Reports that more is stored than the count says. */
static void report_beyond(const struct pfd_validation_chain *c,
                          struct pfd_walk *w, uint64_t stored)
{
    uint64_t at = (c->data - 1) * (uint64_t)DWORD;
    uint64_t left = (pfd_walk_end(w) - c->end_of_last) / DWORD;
    uint64_t lost = (UINT64_C(1) << 32) + c->wanted - stored;
    if (left >= c->largest) {
        pfd_walk_finding(w, PFD_FINDING_bad_header, at,
                         "the count says %u dwords and records go on up to "
                         "%llu: it is too small, and as there is room for "
                         "more, none are lost",
                         c->wanted, (unsigned long long)stored);
        return;
    }
    pfd_walk_finding(w, PFD_FINDING_overflow, at,
                     "the count says %u dwords and %llu are stored, which "
                     "fills the buffer: it wrapped at 2^32, so at least %llu "
                     "dwords are lost",
                     c->wanted, (unsigned long long)stored,
                     (unsigned long long)lost);
    w->batch->lost_bytes += lost * DWORD;
}

/* The setting of such a buffer's size, if a setting can have that many
 * bytes. */
struct setting {
    char text[128];
};

static struct setting setting_of(const struct pfd_validation_chain *c,
                                 unsigned long long bytes)
{
    struct setting ret = { "" };
    if (c->is_printf && bytes <= UINT32_MAX) {
        snprintf(ret.text, sizeof ret.text,
                 ": VK_LAYER_PRINTF_BUFFER_SIZE=%llu, or "
                 "khronos_validation.printf_buffer_size = %llu",
                 bytes, bytes);
    }
    return ret;
}

/* Reports the loss, and the size that a buffer would need. */
static void report_overflow(const struct pfd_validation_chain *c,
                            struct pfd_walk *w, uint64_t stored)
{
    unsigned long long wanted = c->wanted;
    unsigned long long lost = wanted - stored;
    unsigned long long bytes = (wanted + c->data) * DWORD;
    struct setting setting = setting_of(c, bytes);
    if (c->same_size && lost % c->same_size == 0) {
        pfd_walk_finding(
            w, PFD_FINDING_overflow, c->end_of_last,
            "shaders wrote %llu dwords, %llu are stored: %llu dwords (%llu "
            "bytes) lost, which are %llu records if all have %u dwords; a "
            "buffer of %llu bytes would have held everything%s",
            wanted, (unsigned long long)stored, lost, lost * DWORD,
            lost / c->same_size, c->same_size, bytes, setting.text);
    } else {
        pfd_walk_finding(
            w, PFD_FINDING_overflow, c->end_of_last,
            "shaders wrote %llu dwords, %llu are stored: %llu dwords (%llu "
            "bytes) lost; a buffer of %llu bytes would have held everything%s",
            wanted, (unsigned long long)stored, lost, lost * DWORD, bytes,
            setting.text);
    }
}

static void report_loss(const struct pfd_validation_chain *c,
                        struct pfd_walk *w)
{
    uint64_t stored = c->end_of_last / DWORD - c->data;
    uint64_t lost = c->wanted - stored;
    if (stored == c->wanted)
        return;
    if (stored > c->wanted) {
        report_beyond(c, w, stored);
        return;
    }
    w->batch->lost_bytes += lost * DWORD;
    if (pfd_validation_chain_limit(c) > pfd_walk_end(w)) {
        report_overflow(c, w, stored);
        return;
    }
    pfd_walk_finding(w, PFD_FINDING_unwritten, c->end_of_last,
                     "shaders wrote %u dwords, %llu are stored: %llu dwords "
                     "(%llu bytes) are zero, not written yet or lost, or the "
                     "count is too large",
                     c->wanted, (unsigned long long)stored,
                     (unsigned long long)lost,
                     (unsigned long long)lost * DWORD);
}

static enum pfd_status finish(struct pfd_validation_chain *c,
                              struct pfd_walk *w)
{
    uint64_t end = pfd_walk_end(w);
    c->has_ended = true;
    w->at = end;
    if (is_no_header(c, w)) {
        pfd_walk_finding(
            w, PFD_FINDING_bad_header, (c->data - 1) * (uint64_t)DWORD,
            "the count says %u dwords, and no record is in the "
            "%llu that are here: this is no buffer of the "
            "validation layer, or it is damaged",
            c->wanted, (unsigned long long)(end / DWORD - c->data));
        return PFD_END;
    }
    if (end % DWORD) {
        pfd_walk_finding(w, PFD_FINDING_odd_size, end / DWORD * DWORD,
                         "the buffer ends in %u bytes that are no whole dword",
                         (unsigned)(end % DWORD));
    }
    report_loss(c, w);
    return PFD_END;
}

enum pfd_status pfd_validation_chain_end(struct pfd_validation_chain *c,
                                         struct pfd_walk *w)
{
    if (!w->last)
        return PFD_MORE;
    if (pfd_walk_end(w) - w->at < DWORD)
        return finish(c, w);
    uint32_t size = pfd_walk_u32(w, w->at);
    return pfd_validation_chain_lose(c, w, size,
                                     size == 0 ? PFD_VALIDATION_CHAIN_ZERO
                                     : size < c->header
                                         ? PFD_VALIDATION_CHAIN_BAD_SIZE
                                         : PFD_VALIDATION_CHAIN_CUT);
}

bool pfd_validation_chain_word(const struct pfd_validation_chain *c,
                               uint64_t at, struct pfd_word *ret)
{
    uint64_t end = at / DWORD * DWORD + DWORD;
    uint64_t limit = pfd_validation_chain_limit(c);
    if (!c->data)
        return false;
    if (at / DWORD + 1 < c->data)
        return pfd_word_set(ret, end, "%s", c->flags ? c->flags : "flags");
    if (at / DWORD < c->data)
        return pfd_word_set(ret, end, "count: dwords that shaders asked for");
    if (at >= limit)
        return pfd_word_set_unused(ret);
    return c->has_ended && at >= c->end_of_last &&
           pfd_word_set(ret, limit,
                        "counted, not written: for records that did not fit");
}
