/* SPDX-License-Identifier: MIT */
#include "base/buffer_stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <printfdecode/tail.h>

void pfdd_buffer_stats_item(struct pfdd_buffer_stats *buffer_stats,
                            const struct pfd_tail_item *item)
{
    size_t n = 0;
    if (!item->is_entry) {
        buffer_stats->findings[item->finding->kind]++;
        return;
    }
    buffer_stats->entries++;
    buffer_stats->unknown += !pfd_entry_format_string(item->entry, &n);
    for (uint64_t left = item->entry->findings; left; left &= left - 1)
        buffer_stats->findings[__builtin_ctzll(left)]++;
}

void pfdd_buffer_stats_add(struct pfdd_buffer_stats *to,
                           const struct pfdd_buffer_stats *now,
                           const struct pfdd_buffer_stats *before)
{
    to->entries += now->entries - before->entries;
    to->unknown += now->unknown - before->unknown;
    to->lost_bytes += now->lost_bytes - before->lost_bytes;
    to->skipped_bytes += now->skipped_bytes - before->skipped_bytes;
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++)
        to->findings[i] += now->findings[i] - before->findings[i];
}

bool pfdd_buffer_stats_are_bad(const struct pfdd_buffer_stats *buffer_stats)
{
    bool bad = buffer_stats->unknown || buffer_stats->lost_bytes ||
               buffer_stats->skipped_bytes;
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++) {
        bad |= buffer_stats->findings[i] &&
               !pfd_finding_is_note((enum pfd_finding_kind)i);
    }
    return bad;
}

void pfdd_buffer_stats_text(const struct pfdd_buffer_stats *buffer_stats,
                            char ret[PFDD_BUFFER_STATS_TEXT])
{
    static const char more[] = ", and more";
    const size_t room = PFDD_BUFFER_STATS_TEXT - sizeof more;
    const char *between = ";";
    int n = snprintf(ret, PFDD_BUFFER_STATS_TEXT,
                     "%" PRIu64 " %s, %" PRIu64 " unknown, %" PRIu64
                     " bytes lost, %" PRIu64 " skipped",
                     buffer_stats->entries,
                     buffer_stats->entries == 1 ? "entry" : "entries",
                     buffer_stats->unknown, buffer_stats->lost_bytes,
                     buffer_stats->skipped_bytes);
    size_t at = (size_t)n;
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++) {
        if (!buffer_stats->findings[i])
            continue;
        n = snprintf(ret + at, room - at, "%s %" PRIu64 " %s", between,
                     buffer_stats->findings[i],
                     pfd_finding_name((enum pfd_finding_kind)i));
        if ((size_t)n >= room - at) {
            memcpy(ret + at, more, sizeof more);
            return;
        }
        at += (size_t)n;
        between = ",";
    }
}
