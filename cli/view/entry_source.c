/* SPDX-License-Identifier: MIT */
/* An index of entries as a source of a view. */
#include "entry_index.h"
#include "entry_index_state.h"

static size_t n_items(const void *source)
{
    const struct entry_index *x = source;
    return x->n;
}

static struct view_item item_of(const void *source, uint32_t number)
{
    const struct entry_index *x = source;
    uint32_t string = x->strings[number];
    return (struct view_item){
        .string = string & ENTRY_LINE ? VIEW_NO_STRING : string & ENTRY_NUMBER,
        .is_finding = string & ENTRY_FINDING,
    };
}

static size_t n_strings(const void *source)
{
    const struct entry_index *x = source;
    return x->names.keys.n;
}

static struct view_string string_at(const void *source, uint32_t number)
{
    const struct entry_index *x = source;
    return string_list_get(&x->names, number);
}

static uint64_t n_left_out(const void *source)
{
    const struct entry_index *x = source;
    return x->n_left_out;
}

static void show_origins(void *source, bool shown)
{
    struct entry_index *x = source;
    x->shows_origins = shown;
}

const struct view_source_class entry_index_class = {
    .n_items = n_items,
    .item = item_of,
    .n_strings = n_strings,
    .string = string_at,
    .lines = entry_index_lines,
    .details = entry_index_details,
    .filter = entry_index_filter,
    .collapse = entry_index_collapse,
    .show_origins = show_origins,
    .n_left_out = n_left_out,
};
