/* SPDX-License-Identifier: MIT */
/*
 * Files beside the segments (blob_store.h): their names; manifests, which list
 * code objects that belong together; and strings made of these objects. Any
 * thread.
 */
#ifndef PFDD_MANIFEST_H
#define PFDD_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <printfdecode/strings.h>

#include "base/sha256.h"
#include "spool/spool_records.h"

struct pfdd_manifest_item {
    uint8_t digest[PFDD_SHA256_BYTES];
    uint64_t n; /* bytes */
    bool is_shader;
    uint32_t shader; /* its id */
    char *name;      /* owned */
};

/* All zeros: none. */
struct pfdd_manifest_list {
    struct pfdd_manifest_item *items; /* [n] */
    size_t n;
    size_t size;
    size_t n_file; /* bytes of the file that it was parsed from */
    bool is_cut;   /* the text has more items */
};

void pfdd_manifest_list_deinit(struct pfdd_manifest_list *list);
/* Takes over the item. False: out of memory. */
bool pfdd_manifest_add(struct pfdd_manifest_list *list,
                       const struct pfdd_manifest_item *item);

/* Folders of code objects and of manifests, within the state folder. */
#define PFDD_MANIFEST_OBJECTS "/queue/objects"
#define PFDD_MANIFEST_LISTS   "/queue/strings"

/* end: "", or the suffix of an unfinished file. */
void pfdd_manifest_path(const char *dir, uint64_t number, const char *end,
                        char ret[PFDD_PATH]);
void pfdd_manifest_object_path(const char *dir, const uint8_t *digest,
                               const char *end, char ret[PFDD_PATH]);
/* The number or digest in a file's name. 0 and false: it has none. */
uint64_t pfdd_manifest_number(const char *name);
bool pfdd_manifest_digest(const char *name, uint8_t ret[PFDD_SHA256_BYTES]);

/* Reads a manifest. False: `why` says why not. */
bool pfdd_manifest_read(const char *dir, uint64_t number,
                        struct pfdd_manifest_list *ret,
                        char why[PFDD_STATE_WHY]);
/* Parses the text [n] of a manifest, item by item, n_max of them at most.
 * False: malformed. */
bool pfdd_manifest_parse(const char *text, size_t n, size_t n_max,
                         struct pfdd_manifest_list *ret);
/* The text of a manifest, allocated. NULL: out of memory. */
char *pfdd_manifest_text(const struct pfdd_manifest_list *list);
/* Writes the text [n] of a manifest, synced. A previous file stays until the
 * new one is whole. False: errno says why. */
bool pfdd_manifest_write(const char *dir, uint64_t number, const char *text,
                         size_t n);

/* A code object to be written, borrowed. */
struct pfdd_manifest_file {
    const uint8_t *digest; /* [PFDD_SHA256_BYTES] */
    const void *bytes;     /* [n] */
    size_t n;
};

/* Writes code objects under their digests, synced. A file with its final name
 * is whole. False: errno says why. */
bool pfdd_manifest_write_objects(const char *dir,
                                 const struct pfdd_manifest_file *files,
                                 size_t n);

/* Reads a code object and checks its digest: [item->n], allocated. NULL:
 * missing or changed; this is logged. */
char *pfdd_manifest_object(const char *dir,
                           const struct pfdd_manifest_item *item);

/* Loads strings from a manifest's code objects, up to n_max bytes of them.
 * Missing, changed and excess objects are logged and skipped. *n: objects in
 * the manifest. NULL: out of memory. */
struct pfd_strings *pfdd_manifest_load(const char *dir, uint64_t number,
                                       size_t n_max, uint32_t *n);

#endif
