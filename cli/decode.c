/* SPDX-License-Identifier: MIT */
/* printfdecode decode: what the buffers say. */
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "run.h"
#include "tell.h"

/* The line's own end does not count, so that $ means the message's. */
static bool matches(void *user, const char *message, size_t n)
{
    const struct options *o = user;
    regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)n };
    if (n && message[n - 1] == '\n')
        range.rm_eo--;
    return !regexec(&o->match, message, 1, &range, REG_STARTEND);
}

int decode_run(const struct options *o)
{
    struct inputs in;
    struct pfd_summary total = { 0 };
    bool json = o->output && !strcmp(o->output, "json");

    inputs_open(&in, o, json ? output_finding : tell_finding, NULL);
    if (in.n_buffers == 0 && !in.failed) {
        tell_error("no buffer among the files; "
                   "'printfdecode strings' lists format strings");
        in.failed = true;
    }
    struct pfd_convert convert = {
        .strings = in.strings,
        .format = o->format,
        .options = o->decoding,
        .origin = o->verbose,
        .output = o->output ? o->output : "text",
        .threads = o->threads,
        .ids = o->ids,
        .n_ids = o->n_ids,
        .skip = o->skip,
        .limit = o->limit,
        .color = options_color(o, STDOUT_FILENO),
        .marks = options_marks(o),
        .write = output_write,
        .match = o->has_match ? matches : NULL,
        .match_user = (void *)(uintptr_t)o,
    };
    bool ok = run_buffers(o, &in, &convert, &total) && !in.failed;
    total.findings += in.n_findings;
    if (in.n_buffers && (total.findings || o->verbose))
        tell_summary(&total);
    ok = ok && !output_failed();
    inputs_close(&in);
    if (!ok)
        return EXIT_ERROR;
    return total.findings ? EXIT_FINDINGS : EXIT_CLEAN;
}
