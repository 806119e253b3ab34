/* SPDX-License-Identifier: MIT */
#include "argument.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    BYTES_MAX = 1 << 30
};

static bool read_float(const char *text, char **end, unsigned size, void *ret)
{
    double wide = strtod(text, end);
    float narrow = (float)wide;
    memcpy(ret, size == 4 ? (void *)&narrow : (void *)&wide, size);
    return true;
}

static bool read_integer(const char *text, char **end,
                         const struct argument_type *type, void *ret)
{
    unsigned bits = 8 * type->size;
    uint64_t value;
    errno = 0;
    if (type->kind == 'u') {
        value = strtoull(text, end, 0);
        if (*text == '-' || (bits < 64 && value >> bits))
            return false;
    } else {
        long long number = strtoll(text, end, 0);
        long long most = (long long)(UINT64_MAX >> (65 - bits));
        if (number > most || number < -most - 1)
            return false;
        value = (uint64_t)number;
    }
    memcpy(ret, &value, type->size); /* little-endian */
    return !errno;
}

bool argument_read(const char *text, const struct argument_type *type,
                   void *ret)
{
    unsigned char *to = ret;
    for (unsigned i = 0; i < type->n; i++, to += type->size) {
        char *end = NULL;
        if (isspace((unsigned char)*text) ||
            !(type->kind == 'f' ? read_float(text, &end, type->size, to)
                                : read_integer(text, &end, type, to)) ||
            end == text || *end != (i + 1 < type->n ? ',' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

bool argument_bytes(const char *text, size_t *ret)
{
    const struct argument_type type = { 'u', 8, 1 };
    uint64_t n = 0;
    bool ok = argument_read(text, &type, &n) && n > 0 && n <= BYTES_MAX;
    *ret = (size_t)n;
    return ok;
}
