/* SPDX-License-Identifier: MIT */
/*
 * Input `directory`: code objects, finished dumps and captures that appear in a
 * directory: files that were written and closed, moved in, or are there at the
 * start. A name that is closed or moved in again is read again: a new code
 * object joins the old ones, a new dump is printed. A refused file is looked at
 * again when its owner or mode changes. A file's name decides whether it is
 * read, its content decides how.
 *
 * Each dump is decoded for trial first. A dump with ids that have no format
 * string waits for these a while. If they come after it was read, it is decoded
 * again.
 *
 * libuv's own watcher does not tell a file that is being written from a
 * finished one, so this uses inotify itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer_stats.h"
#include "base/log.h"
#include "base/name.h"
#include "config/reserved_names.h"
#include "config/trusted_folder.h"
#include "ingest/follower.h"
#include "ingest/ingest.h"
#include "ingest/string_store.h"
#include "inputs/capture_player.h"
#include "inputs/dir_scan.h"
#include "inputs/file_content.h"
#include "inputs/refused_files.h"

enum {
    SESSIONS_MAX = 64, /* dumps at once; others wait */
    WAITING_MAX = 256, /* dumps that are queued; of more there are names only */
    TURN_MS = 1,       /* of work on names, and as much for others */
    RETRY_MS = 500,
    LOOK_MS = 100,    /* between checks for strings, while a dump waits */
    HOLD_MS = 10000,  /* that a dump waits, at most */
    HELD_MAX = 64,    /* dumps that wait for strings; more are read as they
                         are */
    DOUBTED_MAX = 64, /* dumps that are decoded again when strings come */
};

enum state {
    WAITING, /* queued */
    TRIED,   /* a follower decodes it and emits nothing */
    HELD,    /* waits for format strings */
    READ,    /* a follower, or a capture player, emits its entries */
    DOUBTED, /* it was emitted, and strings were missing */
};

/* A dump, or a capture. */
struct dump {
    struct directory_input *of;
    struct dump *next;
    char *path;
    enum state state;
    bool is_capture;
    struct pfdd_capture_player *capture_player; /* of a capture being read */
    uint64_t generation;                        /* how often it was emitted */
    uint64_t until;     /* uv_now(), at which it stops waiting; 0: not set */
    uint64_t version;   /* of the strings that it was decoded with */
    uint64_t n_lacking; /* entries without a string when it was emitted */
    struct pfdd_buffer_stats buffer_stats;
};

struct directory_config {
    struct pfdd_input_config base;
    char *path;
    char *code_objects; /* glob patterns */
    char *dumps;
    struct pfdd_ids owners; /* of the files; none: as trusted_folder.h says */
};

struct directory_input {
    struct pfdd_input base;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_timer_t turn;
    int fd;
    int watch;
    unsigned n_open;
    struct dump *dumps;
    struct pfdd_producer *producer; /* of described rings; NULL: shared */
    struct pfdd_dir_scan *names;    /* not processed yet */
    struct pfdd_trusted_folder *trusted_folder;
    struct pfdd_refused_files refused_files;
    struct pfdd_log_topic refused;
    struct pfdd_log_dedup log_dedup;
};

static const struct directory_config *config_of(
    const struct directory_input *in)
{
    return (const struct directory_config *)in->base.config;
}

static unsigned count(const struct directory_input *in, enum state state)
{
    unsigned n = 0;
    for (const struct dump *d = in->dumps; d; d = d->next)
        n += d->state == state;
    return n;
}

static unsigned count_sessions(const struct directory_input *in)
{
    return count(in, TRIED) + count(in, READ);
}

static void finish_close(struct directory_input *in)
{
    if (in->base.closing && in->n_open == 0 && count_sessions(in) == 0) {
        pfdd_dir_scan_free(in->names);
        pfdd_refused_files_deinit(&in->refused_files);
        pfdd_trusted_folder_unref(in->trusted_folder);
        pfdd_producer_unref(in->producer);
        pfdd_input_closed(&in->base);
    }
}

static void free_dump(struct dump *dump)
{
    struct directory_input *in = dump->of;
    struct dump **at = &in->dumps;
    while (*at != dump)
        at = &(*at)->next;
    *at = dump->next;
    free(dump->path);
    free(dump);
}

static void look_again(struct directory_input *in, uint64_t ms)
{
    if (!in->base.closing)
        uv_timer_start(&in->timer, in->timer.timer_cb, ms, 0);
}

