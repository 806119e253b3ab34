/* SPDX-License-Identifier: MIT */
/* Prints from a kernel of CUDA; docs/shaders.md says how to see it. */
#include <printfdecode/device/host.h>

__global__ void kernel(float step)
{
    unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
    PFD_PRINTF("ray %u t=%f\n", id, id * step);
}

int main()
{
    pfd::printer out(1 << 20);
    if (out.error())
        fprintf(stderr, "hello: %s\n", out.error());
    kernel<<<1, 8>>>(0.5f);
    return cudaDeviceSynchronize() != cudaSuccess;
}
