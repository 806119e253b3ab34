/* SPDX-License-Identifier: MIT */
/*
 * Writes chunks, and counts their contents.
 *
 * Thread rule: a writer belongs to one thread at a time.
 */
#ifndef PFD_INNER_CHUNK_H
#define PFD_INNER_CHUNK_H

#include <printfdecode/capture.h>

struct pfd_chunk_writer;
struct pfd_entry_run;
struct pfd_chunk_reader;

/* PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_chunk_writer_new(struct pfd_chunk_writer **ret,
                                     struct pfd_error *err);

/* NULL is allowed. */
void pfd_chunk_writer_free(struct pfd_chunk_writer *writer);

/*
 * Append an item: an entry with its other readings, a finding about bytes
 * between entries, or a gap. All items of a chunk are of one buffer, and read
 * with one set of strings.
 *
 * PFD_OK; PFD_ERR_USAGE: an entry of another format than the entries before it;
 * PFD_ERR_NOMEM.
 */
enum pfd_status pfd_chunk_add_entry(struct pfd_chunk_writer *writer,
                                    const struct pfd_entry *entry,
                                    struct pfd_error *err);

/*
 * Appends entries of a run, from index *from on: at least one, until there are
 * no more or the chunk has more than n_bytes; *from: the next index then.
 * Status as above; on PFD_ERR_NOMEM the entries up to *from are not in the
 * chunk, or the chunk is lost.
 */
enum pfd_status pfd_chunk_add_run(struct pfd_chunk_writer *writer,
                                  const struct pfd_entry_run *entry_run,
                                  size_t *from, size_t n_bytes,
                                  struct pfd_error *err);
enum pfd_status pfd_chunk_add_finding(struct pfd_chunk_writer *writer,
                                      const struct pfd_finding *finding,
                                      struct pfd_error *err);
enum pfd_status pfd_chunk_add_gap(struct pfd_chunk_writer *writer,
                                  const struct pfd_gap *gap,
                                  struct pfd_error *err);

/* Adds to the chunk's accounts: bytes that never reached the buffer, and bytes
 * of the buffer that belong to no entry. */
void pfd_chunk_add_loss(struct pfd_chunk_writer *writer, uint64_t lost_bytes,
                        uint64_t skipped_bytes);

/* Bytes that the chunk would have now, at most; 0: it is empty. */
size_t pfd_chunk_size(const struct pfd_chunk_writer *writer);

/* Ends the chunk and begins the next one. The chunk, [*n] bytes, is borrowed
 * until the next call of this function. NULL with *n = 1: out of memory, and
 * the chunk is lost. */
const void *pfd_chunk_finish(struct pfd_chunk_writer *writer, size_t *n);

/* Counts of a chunk, known without reading it. */
struct pfd_chunk_counts {
    uint64_t entries;
    uint64_t findings;
    uint64_t gaps;
    /* Of the last entry, if there is one. */
    uint64_t index;
    uint64_t offset;
    uint32_t n_bytes; /* of the buffer that it stands for */
    /* The chunk's accounts. */
    uint64_t lost_bytes;
    uint64_t skipped_bytes;
};

/*
 * Counts the items of a chunk [n]: as many as pfd_chunk_reader_next() gives.
 * Does not check whether its entries are sound. Any bytes are safe; any thread.
 *
 * PFD_OK; PFD_ERR_CORRUPT, PFD_ERR_UNSUPPORTED, PFD_ERR_NOMEM: as
 * pfd_chunk_reader_open() and pfd_chunk_reader_next().
 */
enum pfd_status pfd_chunk_count(const void *bytes, size_t n,
                                struct pfd_chunk_counts *ret,
                                struct pfd_error *err);

/*
 * Cuts a chunk [n] into parts, chunks of at most n_max bytes each, in order,
 * without its first `skip` items. The first part has the chunk's accounts, unless
 * items are skipped.
 *
 * give: gets each part [n], borrowed for the call, with the number of its items;
 * NULL: an item that no part has room for. False: stop.
 *
 * PFD_OK; PFD_ERR_NOMEM: also where `give` stops; as pfd_chunk_count().
 */
typedef bool (*pfd_chunk_part_fn)(void *user, const void *bytes, size_t n,
                                  uint32_t n_items);
enum pfd_status pfd_chunk_cut(const void *bytes, size_t n, uint64_t skip,
                              size_t n_max, pfd_chunk_part_fn give, void *user,
                              struct pfd_error *err);

/* The chunk's accounts, as pfd_chunk_add_loss() added them. */
void pfd_chunk_reader_loss(const struct pfd_chunk_reader *reader,
                           uint64_t *lost_bytes, uint64_t *skipped_bytes);

/*
 * strings: to read entries with; source: the buffer's name; both borrowed.
 * options: copied; NULL: the defaults. PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_chunk_reader_new(const struct pfd_strings *strings,
                                     const char *source,
                                     const struct pfd_options *options,
                                     struct pfd_chunk_reader **ret,
                                     struct pfd_error *err);

/* NULL is allowed. */
void pfd_chunk_reader_free(struct pfd_chunk_reader *reader);

/*
 * Opens the next chunk, [n] bytes, borrowed until another one is opened. Any
 * bytes are safe.
 *
 * PFD_OK; PFD_ERR_CORRUPT: they are no chunk; PFD_ERR_UNSUPPORTED: a version of
 * chunks, a format or a version of its entries that this library does not know;
 * PFD_ERR_NOMEM.
 */
enum pfd_status pfd_chunk_reader_open(struct pfd_chunk_reader *reader,
                                      const void *bytes, size_t n,
                                      struct pfd_error *err);

/*
 * The next item. An entry whose format string is not loaded has an unknown id,
 * with that finding. An entry that no buffer of its format can have is skipped,
 * with the finding `bad_frame`.
 *
 * PFD_OK; PFD_END: the chunk is done; PFD_ERR_CORRUPT: the rest of it cannot be
 * read (err's offset: bytes into the chunk); PFD_ERR_NOMEM.
 */
enum pfd_status pfd_chunk_reader_next(struct pfd_chunk_reader *reader,
                                      struct pfd_chunk_item *ret,
                                      struct pfd_error *err);

#endif