static void refuse(struct directory_input *in, const char *path,
                   const char *why)
{
    in->base.ingest->count->refused_files++;
    if (!pfdd_log_dedup_seen(&in->log_dedup, path, why)) {
        pfdd_log_about(&in->refused, PFDD_WARNING, "%.200s: not read: %s", path,
                       why);
    }
}

/* Below 0: a negated errno value. The reason is logged, unless a later try may
 * get a descriptor. */
static int open_file(struct directory_input *in, const char *path,
                     struct stat *st)
{
    char why[PFDD_WHY];
    const char *name = strrchr(path, '/') + 1;
    int fd = pfdd_trusted_folder_open_file(in->trusted_folder, name, st, why);
    if (fd == -EMFILE || fd == -ENFILE) {
        in->base.ingest->count->out_of_fds++;
    } else if (fd < 0) {
        refuse(in, path, why);
    }
    if (fd == -EACCES || fd == -EPERM) {
        pfdd_refused_files_add(&in->refused_files, name);
    } else if (fd >= 0) {
        pfdd_refused_files_remove(&in->refused_files, name);
    }
    return fd;
}

static void dump_ended(void *user);

static bool begin_capture(struct dump *dump, int fd)
{
    char name[PFDD_NAME_ROOM];
    pfdd_name_of_file(name, dump->path, fd);
    dump->capture_player =
        pfdd_capture_player_new(&dump->of->base, fd, name, dump_ended, dump);
    dump->state = READ;
    return dump->capture_player != NULL;
}

static bool begin(struct dump *dump, int fd, bool is_trial)
{
    struct pfdd_ingest *ingest = dump->of->base.ingest;
    char name[PFDD_NAME_ROOM];
    pfdd_name_of_file(name, dump->path, fd);
    struct pfdd_follower_options options = {
        .name = name,
        .format = pfdd_input_format(dump->of->base.config),
        .options = dump->of->base.config->options,
        .producer = dump->of->producer,
        .fd = fd,
        .is_trial = is_trial,
        .buffer_stats = &dump->buffer_stats,
        .complete = true,
        .generation = is_trial ? 0 : dump->generation,
        .resume = !is_trial && dump->generation == 0,
        .ended = dump_ended,
        .user = dump,
    };
    struct pfdd_follower *follower = pfdd_follower_new(ingest, &options);
    if (!follower)
        return false;
    dump->version = pfdd_string_store_version(ingest->string_store);
    dump->state = is_trial ? TRIED : READ;
    pfdd_follower_close(follower);
    return true;
}

/* Opens it, for trial or not. False: it is gone from the list, or waits for a
 * descriptor or for memory. */
static bool open_and_begin(struct dump *dump, bool is_trial)
{
    struct directory_input *in = dump->of;
    struct stat st;
    bool has_room =
        pfdd_memory_budget_has(in->base.ingest->budget, PFDD_FOLLOWER_BYTES);
    int fd = has_room ? open_file(in, dump->path, &st) : -1;
    bool retry = fd == -EMFILE || fd == -ENFILE || !has_room;
    if (fd >= 0 && (dump->is_capture ? begin_capture(dump, fd)
                                     : begin(dump, fd, is_trial)))
        return true;
    if (retry && !in->base.closing) {
        dump->state = WAITING;
        look_again(in, RETRY_MS);
    } else {
        free_dump(dump);
    }
    return false;
}

/* ---- the states of a dump ---- */

static uint64_t lacking(const struct dump *dump)
{
    bool has_strings =
        pfdd_string_store_count(dump->of->base.ingest->string_store) > 0;
    if (dump->buffer_stats.entries == 0)
        return has_strings ? 0 : UINT64_MAX;
    return dump->buffer_stats.unknown;
}

static void hold(struct dump *dump)
{
    struct directory_input *in = dump->of;
    if (!dump->until) {
        dump->until = uv_now(in->base.ingest->loop) + HOLD_MS;
        pfdd_log(PFDD_INFO,
                 "%s: held for %d s at most: format strings are missing for "
                 "%llu of its %llu entries",
                 dump->path, HOLD_MS / 1000,
                 (unsigned long long)dump->buffer_stats.unknown,
                 (unsigned long long)dump->buffer_stats.entries);
    }
    dump->state = HELD;
    look_again(in, LOOK_MS);
}

/* It was emitted before: is emitted once more only if fewer strings are
 * missing. */
static void tried_again(struct dump *dump)
{
    if (lacking(dump) >= dump->n_lacking) {
        dump->state = DOUBTED;
        return;
    }
    pfdd_log(PFDD_INFO,
             "%s: decoded again, as generation %llu: format strings "
             "have come",
             dump->path, (unsigned long long)dump->generation);
    open_and_begin(dump, false);
}

