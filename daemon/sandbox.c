/* SPDX-License-Identifier: MIT */
#include "sandbox.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

void pfdd_sandbox_enter(const struct pfdd_config *config)
{
    if (!config->sandbox)
        return;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        pfdd_log(PFDD_INFO, "no_new_privs: %s", strerror(errno));
}
