/* SPDX-License-Identifier: MIT */
/*
 * The code objects in the memory of a program: the ones that AMD's ROCm runtime
 * has loaded, by the list that it keeps for debuggers, and, on request, SPIR-V
 * modules and ELF files for AMD's GPUs anywhere in memory.
 *
 * The list is `_amdgpu_r_debug`, a struct r_debug as dynamic linkers have it,
 * of versions 8 to 10, whose entries are named by code object URIs: "Code
 * Object URI" and the loader's interface in the documentation of ROCm's
 * debugger API. A program without it has not loaded the runtime.
 *
 * Thread rule: belongs to the thread that its memory belongs to.
 */
#ifndef PFD_PROCESS_CODE_H
#define PFD_PROCESS_CODE_H

#include "memory/space/address_space.h"

struct pfd_process_code;

/* One code object; everything is borrowed until the callback returns. */
struct pfd_process_code_object {
    const char *source; /* the URI that names its bytes, any bytes but NUL */
    const void *bytes;  /* [n]; NULL: unreadable, a finding gave the reason */
    size_t n;
    uint64_t load_address; /* where it was loaded for the GPU; if is_found:
                              where it stands */
    bool is_found;         /* by pfd_process_code_scan(), not in the runtime's
                              list */
};

/* Takes one code object. Any status but PFD_OK ends the walk and is its
 * result. */
typedef enum pfd_status (*pfd_process_code_fn)(
    void *user, const struct pfd_process_code_object *object);

/* memory is borrowed until it is closed. PFD_OK; PFD_ERR_NOMEM. */
enum pfd_status pfd_process_code_open(struct pfd_memory *memory,
                                      struct pfd_process_code **ret,
                                      struct pfd_error *err);

/* NULL is allowed. */
void pfd_process_code_close(struct pfd_process_code *process_code);

/*
 * Calls fn for each code object in the runtime's list that the call before did
 * not find, in the list's order; objects that are no longer listed are
 * forgotten. The list is read until it stands still, since the runtime may
 * change it meanwhile. Findings, with finding_user (fn may be NULL): version
 * (an r_debug of another version, not read), bad_list (a cycle, a name that
 * cannot be read or is no URI, a list that never stands still), unreadable (a
 * URI names bytes that are absent), too_large. *n_lists (may be NULL): the
 * number of such lists; 0: the runtime is not loaded.
 *
 * PFD_OK; PFD_ERR_IO: the process has ended; PFD_ERR_NOMEM; the status that fn
 * returned.
 */
enum pfd_status pfd_process_code_read(struct pfd_process_code *process_code,
                                      pfd_process_code_fn fn, void *user,
                                      pfd_finding_fn finding,
                                      void *finding_user, size_t *n_lists,
                                      struct pfd_error *err);

/*
 * Would pfd_process_code_read() find another list than last time? Reads the
 * list, but no code object; true before the first reading. An object that was
 * loaded and unloaded between two calls goes unnoticed.
 */
bool pfd_process_code_changed(struct pfd_process_code *process_code);

/*
 * Searches all readable memory, except devices, for whole SPIR-V modules and
 * ELF files of AMD's GPUs (as LLPC's pipelines are), and calls fn for each; if
 * several are equal, for the first only.
 *
 * PFD_OK; PFD_ERR_IO: the process has ended; PFD_ERR_NOMEM; the status that fn
 * returned.
 */
enum pfd_status pfd_process_code_scan(struct pfd_memory *memory,
                                      pfd_process_code_fn fn, void *user,
                                      struct pfd_error *err);

#endif
