/* SPDX-License-Identifier: MIT */
/*
 * burst FILE ID ENTRIES THREADS RESERVED: prints as a GPU does into a mapped
 * file. Threads reserve places for RESERVED entries in all at a time and write
 * them afterwards, arguments before headers; entry i of all has the argument i.
 * Says how long it took.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    DWORDS = 3,
    HEADER = 4
};

static uint32_t *memory;
static uint64_t id;
static uint64_t n_entries;
static uint64_t n_at_once; /* of a thread */
static atomic_ullong ticket;

static void *print(void *user)
{
    (void)user;
    for (;;) {
        uint64_t first = atomic_fetch_add(&ticket, n_at_once);
        if (first >= n_entries)
            return NULL;
        uint64_t n =
            n_entries - first < n_at_once ? n_entries - first : n_at_once;
        uint64_t at =
            atomic_fetch_add((atomic_ullong *)(void *)memory, n * DWORDS);
        for (uint64_t i = 0; i < n; i++) {
            uint32_t *entry = memory + HEADER + at + i * DWORDS;
            uint64_t head = id << 16 | DWORDS;
            entry[2] = (uint32_t)(first + i);
            atomic_thread_fence(memory_order_release);
            memcpy(entry, &head, sizeof head);
        }
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[64];
    struct stat st;
    struct timespec a;
    struct timespec b;
    if (argc != 6)
        return 2;
    id = strtoull(argv[2], NULL, 16);
    n_entries = strtoull(argv[3], NULL, 10);
    unsigned long n_threads = strtoul(argv[4], NULL, 10);
    if (n_threads == 0 || n_threads > 64)
        return 2;
    n_at_once = strtoull(argv[5], NULL, 10) / n_threads;
    int fd = open(argv[1], O_RDWR);
    if (fd < 0 || fstat(fd, &st) != 0)
        return 1;
    if ((uint64_t)st.st_size < (HEADER + n_entries * DWORDS) * 4)
        return 1;
    memory = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_POPULATE, fd, 0);
    if (memory == MAP_FAILED)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &a);
    for (unsigned long i = 0; i < n_threads; i++)
        pthread_create(&threads[i], NULL, print, NULL);
    for (unsigned long i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%.1f ms\n", (double)(b.tv_sec - a.tv_sec) * 1e3 +
                            (double)(b.tv_nsec - a.tv_nsec) / 1e6);
    return 0;
}
