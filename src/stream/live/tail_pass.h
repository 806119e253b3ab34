/* SPDX-License-Identifier: MIT */
/*
 * One pass of a tail over a copy of its buffer: emits settled entries, and
 * turns bytes that cannot settle any more into holes. Knows no clock and reads
 * nothing; tail.c sets the limits.
 */
#ifndef PFD_TAIL_PASS_H
#define PFD_TAIL_PASS_H

#include <printfdecode/tail.h>

#include "core/decode/entry_run.h"
#include "core/decode/walk.h"
#include "stream/live/tail_control.h"
#include "stream/live/tail_memory.h"

/*
 * A copy of a range of a buffer's bytes at one moment. Knows how to read them,
 * not their meaning.
 */

/* Bytes [base, base + n). */
struct pfd_tail_copy {
    uint8_t *bytes; /* [n] of [room]; owned */
    size_t n;
    size_t room;
    uint64_t base;
};

/* Reads bytes [from, from + n), or as many as there are. PFD_OK; PFD_ERR_IO;
 * PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_copy_read(struct pfd_tail_copy *copy,
                                   const struct pfd_tail_options *source,
                                   uint64_t from, size_t n,
                                   struct pfd_error *err);

/* Frees memory that only a burst needed. */
void pfd_tail_copy_shrink(struct pfd_tail_copy *copy);

void pfd_tail_copy_drop(struct pfd_tail_copy *copy);

enum {
    PFD_TAIL_SENTENCE = 768,
    PFD_TAIL_HOLE_MAX = 1 << 19, /* bytes; a larger gap is several holes */
    PFD_TAIL_LEFT_MAX = 256,     /* holes that one pass leaves of a hole */
};

struct pfd_tail_pass;

/* Where a tail is in the buffer's generation. */
struct pfd_tail_place {
    uint64_t generation;
    bool has_leftovers; /* the image behind `at` is of an earlier generation */
    uint64_t index;     /* of the next entry */
    uint64_t used;      /* by the header, at the last poll */
    uint64_t end;       /* the same, cut by the buffer's end */
    uint64_t n_buffer;  /* at the last poll */
    uint64_t lost;      /* bytes of this generation that were reported as
                           lost */
    uint64_t at;        /* everything before was emitted or is a hole */
    uint64_t attached;  /* entries before it may be leftovers; 0: none */
    uint64_t doubtful;  /* the last gap or stale entry ended here */
    uint64_t checked;   /* where the comparison goes on */
    uint64_t holes_ns;  /* when holes were checked */
    uint64_t hole_at;   /* where the next check of holes begins */
};

/* The entry that keeps a tail from going on. */
struct pfd_tail_block {
    bool is_blocked; /* the last poll emitted nothing, though bytes are
                       reserved */
    /* The entry that blocked, because of a dword that may be unwritten. */
    uint64_t unwritten;
    uint32_t n_unwritten; /* bytes of that entry */
    bool has_seen;        /* two polls saw the same bytes from there on, as far
                             as a poll can read */
};

/* The last poll that read the header. */
struct pfd_tail_last_poll {
    bool has_been; /* there was one */
    uint64_t ns;
    bool is_saturated; /* much was reserved since the poll before */
    bool has_more;     /* not all of its bytes were emitted */
};

/*
 * Where a tail is in a ring that begins anew at its end (tail_ring.c). The
 * place's positions are those of the ring: bytes from its data on, which count on
 * over its end, and what began before the tail did is not counted where they
 * begin anew.
 */
struct pfd_tail_ring {
    struct pfd_live_ring is; /* at the last look */
    bool is_begun;
    bool is_cut;         /* the place may be within an entry */
    bool has_told_why;   /* the finding about what cannot be */
    bool has_told_stall; /* likewise that the program waits */
    uint64_t seen_from;  /* `before` has the bytes from here */
    uint64_t seen_to;    /* to here */
    uint64_t out_to;     /* what came out last ends here */
    uint64_t n_out;      /* bytes of it that are looked at again */
    bool resumes; /* behind an entry that came out before this tail was made */
    struct pfd_tail_resume resume;
};

/* Reads a counter of used bytes that lies outside the buffer. */
struct pfd_tail_counter {
    pfd_read_at_fn read; /* NULL: none is known */
    void *user;
};

