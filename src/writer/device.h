/* SPDX-License-Identifier: MIT */
/*
 * The device's source for printing, which is added before the first code of a
 * file: a buffer, functions that convert arguments to dwords, and a function
 * for each shape that writes an entry. Each is guarded by #ifndef, so that
 * files which include each other can all have theirs.
 */
#ifndef PFD_DEVICE_H
#define PFD_DEVICE_H

#include "writer/argument_shape.h"
#include "writer/text_set.h"

enum {
    PFD_DEVICE_N_SIZES = 6 /* of vectors: 1, 2, 3, 4, 8, 16 */
};

/* The needs of a file's calls. */
struct pfd_device {
    unsigned set; /* of the buffer, if PFD_SET is not defined; GLSL */
    unsigned binding;
    bool subgroups;    /* PFD_SUBGROUPS is defined */
    bool wide_atomics; /* PFD_WIDE_ATOMICS is defined; GLSL */
    bool fragment;     /* PFD_FRAGMENT is defined; GLSL */
    bool compute;      /* PFD_COMPUTE is defined; GLSL */
    bool control;      /* calls test the control block */
    bool commit;       /* a name has this extra */
    bool origin;
    /* Bit i of takes[class]: vectors of the i-th size. */
    uint8_t takes[PFD_N_SHAPE_CLASSES];
    struct pfd_text_set shapes; /* the names of shapes */
    /* Functions for arguments, in the text form of pfd_device_argument(). */
    struct pfd_text_set arguments;
};

/* Index 0 to 5 for vectors of 1 to 16 components, and back. */
unsigned pfd_device_size_index(unsigned n);
unsigned pfd_device_size(unsigned index);

/* Adds the name of the function that takes such a value: "pfd_f3". */
void pfd_device_taker(const struct pfd_argument_shape_argument *argument,
                      struct pfd_text *ret);

/*
 * Adds the class and the components of argument i (from 0 on) of this format
 * string, and the function that takes it, such as "f3
 * pfd_argument_1_of_percent_v3f": compilers name it where a type is wrong.
 */
void pfd_device_argument(const struct pfd_argument_shape_argument *argument,
                         size_t i, const char *format, struct pfd_text *ret);

/* Parses that text; *name is its function. */
struct pfd_argument_shape_argument pfd_device_argument_read(const char *text,
                                                            const char **name);

void pfd_device_glsl(const struct pfd_device *device, struct pfd_text *ret);
void pfd_device_opencl(const struct pfd_device *device, struct pfd_text *ret);

/* ---- shared by both languages ---- */

/* Adds "#ifndef PFD_HAS_name, #define PFD_HAS_name"; the caller ends it with
 * pfd_text_puts("#endif"). */
void pfd_device_guard(const char *name, struct pfd_text *ret);

/* A parameter of an entry's function, from its name: "_q2" is 2 of 64 bits. */
struct pfd_device_parameter {
    bool is_wide;
    unsigned n;
};

/* Reads the next parameter of *name, and moves it on; false: there are no
 * more. */
bool pfd_device_parameter(const char **name, struct pfd_device_parameter *ret);

/* The parts of an entry behind its arguments: letters behind "pfd_print". */
enum {
    PFD_DEVICE_COMMIT = 'c',
    PFD_DEVICE_ORIGIN = 'o',
};
bool pfd_device_has(const char *name, char extra);

/* Dwords of an entry that the function of this name writes. */
unsigned pfd_device_dwords(const char *name);

/*
 * Optional parts of the device's source: the control block, which is tested
 * before a call's arguments are evaluated, commit words, and the origin of an
 * entry. printfdecode/device/printf.h has the same parts for CUDA and HIP.
 */

/* The source of each part, in one language. */
struct pfd_extras {
    const char *control;
    const char *commit;
    const char *origin;
};

/* Adds the parts that the device's calls need, behind the source of the
 * buffer. */
void pfd_extras_put(const struct pfd_extras *extras,
                    const struct pfd_device *device, struct pfd_text *ret);

#endif
