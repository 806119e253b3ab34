/* SPDX-License-Identifier: MIT */
/* Draws a window: title, format strings beside lines, state, keys. */
#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"
#include "window.h"

enum {
    TITLE_ROW = 0,
    FIRST_ROW = 1,
    ENDING_ROWS = 2,      /* state, and keys */
    STRINGS_WIDTH = 56,   /* columns of the format strings at most, */
    STRINGS_EIGHTHS = 3,  /* so many eighths of all, */
    LINES_WIDTH_MIN = 36, /* which leaves this for lines */
    BAR_MAX = 512,
};

struct size {
    int rows;
    int columns;
};

static struct size size_of(const struct window *w)
{
    struct size ret;
    w->screen->size(&ret.rows, &ret.columns);
    return ret;
}

size_t window_rows(const struct window *w)
{
    int rows = size_of(w).rows - FIRST_ROW - ENDING_ROWS;
    return rows > 0 ? (size_t)rows : 0;
}

int window_strings_width(const struct window *w)
{
    int columns = size_of(w).columns;
    int width = columns * STRINGS_EIGHTHS / 8;
    width = width > STRINGS_WIDTH ? (int)STRINGS_WIDTH : width;
    return w->hides_strings || columns - width < LINES_WIDTH_MIN ? 0 : width;
}

/* Puts a text over the whole width. */
static void put_bar(const struct window *w, int row, enum screen_style style,
                    const char *text)
{
    const struct screen_text where = {
        .row = row,
        .width = size_of(w).columns,
        .style = style,
    };
    w->screen->put(&where, text, strlen(text));
}

static void draw_title(const struct window *w)
{
    const struct view_source *source = w->model.source;
    uint64_t left_out = source->class->n_left_out(source->of);
    char missing[64] = "";
    char title[BAR_MAX];
    if (left_out) {
        snprintf(missing, sizeof missing, ", %llu left out (--memory-max)",
                 (unsigned long long)left_out);
    }
    snprintf(title, sizeof title, " %s  %zu lines%s%s", w->name,
             source->class->n_items(source->of), missing,
             !w->is_live    ? ""
             : w->is_paused ? ", paused"
                            : ", live");
    put_bar(w, TITLE_ROW, SCREEN_BAR, title);
}

/* ---- format strings ---- */

static void draw_string(const struct window *w, int row, size_t position)
{
    const struct view_source *source = w->model.source;
    struct view_string s = { .text = "all", .n_text = 3 };
    char line[BAR_MAX];
    char safe[4 * 64];
    int width = window_strings_width(w) - 1;
    bool is_cursor = position == w->strings_cursor;
    bool is_chosen =
        position ? w->model.has_string && w->model.string == position - 1
                 : !w->model.has_string;
    s.n = source->class->n_items(source->of);
    if (position)
        s = source->class->string(source->of, (uint32_t)position - 1);
    size_t n = s.n_text < 64 ? s.n_text : 64;
    char *end = pfd_escape_terminal(safe, s.text, n);
    for (char *at = safe; at < end; at++)
        *at = *at == '\n' || *at == '\t' ? ' ' : *at;
    int length =
        snprintf(line, sizeof line, "%c%6llu %.*s", is_chosen ? '*' : ' ',
                 (unsigned long long)s.n, (int)(end - safe), safe);
    const struct screen_text where = {
        .row = row,
        .width = width,
        .style = !is_cursor                  ? SCREEN_PLAIN
                 : w->focus == FOCUS_STRINGS ? SCREEN_SELECTED
                                             : SCREEN_MARKED,
    };
    w->screen->put(&where, line, (size_t)length);
}

static void draw_strings(struct window *w)
{
    const struct view_source *source = w->model.source;
    int width = window_strings_width(w);
    size_t rows = window_rows(w);
    size_t n = source->class->n_strings(source->of) + 1;
    if (w->strings_cursor >= n)
        w->strings_cursor = n - 1;
    if (w->strings_top > w->strings_cursor)
        w->strings_top = w->strings_cursor;
    if (rows && w->strings_cursor - w->strings_top >= rows)
        w->strings_top = w->strings_cursor - rows + 1;
    for (size_t i = 0; width && i < rows; i++) {
        const struct screen_text line = {
            .row = (int)i + FIRST_ROW,
            .column = width - 1,
            .width = 1,
            .style = SCREEN_DIM,
        };
        if (w->strings_top + i < n)
            draw_string(w, (int)i + FIRST_ROW, w->strings_top + i);
        w->screen->put(&line, "|", 1);
    }
}

/* ---- lines ---- */

