/* SPDX-License-Identifier: MIT */
/*
 * For programs that print with PFD_PRINTF (device/printf.h): the sites in their
 * own files, the control block that decides which of them print, and the counts
 * of withheld entries. Knows no device: the caller copies the block.
 *
 * A new block has all sites on. The host changes it here, and copies it as a
 * whole before a kernel, or dword by dword while one runs.
 *
 * Thread rule: one thread at a time.
 */
#ifndef PRINTFDECODE_SITES_H
#define PRINTFDECODE_SITES_H

#include <printfdecode/common.h>
#include <printfdecode/device/control.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_sites;

/*
 * The sites of a program's file; path NULL: of this program and its loaded
 * libraries. Rows are searched as they lie in the file, and in device code that
 * is compressed there by zstd (nvcc's --compress-mode=size).
 *
 * PFD_OK; PFD_ERR_IO: a file cannot be read; PFD_ERR_UNSUPPORTED: there are no
 * rows; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_sites_new(const char *path, struct pfd_sites **ret,
                                      struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_sites_free(struct pfd_sites *sites);

/* An ELF file that holds their rows and nothing else, [*n] bytes, for
 * pfd_client_code_object(). Borrowed. */
PFD_API const void *pfd_sites_object(const struct pfd_sites *sites, size_t *n);

/* One site. Texts are not NUL-terminated, and borrowed. */
struct pfd_site_info {
    size_t struct_size; /* as common.h says */
    uint64_t id;
    const char *text; /* [n_text] */
    size_t n_text;
    const char *file; /* [n_file], as the compiler got it */
    size_t n_file;
    uint32_t line;
    enum pfd_level level;
    struct pfd_site now; /* its rules and counts in the block */
};

/* The number of sites. A site that a template makes for several types counts
 * once for each. */
PFD_API size_t pfd_sites_count(const struct pfd_sites *sites);

/* Fills ret with site i. PFD_OK; PFD_END: there is no i; PFD_ERR_USAGE: ret has no
 * size. */
PFD_API enum pfd_status pfd_sites_get(const struct pfd_sites *sites, size_t i,
                                      struct pfd_site_info *ret);

/* The block, [*n] bytes. Its owner fills buffer, n_dwords and the filters of
 * threads; pfd_sites_set() changes the rest. Borrowed. */
PFD_API struct pfd_control *pfd_sites_control(struct pfd_sites *sites,
                                              size_t *n);

/* Selects sites: each member that is not zero has to match. */
struct pfd_site_match {
    size_t struct_size; /* as common.h says */
    uint64_t id;
    const char *file; /* a pattern for fnmatch(); it need not match folders */
    uint32_t line;
    enum pfd_level above; /* levels that matter less than this; not
                             PFD_LEVEL_NONE */
};

/* The rules of a site. */
struct pfd_site_rule {
    size_t struct_size; /* as common.h says */
    bool is_on;
    uint32_t budget; /* limit for entries, until pfd_sites_reset(); or
                        PFD_NO_BUDGET */
    uint32_t every;  /* print the first of so many; 0 as 1 */
};

/* Changes the rules of the selected sites in the block; returns their number.
 * match NULL: all. */
PFD_API size_t pfd_sites_set(struct pfd_sites *sites,
                             const struct pfd_site_match *match,
                             const struct pfd_site_rule *rule);

/* Takes over the counts of a block [n] that was copied from the device. PFD_OK;
 * PFD_ERR_USAGE: it is not a copy of this one's. */
PFD_API enum pfd_status pfd_sites_take(struct pfd_sites *sites,
                                       const void *block, size_t n,
                                       struct pfd_error *err);

/* Entries that rules withheld, of all sites, by the last counts taken. Entries
 * of sites that are off are not counted. */
PFD_API uint64_t pfd_sites_withheld(const struct pfd_sites *sites);

/* Counts, and with them budgets, start from zero in the block. */
PFD_API void pfd_sites_reset(struct pfd_sites *sites);

#ifdef __cplusplus
}
#endif

#endif
