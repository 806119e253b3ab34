/* SPDX-License-Identifier: MIT */
/*
 * A producer against the whole way through the daemon: stream, library,
 * sessions, ring and readers, on a loop and with threads of their own. The
 * first byte says whether the others are a stream as it is or commands that
 * make one; the second and third how it is split and how its subscribers read.
 *
 * Whatever is sent: each line of the ring reaches each subscriber in order or
 * is counted as missed, everything ends, and the loop can be closed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "daemon.h"
#include "fuzz.h"
#include "ingest/follower.h"
#include "ingest/stream.h"
#include "ingest/string_store.h"
#include "stream/capture/wire.h"
#include "subscriber.h"
#include "virtual_clock.h"

enum {
    IS_RAW = 1,     /* the first byte: what follows is the stream */
    MAY_BE_RAW = 2, /* what is no capture is one buffer */
    IS_SHORT = 4,   /* of memory */
    IN_A_HURRY = 8, /* ends without waiting for anything */
    STALLED = 16,   /* subscribers read at the end only */

    MEMORIES = 4,
    MEMORY_BYTES = 8192,
    FDS_MAX = 16,
    RING = 8192, /* bytes: few entries fill it */
    TURNS_MAX = 200000,
};

static const char *const requests[] = {
    "{\"output\":\"json\"}",
    "{\"output\":\"text\"}",
    "{\"output\":\"raw\"}",
    "{\"match\":\"[0-9]\",\"source\":\"buffer 1\"}",
    "{\"output\":\"text\",\"entries_only\":true}",
    "{\"output\":\"json\",\"findings\":false}",
    "{}", /* as events of HTTP */
};

enum {
    SUBSCRIBERS = sizeof requests / sizeof *requests
};

struct bytes {
    char *at; /* [n] of size */
    size_t n;
    size_t size;
};

struct run {
    const uint8_t *at; /* of the input, up to end */
    const uint8_t *end;
    unsigned flags;
    size_t piece;
    uv_loop_t loop;
    struct pfdd d;
    struct pfdd_stream *stream; /* NULL: ended */
    struct bytes out;           /* not fed yet */
    size_t fed;                 /* of out */
    int fds[FDS_MAX];           /* [n_fds], to go with out */
    size_t n_fds;
    bool closing;
    int memories[MEMORIES]; /* shared buffers; -1: not made */
    int bell;               /* the last one that was handed over, or -1 */
    struct subscriber subscribers[SUBSCRIBERS];
};

/* ---- the input ---- */

static unsigned take_byte(struct run *r)
{
    return r->at < r->end ? *r->at++ : 0;
}

static uint64_t take_number(struct run *r, unsigned n_bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < n_bytes; i++)
        number |= (uint64_t)take_byte(r) << 8 * i;
    return number;
}

static struct pfd_wire_bytes take_bytes(struct run *r, size_t n)
{
    size_t left = (size_t)(r->end - r->at);
    struct pfd_wire_bytes bytes = { (const char *)r->at, n < left ? n : left };
    r->at += bytes.n;
    return bytes;
}

/* ---- the loop ---- */

static void read_lines(struct run *r)
{
    for (size_t i = 0; i < SUBSCRIBERS && !(r->flags & STALLED); i++)
        subscriber_read(&r->subscribers[i]);
}

static void turn(struct run *r)
{
    if (r->d.thread_pools.decoders &&
        pfdd_pool_pending(r->d.thread_pools.decoders)) {
        uv_run(&r->loop, UV_RUN_ONCE);
    } else {
        virtual_clock_advance(1000000);
        uv_run(&r->loop, UV_RUN_NOWAIT);
    }
    read_lines(r);
}

static void turn_until_ended(struct run *r)
{
    for (int i = 0;
         r->stream || pfdd_string_store_is_busy(r->d.ingest.string_store);
         i++) {
        FUZZ_CHECK(i < TURNS_MAX);
        turn(r);
    }
}

/* ---- the stream, as a connection uses it ---- */

static bool is_waiting(const struct run *r)
{
    return pfdd_stream_is_waiting(r->stream);
}

static void end_stream(struct run *r)
{
    if (r->closing)
        return;
    r->closing = true;
    pfdd_stream_end(r->stream);
}

static void on_ended(void *user)
{
    struct run *r = user;
    FUZZ_CHECK(r->closing);
    r->stream = NULL;
}

