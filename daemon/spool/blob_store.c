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
#include "spool/spool_records.h"
#include "spool/wanted_objects.h"

enum {
    TEXT_ROOM = 256, /* bytes of an item of a manifest, without its name, */
    ESCAPED = 6,     /* and of a byte of that, at most */
    BLOCK = 4096,    /* bytes; a file takes a multiple of this on disk */
};

/* An object file that exists or is being written. */
struct object {
    uint8_t digest[PFDD_SHA256_BYTES]; /* first: the tree compares it */
    uint64_t n;
    unsigned refs; /* manifest entries that refer to it */
};

struct manifest {
    uint64_t number;
    uint64_t scope;
    bool is_open;    /* made in this run: it may grow */
    unsigned refs;   /* segments that refer to it */
    uint64_t n_disk; /* bytes of disk space of its own file */
    struct pfdd_manifest_list list;
    struct object **objects; /* [list.n] */
};

struct use {
    uint64_t segment;
    struct manifest *manifest;
};

struct pfdd_blob_store {
    const char *dir;
    void *tree;                  /* of objects, by digest */
    struct manifest **manifests; /* [n_stocks] */
    size_t n_manifests;
    struct use *uses; /* [n_uses], by segment */
    size_t n_uses;
    struct pfdd_hashed_list hashed;
    size_t n_left; /* objects that had no room when manifests grew last */
    uint64_t next_number;
    uint64_t n_bytes; /* of disk space */
    size_t n_memory;  /* of manifests and objects */
};

/* Disk space of a file of n bytes: whole blocks, and one for its name. */
static uint64_t disk_of(uint64_t n)
{
    return (n / BLOCK + 1) * BLOCK;
}

/* ---- objects ---- */

static int by_digest(const void *a, const void *b)
{
    return memcmp(a, b, PFDD_SHA256_BYTES);
}

/* NULL: out of memory. *is_new: the object has to be written. */
static struct object *find_object(struct pfdd_blob_store *blob_store,
                                  const uint8_t *digest, uint64_t n,
                                  bool *is_new)
{
    struct object **at = tfind(digest, &blob_store->tree, by_digest);
    *is_new = !at;
    if (at)
        return *at;
    struct object *o = calloc(1, sizeof *o);
    if (!o)
        return NULL;
    memcpy(o->digest, digest, sizeof o->digest);
    o->n = n;
    if (!tsearch(o, &blob_store->tree, by_digest)) {
        free(o);
        return NULL;
    }
    blob_store->n_bytes += disk_of(n);
    blob_store->n_memory += sizeof *o;
    return o;
}

static void drop_object(struct pfdd_blob_store *blob_store, struct object *o)
{
    char path[PFDD_PATH];
    if (--o->refs > 0)
        return;
    pfdd_manifest_object_path(blob_store->dir, o->digest, "", path);
    unlink(path);
    tdelete(o, &blob_store->tree, by_digest);
    blob_store->n_bytes -= disk_of(o->n);
    blob_store->n_memory -= sizeof *o;
    free(o);
}

/* ---- manifests ---- */

static size_t item_memory(const struct pfdd_manifest_item *item)
{
    return sizeof *item + sizeof(struct object *) + strlen(item->name) + 1;
}

/* Takes over the item. False: out of memory. */
static bool add_item(struct pfdd_blob_store *blob_store, struct manifest *s,
                     struct pfdd_manifest_item *item, bool *is_new)
{
    struct object **more =
        realloc(s->objects, (s->list.n + 1) * sizeof(void *));
    struct object *o = NULL;
    if (more) {
        s->objects = more;
        o = find_object(blob_store, item->digest, item->n, is_new);
    }
    if (!o || !pfdd_manifest_add(&s->list, item)) {
        if (o && *is_new) {
            o->refs = 1;
            drop_object(blob_store, o);
        }
        free(item->name);
        return false;
    }
    o->refs++;
    s->objects[s->list.n - 1] = o;
    blob_store->n_memory += item_memory(item);
    return true;
}

/* Drops the last item. */
static void drop_item(struct pfdd_blob_store *blob_store, struct manifest *s)
{
    struct pfdd_manifest_item *item = &s->list.items[--s->list.n];
    blob_store->n_memory -= item_memory(item);
    free(item->name);
    drop_object(blob_store, s->objects[s->list.n]);
}

