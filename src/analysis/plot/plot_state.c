/* SPDX-License-Identifier: MIT */
#include "analysis/plot/plot_state.h"

bool pfd_plot_fail(struct pfd_plot *plot, enum pfd_status code,
                   const char *text)
{
    if (plot->error.code == PFD_OK)
        pfd_fail(&plot->error, code, PFD_NO_OFFSET, "%s", text);
    return false;
}