/* What had to wait is done with no bytes left, too. */
static void feed(struct run *r)
{
    do {
        size_t taken = 0;
        size_t left = r->out.n - r->fed;
        size_t n = left < r->piece ? left : r->piece;
        size_t n_fds = r->n_fds;
        r->n_fds = 0;
        if (!pfdd_stream_feed(r->stream, r->out.at + r->fed, n, r->fds, n_fds,
                              &taken)) {
            end_stream(r);
            return;
        }
        FUZZ_CHECK(taken == n || (taken < n && is_waiting(r)));
        r->fed += taken;
    } while (r->fed < r->out.n && !is_waiting(r));
}

static void on_resume(void *user)
{
    struct run *r = user;
    if (!r->closing)
        feed(r);
}

static void flush(struct run *r)
{
    if (!r->closing && !is_waiting(r) && r->out.n)
        feed(r);
    if (r->fed == r->out.n)
        r->fed = r->out.n = 0;
}

static bool put(void *user, const void *bytes, size_t n)
{
    struct run *r = user;
    struct bytes *out = &r->out;
    if (out->n + n >= out->size) {
        out->size = 2 * (out->n + n) + 1024;
        out->at = realloc(out->at, out->size);
        FUZZ_CHECK(out->at);
    }
    if (n)
        memcpy(out->at + out->n, bytes, n);
    out->n += n;
    return true;
}

static void put_frame(struct run *r, const struct pfd_wire_frame *frame)
{
    FUZZ_CHECK(pfd_wire_write(frame, put, r, NULL) == PFD_OK);
}

/* ---- commands ---- */

static void put_buffer(struct run *r, uint64_t fds)
{
    static const char *const formats[] = { "",         "llpc",        "llpc",
                                           "hip",      "opencl",      "gpuav",
                                           "hostcall", "debugprintf", "abort",
                                           "none such" };
    char name[32];
    unsigned how = take_byte(r);
    struct pfd_wire_frame f = { .type = PFD_WIRE_BUFFER,
                                .buffer = how % 4,
                                .generation = how / 4 % 4,
                                .size = take_number(r, 2),
                                .fds = fds };
    snprintf(name, sizeof name, "buffer %u", how % 4);
    f.name = pfd_wire_text(how / 128 ? "" : name);
    f.format = pfd_wire_text(formats[how / 16 % (sizeof formats / 8)]);
    put_frame(r, &f);
}

static void put_own_buffer(struct run *r)
{
    put_buffer(r, 0);
}

/* One of few pieces of memory, so that it comes again. */
static void put_shared_buffer(struct run *r)
{
    unsigned how = take_byte(r);
    int *memory = &r->memories[how % MEMORIES];
    bool has_bell = how & 16;
    if (r->n_fds + 2 > FDS_MAX)
        return;
    if (*memory < 0) {
        *memory = memfd_create("fuzz", MFD_ALLOW_SEALING | MFD_CLOEXEC);
        FUZZ_CHECK(ftruncate(*memory, MEMORY_BYTES) == 0);
        if (how % MEMORIES) /* The first is refused. */
            fcntl(*memory, F_ADD_SEALS, F_SEAL_SHRINK);
    }
    if (!(how & 32))
        r->fds[r->n_fds++] = dup(*memory);
    if (has_bell) {
        close(r->bell);
        r->bell = eventfd(0, EFD_CLOEXEC);
        r->fds[r->n_fds++] = dup(r->bell);
    }
    put_buffer(r, 1 + has_bell);
}

static void put_data_frame(struct run *r, const void *bytes, size_t n)
{
    unsigned how = take_byte(r);
    struct pfd_wire_frame f = { .type = PFD_WIRE_DATA,
                                .buffer = how % 4,
                                .generation = how / 4 % 4,
                                .offset = take_number(r, 2),
                                .time = how / 16 };
    f.bytes = (struct pfd_wire_bytes){ bytes, n };
    put_frame(r, &f);
}

static void put_data(struct run *r)
{
    struct pfd_wire_bytes bytes = take_bytes(r, take_byte(r));
    put_data_frame(r, bytes.at, bytes.n);
}

/* The ids of the code object's strings. */
static const uint64_t ids[] = {
    0xe4d87cf98e97, 0xa1af6b83f3e4, 0x2df07e88a4e9, 0xcde6be5207e0,
    0x92bd506bf4f4, 0x89932ece85d8, 0x9fe7282b62d4, 0x99661bd43b9e,
};

