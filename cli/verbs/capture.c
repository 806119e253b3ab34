/* SPDX-License-Identifier: MIT */
/* printfdecode capture: writes buffers, format strings and shaders into one
 * file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "core/base/clock.h"
#include "core/base/zero.h"
#include "input/convert_inputs.h"
#include "input/input.h"
#include "input/open_inputs.h"
#include "packer.h"
#include "show/messages.h"
#include "show/output.h"
#include "stream/capture/chunk.h"
#include "verb.h"

/* The verb's values. */
struct capture_options {
    struct options common;
    bool entries; /* capture entries instead of bytes */
    struct {
        struct pfd_wire_label *all; /* [n], owned */
        size_t n;
    } labels;
};

static const struct capture_options *own(const struct options *o)
{
    return (const struct capture_options *)o;
}

enum {
    PIECE = 1 << 16, /* bytes that are tested together for being zero */
};

static bool put(void *user, const void *bytes, size_t n)
{
    struct packer *p = user;
    return fwrite(bytes, 1, n, p->out) == n;
}

static bool write_hello(struct packer *p)
{
    char host[256] = "";
    char boot_id[64] = "";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (f && !fgets(boot_id, sizeof boot_id, f))
        boot_id[0] = '\0';
    if (f)
        fclose(f);
    boot_id[strcspn(boot_id, "\n")] = '\0';
    gethostname(host, sizeof host - 1);
    struct pfd_wire_frame hello = {
        .type = PFD_WIRE_HELLO,
        .host = pfd_wire_text(host),
        .boot_id = pfd_wire_text(boot_id),
        .time = pfd_clock_ns(CLOCK_REALTIME),
        .monotonic = pfd_clock_ns(CLOCK_MONOTONIC),
    };
    return packer_frame(p, &hello);
}

/* Writes bytes [from, to), which are all zero or all data. */
static bool write_run(struct packer *p, const struct buffer *b, uint64_t from,
                      uint64_t to, bool zero)
{
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_DATA,
        .buffer = p->n_buffers,
        .offset = from,
        .time = p->time,
    };
    if (zero) {
        frame.zeros = to - from;
    } else {
        frame.bytes = (struct pfd_wire_bytes){ (const char *)b->bytes + from,
                                               (size_t)(to - from) };
    }
    return from == to || packer_frame(p, &frame);
}

/* Returns the end of the piece at `at`; *zero: all of it is zero. *hole: the
 * first hole that ends after `at`. */
static uint64_t measure(const struct buffer *b, size_t *hole, uint64_t at,
                        bool *zero)
{
    while (*hole < b->n_holes && b->holes[*hole].to <= at)
        ++*hole;
    uint64_t next = *hole < b->n_holes ? b->holes[*hole].from : b->n;
    *zero = next <= at;
    if (*zero)
        return b->holes[*hole].to;
    uint64_t n = next - at < PIECE ? next - at : PIECE;
    *zero = pfd_is_zero((const char *)b->bytes + at, (size_t)n);
    return at + n;
}

/* Writes bytes [from, end); zeros are written as their number. */
static bool write_known(struct packer *p, const struct buffer *b, uint64_t from,
                        uint64_t end)
{
    size_t hole = 0;
    bool run_zero = false;
    for (uint64_t at = from; at < end;) {
        bool zero = false;
        uint64_t to = measure(b, &hole, at, &zero);
        to = to < end ? to : end;
        if (at > from && zero != run_zero) {
            if (!write_run(p, b, from, at, run_zero))
                return false;
            from = at;
        }
        run_zero = zero;
        at = to;
    }
    return write_run(p, b, from, end, run_zero);
}

/* Leaves unknown bytes out, so a reader knows that they are unknown. */
static bool write_data(struct packer *p, const struct buffer *b)
{
    uint64_t at = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < b->n_missing; i++) {
        ok = write_known(p, b, at, b->missing[i].from);
        at = b->missing[i].to;
    }
    return ok && write_known(p, b, at, b->n);
}

/* The modification time of the buffer's file; of other inputs, now. */
static uint64_t time_of(const struct buffer *b)
{
    struct stat st;
    if (b->fd < 0 || fstat(b->fd, &st) || !S_ISREG(st.st_mode))
        return pfd_clock_ns(CLOCK_REALTIME);
    return (uint64_t)st.st_mtim.tv_sec * 1000000000 +
           (uint64_t)st.st_mtim.tv_nsec;
}

/* ---- entries instead of bytes ---- */

