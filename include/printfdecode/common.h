/* SPDX-License-Identifier: MIT */
/*
 * Outcomes, errors and findings, which every part of the interface shares.
 *
 * An outcome (enum pfd_status) tells whether a call did its work. A failure
 * (below zero) also fills the caller's struct pfd_error. A finding is
 * information about the input that a careful reader wants, such as a lost range
 * or an unknown id. Findings never end a call: the library hands them over one
 * by one, in input order, and goes on.
 *
 * A struct that begins with struct_size may get further members at its end in a
 * later version. The caller sets struct_size to the sizeof that it was compiled
 * with; 0 stands for the members of version 0.1, so that all zeros are valid.
 * Members that the caller's struct lacks count as zero. A struct that is larger
 * than the library's, and has anything but zeros in what the library does not
 * know, is refused with PFD_ERR_USAGE. Where the library writes the result, it
 * writes as much as the caller's struct has room for. All other results stay in
 * the library's memory. These structs stay as they are: pfd_error, pfd_range,
 * pfd_argument, pfd_origin, pfd_column, pfd_gap, pfd_chunk_bytes, pfd_wire_bytes,
 * pfd_wire_label, pfd_kernel_info and pfd_vulkan_object.
 */
#ifndef PRINTFDECODE_COMMON_H
#define PRINTFDECODE_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PFD_API __attribute__((visibility("default")))
#else
#define PFD_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The offset is unknown, or there is none. */
#define PFD_NO_OFFSET UINT64_MAX
/* The finding belongs to no single entry. */
#define PFD_NO_INDEX UINT64_MAX

enum pfd_status {
    PFD_OK = 0,               /* done */
    PFD_END = 1,              /* nothing more will come; not a failure */
    PFD_MORE = 2,             /* more bytes are needed; not a failure */
    PFD_ERR_NOMEM = -1,       /* out of memory */
    PFD_ERR_IO = -2,          /* the system refused: errno text is included */
    PFD_ERR_USAGE = -3,       /* the caller's arguments are wrong */
    PFD_ERR_CORRUPT = -4,     /* the input contradicts itself */
    PFD_ERR_UNSUPPORTED = -5, /* the input is sound, but not supported */
    PFD_ERR_STOPPED = -6,     /* a callback asked to stop */
};

/* Bytes [from, to) of something. */
struct pfd_range {
    uint64_t from;
    uint64_t to;
};

/* Reads [n] bytes at offset. Returns the number of bytes read, or a negated
 * errno value. Fewer than n: there are no more. */
typedef long (*pfd_read_at_fn)(void *user, uint64_t offset, void *bytes,
                               size_t n);

/*
 * One failure. The caller's memory, of fixed size, without pointers; filled on
 * failure only. Wherever a struct pfd_error is taken, NULL means "not wanted". In
 * C++ {} initialises it, and {0} does not, as its first member is an enumeration.
 */
struct pfd_error {
    enum pfd_status code;
    uint64_t offset; /* bytes from the start of the input, or PFD_NO_OFFSET */
    char text[240];  /* one line, NUL-terminated, without a newline */
};

/* X(name, is_note): the kinds of findings. A note is information about sound
 * input: it does not count as damage. Names are part of the interface. */
