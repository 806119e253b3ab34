/* SPDX-License-Identifier: MIT */
/* The code objects of a capture. */
#ifndef PFD_INNER_CAPTURE_H
#define PFD_INNER_CAPTURE_H

#include <printfdecode/capture.h>

/* A code object or shader module of a capture, as far as it arrived. Borrowed
 * until the capture is freed. */
struct pfd_capture_object {
    struct pfd_wire_bytes name;
    uint64_t number;   /* the sender's for it */
    const void *bytes; /* [n] */
    size_t n;
};

/* Code object i, in the order of the file. PFD_OK; PFD_END: there is no i. */
enum pfd_status pfd_capture_object(const struct pfd_capture *capture, size_t i,
                                   struct pfd_capture_object *ret);

#endif
