/* SPDX-License-Identifier: MIT */
/* printfdecode info: describes files of any kind. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/capture.h>
#include <printfdecode/wire.h>

#include "core/decode/inspect.h"
#include "input/code_source.h"
#include "memory/space/core.h"
#include "options/options.h"
#include "show/fields.h"
#include "show/messages.h"
#include "show/output.h"
#include "stream/capture/capture.h"
#include "stream/capture/wire.h"
#include "verb.h"

struct info {
    const struct options *options;
    bool json;
    pfd_finding_fn hear; /* called with this struct as its user */
    uint64_t n_findings;
    bool is_split; /* the code of this file is in others, which come, too */
};

static bool describe_capture(struct info *x, const struct code_source *s);

static void hear(void *user, const struct pfd_finding *finding)
{
    struct info *x = user;
    if (x->is_split && finding->kind == PFD_FINDING_no_format_strings)
        return;
    bool note = pfd_finding_is_note(finding->kind);
    x->n_findings += !note;
    if (!note || x->options->verbose)
        message_finding(NULL, finding);
}

/* ---- cores ---- */

static void show_exceptions(struct fields *f, uint64_t status)
{
    char text[512];
    fields_hex(f, "exception_status", status);
    pfd_core_exceptions(status, text, sizeof text);
    fields_text(f, "exceptions", *text ? text : NULL);
}

static void show_agents(struct fields *f, const struct pfd_core *core)
{
    struct pfd_core_agent a;
    for (size_t i = 0; pfd_core_agent(core, i, &a) == PFD_OK; i++) {
        fields_item(f, "devices", "device");
        fields_text(f, "target", *a.target ? a.target : NULL);
        fields_number(f, "gpu_id", a.gpu_id);
        fields_hex(f, "vendor_id", a.vendor_id);
        fields_hex(f, "device_id", a.device_id);
        fields_hex(f, "location_id", a.location_id);
        fields_count(f, "simds", a.simd_count);
        fields_count(f, "waves_per_simd", a.max_waves_per_simd);
        show_exceptions(f, a.exception_status);
        fields_item_end(f);
    }
}

static void show_queues(struct fields *f, const struct pfd_core *core)
{
    static const char *const types[] = { "compute", "copies", "aql",
                                         "copies between devices" };
    struct pfd_core_queue q;
    for (size_t i = 0; pfd_core_queue(core, i, &q) == PFD_OK; i++) {
        fields_item(f, "queues", "queue");
        fields_number(f, "queue", q.queue_id);
        fields_number(f, "gpu_id", q.gpu_id);
        fields_text(f, "type", q.type < 4 ? types[q.type] : NULL);
        fields_hex(f, "address", q.ring_address);
        fields_number(f, "bytes", q.ring_size);
        fields_count(f, "wave_bytes", q.wave_bytes);
        show_exceptions(f, q.exception_status);
        fields_item_end(f);
    }
}

static void show_core(struct info *x, const char *path,
                      const struct pfd_core *core)
{
    const struct pfd_core_info *c = pfd_core_info(core);
    struct fields f;
    fields_begin(&f, x->json, path, "core");
    fields_text(&f, "machine", c->machine);
    fields_text(&f, "process", c->command);
    fields_count(&f, "pid", c->pid);
    fields_count(&f, "signal", c->signal);
    fields_count(&f, "threads", c->n_threads);
    fields_number(&f, "bytes", c->n_bytes);
    fields_flag(&f, "compressed", c->is_compressed);
    fields_number(&f, "segments", c->n_segments);
    fields_number(&f, "memory_bytes", c->n_memory);
    fields_number(&f, "present_bytes", c->n_present);
    fields_number(&f, "mapped_files", c->n_files);
    fields_flag(&f, "gpus", c->has_gpus);
    if (c->r_debug)
        fields_hex(&f, "r_debug", c->r_debug);
    show_agents(&f, core);
    show_queues(&f, core);
    fields_end(&f);
    if (c->has_gpus) {
        message_hint(
            "%s: waves and their registers: rocgdb EXECUTABLE %s, then "
            "'info threads'; printfdecode --core reads the buffers",
            path, path);
    }
}

