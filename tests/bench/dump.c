/* SPDX-License-Identifier: MIT */
/*
 * dump ROWS ENTRIES OUT [WIDTH HEIGHT raster|random]: an LLPC buffer of ENTRIES
 * entries over the formats of ROWS (see inputs.py), in random order, with random
 * values of many lengths; of pixels, in this order.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    N_ROWS = 1 << 17,
    WORDS_MAX = 32
};

static struct row {
    uint64_t id;
    char kinds[16];
} rows[N_ROWS];

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static struct {
    uint64_t width;
    uint64_t height;
    int is_random;
    uint64_t at;
} pixel = { 1, 1, 0, 0 };

static void next_pixel(uint64_t entry)
{
    uint64_t all = pixel.width * pixel.height;
    pixel.at = pixel.is_random ? (next() >> 20) % all : entry % all;
}

/* Writes one random argument; returns how many words it takes. */
static int argument(char kind, uint32_t *word)
{
    uint64_t v = next();
    uint64_t x = pixel.at % pixel.width;
    uint64_t y = pixel.at / pixel.width;
    float f = (float)(int32_t)v / (float)(1u << (v >> 60)) * 1e-3f;
    double d = (double)(int64_t)v * 1e-9;
    switch (kind) {
    case 'p':
        *word = (uint32_t)x;
        return 1;
    case 'q':
        *word = (uint32_t)y;
        return 1;
    case 's': /* as smooth as pictures are, with some noise */
        f = (float)(x + y) + (float)(v >> 40) * 0x1p-24f;
        memcpy(word, &f, 4);
        return 1;
    case 'd':
        *word = (uint32_t)((int32_t)v >> (v >> 59));
        return 1;
    case 'i':
        *word = (uint32_t)v % 2000u - 1000u;
        return 1;
    case 'u':
        *word = (uint32_t)v >> (v >> 59);
        return 1;
    case 'x':
        *word = (uint32_t)v;
        return 1;
    case 'f':
    case 'g':
        memcpy(word, &f, 4);
        return 1;
    case 'D':
        memcpy(word, &d, 8);
        return 2;
    default:
        memcpy(word, &v, 8);
        return 2;
    }
}

static int read_rows(const char *path)
{
    FILE *in = fopen(path, "r");
    char line[1024];
    int n = 0;
    while (in && n < N_ROWS && fgets(line, sizeof line, in)) {
        if (sscanf(line, "%" SCNx64 "\t%15s", &rows[n].id, rows[n].kinds) == 2)
            n++;
    }
    if (in)
        fclose(in);
    return n;
}

int main(int argc, char **argv)
{
    int n = argc == 4 || argc == 7 ? read_rows(argv[1]) : 0;
    FILE *out = n ? fopen(argv[3], "wb") : NULL;
    if (!out) {
        fprintf(stderr, "usage: dump ROWS ENTRIES OUT [WIDTH HEIGHT "
                        "raster|random]\n");
        return 1;
    }
    if (argc == 7) {
        pixel.width = strtoull(argv[4], NULL, 10);
        pixel.height = strtoull(argv[5], NULL, 10);
        pixel.is_random = !strcmp(argv[6], "random");
    }
    uint64_t entries = strtoull(argv[2], NULL, 10);
    uint64_t used = 0;
    uint32_t header[4] = { 0 };
    fwrite(header, 4, 4, out);
    for (uint64_t e = 0; e < entries; e++) {
        const struct row *r = &rows[n == 1 ? 0 : next() % (uint64_t)n];
        uint32_t words[WORDS_MAX];
        int k = 2;
        if (argc == 7)
            next_pixel(e);
        for (const char *c = r->kinds; *c && *c != '-'; c++)
            k += argument(*c, words + k);
        uint64_t h = r->id << 16 | (uint64_t)k;
        memcpy(words, &h, 8);
        fwrite(words, 4, (size_t)k, out);
        used += (uint64_t)k;
    }
    rewind(out);
    fwrite(&used, 8, 1, out);
    return fclose(out) != 0;
}
