/* SPDX-License-Identifier: MIT */
/*
 * Subscribers that read all at the same time: threads write into their sockets,
 * and each has what it would have alone, however others leave meanwhile.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <check.h>

#include "../../unit/suite.h"
#include "bricks.h"
#include "ring/cursor.h"

enum {
    TIMES = 100, /* that the dump's entries are in the buffer */
    HEADER = 16, /* bytes, of which the first eight are the dwords behind it */
    READERS = 4,
};

static const char entry[] = "\"type\":\"entry\"";
static const char all[] = "{\"from\":\"oldest\",\"output\":\"json\"}\n";
static const char web[] = "GET /lines?from=oldest HTTP/1.0\r\n\r\n";
static const char outputs[] =
    "outputs:\n  - {type: listen, address: \"unix:$T/l.sock\"}\n"
    "  - {type: http, address: \"unix:$T/w.sock\"}\n";
static const char yaml[] = "log_level: error\nworkers: 8\ncode_objects: [$E]\n"
                           "inputs:\n  - {type: buffer, path: $T/b}\n";
static size_t n_expected;

/* A buffer with much in it. */
static void make_buffer(void)
{
    uint64_t n_dwords = 0;
    size_t n = 0;
    char *dump = slurp(dump_path, &n);
    memcpy(&n_dwords, dump, sizeof n_dwords);
    size_t n_body = (size_t)n_dwords * 4;
    char *much = malloc(HEADER + TIMES * n_body);
    ck_assert_uint_le(HEADER + n_body, n);
    memcpy(much, dump, HEADER);
    n_dwords *= TIMES;
    memcpy(much, &n_dwords, sizeof n_dwords);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(much + HEADER + i * n_body, dump + HEADER, n_body);
    spit("b", much, HEADER + TIMES * n_body);
    n_expected = count_entries(much, HEADER + TIMES * n_body);
    free(much);
    free(dump);
}

static void setup(void)
{
    make_temp();
    make_buffer();
}

static void begin(const char *more)
{
    char *text = NULL;
    ck_assert_int_gt(asprintf(&text, "%s%s", more, outputs), 0);
    start(text);
    free(text);
    /* One that has all: it is in the ring. */
    struct heard h = subscribe(all);
    await(&h, entry, n_expected);
    hang_up(&h);
}

static struct heard browse(void)
{
    struct heard h = { .fd = dial("w.sock") };
    ck_assert_int_eq(write(h.fd, web, strlen(web)), (ssize_t)strlen(web));
    return h;
}

static unsigned n_away(void)
{
    return d.thread_pools.senders ? pfdd_pool_pending(d.thread_pools.senders)
                                  : 0;
}

