/* SPDX-License-Identifier: MIT */
/*
 * Where AMD's Vulkan driver keeps compiled pipelines, as rows of members: the
 * archive files of PAL's cache on disk, and the blobs that vkGetPipelineCacheData
 * gives. Borrows the bytes and hands out ranges within them. Knows nothing of
 * what a member is.
 */
#ifndef PFD_DRIVER_CACHE_H
#define PFD_DRIVER_CACHE_H

#include "core/objects/archive.h"

enum pfd_cache_kind {
    PFD_CACHE_NONE,
    PFD_CACHE_PAL_ARCHIVE,
    PFD_CACHE_PIPELINES,
};

enum pfd_cache_kind pfd_cache_recognise(const void *bytes, size_t n);

/*
 * Calls fn for every member, in order. Members of a PAL archive are called by
 * their number, those of a pipeline cache by their hash. What is broken is a
 * finding (bad_archive); what comes after it is given as one member "rest".
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: neither of the two; what fn returned.
 */
enum pfd_status pfd_cache_members(const void *bytes, size_t n, pfd_member_fn fn,
                                  void *user, struct pfd_report *report,
                                  struct pfd_error *err);

#endif
