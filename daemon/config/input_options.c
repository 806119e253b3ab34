/* SPDX-License-Identifier: MIT */
#include "config/input_options.h"

#include <stddef.h>
#include <string.h>

#define AT(member) offsetof(struct pfdd_input_config, member)

const struct pfdd_input_class *pfdd_input_class_of(
    const struct pfdd_input_config *config)
{
    return (const struct pfdd_input_class *)config->block.type_class;
}

static const struct pfdd_key option_keys[] = {
    { .name = "compat", .kind = PFDD_KEY_OPTION, .at = AT(options) },
    { .name = "layout", .kind = PFDD_KEY_OPTION, .at = AT(options) },
    { .name = "opencl_strings", .kind = PFDD_KEY_OPTION, .at = AT(options) },
    { .name = "kernel", .kind = PFDD_KEY_OPTION, .at = AT(options) },
    { 0 },
};
const struct pfdd_group pfdd_options_group = { option_keys, NULL };

/* The format's own name, which is static; NULL: there is no such format. */
static const char *find_format(const char *name)
{
    const struct pfd_format_info *info;
    for (size_t i = 0; (info = pfd_format_get(i)); i++) {
        if (!strcmp(info->name, name))
            return info->name;
    }
    return NULL;
}

static void check_format(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_input_config *in = group;
    if (in->format && !find_format(in->format)) {
        pfdd_diagnostics_add(places, "format",
                             "no buffer format is called '%.64s'", in->format);
    }
}

const char *pfdd_input_format(const struct pfdd_input_config *config)
{
    if (config->format)
        return find_format(config->format);
    return config->describe ? "described" : NULL;
}

static const struct pfdd_key format_keys[] = {
    { .name = "format", .kind = PFDD_KEY_TEXT, .at = AT(format) },
    { .name = "describe",
      .kind = PFDD_KEY_TEXT,
      .at = AT(describe),
      .use = PFDD_USE_READ },
    { 0 },
};
const struct pfdd_group pfdd_format_group = { format_keys, check_format };

static const struct pfdd_key settle_keys[] = {
    { .name = "settle",
      .kind = PFDD_KEY_TIME,
      .at = AT(settle_ms),
      .min = 1,
      .max = 60000,
      .initial = 100 },
    { 0 },
};
const struct pfdd_group pfdd_settle_group = { settle_keys, NULL };

static void check_uris(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_input_config *in = group;
    if (pfdd_is_given(places, "code_object_uris") &&
        !in->access.address.is_unix) {
        pfdd_diagnostics_add(
            places, "code_object_uris",
            "'code_object_uris' is for unix sockets: who sends on "
            "others is not known");
    }
}

static const char *const uris[] = { "own", "all", "none", NULL };
static const struct pfdd_key uris_keys[] = {
    { .name = "code_object_uris",
      .kind = PFDD_KEY_WORD,
      .at = AT(uris),
      .words = uris },
    { 0 },
};
const struct pfdd_group pfdd_uris_group = { uris_keys, check_uris };
