/* SPDX-License-Identifier: MIT */
/*
 * Sources: "Kernel Descriptor" and "Code Object Symbols" of LLVM's AMDGPUUsage:
 * the descriptor of kernel NAME is the symbol NAME.kd; of code objects V2 it is
 * the symbol NAME itself.
 */
#include "memory/search/kernels.h"

#include <stdlib.h>
#include <string.h>

#include <printfdecode/strings.h>

#include "core/base/byte_reader.h"
#include "core/objects/elf_image.h"
#include "memory/space/process_code.h"

enum {
    SHT_SYMTAB = 2,
    SHT_STRTAB = 3,
    SHT_DYNSYM = 11,
    SYMBOL = 24, /* Elf64_Sym */
    SECTIONS_MAX = 4096,
};

/* A table of symbols and its names. */
struct symbols {
    struct pfd_byte_reader rows;
    struct pfd_byte_reader names;
};

/* Prefers the loaded table: a stripped code object has no other. */
static struct symbols find_symbols(const struct pfd_image *image)
{
    struct symbols all = { 0 };
    struct symbols loaded = { 0 };
    struct pfd_section s;
    for (size_t i = 0;
         i < SECTIONS_MAX && pfd_image_section(image, i, &s) == PFD_OK; i++) {
        if (s.type == SHT_DYNSYM)
            loaded.rows = s.bytes;
        if (s.type == SHT_STRTAB && pfd_section_is(&s, ".dynstr"))
            loaded.names = s.bytes;
        if (s.type == SHT_SYMTAB)
            all.rows = s.bytes;
        if (s.type == SHT_STRTAB && pfd_section_is(&s, ".strtab"))
            all.names = s.bytes;
    }
    return loaded.rows.n && loaded.names.n ? loaded : all;
}

/* The value of symbol NAME.kd, or else of NAME; false: neither is defined. */
static bool find_symbol(const struct symbols *symbols, const char *name,
                        size_t n, uint64_t *ret)
{
    struct pfd_byte_reader rows = symbols->rows;
    bool is_there = false;
    while (pfd_byte_reader_left(&rows) >= SYMBOL) {
        uint32_t at = pfd_byte_reader_u32(&rows);
        pfd_byte_reader_skip(&rows, 4); /* kind, section */
        uint64_t value = pfd_byte_reader_u64(&rows);
        pfd_byte_reader_skip(&rows, 8); /* size */
        if (at >= symbols->names.n || symbols->names.n - at < n + 1)
            continue;
        const char *found = (const char *)symbols->names.base + at;
        if (memcmp(found, name, n) != 0)
            continue;
        if (symbols->names.n - at > n + 3 && !memcmp(found + n, ".kd", 4)) {
            *ret = value;
            return true;
        }
        if (!found[n]) {
            *ret = value;
            is_there = true;
        }
    }
    return is_there;
}

static bool add(struct pfd_kernels *k, uint64_t address,
                const struct pfd_kernel_info *info)
{
    if (k->n == k->room) {
        size_t room = k->room ? 2 * k->room : 16;
        void *at = realloc(k->at, room * sizeof *k->at);
        if (!at)
            return false;
        k->at = at;
        k->room = room;
    }
    char *name = pfd_arena_take(&k->names, info->n_name + 1);
    if (!name)
        return false;
    memcpy(name, info->name, info->n_name);
    name[info->n_name] = '\0';
    k->at[k->n++] = (struct pfd_kernel){ address, info->printf_buffer, name };
    return true;
}

struct adding {
    struct pfd_kernels *kernels;
    uint64_t address;
};

static enum pfd_status add_object(void *user,
                                  const struct pfd_object_info *info)
{
    struct adding *a = user;
    struct pfd_report silent = { .source = "" };
    struct pfd_image *image = NULL;
    uint64_t value = 0;
    bool ok = true;
    if (!info->n_kernels)
        return PFD_OK;
    enum pfd_status status =
        pfd_image_open(info->bytes, info->n, &image, &silent, NULL);
    if (status != PFD_OK)
        return status == PFD_ERR_NOMEM ? status : PFD_OK;
    struct symbols symbols = find_symbols(image);
    for (size_t i = 0; ok && i < info->n_kernels; i++) {
        const struct pfd_kernel_info *k = &info->kernels[i];
        if (k->n_name && k->printf_buffer != PFD_NO_OFFSET &&
            find_symbol(&symbols, k->name, k->n_name, &value))
            ok = add(a->kernels, a->address + value, k);
    }
    pfd_image_free(image);
    return ok ? PFD_OK : PFD_ERR_NOMEM;
}

