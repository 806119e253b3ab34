/* SPDX-License-Identifier: MIT */
/*
 * Format strings: load them from code objects (ELF files, and what holds them:
 * archives, bundles, host programs, caches) or give them one by one, then hand
 * the set to any number of decoders.
 *
 * Thread rule: a set is filled by one thread at a time, and not while it is
 * used; once filled, any number of threads may read it.
 */
#ifndef PRINTFDECODE_STRINGS_H
#define PRINTFDECODE_STRINGS_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_strings;

/* An empty set, owned by the caller; NULL when out of memory. */
PFD_API struct pfd_strings *pfd_strings_new(void);

/* Frees the set and everything borrowed from it. NULL is allowed. */
PFD_API void pfd_strings_free(struct pfd_strings *strings);

/*
 * A set that has all that `of` has, and is filled further; what both have they
 * share, and it is freed with the last of them. `of` may be read by any thread
 * meanwhile, and freed at any time, but not filled any more.
 *
 * pfd_strings_extend(): one set follows another: one set only is made of each
 * so. pfd_strings_branch(): of sets that are made of one, each is filled for
 * itself; the memory of what it adds is its own.
 *
 * NULL: out of memory.
 */
PFD_API struct pfd_strings *pfd_strings_extend(struct pfd_strings *of);
PFD_API struct pfd_strings *pfd_strings_branch(struct pfd_strings *of);

/* Takes the shaders that `from` has and this set has not, and their strings;
 * modules are shared. PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_strings_take_shaders(struct pfd_strings *strings,
                                                 const struct pfd_strings *from,
                                                 struct pfd_error *err);

/* Bytes that the set may take from now on while it is filled, also for a
 * moment: what needs more is not taken, and filling fails with PFD_ERR_NOMEM.
 * A new set has no such limit. */
PFD_API void pfd_strings_set_room(struct pfd_strings *strings, size_t n);

/* Gives back what only filling needs. */
PFD_API void pfd_strings_trim(struct pfd_strings *strings);

/* Bytes that one compressed bundle may inflate to in files that are loaded from
 * now on; what states more is a finding (too_large) and is not inflated. 0: 1
 * GiB, which is also what a new set has. */
PFD_API void pfd_strings_set_max_inflated(struct pfd_strings *strings,
                                          uint64_t bytes);

/* Has files that are loaded from now on searched byte by byte for code objects
 * of AMD and bundles, where they have none in the places that are known, and
 * whatever they are. Of a new set they are not. */
PFD_API void pfd_strings_set_search(struct pfd_strings *strings, bool search);

/* Would a search find a code object of AMD in bytes [n]? Any thread. */
PFD_API bool pfd_strings_search(const void *bytes, size_t n);

/* True when these first bytes [n] of a file (64 are enough) are those of a
 * file that may hold strings: ELF, ar, a bundle, a cache, SPIR-V. Any
 * thread. */
PFD_API bool pfd_strings_recognise(const void *bytes, size_t n);

/*
 * Loads all format strings of a file, or of what a code object URI names (see
 * input.h). What is odd about the file (a row that cannot be used, a
 * collision, no strings at all) goes to fn as findings (fn may be NULL), and
 * the rest is loaded.
 *
 * PFD_OK; PFD_ERR_IO: the file cannot be read; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_strings_load_file(struct pfd_strings *strings,
                                              const char *path,
                                              pfd_finding_fn fn, void *user,
                                              struct pfd_error *err);

/*
 * The same from memory: bytes [n], borrowed for the call; source: the name
 * used in findings and listings, copied.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: nothing that may hold strings; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_strings_load(struct pfd_strings *strings,
                                         const void *bytes, size_t n,
                                         const char *source, pfd_finding_fn fn,
                                         void *user, struct pfd_error *err);

/* One format string of a set. Everything is borrowed until the set is freed. */
struct pfd_string_info {
    const char *format; /* the buffer format it belongs to, such as "llpc" */
    const char *source; /* the file (or archive member) it came from */
    const char *text;   /* [n_text] bytes, any bytes, not NUL-terminated */
    size_t n_text;
    uint64_t id;
    uint64_t argument_count; /* scalars in an entry's payload */
};

/* How many strings the set holds, collisions counted singly. */
PFD_API size_t pfd_strings_count(const struct pfd_strings *strings);

/* Fills ret with string i, in load order. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_strings_get(const struct pfd_strings *strings,
                                        size_t i, struct pfd_string_info *ret);

/*
 * The widths in bits of string i's scalars (8, 16, 32 or 64; 0: a string), as
 * the metadata states them, into ret [max]. Returns how many there are (no entry holds more
 * than 65535); 0 also when there is no such string or no memory.
 */
PFD_API size_t pfd_strings_widths(const struct pfd_strings *strings, size_t i,
                                  uint8_t *ret, size_t max);

/*
 * Adds one LLPC string by hand: info's id (below 2^48), text, n_text,
 * argument_count and source are read (format is not), and mask [n_mask] words
 * of 64 bits, bit i set: argument i takes two dwords. Everything is copied.
 *
 * PFD_OK; PFD_ERR_USAGE: the id is too wide or the text above 256 MiB;
 * PFD_ERR_NOMEM. A collision goes to fn.
 */
PFD_API enum pfd_status pfd_strings_add(struct pfd_strings *strings,
                                        const struct pfd_string_info *info,
                                        const uint64_t *mask, size_t n_mask,
                                        pfd_finding_fn fn, void *user,
                                        struct pfd_error *err);

/* Bytes of memory that the set holds, tables and all, but not what
 * pfd_strings_trim() gives back; what a branch shares counts for the set that
 * it was made of. */
PFD_API size_t pfd_strings_memory(const struct pfd_strings *strings);

#ifdef __cplusplus
}
#endif

#endif
