/* SPDX-License-Identifier: MIT */
#include "packer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/input.h"
#include "core/objects/objects.h"
#include "input/code_source.h"
#include "input/counter.h"
#include "input/file_order.h"
#include "input/process_code.h"
#include "input/shaders.h"
#include "show/messages.h"
#include "stream/capture/wire.h"
#include "stream/capture/wire_objects.h"

/* The code objects of a capture, without its buffers. */

/* Takes an object, as pfd_wire_objects_options.give does; never a MODULE, which
 * comes again as a shader's or a loose one. False: stop. */
typedef bool (*captured_object_fn)(void *user,
                                   const struct pfd_wire_object *object);

struct giving {
    captured_object_fn fn;
    void *user;
    bool is_stopped;
};

static bool give(void *user, struct pfd_wire_object *object)
{
    struct giving *g = user;
    if (object->use != PFD_WIRE_OBJECT_MODULE && !g->is_stopped)
        g->is_stopped = !g->fn(g->user, object);
    return true;
}

/* Hands the capture's bytes over as the reader asks for them. */
static enum pfd_status read_frames(struct pfd_wire_reader *reader,
                                   struct pfd_wire_objects *set,
                                   const struct giving *g, const char *bytes,
                                   size_t n, struct pfd_error *err)
{
    struct pfd_wire_frame frame;
    enum pfd_status status = PFD_OK;
    size_t at = 0;
    while (!g->is_stopped) {
        size_t taken = 0;
        status = pfd_wire_reader_next(reader, &frame, err);
        if (status == PFD_OK) {
            status = pfd_wire_objects_take(set, &frame);
        } else if (status == PFD_ERR_CORRUPT) {
            status = PFD_OK;
        } else if (status == PFD_END) {
            return pfd_wire_objects_finish(set);
        } else if (status == PFD_MORE && at < n) {
            size_t piece = n - at < PFD_WIRE_PIECE ? n - at : PFD_WIRE_PIECE;
            status =
                pfd_wire_reader_feed(reader, bytes + at, piece, &taken, err);
            at += taken;
        } else if (status == PFD_MORE) {
            pfd_wire_reader_finish(reader);
        }
        if (status < 0)
            return status;
    }
    return PFD_ERR_STOPPED;
}

/*
 * Calls fn for every code object and shader of the capture in bytes [n], in
 * order, borrowed for the call. Damage is passed over: the reader of the
 * capture reports it.
 *
 * PFD_OK; PFD_ERR_STOPPED: fn returned false; PFD_ERR_NOMEM;
 * PFD_ERR_UNSUPPORTED: an unknown version.
 */
static enum pfd_status captured_objects_each(const void *bytes, size_t n,
                                             captured_object_fn fn, void *user,
                                             struct pfd_error *err)
{
    struct giving g = { .fn = fn, .user = user };
    const struct pfd_wire_objects_options options = {
        .give = give,
        .user = &g,
        .source = "",
    };
    struct pfd_wire_objects *set = pfd_wire_objects_new(&options);
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    enum pfd_status status = PFD_ERR_NOMEM;
    if (set && reader)
        status = read_frames(reader, set, &g, bytes, n, err);
    if (status == PFD_ERR_NOMEM)
        snprintf(err->text, sizeof err->text, "out of memory");
    pfd_wire_reader_free(reader);
    pfd_wire_objects_free(set);
    return g.is_stopped ? PFD_ERR_STOPPED : status;
}

/* ---- frames ---- */

bool packer_check(struct packer *p, enum pfd_status status)
{
    if (status == PFD_OK)
        return true;
    if (status == PFD_ERR_STOPPED) {
        message_error("%s: %s", p->o->to, strerror(errno));
    } else {
        message_error("%s", p->err.text);
    }
    p->failed = true;
    return false;
}

bool packer_frame(struct packer *p, const struct pfd_wire_frame *frame)
{
    return packer_check(p, pfd_wire_writer_put(p->writer, frame, &p->err));
}

/* ---- objects and shaders ---- */

/* Replaces bytes by their inflated contents when they are compressed. */
static bool inflate_bytes(struct packer *p, const char *path, char **bytes,
                          size_t *n)
{
    void *inflated = NULL;
    size_t n_inflated = 0;
    if (!pfd_input_is_compressed(*bytes, *n))
        return true;
    if (pfd_input_inflate(*bytes, *n, p->o->reading.max_inflated, path,
                          message_finding, NULL, &inflated, &n_inflated,
                          &p->err) != PFD_OK) {
        message_error("%s: %s", path, p->err.text);
        p->failed = true;
        return false;
    }
    if (inflated) {
        free(*bytes);
        *bytes = inflated;
        *n = n_inflated;
    }
    return true;
}

