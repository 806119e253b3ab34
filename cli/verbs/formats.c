/* SPDX-License-Identifier: MIT */
/* printfdecode formats: lists the buffer formats, or what can be none. */
#include "options.h"
#include "show/output.h"

/* What programs print into and nobody but their driver can read. */
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

int formats_run(const struct options *o)
{
    struct pfd_format_info info;
    if (o->why)
        list_others();
    for (size_t i = 0; !o->why && pfd_format_get(i, &info) == PFD_OK; i++)
        output_printf("%-12s %s\n", info.name, info.title);
    return output_failed() ? EXIT_ERROR : EXIT_CLEAN;
}
