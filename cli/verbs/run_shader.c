/* SPDX-License-Identifier: MIT */
#include "run_shader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/input.h"
#include "doctor/own_program.h"
#include "show/messages.h"

/* How source of a language is run. */
struct language {
    const char *suffix;
    const char *runner;
    const char *made; /* what scan writes */
    const char *call; /* what prints, too */
    bool is_compiled; /* to SPIR-V; else the driver takes source, and prints
                         its calls itself */
    size_t n_sizes;   /* words that are 1 where they are not given */
};

static const struct language languages[] = {
    { ".comp", "run_comp", "shader.comp", "debugPrintfEXT", true, 3 },
    { ".cl", "run_cl", "shader.cl", "printf", false, 0 },
};

#define STRINGS "shader.pfdb"
#define SPIRV   RUN_SHADER_SPIRV

const char *const run_shader_files[] = { "shader.comp", "shader.cl", STRINGS,
                                         SPIRV, NULL };

static const struct language *language_of(const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
        size_t n_suffix = strlen(languages[i].suffix);
        if (n > n_suffix && !strcmp(path + n - n_suffix, languages[i].suffix))
            return &languages[i];
    }
    return NULL;
}

bool run_shader_is(const char *path)
{
    struct stat st;
    return language_of(path) && !stat(path, &st) && S_ISREG(st.st_mode) &&
           access(path, X_OK);
}

/* ---- commands ---- */

/* Text of its own; the program ends when memory is out. */
static char *text_of(const char *a, const char *b)
{
    char *ret = NULL;
    if (asprintf(&ret, "%s%s", a, b) < 0) {
        message_error("out of memory");
        exit(1);
    }
    return ret;
}

static char *path_in(const char *folder, const char *name)
{
    char *begin = text_of(folder, "/");
    char *ret = text_of(begin, name);
    free(begin);
    return ret;
}

/* Runs a command; is_quiet: its standard output is dropped. */
static bool run_step(char *const *argv, bool is_quiet)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        int to =
            is_quiet ? open("/dev/null", O_WRONLY | O_CLOEXEC) : STDERR_FILENO;
        if (to >= 0)
            dup2(to, STDOUT_FILENO);
        execvp(argv[0], argv);
        message_error("%s: %s%s", argv[0], strerror(errno),
                      errno == ENOENT ? " (Debian: glslang-tools)" : "");
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The files of a shader; owned. */
struct paths {
    char *source;
    char *made;
    char *strings;
    char *spirv;
};

static bool has_word(const char *path, const char *word)
{
    struct pfd_input *input = NULL;
    size_t n = 0;
    if (pfd_input_open(path, &input, NULL) != PFD_OK)
        return false;
    const void *bytes = pfd_input_bytes(input, &n);
    bool ret = memmem(bytes, n, word, strlen(word)) != NULL;
    pfd_input_close(input);
    return ret;
}

/* Beside PFD_PRINTF, a driver's calls stay the driver's. */
static bool scans_call(const struct language *language, const char *source)
{
    return language->is_compiled || !has_word(source, "PFD_PRINTF");
}

static bool scan(const struct language *language, char *source, char *made,
                 char *strings)
{
    char self[] = "/proc/self/exe";
    char verb[] = "scan";
    char to[] = "-o";
    char option[] = "--strings";
    char sites[] = "--sites";
    char call[] = "--call";
    char *name = text_of(language->call, "");
    char *const argv[] = {
        self,    verb,  source,
        to,      made,  option,
        strings, sites, scans_call(language, source) ? call : NULL,
        name,    NULL
    };
    bool ok = run_step(argv, true);
    free(name);
    return ok;
}

/* Includes are looked for beside the shader as it was given. */
static char *include_option(const char *source)
{
    const char *slash = strrchr(source, '/');
    char *folder = slash ? strndup(source, (size_t)(slash - source) + 1) : NULL;
    char *ret = text_of("-I", folder ? folder : ".");
    free(folder);
    return ret;
}

/* The compiler's errors are on its standard output. has_lines: validation prints
 * the module, whose lines of calls are wanted. */
static bool compile(const struct paths *p, bool has_lines)
{
    char compiler[] = "glslangValidator";
    char quiet[] = "--quiet";
    char vulkan[] = "-V";
    char target[] = "--target-env";
    char version[] = "vulkan1.1";
    char to[] = "-o";
    char lines[] = "-g";
    char *include = include_option(p->source);
    char *const argv[] = { compiler,
                           quiet,
                           vulkan,
                           target,
                           version,
                           include,
                           has_lines ? p->source : p->made,
                           to,
                           p->spirv,
                           has_lines ? lines : NULL,
                           NULL };
    bool ok = run_step(argv, false);
    free(include);
    return ok;
}

/* ---- the runner's words ---- */

struct command {
    char **words;
    size_t n;
};

static void add(struct command *c, const char *word)
{
    c->words[c->n++] = text_of(word, "");
}

static bool is_number(const char *word)
{
    return *word && strspn(word, "0123456789") == strlen(word);
}

/* Sizes that were not given are 1. */
static void add_words(struct command *c, const struct language *language,
                      const char *const *words, size_t n)
{
    size_t i = 0;
    for (; i < language->n_sizes && i < n && is_number(words[i]); i++)
        add(c, words[i]);
    for (size_t k = i; k < language->n_sizes; k++)
        add(c, "1");
    for (; i < n; i++)
        add(c, words[i]);
}

static bool build(const struct paths *p, const struct language *language,
                  bool is_printed)
{
    return (is_printed || scan(language, p->source, p->made, p->strings)) &&
           (!language->is_compiled || compile(p, is_printed));
}

/* What the package's own writer needs. */
static void add_printing(struct command *c, const struct paths *p,
                         const struct shader_run *run)
{
    char number[24];
    add(c, "--strings");
    add(c, p->strings);
    if (!run->buffer_bytes)
        return;
    snprintf(number, sizeof number, "%" PRIu64, run->buffer_bytes);
    add(c, "--buffer-bytes");
    add(c, number);
}

static char **make_words(const struct paths *p, const struct language *language,
                         const struct shader_run *run, const char *const *words,
                         size_t n)
{
    enum {
        PRINTING_WORDS = 4
    };
    /* The caller's words, the first of which becomes the runner and its file;
     * sizes, what printing needs, and NULL. */
    size_t most = n + 1 + language->n_sizes + PRINTING_WORDS + 1;
    struct command c = { calloc(most, sizeof(char *)), 0 };
    if (!c.words) {
        message_error("out of memory");
        return NULL;
    }
    c.words[c.n++] = own_program(language->runner);
    if (!c.words[0]) {
        message_error("out of memory");
        exit(1);
    }
    add(&c, language->is_compiled ? p->spirv
            : run->is_printed     ? p->source
                                  : p->made);
    add_words(&c, language, words + 1, n - 1);
    if (!run->is_printed)
        add_printing(&c, p, run);
    return c.words;
}

/* A path that begins like an option is none with its folder before it. */
char **run_shader_command(const struct shader_run *run,
                          const char *const *words, size_t n)
{
    const struct language *language = language_of(words[0]);
    if (!language)
        return NULL;
    const struct paths p = {
        .source = text_of(*words[0] == '-' ? "./" : "", words[0]),
        .made = path_in(run->folder, language->made),
        .strings = path_in(run->folder, STRINGS),
        .spirv = path_in(run->folder, SPIRV),
    };
    char **ret = NULL;
    if (build(&p, language, run->is_printed))
        ret = make_words(&p, language, run, words, n);
    free(p.source);
    free(p.made);
    free(p.strings);
    free(p.spirv);
    return ret;
}
