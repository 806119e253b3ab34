/* SPDX-License-Identifier: MIT */
/*
 * The daemon in this process: its loop is turned by the test between looks at
 * plain sockets. Each test ends with pfdd_stop() and uv_loop_close() == 0.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <check.h>

#include <printfdecode/wire.h>

#include "../../unit/suite.h"
#include "bricks.h"
#include "ingest/string_store.h"
#include "spool/spool.h"
#include "stream/capture/wire.h"

static char *dump;
static size_t n_dump;
static size_t n_expected; /* entries of dump */

static void setup(void)
{
    make_temp();
    dump = slurp(dump_path, &n_dump);
    n_expected = count_entries(dump, n_dump);
    ck_assert_uint_gt(n_expected, 0);
}

static void teardown(void)
{
    free(dump);
    remove_temp();
}

/* ---- frames ---- */

struct bytes {
    char *at;
    size_t n;
};

static bool gather(void *user, const void *bytes, size_t n)
{
    struct bytes *b = user;
    b->at = realloc(b->at, b->n + n + 1);
    memcpy(b->at + b->n, bytes, n);
    b->n += n;
    return true;
}

static struct bytes capture(uint64_t fds)
{
    struct bytes b = { 0 };
    size_t n_elf = 0;
    char *elf = slurp(elf_path, &n_elf);
    struct pfd_wire_frame hello = { .type = PFD_WIRE_HELLO, .pid = 42 };
    hello.process = pfd_wire_text("producer");
    struct pfd_wire_frame object = { .type = PFD_WIRE_CODE_OBJECT,
                                     .code_object = 1 };
    object.bytes = (struct pfd_wire_bytes){ elf, n_elf };
    struct pfd_wire_frame buffer = {
        .type = PFD_WIRE_BUFFER, .buffer = 1, .size = n_dump, .fds = fds
    };
    buffer.name = pfd_wire_text("b");
    struct pfd_wire_frame data = { .type = PFD_WIRE_DATA, .buffer = 1 };
    data.bytes = (struct pfd_wire_bytes){ dump, n_dump };
    struct pfd_wire_frame done = { .type = PFD_WIRE_DONE, .buffer = 1 };
    pfd_wire_write_start(gather, &b);
    pfd_wire_write(&hello, gather, &b, NULL);
    pfd_wire_write(&object, gather, &b, NULL);
    pfd_wire_write(&buffer, gather, &b, NULL);
    if (!fds) {
        pfd_wire_write(&data, gather, &b, NULL);
        pfd_wire_write(&done, gather, &b, NULL);
    }
    free(elf);
    return b;
}

static void send_all(int fd, const char *bytes, size_t n, size_t piece)
{
    while (n) {
        ssize_t done = send(fd, bytes, n < piece ? n : piece, MSG_NOSIGNAL);
        if (done < 0 && errno != EAGAIN)
            return;
        if (done > 0) {
            bytes += done;
            n -= (size_t)done;
        }
        uv_run(&loop, UV_RUN_NOWAIT);
    }
}

static const char sockets[] =
    "inputs:\n  - {type: listen, address: \"unix:$T/in.sock\"}\n"
    "outputs:\n  - {type: listen, address: \"unix:$T/l.sock\"}\n";

static const char follow[] =
    "code_objects: [$E]\n"
    "inputs:\n  - {type: buffer, path: $T/b, name: b}\n"
    "outputs:\n  - {type: listen, address: \"unix:$T/l.sock\"}\n";

/* ---- tests ---- */

