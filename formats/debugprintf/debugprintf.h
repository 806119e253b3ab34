/* SPDX-License-Identifier: MIT */
/* The two halves of debugprintf: calls.c makes strings of a shader's calls,
 * debugprintf.c reads buffers. */
#ifndef DEBUGPRINTF_H
#define DEBUGPRINTF_H

#include "format.h"

/* Bits of pfd_record.layout: how a record departs from its call's types. */
enum {
    DEBUGPRINTF_NO_16 = 1, /* 16-bit integers are not there (until 2024) */
    DEBUGPRINTF_CUT = 2,   /* only as many values as the payload holds */
};

/* The key of the string of a call: its shader and where it stands there. */
static inline uint64_t debugprintf_key(uint32_t shader, uint32_t offset)
{
    return (uint64_t)shader << 32 | offset;
}

/* Adds a string for each debugPrintf call of a shader. */
enum pfd_status debugprintf_shader(struct pfd_strings *strings,
                                   const struct pfd_shader *shader,
                                   struct pfd_report *report,
                                   struct pfd_error *err);

uint64_t debugprintf_adapt(const struct pfd_string_row *row,
                           struct pfd_step *steps, size_t n_steps);
void debugprintf_layout(const struct pfd_string *string,
                        const struct pfd_program_facts *facts,
                        struct pfd_layout *ret);
size_t debugprintf_slots(const struct pfd_look *look, struct pfd_slot *ret,
                         uint64_t *findings);

/* Dwords that the call's values take, with or without 16-bit integers. */
uint64_t debugprintf_dwords(const struct pfd_string *string, bool no_16);

extern const struct pfd_format pfd_format_debugprintf;

#endif
