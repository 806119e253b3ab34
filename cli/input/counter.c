/* SPDX-License-Identifier: MIT */
#include "counter.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <printfdecode/convert.h>
#include <printfdecode/tail.h>

#include "core/base/input.h"
#include "show/messages.h"

enum {
    BYTES_MAX = 4096, /* a counter stands near the begin */
};

enum pfd_status counter_describe(const char *path, struct pfd_text *ret,
                                 struct pfd_error *err)
{
    struct pfd_input *input = NULL;
    size_t n = 0;
    enum pfd_status status = pfd_input_open(path, &input, err);
    if (status != PFD_OK)
        return status;
    const uint8_t *bytes = pfd_input_bytes(input, &n);
    pfd_text_puts(ret, "ring counter: \"");
    for (size_t i = 0; i < n && i < BYTES_MAX; i++)
        pfd_text_printf(ret, "%02x", bytes[i]);
    pfd_text_puts(ret, "\"\n");
    pfd_input_close(input);
    return ret->failed
               ? pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}

static const char *path_of(const struct options *o)
{
    for (size_t i = 0; i < o->n_files; i++) {
        if (o->files[i].role == ROLE_COUNTER)
            return o->files[i].path;
    }
    return NULL;
}

bool counter_open(const struct options *o, struct live_counter *ret)
{
    const char *path = path_of(o);
    struct pfd_error err;
    *ret = (struct live_counter){ .fd = -1 };
    if (!path)
        return true;
    ret->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (ret->fd < 0) {
        message_error("%s: %s", path, strerror(errno));
    } else if (pfd_source_open_file(ret->fd, &ret->source, &err) != PFD_OK) {
        message_error("%s: %s", path, err.text);
    }
    return ret->source != NULL;
}

void counter_close(struct live_counter *counter)
{
    pfd_source_close(counter->source);
    if (counter->fd >= 0)
        close(counter->fd);
}
