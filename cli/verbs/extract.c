/* SPDX-License-Identifier: MIT */
/*
 * printfdecode extract: writes each code object of files to a file of its own.
 * Names come from hostile input: they are reduced to letters, digits and
 * "._+-", and opened relative to the folder without following links.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/strings.h>

#include "core/decode/string_loader.h"
#include "input/code_source.h"
#include "input/process_code.h"
#include "output_files.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

enum {
    NAME_LENGTH_MAX = 200 /* file systems allow 255 bytes */
};

/* A name that this run has used, and how often. */
struct used {
    char name[NAME_LENGTH_MAX + 1];
    unsigned n;
};

struct extraction {
    const struct options *options;
    const char *path; /* of the input file */
    int folder;
    void *used; /* a tree of struct used */
    uint64_t n_objects;
    uint64_t n_findings;
    bool failed;
};

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct used *)a)->name,
                  ((const struct used *)b)->name);
}

static bool is_safe(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (c && strchr("._+-", c));
}

/* Makes a safe name from the last part of the file's path and the object's path
 * inside the file. */
static void make_name(const char *path, const char *source, char *ret)
{
    const char *base = strrchr(path, '/');
    const char *from = source + (base ? base + 1 - path : 0);
    size_t n = 0;
    for (; *from && n < NAME_LENGTH_MAX; from++) {
        /* One '_' replaces any number of other characters; none at the end. */
        char c = is_safe(*from) ? *from : '_';
        if (c != '_' || (n > 0 && ret[n - 1] != '_'))
            ret[n++] = c;
    }
    while (n > 0 && ret[n - 1] == '_')
        n--;
    ret[n] = '\0';
    if (n == 0 || ret[0] == '.' || ret[0] == '-') {
        memmove(ret + 1, ret, n < NAME_LENGTH_MAX ? n + 1 : NAME_LENGTH_MAX);
        ret[0] = '_';
        ret[NAME_LENGTH_MAX] = '\0';
    }
}

/* Counts a use of the name; *ret: earlier uses. False: out of memory. */
static bool count_use(struct extraction *e, const char *name, unsigned *ret)
{
    struct used *fresh = calloc(1, sizeof *fresh);
    if (!fresh)
        return false;
    memcpy(fresh->name, name, strlen(name) + 1);
    struct used *const *found = tsearch(fresh, &e->used, compare);
    if (!found || *found != fresh)
        free(fresh);
    if (!found)
        return false;
    *ret = (*found)->n++;
    return true;
}

static const char *extension(const struct pfd_object_info *object)
{
    if (!strcmp(object->kind, "spirv"))
        return ".spv";
    if (!strcmp(object->kind, "bitcode"))
        return ".bc";
    return object->os ? ".co" : ".elf";
}

