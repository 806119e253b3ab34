/* SPDX-License-Identifier: MIT */
/*
 * Shared by the files of HIP's buffered printf. Only files of this folder
 * include it.
 */
#ifndef HIP_LAYOUT_H
#define HIP_LAYOUT_H

#include "core/decode/format.h"
#include "core/decode/inspect.h"

/* The parts of an entry. */
enum {
    HIP_CONTROL = 4, /* u32: the entry's bytes << 2, and two flags */
    HIP_HASH = 8,
    HIP_ENTRY_MIN = HIP_CONTROL + HIP_HASH, /* "" takes as many bytes as a
                                               hash */
    HIP_ENTRY_MAX = 1 << 24, /* four times the size of today's whole buffers */
    HIP_FLAG_STDERR = 1,
    HIP_FLAG_CONSTANT = 2, /* a hash follows; else the format string itself */
};

/*
 * A record's layout. Bit HIP_FIRST_NULL + i: string i is null; valid if the
 * walk decided that, else slots() does.
 */
enum {
    HIP_LAYOUT_OWN = 0,  /* every argument takes 8 bytes */
    HIP_LAYOUT_TEXT = 1, /* the entry's bytes define where arguments are */
    HIP_LAYOUT_NULLS = 2,
    HIP_FIRST_NULL = 2,
};

/* The number of steps that take a string. */
unsigned hip_count_texts(const struct pfd_step *steps);

/* pfd_string_kind.layout, and members of the format. */
void hip_layout(const struct pfd_string *s,
                const struct pfd_program_facts *facts, struct pfd_layout *ret);
bool hip_is_record(const struct pfd_record_view *record_view);
size_t hip_slots(const struct pfd_record_view *record_view,
                 struct pfd_slot *ret, uint64_t *findings);
void hip_make(const struct pfd_record_view *record_view,
              struct pfd_synthesized *ret);
bool hip_entry_word(const struct pfd_record_view *record_view, uint32_t at,
                    struct pfd_word *ret);

#endif
