/* SPDX-License-Identifier: MIT */
/*
 * Lines of chunks and runs, made by several threads and written in their order:
 * for whoever takes entries from a tail faster than one thread prints them.
 *
 * Thread rule: all calls come from one thread; `write` is called from it and the
 * press's own, one at a time, and never while nothing is in work.
 */
#ifndef PRINTFDECODE_ORDERED_RENDER_H
#define PRINTFDECODE_ORDERED_RENDER_H

#include <printfdecode/convert.h>
#include <printfdecode/entry_run.h>
#include <printfdecode/lines.h>
#include <printfdecode/thread_pool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_ordered_render;

struct pfd_ordered_render_options {
    unsigned threads; /* 0: as many as there are processors beside the caller's,
                         8 at most */
    /* Makes what prints a chunk, as it should print; NULL: out of memory. It is
     * the press's from then on. */
    struct pfd_lines *(*lines)(void *user);
    pfd_write_fn write; /* false: nothing more is wanted */
    void *user;
};

/* What the entries of a chunk or run have in common; all borrowed until the
 * press has been drained. */
struct pfd_ordered_render_place {
    const struct pfd_strings *strings;
    const struct pfd_options *options; /* NULL: the defaults */
    const char *source;                /* the buffer's name */
    uint64_t buffer;                   /* as for pfd_lines_set_buffer() */
    uint64_t generation;               /* as for pfd_lines_set_place() */
    uint64_t time;                     /* as for pfd_lines_set_time() */
};

/* options: copied. PFD_OK; PFD_ERR_NOMEM; PFD_ERR_IO: no thread could be
 * started. */
PFD_API enum pfd_status pfd_ordered_render_new(
    const struct pfd_ordered_render_options *options,
    struct pfd_ordered_render **ret, struct pfd_error *err);

/* What has not been written is dropped. NULL is allowed. */
PFD_API void pfd_ordered_render_free(struct pfd_ordered_render *ordered_render);

/* The chunk that is filled, with entries alone; waits for one while all are in
 * work. It is the press's, and stays the same until pfd_ordered_render_submit(). */
PFD_API struct pfd_chunk_writer *pfd_ordered_render_chunk(
    struct pfd_ordered_render *ordered_render);

/* That chunk is full: its lines are made and written, behind those of the
 * chunks before it. An empty one is nothing. */
PFD_API void pfd_ordered_render_submit(
    struct pfd_ordered_render *ordered_render,
    const struct pfd_ordered_render_place *place);

/* As pfd_ordered_render_submit(), and behind that the lines of a run, which is copied: that
 * costs less than a chunk, where it has dozens of entries. Its strings are the
 * place's. Memory that is out shows in pfd_ordered_render_status(). */
PFD_API void pfd_ordered_render_run(
    struct pfd_ordered_render *ordered_render,
    const struct pfd_entry_run *entry_run,
    const struct pfd_ordered_render_place *place);

/* As pfd_ordered_render_run() for each of the runs, [n], which are copied by share(user),
 * some at a time. */
PFD_API void pfd_ordered_render_runs(
    struct pfd_ordered_render *ordered_render,
    const struct pfd_entry_run *const *entry_runs, size_t n,
    const struct pfd_ordered_render_place *place, pfd_share_fn share,
    void *user);

/* Waits until all is written. PFD_OK; PFD_ERR_STOPPED: write said so;
 * PFD_ERR_NOMEM: lines are missing; PFD_ERR_CORRUPT: likewise, as a chunk could
 * not be read. */
PFD_API enum pfd_status pfd_ordered_render_drain(
    struct pfd_ordered_render *ordered_render);

/* The same without waiting: what is known by now. */
PFD_API enum pfd_status pfd_ordered_render_status(
    struct pfd_ordered_render *ordered_render);

#ifdef __cplusplus
}
#endif

#endif
