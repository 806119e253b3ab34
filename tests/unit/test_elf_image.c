/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "build.h"
#include "core/objects/elf_image.h"
#include "guard.h"
#include "suite.h"

static struct findings findings;
static struct build notes;
static struct build file;

/* What the last look() saw. */
enum {
    SEEN_MAX = 8
};
static struct {
    int n;
    uint64_t offset[SEEN_MAX];
    uint64_t desc_offset[SEEN_MAX];
    uint32_t type[SEEN_MAX];
    size_t n_desc[SEEN_MAX];
    char owner[SEEN_MAX][16];
} seen;

static void setup(void)
{
    memset(&seen, 0, sizeof seen);
    findings_init(&findings);
}

static void teardown(void)
{
    build_free(&notes);
    build_free(&file);
}

static enum pfd_status remember(void *user, const struct pfd_note *note)
{
    if (seen.n < SEEN_MAX) {
        seen.offset[seen.n] = note->offset;
        seen.desc_offset[seen.n] = note->desc_offset;
        seen.type[seen.n] = note->type;
        seen.n_desc[seen.n] = note->desc.n;
        memcpy(seen.owner[seen.n], note->owner,
               note->n_owner < 15 ? note->n_owner : 15);
    }
    seen.n++;
    return PFD_OK;
}

static enum pfd_status stop(void *user, const struct pfd_note *note)
{
    seen.n++;
    return PFD_ERR_STOPPED;
}

/* Reads all notes of bytes [n], which lie before a guard page. */
static void look_at(const void *bytes, size_t n)
{
    struct guard guard = guard_new(bytes, n);
    struct pfd_image *image;
    memset(&seen, 0, sizeof seen);
    findings_init(&findings);
    ck_assert_int_eq(
        pfd_image_open(guard.bytes, n, &image, &findings.report, NULL), PFD_OK);
    ck_assert_int_eq(
        pfd_image_notes(image, remember, NULL, &findings.report, NULL), PFD_OK);
    pfd_image_free(image);
    guard_free(&guard);
}

static void look(void)
{
    look_at(file.bytes, file.n);
}

static void add_note(const char *owner, uint32_t type, const char *desc)
{
    struct build d = { 0 };
    build_bytes(&d, desc, strlen(desc));
    build_note(&notes, owner, type, &d);
    build_free(&d);
}

static void make(const char *section, bool segment)
{
    build_elf(&file, &(struct build_elf){ .notes = &notes,
                                          .section = section,
                                          .segment = segment });
}

/* Two notes: 24 and 28 bytes. */
static void make_two(const char *section, bool segment)
{
    add_note("AMD", 11, "isa-name");
    add_note("AMDGPU", 32, "document");
    make(section, segment);
}

static void assert_two(uint64_t at)
{
    ck_assert_int_eq(seen.n, 2);
    ck_assert_uint_eq(seen.offset[0], at);
    ck_assert_uint_eq(seen.desc_offset[0], at + 16);
    ck_assert_uint_eq(seen.n_desc[0], 8);
    ck_assert_uint_eq(seen.type[0], 11);
    ck_assert_str_eq(seen.owner[0], "AMD");
    ck_assert_uint_eq(seen.offset[1], at + 24);
    ck_assert_uint_eq(seen.type[1], 32);
    ck_assert_str_eq(seen.owner[1], "AMDGPU");
    ck_assert_int_eq(findings.n_all, 0);
}

START_TEST(test_section_of_any_name)
{
    static const char *const names[] = { ".note", ".note.pal", "", "x" };
    make_two(names[_i], false);
    look();
    assert_two(64);
}
END_TEST

START_TEST(test_segment_only)
{
    make_two(NULL, true);
    look();
    assert_two(120);
}
END_TEST

START_TEST(test_section_and_segment_once)
{
    make_two(".note", true);
    look();
    assert_two(120);
}
END_TEST

START_TEST(test_segment_larger_than_section)
{
    make_two(".note", true);
    build_shdr(&file, 1)->sh_size = 24; /* the first note only */
    look();
    assert_two(120);
}
END_TEST

