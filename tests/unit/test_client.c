/* SPDX-License-Identifier: MIT */
/* A client against a socket that is not there, slow, gone, and back again. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <check.h>

#include <printfdecode/client.h>

#include "stream/capture/wire.h"
#include "suite.h"

static struct sockaddr_un address = { .sun_family = AF_UNIX };

static int listen_now(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(address.sun_path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(fd, 4), 0);
    return fd;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* Reads all there is: a letter for each frame; descriptors are counted and
 * checked. */
static void receive(int fd, char *types, int *n_fds)
{
    static const char letters[] = {
        '?', 'S', 'H', 'O', 's', 'B', 'D', 'F', 'G'
    };
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    *n_fds = 0;
    for (;;) {
        char bytes[65536];
        char control[256];
        struct iovec part = { bytes, sizeof bytes };
        struct msghdr message = { .msg_iov = &part,
                                  .msg_iovlen = 1,
                                  .msg_control = control,
                                  .msg_controllen = sizeof control };
        struct pfd_wire_frame frame;
        struct pfd_error err;
        ssize_t n = recvmsg(fd, &message, MSG_DONTWAIT);
        if (n <= 0)
            break;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c;
             c = CMSG_NXTHDR(&message, c)) {
            int got;
            memcpy(&got, CMSG_DATA(c), sizeof got);
            ck_assert_int_eq(fcntl(got, F_GET_SEALS),
                             F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
            ck_assert_int_ne(ftruncate(got, 0), 0);
            for (size_t i = 0; CMSG_LEN(i * sizeof(int)) < c->cmsg_len; i++) {
                memcpy(&got, CMSG_DATA(c) + i * sizeof got, sizeof got);
                close(got);
                ++*n_fds;
            }
        }
        size_t taken;
        for (size_t at = 0; at < (size_t)n; at += taken) {
            ck_assert_int_eq(pfd_wire_reader_feed(reader, bytes + at,
                                                  (size_t)n - at, &taken, &err),
                             PFD_OK);
            /* Later parts of a stream lack its start, which is said once. */
            enum pfd_status status;
            while ((status = pfd_wire_reader_next(reader, &frame, &err)) !=
                   PFD_MORE) {
                if (status == PFD_OK)
                    *types++ = letters[frame.type];
            }
        }
    }
    *types = '\0';
    pfd_wire_reader_free(reader);
}

START_TEST(test_life)
{
    static char types[4096];
    struct pfd_client *client = NULL;
    struct pfd_client_buffer *buffer = NULL;
    struct pfd_error err;
    struct pfd_wire_frame origin = { .size = 8192, .name = pfd_wire_text("b") };
    struct pfd_wire_frame data = { .type = PFD_WIRE_DATA,
                                   .buffer = 9,
                                   .bytes = { "1234", 4 } };
    uint64_t unsent;
    int n_fds;
    /* Nobody is there: nothing waits, data is left out. */
    unlink(address.sun_path);
    ck_assert_int_eq(pfd_client_new(address.sun_path, "test", 0, &client, &err),
                     PFD_OK);
    ck_assert_int_eq(pfd_client_fd(client), -1);
    ck_assert_int_eq(
        pfd_client_code_object(client, "elf", "abc", 3, NULL, &err), PFD_OK);
    ck_assert_int_eq(
        pfd_client_buffer_new(client, &origin, true, &buffer, &err), PFD_OK);
    ck_assert_int_eq(pfd_client_send(client, &data, &err), PFD_OK);
    pfd_client_unsent(client, &unsent, NULL);
    ck_assert_uint_eq(unsent, 1);
    /* It comes: all that it must know is told. */
    int listener = listen_now();
    pause_ms(110);
    ck_assert_int_eq(pfd_client_poll(client), PFD_OK);
    int server = accept(listener, NULL, NULL);
    receive(server, types, &n_fds);
    ck_assert_str_eq(types, "SHOBG");
    ck_assert_int_eq(n_fds, 2);
    ck_assert_int_eq(pfd_client_buffer_restart(buffer, NULL, &err), PFD_OK);
    pfd_client_buffer_ring(buffer);
    receive(server, types, &n_fds);
    ck_assert_str_eq(types, "FB");
    ck_assert_int_eq(n_fds, 0);
    /* It goes, and comes back: told again, the buffer in its generation. */
    close(server);
    close(listener);
    pfd_client_send(client, &data, &err);
    pfd_client_send(client, &data, &err);
    pfd_client_unsent(client, &unsent, NULL);
    ck_assert_uint_ge(unsent, 2);
    listener = listen_now();
    pause_ms(110);
    pfd_client_poll(client);
    server = accept(listener, NULL, NULL);
    receive(server, types, &n_fds);
    ck_assert_int_eq(strncmp(types, "SHOBG", 5), 0);
    ck_assert_int_eq(n_fds, 2);
    pfd_client_buffer_free(buffer);
    pfd_client_free(client);
    receive(server, types, &n_fds);
    ck_assert_str_eq(types, "F");
    close(server);
    close(listener);
    unlink(address.sun_path);
}
END_TEST

