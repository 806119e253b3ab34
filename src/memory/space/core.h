/* SPDX-License-Identifier: MIT */
/*
 * The core file of a process: written by the kernel, by a debugger, or by
 * ROCm's runtime for a GPU (gpucore.PID); one file may be both. Its part of the
 * process' memory is read by address. It also says which files were mapped and,
 * where ROCm's debugger or kernel driver wrote it, which agents and queues
 * there were.
 *
 * ELF, 32 or 64 bits, little-endian, of any machine; compressed ones (zstd,
 * gzip) are inflated into a file without a name in $TMPDIR or /var/tmp. Nothing
 * in the file is trusted: no content makes a call fail, unless the file is no
 * core, and memory stays in proportion to the bytes of the file.
 *
 * Thread rule: once opened, a core is only read, by any number of threads.
 */
#ifndef PFD_MEMORY_CORE_H
#define PFD_MEMORY_CORE_H

#include "core/base/byte_reader.h"
#include "core/base/error.h"
#include "memory/space/address_space.h"

struct pfd_core;

/* A range of memory: addresses [address, address + n_memory), of which the
 * first n_file bytes are in the core, from byte `offset` on. The rest was not
 * written and is unknown. */
struct pfd_core_segment {
    uint64_t address;
    uint64_t n_memory;
    uint64_t n_file;
    uint64_t offset;
    uint32_t
        flags; /* p_flags of the ELF specification; of a GPU's core others */
};

/* A mapped file, from the note NT_FILE: addresses [from, to) began at byte
 * `offset` of it. name: any bytes, NUL-terminated. */
struct pfd_core_file {
    uint64_t from;
    uint64_t to;
    uint64_t offset;
    const char *name;
};

/*
 * A GPU, from AMD's note (kfd_dbg_device_info_entry of Linux' kfd_ioctl.h).
 * Members that a shorter note lacks are 0.
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

/* A queue of an agent (kfd_queue_snapshot_entry). */
struct pfd_core_queue {
    uint64_t exception_status;
    uint64_t ring_address;
    uint64_t ring_size; /* bytes */
    uint64_t write_pointer_address;
    uint64_t read_pointer_address;
    uint64_t save_address; /* where its waves were saved when it was stopped */
    uint64_t save_size;    /* bytes */
    uint32_t queue_id;
    uint32_t gpu_id;
    uint32_t type; /* 0 compute, 1 copies, 2 AQL, 3 copies between GPUs */
    /* Bytes of its waves in the core, by the header of that area; 0 if the area
     * is not in the core. */
    uint64_t wave_bytes;
};

struct pfd_core_info {
    /* "x86-64", "x86", "AArch64", "ARM", "AMDGPU"; NULL: another. */
    const char *machine;
    uint32_t machine_number; /* e_machine */
    bool is_32;              /* addresses have 32 bits */
    const char *command;     /* of the process, any bytes; NULL: unknown */
    uint64_t pid;            /* 0: unknown */
    uint32_t signal;         /* that ended it; 0: none, or unknown */
    size_t n_threads;
    size_t n_segments; /* of memory */
    size_t n_files;
    uint64_t n_memory;  /* bytes of memory that the process had */
    uint64_t n_present; /* of those, bytes in the core */
    uint64_t n_bytes;   /* of the file, inflated */
    bool is_compressed;

    /* GPUs. has_gpus: there is a note about them, in a known version. r_debug:
     * the address of ROCm's list of code objects, 0: none. */
    bool has_gpus;
    uint64_t r_debug;
    uint32_t kfd_major;
    uint32_t kfd_minor;
    size_t n_agents;
    size_t n_queues;
};

/* True when these first bytes [n] of a file (64 are enough) are a core's. Any
 * thread. */
bool pfd_core_recognise(const void *bytes, size_t n);

/*
 * Opens a core. The file is mapped: it must not be cut while it is open.
 * max_inflated: limit for the inflated bytes of a compressed core; 0: 256 GiB.
 * Oddities go to fn (may be NULL).
 *
 * PFD_OK; PFD_ERR_IO: it cannot be read, or there is no space to inflate it;
 * PFD_ERR_UNSUPPORTED: no core, or big-endian; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_core_open(const char *path, uint64_t max_inflated,
                              pfd_finding_fn fn, void *user,
                              struct pfd_core **ret, struct pfd_error *err);

/* NULL is allowed. */
void pfd_core_close(struct pfd_core *core);

