/* SPDX-License-Identifier: MIT */
/* Compiled by rocm.py; one call a line. There is no ROCm here: what printf
 * needs of it stands at the end. */
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))

extern "C" __device__ int printf(const char *, ...);

__global__ void kernel(const int *i, const double *d, const char *s,
                       const char *format)
{
    printf("nothing\n");
    printf("int %d %u\n", i[0], (unsigned)i[1]);
    printf("float %f %.17g\n", (float)d[0], d[1]);
    printf("literal %s and pointer %s\n", "text", s);
    printf("raw a:b,c \\n \"quotes\" 100%% %d\n", i[0]);
    printf("star %*d %.*f\n", i[0], i[1], i[2], d[0]);
    printf("same %d\n", i[0]);
    printf("same %d\n", i[1]);
    printf(format, i[0]);
}

#ifdef BUFFERED
__device__ unsigned buffer[1 << 10];

extern "C" __device__ char *__printf_alloc(unsigned n)
{
    unsigned at = __atomic_fetch_add(buffer, n, __ATOMIC_RELAXED);
    return at + n <= sizeof buffer - 8 ? (char *)(buffer + 2) + at : nullptr;
}
#endif

#ifdef HOSTCALL
/* Where the device libraries send packets from. */
typedef unsigned long word;

static __device__ word send(word message)
{
    const word *arguments = (const word *)__builtin_amdgcn_implicitarg_ptr();
    return message + *(volatile word *)arguments[10];
}

extern "C" __device__ word __ockl_printf_begin(word version)
{
    return send(version);
}

extern "C" __device__ word __ockl_printf_append_args(
    word message, unsigned n, word a, word b, word c, word d, word e, word f,
    word g, unsigned is_last)
{
    return send(message + a);
}

extern "C" __device__ word __ockl_printf_append_string_n(
    word message, const char *text, word n, unsigned is_last)
{
    return send(message + n);
}
#endif
