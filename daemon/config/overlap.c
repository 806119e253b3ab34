/* SPDX-License-Identifier: MIT */
#include "config/overlap.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/own_file.h"
#include "base/path_template.h"

enum {
    LINKS_MAX = 40, /* that a path may lead through, as in the kernel */
    /* In a path: any bytes but '/', one of them, and any bytes at all. */
    ANY = 1,
    ONE = 2,
    DEEP = 3,
};

/* A file, by its path and inode; or all files whose paths fit, and the inodes
 * of those among them that have other names. */
struct pfdd_overlap_files {
    const char *told; /* borrowed: as the configuration has it */
    char *path;       /* behind all links, with ANY...; NULL: no file's */
    struct inode {
        dev_t device;
        ino_t number;
    } * inodes; /* [n] */
    size_t n;
};

/* ---- paths ---- */

/* The last component goes. */
static void go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
}

/* Puts what the link at `at` says before the rest of the path. False: too
 * long. */
static bool follow(char at[PATH_MAX], char rest[PATH_MAX])
{
    char target[PATH_MAX];
    char both[2 * PATH_MAX];
    ssize_t n = readlink(at, target, sizeof target);
    if (n <= 0 || n >= PATH_MAX)
        return false;
    int length = snprintf(both, sizeof both, "%.*s/%s", (int)n, target, rest);
    if (length >= PATH_MAX)
        return false;
    memcpy(rest, both, (size_t)length + 1);
    if (*target == '/') {
        *at = '\0';
    } else {
        go_up(at);
    }
    return true;
}

/* Appends a component. False: too long. */
static bool go_down(char at[PATH_MAX], const char *name, size_t n)
{
    size_t length = strlen(at);
    if (n == 0 || (n == 1 && *name == '.'))
        return true;
    if (n == 2 && !memcmp(name, "..", 2)) {
        go_up(at);
        return true;
    }
    return snprintf(at + length, PATH_MAX - length, "/%.*s", (int)n, name) <
           (int)(PATH_MAX - length);
}

/* The path without links, as far as it is there; a link that leads nowhere yet
 * is followed, too, as open() does. False: too long, or in a circle. */
static bool resolve(char ret[PATH_MAX], const char *path)
{
    char rest[PATH_MAX];
    struct stat st;
    unsigned n_links = 0;
    *ret = '\0';
    if (*path != '/' && !getcwd(ret, PATH_MAX))
        return false;
    if (snprintf(rest, sizeof rest, "%s", path) >= PATH_MAX)
        return false;
    while (*rest) {
        size_t n = strcspn(rest, "/");
        bool ok = go_down(ret, rest, n);
        memmove(rest, rest + n + (rest[n] == '/'),
                strlen(rest + n + (rest[n] == '/')) + 1);
        if (ok && *ret && lstat(ret, &st) == 0 && S_ISLNK(st.st_mode))
            ok = n_links++ < LINKS_MAX && follow(ret, rest);
        if (!ok)
            return false;
    }
    return true;
}

static bool is_pattern(const char *path)
{
    return path[strcspn(path, (const char[]){ ANY, ONE, DEEP, 0 })];
}

/* May it stand for the byte? */
static bool stands_for(char pattern, char c)
{
    return pattern == DEEP || c != '/';
}

/* No name with a dot in front fits a pattern that says nothing of it. */
static bool hides(const char *pattern, size_t i, const char *path, size_t j)
{
    return path[j] == '.' && pattern[i] != DEEP && i > 0 && j > 0 &&
           pattern[i - 1] == '/' && path[j - 1] == '/';
}

static bool is_same_byte(const char *a, size_t i, const char *b, size_t j)
{
    return a[i] == b[j] || (a[i] == ONE && b[j] != '/' && !hides(a, i, b, j)) ||
           (b[j] == ONE && a[i] != '/' && !hides(b, j, a, i));
}

/* Is there a path that fits both? */
static bool fit(const char *a, const char *b)
{
    bool rows[2][PATH_MAX + 1] = { { false } };
    size_t n_a = strlen(a);
    size_t n_b = strlen(b);
    if (n_b > PATH_MAX)
        return true; /* not known to be apart */
    for (size_t i = n_a + 1; i-- > 0;) {
        bool *now = rows[i % 2];
        const bool *next = rows[(i + 1) % 2]; /* of a without its byte i */
        for (size_t j = n_b + 1; j-- > 0;) {
            bool more_a = i < n_a;
            bool more_b = j < n_b;
            if (more_a && (a[i] == ANY || a[i] == DEEP)) {
                now[j] = !(more_b && hides(a, i, b, j)) &&
                         (next[j] ||
                          (more_b && stands_for(a[i], b[j]) && now[j + 1]));
            } else if (more_b && (b[j] == ANY || b[j] == DEEP)) {
                now[j] = !(more_a && hides(b, j, a, i)) &&
                         (now[j + 1] ||
                          (more_a && stands_for(b[j], a[i]) && next[j]));
            } else if (more_a && more_b) {
                now[j] = next[j + 1] && is_same_byte(a, i, b, j);
            } else {
                now[j] = !more_a && !more_b;
            }
        }
    }
    return rows[0][0];
}

