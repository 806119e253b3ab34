/* SPDX-License-Identifier: MIT */
/*
 * The daemon's own log: lines on standard error, each with a level; untrusted
 * bytes are escaped. Each kind of line, which is a place in the code or a
 * topic, has a rate limit, so that lines which a peer can cause without end do
 * not hide others. Any thread.
 */
#ifndef PFDD_LOG_H
#define PFDD_LOG_H

#include <stdbool.h>
#include <stdint.h>

enum pfdd_level {
    PFDD_ERROR,
    PFDD_WARNING,
    PFDD_INFO,
    PFDD_DEBUG,
};

/* Lines above this level are dropped. */
void pfdd_log_level(enum pfdd_level level);

/* A kind of line. All zero to begin with. */
struct pfdd_log_topic {
    unsigned spent;
    unsigned held_back;
    long long second; /* of the last request */
};

/* Number of lines that were suppressed by rate limits. */
unsigned long long pfdd_log_suppressed(void);

/* Logs a line; each place in the code is a kind. */
#define pfdd_log(level, ...)                             \
    do {                                                 \
        static struct pfdd_log_topic pfdd_log_here;      \
        pfdd_log_at(&pfdd_log_here, level, __VA_ARGS__); \
    } while (0)
void pfdd_log_at(struct pfdd_log_topic *here, enum pfdd_level level,
                 const char *text, ...) __attribute__((format(printf, 3, 4)));

/* Logs a line that a peer can cause: its rate is lower. */
void pfdd_log_about(struct pfdd_log_topic *topic, enum pfdd_level level,
                    const char *text, ...)
    __attribute__((format(printf, 3, 4)));
/* Likewise; each place in the code is a kind. */
#define pfdd_log_peer(level, ...)                           \
    do {                                                    \
        static struct pfdd_log_topic pfdd_log_here;         \
        pfdd_log_about(&pfdd_log_here, level, __VA_ARGS__); \
    } while (0)

/* Suppresses repeated log messages. One thread. */

enum {
    PFDD_LOG_DEDUP = 64 /* messages that are remembered */
};

/* All zeros to begin with. */
struct pfdd_log_dedup {
    unsigned n;
    uint32_t hashes[PFDD_LOG_DEDUP];
};

/* True: the message was logged lately. False: it is remembered from now on. */
bool pfdd_log_dedup_seen(struct pfdd_log_dedup *log_dedup, const char *about,
                         const char *what);

#endif
