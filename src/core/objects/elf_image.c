/* SPDX-License-Identifier: MIT */
/*
 * libelf finds the tables of section and program headers, but rejects a table
 * that the file holds only in part. Truncated files are common (a killed copy,
 * a dump of memory), and their rest may hold notes. So a table that libelf
 * rejects is read here, as far as the file goes. Either way a header is only a
 * claim: every range is clamped to the file before a byte of it is read.
 */
#include "core/objects/elf_image.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <gelf.h>
#include <libelf.h>

#include "core/base/msgpack.h"

/* The limit of PT_NOTE program headers that are read: each is compared with
 * every section. Linkers write one for each alignment, so two or three. */
enum {
    NOTE_SEGMENTS_MAX = 64
};

/* One of the two tables of headers. */
struct header_table {
    uint64_t offset;
    size_t n;
    bool raw; /* rejected by libelf: read from the bytes */
};

struct pfd_image {
    struct pfd_byte_reader bytes; /* the whole file, borrowed */
    Elf *elf;                     /* owned; NULL: libelf cannot read the file */
    Elf64_Ehdr ehdr;              /* all zero: unreadable */
    struct pfd_image_header header;
    struct header_table sections;
    struct header_table segments;
    struct pfd_byte_reader names; /* of the sections; may be empty */
    size_t room;                  /* memory limit for parsing a note */
};

/* The bytes of a range that the file holds; `at` beyond the file: none. */
static struct pfd_byte_reader clamp(const struct pfd_image *image, uint64_t at,
                                    uint64_t n)
{
    struct pfd_byte_reader c = image->bytes;
    pfd_byte_reader_seek(&c, at);
    if (!pfd_byte_reader_ok(&c))
        return pfd_byte_reader(image->bytes.base, 0);
    size_t left = pfd_byte_reader_left(&c);
    return pfd_byte_reader_sub(&c, n < left ? (size_t)n : left);
}

/* Copies entry i of a table that libelf rejects. */
static bool raw_entry(const struct pfd_image *image,
                      const struct header_table *table, size_t i, void *ret,
                      size_t size)
{
    struct pfd_byte_reader c = image->bytes;
    pfd_byte_reader_seek(&c, table->offset);
    pfd_byte_reader_skip(&c, i * size); /* in the file: see raw_table() */
    const uint8_t *p = pfd_byte_reader_bytes(&c, size);
    if (p)
        memcpy(ret, p, size);
    return p != NULL;
}

static bool section_header(const struct pfd_image *image, size_t i,
                           GElf_Shdr *ret)
{
    if (image->sections.raw)
        return raw_entry(image, &image->sections, i, ret, sizeof *ret);
    return gelf_getshdr(elf_getscn(image->elf, i), ret) != NULL;
}

static bool segment_header(const struct pfd_image *image, size_t i,
                           GElf_Phdr *ret)
{
    if (image->segments.raw)
        return raw_entry(image, &image->segments, i, ret, sizeof *ret);
    return gelf_getphdr(image->elf, (int)i, ret) != NULL;
}

/* A table that claims `claimed` entries, cut at the end of the file. */
static struct header_table raw_table(const struct pfd_image *image,
                                     uint64_t offset, uint64_t claimed,
                                     size_t size)
{
    size_t fit = clamp(image, offset, UINT64_MAX).n / size;
    return (struct header_table){
        .offset = offset,
        .n = claimed < fit ? (size_t)claimed : fit,
        .raw = true,
    };
}

/* Section header 0 holds the numbers that do not fit the ELF header; all zero
 * when there is none. */
static GElf_Shdr large_numbers(const struct pfd_image *image)
{
    GElf_Shdr ret = { 0 };
    struct header_table first =
        raw_table(image, image->ehdr.e_shoff, 1, sizeof ret);
    if (image->ehdr.e_shoff > 0 && first.n > 0)
        (void)raw_entry(image, &first, 0, &ret, sizeof ret);
    return ret;
}

static void find_sections(struct pfd_image *image)
{
    size_t n = 0;
    if (image->elf && elf_getshdrnum(image->elf, &n) == 0 && n > 0) {
        image->sections = (struct header_table){ .n = n };
        return;
    }
    if (image->ehdr.e_shoff == 0)
        return;
    uint64_t claimed = image->ehdr.e_shnum;
    if (claimed == 0)
        claimed = large_numbers(image).sh_size;
    image->sections =
        raw_table(image, image->ehdr.e_shoff, claimed, sizeof(GElf_Shdr));
}