/* What a section cuts off, the segment may have whole. */
START_TEST(test_section_cuts_a_note)
{
    make_two(".note", true);
    build_shdr(&file, 1)->sh_size = 40;
    look();
    ck_assert_int_eq(seen.n, 2);
    ck_assert_uint_eq(seen.offset[1], 120 + 24);
    ck_assert_int_eq(findings.n_all, 1);
    ck_assert_int_eq(findings.n[PFD_FINDING_note_truncated], 1);
}
END_TEST

START_TEST(test_header)
{
    make_two(".note", false);
    struct pfd_image *image;
    ck_assert_int_eq(
        pfd_image_open(file.bytes, file.n, &image, &findings.report, NULL),
        PFD_OK);
    const struct pfd_image_header *header = pfd_image_header(image);
    ck_assert_uint_eq(header->type, ET_REL);
    ck_assert_uint_eq(header->machine, 224);
    ck_assert_uint_eq(header->flags, 0x36);
    ck_assert_uint_eq(header->osabi, 65);
    ck_assert_uint_eq(header->abi_version, 0);
    pfd_image_free(image);
}
END_TEST

START_TEST(test_sections)
{
    struct pfd_section section;
    struct pfd_image *image;
    make_two(".note", false);
    build_shdr(&file, 2)->sh_size += 100000; /* beyond the file: clamped */
    ck_assert_int_eq(
        pfd_image_open(file.bytes, file.n, &image, &findings.report, NULL),
        PFD_OK);
    ck_assert_int_eq(pfd_image_section(image, 0, &section), PFD_OK);
    ck_assert_uint_eq(section.bytes.n, 0);
    ck_assert_int_eq(pfd_image_section(image, 1, &section), PFD_OK);
    ck_assert_uint_eq(section.n_name, 5);
    ck_assert_int_eq(memcmp(section.name, ".note", 5), 0);
    ck_assert_uint_eq(section.type, SHT_NOTE);
    ck_assert_uint_eq(section.offset, 64);
    ck_assert_uint_eq(section.bytes.n, notes.n);
    ck_assert_int_eq(pfd_image_section(image, 2, &section), PFD_OK);
    ck_assert_uint_eq(section.bytes.n, file.n - section.offset);
    ck_assert_int_eq(pfd_image_section(image, 3, &section), PFD_END);
    pfd_image_free(image);
}
END_TEST

START_TEST(test_stop)
{
    struct pfd_image *image;
    make_two(".note", false);
    ck_assert_int_eq(
        pfd_image_open(file.bytes, file.n, &image, &findings.report, NULL),
        PFD_OK);
    ck_assert_int_eq(pfd_image_notes(image, stop, NULL, &findings.report, NULL),
                     PFD_ERR_STOPPED);
    ck_assert_int_eq(seen.n, 1);
    pfd_image_free(image);
    pfd_image_free(NULL);
}
END_TEST

START_TEST(test_truncated_note)
{
    /* 0xffffffff + 3 does not fit 32 bits, 20 + that neither. */
    static const uint32_t sizes[] = { 9, 1 << 20, 0xfffffffd, 0xffffffff };
    make_two(".note", true);
    /* the second note's descsz */
    memcpy(file.bytes + 120 + 24 + 4, &sizes[_i], 4);
    look();
    ck_assert_int_eq(seen.n, 1);
    ck_assert_int_eq(findings.n[PFD_FINDING_note_truncated], 1);
    ck_assert_int_eq(findings.n_all, 1);
    ck_assert_uint_eq(findings.last.offset, 120 + 24);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "'.note'"));
}
END_TEST

START_TEST(test_truncated_owner)
{
    static const uint32_t sizes[] = { 17, 0xfffffffd, 0xffffffff };
    make_two(".note", false);
    memcpy(file.bytes + 64 + 24, &sizes[_i], 4);
    look();
    ck_assert_int_eq(seen.n, 1);
    ck_assert_int_eq(findings.n[PFD_FINDING_note_truncated], 1);
}
END_TEST

