/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_MS = 1000,
    MODULES_BYTES = 256 << 20,
    BUFFER_BYTES = 64 << 20,
};

static struct settings settings = {
    .takes_debugprintf = true,
    .takes_gpuav = true,
    .takes_named = true,
    .wait_ms = WAIT_MS,
    .n_modules = MODULES_BYTES,
    .n_buffer_max = BUFFER_BYTES,
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- values; false: invalid ---- */

static bool set_to(const char *value)
{
    free(settings.to);
    settings.to = strdup(value);
    return settings.to && *value;
}

static bool set_socket(const char *value)
{
    free(settings.socket);
    settings.socket = strdup(value);
    return settings.socket && *value;
}

static bool set_report(const char *value)
{
    free(settings.report);
    settings.report = strdup(value);
    return settings.report && *value;
}

static bool set_strings(const char *value)
{
    if (!*value || settings.n_strings == SETTINGS_STRINGS_MAX)
        return false;
    settings.strings[settings.n_strings] = strdup(value);
    return settings.strings[settings.n_strings++] != NULL;
}

/* The index of a value among words [n]; n: it is none of them. */
static size_t index_of(const char *value, const char *const *words, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(value, words[i]) != 0)
        i++;
    return i;
}

static bool set_modules(const char *value)
{
    static const char *const words[] = {
        [MODULES_PRINTING] = "printing",
        [MODULES_ALL] = "all",
        [MODULES_NONE] = "none",
    };
    size_t n = sizeof words / sizeof *words;
    size_t i = index_of(value, words, n);
    settings.modules = i < n ? (enum settings_modules)i : settings.modules;
    return i < n;
}

static bool set_drain(const char *value)
{
    static const char *const words[] = {
        [DRAIN_NEVER] = "0",
        [DRAIN_UNWANTED] = "1",
        [DRAIN_ALWAYS] = "always",
    };
    size_t n = sizeof words / sizeof *words;
    size_t i = index_of(value, words, n);
    settings.drain = i < n ? (enum settings_drain)i : settings.drain;
    return i < n;
}

static bool set_take(const char *value)
{
    char copy[64];
    char *rest = NULL;
    bool debugprintf = false;
    bool gpuav = false;
    bool named = false;
    if (snprintf(copy, sizeof copy, "%s", value) >= (int)sizeof copy)
        return false;
    for (char *word = strtok_r(copy, "+", &rest); word;
         word = strtok_r(NULL, "+", &rest)) {
        if (!strcmp(word, "debugprintf")) {
            debugprintf = true;
        } else if (!strcmp(word, "gpuav")) {
            gpuav = true;
        } else if (!strcmp(word, "named")) {
            named = true;
        } else {
            return false;
        }
    }
    settings.takes_debugprintf = debugprintf;
    settings.takes_gpuav = gpuav;
    settings.takes_named = named;
    return true;
}

static bool set_number(const char *value, unsigned long long max,
                       unsigned long long *ret)
{
    char *end = NULL;
    unsigned long long number = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end || number > max)
        return false;
    *ret = number;
    return true;
}

static bool set_wait(const char *value)
{
    unsigned long long ms;
    bool ok = set_number(value, 600000, &ms);
    settings.wait_ms = ok ? (unsigned)ms : settings.wait_ms;
    return ok;
}

static bool set_module_bytes(const char *value)
{
    unsigned long long n;
    bool ok = set_number(value, SIZE_MAX / 2, &n);
    settings.n_modules = ok ? (size_t)n : settings.n_modules;
    return ok;
}

static bool set_buffer_bytes(const char *value)
{
    unsigned long long n;
    bool ok = set_number(value, SIZE_MAX / 2, &n);
    settings.n_buffer_max = ok ? (size_t)n : settings.n_buffer_max;
    return ok;
}

static bool set_flag(const char *value, bool *ret)
{
    *ret = strcmp(value, "0") != 0;
    return !strcmp(value, "0") || !strcmp(value, "1");
}

