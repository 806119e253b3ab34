/* SPDX-License-Identifier: MIT */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/convert.h>
#include <printfdecode/wire.h>

#include "core/base/crc32c.h"

enum {
    LINE = 1024, /* a name and a sentence about it */
};

/* Lines at once, and then lines per second. */
struct rate {
    unsigned burst;
    unsigned refill;
};
static const struct rate of_place = { 50, 5 };
static const struct rate of_topic = { 10, 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum pfdd_level highest = PFDD_INFO;
static unsigned long long held_back_total;

void pfdd_log_level(enum pfdd_level level)
{
    pthread_mutex_lock(&lock);
    highest = level;
    pthread_mutex_unlock(&lock);
}

unsigned long long pfdd_log_suppressed(void)
{
    pthread_mutex_lock(&lock);
    unsigned long long n = held_back_total;
    pthread_mutex_unlock(&lock);
    return n;
}

/* The journal reads "<4>" as a priority. */
static void put_line(enum pfdd_level level, const char *text)
{
    static const char *const names[] = { "error: ", "warning: ", "",
                                         "debug: " };
    static const char *const priorities[] = { "<3>", "<4>", "<6>", "<7>" };
    char safe[4 * LINE + 1];
    char line[4 * LINE + 64];
    bool journal = getenv("JOURNAL_STREAM") != NULL;
    size_t n = pfd_escape_for_terminal(safe, text, strlen(text));
    safe[n] = '\0';
    for (char *c = safe; *c; c++)
        *c = *c == '\n' ? ' ' : *c;
    int length = snprintf(line, sizeof line, "%sprintfdecoded: %s%s\n",
                          journal ? priorities[level] : "", names[level], safe);
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return; /* There is no place to report it. */
}

static bool may_speak(struct pfdd_log_topic *topic, const struct rate *rate)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long passed = now.tv_sec - topic->second;
    topic->second = now.tv_sec;
    if (passed > rate->burst ||
        (unsigned)passed * rate->refill > topic->spent) {
        topic->spent = 0;
    } else {
        topic->spent -= (unsigned)passed * rate->refill;
    }
    if (topic->spent == rate->burst) {
        topic->held_back++;
        held_back_total++;
        return false;
    }
    topic->spent++;
    return true;
}

/* Appends the number of lines that were suppressed before this one. */
static void own_up(struct pfdd_log_topic *topic, char line[LINE])
{
    size_t n = strlen(line);
    if (topic->held_back) {
        snprintf(line + n, LINE - n, " (%u lines like this were held back)",
                 topic->held_back);
    }
    topic->held_back = 0;
}

__attribute__((format(printf, 4, 0))) static void speak(
    struct pfdd_log_topic *topic, const struct rate *rate,
    enum pfdd_level level, const char *text, va_list args)
{
    char line[LINE];
    vsnprintf(line, sizeof line, text, args);
    pthread_mutex_lock(&lock);
    if (level <= highest && may_speak(topic, rate)) {
        own_up(topic, line);
        put_line(level, line);
    }
    pthread_mutex_unlock(&lock);
}

void pfdd_log_at(struct pfdd_log_topic *here, enum pfdd_level level,
                 const char *text, ...)
{
    va_list args;
    va_start(args, text);
    speak(here, &of_place, level, text, args);
    va_end(args);
}

void pfdd_log_about(struct pfdd_log_topic *topic, enum pfdd_level level,
                    const char *text, ...)
{
    va_list args;
    va_start(args, text);
    speak(topic, &of_topic, level, text, args);
    va_end(args);
}

bool pfdd_log_dedup_seen(struct pfdd_log_dedup *log_dedup, const char *about,
                         const char *what)
{
    uint32_t hash =
        pfd_crc32c(pfd_crc32c(0, about, strlen(about)), what, strlen(what));
    for (unsigned i = 0; i < PFDD_LOG_DEDUP; i++) {
        if (log_dedup->hashes[i] == hash)
            return true;
    }
    log_dedup->hashes[log_dedup->n++ % PFDD_LOG_DEDUP] = hash;
    return false;
}
