/* SPDX-License-Identifier: MIT */
#include "ingest/follower_stats.h"

#include <string.h>

#include "stream/capture/chunk.h"

void pfdd_follower_stats_item(struct pfdd_follower_stats *s,
                              const struct pfd_tail_item *item)
{
    uint64_t before = s->all.unknown;
    pfdd_buffer_stats_item(&s->all, item);
    if (s->all.unknown != before)
        pfdd_troubles_note_id(&s->unknown, item->entry->id);
}

void pfdd_follower_stats_entries(struct pfdd_follower_stats *s, size_t n)
{
    s->all.entries += n;
}

/* The counts never decrease, even where the tail's do. */
void pfdd_follower_stats_bytes(struct pfdd_follower_stats *s,
                               const struct pfd_tail *tail)
{
    const struct pfd_summary *summary = pfd_tail_summary(tail);
    struct pfdd_buffer_stats *buffer_stats = &s->all;
    if (summary->lost_bytes > buffer_stats->lost_bytes)
        buffer_stats->lost_bytes = summary->lost_bytes;
    if (summary->skipped_bytes > buffer_stats->skipped_bytes)
        buffer_stats->skipped_bytes = summary->skipped_bytes;
}

void pfdd_follower_stats_at(struct pfdd_follower_stats *s,
                            const struct pfd_tail *tail, uint64_t generation)
{
    if (generation == s->generation)
        return;
    pfdd_follower_stats_bytes(s, tail);
    s->ended = s->all;
    s->generation = generation;
}

void pfdd_follower_stats_troubles(const struct pfdd_follower_stats *s,
                                  uint64_t n_buffer,
                                  struct pfdd_source_troubles *ret)
{
    const struct pfdd_buffer_stats *now = &s->all;
    const struct pfdd_buffer_stats *before = &s->counted;
    *ret = s->unknown;
    ret->unknown = now->unknown - before->unknown;
    ret->lost_bytes = now->lost_bytes - before->lost_bytes;
    ret->skipped_bytes = now->skipped_bytes - before->skipped_bytes;
    for (unsigned i = 0; i < PFD_N_FINDING_KINDS; i++) {
        if (!pfd_finding_is_note((enum pfd_finding_kind)i))
            ret->findings += now->findings[i] - before->findings[i];
    }
    ret->overflow = (struct pfdd_source_overflow){
        .lost_bytes = now->lost_bytes - s->ended.lost_bytes,
        .size = n_buffer,
        .entries = now->entries - s->ended.entries,
    };
}

void pfdd_follower_stats_count(struct pfdd_follower_stats *s,
                               struct pfdd_outcome *all)
{
    pfdd_buffer_stats_add(&all->buffer_stats, &s->all, &s->counted);
    s->counted = s->all;
}

void pfdd_follower_stats_add_chunk(struct pfdd_follower_stats *s,
                                   struct pfdd_outcome *all,
                                   const struct pfd_chunk_counts *counts)
{
    static const struct pfdd_buffer_stats none;
    struct pfdd_buffer_stats buffer_stats = { .entries = counts->entries,
                                              .lost_bytes = counts->lost_bytes,
                                              .skipped_bytes =
                                                  counts->skipped_bytes };
    pfdd_buffer_stats_add(&s->decoded, &buffer_stats, &none);
    pfdd_buffer_stats_add(&all->buffer_stats, &buffer_stats, &none);
}

static void tell(struct pfdd_outcome *all, const char *name, const char *what,
                 const struct pfdd_buffer_stats *buffer_stats)
{
    char text[PFDD_BUFFER_STATS_TEXT];
    pfdd_buffer_stats_text(buffer_stats, text);
    bool bad = pfdd_buffer_stats_are_bad(buffer_stats);
    pfdd_log_about(bad ? &all->told_bad : &all->told_well,
                   bad ? PFDD_WARNING : PFDD_INFO, "%s: %s: %s", name, what,
                   text);
}

void pfdd_follower_stats_log_end(const struct pfdd_follower_stats *s,
                                 struct pfdd_outcome *all, const char *name)
{
    static const struct pfdd_buffer_stats none;
    struct pfdd_buffer_stats buffer_stats = s->all;
    pfdd_buffer_stats_add(&buffer_stats, &s->decoded, &none);
    tell(all, name, "ended", &buffer_stats);
}

void pfdd_follower_stats_log_generation(struct pfdd_follower_stats *s,
                                        struct pfdd_outcome *all,
                                        const char *name)
{
    struct pfdd_buffer_stats buffer_stats = { 0 };
    if (!memcmp(&s->ended, &s->logged, sizeof s->logged))
        return;
    pfdd_buffer_stats_add(&buffer_stats, &s->ended, &s->logged);
    s->logged = s->ended;
    if (pfdd_buffer_stats_are_bad(&buffer_stats))
        tell(all, name, "begins anew; before that", &buffer_stats);
}
