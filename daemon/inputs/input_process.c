/* SPDX-License-Identifier: MIT */
/*
 * Input `process`: buffers in the memory of running processes: of one process
 * by its pid, or of all processes of our own user with a name, also later ones.
 * Processes are neither stopped nor changed. The format strings are those of
 * the code objects that a process has loaded, or loads later. Where no address
 * is configured, memory is searched for buffers, again and again.
 *
 * Reading a process may take as long as it likes, so a thread of this input's
 * own does it, in rounds. Each buffer is read by a follower with a memory of
 * its own, because a memory belongs to one thread at a time.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/tail.h>

#include "base/log.h"
#include "base/name.h"
#include "config/systemd.h"
#include "ingest/follower.h"
#include "ingest/ingest.h"
#include "ingest/process_search.h"
#include "ingest/string_store.h"
#include "inputs/found_objects.h"
#include "memory/space/process_code.h"
#include "stream/live/live_source.h"

enum {
    ROUND_MS = 250, /* between rounds, or ROUND_PART times the last round */
    ROUND_PART = 50,
    PROCESSES_MAX = 64,         /* that are read at a time */
    SPOTS_MAX = 64,             /* buffers that are found in one process */
    SIZE_GUESSED_MAX = 64 << 20 /* bytes, where no size is known */
};

struct process_config {
    struct pfdd_input_config base;
    uint64_t pid;     /* 0: by name */
    char *pattern;    /* of names */
    uint64_t address; /* 0: buffers are searched for */
    uint64_t size;    /* bytes; 0: up to the end of the mapping */
};

/* A buffer of a process. */
struct spot {
    struct spot *next;
    struct target *of;
    uint64_t address;
    uint64_t size;
    uint64_t used;      /* bytes in use, when a search saw it last */
    const char *format; /* static; NULL: unknown */
    const char *why;    /* why it is taken for a buffer, static; NULL: it is
                        configured */
    struct pfd_memory *memory;
    struct pfd_source *source;
    struct pfdd_follower *follower; /* NULL: it has ended, or not begun */
    bool waits;                     /* for memory to begin */
};

/* A process that is read. */
struct target {
    struct target *next;
    struct process_input *of;
    struct pfdd_process_info process_info;
    struct spot *spots;
    struct pfdd_producer *producer; /* charged with its code objects */
    /* Owned by the rounds. */
    struct pfd_memory *inside;
    struct pfd_process_code *process_code;
    struct pfdd_found_objects objects; /* new ones */
    struct spot *fresh;                /* likewise */
    struct pfdd_strings *strings; /* to search with, a reference; NULL: wait */
    struct pfdd_process_search process_search;
    bool is_gone;
};

struct process_input {
    struct pfdd_input base;
    struct pfdd_job job; /* a round */
    struct pfdd_pool *pool;
    uv_timer_t timer;
    bool busy;
    bool timer_closed;
    atomic_bool is_stopping; /* a search has to end */
    unsigned n_counted;      /* of n_refused, in the daemon's count */
    char told_refusal[256];
    bool is_over; /* the configured process has ended */
    struct target *targets;
    /* Owned by the job while it runs, as `targets` are. */
    struct target *fresh;
    size_t n_room; /* bytes that a search may take; 0: none now */
    unsigned n_targets;
    unsigned n_refused; /* processes that are not read, and why the last one is
                           not */
    char refusal[256];
    uint64_t took_ns;
    struct pfdd_log_dedup log_dedup;
    struct pfdd_log_topic topic; /* limits their rate */
};

static const struct process_config *config_of(const struct process_input *in)
{
    return (const struct process_config *)in->base.config;
}

/* ---- a round, on the input's own thread ---- */

static void free_spot(struct spot *spot)
{
    pfd_source_close(spot->source);
    pfd_memory_close(spot->memory);
    free(spot);
}

/* Its spots are gone, or have not begun. */
static void free_target(struct target *t)
{
    while (t->fresh) {
        struct spot *spot = t->fresh;
        t->fresh = spot->next;
        free_spot(spot);
    }
    pfd_process_code_close(t->process_code);
    pfd_memory_close(t->inside);
    pfdd_producer_unref(t->producer);
    pfdd_strings_unref(t->strings);
    pfdd_found_objects_deinit(&t->objects);
    free(t);
}

