/* SPDX-License-Identifier: MIT */
#include "ingest/code_object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/strings.h>

#include "base/peer.h"
#include "core/base/input.h"
#include "net/read_as_peer.h"

enum {
    OBJECT_COST = 1024, /* bytes of an object, beside its content */
};

size_t pfdd_code_cost(size_t n_bytes)
{
    return n_bytes + OBJECT_COST;
}

void pfdd_code_forget_origin(struct pfdd_code *o)
{
    if (o->origin.trusted_folder)
        pfdd_trusted_folder_unref(o->origin.trusted_folder);
    if (o->origin.peer)
        pfdd_peer_unref(o->origin.peer);
    o->origin.trusted_folder = NULL;
    o->origin.peer = NULL;
}

void pfdd_code_free(struct pfdd_code *o)
{
    if (o->alive)
        *o->alive -= pfdd_code_cost(o->n);
    free(o->owners);
    pfdd_code_forget_origin(o);
    free(o->name);
    free(o->bytes);
    free(o);
}

bool pfdd_code_has_gone(const struct pfdd_code *o)
{
    return o->is_given && !o->n_owners && !o->is_dropped;
}

void pfdd_code_free_all(struct pfdd_code *first)
{
    while (first) {
        struct pfdd_code *next = first->next;
        pfdd_code_free(first);
        first = next;
    }
}

struct pfdd_catalogue *pfdd_catalogue_new(size_t n_max)
{
    struct pfdd_catalogue *c =
        calloc(1, sizeof *c + n_max * sizeof(struct pfdd_code *));
    if (!c)
        return NULL;
    c->refs = 1;
    c->size = n_max;
    return c;
}

bool pfdd_catalogue_put(struct pfdd_catalogue *c, struct pfdd_code *o)
{
    if (c->n == c->size)
        return false;
    o->refs++;
    c->objects[c->n++] = o;
    return true;
}

struct pfdd_catalogue *pfdd_catalogue_sweep(const struct pfdd_catalogue *of,
                                            size_t n_more)
{
    struct pfdd_catalogue *c = pfdd_catalogue_new(of->n + n_more);
    for (size_t i = 0; c && i < of->n; i++) {
        if (!of->objects[i]->is_dropped)
            pfdd_catalogue_put(c, of->objects[i]);
    }
    return c;
}

void pfdd_catalogue_drop(struct pfdd_catalogue *c)
{
    if (!c || --c->refs > 0)
        return;
    for (size_t i = 0; i < c->n; i++) {
        if (--c->objects[i]->refs == 0)
            pfdd_code_free(c->objects[i]);
    }
    free(c);
}

void pfdd_catalogue_get(const void *catalogue, size_t i,
                        struct pfdd_code_object *ret)
{
    const struct pfdd_catalogue *c = catalogue;
    const struct pfdd_code *o = c->objects[i];
    *ret = (struct pfdd_code_object){ .name = o->name,
                                      .bytes = o->bytes,
                                      .n = o->n,
                                      .number = o->number,
                                      .scope = o->scope_number,
                                      .since = o->since,
                                      .is_shader = o->is_shader,
                                      .shader = o->shader };
}

/* ---- by content ---- */

static size_t first_slot(const struct pfdd_code_index *index,
                         const struct pfdd_code *o)
{
    return (o->crc * UINT32_C(2654435761) ^ o->n) & index->mask;
}

void pfdd_code_index_init(struct pfdd_code_index *index,
                          const struct pfdd_catalogue *of)
{
    size_t n = 16;
    while (n < 2 * of->n)
        n *= 2;
    *index =
        (struct pfdd_code_index){ of, calloc(n, sizeof *index->slots), n - 1 };
    for (size_t i = 0; index->slots && i < of->n; i++) {
        size_t at = first_slot(index, of->objects[i]);
        while (index->slots[at])
            at = (at + 1) & index->mask;
        index->slots[at] = (uint32_t)i + 1;
    }
}

