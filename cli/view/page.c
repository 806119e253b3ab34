/* SPDX-License-Identifier: MIT */
/* Pages over the lines: keys, and everything about an entry. */
#include <string.h>

#include "window.h"

static const char *const help[] = {
    "Lines",
    "  Up Down k j         the line before, the next one",
    "  PgUp PgDn b Space   a screen back, a screen on",
    "  Home End g G        the first line, the last one",
    "  Left Right          what does not fit into the width",
    "  Enter               everything about the line: arguments, origin",
    "  o                   origins before lines, or none",
    "  n N                 the next finding, the one before",
    "",
    "Which lines",
    "  /                   filter, as you type: a text, whatever its case",
    "  Tab                 there: text, regular expression (PCRE2), condition",
    "                      such as t > 0.5 && lane == 3",
    "  Enter, Esc          there: keep it; drop it",
    "  Tab                 to the format strings and back; Enter chooses one",
    "  s                   hide or show the format strings",
    "  c                   one line for entries of a format string",
    "  Esc                 show everything again",
    "",
    "  p                   pause, and go on, where lines still come",
    "  q                   end",
};

static void add_line(void *user, uint32_t item, const char *line, size_t n)
{
    struct view_lines *lines = user;
    struct view_line one = { item, lines->texts.n, n };
    pfd_text_add(&lines->texts, line, n);
    pfd_text_add(&lines->all, &one, sizeof one);
}

static void open_page(struct window *w, enum window_page page)
{
    w->page = page;
    w->page_top = 0;
    w->page_lines.all.n = w->page_lines.texts.n = 0;
}

void window_open_help(struct window *w)
{
    open_page(w, PAGE_HELP);
    for (size_t i = 0; i < sizeof help / sizeof *help; i++)
        add_line(&w->page_lines, 0, help[i], strlen(help[i]));
}

void window_open_details(struct window *w)
{
    const struct view_source *source = w->model.source;
    uint32_t item = 0;
    size_t n = 0;
    if (!view_model_n(&w->model))
        return;
    const char *line = view_model_line(&w->model, w->model.cursor, &n, &item);
    open_page(w, PAGE_DETAILS);
    if (w->model.is_collapsed) {
        add_line(&w->page_lines, item, line, n);
        add_line(&w->page_lines, item, "", 0);
    }
    source->class->details(source->of, item, add_line, &w->page_lines);
}
