/* SPDX-License-Identifier: MIT */
/* Finds messages in memory by their constants, which must be those of a loaded
 * shader. */
#include "layout.h"

enum {
    HEADER = 8,
    SIZE_MAX_FOUND = 1 << 16, /* bytes of the longest message that is searched
                                 for */
    /* Bytes of constants that cannot match by chance. */
    KNOWN_MIN = 8,
};

/* The size of the message at `at`, with its header and padding; 0: it belongs
 * to no shader. score: the number of constant bytes, as abort_find_sites()
 * counts them. */
static size_t message_at(const struct pfd_field *field, size_t at,
                         int64_t *score)
{
    const struct pfd_byte_reader c = pfd_byte_reader(field->bytes, field->n);
    struct abort_sites sites;
    *score = 0;
    if (field->n - at < HEADER)
        return 0;
    uint64_t size = pfd_byte_reader_peek_u64(&c, at);
    if (size - 1 >= SIZE_MAX_FOUND || size > field->n - at - HEADER)
        return 0;
    abort_find_sites(field->shader_table, field->bytes + at + HEADER, size,
                     &sites);
    *score = sites.score;
    return sites.n ? HEADER + (size_t)abort_align(size, HEADER) : 0;
}

size_t abort_find(const struct pfd_field *field, size_t from, size_t to,
                  struct pfd_whole *ret)
{
    size_t at = from + (size_t)(-(field->address + from) % HEADER);
    for (; field->shader_table->n && at < to; at += HEADER) {
        int64_t score = 0;
        size_t used = message_at(field, at, &score);
        size_t n = used;
        if (!used || score < KNOWN_MIN)
            continue;
        while (n && used < field->n - at) {
            n = message_at(field, at + used, &score);
            used += n;
        }
        used = used < field->n - at ? used : field->n - at;
        *ret = (struct pfd_whole){
            .size = used,
            .used = used,
            .is_sure = true,
            .why = "a message with the constants of a loaded shader",
        };
        return at;
    }
    return to;
}
