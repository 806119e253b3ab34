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

/* ---- copies ---- */

static bool replace(struct pfd_text *text, const void *bytes, size_t n)
{
    text->n = 0;
    text->failed = false;
    pfd_text_add(text, bytes, n);
    return !text->failed;
}

bool pfd_entry_run_copy_take(struct pfd_entry_run_copy *copy,
                             const struct pfd_entry_run *entry_run, size_t from,
                             size_t to)
{
    const struct pfd_record *first = &entry_run->records[from];
    const struct pfd_record *last = &entry_run->records[to - 1];
    copy->format = entry_run->of->format;
    copy->index = entry_run->index + from;
    return replace(&copy->records, first, (to - from) * sizeof *first) &&
           replace(&copy->bytes,
                   entry_run->bytes +
                       (first->offset - entry_run->records[0].offset),
                   last->offset + last->n_bytes - first->offset);
}

struct pfd_entry_run pfd_entry_run_copy_view(
    const struct pfd_entry_run_copy *copy, struct pfd_entry_source *of)
{
    return (struct pfd_entry_run){
        .of = of,
        .records = (const void *)copy->records.data,
        .n = copy->records.n / sizeof(struct pfd_record),
        .bytes = (const void *)copy->bytes.data,
        .index = copy->index,
    };
}

void pfd_entry_run_copy_deinit(struct pfd_entry_run_copy *copy)
{
    pfd_text_free(&copy->records);
    pfd_text_free(&copy->bytes);
}
