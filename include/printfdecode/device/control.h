/* SPDX-License-Identifier: MIT */
/*
 * The interface between a device and its host beside the buffer: the control
 * block, which says what may be printed, and the rows that hold format strings
 * in the program's file. C and C++, on the device too; calls nothing.
 *
 * The control block lies in the device's memory. Its owner writes it before the
 * first kernel and may write single dwords of it while kernels run (any copy
 * that does not tear a dword will do); the device adds to the counts.
 * printfdecode/sites.h makes one and changes it.
 */
#ifndef PRINTFDECODE_DEVICE_CONTROL_H
#define PRINTFDECODE_DEVICE_CONTROL_H

#include <stdint.h>

/* ---- rows: formats/llpc/README.md, "Rows" ---- */

/* "\x89PFDROW\n" as a little-endian number. */
#define PFD_ROW_MAGIC UINT64_C(0x0a574f5244465089)

enum {
    PFD_ROW_HEADER = 32, /* bytes before types, text and file */
    PFD_ROW_FORMAT = 1,  /* kind: a format string */
    PFD_ROW_TEXT = 2,    /* kind: the text that an argument of %s stands for */

    /* Flags of a format string: the dwords behind the arguments of an entry, in
     * this order. */
    PFD_ROW_ORIGIN = 1, /* PFD_ROW_ORIGIN_DWORDS of its origin */
    PFD_ROW_COMMIT = 2, /* one commit dword, made of all before it */
    PFD_ROW_TIGHT = 4,  /* no more dwords: vectors print as OpenCL's, by "," */
    PFD_ROW_ORIGIN_DWORDS = 6,

    PFD_ROW_TYPES_MAX = 32,
};

/* The header of a row, as it lies in memory. */
struct pfd_row_header {
    uint64_t magic;
    uint32_t n_bytes; /* of the whole row, a multiple of 8 */
    uint8_t kind;
    uint8_t level; /* enum pfd_level */
    uint8_t flags;
    uint8_t n_types; /* bytes: one letter for each argument */
    uint64_t id;     /* 48 bits: a hash of the rest of the row */
    uint32_t line;
    uint16_t n_text; /* bytes, without NUL; n_file likewise */
    uint16_t n_file;
};

/* How important a message is; 0: not stated. */
enum pfd_level {
    PFD_LEVEL_NONE,
    PFD_LEVEL_ERROR,
    PFD_LEVEL_WARNING,
    PFD_LEVEL_INFO,
    PFD_LEVEL_DEBUG,
    PFD_LEVEL_TRACE,
};

/* ---- the control block ---- */

enum {
    PFD_CONTROL_VERSION = 2,
    PFD_GATES = 1024, /* a power of two */
};

/* A format string's own rules and counts. */
struct pfd_site {
    uint64_t id;
    uint32_t next;     /* index of the next one with this gate, from 1; 0:
                          none */
    uint32_t is_on;    /* 0: nothing is printed or counted */
    uint32_t budget;   /* limit for printed entries, of those left by every */
    uint32_t every;    /* print the first of so many; 0 as 1 */
    uint64_t seen;     /* entries that were counted, since a budget or every is
                          set */
    uint64_t withheld; /* entries that any rule but is_on withheld */
};

/* Unlimited. */
#define PFD_NO_BUDGET UINT32_C(0xffffffff)

/* Only threads, workgroups (blocks) and pixels whose numbers are all within
 * first and last print; threads' numbers are of the whole grid. A range applies
 * only to shaders that have such numbers: pixels to fragment shaders, where the
 * third is 0, and the other two to compute shaders. */
struct pfd_control_range {
    uint32_t first[3];
    uint32_t last[3];
};

struct pfd_control {
    uint32_t version; /* PFD_CONTROL_VERSION */
    uint32_t n_sites;
    uint64_t buffer;     /* its address on the device */
    uint64_t n_reserved; /* dwords reserved, for the buffer's header; the
                            device's */
    uint32_t is_telling; /* a lane is publishing that; the device's */
    uint32_t n_dwords;   /* of the buffer behind its header, 2^29 at most:
                            entries beyond are counted and not stored */
    uint32_t reserved;
    uint32_t is_filtered; /* the ranges apply */
    struct pfd_control_range threads;
    struct pfd_control_range groups;
    struct pfd_control_range pixels;
    /* For all sites with this gate (formats/llpc/README.md): 0, or the index of
     * the first of them, from 1, when one of them is on. */
    uint32_t gates[PFD_GATES];
    /* [n_sites] of struct pfd_site follow. */
};

#endif
