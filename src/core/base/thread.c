/* SPDX-License-Identifier: MIT */
#include "core/base/thread.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>

/* The deepest way through the library needs less than an eighth of it. */
static const size_t stack_size = (size_t)1 << 20;

/* All signals but the ones of the thread's own instructions. */
static sigset_t signals_of_others(void)
{
    static const int own[] = { SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP };
    sigset_t ret;
    sigfillset(&ret);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        sigdelset(&ret, own[i]);
    return ret;
}

bool pfd_thread_start(pthread_t *ret, void *(*work)(void *), void *arg)
{
    const sigset_t others = signals_of_others();
    sigset_t before;
    pthread_attr_t attr;
    if (pthread_attr_init(&attr) != 0)
        return false;
    pthread_sigmask(SIG_BLOCK, &others, &before);
    bool ok = pthread_attr_setstacksize(&attr, stack_size) == 0 &&
              pthread_create(ret, &attr, work, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    return ok;
}

void pfd_mutex_init_short(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP /* not musl's */
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
    pthread_mutex_init(mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

unsigned pfd_processor_count(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    int n = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    return n < 1 ? 1 : (unsigned)n;
}
