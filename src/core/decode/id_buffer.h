/* SPDX-License-Identifier: MIT */
/*
 * Buffers of OpenCL's runtimes over Vulkan and Mesa: a counter, then entries
 * that are an id and the arguments that the id's string says, nothing else. A
 * call adds to the counter even if it finds no room, so the loss is known.
 *
 * Several programs, or kernels of one, can be loaded, whose ids all begin anew.
 * Each has a number, its space, which is part of the strings' keys; a buffer is
 * of one space, which its entries decide.
 *
 * Does not know where strings come from.
 */
#ifndef PFD_ID_BUFFER_H
#define PFD_ID_BUFFER_H

#include "core/decode/format.h"
#include "core/decode/inspect.h"

enum {
    PFD_ID_BITS = 20,
    PFD_ID_MAX = (1 << PFD_ID_BITS) - 1,
    PFD_ID_SPACE_MAX = 4095,
    PFD_ID_SIZES_MAX = 1024,   /* arguments of one string */
    PFD_ID_SIZE_MAX = 1 << 20, /* bytes of all its arguments */
    PFD_ID_HEADER = 4,         /* of the buffer, and of an entry */
};

static inline uint64_t pfd_id_key(uint32_t space, uint32_t id)
{
    return (uint64_t)space << PFD_ID_BITS | id;
}

/* How a format's strings are stored, in bits of their first layout word. */
enum pfd_id_rule {
    PFD_ID_THREE_AS_FOUR = 1, /* three components take the room of four */
    PFD_ID_WHOLE_DWORDS = 2,  /* sizes are summed, then cut to dwords; else each
                                 argument takes whole dwords */
};

struct pfd_id_buffer_kind {
    const char *what; /* "a clspv printf buffer" */
    uint32_t unit;    /* bytes that the counter counts in */
    uint32_t from;    /* the byte that it counts from */
    /* A call that finds no room writes its id, if that fits; else nothing. */
    bool writes_cut_id;

    /* Bytes of the buffer that the program can write; UINT64_MAX: unknown.
     * NULL: never known. */
    uint64_t (*room)(const struct pfd_walk *walk, int space);

    /* The spaces that the user chose, [max] at most; SIZE_MAX: no choice. NULL:
     * there is none to be made. */
    size_t (*chosen)(struct pfd_walk *walk, uint32_t *ret, size_t max);

    /* The text behind a value that a %s prints; NULL: it has none. */
    const char *(*text)(const struct pfd_table *table,
                        const struct pfd_string *string, uint64_t value,
                        size_t *n);
};

struct pfd_id_buffer {
    bool is_open;
    bool is_lost;
    bool is_none; /* the counter is absurd, and nothing was found */
    uint32_t counter;
    uint64_t wanted;  /* first byte behind what calls asked for */
    uint64_t room;    /* bytes that can be written, as far as known */
    uint64_t end;     /* first byte behind its part that is there */
    uint64_t from;    /* where the way was lost */
    uint64_t next;    /* the next place to try */
    uint32_t lost_id; /* the dword where the way was lost */
    size_t n_spaces;  /* equally likely ones, the first is read */
    uint32_t spaces[1 + PFD_ALTERNATIVES_MAX];
};

/* A string's layout words; false: it has too many or too long arguments. */
struct pfd_id_layout {
    uint64_t words[PFD_LAYOUT_MAX];
    size_t n;
};
bool pfd_id_layout_make(struct pfd_id_layout *ret, unsigned rules,
                        const uint32_t *sizes, size_t n_sizes,
                        const char *literals, size_t n_literals);

/* The literal texts of a string, as passed to pfd_id_layout_make(). */
const char *pfd_id_literals(const struct pfd_string *string, size_t *n);

/* The arguments of a string, one after another; all zero before the first.
 * False: there are no more. */
struct pfd_id_argument {
    const struct pfd_step *step; /* END: no conversion prints it */
    size_t i;
    uint32_t at;   /* bytes from the start of the payload */
    uint32_t size; /* bytes, components and all */
    size_t n;      /* components */
    bool is_text;  /* a %s prints it */
};
bool pfd_id_next_argument(const struct pfd_string *string,
                          struct pfd_id_argument *a);

/* Members of a format and its kind of strings. */
enum pfd_status pfd_id_buffer_walk(struct pfd_walk *walk,
                                   const struct pfd_id_buffer_kind *kind);
void pfd_id_buffer_layout(const struct pfd_string *string,
                          const struct pfd_program_facts *facts,
                          struct pfd_layout *ret);
bool pfd_id_buffer_is_record(const struct pfd_record_view *record_view);
size_t pfd_id_buffer_slots(const struct pfd_record_view *record_view,
                           struct pfd_slot *ret, uint64_t *findings);
int pfd_id_buffer_probe(const struct pfd_byte_reader *first,
                        const struct pfd_id_buffer_kind *kind);
bool pfd_id_buffer_word(const struct pfd_walk *walk, uint64_t at,
                        const struct pfd_id_buffer_kind *kind,
                        struct pfd_word *ret);

#endif
