/* SPDX-License-Identifier: MIT */
#include "writer/extras.h"

#include <stddef.h>

#include <printfdecode/device/control.h>

enum {
    DWORD = 4
};

#define PLACE(member) offsetof(struct pfd_control, member) / DWORD
#define SITE(member)  offsetof(struct pfd_site, member) / DWORD

static const struct {
    const char *name;
    unsigned at;
} places[] = {
    { "N_SITES", PLACE(n_sites) },
    { "FILTERED", PLACE(is_filtered) },
    { "THREADS", PLACE(threads) },
    { "GROUPS", PLACE(groups) },
    { "PIXELS", PLACE(pixels) },
    { "GATES", PLACE(gates) },
    { "SITES", sizeof(struct pfd_control) / DWORD },
    { "SITE", sizeof(struct pfd_site) / DWORD }, /* the size of a site */
    { "NEXT", SITE(next) },
    { "ON", SITE(is_on) },
    { "BUDGET", SITE(budget) },
    { "EVERY", SITE(every) },
    { "SEEN", SITE(seen) },
    { "WITHHELD", SITE(withheld) },
};

/* Offsets in the control block, in dwords. */
static void put_places(struct pfd_text *ret)
{
    pfd_device_guard("places", ret);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        pfd_text_printf(ret, "#define PFD_AT_%s %uu\n", places[i].name,
                        places[i].at);
    }
    pfd_text_puts(ret, "#endif\n");
}

static void put(struct pfd_text *ret, const char *name, const char *source)
{
    pfd_device_guard(name, ret);
    pfd_text_puts(ret, source);
    pfd_text_puts(ret, "#endif\n");
}

void pfd_extras_put(const struct pfd_extras *extras,
                    const struct pfd_device *device, struct pfd_text *ret)
{
    if (device->control) {
        put_places(ret);
        put(ret, "control", extras->control);
    }
    if (device->commit)
        put(ret, "commit", extras->commit);
    if (device->origin)
        put(ret, "origin", extras->origin);
}