/* Puts a line, whose newlines are in its midst, or at its end. */
static void put_line(const struct window *w, const struct screen_text *where,
                     const char *line, size_t n)
{
    char one[4096];
    while (n && line[n - 1] == '\n')
        n--;
    if (!memchr(line, '\n', n) || n > sizeof one) {
        w->screen->put(where, line, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        one[i] = line[i] == '\n' ? ' ' : line[i];
    w->screen->put(where, one, n);
}

static void draw_lines(struct window *w)
{
    const struct view_source *source = w->model.source;
    int left = window_strings_width(w);
    size_t rows = window_rows(w);
    size_t n_all = view_model_n(&w->model);
    for (size_t i = 0; i < rows && w->model.top + i < n_all; i++) {
        size_t position = w->model.top + i;
        uint32_t item = 0;
        size_t n = 0;
        const char *line = view_model_line(&w->model, position, &n, &item);
        bool is_finding = source->class->item(source->of, item).is_finding;
        bool is_cursor = position == w->model.cursor;
        const struct screen_text where = {
            .row = (int)i + FIRST_ROW,
            .column = left,
            .width = size_of(w).columns - left,
            .skip = w->skip,
            .style = is_cursor && w->focus == FOCUS_LINES ? SCREEN_SELECTED
                     : is_cursor                          ? SCREEN_MARKED
                     : is_finding                         ? SCREEN_FINDING
                                                          : SCREEN_PLAIN,
        };
        put_line(w, &where, line, n);
    }
}

static void draw_page(struct window *w)
{
    const struct view_line *all = (const void *)w->page_lines.all.data;
    size_t n = w->page_lines.all.n / sizeof *all;
    size_t rows = window_rows(w);
    if (w->page_top + rows > n)
        w->page_top = n > rows ? n - rows : 0;
    for (size_t i = 0; i < rows && w->page_top + i < n; i++) {
        const struct view_line *line = &all[w->page_top + i];
        const struct screen_text where = {
            .row = (int)i + FIRST_ROW,
            .width = size_of(w).columns,
            .skip = w->skip,
        };
        put_line(w, &where, w->page_lines.texts.data + line->at, line->n);
    }
}

/* ---- state and keys ---- */

static const char *mode_name(enum view_mode mode)
{
    static const char *const names[] = { "text", "regex", "where" };
    return names[mode];
}

/* Foreign text that was typed, for a bar. */
static const char *typed(const struct window *w, char ret[BAR_MAX])
{
    char safe[4 * VIEW_FILTER_MAX];
    char *end = pfd_escape_terminal(safe, w->model.text, strlen(w->model.text));
    snprintf(ret, BAR_MAX, "%.*s", (int)(end - safe), safe);
    return ret;
}

static void draw_state(const struct window *w, int row)
{
    const struct view_model *m = &w->model;
    char text[BAR_MAX];
    char line[2 * BAR_MAX];
    size_t n = view_model_n(m);
    const char *what = *w->message ? w->message : m->why;
    if (*what) {
        snprintf(line, sizeof line, " %s", what);
    } else if (w->page != PAGE_NONE) {
        snprintf(line, sizeof line, " %s",
                 w->page == PAGE_HELP ? "keys" : "one entry");
    } else {
        snprintf(line, sizeof line, " %zu of %zu%s%s%s%s%s",
                 n ? m->cursor + 1 : 0, n, m->is_collapsed ? " collapsed" : "",
                 *m->text ? "  " : "", *m->text ? mode_name(m->mode) : "",
                 *m->text ? ": " : "", typed(w, text));
    }
    put_bar(w, row, *what ? SCREEN_FINDING : SCREEN_DIM, line);
}

static void draw_ending(struct window *w)
{
    int row = size_of(w).rows - 1;
    char text[BAR_MAX];
    char line[2 * BAR_MAX];
    if (row < FIRST_ROW)
        return;
    draw_state(w, row - 1);
    if (w->focus == FOCUS_FILTER) {
        snprintf(line, sizeof line, "/%s: %s_   (Tab: %s  Enter  Esc)",
                 mode_name(w->model.mode), typed(w, text),
                 mode_name((w->model.mode + 1) % VIEW_MODES));
    } else if (w->page != PAGE_NONE) {
        snprintf(line, sizeof line, " q back  Up Down Left Right");
    } else {
        snprintf(line, sizeof line,
                 " ? help  q quit  / filter  n finding  Enter details  Tab "
                 "strings  c collapse%s",
                 w->is_live ? "  p pause" : "");
    }
    put_bar(w, row, SCREEN_BAR, line);
}

void window_draw(struct window *w)
{
    w->screen->erase();
    view_model_resize(&w->model, window_rows(w));
    draw_title(w);
    if (w->page != PAGE_NONE) {
        draw_page(w);
    } else {
        draw_strings(w);
        draw_lines(w);
        if (!view_model_n(&w->model) && window_rows(w)) {
            const struct screen_text where = {
                .row = FIRST_ROW,
                .column = window_strings_width(w) + 1,
                .width = size_of(w).columns,
                .style = SCREEN_DIM,
            };
            const char *text = *w->model.text || w->model.has_string
                                   ? "no line is what the filter asks for"
                                   : "there is no entry";
            w->screen->put(&where, text, strlen(text));
        }
    }
    draw_ending(w);
    w->screen->show(-1, 0);
}
