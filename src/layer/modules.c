/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings.h"
#include "tell.h"

enum {
    MAGIC = 0x07230203,
    HEADER = 5,
    OP_NAME = 5,
    OP_EXT_INST_IMPORT = 11,
    OP_FUNCTION = 54,
    OP_DECORATE = 71,
    DECORATION_BINDING = 33,
    DECORATION_SET = 34,
    OUTPUTS_MAX = 8,
};

/* A buffer that instrumentation has put into a module. */
struct output {
    uint32_t id;
    uint32_t set;
    uint32_t binding;
    enum contents contents;
};

struct scan {
    bool prints;
    bool is_changed; /* by instrumentation */
    struct output outputs[OUTPUTS_MAX];
    size_t n;
};

/* ---- what a module says ---- */

/* A literal of [n] words begins with, or is, this text. */
static bool begins(const uint32_t *words, size_t n, const char *text)
{
    return strlen(text) < n * 4 &&
           !strncmp((const char *)words, text, strlen(text));
}

/* As SPIRV-Tools calls them (seen in what layer 1.3.239 hands down). */
static void take_name(struct scan *s, const uint32_t *w, size_t n)
{
    static const struct {
        const char *name;
        enum contents contents;
    } names[] = {
        { "inst_printf_output_buffer", CONTENTS_DEBUGPRINTF },
        { "inst_bindless_output_buffer", CONTENTS_GPUAV },
        { "inst_buff_addr_output_buffer", CONTENTS_GPUAV },
    };
    s->is_changed |= begins(w + 2, n - 2, "inst_");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (s->n < OUTPUTS_MAX && begins(w + 2, n - 2, names[i].name)) {
            s->outputs[s->n++] = (struct output){ w[1], UINT32_MAX, UINT32_MAX,
                                                  names[i].contents };
        }
    }
}

static void take_decoration(struct scan *s, const uint32_t *w)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->outputs[i].id != w[1])
            continue;
        if (w[2] == DECORATION_SET)
            s->outputs[i].set = w[3];
        if (w[2] == DECORATION_BINDING)
            s->outputs[i].binding = w[3];
    }
}

static void scan_words(struct scan *s, const uint32_t *words, size_t n_words)
{
    if (n_words < HEADER || words[0] != MAGIC)
        return;
    for (size_t at = HEADER; at < n_words;) {
        const uint32_t *w = words + at;
        uint32_t n = w[0] >> 16;
        uint32_t op = w[0] & 0xffff;
        if (n == 0 || n > n_words - at || op == OP_FUNCTION)
            return;
        if (op == OP_NAME && n > 2)
            take_name(s, w, n);
        if (op == OP_EXT_INST_IMPORT && n > 2)
            s->prints |= begins(w + 2, n - 2, "NonSemantic.DebugPrintf");
        if (op == OP_DECORATE && n == 4)
            take_decoration(s, w);
        at += n;
    }
}

static void tell_outputs(struct device *d, const struct scan *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct output *o = &s->outputs[i];
        bool is_known = o->set == UINT32_MAX || o->binding == UINT32_MAX;
        for (size_t k = 0; k < d->n_told && !is_known; k++) {
            is_known =
                d->told[k].set == o->set && d->told[k].binding == o->binding;
        }
        if (!is_known && d->n_told < TOLD_MAX) {
            d->told[d->n_told++] =
                (struct told){ o->set, o->binding, o->contents };
        }
    }
}

/* ---- copies ---- */

static bool is_wanted(const struct scan *s)
{
    switch (settings_get()->modules) {
    case MODULES_ALL:
        return true;
    case MODULES_NONE:
        return false;
    case MODULES_PRINTING:
        break;
    }
    return s->prints || s->is_changed;
}

static void keep(struct device *d, VkShaderModule handle, const void *bytes,
                 size_t n)
{
    if (n > settings_get()->n_modules - d->n_module_bytes) {
        tell_once(TELL_MODULES_MAX,
                  "modules of more than %zu bytes (module_bytes): what the "
                  "others print cannot be read",
                  settings_get()->n_modules);
        return;
    }
    struct module *m = malloc(sizeof *m + n);
    if (!m) {
        tell_once(TELL_MEMORY, "out of memory: something is missing");
        return;
    }
    m->next = NULL;
    m->handle = handle;
    m->name = NULL;
    m->number = d->n_modules;
    m->n = n;
    memcpy(m->bytes, bytes, n);
    d->n_module_bytes += n;
    *d->last_module = m;
    d->last_module = &m->next;
}

void modules_add(struct device *d, VkShaderModule handle, const uint32_t *words,
                 size_t n)
{
    struct scan s = { 0 };
    scan_words(&s, words, n / 4);
    tell_outputs(d, &s);
    if (is_wanted(&s))
        keep(d, handle, words, n);
    d->n_modules++;
}

/* The name of a module that lives; one that does not has its own. */
static const char *name_of(const struct device *d, const struct module *m)
{
    return m->handle ? table_find(&d->module_names, KEY(m->handle)) : m->name;
}

void modules_name(struct device *d, VkShaderModule handle)
{
    for (struct module *m = d->modules; handle && m; m = m->next) {
        if (m->handle != handle)
            continue;
        const char *name = name_of(d, m);
        m->name = name ? strdup(name) : NULL;
        m->handle = VK_NULL_HANDLE;
    }
}

static void free_module(struct module *m)
{
    free(m->name);
    free(m);
}

void modules_give(struct device *d)
{
    while (d->modules) {
        struct module *m = d->modules;
        const char *given = name_of(d, m);
        char name[NAME_MAX_BYTES + 32];
        snprintf(name, sizeof name, "module %llu%s%s",
                 (unsigned long long)m->number, given ? " " : "",
                 given ? given : "");
        outlet_code_object(d->outlet, name, m->bytes, m->n);
        d->modules = m->next;
        free_module(m);
    }
    d->last_module = &d->modules;
}

void modules_free(struct device *d)
{
    while (d->modules) {
        struct module *m = d->modules;
        d->modules = m->next;
        free_module(m);
    }
    d->last_module = &d->modules;
}
