/* SPDX-License-Identifier: MIT */
/* What the watchdog hears: a job that does not end is told from many that do,
 * and from none. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/job_pool.h"

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

static atomic_int n_handed;

/* The second time it waits, as does its end. */
static void hand_twice(struct pfdd_job *job)
{
    for (int i = 0; i < 2; i++) {
        pfdd_pool_await(job);
        n_handed++;
        pfdd_pool_hand(job);
    }
}

static void do_nothing(struct pfdd_job *job)
{
}

static int n_halves;

static void note_half(struct pfdd_job *job)
{
    n_halves++;
}

/* One that waits for the loop is not stuck, however long that takes, nor is
 * what waits for its thread; it goes on when what it has handed over is taken. */
static int check_hands(uv_loop_t *loop, struct pfdd_pool *pool)
{
    struct pfdd_job job = { .run = hand_twice,
                            .done = note,
                            .half = note_half };
    struct pfdd_job other = { .run = do_nothing, .done = note };
    int n_wrong = 0;
    n_done = 0;
    pfdd_pool_submit(pool, &job);
    pfdd_pool_submit(pool, &other);
    for (int i = 1; i <= 2; i++) {
        while (n_halves < i)
            uv_run(loop, UV_RUN_ONCE);
        usleep(60000);
        n_wrong += check(pfdd_pool_pending(pool) == 2 && n_done == 0,
                         "a job of which something is to be taken is not done");
        n_wrong += check(n_handed == i, "and hands over one at a time");
        n_wrong +=
            check(pfdd_pool_stuck(pool, uv_hrtime()) == 0, "nor is it stuck");
        pfdd_pool_taken(&job);
    }
    while (n_done < 2)
        uv_run(loop, UV_RUN_ONCE);
    return n_wrong + check(n_halves == 2, "it has handed over twice");
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
    n_wrong += check_hands(&loop, pool);
    pfdd_pool_close(pool);
    uv_run(&loop, UV_RUN_DEFAULT);
    n_wrong += check(uv_loop_close(&loop) == 0, "nothing is left");
    return n_wrong > 0;
}