/* Options that filter entries need them. */
static bool wants_entries(const struct packer *p)
{
    const struct options *o = p->o;
    return own(o)->entries || p->filtering.filter || o->range.skip ||
           o->range.tail || o->range.limit != UINT64_MAX ||
           options_decide(o, false);
}

static bool write_chunk(void *user, const void *bytes, size_t n,
                        uint64_t n_items)
{
    struct packer *p = user;
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_ENTRIES,
        .buffer = p->n_buffers,
        .sequence = p->sequence,
        .time = p->time,
        .bytes = { bytes, n },
    };
    p->sequence += n_items;
    p->has_chunks = true;
    return packer_frame(p, &frame);
}

/* Records that the buffer has no entries. */
static bool write_no_entries(struct packer *p)
{
    struct pfd_chunk_writer *writer = NULL;
    size_t n = 0;
    const void *bytes = NULL;
    if (pfd_chunk_writer_new(&writer, &p->err) == PFD_OK)
        bytes = pfd_chunk_finish(writer, &n);
    bool ok = bytes && write_chunk(p, bytes, n, 0);
    if (!bytes)
        message_error("out of memory");
    pfd_chunk_writer_free(writer);
    p->failed |= !ok;
    return ok;
}

static bool write_entries(struct packer *p, struct buffer *b)
{
    struct pfd_convert convert = {
        .strings = p->in->strings,
        .format = p->o->reading.format,
        .options = &p->o->reading.decoding,
        .threads = p->o->threads,
        .filter = p->filtering.filter,
        .n_emitted = &p->filtering.n_given,
        .n_doubts = &p->filtering.n_doubts,
        .skip = p->o->range.skip,
        .limit = p->o->range.limit,
        .no_entries = !p->o->range.limit,
        .write_chunk = write_chunk,
        .write_user = p,
    };
    p->sequence = 0;
    p->has_chunks = false;
    enum pfd_status status =
        convert_opened_buffer(p->o, p->in, &convert, b, NULL, &p->total);
    p->failed |= status < 0 && status != PFD_ERR_STOPPED;
    return !p->failed && (p->has_chunks || write_no_entries(p));
}

/* ---- buffers ---- */

static bool write_buffer(struct packer *p, struct buffer *b)
{
    uint8_t uuid[16];
    const char *format = p->o->reading.format;
    bool entries = wants_entries(p);
    p->time = time_of(b);
    /* A stream's size is known at its end only. */
    if (!entries && !b->bytes && !input_map(b, &p->err)) {
        message_error("%s: %s", b->name, p->err.text);
        p->failed = true;
        return false;
    }
    if (getrandom(uuid, sizeof uuid, 0) != sizeof uuid)
        memset(uuid, 0, sizeof uuid);
    p->n_buffers++;
    struct pfd_wire_frame frame = {
        .type = PFD_WIRE_BUFFER,
        .buffer = p->n_buffers,
        .name = pfd_wire_text(b->name),
        .size = b->n,
        .time = p->time,
        .uuid = { (const char *)uuid, sizeof uuid },
    };
    if (format)
        frame.format = pfd_wire_text(format);
    if (own(p->o)->labels.n) {
        frame.labels = own(p->o)->labels.all;
        frame.n_labels = own(p->o)->labels.n;
    }
    struct pfd_wire_frame done = {
        .type = PFD_WIRE_DONE,
        .buffer = p->n_buffers,
        .time = p->time,
    };
    bool ok = packer_frame(p, &frame) &&
              (entries ? write_entries(p, b) : write_data(p, b)) &&
              packer_frame(p, &done);
    input_unmap(b);
    return ok;
}

static bool write_all(struct packer *p, struct inputs *in)
{
    if (!write_hello(p) || !packer_write_code(p))
        return false;
    for (size_t i = 0; i < in->n_buffers; i++) {
        if (!write_buffer(p, &in->buffers[i]))
            return false;
    }
    if (!packer_check(p, pfd_wire_writer_finish(p->writer, &p->err)))
        return false;
    if (!fflush(p->out))
        return true;
    message_error("%s: %s", p->o->to, strerror(errno));
    return false;
}

static bool close_file(struct packer *p, bool ok)
{
    if (!fclose(p->out) || !ok)
        return ok;
    message_error("%s: %s", p->o->to, strerror(errno));
    return false;
}

/* Writes into a pipe, device or link, which a new file must not replace. */
static bool write_through(struct packer *p, struct inputs *in)
{
    p->out = fopen(p->o->to, "wbe");
    if (p->out)
        return close_file(p, write_all(p, in));
    message_error("%s: %s", p->o->to, strerror(errno));
    return false;
}

