/* SPDX-License-Identifier: MIT */
#include "config/reserved_names.h"

#include <string.h>

bool pfdd_reserved_name_begins(const char *name, const char *text,
                               bool *is_whole)
{
    char put[PFDD_NAME_ROOM];
    if (!text || !pfdd_name_put(put, text, strlen(text)))
        return false;
    size_t n = strlen(put);
    if (strncmp(put, name, n) != 0)
        return false;
    *is_whole = name[n] == '\0';
    return true;
}

static bool owns(const struct pfdd_input_config *in, const char *name)
{
    const struct pfdd_input_class *class = pfdd_input_class_of(in);
    return class->owns && class->owns(in, name);
}

/* True: it is the name of a watched buffer, or of a file in a watched
 * folder. */
static bool name_is_reserved(const struct pfdd_config *config, const char *name)
{
    /* Names of files whose paths are too long begin with this. */
    static const char file[] = "file ";
    if (!strncmp(name, file, sizeof file - 1))
        return true;
    for (size_t i = 0; i < config->n_inputs; i++) {
        if (owns(pfdd_config_input(config, i), name))
            return true;
    }
    return false;
}

bool pfdd_reserved_name_release(const struct pfdd_config *config,
                                char name[PFDD_NAME_ROOM])
{
    static const char before[] = "producer/";
    size_t n_before = sizeof before - 1;
    while (name_is_reserved(config, name)) {
        size_t n = strlen(name);
        if (n + n_before > PFDD_NAME_MAX)
            return false;
        memmove(name + n_before, name, n + 1);
        memcpy(name, before, n_before);
    }
    return true;
}
