/* SPDX-License-Identifier: MIT */
#include "file_doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/strings.h>

#include "core/decode/string_loader.h"
#include "core/spirv/spirv.h"
#include "input/code_source.h"
#include "input/convert_inputs.h"
#include "input/filter.h"
#include "show/fields.h"
#include "show/messages.h"

enum {
    WHY_BYTES = 512
};

static void need_memory(enum pfd_status status)
{
    if (status == PFD_ERR_NOMEM)
        exit_without_memory();
}

/* ---- buffers ---- */

/* What a buffer is found to be. */
struct buffer_state {
    const struct buffer *buffer;
    const char *format; /* NULL: unknown */
    struct pfd_summary total;
    uint64_t n_passed;   /* by the filter */
    char why[WHY_BYTES]; /* it is none; empty: it is one */
};

static void hear(void *user, const struct pfd_finding *finding)
{
    struct buffer_state *s = user;
    if (finding->kind == PFD_FINDING_unknown_format ||
        finding->kind == PFD_FINDING_bad_header)
        snprintf(s->why, sizeof s->why, "%s", finding->text);
}

/* The format that is chosen for the buffer; NULL: none is, or it is a stream. */
static const char *format_of(const struct options *o, const struct inputs *in,
                             const struct buffer *b)
{
    enum {
        SEEN = 64 << 10
    };
    struct pfd_decoder *decoder = NULL;
    struct pfd_item *item;
    struct pfd_error err;
    const char *ret = NULL;
    bool is_all = b->n <= SEEN;
    if (!b->bytes)
        return NULL;
    enum pfd_status status = pfd_decoder_new(in->strings, o->reading.format,
                                             b->name, &decoder, &err);
    if (status == PFD_OK) {
        status = pfd_decoder_view(decoder, b->bytes, is_all ? b->n : SEEN, 0,
                                  is_all, &err);
    }
    if (status == PFD_OK)
        status = pfd_decoder_next(decoder, &item, &err);
    if (status >= 0)
        ret = pfd_decoder_format(decoder);
    need_memory(status);
    pfd_decoder_free(decoder);
    return ret;
}

static bool is_zero(const struct buffer *b)
{
    const char *bytes = b->bytes;
    return bytes && b->n && !bytes[0] && !memcmp(bytes, bytes + 1, b->n - 1);
}

static void show_buffer(const struct buffer_state *s, bool is_json)
{
    const struct buffer *b = s->buffer;
    struct fields f;
    fields_begin_facts(&f, is_json, b->name);
    fields_text(&f, "format", *s->why ? NULL : s->format);
    if (b->bytes)
        fields_number(&f, "bytes", b->n);
    fields_number(&f, "entries", s->total.entries);
    fields_count(&f, "unknown", s->total.unknown);
    fields_count(&f, "lost_bytes", s->total.lost_bytes);
    fields_count(&f, "skipped_bytes", s->total.skipped_bytes);
    fields_count(&f, "findings", s->total.findings);
    fields_end(&f);
}

static void judge_ids(const struct buffer_state *s, const struct inputs *in,
                      struct diagnosis *d)
{
    const char *name = s->buffer->name;
    unsigned long long unknown = s->total.unknown;
    unsigned long long entries = s->total.entries;
    if (!unknown)
        return;
    if (!pfd_strings_count(in->strings)) {
        char *word = command_word(name);
        fault_command(
            diagnosis_add(d, name, "no_strings",
                          "%s: no format strings are given for its "
                          "%llu entries",
                          name, entries),
            "printfdecode %s APP.elf (the code object of the pipeline "
            "that ran)",
            word);
        free(word);
    } else if (unknown == entries) {
        diagnosis_add(
            d, name, "other_strings",
            "%s: none of the ids of its %llu entries is in the files: "
            "their format strings are those of another build, or of "
            "another pipeline",
            name, entries);
    } else {
        diagnosis_add(d, name, "unknown_ids",
                      "%s: %llu of its %llu entries have ids that are not in "
                      "the files: code objects are missing",
                      name, unknown, entries);
    }
}

