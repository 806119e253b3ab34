/* SPDX-License-Identifier: MIT */
/* A fuzz target over files and folders of them, as a plain program. */
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned n_files;
static bool is_over;

static int replay(const char *path, const struct stat *st, int type,
                  struct FTW *where)
{
    (void)where;
    if (type != FTW_F)
        return 0;
    FILE *f = fopen(path, "rb");
    size_t n = (size_t)st->st_size;
    uint8_t *bytes = malloc(n + !n);
    if (!f || !bytes || fread(bytes, 1, n, f) != n) {
        fprintf(stderr, "%s cannot be read\n", path);
        is_over = true;
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    n_files++;
    return 0;
}

/* A target that leaves the program has not come to its end. */
static void check_end(void)
{
    if (is_over)
        return;
    fprintf(stderr, "the target ended the program\n");
    abort();
}

int main(int argc, char **argv)
{
    atexit(check_end);
    for (int i = 1; i < argc; i++) {
        if (nftw(argv[i], replay, 16, FTW_PHYS)) {
            perror(argv[i]);
            return 1;
        }
    }
    is_over = true;
    printf("%u files\n", n_files);
    return n_files ? 0 : 1;
}
