/* SPDX-License-Identifier: MIT */
/*
 * A program that has code objects and buffers in its memory, as one that uses
 * a GPU has. It does what it is told on standard input, a line each, and
 * answers each with a line:
 *
 *   file PATH OFFSET SIZE  a code object that is a part of a file
 *   memory PATH            one in memory
 *   hidden PATH            bytes in memory that nobody knows of; address, size
 *   unload                 the first one goes
 *   buffer PATH            a buffer; address and size
 *   fixed ADDRESS PATH     likewise, at that address
 *   share PATH             likewise, shared with nobody
 *   append PATH            adds to the LLPC buffer that came last, entry after
 *                          entry, what another one has
 *   unmap OFFSET SIZE      of the buffer that came last
 *   exit                   ends; the end of input does it as well
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "standin.h"

struct bytes {
    unsigned char *at;
    size_t n;
};

static struct bytes buffer;

/* A file in pages of their own. */
static struct bytes place_at(void *at, const char *path, int flags)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        fprintf(stderr, "producer: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    struct bytes b = { .n = (size_t)st.st_size };
    b.at =
        mmap(at, b.n + 1, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (b.at == MAP_FAILED || read(fd, b.at, b.n) != (ssize_t)b.n)
        exit(1);
    close(fd);
    return b;
}

static struct bytes place(const char *path, int flags)
{
    return place_at(NULL, path, flags);
}

static void answer_place(const struct bytes *b)
{
    printf("%p %zu\n", (void *)b->at, b->n);
}

static void load_memory(const char *path)
{
    char uri[128];
    struct bytes b = place(path, MAP_PRIVATE);
    snprintf(uri, sizeof uri, "memory://%d#offset=0x%" PRIxPTR "&size=%zu",
             (int)getpid(), (uintptr_t)b.at, b.n);
    standin_load(uri, (uintptr_t)b.at);
    puts(uri);
}

static void load_file(const char *path, const char *offset, const char *size)
{
    char uri[4500];
    snprintf(uri, sizeof uri, "file://%s#offset=%s&size=%s", path, offset,
             size);
    standin_load(uri, 0x10000);
    puts(uri);
}

/* Stores that others see in this order. */
static void store(unsigned char *to, const unsigned char *from, size_t n)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memcpy(to, from, n);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* An LLPC buffer: used dwords behind the header, two dwords; two of nothing;
 * entries, whose size in dwords is the lower half of their first. They come
 * out of the file one by one: a copy in memory, the stream's too, would be one
 * more buffer for whoever looks for them. */
static void append(const char *path)
{
    enum {
        HEADER = 16
    };
    unsigned char entry[4 * UINT16_MAX];
    uint64_t used;
    uint64_t end;
    FILE *f = fopen(path, "rbe");
    if (!f || setvbuf(f, NULL, _IONBF, 0) ||
        fread(&end, sizeof end, 1, f) != 1 || fseek(f, HEADER, SEEK_SET))
        exit(1);
    memcpy(&used, buffer.at, sizeof used);
    while (ftell(f) < (long)(HEADER + 4 * end)) {
        uint16_t n_words;
        if (fread(&n_words, sizeof n_words, 1, f) != 1 || n_words < 1)
            exit(1);
        size_t n = 4 * (size_t)n_words;
        memcpy(entry, &n_words, sizeof n_words);
        if (fread(entry + 2, 1, n - 2, f) != n - 2)
            exit(1);
        uint64_t then = used + n_words;
        store(buffer.at, (const unsigned char *)&then, sizeof then);
        store(buffer.at + HEADER + 4 * used, entry, n);
        used = then;
        usleep(500);
    }
    fclose(f);
    puts("done");
}

static void obey(char *line)
{
    char *save = NULL;
    const char *word = strtok_r(line, " \n", &save);
    const char *a = strtok_r(NULL, " \n", &save);
    const char *b = strtok_r(NULL, " \n", &save);
    const char *c = strtok_r(NULL, " \n", &save);
    if (!strcmp(word, "file")) {
        load_file(a, b, c);
    } else if (!strcmp(word, "memory")) {
        load_memory(a);
    } else if (!strcmp(word, "hidden")) {
        struct bytes hidden = place(a, MAP_PRIVATE);
        answer_place(&hidden);
    } else if (!strcmp(word, "unload")) {
        standin_unload();
        puts("done");
    } else if (!strcmp(word, "buffer") || !strcmp(word, "share")) {
        buffer = place(a, *word == 'b' ? MAP_PRIVATE : MAP_SHARED);
        answer_place(&buffer);
    } else if (!strcmp(word, "fixed")) {
        buffer = place_at((void *)strtoul(a, NULL, 0), b,
                          MAP_PRIVATE | MAP_FIXED_NOREPLACE);
        answer_place(&buffer);
    } else if (!strcmp(word, "append")) {
        append(a);
    } else if (!strcmp(word, "unmap")) {
        munmap(buffer.at + strtoul(a, NULL, 0), strtoul(b, NULL, 0));
        puts("done");
    } else {
        exit(0);
    }
    fflush(stdout);
}

int main(void)
{
    char line[8192];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (fgets(line, sizeof line, stdin))
        obey(line);
    return 0;
}
