/* SPDX-License-Identifier: MIT */
#include "base/buffer_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <printfdecode/tail.h>

void pfdd_sums_item(struct pfdd_sums *sums, const struct pfd_tail_item *item)
{
    size_t n = 0;
    if (!item->is_entry) {
        sums->findings[item->finding->kind]++;
        return;
    }
    sums->entries++;
    sums->unknown += !pfd_entry_format_string(item->entry, &n);
    for (uint64_t left = item->entry->findings; left; left &= left - 1)
        sums->findings[__builtin_ctzll(left)]++;
}

void pfdd_sums_add(struct pfdd_sums *to, const struct pfdd_sums *now,
                   const struct pfdd_sums *before)
{
    to->entries += now->entries - before->entries;
    to->unknown += now->unknown - before->unknown;
    to->lost_bytes += now->lost_bytes - before->lost_bytes;
    to->skipped_bytes += now->skipped_bytes - before->skipped_bytes;
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++)
        to->findings[i] += now->findings[i] - before->findings[i];
}

bool pfdd_sums_are_bad(const struct pfdd_sums *sums)
{
    bool bad = sums->unknown || sums->lost_bytes || sums->skipped_bytes;
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++) {
        bad |=
            sums->findings[i] && !pfd_finding_is_note((enum pfd_finding_kind)i);
    }
    return bad;
}

void pfdd_sums_text(const struct pfdd_sums *sums, char ret[PFDD_SUMS_TEXT])
{
    static const char more[] = ", and more";
    const size_t room = PFDD_SUMS_TEXT - sizeof more;
    const char *between = ";";
    int n = snprintf(ret, PFDD_SUMS_TEXT,
                     "%" PRIu64 " %s, %" PRIu64 " unknown, %" PRIu64
                     " bytes lost, %" PRIu64 " skipped",
                     sums->entries, sums->entries == 1 ? "entry" : "entries",
                     sums->unknown, sums->lost_bytes, sums->skipped_bytes);
    size_t at = (size_t)n;
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++) {
        if (!sums->findings[i])
            continue;
        n = snprintf(ret + at, room - at, "%s %" PRIu64 " %s", between,
                     sums->findings[i],
                     pfd_finding_name((enum pfd_finding_kind)i));
        if ((size_t)n >= room - at) {
            memcpy(ret + at, more, sizeof more);
            return;
        }
        at += (size_t)n;
        between = ",";
    }
}
