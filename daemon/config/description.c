/* SPDX-License-Identifier: MIT */
#include "config/description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/strings.h>

#include "core/base/input.h"
#include "core/decode/string_loader.h"

/* Has the description no mistake? */
static enum pfd_status check(const void *bytes, size_t n, const char *path,
                             struct pfd_error *err)
{
    struct pfd_strings *strings = pfd_strings_new();
    enum pfd_status status =
        strings ? pfd_strings_load(strings, bytes, n, path, NULL, NULL, err)
                : PFD_ERR_NOMEM;
    pfd_strings_free(strings);
    return status;
}

/* The bytes of the file [*n], allocated; NULL: see err. */
static void *read_file(const char *path, size_t n_max, size_t *n,
                       struct pfd_error *err)
{
    struct pfd_input *input = NULL;
    if (pfd_input_read(path, n_max, &input, err) != PFD_OK)
        return NULL;
    const void *bytes = pfd_input_bytes(input, n);
    void *ret = malloc(*n + 1);
    if (ret && *n)
        memcpy(ret, bytes, *n);
    pfd_input_close(input);
    return ret;
}

bool pfdd_description_read(struct pfdd_description *ret, const char *path,
                           size_t n_max, char *err, size_t n_err)
{
    struct pfd_error why = { .text = "out of memory" };
    *ret = (struct pfdd_description){ .path = path };
    if (!path)
        return true;
    ret->bytes = read_file(path, n_max, &ret->n, &why);
    bool ok = ret->bytes;
    if (ok && !pfd_strings_describes(ret->bytes, ret->n)) {
        snprintf(why.text, sizeof why.text,
                 "no description of a ring: it begins with 'ring: NAME'");
        ok = false;
    }
    ok = ok && check(ret->bytes, ret->n, path, &why) >= 0;
    if (ok)
        return true;
    snprintf(err, n_err, "%.200s: %.180s", path, why.text);
    pfdd_description_deinit(ret);
    return false;
}

bool pfdd_description_is_same(const struct pfdd_description *d)
{
    struct pfd_error err;
    size_t n = 0;
    if (!d->path)
        return true;
    void *bytes = read_file(d->path, d->n + 1, &n, &err);
    bool ret = bytes && n == d->n && !memcmp(bytes, d->bytes, n);
    free(bytes);
    return ret;
}

void pfdd_description_deinit(struct pfdd_description *d)
{
    free(d->bytes);
    *d = (struct pfdd_description){ 0 };
}
