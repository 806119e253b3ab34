/* SPDX-License-Identifier: MIT */
/* Parses the value of each command-line option. */
#ifndef CLI_OPTION_VALUES_H
#define CLI_OPTION_VALUES_H

#include "options.h"

/* Short options are letters; others are numbers above them. */
enum {
    OPT_STRINGS = 256,
    OPT_BUFFER,
    OPT_FORMAT,
    OPT_ID,
    OPT_INVERT_MATCH,
    OPT_FORMAT_STRING,
    OPT_SOURCE,
    OPT_WHERE,
    OPT_SKIP,
    OPT_LIMIT,
    OPT_COLOR,
    OPT_PROGRESS,
    OPT_SHOW,
    OPT_LINKS,
    OPT_SHADER,
    OPT_SHADERS,
    OPT_DESCRIBE,
    OPT_WHY,
    OPT_TO,
    OPT_FORCE,
    OPT_KEEP_GOING,
    OPT_WITH_FILENAME,
    OPT_NO_FILENAME,
    OPT_MAX_INFLATED,
    OPT_BUFFER_BYTES,
    OPT_LABEL,
    OPT_UNTIL_IDLE,
    OPT_SETTLE,
    OPT_FROM,
    OPT_ACK,
    OPT_FINDINGS,
    OPT_ENTRIES,
    OPT_TAIL,
    OPT_AT,
    OPT_ENTRY,
    OPT_PID,
    OPT_CODE_OBJECTS,
    OPT_SCAN,
    OPT_CORE,
    OPT_ADDRESS,
    OPT_SIZE,
    OPT_TLS_CA,
    OPT_TLS_CERTIFICATE,
    OPT_TLS_KEY,
    OPT_TLS_NAME,
    OPT_STRINGS_TO,
    OPT_CALL,
    OPT_LANGUAGE,
    OPT_SET,
    OPT_BINDING,
    OPT_SUBGROUPS,
    OPT_WIDE_ATOMICS,
    OPT_SITES,
    OPT_COMMIT,
    OPT_ORIGIN,
    OPT_CONTROL,
    OPT_VULKAN_DEBUG_PRINTF,
    OPT_VULKAN_GPU_VALIDATION,
    OPT_ALL,
    OPT_COLUMNS,
    OPT_COLLAPSE,
    OPT_WINDOW,
    OPT_GROUP_BY,
    OPT_AGG,
    OPT_SORT,
    OPT_TOP,
    OPT_DISTINCT,
    OPT_X,
    OPT_Y,
    OPT_VALUE,
    OPT_BY,
    OPT_X_RANGE,
    OPT_Y_RANGE,
    OPT_RANGE,
    OPT_MAP,
    OPT_REDUCE,
    OPT_SCALE,
    OPT_CELLS,
    OPT_PIXEL,
    OPT_BARE,
    OPT_DARK,
    OPT_LIVE,
    OPT_FIELDS,
    OPT_NATS,
    OPT_SINCE,
    OPT_CREDENTIALS,
    OPT_USER,
    OPT_PASSWORD_FILE,
    /* From here on, options of pfd_option_get(), in its order. */
    OPT_DECODING = 1024,
    OPT_DECODING_MAX = 32,
};

enum {
    OPTION_LIST = 256 /* bytes of a list of words */
};

/* Stores an option's value; text is NULL when the option takes none. False:
 * invalid; an error was printed. */
bool option_set(struct options *o, int key, const char *text);

/* Prints an error about a value; returns false. */
bool option_wrong(const char *what, const char *value);

/* Appends a word to a comma-separated list [OPTION_LIST]. */
void option_list(char *list, const char *before, const char *word);

#endif
