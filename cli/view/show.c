/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "entry_index.h"
#include "input/open_inputs.h"
#include "live_entries.h"
#include "net/daemon_address.h"
#include "show/messages.h"
#include "window.h"

enum {
    MEMORY_MAX = 256 << 20, /* bytes, if no number is given */
    TURN_MS = 50,           /* between polls of the source */
    RENEW_SHARE = 10        /* of the time one part is for making collapsed
                               lines anew */
};

/* Can anything be drawn? An error was printed if not. */
static bool has_terminal(void)
{
    const char *term = getenv("TERM");
    if (!isatty(STDOUT_FILENO)) {
        message_error("standard output is no terminal to draw on; "
                      "'printfdecode decode' prints lines");
        return false;
    }
    if (!term || !*term || !strcmp(term, "dumb")) {
        message_error("this terminal (TERM=%s) cannot be drawn on; "
                      "'printfdecode decode' prints lines",
                      term ? term : "");
        return false;
    }
    return true;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool has_key(void *user)
{
    const struct window *w = user;
    return w->screen->has_key();
}

/* Collapses new entries, too. */
static void renew_collapsed(struct window *w)
{
    uint64_t begin = now_ns();
    if (!view_model_is_stale(&w->model) || begin < w->renew_ns)
        return;
    view_model_apply(&w->model, true, has_key, w);
    uint64_t end = now_ns();
    w->renew_ns = end + (end - begin) * (RENEW_SHARE - 1);
}

/* Takes new entries. While that is paused, the daemon keeps it, or has a gap
 * in its place. */
static void take_news(struct window *w, const struct live_entries *live)
{
    const struct view_source *source = w->model.source;
    if (w->is_paused || !source->class->poll)
        return;
    if (w->is_live && !source->class->poll(source->of)) {
        w->is_live = false;
        snprintf(w->message, sizeof w->message, "%s", live_entries_why(live));
    }
    view_model_refresh(&w->model);
    renew_collapsed(w);
}

static void show(struct window *w, const struct live_entries *live)
{
    while (!w->is_over) {
        take_news(w, live);
        window_draw(w);
        window_key(w, w->screen->key(w->is_live ? (int)TURN_MS : -1));
    }
}

static int view_source_of(const struct options *o,
                          const struct view_source *source, const char *name,
                          const struct live_entries *live)
{
    char why[VIEW_WHY_MAX];
    const struct screen_class *screen = screen_load(why, sizeof why);
    struct window w;
    if (!screen ||
        !screen->open(options_color(o, STDOUT_FILENO), why, sizeof why)) {
        message_error("%s", why);
        return EXIT_ERROR;
    }
    window_init(&w, screen, source, name, source->class->poll != NULL);
    show(&w, live);
    screen->close();
    window_deinit(&w);
    return EXIT_CLEAN;
}

static int view_files(const struct options *o, size_t most)
{
    struct inputs in;
    int status = EXIT_ERROR;
    inputs_open(&in, o, message_finding, NULL);
    inputs_want_buffers(&in, "; 'printfdecode strings' lists format strings");
    struct entry_index *index = NULL;
    if (!in.failed || (o->reading.keep_going && in.n_buffers)) {
        index = entry_index_new(o, &in, most);
    }
    if (index) {
        const struct view_source source = { &entry_index_class, index };
        const char *name =
            in.n_buffers == 1 ? in.buffers[0].name : o->files[0].path;
        status = view_source_of(o, &source, name, NULL);
    }
    entry_index_free(index);
    bool failed = in.failed;
    inputs_close(&in);
    return failed ? EXIT_ERROR : status;
}

static int view_daemon(const struct options *o, size_t most)
{
    struct live_entries *live = live_entries_new(o, most);
    int status = EXIT_ERROR;
    if (live) {
        const struct view_source source = live_entries_source(live);
        status = view_source_of(o, &source, o->files[0].path, live);
    }
    live_entries_free(live);
    return status;
}

bool view_is_of_daemon(const struct options *o)
{
    const char *name = o->n_files == 1 ? o->files[0].path : NULL;
    return name && daemon_address_is(name) && !daemon_address_is_url(name);
}

int view_show(const struct options *o, uint64_t memory_max)
{
    size_t most = memory_max ? (size_t)memory_max : (size_t)MEMORY_MAX;
    if (!has_terminal())
        return EXIT_ERROR;
    return view_is_of_daemon(o) ? view_daemon(o, most) : view_files(o, most);
}