START_TEST(test_padding_may_be_missing)
{
    add_note("AMDGPU", 32, "odd");
    notes.n--;
    make(NULL, true);
    look();
    ck_assert_int_eq(seen.n, 1);
    ck_assert_uint_eq(seen.n_desc[0], 3);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_empty_owner_and_contents)
{
    build_u32(&notes, 0);
    build_u32(&notes, 0);
    build_u32(&notes, 5);
    make(".note", false);
    look();
    ck_assert_int_eq(seen.n, 1);
    ck_assert_str_eq(seen.owner[0], "");
    ck_assert_uint_eq(seen.n_desc[0], 0);
}
END_TEST

/* Padded to 8 as GNU property notes are: read with 4 it leads nowhere. */
START_TEST(test_align_8)
{
    for (uint32_t type = 1; type <= 2; type++) {
        build_u32(&notes, 4);
        build_u32(&notes, 12);
        build_u32(&notes, type);
        build_bytes(&notes, "GNU", 4);
        build_bytes(&notes, "abcdefghijkl", 12);
        build_align(&notes, 8);
    }
    build_elf(&file, &(struct build_elf){
                         .notes = &notes, .section = ".note", .align = 8 });
    look();
    ck_assert_int_eq(seen.n, 2);
    ck_assert_uint_eq(seen.type[1], 2);
    ck_assert_uint_eq(seen.n_desc[1], 12);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_align_8_stated_4_meant)
{
    add_note("AMDGPU", 32, "four");
    add_note("AMDGPU", 33, "four");
    build_elf(&file, &(struct build_elf){
                         .notes = &notes, .section = ".note", .align = 8 });
    look();
    ck_assert_int_eq(seen.n, 2);
    ck_assert_uint_eq(seen.type[1], 33);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

/* An AMDGPU note whose contents are at 24, where alignment 8 puts them. */
static void add_metadata_8(uint32_t n)
{
    build_u32(&notes, 7);
    build_u32(&notes, n);
    build_u32(&notes, 32);
    build_bytes(&notes, "AMDGPU", 7);
    build_align(&notes, 8);
    build_bytes(&notes, "\x81\xa3key\xa5value???", n);
    build_align(&notes, 8);
}

/* A single note can be read with 4 as well; its contents tell. The table may
 * state either. */
START_TEST(test_align_8_alone)
{
    for (uint32_t n = 11; n <= 14; n++) {
        for (uint64_t stated = 4; stated <= 8; stated += 4) {
            notes.n = 0;
            file.n = 0;
            seen.n = 0;
            add_metadata_8(n);
            build_elf(&file,
                      &(struct build_elf){ .notes = &notes,
                                           .section = _i ? ".note" : NULL,
                                           .segment = !_i,
                                           .align = stated });
            look();
            ck_assert_int_eq(seen.n, 1);
            ck_assert_uint_eq(seen.n_desc[0], n);
            ck_assert_uint_eq(seen.desc_offset[0] - seen.offset[0], 24);
            ck_assert_int_eq(findings.n_all, 0);
        }
    }
}
END_TEST

/* One that makes no sense either way is read with 4. */
START_TEST(test_align_8_no_map)
{
    add_note("AMDGPU", 32, "no map");
    build_elf(&file, &(struct build_elf){
                         .notes = &notes, .section = ".note", .align = 8 });
    look();
    ck_assert_int_eq(seen.n, 1);
    ck_assert_uint_eq(seen.desc_offset[0] - seen.offset[0], 20);
}
END_TEST

START_TEST(test_section_count_beyond_file)
{
    static const uint16_t counts[] = { 4, 0xff, 0xfeff, 0xffff };
    make_two(".note", false);
    build_ehdr(&file)->e_shnum = counts[_i];
    look();
    assert_two(64);
}
END_TEST

/* Section header 0 has the numbers when they are large. */
START_TEST(test_extended_numbers)
{
    static const uint64_t counts[] = { 3, 4, 0x10000, UINT64_C(1) << 60,
                                       UINT64_MAX };
    make_two(".note", false);
    build_ehdr(&file)->e_shnum = 0;
    build_ehdr(&file)->e_shstrndx = SHN_XINDEX;
    build_shdr(&file, 0)->sh_size = counts[_i];
    build_shdr(&file, 0)->sh_link = 2;
    look();
    assert_two(64);
}
END_TEST

START_TEST(test_section_table_beyond_file)
{
    static const uint64_t offsets[] = { UINT64_C(1) << 40, UINT64_MAX,
                                        UINT64_MAX - 63, INT64_MAX };
    make_two(".note", false);
    build_ehdr(&file)->e_shoff = offsets[_i];
    look();
    ck_assert_int_eq(seen.n, 0);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_section_range_beyond_file)
{
    static const struct {
        uint64_t offset;
        uint64_t size;
    } ranges[] = {
        { UINT64_MAX, 1 },
        { UINT64_MAX - 11, 64 },
        { UINT64_C(1) << 63, UINT64_C(1) << 63 },
        { 1 << 20, 52 },
    };
    make_two(".note", false);
    build_shdr(&file, 1)->sh_offset = ranges[_i].offset;
    build_shdr(&file, 1)->sh_size = ranges[_i].size;
    look();
    ck_assert_int_eq(seen.n, 0);
    ck_assert_int_eq(findings.n_all, 0);
}
END_TEST

START_TEST(test_segment_count_beyond_file)
{
    static const uint16_t counts[] = { 3, 0xfffe, PN_XNUM };
    make_two(NULL, true);
    build_ehdr(&file)->e_phnum = counts[_i];
    look();
    if (counts[_i] == PN_XNUM) /* without sections nobody says how many */
        ck_assert_int_eq(seen.n, 0);
    else
        ck_assert_int_ge(seen.n, 2);
}
END_TEST

START_TEST(test_every_cut)
{
    make_two(".note", true);
    for (size_t n = 4; n < file.n; n++)
        look_at(file.bytes, n);
    look();
    assert_two(120);
}
END_TEST

/* One note, shown by section after section with other starts and ends. */
START_TEST(test_overlap_is_bounded)
{
    enum {
        N = 20000
    };
    add_note("AMDGPU", 32, "document");
    make(".note", false);
    build_align(&file, 8);
    build_ehdr(&file)->e_shoff = file.n;
    build_ehdr(&file)->e_shnum = N;
    Elf64_Shdr *table = calloc(N, sizeof *table);
    for (size_t i = 0; i < N; i++)
        table[i] = (Elf64_Shdr){ .sh_type = SHT_NOTE,
                                 .sh_offset = 64 + 4 * i,
                                 .sh_size = UINT64_MAX,
                                 .sh_addralign = 8 };
    build_bytes(&file, table, N * sizeof *table);
    free(table);
    look();
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_elf], 1);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "overlap"));
}
END_TEST

