/* SPDX-License-Identifier: MIT */
#include "config/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH_ROOM = 4096
};

struct plan {
    const struct pfdd_config *config;
    const char *path; /* of the configuration */
    FILE *out;
    pfdd_config_tell_fn tell;
    void *user;
    struct pfdd_names told; /* warnings */
};

/* A folder may be named often. */
static bool is_new(struct plan *p, const char *line)
{
    for (size_t i = 0; i < p->told.n; i++) {
        if (!strcmp(p->told.items[i], line))
            return false;
    }
    char **items = realloc(p->told.items, (p->told.n + 1) * sizeof *items);
    if (!items)
        return true;
    p->told.items = items;
    items[p->told.n] = strdup(line);
    p->told.n += items[p->told.n] != NULL;
    return true;
}

__attribute__((format(printf, 2, 3))) static void warn(struct plan *p,
                                                       const char *text, ...)
{
    char what[PATH_ROOM + 256];
    char line[2 * PATH_ROOM];
    va_list args;
    va_start(args, text);
    vsnprintf(what, sizeof what, text, args);
    va_end(args);
    snprintf(line, sizeof line, "%.1000s: warning: %s", p->path, what);
    if (is_new(p, line))
        p->tell(p->user, line);
}

/* ---- what is there ---- */

static bool may(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0;
}

/* The folder of a path, as far as nothing is to be put in for {words}. */
static void folder_of(char ret[PATH_ROOM], const char *path)
{
    snprintf(ret, PATH_ROOM, "%s", path);
    ret[strcspn(ret, "{")] = '\0';
    char *slash = strrchr(ret, '/');
    if (!slash) {
        memcpy(ret, ".", 2);
    } else {
        slash[slash == ret] = '\0';
    }
}

/* Where something will be made. */
static void check_folder(struct plan *p, const char *path)
{
    char folder[PATH_ROOM];
    struct stat st;
    folder_of(folder, path);
    if (stat(folder, &st) != 0) {
        warn(p, "%s: %s: the folder is to be made before", folder,
             strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        warn(p, "%s: no folder", folder);
    } else if (!may(folder, W_OK | X_OK)) {
        warn(p, "%s: not writable by user %u, who asks", folder,
             (unsigned)geteuid());
    }
}

/* A file that is read; is_awaited: it may come later. */
static void check_file(struct plan *p, const char *path, bool is_awaited)
{
    struct stat st;
    if (!path)
        return;
    if (stat(path, &st) != 0) {
        warn(p, "%s: %s%s", path, strerror(errno),
             is_awaited ? ": it is waited for" : "");
    } else if (!S_ISREG(st.st_mode)) {
        warn(p, "%s: not a regular file", path);
    } else if (!may(path, R_OK)) {
        warn(p, "%s: not readable by user %u, who asks", path,
             (unsigned)geteuid());
    }
}

static void check_directory(struct plan *p, const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0) {
        warn(p, "%s: %s: the daemon would not start", path, strerror(errno));
    } else if (!S_ISDIR(st.st_mode)) {
        warn(p, "%s: no folder: the daemon would not start", path);
    } else if (!may(path, R_OK | X_OK)) {
        warn(p, "%s: not readable by user %u, who asks", path,
             (unsigned)geteuid());
    }
}

/* Made if need be, in a folder that is there. */
static void check_state_dir(struct plan *p, const char *path)
{
    char inside[PATH_ROOM];
    snprintf(inside, sizeof inside, may(path, F_OK) ? "%s/queue" : "%s", path);
    check_folder(p, inside);
}

static void check_tls(struct plan *p, const struct pfdd_tls_config *tls)
{
    check_file(p, tls->certificate, false);
    check_file(p, tls->key, false);
    check_file(p, tls->authority, false);
}

static void check_address(struct plan *p, const struct pfdd_address *address,
                          const struct pfdd_access *access)
{
    if (address->is_unix)
        check_folder(p, address->path);
    check_tls(p, &access->tls);
}

/* ---- words ---- */

static void put_amount(FILE *out, uint64_t value, const uint64_t *units,
                       const char *const *names)
{
    unsigned i = 0;
    while (units[i + 1] && value >= units[i + 1] && value % units[i + 1] == 0)
        i++;
    fprintf(out, "%" PRIu64 " %s", value / units[i], names[i]);
}

static void put_size(FILE *out, uint64_t bytes)
{
    static const uint64_t units[] = { 1, 1 << 10, 1 << 20, 1 << 30, 0 };
    static const char *const names[] = { "bytes", "KiB", "MiB", "GiB" };
    put_amount(out, bytes, units, names);
}

static void put_time(FILE *out, uint64_t ms)
{
    static const uint64_t units[] = { 1, 1000, 60000, 3600000, 86400000, 0 };
    static const char *const names[] = { "ms", "s", "min", "h", "d" };
    put_amount(out, ms, units, names);
}

static void put_access(FILE *out, const struct pfdd_address *address,
                       const struct pfdd_access *access)
{
    fprintf(out, " (%" PRIu64 " at most", access->max_clients);
    if (address->is_unix)
        fprintf(out, ", mode %04o", access->mode);
    if (access->uids.n || access->gids.n) {
        fprintf(out, ", only %zu users and %zu groups", access->uids.n,
                access->gids.n);
    }
    fprintf(out, "%s)", access->tls.certificate ? ", with TLS" : "");
}