/* Reads a whole file; the caller frees bytes. */
static bool slurp(struct packer *p, const char *path, char **bytes, size_t *n)
{
    struct buffer b = { .name = path, .fd = -1 };
    *bytes = NULL;
    if (pfd_input_is_uri(path)) {
        if (!input_copy_uri(path, bytes, n, &p->err)) {
            message_error("%s: %s", path, p->err.text);
            p->failed = true;
        }
        return !p->failed && inflate_bytes(p, path, bytes, n);
    }
    b.fd = open(path, O_RDONLY | O_CLOEXEC);
    if (b.fd < 0) {
        message_error("%s: %s", path, strerror(errno));
        p->failed = true;
        return false;
    }
    if (!input_slurp(&b, bytes, n, &p->err)) {
        message_error("%s: %s", path, p->err.text);
        free(*bytes);
        p->failed = true;
    }
    close(b.fd);
    return !p->failed && inflate_bytes(p, path, bytes, n);
}

static bool write_object(struct packer *p, const char *name, const char *bytes,
                         size_t n)
{
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_CODE_OBJECT,
        .code_object = ++p->n_objects,
        .name = pfd_wire_text(name),
        .bytes = { bytes, n },
    };
    return packer_frame(p, &frame);
}

static bool write_module(void *user, const struct pfd_shader_info *info)
{
    struct packer *p = user;
    char *bytes = NULL;
    size_t n = 0;
    if (!slurp(p, info->source, &bytes, &n))
        return false;
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_SHADER,
        .shader = info->id,
        .code_object = p->n_objects + 1,
        .name = pfd_wire_text(info->source),
    };
    bool ok =
        write_object(p, info->source, bytes, n) && packer_frame(p, &frame);
    free(bytes);
    return ok;
}

/* --shader ID=FILE */
static bool write_shader(struct packer *p, const char *text)
{
    char *end = NULL;
    unsigned long long id = strtoull(text, &end, 0);
    if (end == text || *end != '=' || id >= UINT32_MAX) {
        message_error("not ID=FILE: '%s'", text);
        p->failed = true;
        return false;
    }
    struct pfd_shader_info info = { .id = (uint32_t)id, .source = end + 1 };
    return write_module(p, &info);
}

/* --shaders MAP.json */
static bool write_shaders(struct packer *p, const char *path)
{
    bool says_more = false;
    bool ok = shaders_walk_map(path, write_module, p, &says_more);
    p->failed |= !ok;
    if (ok && says_more) {
        message_hint(
            "%s: what it says besides shaders is for --compat khronos, "
            "and has no place in a capture: keep the file for that",
            path);
    }
    return ok;
}

/* ---- files ---- */

/* Does the file give strings without a search? */
static bool gives_strings(const struct packer *p, const char *bytes, size_t n)
{
    struct pfd_strings *strings = pfd_strings_new();
    bool ret = false;
    if (strings) {
        struct pfd_error err;
        pfd_strings_set_max_inflated(strings, p->o->reading.max_inflated);
        ret = pfd_strings_load(strings, bytes, n, "", NULL, NULL, &err) ==
                  PFD_OK &&
              pfd_strings_count(strings) > 0;
    }
    pfd_strings_free(strings);
    return ret;
}

/* The objects of a file that are to be written: all but the first ones. */
struct finding_out {
    struct packer *packer;
    uint64_t n_known; /* objects that are found without a search */
    uint64_t n;
};

static enum pfd_status count_known(void *user,
                                   const struct pfd_object_info *object)
{
    struct finding_out *f = user;
    (void)object;
    f->n_known++;
    return PFD_OK;
}

static enum pfd_status write_found(void *user,
                                   const struct pfd_object_info *object)
{
    struct finding_out *f = user;
    if (f->n++ < f->n_known)
        return PFD_OK;
    return write_object(f->packer, object->source, object->bytes, object->n)
               ? PFD_OK
               : PFD_ERR_STOPPED;
}

/* Writes the code objects that a search finds in a file, and the file itself
 * where it gives strings without: the reader of the capture does not search. */
