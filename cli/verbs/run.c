/* SPDX-License-Identifier: MIT */
/*
 * printfdecode run: runs a program with a printfdecoded of its own, which
 * writes to our standard output. Both use a new private folder, which the
 * program's environment names.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "show/messages.h"
#include "verb.h"
#include "vulkan_environment.h"

/* The verb's values. */
struct run_options {
    struct options common;
    struct vulkan_options vulkan;
};

static const struct run_options *own(const struct options *o)
{
    return (const struct run_options *)o;
}

enum {
    NOT_RUNNABLE = 126, /* exit status, as in shells */
    NOT_FOUND = 127,
    BY_SIGNAL = 128,
    FOLDER_MAX = 80, /* a socket's path is limited to 108 bytes, with its file
                        name */
    START_MS = 30000,
    LOOK_MS = 5,
    MEMORY_MIN = 256 << 20,
    BUFFERS = 8,   /* of validation's, in the daemon's memory */
    NO_STREAM = 3, /* exit status of the daemon: no program connected */
};

struct run {
    const struct options *options;
    char folder[FOLDER_MAX];
    sigset_t before; /* the signal mask at the beginning */
    pid_t daemon;
    pid_t program;
    int daemon_status;
    bool daemon_ended;
};

/* The path of a file in the folder. */
struct path {
    char text[FOLDER_MAX + 24];
};

static struct path path_of(const struct run *l, const char *name)
{
    struct path ret;
    snprintf(ret.text, sizeof ret.text, "%s/%s", l->folder, name);
    return ret;
}

/* The daemon's limit of memory: enough for buffers as large as the program may
 * fill them. */
static uint64_t memory_of(const struct options *o)
{
    uint64_t n = own(o)->vulkan.buffer_bytes * BUFFERS;
    return n > MEMORY_MIN ? n : MEMORY_MIN;
}

static bool write_config(const struct run *l)
{
    const struct options *o = l->options;
    bool is_json = o->output && !strcmp(o->output, "json");
    FILE *file = fopen(path_of(l, "config.yaml").text, "we");
    if (!file)
        return false;
    fprintf(file,
            "log_level: %s\n"
            "memory_max: %" PRIu64 "\n"
            "inputs:\n"
            "  - {type: listen, address: \"unix:%s\"}\n"
            "outputs:\n"
            "  - {type: stdout, output: %s%s}\n",
            o->verbose ? "info" : "warning", memory_of(o),
            path_of(l, "input.sock").text, o->output ? o->output : "text",
            is_json ? ", fields: true" : "");
    return !fclose(file);
}

static bool make_folder(struct run *l)
{
    const char *base = getenv("TMPDIR");
    base = base && *base == '/' ? base : "/tmp";
    int n =
        snprintf(l->folder, sizeof l->folder, "%s/printfdecode-XXXXXX", base);
    if (n >= (int)sizeof l->folder || strpbrk(base, "\"\\\n")) {
        message_error("%s: no folder for a socket: TMPDIR is too long, or has "
                      "quotes in it",
                      base);
        return false;
    }
    if (mkdtemp(l->folder) && write_config(l))
        return true;
    message_error("%s: %s", l->folder, strerror(errno));
    return false;
}

static void remove_folder(const struct run *l)
{
    static const char *const names[] = { "config.yaml", "input.sock",
                                         VULKAN_SETTINGS, VULKAN_REPORT };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(l, names[i]).text);
    rmdir(l->folder);
}

/* ---- the daemon ---- */

/* Runs the daemon that is beside this program, in the same build or in the same
 * installation; else the one in PATH. */
static void exec_daemon(char *const *argv)
{
    static const char *const places[] = { "printfdecoded",
                                          "../daemon/printfdecoded",
                                          "../sbin/printfdecoded" };
    char self[4000];
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash && i < sizeof places / sizeof *places; i++) {
        slash[1] = '\0';
        snprintf(path, sizeof path, "%s%s", self, places[i]);
        execv(path, argv);
    }
    execvp("printfdecoded", argv);
}

