/* SPDX-License-Identifier: MIT */
#include "modules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "core/base/fnv.h"
#include "core/spirv/spirv.h"
#include "device.h"
#include "log.h"
#include "module_scan.h"
#include "settings.h"
#include "validation.h"

/*
 * debugPrintf calls that validation leaves out because it rejects their format
 * strings: they never write a record. Logs each of them.
 */

enum {
    SAID_MAX = 4096,  /* limit of logged calls */
    TEXT_BYTES = 256, /* of a format string, or a file's name */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct table
    logged; /* calls that were logged, by the hash of the line */

/* ---- words ---- */

/* Escapes a text to one line; a long text is cut. */
static const char *line_of(char ret[4 * TEXT_BYTES + 1], const char *text,
                           size_t n)
{
    size_t k = 0;
    for (size_t i = 0; i < n && i < TEXT_BYTES; i++) {
        if (text[i] == '\n' || text[i] == '\t') {
            ret[k++] = '\\';
            ret[k++] = text[i] == '\n' ? 'n' : 't';
        } else {
            k += pfd_escape_for_terminal(ret + k, text + i, 1);
        }
    }
    ret[k] = '\0';
    return ret;
}

/* True: the line was not logged before. */
static bool is_new(const char *line)
{
    uint64_t key = pfd_fnv1a(PFD_FNV_START, line, strlen(line));
    pthread_mutex_lock(&lock);
    bool ret = !handle_map_find(&logged, key | 1) && logged.n < SAID_MAX &&
               handle_map_put(&logged, key | 1, &logged);
    bool is_full = logged.n == SAID_MAX;
    pthread_mutex_unlock(&lock);
    if (is_full) {
        log_once(TELL_LEFT_OUT,
                 "validation leaves out more than %d calls: the others are "
                 "not told",
                 SAID_MAX);
    }
    return ret;
}

/* ---- calls ---- */

/* The reason why validation leaves a call out. */
struct reason {
    bool is_left_out;
    char text[TEXT_BYTES];
};

static void take_remark(void *user, enum pfd_verdict verdict, const char *text)
{
    static const char subject[] = "the layer ";
    struct reason *reason = user;
    if (verdict != PFD_VERDICT_SILENT || reason->is_left_out)
        return;
    bool is_its = !strncmp(text, subject, sizeof subject - 1);
    reason->is_left_out = true;
    snprintf(reason->text, sizeof reason->text, "%s%s", is_its ? "it " : "",
             is_its ? text + sizeof subject - 1 : text);
}

/* Does it have a conversion with the letter p? */
static bool has_pointer(const struct pfd_spirv_call *call)
{
    const char *at = call->text;
    const char *end = at ? at + call->n_text : at;
    while ((at = at < end ? memchr(at, '%', (size_t)(end - at)) : NULL)) {
        at++;
        while (at < end && *at && strchr("0123456789.*lv", *at))
            at++;
        if (at < end && *at == 'p')
            return true;
        at += at < end;
    }
    return false;
}

static void log_call(uint32_t version, uint64_t number,
                     const struct pfd_spirv_call *call, const char *reason)
{
    char file[4 * TEXT_BYTES + 1];
    char text[4 * TEXT_BYTES + 1];
    char line[sizeof file + sizeof text + TEXT_BYTES + 128];
    char place[sizeof file + 32];
    const struct pfd_spirv_place *p = &call->place;
    if (p->file) {
        snprintf(place, sizeof place, "%s:%u",
                 line_of(file, p->file, p->n_file), p->line);
    } else {
        snprintf(place, sizeof place, "module %" PRIu64 ":@%u", number,
                 call->offset);
    }
    snprintf(line, sizeof line, "%s: validation %s nothing of \"%s\": %s",
             place, validation_is_known(version) ? "prints" : "may print",
             line_of(text, call->text ? call->text : "", call->n_text), reason);
    /* A module may be created again, with another number. */
    if (is_new(p->file ? line : strchr(line, ':')))
        log_line(line);
}

static void log_calls(uint32_t version, uint64_t number,
                      const struct pfd_spirv *module)
{
    struct pfd_spirv_call call;
    for (size_t i = 0; pfd_spirv_call_get(module, i, &call) == PFD_OK; i++) {
        struct reason reason = { 0 };
        pfd_spirv_check(module, i, take_remark, &reason);
        if (reason.is_left_out) {
            log_call(version, number, &call, reason.text);
        } else if (has_pointer(&call) && !validation_knows_pointers(version)) {
            log_call(version, number, &call, "it does not know %p");
        }
    }
}

/* ---- modules ---- */

/* Hides the names that instrumentation added: without them the module counts as
 * not instrumented, and its remaining calls are the ones that were left out. */
static void hide_names(uint32_t *words, size_t n)
{
    static const char prefix[] = "inst_";
    enum {
        HEADER = 5,
        OP_NAME = 5,
        OP_FUNCTION = 54
    };
    for (size_t at = HEADER; at < n;) {
        size_t k = words[at] >> 16;
        uint32_t op = words[at] & 0xffff;
        if (!k || k > n - at || op == OP_FUNCTION)
            return;
        if (op == OP_NAME && k > 3 &&
            !memcmp(words + at + 2, prefix, sizeof prefix - 1))
            memcpy(words + at + 2, "I", 1);
        at += k;
    }
}

/* Logs each call of the module, [n] bytes of SPIR-V, that this version of
 * validation leaves out, once in a process. number: the module's. Any
 * thread. */
static void left_out_log(uint32_t version, uint64_t number, const void *bytes,
                         size_t n)
{
    struct pfd_spirv *module = NULL;
    uint32_t *words = validation_checks_formats(version) ? malloc(n) : NULL;
    if (!words)
        return;
    memcpy(words, bytes, n);
    hide_names(words, n / 4);
    if (pfd_spirv_open(words, n, "module", NULL, NULL, &module, NULL) == PFD_OK)
        log_calls(version, number, module);
    pfd_spirv_free(module);
    free(words);
}

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
        if (!is_known && d->validation.n_output_bindings < TOLD_MAX) {
            d->validation.output_bindings[d->validation.n_output_bindings++] =
                *o;
        }
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

/* A stage with a module handle was seen with that. The caller holds the
 * device's lock. */
static void add_stage(struct device *d,
                      const VkPipelineShaderStageCreateInfo *stage)
{
    const VkBaseInStructure *link = stage->pNext;
    while (link && link->sType != VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO)
        link = link->pNext;
    const VkShaderModuleCreateInfo *module = (const void *)link;
    if (!stage->module && module)
        modules_add(d, VK_NULL_HANDLE, module->pCode, module->codeSize);
}

/* Before the pipelines are created: if creation fails, their strings do no
 * harm. */
static void add_stages(struct device *d, uint32_t n,
                       const VkPipelineShaderStageCreateInfo *stages)
{
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++)
        add_stage(d, &stages[i]);
    pthread_mutex_unlock(&d->lock);
}

