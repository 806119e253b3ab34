/* SPDX-License-Identifier: MIT */
/* printfdecode diff: what two runs print differently. */
#include "analysis/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "input/convert_inputs.h"
#include "input/filter.h"
#include "input/open_inputs.h"
#include "options/word_list.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* Exit statuses, as diff(1) has them. */
enum {
    STATUS_EQUAL = 0,
    STATUS_DIFFERENT = 1,
    STATUS_TROUBLE = 2,
};

enum {
    EXAMPLES = 3 /* of each kind, if no number is given */
};

/* The verb's values. */
struct diff_options {
    struct options common;
    struct words by;
    struct words ignored;
    struct words strings_a; /* code of one side alone */
    struct words strings_b;
    double absolute;
    double relative;
    uint64_t memory_max;
    uint64_t n_examples;
    bool has_examples;
};

static const struct diff_options *own(const struct options *o)
{
    return (const struct diff_options *)o;
}

/* One of both runs. */
struct side {
    const struct options *given; /* the command line */
    struct options o;            /* with the files of this side */
    struct inputs in;
    struct pfd_summary total;
    uint64_t opened[PFD_N_FINDING_KINDS]; /* findings of opening files */
    bool is_second; /* findings in files of both sides were printed already */
};

struct diff {
    const struct options *o;
    struct filtering filtering;
    struct word_list by;
    struct word_list ignored;
    struct side sides[PFD_DIFF_SIDES];
    struct pfd_diff *diff;
};

/* ---- files ---- */

/* May it be one of the runs? */
static bool is_operand(const struct file *file)
{
    return (file->role == ROLE_BY_CONTENT || file->role == ROLE_BUFFER) &&
           !file->found && !file->beside;
}

/* The files of a side: its run, and all that are no run. */
static void choose_files(struct side *side, size_t number,
                         const struct words *strings)
{
    const struct options *given = side->given;
    size_t n_runs = 0;
    side->o = *given;
    side->o.files = NULL;
    side->o.n_files = 0;
    for (size_t i = 0; i < given->n_files; i++) {
        const struct file *file = &given->files[i];
        bool is_run = is_operand(file) && n_runs < PFD_DIFF_SIDES;
        if (is_run && n_runs++ != number)
            continue;
        *options_add_file(&side->o, file->path, file->role) = *file;
    }
    for (size_t i = 0; i < strings->n; i++)
        options_add_file(&side->o, strings->all[i], ROLE_STRINGS);
}

/* Is it a file of both sides? */
static bool is_common(const struct options *given, const char *path)
{
    size_t n_runs = 0;
    for (size_t i = 0; i < given->n_files; i++) {
        const struct file *file = &given->files[i];
        if (is_operand(file) && n_runs++ < PFD_DIFF_SIDES)
            continue;
        if (!strcmp(file->path, path))
            return true;
    }
    return false;
}

static void take_finding(void *user, const struct pfd_finding *finding)
{
    struct side *side = user;
    side->opened[finding->kind] += finding->count ? finding->count : 1;
    if (!side->is_second || !is_common(side->given, finding->source))
        message_finding(NULL, finding);
}

static bool open_side(struct diff *d, enum pfd_diff_side number)
{
    struct side *side = &d->sides[number];
    side->given = d->o;
    side->is_second = number == PFD_DIFF_B;
    choose_files(side, number,
                 side->is_second ? &own(d->o)->strings_b
                                 : &own(d->o)->strings_a);
    inputs_open(&side->in, &side->o, take_finding, side);
    inputs_want_buffers(&side->in, side->is_second
                                       ? ": the second one is B"
                                       : ": the first one is A, and then B");
    return !side->in.failed || d->o->reading.keep_going;
}

/* ---- entries ---- */

/* What a conversion is for. */
struct reading {
    struct diff *diff;
    enum pfd_diff_side side;
};

static void begin_buffer(void *user, struct pfd_convert *convert,
                         const struct buffer *buffer)
{
    const struct reading *r = user;
    const struct inputs *in = &r->diff->sides[r->side].in;
    (void)convert;
    pfd_diff_begin(r->diff->diff, r->side, (uint32_t)(buffer - in->buffers));
}

