/* SPDX-License-Identifier: MIT */
/*
 * plot --live: redraws the plot when new points have come. A file is written
 * beside its place and then renamed, so that readers always see a complete
 * picture.
 */
#include "plot_live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "follow.h"
#include "input/select_string.h"
#include "show/messages.h"
#include "show/output.h"

enum {
    NS = 1000000000
};

/* Synchronized output hides the change of pictures, where the terminal supports
 * it. Kitty's pictures have to be deleted explicitly. */
#define BEGIN_FRAME "\033[?2026h\033[H\033[J"
#define BEGIN_KITTY "\033_Ga=d\033\\"
#define END_FRAME   "\033[?2026l"

struct live {
    struct plot *plot;
    const struct options *o;
    bool has_chosen;   /* the format string of entries was chosen */
    uint64_t early;    /* entries of unknown ids before the first known one */
    uint64_t points;   /* points in the last picture */
    uint64_t pause_ns; /* between the end of a picture and the next one */
    uint64_t drawn_ns; /* end of the last picture; 0: none yet */
    char part[4096];   /* name of the new file, before it is renamed */
};

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* ---- drawing ---- */

#define PART_END ".part"

/* Creates the file under a name that no other process uses. */
static bool make_part(struct live *l)
{
    mode_t mask = umask(0);
    umask(mask);
    snprintf(l->part, sizeof l->part, "%s.XXXXXX" PART_END, l->o->to);
    int fd = mkostemps(l->part, (int)strlen(PART_END), O_CLOEXEC);
    if (fd >= 0 && !fchmod(fd, 0666 & ~mask) && !close(fd))
        return true;
    message_error("%s: %s", l->part, strerror(errno));
    return false;
}

static bool draw_file(struct live *l)
{
    const char *to = l->o->to;
    if (!make_part(l))
        return false;
    if (!plot_draw_file(l->plot, l->part)) {
        unlink(l->part);
        return false;
    }
    if (!rename(l->part, to))
        return true;
    message_error("%s: %s", to, strerror(errno));
    unlink(l->part);
    return false;
}

static bool draw_terminal(struct plot *p)
{
    struct pfd_error err = { 0 };
    struct terminal now;
    plot_choose_form(p);
    if (terminal_measure(&now))
        p->terminal.screen = now.screen;
    output_write(NULL, BEGIN_FRAME, strlen(BEGIN_FRAME));
    if (!strcmp(p->form, "kitty"))
        output_write(NULL, BEGIN_KITTY, strlen(BEGIN_KITTY));
    enum pfd_status status = pfd_plot_draw(
        p->plot, p->form, &p->terminal.screen, output_write, NULL, &err);
    output_write(NULL, END_FRAME, strlen(END_FRAME));
    if (status != PFD_OK && status != PFD_ERR_STOPPED)
        message_error("%s", err.text);
    return status == PFD_OK && output_flush();
}

/* If drawing is slow, half of the time is left for entries. */
static bool draw(struct live *l, uint64_t points)
{
    uint64_t begin = now_ns();
    bool ok = l->o->to ? draw_file(l) : draw_terminal(l->plot);
    uint64_t each = NS / l->plot->live;
    l->drawn_ns = now_ns();
    uint64_t took = l->drawn_ns - begin;
    l->pause_ns = took < each / 2 ? each - took : took;
    l->points = points;
    return ok;
}

/* ---- callbacks of follow ---- */

static bool begin(void *user, const struct inputs *in,
                  const struct filtering *filtering)
{
    const struct live *l = user;
    size_t string = SIZE_MAX;
    return selected_string_known(in->strings, filtering, "a picture that moves",
                                 "choose by --format-string or --id",
                                 &string) &&
           plot_open(l->plot, in->strings, string);
}

/* A daemon's strings are not known beforehand: the first string that comes is
 * plotted. */
static bool open_first(struct live *l, const struct pfd_entry *entry,
                       const struct pfd_strings *strings)
{
    struct pfd_string_info info;
    size_t string = pfd_entry_string_index(entry);
    if (pfd_strings_get(strings, string, &info) != PFD_OK) {
        l->early++;
        return true;
    }
    l->plot->any_strings = true;
    if (!plot_open(l->plot, strings, string))
        return false;
    if (!l->has_chosen) {
        char text[4 * 256];
        size_t n = info.n_text < 256 ? info.n_text : 256;
        n = pfd_escape_for_terminal(text, info.text, n);
        while (n && text[n - 1] == '\n')
            n--;
        message_hint(
            "what is drawn is '%.*s', which came first; --format-string "
            "and --id choose",
            (int)n, text);
    }
    return true;
}

static bool take(void *user, struct pfd_entry *entry, uint64_t time,
                 const struct pfd_strings *strings)
{
    struct live *l = user;
    if (!l->plot->plot && !open_first(l, entry, strings))
        return false;
    if (!l->plot->plot)
        return true;
    if (pfd_plot_add(l->plot->plot, entry, time))
        return true;
    message_error("out of memory");
    return false;
}

static bool turn(void *user, bool is_last)
{
    struct live *l = user;
    struct pfd_plot_counts counts;
    if (is_last && l->early) {
        message_hint(
            "%llu entries of unknown ids came first, and are not drawn",
            (unsigned long long)l->early);
    }
    if (!l->plot->plot) {
        if (is_last)
            message_error("nothing to draw: no entry came");
        return !is_last;
    }
    if (!is_last && l->drawn_ns && now_ns() - l->drawn_ns < l->pause_ns)
        return true;
    pfd_plot_counts(l->plot->plot, &counts);
    bool is_new = counts.points != l->points || (is_last && !l->drawn_ns);
    bool ok = !is_new || draw(l, counts.points);
    if (is_last)
        plot_tell_counts(l->plot);
    return ok;
}

/* ---- all of it ---- */

static bool is_possible(struct live *l)
{
    struct stat st;
    const char *to = l->o->to;
    if (l->o->range.skip) {
        message_error("--skip is not for --live");
    } else if (!to && !isatty(STDOUT_FILENO)) {
        message_error(
            "--live draws on a terminal, or --to FILE again and again");
    } else if (to && !stat(to, &st) && !S_ISREG(st.st_mode)) {
        message_error(
            "%s: --live puts files in the place of files, and this is "
            "none",
            to);
    } else if (to && strlen(to) + sizeof ".XXXXXX" PART_END > sizeof l->part) {
        message_error("%s: this name is too long", to);
    } else {
        return true;
    }
    return false;
}

int plot_live(struct plot *p)
{
    const struct options *o = p->o;
    struct live live = {
        .plot = p,
        .o = o,
        .has_chosen = o->filter.format_strings.n || o->filter.ids.n,
    };
    const struct follow_taker taker = {
        .user = &live,
        .begin = begin,
        .entry = take,
        .turn = turn,
    };
    if (!is_possible(&live))
        return EXIT_ERROR;
    if (follow_client_wants(o))
        return follow_client_take(o, &taker);
    if (!options_have_daemon(o))
        return follow_take(o, &taker);
    message_error("--from, --findings and --tls-... are for a daemon");
    return EXIT_ERROR;
}
