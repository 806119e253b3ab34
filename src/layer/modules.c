/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "left_out.h"
#include "log.h"
#include "module_scan.h"
#include "settings.h"

static void log_outputs(struct device *d, const struct scan *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct told *o = &s->outputs[i].told;
        bool is_known = false;
        for (size_t k = 0; k < d->validation.n_output_bindings && !is_known;
             k++) {
            is_known = d->validation.output_bindings[k].set == o->set &&
                       d->validation.output_bindings[k].binding == o->binding;
        }
        if (!is_known && d->validation.n_output_bindings < TOLD_MAX)
            d->validation.output_bindings[d->validation.n_output_bindings++] =
                *o;
    }
    d->validation.is_checked |= s->is_checked;
    if (s->is_changed)
        d->is_instrumented = true;
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

/* May validation later make a pipeline's own copy of the module, which looks
 * for errors and has lost its line numbers? */
static bool may_have_twin(const struct device *d, const struct scan *s,
                          VkShaderModule handle)
{
    const struct settings *settings = settings_get();
    return d->is_validated && handle && !s->is_changed &&
           settings->takes_gpuav && settings->modules == MODULES_PRINTING;
}

static void free_module(struct module *m)
{
    free(m->name);
    free(m);
}

/* Frees originals, which may never be needed, to keep n bytes within the
 * limit. */
static bool make_room(struct device *d, size_t n)
{
    size_t max = settings_get()->n_modules;
    while (n > max - d->modules.n_bytes && d->modules.originals) {
        struct module *m = d->modules.originals;
        d->modules.originals = m->next;
        d->modules.n_bytes -= m->n;
        free_module(m);
    }
    return n <= max - d->modules.n_bytes;
}

/* NULL: it cannot be kept, which was logged. */
static struct module *module_new(struct device *d, VkShaderModule handle,
                                 const void *bytes, size_t n)
{
    if (!make_room(d, n)) {
        log_once(TELL_MODULES_MAX,
                 "modules of more than %zu bytes (module_bytes): what the "
                 "others print cannot be read",
                 settings_get()->n_modules);
        return NULL;
    }
    struct module *m = malloc(sizeof *m + n);
    if (!m) {
        log_once(TELL_MEMORY, "out of memory: something is missing");
        return NULL;
    }
    m->next = NULL;
    m->handle = handle;
    m->name = NULL;
    m->number = d->modules.n;
    m->n = n;
    memcpy(m->bytes, bytes, n);
    d->modules.n_bytes += n;
    return m;
}

static void append(struct device *d, struct module *m)
{
    *d->modules.last = m;
    d->modules.last = &m->next;
}

/* Queues the originals from which this module may have been instrumented. */
static void append_originals(struct device *d, uint64_t likeness)
{
    for (struct module **at = &d->modules.originals; *at;) {
        struct module *m = *at;
        if (m->likeness == likeness) {
            *at = m->next;
            m->next = NULL;
            append(d, m);
        } else {
            at = &m->next;
        }
    }
}

static void forget_original(struct device *d, VkShaderModule handle)
{
    struct module **at = &d->modules.originals;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    if (*at) {
        struct module *m = *at;
        *at = m->next;
        d->modules.n_bytes -= m->n;
        free_module(m);
    }
}

/* Is it the program's own module, or the only one there is? An instrumented
 * module was seen before, unless it is the pipeline's own. */
static bool is_original(const struct device *d, const struct scan *s,
                        VkShaderModule handle)
{
    return d->is_validated && s->prints && (!s->is_changed || !handle) &&
           settings_get()->takes_debugprintf;
}

void modules_add(struct device *d, VkShaderModule handle, const uint32_t *words,
                 size_t n)
{
    struct scan s = { 0 };
    scan_module(&s, words, n / 4);
    log_outputs(d, &s);
    if (is_original(d, &s, handle))
        left_out_log(d->instance->validation, d->modules.n, words, n);
    if (s.is_checked)
        append_originals(d, s.likeness);
    bool wanted = is_wanted(&s);
    struct module *m = wanted || may_have_twin(d, &s, handle)
                           ? module_new(d, handle, words, n)
                           : NULL;
    if (m && wanted) {
        append(d, m);
    } else if (m) {
        m->likeness = s.likeness;
        m->next = d->modules.originals;
        d->modules.originals = m;
    }
    d->modules.n++;
}

/* The name of a module; a destroyed one keeps its own copy. */
static const char *name_of(const struct device *d, const struct module *m)
{
    return m->handle ? handle_map_find(&d->names.modules, KEY(m->handle))
                     : m->name;
}

void modules_name(struct device *d, VkShaderModule handle)
{
    if (handle)
        forget_original(d, handle);
    for (struct module *m = d->modules.first; handle && m; m = m->next) {
        if (m->handle != handle)
            continue;
        const char *name = name_of(d, m);
        m->name = name ? strdup(name) : NULL;
        m->handle = VK_NULL_HANDLE;
    }
}

void modules_send(struct device *d)
{
    while (d->modules.first) {
        struct module *m = d->modules.first;
        const char *given = name_of(d, m);
        char name[NAME_MAX_BYTES + 32];
        snprintf(name, sizeof name, "module %llu%s%s",
                 (unsigned long long)m->number, given ? " " : "",
                 given ? given : "");
        frame_output_code_object(d->frame_output, name, m->bytes, m->n);
        d->modules.first = m->next;
        free_module(m);
    }
    d->modules.last = &d->modules.first;
}

static void free_list(struct module *m)
{
    while (m) {
        struct module *next = m->next;
        free_module(m);
        m = next;
    }
}

void modules_free(struct device *d)
{
    free_list(d->modules.first);
    free_list(d->modules.originals);
    d->modules.first = NULL;
    d->modules.originals = NULL;
    d->modules.last = &d->modules.first;
}
