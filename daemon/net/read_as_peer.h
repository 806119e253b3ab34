/* SPDX-License-Identifier: MIT */
/*
 * What a code object URI of a producer names, opened by us as far as the
 * producer itself could open it: we are its deputy, and have more rights than
 * it has. Any thread.
 */
#ifndef PFDD_READ_AS_PEER_H
#define PFDD_READ_AS_PEER_H

#include <printfdecode/input.h>

#include "base/peer.h"

/*
 * As pfd_input_read(). Of a file, the peer may read it and search each folder
 * on the way, by owner and mode; it sees the file systems that are passed, and
 * nobody answers for these; links are followed likewise. Of a process, the peer
 * is the process itself and of our user.
 */
enum pfd_status pfdd_read_as_peer(const struct pfdd_peer *peer, const char *uri,
                                  size_t n_max, struct pfd_input **ret,
                                  struct pfd_error *err);

#endif
