/* SPDX-License-Identifier: MIT */
/*
 * The daemon: what its inputs, sessions and outputs share, and their lives.
 *
 * An input or output is a class (one file each, listed in daemon.c) and an
 * object that its open() makes. close() may take a while: the object calls
 * pfdd_input_closed() or pfdd_output_closed() when its handles are gone, and
 * then frees itself. Loop thread only.
 */
#ifndef PFDD_DAEMON_H
#define PFDD_DAEMON_H

#include <stdio.h>

#include <uv.h>

#include "config/config.h"
#include "core/sums.h"
#include "core/work.h"
#include "delivery/holdup.h"
#include "delivery/page.h"
#include "delivery/ring.h"
#include "delivery/sources.h"

struct pfdd;
struct pfdd_session;
struct pfdd_library;
struct pfdd_queue;
struct pfdd_shelf;
struct pfdd_poller;

struct pfdd_input {
    const struct pfdd_input_class *class;
    struct pfdd *d;
    struct pfdd_input *next;
    struct pfdd_shared_config *held;
    const struct pfdd_input_config *config; /* in held */
    bool closing;
};

struct pfdd_input_class {
    const char *name;
    size_t size; /* of the object, which begins with struct pfdd_input */
    /* False: err says why; nothing was opened. */
    bool (*open)(struct pfdd_input *input, char *err, size_t n_err);
    void (*close)(struct pfdd_input *input);
};

struct pfdd_output {
    const struct pfdd_output_class *class;
    struct pfdd *d;
    struct pfdd_output *next;
    struct pfdd_shared_config *held;
    const struct pfdd_output_config *config; /* in held */
    bool closing;
};

struct pfdd_output_class {
    const char *name;
    size_t size;
    bool (*open)(struct pfdd_output *output, char *err, size_t n_err);
    void (*close)(struct pfdd_output *output);
    /* True when it has written all lines that there are. */
    bool (*is_drained)(const struct pfdd_output *output);
    /* Bytes of memory that it holds. */
    size_t (*memory)(const struct pfdd_output *output);
};

/* A configuration that lives as long as something was opened by it. */
struct pfdd_shared_config {
    unsigned refs;
    struct pfdd_config *config;
};

struct pfdd_counters {
    uint64_t gap_lines;    /* that the daemon knows were lost on the way in */
    uint64_t bad_frames;   /* of producers */
    uint64_t disconnected; /* subscribers, for lag */
    uint64_t costly;       /* likewise, for what they match */
    uint64_t missed;       /* items, by subscribers that are gone */
    uint64_t file_errors;
    uint64_t file_retries;
    uint64_t requests; /* of HTTP */
    uint64_t reloads;
    uint64_t bad_reloads;
    uint64_t out_of_fds;
    uint64_t refused;
    uint64_t refused_files; /* of watched folders */
    uint64_t truncated;     /* watched files that were cut */
    uint64_t replaced; /* watched files that another one took the place of */
    uint64_t generations;
    uint64_t polls;
    uint64_t waits; /* looks put off because readers were behind */
};

struct pfdd {
    uv_loop_t *loop;
    struct pfdd_shared_config *config;
    struct pfdd_ring ring;
    struct pfdd_pages pages;
    struct pfdd_pool *decoders;
    struct pfdd_pool *printers; /* of pages that all share, */
    struct pfdd_pool *choosers; /* and of those of one reader */
    struct pfdd_pool *disk;
    struct pfdd_library *library; /* format strings */
    struct pfdd_poller *poller;
    struct pfdd_shelf *shelf;
    struct pfdd_queue *queue; /* NULL: no required outputs */
    struct pfdd_input *inputs;
    struct pfdd_output *outputs;
    struct pfdd_session *sessions;
    struct pfdd_sources sources;
    struct pfdd_counters count;
    struct pfdd_sums sums; /* of all buffers */
    struct pfdd_holdup holdup;
    struct pfdd_log_topic told_well; /* what became of buffers */
    struct pfdd_log_topic told_bad;
    struct pfdd_log_topic told_peers; /* what they did wrong */
    size_t input_bytes;               /* that connections and streams hold */
    size_t frame_bytes;               /* of frames that have not come whole */
    size_t frame_reserve; /* more of them that streams may take unasked */
    size_t session_bytes;
    size_t look_bytes;   /* of these: more that looks on their way may take */
    unsigned n_looks;    /* on their way */
    size_t buffer_bytes; /* that producers sent, and sessions keep */
    size_t memory_peak;  /* the most that pfdd_memory() came to */
    size_t batch;        /* bytes of chunks that a job makes, about */
    unsigned n_failing;  /* required outputs that cannot write */
    uint64_t started;    /* ns since 1970 */
    uint64_t lag_ms;     /* of the loop, the last time it was looked at */
    bool ready;
    bool stopping;
    /* Private. */
    uv_signal_t hangup;
    uv_signal_t terminate;
    uv_signal_t interrupt;
    uv_timer_t tick;
    unsigned n_handles;
    uint64_t deadline; /* of the end, uv_now() */
    uint64_t ticked;
    int phase;
    const char *config_path; /* NULL: built in */
    char *config_text;       /* built in */
};

