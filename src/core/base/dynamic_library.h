/* SPDX-License-Identifier: MIT */
/*
 * Libraries that most runs do not need. Only their headers are compiled in; the
 * library is loaded before the first call into it. Each linked library costs
 * every start of a program about a twentieth of an empty run.
 *
 * The file that owns a library lists its calls, `#define CALLS(X) X(a) X(b)`,
 * has a struct of pointers to them, and declares the library:
 *
 *     static struct {
 *         CALLS(POINTER)
 *     } yaml;
 *     PFD_DYNAMIC_LIBRARY(yaml, "libyaml-0.so.2", CALLS(NAME), &yaml,
 *                 "what it is for");
 *
 * Sonames belong to the ABI of the headers, and are the same in every
 * distribution: a different soname would need different headers.
 */
#ifndef PFD_DYNAMIC_LIBRARY_H
#define PFD_DYNAMIC_LIBRARY_H

#include <stdatomic.h>
#include <stdint.h>

#include <printfdecode/common.h>

#include "core/base/error.h"

struct pfd_dynamic_library {
    const char *soname;
    const char *names; /* of the calls, each with a NUL, and a NUL at the end */
    void *calls;       /* pointers to them, in the same order */
    atomic_bool is_loaded;
};

/* Loads the library once; it stays loaded. Any thread may call this, any number
 * of times. PFD_OK; PFD_ERR_UNSUPPORTED: it cannot be loaded. */
enum pfd_status pfd_dynamic_library_load(
    struct pfd_dynamic_library *dynamic_library, struct pfd_error *err);

/* All dynamic libraries; NULL ends the list. */
extern struct pfd_dynamic_library *const pfd_libraries[];

/* For packagers, whose tools find linked libraries only: a note as defined in
 * https://uapi-group.org/specifications/specs/elf_dlopen_metadata/. */
#define PFD_DYNAMIC_LIBRARY_NOTE(noun, of, what)                          \
    __attribute__((used, section(".note.dlopen"),                         \
                   aligned(4))) static const struct {                     \
        uint32_t n_owner;                                                 \
        uint32_t n_text;                                                  \
        uint32_t type;                                                    \
        char owner[4];                                                    \
        char text[sizeof PFD_DYNAMIC_LIBRARY_TEXT(noun, of, what)];       \
    } noun##_note = { 4, sizeof PFD_DYNAMIC_LIBRARY_TEXT(noun, of, what), \
                      0x407c0c0a, "FDO",                                  \
                      PFD_DYNAMIC_LIBRARY_TEXT(noun, of, what) }

#define PFD_DYNAMIC_LIBRARY_TEXT(noun, of, what)     \
    "[{\"soname\":[\"" of "\"],\"feature\":\"" #noun \
    "\",\"description\":\"" what "\",\"priority\":"  \
    "\"recommended\"}]"

/* Defines pfd_library_NOUN. src/meson.build needs a word for it as well. */
#define PFD_DYNAMIC_LIBRARY(noun, of, call_names, to, what) \
    PFD_DYNAMIC_LIBRARY_NOTE(noun, of, what);               \
    extern struct pfd_dynamic_library pfd_library_##noun;   \
    struct pfd_dynamic_library pfd_library_##noun = {       \
        .soname = (of),                                     \
        .names = call_names,                                \
        .calls = (to),                                      \
    }

/*
 * Loads all libraries of src/meson.build's list now (for regular expressions,
 * compressed input, metadata in YAML, PNG and SQLite): for programs that may soon be barred from opening
 * files, or that must not block later. If one cannot be loaded, the call that
 * needs it tries again and reports it. Any thread.
 */
void pfd_libraries_load(void);

#endif