static int compare(const void *a, const void *b)
{
    const struct pfd_kernel *x = a;
    const struct pfd_kernel *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

static enum pfd_status add_loaded(void *user,
                                  const struct pfd_process_code_object *object)
{
    struct adding a = { user, object->load_address };
    enum pfd_status status = PFD_OK;
    if (object->bytes) {
        status = pfd_objects_read(object->bytes, object->n, "", 0, add_object,
                                  &a, NULL, NULL, NULL);
    }
    return status == PFD_ERR_NOMEM ? status : PFD_OK;
}

enum pfd_status pfd_kernels_load(struct pfd_kernels *kernels,
                                 struct pfd_memory *memory,
                                 struct pfd_error *err)
{
    struct pfd_process_code *process_code = NULL;
    enum pfd_status status = pfd_process_code_open(memory, &process_code, err);
    if (status == PFD_OK) {
        status = pfd_process_code_read(process_code, add_loaded, kernels, NULL,
                                       NULL, NULL, NULL);
    }
    pfd_process_code_close(process_code);
    if (kernels->n)
        qsort(kernels->at, kernels->n, sizeof *kernels->at, compare);
    return status == PFD_ERR_NOMEM
               ? pfd_fail(err, status, PFD_NO_OFFSET, "out of memory")
               : PFD_OK;
}

void pfd_kernels_free(struct pfd_kernels *kernels)
{
    free(kernels->at);
    pfd_arena_free(&kernels->names);
}

/* The kernel whose descriptor is at the address; NULL: none. */
static const struct pfd_kernel *kernels_find(const struct pfd_kernels *kernels,
                                             uint64_t address)
{
    const struct pfd_kernel key = { .address = address };
    return kernels->n ? bsearch(&key, kernels->at, kernels->n,
                                sizeof *kernels->at, compare)
                      : NULL;
}

/*
 * Source of a dispatch packet's layout: hsa_kernel_dispatch_packet_t of the HSA
 * runtime's specification, 1.2. The packet processor sets a packet's type to
 * "invalid" once it has taken it, and leaves the other fields.
 */

enum {
    PACKET = 64,
    PACKET_KERNEL = 32,
    PACKET_ARGUMENTS = 40,
    PACKET_INVALID = 1,
    PACKET_DISPATCH = 2,
};

size_t pfd_packet_find(const struct pfd_kernels *kernels,
                       const struct pfd_field *field, size_t from, size_t to)
{
    const struct pfd_byte_reader c = pfd_byte_reader(field->bytes, field->n);
    if (!kernels->n)
        return to;
    uint64_t first = kernels->at[0].address;
    uint64_t last = kernels->at[kernels->n - 1].address;
    size_t at = from + (size_t)(-(field->address + from) % PACKET);
    for (; at < to && field->n - at >= PACKET; at += PACKET) {
        uint64_t address = pfd_byte_reader_peek_u64(&c, at + PACKET_KERNEL);
        if (address >= first && address <= last &&
            kernels_find(kernels, address))
            return at;
    }
    return to;
}

struct pfd_packet pfd_packet_read(const struct pfd_kernels *kernels,
                                  const struct pfd_field *field, size_t at)
{
    struct pfd_byte_reader c = pfd_byte_reader(field->bytes + at, PACKET);
    uint8_t type = pfd_byte_reader_u8(&c);
    pfd_byte_reader_seek(&c, PACKET_KERNEL);
    uint64_t kernel = pfd_byte_reader_u64(&c);
    return (struct pfd_packet){
        .kernel = kernels_find(kernels, kernel),
        .arguments = pfd_byte_reader_u64(&c),
        .is_dispatch = type == PACKET_INVALID || type == PACKET_DISPATCH,
    };
}
