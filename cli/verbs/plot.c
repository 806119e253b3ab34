/* SPDX-License-Identifier: MIT */
/* printfdecode plot: draws the arguments of entries. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "follow.h"
#include "input/convert_inputs.h"
#include "input/filter.h"
#include "input/open_inputs.h"
#include "input/select_string.h"
#include "plot_draw.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* plot --live: a plot of entries that are still to come. */
/*
 * plot --live: redraws the plot when new points have come. A file is written
 * beside its place and then renamed, so that readers always see a complete
 * picture.
 */

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
static bool draw_live(struct live *l, uint64_t points)
{
    uint64_t begin = pfd_clock_ns(CLOCK_MONOTONIC);
    bool ok = l->o->to ? draw_file(l) : draw_terminal(l->plot);
    uint64_t each = NS / l->plot->live;
    l->drawn_ns = pfd_clock_ns(CLOCK_MONOTONIC);
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
            message_error("nothing to draw_live: no entry came");
        return !is_last;
    }
    if (!is_last && l->drawn_ns &&
        pfd_clock_ns(CLOCK_MONOTONIC) - l->drawn_ns < l->pause_ns)
        return true;
    pfd_plot_counts(l->plot->plot, &counts);
    bool is_new = counts.points != l->points || (is_last && !l->drawn_ns);
    bool ok = !is_new || draw_live(l, counts.points);
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

/* Returns the exit status. */
static int plot_live(struct plot *p)
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

/* The verb's values. */
struct plot_options {
    struct options common;
    const char *x; /* columns */
    const char *y;
    const char *value;
    const char *by;
    const char *x_range;
    const char *y_range;
    const char *range;
    const char *map;
    enum pfd_reducer reducer;
    bool has_reducer;
    enum pfd_plot_scale scale;
    bool has_scale;
    uint64_t cells;
    uint64_t pixel;
    bool bare;
    bool dark;
    uint64_t live; /* redraws per second at most; 0: draw once */
};

static const struct plot_options *own(const struct options *o)
{
    return (const struct plot_options *)o;
}

/* ---- the command line ---- */

static bool read_kind(const struct options *o, enum pfd_plot_kind *ret)
{
    static const char *const words[] = { "heat", "hist", "scatter", "line" };
    const char *given = o->n_files ? o->files[0].path : "";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!strcmp(given, words[i])) {
            *ret = (enum pfd_plot_kind)i;
            return true;
        }
    }
    message_error(
        "which picture? 'plot heat', 'hist', 'scatter' or 'line' comes "
        "first, and then files");
    return false;
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t n_path = strlen(path);
    size_t n = suffix ? strlen(suffix) : 0;
    return n && n_path > n && !strcasecmp(path + n_path - n, suffix);
}

/* Chooses the form by -o, or by the file's suffix. */
static bool find_form(struct plot *p)
{
    struct pfd_plot_output form;
    const char *to = p->o->to;
    char list[128] = "";
    p->form = p->o->output;
    terminal_measure(&p->terminal);
    for (size_t i = 0;
         to && !p->form && pfd_plot_output_get(i, &form) == PFD_OK; i++) {
        size_t n = strlen(list);
        if (has_suffix(to, form.suffix))
            p->form = form.name;
        if (form.suffix) {
            snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "",
                     form.suffix);
        }
    }
    if (p->form || (isatty(STDOUT_FILENO) && !to))
        return true;
    if (to) {
        message_error("%s: which form? Names end in %s, or -o says it", to,
                      list);
    } else {
        message_error("standard output is no terminal: --to FILE, or -o FORM");
    }
    return false;
}

static bool draw(struct plot *p)
{
    struct pfd_error err = { 0 };
    if (p->o->to)
        return plot_draw_file(p, p->o->to);
    plot_choose_form(p);
    if (pfd_plot_draw(p->plot, p->form, &p->terminal.screen, output_write, NULL,
                      &err) == PFD_OK ||
        !output_flush()) { /* the reader closed the pipe, which output_failed()
                            checks */
        return true;
    }
    message_error("%s", err.text);
    return false;
}

static void begin_buffer(void *user, struct pfd_convert *convert,
                         const struct buffer *buffer)
{
    (void)user;
    convert->row_time = buffer->capture ? buffer->captured.time : 0;
}

