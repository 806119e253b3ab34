/* SPDX-License-Identifier: MIT */
/*
 * A producer's stream in this process, as a connection uses it, where the
 * order of things matters. Each test ends with uv_loop_close() == 0.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <check.h>

#include <printfdecode/wire.h>

#include "../../unit/suite.h"
#include "config/systemd.h"
#include "daemon.h"
#include "ingest/fd_store.h"
#include "ingest/stream.h"
#include "stream/capture/wire.h"

static uv_loop_t loop;
static struct pfdd d;
static struct pfdd_stream *stream;
static unsigned n_ended;
static bool refused;
static char out[65536]; /* [n_out], of which at have been fed */
static size_t n_out;
static size_t at;

/* ---- bricks ---- */

static void end_stream(void)
{
    struct pfdd_stream *st = stream;
    stream = NULL;
    pfdd_stream_end(st);
}

static void feed(const int *fds, size_t n_fds)
{
    size_t taken = 0;
    refused =
        !pfdd_stream_feed(stream, out + at, n_out - at, fds, n_fds, &taken);
    at += taken;
    if (refused)
        end_stream();
}

static void on_resume(void *user)
{
    if (stream)
        feed(NULL, 0);
}

static void on_ended(void *user)
{
    n_ended++;
}

static void ignore(void *user, const char *text)
{
}

static void setup(void)
{
    static const char text[] = "{log_level: error, "
                               "inputs: [{type: buffer, path: /none}]}";
    char err[256];
    struct pfdd_stream_options options = {
        .name = "test", .settle_ms = 5, .resume = on_resume, .ended = on_ended
    };
    d = (struct pfdd){ 0 };
    uv_loop_init(&loop);
    ck_assert(pfdd_start(
        &d, &loop,
        pfdd_config_read_text("test", text, sizeof text - 1, ignore, NULL), err,
        sizeof err));
    stream = pfdd_stream_new(&d.ingest, &options);
    n_ended = 0;
    n_out = at = 0;
}

/* What has been put, in as many turns as it takes: on a busy machine one may be
 * over before the first frame is. */
static void feed_all(const int *fds, size_t n_fds)
{
    feed(fds, n_fds);
    for (int i = 0; i < 5000 && d.scheduler.waiting.first; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    ck_assert_ptr_null(d.scheduler.waiting.first);
}

/* True: the stream has ended in time. */
static bool await_end(void)
{
    for (int i = 0; i < 5000 && !n_ended; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
        usleep(500);
    }
    return n_ended;
}

static void teardown(void)
{
    pfdd_stop(&d);
    uv_run(&loop, UV_RUN_DEFAULT);
    pfdd_deinit(&d);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static bool put(void *user, const void *bytes, size_t n)
{
    ck_assert_uint_le(n_out + n, sizeof out);
    if (n)
        memcpy(out + n_out, bytes, n);
    n_out += n;
    return true;
}

static void put_frame(enum pfd_wire_type type, uint64_t buffer, uint64_t fds)
{
    struct pfd_wire_frame f = { .type = type, .buffer = buffer, .fds = fds };
    if (type == PFD_WIRE_DATA)
        f.bytes = pfd_wire_text("twenty bytes of data");
    ck_assert_int_eq(pfd_wire_write(&f, put, NULL, NULL), PFD_OK);
}

static int shared_memory(void)
{
    int fd = memfd_create("test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    return fd;
}

static void use_as_little(void)
{
    d.budget.max = 1;
}

/* ---- tests ---- */

/* The end of a generation is still being read when the next one begins. */
START_TEST(done_and_restart_at_once)
{
    int memory = shared_memory();
    pfd_wire_write_start(put, NULL);
    put_frame(PFD_WIRE_BUFFER, 1, 1);
    for (int i = 0; i < 3; i++) {
        put_frame(PFD_WIRE_DONE, 1, 0);
        put_frame(PFD_WIRE_BUFFER, 1, 0);
    }
    feed_all(&memory, 1);
    ck_assert_uint_eq(at, n_out);
    end_stream();
    ck_assert(await_end());
}
END_TEST

/* The session that is awaited was the last one, and what comes behind it
 * makes whoever feeds the stream end it. */
START_TEST(resume_may_end_the_stream)
{
    static const char later[] = "\x89PFDCAP\n\x63\0\0\0\0\0\0\0";
    pfd_wire_write_start(put, NULL);
    put_frame(PFD_WIRE_BUFFER, 1, 0);
    put_frame(PFD_WIRE_DATA, 1, 0);
    put_frame(PFD_WIRE_BUFFER, 1, 0);
    put(NULL, later, 16);
    feed_all(NULL, 0);
    ck_assert(pfdd_stream_is_waiting(stream));
    use_as_little();
    ck_assert(await_end());
    ck_assert(refused);
    ck_assert_uint_eq(n_ended, 1);
}
END_TEST

START_TEST(numbers_are_void_when_a_stream_begins)
{
    for (int i = 0; i < 2; i++) {
        pfd_wire_write_start(put, NULL);
        if (i == 0)
            put_frame(PFD_WIRE_BUFFER, 0, 0);
        put_frame(PFD_WIRE_DATA, 0, 0);
    }
    feed_all(NULL, 0);
    ck_assert_uint_eq(d.count.bad_frames, 1);
    end_stream();
    ck_assert(await_end());
}
END_TEST

/* As if the service manager kept descriptors; false: built without it. */
static bool keep_buffers(void)
{
    setenv("NOTIFY_SOCKET", "/nowhere", 1);
    return pfdd_systemd_stores();
}

START_TEST(memory_is_kept_for_one_buffer)
{
    int memory = shared_memory();
    int fds[] = { memory, dup(memory) };
    bool is_kept = keep_buffers();
    pfd_wire_write_start(put, NULL);
    put_frame(PFD_WIRE_BUFFER, 1, 1);
    put_frame(PFD_WIRE_BUFFER, 2, 1);
    feed_all(fds, 2);
    ck_assert_uint_eq(pfdd_fd_store_count(d.ingest.fd_store), is_kept);
    end_stream();
    ck_assert(await_end());
    ck_assert_uint_eq(pfdd_fd_store_count(d.ingest.fd_store), 0);
}
END_TEST

START_TEST(what_is_not_followed_is_not_kept)
{
    int memory = shared_memory();
    keep_buffers();
    use_as_little();
    pfd_wire_write_start(put, NULL);
    put_frame(PFD_WIRE_BUFFER, 1, 1);
    feed_all(&memory, 1);
    ck_assert_uint_eq(d.count.bad_frames, 1);
    ck_assert_uint_eq(pfdd_fd_store_count(d.ingest.fd_store), 0);
    end_stream();
    ck_assert(await_end());
}
END_TEST

int main(void)
{
    return suite_run_with(
        "stream", setup, teardown,
        TESTS(done_and_restart_at_once, resume_may_end_the_stream,
              numbers_are_void_when_a_stream_begins,
              memory_is_kept_for_one_buffer, what_is_not_followed_is_not_kept),
        20);
}