/* ---- files ---- */

static bool are_same(const struct pfdd_overlap_files *a,
                     const struct pfdd_overlap_files *b)
{
    if (!a->path || !b->path)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        for (size_t j = 0; j < b->n; j++) {
            if (a->inodes[i].device == b->inodes[j].device &&
                a->inodes[i].number == b->inodes[j].number)
                return true;
        }
    }
    return fit(a->path, b->path);
}

static void free_files(struct pfdd_overlap_files *f)
{
    free(f->path);
    free(f->inodes);
}

/* False: out of memory. */
static bool add_inode(struct pfdd_overlap_files *f, const struct stat *st)
{
    struct inode *more = realloc(f->inodes, (f->n + 1) * sizeof *more);
    if (!more)
        return false;
    f->inodes = more;
    f->inodes[f->n++] = (struct inode){ st->st_dev, st->st_ino };
    return true;
}

/* Calls for each name of a folder that fits the pattern behind its last slash,
 * with what it is; a link is not followed. */
static bool each_there(const char *pattern,
                       bool (*call)(void *user, const char *path, int fd,
                                    const struct stat *st),
                       void *user)
{
    char path[PATH_MAX];
    struct stat st;
    bool ok = true;
    int n = (int)(strrchr(pattern, '/') - pattern);
    snprintf(path, sizeof path, "%.*s/", n, pattern);
    DIR *dir = is_pattern(path) ? NULL : opendir(path);
    const struct dirent *it = NULL;
    while (ok && dir && (it = readdir(dir))) {
        if (snprintf(path, sizeof path, "%.*s/%s", n, pattern, it->d_name) >=
                PATH_MAX ||
            !fit(pattern, path))
            continue;
        int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        ok = fd < 0 || fstat(fd, &st) != 0 || call(user, path, fd, &st);
        if (fd >= 0)
            close(fd);
    }
    if (dir)
        closedir(dir);
    return ok;
}

/* One name is told by its path; by a name that others may have made nothing is
 * written. */
static bool add_named(void *files, const char *path, int fd,
                      const struct stat *st)
{
    (void)path;
    return !S_ISREG(st->st_mode) || st->st_nlink <= 1 ||
           !pfdd_own_file_is_only_ours(fd) || add_inode(files, st);
}