static struct manifest *find_manifest(const struct pfdd_blob_store *blob_store,
                                      uint64_t number)
{
    for (size_t i = 0; i < blob_store->n_manifests; i++) {
        if (blob_store->manifests[i]->number == number)
            return blob_store->manifests[i];
    }
    return NULL;
}

static struct manifest *new_manifest(struct pfdd_blob_store *blob_store,
                                     uint64_t number, uint64_t scope)
{
    struct manifest **more = realloc(
        blob_store->manifests, (blob_store->n_manifests + 1) * sizeof(void *));
    struct manifest *s = calloc(1, sizeof *s);
    if (more)
        blob_store->manifests = more;
    if (!more || !s) {
        free(s);
        return NULL;
    }
    s->number = number;
    s->scope = scope;
    if (number >= blob_store->next_number)
        blob_store->next_number = number + 1;
    blob_store->manifests[blob_store->n_manifests++] = s;
    blob_store->n_memory += sizeof *s + sizeof(void *);
    return s;
}

/* Charges the manifest's file of n bytes, instead of its previous size. */
static void charge_file(struct pfdd_blob_store *blob_store, struct manifest *s,
                        uint64_t n)
{
    blob_store->n_bytes += disk_of(n) - s->n_disk;
    s->n_disk = disk_of(n);
}

static void free_manifest(struct pfdd_blob_store *blob_store,
                          struct manifest *s, bool with_file)
{
    char path[PFDD_PATH];
    size_t i = 0;
    pfdd_manifest_path(blob_store->dir, s->number, "", path);
    if (with_file)
        unlink(path);
    blob_store->n_bytes -= s->n_disk;
    while (s->list.n && with_file)
        drop_item(blob_store, s);
    pfdd_manifest_list_deinit(&s->list);
    while (blob_store->manifests[i] != s)
        i++;
    blob_store->manifests[i] = blob_store->manifests[--blob_store->n_manifests];
    blob_store->n_memory -= sizeof *s + sizeof(void *);
    free(s->objects);
    free(s);
}

/* ---- open and free ---- */

static void make_dir(const char *dir, const char *under)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s%s", dir, under);
    if (mkdir(path, 0750) != 0 && errno != EEXIST)
        pfdd_log(PFDD_WARNING, "%s: %s", path, strerror(errno));
}

/* Skips a missing or damaged manifest; the first reader that needs it logs the
 * error. */
static void read_manifest(struct pfdd_blob_store *blob_store, uint64_t number)
{
    struct pfdd_manifest_list list = { 0 };
    char why[PFDD_STATE_WHY];
    bool is_new = false;
    if (!pfdd_manifest_read(blob_store->dir, number, &list, why))
        return;
    struct manifest *s = new_manifest(blob_store, number, 0);
    if (s)
        charge_file(blob_store, s, list.n_file);
    for (size_t i = 0; i < list.n; i++) {
        if (s) {
            (void)add_item(blob_store, s, &list.items[i], &is_new);
        } else {
            free(list.items[i].name);
        }
    }
    free(list.items);
}

static void each_file(struct pfdd_blob_store *blob_store, const char *under,
                      void (*fn)(struct pfdd_blob_store *blob_store,
                                 const char *name))
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s%s", blob_store->dir, under);
    DIR *folder = opendir(path);
    if (!folder)
        return;
    for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
        if (e->d_name[0] != '.')
            fn(blob_store, e->d_name);
    }
    closedir(folder);
}

static void on_manifest(struct pfdd_blob_store *blob_store, const char *name)
{
    uint64_t number = pfdd_manifest_number(name);
    if (number)
        read_manifest(blob_store, number);
}

struct pfdd_blob_store *pfdd_blob_store_open(const char *dir)
{
    struct pfdd_blob_store *blob_store = calloc(1, sizeof *blob_store);
    if (!blob_store)
        return NULL;
    blob_store->dir = dir;
    blob_store->next_number = 1;
    make_dir(dir, PFDD_MANIFEST_OBJECTS);
    make_dir(dir, PFDD_MANIFEST_LISTS);
    each_file(blob_store, PFDD_MANIFEST_LISTS, on_manifest);
    return blob_store;
}