static void judge_buffer(const struct buffer_state *s, const struct inputs *in,
                         bool is_filtered, struct diagnosis *d)
{
    const struct buffer *b = s->buffer;
    unsigned long long lost = s->total.lost_bytes;
    if (is_zero(b)) {
        diagnosis_add(d, b->name, "zeros",
                      "%s: all of it is zero: nothing was written, or it is "
                      "another buffer",
                      b->name);
    } else if (*s->why) {
        diagnosis_add(d, b->name, "no_buffer", "%s: %s", b->name, s->why);
    } else if (!s->total.entries && !lost) {
        diagnosis_add(
            d, b->name, "no_entries",
            "%s: nothing was written into it: no shader printed, or it "
            "is another buffer",
            b->name);
    }
    judge_ids(s, in, d);
    if (lost) {
        unsigned long long enough = b->n + lost;
        struct fault *fault = diagnosis_add(
            d, b->name, "buffer_small",
            "%s: %llu bytes are lost: it is too small, and %llu bytes "
            "would have held all",
            b->name, lost, enough);
        if (s->format && !strcmp(s->format, "debugprintf")) {
            fault_command(fault,
                          "printfdecode run --vulkan-debug-printf "
                          "--buffer-bytes %llu -- ./app",
                          enough);
        }
    }
    if (is_filtered && s->total.entries && !s->n_passed) {
        fault_command(diagnosis_add(d, b->name, "filtered",
                                    "%s: none of its %llu entries passes the "
                                    "filter",
                                    b->name,
                                    (unsigned long long)s->total.entries),
                      "printfdecode (without --match, --where, --id and "
                      "--format-string)");
    }
}

static bool look_at_buffer(const struct options *o, struct inputs *in,
                           struct buffer *b, bool is_json, struct diagnosis *d)
{
    struct buffer_state s = { .buffer = b };
    struct filtering filtering;
    if (!filtering_open(&filtering, &o->filter))
        return false;
    struct pfd_convert convert = {
        .strings = in->strings,
        .filter = filtering.filter,
        .n_emitted = &s.n_passed,
        .format = o->reading.format,
        .options = &o->reading.decoding,
        .finding = hear,
        .finding_user = &s,
    };
    bool ok = convert_quietly(o, &convert, b, &s.total);
    bool is_filtered = filtering.filter != NULL;
    filtering_end(&filtering, in->strings);
    pfd_filter_free(filtering.filter);
    if (!ok || filtering.is_wrong)
        return false;
    s.format = b->format ? b->format : format_of(o, in, b);
    show_buffer(&s, is_json);
    judge_buffer(&s, in, is_filtered, d);
    return true;
}

/* ---- modules ---- */

static void count_silent(void *user, enum pfd_verdict verdict, const char *text)
{
    bool *is_silent = user;
    (void)text;
    *is_silent |= verdict == PFD_VERDICT_SILENT;
}

static void look_at_module(const struct pfd_spirv *module, const char *name,
                           bool is_json, struct diagnosis *d)
{
    struct fields f;
    size_t n = pfd_spirv_call_count(module);
    size_t n_silent = 0;
    for (size_t i = 0; i < n; i++) {
        bool is_silent = false;
        pfd_spirv_check(module, i, count_silent, &is_silent);
        n_silent += is_silent;
    }
    fields_begin_facts(&f, is_json, name);
    fields_number(&f, "calls", n);
    fields_count(&f, "silent_calls", n_silent);
    fields_end(&f);
    if (!n) {
        diagnosis_add(
            d, name, "no_calls",
            "%s: no debugPrintf is called in it: its source has none, "
            "or none that the compiler kept",
            name);
    } else if (n_silent) {
        char *word = command_word(name);
        fault_command(
            diagnosis_add(d, name, "silent_calls",
                          "%s: of %zu of its %zu calls of debugPrintf "
                          "the validation layer prints nothing",
                          name, n_silent, n),
            "printfdecode spirv-check %s", word);
        free(word);
    }
}

static bool uses_sets(const struct pfd_spirv *module)
{
    enum {
        OP_DECORATE = 71, /* SPIR-V, 3.52.3 */
        DESCRIPTOR_SET = 34
    };
    for (uint32_t k = 0; k < pfd_spirv_n_instructions(module); k++) {
        uint32_t n = 0;
        const uint32_t *words = pfd_spirv_words(module, k, &n);
        if ((words[0] & 0xffff) == OP_DECORATE && n > 2 &&
            words[2] == DESCRIPTOR_SET)
            return true;
    }
    return false;
}

