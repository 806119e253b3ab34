/* SPDX-License-Identifier: MIT */
/*
 * How the library reports failures and findings. pfd_fail() fills the caller's
 * error; a struct pfd_report passes findings to the caller's callback. Does not
 * know the input.
 */
#ifndef PFD_ERROR_H
#define PFD_ERROR_H

#include <printfdecode/common.h>

#define PFD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * Fills err (may be NULL) and returns status, so that a failure is one
 * statement. text: the fault, the expected value and the place; lower case.
 */
enum pfd_status pfd_fail(struct pfd_error *err, enum pfd_status status,
                         uint64_t offset, const char *text, ...)
    PFD_PRINTF(4, 5);

/* Prepends "context: " to an error's text: callers add the input's name. */
void pfd_error_context(struct pfd_error *err, const char *text, ...)
    PFD_PRINTF(2, 3);

/*
 * Destination of one source's findings. fn may be NULL: findings are then only
 * counted. Not shared between threads.
 */
struct pfd_report {
    pfd_finding_fn fn;
    void *user;
    const char *source; /* borrowed for the report's life */
    uint64_t n;         /* findings that are not notes */
    bool in_buffer;
};

/* Does the kind mean that something was printed and is not here, or not whole? */
bool pfd_finding_is_loss(enum pfd_finding_kind kind);

/* Untrusted text in the sentence goes through pfd_quote() first. */
void pfd_report_add(struct pfd_report *report, enum pfd_finding_kind kind,
                    uint64_t offset, const char *text, ...) PFD_PRINTF(4, 5);

/*
 * Writes [n] bytes of untrusted text into ret as printable text. Control bytes,
 * controls as of pfd_is_control() and bytes that are not UTF-8 become \xNN,
 * newline becomes \n; text that does not fit ends in "...". Returns ret->text.
 */
struct pfd_quoted {
    char text[96];
};
const char *pfd_quote(struct pfd_quoted *ret, const void *bytes, size_t n);

#endif
