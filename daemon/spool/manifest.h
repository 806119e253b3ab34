/* SPDX-License-Identifier: MIT */
/*
 * The files of what is kept beside the queue (blob_store.h): their names, the lists
 * that say which code objects go together, and strings that are made of them.
 * Any thread.
 */
#ifndef PFDD_MANIFEST_H
#define PFDD_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/strings.h>

#include "base/sha256.h"
#include "spool/segments.h"

struct pfdd_manifest_item {
    uint8_t digest[PFDD_SHA256_BYTES];
    uint64_t n; /* bytes */
    bool is_shader;
    uint32_t shader; /* its number */
    char *name;      /* owned */
};

/* All zeros: none. */
struct pfdd_manifest_list {
    struct pfdd_manifest_item *items; /* [n] */
    size_t n;
    size_t size;
    size_t n_file; /* bytes of the file that it was read from */
    bool is_cut;   /* there are more of them */
};

void pfdd_manifest_list_deinit(struct pfdd_manifest_list *list);
/* Takes over the item; false: out of memory. */
bool pfdd_manifest_add(struct pfdd_manifest_list *list,
                       const struct pfdd_manifest_item *item);

/* The folders of code objects and of lists, behind the state's. */
#define PFDD_MANIFEST_OBJECTS "/queue/objects"
#define PFDD_MANIFEST_LISTS   "/queue/strings"

/* end: "", or what a name has that is not whole yet. */
void pfdd_manifest_path(const char *dir, uint64_t number, const char *end,
                        char ret[PFDD_PATH]);
void pfdd_manifest_object_path(const char *dir, const uint8_t *digest,
                               const char *end, char ret[PFDD_PATH]);
/* What a file's name says; 0 and false: nothing. */
uint64_t pfdd_manifest_number(const char *name);
bool pfdd_manifest_digest(const char *name, uint8_t ret[PFDD_SHA256_BYTES]);

enum {
    PFDD_MANIFEST_WHY = 200,
};

/* A list's file; false: why not. */
bool pfdd_manifest_read(const char *dir, uint64_t number,
                        struct pfdd_manifest_list *ret,
                        char why[PFDD_MANIFEST_WHY]);
/* The same of its text [n]: as many as n_max of them, read one at a time. */
bool pfdd_manifest_parse(const char *text, size_t n, size_t n_max,
                         struct pfdd_manifest_list *ret);
/* Its text, allocated; NULL: out of memory. */
char *pfdd_manifest_text(const struct pfdd_manifest_list *list);
/* Writes a list's text [n], synced; the one that was there stays until it is
 * whole. False: errno says why. */
bool pfdd_manifest_write(const char *dir, uint64_t number, const char *text,
                         size_t n);

/* A code object, borrowed. */
struct pfdd_manifest_file {
    const uint8_t *digest; /* [PFDD_SHA256_BYTES] */
    const void *bytes;     /* [n] */
    size_t n;
};

/* Writes them under their digests, synced: what has its name is whole. False:
 * errno says why. */
bool pfdd_manifest_write_objects(const char *dir,
                                 const struct pfdd_manifest_file *files,
                                 size_t n);

/* A code object of a list, whole and what it was, allocated, [item->n]. NULL: it
 * is not there, or is something else, which is said in the log. */
char *pfdd_manifest_object(const char *dir,
                           const struct pfdd_manifest_item *item);

/* Strings of a list, as far as it has n_max bytes, *n: objects of it that were
 * looked at. What is not there, or is something else, is said in the log, and
 * left out. NULL: out of memory. */
struct pfd_strings *pfdd_manifest_load(const char *dir, uint64_t number,
                                       size_t n_max, uint32_t *n);

#endif
