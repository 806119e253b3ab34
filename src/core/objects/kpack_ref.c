/* SPDX-License-Identifier: MIT */
#include "core/objects/kpack_ref.h"

#include <string.h>

#include "core/base/msgpack.h"

static bool is_text(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && !memcmp(text, word, n);
}

bool pfd_kpack_is_ref(const struct pfd_section *section)
{
    return is_text(section->name, section->n_name, ".rocm_kpack_ref");
}

struct pfd_kpack_names pfd_kpack_names(const struct pfd_section *section)
{
    struct pfd_kpack_names ret = { section->bytes, 0 };
    bool is_it = false;
    for (uint64_t left = 1; left > 0 && !ret.left; left--) {
        struct pfd_msgpack object = pfd_msgpack_read(&ret.c);
        if (object.kind == PFD_MSGPACK_BAD ||
            object.n_follow > pfd_byte_reader_left(&ret.c))
            break;
        if (object.kind == PFD_MSGPACK_ITEMS) {
            ret.left = is_it && !object.is_map ? object.n_follow : 0;
            left += object.n_follow;
            is_it = false;
            continue;
        }
        const uint8_t *text =
            pfd_byte_reader_bytes(&ret.c, (size_t)object.n_follow);
        is_it = object.kind == PFD_MSGPACK_BYTES &&
                is_text((const char *)text, (size_t)object.n_follow,
                        "kpack_search_paths");
    }
    return ret;
}

const char *pfd_kpack_next_name(struct pfd_kpack_names *names, size_t *n)
{
    if (!names->left)
        return NULL;
    names->left--;
    return pfd_msgpack_read_bytes(&names->c, n);
}
