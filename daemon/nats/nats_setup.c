/* SPDX-License-Identifier: MIT */
#include "nats/nats_setup.h"

#include "nats/nats_connection.h"

bool pfdd_nats_setup(const struct pfdd_nats_options *nats_options, FILE *out,
                     char *err, size_t n_err)
{
    struct pfdd_nats line = { .nats_options = nats_options,
                              .inbox = PFDD_INBOX_SETUP };
    bool ok = pfdd_nats_open(&line) && pfdd_nats_set_up(&line, out);
    if (!ok)
        snprintf(err, n_err, "%s", line.why);
    pfdd_nats_close(&line);
    return ok;
}
