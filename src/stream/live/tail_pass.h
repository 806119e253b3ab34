/* SPDX-License-Identifier: MIT */
/*
 * One pass of a tail over a copy of its buffer: entries that are believed come
 * out, what cannot be believed any more becomes a hole. Knows no clock and
 * reads nothing; tail.c says what may be believed where.
 */
#ifndef PFD_TAIL_PASS_H
#define PFD_TAIL_PASS_H

#include <printfdecode/tail.h>

#include "core/decode/decoder.h"
#include "core/decode/entry_run.h"
#include "stream/live/tail_copy.h"
#include "stream/live/tail_memory.h"

enum {
    PFD_TAIL_SENTENCE = 768,
    PFD_TAIL_HOLE_MAX = 1 << 19, /* bytes; a larger gap is several holes */
    PFD_TAIL_LEFT_MAX = 256,     /* holes that one pass makes of a hole */
};

struct pfd_tail {
    struct pfd_tail_options o; /* defaults filled in */
    char *source;
    const struct pfd_format *format; /* NULL: not chosen yet */
    bool is_unlike; /* first bytes were looked at, and nothing spoke for any: */
    uint32_t unlike; /* their CRC */
    struct pfd_walk walk;
    struct pfd_batch batch;
    struct pfd_entry_source of;
    struct pfd_summary summary;
    char sentence[PFD_TAIL_SENTENCE];
    char gap_sentence[PFD_TAIL_SENTENCE];

    struct pfd_tail_copy now;
    struct pfd_tail_copy before;  /* of the look before; until `now` is read
                                     again, it is of the one before that */
    struct pfd_tail_copy scratch; /* what is read beside */
    bool is_saturated; /* much was reserved between the last two looks */
    uint64_t looked_ns;
    bool looked;
    size_t n_whole; /* bytes that may be read at once; 0: all */
    bool is_held;   /* the last look gave nothing, though there is something */
    /* What it stopped at, because of a dword that may be unwritten. */
    uint64_t unwritten;
    uint32_t n_unwritten; /* bytes of that entry */
    bool has_seen;        /* all that a look can read from there on, twice, and
                             it was the same */
    bool has_more;        /* of what the look has shown, not all has come out */
    bool restart;
    bool too_short; /* the finding `shrunk` was given */

    uint64_t generation;
    bool has_leftovers; /* the image behind `at` is of an earlier generation */
    uint64_t index;     /* of the next entry */
    uint64_t used;      /* by the header, at the last look */
    uint64_t end;       /* the same, cut by the buffer's end */
    uint64_t n_buffer;  /* at the last look */
    uint64_t lost;      /* bytes of this generation that were told to be lost */
    uint64_t at;        /* all before has come out or is a hole */
    uint64_t attached;  /* entries before it may be leftovers; 0: none */
    uint64_t doubtful;  /* the last gap or stale entry ended here */
    uint64_t checked;   /* where comparing goes on */
    uint64_t holes_ns;  /* when holes were looked after */
    uint64_t hole_at;   /* and where that goes on */
    struct pfd_tail_marks marks;
    struct pfd_tail_holes holes;
    struct pfd_tail_image image;
};

struct pfd_tail_pass {
    const struct pfd_tail_copy *copy;
    const struct pfd_tail_copy *other; /* where the same bytes must be, */
    const struct pfd_tail_copy *third; /* or here; may be NULL */
    size_t most;      /* bytes of the copy that are walked; 0: all */
    uint64_t end;     /* entries end here */
    uint64_t settled; /* before it, what cannot be read is given up, */
    uint64_t patient; /* and where entries say that they are whole, before
                         this */
    uint64_t hard;    /* before it, bytes need not have stood still */
    bool is_arriving; /* behind `end`, there will be more */
    bool is_over;     /* what has changed is lost, and does not wait */
    bool is_hole;     /* what comes out is late, and gaps are no news */
    bool is_final;    /* nothing will be written any more */
    bool has_doubts;  /* something in the hole may make sense later */
    /* A gap that has begun; it ends where the next entry is. */
    struct pfd_finding gap;
    bool in_gap;
    struct pfd_tail_hole left[PFD_TAIL_LEFT_MAX]; /* [n_left] gaps of a hole */
    size_t n_left;
    uint64_t rest; /* of a hole: from here on, nothing was looked at */
    uint64_t same; /* before it, as far as was looked, copy and other are */
    uint64_t lost;
    enum pfd_status status; /* of the walk */
    bool is_doubted;        /* what comes next is not believed yet */
    bool failed;            /* out of memory */
};

/* Walks the copy from `from`; what was not believed stays for another look. */
void pfd_tail_pass_run(struct pfd_tail *t, struct pfd_tail_pass *p,
                       uint64_t from);

/* Walks on and gives what is believed, up to entries that begin at `until` or
 * behind it; 0: as far as it goes. False: it goes no farther. */
bool pfd_tail_pass_walk(struct pfd_tail *t, struct pfd_tail_pass *p,
                        uint64_t until);

/* ---- runs: entries that need no more than being given out ---- */

/* Can there be some at `at`? */
bool pfd_tail_pass_has_runs(const struct pfd_tail *t,
                            const struct pfd_tail_pass *p, uint64_t at);

/* How many of the records [n] from r on are one. same: before it, both looks
 * saw the same bytes, from the first record on. */
size_t pfd_tail_pass_count(const struct pfd_tail *t,
                           const struct pfd_tail_pass *p,
                           const struct pfd_record *r, size_t n, uint64_t same);

/* *ret: a run of n, which is given from here on, for the tail. False: out of
 * memory. */
bool pfd_tail_pass_take_run(struct pfd_tail *t, const struct pfd_tail_pass *p,
                            const struct pfd_record *r, size_t n,
                            struct pfd_entry_run *ret);

/* Up to where both copies have the same bytes, from `from` on, `to` at most. */
uint64_t pfd_tail_same_until(const struct pfd_tail_copy *a,
                             const struct pfd_tail_copy *b, uint64_t from,
                             uint64_t to);

/* ---- what is said ---- */

/* Gives out a finding. */
void pfd_tail_give_finding(struct pfd_tail *t,
                           const struct pfd_finding *finding);

/* Says something about the buffer by itself. */
void PFD_PRINTF(4, 5)
    pfd_tail_say(struct pfd_tail *t, enum pfd_finding_kind kind,
                 uint64_t offset, const char *text, ...);

#endif
