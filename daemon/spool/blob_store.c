/* SPDX-License-Identifier: MIT */
#include "spool/blob_store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sha256.h"
#include "spool/manifest.h"
#include "spool/segments.h"

enum {
    BLOCK = 4096, /* bytes: what a file takes on disk is so many of these */
};

/* A file that is there, or is being written. */
struct object {
    uint8_t digest[PFDD_SHA256_BYTES]; /* first: the tree compares it */
    uint64_t n;
    unsigned refs; /* items of stocks */
};

struct stock {
    uint64_t number;
    uint64_t scope;
    bool is_open;    /* it is of this run, and may grow */
    unsigned refs;   /* of segments */
    uint64_t n_disk; /* bytes that its own file takes */
    struct pfdd_stock_list list;
    struct object **objects; /* [list.n] */
};

/* One of the list that was looked at last. */
struct seen {
    uint64_t number;
    uint64_t scope;
    uint8_t digest[PFDD_SHA256_BYTES];
};

struct use {
    uint64_t segment;
    struct stock *stock;
};

struct pfdd_kept {
    const char *dir;
    void *tree;            /* of objects */
    struct stock **stocks; /* [n_stocks] */
    size_t n_stocks;
    struct use *uses; /* [n_uses], by segment */
    size_t n_uses;
    struct seen *seen; /* [n_seen] */
    size_t n_seen;
    uint64_t changes; /* that list's */
    uint64_t next_number;
    uint64_t n_bytes; /* of disk space */
    size_t n_memory;  /* of stocks and objects */
};

/* Bytes on disk of a file of n: whole blocks, and its name takes some, too. */
static uint64_t disk_of(uint64_t n)
{
    return (n / BLOCK + 1) * BLOCK;
}

/* ---- objects ---- */

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, PFDD_SHA256_BYTES);
}

/* NULL: out of memory. *is_new: it has to be written. */
static struct object *find_object(struct pfdd_kept *kept, const uint8_t *digest,
                                  uint64_t n, bool *is_new)
{
    struct object **at = tfind(digest, &kept->tree, by_digest);
    *is_new = !at;
    if (at)
        return *at;
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    memcpy(o->digest, digest, sizeof o->digest);
    o->n = n;
    if (!tsearch(o, &kept->tree, by_digest)) {
        free(o);
        return NULL;
    }
    kept->n_bytes += disk_of(n);
    kept->n_memory += sizeof *o;
    return o;
}

static void drop_object(struct pfdd_kept *kept, struct object *o)
{
    char path[PFDD_PATH];
    if (--o->refs > 0)
        return;
    pfdd_stock_object_path(kept->dir, o->digest, "", path);
    unlink(path);
    tdelete(o, &kept->tree, by_digest);
    kept->n_bytes -= disk_of(o->n);
    kept->n_memory -= sizeof *o;
    free(o);
}

/* ---- stocks ---- */

static size_t item_memory(const struct pfdd_stock_item *item)
{
    return sizeof *item + sizeof(struct object *) + strlen(item->name) + 1;
}

/* Takes the item over. False: out of memory. */
static bool add_item(struct pfdd_kept *kept, struct stock *s,
                     struct pfdd_stock_item *item, bool *is_new)
{
    struct object **more =
        realloc(s->objects, (s->list.n + 1) * sizeof(void *));
    struct object *o = NULL;
    if (more) {
        s->objects = more;
        o = find_object(kept, item->digest, item->n, is_new);
    }
    if (!o || !pfdd_stock_add(&s->list, item)) {
        if (o && *is_new) {
            o->refs = 1;
            drop_object(kept, o);
        }
        free(item->name);
        return false;
    }
    o->refs++;
    s->objects[s->list.n - 1] = o;
    kept->n_memory += item_memory(item);
    return true;
}

/* The last one. */
static void drop_item(struct pfdd_kept *kept, struct stock *s)
{
    struct pfdd_stock_item *item = &s->list.items[--s->list.n];
    kept->n_memory -= item_memory(item);
    free(item->name);
    drop_object(kept, s->objects[s->list.n]);
}

