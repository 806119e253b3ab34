/* SPDX-License-Identifier: MIT */
/*
 * A form of a report. To add one: src/analysis/problems/form_NAME.c with
 * `const struct pfd_problems_form pfd_problems_form_NAME`, and one word in
 * src/meson.build.
 */
#ifndef PFD_PROBLEMS_FORM_H
#define PFD_PROBLEMS_FORM_H

#include "core/base/dictionary.h"
#include "core/output/severity.h"
#include "core/output/value_rows.h"

/* Bytes of the report's texts. */
struct pfd_problem_text {
    size_t at;
    size_t n;
};

/* All entries of one place and severity. */
struct pfd_problem {
    enum pfd_severity severity;
    bool fails;
    bool is_finding;
    bool is_cut;                     /* its message is longer */
    uint64_t line;                   /* 0: not known */
    uint64_t n;                      /* entries */
    struct pfd_problem_text file;    /* empty: not known */
    struct pfd_problem_text message; /* of the first */
};

struct pfd_problems {
    struct pfd_problem *problems; /* [n] of [room], owned */
    size_t n;
    size_t room;
    uint64_t n_entries;         /* all that were added, problem or not */
    uint64_t n_more;            /* entries of places beyond the limit, */
    uint64_t n_more_fails;      /* and of those, ones that fail */
    struct pfd_dictionary keys; /* of problems */
    struct pfd_text texts;
    struct pfd_text key;
    bool failed; /* out of memory */
};

struct pfd_problems_form {
    const char *name;
    bool has_lines; /* lines of entries come before it, in the same stream */
    bool is_json;
    void (*put)(struct pfd_text *out, const struct pfd_problems *report);
};

/* All forms, NULL at the end; written by meson. */
extern const struct pfd_problems_form *const pfd_problems_forms[];

static inline const char *pfd_problems_bytes(const struct pfd_problems *report,
                                             struct pfd_problem_text text)
{
    return report->texts.data ? report->texts.data + text.at : "";
}

/* "GPU error", "GPU warning", "chosen by --fail-on", "loss of data". */
const char *pfd_problem_title(const struct pfd_problem *problem);

/* The same as a word: "gpu-error", ... */
const char *pfd_problem_rule(const struct pfd_problem *problem);

/* Appends the name of its source file, likewise; nothing where it is not
 * known. */
void pfd_problem_put_file(struct pfd_text *out,
                          const struct pfd_problems *report,
                          const struct pfd_problem *problem);

/* Appends the message of a problem as text for terminals and logs, in one line
 * or several, with the number of its entries. */
void pfd_problem_put_message(struct pfd_text *out,
                             const struct pfd_problems *report,
                             const struct pfd_problem *problem);

/* Appends text with `escape` in place of some of its bytes: it returns NULL for
 * a byte that stays. */
void pfd_problems_put_escaped(struct pfd_text *out, const char *text, size_t n,
                              const char *(*escape)(char c));

#endif
