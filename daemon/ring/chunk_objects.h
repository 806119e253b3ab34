/* SPDX-License-Identifier: MIT */
/*
 * The code objects that strings of chunks come from, for those who pass chunks
 * on to somebody else: a subscriber that renders itself, a queue that outlives
 * its producers. Whoever keeps code objects fills this in. Loop thread only, but
 * for the bytes of a list that is held: any thread may read them.
 */
#ifndef PFDD_CHUNK_OBJECTS_H
#define PFDD_CHUNK_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One of a list; borrowed as long as the list is held. */
struct pfdd_code_object {
    const char *name;
    const void *bytes; /* [n] */
    size_t n;
    uint64_t number; /* no other one's */
    uint64_t scope;  /* the buffers that may need it; 0: all may */
    uint64_t since;  /* the change with which it came */
    bool is_shader;  /* a SPIR-V module, and the number that a layer's records
                       call it by */
    uint32_t shader;
};

struct pfdd_object_lists {
    /* What everybody may need now, and what scopes have whose producers are
     * there; what they have beyond that is with their strings
     * (pfdd_strings.own). Oldest first: [*n], never changed; *changes: how often
     * there was something new before it. To be closed; it keeps its bytes. */
    const void *(*open)(void *user, size_t *n, uint64_t *changes);
    void (*get)(const void *list, size_t i, struct pfdd_code_object *ret);
    void (*close)(void *user, const void *list);
    void *user;
};

#endif
