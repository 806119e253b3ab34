/* SPDX-License-Identifier: MIT */
/*
 * The self-description of AMD GPU code objects: their ELF header and their
 * metadata, MessagePack or YAML. Owns the parsed values. Rows of printf strings
 * are counted here; hsa_printf.h reads them.
 */
#ifndef PFD_AMDGPU_OBJECT_H
#define PFD_AMDGPU_OBJECT_H

#include <printfdecode/strings.h>

#include "core/base/error.h"
#include "core/objects/elf_image.h"

struct pfd_object;

/*
 * Reads the description of an ELF file. Faults in its metadata are not
 * reported: formats that read the metadata for their strings report them.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_object_read(const struct pfd_image *image,
                                struct pfd_object **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_object_free(struct pfd_object *object);

/* Fills the members os to why_none; borrowed until the object is freed. */
void pfd_object_describe(const struct pfd_object *object,
                         struct pfd_object_info *ret);

/* True when all of its metadata was read: a missing key is then not in it. */
bool pfd_object_is_sound(const struct pfd_object *object);

#endif
