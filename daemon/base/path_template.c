/* SPDX-License-Identifier: MIT */
#include "base/path_template.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/name.h"

enum {
    NAME = 180, /* bytes of {buffer} in a path; the template adds more */
};

char *pfdd_path_template_fill(const char *template, const char *name,
                              const char *host)
{
    char *ret = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&ret, &n);
    if (!out)
        return NULL;
    for (const char *at = template; *at;) {
        if (!strncmp(at, "{host}", 6)) {
            fputs(host ? host : pfdd_host_name(), out);
            at += 6;
        } else if (!strncmp(at, "{pid}", 5)) {
            fprintf(out, "%d", (int)getpid());
            at += 5;
        } else if (!strncmp(at, "{buffer}", 8)) {
            fputs(name, out);
            at += 8;
        } else {
            fputc(*at++, out);
        }
    }
    fclose(out);
    return ret;
}

/* number: 0, or a suffix that tells apart names too long for a path. False: the
 * name is too long, and needs a number. */
static bool put_name(char ret[NAME + 16], const char *source, unsigned number)
{
    bool is_whole = pfdd_name_put_path(ret, NAME, source);
    if (number)
        snprintf(ret + strlen(ret), 16, "~%u", number);
    return is_whole || number;
}

char *pfdd_path_template_choose(
    const char *template, const char *source, const char *host,
    bool (*is_taken)(const void *user, const char *path), const void *user)
{
    char name[NAME + 16] = "";
    char host_name[NAME + 16] = "";
    unsigned number = 0;
    char *path = NULL;
    /* Of hosts with such long names those of one source share a file. */
    if (source && *host)
        pfdd_name_put_path(host_name, NAME, host);
    do {
        free(path);
        path = NULL;
        bool is_whole = !source || put_name(name, source, number++) ||
                        put_name(name, source, number++);
        path = is_whole ? pfdd_path_template_fill(template, name,
                                                  *host_name ? host_name : NULL)
                        : NULL;
    } while (path && source && is_taken(user, path));
    return path;
}