static bool info_core(struct info *x, const char *path)
{
    struct pfd_core *core = NULL;
    struct pfd_error err;
    if (pfd_core_open(path, x->options->reading.max_inflated, hear, x, &core,
                      &err) != PFD_OK) {
        message_error("%s: %s", path, err.text);
        return false;
    }
    show_core(x, path, core);
    pfd_core_close(core);
    return true;
}

/* ---- code ---- */

static enum pfd_status show_object(void *user, const struct pfd_object_info *o)
{
    struct fields *f = user;
    fields_item(f, "objects", "object");
    fields_text(f, "name", o->source);
    fields_text(f, "type", o->kind);
    fields_number(f, "bytes", o->n);
    fields_text(f, "os", o->os);
    fields_count(f, "version", o->version);
    fields_text(f, "target", o->target);
    fields_number(f, "kernels", o->n_kernels);
    fields_number(f, "format_strings", o->n_strings);
    fields_text(f, "why_none", o->why_none);
    fields_item_end(f);
    return PFD_OK;
}

static const char *kind_of(const void *bytes, size_t n)
{
    static const struct {
        const char *magic;
        size_t n;
        const char *kind;
    } kinds[] = {
        { "\177ELF", 4, "elf" },
        { "!<arch>\n", 8, "archive" },
        { "!<thin>\n", 8, "archive" },
        { "\003\002\043\007", 4, "spirv" },
        { "\007\043\002\003", 4, "spirv" },
        { "__CLANG_OFFLOAD_BUNDLE__", 24, "bundle" },
        { "CCOB", 4, "bundle" },
        { "\020\377\020\255", 4, "bundle" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (n >= kinds[i].n && !memcmp(bytes, kinds[i].magic, kinds[i].n))
            return kinds[i].kind;
    }
    return "strings";
}

static bool info_code(struct info *x, const struct code_source *s)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct fields f;
    struct pfd_error err = { .text = "out of memory" };
    enum pfd_status status = PFD_ERR_NOMEM;
    fields_begin(&f, x->json, s->path, kind_of(s->bytes, s->n));
    fields_number(&f, "bytes", s->n);
    fields_flag(&f, "compressed", s->inflated != NULL);
    if (strings) {
        pfd_strings_set_max_inflated(strings, x->options->reading.max_inflated);
        status =
            pfd_strings_load(strings, s->bytes, s->n, s->path, hear, x, &err);
        fields_number(&f, "strings", pfd_strings_count(strings));
    }
    if (status == PFD_OK) {
        /* A string table holds no code objects. */
        enum pfd_status read =
            code_source_read(s, x->options->reading.max_inflated, show_object,
                             &f, NULL, NULL, NULL);
        if (read == PFD_ERR_NOMEM)
            exit_without_memory();
    }
    fields_end(&f);
    pfd_strings_free(strings);
    if (status < 0)
        message_error("%s: %s", s->path, err.text);
    return status >= 0;
}

/* ---- buffers ---- */

static const char *meaning_of(int likelihood)
{
    return likelihood >= 80   ? "it could hardly be chance"
           : likelihood >= 60 ? "its header makes sense"
           : likelihood >= 40 ? "it may be"
                              : "little speaks against it";
}

static bool is_text(const uint8_t *bytes, size_t n)
{
    size_t i = 0;
    for (n = n < 256 ? n : 256; i < n; i++) {
        if (!(bytes[i] >= ' ' && bytes[i] < 0x7f) &&
            !(bytes[i] >= '\t' && bytes[i] <= '\r'))
            return false;
    }
    return n > 0;
}

/* How bytes would be read, without strings. */
struct reading {
    const char *format; /* NULL: they are not known to be a buffer */
    char why_none[256];
};

