/* SPDX-License-Identifier: MIT */
/*
 * The rows of printf strings in an HSA code object: `amdhsa.printf` of the
 * MessagePack note (V3 and later), `Printf` of the YAML note (V2). Finds rows;
 * formats interpret them.
 */
#ifndef PFD_HSA_PRINTF_H
#define PFD_HSA_PRINTF_H

#include "core/objects/elf_image.h"

/* One row; borrowed for the call. */
struct pfd_hsa_row {
    const char *text; /* [n_text] bytes, not NUL-terminated */
    size_t n_text;
    size_t i;        /* its number in its table */
    uint64_t offset; /* in the file */
};

/* Any status but PFD_OK ends the walk and is its result. */
typedef enum pfd_status (*pfd_hsa_row_fn)(void *user,
                                          const struct pfd_hsa_row *row);

/*
 * Calls fn for every row. Findings: bad_string_row (a row that is not text),
 * bad_yaml, version (a code object newer than V6). Faults of a MessagePack
 * document are not reported here, since each reader of that note would repeat
 * them.
 *
 * PFD_OK; PFD_ERR_NOMEM; the status that fn returned.
 */
enum pfd_status pfd_hsa_rows(const struct pfd_image *image, pfd_hsa_row_fn fn,
                             void *user, struct pfd_report *report,
                             struct pfd_error *err);

/* True for a row of HIP's buffered printf: "0:0:", a hash in hexadecimal, a
 * comma. Sets hash, and format: the offset of the text behind them. */
bool pfd_hsa_row_is_hip(const struct pfd_hsa_row *row, uint64_t *hash,
                        size_t *format);

#endif