/* Logs a message once for each process; later messages that differ are logged,
 * too. */
static void tell(struct process_input *in,
                 const struct pfdd_process_info *process, const char *what)
{
    char about[48];
    snprintf(about, sizeof about, "%" PRIu64 " %" PRIu64, process->pid,
             process->started);
    if (!pfdd_log_dedup_seen(&in->log_dedup, about, what))
        pfdd_log_about(&in->topic, PFDD_WARNING, "%s", what);
}

static enum pfd_status take_object(void *user,
                                   const struct pfd_process_code_object *found)
{
    struct target *t = user;
    return pfdd_found_objects_add(&t->objects, found);
}

static void take_finding(void *user, const struct pfd_finding *finding)
{
    struct target *t = user;
    char text[512];
    snprintf(text, sizeof text, "%s: %.160s: %s", pfd_memory_name(t->inside),
             finding->source ? finding->source : "code objects", finding->text);
    if (!pfd_finding_is_note(finding->kind))
        tell(t->of, &t->process_info, text);
}

static void look_for_objects(struct target *t)
{
    if (pfd_process_code_changed(t->process_code)) {
        pfd_process_code_read(t->process_code, take_object, t, take_finding, t,
                              NULL, NULL);
    }
}

/* ---- buffers ---- */

/* Without a size, a buffer goes to the end of its mapping. False: nothing is
 * mapped there. */
static bool find_size(struct spot *spot, struct pfd_error *err)
{
    struct pfd_memory_region r;
    if (pfd_memory_find(spot->memory, spot->address, &r) == PFD_OK &&
        r.address <= spot->address) {
        uint64_t n = r.address + r.size - spot->address;
        if (!spot->size)
            spot->size = n < SIZE_GUESSED_MAX ? n : SIZE_GUESSED_MAX;
        return true;
    }
    snprintf(err->text, sizeof err->text,
             "%s: nothing is mapped at 0x%" PRIx64 "; waiting for it",
             pfd_memory_name(spot->memory), spot->address);
    return false;
}

/* Adds a buffer, to be followed from the end of this round on. */
static bool add_spot(struct target *t, const struct spot *of,
                     struct pfd_error *err)
{
    struct spot *spot = malloc(sizeof *spot);
    if (!spot) {
        snprintf(err->text, sizeof err->text, "out of memory");
        return false;
    }
    *spot = *of;
    spot->of = t;
    if (pfd_memory_open_process(t->process_info.pid, &spot->memory, err) !=
            PFD_OK ||
        !find_size(spot, err) ||
        pfd_source_open_memory(spot->memory, spot->address, spot->size,
                               &spot->source, err) != PFD_OK) {
        free_spot(spot);
        return false;
    }
    spot->next = t->fresh;
    t->fresh = spot;
    return true;
}

/* True: the buffer is in the list, or inside one of the list. */
static bool is_there(struct spot *list, const struct pfd_found_buffer *f)
{
    for (struct spot *s = list; s; s = s->next) {
        if (f->address < s->address ||
            (f->address > s->address && f->address - s->address >= s->used))
            continue;
        if (f->address == s->address && f->used > s->used)
            s->used = f->used;
        return true;
    }
    return false;
}

static void take_found(struct target *t, const struct pfd_found_buffers *found)
{
    const char *format = pfdd_input_format(&config_of(t->of)->base);
    struct pfd_error err;
    size_t n = 0;
    for (const struct spot *s = t->spots; s; s = s->next)
        n++;
    for (size_t i = 0; i < found->n; i++) {
        const struct pfd_found_buffer *f = &found->at[i];
        const struct spot spot = {
            .address = f->address,
            .size = f->size,
            .used = f->used,
            .format = f->format,
            .why = f->why ? f->why : "a dispatch packet leads to it",
        };
        if ((format && strcmp(format, f->format) != 0) ||
            is_there(t->spots, f) || is_there(t->fresh, f))
            continue;
        if (n++ >= SPOTS_MAX) {
            tell(t->of, &t->process_info,
                 "more buffers are found than are read: the best are");
            return;
        }
        if (!add_spot(t, &spot, &err))
            tell(t->of, &t->process_info, err.text);
    }
}

static bool go_on(void *user, uint64_t n_done, uint64_t n_all)
{
    const struct process_input *in = user;
    (void)n_done;
    (void)n_all;
    return !atomic_load(&in->is_stopping);
}

