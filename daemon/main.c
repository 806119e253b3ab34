/* SPDX-License-Identifier: MIT */
/* printfdecoded: parses the command line, runs the loop and ends orderly. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/client.h>
#include <printfdecode/common.h>
#include <printfdecode/convert.h>

#include "base/features.h"
#include "base/log.h"
#include "base/malloc_setup.h"
#include "base/process_usage.h"
#include "config/explain.h"
#include "config/sandbox.h"
#include "config/systemd.h"
#include "core/base/dynamic_library.h"
#include "daemon.h"

enum {
    EXIT_NO_STREAM = 3,
    EXIT_CONFIG = 78 /* sysexits.h: EX_CONFIG */
};

static const char usage[] =
    "Usage: printfdecoded [--config FILE]\n"
    "       printfdecoded check-config FILE\n"
    "       printfdecoded nats-setup FILE\n"
    "       printfdecoded nats-status FILE\n"
    "\n"
    "Follows GPU printf buffers and hands their lines to subscribers.\n"
    "Without a configuration: producers connect to DIR/input.sock, lines are\n"
    "printed, and subscribers connect to DIR/lines.sock, where DIR is\n"
    "$PRINTFDECODE_DIR, else $XDG_RUNTIME_DIR/printfdecode; where neither is\n"
    "set, /run/printfdecode for root and /tmp/printfdecode-UID for others.\n"
    "\n"
    "  -c, --config FILE  the configuration, YAML; see printfdecoded(8)\n"
    "      --expect       exit status 3 where no producer has sent a stream\n"
    "  -h, --help         this text\n"
    "  -V, --version      the version, and what it was built with\n";

static void tell_stderr(void *user, const char *text)
{
    fprintf(stderr, "%s\n", text);
}

static int check_config(const char *path)
{
    struct pfdd_config *config = pfdd_config_read(path, tell_stderr, NULL);
    if (!config)
        return EXIT_CONFIG;
    bool ok = pfdd_explain_print(config, path, stdout, tell_stderr, NULL);
    pfdd_config_unref(config);
    return fflush(stdout) == 0 && ok ? 0 : 1;
}

/* A verb that asks the servers of a configuration's input or output. */
typedef bool (*ask_servers_fn)(const struct pfdd_block *block, FILE *out,
                               char *err, size_t n_err);

static ask_servers_fn set_up_of(const struct pfdd_type_class *type_class)
{
    return type_class->set_up;
}

static ask_servers_fn status_of(const struct pfdd_type_class *type_class)
{
    return type_class->status;
}

static int ask_servers(
    const char *path, ask_servers_fn (*hook_of)(const struct pfdd_type_class *))
{
    char err[512] = "no input or output is of type 'nats'";
    char safe[4 * sizeof err + 1] = "";
    struct pfdd_config *config = pfdd_config_read(path, tell_stderr, NULL);
    const struct pfdd_block *block = NULL;
    if (!config)
        return EXIT_CONFIG;
    for (size_t i = 0; i < config->n_inputs + config->n_outputs && !block;
         i++) {
        const struct pfdd_block *it = pfdd_config_block(config, i);
        block = hook_of(it->type_class) ? it : NULL;
    }
    bool ok =
        block && hook_of(block->type_class)(block, stdout, err, sizeof err);
    if (!ok) {
        pfd_escape_for_terminal(safe, err, strlen(err));
        fprintf(stderr, "printfdecoded: %s: %s\n", path, safe);
    }
    pfdd_config_unref(config);
    return !block ? EXIT_CONFIG : ok && fflush(stdout) == 0 ? 0 : 1;
}

static int nats_setup(const char *path)
{
    return ask_servers(path, set_up_of);
}

static int nats_status(const char *path)
{
    return ask_servers(path, status_of);
}

/* The folder of the built-in configuration's sockets, created if needed. It has
 * to be the daemon's own, in case all users may write to its parent. */