static struct stock *find_stock(const struct pfdd_kept *kept, uint64_t number)
{
    for (size_t i = 0; i < kept->n_stocks; i++) {
        if (kept->stocks[i]->number == number)
            return kept->stocks[i];
    }
    return NULL;
}

static struct stock *new_stock(struct pfdd_kept *kept, uint64_t number,
                               uint64_t scope)
{
    struct stock **more =
        realloc(kept->stocks, (kept->n_stocks + 1) * sizeof(void *));
    struct stock *s = calloc(1, sizeof *s);
    if (more)
        kept->stocks = more;
    if (!more || !s) {
        free(s);
        return NULL;
    }
    s->number = number;
    s->scope = scope;
    if (number >= kept->next_number)
        kept->next_number = number + 1;
    kept->stocks[kept->n_stocks++] = s;
    kept->n_memory += sizeof *s + sizeof(void *);
    return s;
}

/* Its file has n bytes. */
static void charge_file(struct pfdd_kept *kept, struct stock *s, uint64_t n)
{
    kept->n_bytes += disk_of(n) - s->n_disk;
    s->n_disk = disk_of(n);
}

static void free_stock(struct pfdd_kept *kept, struct stock *s, bool with_file)
{
    char path[PFDD_PATH];
    size_t i = 0;
    pfdd_stock_path(kept->dir, s->number, "", path);
    if (with_file)
        unlink(path);
    kept->n_bytes -= s->n_disk;
    while (s->list.n && with_file)
        drop_item(kept, s);
    pfdd_stock_list_deinit(&s->list);
    while (kept->stocks[i] != s)
        i++;
    kept->stocks[i] = kept->stocks[--kept->n_stocks];
    kept->n_memory -= sizeof *s + sizeof(void *);
    free(s->objects);
    free(s);
}

/* ---- the start ---- */

static void make_dir(const char *dir, const char *under)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s%s", dir, under);
    if (mkdir(path, 0750) != 0 && errno != EEXIST)
        pfdd_log(PFDD_WARNING, "%s: %s", path, strerror(errno));
}

/* Whatever is not there, or damaged, is said when somebody needs it. */
static void read_stock(struct pfdd_kept *kept, uint64_t number)
{
    struct pfdd_stock_list list = { 0 };
    char why[PFDD_STOCK_WHY];
    bool is_new = false;
    if (!pfdd_stock_read(kept->dir, number, &list, why))
        return;
    struct stock *s = new_stock(kept, number, 0);
    if (s)
        charge_file(kept, s, list.n_file);
    for (size_t i = 0; i < list.n; i++) {
        if (s) {
            (void)add_item(kept, s, &list.items[i], &is_new);
        } else {
            free(list.items[i].name);
        }
    }
    free(list.items);
}

static void each_file(struct pfdd_kept *kept, const char *under,
                      void (*fn)(struct pfdd_kept *kept, const char *name))
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s%s", kept->dir, under);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        if (e->d_name[0] != '.')
            fn(kept, e->d_name);
    }
    closedir(folder);
}

static void on_stock(struct pfdd_kept *kept, const char *name)
{
    uint64_t number = pfdd_stock_number(name);
    if (number)
        read_stock(kept, number);
}

struct pfdd_kept *pfdd_kept_open(const char *dir)
{
    struct pfdd_kept *kept = calloc(1, sizeof *kept);
    if (!kept)
        return NULL;
    kept->dir = dir;
    kept->next_number = 1;
    make_dir(dir, PFDD_STOCK_OBJECTS);
    make_dir(dir, PFDD_STOCK_LISTS);
    each_file(kept, PFDD_STOCK_LISTS, on_stock);
    return kept;
}

void pfdd_kept_free(struct pfdd_kept *kept)
{
    if (!kept)
        return;
    while (kept->n_stocks)
        free_stock(kept, kept->stocks[0], false);
    tdestroy(kept->tree, free);
    free(kept->stocks);
    free(kept->uses);
    free(kept->seen);
    free(kept);
}

/* ---- who speaks of what ---- */

