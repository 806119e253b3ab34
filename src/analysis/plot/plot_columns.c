/* SPDX-License-Identifier: MIT */
/* Chooses the values of an entry that a plot takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/plot/plot_state.h"
#include "analysis/table/schema.h"

/* The columns of the string's arguments in a table. */
static bool name_arguments(const struct pfd_plot *plot, struct pfd_schema *ret)
{
    const struct pfd_plot_spec *spec = &plot->spec;
    const struct pfd_schema_spec wanted = { .strings = spec->strings };
    size_t n = pfd_strings_columns(spec->strings, spec->string, NULL, 0);
    size_t n_bytes = sizeof(struct pfd_row) + n * sizeof(struct pfd_cell);
    struct pfd_row *row = calloc(1, n_bytes);
    if (!row)
        return false;
    row->n_bytes = (uint32_t)n_bytes;
    row->string = (uint32_t)spec->string;
    row->n_cells = (uint16_t)n;
    struct pfd_cell *cells = (struct pfd_cell *)(row + 1);
    for (size_t i = 0; i < n; i++)
        cells[i].type = PFD_CELL_ABSENT;
    bool ok = pfd_schema_init(ret, &wanted, row, n_bytes);
    free(row);
    return ok;
}

static bool find_argument(const struct pfd_schema *schema, const char *name,
                          struct pfd_point_column *ret, char *label)
{
    char place[24];
    for (size_t i = 0; i < schema->n; i++) {
        const struct pfd_table_column *c = &schema->columns[i];
        snprintf(place, sizeof place, "a%u", c->number);
        if (c->from != PFD_FROM_ARGUMENT ||
            (!pfd_table_column_is(c, name, strlen(name)) &&
             strcmp(name, place) != 0 && strcmp(name, place + 1) != 0))
            continue;
        *ret = (struct pfd_point_column){ .from = PFD_POINT_OF_ARGUMENT,
                                          .number = c->number };
        snprintf(label, PFD_PANEL_NAME, "%s", c->name);
        return true;
    }
    return false;
}

/* Finds an argument by number, where the format string is not known yet. */
static bool find_number(const char *name, struct pfd_point_column *ret)
{
    char *end = NULL;
    const char *digits = *name == 'a' ? name + 1 : name;
    unsigned long number = strtoul(digits, &end, 10);
    *ret = (struct pfd_point_column){ .from = PFD_POINT_OF_ARGUMENT,
                                      .number = (uint32_t)number };
    return *digits >= '0' && *digits <= '9' && !*end && number <= UINT16_MAX;
}

/* Finds a member of an origin: "lane", or "workgroup.x". */
static bool find_origin(const char *name, const char *const *known,
                        struct pfd_point_column *ret)
{
    for (; known && *known; known++) {
        size_t n = strlen(*known);
        if (strncmp(name, *known, n) != 0)
            continue;
        const char *part = name + n;
        bool is_part = part[0] == '.' && part[1] && !part[2] &&
                       strchr("xyz", part[1]) != NULL;
        if (*part && !is_part)
            continue;
        *ret = (struct pfd_point_column){
            .from = PFD_POINT_OF_ORIGIN,
            .number = is_part ? (uint32_t)(part[1] - 'x') : 0,
        };
        snprintf(ret->name, sizeof ret->name, "%s", *known);
        return true;
    }
    return false;
}

static bool find_beside(const char *name, struct pfd_point_column *ret)
{
    static const char *const words[] = { "index", "time" };
    static const enum pfd_point_from from[] = { PFD_POINT_OF_INDEX,
                                                PFD_POINT_OF_TIME };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(name, words[i])) {
            *ret = (struct pfd_point_column){ .from = from[i] };
            return true;
        }
    }
    for (const struct pfd_format *const *f = pfd_formats; *f; f++) {
        if (find_origin(name, (*f)->origins.names, ret))
            return true;
    }
    return false;
}

/* Fails with the names of the columns, because none has this name (NULL:
 * because none is chosen for a role); always false. */
static bool fail_column(struct pfd_plot *plot, const struct pfd_schema *schema,
                        const char *name, const char *role)
{
    char list[140] = "";
    size_t n = 0;
    for (size_t i = 0; i < schema->n; i++) {
        const struct pfd_table_column *c = &schema->columns[i];
        if (c->from == PFD_FROM_ARGUMENT &&
            n + strlen(c->name) + 16 < sizeof list) {
            n += (size_t)snprintf(list + n, sizeof list - n, "%s (%u), ",
                                  c->name, c->number);
        }
    }
    pfd_fail(&plot->error, PFD_ERR_USAGE, PFD_NO_OFFSET,
             "%s%.40s%s there are: %sindex, time, and what an origin has",
             name ? "no column is called '" : "which column is ",
             name ? name : role, name ? "';" : "? In this string", list);
    return false;
}

static bool find(struct pfd_plot *plot, const struct pfd_schema *schema,
                 enum pfd_plot_role role, const char *name)
{
    struct pfd_point_column c;
    bool knows = plot->spec.string != SIZE_MAX;
    snprintf(plot->label[role], PFD_PANEL_NAME, "%s", name);
    if (!(knows ? find_argument(schema, name, &c, plot->label[role])
                : find_number(name, &c)) &&
        !find_beside(name, &c))
        return fail_column(plot, schema, name, NULL);
    plot->role[role] = (int)plot->points.n;
    plot->points.columns[plot->points.n++] = c;
    return true;
}

bool pfd_plot_find_columns(struct pfd_plot *plot)
{
    const struct pfd_plot_spec *spec = &plot->spec;
    const char *names[PFD_ROLES] = { spec->x, spec->y, spec->value, spec->by };
    struct pfd_schema schema = { 0 };
    bool ok = true;
    if (spec->kind == PFD_PLOT_LINE && !names[PFD_ROLE_X])
        names[PFD_ROLE_X] = "index";
    if (spec->string != SIZE_MAX && !name_arguments(plot, &schema))
        ok = pfd_plot_fail(plot, PFD_ERR_NOMEM, "out of memory");
    bool has_y = spec->kind != PFD_PLOT_HIST;
    if (ok && (!names[PFD_ROLE_X] || (has_y && !names[PFD_ROLE_Y]))) {
        ok = fail_column(plot, &schema, NULL, names[PFD_ROLE_X] ? "y" : "x");
    }
    for (int i = 0; i < PFD_ROLES && ok; i++) {
        plot->role[i] = -1;
        ok = !names[i] || find(plot, &schema, (enum pfd_plot_role)i, names[i]);
    }
    pfd_schema_deinit(&schema);
    return ok;
}