static void search(struct target *t)
{
    const struct pfd_buffer_search how = {
        .memory = t->inside,
        .strings = t->strings ? t->strings->set : NULL,
        .options = &t->of->base.config->options,
        .n_copied_max = t->of->n_room,
        .threads = 1,
        .progress = go_on,
        .user = t->of,
    };
    struct pfd_found_buffers *found =
        pfdd_process_search_run(&t->process_search, &how);
    if (found)
        take_found(t, found);
    pfd_found_buffers_free(found);
}

/* ---- processes ---- */

static void look_at(struct target *t)
{
    t->is_gone = pfd_memory_check(t->inside, NULL) != PFD_OK;
    if (t->is_gone)
        return;
    look_for_objects(t);
    if (!config_of(t->of)->address)
        search(t);
}

static bool open_target(struct target *t, struct pfd_error *err)
{
    const struct process_config *config = config_of(t->of);
    const struct spot spot = { .address = config->address,
                               .size = config->size };
    return pfd_memory_open_process(t->process_info.pid, &t->inside, err) ==
               PFD_OK &&
           pfd_process_code_open(t->inside, &t->process_code, err) == PFD_OK &&
           (!config->address || add_spot(t, &spot, err));
}

static bool is_known(const struct target *t,
                     const struct pfdd_process_info *process)
{
    for (; t; t = t->next) {
        if (t->process_info.pid == process->pid &&
            t->process_info.started == process->started)
            return true;
    }
    return false;
}

static bool begin(void *user, const struct pfdd_process_info *process)
{
    struct process_input *in = user;
    struct pfd_error err;
    if (is_known(in->targets, process))
        return true;
    if (in->n_targets >= PROCESSES_MAX) {
        tell(in, &(struct pfdd_process_info){ 0 },
             "more processes than are read at a time: the others wait");
        return false;
    }
    struct target *t = calloc(1, sizeof *t);
    if (!t)
        return false;
    t->of = in;
    t->process_info = *process;
    if (!open_target(t, &err)) {
        in->n_refused++;
        snprintf(in->refusal, sizeof in->refusal, "%s", err.text);
        tell(in, process, err.text);
        free_target(t);
        return true;
    }
    look_for_objects(t);
    t->next = in->fresh;
    in->fresh = t;
    in->n_targets++;
    return true;
}

static void run_round(struct pfdd_job *job)
{
    struct process_input *in = PFDD_MEMBER_OF(struct process_input, job, job);
    const struct process_config *config = config_of(in);
    uint64_t start = uv_hrtime();
    struct pfdd_process_info one = { .pid = config->pid };
    in->n_targets = in->n_refused = 0;
    in->refusal[0] = '\0';
    for (struct target *t = in->targets; t; t = t->next) {
        in->n_targets++;
        look_at(t);
    }
    if (config->pattern) {
        pfdd_process_list_find(config->pattern, begin, in);
    } else if (!in->targets) {
        /* errors are reported when it is opened */
        pfdd_process_list_get(config->pid, &one);
        begin(in, &one);
    }
    in->took_ns = uv_hrtime() - start;
}

/* ---- on the loop ---- */

static void finish_close(struct process_input *in)
{
    if (!in->base.closing || !in->timer_closed || in->busy || in->targets)
        return;
    pfdd_pool_close(in->pool);
    pfdd_input_closed(&in->base);
}

static void drop_spots(struct target *t)
{
    struct spot **at = &t->spots;
    while (*at) {
        struct spot *spot = *at;
        if (spot->follower ||
            (spot->waits && !t->is_gone && !t->of->base.closing)) {
            at = &spot->next;
            continue;
        }
        if (spot->waits && t->is_gone) {
            tell(t->of, &t->process_info,
                 "a process has ended while a buffer of it waited for memory: "
                 "it was not read");
        }
        *at = spot->next;
        free_spot(spot);
    }
}

/* Frees targets whose followers have ended. A round may still read them, so not
 * during a round. */
static void drop_ended(struct process_input *in)
{
    struct target **at = &in->targets;
    while (!in->busy && *at) {
        struct target *t = *at;
        bool searches = !config_of(in)->address && !in->base.closing;
        drop_spots(t);
        if (t->spots || (searches && !t->is_gone)) {
            at = &t->next;
            continue;
        }
        in->is_over |= !config_of(in)->pattern;
        *at = t->next;
        free_target(t);
    }
    finish_close(in);
}