/*
 * Starts everything. config is taken over, also on failure. False: err says
 * why; run the loop all the same, it ends.
 */
bool pfdd_start(struct pfdd *d, uv_loop_t *loop, struct pfdd_config *config,
                char *err, size_t n_err);

/* Reads the configuration again and swaps what has changed. */
void pfdd_reload(struct pfdd *d);

/* Stops inputs, lets outputs write what there is, ends. The loop then ends. */
void pfdd_stop(struct pfdd *d);

/* When the loop has ended. */
void pfdd_deinit(struct pfdd *d);

/* The name of a source's number, for readers: d is a struct pfdd. */
const char *pfdd_source_name(void *d, uint32_t source);

/* Bytes in memory, part by part. */
struct pfdd_memory {
    size_t ring;
    size_t pages;
    size_t inputs;
    size_t buffers; /* that producers send */
    size_t frames;
    size_t sessions;
    size_t strings;
    size_t outputs;
};
size_t pfdd_memory(const struct pfdd *d, struct pfdd_memory *ret);

/* To be called where something has grown: keeps memory_peak. */
void pfdd_note_memory(struct pfdd *d);

/* True: the ring is full of lines that have not been read (ring.h). Sources
 * wait. */
bool pfdd_must_wait(struct pfdd *d);

/* True: n more bytes are below the cap of memory, with what parts may still
 * take without asking; what wants more is refused. Ask before there is more. */
bool pfdd_has_room(const struct pfdd *d, size_t n);

/* True: a look at a buffer may take n bytes more; they have a share of the cap
 * that nothing else takes. */
bool pfdd_has_look_room(const struct pfdd *d, size_t n);

/* How much more there is room for. */
size_t pfdd_room(const struct pfdd *d);

/* True: likewise, for frames that have not come whole. They have half of the
 * cap: half frames of some producers leave room for what others send. */
bool pfdd_has_frame_room(const struct pfdd *d, size_t n);

/* Ready: outputs that must write can. */
bool pfdd_is_ready(const struct pfdd *d);

/* Called when a session has ended. */
void pfdd_session_ended(struct pfdd *d);

void pfdd_input_closed(struct pfdd_input *input);
void pfdd_output_closed(struct pfdd_output *output);

/* Opens an input beside those of the configuration, such as one of a
 * directory's; NULL: err says why. */
extern const struct pfdd_input_class pfdd_input_buffer;
extern const struct pfdd_input_class pfdd_input_directory;
extern const struct pfdd_input_class pfdd_input_listen;
extern const struct pfdd_input_class pfdd_input_connect;
extern const struct pfdd_input_class pfdd_input_stdin;

extern const struct pfdd_output_class pfdd_output_stdout;
extern const struct pfdd_output_class pfdd_output_file;
extern const struct pfdd_output_class pfdd_output_listen;
extern const struct pfdd_output_class pfdd_output_acked;
extern const struct pfdd_output_class pfdd_output_http;

/* The page of /metrics, allocated; NULL: out of memory. */
char *pfdd_metrics(const struct pfdd *d, size_t *n);

#endif