#define PFD_FINDING_KINDS(X)                                                   \
    X(bad_conversion, 0)    /* a conversion that cannot be printed */          \
    X(width_clamped, 0)     /* width or precision above 4096 */                \
    X(payload_short, 0)     /* fewer dwords than the format string needs */    \
    X(payload_long, 0)      /* more dwords than the argument widths say */     \
    X(width_mismatch, 0)    /* widths recovered from the entry's size */       \
    X(vector_cut, 0)        /* only component 0 of a vector was written */     \
    X(ambiguous, 0)         /* several strings fit; the first was taken */     \
    X(wrong_module, 0)      /* the loaded module is not the record's shader */ \
    X(unused_arguments, 1)  /* arguments that no conversion prints */          \
    X(type_mismatch, 0)     /* a conversion for another type of argument */    \
    X(types_guessed, 0)     /* nothing states the types of the arguments */    \
    X(unknown_id, 0)        /* no loaded string has this id */                 \
    X(torn_header, 0)       /* half of an entry header was written */          \
    X(truncated_entry, 0)   /* the entry runs over the end of the buffer */    \
    X(size_past_end, 0)     /* entrySize beyond the used part */               \
    X(bad_size, 0)          /* a size that cannot be right */                  \
    X(unwritten, 0)         /* reserved, not written */                        \
    X(stray_dword, 0)       /* used dwords too few for an entry header */      \
    X(no_header, 0)         /* shorter than a buffer header */                 \
    X(reserved, 0)          /* reserved header dwords are not zero */          \
    X(odd_size, 0)          /* the file is not whole dwords */                 \
    X(over_2gib, 0)         /* bufferOffset beyond the shader's 2 GiB clamp */ \
    X(overflow, 0)          /* the buffer was too small: exact loss */         \
    X(collision, 0)         /* one id, two different strings */                \
    X(no_format_strings, 0) /* the file carries no format strings */           \
    X(note_truncated, 0)    /* an ELF note runs past its end */                \
    X(msgpack, 0)           /* metadata is not well-formed MessagePack */      \
    X(msgpack_tail, 0)      /* bytes after the metadata map */                 \
    X(version, 0)           /* unknown version of a table or object */         \
    X(bad_string_row, 0)    /* a row of the string table is unusable */        \
    X(wide_index, 0)        /* an id that no entry can carry */                \
    X(short_bitmask, 0)     /* fewer width bits than arguments */              \
    X(duplicate_key, 1)     /* a metadata key given twice; the first counts */ \
    X(wrong_machine, 0)     /* format strings in another machine's ELF */      \
    X(bad_archive, 0)       /* an ar archive that contradicts itself */        \
    X(bad_elf, 0)           /* an ELF or PE file that cannot be read */        \
    X(bad_spirv, 0)         /* a SPIR-V module that contradicts itself */      \
    X(bad_bundle, 0)        /* a bundle that contradicts itself */             \
    X(bad_compressed, 0)    /* compressed data that cannot be inflated */      \
    X(hash_mismatch, 0)     /* inflated data differs from the original */      \
    X(too_large, 0)         /* a limit on size or depth was reached */         \
    X(bad_yaml, 0)          /* metadata is not YAML that can be read */        \
    X(no_table, 1)          /* a code object that needs no string table */     \
    X(reset, 1)             /* the buffer is used anew: a new generation */    \
    X(stale, 0)             /* perhaps left over from an earlier generation */ \
    X(late, 1)              /* written after its place was given up */         \
    X(changed, 0)           /* bytes changed after they were delivered */      \
    X(shrunk, 0)            /* the file became shorter while it was read */    \
    X(bad_frame, 0)         /* a capture that contradicts itself */            \
    X(gap, 0)               /* the sender of a capture lost something */       \
    X(format_choice, 0)     /* another buffer format is nearly as likely */    \
    X(module_choice, 1)     /* the module assumed for a shader */              \
    X(duplicate_id, 0)      /* several strings of an id, one fits */           \
    X(bad_header, 0)        /* a buffer header that contradicts itself */      \
    X(nearly_full, 0)       /* so full that later messages may be missing */   \
    X(clipped_string, 0)    /* a string argument that does not end */          \
    X(null_strings, 0)      /* unknown which strings are null */               \
    X(string_layout, 0)     /* unknown where a string argument ends */         \
    X(bad_control, 0)       /* unknown bits in an entry's control word */      \
    X(bad_packet, 0)        /* an impossible packet or slot */                 \
    X(incomplete, 0)        /* parts of a message are missing */               \
    X(other_service, 1)     /* packets of another service */                   \
    X(not_read, 0)          /* stored in an unknown way, or behind a ring */   \
    X(missing_data, 0)      /* announced in a capture, never received */       \
    X(hole, 0)              /* a range that was never written, skipped */      \
    X(unreadable, 0)        /* addresses that cannot be read */                \
    X(torn, 0)              /* memory that changed while it was read */        \
    X(bad_list, 0)          /* a runtime's list that contradicts itself */     \
    X(bad_core, 0)          /* a core file that contradicts itself */          \
    X(no_end, 0)            /* unknown where a buffer in memory ends */        \
    X(unknown_format, 0)    /* no sign of a buffer of any format */

enum pfd_finding_kind {
#define PFD_X(name, is_note) PFD_FINDING_##name,
    PFD_FINDING_KINDS(PFD_X)
#undef PFD_X
    PFD_N_FINDING_KINDS,
    /* An entry's findings are a mask of 64 bits: kinds that entries can have
     * stand before this value, kinds of files alone may follow. */
    PFD_ENTRY_FINDING_KINDS =
        PFD_N_FINDING_KINDS < 64 ? PFD_N_FINDING_KINDS : 64
};

/* The bit of a kind in an entry's mask: PFD_FINDING_BIT(unknown_id). */
#define PFD_FINDING_BIT(kind) (UINT64_C(1) << PFD_FINDING_##kind)

/* The kind's name, as in messages and JSON, such as "unknown_id"; static
 * storage, any thread. "?" for a number that is no kind. */
PFD_API const char *pfd_finding_name(enum pfd_finding_kind kind);

/* True when the kind is a note: information about sound input. */
PFD_API bool pfd_finding_is_note(enum pfd_finding_kind kind);

/* One finding; everything in it is borrowed until the callback returns. */
struct pfd_finding {
    enum pfd_finding_kind kind;
    uint64_t offset;    /* bytes from the start of source, or PFD_NO_OFFSET */
    uint64_t index;     /* the entry's index in its buffer, or PFD_NO_INDEX */
    bool in_buffer;     /* true: source is a buffer, offset/4 is its dword */
    const char *source; /* file or member, as the user named it */
    const char *text;   /* one sentence, UTF-8, control bytes escaped */
    /* Findings that say the same of several entries are merged into one. */
    uint64_t count; /* entries; index is the first one's. 0: not counted */
    uint64_t id;    /* of their format string, if has_id; else various */
    bool has_id;
};

/*
 * Takes one finding, on the thread that called into the library.
 */
typedef void (*pfd_finding_fn)(void *user, const struct pfd_finding *finding);

/*
 * The version of the headers that a program was compiled with, and of the
 * library that it runs with. meson.build reads the number from here.
 */

#define PFD_VERSION "0.1.0"

/* The library's own version, such as "0.1.0"; static storage, any thread. */
PFD_API const char *pfd_version(void);

#ifdef __cplusplus
}
#endif

#endif
