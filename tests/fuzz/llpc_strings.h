/* SPDX-License-Identifier: MIT */
/* The strings of LLPC that targets know: ids that a mutator can hit, and each
 * kind of trouble. */
#ifndef LLPC_STRINGS_H
#define LLPC_STRINGS_H

#include <string.h>

#include <printfdecode/strings.h>

#include "fuzz.h"

static inline void add_llpc(struct pfd_strings *strings, uint64_t id,
                            const char *text, uint64_t n, uint64_t mask)
{
    struct pfd_string_info info = {
        .id = id,
        .text = text,
        .n_text = strlen(text),
        .argument_count = n,
        .source = "fuzz",
    };
    FUZZ_CHECK(pfd_strings_add(strings, &info, &mask, 1, NULL, NULL, NULL) ==
               PFD_OK);
}

static inline struct pfd_strings *make_llpc_strings(void)
{
    struct pfd_strings *strings = pfd_strings_new();
    FUZZ_CHECK(strings);
    add_llpc(strings, 0x414141414141, "none\n", 0, 0);
    add_llpc(strings, 0x424242424242, "one %d\n", 1, 0);
    add_llpc(strings, 0x424242424242, "wide %lld\n", 1, 1);
    add_llpc(strings, 0x434343434343, "two %*f %s %c\n", 4, 2);
    add_llpc(strings, 0x444444444444, "%v4f %ld", 2, 0);
    add_llpc(strings, 0x454545454545, "%ld %x %\xff", 2, 1);
    add_llpc(strings, 0x464646464646, "\xc3\xa9 % \xc3\xa9 %y\x1b", 3, 0);
    return strings;
}

#endif
