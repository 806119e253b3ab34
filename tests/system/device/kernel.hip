/* SPDX-License-Identifier: MIT */
/* Compiled by hip.py for AMD's GPUs. */
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define PFD_COMMIT
#define PFD_ORIGIN
#include <printfdecode/device/printf.h>

enum class color : unsigned char { red };

template <class T> static __device__ void any(T value)
{
    PFD_LOG(ERROR, "any %f\n", (float)value);
}

__global__ void kernel(const float *f, unsigned long long u, double d, char *p)
{
    int i = (int)__builtin_amdgcn_workitem_id_x();
    PFD_PRINTF("nothing\n");
    PFD_PRINTF("ray %u t=%f\n", i, f[i]);
    if (i % 3)
        PFD_PRINTF("%llu %g %p %*d %hhx\n", u, d, p, i, i, color::red);
    for (int k = 0; k < i; k++)
        PFD_PRINTF("%s and %s\n", "a \"literal\"",
                   i & 1 ? PFD_TEXT("odd") : PFD_TEXT("even"));
    any(i);
    any(d);
}
