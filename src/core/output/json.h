/* SPDX-License-Identifier: MIT */
/* Parts of the JSON of entries and findings, for other writers of JSON. */
#ifndef PFD_INNER_JSON_H
#define PFD_INNER_JSON_H

#include <printfdecode/convert.h>

/* The same for the inside of a JSON string; bytes that are not UTF-8 become
 * U+FFFD. ret has room for 6 * n bytes. */
size_t pfd_escape_for_json(char *ret, const void *bytes, size_t n);

/* The bytes themselves in base64, where they are not UTF-8; else nothing. ret
 * has room for (n + 2) / 3 * 4 bytes. */
size_t pfd_base64_for_json(char *ret, const void *bytes, size_t n);

/* The arguments of an entry as JSON has them in "args": a list, [1,"a"]. ret has
 * room for pfd_entry_args_room() bytes; returns how many. */
size_t pfd_entry_args_room(struct pfd_entry *entry);
size_t pfd_entry_args(char *ret, struct pfd_entry *entry);

/* Gives write a finding as one line of JSON, as pfd_convert_*() does with
 * "json". PFD_OK; PFD_ERR_STOPPED: write returned false; PFD_ERR_NOMEM. */
enum pfd_status pfd_finding_write_json(const struct pfd_finding *finding,
                                       pfd_write_fn write, void *user);

#endif
