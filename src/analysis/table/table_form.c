/* SPDX-License-Identifier: MIT */
#include "analysis/table/table_form.h"

#include <string.h>

#include "core/base/escape.h"

bool pfd_table_utf8(struct pfd_text *ret, const char *text, size_t n)
{
    bool escaped = false;
    if (pfd_is_utf8(text, n)) {
        pfd_text_add(ret, text, n);
        return false;
    }
    for (size_t i = 0; i < n;) {
        size_t length = pfd_utf8_length(text + i, n - i);
        if (length) {
            pfd_text_add(ret, text + i, length);
            i += length;
            continue;
        }
        char *to = pfd_text_reserve(ret, 4);
        if (to)
            ret->n += (size_t)(pfd_escape_byte(to, text[i]) - to);
        escaped = true;
        i++;
    }
    return escaped;
}

bool pfd_table_is_plain_utf8(const char *text, size_t n)
{
    return pfd_is_utf8(text, n) && !(n && memchr(text, '\0', n));
}

enum pfd_status pfd_table_output_get(size_t i, struct pfd_table_output *ret)
{
    for (size_t k = 0; pfd_table_forms[k]; k++) {
        if (k == i) {
            *ret = pfd_table_forms[k]->info;
            return PFD_OK;
        }
    }
    return PFD_END;
}
