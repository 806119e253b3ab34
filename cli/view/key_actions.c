/* SPDX-License-Identifier: MIT */
/* What each key does. */
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "window.h"

enum {
    SKIPPED = 8 /* columns that one key moves lines by */
};

/* A key stops a running search: its text changes. */
static bool has_key(void *user)
{
    const struct window *w = user;
    return w->screen->has_key();
}

static void apply(struct window *w)
{
    enum view_outcome outcome =
        view_model_apply(&w->model, w->wants_collapsed,
                         w->focus == FOCUS_FILTER ? has_key : NULL, w);
    if (outcome == VIEW_FAILED && w->focus != FOCUS_FILTER)
        w->wants_collapsed = w->model.is_collapsed;
}

/* ---- typing a filter ---- */

static void type_character(struct window *w, uint32_t key)
{
    char *text = w->model.text;
    size_t n = strlen(text);
    char utf8[4];
    size_t k = 0;
    if (key < 0x80) {
        utf8[k++] = (char)key;
    } else if (key < 0x800) {
        utf8[k++] = (char)(0xc0 | key >> 6);
    } else if (key < 0x10000) {
        utf8[k++] = (char)(0xe0 | key >> 12);
        utf8[k++] = (char)(0x80 | (key >> 6 & 0x3f));
    } else {
        utf8[k++] = (char)(0xf0 | key >> 18);
        utf8[k++] = (char)(0x80 | (key >> 12 & 0x3f));
        utf8[k++] = (char)(0x80 | (key >> 6 & 0x3f));
    }
    if (key >= 0x80)
        utf8[k++] = (char)(0x80 | (key & 0x3f));
    if (n + k < VIEW_FILTER_MAX) {
        memcpy(text + n, utf8, k);
        text[n + k] = '\0';
    }
}

static void delete_character(struct window *w)
{
    char *text = w->model.text;
    size_t n = strlen(text);
    while (n && (text[n - 1] & 0xc0) == 0x80) /* behind the first byte */
        n--;
    text[n ? n - 1 : 0] = '\0';
}

static void filter_key(struct window *w, uint32_t key)
{
    if (key == SCREEN_ENTER) {
        w->focus = FOCUS_LINES;
    } else if (key == SCREEN_ESCAPE) {
        *w->model.text = '\0';
        w->model.mode = VIEW_TEXT;
        w->focus = FOCUS_LINES;
    } else if (key == SCREEN_TAB) {
        w->model.mode = (w->model.mode + 1) % VIEW_MODES;
    } else if (key == SCREEN_BACKSPACE) {
        delete_character(w);
    } else if (key >= ' ' && key < SCREEN_NO_KEY) {
        type_character(w, key);
    } else {
        return;
    }
    apply(w);
}

/* ---- moving ---- */

/* Moves a position by a key. False: it is another key. */
static bool move_by(uint32_t key, size_t rows, long *by)
{
    const struct {
        uint32_t key;
        long by;
    } all[] = {
        { SCREEN_UP, -1 },
        { 'k', -1 },
        { SCREEN_DOWN, 1 },
        { 'j', 1 },
        { SCREEN_PAGE_UP, -(long)rows },
        { 'b', -(long)rows },
        { SCREEN_PAGE_DOWN, (long)rows },
        { ' ', (long)rows },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].key == key) {
            *by = all[i].by;
            return true;
        }
    }
    return false;
}

static void move_sideways(struct window *w, uint32_t key)
{
    w->skip += key == SCREEN_RIGHT ? (int)SKIPPED : -(int)SKIPPED;
    if (w->skip < 0)
        w->skip = 0;
}

static void find(struct window *w, bool forward)
{
    if (!view_model_find(&w->model, forward)) {
        snprintf(w->message, sizeof w->message, "%s",
                 forward ? "no finding below" : "no finding above");
    }
}

/* ---- panes ---- */

static void choose_string(struct window *w)
{
    w->model.has_string = w->strings_cursor > 0;
    w->model.string = w->strings_cursor ? (uint32_t)w->strings_cursor - 1 : 0;
    apply(w);
}

