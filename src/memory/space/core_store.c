/* SPDX-License-Identifier: MIT */
/*
 * A compressed core's bytes, inflated into a file that has no name and is
 * deleted with its descriptor: memory stays free, and zeros take no disk space.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/inflate.h"
#include "memory/space/core.h"

enum {
    PAGE = 4096
};

struct store {
    int fd;
    uint64_t n; /* bytes so far */
    int why;    /* errno of the failure; 0: none */
};

static int open_nameless(void)
{
    const char *folder = secure_getenv("TMPDIR");
    char path[4096];
    if (!folder || !*folder)
        folder = "/var/tmp";
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
    size_t n = strlen(folder);
    if (n > sizeof path - 32) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(path, folder, n);
    memcpy(path + n, "/printfdecode-XXXXXX", sizeof "/printfdecode-XXXXXX");
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

static bool put(struct store *s, const uint8_t *bytes, size_t n)
{
    uint64_t at = s->n;
    s->n += n;
    while (n) {
        ssize_t k = pwrite(s->fd, bytes, n, (off_t)at);
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0) {
            s->why = k < 0 ? errno : EIO;
            return false;
        }
        bytes += k;
        at += (uint64_t)k;
        n -= (size_t)k;
    }
    return true;
}

/* A pfd_inflated_fn: skips whole pages of zeros. */
static bool take(void *user, const uint8_t *bytes, size_t n)
{
    static const uint8_t zeros[PAGE];
    struct store *s = user;
    size_t from = 0; /* first byte that is not written yet */
    for (size_t at = 0; n - at >= PAGE; at += PAGE) {
        if (memcmp(bytes + at, zeros, PAGE) != 0)
            continue;
        if (at > from && !put(s, bytes + from, at - from))
            return false;
        s->n += PAGE;
        from = at + PAGE;
    }
    return from == n || put(s, bytes + from, n - from);
}

enum pfd_status pfd_core_store(const void *bytes, size_t n, uint64_t n_max,
                               struct pfd_report *report, int *fd,
                               struct pfd_error *err)
{
    struct store s = { .fd = open_nameless() };
    struct pfd_error problem = { 0 };
    if (s.fd < 0) {
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "no file to inflate it into in $TMPDIR or /var/tmp: %s",
                        strerror(errno));
    }
    enum pfd_status status =
        pfd_inflate_to(bytes, n, n_max, take, &s, &problem, err);
    if (status == PFD_OK && problem.code != PFD_OK) {
        pfd_report_add(report,
                       problem.code == PFD_ERR_UNSUPPORTED
                           ? PFD_FINDING_too_large
                           : PFD_FINDING_bad_compressed,
                       problem.offset, "%s", problem.text);
    }
    if ((status == PFD_ERR_STOPPED && s.why) ||
        (status == PFD_OK && ftruncate(s.fd, (off_t)s.n) &&
         (s.why = errno) != 0)) {
        status = pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                          "it cannot be inflated into $TMPDIR or /var/tmp: %s "
                          "after %llu bytes",
                          strerror(s.why), (unsigned long long)s.n);
    }
    if (status != PFD_OK) {
        close(s.fd);
        return status;
    }
    *fd = s.fd;
    return PFD_OK;
}
