/* SPDX-License-Identifier: MIT */
#include "spool/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include <printfdecode/strings.h>

#include "base/log.h"
#include "spool/spool_records.h"

enum {
    LIST_MAX = 64 << 20, /* bytes of a manifest */
    ITEM_MAX = 64 << 10, /* bytes of one item of it */
    SYNC_EACH = 16,      /* files; more are synced together */
};

void pfdd_manifest_list_deinit(struct pfdd_manifest_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->items[i].name);
    free(list->items);
    *list = (struct pfdd_manifest_list){ 0 };
}

bool pfdd_manifest_add(struct pfdd_manifest_list *list,
                       const struct pfdd_manifest_item *item)
{
    if (list->n == list->size) {
        size_t size = list->size ? 2 * list->size : 16;
        void *items = realloc(list->items, size * sizeof *item);
        if (!items)
            return false;
        list->items = items;
        list->size = size;
    }
    list->items[list->n++] = *item;
    return true;
}

/* ---- names ---- */

void pfdd_manifest_path(const char *dir, uint64_t number, const char *end,
                        char ret[PFDD_PATH])
{
    snprintf(ret, PFDD_PATH, "%.400s" PFDD_MANIFEST_LISTS "/%020" PRIu64 "%s",
             dir, number, end);
}

void pfdd_manifest_object_path(const char *dir, const uint8_t *digest,
                               const char *end, char ret[PFDD_PATH])
{
    char name[PFDD_SHA256_TEXT];
    pfdd_sha256_text(digest, name);
    snprintf(ret, PFDD_PATH, "%.400s" PFDD_MANIFEST_OBJECTS "/%s%s", dir, name,
             end);
}

uint64_t pfdd_manifest_number(const char *name)
{
    char *end = NULL;
    uint64_t number = strtoull(name, &end, 10);
    return end - name == 20 && !*end && number < INT64_MAX ? number : 0;
}