static bool use(struct pfdd_kept *kept, uint64_t segment, struct stock *s)
{
    for (size_t i = kept->n_uses; i > 0; i--) {
        if (kept->uses[i - 1].segment != segment)
            break;
        if (kept->uses[i - 1].stock == s)
            return true;
    }
    struct use *more = realloc(kept->uses, (kept->n_uses + 1) * sizeof *more);
    if (!more)
        return false;
    kept->uses = more;
    more[kept->n_uses++] = (struct use){ segment, s };
    s->refs++;
    return true;
}

void pfdd_kept_use(struct pfdd_kept *kept, uint64_t segment, uint64_t stock)
{
    struct stock *s = stock ? find_stock(kept, stock) : NULL;
    if (s)
        use(kept, segment, s);
}

void pfdd_kept_release(struct pfdd_kept *kept, uint64_t segment)
{
    size_t n = 0;
    for (size_t i = 0; i < kept->n_uses; i++) {
        struct use u = kept->uses[i];
        if (u.segment != segment) {
            kept->uses[n++] = u;
        } else if (--u.stock->refs == 0) {
            free_stock(kept, u.stock, true);
        }
    }
    kept->n_uses = n;
}

/* Halves, and what no stock speaks of. */
static void on_object(struct pfdd_kept *kept, const char *name)
{
    char path[PFDD_PATH];
    uint8_t digest[PFDD_SHA256_BYTES];
    if (pfdd_stock_digest(name, digest) &&
        tfind(digest, &kept->tree, by_digest))
        return;
    snprintf(path, sizeof path, "%.200s%s/%.200s", kept->dir,
             PFDD_STOCK_OBJECTS, name);
    unlink(path);
}

static void on_other(struct pfdd_kept *kept, const char *name)
{
    char path[PFDD_PATH];
    uint64_t number = pfdd_stock_number(name);
    if (number && find_stock(kept, number))
        return;
    snprintf(path, sizeof path, "%.200s%s/%.200s", kept->dir, PFDD_STOCK_LISTS,
             name);
    unlink(path);
}

void pfdd_kept_tidy(struct pfdd_kept *kept)
{
    for (size_t i = kept->n_stocks; i > 0; i--) {
        if (kept->stocks[i - 1]->refs == 0)
            free_stock(kept, kept->stocks[i - 1], true);
    }
    each_file(kept, PFDD_STOCK_OBJECTS, on_object);
    each_file(kept, PFDD_STOCK_LISTS, on_other);
}

/* ---- what there is ---- */

/* Where the last list has an object, from i on; both are in the order in which
 * things came. */
static size_t find_seen(const struct pfdd_kept *kept, size_t i, uint64_t number)
{
    while (kept->seen && i < kept->n_seen && kept->seen[i].number != number)
        i++;
    return i;
}

static bool look(struct pfdd_kept *kept, const struct pfdd_kept_list *list)
{
    size_t at = 0;
    if (kept->seen && kept->n_seen == list->n && kept->changes == list->changes)
        return true;
    struct seen *seen = calloc(list->n + 1, sizeof *seen);
    if (!seen)
        return false;
    for (size_t i = 0; i < list->n; i++) {
        struct pfdd_code_object o;
        list->of->get(list->list, i, &o);
        size_t found = find_seen(kept, at, o.number);
        seen[i].number = o.number;
        seen[i].scope = o.scope;
        if (kept->seen && found < kept->n_seen) {
            memcpy(seen[i].digest, kept->seen[found].digest,
                   sizeof seen[i].digest);
            at = found + 1;
        } else {
            pfdd_sha256(o.bytes, o.n, seen[i].digest);
        }
    }
    free(kept->seen);
    kept->seen = seen;
    kept->n_seen = list->n;
    kept->changes = list->changes;
    return true;
}

/* What entries of a scope need. */
struct wanted {
    struct pfdd_code_object object;
    uint8_t digest[PFDD_SHA256_BYTES];
};

static bool has(const struct wanted *wanted, size_t n, uint64_t number)
{
    for (size_t i = 0; i < n; i++) {
        if (wanted[i].object.number == number)
            return true;
    }
    return false;
}

