/* SPDX-License-Identifier: MIT */
#include "run_silence.h"

#include <stddef.h>
#include <string.h>

#include "doctor/vulkan_doctor.h"
#include "show/messages.h"

static bool is_filtered(const struct options *o)
{
    return o->filter.matches.n || o->filter.format_strings.n ||
           o->filter.sources.n || o->filter.ids.n || o->filter.where;
}

/* Faults of Vulkan in the program's environment. */
static void look_at_vulkan(const struct silence *s, struct diagnosis *d)
{
    struct vulkan_run run = { s->vulkan, s->settings, "/dev/null" };
    struct vulkan_state state;
    vulkan_state_read(&state, &run);
    vulkan_state_judge(&state, d);
    vulkan_state_free(&state);
}

/* Why a program may have sent no entry; NULL: the diagnosis says it. */
static const char *reason(const struct silence *s, const struct diagnosis *d)
{
    if (!s->has_connected && !s->vulkan) {
        return "debugPrintfEXT needs --vulkan-debug-printf, run_cl and run_comp "
               "their --strings";
    }
    if (diagnosis_has_faults(d))
        return NULL;
    if (!s->has_connected)
        return "it made no Vulkan device, or none that has the layer";
    if (s->signal) {
        return "a signal ended it: what its GPU had not finished by then is "
               "lost";
    }
    if (s->vulkan && !s->vulkan->debug_printf) {
        return "GPU-assisted validation found no error, or it ended by "
               "_exit() or before its GPU had";
    }
    return s->vulkan
               ? "its shaders print nothing, or it ended by _exit() or before "
                 "its GPU had: wait for the device first"
               : "nothing was printed into its buffers";
}

void silence_message(const struct silence *silence)
{
    const char *name = silence->options->files[0].path;
    struct diagnosis d = { 0 };
    if (silence->has_connected && is_filtered(silence->options)) {
        message_hint("%s: no entry came that passes the filter", name);
        return;
    }
    if (silence->dump && !silence->has_connected) {
        message_hint("%s: its buffer is written to %s, as --to says, and not "
                     "sent: decode reads it",
                     name, silence->dump);
        return;
    }
    if (silence->vulkan)
        look_at_vulkan(silence, &d);
    const char *why = reason(silence, &d);
    message_hint(
        "%s: %s%s%s", name,
        silence->has_connected
            ? "no entry came"
            : "it has not connected, so nothing of it could be printed",
        why ? ": " : "", why ? why : "");
    diagnosis_message(&d);
    diagnosis_free(&d);
}
