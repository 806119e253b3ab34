/* SPDX-License-Identifier: MIT */
#include "config/overlap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A path behind all links, as far as it is there. */
struct place {
    char path[PATH_MAX];
    struct stat st;
    bool is_there;
};

/* What the template of an output may become: a place, or all of one folder whose
 * paths begin and end so. */
struct pfdd_file_writer_path {
    const char *template; /* borrowed */
    const char *end;      /* behind the last word; NULL: there is none */
    struct place place;   /* of what is before the first word */
};

/* Beside a database. */
static const char *const ends[] = { "", "-wal", "-shm", "-journal" };

/* The name stays as it is. */
static bool put_in_folder(char ret[PATH_MAX], const char *path)
{
    char folder[PATH_MAX];
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int n = slash ? snprintf(folder, sizeof folder, "%.*s", (int)(name - path),
                             path)
                  : snprintf(folder, sizeof folder, ".");
    if (n >= (int)sizeof folder)
        return false;
    if (!realpath(folder, real)) {
        n = snprintf(ret, PATH_MAX, "%s", path);
    } else {
        n = snprintf(ret, PATH_MAX, "%s/%s", strcmp(real, "/") ? real : "",
                     name);
    }
    return n < PATH_MAX;
}

static bool find_place(struct place *ret, const char *path)
{
    ret->is_there = stat(path, &ret->st) == 0;
    return (ret->is_there && realpath(path, ret->path)) ||
           put_in_folder(ret->path, path);
}

static bool is_file(const struct place *p)
{
    return p->is_there && (S_ISREG(p->st.st_mode) || S_ISBLK(p->st.st_mode));
}

static bool is_same(const struct place *a, const struct place *b)
{
    if (a->is_there != b->is_there)
        return false;
    return a->is_there ? is_file(a) && a->st.st_dev == b->st.st_dev &&
                             a->st.st_ino == b->st.st_ino
                       : !strcmp(a->path, b->path);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text);
    return n >= strlen(end) && !strcmp(text + n - strlen(end), end);
}

/* May words of the template become this file's name? */
static bool may_become(const struct pfdd_file_writer_path *w, const char *path)
{
    size_t n = strlen(w->place.path);
    return strlen(path) >= n + strlen(w->end) &&
           !strncmp(path, w->place.path, n) && ends_with(path, w->end) &&
           !strchr(path + n, '/');
}

static bool may_write(const struct pfdd_file_writer_path *w,
                      const struct place *p)
{
    struct place beside;
    char path[PATH_MAX];
    if (w->end)
        return may_become(w, p->path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        int n = snprintf(path, sizeof path, "%s%s", w->place.path, ends[i]);
        if (n < (int)sizeof path && find_place(&beside, path) &&
            is_same(&beside, p))
            return true;
    }
    return false;
}

/* ---- what is written ---- */

static bool find_written(struct pfdd_file_writer_path *ret,
                         const char *template)
{
    char before[PATH_MAX];
    const char *word = strchr(template, '{');
    const char *last = word ? strrchr(word, '}') : NULL;
    *ret = (struct pfdd_file_writer_path){ .template = template };
    if (!last)
        return find_place(&ret->place, template);
    int n = snprintf(before, sizeof before, "%.*s", (int)(word - template),
                     template);
    ret->end = last + 1;
    return n < (int)sizeof before && put_in_folder(ret->place.path, before);
}

bool pfdd_overlap_write(void *overlap, enum pfdd_use use, const char *path)
{
    struct pfdd_overlap *o = overlap;
    if (use != PFDD_USE_WRITE)
        return true;
    struct pfdd_file_writer_path *more =
        realloc(o->written, (o->n + 1) * sizeof *more);
    if (more)
        o->written = more;
    if (!more || !find_written(&more[o->n], path)) {
        snprintf(o->why, sizeof o->why, "%s: '%.128s'",
                 more ? "too long a path" : "out of memory", path);
        return false;
    }
    for (size_t i = 0; i < o->n; i++) {
        if (!more[i].end && !more[o->n].end &&
            may_write(&more[i], &more[o->n].place)) {
            snprintf(o->why, sizeof o->why, "two outputs would write '%.128s'",
                     path);
            return false;
        }
    }
    o->n++;
    return true;
}

/* ---- what is not ---- */

static bool look_at_file(struct pfdd_overlap *o, const char *path,
                         const char *what)
{
    struct place p;
    if (!find_place(&p, path))
        return true;
    for (size_t i = 0; i < o->n; i++) {
        if (may_write(&o->written[i], &p)) {
            snprintf(o->why, sizeof o->why,
                     "an output to '%.80s' would write over '%.80s', which %s",
                     o->written[i].template, path, what);
            return false;
        }
    }
    return true;
}

/* Nothing is written beneath it. */
static bool look_at_folder(struct pfdd_overlap *o, const char *path)
{
    struct place p;
    if (!find_place(&p, path))
        return true;
    size_t n = strlen(p.path);
    for (size_t i = 0; i < o->n; i++) {
        const char *written = o->written[i].place.path;
        if (!strncmp(written, p.path, n) && written[n] == '/') {
            snprintf(o->why, sizeof o->why,
                     "an output to '%.80s' would write into '%.80s', which the "
                     "daemon keeps for itself",
                     o->written[i].template, path);
            return false;
        }
    }
    return true;
}

static bool look_at_state(struct pfdd_overlap *o, const char *dir)
{
    static const char *const names[] = { "checkpoint", "checkpoint.part",
                                         "lock",       "edge",
                                         "edges",      "edges.part" };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (n < (int)sizeof path &&
            !look_at_file(o, path, "the daemon keeps for itself"))
            return false;
    }
    int n = snprintf(path, sizeof path, "%s/queue", dir);
    return n >= (int)sizeof path || look_at_folder(o, path);
}

bool pfdd_overlap_look(void *overlap, enum pfdd_use use, const char *path)
{
    if (use == PFDD_USE_READ || use == PFDD_USE_AWAIT)
        return look_at_file(overlap, path, "is read");
    return use != PFDD_USE_KEEP || look_at_state(overlap, path);
}

void pfdd_overlap_deinit(struct pfdd_overlap *overlap)
{
    free(overlap->written);
    *overlap = (struct pfdd_overlap){ 0 };
}