/* The daemon has its own process group: a key that interrupts the program must
 * not end the daemon before the program's last lines. */
static void run_daemon(const struct run *l, pid_t parent)
{
    struct path config = path_of(l, "config.yaml");
    char name[] = "printfdecoded";
    char option[] = "--config";
    char expect[] = "--expect";
    char *argv[] = { name, option, config.text, expect, NULL };
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_ERROR);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    sigprocmask(SIG_SETMASK, &l->before, NULL);
    exec_daemon(argv);
    message_error("printfdecoded: %s", strerror(errno));
    _exit(NOT_FOUND);
}

static bool listens(const struct run *l)
{
    struct path path = path_of(l, "input.sock");
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return false;
    memcpy(address.sun_path, path.text, strlen(path.text) + 1);
    bool ok = !connect(fd, (struct sockaddr *)&address, sizeof address);
    close(fd);
    return ok;
}

static bool start_daemon(struct run *l)
{
    const struct timespec look = { .tv_nsec = LOOK_MS * 1000000L };
    pid_t self = getpid();
    l->daemon = fork();
    if (l->daemon == 0)
        run_daemon(l, self);
    if (l->daemon < 0) {
        message_error("printfdecoded: %s", strerror(errno));
        return false;
    }
    for (int ms = 0; ms < START_MS; ms += LOOK_MS) {
        if (listens(l))
            return true;
        if (waitpid(l->daemon, &l->daemon_status, WNOHANG) == l->daemon) {
            l->daemon_ended = true;
            break;
        }
        nanosleep(&look, NULL);
    }
    message_error("printfdecoded does not start: nothing was run");
    return false;
}

/* Stops the daemon, which first prints everything that it has received. */
static bool stop_daemon(struct run *l)
{
    if (l->daemon <= 0)
        return false;
    if (!l->daemon_ended) {
        kill(l->daemon, SIGTERM);
        while (waitpid(l->daemon, &l->daemon_status, 0) < 0 && errno == EINTR)
            ;
    }
    int status = l->daemon_status;
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NO_STREAM);
}

/* ---- the program ---- */

static bool uses_vulkan(const struct options *o)
{
    const struct vulkan_options *vulkan = &own(o)->vulkan;
    return vulkan->debug_printf || vulkan->gpu_validation;
}

static void run_program(const struct run *l)
{
    const struct options *o = l->options;
    char **argv = calloc(o->n_files + 1, sizeof *argv);
    for (size_t i = 0; argv && i < o->n_files; i++)
        argv[i] = strdup(o->files[i].path);
    if (!argv || !argv[0] || setenv("PRINTFDECODE_DIR", l->folder, 1) ||
        (uses_vulkan(o) &&
         !vulkan_set_environment(&own(o)->vulkan,
                                 path_of(l, VULKAN_SETTINGS).text,
                                 path_of(l, VULKAN_REPORT).text)))
        _exit(EXIT_ERROR);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &l->before, NULL);
    execvp(argv[0], argv);
    int why = errno;
    message_error("%s: %s", argv[0], strerror(why));
    _exit(why == ENOENT ? NOT_FOUND : NOT_RUNNABLE);
}

/* Forwards signals that other processes sent; the terminal sends its signals to
 * the program itself. */
static void take_signal(const struct run *l, const siginfo_t *info)
{
    if (info->si_signo != SIGCHLD && info->si_code <= 0)
        kill(l->program, info->si_signo);
}

/* Waits for the program; returns its exit status as shells do. */
static int wait_for_program(struct run *l, const sigset_t *signals)
{
    siginfo_t info;
    int status;
    for (;;) {
        if (waitpid(l->program, &status, WNOHANG) == l->program) {
            return WIFSIGNALED(status) ? BY_SIGNAL + WTERMSIG(status)
                                       : WEXITSTATUS(status);
        }
        if (!l->daemon_ended &&
            waitpid(l->daemon, &l->daemon_status, WNOHANG) == l->daemon) {
            l->daemon_ended = true;
            message_error("printfdecoded ended before the program: lines are "
                          "missing");
        }
        if (sigwaitinfo(signals, &info) > 0)
            take_signal(l, &info);
    }
}

