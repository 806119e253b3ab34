/* SPDX-License-Identifier: MIT */
/* Standard output. */
#include "outputs/file_writer.h"

static const struct pfdd_part parts[] = {
    { &pfdd_render_choice_group, 0 },
    { &pfdd_form_group, 0 },
    { 0 },
};

static void plan(const struct pfdd_block *block, FILE *out)
{
    const struct pfdd_output_config *config =
        (const struct pfdd_output_config *)block;
    fprintf(out, "%s on standard output", pfdd_output_form(config));
    pfdd_output_explain(config, out);
}

static const char *checkpoint_name(const struct pfdd_output_config *config)
{
    return "stdout";
}

const struct pfdd_output_class pfdd_output_stdout = {
    .base = { .name = "stdout",
              .size = sizeof(struct pfdd_file_writer_config),
              .parts = parts,
              .plan = plan,
              .only_one = "there is one standard output only" },
    .size = sizeof(struct pfdd_file_writer),
    .open = pfdd_file_writer_open,
    .close = pfdd_file_writer_close,
    .is_drained = pfdd_file_writer_is_drained,
    .memory = pfdd_file_writer_memory,
    .sent = pfdd_file_writer_sent,
    .trouble = pfdd_file_writer_trouble,
    .checkpoint_name = checkpoint_name,
};
