/* SPDX-License-Identifier: MIT */
/*
 * Searches memory for code objects. A magic number is no evidence: an ELF
 * file's tables have to be consistent and for AMD's GPUs; a SPIR-V module needs
 * all its instructions, in the specification's order.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/md5.h"
#include "memory/space/address_space.h"
#include "memory/space/process_code.h"

enum {
    WINDOW = 4 << 20, /* bytes that are searched at once */
    HEAD = 64,        /* of an ELF file; SPIR-V's header is shorter */
    ALIGNMENT = 4,
    AMDGPU = 224, /* e_machine, EM_AMDGPU */
    SHEADER = 64, /* bytes of a section header */
    OBJECT_MAX = 64 << 20,
    OBJECTS_MAX = 65536,
    DIGEST = 16,
};

/* SPIR-V: magic and limits of "Physical Layout" and "Universal Limits" in the
 * specification, opcodes of "Instructions". */
enum {
    SPIRV_MAGIC = 0x07230203,
    SPIRV_HEADER = 5, /* words */
    SPIRV_BOUND_MAX = 0x3fffff,
    FIRST_WORDS = 1024,
    OP_LINE = 8,
    OP_EXT_INST = 12,
    OP_MEMORY_MODEL = 14,
    OP_CAPABILITY = 17,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_NO_LINE = 317,
};

struct scan {
    struct pfd_memory *memory;
    pfd_process_code_fn fn;
    void *user;
    uint8_t *window; /* [WINDOW] */
    uint8_t (*seen)[DIGEST];
    size_t n_seen;
    size_t n_room;
    struct pfd_error *err;
};

/* ---- candidates ---- */

static uint32_t word_at(const uint8_t *bytes, size_t i)
{
    uint32_t word;
    memcpy(&word, bytes + 4 * i, sizeof word);
    return word;
}

/* The size of the ELF file that begins here; 0: not one of AMD's. */
static uint64_t elf_size(const uint8_t *head)
{
    Elf64_Ehdr h;
    memcpy(&h, head, sizeof h);
    if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
        h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_version != EV_CURRENT ||
        h.e_machine != AMDGPU || h.e_ehsize != sizeof h ||
        h.e_shentsize != SHEADER || h.e_shnum == 0 || h.e_shoff < sizeof h ||
        h.e_shoff > OBJECT_MAX)
        return 0;
    return h.e_shoff + (uint64_t)h.e_shnum * SHEADER;
}

/* May this instruction follow a function? */
static bool follows_function(uint32_t opcode)
{
    return opcode == OP_FUNCTION || opcode == OP_LINE || opcode == OP_NO_LINE ||
           opcode == OP_EXT_INST;
}

/* The size in words of the module that begins with these words [n]; 0: it is
 * none, or does not end here. *is_open: the bytes behind may belong to it. */
static size_t spirv_size(const uint8_t *bytes, size_t n, bool *is_open)
{
    size_t end = 0;
    bool has_model = false;
    *is_open = false;
    for (size_t at = SPIRV_HEADER;;) {
        *is_open = at >= n;
        if (*is_open)
            break;
        uint32_t word = word_at(bytes, at);
        uint32_t length = word >> 16;
        uint32_t opcode = word & 0xffff;
        if (length == 0 || (end == at && !follows_function(opcode)))
            break;
        *is_open = length > n - at;
        if (*is_open)
            break;
        has_model |= opcode == OP_MEMORY_MODEL;
        at += length;
        if (opcode == OP_FUNCTION_END && length == 1)
            end = at;
    }
    return has_model ? end : 0;
}

/* Do these words [n] begin a module? Checks its first instructions before the
 * whole module is copied for a full check. */
static bool is_spirv(const uint8_t *head, size_t n)
{
    bool is_open = false;
    uint32_t version = word_at(head, 1);
    if (word_at(head, 0) != SPIRV_MAGIC || version & 0xff0000ff ||
        version >> 16 != 1 || word_at(head, 3) == 0 ||
        word_at(head, 3) > SPIRV_BOUND_MAX || word_at(head, 4) != 0 ||
        (word_at(head, 5) & 0xffff) != OP_CAPABILITY ||
        word_at(head, 5) >> 16 != 2)
        return false;
    n = n < FIRST_WORDS ? n : FIRST_WORDS;
    return spirv_size(head, n, &is_open) > 0 || is_open;
}

/* ---- duplicates ---- */

/* False: an equal object was given before. */
static bool is_new(struct scan *s, const uint8_t *bytes, size_t n)
{
    uint8_t digest[DIGEST];
    pfd_md5(bytes, n, digest);
    for (size_t i = 0; i < s->n_seen; i++) {
        if (!memcmp(s->seen[i], digest, DIGEST))
            return false;
    }
    if (s->n_seen == s->n_room) {
        size_t room = s->n_room ? 2 * s->n_room : 64;
        void *seen =
            room > OBJECTS_MAX ? NULL : realloc(s->seen, room * DIGEST);
        if (!seen)
            return true; /* the set is full: an equal object may be given
                            twice */
        s->seen = seen;
        s->n_room = room;
    }
    memcpy(s->seen[s->n_seen++], digest, DIGEST);
    return true;
}

