/* SPDX-License-Identifier: MIT */
/*
 * Outputs as the configuration has them: the class, and the keys that several
 * have.
 */
#ifndef PFDD_OUTPUT_OPTIONS_H
#define PFDD_OUTPUT_OPTIONS_H

#include "config/access.h"
#include "config/request.h"
#include "config/type_class.h"

struct pfdd_output;

enum pfdd_on_lag {
    PFDD_DROP_OLDEST,
    PFDD_DISCONNECT,
};

/* A class' own struct begins with it; what the class has no keys for is 0. */
struct pfdd_output_config {
    struct pfdd_block block;
    char *name;
    unsigned form; /* enum pfdd_form */
    char *match;   /* these choose entries, as in a request (request.h) */
    char *format_string;
    char *id;
    char *where;
    bool ignore_case;
    bool invert;
    bool entries_only;
    bool findings; /* true: told where the form has a place for them */
    bool fields;   /* JSON: arguments by their names, too */
    bool required;
    unsigned on_lag;        /* enum pfdd_on_lag */
    unsigned collapse;      /* enum pfdd_collapse */
    uint64_t window;        /* of that, entries; 0: the library's default */
    struct pfdd_names keys; /* of field_map.h; none: our own names */
    struct pfdd_access access;
    uint64_t batch_size; /* bytes that are sent without waiting for more */
    uint64_t batch_ms;   /* until less is sent; 0: at once */
};

/* What became of what was sent to others. */
struct pfdd_sent {
    uint64_t sent;    /* messages */
    uint64_t dropped; /* likewise: it was away, or too slow */
    uint64_t acked;   /* likewise: they are where they are to be */
    uint64_t retried; /* sends that failed and were tried again */
    uint64_t age_ns;  /* of the oldest that is not there yet, or not sent */
    bool is_connected;
};

struct pfdd_output_class {
    struct pfdd_type_class base;
    size_t size; /* of the object, which begins with struct pfdd_output */
    /* False: err says why; nothing was opened. */
    bool (*open)(struct pfdd_output *output, char *err, size_t n_err);
    /* It may take a while (daemon.h). */
    void (*close)(struct pfdd_output *output);
    /* True when it has written all lines that there are. */
    bool (*is_drained)(const struct pfdd_output *output);
    /* Bytes of memory that it holds. */
    size_t (*memory)(const struct pfdd_output *output);
    /* NULL: it sends nothing to others; else it has a checkpoint_name, which
     * /metrics has. */
    struct pfdd_sent (*sent)(const struct pfdd_output *output);
    /* What the checkpoint calls it when it is required; NULL: it has no key
     * `required`. */
    const char *(*checkpoint_name)(const struct pfdd_output_config *config);
    /* What it is when it is required; NULL: the same. */
    const struct pfdd_output_class *when_required;
};

/* Of struct pfdd_output_config: which lines there are; in which form, and
 * whether none may be lost; and what becomes of who is too slow. */
extern const struct pfdd_group pfdd_render_choice_group;
extern const struct pfdd_group pfdd_form_group;
extern const struct pfdd_group pfdd_lag_group;
/* Whether none may be lost, of outputs that have no form. */
extern const struct pfdd_group pfdd_required_group;

/* What an output gives where nobody says otherwise; not finished yet. False:
 * err [n] says why not. */
bool pfdd_output_request(const struct pfdd_output_config *config,
                         struct pfdd_request *ret, char *err, size_t n_err);

const struct pfdd_output_class *pfdd_output_class_of(
    const struct pfdd_output_config *config);

/* Rows of a table of keys: what goes together, of outputs for which that
 * matters, and how it is where nobody says otherwise. */
#define PFDD_BATCH_KEYS(size, ms)                                          \
    { .name = "batch_size",                                                \
      .kind = PFDD_KEY_SIZE,                                               \
      .at = offsetof(struct pfdd_output_config, batch_size),               \
      .min = 1024,                                                         \
      .max = 256 * 1024,                                                   \
      .initial = (size) },                                                 \
    {                                                                      \
        .name = "batch_time", .kind = PFDD_KEY_TIME,                       \
        .at = offsetof(struct pfdd_output_config, batch_ms), .max = 60000, \
        .initial = (ms)                                                    \
    }

/* Says which of the entries it gives; behind what it does with them. */
void pfdd_output_explain(const struct pfdd_output_config *config, FILE *out);

/* Complains of a key whose value is not of 1 to 64 letters, digits, '-', '_' and
 * '.'. */
void pfdd_check_word(const struct pfdd_places *places, const char *key,
                     const char *text);

/* What it is called in /metrics. */
const char *pfdd_output_name(const struct pfdd_output_config *config);

/* "json", "text", "raw". */
const char *pfdd_output_form(const struct pfdd_output_config *config);

#endif