/* False: out of memory, which is told. */
static bool read_as(const struct code_source *s, struct reading *ret)
{
    enum {
        SEEN = (64 << 10) + 1
    };
    bool is_all = s->n <= SEEN;
    struct pfd_decoder *d = NULL;
    struct pfd_item *item;
    struct pfd_error err = { .text = "out of memory" };
    struct pfd_strings *none = pfd_strings_new();
    enum pfd_status status = PFD_ERR_NOMEM;
    if (none)
        status = pfd_decoder_new(none, NULL, s->path, &d, &err);
    if (status == PFD_OK) {
        status = pfd_decoder_view(d, s->bytes, is_all ? s->n : SEEN, 0, is_all,
                                  &err);
    }
    if (status == PFD_OK)
        status = pfd_decoder_next(d, &item, &err);
    if (status >= 0)
        ret->format = pfd_decoder_format(d);
    if (status == PFD_OK && !item->is_entry &&
        item->finding->kind == PFD_FINDING_unknown_format) {
        ret->format = NULL;
        snprintf(ret->why_none, sizeof ret->why_none, "%s",
                 item->finding->text);
    }
    pfd_decoder_free(d);
    pfd_strings_free(none);
    if (status < 0)
        message_error("%s: %s", s->path, err.text);
    return status >= 0;
}

static void show_formats(struct fields *f, const struct code_source *s)
{
    enum {
        WORTH_SAYING = 20
    };
    int likelihood = 0;
    const struct pfd_format_info *info;
    for (size_t i = 0; (info = pfd_format_get(i)); i++) {
        if (pfd_format_likelihood(i, s->bytes, s->n, &likelihood) != PFD_OK ||
            likelihood < WORTH_SAYING)
            continue;
        if (!f->json) {
            output_printf("  may be %s: %d of 100, %s\n", info->name,
                          likelihood, meaning_of(likelihood));
            continue;
        }
        fields_item(f, "formats", "format");
        fields_text(f, "name", info->name);
        fields_number(f, "likelihood", (uint64_t)likelihood);
        fields_text(f, "why", meaning_of(likelihood));
        fields_item_end(f);
    }
}

static bool is_zero(const struct code_source *s)
{
    const uint8_t *bytes = s->bytes;
    return s->n && !bytes[0] && !memcmp(bytes, bytes + 1, s->n - 1);
}

static bool info_other(struct info *x, const struct code_source *s)
{
    struct reading reading = { 0 };
    struct fields f;
    bool text = is_text(s->bytes, s->n);
    bool zero = is_zero(s);
    if (s->n && !zero && !read_as(s, &reading))
        return false;
    fields_begin(&f, x->json, s->path,
                 reading.format ? "dump"
                 : text         ? "text"
                 : zero         ? "zeros"
                 : s->n         ? "unknown"
                                : "empty");
    fields_number(&f, "bytes", s->n);
    fields_flag(&f, "compressed", s->inflated != NULL);
    fields_text(&f, "format", reading.format);
    if (zero)
        fields_text(&f, "why_none", "nothing was written: all of it is zero");
    fields_text(&f, "why_none", *reading.why_none ? reading.why_none : NULL);
    if (s->n && !zero && !text)
        show_formats(&f, s);
    fields_end(&f);
    return true;
}

/* ---- all kinds ---- */

/* Describes a socket: does a process listen on it? */
static bool info_socket(struct info *x, const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    struct fields f;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool is_there = false;
    if (fd >= 0 && strlen(path) < sizeof to.sun_path) {
        memcpy(to.sun_path, path, strlen(path) + 1);
        is_there = !connect(fd, (const struct sockaddr *)&to, sizeof to);
    }
    if (fd >= 0)
        close(fd);
    fields_begin(&f, x->json, path, "socket");
    fields_flag(&f, "listening", is_there);
    fields_end(&f);
    if (is_there && !x->json) {
        message_hint(
            "%s: if it is a daemon's, printfdecode follow %s shows its "
            "lines",
            path, path);
    }
    return true;
}