static void strings_key(struct window *w, uint32_t key)
{
    size_t n = w->model.source->class->n_strings(w->model.source->of);
    long by = 0;
    if (move_by(key, window_rows(w), &by)) {
        size_t size = by < 0 ? (size_t)-by : (size_t)by;
        if (by < 0) {
            w->strings_cursor -=
                size < w->strings_cursor ? size : w->strings_cursor;
        } else {
            w->strings_cursor += size;
        }
        if (w->strings_cursor > n)
            w->strings_cursor = n;
    } else if (key == SCREEN_HOME || key == 'g') {
        w->strings_cursor = 0;
    } else if (key == SCREEN_END || key == 'G') {
        w->strings_cursor = n;
    } else if (key == SCREEN_ENTER) {
        choose_string(w);
    } else if (key == SCREEN_ESCAPE || key == SCREEN_TAB) {
        w->focus = FOCUS_LINES;
    }
}

static void show_everything(struct window *w)
{
    *w->model.text = '\0';
    w->model.has_string = false;
    w->strings_cursor = 0;
    w->wants_collapsed = false;
    apply(w);
}

static void lines_key(struct window *w, uint32_t key)
{
    long by = 0;
    if (move_by(key, window_rows(w), &by)) {
        view_model_move(&w->model, by);
    } else if (key == SCREEN_HOME || key == 'g') {
        view_model_go(&w->model, 0);
    } else if (key == SCREEN_END || key == 'G') {
        view_model_go(&w->model, SIZE_MAX);
    } else if (key == SCREEN_LEFT || key == SCREEN_RIGHT) {
        move_sideways(w, key);
    } else if (key == 'n' || key == 'N') {
        find(w, key == 'n');
    } else if (key == SCREEN_ENTER) {
        window_open_details(w);
    } else if (key == SCREEN_ESCAPE) {
        show_everything(w);
    } else if (key == SCREEN_TAB && window_strings_width(w)) {
        w->focus = FOCUS_STRINGS;
    }
}

static void show_origins(struct window *w)
{
    const struct view_source *source = w->model.source;
    w->shows_origins = !w->shows_origins;
    source->class->show_origins(source->of, w->shows_origins);
    w->model.is_cached = false;
}

/* Keys of both panes. False: it is none. */
static bool common_key(struct window *w, uint32_t key)
{
    switch (key) {
    case 'q':
        w->is_over = true;
        return true;
    case '?':
        window_open_help(w);
        return true;
    case '/':
        w->focus = FOCUS_FILTER;
        return true;
    case 'c':
        w->wants_collapsed = !w->model.is_collapsed;
        apply(w);
        return true;
    case 'p':
        w->is_paused = w->is_live && !w->is_paused;
        return true;
    case 'o':
        show_origins(w);
        return true;
    case 's':
        w->hides_strings = !w->hides_strings;
        w->focus = FOCUS_LINES;
        return true;
    default:
        return false;
    }
}

static void page_key(struct window *w, uint32_t key)
{
    long by = 0;
    if (move_by(key, window_rows(w), &by)) {
        size_t size = by < 0 ? (size_t)-by : (size_t)by;
        if (by < 0) {
            w->page_top -= size < w->page_top ? size : w->page_top;
        } else {
            w->page_top += size; /* drawing keeps it within the page */
        }
    } else if (key == SCREEN_LEFT || key == SCREEN_RIGHT) {
        move_sideways(w, key);
    } else if (key != SCREEN_RESIZED && key != SCREEN_NO_KEY) {
        w->page = PAGE_NONE;
        w->skip = 0;
    }
}

void window_key(struct window *w, uint32_t key)
{
    if (key != SCREEN_NO_KEY)
        *w->message = '\0';
    if (key == SCREEN_CLOSED) {
        w->is_over = true;
    } else if (w->page != PAGE_NONE) {
        page_key(w, key);
    } else if (w->focus == FOCUS_FILTER) {
        filter_key(w, key);
    } else if (common_key(w, key)) {
        return;
    } else if (w->focus == FOCUS_STRINGS) {
        strings_key(w, key);
    } else {
        lines_key(w, key);
    }
}