/* The file appears complete or not at all: it is renamed. */
static bool write_file(struct packer *p, struct inputs *in)
{
    char *temp = NULL;
    struct stat st;
    if (!strcmp(p->o->to, "-")) {
        p->out = stdout;
        return write_all(p, in);
    }
    if (!lstat(p->o->to, &st) && !S_ISREG(st.st_mode))
        return write_through(p, in);
    if (asprintf(&temp, "%s.XXXXXX", p->o->to) < 0) {
        message_error("out of memory");
        return false;
    }
    int fd = mkstemp(temp);
    mode_t mask = umask(0);
    umask(mask);
    if (fd >= 0)
        fchmod(fd, 0666 & ~mask);
    p->out = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!p->out) {
        message_error("%s: %s", p->o->to, strerror(errno));
        free(temp);
        return false;
    }
    bool ok = close_file(p, write_all(p, in));
    if (ok && rename(temp, p->o->to)) {
        message_error("%s: %s", p->o->to, strerror(errno));
        ok = false;
    }
    if (!ok)
        unlink(temp);
    free(temp);
    return ok;
}

/* Findings affect the exit status as with `decode`. */
static int status_of(struct packer *p, bool ok)
{
    uint64_t findings = p->in->n_findings + p->total.findings;
    if (ok && wants_entries(p) && (findings || p->o->verbose))
        message_summary(&p->total);
    return !ok ? EXIT_ERROR : findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

static bool may_write(struct packer *p)
{
    struct inputs *in = p->in;
    if (!in->n_buffers && !in->n_strings_files && !in->failed) {
        message_error("nothing to capture among the files");
        return false;
    }
    for (size_t i = 0; i < in->n_buffers; i++) {
        if (!in->buffers[i].capture)
            continue;
        message_error("'%s' comes from a capture; captures are joined with cat",
                      in->buffers[i].name);
        return false;
    }
    p->writer = pfd_wire_writer_new(put, p);
    if (!p->writer)
        message_error("out of memory");
    return !in->failed && p->writer;
}

static int capture_run(const struct options *o)
{
    struct inputs in;
    struct packer p = { .o = o, .in = &in };
    if (!o->to) {
        message_error("no file to write is given: -o FILE");
        return EXIT_ERROR;
    }
    if (!filtering_open(&p.filtering, &o->filter))
        return EXIT_ERROR;
    inputs_open(&in, o, message_finding, NULL);
    bool ok = may_write(&p) && write_file(&p, &in);
    pfd_wire_writer_free(p.writer);
    if (ok && o->verbose) {
        message_hint("%llu buffers and %llu code objects captured",
                     (unsigned long long)p.n_buffers,
                     (unsigned long long)p.n_objects);
    }
    filtering_end(&p.filtering, in.strings);
    int status = status_of(&p, ok);
    inputs_close(&in);
    return filtering_close(&p.filtering, status);
}

static bool add_label(struct options *options, const struct option_row *row,
                      const char *text)
{
    struct capture_options *o = (struct capture_options *)options;
    const char *equals = strchr(text, '=');
    (void)row;
    if (!equals || equals == text)
        return option_wrong("not KEY=VALUE:", text);
    o->labels.all =
        options_append(o->labels.all, &o->labels.n, sizeof *o->labels.all);
    o->labels.all[o->labels.n - 1] = (struct pfd_wire_label){
        .key = { text, (size_t)(equals - text) },
        .value = { equals + 1, strlen(equals + 1) },
    };
    return true;
}

static const struct option_row rows[] = {
    { "output", 'o', "FILE", "the capture to write (- is stdout)",
      offsetof(struct options, to), option_output_file, false },
    { "entries", 0, NULL,
      "decoded entries instead of the buffers' bytes; filters imply it",
      offsetof(struct capture_options, entries), option_flag, false },
    { "label", 0, "KEY=VALUE", "say this of the buffers; repeatable",
      offsetof(struct capture_options, labels), add_label, true },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,        &options_strings, &options_buffers,
    &options_decoding, &options_process, &options_search,
    &options_core,     &options_address, &options_filter,
    &options_skip,     &options_limit,   &options_context,
    &options_work,     &options_force,   &options_inflated,
    &options_messages, &options_help,    NULL,
};

const struct verb verb_capture = {
    .name = "capture",
    .files = "BUFFER... FILE...",
    .help = "pack buffers and format strings into one file",
    .run = capture_run,
    .groups = groups,
    .size = sizeof(struct capture_options),
};
