/* SPDX-License-Identifier: MIT */
/*
 * The host's side of shaders that print, with libprintfdecode: rules for their
 * sites, and lines for a reader without a file between. Failures are
 * reported on standard error.
 */
#ifndef RUNNERS_PRINTER_H
#define RUNNERS_PRINTER_H

#include <stdbool.h>
#include <stddef.h>

enum {
    PRINTER_RULES_MAX = 32
};

struct printer_options {
    const char *program; /* for messages */
    const char *strings; /* the file that scan wrote; NULL: none */
    const char *rules[PRINTER_RULES_MAX]; /* [n_rules] */
    size_t n_rules;
};

/* Takes --strings FILE or --rule RULE; false: it is neither, or too many. */
bool printer_take(struct printer_options *o, const char *name,
                  const char *value);

/*
 * The control block by the rules, [*n] bytes; NULL: something is wrong. Rules,
 * with the numbers of printfdecode/sites.h:
 *
 *   off, on, budget=N, every=N    each may end in @FILE or @FILE:LINE
 *   threads=A-B, groups=A-B, pixels=A-B    where A and B are "1" or "1,2,3"
 */
void *printer_control(const struct printer_options *o, size_t *n);

/* Says what rules kept back, by the block as the device left it. */
void printer_say_withheld(const void *control, size_t n);

/* Memory [n_bytes], all zero, that readers see: printfdecoded, if it runs.
 * NULL: there is none. */
void *printer_share(const struct printer_options *o, size_t n_bytes);

/* All is written, and nothing is used any more. */
void printer_close(void);

#endif
