/* SPDX-License-Identifier: MIT */
/*
 * The configuration: YAML to structs. Every error has a line and a column, and
 * all of them are told, not just the first. A key that is not known is an
 * error. Immutable once read.
 *
 * To add an option: a member here, a row in a table of keys.c, a word in the
 * blocks of config.c that have it, its lines in printfdecoded.8.
 */
#ifndef PFDD_CONFIG_H
#define PFDD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <printfdecode/printfdecode.h>

#include "config/request.h"
#include "core/log.h"

struct pfdd_names {
    char **items; /* [n] */
    size_t n;
};

struct pfdd_ids {
    unsigned *items; /* [n] */
    size_t n;
};

/* "unix:/path" or "tcp:127.0.0.1:9000". */
struct pfdd_address {
    bool is_unix;
    char path[104]; /* unix */
    char host[64];  /* tcp: a numeric address */
    unsigned port;  /* 0: any free one */
    bool is_loopback;
};

/* PEM files; all NULL: no TLS. */
struct pfdd_tls_config {
    char *certificate; /* ours, with those between it and the authority */
    char *key;
    char *authority; /* who signs the certificates of peers */
    char *name; /* in the certificate of whom we connect to; NULL: its IP */
};

/* Who may connect. */
struct pfdd_access {
    unsigned mode; /* of a unix socket */
    struct pfdd_ids uids;
    struct pfdd_ids gids;
    uint64_t max_clients;
    struct pfdd_tls_config tls;
};

/* Producers whose code objects may be named by URIs. */
enum pfdd_uris {
    PFDD_URIS_OWN, /* those of this process' user */
    PFDD_URIS_ALL,
    PFDD_URIS_NONE,
};

enum pfdd_input_type {
    PFDD_INPUT_BUFFER,
    PFDD_INPUT_DIRECTORY,
    PFDD_INPUT_LISTEN,
    PFDD_INPUT_CONNECT,
    PFDD_INPUT_STDIN,
};

struct pfdd_input_config {
    unsigned type; /* enum pfdd_input_type */
    char *name;    /* of the source; NULL: from the path */
    char *path;
    char *format;               /* NULL: chosen by the strings */
    struct pfd_options options; /* of streams: what they do not say */
    char *code_objects;         /* glob patterns of a directory */
    char *dumps;
    struct pfdd_ids owners; /* of files in it; none: as folder.h says */
    char *address_text;
    struct pfdd_address address;
    struct pfdd_access access;
    unsigned uris; /* enum pfdd_uris */
    uint64_t settle_ms;
};

enum pfdd_output_type {
    PFDD_OUTPUT_STDOUT,
    PFDD_OUTPUT_FILE,
    PFDD_OUTPUT_LISTEN,
    PFDD_OUTPUT_HTTP,
};

enum pfdd_on_lag {
    PFDD_DROP_OLDEST,
    PFDD_DISCONNECT,
};

struct pfdd_output_config {
    unsigned type; /* enum pfdd_output_type */
    char *name;
    char *path;    /* may have {host}, {pid} and {buffer} */
    unsigned form; /* enum pfdd_form */
    char *match;   /* these choose entries, as in a request (request.h) */
    char *format_string;
    char *id;
    char *where;
    bool ignore_case;
    bool invert;
    bool entries_only;
    bool findings; /* true: told where the form has a place for them */
    bool required;
    uint64_t rotate_size; /* 0: never */
    uint64_t rotate_age_ms;
    uint64_t keep; /* rotated files; 0: all */
    bool compress;
    unsigned on_lag;  /* enum pfdd_on_lag */
    uint64_t idle_ms; /* of a connection that asks for nothing */
    char *address_text;
    struct pfdd_address address;
    struct pfdd_access access;
};

struct pfdd_config {
    unsigned log_level; /* enum pfdd_level */
    char *state_dir;
    uint64_t ring;       /* bytes */
    uint64_t memory_max; /* bytes */
    uint64_t queue_max;  /* bytes on disk */
    uint64_t workers;    /* 0: processors less one */
    uint64_t drain_ms;
    bool sandbox;
    struct pfdd_names code_objects;
    struct pfdd_input_config *inputs; /* [n_inputs] */
    size_t n_inputs;
    struct pfdd_output_config *outputs; /* [n_outputs] */
    size_t n_outputs;
};

/* Takes one line that says what is wrong and where. */
typedef void (*pfdd_config_tell_fn)(void *user, const char *text);

/* Reads a file, or text [n] under a name. NULL after errors, which were
 * told. */
struct pfdd_config *pfdd_config_read(const char *path, pfdd_config_tell_fn tell,
                                     void *user);
struct pfdd_config *pfdd_config_read_text(const char *name, const char *text,
                                          size_t n, pfdd_config_tell_fn tell,
                                          void *user);
void pfdd_config_free(struct pfdd_config *config);

/* What an output gives where nobody says otherwise; not finished yet. False:
 * err [n] says why not. */
bool pfdd_config_request(const struct pfdd_output_config *output,
                         struct pfdd_request *ret, char *err, size_t n_err);

/* False: err [n] says why. */
bool pfdd_address_read(struct pfdd_address *ret, const char *text, char *err,
                       size_t n_err);

#endif