static bool read_side(struct diff *d, enum pfd_diff_side number)
{
    struct side *side = &d->sides[number];
    struct reading reading = { d, number };
    struct pfd_convert convert = {
        .strings = side->in.strings,
        .format = d->o->reading.format,
        .options = &d->o->reading.decoding,
        .threads = d->o->threads,
        .filter = d->filtering.filter,
        .n_emitted = &d->filtering.n_given,
        .n_doubts = &d->filtering.n_doubts,
        .consumer = pfd_diff_consumer(d->diff),
    };
    pfd_diff_begin(d->diff, number, 0);
    for (size_t i = 0; i < PFD_N_FINDING_KINDS; i++) {
        struct pfd_finding finding = { .kind = (enum pfd_finding_kind)i,
                                       .count = side->opened[i] };
        if (finding.count)
            pfd_diff_add_finding(d->diff, &finding);
    }
    side->in.heard = pfd_diff_add_finding;
    side->in.heard_user = d->diff;
    bool ok = inputs_map_streams(&side->in) &&
              convert_each(&side->o, &side->in, &convert, &side->total,
                           begin_buffer, &reading);
    pfd_diff_set_summary(d->diff, number, &side->total);
    return ok;
}

/* Reads the lines of examples. */
static bool read_examples(struct diff *d, enum pfd_diff_side number)
{
    struct side *side = &d->sides[number];
    bool is_json = d->o->output && !strcmp(d->o->output, "json");
    bool ok = true;
    for (size_t i = 0; ok && i < side->in.n_buffers; i++) {
        struct pfd_summary summary = { 0 };
        struct pfd_convert convert = {
            .strings = side->in.strings,
            .format = d->o->reading.format,
            .options = &d->o->reading.decoding,
            .threads = d->o->threads,
            .consumer = pfd_diff_consumer(d->diff),
            .output = is_json ? "json" : "text",
            .finding_marks = true,
            .show = PFD_SHOW_LINE | PFD_SHOW_ORIGIN |
                    (side->in.n_buffers > 1 ? PFD_SHOW_SOURCE : 0),
        };
        convert.ranges =
            pfd_diff_examples(d->diff, number, (uint32_t)i, &convert.n_ranges);
        if (!convert.ranges) {
            message_error("out of memory");
            return false;
        }
        pfd_diff_begin(d->diff, number, (uint32_t)i);
        if (convert.n_ranges) {
            ok = convert_quietly(&side->o, &convert, &side->in.buffers[i],
                                 &summary);
        }
    }
    return ok;
}

static bool print(struct diff *d)
{
    struct pfd_text out = { 0 };
    bool is_json = d->o->output && !strcmp(d->o->output, "json");
    bool ok =
        pfd_diff_write(d->diff, is_json, options_color(d->o, STDOUT_FILENO),
                       &out) == PFD_OK;
    if (ok) {
        output_write(NULL, out.data, out.n);
    } else {
        message_error("out of memory");
    }
    pfd_text_free(&out);
    return ok;
}

/* Names of conditions are known if either side knows them. */
static void end_filtering(struct diff *d)
{
    struct pfd_error err;
    const struct pfd_strings *a = d->sides[PFD_DIFF_A].in.strings;
    bool in_a = !d->filtering.filter ||
                pfd_filter_check(d->filtering.filter, a, &err) == PFD_OK;
    filtering_end(&d->filtering, in_a ? a : d->sides[PFD_DIFF_B].in.strings);
}

static int compare(struct diff *d)
{
    const struct diff_options *o = own(d->o);
    struct pfd_error err;
    const struct pfd_diff_spec spec = {
        .strings = { d->sides[0].in.strings, d->sides[1].in.strings },
        .by = (const char *const *)d->by.all,
        .n_by = d->by.n,
        .ignored = (const char *const *)d->ignored.all,
        .n_ignored = d->ignored.n,
        .absolute = o->absolute,
        .relative = o->relative,
        .n_bytes_max = o->memory_max,
        .n_examples = o->has_examples ? o->n_examples : (uint64_t)EXAMPLES,
    };
    if (pfd_diff_new(&spec, &d->diff, &err) != PFD_OK) {
        message_error("%s", err.text);
        return STATUS_TROUBLE;
    }
    bool ok = read_side(d, PFD_DIFF_A) && read_side(d, PFD_DIFF_B);
    enum pfd_status status = ok ? pfd_diff_end(d->diff, &err) : PFD_ERR_IO;
    end_filtering(d);
    if (ok && status != PFD_OK) {
        message_error("%s%s", err.text,
                      status == PFD_ERR_UNSUPPORTED ? " (--memory-max)" : "");
    }
    ok = ok && status == PFD_OK && !d->filtering.is_wrong &&
         read_examples(d, PFD_DIFF_A) && read_examples(d, PFD_DIFF_B) &&
         print(d);
    return !ok                          ? STATUS_TROUBLE
           : pfd_diff_is_equal(d->diff) ? STATUS_EQUAL
                                        : STATUS_DIFFERENT;
}

