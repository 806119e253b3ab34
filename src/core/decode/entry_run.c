/* SPDX-License-Identifier: MIT */
#include "core/decode/entry_run.h"

size_t pfd_entry_run_count(const struct pfd_entry_run *entry_run)
{
    return entry_run->n;
}

uint64_t pfd_entry_run_bytes(const struct pfd_entry_run *entry_run)
{
    const struct pfd_record *last = &entry_run->records[entry_run->n - 1];
    return last->offset + last->n_bytes - entry_run->records[0].offset;
}

void pfd_entry_run_entry(const struct pfd_entry_run *entry_run, size_t i,
                         struct pfd_entry *ret)
{
    const struct pfd_record *r = &entry_run->records[i];
    const uint8_t *bytes =
        entry_run->bytes + (r->offset - entry_run->records[0].offset);
    /* Only special entries need memory. */
    (void)pfd_entry_make(entry_run->of, r, bytes + r->n_header,
                         r->n_bytes - r->n_header, entry_run->index + i, ret);
}
