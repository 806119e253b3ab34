/* SPDX-License-Identifier: MIT */
/*
 * The daemon's own log: a line each on standard error, with a level, foreign
 * bytes escaped. Each kind of line, which is a place in the code or a topic, may
 * be written so often in a while: one that somebody else can cause without end
 * keeps no other from being read. Any thread.
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

/* A kind of lines. All zero to begin with. */
struct pfdd_log_topic {
    unsigned spent;
    unsigned held_back;
    long long second; /* when it was asked last */
};

/* Lines that were held back because there were too many. */
unsigned long long pfdd_log_suppressed(void);

/* A line of the kind of this place in the code. */
#define pfdd_log(level, ...)                             \
    do {                                                 \
        static struct pfdd_log_topic pfdd_log_here;      \
        pfdd_log_at(&pfdd_log_here, level, __VA_ARGS__); \
    } while (0)
void pfdd_log_at(struct pfdd_log_topic *here, enum pfdd_level level,
                 const char *text, ...) __attribute__((format(printf, 3, 4)));

/* One that strangers can cause: fewer of them. */
void pfdd_log_about(struct pfdd_log_topic *topic, enum pfdd_level level,
                    const char *text, ...)
    __attribute__((format(printf, 3, 4)));

#endif
