/* SPDX-License-Identifier: MIT */
#include "process_code.h"

#include <string.h>

#include "memory.h"
#include "object_list.h"
#include "show/messages.h"
#include "show/output.h"

/* A consumer of code objects, and their number. */
struct collection {
    pfd_process_code_fn fn;
    void *user;
    size_t n;
};

static enum pfd_status count(void *user,
                             const struct pfd_process_code_object *object)
{
    struct collection *c = user;
    c->n++;
    return c->fn(c->user, object);
}

static bool hear(struct pfd_memory *memory, enum pfd_status status,
                 const struct pfd_error *err)
{
    if (status == PFD_OK)
        return true;
    if (status != PFD_ERR_STOPPED) /* the callback printed the error */
        message_error("%s: %s", pfd_memory_name(memory), err->text);
    return false;
}

/* Passes all code objects to c. False: an error was printed. */
static bool collect(const struct options *o, struct pfd_memory *memory,
                    struct pfd_process_code *process_code, struct collection *c,
                    pfd_finding_fn tell, void *user)
{
    size_t n_lists = 0;
    struct pfd_error err;
    enum pfd_status status = pfd_process_code_read(process_code, count, c, tell,
                                                   user, &n_lists, &err);
    if (status == PFD_OK && o->memory.scan)
        status = pfd_process_code_scan(memory, count, c, &err);
    if (status == PFD_OK && !c->n) {
        message_hint("%s: %s%s", pfd_memory_name(memory),
                     n_lists ? "ROCm's runtime has loaded no code objects"
                             : "ROCm's runtime is not in it",
                     o->memory.scan
                         ? ", and none stands in memory"
                         : "; --scan searches all memory for shaders and code "
                           "objects");
    }
    return hear(memory, status, &err);
}

/* Reports a listed object whose bytes are no code object. */
static void message_unknown(const struct pfd_process_code_object *object,
                            pfd_finding_fn tell, void *user)
{
    struct pfd_finding finding = {
        .kind = PFD_FINDING_bad_list,
        .offset = PFD_NO_OFFSET,
        .index = PFD_NO_INDEX,
        .source = object->source,
        .text = "what stands there is no code object",
    };
    tell(user, &finding);
}

/* ---- as strings ---- */

/* Loads code objects as strings; those without strings are not reported. */
struct loading {
    struct inputs *inputs;
    pfd_finding_fn tell;
    void *user;
};

static void message_loading(void *user, const struct pfd_finding *finding)
{
    struct loading *l = user;
    if (finding->kind != PFD_FINDING_no_format_strings)
        l->tell(l->user, finding);
}

static enum pfd_status load(void *user,
                            const struct pfd_process_code_object *object)
{
    struct loading *l = user;
    struct pfd_error err;
    if (!object->bytes)
        return PFD_OK;
    enum pfd_status status =
        pfd_strings_load(l->inputs->strings, object->bytes, object->n,
                         object->source, message_loading, l, &err);
    if (status == PFD_ERR_UNSUPPORTED) {
        message_unknown(object, l->tell, l->user);
        return PFD_OK;
    }
    return status;
}

bool process_code_add(struct inputs *in, const struct options *o,
                      pfd_finding_fn tell, void *user)
{
    struct loading l = { .inputs = in, .tell = tell, .user = user };
    struct collection c = { .fn = load, .user = &l };
    struct pfd_error err;
    if (!hear(in->memory,
              pfd_process_code_open(in->memory, &in->process_code, &err), &err))
        return false;
    return collect(o, in->memory, in->process_code, &c, tell, user);
}

bool process_code_renew(struct inputs *in, pfd_finding_fn tell, void *user)
{
    struct loading l = { .inputs = in, .tell = tell, .user = user };
    struct collection c = { .fn = load, .user = &l };
    if (!in->process_code || !pfd_process_code_changed(in->process_code))
        return false;
    /* If the process has ended, the reader of its buffer reports it. */
    pfd_process_code_read(in->process_code, count, &c, tell, user, NULL, NULL);
    return c.n > 0;
}

bool process_code_again(const struct inputs *in, const struct options *o,
                        pfd_process_code_fn fn, void *user)
{
    struct pfd_process_code *process_code = NULL;
    struct collection c = { .fn = fn, .user = user };
    struct pfd_error err;
    bool ok =
        hear(in->memory, pfd_process_code_open(in->memory, &process_code, &err),
             &err) &&
        collect(o, in->memory, process_code, &c, NULL, NULL);
    pfd_process_code_close(process_code);
    return ok;
}

/* ---- as a list ---- */

bool process_code_each(const struct options *o, pfd_process_code_fn fn,
                       void *user, pfd_finding_fn tell, void *tell_user)
{
    struct inputs in = { 0 };
    struct collection c = { .fn = fn, .user = user };
    struct pfd_error err;
    bool ok =
        memory_open(&in, o, tell, tell_user) &&
        hear(in.memory,
             pfd_process_code_open(in.memory, &in.process_code, &err), &err) &&
        collect(o, in.memory, in.process_code, &c, tell, tell_user);
    pfd_process_code_close(in.process_code);
    memory_close(&in);
    return ok;
}

struct listing {
    const struct options *o;
    bool json;
    uint64_t n_findings;
};

static void message_listing(void *user, const struct pfd_finding *finding)
{
    struct listing *l = user;
    bool note = pfd_finding_is_note(finding->kind);
    l->n_findings += !note;
    if (note && !l->o->verbose)
        return;
    if (l->json) {
        output_finding(NULL, finding);
    } else {
        message_finding(NULL, finding);
    }
}

static enum pfd_status list(void *user,
                            const struct pfd_process_code_object *object)
{
    struct listing *l = user;
    struct pfd_error err;
    enum pfd_status status =
        object->bytes
            ? object_list_print_loaded(object, l->o->reading.max_inflated,
                                       l->json, message_listing, l, &err)
            : PFD_END;
    if (status == PFD_ERR_UNSUPPORTED)
        message_unknown(object, message_listing, l);
    if ((status == PFD_ERR_UNSUPPORTED || status == PFD_END) && !l->json)
        object_list_print_unknown(object);
    return status == PFD_ERR_UNSUPPORTED || status == PFD_END ? PFD_OK : status;
}

int process_code_run(const struct options *o)
{
    struct listing l = {
        .o = o,
        .json = o->output && !strcmp(o->output, "json"),
    };
    bool ok =
        process_code_each(o, list, &l, message_listing, &l) && !output_failed();
    return !ok ? EXIT_ERROR : l.n_findings ? EXIT_FINDINGS : EXIT_CLEAN;
}