/* First bytes that are of no format: they are not looked at again. */
struct pfd_tail_unlike {
    bool is_known;
    uint32_t crc;
};

struct pfd_tail {
    struct pfd_tail_options o; /* defaults filled in */
    /* Emits entries on several threads before a pass walks on; NULL: none
     * are. */
    struct pfd_tail_runs runs;
    struct pfd_options options;
    void (*walk_ahead)(struct pfd_tail *t, struct pfd_tail_pass *p);
    char *source;
    const struct pfd_format *format; /* NULL: not chosen yet */
    struct pfd_live_shape shape;     /* of its buffers */
    bool can_follow;                 /* while they are written */
    struct pfd_tail_counter counter;
    struct pfd_tail_unlike unlike;
    struct pfd_walk walk;
    struct pfd_record_batch batch;
    struct pfd_entry_source of;
    struct pfd_summary summary;
    char sentence[PFD_TAIL_SENTENCE];
    char gap_sentence[PFD_TAIL_SENTENCE];

    struct pfd_tail_copy now;
    struct pfd_tail_copy before;  /* of the poll before; until `now` is read
                                     again, of the one before that */
    struct pfd_tail_copy scratch; /* for other reads */
    struct pfd_tail_last_poll last_poll;
    size_t n_whole; /* limit for a buffer that is read as a whole; 0: none */
    struct pfd_tail_block block;
    bool restart;
    bool too_short; /* the finding `shrunk` was given */
    bool has_looked_behind;
    bool has_told_behind;

    struct pfd_tail_place place;
    struct pfd_tail_ring ring;
    struct pfd_tail_marks marks;
    struct pfd_tail_holes holes;
    struct pfd_tail_image image;
};

/* Reads what says how much is used: the header, or a counter elsewhere; has
 * pfd_tail_used_bytes(), if all of it is there. As pfd_tail_copy_read(). */
enum pfd_status pfd_tail_read_used(const struct pfd_tail *t,
                                   struct pfd_tail_copy *copy,
                                   struct pfd_error *err);
size_t pfd_tail_used_bytes(const struct pfd_tail *t);

struct pfd_tail_pass {
    const struct pfd_tail_copy *copy;
    const struct pfd_tail_copy *other; /* must have the same bytes, */
    const struct pfd_tail_copy *third; /* or this one; may be NULL */
    size_t most;      /* bytes of the copy that are walked; 0: all */
    uint64_t end;     /* the walk ends here */
    uint64_t settled; /* before it, unreadable bytes are given up, */
    uint64_t patient; /* before this, where entries state that they are whole */
    uint64_t hard;    /* before it, bytes may have changed */
    bool is_arriving; /* more will come behind `end` */
    bool is_over;     /* changed entries are lost, and not waited for */
    bool is_hole;     /* emitted entries are late, gaps are not reported */
    bool is_final;    /* nothing more will be written */
    bool has_doubts;  /* something in the hole may make sense later */
    /* An open gap; it ends at the next entry. */
    struct pfd_finding gap;
    bool in_gap;
    struct pfd_tail_hole left[PFD_TAIL_LEFT_MAX]; /* [n_left] gaps in a hole */
    size_t n_left;
    uint64_t rest; /* of a hole: not looked at from here on */
    uint64_t same; /* before it, copy and other are equal, as far as compared */
    uint64_t lost;
    enum pfd_status status; /* of the walk */
    bool is_stopped;        /* the next record is not settled */
    bool failed;            /* out of memory */
};

/* Walks the copy from `from`; records that are not settled wait for another
 * poll. */
void pfd_tail_pass_run(struct pfd_tail *t, struct pfd_tail_pass *p,
                       uint64_t from);

/* Goes on walking and emits settled records, up to entries that begin at
 * `until` or behind it; 0: as far as possible. False: it cannot go farther. */
bool pfd_tail_pass_walk(struct pfd_tail *t, struct pfd_tail_pass *p,
                        uint64_t until);

/* ---- runs: entries that only have to be emitted ---- */

/* Can a run begin at `at`? */
bool pfd_tail_pass_has_runs(const struct pfd_tail *t,
                            const struct pfd_tail_pass *p, uint64_t at);

