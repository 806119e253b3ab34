/* SPDX-License-Identifier: MIT */
#include "ingest/follower_resume.h"

#include "base/log.h"
#include "ingest/entry_check.h"
#include "ingest/fd_store.h"
#include "ingest/ingest.h"
#include "ingest/read_pass.h"
#include "spool/spool.h"

static bool is_kept(const struct pfdd_follower *s)
{
    return s->options.resume && s->ingest->spool;
}

static void skip_to(struct pfdd_follower *s,
                    const struct pfdd_source_offset *at)
{
    /* The tail counts generations from 0. */
    s->resume.skipping = s->resume.is_known = true;
    s->resume.at = *at;
    s->resume.at.generation = 0;
    s->options.generation = at->generation;
}

/* Its position in the spool is that of other bytes, in this generation or one
 * that the producer states. */
static bool is_used_anew(const struct pfdd_follower *s,
                         const struct pfdd_source_offset *at)
{
    if (s->options.generation > at->generation)
        return true;
    return s->options.fd >= 0 &&
           !pfdd_entry_check_holds(at->check, s->options.fd, at->offset,
                                   at->n_bytes);
}

/* Goes on behind an entry that came out before, or begins anew where other bytes
 * are there by now. */
static void resume_at(struct pfdd_follower *s,
                      const struct pfdd_source_offset *at)
{
    if (!is_used_anew(s, at)) {
        skip_to(s, at);
        return;
    }
    s->resume.is_known = s->resume.is_changed = true;
    s->resume.at = *at;
    if (s->options.generation <= at->generation)
        s->options.generation = at->generation + 1;
}

/* False: the spool knows nothing of this buffer. */
static bool resume_in_spool(struct pfdd_follower *s)
{
    char key[PFDD_BUFFER_KEY];
    char file[PFDD_FILE_ROOM];
    struct pfdd_source_offset at;
    bool is_alone = true;
    pfdd_buffer_key(s->buffer, key);
    pfdd_buffer_bytes_describe(&s->buffer_bytes, file);
    bool is_known =
        pfdd_spool_position(s->ingest->spool, key, file, &at, &is_alone);
    if (!is_alone) {
        pfdd_log_peer(
            PFDD_INFO,
            "%s: its process has two buffers of this name: where they "
            "are is not kept over a restart, which tells them again",
            s->options.name);
    }
    if (is_known)
        resume_at(s, &at);
    return is_known;
}

void pfdd_follower_resume(struct pfdd_follower *s)
{
    const struct pfdd_saved_position *saved = s->options.saved_position;
    if (is_kept(s) && resume_in_spool(s))
        return;
    struct pfdd_source_offset at;
    if (saved && pfdd_saved_position_find(saved, &at))
        resume_at(s, &at);
}

void pfdd_follower_resume_note(struct pfdd_follower *s,
                               struct pfdd_chunk_batch *b)
{
    struct pfdd_contents *last = NULL;
    for (struct pfdd_chunk *c = b->first; c; c = c->next)
        last = c->contents.n[PFDD_ENTRY] ? &c->contents : last;
    if (!last)
        return;
    if (s->options.saved_position) {
        pfdd_saved_position_note(s->options.saved_position, s->options.fd,
                                 last->last.generation, last->last.index,
                                 last->last.offset, last->last_bytes,
                                 s->pass.is_ring);
    }
    if (is_kept(s) && s->options.fd >= 0) {
        last->last.n_bytes = last->last_bytes;
        last->last.check =
            pfdd_entry_check(s->options.fd, last->last.offset,
                             last->last.n_bytes, s->pass.is_ring);
    }
}

void pfdd_follower_resume_end(struct pfdd_follower *s)
{
    char key[PFDD_BUFFER_KEY];
    if (!is_kept(s))
        return;
    pfdd_buffer_key(s->buffer, key);
    pfdd_spool_end_position(s->ingest->spool, key,
                            *s->ingest->stopping || !s->options.account);
}