void pfdd_blob_store_free(struct pfdd_blob_store *blob_store)
{
    if (!blob_store)
        return;
    while (blob_store->n_manifests)
        free_manifest(blob_store, blob_store->manifests[0], false);
    tdestroy(blob_store->tree, free);
    free(blob_store->manifests);
    free(blob_store->uses);
    pfdd_hashed_list_deinit(&blob_store->hashed);
    free(blob_store);
}

/* ---- segments and their manifests ---- */

static bool use(struct pfdd_blob_store *blob_store, uint64_t segment,
                struct manifest *s)
{
    for (size_t i = blob_store->n_uses; i > 0; i--) {
        if (blob_store->uses[i - 1].segment != segment)
            break;
        if (blob_store->uses[i - 1].manifest == s)
            return true;
    }
    struct use *more =
        realloc(blob_store->uses, (blob_store->n_uses + 1) * sizeof *more);
    if (!more)
        return false;
    blob_store->uses = more;
    more[blob_store->n_uses++] = (struct use){ segment, s };
    s->refs++;
    return true;
}

void pfdd_blob_store_use(struct pfdd_blob_store *blob_store, uint64_t segment,
                         uint64_t stock)
{
    struct manifest *s = stock ? find_manifest(blob_store, stock) : NULL;
    if (s)
        use(blob_store, segment, s);
}

void pfdd_blob_store_release(struct pfdd_blob_store *blob_store,
                             uint64_t segment)
{
    size_t n = 0;
    for (size_t i = 0; i < blob_store->n_uses; i++) {
        struct use u = blob_store->uses[i];
        if (u.segment != segment) {
            blob_store->uses[n++] = u;
        } else if (--u.manifest->refs == 0) {
            free_manifest(blob_store, u.manifest, true);
        }
    }
    blob_store->n_uses = n;
}

/* Removes partial files, and objects that no manifest lists. */
static void on_object(struct pfdd_blob_store *blob_store, const char *name)
{
    char path[PFDD_PATH];
    uint8_t digest[PFDD_SHA256_BYTES];
    if (pfdd_manifest_digest(name, digest) &&
        tfind(digest, &blob_store->tree, by_digest))
        return;
    snprintf(path, sizeof path, "%.200s%s/%.200s", blob_store->dir,
             PFDD_MANIFEST_OBJECTS, name);
    unlink(path);
}

static void on_other(struct pfdd_blob_store *blob_store, const char *name)
{
    char path[PFDD_PATH];
    uint64_t number = pfdd_manifest_number(name);
    if (number && find_manifest(blob_store, number))
        return;
    snprintf(path, sizeof path, "%.200s%s/%.200s", blob_store->dir,
             PFDD_MANIFEST_LISTS, name);
    unlink(path);
}

void pfdd_blob_store_tidy(struct pfdd_blob_store *blob_store)
{
    for (size_t i = blob_store->n_manifests; i > 0; i--) {
        if (blob_store->manifests[i - 1]->refs == 0)
            free_manifest(blob_store, blob_store->manifests[i - 1], true);
    }
    each_file(blob_store, PFDD_MANIFEST_OBJECTS, on_object);
    each_file(blob_store, PFDD_MANIFEST_LISTS, on_other);
}

/* ---- manifests and what entries need ---- */

static bool is_same(const struct pfdd_manifest_item *item,
                    const struct pfdd_wanted_object *w)
{
    const struct pfdd_code_object *o = &w->object;
    return !memcmp(item->digest, w->digest, sizeof w->digest) &&
           item->is_shader == o->is_shader &&
           (!o->is_shader || item->shader == o->shader);
}

/* False: the manifest has an object that is not wanted any more. True: *next is
 * behind its last object among the wanted ones; it lacks the ones from there on,
 * and *n_left before, which had no room. */
static bool match(const struct manifest *s,
                  const struct pfdd_wanted_object *wanted, size_t n,
                  size_t *next, size_t *n_left)
{
    size_t i = 0;
    *next = 0;
    for (; i < n && *next < n && i < s->list.n; ++*next)
        i += is_same(&s->list.items[i], &wanted[*next]);
    *n_left = *next - i;
    return i == s->list.n;
}

/* ---- writing ---- */

