/* SPDX-License-Identifier: MIT */
/* printfdecoded: the command line, the loop, an orderly end. */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/version.h>

#include "daemon.h"
#include "log.h"
#include "systemd.h"

enum {
    EXIT_CONFIG = 78 /* sysexits.h: EX_CONFIG */
};

static const char usage[] =
    "Usage: printfdecoded [--config FILE]\n"
    "       printfdecoded check-config FILE\n"
    "\n"
    "Follows GPU printf buffers and hands their lines to subscribers.\n"
    "Without a configuration: producers connect to DIR/input.sock and\n"
    "subscribers to DIR/lines.sock, where DIR is $XDG_RUNTIME_DIR/printfdecode,\n"
    "or /run/printfdecode for root.\n"
    "\n"
    "  -c, --config FILE  the configuration, YAML; see printfdecoded(8)\n"
    "  -h, --help         this text\n"
    "  -V, --version      the version\n";

static void tell_stderr(void *user, const char *text)
{
    fprintf(stderr, "%s\n", text);
}

static int check_config(const char *path)
{
    struct pfdd_config *config = pfdd_config_read(path, tell_stderr, NULL);
    if (!config)
        return EXIT_CONFIG;
    pfdd_config_free(config);
    return 0;
}

/* Where the built-in configuration has its sockets; NULL: nowhere. */
static char *runtime_dir(void)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    char *dir = NULL;
    if (geteuid() == 0)
        base = "/run";
    if (!base || base[0] != '/' || asprintf(&dir, "%s/printfdecode", base) < 0)
        return NULL;
    if (mkdir(dir, 0750) == 0 || access(dir, W_OK) == 0)
        return dir;
    perror(dir);
    free(dir);
    return NULL;
}

static struct pfdd_config *built_in_config(void)
{
    char *dir = runtime_dir();
    char *text = NULL;
    struct pfdd_config *config = NULL;
    if (!dir) {
        fprintf(stderr, "printfdecoded: no XDG_RUNTIME_DIR: give a "
                        "configuration with --config\n");
        return NULL;
    }
    int n = asprintf(&text,
                     "inputs:\n"
                     "  - {type: listen, address: \"unix:%s/input.sock\"}\n"
                     "outputs:\n"
                     "  - {type: listen, address: \"unix:%s/lines.sock\"}\n",
                     dir, dir);
    if (n > 0) {
        config = pfdd_config_read_text("built-in configuration", text,
                                       (size_t)n, tell_stderr, NULL);
    }
    if (n > 0)
        free(text);
    free(dir);
    return config;
}

static int serve(const char *path)
{
    char err[512] = "";
    struct pfdd d = { .config_path = path };
    uv_loop_t loop;
    struct pfdd_config *config =
        path ? pfdd_config_read(path, tell_stderr, NULL) : built_in_config();
    if (!config)
        return EXIT_CONFIG;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error */
    pfdd_systemd_init();
    uv_loop_init(&loop);
    bool ok = pfdd_start(&d, &loop, config, err, sizeof err);
    if (!ok) {
        pfdd_log(PFDD_ERROR, "%s", err);
    } else {
        pfdd_systemd_notify("READY=1");
        pfdd_log(PFDD_INFO, "ready");
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    pfdd_deinit(&d);
    if (uv_loop_close(&loop) != 0) {
        pfdd_log(PFDD_ERROR, "handles are left behind");
        return 1;
    }
    return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        { "config", required_argument, NULL, 'c' },
        { "help", no_argument, NULL, 'h' },
        { "version", no_argument, NULL, 'V' },
        { 0 },
    };
    const char *path = NULL;
    int letter = 0;
    while ((letter = getopt_long(argc, argv, "c:hV", options, NULL)) != -1) {
        if (letter == 'c') {
            path = optarg;
        } else if (letter == 'h') {
            fputs(usage, stdout);
            return 0;
        } else if (letter == 'V') {
            printf("printfdecoded %s\n", pfd_version());
            return 0;
        } else {
            fputs(usage, stderr);
            return 1;
        }
    }
    if (argc - optind == 2 && !strcmp(argv[optind], "check-config") && !path)
        return check_config(argv[optind + 1]);
    if (optind < argc) {
        fputs(usage, stderr);
        return 1;
    }
    return serve(path);
}
