/* SPDX-License-Identifier: MIT */
/*
 * Format strings: load them from code objects (ELF files, and files that
 * contain them: archives, bundles, host programs, caches) or add them one by
 * one, then hand the set to any number of decoders.
 *
 * Thread rule: one thread at a time fills a set, and only while it is not in
 * use; any number of threads may read a filled set.
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
 * A set that begins with the contents of `of` and can be filled further. The
 * two share the common part, which is freed with the last of them. Any thread
 * may go on reading `of`, and it may be freed at any time, but not be filled
 * any more.
 *
 * pfd_strings_extend(): a successor; a set can have only one.
 * pfd_strings_branch(): a set can have any number of branches; each is filled
 * for itself, and owns the memory of its additions.
 *
 * NULL: out of memory.
 */
PFD_API struct pfd_strings *pfd_strings_extend(struct pfd_strings *of);
PFD_API struct pfd_strings *pfd_strings_branch(struct pfd_strings *of);

/* Adds the shaders of `from` that this set lacks, and their strings; modules
 * are shared. PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_strings_take_shaders(struct pfd_strings *strings,
                                                 const struct pfd_strings *from,
                                                 struct pfd_error *err);

/* Limits the bytes that filling may add to the set from now on, even for a
 * moment. At the limit filling fails with PFD_ERR_NOMEM. A new set has no
 * limit. */
PFD_API void pfd_strings_set_room(struct pfd_strings *strings, size_t n);

/* Frees memory that only filling needs. */
PFD_API void pfd_strings_trim(struct pfd_strings *strings);

/* Limits the inflated size of one compressed bundle in files that are loaded
 * from now on. A bundle that declares more is a finding (too_large) and is not
 * inflated. 0: 1 GiB, which is also the default. */
PFD_API void pfd_strings_set_max_inflated(struct pfd_strings *strings,
                                          uint64_t bytes);

/* Whether files that are loaded from now on, of any type, are searched byte by
 * byte for code objects of AMD and bundles, besides the usual places. A new set
 * does not search. */
PFD_API void pfd_strings_set_search(struct pfd_strings *strings, bool search);

/* Would a search find a code object of AMD or a bundle in bytes [n]? Any thread. */
PFD_API bool pfd_strings_search(const void *bytes, size_t n);

/* True when these first bytes [n] of a file (64 are enough) are those of a
 * file that may hold strings: ELF, ar, a bundle, a cache, SPIR-V. Any
 * thread. */
PFD_API bool pfd_strings_recognise(const void *bytes, size_t n);

/*
 * Loads all format strings of a file, or of the code object that a URI names
 * (input.h). Oddities of the file (a row that cannot be used, a collision, no
 * strings at all) go to fn as findings (fn may be NULL), and the rest is
 * loaded.
 *
 * PFD_OK; PFD_ERR_IO: the file cannot be read; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_strings_load_file(struct pfd_strings *strings,
                                              const char *path,
                                              pfd_finding_fn fn, void *user,
                                              struct pfd_error *err);

/*
 * The same from memory: bytes [n], borrowed for the call; source: the name used
 * in findings and listings, copied.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: no type of file that may hold strings;
 * PFD_ERR_NOMEM.
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

/* How many strings the set holds; collisions count one by one. */
PFD_API size_t pfd_strings_count(const struct pfd_strings *strings);

/* Fills ret with string i, in load order. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_strings_get(const struct pfd_strings *strings,
                                        size_t i, struct pfd_string_info *ret);

/*
 * The widths in bits of string i's scalars (8, 16, 32 or 64; 0: a string), as
 * the metadata states them, into ret [max]. Returns their number (no entry
 * holds more than 65535); 0 also if there is no such string or no memory.
 */
PFD_API size_t pfd_strings_widths(const struct pfd_strings *strings, size_t i,
                                  uint8_t *ret, size_t max);

/*
 * Adds one LLPC string by hand. Of info it reads id (below 2^48), text, n_text,
 * argument_count and source, but not format. mask: [n_mask] words of 64 bits;
 * bit i set: argument i takes two dwords. Everything is copied.
 *
 * PFD_OK; PFD_ERR_USAGE: the id is too wide or the text above 256 MiB;
 * PFD_ERR_NOMEM. A collision goes to fn.
 */
PFD_API enum pfd_status pfd_strings_add(struct pfd_strings *strings,
                                        const struct pfd_string_info *info,
                                        const uint64_t *mask, size_t n_mask,
                                        pfd_finding_fn fn, void *user,
                                        struct pfd_error *err);

/* Bytes of memory that the set holds, tables included, but without the bytes
 * that pfd_strings_trim() frees. Memory that a branch shares counts for the set
 * from which it was branched. */
PFD_API size_t pfd_strings_memory(const struct pfd_strings *strings);

#ifdef __cplusplus
}
#endif

#endif
