/* SPDX-License-Identifier: MIT */
/* printfdecode formats: lists the buffer formats. */
#include "options.h"
#include "show/output.h"

int formats_run(const struct options *o)
{
    struct pfd_format_info info;
    (void)o;
    for (size_t i = 0; pfd_format_get(i, &info) == PFD_OK; i++)
        output_printf("%-12s %s\n", info.name, info.title);
    return output_failed() ? EXIT_ERROR : EXIT_CLEAN;
}
