/* SPDX-License-Identifier: MIT */
/* Vulkan: do its devices, layers and settings let messages come? */
#ifndef CLI_VULKAN_DOCTOR_H
#define CLI_VULKAN_DOCTOR_H

#include <stdbool.h>

#include "diagnosis.h"
#include "show/fields.h"
#include "vulkan_environment.h"
#include "vulkan_facts.h"
#include "vulkan_settings.h"

struct vulkan_state {
    bool is_run; /* the environment is that which `run` makes; else the
                    caller's own */
    struct vulkan_facts facts;
    struct vulkan_settings settings;
};

/* Does the caller's environment enable layers itself? */
bool vulkan_is_set_up(void);

/* run: what `run` was told, and its file of settings; NULL: the environment is
 * left as it is. */
struct vulkan_run {
    const struct vulkan_options *options;
    const char *settings; /* paths of its files */
    const char *report;
};

void vulkan_state_read(struct vulkan_state *ret, struct vulkan_run *run);
void vulkan_state_free(struct vulkan_state *state);

void vulkan_state_show(const struct vulkan_state *state, struct fields *f);

/* Adds the faults. */
void vulkan_state_judge(const struct vulkan_state *state, struct diagnosis *d);

#endif
