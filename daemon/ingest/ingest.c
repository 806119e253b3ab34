/* SPDX-License-Identifier: MIT */
#include "ingest/ingest.h"

#include <stdlib.h>

bool pfdd_is_backlogged(struct pfdd_ingest *ingest)
{
    /* Jobs in flight, one finished job, and the caller's. */
    size_t n_coming =
        (pfdd_pool_pending(ingest->thread_pools->decoders) + 2) * ingest->batch;
    bool busy = pfdd_ring_is_busy(ingest->ring, n_coming);
    ingest->count->waits += busy;
    return busy;
}

static bool read_description(struct pfdd_input *input, char *err, size_t n_err)
{
    struct pfdd_ingest *ingest = input->ingest;
    bool ok = pfdd_description_read(
        &input->description, input->config->describe,
        (size_t)(input->held->memory_max / 4), err, n_err);
    ingest->budget->inputs += input->description.n;
    return ok;
}

static void drop_description(struct pfdd_input *input)
{
    input->ingest->budget->inputs -= input->description.n;
    pfdd_description_deinit(&input->description);
}

bool pfdd_input_open(struct pfdd_ingest *ingest, struct pfdd_config *all,
                     const struct pfdd_input_config *config, char *err,
                     size_t n_err)
{
    const struct pfdd_input_class *class = pfdd_input_class_of(config);
    struct pfdd_input *input = calloc(1, class->size);
    if (!input) {
        snprintf(err, n_err, "out of memory");
        return false;
    }
    input->class = class;
    input->ingest = ingest;
    input->config = config;
    input->held = pfdd_config_ref(all);
    if (!read_description(input, err, n_err) ||
        !class->open(input, err, n_err)) {
        drop_description(input);
        pfdd_config_unref(all);
        free(input);
        return false;
    }
    input->next = ingest->inputs;
    ingest->inputs = input;
    return true;
}

void pfdd_input_close(struct pfdd_input *input)
{
    if (input->closing)
        return;
    input->closing = true;
    input->class->close(input);
}

void pfdd_input_abandon(struct pfdd_input *input)
{
    if (input->closing && input->class->abandon)
        input->class->abandon(input);
}

void pfdd_input_closed(struct pfdd_input *input)
{
    struct pfdd_ingest *ingest = input->ingest;
    struct pfdd_input **at = &ingest->inputs;
    while (*at != input)
        at = &(*at)->next;
    *at = input->next;
    drop_description(input);
    pfdd_config_unref(input->held);
    free(input);
    ingest->on_ended(ingest);
}
