/* SPDX-License-Identifier: MIT */
/* Exactly the bytes that the program's printf would have written. */
#include "forms/sink.h"

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

const struct pfd_sink pfd_sink_raw = {
    .name = "raw",
    .entry = raw_entry,
};
