/* SPDX-License-Identifier: MIT */
#include "plot_draw.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "show/messages.h"

enum {
    FEW_POINTS = 5000 /* points; fewer are shown best as dots, in Braille */
};

static void message_count(uint64_t n, const char *one, const char *several)
{
    if (n)
        message_hint("%llu %s", (unsigned long long)n, n == 1 ? one : several);
}

void plot_tell_counts(const struct plot *p)
{
    struct pfd_plot_counts c;
    pfd_plot_counts(p->plot, &c);
    message_count(c.unknown, "entry of an unknown id is not drawn",
                  "entries of unknown ids are not drawn");
    message_count(c.others, "entry of another format string is not drawn",
                  "entries of other format strings are not drawn");
    message_count(c.without, "entry lacks one of the columns",
                  "entries lack one of the columns");
    message_count(c.texts, "entry has a text where a number is drawn",
                  "entries have texts where numbers are drawn");
    message_count(c.nowhere, "entry has a coordinate that is NaN or infinite",
                  "entries have coordinates that are NaN or infinite");
    message_count(c.outside, "entry is outside of the ranges",
                  "entries are outside of the ranges");
    message_count(c.unpanelled, "entry is of a panel too many",
                  "entries are of panels too many: 16 are drawn");
    message_count(
        c.not_above_0, "number is not above 0: a logarithm has no place",
        "numbers are not above 0: they are shown as the least that is");
    if (p->kind == PFD_PLOT_HEAT) {
        message_count(c.several, "cell got more than one value",
                      "cells got more than one value");
        if (c.cell_x > 0 || c.cell_y > 0) {
            message_hint(
                "a cell is 2^%d wide and 2^%d high: --x-range, --y-range "
                "and --cells give each its own",
                c.cell_x, c.cell_y);
        }
    }
}

static bool write_file(void *user, const void *bytes, size_t n)
{
    const int *fd = user;
    const char *at = bytes;
    while (n) {
        ssize_t done = write(*fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        at += done;
        n -= (size_t)done;
    }
    return true;
}

/* The file is created after the plot is complete, so a failed run leaves
 * none. */
bool plot_draw_file(const struct plot *p, const char *to)
{
    struct pfd_error err = { 0 };
    int fd = -1;
    struct pfd_plot_counts counts;
    pfd_plot_counts(p->plot, &counts);
    if (counts.points) {
        fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        if (fd < 0) {
            message_error("%s: %s", to, strerror(errno));
            return false;
        }
    }
    enum pfd_status status =
        pfd_plot_draw(p->plot, p->form, NULL, write_file, &fd, &err);
    if (status == PFD_ERR_STOPPED || (fd >= 0 && close(fd))) {
        message_error("%s: %s", to, strerror(errno));
        return false;
    }
    if (status != PFD_OK)
        message_error("%s", err.text);
    return status == PFD_OK;
}

static bool has_form(const char *name)
{
    struct pfd_plot_output form;
    for (size_t i = 0; pfd_plot_output_get(i, &form) == PFD_OK; i++) {
        if (!strcmp(form.name, name))
            return true;
    }
    return false;
}

void plot_choose_form(struct plot *p)
{
    struct pfd_plot_counts counts;
    if (p->form)
        return;
    pfd_plot_counts(p->plot, &counts);
    bool is_thin = p->kind == PFD_PLOT_LINE ||
                   (p->kind == PFD_PLOT_SCATTER && counts.points <= FEW_POINTS);
    terminal_ask(&p->terminal);
    p->form = p->terminal.has_kitty && has_form("kitty") ? "kitty"
              : p->terminal.has_sixel                    ? "sixel"
              : is_thin                                  ? "braille"
                                                         : "blocks";
}

bool plot_open(struct plot *p, const struct pfd_strings *strings, size_t string)
{
    struct pfd_error err;
    struct pfd_plot_spec spec = p->spec;
    spec.strings = strings;
    spec.string = string;
    spec.any_strings = p->any_strings;
    if (pfd_plot_new(&spec, &p->plot, &err) == PFD_OK)
        return true;
    message_error("%s", err.text);
    return false;
}