/* Equal losses are no difference, but the lost entries were not compared. */
static void hint_losses(const struct diff *d)
{
    const struct pfd_summary *a = &d->sides[PFD_DIFF_A].total;
    const struct pfd_summary *b = &d->sides[PFD_DIFF_B].total;
    uint64_t lost = a->lost_bytes + b->lost_bytes;
    uint64_t skipped = a->skipped_bytes + b->skipped_bytes;
    if (lost || skipped) {
        message_hint("%llu bytes that were lost and %llu that cannot be read "
                     "are not compared",
                     (unsigned long long)lost, (unsigned long long)skipped);
    }
}

static bool check_operands(const struct options *o)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n_files; i++)
        n += is_operand(&o->files[i]);
    if (n < PFD_DIFF_SIDES) {
        message_error("two runs are compared: dumps or captures A and B come "
                      "first, code objects behind them");
        return false;
    }
    return true;
}

static int diff_run(const struct options *o)
{
    struct diff d = { .o = o };
    int status = STATUS_TROUBLE;
    if (!check_operands(o) || !filtering_open(&d.filtering, &o->filter))
        return status;
    bool ok = word_list_split(&own(o)->by, &d.by) &&
              word_list_split(&own(o)->ignored, &d.ignored);
    bool a = open_side(&d, PFD_DIFF_A);
    bool b = open_side(&d, PFD_DIFF_B);
    if (ok && a && b)
        status = compare(&d);
    if (status != STATUS_TROUBLE)
        hint_losses(&d);
    if (d.sides[0].in.failed || d.sides[1].in.failed || d.filtering.is_wrong ||
        output_failed())
        status = STATUS_TROUBLE;
    status = filtering_close(&d.filtering, status);
    pfd_diff_free(d.diff);
    for (size_t i = 0; i < PFD_DIFF_SIDES; i++) {
        inputs_close(&d.sides[i].in);
        free(d.sides[i].o.files);
    }
    word_list_free(&d.by);
    word_list_free(&d.ignored);
    return d.filtering.is_wrong ? STATUS_TROUBLE : status;
}

/* ---- the command line ---- */

/* "0.001", "0.1%", or both, with a comma. */
static bool set_tolerance(struct options *o, const struct option_row *row,
                          const char *text)
{
    struct diff_options *d = (struct diff_options *)o;
    (void)row;
    for (const char *at = text; at; at = strchr(at, ',')) {
        char *end = NULL;
        at += *at == ',';
        errno = 0;
        double value = strtod(at, &end);
        bool is_share = end > at && *end == '%';
        end += is_share;
        if (end == at || errno || (*end && *end != ',') || !isfinite(value) ||
            value < 0) {
            return option_wrong("not a tolerance, as 1e-6, 0.1% or "
                                "1e-6,0.1%:",
                                text);
        }
        *(is_share ? &d->relative : &d->absolute) =
            is_share ? value / 100 : value;
    }
    return true;
}

static bool set_examples(struct options *o, const struct option_row *row,
                         const char *text)
{
    ((struct diff_options *)o)->has_examples = true;
    return option_number(o, row, text);
}

#define AT(member) offsetof(struct diff_options, member)

static const struct option_row rows[] = {
    { "by", 0, "NAMES",
      "pair entries of a format string by these arguments or origins, or by "
      "index; with commas between",
      AT(by), option_words, true },
    { "ignore", 0, "NAMES", "arguments that may differ; with commas between",
      AT(ignored), option_words, true },
    { "tolerance", 0, "SIZE",
      "floats are equal up to this difference, as 1e-6, or share, as 0.1%; "
      "1e-6,0.1%: up to either",
      AT(absolute), set_tolerance, false },
    { "examples", 0, "N",
      "entries to show of each format string: N pairs, N of A, N of B "
      "(default: 3)",
      AT(n_examples), set_examples, false },
    { "strings-a", 0, "FILE", "code objects of A alone; repeatable",
      AT(strings_a), option_input_files, true },
    { "strings-b", 0, "FILE", "code objects of B alone; repeatable",
      AT(strings_b), option_input_files, true },
    { "memory-max", 0, "BYTES", "memory for different entries (default: 1GiB)",
      AT(memory_max), option_bytes, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,
    &options_output,
    &options_strings,
    &options_buffers,
    &options_decoding,
    &options_decoding_text,
    &options_search,
    &options_filter,
    &options_work,
    OPTIONS_ENDING,
    NULL,
};

const struct verb verb_diff = {
    .name = "diff",
    .files = "A B [FILE...]",
    .help = "what two runs print differently",
    .run = diff_run,
    .groups = groups,
    .size = sizeof(struct diff_options),
    .error_status = STATUS_TROUBLE,
    .statuses = "0 both are equal, 1 they differ, 2 an error, 3 nothing passes "
                "the filter",
};