static enum pfd_status give(struct scan *s, uint64_t address,
                            const uint8_t *bytes, size_t n)
{
    char source[96];
    if (!is_new(s, bytes, n))
        return PFD_OK;
    snprintf(source, sizeof source, "memory://%llu#offset=0x%llx&size=%zu",
             (unsigned long long)s->memory->pid, (unsigned long long)address,
             n);
    struct pfd_process_code_object object = {
        .source = source,
        .bytes = bytes,
        .n = n,
        .load_address = address,
        .is_found = true,
    };
    return s->fn(s->user, &object);
}

/* [n] bytes of memory; NULL: some are absent. */
static uint8_t *take_bytes(const struct scan *s, uint64_t address, uint64_t n)
{
    uint8_t *bytes = n && n <= OBJECT_MAX ? malloc((size_t)n) : NULL;
    if (bytes && !pfd_memory_take(s->memory, address, bytes, (size_t)n)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

static enum pfd_status give_elf(struct scan *s, uint64_t address,
                                const uint8_t *head, uint64_t n_left)
{
    enum pfd_status status = PFD_OK;
    uint64_t n = elf_size(head);
    uint8_t *bytes = n <= n_left ? take_bytes(s, address, n) : NULL;
    if (bytes)
        status = give(s, address, bytes, (size_t)n);
    free(bytes);
    return status;
}

/* A module has no length field: reads ever more until its end is found. */
static enum pfd_status give_spirv(struct scan *s, uint64_t address,
                                  uint64_t n_left)
{
    enum pfd_status status = PFD_OK;
    uint64_t most = n_left < OBJECT_MAX ? n_left : OBJECT_MAX;
    for (uint64_t n = 65536;; n *= 4) {
        n = n < most ? n : most;
        uint8_t *bytes = take_bytes(s, address, n);
        bool is_open = false;
        size_t size =
            bytes ? 4 * spirv_size(bytes, (size_t)n / 4, &is_open) : 0;
        bool is_all = n == most || !is_open;
        if (size && is_all)
            status = give(s, address, bytes, size);
        bool is_over = is_all || !bytes;
        free(bytes);
        if (is_over)
            return status;
    }
}

/* ---- everywhere ---- */

/* Searches each place of [n] bytes of the window, which begins at an address;
 * n_left: bytes of the region from there on. */
static enum pfd_status search(struct scan *s, uint64_t address, size_t n,
                              uint64_t n_left)
{
    enum pfd_status status = PFD_OK;
    uint32_t elf;
    memcpy(&elf, ELFMAG, sizeof elf);
    for (size_t i = 0; i + HEAD <= n && status == PFD_OK; i += ALIGNMENT) {
        const uint8_t *at = s->window + i;
        uint32_t word = word_at(at, 0);
        if (word == elf) {
            status = give_elf(s, address + i, at, n_left - i);
        } else if (word == SPIRV_MAGIC && is_spirv(at, (n - i) / 4)) {
            status = give_spirv(s, address + i, n_left - i);
        }
    }
    return status;
}

/* Searches addresses [from, to) of a region. */
static enum pfd_status scan_range(struct scan *s, uint64_t from, uint64_t to,
                                  uint64_t region_end)
{
    enum pfd_status status = PFD_OK;
    while (from < to && status == PFD_OK) {
        uint64_t left = to - from;
        size_t n = left < WINDOW ? (size_t)left : WINDOW;
        status = pfd_memory_read(s->memory, from, s->window, n, NULL, NULL,
                                 NULL, s->err);
        if (status == PFD_OK)
            status = search(s, from, n, region_end - from);
        /* A header truncated here is complete in the next window. */
        from += n == left ? n : n - HEAD;
    }
    return status;
}

static enum pfd_status scan_region(struct scan *s,
                                   const struct pfd_memory_region *r)
{
    enum pfd_status status = PFD_OK;
    uint64_t end = r->address + r->present;
    struct pfd_range next = { r->address, r->address };
    while (status == PFD_OK &&
           pfd_memory_mapped_range(s->memory, r, next.to, end, &next))
        status = scan_range(s, next.from, next.to, end);
    return status;
}

enum pfd_status pfd_process_code_scan(struct pfd_memory *memory,
                                      pfd_process_code_fn fn, void *user,
                                      struct pfd_error *err)
{
    struct scan s = { .memory = memory, .fn = fn, .user = user, .err = err };
    struct pfd_memory_region r;
    enum pfd_status status = pfd_memory_refresh(memory, err);
    if (status != PFD_OK)
        return status;
    s.window = malloc(WINDOW);
    if (!s.window)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    for (size_t i = 0;
         status == PFD_OK && pfd_memory_region(memory, i, &r) == PFD_OK; i++) {
        if (pfd_memory_is_wanted(&r))
            status = scan_region(&s, &r);
    }
    free(s.window);
    free(s.seen);
    return status;
}
