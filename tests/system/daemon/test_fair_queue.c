/* SPDX-License-Identifier: MIT */
/* Which task is next, and that it joins and leaves anywhere. */
#include <check.h>

#include "../../unit/suite.h"
#include "base/fair_queue.h"

static struct pfdd_fair_queue queue;
static struct pfdd_fair_task a, b, c;

static void setup(void)
{
    queue = (struct pfdd_fair_queue){ 0 };
    a = b = c = (struct pfdd_fair_task){ 0 };
}

static void put(struct pfdd_fair_task *task)
{
    pfdd_fair_queue_put(&queue, task);
}

/* Takes a task, which has to be this one. */
static void takes(struct pfdd_fair_task *task)
{
    ck_assert_ptr_eq(pfdd_fair_queue_take(&queue), task);
    ck_assert(!task || !task->is_queued);
}

START_TEST(equals_take_turns)
{
    takes(NULL);
    put(&a);
    put(&b);
    put(&a);
    takes(&a);
    put(&a);
    put(&c);
    takes(&b);
    takes(&a);
    takes(&c);
    takes(NULL);
}
END_TEST

START_TEST(the_least_charged_is_next)
{
    put(&a);
    put(&b);
    a.charged = 10;
    takes(&b);
    b.charged = 11;
    put(&b);
    takes(&a);
    takes(&b);
}
END_TEST

/* One that was idle has saved up nothing; one that is behind stays there. */
START_TEST(idle_ones_catch_up)
{
    a.charged = 100;
    put(&a);
    takes(&a);
    a.charged = 101;
    put(&a);
    pfdd_fair_queue_catch_up(&queue, &b);
    ck_assert_uint_eq(b.charged, 100);
    pfdd_fair_queue_catch_up(&queue, &a);
    ck_assert_uint_eq(a.charged, 101);
    put(&b);
    takes(&b);
    takes(&a);
}
END_TEST

/* A task that is put next comes behind the tasks that are queued. */
START_TEST(any_can_leave)
{
    struct pfdd_fair_task *const all[] = { &a, &b, &c };
    for (unsigned i = 0; i < 3; i++) {
        for (unsigned k = 0; k < 3; k++)
            put(all[k]);
        pfdd_fair_queue_leave(&queue, all[i]);
        pfdd_fair_queue_leave(&queue, all[i]);
        put(all[i]);
        takes(all[i == 0 ? 1 : 0]);
        takes(all[i == 2 ? 1 : 2]);
        takes(all[i]);
        takes(NULL);
    }
}
END_TEST

int main(void)
{
    return suite_run_with("fair queue", setup, NULL,
                          TESTS(equals_take_turns, the_least_charged_is_next,
                                idle_ones_catch_up, any_can_leave),
                          60);
}
