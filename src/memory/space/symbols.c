/* SPDX-License-Identifier: MIT */
#include "memory/space/symbols.h"

#include <elf.h>
#include <string.h>

enum {
    IMAGES_MAX = 65536,
    HEADERS_MAX = 256, /* program headers */
    DYNAMIC_MAX = 1024,
    CHAIN_MAX = 1 << 20,
    NAME_MAX_BYTES = 64,
};

/* A search and its results. */
struct search {
    struct pfd_memory *memory;
    const char *name;
    uint64_t *ret;
    size_t n;
};

/* A dynamic section, with addresses in the memory. */
struct tables {
    uint64_t symbols;
    uint64_t names;
    uint64_t n_names;
    uint64_t gnu_hash;
    uint64_t hash;
    uint64_t debug;
};

/* ---- symbols ---- */

static uint32_t gnu_hash_of(const char *name)
{
    uint32_t h = 5381;
    for (; *name; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

static uint32_t sysv_hash_of(const char *name)
{
    uint32_t h = 0;
    for (; *name; name++) {
        h = (h << 4) + (unsigned char)*name;
        h = (h ^ (h & 0xf0000000) >> 24) & 0x0fffffff;
    }
    return h;
}

static void add_address(struct search *s, uint64_t address)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->ret[i] == address)
            return;
    }
    if (s->n < PFD_SYMBOLS_MAX)
        s->ret[s->n++] = address;
}

/* Takes symbol i if it is defined and has the name. */
static void take_symbol(struct search *s, const struct tables *t, uint64_t bias,
                        uint32_t i)
{
    Elf64_Sym symbol;
    char name[NAME_MAX_BYTES];
    size_t n = strlen(s->name) + 1;
    if (n > sizeof name ||
        !pfd_memory_take(s->memory, t->symbols + i * sizeof symbol, &symbol,
                         sizeof symbol) ||
        symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0 ||
        n > t->n_names || symbol.st_name > t->n_names - n ||
        !pfd_memory_take(s->memory, t->names + symbol.st_name, name, n) ||
        memcmp(name, s->name, n) != 0)
        return;
    add_address(s, symbol.st_value + bias);
}

static bool read_word(struct search *s, uint64_t address, uint32_t *ret)
{
    return pfd_memory_take(s->memory, address, ret, sizeof *ret);
}

/* The hash table of the GNU linker: header, filter, buckets, hashes of
 * symbols. */
static void search_gnu(struct search *s, const struct tables *t, uint64_t bias)
{
    struct {
        uint32_t n_buckets;
        uint32_t first;
        uint32_t n_filter;
        uint32_t shift;
    } head;
    uint32_t want = gnu_hash_of(s->name);
    uint32_t i = 0;
    uint32_t hash = 0;
    if (!pfd_memory_take(s->memory, t->gnu_hash, &head, sizeof head) ||
        head.n_buckets == 0)
        return;
    uint64_t buckets = t->gnu_hash + sizeof head + 8 * (uint64_t)head.n_filter;
    uint64_t chain = buckets + 4 * (uint64_t)head.n_buckets;
    if (!read_word(s, buckets + 4 * (uint64_t)(want % head.n_buckets), &i) ||
        i < head.first)
        return;
    for (uint32_t n = 0; n < CHAIN_MAX; n++, i++) {
        if (!read_word(s, chain + 4 * (uint64_t)(i - head.first), &hash))
            return;
        if ((hash | 1) == (want | 1))
            take_symbol(s, t, bias, i);
        if (hash & 1)
            return;
    }
}

/* The older hash table: counts, buckets, chains of symbols. */
static void search_sysv(struct search *s, const struct tables *t, uint64_t bias)
{
    uint32_t counts[2]; /* of buckets, and of symbols */
    uint32_t i = 0;
    if (!pfd_memory_take(s->memory, t->hash, counts, sizeof counts) ||
        counts[0] == 0)
        return;
    uint64_t buckets = t->hash + sizeof counts;
    uint64_t chain = buckets + 4 * (uint64_t)counts[0];
    uint32_t want = sysv_hash_of(s->name) % counts[0];
    if (!read_word(s, buckets + 4 * (uint64_t)want, &i))
        return;
    for (uint32_t n = 0; n < CHAIN_MAX && i != 0 && i < counts[1]; n++) {
        take_symbol(s, t, bias, i);
        if (!read_word(s, chain + 4 * (uint64_t)i, &i))
            return;
    }
}

/* ---- images ---- */

/* The member for entry `tag`; NULL: the tag is not used. */
static uint64_t *table_of(struct tables *t, int64_t tag)
{
    switch (tag) {
    case DT_SYMTAB:
        return &t->symbols;
    case DT_STRTAB:
        return &t->names;
    case DT_STRSZ:
        return &t->n_names;
    case DT_GNU_HASH:
        return &t->gnu_hash;
    case DT_HASH:
        return &t->hash;
    case DT_DEBUG:
        return &t->debug;
    default:
        return NULL;
    }
}

