/* SPDX-License-Identifier: MIT */
/* What is forbidden is refused by the kernel, what is needed is not. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "base/log.h"
#include "config/sandbox.h"

static int n_wrong;

static void check(bool ok, const char *what)
{
    if (ok)
        return;
    printf("wrong: %s (%s)\n", what, strerror(errno));
    n_wrong++;
}

static bool can_open(const char *folder, const char *name, int flags)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, flags | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void tell(void *user, const char *text)
{
    printf("%s\n", text);
}

static struct pfdd_config *read_config(const char *in, const char *out)
{
    char text[512];
    int n = snprintf(text, sizeof text,
                     "inputs: [{type: buffer, path: %s/f}]\n"
                     "outputs: [{type: file, path: %s/g}]\n",
                     in, out);
    return pfdd_config_read_text("c", text, (size_t)n, tell, NULL);
}

static void *idle(void *user)
{
    return user;
}

static void check_files(const char *in, const char *out, const char *other)
{
    check(can_open(in, "f", O_RDONLY), "reading an input");
    check(!can_open(in, "f", O_WRONLY) && errno == EACCES, "writing an input");
    check(!can_open(in, "g", O_WRONLY | O_CREAT) && errno == EACCES,
          "a new file among inputs");
    check(can_open(out, "g", O_WRONLY | O_CREAT | O_TRUNC), "an output");
    check(!can_open(other, "f", O_RDONLY) && errno == EACCES,
          "reading elsewhere");
    check(!can_open(other, "g", O_WRONLY | O_CREAT) && errno == EACCES,
          "writing elsewhere");
    check(!can_open("/root", ".profile", O_RDONLY), "the home of root");
}

static void check_calls(void)
{
    char name_of_program[] = "true";
    char *const args[] = { name_of_program, NULL };
    struct utsname name;
    pthread_t thread;
    check(execv("/bin/true", args) < 0 && errno == EPERM, "execve");
    check(socket(AF_NETLINK, SOCK_RAW, 0) < 0 && errno == EPERM, "netlink");
    check(socket(AF_PACKET, SOCK_RAW, 0) < 0 && errno == EPERM, "raw packets");
    check(chroot("/") < 0 && errno == EPERM, "chroot");
    check(setuid(12345) < 0 && errno == EPERM, "setuid");
    check(uname(&name) == 0, "uname");
    check(socket(AF_UNIX, SOCK_STREAM, 0) >= 0, "a unix socket");
    check(memfd_create("m", MFD_CLOEXEC) >= 0, "a memfd");
    check(pthread_create(&thread, NULL, idle, NULL) == 0 &&
              pthread_join(thread, NULL) == 0,
          "a thread");
}

static void check_processes(void)
{
    check(kill(getppid(), SIGCONT) < 0 && errno == EPERM, "a signal");
    check(fork() < 0 && errno == EPERM, "fork");
    check(mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED &&
              errno == EPERM,
          "memory to write and run");
}

/* ---- the loop, made as the daemon makes it ---- */

static void on_fd(uv_poll_t *poll, int status, int events)
{
    uint64_t n = 0;
    uv_os_fd_t fd = -1;
    uv_fileno((uv_handle_t *)poll, &fd);
    check(status == 0 && read(fd, &n, sizeof n) == sizeof n, "a poll handle");
    *(bool *)poll->data = true;
    uv_close((uv_handle_t *)poll, NULL);
}

/* A handle that is added behind the filter: what libuv would give to a ring, it
 * has to give to epoll. */
static void check_loop(uv_loop_t *loop)
{
    bool was_called = false;
    uint64_t one = 1;
    uv_poll_t poll = { .data = &was_called };
    int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    check(fd >= 0 && write(fd, &one, sizeof one) == sizeof one, "an eventfd");
    check(uv_poll_init(loop, &poll, fd) == 0 &&
              uv_poll_start(&poll, UV_READABLE, on_fd) == 0,
          "a handle more");
    check(uv_run(loop, UV_RUN_DEFAULT) == 0 && was_called, "the loop");
    check(uv_loop_close(loop) == 0, "the loop's end");
    close(fd);
}

static void check_rings(void)
{
    check(syscall(SYS_io_uring_setup, 1, NULL) < 0 && errno == ENOSYS,
          "a ring");
    check(syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0) < 0 &&
              errno == ENOSYS,
          "use of a ring");
}

/* The exit status. */
static int check_all(const char *in, const char *out, const char *other)
{
    char err[400] = "";
    struct pfdd_config *config = read_config(in, out);
    struct pfdd_config *beyond = read_config(in, other);
    struct pfdd_config *writes = read_config(in, in);
    uv_loop_t loop;
    if (!config || !beyond || !writes)
        return 1; /* why has been printed */
    pfdd_sandbox_files(config, NULL);
    bool rings = pfdd_sandbox_rings();
    if (rings)
        check_rings();
    check(uv_loop_init(&loop) == 0, "a loop");
    bool files = pfdd_sandbox_has_files();
    bool calls = pfdd_sandbox_calls();
    pfdd_sandbox_log();
    if (files) {
        check_files(in, out, other);
        check(pfdd_sandbox_covers(config, err, sizeof err), "the same again");
        check(!pfdd_sandbox_covers(beyond, err, sizeof err) &&
                  strstr(err, other) && strstr(err, "restart"),
              "a configuration beyond the first");
        check(!pfdd_sandbox_covers(writes, err, sizeof err), "more rights");
    }
    check(rings == calls, "both filters, or none");
    check_loop(&loop);
    if (calls) {
        check_rings(); /* ENOSYS still */
        check_calls();
        check_processes();
    }
    pfdd_config_unref(config);
    pfdd_config_unref(beyond);
    pfdd_config_unref(writes);
    printf("files: %d, calls: %d, %d wrong\n", files, calls, n_wrong);
    return n_wrong ? 1 : files || calls ? 0 : 77;
}

/* There is no way out of a sandbox: a child goes in. */
int main(void)
{
    char in[] = "/tmp/pfdd-in-XXXXXX";
    char out[] = "/tmp/pfdd-out-XXXXXX";
    char other[] = "/tmp/pfdd-other-XXXXXX";
    char command[128];
    int status = 0;
    if (!mkdtemp(in) || !mkdtemp(out) || !mkdtemp(other) ||
        !can_open(in, "f", O_WRONLY | O_CREAT) ||
        !can_open(other, "f", O_WRONLY | O_CREAT)) {
        perror("/tmp");
        return 1;
    }
    pid_t child = fork();
    if (child == 0)
        return check_all(in, out, other);
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 1;
    snprintf(command, sizeof command, "rm -rf %s %s %s", in, out, other);
    return system(command) == 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
