/* SPDX-License-Identifier: MIT */
/*
 * The core file of a process: of the kernel, of a debugger, of ROCm's runtime
 * for a GPU (gpucore.PID), or of both in one. What it has of the process'
 * memory is read by address; beside that it says which files were mapped and,
 * where ROCm's debugger or kernel driver wrote it, which agents and queues
 * there were.
 *
 * ELF, 32 or 64 bits, little-endian, of any machine; compressed ones (zstd, gzip)
 * are inflated into a file without a name in $TMPDIR or /var/tmp. Everything is
 * input that may lie: nothing in it can make a call fail but that it is no
 * core, and memory stays in proportion to the bytes of the file.
 *
 * Thread rule: once opened, a core is only read, by any number of threads.
 */
#ifndef PRINTFDECODE_CORE_H
#define PRINTFDECODE_CORE_H

#include <printfdecode/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_core;

/* A stretch of memory: addresses [address, address + n_memory), of which the
 * first n_file bytes are in the core, from byte `offset` on. The rest was not
 * written; what it was is not known. */
struct pfd_core_segment {
    uint64_t address;
    uint64_t n_memory;
    uint64_t n_file;
    uint64_t offset;
    uint32_t
        flags; /* p_flags of the ELF specification; of a GPU's core others */
};

/* A mapped file, by the note NT_FILE: addresses [from, to) began at byte
 * `offset` of it. name: any bytes, NUL-terminated. */
struct pfd_core_file {
    uint64_t from;
    uint64_t to;
    uint64_t offset;
    const char *name;
};

/*
 * A GPU, as AMD's note has it (kfd_dbg_device_info_entry of Linux' kfd_ioctl.h).
 * What a shorter note does not say is 0.
 */
struct pfd_core_agent {
    uint64_t exception_status;
    uint32_t gpu_id; /* the kernel driver's */
    uint32_t location_id;
    uint32_t vendor_id;
    uint32_t device_id;
    uint32_t simd_count;
    uint32_t max_waves_per_simd;
    char target[16]; /* such as "gfx90a"; "": not said */
};

/* A queue of one (kfd_queue_snapshot_entry). */
struct pfd_core_queue {
    uint64_t exception_status;
    uint64_t ring_address;
    uint64_t ring_size; /* bytes */
    uint64_t write_pointer_address;
    uint64_t read_pointer_address;
    uint64_t save_address; /* where its waves were put when it was stopped */
    uint64_t save_size;    /* bytes */
    uint32_t queue_id;
    uint32_t gpu_id;
    uint32_t type; /* 0 compute, 1 copies, 2 AQL, 3 copies between GPUs */
    /* What of its waves the core has, by the header of that area; 0 where the
     * area is not in the core. */
    uint64_t wave_bytes;
};

struct pfd_core_info {
    const char *machine; /* "x86-64", "x86", "AArch64", "ARM", "AMDGPU"; NULL:
                                another */
    uint32_t machine_number; /* e_machine */
    bool is_32;              /* addresses have 32 bits */
    const char *command;     /* of the process, any bytes; NULL: not said */
    uint64_t pid;            /* 0: not said */
    uint32_t signal;         /* that ended it; 0: none, or not said */
    size_t n_threads;
    size_t n_segments; /* of memory */
    size_t n_files;
    uint64_t n_memory;  /* bytes of memory that there were */
    uint64_t n_present; /* of those, bytes that the core has */
    uint64_t n_bytes;   /* of the file, inflated */
    bool is_compressed;

    /* Of the GPUs; has_gpus: there is such a note, in a version that is known.
     * r_debug: the address of ROCm's list of code objects, 0: none. */
    bool has_gpus;
    uint64_t r_debug;
    uint32_t kfd_major;
    uint32_t kfd_minor;
    size_t n_agents;
    size_t n_queues;
};

/* True when these first bytes [n] of a file (64 are enough) are a core's. Any
 * thread. */
PFD_API bool pfd_core_recognise(const void *bytes, size_t n);

/*
 * Opens a core. The file is mapped: it must not be cut while it is open.
 * max_inflated: bytes that a compressed one may have; 0: 256 GiB. What is odd
 * about it goes to fn (may be NULL).
 *
 * PFD_OK; PFD_ERR_IO: it cannot be read, or not be inflated for want of space;
 * PFD_ERR_UNSUPPORTED: no core, or big-endian; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_core_open(const char *path, uint64_t max_inflated,
                                      pfd_finding_fn fn, void *user,
                                      struct pfd_core **ret,
                                      struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_core_close(struct pfd_core *core);

/* Borrowed until the core is closed, as all that follows. */
PFD_API const struct pfd_core_info *pfd_core_info(const struct pfd_core *core);

/* Number i of each: segments and files in order of address, agents and queues
 * as they stand. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_core_segment(const struct pfd_core *core, size_t i,
                                         struct pfd_core_segment *ret);
PFD_API enum pfd_status pfd_core_file(const struct pfd_core *core, size_t i,
                                      struct pfd_core_file *ret);
PFD_API enum pfd_status pfd_core_agent(const struct pfd_core *core, size_t i,
                                       struct pfd_core_agent *ret);
PFD_API enum pfd_status pfd_core_queue(const struct pfd_core *core, size_t i,
                                       struct pfd_core_queue *ret);

/*
 * The exceptions of an exception_status in words, "wave: memory violation,
 * device: fatal halt" (enum kfd_dbg_trap_exception_code of Linux' kfd_ioctl.h; bit 0 is
 * code 1), NUL-terminated in ret [n], cut where it does not fit; codes without a
 * name are numbers. Which wave it was no note says. Any thread.
 */
PFD_API void pfd_core_exceptions(uint64_t status, char *ret, size_t n);

/* A value of the auxiliary vector (AT_PHDR and others of <elf.h>). False: it is
 * not there. */
PFD_API bool pfd_core_auxiliary(const struct pfd_core *core, uint64_t type,
                                uint64_t *ret);

/* The bytes from an address on that stand in one piece; [*n], at least one.
 * NULL: the core does not have that address, and *n is how many bytes further
 * on it has one again (UINT64_MAX: nowhere). */
PFD_API const void *pfd_core_bytes(const struct pfd_core *core,
                                   uint64_t address, uint64_t *n);

/* Copies bytes [n] from an address on, over the borders of segments. Returns
 * how many there are up to the first that the core does not have. */
PFD_API size_t pfd_core_read(const struct pfd_core *core, uint64_t address,
                             void *ret, size_t n);

/*
 * The core as an address space (memory.h); it is borrowed until that is closed.
 * What was left out because it stands in a mapped file is read from that file,
 * if its first bytes are still those that are in the core.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_memory_open_core(const struct pfd_core *core,
                                             struct pfd_memory **ret,
                                             struct pfd_error *err);

/*
 * What of addresses [address, address + n) is in the core and more than holes
 * of a sparse file: calls fn with ranges of addresses, in order; false from fn
 * ends it. What would run over the last address is left out.
 */
PFD_API void pfd_core_data(const struct pfd_core *core, uint64_t address,
                           uint64_t n,
                           bool (*fn)(void *user, uint64_t from, uint64_t to),
                           void *user);

#ifdef __cplusplus
}
#endif

#endif
