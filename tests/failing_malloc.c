/* SPDX-License-Identifier: MIT */
/* Preloaded, with FAIL_AT=N: the program's N-th allocation finds no memory, and
 * with FAIL_ALL=1 all later ones, too. FAIL_COUNT=PATH: a file for their number. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *at, size_t n);
char *strdup(const char *text);
char *strndup(const char *text, size_t max);
#pragma GCC visibility pop

static uintptr_t from, to; /* of the program's code */
static long fail_at;
static bool fails_all;
static atomic_long n_made;

static int find_program(struct dl_phdr_info *info, size_t n, void *user)
{
    (void)n;
    (void)user;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
            from = info->dlpi_addr + p->p_vaddr;
            to = from + p->p_memsz;
        }
    }
    return 1; /* the program is the first one */
}

__attribute__((constructor)) static void begin(void)
{
    const char *at = getenv("FAIL_AT");
    fail_at = at ? atol(at) : 0;
    fails_all = getenv("FAIL_ALL") != NULL;
    dl_iterate_phdr(find_program, NULL);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAIL_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%ld\n", atomic_load(&n_made));
    fclose(file);
}

/* What the C library allocates for itself is none of these. */
static bool fails(const void *caller)
{
    if ((uintptr_t)caller < from || (uintptr_t)caller >= to)
        return false;
    long n = atomic_fetch_add(&n_made, 1) + 1;
    bool ret = fail_at && (fails_all ? n >= fail_at : n == fail_at);
    if (ret)
        errno = ENOMEM;
    return ret;
}

#define CALLER __builtin_return_address(0)
#define REAL(name)                 \
    static __typeof__(name) *real; \
    if (!real)                     \
    real = (__typeof__(real))dlsym(RTLD_NEXT, #name)

void *malloc(size_t n)
{
    REAL(malloc);
    return fails(CALLER) ? NULL : real(n);
}

void *calloc(size_t n, size_t size)
{
    REAL(calloc);
    return fails(CALLER) ? NULL : real(n, size);
}

void *realloc(void *at, size_t n)
{
    REAL(realloc);
    return fails(CALLER) ? NULL : real(at, n);
}

char *strdup(const char *text)
{
    REAL(strdup);
    return fails(CALLER) ? NULL : real(text);
}

char *strndup(const char *text, size_t max)
{
    REAL(strndup);
    return fails(CALLER) ? NULL : real(text, max);
}