static void tried(struct dump *dump)
{
    struct directory_input *in = dump->of;
    uint64_t now = uv_now(in->base.ingest->loop);
    if (dump->generation > 0) {
        tried_again(dump);
    } else if (lacking(dump) && !in->base.closing &&
               (!dump->until || now < dump->until) &&
               count(in, HELD) < HELD_MAX) {
        hold(dump);
    } else {
        open_and_begin(dump, false);
    }
}

static void came_out(struct dump *dump)
{
    struct directory_input *in = dump->of;
    dump->generation++;
    dump->n_lacking = lacking(dump);
    if (!dump->n_lacking || in->base.closing ||
        count(in, DOUBTED) >= DOUBTED_MAX) {
        free_dump(dump);
        return;
    }
    dump->state = DOUBTED;
    look_again(in, LOOK_MS);
}

static void start_dumps(struct directory_input *in);

/* Resumes work on names. */
static void go_on(struct directory_input *in)
{
    if (!in->base.closing && !uv_is_active((uv_handle_t *)&in->turn))
        uv_timer_start(&in->turn, in->turn.timer_cb, TURN_MS, 0);
}

static void dump_ended(void *user)
{
    struct dump *dump = user;
    struct directory_input *in = dump->of;
    if (dump->state == TRIED) {
        tried(dump);
    } else if (dump->is_capture) {
        free_dump(dump);
    } else {
        came_out(dump);
    }
    if (!in->base.closing)
        start_dumps(in);
    go_on(in);
    finish_close(in);
}

/* Begins queued dumps in the order in which they came. */
static void start_dumps(struct directory_input *in)
{
    struct dump *next = NULL;
    unsigned n = count_sessions(in);
    for (struct dump *d = in->dumps; d && n < SESSIONS_MAX; d = next) {
        next = d->next;
        if (d->state == WAITING)
            n += open_and_begin(d, true);
    }
}

static struct dump *new_dump(struct directory_input *in, const char *path)
{
    struct dump *dump = calloc(1, sizeof *dump);
    struct dump **end = &in->dumps;
    if (dump)
        dump->path = strdup(path);
    if (!dump || !dump->path) {
        free(dump);
        return NULL;
    }
    dump->of = in;
    while (*end)
        end = &(*end)->next;
    *end = dump;
    return dump;
}

/* Another file of the same path replaces a waiting one. */
static void add_dump(struct directory_input *in, const char *path,
                     bool is_capture)
{
    struct dump *next = NULL;
    for (struct dump *d = in->dumps; d; d = next) {
        next = d->next;
        if ((d->state == HELD || d->state == DOUBTED || d->state == WAITING) &&
            !strcmp(d->path, path))
            free_dump(d);
    }
    struct dump *dump = new_dump(in, path);
    if (dump) {
        dump->is_capture = is_capture;
        start_dumps(in);
    }
}

static bool matches(const char *pattern, const char *name)
{
    return pattern && fnmatch(pattern, name, FNM_PERIOD) == 0;
}

static enum pfdd_file_content look_into(struct directory_input *in,
                                        const char *path, struct stat *st)
{
    char bytes[PFDD_CONTENT_HEAD];
    int fd = open_file(in, path, st);
    if (fd == -EMFILE || fd == -ENFILE) {
        st->st_size = 0;
        return PFDD_CONTENT_OTHER; /* its name decides; opened later */
    }
    if (fd < 0)
        return PFDD_CONTENT_UNREADABLE;
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    close(fd);
    return pfdd_file_content(bytes, n > 0 ? (size_t)n : 0);
}

static void take_file(struct directory_input *in, const char *name)
{
    struct stat st;
    char path[PATH_MAX];
    const struct directory_config *config = config_of(in);
    bool is_object = matches(config->code_objects, name);
    if (snprintf(path, sizeof path, "%s/%s", config->path, name) >=
            (int)sizeof path ||
        *name == '.')
        return;
    if (!is_object && !matches(config->dumps, name)) {
        refuse(in, path, "neither 'code_objects' nor 'dumps' has its name");
        return;
    }
    enum pfdd_file_content content = look_into(in, path, &st);
    if (content == PFDD_CONTENT_UNREADABLE)
        return;
    if (content == PFDD_CONTENT_COMPRESSED && !is_object) {
        refuse(in, path, "it is compressed");
    } else if (content != PFDD_CONTENT_CAPTURE &&
               (is_object || content == PFDD_CONTENT_CODE)) {
        pfdd_string_store_add_from(in->base.ingest->string_store,
                                   in->trusted_folder, path,
                                   (size_t)st.st_size);
    } else {
        add_dump(in, path, content == PFDD_CONTENT_CAPTURE);
    }
}

