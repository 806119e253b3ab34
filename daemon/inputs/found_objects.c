/* SPDX-License-Identifier: MIT */
#include "inputs/found_objects.h"

#include <stdlib.h>
#include <string.h>

#include "ingest/string_store.h"

struct pfdd_found_object {
    struct pfdd_found_object *next;
    char *name;
    void *bytes; /* [n] */
    size_t n;
};

enum pfd_status pfdd_found_objects_add(
    struct pfdd_found_objects *found_objects,
    const struct pfd_process_code_object *found)
{
    struct pfdd_found_object **end = &found_objects->first;
    if (!found->bytes)
        return PFD_OK;
    struct pfdd_found_object *f = calloc(1, sizeof *f);
    if (!f)
        return PFD_ERR_NOMEM;
    f->name = strdup(found->source);
    f->bytes = malloc(found->n + 1);
    f->n = found->n;
    if (f->bytes)
        memcpy(f->bytes, found->bytes, found->n);
    while (*end)
        end = &(*end)->next;
    *end = f;
    return f->bytes && f->name ? PFD_OK : PFD_ERR_NOMEM;
}

void pfdd_found_objects_give(struct pfdd_found_objects *found_objects,
                             struct pfdd_string_store *string_store,
                             struct pfdd_producer *producer)
{
    for (struct pfdd_found_object *f = found_objects->first; f; f = f->next) {
        struct pfdd_object object = {
            .name = f->name ? f->name : "code object",
            .owner = producer,
            .bytes = f->bytes,
            .n = f->n,
        };
        f->bytes = NULL; /* taken over */
        if (object.bytes)
            pfdd_string_store_add(string_store, &object);
    }
    pfdd_found_objects_deinit(found_objects);
}

void pfdd_found_objects_deinit(struct pfdd_found_objects *found_objects)
{
    while (found_objects->first) {
        struct pfdd_found_object *f = found_objects->first;
        found_objects->first = f->next;
        free(f->name);
        free(f->bytes);
        free(f);
    }
}
