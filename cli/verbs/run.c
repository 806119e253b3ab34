/* SPDX-License-Identifier: MIT */
/*
 * printfdecode run: runs a program with a printfdecoded of its own, and a process
 * that follows it as `follow` does, for which sources wait. All use a new private
 * folder, which the program's environment names.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "doctor/own_program.h"
#include "doctor/vulkan_environment.h"
#include "follow.h"
#include "input/filter.h"
#include "run_command.h"
#include "run_shader.h"
#include "run_silence.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct run_options {
    struct options common;
    struct vulkan_options vulkan;
    struct words strings; /* files with format strings */
    const char *prefix;   /* of lines; NULL: none */
    bool attaches;        /* no program is run: others start it */
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
    SPOOL_MAX_GIB = 4,
    BUFFERS = 8,   /* of validation's, in the daemon's memory */
    NO_STREAM = 3, /* exit status of the daemon: no program connected */
};

/* The socket of lines. */
#define LINES "lines.sock"

struct run {
    const struct options *options;
    char folder[FOLDER_MAX];
    char **command;  /* up to NULL */
    sigset_t before; /* the signal mask at the beginning */
    pid_t daemon;
    pid_t reader;
    pid_t program;
    uint64_t *n_entries; /* of the reader, in memory that is shared with it */
    int daemon_status;
    int reader_status;
    bool daemon_ended;
    bool reader_ended;
    bool stopping;
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

/* A path as YAML has it in quotes. */
static bool put_path(FILE *file, const char *path)
{
    char *whole = realpath(path, NULL);
    bool ok = whole && !strpbrk(whole, "\n\r");
    if (!ok) {
        message_error("%s: %s", path,
                      whole ? "a newline is in its name" : strerror(errno));
    }
    fputc('"', file);
    for (const char *at = ok ? whole : ""; *at; at++) {
        if (*at == '"' || *at == '\\')
            fputc('\\', file);
        fputc(*at, file);
    }
    fputc('"', file);
    free(whole);
    return ok;
}

/* A shader that validation prints has the lines of its calls itself. */
static bool put_strings(FILE *file, const struct run *l)
{
    const struct run_options *o = own(l->options);
    struct path made = path_of(l, RUN_SHADER_SPIRV);
    bool ok = true;
    fputs("code_objects: [", file);
    for (size_t i = 0; i < o->strings.n; i++) {
        fputs(i ? ", " : "", file);
        ok = put_path(file, o->strings.all[i]) && ok;
    }
    if (o->vulkan.debug_printf && !access(made.text, R_OK)) {
        fputs(o->strings.n ? ", " : "", file);
        ok = put_path(file, made.text) && ok;
    }
    fputs("]\n", file);
    return ok;
}

/* The daemon keeps unread lines, and so do sources. */
static bool write_config(const struct run *l)
{
    const struct options *o = l->options;
    FILE *file = fopen(path_of(l, "config.yaml").text, "we");
    if (!file) {
        message_error("%s: %s", l->folder, strerror(errno));
        return false;
    }
    fprintf(file,
            "log_level: %s\n"
            "memory_max: %" PRIu64 "\n"
            "drain: 30d\n"
            "inputs:\n"
            "  - {type: listen, address: \"unix:%s\", settle: 10s}\n"
            "outputs:\n"
            "  - {type: listen, address: \"unix:%s\", on_lag: wait}\n",
            o->verbose ? "info" : "warning", memory_of(o),
            path_of(l, "input.sock").text, path_of(l, LINES).text);
    bool ok = put_strings(file, l);
    bool is_written = !ferror(file); /* its errno is a later call's by now */
    bool is_closed = fclose(file) == 0;
    if (!is_written || !is_closed) {
        message_error("%s: %s", l->folder,
                      is_written ? strerror(errno)
                                 : "config.yaml cannot be written");
        return false;
    }
    return ok;
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
    if (mkdtemp(l->folder))
        return true;
    message_error("%s: %s", l->folder, strerror(errno));
    return false;
}

static void remove_folder(const struct run *l)
{
    static const char *const names[] = { "config.yaml", "input.sock", LINES,
                                         VULKAN_SETTINGS, VULKAN_REPORT };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(path_of(l, names[i]).text);
    for (size_t i = 0; run_shader_files[i]; i++)
        unlink(path_of(l, run_shader_files[i]).text);
    rmdir(l->folder);
}

/* ---- the daemon ---- */

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
    char *program = own_program(name);
    if (program)
        execvp(program, argv);
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
    bool ok = !connect(fd, (struct sockaddr *)&address, sizeof address) &&
              !access(path_of(l, LINES).text, F_OK);
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

/* ---- the reader ---- */

/* What `follow` has to be told. */
static struct options reader_options(const struct run *l, struct file *socket,
                                     int ready_fd)
{
    struct options ret = *l->options;
    ret.files = socket;
    ret.n_files = 1;
    ret.live.from = "oldest";
    ret.live.ready_fd = ready_fd;
    ret.live.n_entries = l->n_entries;
    ret.live.spool_folder = l->folder;
    if (!ret.live.spool_max)
        ret.live.spool_max = (uint64_t)SPOOL_MAX_GIB << 30;
    if (ret.lines.fields == WHEN_AUTO)
        ret.lines.fields = WHEN_ALWAYS;
    return ret;
}

/* The reader has its own process group, as the daemon has. */
static void run_reader(const struct run *l, pid_t parent, int ready_fd)
{
    struct path path = path_of(l, LINES);
    struct file socket = { .path = path.text };
    const struct options o = reader_options(l, &socket, ready_fd);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(EXIT_ERROR);
    sigprocmask(SIG_SETMASK, &l->before, NULL);
    if (own(l->options)->prefix)
        output_prefix(own(l->options)->prefix);
    int status = follow_client_take(&o, NULL);
    _exit(output_failed() ? EXIT_ERROR : status);
}

/* Waits until the daemon has answered it: from then on it gets all lines. */
static bool start_reader(struct run *l)
{
    int ready[2];
    char byte;
    pid_t self = getpid();
    if (pipe2(ready, O_CLOEXEC)) {
        message_error("%s", strerror(errno));
        return false;
    }
    l->reader = fork();
    if (l->reader == 0)
        run_reader(l, self, ready[1]);
    close(ready[1]);
    bool ok = l->reader > 0 && read(ready[0], &byte, 1) == 1;
    close(ready[0]);
    if (!ok)
        message_error("the lines cannot be read: nothing was run");
    return ok;
}

/* ---- the end of both ---- */

static void take_child(pid_t pid, int *status, bool *ended)
{
    if (pid > 0 && !*ended && waitpid(pid, status, WNOHANG) == pid)
        *ended = true;
}

static void take_children(struct run *l)
{
    bool daemon_ran = !l->daemon_ended;
    take_child(l->daemon, &l->daemon_status, &l->daemon_ended);
    take_child(l->reader, &l->reader_status, &l->reader_ended);
    if (daemon_ran && l->daemon_ended && l->program > 0 && !l->stopping) {
        message_error("printfdecoded ended before the program: lines are "
                      "missing");
    }
}

/* Stops the daemon, which first passes on everything that it has received, and
 * waits for the reader, which ends behind it. A signal ends both. */
static bool stop_daemon(struct run *l, const sigset_t *signals)
{
    siginfo_t info;
    l->stopping = true;
    if (l->daemon <= 0)
        return false;
    if (!l->daemon_ended)
        kill(l->daemon, SIGTERM);
    for (take_children(l);
         !l->daemon_ended || (l->reader > 0 && !l->reader_ended);
         take_children(l)) {
        if (sigwaitinfo(signals, &info) <= 0 || info.si_signo == SIGCHLD)
            continue;
        if (!l->daemon_ended)
            kill(l->daemon, SIGTERM);
        if (l->reader > 0 && !l->reader_ended)
            kill(l->reader, SIGTERM);
    }
    int status = l->daemon_status;
    return WIFEXITED(status) &&
           (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == NO_STREAM);
}

/* The reader's exit status, for the program's 0: findings in the data let no run
 * fail, nor does a filter that nothing passes. */
static int status_of_reader(const struct run *l)
{
    int status = l->reader_status;
    if (l->reader <= 0 || !l->reader_ended)
        return EXIT_CLEAN;
    if (!WIFEXITED(status))
        return EXIT_ERROR;
    return WEXITSTATUS(status) == EXIT_FAILED  ? EXIT_FAILED
           : WEXITSTATUS(status) == EXIT_ERROR ? EXIT_ERROR
                                               : EXIT_CLEAN;
}

/* ---- the program ---- */

static bool uses_vulkan(const struct options *o)
{
    const struct vulkan_options *vulkan = &own(o)->vulkan;
    return vulkan->debug_printf || vulkan->gpu_validation;
}

static bool set_environment(const struct run *l)
{
    const struct vulkan_options *vulkan = &own(l->options)->vulkan;
    return !setenv("PRINTFDECODE_DIR", l->folder, 1) &&
           (!uses_vulkan(l->options) ||
            vulkan_set_environment(vulkan, path_of(l, VULKAN_SETTINGS).text,
                                   path_of(l, VULKAN_REPORT).text));
}

/* A runner of the package, which need not be in PATH. */
static void exec_own(char *const *argv)
{
    char *path = own_program(argv[0]);
    if (path && strchr(path, '/'))
        execv(path, argv);
    free(path);
}

static void run_program(const struct run *l)
{
    char **argv = l->command;
    if (!argv[0] || !set_environment(l))
        _exit(EXIT_ERROR);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, &l->before, NULL);
    execvp(argv[0], argv);
    int why = errno;
    if (why == ENOENT && !strchr(argv[0], '/'))
        exec_own(argv);
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
        take_children(l);
        if (sigwaitinfo(signals, &info) > 0)
            take_signal(l, &info);
    }
}

