/* SPDX-License-Identifier: MIT */
/*
 * The code objects that a program has in its memory: those that AMD's ROCm
 * runtime has loaded, by the list that it keeps for debuggers, and, when asked
 * for, SPIR-V modules and ELF files for AMD's GPUs that stand there.
 *
 * The list is `_amdgpu_r_debug`, a struct r_debug as dynamic linkers have it,
 * of versions 8 to 10, whose entries are named by code object URIs: "Code
 * Object URI" and the loader's interface in the documentation of ROCm's
 * debugger API. A program that has none has not loaded the runtime.
 *
 * Thread rule: belongs to the thread that its memory belongs to.
 */
#ifndef PRINTFDECODE_PROCESS_CODE_H
#define PRINTFDECODE_PROCESS_CODE_H

#include <printfdecode/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_process_code;

/* One code object; everything is borrowed until the callback returns. */
struct pfd_process_code_object {
    const char *source; /* the URI that names its bytes, any bytes but NUL */
    const void *bytes;  /* [n]; NULL: it cannot be read, a finding said why */
    size_t n;
    uint64_t load_address; /* where it was loaded for the GPU; found ones: where
                              they stand */
    bool is_found;         /* by a search, not by the runtime's list */
};

/* Takes one code object. Any status but PFD_OK ends the walk and is its
 * result. */
typedef enum pfd_status (*pfd_process_code_fn)(
    void *user, const struct pfd_process_code_object *object);

/* memory is borrowed until it is closed. PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_process_code_open(struct pfd_memory *memory,
                                              struct pfd_process_code **ret,
                                              struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_process_code_close(struct pfd_process_code *process_code);

/*
 * Calls fn for each code object in the runtime's list that was not there at the
 * call before, in the list's order; what has gone since is forgotten. The list
 * is read until it stands still, since the runtime may change it meanwhile.
 * Findings, with finding_user (fn may be NULL): version (an r_debug of another
 * version, not read), bad_list (a cycle, a name that cannot be read or is no
 * URI, a list that never stands still), unreadable (bytes that a URI names and
 * that are not there), too_large. *n_lists (may be NULL): how many such lists
 * there are; 0: the runtime is not loaded.
 *
 * PFD_OK; PFD_ERR_IO: the process has ended; PFD_ERR_NOMEM; what fn returned.
 */
PFD_API enum pfd_status pfd_process_code_read(
    struct pfd_process_code *process_code, pfd_process_code_fn fn, void *user,
    pfd_finding_fn finding, void *finding_user, size_t *n_lists,
    struct pfd_error *err);

/*
 * Would pfd_process_code_read() find another list than it has read? Reads the list,
 * and no code object; says yes before the first reading. What was loaded and
 * unloaded between two questions is not seen.
 */
PFD_API bool pfd_process_code_changed(struct pfd_process_code *process_code);

/*
 * Searches all readable memory, but for devices, for SPIR-V modules and ELF
 * files of AMD's GPUs (as LLPC's pipelines are) that stand there whole, and
 * calls fn for each; of equal ones for the first only.
 *
 * PFD_OK; PFD_ERR_IO: the process has ended; PFD_ERR_NOMEM; what fn returned.
 */
PFD_API enum pfd_status pfd_process_code_scan(struct pfd_memory *memory,
                                              pfd_process_code_fn fn,
                                              void *user,
                                              struct pfd_error *err);

#ifdef __cplusplus
}
#endif

#endif