/* Code objects come first. */
static bool is_first(const void *user, const char *name)
{
    return matches(config_of(user)->code_objects, name);
}

/* False: there is nothing to do now. */
static bool look_at_name(struct directory_input *in)
{
    char name[NAME_MAX + 1];
    if (count(in, WAITING) >= WAITING_MAX)
        return false; /* a dump that ends resumes this */
    enum pfdd_dir_scan_step step = pfdd_dir_scan_step(in->names, name);
    if (step == PFDD_DIR_SCAN_TAKEN)
        take_file(in, name);
    return step != PFDD_DIR_SCAN_NONE;
}

/* Works on names for TURN_MS, however many are queued. */
static void on_turn(uv_timer_t *timer)
{
    struct directory_input *in = timer->data;
    uint64_t end = uv_hrtime() + UINT64_C(1000000) * TURN_MS;
    bool more = true;
    while (more && uv_hrtime() < end)
        more = look_at_name(in);
    if (more)
        go_on(in);
}

static void list_all(struct directory_input *in)
{
    if (pfdd_dir_scan_list(in->names)) {
        pfdd_log_peer(PFDD_WARNING, "%s: too many files at once: reading all",
                      config_of(in)->path);
    }
}

/* Decodes a waiting dump when new strings have come, or reads it when it has
 * waited long enough. */
static void look_at(struct dump *dump)
{
    struct pfdd_ingest *ingest = dump->of->base.ingest;
    bool news =
        dump->version != pfdd_string_store_version(ingest->string_store);
    if (news) {
        open_and_begin(dump, true);
    } else if (dump->state == HELD && uv_now(ingest->loop) >= dump->until) {
        pfdd_log(PFDD_WARNING,
                 "%s: read without the format strings that are "
                 "missing",
                 dump->path);
        open_and_begin(dump, false);
    }
}

static void on_timer(uv_timer_t *timer)
{
    struct directory_input *in = timer->data;
    struct dump *next = NULL;
    /* Code objects of producers are not waited for: they may never end. */
    bool is_busy = pfdd_string_store_is_busy_for(in->base.ingest->string_store,
                                                 in->producer);
    for (struct dump *d = in->dumps; d && !is_busy; d = next) {
        next = d->next;
        if ((d->state == HELD || d->state == DOUBTED) &&
            count_sessions(in) < SESSIONS_MAX)
            look_at(d);
    }
    start_dumps(in);
    go_on(in);
    if (count(in, HELD) + count(in, DOUBTED) > 0)
        look_again(in, LOOK_MS);
}

static void on_event(struct directory_input *in,
                     const struct inotify_event *event, const char *name)
{
    bool is_file = event->len && !(event->mask & IN_ISDIR);
    /* A link is made whole; of a file that is made its end is awaited. */
    if (is_file && event->mask & IN_CREATE) {
        pfdd_refused_files_remove(&in->refused_files, name);
        is_file = pfdd_trusted_folder_has_link(in->trusted_folder, name);
    }
    /* A file that was read is not read again for its attributes. */
    if (is_file && event->mask & IN_ATTRIB)
        is_file = pfdd_refused_files_remove(&in->refused_files, name);
    if (event->mask & (IN_IGNORED | IN_DELETE_SELF)) {
        pfdd_log(PFDD_WARNING, "%s: the directory is gone",
                 config_of(in)->path);
    } else if ((event->mask & IN_Q_OVERFLOW) ||
               (is_file && !pfdd_dir_scan_put(in->names, name))) {
        list_all(in);
    }
}

