/* SPDX-License-Identifier: MIT */
/* What Vulkan has here: devices, layers, their order, as the package's program
 * vulkan_report asks for it. */
#ifndef CLI_VULKAN_FACTS_H
#define CLI_VULKAN_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "driver_report.h"

enum {
    FACT_ORDER_MAX = 32,
};

/* A line of vulkan_report: the first word says what it is, words that it does
 * not have are empty. */
struct vulkan_fact {
    const char *words[REPORT_WORDS];
};

struct vulkan_facts {
    struct driver_report report; /* owner of all words */
    struct vulkan_fact *all;     /* [n] */
    size_t n;
    const char *order[FACT_ORDER_MAX]; /* [n_order]: the device's layers, from
                                          the program to the driver */
    size_t n_order;
    const char **said; /* [n_said]: lines of our layers */
    size_t n_said;
    const char *why; /* of a loader that is not there; NULL */
};

/* prepare: sets up the environment; NULL: as it is. */
void vulkan_facts_read(struct vulkan_facts *ret, driver_prepare_fn prepare,
                       void *user);
void vulkan_facts_free(struct vulkan_facts *facts);

/* The first fact of this kind from *at on, whose second word is `name`, or any
 * where that is NULL; *at is moved behind it. NULL: there is none. */
const struct vulkan_fact *vulkan_fact_next(const struct vulkan_facts *facts,
                                           size_t *at, const char *kind,
                                           const char *name);

/* The place of a layer in the order; n_order: it is not there. */
size_t vulkan_facts_place(const struct vulkan_facts *facts, const char *layer);

#endif
