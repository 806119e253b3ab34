/* SPDX-License-Identifier: MIT */
#include "sources/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/input.h>
#include <printfdecode/shaders.h>

#include "core/peer.h"
#include "net/deputy.h"

enum {
    OBJECT_COST = 1024, /* of one, beside its bytes */
};

size_t pfdd_code_cost(size_t n_bytes)
{
    return n_bytes + OBJECT_COST;
}

void pfdd_code_free(struct pfdd_code *o)
{
    free(o->owners);
    pfdd_folder_unref(o->folder);
    pfdd_peer_unref(o->peer);
    free(o->name);
    free(o->bytes);
    free(o);
}

void pfdd_code_disown(struct pfdd_code *o, const struct pfdd_scope *scope)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_owners; i++) {
        if (o->owners[i] != scope)
            o->owners[n++] = o->owners[i];
    }
    o->n_owners = n;
}

void pfdd_code_own(struct pfdd_code *o, struct pfdd_scope *sender)
{
    struct pfdd_scope **owners =
        sender ? realloc(o->owners, (o->n_owners + 1) * sizeof(void *)) : NULL;
    if (!owners)
        return;
    o->owners = owners;
    pfdd_code_disown(o, sender);
    owners[o->n_owners++] = sender;
}

struct pfdd_catalogue *pfdd_catalogue_new(size_t n_max)
{
    struct pfdd_catalogue *c =
        calloc(1, sizeof *c + n_max * sizeof(struct pfdd_code *));
    if (c)
        c->refs = 1;
    return c;
}

void pfdd_catalogue_put(struct pfdd_catalogue *c, struct pfdd_code *o)
{
    o->refs++;
    c->objects[c->n++] = o;
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

static int open_object(struct pfdd_code *o)
{
    struct stat st;
    if (o->folder) {
        return pfdd_folder_open_file(o->folder, strrchr(o->name, '/') + 1, &st,
                                     o->why);
    }
    int fd = open(o->name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        snprintf(o->why, sizeof o->why, "%s", strerror(errno));
    return fd;
}

/* As much of it as was counted; one that has grown since is read when that is
 * over. */
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

/* Producers choose it: at most n_max bytes. */
static void read_uri(struct pfdd_code *o, size_t n_max)
{
    struct pfd_input *input = NULL;
    struct pfd_error err = { .text = "out of memory" };
    size_t n = 0;
    if (pfdd_deputy_read(o->peer, o->name, n_max, &input, &err) == PFD_OK) {
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

enum pfd_status pfdd_code_load(struct pfd_strings *set,
                               const struct pfdd_code *o, struct pfd_error *err)
{
    struct pfd_shader_info info = {
        .id = o->shader, .bytes = o->bytes, .n_bytes = o->n, .source = o->name
    };
    if (o->is_shader)
        return pfd_strings_add_shader(set, &info, NULL, NULL, err);
    return pfd_strings_load(set, o->bytes, o->n, o->name, NULL, NULL, err);
}

void pfdd_code_read(struct pfdd_code *o, size_t n_max)
{
    if (o->peer) {
        read_uri(o, n_max);
    } else {
        read_object(o);
    }
}
