/* SPDX-License-Identifier: MIT */
/* printfdecode inspect: shows a buffer dword by dword, for driver
 * developers. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/input.h"
#include "input/open_inputs.h"
#include "inspect_dwords.h"
#include "options.h"
#include "show/messages.h"
#include "show/output.h"

struct inspection {
    const struct options *options;
    const struct inputs *in;
    const struct inspect_form *form;
    uint64_t findings;
};

static bool is_there(const struct options *o, const struct buffer *b)
{
    size_t n = (b->n + 3) / 4;
    if (!o->has_at || o->at < n)
        return true;
    if (n) {
        message_error("%s: there is no dword %llu, the last is %zu", b->name,
                      (unsigned long long)o->at, n - 1);
    } else {
        message_error("%s: there is no dword, the buffer is empty", b->name);
    }
    return false;
}

static bool walk(struct inspection *x, const struct buffer *b)
{
    const struct options *o = x->options;
    struct inspect_wish wish = {
        .at = o->has_at ? o->at : UINT64_MAX,
        .entry = o->has_entry ? o->entry : UINT64_MAX,
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

int inspect_run(const struct options *o)
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
