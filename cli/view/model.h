/* SPDX-License-Identifier: MIT */
/*
 * The state of a view: which items are shown, where the cursor is, and the lines
 * around it. Knows no terminal.
 */
#ifndef CLI_VIEW_MODEL_H
#define CLI_VIEW_MODEL_H

#include "core/base/text.h"
#include "source.h"

enum {
    VIEW_FILTER_MAX = 256, /* bytes of a filter's text, with the NUL */
    VIEW_WHY_MAX = 300     /* of an error */
};

/* How a filter's text is read. */
enum view_mode {
    VIEW_TEXT,
    VIEW_REGEX,
    VIEW_WHERE,
    VIEW_MODES
};

/* A line that was made. */
struct view_line {
    uint32_t item;
    size_t at; /* in `texts` */
    size_t n;
};

/* Some lines, and what they say. */
struct view_lines {
    struct pfd_text all; /* struct view_line */
    struct pfd_text texts;
};

struct view_model {
    const struct view_source *source; /* borrowed */
    struct view_items shown;          /* if not all of them are */
    bool is_all;
    size_t n_source;    /* items of the source that were looked at */
    uint64_t n_dropped; /* and that had been dropped before them */
    size_t top;         /* the first position on the screen, */
    size_t cursor;      /* and the chosen one */
    size_t rows;        /* of the screen, for lines */
    bool at_end;        /* the cursor follows new items */
    char text[VIEW_FILTER_MAX];
    enum view_mode mode;
    bool has_string; /* only items of this format string */
    uint32_t string;
    bool is_collapsed;
    struct view_lines collapsed;
    uint64_t collapsed_end;  /* items, dropped ones included, when these lines
                               were made */
    struct view_lines cache; /* of positions from cached_from on */
    size_t cached_from;
    bool is_cached;
    char why[VIEW_WHY_MAX]; /* the filter's mistake; "": none */
};

void view_model_init(struct view_model *ret, const struct view_source *source);
void view_model_deinit(struct view_model *model);

/* Positions: shown items, or collapsed lines. */
size_t view_model_n(const struct view_model *model);

/* The line at a position; valid until the next call. *item: its item, of
 * collapsed lines too the first one. */
const char *view_model_line(struct view_model *model, size_t position,
                            size_t *n, uint32_t *item);

/* Says how many lines are on the screen; keeps the cursor on it. */
void view_model_resize(struct view_model *model, size_t rows);

/* Moves the cursor; stays within the positions. */
void view_model_move(struct view_model *model, long by);
void view_model_go(struct view_model *model, size_t position);

/* Moves to the next finding, or the one before. False: there is none. */
bool view_model_find(struct view_model *model, bool forward);

/*
 * Shows what `text`, `mode` and `string` choose; collapsed: entries of a format
 * string as a line. The cursor
 * stays at its item, or goes to the next one. VIEW_FAILED: `why` says the error,
 * and what was shown stays; VIEW_STOPPED: it stays, too.
 */
enum view_outcome view_model_apply(struct view_model *model, bool collapsed,
                                   view_stop_fn stop, void *user);

/* Takes the source's new entries. Collapsed lines stay as they are, unless
 * the items that they are about are gone. */
void view_model_refresh(struct view_model *model);

/* Do collapsed lines lack new entries? view_model_apply() makes them anew. */
bool view_model_is_stale(const struct view_model *model);

#endif
