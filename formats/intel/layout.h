/* SPDX-License-Identifier: MIT */
/* The printf buffer of Intel's OpenCL. README.md beside this file describes
 * the wire layout, with sources. */
#ifndef INTEL_LAYOUT_H
#define INTEL_LAYOUT_H

#include "core/decode/format.h"

enum {
    INTEL_DWORD = 4,
    INTEL_HEADER = 4,     /* of the buffer */
    INTEL_BY_INDEX = 4,   /* bytes of an entry's reference to its text, which */
    INTEL_BY_ADDRESS = 8, /* is one of these */
};

/* Keys of texts that are referred to by address: the offset in their section,
 * and this. */
#define INTEL_OFFSET_KEY (UINT64_C(1) << 40)

/* The value behind a tag. */
struct intel_value {
    uint32_t type;
    uint32_t n;       /* components */
    uint32_t at;      /* bytes from the start of the payload */
    uint32_t element; /* bytes from component to component */
    enum pfd_store store;
};

enum intel_type {
    INTEL_BYTE = 1,
    INTEL_SHORT,
    INTEL_INT,
    INTEL_FLOAT,
    INTEL_STRING,
    INTEL_LONG,
    INTEL_POINTER,
    INTEL_DOUBLE,
    INTEL_VECTORS, /* from here on */
    INTEL_VECTOR_FLOAT = 13,
    INTEL_VECTOR_DOUBLE,
};

/* Reads the value at *at of a payload, and moves behind it. */
enum intel_found {
    INTEL_VALUE,
    INTEL_NO_TAG, /* there is none */
    INTEL_CUT,    /* the payload ends before */
};
enum intel_found intel_next_value(const struct pfd_byte_reader *payload,
                                  uint32_t n_header, uint32_t *at,
                                  struct intel_value *ret);

/* The conversion at *step or behind it, and its components; *step moves behind
 * it. NULL: there is no more. */
const struct pfd_step *intel_next_step(const struct pfd_step **step,
                                       uint32_t *n);

/* Bytes of an entry's values, in a payload that may go on behind them; false:
 * they go over its end. *fits: each has the type of its conversion. */
bool intel_measure(const struct pfd_byte_reader *payload, uint32_t n_header,
                   const struct pfd_string *s, uint32_t *n_bytes, bool *fits);

/* Members of pfd_format_intel. */
enum pfd_status intel_load(const struct pfd_format *self,
                           const struct pfd_image *image,
                           struct pfd_strings *strings,
                           struct pfd_report *report, size_t *n_rows,
                           struct pfd_error *err);
void intel_layout(const struct pfd_string *string,
                  const struct pfd_program_facts *facts,
                  struct pfd_layout *ret);
bool intel_is_record(const struct pfd_record_view *record_view);
size_t intel_slots(const struct pfd_record_view *record_view,
                   struct pfd_slot *ret, uint64_t *findings);
void intel_make(const struct pfd_record_view *record_view,
                struct pfd_synthesized *ret);
uint64_t intel_adapt(const struct pfd_record_view *record_view,
                     struct pfd_step *steps, size_t n_steps);

#endif
