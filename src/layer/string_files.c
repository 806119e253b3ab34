/* SPDX-License-Identifier: MIT */
#include "string_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "settings.h"

/* Reads a file to malloc()ed memory; NULL, with errno: it cannot be read. */
static char *read_all(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rbe");
    size_t room = 4096;
    char *bytes = file ? malloc(room) : NULL;
    *n = 0;
    while (bytes) {
        *n += fread(bytes + *n, 1, room - *n, file);
        if (*n < room)
            break;
        char *more = realloc(bytes, room * 2);
        if (!more)
            free(bytes);
        bytes = more;
        room *= 2;
    }
    if (bytes && ferror(file)) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    return bytes;
}

void string_files_send(struct frame_output *frame_output)
{
    const struct settings *s = settings_get();
    for (size_t i = 0; i < s->n_strings; i++) {
        size_t n = 0;
        char *bytes = read_all(s->strings[i], &n);
        if (bytes) {
            frame_output_code_object(frame_output, s->strings[i], bytes, n);
        } else {
            tell("%s: %s", s->strings[i], strerror(errno));
        }
        free(bytes);
    }
}
