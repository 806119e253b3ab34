/* SPDX-License-Identifier: MIT */
#include "add_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "found_buffers.h"
#include "memory.h"
#include "process_code.h"
#include "show/messages.h"

enum {
    SIZE_GUESSED_MAX = 64 << 20, /* bytes, when the size is not given */
};

#define SIZE_MAX_COPIED (UINT64_C(16) << 30) /* bytes */

static bool fail(const struct buffer *b, const struct pfd_error *err)
{
    message_error("%s: %s", b->name, err->text);
    return false;
}

/* The size up to the end of the address's mapping. */
static bool guess_size(const struct options *o, struct pfd_memory *memory,
                       uint64_t *ret)
{
    struct pfd_memory_region r;
    if (pfd_memory_find(memory, o->memory.address, &r) != PFD_OK ||
        r.address > o->memory.address) {
        message_error("%s: nothing is mapped at 0x%llx",
                      pfd_memory_name(memory),
                      (unsigned long long)o->memory.address);
        return false;
    }
    uint64_t n = r.address + r.size - o->memory.address;
    *ret = n < SIZE_GUESSED_MAX ? n : SIZE_GUESSED_MAX;
    message_hint("the buffer's size is not given: %llu bytes%s, to the end of "
                 "what is mapped there, are taken for it (--size)",
                 (unsigned long long)*ret, n > *ret ? ", and not" : "");
    return true;
}

static struct buffer *add_buffer(struct inputs *in, const struct options *o,
                                 uint64_t size)
{
    struct buffer *b = inputs_add(in);
    b->is_memory = true;
    b->address = o->memory.address;
    b->n = (size_t)size;
    int n =
        o->memory.core
            ? asprintf(&b->own_name, "%s@0x%llx", o->memory.core,
                       (unsigned long long)o->memory.address)
            : asprintf(&b->own_name, "memory://%llu#offset=0x%llx&size=%llu",
                       (unsigned long long)pfd_memory_pid(in->memory),
                       (unsigned long long)o->memory.address,
                       (unsigned long long)size);
    if (n < 0) {
        message_error("out of memory");
        exit(EXIT_ERROR);
    }
    b->name = b->own_name;
    return b;
}

static bool copy_buffer(struct inputs *in, struct buffer *b,
                        pfd_finding_fn tell, void *user)
{
    struct pfd_error err;
    b->bytes = in->core ? core_bytes(in->core, b->address, b->n) : NULL;
    b->is_borrowed = b->bytes != NULL;
    if (b->bytes)
        return true;
    if (pfd_memory_copy(in->memory, b->address, b->n, b->name, tell, user,
                        &b->copied, &err) != PFD_OK)
        return fail(b, &err);
    b->bytes = b->copied.bytes;
    b->missing = b->copied.missing;
    b->n_missing = b->copied.n_missing;
    if (b->n_missing == 1 && b->missing[0].to - b->missing[0].from == b->n) {
        message_error("%s: nothing of it can be read", b->name);
        return false;
    }
    return true;
}

static bool add_found(struct inputs *in, const struct options *o,
                      pfd_finding_fn tell, void *user)
{
    bool ok = found_buffers_add(in, o, tell, user);
    for (size_t i = 0; ok && i < in->n_buffers; i++) {
        struct buffer *b = &in->buffers[i];
        if (b->is_memory && !o->follows)
            ok = copy_buffer(in, b, tell, user);
    }
    return ok;
}

bool memory_add(struct inputs *in, const struct options *o, pfd_finding_fn tell,
                void *user)
{
    uint64_t size = o->memory.size;
    bool has_strings = in->n_strings_files > 0;
    if (!memory_open(in, o, tell, user) ||
        ((!has_strings || o->memory.scan) &&
         !process_code_add(in, o, tell, user)))
        return false;
    if (o->verb->wants_strings)
        return true;
    if (!o->memory.has_address)
        return add_found(in, o, tell, user);
    if (size > SIZE_MAX_COPIED) {
        message_error("--size %llu is too large: at most %llu bytes are read",
                      (unsigned long long)size,
                      (unsigned long long)SIZE_MAX_COPIED);
        return false;
    }
    if (!size && !guess_size(o, in->memory, &size))
        return false;
    struct buffer *b = add_buffer(in, o, size);
    return o->follows || copy_buffer(in, b, tell, user);
}