/* What its strings have that the list has not: the producer has gone. */
static void add_own(const struct pfdd_kept_list *list, struct wanted *ret,
                    size_t *n)
{
    size_t n_listed = *n;
    for (size_t i = 0; i < list->n_own; i++) {
        struct wanted *w = &ret[*n];
        list->of->get(list->own, i, &w->object);
        if (has(ret, n_listed, w->object.number))
            continue;
        pfdd_sha256(w->object.bytes, w->object.n, w->digest);
        (*n)++;
    }
}

/* [*n], allocated; NULL: out of memory. */
static struct wanted *find_wanted(const struct pfdd_kept *kept,
                                  const struct pfdd_kept_list *list,
                                  uint64_t scope, size_t *n)
{
    struct wanted *ret = calloc(list->n + list->n_own + 1, sizeof *ret);
    *n = 0;
    for (size_t i = 0; ret && i < list->n && i < kept->n_seen; i++) {
        const struct seen *seen = &kept->seen[i];
        if (seen->scope && seen->scope != scope)
            continue;
        struct wanted *w = &ret[(*n)++];
        list->of->get(list->list, i, &w->object);
        memcpy(w->digest, seen->digest, sizeof w->digest);
    }
    if (ret)
        add_own(list, ret, n);
    return ret;
}

static bool is_same(const struct pfdd_stock_item *item, const struct wanted *w)
{
    const struct pfdd_code_object *o = &w->object;
    return !memcmp(item->digest, w->digest, sizeof w->digest) &&
           item->is_shader == o->is_shader &&
           (!o->is_shader || item->shader == o->shader);
}

/* False: something that the stock has is not wanted any more. Otherwise what it
 * lacks is behind that. */
static bool is_prefix(const struct stock *s, const struct wanted *wanted,
                      size_t n)
{
    size_t i = 0;
    while (i < n && i < s->list.n && is_same(&s->list.items[i], &wanted[i]))
        i++;
    return i == s->list.n;
}

/* ---- writing ---- */

/* Puts what the stock lacks into it, and what of it is no file yet into fresh,
 * which has a place for each that is wanted. */
static bool take_fresh(struct pfdd_kept *kept, struct stock *s,
                       const struct wanted *wanted, size_t n_wanted,
                       struct pfdd_stock_file *fresh, size_t *n)
{
    for (size_t at = s->list.n; at < n_wanted; at++) {
        const struct pfdd_code_object *o = &wanted[at].object;
        bool is_new = false;
        struct pfdd_stock_item item = { .n = o->n,
                                        .is_shader = o->is_shader,
                                        .shader = o->shader,
                                        .name = strdup(o->name) };
        memcpy(item.digest, wanted[at].digest, sizeof item.digest);
        if (!item.name || !add_item(kept, s, &item, &is_new))
            return false;
        if (is_new && *n < n_wanted) {
            fresh[(*n)++] = (struct pfdd_stock_file){ s->objects[at]->digest,
                                                      o->bytes, o->n };
        }
    }
    return true;
}

/* For the list, too, beside the one that it takes the place of. */
static bool has_space(const struct pfdd_kept *kept, uint64_t n_list,
                      uint64_t n_max)
{
    errno = kept->n_bytes + disk_of(n_list) > n_max ? EDQUOT : 0;
    return !errno;
}

/* What is fresh [n], and then the list that speaks of it. */
static bool write_stock(struct pfdd_kept *kept, struct stock *s,
                        const struct pfdd_stock_file *fresh, size_t n,
                        uint64_t n_max)
{
    char *text = pfdd_stock_text(&s->list);
    size_t n_text = text ? strlen(text) : 0;
    errno = ENOMEM;
    bool ok = text && has_space(kept, n_text, n_max) &&
              pfdd_stock_write_objects(kept->dir, fresh, n) &&
              pfdd_stock_write(kept->dir, s->number, text, n_text);
    if (ok)
        charge_file(kept, s, n_text);
    int error = errno;
    free(text);
    errno = error;
    return ok;
}

