/* SPDX-License-Identifier: MIT */
/*
 * The device functions that printf.h needs: the running lanes, words that lanes
 * exchange, one atomic, the thread's place. For CUDA (nvcc, or clang), HIP (no
 * header of ROCm is needed), and a host program that stands in for a device by
 * defining PFD_HOST_DEVICE and the functions that are named there.
 *
 * A wave is a set of lanes that run in step: 32 (CUDA, RDNA) or 64 (GCN, CDNA).
 * All lanes of a mask call the functions that take one.
 */
#ifndef PRINTFDECODE_DEVICE_PLATFORM_H
#define PRINTFDECODE_DEVICE_PLATFORM_H

#include <stdint.h>

#if defined(__CUDACC__) || (defined(__clang__) && defined(__CUDA__))
#define PFD_CUDA 1
#elif defined(__HIP__)
#define PFD_HIP 1
#elif !defined(PFD_HOST_DEVICE)
#error "printfdecode/device/printf.h is for CUDA, HIP, or a host that stands in"
#endif

#if defined(PFD_HOST_DEVICE)
#define PFD_DEVICE
#define PFD_BOTH
#else
#define PFD_DEVICE __attribute__((device))
#define PFD_BOTH   __attribute__((host)) __attribute__((device))
#endif
#define PFD_INLINE inline __attribute__((always_inline))
/* A function that is never inlined, one for each file. */
#define PFD_STEP \
    static PFD_DEVICE __attribute__((noinline)) __attribute__((unused))
/* A loop that needs few registers: never unrolled. */
#if defined(PFD_HOST_DEVICE)
#define PFD_ROLLED
#else
#define PFD_ROLLED _Pragma("unroll 1")
#endif

namespace pfd
{

/* Where a thread is. */
struct place {
    uint32_t group[3];  /* its workgroup (block) in the grid */
    uint32_t thread[3]; /* its number in the grid */
    uint32_t wave;      /* of the workgroup */
    uint32_t lane;      /* of the wave */
};

#if defined(PFD_CUDA)

using lanes = uint32_t; /* a bit for each lane of a wave */

/* The lanes that run this place of the code together. */
PFD_DEVICE PFD_INLINE lanes active_lanes(uint64_t)
{
    return __activemask();
}

PFD_DEVICE PFD_INLINE uint32_t lane_number()
{
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}

PFD_DEVICE PFD_INLINE uint32_t shuffle(lanes mask, uint32_t word, uint32_t lane)
{
    return __shfl_sync(mask, word, (int)lane);
}

PFD_DEVICE PFD_INLINE lanes ballot(lanes mask, bool yes)
{
    return __ballot_sync(mask, yes);
}

PFD_DEVICE PFD_INLINE uint32_t count_lanes(lanes mask)
{
    return (uint32_t)__popc(mask);
}

PFD_DEVICE PFD_INLINE uint32_t first_lane(lanes mask)
{
    return (uint32_t)__ffs((int)mask) - 1;
}

PFD_DEVICE PFD_INLINE uint32_t exchange(uint32_t *at, uint32_t word)
{
    return atomicExch(at, word);
}

PFD_DEVICE PFD_INLINE void fence_device()
{
    __threadfence();
}

PFD_DEVICE PFD_INLINE void fence_system()
{
    __threadfence_system();
}

PFD_DEVICE PFD_INLINE uint64_t add_device(uint64_t *to, uint64_t n)
{
    return atomicAdd((unsigned long long *)to, (unsigned long long)n);
}

/* Reads a word that the host may change meanwhile. Orders nothing: a kernel
 * keeps its knowledge of memory across a site that is off. */
PFD_DEVICE PFD_INLINE uint32_t look(const uint32_t *at)
{
    uint32_t word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at));
    return word;
}

/* Reads a word again that does not change meanwhile: no register holds it, and
 * a nearby cache may answer. */
PFD_DEVICE PFD_INLINE uint32_t again(const uint32_t *at)
{
    uint32_t word;
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(word) : "l"(at));
    return word;
}

PFD_DEVICE PFD_INLINE uint64_t again(const uint64_t *at)
{
    uint64_t word;
    asm volatile("ld.global.u64 %0, [%1];" : "=l"(word) : "l"(at));
    return word;
}

