/* SPDX-License-Identifier: MIT */
/*
 * A code object: an ELF file as sections and notes. Borrows the file's bytes
 * for its whole life and never writes them. Every range that it returns lies
 * within them, whatever the file's tables say. Does not know what notes mean.
 *
 * Only ELF64 little-endian files are read; any other has a header, a finding
 * that says so, and no sections or notes.
 */
#ifndef PFD_ELF_IMAGE_H
#define PFD_ELF_IMAGE_H

#include <string.h>

#include <printfdecode/common.h>

#include "core/base/byte_reader.h"
#include "core/base/error.h"

struct pfd_image;

/* The fields of the ELF header that distinguish code objects. */
struct pfd_image_header {
    uint16_t type;       /* e_type: 1 ET_REL, 3 ET_DYN */
    uint16_t machine;    /* e_machine: 224 EM_AMDGPU */
    uint32_t flags;      /* e_flags */
    uint8_t osabi;       /* e_ident[EI_OSABI] */
    uint8_t abi_version; /* e_ident[EI_ABIVERSION] */
};

/* Everything is borrowed from the image's bytes. */
struct pfd_section {
    const char *name; /* [n_name] bytes, any bytes, not NUL-terminated */
    size_t n_name;
    uint32_t type;                /* sh_type: 7 SHT_NOTE */
    uint64_t offset;              /* where the section starts in the file */
    uint64_t size;                /* as its header has it */
    uint64_t address;             /* where it is in memory; 0: nowhere */
    struct pfd_byte_reader bytes; /* its bytes in the file */
};

static inline bool pfd_section_is(const struct pfd_section *section,
                                  const char *name)
{
    return section->n_name == strlen(name) &&
           !memcmp(section->name, name, section->n_name);
}

/* Likewise. */
struct pfd_note {
    const char *owner; /* [n_owner] bytes, without trailing NULs */
    size_t n_owner;
    uint32_t type;
    struct pfd_byte_reader desc;
    uint64_t offset;      /* of the note in the file */
    uint64_t desc_offset; /* of its contents in the file */
    size_t room;          /* memory limit for parsing it, bytes */
};

/* Takes one note. Any status but PFD_OK ends the walk and is its result. */
typedef enum pfd_status (*pfd_note_fn)(void *user, const struct pfd_note *note);

/*
 * Opens bytes [n], borrowed until pfd_image_free(). A file that is ELF but not
 * readable is a finding (bad_elf) and an image without sections and notes.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: no ELF magic; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_image_open(const void *bytes, size_t n,
                               struct pfd_image **ret,
                               struct pfd_report *report,
                               struct pfd_error *err);

/* The same for files of 32 and 64 bits alike, whose sections alone are read, and
 * only if all of their headers are there. Without findings. */
enum pfd_status pfd_image_open_sections(const void *bytes, size_t n,
                                        struct pfd_image **ret,
                                        struct pfd_error *err);

/* The memory limit for parsing one of its notes, in bytes; SIZE_MAX by
 * default. */
void pfd_image_set_room(struct pfd_image *image, size_t n);

/* The size of the ELF file that starts at bytes [n], by its header: up to the
 * end of its section headers. n: the header does not tell. */
size_t pfd_image_size(const void *bytes, size_t n);

/* Says that an AMD code object's section headers run past its end, or that its
 * notes are listed only, for one in which nothing was found: one that was
 * loaded into memory needs no sections. */
void pfd_image_report_cut(const struct pfd_image *image,
                          struct pfd_report *report);

/* Says that section headers run past the end of an AMD code object that is a
 * file of its own and gave strings: others may have been in the rest. */
void pfd_image_report_short(const struct pfd_image *image,
                            struct pfd_report *report);

/* NULL is allowed. */
void pfd_image_free(struct pfd_image *image);

/* All zero when the file could not be read. */
const struct pfd_image_header *pfd_image_header(const struct pfd_image *image);

/* Fills ret with section i; section 0 of an ELF file is empty. PFD_OK;
 * PFD_END: i is beyond the last. Sections of a hostile file may overlap. */
enum pfd_status pfd_image_section(const struct pfd_image *image, size_t i,
                                  struct pfd_section *ret);

/*
 * Calls fn for every note, each once: first notes of note sections in table
 * order, then notes that only a program header covers. Findings: note_truncated
 * (the rest of that section is skipped), bad_elf (the notes overlap so much
 * that the walk was ended).
 *
 * PFD_OK; PFD_ERR_NOMEM; the status that fn returned.
 */
enum pfd_status pfd_image_notes(const struct pfd_image *image, pfd_note_fn fn,
                                void *user, struct pfd_report *report,
                                struct pfd_error *err);

#endif
