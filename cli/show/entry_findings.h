/* SPDX-License-Identifier: MIT */
/* Findings in an entry, in the form of findings between entries. */
#ifndef CLI_ENTRY_FINDINGS_H
#define CLI_ENTRY_FINDINGS_H

#include <printfdecode/convert.h>

/* Calls `each` for each finding, with its place and sentence, which are valid
 * until `each` returns; source: the buffer's name, borrowed. */
void entry_findings_each(const struct pfd_entry *entry, const char *source,
                         pfd_finding_fn each, void *user);

#endif