static void on_events(uv_poll_t *poll, int status, int events)
{
    struct directory_input *in = poll->data;
    char bytes[16384]
        __attribute__((aligned(__alignof__(struct inotify_event))));
    ssize_t n = read(in->fd, bytes, sizeof bytes);
    for (ssize_t at = 0; at < n;) {
        struct inotify_event event;
        memcpy(&event, bytes + at, sizeof event);
        on_event(in, &event, bytes + at + sizeof event);
        at += (ssize_t)(sizeof event + event.len);
    }
    if (!uv_is_active((uv_handle_t *)&in->turn))
        on_turn(&in->turn);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct directory_input *in = (struct directory_input *)input;
    struct pfdd_ingest *ingest = input->ingest;
    in->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    in->watch = in->fd < 0 ? -1
                           : inotify_add_watch(in->fd, config_of(in)->path,
                                               IN_CLOSE_WRITE | IN_MOVED_TO |
                                                   IN_CREATE | IN_ATTRIB |
                                                   IN_DELETE_SELF | IN_ONLYDIR);
    in->trusted_folder = in->watch < 0
                             ? NULL
                             : pfdd_trusted_folder_new(config_of(in)->path,
                                                       &config_of(in)->owners);
    in->names = in->trusted_folder
                    ? pfdd_dir_scan_new(ingest->budget, config_of(in)->path,
                                        is_first, in)
                    : NULL;
    if (!in->names || uv_poll_init(ingest->loop, &in->poll, in->fd) != 0) {
        snprintf(err, n_err, "%s: %s", config_of(in)->path, strerror(errno));
        pfdd_dir_scan_free(in->names);
        pfdd_trusted_folder_unref(in->trusted_folder);
        if (in->fd >= 0)
            close(in->fd);
        return false;
    }
    in->producer =
        pfdd_producer_described(ingest->string_store, &input->description);
    uv_timer_init(ingest->loop, &in->timer);
    uv_timer_init(ingest->loop, &in->turn);
    in->poll.data = in;
    in->timer.data = in->turn.data = in;
    in->timer.timer_cb = on_timer;
    in->turn.timer_cb = on_turn;
    in->n_open = 3;
    uv_poll_start(&in->poll, UV_READABLE, on_events);
    pfdd_dir_scan_list(in->names);
    on_turn(&in->turn);
    return true;
}

static void on_closed(uv_handle_t *handle)
{
    struct directory_input *in = handle->data;
    in->n_open--;
    finish_close(in);
}

static void close_input(struct pfdd_input *input)
{
    struct directory_input *in = (struct directory_input *)input;
    struct dump *next = NULL;
    for (struct dump *d = in->dumps; d; d = next) {
        next = d->next;
        if (d->capture_player)
            pfdd_capture_player_stop(d->capture_player);
        if (d->state == HELD) {
            open_and_begin(d, false);
        } else if (d->state != TRIED && d->state != READ) {
            free_dump(d);
        }
    }
    uv_poll_stop(&in->poll);
    close(in->fd);
    uv_close((uv_handle_t *)&in->poll, on_closed);
    uv_close((uv_handle_t *)&in->timer, on_closed);
    uv_close((uv_handle_t *)&in->turn, on_closed);
}

/* ---- its keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct directory_config *config = group;
    if (!config->code_objects && !config->dumps) {
        pfdd_diagnostics_add(
            places, NULL, "a directory wants 'code_objects', 'dumps' or both");
    }
}

#define AT(member) offsetof(struct directory_config, member)

static const struct pfdd_key keys[] = {
    { .name = "path",
      .kind = PFDD_KEY_TEXT,
      .at = AT(path),
      .use = PFDD_USE_WATCH,
      .needed = true },
    { .name = "code_objects",
      .kind = PFDD_KEY_TEXT,
      .at = AT(code_objects),
      .use = PFDD_USE_NAMES },
    { .name = "dumps",
      .kind = PFDD_KEY_TEXT,
      .at = AT(dumps),
      .use = PFDD_USE_NAMES },
    { .name = "owners", .kind = PFDD_KEY_UIDS, .at = AT(owners) },
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &group, 0 },
    { &pfdd_options_group, 0 },
    { &pfdd_format_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct directory_config *config =
        (const struct directory_config *)block;
    fprintf(out, "files that appear in %s are read:", config->path);
    if (config->code_objects)
        fprintf(out, " code objects %s", config->code_objects);
    if (config->dumps) {
        fprintf(out, "%s dumps and captures %s",
                config->code_objects ? "," : "", config->dumps);
    }
    if (config->owners.n)
        fprintf(out, ", only of %zu users", config->owners.n);
}

static bool owns(const struct pfdd_input_config *config, const char *name)
{
    const struct directory_config *c = (const struct directory_config *)config;
    bool is_whole = false;
    return pfdd_reserved_name_begins(name, c->path, &is_whole) && !is_whole;
}

const struct pfdd_input_class pfdd_input_directory = {
    .base = { .name = "directory",
              .size = sizeof(struct directory_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct directory_input),
    .open = open_input,
    .close = close_input,
    .owns = owns,
};
