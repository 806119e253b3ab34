/* SPDX-License-Identifier: MIT */
/*
 * Renders lines of chunks and runs on several threads and writes them in order:
 * for callers that take entries from a tail faster than one thread renders
 * them.
 *
 * Thread rule: all calls come from one thread; `write` is called from it and
 * from the renderer's own threads, one call at a time, and never without work
 * in progress.
 */
#ifndef PFD_ORDERED_RENDER_H
#define PFD_ORDERED_RENDER_H

#include <printfdecode/convert.h>
#include <printfdecode/lines.h>
#include <printfdecode/printfdecode.h>
#include <printfdecode/tail.h>

#include "core/base/thread.h"

struct pfd_entry_run;

struct pfd_ordered_render;

struct pfd_ordered_render_options {
    unsigned threads; /* 0: as many as there are processors beside the caller's,
                         8 at most */
    /* Makes a struct pfd_lines with the settings of the output; called several
     * times. NULL: out of memory. The ordered render owns it from then on. */
    struct pfd_lines *(*lines)(void *user);
    pfd_write_fn write; /* false: stop writing */
    void *user;
};

/* Common facts about the entries of a chunk or run; all borrowed until the next
 * pfd_ordered_render_drain(). */
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
enum pfd_status pfd_ordered_render_new(
    const struct pfd_ordered_render_options *options,
    struct pfd_ordered_render **ret, struct pfd_error *err);

/* Drops lines that were not written. NULL is allowed. */
void pfd_ordered_render_free(struct pfd_ordered_render *ordered_render);

/* The chunk to be filled, with entries alone; blocks while all chunks are in
 * progress. The ordered render owns it, and it stays the same until
 * pfd_ordered_render_submit(). */
struct pfd_chunk_writer *pfd_ordered_render_chunk(
    struct pfd_ordered_render *ordered_render);

/* Submits that chunk: its lines are rendered, and written behind those of the
 * chunks before it. An empty chunk is ignored. */
void pfd_ordered_render_submit(struct pfd_ordered_render *ordered_render,
                               const struct pfd_ordered_render_place *place);

/* As pfd_ordered_render_submit(), then renders the lines of a run, which is
 * copied: cheaper than a chunk, if the run has dozens of entries. Its strings
 * are the place's. pfd_ordered_render_status() reports a lack of memory. */
void pfd_ordered_render_run(struct pfd_ordered_render *ordered_render,
                            const struct pfd_entry_run *entry_run,
                            const struct pfd_ordered_render_place *place);

/* As pfd_ordered_render_run() for each of the runs, [n]; share(user) copies
 * several of them at a time. */
void pfd_ordered_render_runs(struct pfd_ordered_render *ordered_render,
                             const struct pfd_entry_run *const *entry_runs,
                             size_t n,
                             const struct pfd_ordered_render_place *place,
                             pfd_share_fn share, void *user);

/* Waits until all lines are written. PFD_OK; PFD_ERR_STOPPED: write returned
 * false; PFD_ERR_NOMEM: lines are missing; PFD_ERR_CORRUPT: likewise, because a
 * chunk could not be read. */
enum pfd_status pfd_ordered_render_drain(
    struct pfd_ordered_render *ordered_render);

/* The same without waiting: the status by now. */
enum pfd_status pfd_ordered_render_status(
    const struct pfd_ordered_render *ordered_render);

#endif