/* How many of the records [n] from r on are a run. same: before it, both polls
 * saw the same bytes, from the first record on. */
size_t pfd_tail_pass_count(const struct pfd_tail *t,
                           const struct pfd_tail_pass *p,
                           const struct pfd_record *r, size_t n, uint64_t same);

/* Makes a run of n records, *ret, and counts it as emitted. False: out of
 * memory. */
bool pfd_tail_pass_take_run(struct pfd_tail *t, const struct pfd_tail_pass *p,
                            const struct pfd_record *r, size_t n,
                            struct pfd_entry_run *ret);

/* The end of the bytes that both copies have alike, from `from` on, `to` at
 * most. */
uint64_t pfd_tail_same_until(const struct pfd_tail_copy *a,
                             const struct pfd_tail_copy *b, uint64_t from,
                             uint64_t to);

/* Emits an entry, of a copy of bytes from `base` on; false: out of memory. */
bool pfd_tail_emit(struct pfd_tail *t, const struct pfd_record *r,
                   uint64_t base, uint64_t offset, uint64_t more_findings);

/* ---- findings ---- */

void pfd_tail_emit_finding(struct pfd_tail *t,
                           const struct pfd_finding *finding);

/* Writes a sentence about the buffer itself, and emits it as a finding. */
void PFD_PRINTF(4, 5)
    pfd_tail_say(struct pfd_tail *t, enum pfd_finding_kind kind,
                 uint64_t offset, const char *text, ...);

/* ---- tail_holes.c ---- */

/* Checks holes in buffer order, some at a time; if final, all of them. PFD_OK;
 * PFD_ERR_IO; PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_holes_check(struct pfd_tail *t, bool final,
                                     struct pfd_error *err);

/* ---- tail_ring.c ---- */

/* A poll of a ring that begins anew at its end, and the last one. Statuses as of
 * pfd_tail_poll(); PFD_END: its header says nothing that can be (so far). */
enum pfd_status pfd_tail_ring_poll(struct pfd_tail *t, uint64_t n_buffer,
                                   uint64_t now_ns, struct pfd_error *err);
enum pfd_status pfd_tail_ring_finish(struct pfd_tail *t, uint64_t n_buffer,
                                     struct pfd_error *err);

/* Tells, of a buffer that is read as a whole, in `now`, that it is a ring that may
 * have gone around unseen. */
void pfd_tail_ring_tell_whole(struct pfd_tail *t);

/* ---- tail_slices.c ---- */

/*
 * Emits the entries that the tail's walk would emit from its position, in the
 * same order, but on the threads of the tail's pool, if there are many in runs;
 * the walk goes on behind them.
 */
void pfd_tail_slices_walk(struct pfd_tail *t, struct pfd_tail_pass *p);

/* ---- tail_generation.c ---- */

/*
 * Generations of a buffer that is written over and over: how one begins, how
 * its end is detected, and how many bytes it has lost by then.
 */

/* Resets the state: nothing of the generation has been seen. */
void pfd_tail_generation_clear(struct pfd_tail *t);

/* Tells once of bytes that are behind the buffer's room, and not zeros. */
enum pfd_status pfd_tail_look_behind(struct pfd_tail *t, uint64_t n_buffer,
                                     struct pfd_error *err);

/* Attaches to a buffer of n_buffer bytes, and remembers leftovers in it.
 * PFD_OK; PFD_ERR_IO; PFD_ERR_NOMEM. */
enum pfd_status pfd_tail_generation_attach(struct pfd_tail *t,
                                           uint64_t n_buffer,
                                           struct pfd_error *err);

/* Compares some of the emitted bytes with the buffer; *other: it has another
 * generation. Statuses likewise. */
enum pfd_status pfd_tail_generation_check(struct pfd_tail *t, bool *other,
                                          struct pfd_error *err);

/* Ends a generation and begins the next one; why: for a finding. Likewise. */
enum pfd_status pfd_tail_generation_next(struct pfd_tail *t, const char *why,
                                         struct pfd_error *err);

/* Reports the generation's losses that were not reported yet. */
void pfd_tail_report_overflow(struct pfd_tail *t);

#endif