static void find_segments(struct pfd_image *image)
{
    size_t n = 0;
    GElf_Phdr first;
    /* libelf may know the number without the table. */
    if (image->elf && elf_getphdrnum(image->elf, &n) == 0 && n > 0 &&
        n <= INT32_MAX && gelf_getphdr(image->elf, 0, &first)) {
        image->segments = (struct header_table){ .n = n };
        return;
    }
    if (image->ehdr.e_phoff == 0)
        return;
    uint64_t claimed = image->ehdr.e_phnum;
    if (claimed == PN_XNUM)
        claimed = large_numbers(image).sh_info;
    image->segments =
        raw_table(image, image->ehdr.e_phoff, claimed, sizeof(GElf_Phdr));
}

/*
 * Reports that section headers, which hold a host program's bundles, are
 * missing or incomplete. Not for AMD code objects: one without notes is
 * reported elsewhere, and a loaded one needs no section headers.
 */
static void report_sections(const struct pfd_image *image,
                            struct pfd_report *report)
{
    const GElf_Ehdr *h = &image->ehdr;
    uint64_t size = (uint64_t)h->e_shnum * h->e_shentsize;
    if (h->e_shoff == 0)
        return;
    if (image->sections.n == 0 && h->e_shoff >= image->bytes.n) {
        pfd_report_add(report, PFD_FINDING_bad_elf,
                       offsetof(Elf64_Ehdr, e_shoff),
                       "the ELF file's section headers are at %llu, and the "
                       "file ends at %zu: no sections are read",
                       (unsigned long long)h->e_shoff, image->bytes.n);
    } else if (h->e_shoff < image->bytes.n &&
               size > image->bytes.n - h->e_shoff) {
        pfd_report_add(
            report, PFD_FINDING_bad_elf, offsetof(Elf64_Ehdr, e_shoff),
            "the ELF file's section headers (%llu bytes at %llu) run "
            "past its end at %zu: the file is cut",
            (unsigned long long)size, (unsigned long long)h->e_shoff,
            image->bytes.n);
    } else if (image->sections.n == 0) {
        pfd_report_add(report, PFD_FINDING_bad_elf,
                       offsetof(Elf64_Ehdr, e_shoff),
                       "the ELF file's section headers at %llu cannot be read",
                       (unsigned long long)h->e_shoff);
    }
}

static void check_sections(const struct pfd_image *image,
                           struct pfd_report *report)
{
    if (image->ehdr.e_machine != EM_AMDGPU)
        report_sections(image, report);
}

static void find_names(struct pfd_image *image)
{
    GElf_Shdr shdr;
    size_t i = image->ehdr.e_shstrndx;
    image->names = pfd_byte_reader(image->bytes.base, 0);
    if (i == SHN_XINDEX)
        i = large_numbers(image).sh_link;
    if (i != SHN_UNDEF && i < image->sections.n &&
        section_header(image, i, &shdr) && shdr.sh_type != SHT_NOBITS)
        image->names = clamp(image, shdr.sh_offset, shdr.sh_size);
}

static void set_name(const struct pfd_image *image, uint32_t at,
                     struct pfd_section *ret)
{
    struct pfd_byte_reader c = image->names;
    pfd_byte_reader_seek(&c, at);
    size_t left = pfd_byte_reader_left(&c);
    const uint8_t *p = pfd_byte_reader_bytes(&c, left);
    const uint8_t *end = p ? memchr(p, 0, left) : NULL;
    ret->name = end ? (const char *)p : "";
    ret->n_name = end ? (size_t)(end - p) : 0;
}

/* False: unsupported, and a finding says why. */
static bool readable(struct pfd_byte_reader c, struct pfd_report *report)
{
    const uint8_t *ident = pfd_byte_reader_bytes(&c, EI_NIDENT);
    if (!ident || c.n < sizeof(Elf64_Ehdr)) {
        pfd_report_add(report, PFD_FINDING_bad_elf, 0,
                       "ELF file of %zu bytes is shorter than its header of "
                       "%zu bytes",
                       c.n, sizeof(Elf64_Ehdr));
        return false;
    }
    if (ident[EI_CLASS] != ELFCLASS64) {
        pfd_report_add(report, PFD_FINDING_bad_elf, EI_CLASS,
                       "ELF class is %u%s, expected 2 (64-bit): no notes are "
                       "read",
                       ident[EI_CLASS],
                       ident[EI_CLASS] == ELFCLASS32 ? " (32-bit)" : "");
        return false;
    }
    if (ident[EI_DATA] != ELFDATA2LSB) {
        pfd_report_add(report, PFD_FINDING_bad_elf, EI_DATA,
                       "ELF data encoding is %u%s, expected 1 "
                       "(little-endian): no notes are read",
                       ident[EI_DATA],
                       ident[EI_DATA] == ELFDATA2MSB ? " (big-endian)" : "");
        return false;
    }
    return true;
}

