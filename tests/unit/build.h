/* SPDX-License-Identifier: MIT */
/*
 * Inputs for tests, written from readable descriptions: MessagePack, ELF notes
 * and files, ar archives; and a listener that keeps findings.
 */
#ifndef BUILD_H
#define BUILD_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/error.h"

/* Bytes that grow; all zero is empty. Running out of memory ends the test. */
struct build {
    uint8_t *bytes;
    size_t n;
    size_t room;
};

void build_free(struct build *b);
void build_bytes(struct build *b, const void *bytes, size_t n);
/* Adds zero bytes up to a multiple of align. */
void build_align(struct build *b, size_t align);
void build_u32(struct build *b, uint32_t value);

/* MessagePack, in the shortest form. */
void build_map(struct build *b, size_t n_pairs);
void build_array(struct build *b, size_t n);
void build_text(struct build *b, const char *text); /* up to its NUL */
void build_text_n(struct build *b, const char *text, size_t n);
void build_uint(struct build *b, uint64_t value);
void build_nil(struct build *b);

/* An ELF note, padded to 4. */
void build_note(struct build *b, const char *owner, uint32_t type,
                const struct build *desc);

/* An ELF file: its notes, and how its tables show them. */
struct build_elf {
    const struct build *notes;
    const char *section; /* name of the note section; NULL: no sections */
    bool segment;        /* a PT_NOTE program header */
    uint16_t machine;    /* 0: 224, EM_AMDGPU */
    uint64_t align;      /* sh_addralign and p_align; 0: 4 */
};
/* The notes start at 64, or with a segment at 120. */
void build_elf(struct build *b, const struct build_elf *elf);

/* To be changed in place: the header and section header i (0 to 2: none,
 * notes, names). */
Elf64_Ehdr *build_ehdr(struct build *b);
Elf64_Shdr *build_shdr(struct build *b, size_t i);

/* A member of an archive; size: as the header states it. */
void build_member(struct build *b, const char *name, const char *size,
                  const void *bytes, size_t n);

/* Keeps the findings of a report. */
struct findings {
    struct pfd_report report;
    int n[PFD_N_FINDING_KINDS];
    int n_all;
    struct pfd_error last; /* offset and text of the last one */
};
void findings_init(struct findings *findings);

#endif