static bool set_copy(const char *value)
{
    settings.is_copied_by_cpu = !strcmp(value, "cpu");
    return !strcmp(value, "cpu") || !strcmp(value, "gpu");
}

static bool set_errors(const char *value)
{
    return set_flag(value, &settings.shows_errors);
}

static bool set_quiet(const char *value)
{
    return set_flag(value, &settings.is_quiet);
}

/* ---- keys ---- */

static const struct {
    const char *key;
    bool (*set)(const char *value);
    const char *help;
} keys[] = {
    { "to", set_to,
      "FILE     writes a capture there instead; %p is the process' number, %n\n"
      "                  the device's (needed where there are several)" },
    { "socket", set_socket,
      "PATH     the service's socket (default: input.sock in\n"
      "                  $PRINTFDECODE_DIR, or where printfdecoded has it)" },
    { "report", set_report,
      "FILE     where the bytes that a buffer would have needed are written,\n"
      "                  in lines that rise for each device, instead of saying so" },
    { "strings", set_strings,
      "FILE     with format strings of named buffers, to go along;\n"
      "                  repeatable" },
    { "take", set_take,
      "WORDS    which buffers: debugprintf+gpuav+named (default: all)" },
    { "modules", set_modules,
      "WORD     which SPIR-V modules: printing (default: that print, or\n"
      "                  that the validation layer has changed), all, none" },
    { "module_bytes", set_module_bytes,
      "N        bytes of modules, at most (default: 268435456)" },
    { "buffer_bytes", set_buffer_bytes,
      "N        bytes of one buffer, at most (default: 67108864)" },
    { "wait", set_wait,
      "MS       how long a service that is slow may hold the program up;\n"
      "                  then it is told what it has missed (default: 1000)" },
    { "copy", set_copy,
      "WORD     what copies buffers of uncached memory: gpu (default), cpu" },
    { "drain", set_drain,
      "WORD     empties buffers of debugPrintf, so that the validation layer\n"
      "                  neither reads nor loses anything: 0 (default), 1 (unless\n"
      "                  the program has a messenger for it), always" },
    { "errors", set_errors,
      "0|1      shows what validation calls an error, on standard error\n"
      "                  (VK_LAYER_PFD_messages)" },
    { "quiet", set_quiet, "0|1      says nothing" },
};

enum {
    N_KEYS = sizeof keys / sizeof *keys,
};

static void help(void)
{
    fprintf(stderr, "VK_LAYER_PFD_capture: PFD_LAYER=KEY=VALUE,...\n"
                    "  help            this\n");
    for (size_t i = 0; i < N_KEYS; i++)
        fprintf(stderr, "  %-13s=%s\n", keys[i].key, keys[i].help);
}

static void set(char *word)
{
    char *value = strchr(word, '=');
    if (!strcmp(word, "help")) {
        help();
        return;
    }
    if (value)
        *value++ = '\0';
    for (size_t i = 0; i < N_KEYS; i++) {
        if (strcmp(word, keys[i].key) != 0)
            continue;
        if (!value || !keys[i].set(value)) {
            fprintf(stderr,
                    "VK_LAYER_PFD_capture: PFD_LAYER: '%s' cannot be %s\n",
                    value ? value : "", word);
        }
        return;
    }
    fprintf(stderr,
            "VK_LAYER_PFD_capture: PFD_LAYER: there is no '%s'; PFD_LAYER=help "
            "says what there is\n",
            word);
}

static void read_environment(void)
{
    const char *text = secure_getenv("PFD_LAYER");
    char *copy = strdup(text ? text : "");
    char *rest = NULL;
    for (char *word = copy ? strtok_r(copy, ",", &rest) : NULL; word;
         word = strtok_r(NULL, ",", &rest))
        set(word);
    free(copy);
}

const struct settings *settings_get(void)
{
    pthread_once(&once, read_environment);
    return &settings;
}
