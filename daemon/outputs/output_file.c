/* SPDX-License-Identifier: MIT */
/* Files of lines. */
#include <inttypes.h>
#include <string.h>

#include "config/units.h"
#include "outputs/file_writer.h"

#define AT(member) offsetof(struct pfdd_file_writer_config, member)

static bool is_template(const char *path)
{
    for (const char *at = strchr(path, '{'); at; at = strchr(at + 1, '{')) {
        if (strncmp(at, "{host}", 6) != 0 && strncmp(at, "{pid}", 5) != 0 &&
            strncmp(at, "{buffer}", 8) != 0)
            return false;
    }
    return true;
}

static void check(const void *group, const struct pfdd_places *places)
{
    const struct pfdd_file_writer_config *config = group;
    if (config->path && !is_template(config->path)) {
        pfdd_diagnostics_add(places, "path",
                             "'path' knows {host}, {pid} and {buffer}");
    }
    if (config->base.required && config->path &&
        strstr(config->path, "{buffer}")) {
        pfdd_diagnostics_add(places, NULL,
                             "a required output is one file: no {buffer}");
    }
}

static const struct pfdd_key keys[] = {
    { .name = "path",
      .kind = PFDD_KEY_TEXT,
      .at = AT(path),
      .use = PFDD_USE_WRITE,
      .needed = true },
    { .name = "rotate_size",
      .kind = PFDD_KEY_SIZE,
      .at = AT(rotate_size),
      .min = 4096,
      .max = UINT64_C(1) << 44 },
    { .name = "rotate_age",
      .kind = PFDD_KEY_TIME,
      .at = AT(rotate_age_ms),
      .min = 1000,
      .max = UINT64_C(1) << 40 },
    { .name = "keep",
      .kind = PFDD_KEY_NUMBER,
      .at = AT(keep),
      .min = 1,
      .max = 10000 },
    { .name = "compress", .kind = PFDD_KEY_BOOL, .at = AT(compress) },
    { 0 },
};
static const struct pfdd_group group = { keys, check };
static const struct pfdd_part parts[] = {
    { &group, 0 },
    { &pfdd_render_choice_group, 0 },
    { &pfdd_form_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_file_writer_config *config =
        (const struct pfdd_file_writer_config *)block;
    fprintf(out, "%s in the file %s", pfdd_output_form(&config->base),
            config->path);
    if (config->rotate_size) {
        fputs(", a new one each ", out);
        pfdd_units_put_size(out, config->rotate_size);
    }
    if (config->rotate_age_ms) {
        fputs(", a new one each ", out);
        pfdd_units_put_time(out, config->rotate_age_ms);
    }
    if (config->keep)
        fprintf(out, ", %" PRIu64 " old ones kept", config->keep);
    if (config->compress)
        fputs(", the old ones compressed", out);
    pfdd_output_explain(&config->base, out);
}

static const char *checkpoint_name(const struct pfdd_output_config *config)
{
    return ((const struct pfdd_file_writer_config *)config)->path;
}

const struct pfdd_output_class pfdd_output_file = {
    .base = { .name = "file",
              .size = sizeof(struct pfdd_file_writer_config),
              .parts = parts,
              .plan = plan },
    .size = sizeof(struct pfdd_file_writer),
    .open = pfdd_file_writer_open,
    .close = pfdd_file_writer_close,
    .is_drained = pfdd_file_writer_is_drained,
    .memory = pfdd_file_writer_memory,
    .sent = pfdd_file_writer_sent,
    .trouble = pfdd_file_writer_trouble,
    .checkpoint_name = checkpoint_name,
};
