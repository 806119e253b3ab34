/* SPDX-License-Identifier: MIT */
/* A ZIP archive of members without compression, as .npz has them; of any size
 * (ZIP64). */
#ifndef PFD_ZIP_H
#define PFD_ZIP_H

#include "analysis/table/table_target.h"

struct pfd_zip {
    struct pfd_table_target *table_target;
    uint64_t at;     /* bytes written */
    uint64_t member; /* place of the member's header */
    uint64_t n;      /* bytes of the member */
    uint32_t crc;    /* of these bytes */
    uint64_t n_members;
    struct pfd_text directory;
    char name[128];
};

void pfd_zip_begin(struct pfd_zip *zip, const char *name);
void pfd_zip_put(struct pfd_zip *zip, const void *bytes, size_t n);
void pfd_zip_end(struct pfd_zip *zip);
/* Writes the directory, and frees. */
void pfd_zip_close(struct pfd_zip *zip);

#endif
