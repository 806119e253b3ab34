/* SPDX-License-Identifier: MIT */
/* printfdecode inspect: shows a buffer dword by dword, for driver
 * developers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/input.h"
#include "input/open_inputs.h"
#include "inspect_dwords.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct inspect_options {
    struct options common;
    uint64_t at; /* a dword's index */
    bool has_at;
    uint64_t entry; /* an entry's index */
    bool has_entry;
};

static const struct inspect_options *own(const struct options *o)
{
    return (const struct inspect_options *)o;
}

struct inspection {
    const struct options *options;
    const struct inputs *in;
    const struct inspect_form *form;
    uint64_t findings;
};

static bool is_there(const struct options *o, const struct buffer *b)
{
    size_t n = (b->n + 3) / 4;
    if (!own(o)->has_at || own(o)->at < n)
        return true;
    if (n) {
        message_error("%s: there is no dword %llu, the last is %zu", b->name,
                      (unsigned long long)own(o)->at, n - 1);
    } else {
        message_error("%s: there is no dword, the buffer is empty", b->name);
    }
    return false;
}

static bool walk(struct inspection *x, const struct buffer *b)
{
    const struct options *o = x->options;
    struct inspect_wish wish = {
        .at = own(o)->has_at ? own(o)->at : UINT64_MAX,
        .entry = own(o)->has_entry ? own(o)->entry : UINT64_MAX,
        .unfolded = o->verbose,
        .is_mapped = b->is_mapped,
        .color = options_color(o, STDOUT_FILENO),
    };
    struct pfd_decoder *decoder = NULL;
    struct pfd_error err;
    uint64_t findings = 0;
    const char *format = NULL;
    struct pfd_options decoding;
    input_reading(o, b, &format, &decoding);
    enum pfd_status status =
        pfd_decoder_new(x->in->strings, format, b->name, &decoder, &err);
    if (status == PFD_OK) {
        pfd_decoder_set_options(decoder, &decoding, NULL);
        pfd_decoder_set_holes(decoder, b->holes, b->n_holes);
        pfd_decoder_set_missing(decoder, b->missing, b->n_missing);
        status = pfd_decoder_view(decoder, b->bytes, b->n, 0, true, &err);
    }
    bool ok = status == PFD_OK && inspect_show(decoder, b->name, b->bytes, b->n,
                                               x->form, &wish, &findings, &err);
    if (!ok)
        message_error("%s: %s", b->name, err.text);
    x->findings += findings;
    pfd_decoder_free(decoder);
    return ok;
}

static bool inspect(struct inspection *x, struct buffer *b)
{
    struct pfd_error err;
    if (input_is_missing(b))
        return true;
    /* Streams are read as a whole: an annotated listing is not meant for
     * gigabytes. */
    if (!input_map(b, &err)) {
        message_error("%s: %s", b->name, err.text);
        return false;
    }
    if (options_names(x->options, x->in->n_buffers))
        x->form->buffer(b->name);
    bool ok = is_there(x->options, b) && walk(x, b);
    input_unmap(b);
    return ok;
}

static int inspect_run(const struct options *o)
{
    struct inputs in;
    bool ok = true;
    bool json = o->output && !strcmp(o->output, "json");
    struct inspection x = { .options = o,
                            .in = &in,
                            .form = json ? &dwords_json : &dwords_text };
    inputs_open(&in, o, json ? output_finding : message_finding, NULL);
    inputs_want_buffers(&in, "");
    for (size_t i = 0; i < in.n_buffers; i++)
        ok = inspect(&x, &in.buffers[i]) && ok;
    ok = ok && !in.failed && !output_failed();
    x.findings += in.n_findings;
    inputs_close(&in);
    return !ok ? EXIT_ERROR : x.findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

/* Reads a place to inspect; fails if one was given already. */
static bool set_place(struct inspect_options *o, const char *text,
                      uint64_t *ret, bool *has)
{
    if (o->has_at || o->has_entry)
        return option_wrong("one --at or --entry is enough, not also", text);
    *has = option_read_place(text, ret);
    return *has;
}

static bool set_at(struct options *options, const struct option_row *row,
                   const char *text)
{
    struct inspect_options *o = (struct inspect_options *)options;
    (void)row;
    return set_place(o, text, &o->at, &o->has_at);
}

static bool set_entry(struct options *options, const struct option_row *row,
                      const char *text)
{
    struct inspect_options *o = (struct inspect_options *)options;
    (void)row;
    return set_place(o, text, &o->entry, &o->has_entry);
}

static const struct option_row rows[] = {
    { "at", 0, "DWORD",
      "only what stands there: its entry and what is around it", 0, set_at,
      false },
    { "entry", 0, "N", "only entry N, counted from 0", 0, set_entry, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,        &options_output, OPTIONS_READING,
    &options_filename, OPTIONS_ENDING,  NULL,
};

const struct verb verb_inspect = {
    .name = "inspect",
    .files = "BUFFER [FILE...]",
    .help = "walk through a buffer dword by dword, annotated",
    .run = inspect_run,
    .groups = groups,
    .size = sizeof(struct inspect_options),
};
