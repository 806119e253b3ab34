/* SPDX-License-Identifier: MIT */
/*
 * What only programs of this project ask of decoders and entries: the words of a
 * buffer, passing over entries, sums.
 */
#ifndef PFD_INNER_INSPECT_H
#define PFD_INNER_INSPECT_H

#include <printfdecode/printfdecode.h>

/*
 * How much the first bytes [n] of a buffer look like format i, from 0 to 100: 0
 * impossible, 20 nothing contradicts it, 60 the header makes sense, 80 and
 * more: hardly chance. At most 64 KiB count; fewer bytes are taken for the
 * whole buffer. PFD_OK; PFD_END: there is no i; PFD_ERR_UNSUPPORTED: bytes
 * alone cannot decide. Any thread.
 */
enum pfd_status pfd_format_likelihood(size_t i, const void *bytes, size_t n,
                                      int *ret);

/* The word that an option is set to; static storage. NULL: no such option, or
 * no word has the member's value. */
const char *pfd_options_word(const struct pfd_options *options,
                             const char *name);

/* "stdout" or "stderr", NULL for others; static storage. */
const char *pfd_stream_name(enum pfd_stream stream);

/* Where the payload begins, in bytes from the start of the buffer;
 * PFD_NO_OFFSET: the entry's bytes are in several places of it. */
uint64_t pfd_entry_payload_offset(const struct pfd_entry *entry);

/* Describes the dwords from one place of a buffer on. */
struct pfd_word {
    uint64_t end;   /* the first byte that text does not describe */
    char text[192]; /* a few words, NUL-terminated */
};

/*
 * Describes byte `at` from the start of an entry; end counts from there, too.
 * PFD_OK; PFD_END: the format has no description, as for arguments and for
 * payloads of which nothing is known.
 */
enum pfd_status pfd_entry_word(struct pfd_entry *entry, uint32_t at,
                               struct pfd_word *ret);

/*
 * Passes over entries that end at or before byte `to` and whose index is below
 * `index`, without building them, up to the next finding; pfd_decoder_next()
 * goes on from there. *end: the end of the last entry passed over; not written
 * if there was none. The summary counts these entries, but only the findings
 * that are known without building them.
 *
 * PFD_OK: pfd_decoder_next() has a result; other statuses are as there.
 */
enum pfd_status pfd_decoder_skip(struct pfd_decoder *decoder, uint64_t to,
                                 uint64_t index, uint64_t *end,
                                 struct pfd_error *err);

/*
 * Describes byte `at` of the buffer outside of entries: a word of its header,
 * or the bytes behind its used part; end is UINT64_MAX where the description
 * reaches to the buffer's end. The view must reach back to the buffer's start.
 * PFD_OK; PFD_END: the format has no description, as for skipped bytes, and as
 * long as pfd_decoder_format() is NULL.
 */
enum pfd_status pfd_decoder_word(const struct pfd_decoder *decoder, uint64_t at,
                                 struct pfd_word *ret);

/* Adds all numbers of `from` to those of `to`. Any thread. */
void pfd_summary_add(struct pfd_summary *to, const struct pfd_summary *from);

/*
 * Reading i of an entry's other readings, at most four. Where bytes can be read
 * in several ways, the entry is the likeliest reading, or the first of equals,
 * and has a finding that says so (`ambiguous` or a more special kind). An
 * alternative is an entry of its own: it has its own message, arguments, format
 * string, origins and stream, but the same index, offset and bytes. Borrowed as
 * the entry is, and until the next call of this function.
 *
 * PFD_OK; PFD_END: there is no i; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_entry_alternative(const struct pfd_entry *entry, size_t i,
                                      struct pfd_entry *ret);

#endif
