/* SPDX-License-Identifier: MIT */
/* Has a buffer in its memory, which grows between stops: prog BUFFER. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned char *buffer;
size_t n_buffer = 1 << 16;
void stop_here(void);

__attribute__((noinline)) void stop_here(void)
{
    __asm__ volatile("" ::: "memory");
}

/* Shows the first [n] dwords of the file's entries. */
static void show(const unsigned char *file, unsigned long long n)
{
    memcpy(buffer, file, 16 + 4 * n);
    memcpy(buffer, &n, sizeof n);
    stop_here();
}

int main(int argc, char **argv)
{
    static unsigned char file[1 << 16];
    FILE *in = argc > 1 ? fopen(argv[1], "rb") : NULL;
    unsigned long long used = 0;
    buffer = calloc(1, n_buffer);
    if (!in || !buffer || fread(file, 1, sizeof file, in) < 16)
        return 1;
    fclose(in);
    memcpy(&used, file, sizeof used);
    show(file, 3);
    show(file, used);
    memset(buffer, 0, n_buffer);
    show(file, 3);
    return 0;
}
