/* SPDX-License-Identifier: MIT */
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t came;

static void on_signal(int number)
{
    (void)number;
    came = 1;
}

void interrupt_catch(void)
{
    /* Without SA_RESTART, a signal ends a pause at once. */
    struct sigaction action = { .sa_handler = on_signal };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_came(void)
{
    return came;
}