static void session_ended(void *user)
{
    struct spot *spot = user;
    spot->follower = NULL;
    drop_ended(spot->of->of);
}

static void name_source(const struct spot *spot, char ret[PFDD_NAME_ROOM])
{
    snprintf(ret, PFDD_NAME_ROOM,
             "memory://%" PRIu64 "#offset=0x%" PRIx64 "&size=%" PRIu64,
             spot->of->process_info.pid, spot->address, spot->size);
}

static void follow(struct spot *spot)
{
    const struct target *t = spot->of;
    const struct process_config *config = config_of(t->of);
    char name[PFDD_NAME_ROOM];
    char program[PFDD_NAME_ROOM];
    struct pfd_wire_frame origin = { .pid = t->process_info.pid };
    name_source(spot, name);
    if (pfdd_name_put(program, t->process_info.name,
                      strlen(t->process_info.name))) {
        origin.process.at = program;
        origin.process.n = strlen(program);
    }
    struct pfdd_follower_options options = {
        .name = name,
        .format =
            spot->format ? spot->format : pfdd_input_format(&config->base),
        .options = config->base.options,
        .origin = &origin,
        .producer = t->producer,
        .memory = spot->source,
        .n_memory = spot->size,
        .settle_ms = config->base.settle_ms,
        .resume = true,
        .ended = session_ended,
        .user = spot,
    };
    spot->follower = pfdd_follower_new(t->of->base.ingest, &options);
    if (spot->follower) {
        pfdd_log(PFDD_INFO, "%s: following '%s'%s%s", name, program,
                 spot->why ? ": " : "", spot->why ? spot->why : "");
    }
}

/* Without memory, the buffer waits for a later round. */
static void try_to_follow(struct spot *spot)
{
    struct process_input *in = spot->of->of;
    spot->waits = !pfdd_memory_budget_has(in->base.ingest->budget,
                                          PFDD_FOLLOWER_STAYS_BYTES);
    if (spot->waits) {
        tell(in, &spot->of->process_info,
             "memory is up to its cap: a buffer of a process waits");
    } else {
        follow(spot);
    }
}

static void follow_fresh(struct target *t)
{
    for (struct spot *spot = t->spots; spot; spot = spot->next) {
        if (spot->waits && !t->of->base.closing)
            try_to_follow(spot);
    }
    while (t->fresh) {
        struct spot *spot = t->fresh;
        t->fresh = spot->next;
        spot->next = t->spots;
        t->spots = spot;
        if (!t->of->base.closing)
            try_to_follow(spot);
    }
}

static void begin_fresh(struct process_input *in)
{
    while (in->fresh) {
        struct target *t = in->fresh;
        in->fresh = t->next;
        t->producer = in->base.closing
                          ? NULL
                          : pfdd_producer_new(in->base.ingest->string_store);
        if (!t->producer) {
            free_target(t);
            continue;
        }
        pfdd_producer_describe(t->producer, &in->base.description);
        t->next = in->targets;
        in->targets = t;
    }
}

/* Updates the service manager's status and /metrics for processes that are not
 * read. */
static void put_status(struct process_input *in)
{
    struct pfdd_ingest *ingest = in->base.ingest;
    char status[sizeof in->refusal + 16];
    ingest->count->unread_processes += in->n_refused;
    ingest->count->unread_processes -= in->n_counted;
    in->n_counted = in->n_refused;
    if (!strcmp(in->refusal, in->told_refusal))
        return;
    snprintf(status, sizeof status, "STATUS=%s", in->refusal);
    pfdd_systemd_notify(status);
    memcpy(in->told_refusal, in->refusal, sizeof in->refusal);
}

static void round_done(struct pfdd_job *job)
{
    struct process_input *in = PFDD_MEMBER_OF(struct process_input, job, job);
    uint64_t ms = in->took_ns / 1000000 * ROUND_PART;
    in->busy = false;
    in->base.ingest->budget->inputs -= in->n_room;
    in->n_room = 0;
    put_status(in);
    begin_fresh(in);
    for (struct target *t = in->targets; t; t = t->next) {
        pfdd_found_objects_give(&t->objects, in->base.ingest->string_store,
                                t->producer);
        follow_fresh(t);
    }
    if (!in->base.closing) {
        uv_timer_start(&in->timer, in->timer.timer_cb,
                       ms > ROUND_MS ? ms : ROUND_MS, 0);
    }
    drop_ended(in); /* a closing input may end with this */
}

