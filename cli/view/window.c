/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <stdio.h>
#include <string.h>

#include "core/base/escape.h"

void window_init(struct window *ret, const struct screen_class *screen,
                 const struct view_source *source, const char *name,
                 bool is_live)
{
    char safe[4 * sizeof ret->name];
    size_t n = strlen(name);
    *ret = (struct window){ .screen = screen, .is_live = is_live };
    if (n > sizeof ret->name / 4)
        n = sizeof ret->name / 4;
    char *end = pfd_escape_terminal(safe, name, n);
    snprintf(ret->name, sizeof ret->name, "%.*s", (int)(end - safe), safe);
    view_model_init(&ret->model, source);
}

void window_deinit(struct window *w)
{
    view_model_deinit(&w->model);
    pfd_text_free(&w->page_lines.all);
    pfd_text_free(&w->page_lines.texts);
}
