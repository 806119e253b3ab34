/* SPDX-License-Identifier: MIT */
/* Compiled by cuda.py for NVIDIA's GPUs. */
#ifndef __NVCC__
#include "cuda_words.h"
#endif
#define PFD_COMMIT
#define PFD_ORIGIN
#include <printfdecode/device/printf.h>

enum class color : unsigned char {
    red
};

template <class T> static __device__ void any(T value)
{
    PFD_LOG(ERROR, "any %f\n", (float)value);
}

__global__ void kernel(const float *f, unsigned long long u, double d, char *p)
{
    int i = (int)threadIdx.x;
    PFD_PRINTF("nothing\n");
    PFD_PRINTF("ray %u t=%f\n", i, f[i]);
    if (i % 3) PFD_PRINTF
        ("%llu %g %p %*d %hhx\n", u, d, p, i, i, color::red);
    for (int k = 0; k < i; k++)
        PFD_PRINTF("%s and %s\n", "a \"literal\"",
                   i & 1 ? PFD_TEXT("odd") : PFD_TEXT("even"));
    any(i);
    any(d);
}