/* Takes from the loop what a search needs: strings, and memory. */
static void prepare_search(struct process_input *in)
{
    struct pfdd_ingest *ingest = in->base.ingest;
    in->n_room = in->targets ? pfdd_process_search_bytes(ingest->budget) : 0;
    ingest->budget->inputs += in->n_room;
    pfdd_memory_budget_note(ingest->budget);
    for (struct target *t = in->targets; t; t = t->next) {
        pfdd_strings_unref(t->strings);
        t->strings = NULL;
        if (!pfdd_string_store_is_busy_for(ingest->string_store, t->producer)) {
            struct pfdd_binding *b =
                pfdd_string_store_bind(ingest->string_store, t->producer);
            t->strings = b ? pfdd_strings_ref(b->strings) : NULL;
        }
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct process_input *in = timer->data;
    if (in->busy || in->is_over)
        return;
    if (!config_of(in)->address)
        prepare_search(in);
    in->busy = true;
    pfdd_pool_submit(in->pool, &in->job);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct process_input *in = (struct process_input *)input;
    in->pool = pfdd_pool_new(input->ingest->loop, 1);
    if (!in->pool) {
        snprintf(err, n_err, "out of memory or threads");
        return false;
    }
    in->job.run = run_round;
    in->job.done = round_done;
    uv_timer_init(input->ingest->loop, &in->timer);
    in->timer.data = in;
    uv_timer_start(&in->timer, on_timer, 0, 0);
    return true;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct process_input *in = handle->data;
    in->timer_closed = true;
    finish_close(in);
}

static void close_input(struct pfdd_input *input)
{
    struct process_input *in = (struct process_input *)input;
    input->ingest->count->unread_processes -= in->n_counted;
    uv_close((uv_handle_t *)&in->timer, on_timer_closed);
    atomic_store(&in->is_stopping, true);
    for (struct target *t = in->targets; t; t = t->next) {
        for (struct spot *spot = t->spots; spot; spot = spot->next) {
            if (spot->follower)
                pfdd_follower_close(spot->follower);
        }
    }
    drop_ended(in);
}

/* ---- its keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct process_config *config = group;
    if (!config->pid == !config->pattern) {
        pfdd_diagnostics_add(places, config->pid ? "name" : NULL,
                             "a process is chosen by 'pid' or by 'name'");
    }
    if (config->size && !config->address) {
        pfdd_diagnostics_add(places, "size",
                             "a size is that of the buffer at 'address'");
    }
}

#define AT(member) offsetof(struct process_config, member)

static const struct pfdd_key keys[] = {
    { .name = "pid",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(pid),
      .min = 1,
      .max = INT32_MAX },
    { .name = "name", .kind = PFDD_KEY_TEXT, .at = AT(pattern) },
    { .name = "address",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(address),
      .min = 1,
      .max = UINT64_MAX },
    { .name = "size",
      .kind = PFDD_KEY_SIZE,
      .at = AT(size),
      .min = 1,
      .max = UINT64_C(16) << 30 },
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &group, 0 },
    { &pfdd_options_group, 0 },
    { &pfdd_format_group, 0 },
    { &pfdd_settle_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct process_config *config = (const struct process_config *)block;
    if (config->pattern) {
        fprintf(out, "our own processes called %s are read", config->pattern);
    } else {
        fprintf(out, "process %" PRIu64 " is read", config->pid);
    }
    if (config->address) {
        fprintf(out, " at 0x%" PRIx64, config->address);
    } else {
        fprintf(out, ", wherever buffers are found in its memory");
    }
    fprintf(out, ", with the code objects that it loads");
}

/* As name_source() makes them. */
static bool owns(const struct pfdd_input_config *config, const char *name)
{
    return !strncmp(name, "memory://", 9);
}

const struct pfdd_input_class pfdd_input_process = {
    .base = { .name = "process",
              .size = sizeof(struct process_config),
              .parts = parts,
              .plan = plan,
              .reads_processes = true },
    .size = sizeof(struct process_input),
    .open = open_input,
    .close = close_input,
    .owns = owns,
};
