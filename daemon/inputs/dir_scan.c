/* SPDX-License-Identifier: MIT */
#include "inputs/dir_scan.h"

#include <dirent.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_budget.h"

enum {
    PIECE = 64, /* names listed in a step */
    SHARE = 16, /* memory_max / SHARE: bytes of all names */
    NODE = 64,  /* bytes of a node of the tree, and what malloc() adds */
};

struct name {
    struct name *next;
    bool is_first;
    char text[];
};

struct pfdd_dir_scan {
    struct pfdd_memory_budget *budget;
    const char *path;
    bool (*is_first)(const void *user, const char *name);
    const void *user;
    struct name *first; /* in order */
    struct name *last;
    size_t n;
    size_t n_bytes;
    void *tree;   /* the same, by name */
    DIR *dir;     /* being listed; NULL: none */
    bool is_full; /* queued names have to be taken before listing goes on */
    bool again;
};

struct pfdd_dir_scan *pfdd_dir_scan_new(
    struct pfdd_memory_budget *budget, const char *path,
    bool (*is_first)(const void *user, const char *name), const void *user)
{
    struct pfdd_dir_scan *names = calloc(1, sizeof *names);
    if (!names)
        return NULL;
    names->budget = budget;
    names->path = path;
    names->is_first = is_first;
    names->user = user;
    return names;
}

static size_t cost(const char *name)
{
    return sizeof(struct name) + strlen(name) + 1 + NODE;
}

static int compare(const void *a, const void *b)
{
    const struct name *one = a;
    const struct name *two = b;
    return strcmp(one->text, two->text);
}

static void drop_first(struct pfdd_dir_scan *names)
{
    struct name *name = names->first;
    size_t n = cost(name->text);
    tdelete(name, &names->tree, compare);
    names->first = name->next;
    if (!names->first)
        names->last = NULL;
    names->n--;
    names->n_bytes -= n;
    names->budget->inputs -= n;
    free(name);
}

void pfdd_dir_scan_free(struct pfdd_dir_scan *names)
{
    if (!names)
        return;
    while (names->first)
        drop_first(names);
    if (names->dir)
        closedir(names->dir);
    free(names);
}

/* There is always memory for one name. */
static bool has_room(const struct pfdd_dir_scan *names, size_t n)
{
    return !names->n || (names->n_bytes + n <= names->budget->max / SHARE &&
                         pfdd_memory_budget_has(names->budget, n));
}

static struct name *new_name(const struct pfdd_dir_scan *names,
                             const char *text)
{
    size_t n = strlen(text) + 1;
    struct name *name = malloc(sizeof *name + n);
    if (!name)
        return NULL;
    name->next = NULL;
    name->is_first = names->is_first(names->user, text);
    memcpy(name->text, text, n);
    return name;
}

bool pfdd_dir_scan_put(struct pfdd_dir_scan *names, const char *text)
{
    size_t n = cost(text);
    struct name *name = has_room(names, n) ? new_name(names, text) : NULL;
    void *node = name ? tsearch(name, &names->tree, compare) : NULL;
    if (!node) {
        free(name);
        return false;
    }
    if (*(struct name **)node != name) { /* it is queued already */
        free(name);
        return true;
    }
    if (names->last) {
        names->last->next = name;
    } else {
        names->first = name;
    }
    names->last = name;
    names->n++;
    names->n_bytes += n;
    names->budget->inputs += n;
    pfdd_memory_budget_note(names->budget);
    return true;
}

bool pfdd_dir_scan_list(struct pfdd_dir_scan *names)
{
    bool is_new = !names->again;
    names->again = true;
    return is_new;
}

static int compare_listed(const void *a, const void *b)
{
    const struct name *one = *(struct name *const *)a;
    const struct name *two = *(struct name *const *)b;
    return one->is_first != two->is_first ? two->is_first - one->is_first
                                          : strcmp(one->text, two->text);
}

/* Without memory for sorting, names stay as they came. */
static void sort(struct pfdd_dir_scan *names)
{
    size_t n = names->n;
    size_t n_bytes = n * sizeof(void *);
    struct name **all = n && pfdd_memory_budget_has(names->budget, n_bytes)
                            ? malloc(n_bytes)
                            : NULL;
    if (!all)
        return;
    struct name *next = names->first;
    for (size_t i = 0; i < n; i++, next = next->next)
        all[i] = next;
    qsort(all, n, sizeof(void *), compare_listed);
    for (size_t i = 0; i < n; i++)
        all[i]->next = i + 1 < n ? all[i + 1] : NULL;
    names->first = all[0];
    names->last = all[n - 1];
    free(all);
}

static void list_piece(struct pfdd_dir_scan *names)
{
    for (int i = 0; i < PIECE && !names->is_full; i++) {
        long at = telldir(names->dir);
        const struct dirent *entry = readdir(names->dir);
        if (!entry) {
            closedir(names->dir);
            names->dir = NULL;
            sort(names);
            return;
        }
        names->is_full = entry->d_type != DT_DIR && *entry->d_name != '.' &&
                         !pfdd_dir_scan_put(names, entry->d_name);
        if (names->is_full) {
            seekdir(names->dir, at);
            sort(names);
        }
    }
}

enum pfdd_dir_scan_step pfdd_dir_scan_step(struct pfdd_dir_scan *names,
                                           char ret[NAME_MAX + 1])
{
    names->is_full &= names->n > 0;
    if (!names->dir && !names->n && names->again) {
        names->again = false;
        names->dir = opendir(names->path);
    }
    if (names->dir && !names->is_full) {
        list_piece(names);
        return PFDD_DIR_SCAN_MORE;
    }
    if (!names->first)
        return PFDD_DIR_SCAN_NONE;
    memcpy(ret, names->first->text, strlen(names->first->text) + 1);
    drop_first(names);
    return PFDD_DIR_SCAN_TAKEN;
}
