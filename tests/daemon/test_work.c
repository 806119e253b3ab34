/* SPDX-License-Identifier: MIT */
/* What the watchdog hears: a job that does not end is told from many that do,
 * and from none. */
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "work.h"

static sem_t may_end;
static int n_done;

static void wait_for_it(struct pfdd_job *job)
{
    sem_wait(&may_end);
}

static void note(struct pfdd_job *job)
{
    n_done++;
}

static int check(bool ok, const char *what)
{
    if (!ok)
        printf("wrong: %s\n", what);
    return !ok;
}

int main(void)
{
    uv_loop_t loop;
    struct pfdd_job jobs[3];
    int n_wrong = 0;
    sem_init(&may_end, 0, 0);
    uv_loop_init(&loop);
    struct pfdd_pool *pool = pfdd_pool_new(&loop, 1);
    n_wrong += check(pfdd_pool_stuck(pool, uv_hrtime()) == 0, "idle is well");
    for (int i = 0; i < 3; i++) {
        jobs[i] = (struct pfdd_job){ .run = wait_for_it, .done = note };
        pfdd_pool_submit(pool, &jobs[i]);
    }
    usleep(60000);
    n_wrong += check(pfdd_pool_stuck(pool, uv_hrtime()) >= 50, "stuck is told");
    sem_post(&may_end);
    while (n_done < 1)
        uv_run(&loop, UV_RUN_ONCE);
    n_wrong += check(pfdd_pool_stuck(pool, uv_hrtime()) < 50, "one got done");
    sem_post(&may_end);
    sem_post(&may_end);
    while (n_done < 3)
        uv_run(&loop, UV_RUN_ONCE);
    usleep(60000);
    n_wrong += check(pfdd_pool_stuck(pool, uv_hrtime()) == 0, "idle again");
    pfdd_pool_close(pool);
    uv_run(&loop, UV_RUN_DEFAULT);
    n_wrong += check(uv_loop_close(&loop) == 0, "nothing is left");
    return n_wrong > 0;
}