static int make(struct plot *p, struct inputs *in, struct filtering *filtering)
{
    const struct options *o = p->o;
    struct pfd_summary total = { 0 };
    struct pfd_convert convert = {
        .strings = in->strings,
        .format = o->reading.format,
        .options = &o->reading.decoding,
        .threads = o->threads,
        .filter = filtering->filter,
        .n_emitted = &filtering->n_given,
        .n_doubts = &filtering->n_doubts,
        .skip = o->range.skip,
        .limit = o->range.limit,
        .no_entries = !o->range.limit,
        .consumer = pfd_plot_consumer(p->plot),
    };
    bool ok = convert_each(o, in, &convert, &total, begin_buffer, NULL);
    ok = draw(p) && ok && !in->failed && !output_failed();
    plot_tell_counts(p);
    total.findings += in->n_findings;
    if (in->n_buffers && (total.findings || o->verbose))
        message_summary(&total);
    return !ok ? EXIT_ERROR : total.findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

static int run(struct plot *p, struct inputs *in, struct filtering *filtering)
{
    struct selected_string one;
    bool ok = selected_string_find(p->o, in, filtering, "a picture",
                                   "choose by --format-string or --id", &one);
    p->any_strings |= one.made != NULL;
    ok = ok && plot_open(p, one.made ? one.made : in->strings,
                         one.made ? 0 : one.number);
    int status = ok ? make(p, in, filtering) : EXIT_ERROR;
    selected_string_deinit(&one);
    return status;
}

static int plot_once(struct plot *p)
{
    struct inputs in;
    struct filtering filtering = { 0 };
    if (!filtering_open(&filtering, &p->o->filter))
        return EXIT_ERROR;
    inputs_open(&in, p->o, message_finding, NULL);
    inputs_want_buffers(&in, "; 'printfdecode strings' lists format strings");
    int status =
        in.failed && !in.n_buffers ? EXIT_ERROR : run(p, &in, &filtering);
    filtering_end(&filtering, in.strings);
    inputs_close(&in);
    return filtering_close(&filtering, status);
}

/* The plot as the options say it, but for its strings. */
static void fill_spec(struct plot *p)
{
    const struct options *o = p->o;
    bool counts =
        p->kind == PFD_PLOT_HEAT && !own(o)->value && !own(o)->has_reducer;
    bool density = p->kind == PFD_PLOT_SCATTER && !own(o)->has_scale;
    p->spec = (struct pfd_plot_spec){
        .kind = p->kind,
        .x = own(o)->x,
        .y = own(o)->y,
        .value = own(o)->value,
        .by = own(o)->by,
        .reducer = counts ? PFD_REDUCE_COUNT : own(o)->reducer,
        .scale = density ? PFD_SCALE_LOG : own(o)->scale,
        .x_range = own(o)->x_range,
        .y_range = own(o)->y_range,
        .range = own(o)->range,
        .cells = own(o)->cells,
        .pixel = own(o)->pixel,
        .bare = own(o)->bare,
        .dark = own(o)->dark,
        .map = own(o)->map,
    };
}

static int plot_run(const struct options *options)
{
    struct plot_options all = *own(options);
    struct options *o = &all.common;
    struct plot p = { .o = o, .live = all.live };
    if (!read_kind(options, &p.kind) || !find_form(&p))
        return EXIT_ERROR;
    fill_spec(&p);
    o->files++; /* the first operand is the plot's kind, not a file */
    o->n_files--;
    if (!p.live && (o->live.has_until_idle || o->live.has_settle)) {
        message_error("--until-idle and --settle are for --live");
        return EXIT_ERROR;
    }
    int status = p.live ? plot_live(&p) : plot_once(&p);
    pfd_plot_free(p.plot);
    return status;
}

static bool set_output(struct options *o, const struct option_row *row,
                       const char *text)
{
    struct pfd_plot_output output;
    char list[OPTION_LIST] = "";
    (void)row;
    for (size_t i = 0; pfd_plot_output_get(i, &output) == PFD_OK; i++) {
        option_list(list, "", output.name);
        if (!strcmp(text, output.name)) {
            o->output = output.name;
            return true;
        }
    }
    message_error("no such output: '%s'; 'plot' has: %s", text, list);
    return false;
}

/* Words of enum pfd_reducer, in its order. */
static bool set_reducer(struct options *options, const struct option_row *row,
                        const char *text)
{
    static const char *const words[] = { "last", "first", "count", "sum", "min",
                                         "max",  "mean",  "nan",   NULL };
    struct plot_options *o = (struct plot_options *)options;
    int i = option_find_word(words, text);
    (void)row;
    if (i < 0) {
        return option_wrong(
            "not last, first, count, sum, min, max, mean or nan:", text);
    }
    o->reducer = (enum pfd_reducer)i;
    o->has_reducer = true;
    return true;
}

static bool set_scale(struct options *options, const struct option_row *row,
                      const char *text)
{
    static const char *const words[] = { "linear", "log", "equal", NULL };
    struct plot_options *o = (struct plot_options *)options;
    int i = option_find_word(words, text);
    (void)row;
    if (i < 0)
        return option_wrong("not linear, log or equal:", text);
    o->scale = (enum pfd_plot_scale)i;
    o->has_scale = true;
    return true;
}

static bool set_live(struct options *o, const struct option_row *row,
                     const char *text)
{
    enum {
        USUAL = 4,
        MOST = 100
    };
    uint64_t *live = option_member(o, row);
    char *end = NULL;
    *live = USUAL;
    o->follows = true;
    if (!text)
        return true;
    *live = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return (*live >= 1 && *live <= MOST && !*end) ||
           option_wrong("--live is so many times a second, 1 to 100, not",
                        text);
}

static const struct option_row rows[] = {
    { "output", 'o', "FORM",
      "png, svg; on a terminal blocks, braille, sixel or kitty",
      offsetof(struct options, output), set_output, false },
    { "to", 0, "FILE", "where to write; its name's end chooses the form",
      offsetof(struct options, to), option_output_file, false },
    { "x", 0, "COLUMN",
      "by its name or number: across (line: index, where it is not said)",
      offsetof(struct plot_options, x), option_text, false },
    { "y", 0, "COLUMN", "up; of heat pictures down, as in images",
      offsetof(struct plot_options, y), option_text, false },
    { "value", 0, "COLUMN",
      "heat: what is coloured (default: how many entries there are)",
      offsetof(struct plot_options, value), option_text, false },
    { "by", 0, "COLUMN", "a panel for each of its values",
      offsetof(struct plot_options, by), option_text, false },
    { "reduce", 0, "HOW",
      "several values of a cell: last (default), first, count, sum, min, max, mean, nan (how many are)",
      offsetof(struct plot_options, reducer), set_reducer, false },
    { "scale", 0, "HOW",
      "linear (default), log, or equal: each colour for as many cells",
      offsetof(struct plot_options, scale), set_scale, false },
    { "x-range", 0, "A:B", "only from A to B (default: as wide as it comes)",
      offsetof(struct plot_options, x_range), option_text, false },
    { "y-range", 0, "A:B", "likewise", offsetof(struct plot_options, y_range),
      option_text, false },
    { "range", 0, "A:B",
      "what the first and the last colour stand for; either may be missing",
      offsetof(struct plot_options, range), option_text, false },
    { "cells", 0, "N", "no more than N in a row or column",
      offsetof(struct plot_options, cells), option_positive, false },
    { "pixel", 0, "N", "a cell is N pixels wide and high",
      offsetof(struct plot_options, pixel), option_positive, false },
    { "bare", 0, NULL, "heat: the file is the cells themselves, one pixel each",
      offsetof(struct plot_options, bare), option_flag, false },
    { "map", 0, "NAME", "colours: tide (default), ember, grey, balance",
      offsetof(struct plot_options, map), option_text, false },
    { "dark", 0, NULL, "on black", offsetof(struct plot_options, dark),
      option_flag, false },
    { "live", 0, OPTION_OPTIONAL,
      "follow the files, and draw it again N times a second at most (=N)",
      offsetof(struct plot_options, live), set_live, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,
    OPTIONS_READING,
    &options_filter,
    &options_skip,
    &options_limit,
    &options_live,
    &options_remote,
    &options_work,
    &options_force,
    OPTIONS_ENDING,
    NULL,
};

const struct verb verb_plot = {
    .name = "plot",
    .files = "heat|hist|scatter|line BUFFER [FILE...]",
    .help = "arguments as a picture: a file, or on the terminal",
    .run = plot_run,
    .groups = groups,
    .size = sizeof(struct plot_options),
};
