/* SPDX-License-Identifier: MIT */
/* Compiled by rocm.py, which looks for each format string in the code object.
 * One call a line; behind it stand the sizes that its arguments must have
 * there. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

__kernel void scalars(__global const int *i, __global const float *f,
                      __global const double *d, __local int *l)
{
    printf("nothing\n"); //
    printf("int %d %u %x\n", i[0], (uint)i[1], i[2]); // 4 4 4
    printf("small %c %hd %hhu\n", (char)i[0], (short)i[1], (uchar)i[2]); // 4 4 4
    printf("long %ld %lx\n", (long)i[0], (ulong)i[1]); // 8 8
    printf("narrow %f, wide %e %g %a\n", f[0], f[1], f[2], f[3]); // 4 8 8 8
    printf("double %f\n", d[0]); // 8
    printf("pointers %p %p\n", i, l); // 8 4
}

__kernel void vectors(__global const float4 *f, __global const char2 *c2,
                      __global const char4 *c4, __global const short8 *s8,
                      __global const double2 *d2, __global const int3 *i3)
{
    printf("f4 %v4hlf\n", f[0]); // 16
    printf("c2 %v2hhd\n", c2[0]); // 8
    printf("c4 %v4hhx\n", c4[0]); // 4
    printf("s8 %v8hd\n", s8[0]); // 16
    printf("d2 %v2lf\n", d2[0]); // 16
    printf("i3 %v3hld\n", i3[0]); // 16
}

__kernel void texts(__global const int *i)
{
    printf("colon a:b::c\n"); //
    printf("quotes \"double\" 'single'\n"); //
    printf("two\nlines\tand a tab\n"); //
    printf("100%% of %d%%\n", i[0]); // 4
    printf("bell \a back \b feed \f return \r vertical \v\n"); //
    printf("no newline %d", i[0]); // 4
    printf("utf-8 caf\xc3\xa9 %d\n", i[0]); // 4
    printf("same %d\n", i[0]); // 4
    printf("same %d\n", i[1]); // 4
    printf("text %s and %d\n", "abcd", i[0]); // 8 4
    printf("text %s\n", "abc"); // 4
}
