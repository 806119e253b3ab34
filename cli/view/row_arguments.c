/* SPDX-License-Identifier: MIT */
#include "row_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/schema.h"

/* The number of `aN`; SIZE_MAX: the name has another form. */
static size_t place_of(const char *name)
{
    char place[24];
    size_t ret = *name == 'a' ? strtoul(name + 1, NULL, 10) : SIZE_MAX;
    snprintf(place, sizeof place, "a%zu", ret);
    return strcmp(name, place) ? SIZE_MAX : ret;
}

static uint16_t find(const struct pfd_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->n_arguments; i++) {
        if (pfd_table_column_is(&schema->columns[i], name, strlen(name)))
            return (uint16_t)i;
    }
    size_t place = place_of(name);
    return place < schema->n_arguments ? (uint16_t)place
                                       : (uint16_t)NO_ARGUMENT;
}

bool row_arguments_find(const struct pfd_row *row, const char *const *names,
                        size_t n, uint16_t *ret)
{
    static const struct pfd_schema_spec spec = { 0 };
    struct pfd_schema schema;
    bool ok = pfd_schema_init(&schema, &spec, row, row->n_bytes);
    for (size_t i = 0; ok && i < n; i++)
        ret[i] = find(&schema, names[i]);
    pfd_schema_deinit(&schema);
    return ok;
}
