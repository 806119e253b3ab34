/* SPDX-License-Identifier: MIT */
/*
 * The source around an entry's line. A format returns a line's text as a
 * pointer into its module, and the pointer identifies the line.
 */
#include "core/decode/excerpt.h"

#include <string.h>

#include "core/decode/entry.h"
#include "core/spirv/shader_table.h"

static const struct pfd_origin *find(const struct pfd_origin *all, size_t n,
                                     const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(all[i].name, name))
            return &all[i];
    }
    return NULL;
}

enum pfd_status pfd_entry_excerpt(struct pfd_entry *entry, uint32_t around,
                                  struct pfd_excerpt *ret)
{
    size_t n = 0;
    const struct pfd_shader_table *shader_table = entry->of->shader_table;
    const struct pfd_origin *all = pfd_entry_origins(entry, &n);
    const struct pfd_origin *line = find(all, n, "line");
    const struct pfd_origin *text = find(all, n, "source_line");
    if (!line || !text || !shader_table)
        return PFD_END;
    for (size_t i = 0; i < shader_table->n; i++) {
        if (pfd_spirv_excerpt(shader_table->shaders[i].module, text->text,
                              (uint32_t)line->value[0], around, ret))
            return PFD_OK;
    }
    return PFD_END;
}
