/* SPDX-License-Identifier: MIT */
#include "writer/device.h"

#include <stddef.h>
#include <string.h>

#include <printfdecode/device/control.h>

enum {
    HEADER_DWORDS = 2,
    ARGUMENTS_NAMED = 99 /* later arguments share a name for each conversion */
};

static const char classes[] = "ufqdp";

static const uint8_t sizes[PFD_DEVICE_N_SIZES] = { 1, 2, 3, 4, 8, 16 };

unsigned pfd_device_size_index(unsigned n)
{
    unsigned i = 0;
    while (i < PFD_DEVICE_N_SIZES - 1 && sizes[i] < n)
        i++;
    return i;
}

unsigned pfd_device_size(unsigned index)
{
    return sizes[index];
}

void pfd_device_taker(const struct pfd_argument_shape_argument *argument,
                      struct pfd_text *ret)
{
    pfd_text_printf(ret, "pfd_%c", classes[argument->class]);
    if (argument->n > 1)
        pfd_text_printf(ret, "%u", argument->n);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void pfd_device_argument(const struct pfd_argument_shape_argument *argument,
                         size_t i, const char *format, struct pfd_text *ret)
{
    size_t at = argument->from + 1;
    pfd_text_printf(ret, "%c%u pfd_argument_", classes[argument->class],
                    argument->n);
    if (i < ARGUMENTS_NAMED) {
        pfd_text_printf(ret, "%zu", i + 1);
    } else {
        pfd_text_puts(ret, "behind_99");
    }
    pfd_text_puts(ret, "_of_percent_");
    if (argument->to <= argument->from) {
        pfd_text_puts(ret, "star");
        return;
    }
    while (at < argument->to && !is_letter(format[at]))
        at++;
    for (; at < argument->to; at++) {
        if (is_letter(format[at]) || (format[at] >= '0' && format[at] <= '9'))
            pfd_text_add(ret, format + at, 1);
    }
}

struct pfd_argument_shape_argument pfd_device_argument_read(const char *text,
                                                            const char **name)
{
    struct pfd_argument_shape_argument ret = {
        .class = (uint8_t)(strchr(classes, *text) - classes)
    };
    for (*name = text + 1; **name != ' '; ++*name)
        ret.n = (uint8_t)(10 * ret.n + (**name - '0'));
    ++*name;
    return ret;
}

void pfd_device_guard(const char *name, struct pfd_text *ret)
{
    pfd_text_printf(ret, "#ifndef PFD_HAS_%s\n#define PFD_HAS_%s\n", name,
                    name);
}

static const char prefix[] = "pfd_print";

bool pfd_device_has(const char *name, char extra)
{
    const char *at = name + sizeof prefix - 1;
    return memchr(at, extra, strcspn(at, "_")) != NULL;
}

bool pfd_device_parameter(const char **name, struct pfd_device_parameter *ret)
{
    if (!strncmp(*name, prefix, sizeof prefix - 1))
        *name += strcspn(*name + sizeof prefix - 1, "_") + sizeof prefix - 1;
    if (**name != '_')
        return false;
    *ret = (struct pfd_device_parameter){ (*name)[1] == 'q', 0 };
    for (*name += 2; **name >= '0' && **name <= '9'; ++*name)
        ret->n = ret->n * 10 + (unsigned)(**name - '0');
    ret->n += ret->n == 0;
    return true;
}

unsigned pfd_device_dwords(const char *name)
{
    struct pfd_device_parameter p;
    unsigned n = HEADER_DWORDS;
    n += pfd_device_has(name, PFD_DEVICE_ORIGIN) ? PFD_ROW_ORIGIN_DWORDS : 0;
    n += pfd_device_has(name, PFD_DEVICE_COMMIT) ? 1 : 0;
    while (pfd_device_parameter(&name, &p))
        n += p.n << p.is_wide;
    return n;
}

enum {
    DWORD = 4
};

#define PLACE(member) offsetof(struct pfd_control, member) / DWORD
#define SITE(member)  offsetof(struct pfd_site, member) / DWORD

static const struct {
    const char *name;
    unsigned at;
}

places[] = {
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