static void put_input(struct plan *p, const struct pfdd_input_config *in)
{
    FILE *out = p->out;
    fputs("input: ", out);
    switch ((enum pfdd_input_type)in->type) {
    case PFDD_INPUT_BUFFER:
        fprintf(out, "the buffer in %s is followed", in->path);
        check_file(p, in->path, true);
        break;
    case PFDD_INPUT_DIRECTORY:
        fprintf(out, "files that appear in %s are read:", in->path);
        if (in->code_objects)
            fprintf(out, " code objects %s", in->code_objects);
        if (in->dumps) {
            fprintf(out, "%s dumps and captures %s",
                    in->code_objects ? "," : "", in->dumps);
        }
        if (in->owners.n)
            fprintf(out, ", only of %zu users", in->owners.n);
        check_directory(p, in->path);
        break;
    case PFDD_INPUT_LISTEN:
        fprintf(out, "producers connect to %s", in->address_text);
        put_access(out, &in->address, &in->access);
        if (in->uris == PFDD_URIS_ALL)
            fputs(", and may name files as code objects", out);
        check_address(p, &in->address, &in->access);
        break;
    case PFDD_INPUT_CONNECT:
        fprintf(out, "captures come from %s%s", in->address_text,
                in->access.tls.certificate ? ", with TLS" : "");
        check_tls(p, &in->access.tls);
        break;
    case PFDD_INPUT_STDIN:
        fputs("a capture or a dump on standard input", out);
        break;
    }
    fputc('\n', out);
}

static void put_rotation(FILE *out, const struct pfdd_output_config *o)
{
    if (o->rotate_size) {
        fputs(", a new one each ", out);
        put_size(out, o->rotate_size);
    }
    if (o->rotate_age_ms) {
        fputs(", a new one each ", out);
        put_time(out, o->rotate_age_ms);
    }
    if (o->keep)
        fprintf(out, ", %" PRIu64 " old ones kept", o->keep);
    if (o->compress)
        fputs(", the old ones compressed", out);
}

static void put_output(struct plan *p, const struct pfdd_output_config *o)
{
    static const char *const forms[] = { "json", "text", "raw" };
    FILE *out = p->out;
    fputs("output: ", out);
    switch ((enum pfdd_output_type)o->type) {
    case PFDD_OUTPUT_STDOUT:
        fprintf(out, "%s on standard output", forms[o->form]);
        break;
    case PFDD_OUTPUT_FILE:
        fprintf(out, "%s in the file %s", forms[o->form], o->path);
        put_rotation(out, o);
        check_folder(p, o->path);
        break;
    case PFDD_OUTPUT_LISTEN:
        if (o->required) {
            fprintf(out, "one subscriber connects to %s", o->address_text);
        } else {
            fprintf(out, "subscribers connect to %s, by default for %s",
                    o->address_text, forms[o->form]);
        }
        put_access(out, &o->address, &o->access);
        check_address(p, &o->address, &o->access);
        break;
    case PFDD_OUTPUT_HTTP:
        fprintf(out, "HTTP at %s", o->address_text);
        put_access(out, &o->address, &o->access);
        check_address(p, &o->address, &o->access);
        break;
    }
    if (o->match)
        fprintf(out, ", messages that match %s", o->match);
    if (!o->findings || o->entries_only)
        fprintf(out, ", without findings%s", o->findings ? "" : " and gaps");
    fputc('\n', out);
    if (!o->required)
        return;
    fputs("  required: no line is lost to it; while it does not take them, "
          "they wait on disk, and then all sources wait\n",
          out);
    if (o->type == PFDD_OUTPUT_LISTEN) {
        fputs("  lines wait from the start on, until its subscriber "
              "acknowledges them (printfdecode follow --ack)\n",
              out);
    }
}

static void put_limits(struct plan *p, bool required)
{
    const struct pfdd_config *c = p->config;
    fputs("limits: ", p->out);
    put_size(p->out, c->memory_max);
    fputs(" of memory, of which ", p->out);
    put_size(p->out, c->ring);
    fputs(" for the latest lines; ", p->out);
    put_time(p->out, c->drain_ms);
    fputs(" to write what is left at the end", p->out);
    if (required) {
        fputs("; ", p->out);
        put_size(p->out, c->queue_max);
        fprintf(p->out, " of disk in %s", c->state_dir);
        check_state_dir(p, c->state_dir);
    }
    fprintf(p->out, "; %s sandbox\n", c->sandbox ? "in a" : "without");
}

void pfdd_plan_print(const struct pfdd_config *config, const char *path,
                     FILE *out, pfdd_config_tell_fn tell, void *user)
{
    struct plan p = { config, path, out, tell, user, { NULL, 0 } };
    bool required = false;
    fprintf(out, "ok: %zu %s, %zu %s\n", config->n_inputs,
            config->n_inputs == 1 ? "input" : "inputs", config->n_outputs,
            config->n_outputs == 1 ? "output" : "outputs");
    for (size_t i = 0; i < config->code_objects.n; i++) {
        fprintf(out, "code object: %s\n", config->code_objects.items[i]);
        check_file(&p, config->code_objects.items[i], false);
    }
    for (size_t i = 0; i < config->n_inputs; i++)
        put_input(&p, &config->inputs[i]);
    for (size_t i = 0; i < config->n_outputs; i++) {
        put_output(&p, &config->outputs[i]);
        required |= config->outputs[i].required;
    }
    if (config->n_outputs == 0)
        warn(&p, "no outputs: nobody will see a line");
    put_limits(&p, required);
    for (size_t i = 0; i < p.told.n; i++)
        free(p.told.items[i]);
    free(p.told.items);
}
