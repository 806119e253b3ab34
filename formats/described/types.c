/* SPDX-License-Identifier: MIT */
/* The types of arguments. */
#include <string.h>

#include "layout.h"

static const struct {
    const char *name;
    enum pfd_store store;
    char conv;
    enum described_text text;
} types[] = {
    { "u8", PFD_STORE_BYTE, 'u', TEXT_NONE },
    { "i8", PFD_STORE_BYTE, 'd', TEXT_NONE },
    { "u16", PFD_STORE_WORD, 'u', TEXT_NONE },
    { "i16", PFD_STORE_WORD, 'd', TEXT_NONE },
    { "u32", PFD_STORE_DWORD, 'u', TEXT_NONE },
    { "i32", PFD_STORE_DWORD, 'd', TEXT_NONE },
    { "u64", PFD_STORE_QWORD, 'u', TEXT_NONE },
    { "i64", PFD_STORE_QWORD, 'd', TEXT_NONE },
    { "f16", PFD_STORE_WORD, 'f', TEXT_NONE },
    { "f32", PFD_STORE_DWORD, 'f', TEXT_NONE },
    { "f64", PFD_STORE_QWORD, 'f', TEXT_NONE },
    { "bf16", PFD_STORE_BFLOAT, 'f', TEXT_NONE },
    { "ptr", PFD_STORE_QWORD, 'x', TEXT_NONE },
    { "bool", PFD_STORE_DWORD, 's', TEXT_NAME },
    { "bool8", PFD_STORE_BYTE, 's', TEXT_NAME },
    { "text", PFD_STORE_BYTE, 's', TEXT_ENDED },
    { "text8", PFD_STORE_BYTE, 's', TEXT_COUNTED },
    { "text16", PFD_STORE_WORD, 's', TEXT_COUNTED },
    { "text32", PFD_STORE_DWORD, 's', TEXT_COUNTED },
    { "id16", PFD_STORE_WORD, 's', TEXT_ID },
    { "id32", PFD_STORE_DWORD, 's', TEXT_ID },
    { "id64", PFD_STORE_QWORD, 's', TEXT_ID },
    { "offset16", PFD_STORE_WORD, 's', TEXT_OFFSET },
    { "offset32", PFD_STORE_DWORD, 's', TEXT_OFFSET },
};

/* Letters of Python's struct, and of tt-metal's DEVICE_PRINT. */
static const struct {
    char letter;
    const char *type;
} letters[] = {
    { 'b', "i8" },    { 'B', "u8" },   { 'h', "i16" }, { 'H', "u16" },
    { 'i', "i32" },   { 'I', "u32" },  { 'l', "i32" }, { 'L', "u32" },
    { 'q', "i64" },   { 'Q', "u64" },  { 'f', "f32" }, { 'd', "f64" },
    { '?', "bool8" }, { 'w', "bf16" }, { 'p', "ptr" }, { 's', "id32" },
};

bool described_type_of_letter(char letter, bool is_wide,
                              struct described_type *ret)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (letters[i].letter != letter)
            continue;
        described_type_of(letters[i].type, strlen(letters[i].type), ret);
        if (letter == 'p' || letter == 's')
            ret->store = is_wide ? PFD_STORE_QWORD : PFD_STORE_DWORD;
        return true;
    }
    return false;
}

enum {
    COMPONENTS_MAX = 64,
    STRIDE_MAX = 255,
};

/* A number behind a mark at *i, from 1 to `most`; without the mark, 1. 0: it is
 * none. */
static uint32_t number_behind(const char *text, size_t n, size_t *i, char mark,
                              uint32_t most)
{
    uint32_t ret = 0;
    if (*i == n || text[*i] != mark)
        return 1;
    for (++*i; *i < n && text[*i] >= '0' && text[*i] <= '9'; ++*i) {
        ret = ret * 10 + (uint32_t)(text[*i] - '0');
        if (ret > most)
            return 0;
    }
    return ret;
}

static bool read_shape(const char *text, size_t n, struct described_type *ret)
{
    size_t i = 0;
    bool is_matrix;
    ret->run = number_behind(text, n, &i, 'x', COMPONENTS_MAX);
    is_matrix = i < n && text[i] == 'x';
    ret->n = ret->run * number_behind(text, n, &i, 'x', COMPONENTS_MAX);
    if (i < n) {
        ret->stride = number_behind(text, n, &i, '@', STRIDE_MAX);
        if (!ret->stride || i < n)
            return false;
    }
    if (!is_matrix)
        ret->run = ret->n;
    return ret->n && ret->n <= COMPONENTS_MAX;
}

bool described_type_of(const char *text, size_t n, struct described_type *ret)
{
    size_t n_name = 0;
    while (n_name < n && text[n_name] != 'x' && text[n_name] != '@')
        n_name++;
    /* The x of "text" is its own. */
    if (n_name == 2 && n > 3 && !memcmp(text, "text", 4))
        n_name = n;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) != n_name ||
            memcmp(types[i].name, text, n_name) != 0)
            continue;
        *ret = (struct described_type){ .store = types[i].store,
                                        .conv = types[i].conv,
                                        .text = types[i].text,
                                        .names = types[i].text == TEXT_NAME
                                                     ? ENUMS_MAX
                                                     : 0 };
        return read_shape(text + n_name, n - n_name, ret);
    }
    return false;
}

/* ---- facts ---- */

uint64_t described_facts_of(const struct described_type *t)
{
    if (t->text == TEXT_ENDED || t->text == TEXT_COUNTED)
        return FACT_VARIABLE;
    return t->text == TEXT_ID || t->text == TEXT_NAME ? FACT_TEXTS
           : t->text == TEXT_OFFSET                   ? FACT_OFFSETS
                                                      : 0;
}

uint64_t described_common_facts(const uint64_t *v, bool has_types)
{
    return (has_types ? FACT_TYPES : 0) | (v[RING_TAG_BYTES] ? FACT_TAGS : 0) |
           (v[RING_ARGUMENT_ORDER] == ORDER_SIZE ? FACT_ORDER : 0) |
           (v[RING_VECTORS] == VECTORS_BRACES ? FACT_BRACED : 0) |
           v[RING_ARGUMENT_ALIGN] << FACT_ALIGN;
}
