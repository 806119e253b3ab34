/* SPDX-License-Identifier: MIT */
/*
 * Code objects of the strings of chunks, for consumers that pass chunks on:
 * subscribers that render themselves, and the spool, which outlives producers.
 * The string store implements the functions. Loop thread only; any thread may
 * read the bytes of a list that is held.
 */
#ifndef PFDD_CHUNK_OBJECTS_H
#define PFDD_CHUNK_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An object of a list, borrowed as long as the list is held. */
struct pfdd_code_object {
    const char *name;
    const void *bytes; /* [n] */
    size_t n;
    uint64_t number; /* unique */
    uint64_t scope;  /* of the buffers that may need it; 0: all may */
    uint64_t since;  /* number of the change that added it */
    bool is_shader;  /* a SPIR-V module; the layer's records refer to it by
                        `shader` */
    uint32_t shader;
};

struct pfdd_object_lists {
    /* Opens the list of code objects that all buffers may need, and of scopes
     * whose producers are connected. Other objects of a scope are only in
     * pfdd_strings.own. Oldest first: [*n], never changed. *changes: number of
     * changes so far. close() releases the list and its bytes. */
    const void *(*open)(void *user, size_t *n, uint64_t *changes);
    void (*get)(const void *list, size_t i, struct pfdd_code_object *ret);
    void (*close)(void *user, const void *list);
    void *user;
};

#endif