/* Some validation layers bind their own set by the layout that was bound last,
 * which does not fit a pipeline without sets. */
static void look_at_sets(const struct pfd_strings *strings, struct diagnosis *d)
{
    const struct pfd_spirv *module;
    const char *name = NULL;
    const char *with = NULL;    /* a module that uses a set, */
    const char *without = NULL; /* and one that prints and uses none */
    uint32_t id;
    for (size_t i = 0;
         pfd_strings_shader(strings, i, &id, &name, &module) == PFD_OK; i++) {
        bool uses = uses_sets(module);
        with = uses && !with ? name : with;
        without =
            !uses && !without && pfd_spirv_call_count(module) ? name : without;
    }
    if (!with || !without)
        return;
    struct fault *fault = diagnosis_add(
        d, without, "no_sets",
        "%s: it uses no descriptor set, and %s does: while that one's is bound, "
        "some validation layers (1.3.296) print nothing of the other",
        without, with);
    fault->is_advice = true;
    fault_command(fault, "vkCmdBindPipeline and vkCmdDispatch of it before "
                         "vkCmdBindDescriptorSets of the other");
}

/* ---- code objects ---- */

struct objects {
    uint64_t n;
    uint64_t n_strings;
    uint64_t n_hostcall; /* that print by hostcall, if at all */
    char why_none[WHY_BYTES];
    bool is_device; /* one of them is device code */
};

static enum pfd_status take_object(void *user, const struct pfd_object_info *o)
{
    struct objects *x = user;
    bool is_hostcall = false;
    for (size_t i = 0; i < o->n_kernels; i++)
        is_hostcall |= o->kernels[i].hostcall_buffer != PFD_NO_OFFSET;
    x->n++;
    x->n_strings += o->n_strings;
    x->n_hostcall += is_hostcall && !o->n_strings;
    x->is_device |= o->os != NULL;
    if (o->why_none && o->os)
        snprintf(x->why_none, sizeof x->why_none, "%s", o->why_none);
    return PFD_OK;
}

static void judge_objects(const struct objects *x, const char *path,
                          struct diagnosis *d)
{
    if (x->n_hostcall) {
        fault_command(
            diagnosis_add(
                d, path, "hostcall",
                "%s: its kernels print through hostcall, which needs "
                "a host thread and PCIe atomics: without them nothing "
                "is printed",
                path),
            "hipcc -mprintf-kind=buffered ...");
    } else if (x->is_device && !x->n_strings) {
        diagnosis_add(d, path, "no_table", "%s: it has no format strings: %s",
                      path, x->why_none);
    }
}

static void look_at_objects(const struct options *o, const char *path,
                            bool is_json, struct diagnosis *d)
{
    uint64_t max = o->reading.max_inflated;
    struct objects x = { 0 };
    struct code_source source;
    struct pfd_error err;
    struct fields f;
    enum pfd_status status =
        code_source_open(&source, path, max, NULL, NULL, &err);
    if (status == PFD_OK) {
        status =
            code_source_read(&source, max, take_object, &x, NULL, NULL, &err);
    }
    need_memory(status);
    if (status == PFD_OK && x.is_device) {
        fields_begin_facts(&f, is_json, path);
        fields_number(&f, "objects", x.n);
        fields_number(&f, "format_strings", x.n_strings);
        fields_count(&f, "hostcall_objects", x.n_hostcall);
        fields_end(&f);
        judge_objects(&x, path, d);
    }
    code_source_close(&source);
}

/* ---- all of them ---- */

bool file_doctor(const struct options *options, struct inputs *inputs,
                 bool is_json, struct diagnosis *d)
{
    const struct pfd_spirv *module;
    const char *name = NULL;
    uint32_t id;
    bool ok = true;
    for (size_t i = 0; i < options->n_files; i++)
        look_at_objects(options, options->files[i].path, is_json, d);
    for (size_t i = 0;
         pfd_strings_shader(inputs->strings, i, &id, &name, &module) == PFD_OK;
         i++)
        look_at_module(module, name, is_json, d);
    look_at_sets(inputs->strings, d);
    for (size_t i = 0; i < inputs->n_buffers; i++) {
        ok = look_at_buffer(options, inputs, &inputs->buffers[i], is_json, d) &&
             ok;
    }
    return ok;
}
