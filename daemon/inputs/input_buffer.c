/* SPDX-License-Identifier: MIT */
/*
 * Input `buffer`: a buffer at a path, mapped and written by another process or
 * a device. The file may appear later than the daemon starts, be truncated, be
 * removed, and be replaced by another file: then the old file is read to its
 * end first.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/name.h"
#include "config/reserved_names.h"
#include "ingest/follower.h"
#include "ingest/ingest.h"
#include "ingest/string_store.h"

enum {
    LOOK_MS = 250,  /* between checks for a file at the path */
    WATCH_MS = 1000 /* between checks that it is the same file */
};

struct buffer_config {
    struct pfdd_input_config base;
    char *name; /* of the source; NULL: from the path */
    char *path;
};

struct buffer_input {
    struct pfdd_input base;
    uv_timer_t timer;
    struct pfdd_producer *producer; /* of a described ring; NULL: shared */
    struct pfdd_follower *follower; /* NULL: there is no file */
    dev_t device;
    ino_t inode;
    off_t size;
    bool replacing; /* the follower of the old file is ending */
    bool complained;
    bool timer_closed;
    bool reopened; /* not the first file at this path */
};

static const struct buffer_config *config_of(const struct buffer_input *in)
{
    return (const struct buffer_config *)in->base.config;
}

static void finish_close(struct buffer_input *in)
{
    if (in->base.closing && in->timer_closed && !in->follower) {
        pfdd_producer_unref(in->producer);
        pfdd_input_closed(&in->base);
    }
}

static void complain(struct buffer_input *in, const char *why)
{
    if (!in->complained) {
        pfdd_log(PFDD_WARNING, "%s: %s; waiting for it", config_of(in)->path,
                 why);
    }
    in->complained = true;
}

static void look_for_file(struct buffer_input *in);

static void session_ended(void *user)
{
    struct buffer_input *in = user;
    in->follower = NULL;
    in->replacing = false;
    if (in->base.closing) {
        finish_close(in);
    } else {
        look_for_file(in);
    }
}

static void begin(struct buffer_input *in, int fd, const struct stat *st)
{
    const struct buffer_config *config = config_of(in);
    char name[PFDD_NAME_ROOM];
    if (config->name) {
        pfdd_name_put(name, config->name, strlen(config->name));
    } else {
        pfdd_name_of_file(name, config->path, fd);
    }
    struct pfdd_follower_options options = {
        .name = name,
        .format = pfdd_input_format(&config->base),
        .options = config->base.options,
        .producer = in->producer,
        .fd = fd,
        .settle_ms = config->base.settle_ms,
        .resume = !in->reopened,
        .ended = session_ended,
        .user = in,
    };
    in->device = st->st_dev;
    in->inode = st->st_ino;
    in->size = st->st_size;
    in->follower = pfdd_follower_new(in->base.ingest, &options);
    in->reopened = true;
    in->complained = false;
    if (in->follower)
        pfdd_log(PFDD_INFO, "%s: following", config->path);
}

static void look_for_file(struct buffer_input *in)
{
    struct stat st;
    const char *path = config_of(in)->path;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE))
        in->base.ingest->count->out_of_fds++;
    if (fd < 0 || fstat(fd, &st) != 0) {
        complain(in, strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    if (!S_ISREG(st.st_mode)) {
        complain(in, "not a regular file");
        close(fd);
        return;
    }
    if (!pfdd_memory_budget_has(in->base.ingest->budget,
                                PFDD_FOLLOWER_STAYS_BYTES)) {
        complain(in, "memory is up to its cap");
        close(fd);
        return;
    }
    begin(in, fd, &st);
}

static void watch_file(struct buffer_input *in)
{
    struct stat st;
    struct pfdd_ingest *ingest = in->base.ingest;
    const char *path = config_of(in)->path;
    if (stat(path, &st) != 0)
        return; /* Removed: its writer may still have it mapped. */
    if (st.st_dev != in->device || st.st_ino != in->inode) {
        pfdd_log(PFDD_INFO, "%s: replaced by another file", path);
        ingest->count->replaced++;
        in->replacing = true;
        pfdd_follower_close(in->follower);
        return;
    }
    if (st.st_size < in->size) {
        pfdd_log(PFDD_WARNING, "%s: cut from %lld to %lld bytes", path,
                 (long long)in->size, (long long)st.st_size);
        ingest->count->truncated++;
        pfdd_follower_gap(in->follower, "truncated", 0);
    }
    in->size = st.st_size;
}

static void on_timer(uv_timer_t *timer)
{
    struct buffer_input *in = timer->data;
    if (!in->follower) {
        look_for_file(in);
    } else if (!in->replacing) {
        watch_file(in);
    }
    uv_timer_set_repeat(timer, in->follower ? WATCH_MS : LOOK_MS);
}

static bool open_input(struct pfdd_input *input, char *err, size_t n_err)
{
    struct buffer_input *in = (struct buffer_input *)input;
    in->producer = pfdd_producer_described(input->ingest->string_store,
                                           &input->description);
    uv_timer_init(input->ingest->loop, &in->timer);
    in->timer.data = in;
    uv_timer_start(&in->timer, on_timer, 0, LOOK_MS);
    return true;
}

static void on_timer_closed(uv_handle_t *handle)
{
    struct buffer_input *in = handle->data;
    in->timer_closed = true;
    finish_close(in);
}

static void close_input(struct pfdd_input *input)
{
    struct buffer_input *in = (struct buffer_input *)input;
    uv_close((uv_handle_t *)&in->timer, on_timer_closed);
    if (in->follower)
        pfdd_follower_close(in->follower);
}

/* ---- its keys ---- */

static void check(const void *group, const struct pfdd_places *places)
{
    const struct buffer_config *config = group;
    char name[PFDD_NAME_ROOM];
    if (config->name &&
        !pfdd_name_put(name, config->name, strlen(config->name)))
        pfdd_diagnostics_add(places, "name", "'name' is too long for a name");
}

static const struct pfdd_key keys[] = {
    { .name = "name",
      .kind = PFDD_KEY_TEXT,
      .at = offsetof(struct buffer_config, name) },
    { .name = "path",
      .kind = PFDD_KEY_TEXT,
      .at = offsetof(struct buffer_config, path),
      .use = PFDD_USE_AWAIT,
      .needed = true },
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
    fprintf(out, "the buffer in %s is followed",
            ((const struct buffer_config *)block)->path);
}

static bool owns(const struct pfdd_input_config *config, const char *name)
{
    const struct buffer_config *c = (const struct buffer_config *)config;
    bool is_whole = false;
    return (pfdd_reserved_name_begins(name, c->name, &is_whole) && is_whole) ||
           (pfdd_reserved_name_begins(name, c->path, &is_whole) && is_whole);
}

const struct pfdd_input_class pfdd_input_buffer = {
    .base = { .name = "buffer",
              .size = sizeof(struct buffer_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct buffer_input),
    .open = open_input,
    .close = close_input,
    .owns = owns,
};
