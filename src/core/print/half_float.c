/* SPDX-License-Identifier: MIT */
#include "core/print/half_float.h"

uint32_t pfd_half_to_float_bits(uint32_t half)
{
    uint32_t sign = (half & 0x8000) << 16;
    uint32_t exponent = half >> 10 & 31;
    uint32_t fraction = half & 0x3ff;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent == 0 && fraction == 0)
        return sign;
    if (exponent == 0) {
        unsigned shift = (unsigned)__builtin_clz(fraction) - 21;
        fraction = fraction << shift & 0x3ff;
        exponent = 1 - shift; /* wraps, and comes back below */
    }
    return sign | ((exponent + 112) << 23) | fraction << 13;
}

uint32_t pfd_e4m3_to_float_bits(uint32_t v)
{
    uint32_t sign = (v & 0x80) << 24;
    uint32_t exponent = v >> 3 & 15;
    uint32_t fraction = v & 7;
    if ((v & 0x7f) == 0x7f)
        return sign | 0x7fc00000;
    if (exponent == 0 && fraction == 0)
        return sign;
    if (exponent == 0) {
        unsigned shift = (unsigned)__builtin_clz(fraction) - 28;
        fraction = fraction << shift & 7;
        exponent = 1 - shift; /* wraps, and comes back below */
    }
    return sign | ((exponent + 120) << 23) | fraction << 20;
}
