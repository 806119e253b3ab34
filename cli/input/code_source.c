/* SPDX-License-Identifier: MIT */
#include "code_source.h"

#include <stdio.h>
#include <stdlib.h>

#include <printfdecode/capture.h>
#include <printfdecode/strings.h>

#include "core/base/input.h"
#include "core/objects/objects.h"
#include "stream/capture/capture.h"

enum {
    SEEN = 64 /* bytes that are enough to recognise a file */
};

bool code_source_is_code(const void *bytes, size_t n)
{
    void *inflated = NULL;
    size_t n_inflated = 0;
    if (!pfd_input_is_compressed(bytes, n))
        return n && pfd_strings_recognise(bytes, n);
    bool is = pfd_input_inflate(bytes, n, SEEN, "", NULL, NULL, &inflated,
                                &n_inflated, NULL) == PFD_OK &&
              inflated && pfd_strings_recognise(inflated, n_inflated);
    free(inflated);
    return is;
}

static enum pfd_status see(void *user, const struct pfd_object_info *object)
{
    bool *any = user;
    (void)object;
    *any = true;
    return PFD_OK;
}

bool code_source_has_objects(const char *path, uint64_t max_inflated)
{
    struct code_source code_source;
    bool any = false;
    if (code_source_open(&code_source, path, max_inflated, NULL, NULL, NULL) ==
        PFD_OK) {
        code_source_read(&code_source, max_inflated, see, &any, NULL, NULL,
                         NULL);
    }
    code_source_close(&code_source);
    return any;
}

enum pfd_status code_source_open(struct code_source *ret, const char *path,
                                 uint64_t max_inflated, pfd_finding_fn tell,
                                 void *user, struct pfd_error *err)
{
    void *inflated = NULL;
    size_t n = 0;
    *ret = (struct code_source){ .path = path };
    enum pfd_status status = pfd_input_open(path, &ret->input, err);
    if (status != PFD_OK)
        return status;
    ret->bytes = pfd_input_bytes(ret->input, &ret->n);
    if (!pfd_input_is_compressed(ret->bytes, ret->n))
        return PFD_OK;
    status = pfd_input_inflate(ret->bytes, ret->n, max_inflated, path, tell,
                               user, &inflated, &n, err);
    if (inflated) {
        ret->inflated = inflated;
        ret->bytes = inflated;
        ret->n = n;
    }
    return status;
}

void code_source_close(struct code_source *code_source)
{
    free(code_source->inflated);
    pfd_input_close(code_source->input);
}

static enum pfd_status read_captured(const struct code_source *code_source,
                                     const struct pfd_capture *capture,
                                     uint64_t max_inflated, pfd_object_fn fn,
                                     void *user, pfd_finding_fn tell,
                                     void *tell_user, struct pfd_error *err)
{
    struct pfd_capture_object o;
    enum pfd_status status = PFD_OK;
    for (size_t i = 0;
         status == PFD_OK && pfd_capture_object(capture, i, &o) == PFD_OK;
         i++) {
        char *name = NULL;
        if (asprintf(&name, "%s:%.*s", code_source->path,
                     (int)(o.name.n & 4095), o.name.n ? o.name.at : "") < 0)
            return PFD_ERR_NOMEM;
        status = pfd_objects_read(o.bytes, o.n, name, max_inflated, fn, user,
                                  tell, tell_user, err);
        if (status == PFD_ERR_UNSUPPORTED)
            status = PFD_OK; /* a string table, say */
        free(name);
    }
    return status;
}

enum pfd_status code_source_read(const struct code_source *code_source,
                                 uint64_t max_inflated, pfd_object_fn fn,
                                 void *user, pfd_finding_fn tell,
                                 void *tell_user, struct pfd_error *err)
{
    struct pfd_capture *capture = NULL;
    if (!pfd_wire_recognise(code_source->bytes, code_source->n)) {
        return (code_source->searches ? pfd_objects_search : pfd_objects_read)(
            code_source->bytes, code_source->n, code_source->path, max_inflated,
            fn, user, tell, tell_user, err);
    }
    struct pfd_strings *strings = pfd_strings_new();
    enum pfd_status status = PFD_ERR_NOMEM;
    if (strings) {
        status = pfd_capture_open(code_source->bytes, code_source->n,
                                  code_source->path, strings, tell, tell_user,
                                  &capture, err);
    }
    if (status == PFD_OK) {
        status = read_captured(code_source, capture, max_inflated, fn, user,
                               tell, tell_user, err);
    }
    pfd_capture_free(capture);
    pfd_strings_free(strings);
    return status;
}
