/* SPDX-License-Identifier: MIT */
/*
 * Format strings: load them from code objects (ELF files, and files that
 * contain them: archives, bundles, host programs, caches) or add them one by
 * one, then hand the set to any number of decoders.
 *
 * Thread rule: one thread at a time fills a set, and only while it is not in
 * use; any number of threads may read a filled set.
 */
#ifndef PRINTFDECODE_STRINGS_H
#define PRINTFDECODE_STRINGS_H

#include <printfdecode/common.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pfd_strings;

/* An empty set, owned by the caller; NULL when out of memory. */
PFD_API struct pfd_strings *pfd_strings_new(void);

/* Frees the set and everything borrowed from it. NULL is allowed. */
PFD_API void pfd_strings_free(struct pfd_strings *strings);

/*
 * A set that begins with the contents of `of`, is filled for itself, and owns
 * the memory of its additions. The two share the common part, which is freed
 * with the last of them. A set can have any number of branches. Any thread may
 * go on reading `of`, and it may be freed at any time, but not be filled any
 * more. NULL: out of memory.
 */
PFD_API struct pfd_strings *pfd_strings_branch(struct pfd_strings *of);

/* Limits the bytes that filling may add to the set from now on, even for a
 * moment. At the limit filling fails with PFD_ERR_NOMEM. A new set has no
 * limit. */
PFD_API void pfd_strings_set_room(struct pfd_strings *strings, size_t n);

/* Limits the inflated size of one compressed bundle in files that are loaded
 * from now on. A bundle that declares more is a finding (too_large) and is not
 * inflated. 0: 1 GiB, which is also the default. */
PFD_API void pfd_strings_set_max_inflated(struct pfd_strings *strings,
                                          uint64_t bytes);

/* True when these first bytes [n] of a file (64 are enough) are those of a
 * file that may hold strings: ELF, ar, a bundle, a cache, SPIR-V. Any
 * thread. */
PFD_API bool pfd_strings_recognise(const void *bytes, size_t n);

/*
 * Loads all format strings of a file, or of the code object that a URI names:
 * file://PATH#offset=N&size=N, or memory://PID#offset=N&size=N. Oddities of the
 * file (a row that cannot be used, a collision, no strings at all) go to fn as
 * findings (fn may be NULL), and the rest is loaded. A file of gzip or zstd is
 * inflated first. The text of an error begins with the path.
 *
 * PFD_OK; PFD_ERR_IO: the file cannot be read; PFD_ERR_UNSUPPORTED: it has
 * another kind; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_strings_load_file(struct pfd_strings *strings,
                                              const char *path,
                                              pfd_finding_fn fn, void *user,
                                              struct pfd_error *err);

/*
 * The same from memory: bytes [n], borrowed for the call; source: the name used
 * in findings and listings, copied.
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: no type of file that may hold strings;
 * PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_strings_load(struct pfd_strings *strings,
                                         const void *bytes, size_t n,
                                         const char *source, pfd_finding_fn fn,
                                         void *user, struct pfd_error *err);

/* One format string of a set. Everything is borrowed until the set is freed. */
struct pfd_string_info {
    size_t struct_size; /* as common.h says */
    const char *format; /* the buffer format it belongs to, such as "llpc" */
    const char *source; /* the file (or archive member) it came from */
    const char *text;   /* [n_text] bytes, any bytes, not NUL-terminated */
    size_t n_text;
    uint64_t id;
    uint64_t argument_count; /* scalars in an entry's payload */
};

/* How many strings the set holds; collisions count one by one. */
PFD_API size_t pfd_strings_count(const struct pfd_strings *strings);

/* Fills ret with string i, in load order. PFD_OK; PFD_END: there is no i. */
PFD_API enum pfd_status pfd_strings_get(const struct pfd_strings *strings,
                                        size_t i, struct pfd_string_info *ret);

/*
 * Adds one LLPC string by hand. Of info it reads id (below 2^48), text, n_text,
 * argument_count and source, but not format. mask: [n_mask] words of 64 bits;
 * bit i set: argument i takes two dwords. Everything is copied.
 *
 * PFD_OK; PFD_ERR_USAGE: the id is too wide or the text above 256 MiB;
 * PFD_ERR_NOMEM. A collision goes to fn.
 */
PFD_API enum pfd_status pfd_strings_add(struct pfd_strings *strings,
                                        const struct pfd_string_info *info,
                                        const uint64_t *mask, size_t n_mask,
                                        pfd_finding_fn fn, void *user,
                                        struct pfd_error *err);

/* Bytes of memory that the set holds, tables included, but without the bytes
 * that pfd_strings_trim() frees. Memory that a branch shares counts for the set
 * from which it was branched. */
PFD_API size_t pfd_strings_memory(const struct pfd_strings *strings);

/*
 * Shaders of the Vulkan validation layer's buffers. Their records name a shader
 * by a number that the layer counted, so a buffer can only be read together
 * with the modules of these numbers.
 *
 * A set of strings holds the shaders, too; the thread rule of strings.h holds.
 */

/* The layer's number is unknown: records are assigned to this shader by the
 * calls that they name. A module that the set holds already is then not added
 * again. */
#define PFD_SHADER_NEXT UINT32_MAX

/* One shader; everything is copied. */
struct pfd_shader_info {
    size_t struct_size; /* as common.h says */
    uint32_t id; /* the layer's number, 0 is a valid one; or PFD_SHADER_NEXT */
    const void *bytes; /* the original module, [n_bytes] of SPIR-V */
    size_t n_bytes;
    const char *source; /* its file, for findings and listings */
    const char *name;   /* of the VkShaderModule; NULL: none */
    uint64_t handle;    /* likewise; 0: unknown */
};

/*
 * Adds a shader to the set, and the format strings in it. Findings go to fn
 * (may be NULL).
 *
 * PFD_OK; PFD_ERR_UNSUPPORTED: not SPIR-V; PFD_ERR_USAGE: another shader has
 * this id; PFD_ERR_NOMEM.
 */
PFD_API enum pfd_status pfd_strings_add_shader(
    struct pfd_strings *strings, const struct pfd_shader_info *info,
    pfd_finding_fn fn, void *user, struct pfd_error *err);

/* An object of the Vulkan API. */
struct pfd_vulkan_object {
    const char *name; /* NULL: none */
    uint64_t handle;  /* 0: unknown, and messages say so */
};

enum pfd_vulkan_action {
    PFD_ACTION_UNKNOWN,
    PFD_ACTION_DRAW,
    PFD_ACTION_DISPATCH,
    PFD_ACTION_TRACE_RAYS,
};

/*
 * Facts about a buffer that the layer knew and wrote into its messages; only
 * the messages of PFD_COMPAT_KHRONOS show them. Strings are copied.
 */
struct pfd_vulkan_capture {
    size_t struct_size; /* as common.h says */
    struct pfd_vulkan_object command_buffer;
    struct pfd_vulkan_object pipeline;
    enum pfd_vulkan_action action;
    uint32_t action_index;       /* in its command buffer */
    uint32_t max_work_groups[3]; /* maxComputeWorkGroupCount; 0: unknown */
    bool verbose;                /* printf_verbose was set */
};

/* PFD_OK; PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_strings_set_capture(
    struct pfd_strings *strings, const struct pfd_vulkan_capture *capture,
    struct pfd_error *err);

/*
 * Lists the code objects in a file, and the facts that each states about
 * itself. A file may be a code object or hold any number of them, in bundles,
 * archives, host programs and caches, nested in each other.
 *
 * Any thread; nothing is shared between calls.
 */

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

#ifdef __cplusplus
}
#endif

#endif