START_TEST(stores_reach_subscribers)
{
    char path[128];
    char *empty = calloc(1, n_dump);
    spit("b", empty, n_dump);
    free(empty);
    start(follow);
    struct heard json = subscribe(NULL);
    struct heard text = subscribe("{\"output\":\"text\"}\n");
    struct heard some = subscribe("{\"match\":\"no such text\"}\n");
    turn_for(150);
    snprintf(path, sizeof path, "%s/b", temp);
    int fd = open(path, O_RDWR);
    char *memory = mmap(NULL, n_dump, PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(memory, MAP_FAILED);
    memcpy(memory + 16, dump + 16, n_dump - 16);
    memcpy(memory, dump, 16);
    await(&json, "\"type\":\"entry\"", n_expected);
    await(&text, "\n", n_expected);
    hear(&some);
    ck_assert_uint_eq(some.n, 0);
    /* The driver clears the header: the next generation. */
    memset(memory, 0, 16);
    turn_for(50);
    memset(memory + 16, 0, n_dump - 16);
    memcpy(memory + 16, dump + 16, n_dump - 16);
    memcpy(memory, dump, 16);
    await(&json, "\"type\":\"entry\"", 2 * n_expected);
    ck_assert_uint_ge(count(&json, "\"generation\":1"), n_expected);
    munmap(memory, n_dump);
    close(fd);
    hang_up(&json);
    hang_up(&text);
    hang_up(&some);
    stop();
}
END_TEST

START_TEST(frames_arrive_in_pieces)
{
    static const size_t pieces[] = { 1, 7, 4096, 1 << 20 };
    struct bytes b = capture(0);
    start(sockets);
    for (unsigned i = 0; i < 4; i++) {
        struct heard h = subscribe("{\"output\":\"json\"}\n");
        turn_for(20);
        int fd = dial("in.sock");
        send_all(fd, b.at, b.n, pieces[i]);
        await(&h, "\"type\":\"entry\"", n_expected);
        ck_assert_uint_eq(count(&h, "\"process\":\"producer\""), n_expected);
        hang_up(&h);
        close(fd);
    }
    free(b.at);
    stop();
}
END_TEST

START_TEST(garbage_ends_its_sender_only)
{
    struct bytes b = capture(0);
    start(sockets);
    srand(1);
    for (int i = 0; i < 60; i++) {
        int fd = dial("in.sock");
        struct bytes bad = { malloc(b.n), b.n };
        memcpy(bad.at, b.at, b.n);
        if (i % 3 == 0) { /* noise */
            for (size_t k = 0; k < bad.n; k++)
                bad.at[k] = (char)rand();
        } else if (i % 3 == 1) { /* flipped bytes */
            for (int k = 0; k < 20; k++)
                bad.at[(size_t)rand() % bad.n] ^= (char)(1 + rand() % 255);
        } else { /* cut */
            bad.n = (size_t)rand() % bad.n;
        }
        send_all(fd, bad.at, bad.n, 8192);
        turn_for(2);
        close(fd);
        free(bad.at);
    }
    turn_for(300);
    ck_assert_uint_gt(d.count.bad_frames, 0);
    struct heard h = subscribe("{\"from\":\"now\"}\n");
    turn_for(20);
    int fd = dial("in.sock");
    send_all(fd, b.at, b.n, 65536);
    await(&h, "\"type\":\"entry\"", n_expected);
    close(fd);
    hang_up(&h);
    free(b.at);
    stop();
}
END_TEST

static void send_memory(int fd, int memory, const struct bytes *b)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = { { 0 } };
    struct iovec io = { b->at, b->n };
    struct msghdr message = { .msg_iov = &io,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &memory, sizeof memory);
    ck_assert_int_eq(sendmsg(fd, &message, 0), (ssize_t)b->n);
}

START_TEST(shared_memory_wants_a_seal)
{
    struct bytes b = capture(1);
    start(sockets);
    for (int sealed = 0; sealed < 2; sealed++) {
        struct heard h = subscribe("{\"output\":\"json\"}\n");
        turn_for(20);
        int memory = memfd_create("b", MFD_ALLOW_SEALING | MFD_CLOEXEC);
        ck_assert_int_eq(ftruncate(memory, (off_t)n_dump), 0);
        if (sealed)
            fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK);
        int fd = dial("in.sock");
        send_memory(fd, memory, &b);
        turn_for(50);
        ck_assert_int_eq(pwrite(memory, dump + 16, n_dump - 16, 16),
                         (ssize_t)n_dump - 16);
        ck_assert_int_eq(pwrite(memory, dump, 16, 0), 16);
        if (sealed) {
            await(&h, "\"type\":\"entry\"", n_expected);
        } else {
            await(&h, "\"reason\":\"bad_frame\"", 1);
        }
        close(fd);
        close(memory);
        hang_up(&h);
    }
    free(b.at);
    stop();
}
END_TEST

START_TEST(bad_requests_are_refused)
{
    static const char *const bad[] = {
        "x\n",
        "[]\n",
        "{\"from\":-1}\n",
        "{\"nope\":1}\n",
        "{\"match\":\"(\"}\n",
        "{\"match\":\"((a{999}){999}){999}\"}\n",
        "{\"output\":\"xml\"}\n",
        "{\"from\":\"yesterday\"}\n",
    };
    start(sockets);
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct heard h = subscribe(bad[i]);
        await(&h, "{\"type\":\"error\",\"text\":", 1);
        hang_up(&h);
    }
    struct heard h = { .fd = dial("l.sock") };
    char *many = malloc(5000);
    memset(many, 'x', 5000);
    ck_assert_int_eq(write(h.fd, many, 5000), 5000);
    await(&h, "longer than", 1);
    free(many);
    hang_up(&h);
    stop();
}
END_TEST

