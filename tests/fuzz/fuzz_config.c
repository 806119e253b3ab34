/* SPDX-License-Identifier: MIT */
/*
 * A configuration: it is read, or each error is told with its place; what was
 * read can be read again and keeps to its bounds.
 */
#include <string.h>

#include "config/config.h"
#include "fuzz.h"

static void hear(void *user, const char *text)
{
    FUZZ_CHECK(!strncmp(text, "fuzz:", 5) || !strcmp(text, "out of memory"));
    ++*(unsigned *)user;
}

static void check(const struct pfdd_config *c)
{
    FUZZ_CHECK(c->ring >= 1 << 20 && c->ring <= c->memory_max / 2);
    for (size_t i = 0; i < c->n_inputs; i++)
        FUZZ_CHECK(c->inputs[i].type <= PFDD_INPUT_STDIN);
    for (size_t i = 0; i < c->n_outputs; i++) {
        FUZZ_CHECK(c->outputs[i].type <= PFDD_OUTPUT_HTTP);
        FUZZ_CHECK(c->outputs[i].form <= PFDD_RAW);
        FUZZ_CHECK(!c->outputs[i].required || c->state_dir);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    unsigned n_errors = 0;
    struct pfdd_config *config =
        pfdd_config_read_text("fuzz", (const char *)data, n, hear, &n_errors);
    FUZZ_CHECK(!config == (n_errors > 0));
    if (config)
        check(config);
    pfdd_config_free(config);
    return 0;
}