static int start_program(struct run *l, const sigset_t *signals)
{
    l->program = fork();
    if (l->program == 0)
        run_program(l);
    if (l->program < 0) {
        message_error("%s: %s", l->options->files[0].path, strerror(errno));
        return EXIT_ERROR;
    }
    return wait_for_program(l, signals);
}

/* Says that the program ended without connecting. */
static void message_silence(const struct run *l, int status)
{
    const struct options *o = l->options;
    bool was_run = status != NOT_FOUND && status != NOT_RUNNABLE;
    if (l->program <= 0 || !was_run || !WIFEXITED(l->daemon_status) ||
        WEXITSTATUS(l->daemon_status) != NO_STREAM)
        return;
    message_hint(
        "%s: it has not connected, so nothing of it could be printed: %s",
        o->files[0].path,
        uses_vulkan(o)
            ? "it made no Vulkan device, or none that has the layer"
            : "debugPrintfEXT needs --vulkan-debug-printf, run_cl and "
              "run_comp their --strings");
}

static int run_run(const struct options *o)
{
    static const int wanted[] = { SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                  SIGUSR1, SIGUSR2, SIGCHLD };
    struct run l = { .options = o };
    sigset_t signals;
    int status = EXIT_ERROR;
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        sigaddset(&signals, wanted[i]);
    if (!make_folder(&l))
        return EXIT_ERROR;
    sigprocmask(SIG_BLOCK, &signals, &l.before);
    bool is_ready =
        !uses_vulkan(o) ||
        vulkan_prepare(&own(o)->vulkan, path_of(&l, VULKAN_SETTINGS).text);
    if (is_ready && start_daemon(&l))
        status = start_program(&l, &signals);
    if (!stop_daemon(&l) && status == EXIT_CLEAN) {
        message_error("printfdecoded did not end well: lines may be missing");
        status = EXIT_ERROR;
    }
    message_silence(&l, status);
    if (uses_vulkan(o))
        vulkan_message_report(path_of(&l, VULKAN_REPORT).text);
    remove_folder(&l);
    sigprocmask(SIG_SETMASK, &l.before, NULL);
    return status;
}

/* Validation has 32 bits for it. */
static bool set_buffer_bytes(struct options *o, const struct option_row *row,
                             const char *text)
{
    uint64_t *bytes = option_member(o, row);
    if (!option_read_bytes(text, bytes))
        return false;
    return (*bytes > 0 && *bytes <= UINT32_MAX) ||
           option_wrong("not a number of bytes from 1 to 4294967295:", text);
}

static const struct option_row rows[] = {
    { "vulkan-debug-printf", 0, NULL,
      "Vulkan: what shaders print with debugPrintfEXT or printf",
      offsetof(struct run_options, vulkan.debug_printf), option_flag, false },
    { "vulkan-gpu-validation", 0, NULL,
      "Vulkan: errors that GPU-assisted validation finds in shaders",
      offsetof(struct run_options, vulkan.gpu_validation), option_flag, false },
    { "buffer-bytes", 0, "BYTES",
      "what shaders of a draw or dispatch may print (default: 1 MiB)",
      offsetof(struct run_options, vulkan.buffer_bytes), set_buffer_bytes,
      false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group, &options_output, &options_messages, &options_help, NULL,
};

const struct verb verb_run = {
    .name = "run",
    .files = "[--] PROGRAM [ARGUMENT...]",
    .help = "run a program, and print what its buffers say meanwhile",
    .run = run_run,
    .groups = groups,
    .size = sizeof(struct run_options),
    .runs_program = true,
};
