/* SPDX-License-Identifier: MIT */
/* Messages of the layer on standard error, a line each. Any thread. */
#ifndef LAYER_LOG_H
#define LAYER_LOG_H

#include <stdbool.h>

/* Messages that are logged once in a process. */
enum log_once {
    TELL_ORDER,
    TELL_NO_VALIDATION,
    TELL_NO_SERVICE,
    TELL_MODULES_MAX,
    TELL_UNMAPPABLE,
    TELL_TOO_LARGE,
    TELL_MEMORY,
    TELL_FILE,
    TELL_LOST,
    TELL_NO_ERRORS,
    TELL_NO_MESSAGES,
    TELL_LEFT_OUT,
    TELL_NOT_DRAINED,
    TELL_SHADER_OBJECT,
    TELL_OVERFLOW,
    TELL_N
};

/* Logs a line, unless PFD_LAYER has `quiet`. */
__attribute__((format(printf, 1, 2))) void tell(const char *format, ...);
__attribute__((format(printf, 2, 3))) void log_once(enum log_once what,
                                                    const char *format, ...);

/* Logs a line without the layer's name: it begins with a place in a source. */
void log_line(const char *line);

#endif
