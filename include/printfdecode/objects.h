/* SPDX-License-Identifier: MIT */
/*
 * Lists the code objects in a file, and the facts that each states about
 * itself. A file may be a code object or hold any number of them, in bundles,
 * archives, host programs and caches, nested in each other.
 *
 * Any thread; nothing is shared between calls.
 */
#ifndef PRINTFDECODE_OBJECTS_H
#define PRINTFDECODE_OBJECTS_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A feature of a processor for which code can be compiled. */
enum pfd_feature {
    PFD_FEATURE_UNSUPPORTED, /* by the processor, or not stated */
    PFD_FEATURE_ANY,         /* the code runs either way */
    PFD_FEATURE_OFF,
    PFD_FEATURE_ON,
};

/* One kernel. name: [n_name] bytes, any bytes, not NUL-terminated. */
struct pfd_kernel_info {
    const char *name;
    size_t n_name;
    /* Where its hidden arguments are, bytes from the start of its arguments;
     * PFD_NO_OFFSET: it has none. A compiler may declare one that the kernel
     * does not use. */
    uint64_t printf_buffer;
    uint64_t hostcall_buffer;
};

/* One code object; everything is borrowed until the callback returns. */
struct pfd_object_info {
    const char *source; /* the path through its containers, such as
                           "app:.hip_fatbin:hipv4-..." */
    const char *kind;   /* "elf", "spirv" or "bitcode" */
    const void *bytes;  /* [n] */
    size_t n;
    uint64_t offset; /* of bytes in the file; PFD_NO_OFFSET: they were
                        inflated */

    /* For ELF files; for others 0, NULL and PFD_NO_OFFSET. */
    const char *os;     /* "HSA", "PAL", "Mesa"; NULL: not one of AMD's */
    unsigned version;   /* HSA: code object V2 to V6 and later; 0: unknown */
    const char *target; /* such as "gfx90a"; NULL: unknown */
    enum pfd_feature xnack;
    enum pfd_feature sramecc;
    const struct pfd_kernel_info *kernels; /* [n_kernels] */
    size_t n_kernels;
    uint64_t n_strings;   /* rows of its table of format strings */
    const char *why_none; /* why it has no table of format strings, one
                             sentence; NULL: it has one */
};

/* Takes one code object. Any status but PFD_OK ends the walk and is its
 * result. */
typedef enum pfd_status (*pfd_object_fn)(void *user,
                                         const struct pfd_object_info *object);

/*
 * Calls fn for every code object in bytes [n], borrowed for the call. source:
 * the file's name. max_inflated: limit for the bytes of one compressed bundle;
 * 0: 1 GiB. Damage goes to finding_fn (may be NULL) with finding_user, and the
 * rest is read.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: no type of file that holds code objects;
 * PFD_ERR_NOMEM; the status that fn returned.
 */
PFD_API enum pfd_status pfd_objects_read(
    const void *bytes, size_t n, const char *source, uint64_t max_inflated,
    pfd_object_fn fn, void *user, pfd_finding_fn finding_fn, void *finding_user,
    struct pfd_error *err);

/* The same of a file of any kind; behind the objects that pfd_objects_read()
 * gives, in its order, come code objects of AMD and bundles anywhere else in the
 * file, which is searched byte by byte: "file+0x50". */
PFD_API enum pfd_status pfd_objects_search(
    const void *bytes, size_t n, const char *source, uint64_t max_inflated,
    pfd_object_fn fn, void *user, pfd_finding_fn finding_fn, void *finding_user,
    struct pfd_error *err);

/* Takes the path of one file, borrowed until it returns. why_not: NULL of an
 * archive, else what the file is instead, or why it cannot be opened. */
typedef void (*pfd_beside_fn)(void *user, const char *path,
                              const char *why_not);

/*
 * Calls fn for every archive of device code that the program in bytes [n],
 * borrowed for the call, names and that is there: ROCm's kpack archives, whose
 * names are relative to the folder of path, the program's own. Only the first
 * 16 names count. Nothing but a regular file is opened.
 *
 * PFD_OK, which it is too for what names none; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_objects_beside(const char *path, const void *bytes,
                                           size_t n, pfd_beside_fn fn,
                                           void *user, struct pfd_error *err);

#ifdef __cplusplus
}
#endif

#endif