static bool info_file(struct info *x, const char *path)
{
    struct code_source s;
    struct stat st;
    struct pfd_error err;
    struct pfd_error unheard;
    bool ok = true;
    if (!stat(path, &st) && S_ISSOCK(st.st_mode))
        return info_socket(x, path);
    /* Cores are recognised by their beginning: a core may inflate to more than
     * the limit. */
    if (code_source_open(&s, path, 4096, NULL, NULL, &unheard) == PFD_OK &&
        pfd_core_recognise(s.bytes, s.n)) {
        code_source_close(&s);
        return info_core(x, path);
    }
    code_source_close(&s);
    if (code_source_open(&s, path, x->options->reading.max_inflated, hear, x,
                         &err) != PFD_OK) {
        message_error("%s: %s", path, err.text);
        ok = false;
    } else if (pfd_wire_recognise(s.bytes, s.n)) {
        ok = describe_capture(x, &s);
    } else if (s.n && pfd_strings_recognise(s.bytes, s.n)) {
        ok = info_code(x, &s);
    } else {
        ok = info_other(x, &s);
    }
    code_source_close(&s);
    return ok;
}

static int info_run(const struct options *o)
{
    bool ok = true;
    struct info x = {
        .options = o,
        .json = o->output && !strcmp(o->output, "json"),
        .hear = hear,
        .n_findings = o->n_findings,
    };
    for (size_t i = 0; i < o->n_files; i++) {
        x.is_split = o->files[i].is_split;
        ok = info_file(&x, o->files[i].path) && ok;
    }
    if (output_failed() || !ok)
        return EXIT_ERROR;
    return x.n_findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

static const struct option_group *const groups[] = {
    &options_output, &options_inflated, &options_messages, &options_help, NULL,
};

const struct verb verb_info = {
    .name = "info",
    .files = "FILE...",
    .help = "say what files are: cores, captures, dumps and others",
    .run = info_run,
    .groups = groups,
};

/* Counts of a stream's frames by type. */
struct frames {
    uint64_t n[PFD_WIRE_N_TYPES];
    bool has_end;
};

static void count_frames(const struct code_source *s, struct frames *ret)
{
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    const char *bytes = s->bytes;
    size_t at = 0;
    *ret = (struct frames){ 0 };
    while (reader) {
        struct pfd_wire_frame frame;
        size_t taken = 0;
        enum pfd_status status = pfd_wire_reader_next(reader, &frame, NULL);
        if (status == PFD_OK && (unsigned)frame.type < PFD_WIRE_N_TYPES) {
            ret->n[frame.type]++;
        } else if (status == PFD_MORE && at == s->n) {
            pfd_wire_reader_finish(reader);
        } else if (status == PFD_MORE) {
            if (pfd_wire_reader_feed(reader, bytes + at, s->n - at, &taken,
                                     NULL) != PFD_OK ||
                !taken)
                break;
            at += taken;
        } else if (status != PFD_OK && status != PFD_ERR_CORRUPT) {
            break;
        }
    }
    pfd_wire_reader_free(reader);
}

static void show_time(struct fields *f, const char *name, uint64_t ns)
{
    char text[64];
    struct tm tm;
    time_t seconds = (time_t)(ns / 1000000000);
    if (!ns || !gmtime_r(&seconds, &tm))
        return;
    size_t n = strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text + n, sizeof text - n, ".%09uZ", (unsigned)(ns % 1000000000));
    fields_text(f, name, text);
}

static void show_buffer(struct fields *f, const struct pfd_capture_buffer *b)
{
    const struct pfd_wire_frame *o = b->origin;
    fields_item(f, "buffers", "buffer");
    fields_text(f, "name", b->name);
    if (o->format.n)
        fields_text_n(f, "format", o->format.at, o->format.n);
    fields_number(f, "bytes", b->n);
    fields_count(f, "chunks", b->n_chunks);
    fields_count(f, "generation", b->generation);
    fields_flag(f, "complete", b->done);
    if (o->process.n)
        fields_text_n(f, "process", o->process.at, o->process.n);
    fields_count(f, "pid", o->pid);
    if (o->device.n)
        fields_text_n(f, "device", o->device.at, o->device.n);
    if (o->queue.n)
        fields_text_n(f, "queue", o->queue.at, o->queue.n);
    fields_item_end(f);
}

