/* SPDX-License-Identifier: MIT */
/*
 * What a device and its host agree on beside the buffer: the control block,
 * which says what may be printed, and the rows that format strings are in the
 * program's file. C and C++, on the device too; nothing of it calls anything.
 *
 * The control block lies in the device's memory. Its owner writes it before
 * the first kernel and may write single dwords of it while kernels run (any
 * copy that does not tear a dword will do); the device adds to the counts.
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
    PFD_ROW_TEXT = 2,    /* kind: what an argument of %s stands for */

    /* Flags of a format string: what an entry has behind its arguments, in
     * this order. */
    PFD_ROW_ORIGIN = 1, /* PFD_ROW_ORIGIN_DWORDS of where it comes from */
    PFD_ROW_COMMIT = 2, /* one dword made of all before it */
    PFD_ROW_TIGHT = 4,  /* no more dwords: vectors print as OpenCL's, by "," */
    PFD_ROW_ORIGIN_DWORDS = 6,

    PFD_ROW_TYPES_MAX = 32,
};

/* The first row of a site, and its header as it lies in memory. */
struct pfd_row_header {
    uint64_t magic;
    uint32_t n_bytes; /* of the whole row, a multiple of 8 */
    uint8_t kind;
    uint8_t level; /* enum pfd_level */
    uint8_t flags;
    uint8_t n_types; /* bytes: one letter for each argument */
    uint64_t id;     /* 48 bits: a hash of all of the row but this */
    uint32_t line;
    uint16_t n_text; /* bytes, without NUL; likewise */
    uint16_t n_file;
};

/* How much a message matters; 0: nobody has said so. */
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
    uint32_t next;     /* the next one with this gate, from 1; 0: none */
    uint32_t is_on;    /* 0: nothing is printed, and nothing counted */
    uint32_t budget;   /* entries that it may print, of those left by every */
    uint32_t every;    /* of so many, the first is printed; 0 as 1 */
    uint64_t seen;     /* entries that came to be counted: a budget or every
                          is set */
    uint64_t withheld; /* entries that were not printed, by any rule but
                          is_on */
};

/* Unlimited. */
#define PFD_NO_BUDGET UINT32_C(0xffffffff)

/* Only threads, workgroups (blocks) and pixels whose numbers are all within
 * first and last print; threads' numbers are of the whole grid. A range asks
 * only shaders that have such numbers: pixels those of fragments, where the
 * third is 0, and the two others those that compute. */
struct pfd_control_range {
    uint32_t first[3];
    uint32_t last[3];
};

struct pfd_control {
    uint32_t version; /* PFD_CONTROL_VERSION */
    uint32_t n_sites;
    uint64_t buffer;     /* its address on the device */
    uint64_t n_reserved; /* what the buffer's header is to say; the device's */
    uint32_t is_telling; /* a lane is seeing to that; the device's */
    uint32_t n_dwords;   /* of the buffer behind its header, 2^29 at most: what
                            is beyond is counted and not stored */
    uint32_t reserved;
    uint32_t is_filtered; /* the ranges are looked at */
    struct pfd_control_range threads;
    struct pfd_control_range groups;
    struct pfd_control_range pixels;
    /* For all sites with this gate (formats/llpc/README.md): 0, or the first of
     * them, from 1, when one of them is on. */
    uint32_t gates[PFD_GATES];
    /* [n_sites] of struct pfd_site follow. */
};

#endif