static bool write_searched(struct packer *p, const struct file *file,
                           const char *bytes, size_t n)
{
    struct finding_out f = { .packer = p };
    uint64_t before = p->n_objects;
    uint64_t most = p->o->reading.max_inflated;
    if (gives_strings(p, bytes, n)) {
        (void)pfd_objects_read(bytes, n, file->path, most, count_known, &f,
                               NULL, NULL, &p->err);
        if (!write_object(p, file->path, bytes, n))
            return false;
    }
    enum pfd_status status = pfd_objects_search(
        bytes, n, file->path, most, write_found, &f, NULL, NULL, &p->err);
    if (status == PFD_ERR_STOPPED) /* which was said */
        return false;
    return packer_check(p, status) &&
           (p->n_objects > before || file->is_split ||
            write_object(p, file->path, bytes, n));
}

/* An object that an earlier capture has, as it stands there. */
static bool write_again(void *user, const struct pfd_wire_object *object)
{
    struct packer *p = user;
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_CODE_OBJECT,
        .code_object = ++p->n_objects,
        .name = object->name,
        .uri = object->uri,
        .bytes = { object->bytes, object->n },
    };
    struct pfd_wire_frame shader = {
        .type = PFD_WIRE_SHADER,
        .shader = object->shader,
        .scope = object->scope,
        .code_object = frame.code_object,
        .name = object->name,
    };
    return packer_frame(p, &frame) &&
           (object->use != PFD_WIRE_OBJECT_SHADER || packer_frame(p, &shader));
}

/* A file of code; of a capture, its objects. */
static bool write_code(struct packer *p, const struct file *file,
                       const char *bytes, size_t n)
{
    if (pfd_wire_recognise(bytes, n)) {
        enum pfd_status status =
            captured_objects_each(bytes, n, write_again, p, &p->err);
        return status == PFD_ERR_STOPPED ? false : packer_check(p, status);
    }
    if (p->o->memory.scan && !options_have_memory(p->o))
        return write_searched(p, file, bytes, n);
    return write_object(p, file->path, bytes, n);
}

/* Is it what an operand was taken for? */
static bool is_buffer(const struct inputs *in, const struct file *file)
{
    for (size_t i = 0; i < in->n_buffers; i++) {
        if (in->buffers[i].name == file->path)
            return true;
    }
    return false;
}

/* Files of a folder without code objects are skipped, and programs whose code
 * is all in other files. */
static bool is_wanted(const struct packer *p, const struct file *file)
{
    if (file->found || (file->is_split && !p->o->memory.scan))
        return code_source_has_objects(file->path, p->o->reading.max_inflated);
    return file->role == ROLE_STRINGS ||
           (file->role == ROLE_BY_CONTENT && !is_buffer(p->in, file));
}

static bool write_counter(struct packer *p, const char *path)
{
    struct pfd_text text = { 0 };
    bool ok = packer_check(p, counter_describe(path, &text, &p->err)) &&
              write_object(p, path, text.data, text.n);
    pfd_text_free(&text);
    return ok;
}

/* Behind the descriptions of their rings. */
static bool write_counters(struct packer *p)
{
    bool ok = true;
    for (size_t i = 0; i < p->o->n_files && ok; i++) {
        if (p->o->files[i].role == ROLE_COUNTER)
            ok = write_counter(p, p->o->files[i].path);
    }
    return ok;
}

static bool write_code_of(struct packer *p, const struct file *file)
{
    char *bytes = NULL;
    size_t n = 0;
    if (file->role == ROLE_SHADERS && !write_shaders(p, file->path))
        return false;
    if (file->role == ROLE_SHADER && !write_shader(p, file->path))
        return false;
    if (!is_wanted(p, file))
        return true;
    if (!slurp(p, file->path, &bytes, &n))
        return false;
    bool ok = write_code(p, file, bytes, n);
    free(bytes);
    return ok;
}

static bool write_files(struct packer *p)
{
    size_t *order = file_order(p->o);
    bool ok = true;
    for (size_t i = 0; i < p->o->n_files && ok; i++)
        ok = write_code_of(p, &p->o->files[order[i]]);
    free(order);
    if (!ok)
        return false;
    return write_counters(p);
}

static enum pfd_status write_loaded(
    void *user, const struct pfd_process_code_object *object)
{
    struct packer *p = user;
    bool ok = !object->bytes ||
              write_object(p, object->source, object->bytes, object->n);
    return ok ? PFD_OK : PFD_ERR_STOPPED;
}

bool packer_write_code(struct packer *p)
{
    return write_files(p) && (!p->in->process_code ||
                              process_code_again(p->in, p->o, write_loaded, p));
}
