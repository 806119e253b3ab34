/* SPDX-License-Identifier: MIT */
/*
 * What printfdecode/device/ and kernel.cu use of CUDA, for clang where CUDA's
 * own headers are not, or are newer than it can read. Only to be compiled.
 */
#ifndef PFD_TESTS_CUDA_WORDS_H
#define PFD_TESTS_CUDA_WORDS_H

#define __device__ __attribute__((device))
#define __global__ __attribute__((global))

struct cuda_number {
    unsigned x, y, z;
};

#define CUDA_NUMBER(of)                                      \
    (cuda_number{ (unsigned)__nvvm_read_ptx_sreg_##of##_x(), \
                  (unsigned)__nvvm_read_ptx_sreg_##of##_y(), \
                  (unsigned)__nvvm_read_ptx_sreg_##of##_z() })
#define threadIdx CUDA_NUMBER(tid)
#define blockIdx  CUDA_NUMBER(ctaid)
#define blockDim  CUDA_NUMBER(ntid)

static __device__ inline unsigned __activemask()
{
    unsigned mask;
    asm volatile("activemask.b32 %0;" : "=r"(mask));
    return mask;
}

static __device__ inline unsigned __shfl_sync(unsigned mask, unsigned word,
                                              int lane)
{
    return (unsigned)__nvvm_shfl_sync_idx_i32(mask, (int)word, lane, 31);
}

static __device__ inline unsigned __ballot_sync(unsigned mask, bool yes)
{
    return (unsigned)__nvvm_vote_ballot_sync(mask, yes);
}

static __device__ inline int __popc(unsigned word)
{
    return __builtin_popcount(word);
}

static __device__ inline int __ffs(int word)
{
    return __builtin_ffs(word);
}

static __device__ inline unsigned atomicExch(unsigned *at, unsigned word)
{
    return (unsigned)__nvvm_atom_xchg_gen_i((int *)at, (int)word);
}

static __device__ inline unsigned long long atomicAdd(unsigned long long *to,
                                                      unsigned long long n)
{
    return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)to,
                                                      (long long)n);
}

static __device__ inline void __threadfence()
{
    __nvvm_membar_gl();
}

static __device__ inline void __threadfence_system()
{
    __nvvm_membar_sys();
}

#endif