/* The manifest is counted with both files: the old one exists until the new one
 * is whole. */
static bool has_space(const struct pfdd_blob_store *blob_store, uint64_t n_list,
                      uint64_t n_max)
{
    errno = blob_store->n_bytes + disk_of(n_list) > n_max ? EDQUOT : 0;
    return !errno;
}

/* Bytes of an item in a manifest's text, at most. */
static uint64_t text_of(const struct pfdd_manifest_item *item)
{
    return TEXT_ROOM + ESCAPED * strlen(item->name);
}

/* What a manifest is to get. */
struct growth {
    const struct pfdd_wanted_object *wanted; /* [n] */
    size_t n;
    size_t next;    /* the first that it may lack */
    uint64_t n_max; /* bytes of disk space */
    bool is_some;   /* objects without room are left out, else all are */
    size_t n_left;  /* that were left out */
};

/* Puts what the stock lacks into it, and what of it is no file yet into fresh,
 * which has a place for each that is wanted. */
static bool take_fresh(struct pfdd_blob_store *blob_store, struct manifest *s,
                       struct growth *g, struct pfdd_manifest_file *fresh,
                       size_t *n)
{
    const struct pfdd_wanted_object *wanted = g->wanted;
    uint64_t n_text = TEXT_ROOM;
    for (size_t i = 0; i < s->list.n; i++)
        n_text += text_of(&s->list.items[i]);
    for (size_t at = g->next; at < g->n; at++) {
        const struct pfdd_code_object *o = &wanted[at].object;
        bool is_new = false;
        struct pfdd_manifest_item item = { .n = o->n,
                                           .is_shader = o->is_shader,
                                           .shader = o->shader,
                                           .name = strdup(o->name) };
        memcpy(item.digest, wanted[at].digest, sizeof item.digest);
        if (!item.name || !add_item(blob_store, s, &item, &is_new))
            return false;
        uint64_t n_item = text_of(&s->list.items[s->list.n - 1]);
        if (g->is_some && !has_space(blob_store, n_text + n_item, g->n_max)) {
            drop_item(blob_store, s);
            g->n_left++;
            continue;
        }
        n_text += n_item;
        if (is_new && *n < g->n) {
            fresh[(*n)++] =
                (struct pfdd_manifest_file){ s->objects[s->list.n - 1]->digest,
                                             o->bytes, o->n };
        }
    }
    return true;
}

/* Writes the fresh objects [n], then the manifest that lists them. */
static bool write_manifest(struct pfdd_blob_store *blob_store,
                           struct manifest *s,
                           const struct pfdd_manifest_file *fresh, size_t n,
                           uint64_t n_max)
{
    char *text = pfdd_manifest_text(&s->list);
    size_t n_text = text ? strlen(text) : 0;
    errno = ENOMEM;
    bool ok = text && has_space(blob_store, n_text, n_max) &&
              pfdd_manifest_write_objects(blob_store->dir, fresh, n) &&
              pfdd_manifest_write(blob_store->dir, s->number, text, n_text);
    if (ok)
        charge_file(blob_store, s, n_text);
    int error = errno;
    free(text);
    errno = error;
    return ok;
}

/* Leaves the manifest unchanged if it cannot be written. 0, or an errno
 * value. */
static int extend(struct pfdd_blob_store *blob_store, struct manifest *s,
                  struct growth *g)
{
    size_t n_before = s->list.n;
    size_t n = 0;
    struct pfdd_manifest_file *fresh = calloc(g->n + 1, sizeof *fresh);
    errno = ENOMEM;
    bool ok = fresh && take_fresh(blob_store, s, g, fresh, &n);
    if (ok && (!s->n_disk || s->list.n > n_before))
        ok = write_manifest(blob_store, s, fresh, n, g->n_max);
    int error = ok ? 0 : errno ? errno : EIO;
    free(fresh);
    while (!ok && s->list.n > n_before)
        drop_item(blob_store, s);
    return error;
}

/* ---- jobs ---- */

static struct manifest *open_manifest(const struct pfdd_blob_store *blob_store,
                                      uint64_t scope)
{
    for (size_t i = 0; i < blob_store->n_manifests; i++) {
        if (blob_store->manifests[i]->is_open &&
            blob_store->manifests[i]->scope == scope)
            return blob_store->manifests[i];
    }
    return NULL;
}

