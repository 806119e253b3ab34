/* SPDX-License-Identifier: MIT */
/*
 * Failures and findings, as the library makes them. pfd_fail() fills the
 * caller's error; a struct pfd_report carries findings to whoever listens.
 * Knows nothing of what is being read.
 */
#ifndef PFD_ERROR_H
#define PFD_ERROR_H

#include <printfdecode/common.h>

#define PFD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/*
 * Fills err (may be NULL) and returns status, so that a failure is one
 * statement. text: what was found, what was expected, where; lower case.
 */
enum pfd_status pfd_fail(struct pfd_error *err, enum pfd_status status,
                         uint64_t offset, const char *text, ...)
    PFD_PRINTF(4, 5);

/* Puts "context: " before an error's text: upper floors say whose. */
void pfd_error_context(struct pfd_error *err, const char *text, ...)
    PFD_PRINTF(2, 3);

/*
 * Where findings of one source go. fn may be NULL: findings are then only
 * counted. Not shared between threads.
 */
struct pfd_report {
    pfd_finding_fn fn;
    void *user;
    const char *source; /* borrowed for the report's life */
    uint64_t n;         /* findings that are not notes */
    bool in_buffer;
};

/* Foreign text in the sentence goes through pfd_quote() first. */
void pfd_report_add(struct pfd_report *report, enum pfd_finding_kind kind,
                    uint64_t offset, const char *text, ...) PFD_PRINTF(4, 5);

/*
 * Writes [n] bytes of foreign text into ret as printable text: control bytes,
 * quotes' rivals and bytes that are not UTF-8 become \xNN, newline \n; what
 * does not fit ends in "...". Returns ret->text.
 */
struct pfd_quoted {
    char text[96];
};
const char *pfd_quote(struct pfd_quoted *ret, const void *bytes, size_t n);

#endif
