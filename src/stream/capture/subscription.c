/* SPDX-License-Identifier: MIT */
/* The request for entries, and a connection to a daemon on this machine. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <printfdecode/convert.h>
#include <printfdecode/subscriber.h>

#include "core/base/error.h"
#include "core/base/sized.h"
#include "core/base/text.h"
#include "core/output/json.h"
#include "stream/capture/subscriber.h"

enum {
    LINE_MAX_BYTES = 4096, /* that a daemon takes */
    PIECE = 64 * 1024,
};

/* ---- the request ---- */

static void put_quoted(struct pfd_text *out, const char *text)
{
    size_t n = strlen(text);
    char *room = malloc(6 * n + 1);
    if (!room) {
        out->failed = true;
        return;
    }
    size_t k = pfd_escape_for_json(room, text, n);
    pfd_text_puts(out, "\"");
    pfd_text_add(out, room, k);
    pfd_text_puts(out, "\"");
    free(room);
}

static void put_word(struct pfd_text *out, const char *key, const char *word)
{
    if (!word)
        return;
    pfd_text_puts(out, ",\"");
    pfd_text_puts(out, key);
    pfd_text_puts(out, "\":");
    put_quoted(out, word);
}

static void put_words(struct pfd_text *out, const char *key,
                      const char *const *words, size_t n)
{
    if (!n)
        return;
    pfd_text_puts(out, ",\"");
    pfd_text_puts(out, key);
    pfd_text_puts(out, "\":[");
    for (size_t i = 0; i < n; i++) {
        pfd_text_puts(out, i ? "," : "");
        put_quoted(out, words[i]);
    }
    pfd_text_puts(out, "]");
}

static void put_ids(struct pfd_text *out, const uint64_t *ids, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char id[40];
        snprintf(id, sizeof id, "%s\"0x%" PRIx64 "\"", i ? "," : ",\"id\":[",
                 ids[i]);
        pfd_text_puts(out, id);
    }
    pfd_text_puts(out, n ? "]" : "");
}

static void put_flag(struct pfd_text *out, bool is_set, const char *member)
{
    pfd_text_puts(out, is_set ? member : "");
}

enum pfd_status pfd_subscription_line(const struct pfd_subscription *what,
                                      char *ret, size_t n_ret, size_t *n,
                                      struct pfd_error *err)
{
    struct pfd_subscription own;
    if (pfd_sized_take(&own, sizeof own, what, err) != PFD_OK)
        return PFD_ERR_USAGE;
    what = &own;
    struct pfd_text line = { 0 };
    enum pfd_status status = PFD_OK;
    pfd_text_puts(&line, "{\"output\":\"entries\"");
    put_word(&line, "from", what->from);
    put_words(&line, "match", what->matches, what->n_matches);
    put_words(&line, "format_string", what->format_strings,
              what->n_format_strings);
    put_ids(&line, what->ids, what->n_ids);
    put_word(&line, "where", what->where);
    put_word(&line, "source", what->source);
    put_flag(&line, what->ignore_case, ",\"ignore_case\":true");
    put_flag(&line, what->invert, ",\"invert\":true");
    put_flag(&line, what->entries_only, ",\"entries_only\":true");
    put_flag(&line, what->no_findings, ",\"findings\":false");
    pfd_text_puts(&line, "}\n");
    if (line.failed) {
        status = pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    } else if (line.n > LINE_MAX_BYTES || line.n > n_ret) {
        status = pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                          "what is asked for takes %zu bytes, and a daemon "
                          "takes %d",
                          line.n, LINE_MAX_BYTES);
    } else {
        memcpy(ret, line.data, line.n);
        *n = line.n;
    }
    pfd_text_free(&line);
    return status;
}

/* ---- the connection ---- */

static enum pfd_status fail_io(struct pfd_error *err, const char *what)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET, "%s: %s", what,
                    strerror(errno));
}

static enum pfd_status dial(const char *path, int *ret, struct pfd_error *err)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "a socket's path has at most %zu bytes",
                        sizeof address.sun_path - 1);
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    *ret = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*ret < 0)
        return fail_io(err, "socket");
    if (connect(*ret, (const struct sockaddr *)&address, sizeof address) == 0)
        return PFD_OK;
    fail_io(err, path);
    close(*ret);
    *ret = -1;
    return PFD_ERR_IO;
}

enum pfd_status pfd_subscriber_connect(
    const char *path, const struct pfd_subscription *what,
    const struct pfd_subscriber_options *options, struct pfd_subscriber **ret,
    struct pfd_error *err)
{
    char line[LINE_MAX_BYTES];
    size_t n = 0;
    int fd = -1;
    enum pfd_status status =
        pfd_subscription_line(what, line, sizeof line, &n, err);
    if (status == PFD_OK)
        status = dial(path, &fd, err);
    if (status == PFD_OK)
        status = pfd_subscriber_new(options, ret, err);
    if (status != PFD_OK) {
        pfd_subscriber_hang_up(fd);
        return status;
    }
    pfd_subscriber_use(*ret, fd);
    /* So few bytes fit, unless the other end is gone. */
    if (send(fd, line, n, MSG_NOSIGNAL) == (ssize_t)n)
        return PFD_OK;
    fail_io(err, path);
    pfd_subscriber_free(*ret);
    return PFD_ERR_IO;
}

static enum pfd_status receive(struct pfd_subscriber *s, char bytes[PIECE],
                               struct pfd_error *err)
{
    ssize_t n = recv(pfd_subscriber_fd(s), bytes, PIECE, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return PFD_MORE;
    if (n < 0)
        return fail_io(err, "recv");
    if (n == 0) {
        pfd_subscriber_finish(s);
        return PFD_OK;
    }
    return pfd_subscriber_take(s, bytes, (size_t)n, err);
}

enum pfd_status pfd_subscriber_wait(struct pfd_subscriber *s, int timeout_ms,
                                    struct pfd_error *err)
{
    struct pollfd poll_fd = { .fd = pfd_subscriber_fd(s), .events = POLLIN };
    if (poll_fd.fd < 0) {
        return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                        "the subscriber has no connection of its own");
    }
    int ready = poll(&poll_fd, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return PFD_MORE;
    if (ready < 0)
        return fail_io(err, "poll");
    char *bytes = malloc(PIECE); /* more than some threads have of stack */
    if (!bytes)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    enum pfd_status status = receive(s, bytes, err);
    free(bytes);
    return status;
}
