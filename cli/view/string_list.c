/* SPDX-License-Identifier: MIT */
#include "string_list.h"

#include <string.h>

void string_list_free(struct string_list *list)
{
    pfd_dictionary_free(&list->keys);
    pfd_text_free(&list->counts);
    pfd_text_free(&list->by_index);
}

/* The number of a key; that of `others` where a new one has no room. */
static uint32_t add_key(struct string_list *list, const struct pfd_text *key)
{
    static const char others[] = "o(further format strings)";
    bool is_full = list->bytes_max && list->keys.bytes.n + list->keys.ends.n +
                                              list->counts.n + key->n >
                                          list->bytes_max;
    uint32_t known =
        is_full ? pfd_dictionary_find(&list->keys, key->data, key->n) : 0;
    if (!is_full || known != UINT32_MAX)
        return pfd_dictionary_add(&list->keys, key->data, key->n);
    list->others =
        pfd_dictionary_add(&list->keys, others, sizeof others - 1) + 1;
    return list->others - 1;
}

static uint32_t number_of(struct string_list *list, const struct pfd_row *row,
                          const char *text, size_t n)
{
    struct pfd_text key = { 0 };
    struct counted_string one = { .id = row->id };
    one.is_unknown = row->string == PFD_ROW_NO_STRING;
    pfd_text_add(&key, one.is_unknown ? "u" : "s", 1);
    if (one.is_unknown) {
        pfd_text_printf(&key, "(unknown id 0x%012llx)",
                        (unsigned long long)row->id);
    } else {
        pfd_text_add(&key, text, n);
    }
    uint32_t ret = key.failed ? 0 : add_key(list, &key);
    if (ret == list->counts.n / sizeof one)
        pfd_text_add(&list->counts, &one, sizeof one);
    list->failed |= key.failed || list->keys.failed || list->counts.failed;
    pfd_text_free(&key);
    return ret;
}

/* Where the number of string i of the set is; NULL: out of memory. */
static uint32_t *known_number(struct string_list *list, size_t i)
{
    static const uint32_t none;
    while (list->by_index.n / sizeof none <= i && !list->by_index.failed)
        pfd_text_add(&list->by_index, &none, sizeof none);
    list->failed |= list->by_index.failed;
    return list->failed ? NULL : (uint32_t *)(void *)list->by_index.data + i;
}

static uint32_t find(struct string_list *list, const struct pfd_row *row,
                     const struct pfd_strings *strings)
{
    struct pfd_string_info info;
    if (row->string == PFD_ROW_NO_STRING)
        return number_of(list, row, "", 0);
    if (row->string == PFD_ROW_SYNTHESIZED) {
        return number_of(list, row, pfd_row_bytes(row, row->text), row->text.n);
    }
    uint32_t *known = known_number(list, row->string);
    if (known && !*known) {
        pfd_strings_get(strings, row->string, &info);
        *known = number_of(list, row, info.text, info.n_text) + 1;
    }
    return known ? *known - 1 : 0;
}

static uint32_t count(struct string_list *list, uint32_t number)
{
    if (!list->failed)
        ((struct counted_string *)(void *)list->counts.data)[number].n++;
    return number;
}

uint32_t string_list_add(struct string_list *list, const struct pfd_row *row,
                         const struct pfd_strings *strings)
{
    return count(list, find(list, row, strings));
}

uint32_t string_list_add_text(struct string_list *list,
                              const struct pfd_row *row, const char *text,
                              size_t n)
{
    return count(list, number_of(list, row, text, n));
}

const struct counted_string *string_list_count(const struct string_list *list,
                                               uint32_t number)
{
    return &(
        (const struct counted_string *)(const void *)list->counts.data)[number];
}

struct view_string string_list_get(const struct string_list *list,
                                   uint32_t number)
{
    const uint32_t *ends = (const void *)list->keys.ends.data;
    return (struct view_string){
        .text = list->keys.bytes.data + ends[number] + 1, /* behind the kind */
        .n_text = ends[number + 1] - ends[number] - 1,
        .n = string_list_count(list, number)->n,
    };
}
