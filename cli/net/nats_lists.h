/* SPDX-License-Identifier: MIT */
/* Lists of code objects, as edges publish them to NATS servers. */
#ifndef CLI_NATS_LISTS_H
#define CLI_NATS_LISTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nats.h"

enum {
    NATS_LIST_MAX = 16 << 20, /* bytes of one list */
};

struct nats_object {
    char digest[NATS_DIGEST_HEX];
    size_t n; /* bytes */
    bool is_shader;
    uint32_t shader; /* the shader's number */
    char *name;      /* owned */
};

struct nats_list {
    struct nats_object *objects; /* [n] */
    size_t n;
};

/* Parses a text [n]. False: invalid, or out of memory; ret is empty then. */
bool nats_list_read(const char *text, size_t n, struct nats_list *ret);
void nats_list_deinit(struct nats_list *list);

#endif
