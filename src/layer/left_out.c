/* SPDX-License-Identifier: MIT */
#include "left_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "core/spirv/spirv.h"
#include "log.h"
#include "validation.h"

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
    uint64_t key = 0xcbf29ce484222325u;
    for (const char *at = line; *at; at++)
        key = (key ^ (unsigned char)*at) * 0x100000001b3u;
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

void left_out_log(uint32_t version, uint64_t number, const void *bytes,
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
