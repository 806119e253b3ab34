/* SPDX-License-Identifier: MIT */
#include "memory.h"

#include <stdlib.h>

#include "show/messages.h"

struct core {
    struct pfd_core *file;
};

static bool core_open(struct inputs *in, const struct options *o,
                      pfd_finding_fn tell, void *user)
{
    struct pfd_error err;
    struct core *core = calloc(1, sizeof *core);
    if (!core) {
        message_error("out of memory");
        return false;
    }
    in->core = core;
    if (pfd_core_open(o->memory.core, o->reading.max_inflated, tell, user,
                      &core->file, &err) != PFD_OK ||
        pfd_memory_open_core(core->file, &in->memory, &err) != PFD_OK) {
        message_error("%s: %s", o->memory.core, err.text);
        return false;
    }
    return true;
}

static void core_close(struct core *core)
{
    if (!core)
        return;
    pfd_core_close(core->file);
    free(core);
}

const void *core_bytes(const struct core *core, uint64_t address, uint64_t n)
{
    uint64_t left = 0;
    const void *bytes = pfd_core_bytes(core->file, address, &left);
    return bytes && left >= n ? bytes : NULL;
}

const struct pfd_core *core_file(const struct core *core)
{
    return core->file;
}

bool memory_open(struct inputs *in, const struct options *o,
                 pfd_finding_fn tell, void *user)
{
    struct pfd_error err;
    if (o->memory.core)
        return core_open(in, o, tell, user);
    if (pfd_memory_open_process(o->memory.pid, &in->memory, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}

void memory_close(struct inputs *in)
{
    pfd_memory_close(in->memory);
    core_close(in->core);
}
