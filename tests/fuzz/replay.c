/* SPDX-License-Identifier: MIT */
/* A fuzz target over files and folders of them, as a plain program. */
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

static unsigned n_files;

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
        exit(1);
    }
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    n_files++;
    return 0;
}

static int replay_all(int n, char **paths)
{
    for (int i = 0; i < n; i++) {
        if (nftw(paths[i], replay, 16, FTW_PHYS)) {
            perror(paths[i]);
            return 1;
        }
    }
    printf("%u files\n", n_files);
    fflush(stdout);
    return n_files ? 0 : 1;
}

/* A target that ends the process, by whatever status, has not come to its end:
 * that is a byte in the pipe. */
int main(int argc, char **argv)
{
    int ends[2];
    int status = 1;
    char end = 0;
    if (pipe(ends) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        status = replay_all(argc - 1, argv + 1);
        return write(ends[1], "", 1) == 1 ? status : 1;
    }
    close(ends[1]);
    bool has_ended = child > 0 && read(ends[0], &end, 1) == 1;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    if (!has_ended || !WIFEXITED(status)) {
        fprintf(stderr, "the target ended the program (%d)\n", status);
        return 1;
    }
    return WEXITSTATUS(status);
}