static unsigned count_fds(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 1000; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Reads a little of each, until bytes of one are on their way. */
static void await_away(struct heard *h, size_t n)
{
    uint64_t began = uv_hrtime();
    while (!n_away() && !is_late(began)) {
        for (size_t i = 0; i < n; i++)
            hear(&h[i]);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    ck_assert_uint_gt(n_away(), 0);
}

/* Until each has all; returns of how many bytes were on their way at a time, at
 * most. */
static unsigned await_all(struct heard *h, size_t n)
{
    unsigned most = 0;
    size_t left = n;
    uint64_t began = uv_hrtime();
    while (left && !is_late(began)) {
        uv_run(&loop, UV_RUN_NOWAIT);
        most = n_away() > most ? n_away() : most;
        left = 0;
        for (size_t i = 0; i < n; i++) {
            size_t before = h[i].n;
            hear(&h[i]); /* counting what still comes takes time */
            left += h[i].n != before || count(&h[i], entry) < n_expected;
        }
    }
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_eq(count(&h[i], entry), n_expected);
    return most;
}

/* ---- tests ---- */

START_TEST(each_has_all_of_it)
{
    struct heard h[READERS + 1];
    begin(yaml);
    for (size_t i = 0; i < READERS; i++)
        h[i] = subscribe(all);
    h[READERS] = browse();
    ck_assert_uint_gt(await_all(h, READERS + 1), 0);
    for (size_t i = 1; i < READERS; i++) {
        ck_assert_uint_eq(h[i].n, h[0].n);
        ck_assert_int_eq(memcmp(h[i].bytes, h[0].bytes, h[0].n), 0);
    }
    const char *body = strstr(h[READERS].bytes, "\r\n\r\n") + 4;
    ck_assert_int_eq(memcmp(body, h[0].bytes, h[0].n), 0);
    for (size_t i = 0; i < READERS + 1; i++)
        hang_up(&h[i]);
    stop();
}
END_TEST

static void expect_none(const char *text, size_t n)
{
    struct heard h[READERS];
    begin(text);
    for (size_t i = 0; i < n; i++)
        h[i] = subscribe(all);
    ck_assert_uint_eq(await_all(h, n), 0);
    for (size_t i = 0; i < n; i++)
        hang_up(&h[i]);
    stop();
}

START_TEST(one_alone_needs_no_thread)
{
    expect_none(yaml, 1);
}
END_TEST

START_TEST(few_processors_have_none)
{
    char *few = strdup(yaml);
    *(strstr(few, "workers: ") + strlen("workers: ")) = '3';
    expect_none(few, READERS);
    free(few);
}
END_TEST

START_TEST(who_leaves_takes_nobody_along)
{
    begin(yaml);
    stop(); /* libuv has what it keeps */
    unsigned n_fds = count_fds();
    begin(yaml);
    for (int round = 0; round < 20; round++) {
        struct heard h[READERS];
        for (size_t i = 0; i < READERS - 1; i++)
            h[i] = subscribe(all);
        h[READERS - 1] = browse();
        await_away(h, READERS);
        /* With bytes that they have not read, and those that only say that they
         * say nothing more. */
        hang_up(&h[1]);
        hang_up(&h[READERS - 1]);
        shutdown(h[2].fd, SHUT_WR);
        await(&h[0], entry, n_expected);
        await(&h[2], entry, n_expected);
        hang_up(&h[0]);
        hang_up(&h[2]);
    }
    stop();
    ck_assert_uint_eq(count_fds(), n_fds);
}
END_TEST

/* Not for want of memory either, however long it takes. */
START_TEST(what_is_on_its_way_stays)
{
    begin(yaml);
    struct heard h[] = { subscribe(all), subscribe(all) };
    await_away(h, 2);
    usleep(300000);
    while (d.render_cache.readers->take_back(&d.ring, false)) {
        /* of the other one */
    }
    ck_assert_uint_gt(n_away(), 0);
    await(&h[0], entry, n_expected);
    await(&h[1], entry, n_expected);
    hang_up(&h[0]);
    hang_up(&h[1]);
    stop();
}
END_TEST

/* Closed by us, in the middle: the sockets are nobody else's until the threads
 * have come back. */
START_TEST(outputs_are_closed_meanwhile)
{
    char path[128];
    char *none = fill(yaml);
    snprintf(path, sizeof path, "%s/c.yaml", temp);
    begin(yaml);
    stop();
    for (int round = 0; round < 5; round++) {
        struct heard h[READERS];
        int fds[READERS][2];
        unsigned n_fds = count_fds();
        begin(yaml);
        d.config_path = path;
        for (size_t i = 0; i < READERS - 1; i++)
            h[i] = subscribe(all);
        h[READERS - 1] = browse();
        await_away(h, READERS);
        spit("c.yaml", none, strlen(none));
        pfdd_reload(&d);
        ck_assert_uint_eq(d.count.reloads, 1);
        ck_assert_uint_gt(n_away(), 0);
        for (size_t i = 0; i < READERS; i++) {
            /* Numbers that were free by now. */
            ck_assert_int_eq(
                socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds[i]), 0);
        }
        uint64_t began = uv_hrtime();
        for (size_t i = 0; i < READERS; i++) {
            while (!h[i].ended && !is_late(began)) {
                turn();
                hear(&h[i]);
            }
            ck_assert(h[i].ended);
            ck_assert_uint_lt(count(&h[i], entry), n_expected);
        }
        ck_assert_uint_eq(n_away(), 0);
        for (size_t i = 0; i < READERS; i++) {
            char byte;
            ck_assert_int_lt(read(fds[i][0], &byte, 1), 0);
            ck_assert_int_lt(read(fds[i][1], &byte, 1), 0);
            close(fds[i][0]);
            close(fds[i][1]);
            hang_up(&h[i]);
        }
        stop();
        ck_assert_uint_eq(count_fds(), n_fds);
    }
    free(none);
}
END_TEST

int main(int argc, char **argv)
{
    take_arguments(argv);
    return suite_run_with(
        "pump", setup, remove_temp,
        TESTS(each_has_all_of_it, one_alone_needs_no_thread,
              few_processors_have_none, who_leaves_takes_nobody_along,
              what_is_on_its_way_stays, outputs_are_closed_meanwhile),
        TEST_S);
}