static void read_tables(struct pfd_image *image, struct pfd_report *report)
{
    memcpy(&image->ehdr, image->bytes.base, sizeof image->ehdr);
    image->header = (struct pfd_image_header){
        .type = image->ehdr.e_type,
        .machine = image->ehdr.e_machine,
        .flags = image->ehdr.e_flags,
        .osabi = image->ehdr.e_ident[EI_OSABI],
        .abi_version = image->ehdr.e_ident[EI_ABIVERSION],
    };
    /* elf_memory() takes a char * but never writes to it. */
    if (elf_version(EV_CURRENT) != EV_NONE) {
        image->elf =
            elf_memory((char *)(uintptr_t)image->bytes.base, image->bytes.n);
    }
    find_sections(image);
    find_segments(image);
    check_sections(image, report);
    find_names(image);
}

static enum pfd_status new_image(const void *bytes, size_t n,
                                 struct pfd_image **ret, struct pfd_error *err)
{
    if (n < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return pfd_fail(err, PFD_ERR_UNSUPPORTED, 0, "not an ELF file");
    struct pfd_image *image = calloc(1, sizeof *image);
    if (!image)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    image->bytes = pfd_byte_reader(bytes, n);
    image->names = pfd_byte_reader(bytes, 0);
    image->room = SIZE_MAX;
    *ret = image;
    return PFD_OK;
}

enum pfd_status pfd_image_open(const void *bytes, size_t n,
                               struct pfd_image **ret,
                               struct pfd_report *report, struct pfd_error *err)
{
    enum pfd_status status = new_image(bytes, n, ret, err);
    if (status == PFD_OK && readable((*ret)->bytes, report))
        read_tables(*ret, report);
    return status;
}

enum pfd_status pfd_image_open_sections(const void *bytes, size_t n,
                                        struct pfd_image **ret,
                                        struct pfd_error *err)
{
    enum pfd_status status = new_image(bytes, n, ret, err);
    if (status != PFD_OK || elf_version(EV_CURRENT) == EV_NONE)
        return status;
    struct pfd_image *image = *ret;
    image->elf = elf_memory((char *)(uintptr_t)bytes, n);
    if (image->elf && gelf_getehdr(image->elf, &image->ehdr) &&
        elf_getshdrnum(image->elf, &image->sections.n) == 0)
        find_names(image);
    return status;
}

void pfd_image_set_room(struct pfd_image *image, size_t n)
{
    image->room = n;
}

size_t pfd_image_size(const void *bytes, size_t n)
{
    Elf64_Ehdr ehdr;
    if (n < sizeof ehdr)
        return n;
    memcpy(&ehdr, bytes, sizeof ehdr);
    uint64_t n_table = (uint64_t)ehdr.e_shnum * ehdr.e_shentsize;
    if (ehdr.e_shoff < sizeof ehdr || n_table == 0 || ehdr.e_shoff > n ||
        n_table > n - ehdr.e_shoff)
        return n;
    return (size_t)(ehdr.e_shoff + n_table);
}

void pfd_image_free(struct pfd_image *image)
{
    if (!image)
        return;
    elf_end(image->elf);
    free(image);
}

const struct pfd_image_header *pfd_image_header(const struct pfd_image *image)
{
    return &image->header;
}

enum pfd_status pfd_image_section(const struct pfd_image *image, size_t i,
                                  struct pfd_section *ret)
{
    GElf_Shdr shdr;
    if (i >= image->sections.n || !section_header(image, i, &shdr))
        return PFD_END;
    *ret = (struct pfd_section){
        .type = shdr.sh_type,
        .offset = shdr.sh_offset,
        .size = shdr.sh_size,
        .address = shdr.sh_addr,
        .bytes = clamp(image, shdr.sh_offset,
                       shdr.sh_type == SHT_NOBITS ? 0 : shdr.sh_size),
    };
    set_name(image, shdr.sh_name, ret);
    return PFD_OK;
}

/* A code object of which only debug information was kept. */
static void report_absent_notes(const struct pfd_image *image,
                                struct pfd_report *report)
{
    static const char name[] = ".note";
    struct pfd_section s;
    for (size_t i = 0; pfd_image_section(image, i, &s) == PFD_OK; i++) {
        if (s.type != SHT_NOBITS || s.n_name < sizeof name - 1 ||
            memcmp(s.name, name, sizeof name - 1) != 0)
            continue;
        pfd_report_add(report, PFD_FINDING_no_format_strings, s.offset,
                       "section '%.*s' (%llu bytes), where the strings are, is "
                       "listed and is not in the file, which has debug "
                       "information alone: give the code object itself",
                       s.n_name < 64 ? (int)s.n_name : 64, s.name,
                       (unsigned long long)s.size);
        return;
    }
}

void pfd_image_report_cut(const struct pfd_image *image,
                          struct pfd_report *report)
{
    if (image->ehdr.e_machine != EM_AMDGPU)
        return;
    report_sections(image, report);
    report_absent_notes(image, report);
}

void pfd_image_report_short(const struct pfd_image *image,
                            struct pfd_report *report)
{
    /* A count from SHN_LORESERVE on is no count: the ELF specification keeps
     * those numbers for itself, so it is no evidence of a cut. */
    if (image->ehdr.e_machine == EM_AMDGPU &&
        image->ehdr.e_shnum < SHN_LORESERVE)
        report_sections(image, report);
}

/*
 * The walk over all notes. Tables of a hostile file can cover the same bytes
 * any number of times, so the work is bounded by the needs of a sound file.
 */
struct walk {
    const struct pfd_image *image;
    pfd_note_fn fn;
    void *user;
    struct pfd_report *report;
    uint8_t *seen; /* a bit for each byte: a note starting there is done */
    uint64_t steps_left; /* note headers that may still be read */
    uint64_t bytes_left; /* bytes of notes that fn may still get */
    bool overlap;        /* one of the two ran out, and was reported */
};

/* A range of the file that should hold notes. */
struct note_range {
    struct pfd_byte_reader bytes;
    uint64_t offset; /* of the range in the file */
    bool is_section; /* otherwise a segment */
    size_t index;    /* in its table */
};

enum {
    NOTE_HEADER = 12,
    /* Owners are short, and end in one NUL or a few. */
    OWNER_MAX = 64,
    OWNER_NULS_MAX = 8,
    NT_AMDGPU_METADATA = 32,
};

static uint64_t round_up(uint64_t n, uint64_t align)
{
    return (n + align - 1) / align * align;
}

/* Reads the note at the reader and moves behind it. False: it runs past the
 * end; `need` is then its size. Sums are 64 bits wide: none can wrap. */
static bool read_note(struct pfd_byte_reader *c, uint64_t align,
                      struct pfd_note *ret, uint64_t *need)
{
    struct pfd_byte_reader note = *c;
    size_t left = pfd_byte_reader_left(c);
    uint32_t n_owner = pfd_byte_reader_u32(&note);
    uint32_t n_desc = pfd_byte_reader_u32(&note);
    ret->type = pfd_byte_reader_u32(&note);
    uint64_t desc = round_up(NOTE_HEADER + (uint64_t)n_owner, align);
    *need = desc + n_desc;
    if (!pfd_byte_reader_ok(&note) || *need > left)
        return false;
    ret->owner = (const char *)pfd_byte_reader_bytes(&note, n_owner);
    ret->n_owner = n_owner;
    for (int i = 0; i < OWNER_NULS_MAX && ret->n_owner > 0; i++)
        ret->n_owner -= ret->owner[ret->n_owner - 1] == 0;
    ret->desc_offset = desc; /* from the note's start; the caller adds that */
    pfd_byte_reader_seek(&note, c->at + desc);
    ret->desc = pfd_byte_reader_sub(&note, n_desc);
    uint64_t size = round_up(*need, align);
    pfd_byte_reader_skip(c, size < left ? (size_t)size : left);
    return true;
}

/* True while there is a note header left, and steps to read it. */
static bool step(struct walk *walk, const struct pfd_byte_reader *c)
{
    if (pfd_byte_reader_left(c) < NOTE_HEADER || walk->overlap)
        return false;
    if (walk->steps_left > 0) {
        walk->steps_left--;
        return true;
    }
    walk->overlap = true;
    pfd_report_add(walk->report, PFD_FINDING_bad_elf, PFD_NO_OFFSET,
                   "the note sections overlap each other: no further notes "
                   "are read");
    return false;
}

/* ---- alignment ---- */

static bool is_zero(struct pfd_byte_reader c, uint64_t from, uint64_t to)
{
    bool zero = true;
    for (uint64_t at = from; at < to && at < c.n; at++)
        zero &= c.base[at] == 0;
    return zero;
}

/* True: the note begins as a MessagePack map. */
static bool begins_map(const struct pfd_note *note)
{
    struct pfd_byte_reader desc = note->desc;
    uint8_t first = pfd_byte_reader_u8(&desc);
    return pfd_msgpack_map_header(first) > 0;
}

/* Does a note, read from the reader's offset `at`, look as producers write it:
 * with an owner that is text, zeros for padding, and metadata where metadata
 * should be? */
static bool makes_sense(const struct pfd_byte_reader *c, size_t at,
                        uint64_t align, const struct pfd_note *note)
{
    uint64_t end = at + note->desc_offset + note->desc.n;
    if (note->n_owner == 0 || note->n_owner > OWNER_MAX ||
        !is_zero(*c, at + NOTE_HEADER + note->n_owner,
                 at + note->desc_offset) ||
        !is_zero(*c, end, at + round_up(end - at, align)))
        return false;
    for (size_t i = 0; i < note->n_owner; i++) {
        if (note->owner[i] <= ' ' || note->owner[i] > '~')
            return false;
    }
    return note->type != NT_AMDGPU_METADATA || note->n_owner != 6 ||
           memcmp(note->owner, "AMDGPU", 6) != 0 || begins_map(note);
}

/* The plausible notes of a range under one alignment. */
struct trial {
    uint64_t n_sense;
    uint64_t n_nonsense;
};

static struct trial try_align(struct walk *walk, struct pfd_byte_reader c,
                              uint64_t align)
{
    struct trial ret = { 0 };
    while (step(walk, &c)) {
        struct pfd_note note;
        uint64_t need;
        size_t at = c.at;
        if (!read_note(&c, align, &note, &need)) {
            ret.n_nonsense++;
            return ret;
        }
        bool sense = makes_sense(&c, at, align, &note);
        ret.n_sense += sense;
        ret.n_nonsense += !sense;
    }
    if (pfd_byte_reader_left(&c) < NOTE_HEADER)
        ret.n_nonsense += !is_zero(c, c.at, c.n);
    return ret;
}

/* AMD's producers align notes to 4, whatever sh_addralign says, and others do
 * not: the bytes decide, and 4 is the default. */
static uint64_t choose_align(struct walk *walk, const struct note_range *range)
{
    struct trial four = try_align(walk, range->bytes, 4);
    if (!four.n_nonsense)
        return 4;
    struct trial eight = try_align(walk, range->bytes, 8);
    if (eight.n_nonsense != four.n_nonsense)
        return eight.n_nonsense < four.n_nonsense ? 8 : 4;
    return eight.n_sense > four.n_sense ? 8 : 4;
}

/* ---- the walk ---- */

static bool first_time(struct walk *walk, uint64_t offset)
{
    uint8_t bit = (uint8_t)(1 << offset % 8);
    bool first = !(walk->seen[offset / 8] & bit);
    walk->seen[offset / 8] |= bit;
    return first;
}

static void report_truncated(struct walk *walk, const struct note_range *range,
                             uint64_t offset, uint64_t need, size_t left)
{
    struct pfd_section section;
    struct pfd_quoted name = { "" };
    if (range->is_section &&
        pfd_image_section(walk->image, range->index, &section) == PFD_OK)
        pfd_quote(&name, section.name, section.n_name);
    pfd_report_add(walk->report, PFD_FINDING_note_truncated, offset,
                   "a note of %llu bytes runs past the end of %s %zu%s%s%s, "
                   "which has %zu bytes left",
                   (unsigned long long)need,
                   range->is_section ? "section" : "segment", range->index,
                   name.text[0] ? " '" : "", name.text, name.text[0] ? "'" : "",
                   left);
}

static enum pfd_status give(struct walk *walk, const struct pfd_note *note)
{
    /* Notes of a sound file do not overlap: their sum is below its size. */
    uint64_t n = NOTE_HEADER + note->n_owner + note->desc.n;
    if (n > walk->bytes_left) {
        walk->overlap = true;
        pfd_report_add(walk->report, PFD_FINDING_bad_elf, note->offset,
                       "the notes overlap each other: no further notes are "
                       "read");
        return PFD_OK;
    }
    walk->bytes_left -= n;
    return walk->fn(walk->user, note);
}

static enum pfd_status walk_range(struct walk *walk,
                                  const struct note_range *range)
{
    uint64_t align = choose_align(walk, range);
    struct pfd_byte_reader c = range->bytes;
    enum pfd_status status = PFD_OK;
    while (status == PFD_OK && step(walk, &c)) {
        struct pfd_note note = { 0 };
        uint64_t need;
        uint64_t offset = range->offset + c.at;
        size_t left = pfd_byte_reader_left(&c);
        if (!read_note(&c, align, &note, &need)) {
            /* Another range may hold it whole: it is not marked. */
            report_truncated(walk, range, offset, need, left);
            break;
        }
        note.offset = offset;
        note.desc_offset += offset;
        note.room = walk->image->room;
        if (first_time(walk, offset))
            status = give(walk, &note);
    }
    return status;
}

static enum pfd_status walk_sections(struct walk *walk)
{
    enum pfd_status status = PFD_OK;
    for (size_t i = 0; i < walk->image->sections.n && status == PFD_OK; i++) {
        GElf_Shdr shdr;
        /* A compressed one that is left here was not inflated, and that was
         * told. */
        if (!section_header(walk->image, i, &shdr) ||
            shdr.sh_type != SHT_NOTE || shdr.sh_flags & SHF_COMPRESSED)
            continue;
        struct note_range range = {
            .bytes = clamp(walk->image, shdr.sh_offset, shdr.sh_size),
            .offset = shdr.sh_offset,
            .is_section = true,
            .index = i,
        };
        status = walk_range(walk, &range);
    }
    return status;
}

/* Whether a note section holds all of a segment. */
static bool covered(const struct pfd_image *image, const GElf_Phdr *phdr)
{
    for (size_t i = 0; i < image->sections.n; i++) {
        GElf_Shdr shdr;
        if (section_header(image, i, &shdr) && shdr.sh_type == SHT_NOTE &&
            shdr.sh_offset <= phdr->p_offset &&
            phdr->p_offset - shdr.sh_offset <= shdr.sh_size &&
            phdr->p_filesz <= shdr.sh_size - (phdr->p_offset - shdr.sh_offset))
            return true;
    }
    return false;
}

static enum pfd_status walk_segments(struct walk *walk)
{
    enum pfd_status status = PFD_OK;
    int n = 0;
    for (size_t i = 0; i < walk->image->segments.n && status == PFD_OK; i++) {
        GElf_Phdr phdr;
        if (!segment_header(walk->image, i, &phdr) || phdr.p_type != PT_NOTE ||
            ++n > NOTE_SEGMENTS_MAX || covered(walk->image, &phdr))
            continue;
        struct note_range range = {
            .bytes = clamp(walk->image, phdr.p_offset, phdr.p_filesz),
            .offset = phdr.p_offset,
            .index = i,
        };
        status = walk_range(walk, &range);
    }
    if (n > NOTE_SEGMENTS_MAX) {
        pfd_report_add(walk->report, PFD_FINDING_bad_elf, PFD_NO_OFFSET,
                       "%d note segments, of which %d are read", n,
                       NOTE_SEGMENTS_MAX);
    }
    return status;
}

enum pfd_status pfd_image_notes(const struct pfd_image *image, pfd_note_fn fn,
                                void *user, struct pfd_report *report,
                                struct pfd_error *err)
{
    struct walk walk = {
        .image = image,
        .fn = fn,
        .user = user,
        .report = report,
        .seen = calloc(1, image->bytes.n / 8 + 1),
        /* Each of its n / 12 notes is read at most six times: through its
         * section and its segment, by two trials of the alignment and by the
         * walk. */
        .steps_left = (uint64_t)image->bytes.n / 2 + NOTE_HEADER,
        .bytes_left = image->bytes.n,
    };
    if (!walk.seen)
        return pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    enum pfd_status status = walk_sections(&walk);
    if (status == PFD_OK)
        status = walk_segments(&walk);
    free(walk.seen);
    return status;
}
