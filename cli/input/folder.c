/* SPDX-License-Identifier: MIT */
#include "folder.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "code_source.h"
#include "core/base/input.h"
#include "show/messages.h"
#include "show/output.h"

enum {
    HEAD = 4096, /* bytes read of each file */
    PROGRESS_AFTER_S = 1
};

/* A file or folder that was visited. */
struct met {
    dev_t device;
    ino_t number;
};

struct search {
    struct options *o;
    const char *folder;
    void *met; /* a tree of struct met */
    size_t n_looked_at;
    size_t n_found;
    time_t began;
    bool failed;
};

static int compare_met(const void *a, const void *b)
{
    const struct met *x = a;
    const struct met *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Symbolic links may lead to the same file again. */
static bool is_new(struct search *s, const struct stat *st)
{
    struct met *met = malloc(sizeof *met);
    if (met)
        *met = (struct met){ st->st_dev, st->st_ino };
    struct met *const *found = met ? tsearch(met, &s->met, compare_met) : NULL;
    s->failed |= !found;
    if (!found || *found != met)
        free(met);
    return found && *found == met;
}

static void report(const struct search *s, const char *path, int number)
{
    char text[256];
    const struct options *o = s->o;
    struct pfd_finding finding = {
        .kind = PFD_FINDING_not_read,
        .offset = PFD_NO_OFFSET,
        .index = PFD_NO_INDEX,
        .source = path,
        .text = text,
    };
    bool json = o->output && !strcmp(o->output, "json");
    snprintf(text, sizeof text,
             "%s: if it has code objects, they are missing here",
             strerror(number));
    s->o->n_findings++;
    (json ? output_finding : message_finding)(NULL, &finding);
}

static void look_at(struct search *s, const char *path)
{
    char head[HEAD];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (n < 0) {
        report(s, path, why);
    } else if (code_source_is_code(head, (size_t)n)) {
        char *copy = strdup(path);
        s->failed |= !copy;
        s->n_found++;
        if (copy)
            options_add_file(s->o, copy, ROLE_STRINGS)->found = copy;
    }
}

static void show_progress(const struct search *s)
{
    if (s->n_looked_at % 256 == 0 && time(NULL) - s->began > PROGRESS_AFTER_S &&
        isatty(STDERR_FILENO)) {
        message_progress_files(s->n_looked_at, s->n_found);
    }
}

/* Handles one entry of the folder walk. */
static void meet(struct search *s, FTS *walk, FTSENT *entry)
{
    bool again = false;
    switch (entry->fts_info) {
    case FTS_D:
        again = !is_new(s, entry->fts_statp);
        if (again)
            fts_set(walk, entry, FTS_SKIP);
        break;
    case FTS_F:
        if (!S_ISREG(entry->fts_statp->st_mode) || !is_new(s, entry->fts_statp))
            break;
        s->n_looked_at++;
        look_at(s, entry->fts_path);
        show_progress(s);
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        report(s, entry->fts_path, entry->fts_errno);
        break;
    default: /* loops, dangling links, pipes and devices */
        break;
    }
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static bool search_folder(struct options *o, const char *folder)
{
    struct search s = { .o = o, .folder = folder, .began = time(NULL) };
    char *roots[] = { (char *)(uintptr_t)folder, NULL };
    FTS *walk = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, by_name);
    FTSENT *entry;
    s.failed = !walk;
    while (!s.failed && (entry = fts_read(walk)))
        meet(&s, walk, entry);
    if (walk)
        fts_close(walk);
    tdestroy(s.met, free);
    message_progress_done();
    if (s.failed) {
        message_error("%s: %s", folder, strerror(errno));
        return false;
    }
    if (o->verbose) {
        message_hint("%s: %zu files with code objects, %zu others passed over",
                     folder, s.n_found, s.n_looked_at - s.n_found);
    }
    if (!s.n_found)
        message_error("%s: no code objects in this folder", folder);
    return s.n_found > 0;
}

static bool is_folder(const struct file *file)
{
    struct stat st;
    return (file->role == ROLE_BY_CONTENT || file->role == ROLE_STRINGS) &&
           !pfd_input_is_uri(file->path) && !stat(file->path, &st) &&
           S_ISDIR(st.st_mode);
}

bool folders_expand(struct options *o)
{
    struct file *given = o->files;
    size_t n = o->n_files;
    bool ok = true;
    o->files = NULL;
    o->n_files = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_folder(&given[i])) {
            ok = search_folder(o, given[i].path) && ok;
        } else {
            options_add_file(o, given[i].path, given[i].role);
        }
    }
    free(given);
    return ok;
}