static bool make_runtime_dir(char *ret, size_t n)
{
    struct stat st;
    if (!pfd_client_default_dir(ret, n)) {
        fprintf(stderr, "printfdecoded: XDG_RUNTIME_DIR is too long\n");
        return false;
    }
    if ((mkdir(ret, 0750) == 0 || errno == EEXIST) && lstat(ret, &st) == 0 &&
        S_ISDIR(st.st_mode) && st.st_uid == geteuid())
        return true;
    fprintf(stderr, "printfdecoded: %s: %s; give a configuration with -c\n",
            ret, errno == EEXIST ? "not a folder of yours" : strerror(errno));
    return false;
}

static struct pfdd_config *built_in_config(void)
{
    char dir[96];
    char text[512];
    if (!make_runtime_dir(dir, sizeof dir))
        return NULL;
    int n = snprintf(text, sizeof text,
                     "inputs:\n"
                     "  - {type: listen, address: \"unix:%s/input.sock\"}\n"
                     "outputs:\n"
                     "  - {type: listen, address: \"unix:%s/lines.sock\"}\n"
                     "  - {type: stdout, output: text}\n",
                     dir, dir);
    return pfdd_config_read_text("built-in configuration", text, (size_t)n,
                                 tell_stderr, NULL);
}

static int serve(const char *path, bool expects)
{
    char err[512] = "";
    struct pfdd d = { .config_path = path };
    uv_loop_t loop;
    struct pfdd_config *config =
        path ? pfdd_config_read(path, tell_stderr, NULL) : built_in_config();
    if (!config)
        return EXIT_CONFIG;
    pfdd_malloc_setup(config->memory_max);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* beyond its size limit, a write to a file
                                 fails */
    pfdd_systemd_init();
    pfdd_process_usage_init();
    pfd_libraries_load(); /* wherever they are, before access to files is
                             restricted */
    pfdd_sandbox_files(config, path);
    bool calls = config->sandbox;
    if (calls)
        pfdd_sandbox_rings();
    if (uv_loop_init(&loop) != 0) {
        pfdd_log(PFDD_ERROR, "out of memory or file descriptors");
        pfdd_config_unref(config);
        return 1;
    }
    bool ok = pfdd_start(&d, &loop, config, err, sizeof err);
    if (!ok) {
        pfdd_log(PFDD_ERROR, "%s", err);
    } else {
        if (calls)
            pfdd_sandbox_calls();
        pfdd_sandbox_log();
        pfdd_systemd_notify("READY=1");
        pfdd_log(PFDD_INFO, "ready");
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    pfdd_deinit(&d);
    if (uv_loop_close(&loop) != 0) {
        pfdd_log(PFDD_ERROR, "handles are left behind");
        return 1;
    }
    return !ok ? 1 : expects && !d.count.streams ? EXIT_NO_STREAM : 0;
}

/* Each takes the name of a configuration. */
static const struct {
    const char *name;
    int (*run)(const char *path);
} verbs[] = {
    { "check-config", check_config },
    { "nats-setup", nats_setup },
    { "nats-status", nats_status },
};

/* The status of a run that printed: 1 where not all of it could be written. */
static int written(int status)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    pfdd_log(PFDD_ERROR, "standard output: not all could be written");
    return 1;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "config", required_argument, NULL, 'c' },
        { "expect", no_argument, NULL, 'e' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };
    const char *path = NULL;
    bool expects = false;
    int letter = 0;
    while ((letter = getopt_long(argc, argv, "c:hV", options, NULL)) != -1) {
        if (letter == 'c') {
            path = optarg;
        } else if (letter == 'e') {
            expects = true;
        } else if (letter == 'h') {
            fputs(usage, stdout);
            return written(0);
        } else if (letter == 'V') {
            printf("printfdecoded %s\n", pfd_version());
            pfdd_features_print();
            return written(0);
        } else {
            fputs(usage, stderr);
            return 1;
        }
    }
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs && !path; i++) {
        if (argc - optind == 2 && !strcmp(argv[optind], verbs[i].name))
            return written(verbs[i].run(argv[optind + 1]));
    }
    if (optind < argc) {
        fputs(usage, stderr);
        return 1;
    }
    return serve(path, expects);
}
