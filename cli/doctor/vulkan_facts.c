/* SPDX-License-Identifier: MIT */
#include "vulkan_facts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "options/options.h"
#include "own_program.h"

enum {
    TEXT_MAX = 4 << 20,
    WAIT_MS = 60000, /* validation layers start slowly on a busy machine */
    NO_LOADER = 77,  /* exit status of vulkan_report */
    NOT_FOUND = 127,
};

/* ---- running it ---- */

/* Never returns. The loader says the order of layers if it is asked. Our layer is
 * to find no service, which would take this for a program that prints. */
static void run_child(int to, vulkan_prepare_fn prepare, void *user)
{
    char *program = own_program("vulkan_report");
    char name[] = "vulkan_report";
    char *const argv[] = { name, NULL };
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (nothing >= 0)
        dup2(nothing, STDIN_FILENO);
    dup2(to, STDOUT_FILENO);
    dup2(to, STDERR_FILENO);
    bool ok = program && !setenv("VK_LOADER_DEBUG", "error,layer", 1) &&
              (!prepare || prepare(user)) &&
              !setenv("PRINTFDECODE_DIR", "/dev/null", 1);
    if (ok)
        execvp(program, argv);
    _exit(NOT_FOUND);
}

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Reads until the end of what the child writes, at most TEXT_MAX bytes; false:
 * it takes too long. */
static bool read_all(int from, char *text, size_t *n)
{
    long end = now_ms() + WAIT_MS;
    for (;;) {
        struct pollfd poll_fd = { .fd = from, .events = POLLIN };
        long left = end - now_ms();
        char spare[4096];
        bool is_full = *n == TEXT_MAX;
        if (left <= 0 || poll(&poll_fd, 1, (int)left) == 0)
            return false;
        ssize_t got = read(from, is_full ? spare : text + *n,
                           is_full ? sizeof spare : TEXT_MAX - *n);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return true;
        *n += got > 0 && !is_full ? (size_t)got : 0;
    }
}

static bool run(struct vulkan_facts *f, vulkan_prepare_fn prepare, void *user)
{
    int fds[2];
    int status = 0;
    size_t n = 0;
    f->text = malloc(TEXT_MAX + 1);
    if (!f->text || pipe2(fds, O_CLOEXEC))
        return false;
    pid_t child = fork();
    if (child == 0)
        run_child(fds[1], prepare, user);
    close(fds[1]);
    f->is_late = child > 0 && !read_all(fds[0], f->text, &n);
    f->text[n] = '\0';
    if (f->is_late)
        kill(child, SIGKILL);
    close(fds[0]);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    f->is_missing =
        child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
    f->signal = WIFSIGNALED(status) && !f->is_late ? WTERMSIG(status) : 0;
    return WIFEXITED(status) && WEXITSTATUS(status) == NO_LOADER;
}

/* ---- its lines ---- */

static void take_fact(struct vulkan_facts *f, char *line)
{
    struct vulkan_fact fact = { { "", "", "", "", "" } };
    for (size_t i = 0; i < FACT_WORDS && line; i++) {
        fact.words[i] = line;
        line = strchr(line, '\t');
        if (line)
            *line++ = '\0';
    }
    f->all = options_append(f->all, &f->n, sizeof *f->all);
    f->all[f->n - 1] = fact;
}

/* The name of a layer at the begin of what the loader says; NULL: another
 * line. */
static char *layer_of(char *line)
{
    char *name = strstr(line, "VK_LAYER_");
    const char *colon = strchr(line, ':');
    if (!name || (colon && strchr(colon + 1, ':')) ||
        (colon && strchr(colon + 1, '"')))
        return NULL;
    name[strcspn(name, " ")] = '\0';
    return name;
}

static void take_said(struct vulkan_facts *f, const char *line)
{
    f->said = options_append(f->said, &f->n_said, sizeof *f->said);
    f->said[f->n_said - 1] = line;
}

/* Lines of the loader are those of a list of layers between its head and the
 * device. */
static void take_line(struct vulkan_facts *f, char *line, bool *is_order)
{
    static const char mark[] = "pfd\t";
    if (!strncmp(line, mark, sizeof mark - 1)) {
        take_fact(f, line + sizeof mark - 1);
    } else if (!strncmp(line, "VK_LAYER_PFD_", 13)) {
        take_said(f, line);
    } else if (!strncmp(line, "Vulkan: ", 8)) {
        f->why = line + 8;
    } else if (strstr(line, "vkCreateDevice layer callstack")) {
        *is_order = true;
        f->n_order = 0;
    } else if (strstr(line, "<Device>")) {
        *is_order = false;
    } else if (*is_order && f->n_order < FACT_ORDER_MAX) {
        char *name = layer_of(line);
        if (name)
            f->order[f->n_order++] = name;
    }
}

void vulkan_facts_read(struct vulkan_facts *ret, vulkan_prepare_fn prepare,
                       void *user)
{
    char *rest = NULL;
    bool is_order = false;
    *ret = (struct vulkan_facts){ 0 };
    bool is_without_loader = run(ret, prepare, user);
    for (char *line = ret->text ? strtok_r(ret->text, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        take_line(ret, line, &is_order);
    if (is_without_loader && !ret->why)
        ret->why = "the Vulkan loader cannot be loaded";
}

void vulkan_facts_free(struct vulkan_facts *facts)
{
    free(facts->text);
    free(facts->all);
    free(facts->said);
    *facts = (struct vulkan_facts){ 0 };
}

const struct vulkan_fact *vulkan_fact_next(const struct vulkan_facts *facts,
                                           size_t *at, const char *kind,
                                           const char *name)
{
    while (*at < facts->n) {
        const struct vulkan_fact *fact = &facts->all[(*at)++];
        if (!strcmp(fact->words[0], kind) &&
            (!name || !strcmp(fact->words[1], name)))
            return fact;
    }
    return NULL;
}

size_t vulkan_facts_place(const struct vulkan_facts *facts, const char *layer)
{
    size_t i = 0;
    while (i < facts->n_order && strcmp(facts->order[i], layer) != 0)
        i++;
    return i;
}
