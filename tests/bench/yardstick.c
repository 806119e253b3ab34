/* SPDX-License-Identifier: MIT */
/*
 * yardstick ROWS DUMP: what a careful engineer writes in an afternoon, to
 * compare with. Formats split once, a hash table by id, one snprintf for each
 * conversion into a 1 MiB buffer, write(2). Prints the exact text. It trusts
 * its input: it is for the dumps of dump.c only.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    N_ROWS = 256,
    N_SLOTS = 4096,
    OUT = 1 << 20,
    LINE = 4096
};

struct piece {
    char spec[64];
    char kind;
};

struct row {
    uint64_t id;
    int n;
    struct piece pieces[8];
    char tail[128];
};

static struct row rows[N_ROWS];
static int slots[N_SLOTS];
static char out[OUT];

static unsigned slot_of(uint64_t id)
{
    unsigned h = (unsigned)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
    while (slots[h] && rows[slots[h] - 1].id != id)
        h = (h + 1) % N_SLOTS;
    return h;
}

static void split(struct row *r, const char *kinds, const char *text)
{
    for (; *kinds && *kinds != '-'; kinds++) {
        struct piece *p = &r->pieces[r->n++];
        const char *end = strchr(text, '%');
        end += strcspn(end, "duxXfg") + 1;
        memcpy(p->spec, text, (size_t)(end - text));
        p->kind = *kinds;
        text = end;
    }
    strcpy(r->tail, text);
}

static int read_rows(const char *path)
{
    FILE *in = fopen(path, "r");
    char line[1024];
    char kinds[16];
    char text[900];
    int n = 0;
    if (!in)
        return 0;
    while (n < N_ROWS && fgets(line, sizeof line, in)) {
        if (sscanf(line, "%" SCNx64 "\t%15s\t%899[^\n]", &rows[n].id, kinds,
                   text) != 3)
            continue;
        char *newline = strstr(text, "\\n");
        if (newline)
            strcpy(newline, "\n");
        split(&rows[n], kinds, text);
        slots[slot_of(rows[n].id)] = n + 1;
        n++;
    }
    fclose(in);
    return n;
}

#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Prints one piece, moves *word on, returns the bytes printed. */
static size_t print(char *at, size_t room, const struct piece *p,
                    const uint32_t **word)
{
    uint64_t wide;
    double d;
    float f;
    int n;
    switch (p->kind) {
    case 'f':
    case 'g':
        memcpy(&f, *word, 4);
        n = snprintf(at, room, p->spec, (double)f);
        *word += 1;
        break;
    case 'D':
        memcpy(&d, *word, 8);
        n = snprintf(at, room, p->spec, d);
        *word += 2;
        break;
    case 'L':
    case 'X':
        memcpy(&wide, *word, 8);
        n = snprintf(at, room, p->spec, wide);
        *word += 2;
        break;
    default:
        n = snprintf(at, room, p->spec, **word);
        *word += 1;
        break;
    }
    return (size_t)n;
}

static int decode(const uint32_t *words, uint64_t used)
{
    size_t n = 0;
    for (uint64_t i = 0; i + 2 <= used;) {
        uint64_t header;
        memcpy(&header, words + i, 8);
        const struct row *r = &rows[slots[slot_of(header >> 16)] - 1];
        const uint32_t *word = words + i + 2;
        for (int k = 0; k < r->n; k++)
            n += print(out + n, OUT - n, &r->pieces[k], &word);
        size_t tail = strlen(r->tail);
        memcpy(out + n, r->tail, tail);
        n += tail;
        if (n > OUT - LINE) {
            if (write(STDOUT_FILENO, out, n) < 0)
                return 1;
            n = 0;
        }
        i += header & 0xffff;
    }
    return write(STDOUT_FILENO, out, n) < 0;
}

int main(int argc, char **argv)
{
    struct stat st;
    if (argc != 3 || !read_rows(argv[1])) {
        fprintf(stderr, "usage: yardstick ROWS DUMP\n");
        return 1;
    }
    int fd = open(argv[2], O_RDONLY);
    if (fd < 0 || fstat(fd, &st)) {
        perror(argv[2]);
        return 1;
    }
    const uint32_t *words =
        mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (words == MAP_FAILED) {
        perror(argv[2]);
        return 1;
    }
    uint64_t used;
    memcpy(&used, words, 8);
    return decode(words + 4, used);
}