static void show_labels(struct fields *f, const struct pfd_capture *capture)
{
    const struct pfd_capture_buffer *b;
    for (size_t i = 0; (b = pfd_capture_get(capture, i)); i++) {
        for (size_t k = 0; k < b->origin->n_labels; k++) {
            const struct pfd_wire_label *l = &b->origin->labels[k];
            fields_item(f, "labels", "label");
            fields_text(f, "buffer", b->name);
            fields_text_n(f, "key", l->key.at, l->key.n);
            fields_text_n(f, "value", l->value.at, l->value.n);
            fields_item_end(f);
        }
    }
}

/* Prints the first and last time that the buffers have. */
static void show_span(struct fields *f, const struct pfd_capture *capture)
{
    const struct pfd_capture_buffer *b;
    uint64_t first = 0;
    uint64_t last = 0;
    for (size_t i = 0; (b = pfd_capture_get(capture, i)); i++) {
        for (size_t k = 0; k < b->n_chunks; k++) {
            uint64_t time = b->chunks[k].time;
            first = time && (!first || time < first) ? time : first;
            last = time > last ? time : last;
        }
        first = b->time && (!first || b->time < first) ? b->time : first;
        last = b->time > last ? b->time : last;
    }
    show_time(f, "first_time", first);
    show_time(f, "last_time", last);
}

static void show_capture(struct info *x, const struct code_source *s,
                         const struct pfd_capture *capture,
                         const struct pfd_strings *strings)
{
    struct fields f;
    struct frames frames;
    const struct pfd_capture_buffer *b;
    struct pfd_capture_object o;
    count_frames(s, &frames);
    fields_begin(&f, x->json, s->path, "capture");
    fields_number(&f, "bytes", s->n);
    fields_flag(&f, "compressed", s->inflated != NULL);
    fields_number(&f, "strings", pfd_strings_count(strings));
    show_span(&f, capture);
    for (unsigned i = 0; i < PFD_WIRE_N_TYPES; i++) {
        if (!frames.n[i] || i == PFD_WIRE_START)
            continue;
        fields_item(&f, "frames", "frames");
        fields_text(&f, "type", pfd_wire_type_name((enum pfd_wire_type)i));
        fields_number(&f, "count", frames.n[i]);
        fields_item_end(&f);
    }
    for (size_t i = 0; pfd_capture_object(capture, i, &o) == PFD_OK; i++) {
        fields_item(&f, "objects", "object");
        fields_text_n(&f, "name", o.name.n ? o.name.at : "", o.name.n);
        fields_number(&f, "bytes", o.n);
        fields_item_end(&f);
    }
    for (size_t i = 0; (b = pfd_capture_get(capture, i)); i++)
        show_buffer(&f, b);
    show_labels(&f, capture);
    fields_end(&f);
}

/* Describes a capture: frames, strings, time, buffers and labels. False: an
 * error was printed. */
static bool describe_capture(struct info *x, const struct code_source *s)
{
    struct pfd_capture *capture = NULL;
    struct pfd_error err = { .text = "out of memory" };
    struct pfd_strings *strings = pfd_strings_new();
    enum pfd_status status = PFD_ERR_NOMEM;
    if (strings) {
        status = pfd_capture_open(s->bytes, s->n, s->path, strings, x->hear, x,
                                  &capture, &err);
    }
    if (status == PFD_OK) {
        show_capture(x, s, capture, strings);
    } else {
        message_error("%s: %s", s->path, err.text);
    }
    pfd_capture_free(capture);
    pfd_strings_free(strings);
    return status == PFD_OK;
}
