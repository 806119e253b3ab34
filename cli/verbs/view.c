/* SPDX-License-Identifier: MIT */
/* printfdecode view: entries on a terminal, to look around in. */
#include "show/messages.h"
#include "verb.h"
#include "view/show.h"

/* The verb's values. */
struct view_options {
    struct options common;
    uint64_t memory_max;
};

/* Were options given that a daemon is asked by? */
static bool chooses(const struct options *o)
{
    return o->filter.matches.n || o->filter.format_strings.n ||
           o->filter.ids.n || o->filter.where || o->filter.sources.n ||
           o->filter.invert || o->live.from || o->live.no_findings ||
           options_have_tls(o);
}

static int view_run(const struct options *o)
{
    if (!view_is_of_daemon(o) && chooses(o)) {
        message_error("--from, --match and their like are for the socket of a "
                      "daemon; of files, the key / chooses");
        return EXIT_ERROR;
    }
    return view_show(o, ((const struct view_options *)o)->memory_max);
}

static const struct option_row rows[] = {
    { "memory-max", 0, "BYTES",
      "memory for places of entries (default: 256MiB)",
      offsetof(struct view_options, memory_max), option_bytes, false },
};
static const struct option_row from_rows[] = {
    { "from", 0, "WHERE", "of a daemon: oldest, a sequence number or a time",
      offsetof(struct options, live.from), option_text, false },
};
static const struct option_group from_group = OPTION_GROUP(from_rows);
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,      &from_group,   &options_filter, &options_remote,
    OPTIONS_READING, &options_work, OPTIONS_ENDING,  NULL,
};

const struct verb verb_view = {
    .name = "view",
    .files = "BUFFER [FILE...] | ADDRESS",
    .help = "look around in buffers on a terminal",
    .run = view_run,
    .groups = groups,
    .size = sizeof(struct view_options),
};
