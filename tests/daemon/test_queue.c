/* SPDX-License-Identifier: MIT */
/* The queue on disk: what it owes to outputs, who reads and acknowledges, while
 * the disk's thread writes. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <check.h>

#include "../unit/suite.h"
#include "bricks.h"
#include "delivery/queue.h"
#include "made.h"

enum {
    SEGMENT = 1 << 20, /* a quarter of queue_max */
    ROOM = 64 * 1024,  /* read at once */
};

#define FILE_ONLY                                                    \
    "state_dir: $T/state\nqueue_max: 4MiB\nring: 1MiB\ndrain: 60s\n" \
    "inputs: [{type: buffer, path: $T/none}]\n"                      \
    "outputs:\n  - {type: file, path: $T/out, required: true}\n"

static const char with_subscriber[] = FILE_ONLY
    "  - {type: listen, address: \"unix:$T/l.sock\", required: true}\n";

static void ignore(struct pfdd_consumer *consumer)
{
}

static struct pfdd_consumer consumer_of(char *name)
{
    return (
        struct pfdd_consumer){ .name = name, .wake = ignore, .absent = true };
}

static struct made made;

/* So many entries at once, of 300 bytes of JSON each. */
static void put_lines(unsigned n)
{
    struct pfdd_stamp stamp = { .source = pfdd_sources_find(&d.sources, "s"),
                                .time = 1,
                                .buffer = made.buffer };
    uint64_t began = uv_hrtime();
    made_entries(&made, n);
    while (pfdd_ring_is_full(&d.ring) && !is_late(began))
        turn();
    pfdd_ring_append(&d.ring, &stamp, made_chunk(&made));
}

static struct pfdd_queue_state state_of(void)
{
    struct pfdd_queue_state state;
    pfdd_queue_state(d.queue, &state);
    return state;
}

static uint64_t last_seq(void)
{
    return d.ring.next_seq - 1;
}

/* Until all lines are on disk, and a consumer has something to read. */
static void await_disk(struct pfdd_consumer *c)
{
    uint64_t began = uv_hrtime();
    while (!is_late(began)) {
        turn();
        pfdd_queue_aim(d.queue, c);
        pfdd_queue_took(d.queue, c);
        if (state_of().durable == last_seq())
            return;
    }
    ck_abort_msg("lines do not come to disk");
}

static void put_segments(struct pfdd_consumer *c, unsigned n)
{
    while (state_of().segments < n) {
        put_lines(300);
        await_disk(c);
    }
}

/* Lines that the consumer can read, one after the other. */
static size_t read_all(struct pfdd_consumer *c)
{
    char *bytes = malloc(ROOM + PFDD_QUEUE_LINE_MAX);
    size_t n_lines = 0;
    while (pfdd_queue_aim(d.queue, c)) {
        size_t n = pfdd_queue_read(d.queue, c, bytes, ROOM);
        for (size_t i = 0; i < n; i++)
            n_lines += bytes[i] == '\n';
        ck_assert(pfdd_queue_took(d.queue, c));
    }
    free(bytes);
    return n_lines;
}

START_TEST(what_is_owed_outlasts_the_end)
{
    char a_name[] = "a";
    char b_name[] = "b";
    struct pfdd_consumer a = consumer_of(a_name);
    struct pfdd_consumer b = consumer_of(b_name);
    start(FILE_ONLY);
    pfdd_queue_join(d.queue, &a);
    pfdd_queue_join(d.queue, &b);
    put_segments(&a, 3);
    uint64_t n = read_all(&a);
    ck_assert_uint_eq(n, last_seq());
    /* Its checkpoint comes when the others have left. */
    pfdd_queue_ack(d.queue, &a, n);
    pfdd_stop(&d);
    pfdd_queue_leave(d.queue, &a);
    pfdd_queue_leave(d.queue, &b);
    stop();
    start(FILE_ONLY);
    pfdd_queue_join(d.queue, &a);
    pfdd_queue_join(d.queue, &b);
    ck_assert_uint_eq(read_all(&a), 0);
    ck_assert_uint_eq(read_all(&b), n);
    pfdd_queue_leave(d.queue, &a);
    pfdd_queue_leave(d.queue, &b);
    stop();
}
END_TEST

START_TEST(what_everybody_has_goes)
{
    char name[] = "a";
    struct pfdd_consumer a = consumer_of(name);
    uint64_t began = uv_hrtime();
    start(with_subscriber);
    struct heard h = subscribe(NULL);
    pfdd_queue_join(d.queue, &a);
    put_segments(&a, 3);
    read_all(&a);
    await(&h, "\n", last_seq());
    char text[64];
    int n = snprintf(text, sizeof text, "{\"ack\":%d}\n", (int)last_seq());
    ck_assert_int_eq(write(h.fd, text, (size_t)n), n);
    pfdd_queue_ack(d.queue, &a, last_seq());
    while (state_of().segments > 1 && !is_late(began))
        turn();
    ck_assert_uint_eq(state_of().segments, 1);
    ck_assert_uint_eq(state_of().bytes, SEGMENT);
    pfdd_queue_leave(d.queue, &a);
    hang_up(&h);
    stop();
}
END_TEST