/* The manifest for new entries of a scope; 0, or an errno value. */
static int find_stock_for(struct pfdd_blob_store *blob_store, uint64_t scope,
                          uint64_t segment,
                          const struct pfdd_wanted_object *wanted, size_t n,
                          uint64_t n_max, struct manifest **ret)
{
    struct growth g = { .wanted = wanted, .n = n, .n_max = n_max };
    size_t n_left = 0;
    struct manifest *s = open_manifest(blob_store, scope);
    if (s && (!match(s, wanted, n, &g.next, &n_left) || n_left)) {
        s->is_open = false;
        s = NULL;
        g.next = 0;
    }
    bool is_new = !s;
    s = s ? s : new_manifest(blob_store, blob_store->next_number, scope);
    int error = s ? extend(blob_store, s, &g) : ENOMEM;
    if (!error && !use(blob_store, segment, s))
        error = ENOMEM;
    if (error && s && is_new)
        free_manifest(blob_store, s, true);
    *ret = s;
    return error;
}

int pfdd_blob_store_add(struct pfdd_blob_store *blob_store,
                        const struct pfdd_blob_store_list *list, uint64_t scope,
                        uint64_t segment, struct pfdd_manifest *ret)
{
    struct manifest *s = NULL;
    size_t n = 0;
    *ret = (struct pfdd_manifest){ 0 };
    if (!list->of || !list->of->open)
        return 0;
    struct pfdd_wanted_object *wanted =
        pfdd_hashed_list_update(&blob_store->hashed, list)
            ? pfdd_hashed_list_want(&blob_store->hashed, list, scope, &n)
            : NULL;
    int error = wanted ? find_stock_for(blob_store, scope, segment, wanted, n,
                                        list->n_bytes_max, &s)
                       : ENOMEM;
    free(wanted);
    if (error)
        return error;
    s->is_open = true;
    *ret = (struct pfdd_manifest){ s->number, (uint32_t)s->list.n };
    return 0;
}

/* Objects that have no room are left out, and do not hold up those behind them. */
static int grow(struct pfdd_blob_store *blob_store, struct manifest *s,
                const struct pfdd_blob_store_list *list)
{
    struct growth g = { .n_max = list->n_bytes_max, .is_some = true };
    struct pfdd_wanted_object *wanted =
        pfdd_hashed_list_want(&blob_store->hashed, list, s->scope, &g.n);
    int error = wanted ? 0 : ENOMEM;
    g.wanted = wanted;
    if (wanted)
        s->is_open = match(s, wanted, g.n, &g.next, &g.n_left);
    if (wanted && s->is_open) {
        error = extend(blob_store, s, &g);
        blob_store->n_left += g.n_left;
    }
    free(wanted);
    return error;
}

int pfdd_blob_store_extend(struct pfdd_blob_store *blob_store,
                           const struct pfdd_blob_store_list *list)
{
    int error = 0;
    blob_store->n_left = 0;
    if (!list->of || !list->of->open ||
        !pfdd_hashed_list_update(&blob_store->hashed, list))
        return 0;
    for (size_t i = 0; i < blob_store->n_manifests && !error; i++) {
        if (blob_store->manifests[i]->is_open)
            error = grow(blob_store, blob_store->manifests[i], list);
    }
    return !error && blob_store->n_left ? EDQUOT : error;
}

void pfdd_blob_store_manifest(const struct pfdd_blob_store *blob_store,
                              uint64_t stock, uint32_t *n, size_t *n_bytes)
{
    const struct manifest *s = find_manifest(blob_store, stock);
    *n_bytes = 0;
    if (!s)
        return;
    *n = (uint32_t)s->list.n;
    for (size_t i = 0; i < s->list.n; i++)
        *n_bytes += s->list.items[i].n;
}

struct pfdd_blob_store_size pfdd_blob_store_size(
    const struct pfdd_blob_store *blob_store)
{
    size_t memory = sizeof *blob_store + blob_store->n_memory +
                    blob_store->n_uses * sizeof *blob_store->uses +
                    pfdd_hashed_list_memory(&blob_store->hashed);
    return (struct pfdd_blob_store_size){ blob_store->n_bytes, memory,
                                          blob_store->n_left };
}
