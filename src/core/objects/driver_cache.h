/* SPDX-License-Identifier: MIT */
/*
 * Reads compiled pipelines of AMD's Vulkan driver as sequences of members: the
 * archive files of PAL's cache on disk, and the blobs of
 * vkGetPipelineCacheData(). Borrows the bytes and returns ranges within them.
 * Does not know the members' content.
 */
#ifndef PFD_DRIVER_CACHE_H
#define PFD_DRIVER_CACHE_H

#include "core/objects/archive.h"

/*
 * Calls fn for every member, in order. Members of a PAL archive are named by
 * number, members of a pipeline cache by hash. A broken member is a finding
 * (bad_archive); the bytes behind it are passed as one member "rest".
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: neither of the two; the status that fn returned.
 */
enum pfd_status pfd_cache_members(const void *bytes, size_t n, pfd_member_fn fn,
                                  void *user, struct pfd_report *report,
                                  struct pfd_error *err);

#endif
