/* SPDX-License-Identifier: MIT */
/*
 * What debuggers see of ROCm's runtime: `_amdgpu_r_debug`, of version 10, and
 * the list that it points to, changed as the runtime does it: r_state says so
 * meanwhile, and r_brk is called before and after.
 */
#include "standin.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>

static void on_change(void)
{
    /* Debuggers put a breakpoint here. */
    __asm__ volatile("" ::: "memory");
}

extern struct r_debug _amdgpu_r_debug;
__attribute__((visibility("default"))) struct r_debug _amdgpu_r_debug = {
    .r_version = 10,
    .r_brk = (ElfW(Addr))on_change,
};

static struct link_map *last;

static void announce(unsigned state)
{
    _amdgpu_r_debug.r_state = state;
    on_change();
}

__attribute__((visibility("default"))) void standin_load(const char *uri,
                                                         uint64_t address)
{
    struct link_map *link = calloc(1, sizeof *link);
    char *name = strdup(uri);
    if (!link || !name)
        abort();
    announce(RT_ADD);
    link->l_addr = address;
    link->l_name = name;
    link->l_prev = last;
    if (last) {
        last->l_next = link;
    } else {
        _amdgpu_r_debug.r_map = link;
    }
    last = link;
    announce(RT_CONSISTENT);
}

__attribute__((visibility("default"))) void standin_unload(void)
{
    struct link_map *link = _amdgpu_r_debug.r_map;
    if (!link)
        return;
    announce(RT_DELETE);
    _amdgpu_r_debug.r_map = link->l_next;
    if (link->l_next) {
        link->l_next->l_prev = NULL;
    } else {
        last = NULL;
    }
    announce(RT_CONSISTENT);
    free(link->l_name);
    free(link);
}
