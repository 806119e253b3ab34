/* SPDX-License-Identifier: MIT */
/*
 * Follows a buffer that a device is writing: bytes go in look by look, entries
 * come out as soon as they can be believed, in buffer order. Knows no files
 * and no clock: the caller reads for it and says what time it is.
 *
 * When an entry is believed:
 *  - Two looks that are at least `apart_ns` apart saw the same bytes. A payload
 *    that is written more slowly than that cannot be told, but for this:
 *  - While much is reserved (more than 4 KiB between two looks), stores queue
 *    up on their way from the device, and an entry with a dword that reads as
 *    before waits until that is over, for four times `settle_ns` at most.
 *  - What is reserved but not written, or makes no sense (an id that no string
 *    has), holds back all that is behind it for `settle_ns` from when it was
 *    reserved. Then it is given up, with a finding, and looked after: entries
 *    that are written there later come out with the finding `late`.
 *  - One that says itself that it is whole (formats/llpc/README.md, "Beyond
 *    LLPC") is believed at once, and where a buffer may have such, what is
 *    not whole is waited for, two seconds at least.
 *  - When the cursor moves back, or delivered bytes change, a new generation
 *    begins. What then stands in the buffer as it stood there before waits for
 *    `settle_ns` as well and comes out with the finding `stale`: perhaps
 *    nobody wrote it. It is looked after like what was given up: an entry
 *    that is written in its place comes out `late`. What two looks had seen of
 *    the generation before comes out first, whatever it waited for.
 *
 * Thread rule: a tail belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_TAIL_H
#define PRINTFDECODE_TAIL_H

#include <printfdecode/entry_run.h>
#include <printfdecode/thread_pool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_tail;

/* What comes out: an entry or a finding; borrowed until the callback
 * returns. */
struct pfd_tail_item {
    bool is_entry;
    struct pfd_entry *entry; /* when is_entry; its index counts from 0 in each
                                generation */
    const struct pfd_finding *finding; /* otherwise */
    uint64_t generation;
};

typedef void (*pfd_tail_fn)(void *user, const struct pfd_tail_item *item);

/* Entries at once: all of one generation, whose indices count on. */
typedef void (*pfd_tail_run_fn)(void *user,
                                const struct pfd_entry_run *entry_run,
                                uint64_t generation);

/*
 * Several runs at once, each behind the one before, with the help of threads:
 * pfd_tail_share() may be called meanwhile.
 */
typedef void (*pfd_tail_runs_fn)(void *user,
                                 const struct pfd_entry_run *const *entry_runs,
                                 size_t n, uint64_t generation);

/* All borrowed for the tail's life, but source, which is copied. Numbers that
 * are 0 stand for the default. */
struct pfd_tail_options {
    const struct pfd_strings *strings;
    const char *format; /* a buffer format's name; NULL: choose */
    const char *source; /* the buffer's name */
    struct pfd_options options;
    uint64_t settle_ns;  /* default 100 ms */
    uint64_t apart_ns;   /* default 1 ms */
    size_t window;       /* bytes that one look reads; default 4 MiB. Half of
                           them may come out: the rest is then seen twice by
                           the next look */
    size_t farther;      /* bytes that a look that waits reads; default: four
                           windows */
    size_t give;         /* bytes that come out in one call; default: all that
                           may */
    size_t memory;       /* bytes of the buffer that are remembered, to notice
                           a reset and what it leaves; default 16 MiB */
    bool arrives;        /* the buffer's bytes come in order, and its size says
                           how far they have come: what is behind its end is
                           on its way, not lost, until pfd_tail_finish() */
    pfd_read_at_fn read; /* of the buffer */
    void *read_user;
    pfd_tail_fn item;
    pfd_tail_run_fn run;   /* NULL: entries come one by one, as items */
    pfd_tail_runs_fn runs; /* NULL: runs come one by one, too */
    void *item_user;       /* of all three */
    struct pfd_thread_pool
        *thread_pool; /* that walk over parts of what a look has
                                    read, where there are runs; NULL: nobody
                                    does */
};

/* PFD_OK; PFD_ERR_USAGE: no such format; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_tail_new(const struct pfd_tail_options *options,
                                     struct pfd_tail **ret,
                                     struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_tail_free(struct pfd_tail *tail);

/* A pfd_share_fn; tail is a struct pfd_tail. In a pfd_tail_runs_fn only: here and
 * on the threads of the tail's helpers, all of which may read the runs. */
PFD_API void pfd_tail_share(void *tail, size_t n,
                            void (*piece)(void *of, size_t i), void *of);

/*
 * Looks once, or gives more of what the look before has shown. n_buffer: the
 * buffer's size now, bytes; now_ns: any clock that does not go back. A look
 * sooner than apart_ns after the one before does nothing. Work and memory are
 * bounded by window: after a burst, look again.
 *
 * PFD_OK: something moved, look again soon; PFD_MORE: nothing did;
 * PFD_ERR_IO: read failed, try again or give up; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_tail_look(struct pfd_tail *tail, uint64_t n_buffer,
                                      uint64_t now_ns, struct pfd_error *err);

/*
 * The buffer will not change any more (in this generation): gives all that is
 * left, and says what is lost. Buffers of a format that cannot be followed
 * come out here, whole. As pfd_tail_look().
 */
PFD_API enum pfd_status pfd_tail_finish(struct pfd_tail *tail,
                                        uint64_t n_buffer,
                                        struct pfd_error *err);

/* False: nothing of the buffer has come so far that can be followed; if it ends
 * like this, all of it is read at once: n bytes of memory at most, where they
 * were given (0: whatever it takes). What has more is a finding, too_large. */
PFD_API bool pfd_tail_is_followed(const struct pfd_tail *tail);
PFD_API void pfd_tail_give_whole(struct pfd_tail *tail, size_t n);

/* The program says that it begins anew: so does the tail, at its next look. */
PFD_API void pfd_tail_restart(struct pfd_tail *tail);

/* Other strings from the next look on; borrowed likewise. PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_tail_set_strings(struct pfd_tail *tail,
                                             const struct pfd_strings *strings,
                                             struct pfd_error *err);

/* From when on, on the caller's clock, pfd_tail_look() reads the buffer again:
 * apart_ns after it did so last; 0: it has not yet. Sooner, it only gives what
 * the last reading showed. */
PFD_API uint64_t pfd_tail_due(const struct pfd_tail *tail);

/* Bytes that are reserved in the buffer and have not come out yet. */
PFD_API uint64_t pfd_tail_pending(const struct pfd_tail *tail);

/* Places that were given up and are looked after: what is written there later
 * still comes out, at a look. */
PFD_API uint64_t pfd_tail_holes(const struct pfd_tail *tail);

/* Bytes of memory that it holds: `memory` and a 32nd of it, what three looks
 * read, and some KiB. */
PFD_API size_t pfd_tail_memory(const struct pfd_tail *tail);

/* Gives back what looks have read: what has not come out is seen anew, and
 * twice. */
PFD_API void pfd_tail_trim(struct pfd_tail *tail);

/* How often the buffer began anew. */
PFD_API uint64_t pfd_tail_generation(const struct pfd_tail *tail);

/* Of all generations together. */
PFD_API void pfd_tail_summary(const struct pfd_tail *tail,
                              struct pfd_summary *ret);

#ifdef __cplusplus
}
#endif

#endif
