/* SPDX-License-Identifier: MIT */
#include "entry_findings.h"

enum {
    SENTENCE = 768,
};

void entry_findings_each(const struct pfd_entry *entry, const char *source,
                         pfd_finding_fn each, void *user)
{
    for (uint64_t left = entry->findings; left; left &= left - 1) {
        char sentence[SENTENCE];
        struct pfd_finding finding = {
            .kind = (enum pfd_finding_kind)__builtin_ctzll(left),
            .offset = entry->offset,
            .index = entry->index,
            .in_buffer = true,
            .source = source,
            .text = sentence,
        };
        pfd_entry_finding_text(entry, finding.kind, sentence, sizeof sentence);
        each(user, &finding);
    }
}