static int digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool pfdd_manifest_digest(const char *name, uint8_t ret[PFDD_SHA256_BYTES])
{
    if (strlen(name) != PFDD_SHA256_TEXT - 1)
        return false;
    for (unsigned i = 0; i < PFDD_SHA256_BYTES; i++) {
        int high = digit(name[2 * i]);
        int low = digit(name[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        ret[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* ---- files ---- */

static bool read_item(struct pfdd_manifest_list *list, const json_t *value)
{
    const char *digest = json_string_value(json_object_get(value, "sha256"));
    const char *name = json_string_value(json_object_get(value, "name"));
    const json_t *shader = json_object_get(value, "shader");
    json_int_t n = json_integer_value(json_object_get(value, "bytes"));
    json_int_t number = json_integer_value(shader);
    struct pfdd_manifest_item item = { .n = (uint64_t)n,
                                       .is_shader = shader != NULL,
                                       .shader = (uint32_t)number };
    if (!digest || !name || n <= 0 || number < 0 || number > UINT32_MAX ||
        !pfdd_manifest_digest(digest, item.digest))
        return false;
    item.name = strdup(name);
    if (item.name && pfdd_manifest_add(list, &item))
        return true;
    free(item.name);
    return false;
}

/* A position in the text that is parsed. */
struct scan {
    const char *at;
    const char *end;
};

static void skip_space(struct scan *s)
{
    while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
        s->at++;
}

/* True: the next character is this one; it was consumed. */
static bool take_sign(struct scan *s, char sign)
{
    skip_space(s);
    if (s->at == s->end || *s->at != sign)
        return false;
    s->at++;
    return true;
}

/* The end of the next string, number, or object of strings and numbers. NULL:
 * something else comes next, or it is too large to be parsed: trees of arrays
 * take much more memory than their text. */
static const char *find_end(const struct scan *s)
{
    const char *text = s->at;
    size_t left = (size_t)(s->end - text);
    bool is_object = *text == '{';
    bool is_string = false;
    if (*text == '[')
        return NULL;
    for (size_t i = 0; i < left && i < ITEM_MAX; i++) {
        char c = text[i];
        bool is_end = c == '}' || (c == ',' && !is_object);
        if (c == '"') {
            is_string = !is_string;
        } else if (is_string) {
            i += c == '\\';
        } else if (is_end) {
            return text + i + is_object;
        } else if (i && (c == '[' || c == '{')) {
            return NULL;
        }
    }
    return NULL;
}

/* NULL: the next value is missing or malformed. */
static json_t *take_value(struct scan *s)
{
    skip_space(s);
    const char *end = s->at < s->end ? find_end(s) : NULL;
    json_t *ret =
        end ? json_loadb(s->at, (size_t)(end - s->at),
                         JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL)
            : NULL;
    s->at = end ? end : s->end;
    return ret;
}

static bool take_items(struct scan *s, size_t n_max,
                       struct pfdd_manifest_list *ret)
{
    bool ok = take_sign(s, '[');
    bool is_end = ok && take_sign(s, ']');
    while (ok && !is_end) {
        json_t *value = take_value(s);
        if (ret->n == n_max)
            ret->is_cut = value;
        ok = value && (ret->is_cut || read_item(ret, value));
        json_decref(value);
        is_end = ok && take_sign(s, ']');
        ok = ok && (is_end || take_sign(s, ','));
    }
    return ok;
}

/* Parses the root: "objects" once, and other keys with plain values. */
static bool take_list(struct scan *s, size_t n_max,
                      struct pfdd_manifest_list *ret)
{
    bool has_items = false;
    bool ok = take_sign(s, '{');
    bool is_end = false;
    while (ok && !is_end) {
        const char *key = "\"objects\"";
        skip_space(s);
        const char *colon = memchr(s->at, ':', (size_t)(s->end - s->at));
        bool is_items = colon && (size_t)(colon - s->at) >= strlen(key) &&
                        !memcmp(s->at, key, strlen(key));
        s->at = colon ? colon + 1 : s->end;
        json_t *value = is_items ? NULL : take_value(s);
        ok = is_items ? !has_items && take_items(s, n_max, ret) : value != NULL;
        has_items |= is_items;
        json_decref(value);
        is_end = ok && take_sign(s, '}');
        ok = ok && (is_end || take_sign(s, ','));
    }
    skip_space(s);
    return ok && has_items && s->at == s->end;
}

bool pfdd_manifest_parse(const char *text, size_t n, size_t n_max,
                         struct pfdd_manifest_list *ret)
{
    struct scan scan = { text, text + n };
    *ret = (struct pfdd_manifest_list){ 0 };
    bool ok = take_list(&scan, n_max, ret);
    if (!ok)
        pfdd_manifest_list_deinit(ret);
    return ok;
}

bool pfdd_manifest_read(const char *dir, uint64_t number,
                        struct pfdd_manifest_list *ret,
                        char why[PFDD_STATE_WHY])
{
    char path[PFDD_PATH];
    size_t n = 0;
    pfdd_manifest_path(dir, number, "", path);
    *ret = (struct pfdd_manifest_list){ 0 };
    char *text = pfdd_state_file_read(path, LIST_MAX, &n, why);
    if (!text)
        return false;
    bool ok = pfdd_manifest_parse(text, n, SIZE_MAX, ret);
    ret->n_file = n;
    free(text);
    if (!ok)
        snprintf(why, PFDD_STATE_WHY, "no list of code objects");
    return ok;
}

static json_t *item_text(const struct pfdd_manifest_item *item)
{
    char digest[PFDD_SHA256_TEXT];
    pfdd_sha256_text(item->digest, digest);
    json_t *ret =
        json_pack("{s:s,s:I}", "sha256", digest, "bytes", (json_int_t)item->n);
    /* A path from the configuration may have any bytes. */
    json_t *name = json_string(item->name);
    json_object_set_new(ret, "name", name ? name : json_string("code object"));
    if (item->is_shader)
        json_object_set_new(ret, "shader", json_integer(item->shader));
    return ret;
}

char *pfdd_manifest_text(const struct pfdd_manifest_list *list)
{
    json_t *items = json_array();
    int failed = 0;
    for (size_t i = 0; i < list->n; i++)
        failed |= json_array_append_new(items, item_text(&list->items[i]));
    json_t *root = json_pack("{s:i,s:o}", "version", 1, "objects", items);
    char *text = root && !failed ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    return text;
}

/* ---- writing ---- */

static bool sync_all(const char *dir)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s%s", dir, PFDD_MANIFEST_OBJECTS);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool ok = fd >= 0 && syncfs(fd) == 0;
    int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return ok;
}

/* Writes all files under temporary names first: a file with its final name is
 * whole. */
bool pfdd_manifest_write_objects(const char *dir,
                                 const struct pfdd_manifest_file *files,
                                 size_t n)
{
    char part[PFDD_PATH];
    char path[PFDD_PATH];
    for (size_t i = 0; i < n; i++) {
        pfdd_manifest_object_path(dir, files[i].digest, PFDD_PART, part);
        if (!pfdd_state_file_write(part, files[i].bytes, files[i].n,
                                   n <= SYNC_EACH))
            return false;
    }
    if (n > SYNC_EACH && !sync_all(dir))
        return false;
    for (size_t i = 0; i < n; i++) {
        pfdd_manifest_object_path(dir, files[i].digest, PFDD_PART, part);
        pfdd_manifest_object_path(dir, files[i].digest, "", path);
        if (rename(part, path) != 0)
            return false;
    }
    if (n)
        pfdd_sync_dir(dir, PFDD_MANIFEST_OBJECTS);
    return true;
}

bool pfdd_manifest_write(const char *dir, uint64_t number, const char *text,
                         size_t n)
{
    char name[32];
    snprintf(name, sizeof name, "%020" PRIu64, number);
    return pfdd_state_file_replace(dir, PFDD_MANIFEST_LISTS, name, text, n);
}

/* ---- strings ---- */

char *pfdd_manifest_object(const char *dir,
                           const struct pfdd_manifest_item *item)
{
    char path[PFDD_PATH];
    char why[PFDD_STATE_WHY] = "it is not what it was";
    uint8_t digest[PFDD_SHA256_BYTES] = { 0 };
    size_t n = 0;
    pfdd_manifest_object_path(dir, item->digest, "", path);
    char *bytes = pfdd_state_file_read(path, item->n, &n, why);
    if (bytes)
        pfdd_sha256(bytes, n, digest);
    if (bytes && n == item->n && !memcmp(digest, item->digest, sizeof digest))
        return bytes;
    pfdd_log(PFDD_ERROR, "%s: %s: entries that need '%.200s' go without it",
             path, why, item->name);
    free(bytes);
    return NULL;
}

static void load_item(struct pfd_strings *set, const char *dir,
                      const struct pfdd_manifest_item *item)
{
    char *bytes = pfdd_manifest_object(dir, item);
    struct pfd_shader_info info = { .id = item->shader,
                                    .bytes = bytes,
                                    .n_bytes = item->n,
                                    .source = item->name };
    /* Its findings were logged when it was received. */
    if (bytes && item->is_shader) {
        pfd_strings_add_shader(set, &info, NULL, NULL, NULL);
    } else if (bytes) {
        pfd_strings_load(set, bytes, item->n, item->name, NULL, NULL, NULL);
    }
    free(bytes);
}

struct pfd_strings *pfdd_manifest_load(const char *dir, uint64_t number,
                                       size_t n_max, uint32_t *n)
{
    struct pfdd_manifest_list list;
    char why[PFDD_STATE_WHY];
    char path[PFDD_PATH];
    struct pfd_strings *set = pfd_strings_new();
    *n = 0;
    if (!set)
        return NULL;
    pfd_strings_set_max_inflated(set, n_max);
    pfdd_manifest_path(dir, number, "", path);
    if (!pfdd_manifest_read(dir, number, &list, why)) {
        pfdd_log(PFDD_ERROR, "%s: %s: entries that need it go without strings",
                 path, why);
        return set;
    }
    for (size_t i = 0; i < list.n; i++) {
        const struct pfdd_manifest_item *item = &list.items[i];
        if (item->n <= n_max) {
            n_max -= item->n;
            load_item(set, dir, item);
        } else {
            pfdd_log(PFDD_ERROR,
                     "%s: no room for '%.200s': entries go without it", path,
                     item->name);
        }
    }
    *n = (uint32_t)list.n;
    pfdd_manifest_list_deinit(&list);
    return set;
}
