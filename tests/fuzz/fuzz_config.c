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

static bool is_in(const struct pfdd_type_class *const *classes,
                  const struct pfdd_type_class *type_class)
{
    while (*classes && *classes != type_class)
        classes++;
    return *classes != NULL;
}

static void check(const struct pfdd_config *c)
{
    FUZZ_CHECK(c->ring >= 1 << 20 && c->ring <= c->memory_max / 2);
    for (size_t i = 0; i < c->n_inputs; i++)
        FUZZ_CHECK(is_in(pfdd_inputs, c->inputs[i]->type_class));
    for (size_t i = 0; i < c->n_outputs; i++) {
        const struct pfdd_output_config *out = pfdd_config_output(c, i);
        FUZZ_CHECK(is_in(pfdd_outputs, out->block.type_class));
        FUZZ_CHECK(out->form <= PFDD_RAW);
        FUZZ_CHECK(!out->required || c->state_dir);
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
    pfdd_config_unref(config);
    return 0;
}