static bool write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static bool write_file(const struct extraction *e, const char *name,
                       const struct pfd_object_info *object)
{
    if (!output_file_check_at(e->options, e->folder, name))
        return false;
    if (e->options->force)
        (void)unlinkat(e->folder, name, 0);
    int fd = openat(e->folder, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool ok = fd >= 0 && write_all(fd, object->bytes, object->n);
    int why = errno;
    if (fd >= 0 && close(fd) && ok) {
        ok = false;
        why = errno;
    }
    if (ok)
        return true;
    message_error("%s/%s: %s%s", e->options->to, name, strerror(why),
                  why == EEXIST ? FORCE_HINT : "");
    return false;
}

static enum pfd_status extract_object(void *user,
                                      const struct pfd_object_info *object)
{
    struct extraction *e = user;
    char base[NAME_LENGTH_MAX + 1];
    char name[NAME_LENGTH_MAX + 32];
    const char *end = extension(object);
    unsigned n_before;
    make_name(e->path, object->source, base);
    size_t n = strlen(base);
    size_t n_end = strlen(end);
    if (n > n_end && !strcmp(base + n - n_end, end))
        base[n - n_end] = '\0';
    if (!count_use(e, base, &n_before))
        return PFD_ERR_NOMEM;
    if (n_before > 0) { /* no name contains a '~' otherwise */
        snprintf(name, sizeof name, "%s~%u%s", base, n_before + 1, end);
    } else {
        snprintf(name, sizeof name, "%s%s", base, end);
    }
    e->n_objects++;
    if (!write_file(e, name, object)) {
        e->failed = true;
        return PFD_OK;
    }
    output_printf("%s  %zu bytes  ", name, object->n);
    output_escaped(object->source, strlen(object->source));
    output_printf("\n");
    return PFD_OK;
}

static void hear(void *user, const struct pfd_finding *finding)
{
    struct extraction *e = user;
    bool note = pfd_finding_is_note(finding->kind);
    e->n_findings += !note;
    if (!note || e->options->verbose)
        message_finding(NULL, finding);
}

/* what: what there is to say if no search would find more. */
static const char *why_none(const struct extraction *e,
                            const struct code_source *code_source,
                            const char *what)
{
    bool may_search = code_source->bytes && !e->options->memory.scan &&
                      pfd_strings_search(code_source->bytes, code_source->n);
    return may_search ? "no code objects are where they belong in it, and what "
                        "looks like one is elsewhere: --scan searches all of it"
                      : what;
}

static void extract_file(struct extraction *e, const struct file *file)
{
    const char *path = file->path;
    struct code_source code_source;
    struct pfd_error err = { .text = "out of memory" };
    uint64_t before = e->n_objects;
    uint64_t n_findings = e->n_findings;
    uint64_t max = e->options->reading.max_inflated;
    enum pfd_status status =
        code_source_open(&code_source, path, max, hear, e, &err);
    e->path = path;
    code_source.searches = e->options->memory.scan;
    if (status == PFD_OK) {
        status = code_source_read(&code_source, max, extract_object, e, hear, e,
                                  &err);
    }
    /* A folder may have others as well. */
    if (status != PFD_OK ||
        (e->n_objects == before && !file->found && !file->is_split)) {
        const char *what =
            status != PFD_OK ? err.text : "no code objects are in it";
        message_error("%s: %s", path,
                      e->n_findings > n_findings || status == PFD_ERR_NOMEM
                          ? what
                          : why_none(e, &code_source, what));
        e->failed = true;
    }
    code_source_close(&code_source);
}

/* Extracts the code that a process has loaded. */
static enum pfd_status extract_loaded(
    void *user, const struct pfd_process_code_object *object)
{
    struct extraction *e = user;
    struct pfd_error err;
    e->path = object->source;
    if (!object->bytes)
        return PFD_OK;
    enum pfd_status status = pfd_objects_read(
        object->bytes, object->n, object->source,
        e->options->reading.max_inflated, extract_object, e, hear, e, &err);
    if (status != PFD_ERR_UNSUPPORTED)
        return status;
    message_error("%s: no code object", object->source);
    e->failed = true;
    return PFD_OK;
}

static int open_folder(const char *to)
{
    if (mkdir(to, 0777) && errno != EEXIST)
        return -1;
    return open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int extract_run(const struct options *options)
{
    struct extraction e = { .options = options,
                            .n_findings = options->n_findings };
    if (!options->to) {
        message_error("where to? --to FOLDER is missing");
        return EXIT_ERROR;
    }
    e.folder = open_folder(options->to);
    if (e.folder < 0) {
        message_error("%s: %s", options->to, strerror(errno));
        return EXIT_ERROR;
    }
    for (size_t i = 0; i < options->n_files; i++)
        extract_file(&e, &options->files[i]);
    if (options_have_memory(options) &&
        !process_code_each(options, extract_loaded, &e, hear, &e))
        e.failed = true;
    tdestroy(e.used, free);
    close(e.folder);
    if (e.failed || output_failed())
        return EXIT_ERROR;
    return e.n_findings > 0 ? EXIT_FINDINGS : EXIT_CLEAN;
}

static const struct option_row rows[] = {
    { "to", 0, "FOLDER", "where to write; made if missing",
      offsetof(struct options, to), option_text, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,
    &options_force,
    &options_search,
    &options_inflated,
    &options_messages,
    &options_help,
    NULL,
};

const struct verb verb_extract = {
    .name = "extract",
    .files = "FILE...",
    .help = "write the code objects in files to a folder",
    .run = extract_run,
    .groups = groups,
};
