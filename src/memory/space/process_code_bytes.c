/* SPDX-License-Identifier: MIT */
#include "memory/space/process_code_bytes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/uri.h"

enum {
    STEP = 1 << 20, /* read at once: a wrong size takes no memory */
};

/* Usual code objects have a few MiB. */
#define BYTES_MAX (UINT64_C(1) << 30)

struct reading {
    struct pfd_memory *memory;
    struct pfd_uri uri;
    struct pfd_quoted name;
    struct pfd_report *report;
    int fd; /* -1: memory */
    uint8_t *bytes;
    size_t n;
};

/* Reports why it is absent. */
static bool refuse(struct reading *r, enum pfd_finding_kind kind,
                   const char *why)
{
    pfd_report_add(r->report, kind, PFD_NO_OFFSET, "'%s': %s", r->name.text,
                   why);
    return false;
}

static bool read_step(struct reading *r, uint8_t *to, size_t n)
{
    uint64_t at = r->uri.offset + r->n;
    if (r->fd < 0)
        return pfd_memory_take(r->memory, at, to, n);
    while (n > 0) {
        ssize_t got = pread(r->fd, to, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        to += got;
        at += (size_t)got;
        n -= (size_t)got;
    }
    return true;
}

/* False: bytes are absent, which was reported, or memory is exhausted: see
 * *status. */
static bool read_all(struct reading *r, enum pfd_status *status)
{
    while (r->n < r->uri.size) {
        uint64_t left = r->uri.size - r->n;
        size_t n = left < STEP ? (size_t)left : STEP;
        uint8_t *more = realloc(r->bytes, r->n + n);
        if (!more) {
            *status = PFD_ERR_NOMEM;
            return false;
        }
        r->bytes = more;
        if (!read_step(r, r->bytes + r->n, n)) {
            unsigned long long from = r->uri.offset + r->n;
            pfd_report_add(r->report, PFD_FINDING_unreadable, PFD_NO_OFFSET,
                           "'%s': %s 0x%llx to 0x%llx are not all there",
                           r->name.text, r->fd < 0 ? "addresses" : "bytes",
                           from, from + n - 1);
            return false;
        }
        r->n += n;
    }
    return true;
}

static bool check_size(struct reading *r)
{
    if (r->uri.size == 0)
        return refuse(r, PFD_FINDING_bad_list, "it has no bytes");
    if (r->uri.size > BYTES_MAX)
        return refuse(r, PFD_FINDING_too_large, "more than 1 GiB");
    return true;
}

static bool open_file(struct reading *r)
{
    struct stat st;
    r->fd = pfd_memory_open_file(r->memory, r->uri.path);
    if (r->fd < 0)
        return refuse(r, PFD_FINDING_unreadable, strerror(-r->fd));
    if (fstat(r->fd, &st) || !S_ISREG(st.st_mode))
        return refuse(r, PFD_FINDING_unreadable, "it is not a file");
    uint64_t n = (uint64_t)st.st_size;
    if (!r->uri.has_range)
        r->uri.size = n;
    if (r->uri.offset > n || r->uri.size > n - r->uri.offset)
        return refuse(r, PFD_FINDING_unreadable, "the file is shorter");
    return check_size(r);
}

/* The runtime writes the id that the process has for itself; a forked child has
 * its parent's id there. */
static bool open_memory(struct reading *r)
{
    const struct pfd_memory *m = r->memory;
    bool is_other = r->uri.pid != m->pid && r->uri.pid != m->pid_inside;
    if ((m->pid || m->pid_inside) && is_other)
        return refuse(r, PFD_FINDING_bad_list, "it names another process");
    return check_size(r);
}

enum pfd_status pfd_process_code_bytes(struct pfd_memory *memory,
                                       const char *uri, void **ret, size_t *n,
                                       struct pfd_report *report,
                                       struct pfd_error *err)
{
    struct reading r = { .memory = memory, .report = report, .fd = -1 };
    struct pfd_error why;
    *ret = NULL;
    *n = 0;
    pfd_quote(&r.name, uri, strlen(uri));
    enum pfd_status status = pfd_uri_parse(uri, &r.uri, &why);
    if (status == PFD_ERR_USAGE) {
        refuse(&r, PFD_FINDING_bad_list, why.text);
        return PFD_OK;
    }
    bool ok = status == PFD_OK &&
              (r.uri.path ? open_file(&r) : open_memory(&r)) &&
              read_all(&r, &status);
    if (r.fd >= 0)
        close(r.fd);
    pfd_uri_deinit(&r.uri);
    if (ok) {
        *ret = r.bytes;
        *n = r.n;
        return PFD_OK;
    }
    free(r.bytes);
    return status == PFD_ERR_NOMEM
               ? pfd_fail(err, status, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}
