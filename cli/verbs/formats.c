/* SPDX-License-Identifier: MIT */
/* printfdecode formats: lists the buffer formats, or what can be none. */
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct formats_options {
    struct options common;
    bool why; /* list the buffers that are no format */
};

/* Buffers of programs that only their driver can read. */
static const struct {
    const char *name;
    const char *why; /* no decoder can exist */
    const char *use; /* what to do instead */
} others[] = {
    { "cuda", "the layout of the driver's FIFO is not published",
      "PFD_PRINTF of <printfdecode/device/printf.h>" },
    { "radv", "formats are numbered in the driver's memory, in no file",
      "debugPrintfEXT with the validation layer, or our layer" },
    { "llvm-rpc", "messages go to the host one by one, no buffer holds them",
      "that header, too; or HIP with -mprintf-kind=buffered" },
    { "metal", "the system hands out text, and its buffer is not published",
      "a ring of your own and --describe" },
    { "pocl", "on CPUs each call is printed at once",
      "what it prints, or another driver: clspv, rusticl" },
};

static void list_others(void)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        output_printf("%-12s %s; use %s\n", others[i].name, others[i].why,
                      others[i].use);
    }
}

static int formats_run(const struct options *o)
{
    const struct formats_options *own = (const struct formats_options *)o;
    const struct pfd_format_info *info;
    if (own->why)
        list_others();
    for (size_t i = 0; !own->why && (info = pfd_format_get(i)); i++)
        output_printf("%-12s %s\n", info->name, info->title);
    return output_failed() ? EXIT_ERROR : EXIT_CLEAN;
}

static const struct option_row rows[] = {
    { "why", 0, NULL,
      "list what no decoder can read instead, why, and what to use",
      offsetof(struct formats_options, why), option_flag, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = { &own_group, &options_help,
                                                     NULL };

const struct verb verb_formats = {
    .name = "formats",
    .files = "",
    .help = "list the buffer formats",
    .run = formats_run,
    .size = sizeof(struct formats_options),
    .groups = groups,
};