/* A service that closes what says nothing loses nothing by it. */
START_TEST(test_idle)
{
    static char types[4096];
    struct pfd_client *client = NULL;
    struct pfd_error err;
    struct pfd_wire_frame data = { .type = PFD_WIRE_DATA,
                                   .buffer = 9,
                                   .bytes = { "1234", 4 } };
    uint64_t unsent;
    int n_fds;
    int listener = listen_now();
    ck_assert_int_eq(pfd_client_new(address.sun_path, "test", 0, &client, &err),
                     PFD_OK);
    ck_assert_int_eq(
        pfd_client_code_object(client, "elf", "abc", 3, NULL, &err), PFD_OK);
    int server = accept(listener, NULL, NULL);
    receive(server, types, &n_fds);
    ck_assert_str_eq(types, "SHO");
    close(server);
    pause_ms(110);
    ck_assert_int_eq(pfd_client_send(client, &data, &err), PFD_OK);
    server = accept(listener, NULL, NULL);
    receive(server, types, &n_fds);
    ck_assert_str_eq(types, "SHOD");
    pfd_client_unsent(client, &unsent, NULL);
    ck_assert_uint_eq(unsent, 0);
    pfd_client_free(client);
    close(server);
    close(listener);
    unlink(address.sun_path);
}
END_TEST

/* A service that reads nothing costs the program no time. */
START_TEST(test_slow)
{
    static char bytes[10000];
    static char types[1 << 16];
    struct pfd_client *client = NULL;
    struct pfd_error err;
    struct pfd_wire_frame data = { .type = PFD_WIRE_DATA,
                                   .buffer = 1,
                                   .bytes = { bytes, sizeof bytes } };
    uint64_t unsent = 0;
    uint64_t lost_bytes = 0;
    int n_fds;
    int listener = listen_now();
    ck_assert_int_eq(
        pfd_client_new(address.sun_path, NULL, 1 << 20, &client, &err), PFD_OK);
    int server = accept(listener, NULL, NULL);
    for (int i = 0; i < 1000; i++)
        ck_assert_int_eq(pfd_client_send(client, &data, &err), PFD_OK);
    pfd_client_unsent(client, &unsent, &lost_bytes);
    ck_assert_uint_gt(unsent, 500);
    ck_assert_uint_ge(lost_bytes, unsent * sizeof bytes);
    ck_assert_int_eq(pfd_client_poll(client), PFD_MORE);
    /* Frames are whole all the same, and the gap is told. */
    size_t n_whole = 0;
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    bool told = false;
    pfd_client_send(client, &data, &err);
    for (int i = 0; i < 200; i++) {
        char piece[65536];
        struct pfd_wire_frame frame;
        ssize_t n = recv(server, piece, sizeof piece, MSG_DONTWAIT);
        size_t taken;
        for (ssize_t at = 0; n > 0 && at < n; at += (ssize_t)taken) {
            pfd_wire_reader_feed(reader, piece + at, (size_t)(n - at), &taken,
                                 &err);
            enum pfd_status status;
            while ((status = pfd_wire_reader_next(reader, &frame, &err)) ==
                   PFD_OK) {
                n_whole += frame.type == PFD_WIRE_DATA;
                told |= frame.type == PFD_WIRE_GAP;
            }
            ck_assert_int_eq(status, PFD_MORE);
        }
        if (i == 100)
            pfd_client_send(client, &data, &err);
        pfd_client_poll(client);
    }
    pfd_client_unsent(client, &unsent, NULL);
    ck_assert(told);
    ck_assert_uint_eq(n_whole + unsent, 1002);
    pfd_wire_reader_free(reader);
    pfd_client_free(client);
    receive(server, types, &n_fds);
    close(server);
    close(listener);
    unlink(address.sun_path);
}
END_TEST