START_TEST(test_same_section_twice)
{
    make_two(".note", false);
    *build_shdr(&file, 0) = *build_shdr(&file, 1);
    look();
    assert_two(64);
}
END_TEST

START_TEST(test_not_for_us)
{
    static const struct {
        size_t at;
        uint8_t value;
        const char *text;
    } cases[] = {
        { EI_CLASS, ELFCLASS32, "32-bit" },
        { EI_CLASS, 7, "class is 7" },
        { EI_DATA, ELFDATA2MSB, "big-endian" },
        { EI_DATA, 0, "encoding is 0" },
    };
    make_two(".note", true);
    file.bytes[cases[_i].at] = cases[_i].value;
    look();
    ck_assert_int_eq(seen.n, 0);
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_elf], 1);
    ck_assert_uint_eq(findings.last.offset, cases[_i].at);
    ck_assert_ptr_nonnull(strstr(findings.last.text, cases[_i].text));
}
END_TEST

START_TEST(test_too_short)
{
    make_two(".note", false);
    for (size_t n = 4; n < 64; n++) {
        look_at(file.bytes, n);
        ck_assert_int_eq(findings.n[PFD_FINDING_bad_elf], 1);
    }
}
END_TEST

START_TEST(test_no_elf)
{
    static const char *const inputs[] = { "", "\x7f", "\x7f\x45L", "ELF!",
                                          "!<arch>\n" };
    struct guard guard = guard_new(inputs[_i], strlen(inputs[_i]));
    struct pfd_image *image;
    struct pfd_error err;
    ck_assert_int_eq(
        pfd_image_open(guard.bytes, guard.n, &image, &findings.report, &err),
        PFD_ERR_UNSUPPORTED);
    ck_assert_int_eq(findings.n_all, 0);
    guard_free(&guard);
}
END_TEST

