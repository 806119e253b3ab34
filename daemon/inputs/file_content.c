/* SPDX-License-Identifier: MIT */
#include "inputs/file_content.h"

#include <string.h>

enum pfdd_file_content pfdd_file_content(const char *bytes, size_t n)
{
    static const struct {
        const char *magic;
        size_t n;
        enum pfdd_file_content content;
    } magics[] = {
        { "\x89PFD", 4, PFDD_CONTENT_CAPTURE },
        { "\x7f"
          "ELF",
          4, PFDD_CONTENT_CODE },
        { "\x03\x02\x23\x07", 4, PFDD_CONTENT_CODE },
        { "!<arch>\n", 8, PFDD_CONTENT_CODE },
        { "\x1f\x8b", 2, PFDD_CONTENT_COMPRESSED },
        { "\x28\xb5\x2f\xfd", 4, PFDD_CONTENT_COMPRESSED },
    };
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (n >= magics[i].n && !memcmp(bytes, magics[i].magic, magics[i].n))
            return magics[i].content;
    }
    return PFDD_CONTENT_OTHER;
}
