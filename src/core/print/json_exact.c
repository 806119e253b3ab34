/* SPDX-License-Identifier: MIT */
#include "core/print/json_exact.h"

#include <string.h>

#include "core/print/number_fast.h"

static const char name[] = ",\"args_exact\":[";

static char *put(char *out, const char *text, size_t n)
{
    memcpy(out, text, n);
    return out + n;
}

/* ---- from values ---- */

static inline bool exceeds(const struct pfd_step *s, const uint8_t *payload,
                           uint64_t *ret)
{
    uint64_t v = 0;
    if (!pfd_step_is_wide(s))
        return false;
    memcpy(&v, payload + s->at, sizeof v);
    if (v <= PFD_EXACT_MAX)
        return false;
    v = pfd_step_integer(s, payload);
    *ret = v;
    /* Signed ones are moved, so that the range begins with 0. */
    return pfd_step_is_signed(s) ? v + PFD_EXACT_MAX > 2 * PFD_EXACT_MAX
                                 : v > PFD_EXACT_MAX;
}

bool pfd_steps_exceed(const struct pfd_step *steps, const uint8_t *payload)
{
    uint64_t v = 0;
    for (const struct pfd_step *s = steps; s->op != PFD_OP_END; s++) {
        if (exceeds(s, payload, &v))
            return true;
    }
    return false;
}

char *pfd_steps_put_exact(char *out, const struct pfd_step *steps,
                          const uint8_t *payload)
{
    uint64_t v = 0;
    out = put(out, name, sizeof name - 1);
    for (const struct pfd_step *s = steps; s->op != PFD_OP_END; s++) {
        if (s->store == PFD_STORE_NONE)
            continue;
        if (exceeds(s, payload, &v)) {
            *out++ = '"';
            out = pfd_step_is_signed(s) ? pfd_put_i64(out, (int64_t)v)
                                        : pfd_put_u64(out, v);
            *out++ = '"';
            *out++ = ',';
        } else {
            out = put(out, "null,", 5);
        }
    }
    out[-1] = ']';
    return out;
}

/* ---- from text ---- */

/* The end of the argument at `at`: a number, a word, or a string in quotes. */
static const char *argument_end(const char *at, const char *end)
{
    if (*at != '"') {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        return comma ? comma : end;
    }
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Floats have a point or an exponent, or few digits. */
static bool is_beyond(const char *at, size_t n)
{
    static const char max[] = "9007199254740992";
    size_t n_max = sizeof max - 1;
    if (n && *at == '-') {
        at++;
        n--;
    }
    for (size_t i = 0; i < n; i++) {
        if (at[i] < '0' || at[i] > '9')
            return false;
    }
    return n > n_max || (n == n_max && memcmp(at, max, n_max) > 0);
}

static bool any_beyond(const char *at, const char *end)
{
    while (at < end) {
        const char *stop = argument_end(at, end);
        if (is_beyond(at, (size_t)(stop - at)))
            return true;
        at = stop + 1;
    }
    return false;
}

char *pfd_json_put_exact(char *out, const char *list, size_t n)
{
    const char *end = list + n;
    if (!any_beyond(list, end))
        return out;
    out = put(out, name, sizeof name - 1);
    while (list < end) {
        const char *stop = argument_end(list, end);
        if (is_beyond(list, (size_t)(stop - list))) {
            *out++ = '"';
            out = put(out, list, (size_t)(stop - list));
            *out++ = '"';
        } else {
            out = put(out, "null", 4);
        }
        *out++ = ',';
        list = stop + 1;
    }
    out[-1] = ']';
    return out;
}