VkResult modules_CreateComputePipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkComputePipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret)
{
    struct device *d = device_of(device);
    for (uint32_t i = 0; i < n; i++)
        add_stages(d, 1, &infos[i].stage);
    return d->next.CreateComputePipelines(device, cache, n, infos, allocator,
                                          ret);
}

VkResult modules_CreateGraphicsPipelines(
    VkDevice device, VkPipelineCache cache, uint32_t n,
    const VkGraphicsPipelineCreateInfo *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret)
{
    struct device *d = device_of(device);
    for (uint32_t i = 0; i < n; i++)
        add_stages(d, infos[i].stageCount, infos[i].pStages);
    return d->next.CreateGraphicsPipelines(device, cache, n, infos, allocator,
                                           ret);
}

VkResult modules_CreateRayTracingPipelinesKHR(
    VkDevice device, VkDeferredOperationKHR deferred, VkPipelineCache cache,
    uint32_t n, const VkRayTracingPipelineCreateInfoKHR *infos,
    const VkAllocationCallbacks *allocator, VkPipeline *ret)
{
    struct device *d = device_of(device);
    for (uint32_t i = 0; i < n; i++)
        add_stages(d, infos[i].stageCount, infos[i].pStages);
    return d->next.CreateRayTracingPipelinesKHR(device, deferred, cache, n,
                                                infos, allocator, ret);
}

/* Of a shader object as validation hands it on: unchanged, it never writes what
 * it prints. Some versions change modules only. */
static void check_shader_object(const struct device *d,
                                const VkShaderCreateInfoEXT *info)
{
    struct scan s = { 0 };
    if (!d->is_validated || !settings_get()->takes_debugprintf)
        return;
    scan_module(&s, info->pCode, info->codeSize / 4);
    if (s.prints && !s.is_changed) {
        log_once(TELL_SHADER_OBJECT,
                 "validation has left shader objects (vkCreateShadersEXT) as "
                 "they are: nothing of what they print comes. Pipelines made "
                 "of the same shaders print");
    }
}

VkResult modules_CreateShadersEXT(VkDevice device, uint32_t n,
                                  const VkShaderCreateInfoEXT *infos,
                                  const VkAllocationCallbacks *allocator,
                                  VkShaderEXT *ret)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++) {
        if (infos[i].codeType != VK_SHADER_CODE_TYPE_SPIRV_EXT)
            continue;
        check_shader_object(d, &infos[i]);
        modules_add(d, VK_NULL_HANDLE, infos[i].pCode, infos[i].codeSize);
    }
    pthread_mutex_unlock(&d->lock);
    return d->next.CreateShadersEXT(device, n, infos, allocator, ret);
}
