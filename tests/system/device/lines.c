/* SPDX-License-Identifier: MIT */
/*
 * Looks whether standard input is the numbered lines of measure.cu, each once:
 *
 *   lines N [some]
 *
 * Exit status 1: some are wrong or there twice, or, without `some`, missing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void make_line(char *ret, size_t n, uint32_t number)
{
    snprintf(ret, n, "ray %u hit t=0.250 prim 0x%08x\n", number,
             number ^ 0x55555555u);
}

int main(int argc, char **argv)
{
    uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    uint8_t *seen = calloc(1, (size_t)n + 1);
    uint32_t number = 0;
    unsigned long wrong = 0;
    unsigned long twice = 0;
    unsigned long there = 0;
    char line[512];
    char right[64];
    if (!seen)
        return 2;
    while (fgets(line, sizeof line, stdin)) {
        bool is_number = sscanf(line, "ray %u ", &number) == 1 && number < n;
        make_line(right, sizeof right, number);
        if (!is_number || strcmp(line, right) != 0) {
            if (wrong++ < 5)
                fprintf(stderr, "wrong: %s", line);
            continue;
        }
        twice += seen[number];
        there += !seen[number];
        seen[number] = 1;
    }
    printf("%lu of %u lines exact, %lu wrong, %lu twice\n", there, n, wrong,
           twice);
    free(seen);
    return wrong || twice || (there != n && argc < 3);
}
