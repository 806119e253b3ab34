/* SPDX-License-Identifier: MIT */
/* The exact bytes that the program's printf would have written. */
#include "core/output/sink.h"

static void raw_entry(struct pfd_text *out, struct pfd_entry *entry,
                      const struct pfd_sink_options *options)
{
    if (!entry->string)
        return;
    char *at = pfd_text_reserve(out, entry->room);
    if (!at)
        return;
    char *end =
        pfd_program_print(at, entry->steps, pfd_string_text(entry->string),
                          PFD_RAW, entry->payload, &entry->findings);
    out->n += (size_t)(end - at);
}

static size_t raw_run(struct pfd_text *out,
                      const struct pfd_entry_run *entry_run, size_t full,
                      const struct pfd_sink_options *options)
{
    size_t i = 0;
    for (; i < entry_run->n && out->n <= full; i++) {
        char *end = pfd_sink_message(out, entry_run, &entry_run->records[i], 0);
        if (!end)
            break;
        out->n = (size_t)(end - out->data);
    }
    return i;
}

const struct pfd_sink pfd_sink_raw = {
    .name = "raw",
    .entry = raw_entry,
    .run = raw_run,
};
