/* SPDX-License-Identifier: MIT */
/*
 * Buffers in cores, with strings of LLPC, OpenCL and HIP, a shader and kernels
 * that print: the input is a core. Whatever it says, what is found lies in it, is
 * there once, and does not depend on how many look; the core as an address
 * space agrees with itself.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "code_object.h"
#include "llpc_strings.h"
#include "memory/search/search_buffers.h"

enum {
    INFLATED_MAX = 1 << 20,
    READ = 256,
};

/* Small ids, with and without arguments, and a hash; NULs part them. */
static const uint8_t rows[] = "1:0:none\0"
                              "2:1:4:one %d\0"
                              "3:2:8:4:%ld %d\0"
                              "4:1:8:%s\0"
                              "0:0:9b1c0c5a8d1b0c2e,hip %d";

static struct pfd_strings *make_strings(void)
{
    struct pfd_strings *strings = make_llpc_strings();
    load_rows(strings, rows, sizeof rows);
    FUZZ_CHECK(pfd_strings_load_file(strings, FUZZ_MODULE, NULL, NULL, NULL) ==
               PFD_OK);
    FUZZ_CHECK(pfd_strings_load_file(strings, FUZZ_KERNELS, NULL, NULL, NULL) ==
               PFD_OK);
    return strings;
}

static bool tell(void *user, uint64_t n_done, uint64_t n_all)
{
    uint64_t *before = user;
    FUZZ_CHECK(n_done >= *before && n_done <= n_all);
    *before = n_done;
    return true;
}

static struct pfd_found_buffers *find(const struct pfd_core *core,
                                      const struct pfd_strings *strings,
                                      unsigned threads)
{
    struct pfd_found_buffers *ret = NULL;
    uint64_t before = 0;
    const struct pfd_buffer_search how = {
        .core = core,
        .strings = strings,
        .threads = threads,
        .progress = tell,
        .user = &before,
    };
    FUZZ_CHECK(pfd_search_buffers(&how, &ret, NULL) == PFD_OK && ret);
    return ret;
}

static void see_found(const struct pfd_core *core,
                      const struct pfd_found_buffers *found)
{
    FUZZ_CHECK(found->n_searched <= pfd_core_info(core)->n_present);
    for (size_t i = 0; i < found->n; i++) {
        const struct pfd_found_buffer *f = &found->at[i];
        uint64_t there = 0;
        uint64_t n = 0;
        FUZZ_CHECK(f->format && f->size && f->used <= f->size);
        while (there < f->size && pfd_core_bytes(core, f->address + there, &n))
            there += n;
        FUZZ_CHECK(there >= f->size);
        for (size_t k = 0; k < i; k++) {
            const struct pfd_found_buffer *g = &found->at[k];
            FUZZ_CHECK(f->address >= g->address + g->used ||
                       g->address >= f->address + f->used);
        }
    }
}

/* Two ways to the same bytes. */
static void see_memory(const struct pfd_core *core)
{
    struct pfd_memory *memory = NULL;
    struct pfd_memory_region r;
    uint64_t end = 0;
    FUZZ_CHECK(pfd_memory_open_core(core, &memory, NULL) == PFD_OK);
    for (size_t i = 0; pfd_memory_region(memory, i, &r) == PFD_OK; i++) {
        uint8_t a[READ];
        uint8_t b[READ];
        size_t n = 0;
        FUZZ_CHECK(r.size && r.address >= end && r.present <= r.size);
        end = r.address + r.size;
        size_t most = r.size < READ ? (size_t)r.size : READ;
        FUZZ_CHECK(pfd_memory_read(memory, r.address, a, most, NULL, NULL, &n,
                                   NULL) == PFD_OK);
        size_t got = pfd_core_read(core, r.address, b, most);
        FUZZ_CHECK(n >= got && !memcmp(a, b, got));
    }
    pfd_memory_close(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct pfd_strings *strings;
    static int fd = -1;
    struct pfd_core *core = NULL;
    char path[32];
    if (fd < 0) {
        fd = memfd_create("core", MFD_CLOEXEC);
        strings = make_strings();
    }
    FUZZ_CHECK(fd >= 0 && !ftruncate(fd, 0));
    FUZZ_CHECK(pwrite(fd, data, n, 0) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (pfd_core_open(path, INFLATED_MAX, NULL, NULL, &core, NULL) != PFD_OK)
        return 0;
    struct pfd_found_buffers *found = find(core, strings, 1);
    struct pfd_found_buffers *again = find(core, strings, 3);
    see_found(core, found);
    FUZZ_CHECK(found->n == again->n);
    for (size_t i = 0; i < found->n; i++)
        FUZZ_CHECK(found->at[i].address == again->at[i].address);
    pfd_found_buffers_free(found);
    pfd_found_buffers_free(again);
    see_memory(core);
    pfd_core_close(core);
    return 0;
}
