/* SPDX-License-Identifier: MIT */
/*
 * Integers beyond 2^53: readers that store numbers as binary64, such as jq and
 * JavaScript, round them. Their exact text is then written beside them.
 */
#ifndef PFD_JSON_EXACT_H
#define PFD_JSON_EXACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/print/program.h"

#define PFD_EXACT_MAX (UINT64_C(1) << 53)

enum {
    PFD_ROOM_EXACT = 32 /* beside PFD_ROOM_ARGUMENT for each argument */
};

/* True: the step prints 64-bit integers. */
static inline bool pfd_step_is_wide(const struct pfd_step *step)
{
    char c = (char)(step->conv | 0x20);
    bool is_float = c == 'a' || (c >= 'e' && c <= 'g');
    return step->store == PFD_STORE_QWORD && !is_float;
}

/* True: one of these steps prints an integer beyond 2^53. */
bool pfd_steps_exceed(const struct pfd_step *steps, const uint8_t *payload);

/* pfd_json_put_exact() of the arguments of these steps. */
char *pfd_steps_put_exact(char *out, const struct pfd_step *steps,
                          const uint8_t *payload);

/*
 * Reads a JSON list of arguments [n], without its brackets. Writes nothing, or
 * ,"args_exact":[null,"9007199254740993"] of the same length. out has
 * PFD_ROOM_EXACT and PFD_ROOM_ARGUMENT for each. Returns the end.
 */
char *pfd_json_put_exact(char *out, const char *list, size_t n);

#endif
