/* SPDX-License-Identifier: MIT */
/*
 * The daemon's own log: a line each on standard error, with a level, foreign
 * bytes escaped, at most so many lines in a while. Any thread.
 */
#ifndef PFDD_LOG_H
#define PFDD_LOG_H

enum pfdd_level {
    PFDD_ERROR,
    PFDD_WARNING,
    PFDD_INFO,
    PFDD_DEBUG,
};

/* Lines above this level are dropped. */
void pfdd_log_level(enum pfdd_level level);

/* Lines that strangers can cause: few of them leave room for others. All zero
 * to begin with. */
struct pfdd_log_topic {
    unsigned spent;
    unsigned held_back;
    long long second; /* when it was asked last */
};

/* Lines that were held back because there were too many. */
unsigned long long pfdd_log_suppressed(void);

void pfdd_log(enum pfdd_level level, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

void pfdd_log_about(struct pfdd_log_topic *topic, enum pfdd_level level,
                    const char *text, ...)
    __attribute__((format(printf, 3, 4)));

#endif
