/* SPDX-License-Identifier: MIT */
/*
 * Selects entries: by id, format string, message, source, and by a condition on
 * raw arguments and origin. An entry is rendered only if the decision needs its
 * message.
 *
 * Thread rule: a filter is immutable once made, and shared by any number of
 * threads; each thread tests with a struct pfd_filter_run of its own.
 */
#ifndef PRINTFDECODE_FILTER_H
#define PRINTFDECODE_FILTER_H

#include <printfdecode/printfdecode.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Criteria, of which every one that is set has to hold. Borrowed for the call;
 * all zero: every entry. */
struct pfd_filter_spec {
    size_t struct_size; /* as common.h says */
    /* PCRE2 patterns [n_patterns], one of which matches the message; `$` also
     * matches before a newline that ends it. An entry of an unknown id has no
     * message, and matches none. */
    const char *const *patterns;
    size_t n_patterns;
    bool ignore_case;    /* of all patterns */
    bool invert;         /* the message matches none of the patterns */
    const uint64_t *ids; /* [n_ids]: the entry has one of these */
    size_t n_ids;
    /* PCRE2 patterns [n_format_strings]: its format string matches one. */
    const char *const *format_strings;
    size_t n_format_strings;
    const char *const *sources; /* [n_sources]: its buffer's name is one */
    size_t n_sources;
    /*
     * A condition such as "t > 0.5 && lane == 3", or NULL. Names are the words
     * before conversions ("t=%f": t; vectors: v.x), places (a0, a1, ...), an
     * entry's members in JSON (index, time, source, stream, ...; time is a text
     * as there, id an integer) and its origins (lane, workgroup.x, host,
     * labels.KEY, ...). An argument hides a member or origin of its name, which
     * then is entry.NAME. Operators, from the weakest, || && (== != < <= > >=)
     * | ^ & (<< >>) (+ -) (* / %) and unary ! and -; integers (0x, 0b, 0o),
     * floats, texts in quotes; isnan() isinf() abs(). Integers of 64 bits are
     * exact. If a name is missing, or an operation has no result, the entry is
     * not selected unless the rest decides.
     */
    const char *where;
    /* Compile patterns to machine code: for processes that are allowed to. */
    bool jit;
    /* Limit for the bytes of all compiled patterns, machine code excluded; 0:
     * none. Patterns beyond it are refused (PFD_ERR_USAGE). */
    size_t n_bytes_max;
};

struct pfd_filter;
struct pfd_wire_frame;

/* PFD_OK; PFD_ERR_USAGE: a pattern or the condition cannot be read (err.offset:
 * bytes into it); PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_filter_new(const struct pfd_filter_spec *spec,
                                       struct pfd_filter **ret,
                                       struct pfd_error *err);

/* NULL is allowed. No pfd_filter_run of it may be left. */
PFD_API void pfd_filter_free(struct pfd_filter *filter);

/*
 * Checks that each name of the condition had a meaning: as an argument of a
 * format string of the set (strings, may be NULL) or of a tested entry (some
 * formats' strings come in the buffer), or as a member or origin that entries
 * have. To be called after all tests. PFD_OK, also if there was no format
 * string at all; PFD_ERR_USAGE: a name had none; err has the name and the known
 * ones.
 */
PFD_API enum pfd_status pfd_filter_check(const struct pfd_filter *filter,
                                         const struct pfd_strings *strings,
                                         struct pfd_error *err);

/* Facts about entries beside their contents: about their buffer, and when they
 * arrived. All zero: none. */
struct pfd_filter_facts {
    size_t struct_size;    /* as common.h says */
    uint64_t time_unix_ns; /* nanoseconds since 1970; 0: unknown */
    uint64_t sequence;     /* of the entry, as a daemon counts from 1 */
    uint64_t generation;   /* of the buffer */
    /* A `buffer` frame of wire.h, with the sender's host, process, labels and
     * so on; or NULL. Borrowed until other facts are set. */
    const struct pfd_wire_frame *buffer;
};

struct pfd_filter_run;

/* Borrows filter and strings, which must not change meanwhile. PFD_OK;
 * PFD_ERR_NOMEM. */
PFD_API enum pfd_status pfd_filter_run_new(const struct pfd_filter *filter,
                                           const struct pfd_strings *strings,
                                           struct pfd_filter_run **ret,
                                           struct pfd_error *err);

/* NULL is allowed. */
PFD_API void pfd_filter_run_free(struct pfd_filter_run *run);

/* What conditions are told of the entries that are tested from now on; copied.
 * PFD_OK; PFD_ERR_USAGE: it has members that this library does not know. */
PFD_API enum pfd_status pfd_filter_run_set(
    struct pfd_filter_run *run, const struct pfd_filter_facts *facts);

/* Is the entry selected? A message on which a pattern exceeds its limit of work
 * is selected, and counted. */
PFD_API bool pfd_filter_want(struct pfd_filter_run *run,
                             struct pfd_entry *entry);

/* Messages that were selected because a pattern gave up on them. */
PFD_API uint64_t pfd_filter_gave_up(const struct pfd_filter_run *run);

#ifdef __cplusplus
}
#endif

#endif