/* Borrowed until the core is closed, as are all results below. */
const struct pfd_core_info *pfd_core_info(const struct pfd_core *core);

/* Item i of each: segments and files in order of address, agents and queues in
 * the file's order. PFD_OK; PFD_END: there is no i. */
enum pfd_status pfd_core_segment(const struct pfd_core *core, size_t i,
                                 struct pfd_core_segment *ret);
enum pfd_status pfd_core_file(const struct pfd_core *core, size_t i,
                              struct pfd_core_file *ret);
enum pfd_status pfd_core_agent(const struct pfd_core *core, size_t i,
                               struct pfd_core_agent *ret);
enum pfd_status pfd_core_queue(const struct pfd_core *core, size_t i,
                               struct pfd_core_queue *ret);

/*
 * The exceptions of an exception_status in words, "wave: memory violation,
 * device: fatal halt" (enum kfd_dbg_trap_exception_code of Linux' kfd_ioctl.h;
 * bit 0 is code 1), NUL-terminated in ret [n], cut where it does not fit; codes
 * without a name are numbers. No note says which wave it was. Any thread.
 */
void pfd_core_exceptions(uint64_t status, char *ret, size_t n);

/* The bytes from an address on that are contiguous in the core; [*n], at least
 * one. NULL: the core does not have that address; *n is the distance to the
 * next one that it has (UINT64_MAX: there is none). */
const void *pfd_core_bytes(const struct pfd_core *core, uint64_t address,
                           uint64_t *n);

/* Copies bytes [n] from an address on, across segments. Returns how many there
 * are up to the first that the core does not have. */
size_t pfd_core_read(const struct pfd_core *core, uint64_t address, void *ret,
                     size_t n);

/*
 * The core as an address space (memory.h), which borrows the core until it is
 * closed. Bytes that were left out of the core because a mapped file has them
 * are read from that file, if its first bytes still equal the core's.
 *
 * PFD_OK; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_memory_open_core(const struct pfd_core *core,
                                     struct pfd_memory **ret,
                                     struct pfd_error *err);

/*
 * The parts of addresses [address, address + n) that are in the core and are no
 * holes of a sparse file: calls fn with ranges of addresses, in order; false
 * from fn ends it. Bytes beyond the last address are left out.
 */
void pfd_core_data(const struct pfd_core *core, uint64_t address, uint64_t n,
                   bool (*fn)(void *user, uint64_t from, uint64_t to),
                   void *user);

/*
 * Internals of a core file: its parts. core.c maps the file and its memory,
 * core_notes.c reads its notes, core_store.c inflates a compressed file,
 * core_memory.c is the address space.
 */

struct pfd_core {
    struct pfd_core_info info;
    int fd;               /* of the file, or of the inflated copy */
    const uint8_t *bytes; /* [n], mapped */
    uint64_t n;
    bool is_sparse;
    struct pfd_core_segment *segments; /* [info.n_segments], disjoint, in
                                          order */
    size_t *present; /* [info.n_segments + 1]: the next segment, from each on,
                        that has bytes in the core */
    struct pfd_core_file *files;      /* [info.n_files], in order */
    char *names;                      /* of files, one behind another */
    struct pfd_core_agent *agents;    /* [info.n_agents] */
    struct pfd_core_queue *queues;    /* [info.n_queues] */
    struct pfd_byte_reader auxiliary; /* pairs of u64 */
    uint64_t *wide; /* the pairs of a process of 32 bits, owned; or NULL */
    char command[17];
};

/* Reads a number as wide as the process' addresses. */
static inline uint64_t pfd_core_word(const struct pfd_core *core,
                                     struct pfd_byte_reader *c)
{
    return core->info.is_32 ? pfd_byte_reader_u32(c) : pfd_byte_reader_u64(c);
}

/* Reads one segment of notes. False: out of memory. */
bool pfd_core_read_notes(struct pfd_core *core, uint64_t offset,
                         struct pfd_byte_reader notes,
                         struct pfd_report *report);

/* Reads the waves that the notes point to; memory must be readable. */
void pfd_core_read_waves(struct pfd_core *core);

/*
 * Inflates bytes [n] into a file without a name; the caller closes *fd. Damage
 * is a finding, and the bytes before it are kept. PFD_OK; PFD_ERR_IO: such a
 * file cannot be made or written; PFD_ERR_NOMEM.
 */
enum pfd_status pfd_core_store(const void *bytes, size_t n, uint64_t n_max,
                               struct pfd_report *report, int *fd,
                               struct pfd_error *err);

#endif
