/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_MS = 1000,
    ANSWER = 512
};

bool terminal_measure(struct terminal *ret)
{
    struct winsize size;
    *ret = (struct terminal){ .screen = { .columns = 80, .rows = 24 } };
    if (!isatty(STDOUT_FILENO))
        return false;
    if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col &&
        size.ws_row) {
        ret->screen = (struct pfd_plot_screen){
            .columns = size.ws_col,
            .rows = size.ws_row,
            .width = size.ws_xpixel,
            .height = size.ws_ypixel,
        };
    }
    return true;
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The answer to the last query; it ends in c, after ESC [ ?. */
static const char *attributes(const char *answer)
{
    const char *at = strstr(answer, "\033[?");
    return at && strchr(at, 'c') ? at + 3 : NULL;
}

static void hear(int fd, char *answer)
{
    size_t n = 0;
    long until = now_ms() + PATIENCE_MS;
    while (n < ANSWER - 1 && !attributes(answer)) {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        long left = until - now_ms();
        int ready = left > 0 ? poll(&p, 1, (int)left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t got = ready > 0 ? read(fd, answer + n, ANSWER - 1 - n) : 0;
        if (got <= 0)
            return;
        n += (size_t)got;
        answer[n] = '\0';
    }
}

/* Primary device attributes: 4 means sixel. */
static bool has_attribute(const char *at, long wanted)
{
    while (at && *at != 'c') {
        char *end = NULL;
        if (strtol(at, &end, 10) == wanted)
            return true;
        at = *end == ';' ? end + 1 : NULL;
    }
    return false;
}

void terminal_ask(struct terminal *t)
{
    /* Queries support for an image of one pixel (kitty's protocol), then device
     * attributes, which every terminal answers, so that the wait always
     * ends. */
    static const char question[] =
        "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[c";
    char answer[ANSWER] = "";
    struct termios before;
    const char *term = getenv("TERM");
    if (!term || !strcmp(term, "dumb"))
        return;
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return;
    if (!tcgetattr(fd, &before)) {
        struct termios quiet = before;
        quiet.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        if (!tcsetattr(fd, TCSANOW, &quiet)) {
            if (write(fd, question, sizeof question - 1) > 0)
                hear(fd, answer);
            tcsetattr(fd, TCSANOW, &before);
        }
    }
    close(fd);
    t->has_kitty = strstr(answer, "\033_Gi=31;OK") != NULL;
    t->has_sixel = has_attribute(attributes(answer), 4);
}

bool terminal_can_link(void)
{
    const char *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && term && *term &&
           strcmp(term, "dumb") != 0 && strcmp(term, "linux") != 0;
}

const char *terminal_folder_url(void)
{
    static char url[4096 + 300];
    char host[256] = "";
    char folder[4096];
    if (!getcwd(folder, sizeof folder))
        return NULL;
    gethostname(host, sizeof host - 1);
    int n = snprintf(url, sizeof url, "file://%s", host);
    for (const char *at = folder; *at && n < (int)sizeof url - 8; at++) {
        bool is_plain = isalnum((unsigned char)*at) || strchr("-._~/", *at);
        n += snprintf(url + n, 4, is_plain ? "%c" : "%%%02X",
                      (unsigned char)*at);
    }
    snprintf(url + n, sizeof url - (size_t)n, "/");
    return url;
}
