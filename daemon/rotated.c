/* SPDX-License-Identifier: MIT */
#include "rotated.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

static bool compress_stream(FILE *in, FILE *out)
{
    size_t n_in = ZSTD_CStreamInSize();
    size_t n_out = ZSTD_CStreamOutSize();
    char *from = malloc(n_in);
    char *to = malloc(n_out);
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    bool ok = from && to && zstd;
    bool last = false;
    while (ok && !last) {
        size_t n = fread(from, 1, n_in, in);
        ok = !ferror(in);
        last = n < n_in;
        ZSTD_inBuffer input = { from, n, 0 };
        size_t left = 1;
        while (ok && (last ? left != 0 : input.pos < input.size)) {
            ZSTD_outBuffer output = { to, n_out, 0 };
            left = ZSTD_compressStream2(zstd, &output, &input,
                                        last ? ZSTD_e_end : ZSTD_e_continue);
            ok = !ZSTD_isError(left) &&
                 fwrite(to, 1, output.pos, out) == output.pos;
        }
    }
    ZSTD_freeCCtx(zstd);
    free(from);
    free(to);
    return ok;
}

bool pfdd_rotated_compress(const char *path)
{
    char partial[540];
    char whole[540];
    snprintf(partial, sizeof partial, "%s.zst.part", path);
    snprintf(whole, sizeof whole, "%s.zst", path);
    FILE *in = fopen(path, "re");
    FILE *out = fopen(partial, "we");
    bool ok = in && out && compress_stream(in, out) && fflush(out) == 0 &&
              fdatasync(fileno(out)) == 0;
    if (in)
        fclose(in);
    if (out)
        ok = fclose(out) == 0 && ok;
    if (ok && rename(partial, whole) == 0)
        return unlink(path) == 0;
    unlink(partial);
    return false;
}

/* Names sort by time. */
void pfdd_rotated_keep(const char *base, uint64_t keep)
{
    static const char stamp[] =
        ".[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]T[0-9][0-9][0-9][0-9][0-9]"
        "[0-9].[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]*";
    char pattern[1024];
    size_t n = 0;
    for (const char *c = base; *c && n < 700; c++) {
        if (strchr("*?[\\", *c))
            pattern[n++] = '\\';
        pattern[n++] = *c;
    }
    snprintf(pattern + n, sizeof pattern - n, "%s", stamp);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; found.gl_pathc > keep && i < found.gl_pathc - keep; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}
