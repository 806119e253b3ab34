/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

#include "settings.h"

enum {
    LINE_MAX_BYTES = 1024,
};

static atomic_bool said[TELL_N];

/* Writes a line by one call: other threads write, too. */
__attribute__((format(printf, 1, 0))) static void say(const char *format,
                                                      va_list arguments)
{
    char line[LINE_MAX_BYTES];
    vsnprintf(line, sizeof line, format, arguments);
    fprintf(stderr, "VK_LAYER_PFD_capture: %s\n", line);
}

void tell(const char *format, ...)
{
    va_list arguments;
    if (settings_get()->is_quiet)
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void log_once(enum log_once what, const char *format, ...)
{
    va_list arguments;
    if (settings_get()->is_quiet || atomic_exchange(&said[what], true))
        return;
    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
}

void log_line(const char *line)
{
    if (!settings_get()->is_quiet)
        fprintf(stderr, "%s\n", line);
}
