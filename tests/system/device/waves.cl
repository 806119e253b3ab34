/* SPDX-License-Identifier: MIT */
/* What scanned kernels call of OpenCL C, on the waves of waves.cc. A lane runs
 * until it waits for others: nothing has to be atomic. */
ulong wave_lanes(ulong site);
uint wave_first(uint word);
uint wave_rank(void);
uint wave_count(void);
uint wave_lane(void);
uint wave_number(void);
uint wave_width(void);

uint4 __attribute__((overloadable)) sub_group_ballot(int predicate)
{
    ulong lanes = wave_lanes((ulong)__builtin_return_address(0));
    return (uint4)((uint)lanes, (uint)(lanes >> 32), 0, 0);
}

uint __attribute__((overloadable)) sub_group_ballot_exclusive_scan(uint4 lanes)
{
    return wave_rank();
}

uint __attribute__((overloadable)) sub_group_ballot_bit_count(uint4 lanes)
{
    return wave_count();
}

uint __attribute__((overloadable)) sub_group_broadcast_first(uint word)
{
    return wave_first(word);
}

size_t __attribute__((overloadable)) get_global_id(uint axis)
{
    return axis ? 0 : wave_number() * wave_width() + wave_lane();
}

/* Workgroups of two waves. */
size_t __attribute__((overloadable)) get_group_id(uint axis)
{
    return axis ? 0 : wave_number() / 2;
}

uint __attribute__((overloadable)) get_sub_group_id(void)
{
    return wave_number() % 2;
}

uint __attribute__((overloadable)) get_sub_group_local_id(void)
{
    return wave_lane();
}

void __attribute__((overloadable)) write_mem_fence(cl_mem_fence_flags flags)
{
}

ulong __attribute__((overloadable))
atom_add(volatile __global ulong *to, ulong n)
{
    ulong before = *to;
    *to = before + n;
    return before;
}

uint __attribute__((overloadable))
atomic_add(volatile __global uint *to, uint n)
{
    uint before = *to;
    *to = before + n;
    return before;
}

uint __attribute__((overloadable)) atomic_inc(volatile __global uint *to)
{
    return atomic_add(to, 1u);
}

uint __attribute__((overloadable)) min(uint a, uint b)
{
    return a < b ? a : b;
}

ulong __attribute__((overloadable)) min(ulong a, ulong b)
{
    return a < b ? a : b;
}

uint __attribute__((overloadable)) rotate(uint v, uint n)
{
    return v << n % 32 | v >> (32 - n) % 32;
}

#define CONVERT(to, from)                                  \
    to __attribute__((overloadable)) convert_##to(from v)  \
    {                                                      \
        return __builtin_convertvector(v, to);             \
    }
CONVERT(int4, char4)
CONVERT(uint8, ushort8)
CONVERT(uint16, uchar16)
