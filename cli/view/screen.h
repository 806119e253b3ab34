/* SPDX-License-Identifier: MIT */
/*
 * A terminal to draw on: cells in rows and columns, from 0. Knows characters and
 * their widths; does not know what is drawn.
 *
 * Thread rule: one thread at a time.
 */
#ifndef CLI_VIEW_SCREEN_H
#define CLI_VIEW_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On a terminal without colours, each differs by other means. */
enum screen_style {
    SCREEN_PLAIN,
    SCREEN_DIM,
    SCREEN_BOLD,
    SCREEN_BAR,      /* a bar over the whole width */
    SCREEN_SELECTED, /* where the cursor is */
    SCREEN_MARKED,   /* where it will be, when its pane has the keys */
    SCREEN_FINDING,
    SCREEN_STYLES
};

/* Keys that are no characters; all others are code points. */
enum {
    SCREEN_NO_KEY = 0x110000, /* none came in time */
    SCREEN_UP,
    SCREEN_DOWN,
    SCREEN_LEFT,
    SCREEN_RIGHT,
    SCREEN_PAGE_UP,
    SCREEN_PAGE_DOWN,
    SCREEN_HOME,
    SCREEN_END,
    SCREEN_ENTER,
    SCREEN_ESCAPE,
    SCREEN_BACKSPACE,
    SCREEN_TAB,
    SCREEN_RESIZED, /* the size is another one now */
    SCREEN_CLOSED,  /* no more keys will come */
};

/* A text and where it goes. */
struct screen_text {
    int row;
    int column;
    int width; /* at most so many columns; the rest of them becomes blank */
    int skip;  /* columns of the text that are left out first */
    enum screen_style style;
};

struct screen_class {
    /* Begins. The terminal is as before after close(), exit(), and signals that
     * end the process. False: err [n_err] holds the error. */
    bool (*open)(bool color, char *err, size_t n_err);
    void (*close)(void);
    void (*size)(int *rows, int *columns);
    void (*erase)(void);
    /* Puts text [n], UTF-8 for a terminal, without newlines. */
    void (*put)(const struct screen_text *where, const char *text, size_t n);
    /* Shows the cells that were put; cursor_row -1: without a cursor. */
    void (*show)(int cursor_row, int cursor_column);
    /* The next key; waits at most so long, -1: for ever. */
    uint32_t (*key)(int timeout_ms);
    /* Has a key come? It stays for key(). */
    bool (*has_key)(void);
};

/*
 * A module of its own (curses.c), loaded on first use. NULL: err [n_err] holds
 * the error.
 */
const struct screen_class *screen_load(char *err, size_t n_err);

/* The module's symbol for it. */
#define SCREEN_CLASS "printfdecode_screen"
extern const struct screen_class printfdecode_screen
    __attribute__((visibility("default")));

#endif
