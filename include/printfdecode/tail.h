/* SPDX-License-Identifier: MIT */
/*
 * Follows a buffer that a device is writing: reads it poll by poll, and emits
 * entries as soon as they are settled, in buffer order. Knows no files and no
 * clock: the caller provides the bytes and the time.
 *
 * An entry is settled by these rules:
 *  - Two polls at least `apart_ns` apart saw the same bytes. A payload that is
 *    written more slowly than that goes unnoticed, except:
 *  - While much is being reserved (more than 4 KiB between two polls), stores
 *    queue up on their way from the device. An entry with a dword that still
 *    reads as before then waits until that is over, for four times `settle_ns`
 *    at most.
 *  - An entry that is reserved but not written, or makes no sense (an id that
 *    no string has), blocks everything behind it for `settle_ns` from its
 *    reservation. Then it is given up, with a finding, and its place is
 *    watched: entries that are written there later are emitted with the finding
 *    `late`.
 *  - An entry that states that it is whole (formats/llpc/README.md, "Beyond
 *    LLPC") is settled at once. Where a buffer may have such entries, one that
 *    is not whole is waited for, two seconds at least.
 *  - When the buffer's cursor moves back, or emitted bytes change, a new
 *    generation begins. Entries that still stand in the buffer as before then
 *    wait for `settle_ns` as well and are emitted with the finding `stale`:
 *    perhaps they were not written again. Their places are watched, too: an
 *    entry that is written there is emitted as `late`. Everything of the
 *    previous generation that two polls had seen is emitted first, whatever it
 *    waited for.
 *
 * Thread rule: a tail belongs to one thread at a time.
 */
#ifndef PRINTFDECODE_TAIL_H
#define PRINTFDECODE_TAIL_H

#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_tail;

/* An emitted item: an entry or a finding; borrowed until the callback
 * returns. */
struct pfd_tail_item {
    bool is_entry;
    struct pfd_entry *entry; /* when is_entry; its index counts from 0 in each
                                generation */
    const struct pfd_finding *finding; /* otherwise */
    uint64_t generation;
};

typedef void (*pfd_tail_fn)(void *user, const struct pfd_tail_item *item);

/* All borrowed for the tail's life, except source and options, which are copied.
 * Numbers that are 0 stand for the default. */
struct pfd_tail_options {
    size_t struct_size; /* as common.h says */
    const struct pfd_strings *strings;
    const char *format; /* a buffer format's name; NULL: choose */
    const char *source; /* the buffer's name */
    const struct pfd_options *options; /* copied; NULL: the defaults */
    uint64_t settle_ns;                /* default 100 ms */
    uint64_t apart_ns;                 /* default 1 ms */
    size_t window;       /* bytes that one poll reads; default 4 MiB. Half of
                            them may be emitted: the next poll sees the rest
                            a second time */
    size_t farther;      /* bytes that a blocked poll reads; default: four
                            windows */
    size_t emit_max;     /* bytes that one call emits; default: all that are
                            settled */
    size_t memory;       /* bytes of the buffer that are remembered, to detect a
                            reset and leftovers; default 16 MiB */
    bool arrives;        /* the buffer's bytes arrive in order, and its size
                            says how far they have arrived: bytes behind its
                            end are on their way, not lost, until
                            pfd_tail_finish() */
    pfd_read_at_fn read; /* reads from the buffer */
    void *read_user;
    pfd_tail_fn item;
    void *item_user;
};

/* PFD_OK; PFD_ERR_USAGE: no such format; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_tail_new(const struct pfd_tail_options *options,
                                     struct pfd_tail **ret,
                                     struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_tail_free(struct pfd_tail *tail);

/*
 * Polls once, or emits more of the previous poll's entries. n_buffer: the
 * buffer's size now, bytes; now_ns: any clock that does not go back. A poll
 * sooner than apart_ns after the previous one does nothing. Work and memory are
 * bounded by window: after a burst, poll again.
 *
 * PFD_OK: something moved, poll again soon; PFD_MORE: nothing did; PFD_ERR_IO:
 * read failed, retry or give up; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_tail_poll(struct pfd_tail *tail, uint64_t n_buffer,
                                      uint64_t now_ns, struct pfd_error *err);

/*
 * The buffer will not change any more (in this generation): emits everything
 * that is left, and reports losses. Buffers of a format that cannot be followed
 * are emitted here, as a whole. Status as of pfd_tail_poll().
 */
PFD_API enum pfd_status pfd_tail_finish(struct pfd_tail *tail,
                                        uint64_t n_buffer,
                                        struct pfd_error *err);

/* The program announces that it begins anew: so does the tail, at its next
 * poll. */
PFD_API void pfd_tail_restart(struct pfd_tail *tail);

/* Other strings from the next poll on; borrowed likewise. PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_tail_set_strings(struct pfd_tail *tail,
                                             const struct pfd_strings *strings,
                                             struct pfd_error *err);

/* When pfd_tail_poll() will read the buffer again, on the caller's clock:
 * apart_ns after its last reading; 0: it has not read yet. Sooner calls only
 * emit entries of the last reading. */
PFD_API uint64_t pfd_tail_due(const struct pfd_tail *tail);

/* Bytes that are reserved in the buffer and not emitted yet. */
PFD_API uint64_t pfd_tail_pending(const struct pfd_tail *tail);

/* Of all generations together; the tail's, current at any time. */
PFD_API const struct pfd_summary *pfd_tail_summary(const struct pfd_tail *tail);

/*
 * The bytes of a live buffer: a file that others map or write (a memfd as
 * well). A source is read at any offset; it knows its size, and whether it may
 * have changed. Also the interval between polls, since stores into memory wake
 * no reader.
 *
 * Thread rule: a source belongs to one thread at a time.
 */

struct pfd_source;

/* A file, by its descriptor, which is borrowed until the source is closed. It
 * is read and not mapped, so that cutting it does no harm. PFD_OK; PFD_ERR_IO:
 * it is not a regular file; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_source_open_file(int fd, struct pfd_source **ret,
                                             struct pfd_error *err);

/*
 * Memory of this process, bytes [n], borrowed until the source is closed, which a
 * device or another process may write meanwhile. It is read by loads that are
 * fast where the processor does not cache, as in a device's own memory that is
 * mapped; what is read of it is the header and what it counts, not the capacity.
 * PFD_OK; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_source_open_mapped(const void *bytes, size_t n,
                                               struct pfd_source **ret,
                                               struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_source_close(struct pfd_source *source);

/*
 * A pfd_read_at_fn; source is a struct pfd_source. Reads up to n bytes at
 * offset. Returns their number, or a negated errno value.
 */
PFD_API long pfd_source_read(void *source, uint64_t offset, void *bytes,
                             size_t n);

/* Its size now, bytes. PFD_OK; PFD_ERR_IO: it is gone, err says how. */
PFD_API enum pfd_status pfd_source_size(struct pfd_source *source,
                                        uint64_t *ret, struct pfd_error *err);

/* Have the size or the first 64 bytes, which hold the header in every format,
 * changed since the last call? True also for the first call, and when they
 * cannot be read. */
PFD_API bool pfd_source_changed(struct pfd_source *source);

/* Nanoseconds to wait before the next poll, after idle_ns without a change: 1
 * ms at first, 50 ms after ten seconds. Any thread. */
PFD_API uint64_t pfd_source_pause(uint64_t idle_ns);

#ifdef __cplusplus
}
#endif

#endif
