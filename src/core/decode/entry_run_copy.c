/* SPDX-License-Identifier: MIT */
#include "core/decode/entry_run_copy.h"

static bool replace(struct pfd_text *text, const void *bytes, size_t n)
{
    text->n = 0;
    text->failed = false;
    pfd_text_add(text, bytes, n);
    return !text->failed;
}

bool pfd_run_copy_take(struct pfd_run_copy *copy, const struct pfd_run *run,
                       size_t from, size_t to)
{
    const struct pfd_record *first = &run->records[from];
    const struct pfd_record *last = &run->records[to - 1];
    copy->format = run->of->format;
    copy->index = run->index + from;
    return replace(&copy->records, first, (to - from) * sizeof *first) &&
           replace(&copy->bytes,
                   run->bytes + (first->offset - run->records[0].offset),
                   last->offset + last->n_bytes - first->offset);
}

struct pfd_run pfd_run_copy_view(const struct pfd_run_copy *copy,
                                 struct pfd_entry_source *of)
{
    return (struct pfd_run){
        .of = of,
        .records = (const void *)copy->records.data,
        .n = copy->records.n / sizeof(struct pfd_record),
        .bytes = (const void *)copy->bytes.data,
        .index = copy->index,
    };
}

void pfd_run_copy_deinit(struct pfd_run_copy *copy)
{
    pfd_text_free(&copy->records);
    pfd_text_free(&copy->bytes);
}
