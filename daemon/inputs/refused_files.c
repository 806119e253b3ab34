/* SPDX-License-Identifier: MIT */
#include "inputs/refused_files.h"

#include <stdlib.h>
#include <string.h>

void pfdd_refused_files_deinit(struct pfdd_refused_files *refused)
{
    for (unsigned i = 0; i < PFDD_REFUSED_FILES; i++)
        free(refused->names[i]);
    *refused = (struct pfdd_refused_files){ 0 };
}

void pfdd_refused_files_add(struct pfdd_refused_files *refused,
                            const char *name)
{
    char **place = &refused->names[refused->next];
    pfdd_refused_files_remove(refused, name);
    free(*place);
    *place = strdup(name);
    refused->next = (refused->next + 1) % PFDD_REFUSED_FILES;
}

bool pfdd_refused_files_remove(struct pfdd_refused_files *refused,
                               const char *name)
{
    for (unsigned i = 0; i < PFDD_REFUSED_FILES; i++) {
        char **place = &refused->names[i];
        if (*place && !strcmp(*place, name)) {
            free(*place);
            *place = NULL;
            return true;
        }
    }
    return false;
}
