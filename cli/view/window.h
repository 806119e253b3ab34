/* SPDX-License-Identifier: MIT */
/*
 * The whole of a view: a model, panes, and a line for input. window_draw() puts
 * it on a screen, window_key() takes a key.
 */
#ifndef CLI_VIEW_WINDOW_H
#define CLI_VIEW_WINDOW_H

#include "model.h"
#include "screen.h"

/* The pane that has the keys. */
enum window_focus {
    FOCUS_LINES,
    FOCUS_STRINGS,
    FOCUS_FILTER, /* a filter is typed */
};

/* A page over the lines. */
enum window_page {
    PAGE_NONE,
    PAGE_HELP,
    PAGE_DETAILS,
};

struct window {
    const struct screen_class *screen; /* borrowed */
    struct view_model model;
    char name[256]; /* of what is shown */
    enum window_focus focus;
    bool hides_strings;
    bool shows_origins;
    size_t strings_top; /* position 0 stands for all format strings */
    size_t strings_cursor;
    int skip; /* columns of lines left of the screen */
    bool is_live;
    bool is_paused;
    bool wants_collapsed;
    uint64_t renew_ns; /* collapsed lines stay until then, by the clock */
    enum window_page page;
    struct view_lines page_lines;
    size_t page_top;
    char message[VIEW_WHY_MAX]; /* until the next key; "": none */
    bool is_over;
};

void window_init(struct window *ret, const struct screen_class *screen,
                 const struct view_source *source, const char *name,
                 bool is_live);
void window_deinit(struct window *window);

/* draw.c */
void window_draw(struct window *window);
/* Lines of the screen that a page or the lines have. */
size_t window_rows(const struct window *window);
/* Columns of the pane of format strings; 0: it is not there. */
int window_strings_width(const struct window *window);

/* keys.c */
void window_key(struct window *window, uint32_t key);

/* page.c: opens a page over the lines. */
void window_open_help(struct window *window);
void window_open_details(struct window *window);

#endif
