/* SPDX-License-Identifier: MIT */
/*
 * Another program's tables: the input is a memory at BASE, in which images,
 * symbols, a runtime's list and code objects are looked for. Its first byte
 * says what is known beforehand, the bytes from 8 on have it.
 */
#include <errno.h>
#include <string.h>

#include "fuzz.h"
#include "memory/space/address_space.h"
#include "memory/space/process_code.h"

enum {
    BASE = 0x10000,
    HAS_LIST = 1,      /* its address is the u64 at 8 */
    HAS_AUXILIARY = 2, /* two pairs of u64 at 16 */
    IMAGE_AT = 64,     /* where another region begins */
    AUXILIARY_AT = 16,
    AUXILIARY = 32,
};

struct flat {
    struct pfd_memory memory;
    const uint8_t *bytes;
    size_t n;
};

static enum pfd_status read_flat(struct pfd_memory *memory, uint64_t address,
                                 void *bytes, size_t n,
                                 struct pfd_memory_got *ret,
                                 struct pfd_error *err)
{
    const struct flat *f = (const struct flat *)memory;
    (void)err;
    FUZZ_CHECK(n > 0 && n <= UINT64_MAX - address);
    ret->why = "behind the end";
    if (address < BASE) {
        ret->absent = BASE - address;
    } else if (address - BASE >= f->n) {
        ret->absent = n;
    } else {
        size_t left = f->n - (size_t)(address - BASE);
        ret->n = left < n ? left : n;
        memcpy(bytes, f->bytes + (address - BASE), ret->n);
    }
    return PFD_OK;
}

/* No input names a file of this machine. */
static int open_nothing(struct pfd_memory *memory, const char *path)
{
    (void)memory;
    FUZZ_CHECK(*path);
    return -ENOENT;
}

static void close_flat(struct pfd_memory *memory)
{
    (void)memory;
}

static const struct pfd_memory_hooks hooks = {
    .read = read_flat,
    .open_file = open_nothing,
    .close = close_flat,
};

static void hear(void *user, const struct pfd_finding *finding)
{
    (void)user;
    FUZZ_CHECK(finding->kind < PFD_N_FINDING_KINDS);
    FUZZ_CHECK(finding->text[0] && !strchr(finding->text, '\n'));
}

static enum pfd_status take(void *user,
                            const struct pfd_process_code_object *object)
{
    uint8_t *sum = user;
    const uint8_t *bytes = object->bytes;
    FUZZ_CHECK(object->source && (object->n > 0) == (bytes != NULL));
    if (bytes)
        *sum = (uint8_t)(*sum + bytes[0] + bytes[object->n - 1]);
    return PFD_OK;
}

static void look(struct pfd_memory *memory)
{
    struct pfd_process_code *process_code = NULL;
    struct pfd_error err;
    uint8_t sum = 0;
    FUZZ_CHECK(pfd_process_code_open(memory, &process_code, &err) == PFD_OK);
    FUZZ_CHECK(pfd_process_code_read(process_code, take, &sum, hear, NULL, NULL,
                                     &err) == PFD_OK);
    (void)pfd_process_code_changed(process_code);
    pfd_process_code_close(process_code);
    FUZZ_CHECK(pfd_process_code_scan(memory, take, &sum, &err) == PFD_OK);
}

static void add_region(struct pfd_memory *memory, size_t at, size_t n)
{
    struct pfd_memory_region r = {
        .address = BASE + at,
        .size = n,
        .present = n,
        .permissions = PFD_MEMORY_READ,
    };
    pfd_memory_map_add(&memory->map, &r, "image", 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct flat f = {
        .memory = { .hooks = &hooks, .name = "input", .pid = 1 },
        .bytes = data,
        .n = n,
    };
    if (n >= AUXILIARY_AT && data[0] & HAS_LIST)
        memcpy(&f.memory.loaded, data + 8, sizeof f.memory.loaded);
    if (n >= AUXILIARY_AT + AUXILIARY && data[0] & HAS_AUXILIARY) {
        f.memory.auxv = malloc(AUXILIARY);
        f.memory.n_auxv = AUXILIARY;
        FUZZ_CHECK(f.memory.auxv);
        memcpy(f.memory.auxv, data + AUXILIARY_AT, AUXILIARY);
    }
    add_region(&f.memory, 0, n < IMAGE_AT ? n : IMAGE_AT);
    add_region(&f.memory, IMAGE_AT, n < IMAGE_AT ? 0 : n - IMAGE_AT);
    FUZZ_CHECK(pfd_memory_map_settle(&f.memory.map, NULL) == PFD_OK);
    look(&f.memory);
    pfd_memory_close(&f.memory);
    return 0;
}
