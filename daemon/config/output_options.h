/* SPDX-License-Identifier: MIT */
/*
 * Options that several outputs share, and the class of an output.
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
    PFDD_WAIT, /* sources wait for it, for as long as it takes */
};

/* A class's own struct begins with it; members for which the class has no keys
 * are 0. */
struct pfdd_output_config {
    struct pfdd_block block;
    char *name;
    unsigned form; /* enum pfdd_form */
    char *match;   /* these filter entries, as in a request (request.h) */
    char *format_string;
    char *id;
    char *where;
    bool ignore_case;
    bool invert;
    bool entries_only;
    bool findings; /* true: reported if the form has a place for them */
    bool fields;   /* JSON: arguments under their names, too */
    bool required;
    unsigned on_lag;        /* enum pfdd_on_lag */
    unsigned collapse;      /* enum pfdd_collapse */
    uint64_t window;        /* entries compared by collapse; 0: the default */
    struct pfdd_names keys; /* of field_map.h; none: fields keep their names */
    struct pfdd_access access;
    uint64_t batch_size; /* bytes of a full batch, which is sent at once */
    uint64_t batch_ms;   /* maximum wait for a full batch; 0: no wait */
};

/* Messages that an output has sent. */
struct pfdd_sent {
    uint64_t sent;     /* messages */
    uint64_t dropped;  /* not delivered: the peer was down or too slow */
    uint64_t acked;    /* messages that the peer has confirmed */
    uint64_t retried;  /* sends that failed and were retried */
    uint64_t age_ns;   /* of the oldest that is not confirmed or not sent */
    bool is_connected; /* its peer is there, or its file can be written */
};

struct pfdd_output_class {
    struct pfdd_type_class base;
    size_t size; /* of the object, which begins with struct pfdd_output */
    /* False: see err; nothing was opened. */
    bool (*open)(struct pfdd_output *output, char *err, size_t n_err);
    /* Asynchronous (delivery.h). */
    void (*close)(struct pfdd_output *output);
    /* True when it has written all available lines. */
    bool (*is_drained)(const struct pfdd_output *output);
    /* Bytes of memory that it uses. */
    size_t (*memory)(const struct pfdd_output *output);
    /* NULL: it has no metrics; else it has a checkpoint_name, which labels
     * them. */
    struct pfdd_sent (*sent)(const struct pfdd_output *output);
    /* True: it cannot do its work now, and ret [n] says why. A daemon with such
     * an output is not ready. NULL: there is no telling. */
    bool (*trouble)(const struct pfdd_output *output, char *ret, size_t n);
    /* The first sequence number that it has not sent, if it is not required; 0:
     * none is known. */
    uint64_t (*place)(const struct pfdd_output *output);
    /* Its name in the checkpoint if it is required; NULL: it has no key
     * `required`. */
    const char *(*checkpoint_name)(const struct pfdd_output_config *config);
    /* The class to use if it is required; NULL: the same. */
    const struct pfdd_output_class *when_required;
};

/* Of struct pfdd_output_config: the filter of entries; the form, and whether
 * the output is required; the policy for slow subscribers. */
extern const struct pfdd_group pfdd_render_choice_group;
extern const struct pfdd_group pfdd_form_group;
extern const struct pfdd_group pfdd_lag_group;
/* For outputs without a form: whether the output is required. */
extern const struct pfdd_group pfdd_required_group;

/* The default request of an output, before pfdd_request_finish(). False: see
 * err [n]. */
bool pfdd_output_request(const struct pfdd_output_config *config,
                         struct pfdd_request *ret, char *err, size_t n_err);

const struct pfdd_output_class *pfdd_output_class_of(
    const struct pfdd_output_config *config);

/* Rows of keys for outputs that send in batches, with their defaults. */
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

/* Writes which entries it outputs, after the words of its class. */
void pfdd_output_explain(const struct pfdd_output_config *config, FILE *out);

/* Reports a value that is not made of 1 to 64 letters, digits, '-', '_' and
 * '.'. */
void pfdd_check_word(const struct pfdd_places *places, const char *key,
                     const char *text);

/* The name in /metrics. */
const char *pfdd_output_name(const struct pfdd_output_config *config);

/* "json", "text", "raw". */
const char *pfdd_output_form(const struct pfdd_output_config *config);

#endif
