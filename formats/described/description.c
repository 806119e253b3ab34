/* SPDX-License-Identifier: MIT */
#include "description.h"

#include <string.h>

bool description_mistake(struct description *r, size_t source, const char *what)
{
    size_t line = 1;
    size_t column = 1;
    for (size_t i = 0; i < source && i < r->n; i++) {
        column++;
        if (r->text[i] == '\n') {
            line++;
            column = 1;
        }
    }
    pfd_fail(r->err, PFD_ERR_CORRUPT, source, "line %zu, column %zu: %s", line,
             column, what);
    return false;
}

bool description_mistake_at(struct description *r, const char *before,
                            const char *text, size_t n, const char *behind)
{
    char what[256];
    struct pfd_text all = { 0 };
    pfd_quote(&r->quoted, text, n);
    pfd_text_printf(&all, "%s'%s'%s", before, r->quoted.text, behind);
    size_t n_what = all.n < sizeof what ? all.n : sizeof what - 1;
    if (n_what)
        memcpy(what, all.data, n_what);
    what[n_what] = '\0';
    pfd_text_free(&all);
    return description_mistake(r, r->source, what);
}

/* ---- values ---- */

const char *description_read_text(struct description *r, size_t *n)
{
    struct pfd_byte_reader c = r->c;
    const char *text = pfd_msgpack_read_bytes(&c, n);
    const struct pfd_yaml_place *places =
        (const struct pfd_yaml_place *)(const void *)r->yaml.places.data;
    size_t n_places = r->yaml.places.n / sizeof *places;
    if (!text)
        return NULL;
    r->c = c;
    size_t at = c.at - *n;
    size_t low = 0;
    size_t high = n_places;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].encoded <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    r->source = n_places ? places[low].source : 0;
    return text;
}

bool description_read_number(struct description *r, uint64_t *ret)
{
    enum {
        NO = 0xc2, /* MessagePack's false; true follows */
    };
    struct pfd_byte_reader c = r->c;
    uint8_t first = pfd_byte_reader_u8(&c);
    if (first == NO || first == NO + 1) {
        *ret = first - NO;
        r->c = c;
        return true;
    }
    c = r->c;
    if (!pfd_msgpack_read_number(&c, ret))
        return false;
    r->c = c;
    return true;
}

bool description_enter(struct description *r, bool is_map, uint64_t *n)
{
    struct pfd_byte_reader c = r->c;
    struct pfd_msgpack m = pfd_msgpack_read(&c);
    if (m.kind != PFD_MSGPACK_ITEMS || m.is_map != is_map)
        return false;
    *n = is_map ? m.n_follow / 2 : m.n_follow;
    r->c = c;
    return true;
}

bool description_is_key(const char *text, size_t n, const char *key)
{
    return n == strlen(key) && !memcmp(text, key, n);
}