START_TEST(who_stalls_gets_a_gap)
{
    char yaml[512];
    struct bytes b = capture(0);
    snprintf(yaml, sizeof yaml, "ring: 1MiB\n%s", sockets);
    start(yaml);
    d.ring.n_bytes_max = 100 * 1024; /* of which a configuration has more */
    struct heard slow = subscribe("{\"output\":\"json\"}\n");
    int small = 4096;
    setsockopt(slow.fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    struct heard fast = subscribe("{\"output\":\"text\"}\n");
    turn_for(20);
    size_t total = 0;
    while (total < 9000) {
        int fd = dial("in.sock");
        send_all(fd, b.at, b.n, 1 << 20);
        total += n_expected;
        close(fd);
        await(&fast, "\n", total);
    }
    ck_assert_uint_eq(count(&fast, "! gap"), 0);
    await(&slow, "\"reason\":\"subscriber_lag\"", 1);
    for (int i = 0; i < 2000; i++) {
        turn();
        hear(&slow);
    }
    const char *gap = strstr(slow.bytes, "\"missed\":");
    ck_assert_uint_eq(strtoull(gap + 9, NULL, 10) +
                          count(&slow, "\"type\":\"entry\""),
                      total);
    hang_up(&slow);
    hang_up(&fast);
    free(b.at);
    stop();
}
END_TEST

START_TEST(files_are_cut_and_replaced)
{
    char path[128];
    char other[128];
    start(follow);
    struct heard h = subscribe("{\"output\":\"json\"}\n");
    turn_for(50);
    spit("b", dump, n_dump);
    await(&h, "\"type\":\"entry\"", n_expected);
    snprintf(path, sizeof path, "%s/b", temp);
    ck_assert_int_eq(truncate(path, 40), 0);
    await(&h, "\"reason\":\"truncated\"", 1);
    ck_assert_int_eq(unlink(path), 0);
    turn_for(300);
    spit("c", dump, n_dump);
    snprintf(other, sizeof other, "%s/c", temp);
    ck_assert_int_eq(rename(other, path), 0);
    await(&h, "\"type\":\"entry\"", 2 * n_expected);
    ck_assert_uint_eq(d.count.replaced, 1);
    hang_up(&h);
    stop();
}
END_TEST

START_TEST(descriptors_run_out_and_come_back)
{
    struct rlimit before;
    struct heard many[64];
    start(sockets);
    turn_for(20);
    getrlimit(RLIMIT_NOFILE, &before);
    for (int i = 0; i < 64; i++)
        many[i] = subscribe("{\"output\":\"json\"}\n");
    struct rlimit low = { 80, before.rlim_max };
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    turn_for(500);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    turn_for(500);
    struct bytes b = capture(0);
    int fd = dial("in.sock");
    send_all(fd, b.at, b.n, 65536);
    await(&many[63], "\"type\":\"entry\"", n_expected);
    close(fd);
    for (int i = 0; i < 64; i++)
        hang_up(&many[i]);
    free(b.at);
    stop();
}
END_TEST

START_TEST(reload_keeps_what_stays)
{
    char path[128];
    char *good = fill(follow);
    snprintf(path, sizeof path, "%s/c.yaml", temp);
    spit("c.yaml", good, strlen(good));
    spit("b", dump, n_dump);
    start(follow);
    d.config_path = path;
    struct heard h = subscribe("{\"from\":\"oldest\"}\n");
    await(&h, "\"type\":\"entry\"", n_expected);
    spit("c.yaml", "inputs: 1\n", 10);
    pfdd_reload(&d);
    ck_assert_uint_eq(d.count.bad_reloads, 1);
    char *more = NULL;
    ck_assert_int_gt(asprintf(&more,
                              "%s  - {type: listen, address: \"unix:%s/m\"}\n",
                              good, temp),
                     0);
    spit("c.yaml", more, strlen(more));
    pfdd_reload(&d);
    ck_assert_uint_eq(d.count.reloads, 1);
    turn_for(300);
    hear(&h);
    ck_assert(!h.ended);
    ck_assert_uint_eq(count(&h, "\"type\":\"entry\""), n_expected);
    close(dial("m"));
    spit("c.yaml", good, strlen(good));
    pfdd_reload(&d);
    turn_for(50);
    snprintf(path, sizeof path, "%s/m", temp);
    ck_assert_int_ne(access(path, F_OK), 0);
    free(more);
    free(good);
    hang_up(&h);
    stop();
}
END_TEST

START_TEST(queue_is_repaired)
{
    static const char yaml[] =
        "state_dir: $T/state\ncode_objects: [$E]\n"
        "inputs:\n  - {type: buffer, path: $T/b, name: b}\n"
        "outputs:\n  - {type: file, path: $T/out, required: true}\n"
        "  - {type: listen, address: \"unix:$T/l.sock\"}\n";
    char path[160];
    struct stat st;
    spit("b", dump, n_dump);
    for (int i = 0; i < 5; i++) {
        start(yaml);
        turn_for(400);
        stop();
        size_t n = 0;
        snprintf(path, sizeof path, "%s/out", temp);
        char *out = slurp(path, &n);
        struct heard all = { .bytes = out, .n = n };
        ck_assert_uint_ge(count(&all, "\"type\":\"entry\""), n_expected);
        free(out);
        /* Damage of all kinds; it always starts again. */
        static const char *const harm[] = {
            "find $T/state/queue -type f | xargs -n1 sh -c 'echo bad >> $$0'",
            "rm -f $T/state/checkpoint",
            "echo x > $T/state/checkpoint",
            "find $T/state/queue -type f | xargs truncate -s 100",
            "echo hi > $T/state/queue/00000000000000000777.seg",
        };
        char *command = fill(harm[i]);
        ck_assert_int_eq(system(command), 0);
        free(command);
    }
    start(yaml);
    turn_for(200);
    stop();
    snprintf(path, sizeof path, "%s/state/checkpoint", temp);
    ck_assert_int_eq(stat(path, &st), 0);
}
END_TEST

/* Code objects that wait for a worker are memory, too. */
START_TEST(objects_that_wait_have_a_share)
{
    enum {
        N = 20 << 20
    };
    struct pfdd_memory m;
    start("memory_max: 256MiB\n"
          "inputs: [{type: buffer, path: $T/none}]\n");
    for (int i = 0; i < 10; i++) {
        char *bytes = calloc(1, N);
        memcpy(bytes, &i, sizeof i);
        struct pfdd_object object = { .name = "o", .bytes = bytes, .n = N };
        pfdd_string_store_add(d.ingest.string_store, &object);
    }
    pfdd_memory(&d.delivery, &m);
    ck_assert_uint_ge(m.strings, 3 * N);
    /* And what reading them may take. */
    ck_assert_uint_lt(m.strings, 4 * N + (64 << 20));
    while (pfdd_string_store_is_busy(d.ingest.string_store))
        turn();
    pfdd_memory(&d.delivery, &m); /* none can be used */
    ck_assert_uint_lt(m.strings, N);
    stop();
}
END_TEST

START_TEST(configurations_are_checked)
{
    static const struct {
        const char *text;
        const char *error;
    } bad[] = {
        { "", "test:1:1: " },
        { "inputs: [", "test:2:1: " },
        { "nope: 1", "test:1:1: unknown key 'nope'" },
        { "ring: 5", "test:1:7: 'ring' is from" },
        { "ring: 5x", "test:1:7: 'ring' wants a size" },
        { "ring: 2MiB\nring: 2MiB", "test:2:1: 'ring' is given twice" },
        { "inputs:\n  - {type: tape}", "test:2:12: 'type' is one of" },
        { "inputs:\n  - {type: buffer}", "test:2:5: 'path' is missing" },
        { "inputs:\n  - {type: stdin, path: x}",
          "test:2:19: 'path' is no key" },
        { "outputs:\n  - {type: listen, address: \"tcp:0.0.0.0:1\"}",
          "test:2:29: TCP beyond this machine" },
        { "outputs:\n  - {type: file, path: a, required: true}",
          "a required output needs 'state_dir'" },
        { "outputs:\n  - {type: file, path: \"a{x}\"}", "'path' knows" },
        { "inputs: &a [*a]", "is a mapping" },
    };
    char err[512];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err[0] = '\0';
        ck_assert_ptr_null(pfdd_config_read_text(
            "test", bad[i].text, strlen(bad[i].text), tell, err));
        ck_assert_msg(strstr(err, bad[i].error) != NULL, "%s: %s", bad[i].text,
                      err);
    }
    char *good = fill(follow);
    for (size_t n = 0; n < strlen(good); n++)
        pfdd_config_unref(pfdd_config_read_text("test", good, n, tell, err));
    free(good);
}
END_TEST

int main(int argc, char **argv)
{
    take_arguments(argv);
    return suite_run_with(
        "daemon", setup, teardown,
        TESTS(stores_reach_subscribers, frames_arrive_in_pieces,
              garbage_ends_its_sender_only, shared_memory_wants_a_seal,
              bad_requests_are_refused, who_stalls_gets_a_gap,
              files_are_cut_and_replaced, descriptors_run_out_and_come_back,
              reload_keeps_what_stays, queue_is_repaired,
              objects_that_wait_have_a_share, configurations_are_checked),
        TEST_S);
}