/* A value as shells read it. */
static void print_quoted(const char *text)
{
    output_printf("'");
    for (; *text; text++)
        output_printf(*text == '\'' ? "'\\''" : "%c", *text);
    output_printf("'");
}

/* Prints the variables that a program needs which others start. */
static bool print_environment(const struct run *l)
{
    static const char *const names[] = {
        "PRINTFDECODE_DIR",       "VK_INSTANCE_LAYERS", "VK_ADD_LAYER_PATH",
        "VK_LAYER_SETTINGS_PATH", "VK_LAYER_PATH",      "PFD_LAYER",
    };
    size_t n = uses_vulkan(l->options) ? sizeof names / sizeof names[0] : 1;
    if (!set_environment(l))
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *value = getenv(names[i]);
        if (!value)
            continue;
        output_printf("export %s=", names[i]);
        print_quoted(value);
        output_printf("\n");
    }
    return output_flush();
}

/* Waits for a signal that ends the listening, or for the end of the lines. */
static int wait_for_end(struct run *l, const sigset_t *signals)
{
    siginfo_t info;
    do {
        take_children(l);
    } while (!l->daemon_ended && !l->reader_ended &&
             (sigwaitinfo(signals, &info) <= 0 || info.si_signo == SIGCHLD));
    return EXIT_CLEAN;
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

/* Has a runner of the package said itself why the shader did not run? */
static bool is_refused(const char *path, int status)
{
    enum {
        NO_DEVICE = 77
    };
    return run_shader_is(path) && status && status != NO_DEVICE;
}

/* Says why no line came. */
static void message_silence(const struct run *l, int status)
{
    struct path settings = path_of(l, VULKAN_SETTINGS);
    const struct silence silence = {
        .options = l->options,
        .vulkan = uses_vulkan(l->options) ? &own(l->options)->vulkan : NULL,
        .settings = settings.text,
        .dump = run_command_dump(l->command),
        .has_connected = !WIFEXITED(l->daemon_status) ||
                         WEXITSTATUS(l->daemon_status) != NO_STREAM,
        .signal = status > BY_SIGNAL ? status - BY_SIGNAL : 0,
    };
    bool was_run = status != NOT_FOUND && status != NOT_RUNNABLE &&
                   !is_refused(l->options->files[0].path, status);
    if (l->program > 0 && was_run && !*l->n_entries)
        silence_message(&silence);
}

/* Memory that is shared with children; not 0 until the reader has counted. */
static bool make_count(struct run *l)
{
    void *memory = mmap(NULL, sizeof *l->n_entries, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        message_error("%s", strerror(errno));
        return false;
    }
    l->n_entries = memory;
    *l->n_entries = UINT64_MAX;
    return true;
}

/* Reports what the daemon would refuse later. */
static bool is_possible(const struct options *o)
{
    struct filtering filtering;
    bool ok = filtering_open(&filtering, &o->filter);
    pfd_filter_free(filtering.filter);
    return ok;
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
    if (!is_possible(o) || !make_count(&l))
        return EXIT_ERROR;
    /* None ends this between here and the folder's removal. */
    sigprocmask(SIG_BLOCK, &signals, &l.before);
    if (!make_folder(&l)) {
        sigprocmask(SIG_SETMASK, &l.before, NULL);
        return EXIT_ERROR;
    }
    const struct shader_run shader = { l.folder, own(o)->vulkan.debug_printf,
                                       own(o)->vulkan.buffer_bytes };
    l.command = run_command_new(o, own(o)->attaches ? NULL : &shader);
    bool is_ready =
        l.command && write_config(&l) &&
        (!uses_vulkan(o) ||
         vulkan_prepare(&own(o)->vulkan, path_of(&l, VULKAN_SETTINGS).text));
    if (is_ready && start_daemon(&l) &&
        (!own(o)->attaches || print_environment(&l)) && start_reader(&l)) {
        status = own(o)->attaches ? wait_for_end(&l, &signals)
                                  : start_program(&l, &signals);
    }
    if (!stop_daemon(&l, &signals) && status == EXIT_CLEAN) {
        message_error("printfdecoded did not end well: lines may be missing");
        status = EXIT_ERROR;
    }
    if (status == EXIT_CLEAN)
        status = status_of_reader(&l);
    message_silence(&l, status);
    if (uses_vulkan(o))
        vulkan_message_report(path_of(&l, VULKAN_REPORT).text);
    remove_folder(&l);
    munmap(l.n_entries, sizeof *l.n_entries);
    run_command_free(l.command);
    sigprocmask(SIG_SETMASK, &l.before, NULL);
    return status;
}

static bool set_prefix(struct options *o, const struct option_row *row,
                       const char *text)
{
    const char **prefix = option_member(o, row);
    *prefix = text ? text : "gpu: ";
    return true;
}

/* Takes the place of the program. */
static bool set_attaches(struct options *o, const struct option_row *row,
                         const char *text)
{
    (void)text;
    bool *attaches = option_member(o, row);
    if (!*attaches)
        options_add_file(o, "--attach-env", ROLE_ARGUMENT);
    *attaches = true;
    return true;
}

static bool check(const struct options *o)
{
    if (!own(o)->attaches || o->n_files == 1)
        return true;
    message_error("--attach-env is for programs that others start: no program "
                  "is given");
    return false;
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
    { "strings", 0, "FILE",
      "format strings beside those that the program sends; repeatable",
      offsetof(struct run_options, strings), option_input_files, true },
    { "count", 'c', NULL, "say how many entries there are instead",
      offsetof(struct options, range.count), option_flag, false },
    { "tail", 0, "N", "only the last N of them, at the end",
      offsetof(struct options, range.tail), option_positive, false },
    { "prefix", 0, OPTION_OPTIONAL,
      "begin each line with 'gpu: ', or =TEXT: the program's begin otherwise",
      offsetof(struct run_options, prefix), set_prefix, false },
    { "attach-env", 0, NULL,
      "run nothing: print the variables for a program that others start",
      offsetof(struct run_options, attaches), set_attaches, false },
    { "to", 0, "FILE", "a capture of what comes, to be decoded again",
      offsetof(struct options, to), option_output_file, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,        &options_output_entries, &options_filter, &options_limit,
    &options_collapse, &options_lines,          &options_checks, &options_spool,
    &options_force,    &options_messages,       &options_help,   NULL,
};

const struct verb verb_run = {
    .name = "run",
    .files = "[--] PROGRAM|SHADER [ARGUMENT...]",
    .help = "run a program, and print what its buffers say meanwhile",
    .run = run_run,
    .groups = groups,
    .size = sizeof(struct run_options),
    .check = check,
    .runs_program = true,
};
