/* SPDX-License-Identifier: MIT */
#include "base/host_name.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static char name[256];

static void ask(void)
{
    static const char none[] = "localhost";
    if (gethostname(name, sizeof name - 1) != 0 || !*name)
        memcpy(name, none, sizeof none);
}

const char *pfdd_host_name(void)
{
    pthread_once(&asked, ask);
    return name;
}
