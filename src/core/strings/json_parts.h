/* SPDX-License-Identifier: MIT */
/*
 * The constant parts of one buffer's JSON lines, rendered once: the part of a
 * format string, the buffer's name, and the leading digits of numbers that
 * only grow. Belongs to one thread.
 */
#ifndef PFD_JSON_PARTS_H
#define PFD_JSON_PARTS_H

#include <stdint.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/text.h"
#include "core/print/number_fast.h"
#include "core/strings/strings.h"

/* A number whose digits above the last four stay the same for a while. */
struct pfd_counter {
    uint64_t high; /* the number / 10000; 0: no digits cached */
    size_t n;      /* digits in text */
    char text[PFD_ROOM_INT];
};

struct pfd_json_part {
    const char *text; /* followed by PFD_ARENA_SLACK readable bytes */
    size_t n;
};

/* Shared by the lines of one format string. */
struct pfd_json_string {
    /* From the message's closing quote to the bracket of the arguments; text
     * is NULL until it is first needed. */
    struct pfd_json_part part;
    /* Bytes of a line and of its arguments, for entries that match the string
     * exactly; without names, numbers and the overshoot of copies. */
    size_t room;
    size_t arguments_room;
    bool is_plain; /* UTF-8 with nothing to escape beside its literals */
    bool is_wide;  /* it prints integers of 64 bits */
    /* pfd_json_add_names(), cached; NULL until it is first needed. */
    const char *names;
};

struct pfd_json_parts {
    struct pfd_json_string *strings; /* [n_strings], by index; grows */
    size_t n_strings;
    /* From the offset's comma to the name's closing quote. */
    struct pfd_json_part source;
    struct pfd_counter index;
    struct pfd_counter offset;
    struct pfd_arena arena;
};

/* False: out of memory; call deinit in any case. */
bool pfd_json_parts_init(struct pfd_json_parts *parts, const char *source);
void pfd_json_parts_deinit(struct pfd_json_parts *parts);

/* Writes the part of a string (NULL: an unknown one) of a format; out has
 * room for pfd_json_string_room(). Returns the end. */
char *pfd_json_put_string(char *out, const struct pfd_string *string,
                          const char *format, uint64_t id);
size_t pfd_json_string_room(const struct pfd_string *string,
                            const char *format);

/* The same, cached; NULL when out of memory. */
const struct pfd_json_string *pfd_json_parts_make(
    struct pfd_json_parts *parts, const struct pfd_string *string,
    const char *format);

/* Adds the names of the string's arguments, each with a NUL, in their order. */
void pfd_json_add_names(struct pfd_text *out, const struct pfd_string *string);

/* The same for a string of a table, cached: borrowed; NULL when out of memory.
 * scratch: working memory. */
const char *pfd_json_parts_names(struct pfd_json_parts *parts,
                                 const struct pfd_string *string,
                                 struct pfd_text *scratch);

static inline const struct pfd_json_string *pfd_json_parts_get(
    struct pfd_json_parts *parts, const struct pfd_string *string,
    const char *format)
{
    size_t i = string->index;
    if (__builtin_expect(i < parts->n_strings && parts->strings[i].part.text,
                         1))
        return &parts->strings[i];
    return pfd_json_parts_make(parts, string, format);
}

/* Copies in blocks: out has room for PFD_ARENA_SLACK bytes more. */
static inline char *pfd_json_put_part(char *out,
                                      const struct pfd_json_part *part)
{
    size_t n = part->n;
    for (size_t i = 0; i < n; i += PFD_ARENA_SLACK)
        memcpy(out + i, part->text + i, PFD_ARENA_SLACK);
    return out + n;
}

char *pfd_counter_restart(struct pfd_counter *counter, char *out, uint64_t v);

/* Writes v; room PFD_ROOM_INT. */
static inline char *pfd_counter_put(struct pfd_counter *counter, char *out,
                                    uint64_t v)
{
    uint64_t low = v - counter->high * 10000;
    if (low >= 10000 || counter->high == 0)
        return pfd_counter_restart(counter, out, v);
    memcpy(out, counter->text, 16);
    /* Two pairs of digits in halves of a word, then tens and ones of both. */
    uint32_t hundreds = (uint32_t)low * 5243 >> 19;
    uint32_t pairs = hundreds | ((uint32_t)low - hundreds * 100) << 16;
    uint32_t tens = (pairs * 103 >> 10) & 0x000f000f;
    uint32_t digits = (tens | (pairs - tens * 10) << 8) + 0x30303030;
    memcpy(out + counter->n, &digits, 4);
    return out + counter->n + 4;
}

#endif