void pfdd_code_index_deinit(struct pfdd_code_index *index)
{
    free(index->slots);
}

static bool is_same(const struct pfdd_code *a, const struct pfdd_code *b)
{
    return a->crc == b->crc && a->n == b->n && a->is_shader == b->is_shader &&
           a->shader == b->shader && a->producer == b->producer &&
           !memcmp(a->bytes, b->bytes, b->n);
}

struct pfdd_code *pfdd_code_index_find(const struct pfdd_code_index *index,
                                       const struct pfdd_code *o)
{
    size_t at = first_slot(index, o);
    for (; index->slots && index->slots[at]; at = (at + 1) & index->mask) {
        struct pfdd_code *old = index->of->objects[index->slots[at] - 1];
        if (is_same(old, o))
            return old;
    }
    return NULL;
}

/* ---- reading ---- */

static int open_object(struct pfdd_code *o)
{
    struct stat st;
    if (o->origin.trusted_folder) {
        return pfdd_trusted_folder_open_file(
            o->origin.trusted_folder, strrchr(o->name, '/') + 1, &st, o->why);
    }
    int fd = open(o->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        snprintf(o->why, sizeof o->why, "%s", strerror(errno));
    return fd;
}

/* Reads as many bytes as were charged. A file that has grown since is read
 * again when its writer has finished. */
static void read_object(struct pfdd_code *o)
{
    struct stat st;
    int fd = open_object(o);
    if (fd < 0)
        return;
    if (fstat(fd, &st) != 0) {
        snprintf(o->why, sizeof o->why, "%s", strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        snprintf(o->why, sizeof o->why, "not a regular file");
    } else {
        o->bytes = malloc(o->n + 1);
        ssize_t n = o->bytes ? pread(fd, o->bytes, o->n, 0) : -1;
        o->n = n > 0 ? (size_t)n : 0;
        if (n < 0)
            snprintf(o->why, sizeof o->why, "%s", strerror(errno));
    }
    close(fd);
}

/* Producers choose the URI: reads at most n_max bytes. */
static void read_uri(struct pfdd_code *o, size_t n_max)
{
    struct pfd_input *input = NULL;
    struct pfd_error err = { .text = "out of memory" };
    size_t n = 0;
    if (pfdd_read_as_peer(o->origin.peer, o->name, n_max, &input, &err) ==
        PFD_OK) {
        const void *bytes = pfd_input_bytes(input, &n);
        o->bytes = malloc(n + 1);
        if (o->bytes)
            memcpy(o->bytes, bytes, n);
        o->n = n;
        pfd_input_close(input);
    }
    if (!o->bytes)
        snprintf(o->why, sizeof o->why, "%.190s", err.text);
}

/* The first finding says best why there are none. */
static void hear(void *user, const struct pfd_finding *finding)
{
    struct pfdd_no_strings *none = user;
    bool is_table = finding->kind == PFD_FINDING_no_table;
    if (!none->why[0])
        snprintf(none->why, sizeof none->why, "%s", finding->text);
    none->is_true |= is_table || finding->kind == PFD_FINDING_no_format_strings;
    none->is_note |= is_table;
}

enum pfd_status pfdd_code_load(struct pfd_strings *set,
                               const struct pfdd_code *o,
                               struct pfdd_no_strings *none,
                               struct pfd_error *err)
{
    struct pfd_shader_info info = {
        .id = o->shader, .bytes = o->bytes, .n_bytes = o->n, .source = o->name
    };
    if (o->is_shader)
        return pfd_strings_add_shader(set, &info, NULL, NULL, err);
    return pfd_strings_load(set, o->bytes, o->n, o->name, none ? hear : NULL,
                            none, err);
}

void pfdd_code_read(struct pfdd_code *o, size_t n_max)
{
    if (o->origin.peer) {
        read_uri(o, n_max);
    } else {
        read_object(o);
    }
}
