/* SPDX-License-Identifier: MIT */
/*
 * Bytes that hold code objects: a file, the target of a URI, the inflated
 * contents of a compressed file, or a capture, which holds several.
 */
#ifndef CLI_CODE_SOURCE_H
#define CLI_CODE_SOURCE_H

#include <printfdecode/strings.h>

/* Do the first bytes [n] of a file look like a source of strings, or inflate to
 * one? */
bool code_source_is_code(const void *bytes, size_t n);

/* Does the file hold code objects? */
bool code_source_has_objects(const char *path, uint64_t max_inflated);

/* The bytes of an operand; inflated when they are compressed. */
struct code_source {
    const char *path;
    const void *bytes; /* [n] */
    size_t n;
    struct pfd_input *input;
    void *inflated; /* owner of bytes when they were inflated */
    bool searches; /* set after opening: read it as pfd_objects_search() does */
};

/* Findings go to tell with user. Returns PFD_OK, or the status of
 * pfd_input_open(). */
enum pfd_status code_source_open(struct code_source *ret, const char *path,
                                 uint64_t max_inflated, pfd_finding_fn tell,
                                 void *user, struct pfd_error *err);
void code_source_close(struct code_source *code_source);

/* Like pfd_objects_read() or pfd_objects_search(), for any kind of source. */
enum pfd_status code_source_read(const struct code_source *code_source,
                                 uint64_t max_inflated, pfd_object_fn fn,
                                 void *user, pfd_finding_fn tell,
                                 void *tell_user, struct pfd_error *err);

#endif
