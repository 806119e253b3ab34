/* SPDX-License-Identifier: MIT */
/*
 * What the code objects of AMD's GPUs say about themselves, in their ELF header
 * and in their metadata, MessagePack or YAML. Owns what it read. Rows of printf
 * are counted here and read in hsa_rows.h.
 */
#ifndef PFD_AMDGPU_OBJECT_H
#define PFD_AMDGPU_OBJECT_H

#include <printfdecode/objects.h>

#include "core/base/error.h"
#include "core/objects/elf_image.h"

struct pfd_object;

/*
 * Reads the description of an ELF file. What is wrong with its metadata is not
 * said: formats that read it for their strings do.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_object_read(const struct pfd_image *image,
                                struct pfd_object **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_object_free(struct pfd_object *object);

/* Fills in os to why_none; borrowed until the object is freed. */
void pfd_object_describe(const struct pfd_object *object,
                         struct pfd_object_info *ret);

/* True when all its metadata could be read: what it lacks is not there. */
bool pfd_object_is_sound(const struct pfd_object *object);

#endif