/* The GNU C library's dynamic linker replaces a file's addresses by absolute
 * ones; others leave them. */
static void put_in_place(uint64_t *address, uint64_t bias)
{
    if (*address && *address < bias)
        *address += bias;
}

static struct tables read_dynamic(struct pfd_memory *memory, uint64_t at,
                                  uint64_t bias)
{
    struct tables t = { 0 };
    Elf64_Dyn entry;
    for (unsigned i = 0; i < DYNAMIC_MAX; i++) {
        if (!pfd_memory_take(memory, at + i * sizeof entry, &entry,
                             sizeof entry) ||
            entry.d_tag == DT_NULL)
            break;
        uint64_t *to = table_of(&t, entry.d_tag);
        if (to)
            *to = entry.d_un.d_val;
    }
    put_in_place(&t.symbols, bias);
    put_in_place(&t.names, bias);
    put_in_place(&t.gnu_hash, bias);
    put_in_place(&t.hash, bias);
    return t;
}

static void search_image(struct search *s, uint64_t dynamic, uint64_t bias)
{
    struct tables t = read_dynamic(s->memory, dynamic, bias);
    if (!t.symbols || !t.names)
        return;
    if (t.gnu_hash) {
        search_gnu(s, &t, bias);
    } else if (t.hash) {
        search_sysv(s, &t, bias);
    }
}

/* The virtual address of the first program header of `type` in the file, of the
 * headers [n] at an address; a PT_LOAD counts only at file offset 0. *found:
 * there is one. */
static uint64_t find_header(struct pfd_memory *memory, uint64_t at, uint64_t n,
                            uint32_t type, bool *found)
{
    Elf64_Phdr header;
    *found = false;
    for (uint64_t i = 0; i < n && i < HEADERS_MAX; i++) {
        if (!pfd_memory_take(memory, at + i * sizeof header, &header,
                             sizeof header))
            return 0;
        bool first = type != PT_LOAD || header.p_offset == 0;
        if (header.p_type == type && first) {
            *found = true;
            return header.p_vaddr;
        }
    }
    return 0;
}

/* The program's link map, which its dynamic linker maintains for debuggers. */
static void search_link_map(struct search *s)
{
    struct {
        uint64_t bias;
        uint64_t name;
        uint64_t dynamic;
        uint64_t next;
        uint64_t previous;
    } link;
    uint64_t headers = 0;
    uint64_t n = 0;
    uint64_t at = 0;
    bool has_place = false;
    bool has_dynamic = false;
    if (!pfd_memory_auxv(s->memory, AT_PHDR, &headers) ||
        !pfd_memory_auxv(s->memory, AT_PHNUM, &n))
        return;
    uint64_t place = find_header(s->memory, headers, n, PT_PHDR, &has_place);
    uint64_t dynamic =
        find_header(s->memory, headers, n, PT_DYNAMIC, &has_dynamic);
    uint64_t bias = has_place ? headers - place : 0;
    if (!has_dynamic)
        return;
    struct tables t = read_dynamic(s->memory, dynamic + bias, bias);
    /* struct r_debug: the version, then the list's first entry. */
    if (!t.debug || !pfd_memory_take(s->memory, t.debug + 8, &at, sizeof at))
        return;
    for (unsigned i = 0; i < IMAGES_MAX && at; i++, at = link.next) {
        if (!pfd_memory_take(s->memory, at, &link, sizeof link))
            return;
        search_image(s, link.dynamic, link.bias);
    }
}

/* An image whose ELF header is at the beginning of a region. */
static void search_region(struct search *s, const struct pfd_memory_region *r)
{
    Elf64_Ehdr header;
    bool has_dynamic = false;
    bool has_load = false;
    if (!pfd_memory_take(s->memory, r->address, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr) ||
        (header.e_type != ET_DYN && header.e_type != ET_EXEC))
        return;
    uint64_t headers = r->address + header.e_phoff;
    uint64_t dynamic = find_header(s->memory, headers, header.e_phnum,
                                   PT_DYNAMIC, &has_dynamic);
    uint64_t first =
        find_header(s->memory, headers, header.e_phnum, PT_LOAD, &has_load);
    if (has_dynamic && has_load) {
        uint64_t bias = r->address - first;
        search_image(s, dynamic + bias, bias);
    }
}

size_t pfd_symbols_find(struct pfd_memory *memory, const char *name,
                        uint64_t ret[PFD_SYMBOLS_MAX])
{
    struct search s = { .memory = memory, .name = name, .ret = ret };
    struct pfd_memory_region r;
    search_link_map(&s);
    for (size_t i = 0; pfd_memory_region(memory, i, &r) == PFD_OK; i++) {
        if (r.present && r.permissions & PFD_MEMORY_READ)
            search_region(&s, &r);
    }
    return s.n;
}
