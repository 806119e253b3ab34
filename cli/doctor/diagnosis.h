/* SPDX-License-Identifier: MIT */
/* What keeps messages from coming: each fault in a sentence, and what to type. */
#ifndef CLI_DIAGNOSIS_H
#define CLI_DIAGNOSIS_H

#include <stdbool.h>
#include <stddef.h>

struct fault {
    const char *subject; /* "vulkan", or a file; borrowed */
    const char *id;      /* one word, for programs; static storage */
    char *text;          /* owned */
    char *command;       /* what to type; owned, NULL: nothing */
    bool is_advice;      /* nothing is known to be wrong */
};

/* All zero: nothing was found. */
struct diagnosis {
    struct fault *all; /* [n], in the order found */
    size_t n;
};

void diagnosis_free(struct diagnosis *d);

/* Adds a fault; the text is a printf format. Ends the program when memory is
 * out. */
struct fault *diagnosis_add(struct diagnosis *d, const char *subject,
                            const char *id, const char *text, ...)
    __attribute__((format(printf, 4, 5)));

/* What to type against the fault. */
void fault_command(struct fault *fault, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* A word of a command, in quotes where shells need these: names of files and of
 * a capture's buffers may be anything. Owned by the caller. Ends the program when
 * memory is out. */
char *command_word(const char *text);

/* Is any of them more than advice? */
bool diagnosis_has_faults(const struct diagnosis *d);

/* Each on standard error, in a line. */
void diagnosis_message(const struct diagnosis *d);

/* On standard output: numbered sentences, or objects of JSON. */
void diagnosis_print(const struct diagnosis *d, bool is_json);

#endif
