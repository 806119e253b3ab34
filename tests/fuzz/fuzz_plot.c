/* SPDX-License-Identifier: MIT */
/*
 * Entries of any format as pictures. Input: as any_format.h has it, and bytes
 * that choose the picture, its columns and ranges. Every entry is a point or
 * counted, a picture is the same when it is drawn again, and more entries do no
 * harm to one that was drawn.
 */
#include <string.h>

#include "analysis/plot/plot.h"
#include "any_format.h"
#include "core/base/text.h"
#include "core/decode/inspect.h"

static const char *const columns[] = { "0",    "1",    "2",           "index",
                                       "time", "lane", "workgroup.x", "a3" };
static const char *const ranges[] = { NULL, "0:10",
                                      ":5", "-1e300:1e300",
                                      "3:", "18446744073709551615:" };

enum {
    N_COLUMNS = sizeof columns / sizeof *columns,
    N_RANGES = sizeof ranges / sizeof *ranges,
};

static bool take(void *user, const void *bytes, size_t n)
{
    struct pfd_text *out = user;
    pfd_text_add(out, bytes, n);
    return !out->failed;
}

static bool drawn(struct pfd_plot *plot, const char *form, struct pfd_text *out)
{
    const struct pfd_plot_screen screen = { 24, 10, 192, 160 };
    struct pfd_error err = { 0 };
    out->n = 0;
    enum pfd_status status =
        pfd_plot_draw(plot, form, &screen, take, out, &err);
    FUZZ_CHECK(status == PFD_OK || status == PFD_ERR_USAGE ||
               status == PFD_ERR_UNSUPPORTED);
    FUZZ_CHECK(status == PFD_OK ? out->n > 0 : err.text[0] != '\0');
    return status == PFD_OK;
}

static void draw(struct pfd_plot *plot, unsigned how)
{
    struct pfd_plot_output form;
    struct pfd_text once = { 0 };
    struct pfd_text again = { 0 };
    size_t n = 0;
    while (pfd_plot_output_get(n, &form) == PFD_OK)
        n++;
    FUZZ_CHECK(pfd_plot_output_get(how % n, &form) == PFD_OK);
    bool ok = drawn(plot, form.name, &once);
    FUZZ_CHECK(ok == drawn(plot, form.name, &again));
    FUZZ_CHECK(!ok ||
               (once.n == again.n && !memcmp(once.data, again.data, once.n)));
    pfd_text_free(&once);
    pfd_text_free(&again);
}

static void add(const struct any_format *in, struct pfd_plot *plot,
                struct pfd_summary *sum)
{
    struct pfd_summary summary = { 0 };
    const struct pfd_convert how = {
        .strings = in->strings,
        .format = in->format,
        .options = &in->options,
        .threads = 1,
        .limit = UINT64_MAX,
        .row_time = 1,
        .consumer = pfd_plot_consumer(plot),
    };
    FUZZ_CHECK(pfd_convert_bytes(&how, in->buffer.base, in->buffer.n, &summary,
                                 NULL) == PFD_OK);
    pfd_summary_add(sum, &summary);
}

static const char *column(struct pfd_byte_reader *rest)
{
    return columns[pfd_byte_reader_u8(rest) % N_COLUMNS];
}

static const char *range(struct pfd_byte_reader *rest)
{
    return ranges[pfd_byte_reader_u8(rest) % N_RANGES];
}

static void plot(struct any_format *in)
{
    struct pfd_byte_reader *rest = &in->rest;
    struct pfd_summary sum = { 0 };
    struct pfd_plot_counts c;
    struct pfd_plot *made = NULL;
    unsigned how = pfd_byte_reader_u8(rest);
    unsigned what = pfd_byte_reader_u8(rest);
    bool is_flat = (how & 3) == PFD_PLOT_HIST;
    const struct pfd_plot_spec spec = {
        .strings = in->strings,
        .string = what & 1 ? pfd_byte_reader_u8(rest) : SIZE_MAX,
        .kind = (enum pfd_plot_kind)(how & 3),
        .x = column(rest),
        .y = is_flat ? NULL : column(rest),
        .value = (how & 3) == PFD_PLOT_HEAT ? column(rest) : NULL,
        .by = what & 2 ? column(rest) : NULL,
        .reducer = (enum pfd_reducer)(how >> 2 & 7),
        .scale = (enum pfd_plot_scale)((how >> 5) % 3),
        .x_range = range(rest),
        .y_range = is_flat ? NULL : range(rest),
        .cells = what & 4 ? 64 : 5,
        .bare = what & 8 && !(what & 2),
        .dark = what & 16,
    };
    struct pfd_error err = { 0 };
    enum pfd_status status = pfd_plot_new(&spec, &made, &err);
    if (status != PFD_OK) {
        FUZZ_CHECK(status == PFD_ERR_USAGE && err.text[0]);
        return;
    }
    for (int i = 0; i < 2; i++) {
        add(in, made, &sum);
        draw(made, what >> 5);
        pfd_plot_counts(made, &c);
        FUZZ_CHECK(c.points + c.unknown + c.others + c.without + c.texts +
                       c.nowhere + c.outside + c.unpanelled ==
                   sum.entries);
    }
    pfd_plot_free(made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct any_format in;
    if (!any_format_read(&in, data, n))
        return 0;
    plot(&in);
    pfd_strings_free(in.strings);
    return 0;
}
