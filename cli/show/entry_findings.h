/* SPDX-License-Identifier: MIT */
/* What is found in an entry, as findings like those between entries. */
#ifndef CLI_ENTRY_FINDINGS_H
#define CLI_ENTRY_FINDINGS_H

#include <printfdecode/convert.h>

/* Gives each with its place and sentence, which are there until `each` returns;
 * source: the buffer's name, borrowed. */
void entry_findings_each(const struct pfd_entry *entry, const char *source,
                         pfd_finding_fn each, void *user);

#endif
