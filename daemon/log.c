/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/convert.h>

enum {
    LINE = 512,
    BURST = 50, /* lines at once... */
    REFILL = 5, /* ...and so many a second */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum pfdd_level highest = PFDD_INFO;
static unsigned tokens = BURST;
static time_t refilled;
static unsigned held_back;
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
        return; /* Nowhere to say so. */
}

static bool may_speak(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    time_t passed = now.tv_sec - refilled;
    refilled = now.tv_sec;
    if (passed > BURST || tokens + (unsigned)passed * REFILL > BURST) {
        tokens = BURST;
    } else {
        tokens += (unsigned)passed * REFILL;
    }
    if (tokens == 0) {
        held_back++;
        held_back_total++;
        return false;
    }
    tokens--;
    return true;
}

void pfdd_log(enum pfdd_level level, const char *text, ...)
{
    char line[LINE];
    va_list args;
    va_start(args, text);
    vsnprintf(line, sizeof line, text, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    if (level <= highest && may_speak()) {
        if (held_back) {
            char note[64];
            snprintf(note, sizeof note, "%u lines were held back", held_back);
            held_back = 0;
            put_line(PFDD_WARNING, note);
        }
        put_line(level, line);
    }
    pthread_mutex_unlock(&lock);
}
