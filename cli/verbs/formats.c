/* SPDX-License-Identifier: MIT */
/* printfdecode formats: lists the buffer formats, or what can be none; checks
 * descriptions. */
#include "input/convert_inputs.h"
#include "input/input.h"
#include "input/open_inputs.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct formats_options {
    struct options common;
    bool check; /* descriptions, and buffers by them */
    bool why;   /* list the buffers that are no format */
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

static void tell(void *user, const struct pfd_finding *finding)
{
    (void)user;
    message_finding(NULL, finding);
}

/* Reads the buffers by the description, for what they have against it. */
static int check_buffers(const struct options *o, struct inputs *in)
{
    struct pfd_summary total = { 0 };
    struct pfd_convert convert = {
        .strings = in->strings,
        .format = o->reading.format ? o->reading.format : "described",
        .options = &o->reading.decoding,
    };
    bool ok = convert_buffers(o, in, &convert, &total);
    total.findings += in->n_findings;
    message_summary(&total);
    return !ok ? EXIT_ERROR : total.findings ? EXIT_FINDINGS : EXIT_CLEAN;
}

/* Opens descriptions, whose mistakes are told, and reads the buffers. */
static int check_descriptions(const struct options *o)
{
    struct inputs in;
    inputs_open(&in, o, tell, NULL);
    int status = in.failed ? EXIT_ERROR : EXIT_CLEAN;
    for (size_t i = 0; !in.failed && i < o->n_files; i++) {
        if (o->files[i].role == ROLE_STRINGS)
            output_printf("%s: no mistakes\n", o->files[i].path);
    }
    output_flush();
    if (in.n_buffers && !in.failed)
        status = check_buffers(o, &in);
    inputs_close(&in);
    return output_failed() ? EXIT_ERROR : status;
}

static int formats_run(const struct options *o)
{
    const struct formats_options *own = (const struct formats_options *)o;
    const struct pfd_format_info *info;
    if (own->check)
        return check_descriptions(o);
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
    { "check", 0, NULL,
      "look for mistakes in --describe FILE, and for what a buffer has against "
      "it",
      offsetof(struct formats_options, check), option_flag, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group, &options_strings, &options_buffers, &options_help, NULL
};

static bool check(const struct options *o)
{
    const struct formats_options *own = (const struct formats_options *)o;
    bool has_description = false;
    for (size_t i = 0; i < o->n_files; i++)
        has_description |= o->files[i].role == ROLE_STRINGS;
    if (own->check ? has_description : !o->n_files)
        return true;
    message_error(own->check ? "--check needs --describe FILE"
                             : "files are for --check");
    return false;
}

const struct verb verb_formats = {
    .name = "formats",
    .files = "[BUFFER...]",
    .may_lack_files = true,
    .help = "list the buffer formats, or check a description",
    .run = formats_run,
    .size = sizeof(struct formats_options),
    .groups = groups,
    .check = check,
};