PFD_DEVICE PFD_INLINE uint64_t device_clock()
{
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

PFD_DEVICE PFD_INLINE place this_place()
{
    uint32_t in_group =
        threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    return place{ { blockIdx.x, blockIdx.y, blockIdx.z },
                  { blockIdx.x * blockDim.x + threadIdx.x,
                    blockIdx.y * blockDim.y + threadIdx.y,
                    blockIdx.z * blockDim.z + threadIdx.z },
                  in_group / 32,
                  lane_number() };
}

#elif defined(PFD_HIP)

using lanes = uint64_t;

PFD_DEVICE PFD_INLINE lanes active_lanes(uint64_t)
{
    return __builtin_amdgcn_ballot_w64(true);
}

PFD_DEVICE PFD_INLINE uint32_t lane_number()
{
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

PFD_DEVICE PFD_INLINE uint32_t shuffle(lanes, uint32_t word, uint32_t lane)
{
    return (uint32_t)__builtin_amdgcn_ds_bpermute((int)(lane * 4), (int)word);
}

PFD_DEVICE PFD_INLINE lanes ballot(lanes, bool yes)
{
    return __builtin_amdgcn_ballot_w64(yes);
}

PFD_DEVICE PFD_INLINE uint32_t count_lanes(lanes mask)
{
    return (uint32_t)__builtin_popcountll(mask);
}

PFD_DEVICE PFD_INLINE uint32_t first_lane(lanes mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

PFD_DEVICE PFD_INLINE uint32_t exchange(uint32_t *at, uint32_t word)
{
    return __hip_atomic_exchange(at, word, __ATOMIC_RELAXED,
                                 __HIP_MEMORY_SCOPE_AGENT);
}

PFD_DEVICE PFD_INLINE void fence_device()
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

PFD_DEVICE PFD_INLINE void fence_system()
{
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}

PFD_DEVICE PFD_INLINE uint64_t add_device(uint64_t *to, uint64_t n)
{
    return __hip_atomic_fetch_add(to, n, __ATOMIC_RELAXED,
                                  __HIP_MEMORY_SCOPE_AGENT);
}

PFD_DEVICE PFD_INLINE uint32_t look(const uint32_t *at)
{
    return __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

template <class T> PFD_DEVICE PFD_INLINE T again(const T *at)
{
    return *(const volatile T *)at;
}

PFD_DEVICE PFD_INLINE uint64_t device_clock()
{
    return __builtin_readcyclecounter();
}

PFD_DEVICE PFD_INLINE place this_place()
{
    /* hsa_kernel_dispatch_packet_t: u16 workgroup sizes from byte 4 on. */
    const uint16_t *size =
        (const uint16_t *)((const char *)__builtin_amdgcn_dispatch_ptr() + 4);
    uint32_t x = __builtin_amdgcn_workitem_id_x();
    uint32_t y = __builtin_amdgcn_workitem_id_y();
    uint32_t z = __builtin_amdgcn_workitem_id_z();
    uint32_t in_group = x + size[0] * (y + size[1] * z);
    place ret = { { __builtin_amdgcn_workgroup_id_x(),
                    __builtin_amdgcn_workgroup_id_y(),
                    __builtin_amdgcn_workgroup_id_z() },
                  { x, y, z },
                  in_group / __builtin_amdgcn_wavefrontsize(),
                  lane_number() };
    for (int i = 0; i < 3; i++)
        ret.thread[i] += ret.group[i] * size[i];
    return ret;
}

#else

using lanes = uint64_t;

/* Defined by the host program; site: the id of the place in the code, since one
 * function serves all of them here. */
lanes active_lanes(uint64_t site);
uint32_t lane_number();
uint32_t shuffle(lanes mask, uint32_t word, uint32_t lane);
lanes ballot(lanes mask, bool yes);
uint64_t device_clock();
place this_place();

inline uint32_t count_lanes(lanes mask)
{
    return (uint32_t)__builtin_popcountll(mask);
}

inline uint32_t first_lane(lanes mask)
{
    return (uint32_t)__builtin_ctzll(mask);
}

inline uint32_t exchange(uint32_t *at, uint32_t word)
{
    return __atomic_exchange_n(at, word, __ATOMIC_RELAXED);
}

inline void fence_device()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline void fence_system()
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

inline uint64_t add_device(uint64_t *to, uint64_t n)
{
    return __atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

inline uint32_t look(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

template <class T> T again(const T *at)
{
    return *at;
}

#endif

} /* namespace pfd */

#endif
