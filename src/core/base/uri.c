/* SPDX-License-Identifier: MIT */
#include "core/base/uri.h"

#include <stdlib.h>
#include <string.h>

static const char file_scheme[] = "file://";
static const char memory_scheme[] = "memory://";

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

bool pfd_uri_recognise(const char *text)
{
    return starts(text, file_scheme) || starts(text, memory_scheme);
}

static enum pfd_status wrong(struct pfd_error *err, const char *what)
{
    return pfd_fail(err, PFD_ERR_USAGE, PFD_NO_OFFSET,
                    "%s; expected file://PATH, file://PATH#offset=N&size=N or "
                    "memory://PID#offset=N&size=N",
                    what);
}

static unsigned digit_of(char c)
{
    return c >= '0' && c <= '9'   ? (unsigned)(c - '0')
           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
           : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                  : 99;
}

/* Parses a number and moves behind it. False: there is none, or too large. */
static bool read_number(const char **text, bool decimal, uint64_t *ret)
{
    const char *p = *text;
    unsigned base = 10;
    uint64_t number = 0;
    if (!decimal && p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        base = 16;
        p += 2;
    } else if (!decimal && p[0] == '0') {
        base = 8;
    }
    const char *first = p;
    for (; digit_of(*p) < base; p++) {
        unsigned digit = digit_of(*p);
        if (number > (UINT64_MAX - digit) / base)
            return false;
        number = number * base + digit;
    }
    *text = p;
    *ret = number;
    return p > first;
}

/* Parses "offset=N&size=N" up to the end. */
static enum pfd_status read_range(const char *text, struct pfd_uri *ret,
                                  struct pfd_error *err)
{
    if (!starts(text, "offset="))
        return wrong(err, "the URI's range does not begin with 'offset='");
    text += strlen("offset=");
    if (!read_number(&text, false, &ret->offset))
        return wrong(err, "the URI's offset is not a number of 64 bits");
    if (!starts(text, "&size="))
        return wrong(err, "the URI's offset is not followed by '&size='");
    text += strlen("&size=");
    if (!read_number(&text, false, &ret->size) || *text)
        return wrong(err, "the URI's size is not a number of 64 bits");
    if (ret->size > UINT64_MAX - ret->offset) {
        return wrong(err, "the URI's offset and size together do not fit 64 "
                          "bits");
    }
    ret->has_range = true;
    return PFD_OK;
}

/* Undoes %XX; false: '%' without two digits, or a NUL. */
static bool decode(const char *text, size_t n, char *ret)
{
    for (size_t i = 0; i < n; i++) {
        unsigned byte = (unsigned char)text[i];
        if (byte == '%') {
            if (n - i < 3 || digit_of(text[i + 1]) > 15 ||
                digit_of(text[i + 2]) > 15)
                return false;
            byte = digit_of(text[i + 1]) << 4 | digit_of(text[i + 2]);
            i += 2;
        }
        if (byte == 0)
            return false;
        *ret++ = (char)byte;
    }
    *ret = '\0';
    return true;
}

static enum pfd_status parse_file(const char *text, struct pfd_uri *ret,
                                  struct pfd_error *err)
{
    size_t n = strcspn(text, "#?");
    if (n == 0)
        return wrong(err, "the URI has no path");
    ret->path = malloc(n + 1);
    if (!ret->path)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    if (!decode(text, n, ret->path)) {
        return wrong(err, "the URI's path has a '%' without two hexadecimal "
                          "digits after it, or %00");
    }
    return text[n] ? read_range(text + n + 1, ret, err) : PFD_OK;
}

static enum pfd_status parse_memory(const char *text, struct pfd_uri *ret,
                                    struct pfd_error *err)
{
    if (!read_number(&text, true, &ret->pid) || ret->pid == 0 ||
        ret->pid > INT32_MAX)
        return wrong(err, "the URI's process is not a decimal number");
    if (*text != '#' && *text != '?')
        return wrong(err, "the URI of a process needs a range");
    return read_range(text + 1, ret, err);
}

enum pfd_status pfd_uri_parse(const char *text, struct pfd_uri *ret,
                              struct pfd_error *err)
{
    enum pfd_status status;
    *ret = (struct pfd_uri){ 0 };
    if (starts(text, file_scheme)) {
        status = parse_file(text + strlen(file_scheme), ret, err);
    } else if (starts(text, memory_scheme)) {
        status = parse_memory(text + strlen(memory_scheme), ret, err);
    } else {
        status = wrong(err, "not a code object URI");
    }
    if (status != PFD_OK)
        pfd_uri_deinit(ret);
    return status;
}

void pfd_uri_deinit(struct pfd_uri *uri)
{
    free(uri->path);
    uri->path = NULL;
}
