/* SPDX-License-Identifier: MIT */
/* The keys of a description whose own keys are names and values: origins, types
 * of tags, enumerations. */
#include <string.h>

#include "description.h"
#include "origins.h"

bool description_take_origins(struct description *r)
{
    uint64_t n = 0;
    if (!description_enter(r, true, &n) || n > ORIGINS_MAX) {
        return description_mistake(r, r->source,
                                   "'origin' needs up to eight fields");
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t n_key;
        uint64_t k = 0;
        const char *key = description_read_text(r, &n_key);
        while (key && described_origin_names[k] &&
               !description_is_key(key, n_key, described_origin_names[k]))
            k++;
        if (!key || !described_origin_names[k]) {
            return description_mistake_at(r, "no origin is called ",
                                          key ? key : "", key ? n_key : 0, "");
        }
        size_t number = RING_ORIGINS + (size_t)i * (1 + FIELD_NUMBERS);
        r->numbers[number] = k;
        if (!description_take_field(r, number + 1))
            return false;
    }
    return true;
}

bool description_take_order(struct description *r)
{
    size_t n;
    const char *word = description_read_text(r, &n);
    bool is_size = word && description_is_key(word, n, "size");
    r->numbers[RING_ARGUMENT_ORDER] = is_size ? ORDER_SIZE : ORDER_WRITTEN;
    return is_size || (word && description_is_key(word, n, "written")) ||
           description_mistake(r, r->source, "'order' is written or size");
}

bool description_take_vectors(struct description *r)
{
    size_t n;
    const char *word = description_read_text(r, &n);
    bool is_braces = word && description_is_key(word, n, "braces");
    r->numbers[RING_VECTORS] = is_braces ? VECTORS_BRACES : VECTORS_BRACKETS;
    return is_braces || (word && description_is_key(word, n, "brackets")) ||
           description_mistake(r, r->source, "'vectors' is brackets or braces");
}

bool description_find_type(struct description *r, const char *text, size_t n,
                           struct described_type *ret)
{
    for (size_t i = 0; i < r->n_enums; i++) {
        if (r->enums[i].n == n && !memcmp(r->enums[i].name, text, n)) {
            *ret = (struct described_type){ .store = PFD_STORE_DWORD,
                                            .conv = 's',
                                            .n = 1,
                                            .run = 1,
                                            .text = TEXT_NAME,
                                            .names = (uint32_t)i };
            return true;
        }
    }
    return described_type_of(text, n, ret) ||
           description_mistake_at(r, "no type is called ", text, n, "");
}

bool description_take_tag_types(struct description *r)
{
    uint64_t n = 0;
    if (!description_enter(r, true, &n)) {
        return description_mistake(r, r->source,
                                   "'types' needs values and their types");
    }
    if (n > TAGS_MAX) {
        return description_mistake(r, r->source,
                                   "'types' has more than 256 values");
    }
    for (uint64_t i = 0; i < n; i++) {
        struct described_type type;
        size_t n_text;
        uint64_t *to = r->numbers + RING_TAGS + 2 * i;
        if (!description_read_number(r, to)) {
            return description_mistake(r, r->source,
                                       "the value of a tag is a number");
        }
        const char *text = description_read_text(r, &n_text);
        if (!text) {
            return description_mistake(r, r->source,
                                       "a type is a word, as u32");
        }
        if (!description_find_type(r, text, n_text, &type))
            return false;
        to[1] = described_pack(&type);
    }
    r->n_tags = (size_t)n;
    return true;
}

/* ---- enumerations ---- */

static bool take_names(struct description *r, size_t i)
{
    uint64_t values[PFD_LAYOUT_MAX];
    struct pfd_text names = { 0 };
    uint64_t n = 0;
    bool is_map = description_enter(r, true, &n);
    bool ok = (is_map || description_enter(r, false, &n)) && n < PFD_LAYOUT_MAX;
    for (uint64_t k = 0; k < n && ok; k++) {
        size_t n_text = 0;
        values[k] = k;
        ok = !is_map || description_read_number(r, &values[k]);
        const char *text = ok ? description_read_text(r, &n_text) : NULL;
        ok = text && !memchr(text, 0, n_text);
        if (ok) {
            pfd_text_add(&names, text, n_text);
            pfd_text_add(&names, "", 1);
        }
    }
    struct pfd_string_row row = {
        .key = ENUM_KEY(i),
        .text = names.n ? names.data : "",
        .n_text = names.n,
        .layout = values,
        .n_layout = (size_t)n,
        .literal = true,
    };
    if (!ok) {
        description_mistake(r, r->source,
                            "an enumeration has values and names");
    } else if (!names.failed) {
        ok = pfd_strings_add_row(r->strings, &r->format->strings, &row,
                                 r->report, 0, r->err) == PFD_OK;
    }
    ok &= !names.failed;
    pfd_text_free(&names);
    return ok;
}

bool description_take_enums(struct description *r)
{
    uint64_t n = 0;
    if (!description_enter(r, true, &n) || n > ENUMS_MAX) {
        return description_mistake(r, r->source,
                                   "'enums' needs names of enumerations");
    }
    for (uint64_t i = 0; i < n; i++) {
        size_t n_name;
        const char *name = description_read_text(r, &n_name);
        if (!name)
            return description_mistake(r, r->source, "a key is a word");
        r->enums[i].name = name;
        r->enums[i].n = n_name;
        r->n_enums = (size_t)i + 1;
        if (!take_names(r, (size_t)i))
            return false;
    }
    return true;
}