/* LLPC's buffer: a header, then one entry again and again. */
static size_t make_entries(struct run *r, char *ret, size_t n_ret)
{
    uint64_t id = ids[take_byte(r) % 8];
    uint64_t n_words = 2 + take_byte(r) % 14;
    size_t times = 1 + take_byte(r) % 64;
    struct pfd_wire_bytes args = take_bytes(r, 4 * (n_words - 2));
    size_t n = 16;
    memset(ret, 0, n_ret);
    for (size_t i = 0; i < times && n + 4 * n_words <= n_ret; i++) {
        uint64_t header = (id + (i % 16 == 9)) << 16 | n_words;
        memcpy(ret + n, &header, 8);
        if (args.n)
            memcpy(ret + n + 8, args.at, args.n);
        n += 4 * n_words;
    }
    uint64_t used = (n - 16) / 4 + (take_byte(r) == 7);
    memcpy(ret, &used, 8);
    return n;
}

static void put_entries(struct run *r)
{
    static char bytes[MEMORY_BYTES];
    size_t n = make_entries(r, bytes, sizeof bytes);
    put_data_frame(r, bytes, n);
}

static void write_memory(struct run *r)
{
    static char bytes[MEMORY_BYTES];
    int memory = r->memories[take_byte(r) % MEMORIES];
    size_t n = make_entries(r, bytes, sizeof bytes);
    if (memory >= 0)
        FUZZ_CHECK(pwrite(memory, bytes, n, 0) == (ssize_t)n);
}

static void poke_memory(struct run *r)
{
    int memory = r->memories[take_byte(r) % MEMORIES];
    off_t at = (off_t)take_number(r, 2) % (MEMORY_BYTES - 256);
    struct pfd_wire_bytes bytes = take_bytes(r, take_byte(r));
    if (memory >= 0 && bytes.n)
        FUZZ_CHECK(pwrite(memory, bytes.at, bytes.n, at) == (ssize_t)bytes.n);
}

static void ring_bell(struct run *r)
{
    uint64_t one = 1;
    if (r->bell >= 0)
        FUZZ_CHECK(write(r->bell, &one, sizeof one) == sizeof one);
}

static void put_done(struct run *r)
{
    unsigned how = take_byte(r);
    struct pfd_wire_frame f = { .type = PFD_WIRE_DONE,
                                .buffer = how % 4,
                                .generation = how / 4 % 4 };
    put_frame(r, &f);
}

static void put_gap(struct run *r)
{
    struct pfd_wire_frame f = { .type = PFD_WIRE_GAP,
                                .buffer = take_byte(r) % 4,
                                .lost_frames = take_number(r, 1) };
    f.reason = take_bytes(r, 8);
    put_frame(r, &f);
}

static struct pfd_wire_bytes load(const char *path, size_t n_max)
{
    struct pfd_wire_bytes ret = { NULL, 0 };
    FILE *f = fopen(path, "rb");
    char *bytes = malloc(n_max);
    FUZZ_CHECK(f && bytes);
    ret.n = fread(bytes, 1, n_max, f);
    ret.at = bytes;
    fclose(f);
    return ret;
}

/* In two parts, one of which may be missing, or wrong. */
static void put_parts(struct run *r, struct pfd_wire_bytes object)
{
    unsigned how = take_byte(r);
    size_t middle = object.n * (how >> 4) / 15;
    struct pfd_wire_frame f = { .type = PFD_WIRE_CODE_OBJECT,
                                .code_object = how % 4,
                                .total = object.n };
    f.name = pfd_wire_text("code");
    f.bytes = (struct pfd_wire_bytes){ object.at, middle };
    put_frame(r, &f);
    if (how & 4)
        put_frame(r, &f);
    f.offset = middle;
    f.bytes = (struct pfd_wire_bytes){ object.at + middle, object.n - middle };
    f.total += (how & 8) / 8;
    put_frame(r, &f);
}

static void put_elf(struct run *r)
{
    static struct pfd_wire_bytes elf;
    if (!elf.n)
        elf = load(FUZZ_ELF, 1 << 16);
    put_parts(r, elf);
}

static void put_module(struct run *r)
{
    static struct pfd_wire_bytes module;
    if (!module.n)
        module = load(FUZZ_MODULE, 1 << 16);
    put_parts(r, module);
}

static void put_object(struct run *r)
{
    struct pfd_wire_frame f = { .type = PFD_WIRE_CODE_OBJECT,
                                .code_object = take_byte(r) % 4,
                                .offset = take_number(r, 2),
                                .total = take_number(r, 4) };
    f.name = take_bytes(r, 4);
    f.uri = take_bytes(r, take_byte(r) % 16);
    f.bytes = take_bytes(r, take_byte(r));
    put_frame(r, &f);
}

static void put_shader(struct run *r)
{
    struct pfd_wire_frame f = { .type = PFD_WIRE_SHADER,
                                .code_object = take_byte(r) % 4,
                                .shader = take_number(r, 4) };
    put_frame(r, &f);
}

