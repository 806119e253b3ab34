/* SPDX-License-Identifier: MIT */
/* A line of a report: "pfd", and words with tabs before them. */
#ifndef RUNNERS_REPORT_LINE_H
#define RUNNERS_REPORT_LINE_H

#include <stdio.h>

/* A word; control characters would end it. */
static inline void report_word(const char *word)
{
    putchar('\t');
    for (; *word; word++)
        putchar(*word > 0 && *word < ' ' ? ' ' : *word);
}

/* words: NULL at the end. */
static inline void report_line(const char *const *words)
{
    fputs("pfd", stdout);
    for (; *words; words++)
        report_word(*words);
    putchar('\n');
}
#define PUT_LINE(...) report_line((const char *const[]){ __VA_ARGS__, NULL })

#endif