/* An archive's members start at even addresses only. */
START_TEST(test_unaligned)
{
    make_two(".note", true);
    for (size_t shift = 1; shift < 8; shift++) {
        uint8_t *copy = malloc(file.n + shift);
        memcpy(copy + shift, file.bytes, file.n);
        struct pfd_image *image;
        memset(&seen, 0, sizeof seen);
        ck_assert_int_eq(pfd_image_open(copy + shift, file.n, &image,
                                        &findings.report, NULL),
                         PFD_OK);
        ck_assert_int_eq(
            pfd_image_notes(image, remember, NULL, &findings.report, NULL),
            PFD_OK);
        assert_two(120);
        pfd_image_free(image);
        free(copy);
    }
}
END_TEST

START_TEST(test_many_note_segments)
{
    Elf64_Phdr phdr = { .p_type = PT_NOTE, .p_align = 4 };
    make_two(".note", false);
    build_align(&file, 8);
    build_ehdr(&file)->e_phoff = file.n;
    build_ehdr(&file)->e_phnum = 100;
    phdr.p_offset = file.n;
    for (int i = 0; i < 100; i++)
        build_bytes(&file, &phdr, sizeof phdr);
    look();
    ck_assert_int_eq(seen.n, 2);
    ck_assert_int_eq(findings.n[PFD_FINDING_bad_elf], 1);
    ck_assert_ptr_nonnull(strstr(findings.last.text, "100 note segments"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image");
    TCase *tcase = tcase_create("image");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, test_section_of_any_name, 0, 4);
    tcase_add_test(tcase, test_segment_only);
    tcase_add_test(tcase, test_section_and_segment_once);
    tcase_add_test(tcase, test_segment_larger_than_section);
    tcase_add_test(tcase, test_section_cuts_a_note);
    tcase_add_test(tcase, test_header);
    tcase_add_test(tcase, test_sections);
    tcase_add_test(tcase, test_stop);
    tcase_add_loop_test(tcase, test_truncated_note, 0, 4);
    tcase_add_loop_test(tcase, test_truncated_owner, 0, 3);
    tcase_add_test(tcase, test_padding_may_be_missing);
    tcase_add_test(tcase, test_empty_owner_and_contents);
    tcase_add_test(tcase, test_align_8);
    tcase_add_test(tcase, test_align_8_stated_4_meant);
    tcase_add_loop_test(tcase, test_align_8_alone, 0, 2);
    tcase_add_test(tcase, test_align_8_no_map);
    tcase_add_loop_test(tcase, test_section_count_beyond_file, 0, 4);
    tcase_add_loop_test(tcase, test_extended_numbers, 0, 5);
    tcase_add_loop_test(tcase, test_section_table_beyond_file, 0, 4);
    tcase_add_loop_test(tcase, test_section_range_beyond_file, 0, 4);
    tcase_add_loop_test(tcase, test_segment_count_beyond_file, 0, 3);
    tcase_add_test(tcase, test_every_cut);
    tcase_add_test(tcase, test_overlap_is_bounded);
    tcase_add_test(tcase, test_same_section_twice);
    tcase_add_loop_test(tcase, test_not_for_us, 0, 4);
    tcase_add_test(tcase, test_too_short);
    tcase_add_loop_test(tcase, test_no_elf, 0, 5);
    tcase_add_test(tcase, test_unaligned);
    tcase_add_test(tcase, test_many_note_segments);
    suite_add_tcase(suite, tcase);
    return suite_run_all(suite);
}
