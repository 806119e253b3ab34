/* SPDX-License-Identifier: MIT */
/*
 * Opens the file or memory that a producer's code object URI names, if the
 * producer could open it itself: the daemon has more rights, and must not lend
 * them. Any thread.
 */
#ifndef PFDD_READ_AS_PEER_H
#define PFDD_READ_AS_PEER_H

#include "base/peer.h"
#include "core/base/input.h"

/*
 * Like pfd_input_read(). A file: the peer must have the right to read it and to
 * search each folder on the way, by owner and mode, also behind links; it must
 * see the mounts on the way, which must be file systems of plain files. Memory
 * of a process: the peer must be that process, and run as our user.
 */
enum pfd_status pfdd_read_as_peer(const struct pfdd_peer *peer, const char *uri,
                                  size_t n_max, struct pfd_input **ret,
                                  struct pfd_error *err);

#endif
