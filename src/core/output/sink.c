/* SPDX-License-Identifier: MIT */
#include "core/output/sink.h"

#include <string.h>

#include <printfdecode/convert.h>

#include "core/base/escape.h"
#include "core/output/json.h"

/* The only sink that is also used directly. */
extern const struct pfd_sink pfd_sink_json;

const struct pfd_sink *pfd_sink_find(const char *name)
{
    for (const struct pfd_sink *const *s = pfd_sinks; *s; s++) {
        if (!strcmp((*s)->name, name))
            return *s;
    }
    return NULL;
}

enum pfd_status pfd_output_get(size_t i, const char **ret)
{
    for (size_t k = 0; pfd_sinks[k]; k++) {
        if (k == i) {
            *ret = pfd_sinks[k]->name;
            return PFD_OK;
        }
    }
    return PFD_END;
}

size_t pfd_escape_for_terminal(char *ret, const void *bytes, size_t n)
{
    return (size_t)(pfd_escape_terminal(ret, bytes, n) - ret);
}

size_t pfd_escape_for_json(char *ret, const void *bytes, size_t n)
{
    return (size_t)(pfd_escape_json(ret, bytes, n) - ret);
}

size_t pfd_base64_for_json(char *ret, const void *bytes, size_t n)
{
    return pfd_is_utf8(bytes, n) ? 0
                                 : (size_t)(pfd_base64(ret, bytes, n) - ret);
}

enum pfd_status pfd_finding_write_json(const struct pfd_finding *finding,
                                       pfd_write_fn write, void *user)
{
    const struct pfd_sink_options plain = { 0 };
    struct pfd_text out = { 0 };
    enum pfd_status status = PFD_OK;
    pfd_sink_json.finding(&out, finding, &plain);
    if (out.failed) {
        status = PFD_ERR_NOMEM;
    } else if (!write(user, out.data, out.n)) {
        status = PFD_ERR_STOPPED;
    }
    pfd_text_free(&out);
    return status;
}
