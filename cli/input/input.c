/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/decode/inspect.h"
#include "show/messages.h"

enum {
    SLURP_MAX = 1 << 30, /* bytes of a stream that is read as a whole */
};

/* Prints why files have no format strings, where that was not printed yet. For
 * callers that expected some. */
static void inputs_report_stringless(const struct inputs *in)
{
    for (size_t i = 0; i < in->n_stringless && i < INPUTS_STRINGLESS_MAX; i++) {
        message_hint("%s: %s", in->stringless[i].source,
                     in->stringless[i].text);
    }
    if (in->n_stringless > INPUTS_STRINGLESS_MAX) {
        message_hint("%zu more files without format strings",
                     in->n_stringless - INPUTS_STRINGLESS_MAX);
    }
}

void inputs_report_no_strings(const struct inputs *in)
{
    inputs_report_stringless(in);
    message_hint("no format strings are loaded; give the program's code object "
                 "(ELF) or SPIR-V module as well");
}

bool input_map(struct buffer *b, struct pfd_error *err)
{
    if (b->captured.n_chunks) {
        snprintf(err->text, sizeof err->text,
                 "its entries are in the capture, its bytes are not: only "
                 "decode and stats can read them");
        return false;
    }
    if (b->capture)
        return pfd_capture_map(b->capture, b->i, &b->bytes, err) == PFD_OK;
    if (b->bytes)
        return true;
    bool ok = input_slurp(b, &b->slurped, &b->n, err);
    b->bytes = ok ? b->slurped : NULL;
    return ok;
}

void input_unmap(struct buffer *b)
{
    if (b->capture)
        pfd_capture_unmap(b->capture, b->i, b->bytes);
    if (b->capture || b->slurped)
        b->bytes = NULL;
    free(b->slurped);
    b->slurped = NULL;
}

bool inputs_map_streams(struct inputs *in)
{
    struct pfd_error err;
    for (size_t i = 0; i < in->n_buffers; i++) {
        struct buffer *b = &in->buffers[i];
        if (!b->bytes && !b->capture && !input_map(b, &err)) {
            message_error("%s: %s", b->name, err.text);
            return false;
        }
    }
    return true;
}

void input_reading(const struct options *o, const struct buffer *b,
                   const char **format, struct pfd_options *decoding)
{
    struct pfd_option_info info;
    *decoding = (struct pfd_options){ 0 };
    *format = b->format;
    /* Options that are not supported were reported when the capture was
     * opened. */
    if (b->capture)
        pfd_capture_reading(b->captured.origin, format, decoding, NULL);
    for (size_t i = 0; pfd_option_get(i, &info) == PFD_OK; i++) {
        if (o->reading.given >> i & 1) {
            pfd_options_set(decoding, info.name,
                            pfd_options_word(&o->reading.decoding, info.name),
                            NULL);
        }
    }
    if (o->reading.format)
        *format = o->reading.format;
}

bool input_is_missing(const struct buffer *b)
{
    return b->capture && !b->n && !b->captured.n_chunks &&
           b->captured.origin->size;
}

struct buffer *inputs_add(struct inputs *in)
{
    size_t room = in->n_buffers + 1;
    struct buffer *buffers = realloc(in->buffers, room * sizeof *buffers);
    if (!buffers) {
        message_error("out of memory");
        exit(error_status());
    }
    in->buffers = buffers;
    buffers[in->n_buffers] = (struct buffer){ .fd = -1 };
    return &buffers[in->n_buffers++];
}

void inputs_want_buffers(struct inputs *in, const char *advice)
{
    if (in->n_buffers || in->failed || (in->n_captures && in->n_findings))
        return;
    struct stat st;
    bool is_piped = !fstat(STDIN_FILENO, &st) && S_ISFIFO(st.st_mode);
    message_error("no buffer among the files%s%s%s",
                  in->n_found ? "; a folder gives code objects alone: name the "
                                "buffer in it"
                              : "",
                  is_piped ? "; - is the buffer on standard input" : "",
                  advice);
    in->failed = true;
}

long input_read(void *user, void *bytes, size_t n)
{
    struct buffer *b = user;
    if (b->n_head) {
        size_t k = b->n_head < n ? b->n_head : n;
        memcpy(bytes, b->head, k);
        memmove(b->head, b->head + k, b->n_head - k);
        b->n_head -= k;
        return (long)k;
    }
    for (;;) {
        ssize_t got = read(b->fd, bytes, n);
        if (got >= 0)
            return (long)got;
        if (errno != EINTR)
            return -(long)errno;
    }
}

long input_read_at(void *user, uint64_t offset, void *bytes, size_t n)
{
    const struct buffer *b = user;
    size_t done = 0;
    while (done < n) {
        ssize_t got = pread(b->fd, (char *)bytes + done, n - done,
                            (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -(long)errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (long)done;
}

static bool slurp_error(struct pfd_error *err, const char *why)
{
    err->code = PFD_ERR_IO;
    snprintf(err->text, sizeof err->text, "%s", why);
    return false;
}

bool input_slurp(struct buffer *b, char **ret, size_t *n, struct pfd_error *err)
{
    size_t room = 0;
    *ret = NULL;
    *n = 0;
    for (;;) {
        if (*n == room) {
            room = room ? room * 2 : 65536;
            if (room > SLURP_MAX)
                return slurp_error(err, "too large to be read from a stream");
            char *next = realloc(*ret, room);
            if (!next)
                return slurp_error(err, "out of memory");
            *ret = next;
        }
        long got = input_read(b, *ret + *n, room - *n);
        if (got < 0)
            return slurp_error(err, strerror((int)-got));
        if (got == 0)
            return true;
        *n += (size_t)got;
    }
}

bool input_copy_uri(const char *uri, char **ret, size_t *n,
                    struct pfd_error *err)
{
    struct pfd_input *input = NULL;
    *ret = NULL;
    if (pfd_input_open(uri, &input, err) != PFD_OK)
        return false;
    const void *bytes = pfd_input_bytes(input, n);
    *ret = malloc(*n + 1);
    if (*ret)
        memcpy(*ret, bytes, *n);
    pfd_input_close(input);
    return *ret || slurp_error(err, "out of memory");
}

static void on_sigbus(int signal_number)
{
    static const char text[] =
        "printfdecode: a file became shorter while it was read\n";
    (void)signal_number;
    /* An error of this write cannot be reported. */
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
        _exit(error_status());
    _exit(error_status());
}

void input_guard(void)
{
    struct sigaction action = { .sa_handler = on_sigbus };
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

/* Buffers of captures and compressed files will not change any more. */
static bool is_complete(const struct buffer *b)
{
    return b->capture || (b->bytes && b->fd < 0);
}

size_t inputs_put_complete_last(struct inputs *in)
{
    size_t n = 0;
    for (size_t i = 0; i < in->n_buffers; i++) {
        struct buffer b = in->buffers[i];
        if (is_complete(&b))
            continue;
        memmove(&in->buffers[n + 1], &in->buffers[n], (i - n) * sizeof b);
        in->buffers[n++] = b;
    }
    if (n && n < in->n_buffers) {
        message_hint("%zu buffers are complete and are not followed; "
                     "'printfdecode decode' prints them",
                     in->n_buffers - n);
    }
    return n;
}
