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

#include <printfdecode/subscriber.h>

#include "../../unit/suite.h"
#include "bricks.h"
#include "made.h"
#include "spool/spool.h"

enum {
    SEGMENT = 1 << 20, /* a quarter of queue_max */
    MANY = 4000,       /* entries at once; a segment has some ten times more */
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

static void hear_and_ack(struct heard *h)
{
    hear(h);
    if (last_heard(h))
        send_ack(h, last_heard(h));
}

/* So many entries at once, of 300 bytes of JSON each, 28 on disk. h: who has to
 * have others for that, or NULL. */
static void put_lines(unsigned n, struct heard *h)
{
    struct pfdd_stamp stamp = { .source = pfdd_source_table_find(
                                    &d.source_table, "s", ""),
                                .time = 1,
                                .buffer = made.buffer };
    uint64_t began = uv_hrtime();
    made_entries(&made, n);
    while (pfdd_ring_is_full(&d.ring) && !is_late(began)) {
        turn();
        if (h)
            hear_and_ack(h);
    }
    pfdd_ring_append(&d.ring, &stamp, made_chunk(&made));
}

static struct pfdd_spool_state state_of(void)
{
    struct pfdd_spool_state state;
    pfdd_spool_state(d.spool, &state);
    return state;
}

static uint64_t last_seq(void)
{
    return d.ring.next_seq - 1;
}

/* Until all entries are on disk. */
static void await_disk(void)
{
    uint64_t began = uv_hrtime();
    while (!is_late(began)) {
        turn();
        if (state_of().durable == last_seq())
            return;
    }
    ck_abort_msg("entries do not come to disk");
}

static void put_segments(unsigned n)
{
    while (state_of().segments < n) {
        put_lines(MANY, NULL);
        await_disk();
    }
}

/* The next lines [*n]; NULL: there are none. */
static const char *next_lines(struct pfdd_consumer *c, size_t *n)
{
    uint64_t began = uv_hrtime();
    const char *bytes = NULL;
    while (!pfdd_consumer_peek(c, &bytes, n)) {
        if (!pfdd_consumer_is_busy(c) && c->passed == state_of().durable)
            return NULL;
        ck_assert(!is_late(began));
        turn();
    }
    return bytes;
}

/* Lines that the consumer can read, one after the other. */
static size_t read_all(struct pfdd_consumer *c)
{
    size_t n = 0;
    size_t n_lines = 0;
    const char *bytes = NULL;
    while ((bytes = next_lines(c, &n))) {
        for (size_t i = 0; i < n; i++)
            n_lines += bytes[i] == '\n';
        pfdd_consumer_take(c, n);
    }
    return n_lines;
}

START_TEST(what_is_owed_outlasts_the_end)
{
    char a_name[] = "a";
    char b_name[] = "b";
    struct pfdd_consumer a = consumer_of(a_name);
    struct pfdd_consumer b = consumer_of(b_name);
    start(FILE_ONLY);
    pfdd_spool_join(d.spool, &a);
    pfdd_spool_join(d.spool, &b);
    put_segments(3);
    uint64_t n = read_all(&a);
    ck_assert_uint_eq(n, last_seq());
    /* Its checkpoint comes when the others have left. */
    pfdd_consumer_ack(&a, n);
    pfdd_stop(&d);
    pfdd_spool_leave(d.spool, &a);
    pfdd_spool_leave(d.spool, &b);
    stop();
    start(FILE_ONLY);
    pfdd_spool_join(d.spool, &a);
    pfdd_spool_join(d.spool, &b);
    ck_assert_uint_eq(read_all(&a), 0);
    ck_assert_uint_eq(read_all(&b), n);
    pfdd_spool_leave(d.spool, &a);
    pfdd_spool_leave(d.spool, &b);
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
    pfdd_spool_join(d.spool, &a);
    put_segments(3);
    read_all(&a);
    await(&h, "\n", last_seq());
    char text[64];
    int n = snprintf(text, sizeof text, "{\"ack\":%d}\n", (int)last_seq());
    ck_assert_int_eq(write(h.fd, text, (size_t)n), n);
    pfdd_consumer_ack(&a, last_seq());
    while (state_of().segments > 1 && !is_late(began))
        turn();
    ck_assert_uint_eq(state_of().segments, 1);
    ck_assert_uint_eq(state_of().bytes, SEGMENT);
    pfdd_spool_leave(d.spool, &a);
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
    pfdd_spool_join(d.spool, &a);
    put_segments(3);
    harm();
    uint64_t n = read_all(&a);
    ck_assert_uint_gt(n, 3);
    ck_assert_uint_lt(n, last_seq());
    ck_assert_uint_gt(state_of().cut, SEGMENT);
    ck_assert_uint_eq(a.given, last_seq());
    pfdd_consumer_ack(&a, a.given);
    /* The end of the last segment, too, and nothing waits for it. */
    put_lines(3, NULL);
    await_disk();
    char *text = fill("cd $T/state/queue && rm *.seg");
    ck_assert_int_eq(system(text), 0);
    free(text);
    pfdd_consumer_rewind(&a);
    ck_assert_uint_eq(read_all(&a), 0);
    ck_assert_uint_eq(a.acked, last_seq());
    pfdd_spool_leave(d.spool, &a);
    stop();
}
END_TEST

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

/* The batches that there are, whose items follow *seq, one another. */
static void take_batches(struct pfd_subscriber *subscriber, uint64_t *seq)
{
    const struct pfd_batch *batch;
    struct pfd_error err;
    while (pfd_subscriber_next(subscriber, &batch, &err) == PFD_OK) {
        struct pfd_chunk_item *item;
        uint64_t at = 0;
        while (pfd_subscriber_item(subscriber, &item, &at, &err) == PFD_OK) {
            ck_assert_int_eq(item->type, PFD_CHUNK_ENTRY);
            ck_assert_uint_eq(at, *seq + 1);
            *seq = at;
        }
    }
}

/* Entries that the consumer can read, behind one, up to another or further; the
 * last one. */
static uint64_t read_entries(struct pfdd_consumer *c, uint64_t seq,
                             uint64_t end)
{
    struct pfd_subscriber *subscriber = NULL;
    const char *bytes = NULL;
    size_t n = 0;
    ck_assert_int_eq(pfd_subscriber_new(NULL, &subscriber, NULL), PFD_OK);
    while (seq < end && (bytes = next_lines(c, &n))) {
        size_t taken = 0;
        ck_assert_int_eq(
            pfd_subscriber_feed(subscriber, bytes, n, &taken, NULL), PFD_OK);
        pfdd_consumer_take(c, taken);
        take_batches(subscriber, &seq);
    }
    pfd_subscriber_free(subscriber);
    return seq;
}

/* As lines, and as entries, from whatever was acknowledged last, also where
 * something else is on its way. */
START_TEST(entries_go_on_behind_what_was_acknowledged)
{
    char name[] = "a";
    struct pfdd_consumer a = consumer_of(name);
    start(FILE_ONLY);
    pfdd_spool_join(d.spool, &a);
    put_segments(2);
    uint64_t last = last_seq();
    for (uint64_t seq = 1; seq < last; seq += last / 7) {
        const char *bytes = NULL;
        size_t n = 0;
        pfdd_consumer_begin(&a, true);
        ck_assert_uint_ge(read_entries(&a, a.acked, seq), seq);
        pfdd_consumer_ack(&a, seq);
        ck_assert_uint_ge(a.acked, seq);
        pfdd_consumer_begin(&a, false);
        (void)pfdd_consumer_peek(&a, &bytes, &n);
    }
    uint64_t acked = a.acked;
    pfdd_consumer_begin(&a, true);
    ck_assert_uint_eq(read_entries(&a, acked, UINT64_MAX), last);
    pfdd_consumer_begin(&a, false);
    ck_assert_uint_eq(read_all(&a), last - acked);
    pfdd_spool_leave(d.spool, &a);
    stop();
}
END_TEST

/* Lines come, go to disk, are read, acknowledged and freed, and the state is
 * looked at, all at once. */
START_TEST(all_at_once)
{
    char path[128];
    start(with_subscriber);
    struct heard h = subscribe(NULL);
    for (int i = 0; i < 1500; i++) {
        /* Many fill a good part of the queue by themselves. */
        put_lines(i % 200 == 99 ? MANY : 1 + (unsigned)i % 10, &h);
        if (i % 10 == 0)
            turn();
        hear_and_ack(&h);
        struct pfdd_spool_state state = state_of();
        ck_assert_uint_eq(state.bytes, state.segments * SEGMENT);
        ck_assert_uint_le(state.segments, 4);
    }
    uint64_t began = uv_hrtime();
    while (last_heard(&h) < last_seq() && !is_late(began)) {
        turn();
        hear_and_ack(&h);
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
    return suite_run_with(
        "queue", make_temp, remove_temp,
        TESTS(what_is_owed_outlasts_the_end, what_everybody_has_goes,
              what_is_damaged_is_passed_over,
              entries_go_on_behind_what_was_acknowledged, all_at_once),
        TEST_S);
}
