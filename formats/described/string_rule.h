/* SPDX-License-Identifier: MIT */
/*
 * Messages that a description does not list: where they stand in program files
 * and sources, and how their ids come about. The rule is a row of the ring's
 * strings; files that are loaded behind the description are read by it.
 */
#ifndef DESCRIBED_STRING_RULE_H
#define DESCRIBED_STRING_RULE_H

#include "layout.h"

enum rule_from {
    FROM_SECTION,  /* of an ELF file */
    FROM_PART,     /* of a DXBC container */
    FROM_SPIRV,    /* OpString */
    FROM_SOURCE,   /* literals of source text */
    FROM_LLPC,     /* what format llpc finds in code objects */
    FROM_MESSAGES, /* the description itself, which lists them */
};

/* What a message's id is. Hashes are of the text, in the id's bits. */
enum rule_id {
    ID_INDEX,
    ID_OFFSET,  /* of the text in its section or part */
    ID_ADDRESS, /* of the text; of OpString its result id */
    ID_SDBM,
    ID_FNV1A,
    ID_CRC32,
    ID_XXH32,
};

enum rule_number {
    RULE_FROM,
    RULE_ID,
    RULE_RECORD,  /* bytes; 0: texts stand one after another */
    RULE_AT,      /* of a record's pointer to its text */
    RULE_BITS,    /* of the pointer */
    RULE_OFFSETS, /* pointers are offsets in the section of the texts */
    RULE_NUMBERS,
};

/* A rule, borrowed from its row. */
struct string_rule {
    const uint64_t *numbers; /* [RULE_NUMBERS] */
    const char *name;        /* [n_name], of the section or part */
    size_t n_name;
    const char *texts; /* [n_texts], of the section that texts stand in; none:
                          any */
    size_t n_texts;
    const uint64_t *ring; /* [RING_NUMBERS] */
};

/* The rule of a set of strings; false: its ring has none. */
bool string_rule_find(const struct pfd_format *format,
                      const struct pfd_strings *strings,
                      struct string_rule *ret);

/* The hash of a text that is its id, in the bits that an entry has for it; false:
 * ids are no hashes. */
bool string_rule_hash(const struct string_rule *rule, const char *text,
                      size_t n, uint64_t *ret);

/* Takes the messages of one file: rows go to strings. */
struct string_taker {
    const struct pfd_format *format;
    struct pfd_strings *strings;
    struct string_rule rule;
    struct pfd_report *report;
    struct pfd_error *err;
    size_t n_rows;
    enum pfd_status
        status;          /* PFD_OK; or PFD_ERR_NOMEM: nothing more is taken */
    uint64_t left;       /* bytes of texts that may still be looked at */
    bool is_over;        /* these were too few: nothing more is taken */
    size_t n_typed;      /* literals with {} whose arguments have types */
    size_t n_untyped;    /* others, which are no messages therefore */
    uint64_t untyped_at; /* the first of them */
};

/* Asks for n bytes of texts: places of a file may lead to one text again and
 * again. False: there are none left, which is reported once. */
bool string_spend(struct string_taker *t, uint64_t n);

static inline bool string_goes_on(const struct string_taker *t)
{
    return t->status == PFD_OK && !t->is_over;
}

/* Begins with a set; false: its ring has no rule. */
bool string_taker_start(struct string_taker *t, const struct pfd_format *self,
                        struct pfd_strings *strings, struct pfd_report *report,
                        struct pfd_error *err);

/* Adds a message. id: what the rule calls index, offset or address; hashes are
 * made here. offset: of the text in the file. */
void string_take(struct string_taker *t, uint64_t id, const char *text,
                 size_t n, uint64_t offset);

/* Adds the message that a string of another format is, with the types of its
 * arguments: words [1 + n_types], of which the first is scratch. */
void string_take_typed(struct string_taker *t, const struct pfd_string *s,
                       uint64_t *words, size_t n_types);

/* Adds a text that values refer to, and that is no message. */
void string_take_text(struct string_taker *t, uint64_t id, const char *text,
                      size_t n, uint64_t offset);

/* The messages of a part or section, bytes [n] at an offset of the file. */
void string_take_packed(struct string_taker *t, const uint8_t *bytes, size_t n,
                        uint64_t address, uint64_t offset);

/* The literals of source text [n]. */
void string_take_source(struct string_taker *t, const char *text, size_t n);

/* A hash of ID_SDBM and so on. */
uint64_t string_hash(enum rule_id kind, bool is_wide, const char *text,
                     size_t n);

/* Members of pfd_format_described. */
bool described_reads_files(const struct pfd_format *self,
                           const struct pfd_strings *strings);
enum pfd_status described_load(const struct pfd_format *self,
                               const struct pfd_image *image,
                               struct pfd_strings *strings,
                               struct pfd_report *report, size_t *n_rows,
                               struct pfd_error *err);
enum pfd_status described_load_file(const struct pfd_format *self,
                                    const void *bytes, size_t n,
                                    struct pfd_strings *strings,
                                    struct pfd_report *report, bool *is_taken,
                                    struct pfd_error *err);
enum pfd_status described_shader(const struct pfd_format *self,
                                 struct pfd_strings *strings,
                                 const struct pfd_shader *shader,
                                 struct pfd_report *report,
                                 struct pfd_error *err);

#endif
