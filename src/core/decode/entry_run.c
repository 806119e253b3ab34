/* SPDX-License-Identifier: MIT */
#include "core/decode/entry_run.h"

size_t pfd_run_count(const struct pfd_run *run)
{
    return run->n;
}

uint64_t pfd_run_bytes(const struct pfd_run *run)
{
    const struct pfd_record *last = &run->records[run->n - 1];
    return last->offset + last->n_bytes - run->records[0].offset;
}

void pfd_run_entry(const struct pfd_run *run, size_t i, struct pfd_entry *ret)
{
    const struct pfd_record *r = &run->records[i];
    const uint8_t *bytes = run->bytes + (r->offset - run->records[0].offset);
    /* Only special ones need memory. */
    (void)pfd_entry_make(run->of, r, bytes + r->n_header,
                         r->n_bytes - r->n_header, run->index + i, ret);
}
