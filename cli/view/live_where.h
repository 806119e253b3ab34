/* SPDX-License-Identifier: MIT */
/*
 * A condition on rows of entries that came: the same as --where, but for what
 * rows do not keep (time, source, format, the sender's values).
 */
#ifndef CLI_VIEW_LIVE_WHERE_H
#define CLI_VIEW_LIVE_WHERE_H

#include "core/output/value_rows.h"
#include "source.h"

struct live_where;

/* NULL: err says why. */
struct live_where *live_where_new(const char *text, char *err, size_t n_err);
/* NULL is allowed. */
void live_where_free(struct live_where *where);

/* Does the entry of a row fulfil it? string: the number of its
 * format string; VIEW_NO_STRING: it has none of its own. */
bool live_where_test(struct live_where *where, const struct pfd_row *row,
                     uint32_t string);

/* After all tests: has an entry had each of its names, and was there memory?
 * False: err says which it had not. */
bool live_where_check(const struct live_where *where, char *err, size_t n_err);

#endif
