/* SPDX-License-Identifier: MIT */
/*
 * Text for the log of a build server. There a line can be a command: GitHub's
 * runner obeys "::name ...::..." behind white space and "##[name ...]" anywhere,
 * Azure's agent "##vso[...]". A program's text must not speak to them.
 */
#ifndef PFD_JOB_LOG_H
#define PFD_JOB_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PFD_JOB_LOG_GROWTH = 6 /* bytes that a byte becomes at most */
};

/* The state between parts of a stream; all zero but is_json is its begin. */
struct pfd_job_log {
    bool is_json;    /* escapes are those of JSON strings, else \xNN */
    bool is_inside;  /* the line has more than white space */
    bool has_colon;  /* and just its first colon */
    uint8_t n_space; /* bytes of a space character that is not whole */
    uint8_t n_hash;  /* of "##" */
    uint8_t n_word;  /* of "vso" behind it */
    char space[3];
};

/* Copies text [n] so that no line of the stream is a command; lines end at CR,
 * too. out has room for PFD_JOB_LOG_GROWTH * n; returns the end. */
char *pfd_job_log_guard(struct pfd_job_log *log, char *out, const char *text,
                        size_t n);

/* Does a build server read our output? By its environment. */
bool pfd_job_log_is_read(void);

#endif
