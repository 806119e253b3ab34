/* SPDX-License-Identifier: MIT */
/* Who waits to be let in: whose turn it is, and who has to leave. */
#include <check.h>

#include "../../unit/suite.h"
#include "base/admission_queue.h"

static struct pfdd_admission_queue admission_queue;

static void setup(void)
{
    admission_queue = (struct pfdd_admission_queue){ .n_max = 40 };
}

static void teardown(void)
{
    while (pfdd_admission_queue_pop(&admission_queue) >= 0)
        continue;
    ck_assert_uint_eq(admission_queue.n, 0);
    ck_assert_ptr_null(admission_queue.users.first);
}

/* The descriptor that has to leave for it. */
static int join(unsigned char user, pid_t process, int fd)
{
    struct pfdd_peer_key key = { { user } };
    int out = -2;
    ck_assert(pfdd_admission_queue_has_place(&admission_queue));
    ck_assert(
        pfdd_admission_queue_push(&admission_queue, &key, process, fd, &out));
    return out;
}

static void join_many(unsigned char user, pid_t process, int first, int n)
{
    for (int fd = first; fd < first + n; fd++)
        ck_assert_int_eq(join(user, process, fd), -1);
}

/* They go in in this order; below 0 ends it. */
static void goes_in(const int *fds)
{
    for (; *fds >= 0; fds++)
        ck_assert_int_eq(pfdd_admission_queue_pop(&admission_queue), *fds);
}

#define GO_IN(...) goes_in((const int[]){ __VA_ARGS__, -1 })

START_TEST(test_order_of_one)
{
    ck_assert_int_eq(pfdd_admission_queue_pop(&admission_queue), -1);
    join_many('u', 1, 10, 3);
    GO_IN(10, 11);
    join_many('u', 1, 20, 1);
    GO_IN(12, 20);
    ck_assert_int_eq(pfdd_admission_queue_pop(&admission_queue), -1);
}
END_TEST

/* Behind one of each that waits, however many these have. */
START_TEST(test_processes)
{
    join_many('u', 1, 100, 10);
    join_many('u', 2, 200, 10);
    GO_IN(100, 200, 101);
    join_many('u', 3, 300, 2);
    GO_IN(201, 102, 300, 202, 103, 301, 203, 104);
    /* Nobody has a turn more for having gone. */
    join_many('u', 3, 302, 1);
    GO_IN(204, 105, 302);
}
END_TEST

/* A user's processes are one user. */
START_TEST(test_users)
{
    for (int i = 0; i < 20; i++)
        join_many('u', i, i, 1);
    join_many('v', 7, 100, 2);
    GO_IN(0, 100, 1, 101, 2, 3);
    join_many('w', 7, 200, 1);
    GO_IN(4, 200, 5);
}
END_TEST

START_TEST(test_full)
{
    join_many('u', 1, 100, 20);
    join_many('v', 2, 200, 18);
    join_many('v', 3, 300, 2);
    ck_assert_uint_eq(admission_queue.n, 40);
    /* Its own, or others'. */
    ck_assert_int_eq(join('u', 1, 120), 120);
    ck_assert_int_eq(join('v', 4, 400), 119);
    ck_assert_int_eq(join('w', 5, 500), 118);
    ck_assert_uint_eq(admission_queue.n, 40);
    GO_IN(100, 200, 500);
    join_many('u', 1, 121, 1);
    GO_IN(101, 300);
}
END_TEST

/* Where each has a few, nobody has to leave: others wait elsewhere. */
START_TEST(test_few)
{
    join_many('u', 1, 100, PFDD_ADMISSION_QUEUE_FEW);
    join_many('u', 2, 200, PFDD_ADMISSION_QUEUE_FEW);
    join_many('u', 3, 300, 40 - 2 * PFDD_ADMISSION_QUEUE_FEW);
    ck_assert(!pfdd_admission_queue_has_place(&admission_queue));
    GO_IN(100);
    ck_assert(pfdd_admission_queue_has_place(&admission_queue));
}
END_TEST

int main(void)
{
    return suite_run_with("lobby", setup, teardown,
                          TESTS(test_order_of_one, test_processes, test_users,
                                test_full, test_few),
                          60);
}