/* Breaks the queue's oldest segment in the middle, and removes the next. */
static void harm(void)
{
    static const char command[] = "cd $T/state/queue && set -- *.seg && "
                                  "printf bad | dd of=$$1 bs=1 seek=500000 "
                                  "conv=notrunc status=none && rm $$2";
    char *text = fill(command);
    ck_assert_int_eq(system(text), 0);
    free(text);
}

START_TEST(what_is_damaged_is_passed_over)
{
    char name[] = "a";
    struct pfdd_consumer a = consumer_of(name);
    pfdd_log_level(PFDD_ERROR);
    start(with_subscriber);
    pfdd_queue_join(d.queue, &a);
    put_segments(&a, 3);
    harm();
    uint64_t n = read_all(&a);
    ck_assert_uint_gt(n, 3);
    ck_assert_uint_lt(n, last_seq());
    ck_assert_uint_gt(state_of().cut, SEGMENT);
    ck_assert_uint_eq(a.given, last_seq());
    /* The end of the last segment, too, and nothing waits for it. */
    put_lines(3);
    await_disk(&a);
    char *text = fill("cd $T/state/queue && rm *.seg");
    ck_assert_int_eq(system(text), 0);
    free(text);
    pfdd_segment_reader_deinit(&a.reader);
    ck_assert_uint_eq(read_all(&a), 0);
    pfdd_queue_ack(d.queue, &a, a.given);
    ck_assert_uint_eq(a.acked, last_seq());
    pfdd_queue_leave(d.queue, &a);
    stop();
}
END_TEST

static uint64_t last_heard(const struct heard *h)
{
    static const char key[] = "\"sequence\":";
    const char *end = h->n ? memrchr(h->bytes, '\n', h->n) : NULL;
    const char *line = end > h->bytes
                           ? memrchr(h->bytes, '\n', (size_t)(end - h->bytes))
                           : NULL;
    const char *at = end ? strstr(line ? line : h->bytes, key) : NULL;
    return at ? strtoull(at + sizeof key - 1, NULL, 10) : 0;
}

static void send_ack(const struct heard *h, uint64_t seq)
{
    char text[64];
    int n = snprintf(text, sizeof text, "{\"ack\":%llu}\n",
                     (unsigned long long)seq);
    ck_assert_int_eq(write(h->fd, text, (size_t)n), n);
}

/* All have their consecutive numbers. */
static void check_lines(const char *bytes, size_t n, uint64_t last)
{
    static const char key[] = "\"sequence\":";
    uint64_t seq = 0;
    const char *end = bytes + n;
    while (bytes < end) {
        size_t n_begin = end - bytes < 200 ? (size_t)(end - bytes) : 200;
        const char *at = memmem(bytes, n_begin, key, sizeof key - 1);
        ck_assert_ptr_nonnull(at);
        ck_assert_uint_eq(strtoull(at + sizeof key - 1, NULL, 10), ++seq);
        bytes = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    }
    ck_assert_uint_eq(seq, last);
}

/* Lines come, go to disk, are read, acknowledged and freed, and the state is
 * looked at, all at once. */
START_TEST(all_at_once)
{
    char path[128];
    start(with_subscriber);
    struct heard h = subscribe(NULL);
    for (int i = 0; i < 1500; i++) {
        /* Many fill the queue by themselves. */
        put_lines(i % 200 == 99 ? 3000 : 1 + (unsigned)i % 10);
        if (i % 10 == 0)
            turn();
        hear(&h);
        struct pfdd_queue_state state = state_of();
        ck_assert_uint_eq(state.bytes, state.segments * SEGMENT);
        ck_assert_uint_le(state.segments, 4);
        if (last_heard(&h))
            send_ack(&h, last_heard(&h));
    }
    uint64_t began = uv_hrtime();
    while (last_heard(&h) < last_seq() && !is_late(began)) {
        turn();
        hear(&h);
        if (last_heard(&h))
            send_ack(&h, last_heard(&h));
    }
    check_lines(h.bytes, h.n, last_seq());
    send_ack(&h, last_seq());
    turn_for(20);
    hear(&h);
    ck_assert(!h.ended);
    uint64_t last = last_seq();
    send_ack(&h, last + 1);
    await(&h, "is the number of a line that was sent", 1);
    hang_up(&h);
    stop();
    ck_assert_uint_eq(d.ring.next_seq, last + 1);
    snprintf(path, sizeof path, "%s/out", temp);
    size_t n = 0;
    char *out = slurp(path, &n);
    check_lines(out, n, last);
    free(out);
}
END_TEST

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    if (argc < 3 || !made_init(&made, argv[2], argv[1], "s"))
        return EXIT_FAILURE;
    return suite_run_with("queue", make_temp, remove_temp,
                          TESTS(what_is_owed_outlasts_the_end,
                                what_everybody_has_goes,
                                what_is_damaged_is_passed_over, all_at_once),
                          TEST_S);
}
