/* SPDX-License-Identifier: MIT */
/*
 * The device's view of a format string: how each argument is converted to
 * dwords, and to how many. The conversion alone decides an argument's width,
 * since a lexer knows no types; the device's compiler checks the argument
 * against it.
 */
#ifndef PFD_ARGUMENT_SHAPE_H
#define PFD_ARGUMENT_SHAPE_H

#include "core/base/text.h"

/* The type of an argument on the device: a function of that letter takes it. */
enum pfd_argument_shape_class {
    PFD_ARGUMENT_SHAPE_U, /* %d %u %x ...: 32 bits */
    PFD_ARGUMENT_SHAPE_F, /* %f ...: 32 bits */
    PFD_ARGUMENT_SHAPE_Q, /* %ld ...: 64 bits */
    PFD_ARGUMENT_SHAPE_D, /* %lf ...: 64 bits */
    PFD_ARGUMENT_SHAPE_P, /* %p: 64 bits */
    PFD_N_SHAPE_CLASSES,
};

struct pfd_argument_shape_argument {
    uint8_t class;   /* enum pfd_argument_shape_class */
    uint8_t n;       /* components: 1, 2, 3, 4, 8 or 16 */
    bool is_literal; /* %s: its text is in the format string, not on the
                        device */
    size_t from;     /* its conversion is bytes [from, to) of the format
                        string */
    size_t to;
};

/* All zero is an empty one. */
struct pfd_argument_shape {
    struct pfd_argument_shape_argument *arguments; /* [n] */
    size_t n;
    size_t n_scalars; /* in the payload */
    size_t n_dwords;  /* of the whole entry */
};

void pfd_argument_shape_free(struct pfd_argument_shape *argument_shape);

/* Reads format [n]. PFD_OK; PFD_ERR_CORRUPT: the device cannot supply a
 * conversion, and the error says why; PFD_ERR_NOMEM. */
enum pfd_status pfd_argument_shape_read(struct pfd_argument_shape *ret,
                                        const char *format, size_t n,
                                        char why[160]);

/* Adds the text [n] to ret as the conversion, a %s, prints it, with each %
 * doubled, as in a format string. */
void pfd_argument_shape_put_literal(const char *conversion, size_t n_conversion,
                                    const char *text, size_t n,
                                    struct pfd_text *ret);

static inline bool pfd_argument_shape_is_wide(
    const struct pfd_argument_shape_argument *a)
{
    return a->class != PFD_ARGUMENT_SHAPE_U && a->class != PFD_ARGUMENT_SHAPE_F;
}

/*
 * Adds the name of the device's function that prints these arguments, such as
 * "pfd_print_u_q2": for each the letter of its class, with the number of
 * components if there are several. extras: letters behind "pfd_print"
 * (device.h).
 */
void pfd_argument_shape_name(const struct pfd_argument_shape *argument_shape,
                             const char *extras, struct pfd_text *ret);

#endif
