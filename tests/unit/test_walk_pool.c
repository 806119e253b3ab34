/* SPDX-License-Identifier: MIT */
/* Helpers: what is read by several threads is what one reads, whatever part it
 * is, wherever the file ends, and whoever else reads. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <printfdecode/tail.h>

#include "dump.h"
#include "stream/live/live_source.h"
#include "stream/live/walk_pool.h"
#include "suite.h"

enum {
    N_FILE = (3 << 20) + 1234,
    N_SHARING = 4,
    N_READS = 20,
};

static uint8_t *bytes; /* [N_FILE] of the file */
static int fd;

static void setup(void)
{
    uint64_t rng = 7;
    bytes = calloc(1, N_FILE);
    for (size_t i = 0; i + 8 <= N_FILE; i += 8) {
        uint64_t v = dump_random(&rng);
        memcpy(bytes + i, &v, sizeof v);
    }
    fd = memfd_create("helpers", MFD_CLOEXEC);
    ck_assert_int_eq(pwrite(fd, bytes, N_FILE, 0), N_FILE);
}

static void teardown(void)
{
    close(fd);
    free(bytes);
}

static struct pfd_walk_pool *new_helpers(unsigned threads)
{
    struct pfd_walk_pool *walk_pool = NULL;
    ck_assert_int_eq(pfd_walk_pool_new(threads, &walk_pool, NULL), PFD_OK);
    return walk_pool;
}

static struct pfd_source *open_source(struct pfd_walk_pool *walk_pool)
{
    struct pfd_source *source = NULL;
    ck_assert_int_eq(pfd_source_open_file(fd, &source, NULL), PFD_OK);
    pfd_source_set_walk_pool(source, walk_pool);
    return source;
}

/* Nothing behind what was read is touched. */
static void read_at(struct pfd_source *source, size_t at, size_t n)
{
    static const uint8_t mark[8] = "unharmed";
    uint8_t *got = malloc(n + sizeof mark);
    size_t left = at < N_FILE ? N_FILE - at : 0;
    size_t want = n < left ? n : left;
    memcpy(got + n, mark, sizeof mark);
    ck_assert_int_eq(pfd_source_read(source, at, got, n), (long)want);
    ck_assert(!want || !memcmp(got, bytes + at, want));
    ck_assert(!memcmp(got + n, mark, sizeof mark));
    free(got);
}

static void read_parts(struct pfd_source *source, uint64_t rng)
{
    for (size_t i = 0; i < N_READS; i++) {
        size_t at = dump_below(&rng, N_FILE);
        read_at(source, at, 1 + dump_below(&rng, N_FILE));
        read_at(source, at, 1 + dump_below(&rng, 5000));
    }
}

START_TEST(parts)
{
    static const unsigned threads[] = { 0, 1, 2, 7, 1000 };
    for (size_t i = 0; i < 5; i++) {
        struct pfd_walk_pool *walk_pool = new_helpers(threads[i]);
        struct pfd_source *source = open_source(walk_pool);
        read_at(source, 0, N_FILE);
        read_at(source, 0, 2 * N_FILE);
        read_at(source, N_FILE - 1, N_FILE);
        read_at(source, N_FILE, N_FILE);
        read_at(source, 3 * (size_t)N_FILE, N_FILE);
        read_parts(source, i);
        pfd_source_set_walk_pool(source, NULL);
        read_at(source, 1, N_FILE);
        pfd_source_close(source);
        pfd_walk_pool_free(walk_pool);
    }
}
END_TEST

/* Not even the first piece can be read. */
START_TEST(failing)
{
    struct pfd_walk_pool *walk_pool = new_helpers(3);
    struct pfd_source *source = open_source(walk_pool);
    uint8_t *got = malloc(N_FILE);
    int other = dup(fd);
    close(fd);
    ck_assert_int_eq(pfd_source_read(source, 0, got, N_FILE), -EBADF);
    ck_assert_int_eq(dup2(other, fd), fd);
    close(other);
    read_at(source, 0, N_FILE);
    free(got);
    pfd_source_close(source);
    pfd_walk_pool_free(walk_pool);
    pfd_walk_pool_free(new_helpers(2)); /* no source has read */
    pfd_walk_pool_free(NULL);
}
END_TEST

static void *share(void *user)
{
    struct pfd_source *source = open_source(user);
    read_parts(source, (uintptr_t)pthread_self());
    pfd_source_close(source);
    return NULL;
}

START_TEST(sharing)
{
    pthread_t threads[N_SHARING];
    struct pfd_walk_pool *walk_pool = new_helpers(3);
    for (size_t i = 0; i < N_SHARING; i++)
        ck_assert(!pthread_create(&threads[i], NULL, share, walk_pool));
    for (size_t i = 0; i < N_SHARING; i++)
        pthread_join(threads[i], NULL);
    pfd_walk_pool_free(walk_pool);
}
END_TEST

int main(void)
{
    return suite_run_with("helpers", setup, teardown,
                          TESTS(parts, failing, sharing), 60);
}