/* False: too long a path, or out of memory. */
static bool find_files(struct pfdd_overlap_files *ret, const char *told,
                       const char *path)
{
    char real[PATH_MAX];
    struct stat st;
    *ret = (struct pfdd_overlap_files){ .told = told };
    bool is_there = stat(path, &st) == 0;
    if (is_there && !S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
        return true;
    if (!(is_there && realpath(path, real)) && !resolve(real, path) &&
        snprintf(real, sizeof real, "%s", path) >= PATH_MAX)
        return false;
    ret->path = strdup(real);
    return ret->path && (is_there           ? add_inode(ret, &st)
                         : is_pattern(real) ? each_there(real, add_named, ret)
                                            : true);
}

/* ---- written paths ---- */

/* False: as above. */
static bool add_written(struct pfdd_overlap *o, const char *told,
                        const char *path)
{
    struct pfdd_overlap_files *more =
        realloc(o->written, (o->n + 1) * sizeof *more);
    if (!more)
        return false;
    o->written = more;
    o->n++;
    return find_files(&more[o->n - 1], told, path);
}

struct written {
    struct pfdd_overlap *overlap;
    const char *told;
};

/* A source whose name is that of a link is written where it leads. */
static bool add_link(void *user, const char *path, int fd,
                     const struct stat *st)
{
    const struct written *w = user;
    (void)fd;
    return !S_ISLNK(st->st_mode) ||
           (st->st_uid != geteuid() && st->st_uid != 0) ||
           add_written(w->overlap, w->told, path);
}

/* Of all names that {buffer} has in a folder. */
static bool add_pattern(struct pfdd_overlap *o, const char *told,
                        const char *path)
{
    char real[PATH_MAX];
    struct written w = { o, told };
    return add_written(o, told, path) &&
           (!resolve(real, path) || each_there(real, add_link, &w));
}

/* Of folders that are there and have {buffer} in their names: they may be
 * links. */
static bool add_folders(struct pfdd_overlap *o, const char *told,
                        const char *path)
{
    char pattern[2 * PATH_MAX];
    char in_folder[2 * PATH_MAX];
    glob_t found;
    size_t n = 0;
    bool ok = true;
    const char *name = strrchr(path, '/');
    for (const char *c = path; name && c < name && n < PATH_MAX; c++) {
        if (strchr("*?[\\", *c))
            pattern[n++] = '\\';
        pattern[n++] = *c == ANY ? '*' : *c;
    }
    pattern[n] = '\0';
    if (!name || !memchr(path, ANY, (size_t)(name - path)) ||
        glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
        return true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++) {
        int length = snprintf(in_folder, sizeof in_folder, "%s%s",
                              found.gl_pathv[i], name);
        ok = length >= PATH_MAX || add_pattern(o, told, in_folder);
    }
    globfree(&found);
    return ok;
}

/* SQLite's own files are beside the database, or beside where it leads. */
static bool add_beside(struct pfdd_overlap *o, const char *told,
                       const char *path)
{
    static const char *const ends[] = { "-wal", "-shm", "-journal" };
    char real[PATH_MAX];
    char beside[PATH_MAX + 16];
    const char *const bases[] = { path, resolve(real, path) ? real : path };
    bool ok = true;
    for (size_t i = 0; ok && i < 2 * sizeof ends / sizeof *ends; i++) {
        snprintf(beside, sizeof beside, "%s%s", bases[i % 2], ends[i / 2]);
        ok = add_written(o, told, beside);
    }
    return ok;
}

static bool add_output(struct pfdd_overlap *o, const char *told,
                       bool is_database)
{
    const char any[] = { ANY, 0 };
    char *path = pfdd_path_template_fill(told, any,
                                         strstr(told, "{buffer}") ? any : NULL);
    bool ok = path && strlen(path) < PATH_MAX &&
              (is_pattern(path)
                   ? add_pattern(o, told, path) && add_folders(o, told, path)
                   : add_written(o, told, path)) &&
              (!is_database || add_beside(o, told, path));
    free(path);
    return ok;
}

bool pfdd_overlap_write(void *overlap, enum pfdd_use use, const char *path)
{
    struct pfdd_overlap *o = overlap;
    size_t n_before = o->n;
    if (use != PFDD_USE_WRITE && use != PFDD_USE_DATABASE)
        return true;
    if (!add_output(o, path, use == PFDD_USE_DATABASE)) {
        snprintf(o->why, sizeof o->why,
                 "too long a path, or out of memory: '%.128s'", path);
        return false;
    }
    for (size_t i = n_before; i < o->n; i++) {
        for (size_t j = 0; j < n_before; j++) {
            if (!are_same(&o->written[i], &o->written[j]))
                continue;
            snprintf(o->why, sizeof o->why,
                     "two outputs would write one file: '%.80s', '%.80s'",
                     o->written[j].told, path);
            return false;
        }
    }
    return true;
}

/* ---- other paths ---- */

/* path: the same with ANY... in it. */
static bool look_at(struct pfdd_overlap *o, const char *path, const char *told,
                    const char *what)
{
    struct pfdd_overlap_files files;
    bool ok = true;
    if (find_files(&files, told, path)) {
        for (size_t i = 0; ok && i < o->n; i++) {
            ok = !are_same(&o->written[i], &files);
            if (!ok) {
                snprintf(
                    o->why, sizeof o->why, "an output to '%.80s' %s '%.80s'%s",
                    o->written[i].told,
                    is_pattern(path) ? "would write into" : "would write over",
                    told, what);
            }
        }
    }
    free_files(&files);
    return ok;
}

static bool look_at_state(struct pfdd_overlap *o, const char *dir)
{
    static const char kept[] = ", which the daemon keeps for itself";
    static const char *const names[] = {
        "checkpoint", "checkpoint.part", "lock",         "edge",
        "edges",      "edges.part",      "incarnations", "incarnations.part",
        "queue/\001", "queue/\003",
    };
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (n < (int)sizeof path &&
            !look_at(o, path, is_pattern(path) ? dir : path, kept))
            return false;
    }
    return true;
}

/* names: of files in a folder, as fnmatch() takes them. Of a set in brackets
 * any byte is taken for one. */
static bool look_at_names(struct pfdd_overlap *o, const char *folder,
                          const char *names)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/", folder);
    if (n >= (int)sizeof path)
        return true;
    for (const char *c = names; *c && n < (int)sizeof path - 1; c++) {
        const char *end = *c == '[' && c[1] ? strchr(c + 2, ']') : NULL;
        c += *c == '\\' && c[1];
        path[n++] = end                          ? ONE
                    : c > names && c[-1] == '\\' ? *c
                    : *c == '*'                  ? ANY
                    : *c == '?'                  ? ONE
                                                 : *c;
        c = end ? end : c;
    }
    path[n] = '\0';
    return look_at(o, path, folder, ", which is read");
}

bool pfdd_overlap_look(void *overlap, enum pfdd_use use, const char *path)
{
    struct pfdd_overlap *o = overlap;
    if (use == PFDD_USE_WATCH)
        o->folder = path;
    if (use == PFDD_USE_READ || use == PFDD_USE_AWAIT)
        return look_at(o, path, path, ", which is read");
    if (use == PFDD_USE_NAMES)
        return !o->folder || look_at_names(o, o->folder, path);
    return use != PFDD_USE_KEEP || look_at_state(o, path);
}

void pfdd_overlap_deinit(struct pfdd_overlap *overlap)
{
    for (size_t i = 0; i < overlap->n; i++)
        free_files(&overlap->written[i]);
    free(overlap->written);
    *overlap = (struct pfdd_overlap){ 0 };
}
