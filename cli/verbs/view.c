/* SPDX-License-Identifier: MIT */
/* printfdecode view: entries on a terminal, to look around in. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/open_inputs.h"
#include "show/messages.h"
#include "verb.h"
#include "view/entry_index.h"
#include "view/window.h"

enum {
    MEMORY_MAX = 256 << 20 /* bytes, if no number is given */
};

/* The verb's values. */
struct view_options {
    struct options common;
    uint64_t memory_max;
};

static const struct view_options *own(const struct options *o)
{
    return (const struct view_options *)o;
}

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

static void show(struct window *w)
{
    while (!w->is_over) {
        window_draw(w);
        window_key(w, w->screen->key(-1));
    }
}

static int view_source_of(const struct options *o,
                          const struct view_source *source, const char *name)
{
    char why[VIEW_WHY_MAX];
    const struct screen_class *screen = screen_load(why, sizeof why);
    struct window w;
    if (!screen ||
        !screen->open(options_color(o, STDOUT_FILENO), why, sizeof why)) {
        message_error("%s", why);
        return EXIT_ERROR;
    }
    window_init(&w, screen, source, name, false);
    show(&w);
    screen->close();
    window_deinit(&w);
    return EXIT_CLEAN;
}

static int view_files(const struct options *o)
{
    struct inputs in;
    int status = EXIT_ERROR;
    inputs_open(&in, o, message_finding, NULL);
    inputs_want_buffers(&in, "; 'printfdecode strings' lists format strings");
    struct entry_index *index = NULL;
    if (!in.failed || (o->reading.keep_going && in.n_buffers)) {
        index = entry_index_new(o, &in,
                                own(o)->memory_max ? own(o)->memory_max
                                                   : (size_t)MEMORY_MAX);
    }
    if (index) {
        const struct view_source source = { &entry_index_class, index };
        const char *name =
            in.n_buffers == 1 ? in.buffers[0].name : o->files[0].path;
        status = view_source_of(o, &source, name);
    }
    entry_index_free(index);
    bool failed = in.failed;
    inputs_close(&in);
    return failed ? EXIT_ERROR : status;
}

static int view_run(const struct options *o)
{
    return has_terminal() ? view_files(o) : EXIT_ERROR;
}

static const struct option_row rows[] = {
    { "memory-max", 0, "BYTES",
      "memory for places of entries (default: 256MiB)",
      offsetof(struct view_options, memory_max), option_bytes, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group, OPTIONS_READING, &options_work, OPTIONS_ENDING, NULL,
};

const struct verb verb_view = {
    .name = "view",
    .files = "BUFFER [FILE...]",
    .help = "look around in buffers on a terminal",
    .run = view_run,
    .groups = groups,
    .size = sizeof(struct view_options),
};