/* Nothing of it changes if it cannot be written. 0, or an errno value. */
static int extend(struct pfdd_kept *kept, struct stock *s,
                  const struct wanted *wanted, size_t n_wanted, uint64_t n_max)
{
    size_t n_before = s->list.n;
    size_t n = 0;
    struct pfdd_stock_file *fresh = calloc(n_wanted + 1, sizeof *fresh);
    errno = ENOMEM;
    bool ok = fresh && take_fresh(kept, s, wanted, n_wanted, fresh, &n);
    if (ok && (!s->n_disk || s->list.n > n_before))
        ok = write_stock(kept, s, fresh, n, n_max);
    int error = ok ? 0 : errno ? errno : EIO;
    free(fresh);
    while (!ok && s->list.n > n_before)
        drop_item(kept, s);
    return error;
}

/* ---- jobs ---- */

static struct stock *open_stock(const struct pfdd_kept *kept, uint64_t scope)
{
    for (size_t i = 0; i < kept->n_stocks; i++) {
        if (kept->stocks[i]->is_open && kept->stocks[i]->scope == scope)
            return kept->stocks[i];
    }
    return NULL;
}

/* The stock that a scope's entries have from now on; 0, or an errno value. */
static int find_stock_for(struct pfdd_kept *kept, uint64_t scope,
                          uint64_t segment, const struct wanted *wanted,
                          size_t n, uint64_t n_max, struct stock **ret)
{
    struct stock *s = open_stock(kept, scope);
    if (s && !is_prefix(s, wanted, n)) {
        s->is_open = false;
        s = NULL;
    }
    bool is_new = !s;
    s = s ? s : new_stock(kept, kept->next_number, scope);
    int error = s ? extend(kept, s, wanted, n, n_max) : ENOMEM;
    if (!error && !use(kept, segment, s))
        error = ENOMEM;
    if (error && s && is_new)
        free_stock(kept, s, true);
    *ret = s;
    return error;
}

int pfdd_kept_take(struct pfdd_kept *kept, const struct pfdd_kept_list *list,
                   uint64_t scope, uint64_t segment, struct pfdd_stock *ret)
{
    struct stock *s = NULL;
    size_t n = 0;
    *ret = (struct pfdd_stock){ 0 };
    if (!list->of || !list->of->open)
        return 0;
    struct wanted *wanted =
        look(kept, list) ? find_wanted(kept, list, scope, &n) : NULL;
    int error = wanted ? find_stock_for(kept, scope, segment, wanted, n,
                                        list->n_bytes_max, &s)
                       : ENOMEM;
    free(wanted);
    if (error)
        return error;
    s->is_open = true;
    *ret = (struct pfdd_stock){ s->number, (uint32_t)s->list.n };
    return 0;
}

static int grow(struct pfdd_kept *kept, struct stock *s,
                const struct pfdd_kept_list *list)
{
    size_t n = 0;
    struct wanted *wanted = find_wanted(kept, list, s->scope, &n);
    int error = wanted ? 0 : ENOMEM;
    if (wanted)
        s->is_open = is_prefix(s, wanted, n);
    if (wanted && s->is_open)
        error = extend(kept, s, wanted, n, list->n_bytes_max);
    free(wanted);
    return error;
}

int pfdd_kept_grow(struct pfdd_kept *kept, const struct pfdd_kept_list *list)
{
    int error = 0;
    if (!list->of || !list->of->open || !look(kept, list))
        return 0;
    for (size_t i = 0; i < kept->n_stocks && !error; i++) {
        if (kept->stocks[i]->is_open)
            error = grow(kept, kept->stocks[i], list);
    }
    return error;
}

void pfdd_kept_stock(const struct pfdd_kept *kept, uint64_t stock, uint32_t *n,
                     size_t *n_bytes)
{
    const struct stock *s = find_stock(kept, stock);
    *n_bytes = 0;
    if (!s)
        return;
    *n = (uint32_t)s->list.n;
    for (size_t i = 0; i < s->list.n; i++)
        *n_bytes += s->list.items[i].n;
}

uint64_t pfdd_kept_bytes(const struct pfdd_kept *kept)
{
    return kept->n_bytes;
}

size_t pfdd_kept_memory(const struct pfdd_kept *kept)
{
    return sizeof *kept + kept->n_memory + kept->n_uses * sizeof *kept->uses +
           kept->n_seen * sizeof *kept->seen;
}