static void put_hello(struct run *r)
{
    struct pfd_wire_frame f = { .type = PFD_WIRE_HELLO,
                                .pid = take_number(r, 8) };
    f.host = take_bytes(r, take_byte(r));
    f.process = take_bytes(r, take_byte(r));
    put_frame(r, &f);
}

static void put_start(struct run *r)
{
    FUZZ_CHECK(pfd_wire_write_start(put, r) == PFD_OK);
}

static void put_bytes(struct run *r)
{
    struct pfd_wire_bytes bytes = take_bytes(r, take_byte(r));
    put(r, bytes.at, bytes.n);
}

static void let_go_on(struct run *r)
{
    unsigned n = take_byte(r) % 24;
    flush(r);
    for (unsigned i = 0; i <= n; i++)
        turn(r);
}

static void (*const commands[])(struct run *) = {
    put_own_buffer, put_shared_buffer, put_data,    put_entries, write_memory,
    poke_memory,    ring_bell,         put_done,    put_gap,     put_elf,
    put_module,     put_object,        put_shader,  put_hello,   put_start,
    put_bytes,      let_go_on,         put_entries, let_go_on,   put_done,
};

static void obey(struct run *r)
{
    put_start(r);
    while (r->at < r->end && !r->closing)
        commands[take_byte(r) % (sizeof commands / sizeof *commands)](r);
}

/* ---- one run ---- */

static void ignore(void *user, const char *text)
{
}

static void start(struct run *r)
{
    static const char text[] = "{log_level: error, workers: 1, ring: 1MiB, "
                               "memory_max: 64MiB, drain: 1h, "
                               "inputs: [{type: buffer, path: /none}]}";
    char err[256];
    struct pfdd_config *config =
        pfdd_config_read_text("fuzz", text, sizeof text - 1, ignore, NULL);
    struct pfdd_stream_options options = {
        .name = "fuzz",
        .settle_ms = 5,
        .may_be_raw = r->flags & MAY_BE_RAW,
        .resume = on_resume,
        .ended = on_ended,
        .user = r,
    };
    FUZZ_CHECK(config);
    uv_loop_init(&r->loop);
    FUZZ_CHECK(pfdd_start(&r->d, &r->loop, config, err, sizeof err));
    if (r->flags & IS_SHORT)
        r->d.budget.max = 3 << 20;
    r->d.ring.n_bytes_max = RING;
    r->d.render_cache.shared = r->d.render_cache.chosen =
        NULL; /* made at once */
    r->stream = pfdd_stream_new(&r->d.ingest, &options);
    FUZZ_CHECK(r->stream);
}

static void subscribe(struct run *r, unsigned how)
{
    for (size_t i = 0; i < SUBSCRIBERS; i++) {
        size_t bite = how >> i & 1 ? 1 + how : SIZE_MAX;
        subscriber_init(&r->subscribers[i], &r->d, requests[i],
                        i + 1 == SUBSCRIBERS, bite);
    }
}

static void stop(struct run *r)
{
    pfdd_stop(&r->d);
    for (int i = 0; uv_loop_alive(&r->loop); i++) {
        FUZZ_CHECK(i < TURNS_MAX);
        turn(r);
    }
    for (size_t i = 0; i < SUBSCRIBERS; i++)
        subscriber_deinit(&r->subscribers[i]);
    FUZZ_CHECK(r->d.budget.inputs == 0);
    pfdd_deinit(&r->d);
    FUZZ_CHECK(uv_loop_close(&r->loop) == 0);
}

static void free_run(struct run *r)
{
    for (int i = 0; i < MEMORIES; i++)
        close(r->memories[i]);
    for (size_t i = 0; i < r->n_fds; i++)
        close(r->fds[i]);
    close(r->bell);
    free(r->out.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct run r = { .at = data, .end = data + n, .bell = -1 };
    memset(r.memories, -1, sizeof r.memories);
    r.flags = take_byte(&r);
    r.piece = 1 + take_byte(&r) % 128 * (size_t)97;
    start(&r);
    subscribe(&r, take_byte(&r));
    if (r.flags & IS_RAW) {
        put(&r, r.at, (size_t)(r.end - r.at));
    } else {
        obey(&r);
    }
    flush(&r);
    while (!(r.flags & IN_A_HURRY) && !r.closing && is_waiting(&r))
        turn(&r);
    end_stream(&r);
    if (!(r.flags & IN_A_HURRY))
        turn_until_ended(&r);
    stop(&r);
    FUZZ_CHECK(!r.stream);
    free_run(&r);
    return 0;
}
