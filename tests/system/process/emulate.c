/* SPDX-License-Identifier: MIT */
/*
 * Runs emulated.hip's kernel, as the compiler lowered its printf into ROCm's
 * buffer, on this processor: emulate OUT writes the buffer to a file at its
 * end, and what should be read of it to standard output at its beginning.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    ROOM = (1 << 20) - 8, /* what runtimes leave of whole pages */
    ITEMS = 64,
    STEP = 7,
};

static uint32_t *buffer;
static int item;

int workitem(void);
char *__printf_alloc(int n);
void say(int step, double f, const char *s);

int workitem(void)
{
    return item;
}

char *__printf_alloc(int n)
{
    uint32_t at = buffer[0];
    if ((uint32_t)n > ROOM - at)
        return NULL;
    buffer[0] += (uint32_t)n;
    return (char *)(buffer + 2) + at;
}

static void expect(int i, double f, const char *s)
{
    printf("item %d has nothing to say\n", i);
    printf("item %d step %d: %f, %s and a literal\n", i, STEP, f * i, s);
    printf("wide %llx, char %c, percent 100%%\n", 0x123456789abcLL * i,
           'a' + i % 26);
    if (i % 3 == 0)
        printf("%*d|%-8.3g|\n", i % 9, i, f / (i + 1));
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    buffer = mmap(NULL, ROOM + 8, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED)
        return 1;
    buffer[1] = ROOM;
    for (item = 0; item < ITEMS; item++) {
        say(STEP, 1.5, "a pointer's text");
        expect(item, 1.5, "a pointer's text");
    }
    fclose(stdout);
    FILE *out = fopen(argv[1], "wb");
    return !out || fwrite(buffer, 1, ROOM + 8, out) != ROOM + 8 || fclose(out);
}