START_TEST(test_usage)
{
    char path[200];
    struct pfd_client *client = NULL;
    struct pfd_client_buffer *buffer = NULL;
    struct pfd_error err;
    struct pfd_wire_frame origin = { .size = 0 };
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    ck_assert_int_eq(pfd_client_new(path, NULL, 0, &client, &err),
                     PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_client_new("", NULL, 0, &client, &err), PFD_ERR_USAGE);
    ck_assert_int_eq(pfd_client_new("@nobody", NULL, 0, &client, &err), PFD_OK);
    ck_assert_int_eq(
        pfd_client_buffer_new(client, &origin, false, &buffer, &err),
        PFD_ERR_USAGE);
    pfd_client_free(client);
    pfd_client_free(NULL);
    pfd_client_buffer_free(NULL);
}
END_TEST

/* ---- the default folder ---- */

/* Runs a listener of another user at `path`; returns its process. */
static pid_t listen_as(uid_t user, const char *path)
{
    int ready[2];
    char byte = 0;
    ck_assert_int_eq(pipe(ready), 0);
    struct sockaddr_un there = { .sun_family = AF_UNIX };
    snprintf(there.sun_path, sizeof there.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&there, sizeof there), 0);
    pid_t child = fork();
    if (child == 0) {
        if (setuid(user) == 0 && listen(fd, 64) == 0 &&
            write(ready[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    ck_assert_int_eq((int)read(ready[0], &byte, 1), 1);
    close(fd);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static bool connects(void)
{
    struct pfd_client *client = NULL;
    struct pfd_error err;
    ck_assert_int_eq(pfd_client_new(NULL, "test", 0, &client, &err), PFD_OK);
    bool ret = pfd_client_fd(client) >= 0;
    pfd_client_free(client);
    return ret;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

START_TEST(test_squatting)
{
    const uid_t stranger = 65534;
    char base[] = "/tmp/test_client.XXXXXX";
    char folder[128];
    char aside[128];
    char path[160];
    ck_assert_ptr_nonnull(mkdtemp(base));
    setenv("XDG_RUNTIME_DIR", base, 1);
    snprintf(folder, sizeof folder, "%s/printfdecode", base);
    snprintf(aside, sizeof aside, "%s/aside", base);
    snprintf(path, sizeof path, "%s/input.sock", folder);
    ck_assert_int_eq(mkdir(folder, 0750), 0);
    pid_t ours = listen_as(geteuid(), path);
    ck_assert(connects());
    /* Others may write to the folder. */
    ck_assert_int_eq(chmod(folder, 0777), 0);
    ck_assert(!connects());
    ck_assert_int_eq(chmod(folder, 0770), 0);
    ck_assert(!connects());
    ck_assert_int_eq(chmod(folder, 0750), 0);
    ck_assert(connects());
    /* It is a link. */
    ck_assert_int_eq(rename(folder, aside), 0);
    ck_assert_int_eq(symlink(aside, folder), 0);
    ck_assert(!connects());
    ck_assert_int_eq(unlink(folder), 0);
    ck_assert_int_eq(rename(aside, folder), 0);
    ck_assert(connects());
    end(ours);
    if (geteuid() == 0) {
        /* A stranger's folder, and a stranger in ours. */
        ck_assert_int_eq(chmod(base, 0755), 0);
        pid_t theirs = listen_as(stranger, path);
        ck_assert_int_eq(chmod(path, 0777), 0);
        ck_assert(!connects());
        end(theirs);
        ours = listen_as(0, path);
        ck_assert(connects());
        ck_assert_int_eq(chown(folder, stranger, stranger), 0);
        ck_assert(!connects());
        end(ours);
    } else {
        printf("not root: strangers were left out\n");
    }
    unlink(path);
    rmdir(folder);
    rmdir(base);
    unsetenv("XDG_RUNTIME_DIR");
}
END_TEST

int main(void)
{
    char folder[] = "/tmp/test_client.XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
    Suite *suite = suite_create("client");
    TCase *tcase = tcase_create("client");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, test_life);
    tcase_add_test(tcase, test_idle);
    tcase_add_test(tcase, test_slow);
    tcase_add_test(tcase, test_usage);
    tcase_add_test(tcase, test_squatting);
    suite_add_tcase(suite, tcase);
    int failed = suite_run_all(suite);
    rmdir(folder);
    return failed;
}
