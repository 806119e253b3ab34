/* SPDX-License-Identifier: MIT */
/* What a fuzz target is: libFuzzer's entry point, also called by replay.c. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* An invariant that must hold for any input. */
#define FUZZ_CHECK(condition) \
    do {                      \
        if (!(condition))     \
            abort();          \
    } while (0)

#endif
