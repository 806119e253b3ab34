/* SPDX-License-Identifier: MIT */
/*
 * Where code objects come from: a file or what a URI names, what a compressed
 * one inflates to, and a capture, which has several.
 */
#ifndef CLI_CODE_SOURCE_H
#define CLI_CODE_SOURCE_H

#include <printfdecode/objects.h>

/* Do these first bytes [n] of a file begin as strings do, or inflate to what
 * does? */
bool code_source_is_code(const void *bytes, size_t n);

/* Has it code objects? */
bool code_source_has_objects(const char *path, uint64_t max_inflated);

/* The bytes of an operand, inflated when they are compressed. */
struct code_source {
    const char *path;
    const void *bytes; /* [n] */
    size_t n;
    struct pfd_input *input;
    void *inflated; /* that bytes are, then */
};

/* Findings go to tell with user. PFD_OK, or what pfd_input_open() says. */
enum pfd_status code_source_open(struct code_source *ret, const char *path,
                                 uint64_t max_inflated, pfd_finding_fn tell,
                                 void *user, struct pfd_error *err);
void code_source_close(struct code_source *code_source);

/* As pfd_objects_read(), for whatever the bytes are. */
enum pfd_status code_source_read(const struct code_source *code_source,
                                 uint64_t max_inflated, pfd_object_fn fn,
                                 void *user, pfd_finding_fn tell,
                                 void *tell_user, struct pfd_error *err);

#endif
