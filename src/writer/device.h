/* SPDX-License-Identifier: MIT */
/*
 * The device's side of printing, as source that is put before the first code
 * of a file: a buffer, functions that turn arguments into dwords, and one that
 * writes an entry for each shape. Each stands between #ifndef and #endif, so
 * that files which include each other can all have theirs.
 */
#ifndef PFD_DEVICE_H
#define PFD_DEVICE_H

#include "writer/argument_shape.h"
#include "writer/text_set.h"

enum {
    PFD_DEVICE_N_SIZES = 6 /* of vectors: 1, 2, 3, 4, 8, 16 */
};

/* What a file's calls need. */
struct pfd_device {
    unsigned set; /* of the buffer, where nobody defines PFD_SET; GLSL */
    unsigned binding;
    bool subgroups;    /* PFD_SUBGROUPS is defined */
    bool wide_atomics; /* PFD_WIDE_ATOMICS is defined; GLSL */
    bool fragment;     /* PFD_FRAGMENT is defined; GLSL */
    bool compute;      /* PFD_COMPUTE is; likewise */
    bool control;      /* calls ask the control block */
    bool commit;       /* some name has this extra */
    bool origin;
    /* Bit i of takes[class]: vectors of the i-th size. */
    uint8_t takes[PFD_N_SHAPE_CLASSES];
    struct pfd_text_set shapes; /* their names */
    /* Functions for arguments, as pfd_device_argument() says them. */
    struct pfd_text_set arguments;
};

/* 0 to 5 for vectors of 1 to 16 components, and back. */
unsigned pfd_device_size_index(unsigned n);
unsigned pfd_device_size(unsigned index);

/* Adds the name of the function that takes such values: "pfd_f3". */
void pfd_device_taker(const struct pfd_argument_shape_argument *argument,
                      struct pfd_text *ret);

/*
 * Adds the class and the components of argument i (from 0 on) of this format
 * string and the function that it is handed to, such as
 * "f3 pfd_argument_1_of_percent_v3f": compilers name it where a type is wrong.
 */
void pfd_device_argument(const struct pfd_argument_shape_argument *argument,
                         size_t i, const char *format, struct pfd_text *ret);

/* The text taken apart again; *name is its end. */
struct pfd_argument_shape_argument pfd_device_argument_read(const char *text,
                                                            const char **name);

void pfd_device_glsl(const struct pfd_device *device, struct pfd_text *ret);
void pfd_device_opencl(const struct pfd_device *device, struct pfd_text *ret);

/* ---- shared by both languages ---- */

/* "#ifndef PFD_HAS_name, #define PFD_HAS_name"; pfd_text_puts("#endif") ends
 * it. */
void pfd_device_guard(const char *name, struct pfd_text *ret);

/* A parameter of an entry's function, as its name says: "_q2" is 2 of 64. */
struct pfd_device_parameter {
    bool is_wide;
    unsigned n;
};

/* The next parameter that *name says, which moves on; false: there are no
 * more. */
bool pfd_device_parameter(const char **name, struct pfd_device_parameter *ret);

/* What an entry has behind its arguments: letters behind "pfd_print". */
enum {
    PFD_DEVICE_COMMIT = 'c',
    PFD_DEVICE_ORIGIN = 'o',
};
bool pfd_device_has(const char *name, char extra);

/* Dwords of the entry that a function of this name writes. */
unsigned pfd_device_dwords(const char *name);

#endif
