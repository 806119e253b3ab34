/* SPDX-License-Identifier: MIT */
/* Why a process cannot be read, from facts that are made up: what a system
 * without yama, containers or other users cannot show. */
#include <errno.h>
#include <string.h>

#include <check.h>

#include "memory/space/process_status.h"
#include "suite.h"

enum {
    PID = 4711,
    ME = 1000
};

/* A process of ours that should be readable, and is not. */
static struct pfd_process_facts ours(void)
{
    return (struct pfd_process_facts){
        .pid = PID,
        .status = { .is_there = true,
                    .state = 'S',
                    .group = PID,
                    .pid_inside = PID,
                    .n_ids = 1,
                    .uid = ME,
                    .has_memory = true },
        .number = EACCES,
        .own_uid = ME,
        .has_owner = true,
        .owner = ME,
        .scope = -1,
    };
}

static void expect(const struct pfd_process_facts *facts, const char *what,
                   const char *remedy)
{
    struct pfd_error err = { 0 };
    ck_assert_int_eq(pfd_process_explain(facts, &err), PFD_ERR_IO);
    ck_assert_msg(strstr(err.text, "process 4711"), "%s", err.text);
    ck_assert_msg(strstr(err.text, what), "%s", err.text);
    ck_assert_msg(strstr(err.text, remedy), "%s", err.text);
}

START_TEST(test_scopes)
{
    struct pfd_process_facts f = ours();
    f.scope = 1;
    expect(&f, "ptrace_scope is 1", "sysctl kernel.yama.ptrace_scope=0");
    f.number = EPERM;
    expect(&f, "ptrace_scope is 1", "as root");
    f.scope = 2;
    expect(&f, "ptrace_scope is 2", "CAP_SYS_PTRACE");
    f.scope = 3;
    expect(&f, "ptrace_scope is 3", "until the system starts anew");
    static const int without[] = { -1, 0, 4 };
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        f.scope = without[i];
        expect(&f, "the system forbids it", "security module");
    }
}
END_TEST

START_TEST(test_users)
{
    struct pfd_process_facts f = ours();
    f.status.uid = 33;
    f.scope = 1; /* is not what keeps us out */
    expect(&f, "is of user 33", "runs as user 1000: run it as that user");
    f.status.uid = 0;
    expect(&f, "is of user 0", "CAP_SYS_PTRACE");
}
END_TEST

START_TEST(test_capabilities)
{
    struct pfd_process_facts f = ours();
    f.status.capabilities = 1 << 21 | 1;
    f.own_capabilities = 1;
    expect(&f, "capabilities that this has not", "CAP_SYS_PTRACE");
    f.own_capabilities |= 1 << 21;
    expect(&f, "the system forbids it", "CAP_SYS_PTRACE");
}
END_TEST

START_TEST(test_protected)
{
    struct pfd_process_facts f = ours();
    f.owner = 0;
    expect(&f, "PR_SET_DUMPABLE", "as root");
    f.has_owner = false;
    expect(&f, "the system forbids it", "CAP_SYS_PTRACE");
}
END_TEST

START_TEST(test_namespace)
{
    struct pfd_process_facts f = ours();
    f.status.n_ids = 2;
    f.status.pid_inside = 17;
    expect(&f, "another pid namespace", "its id is 17");
    f.scope = 2; /* that keeps us out all the same */
    expect(&f, "ptrace_scope is 2", "as root");
}
END_TEST

START_TEST(test_others)
{
    struct pfd_process_facts f = ours();
    f.number = ENOMEM;
    expect(&f, "cannot be read", strerror(ENOMEM));
    f.status.has_memory = false;
    expect(&f, "has no memory", "thread of the kernel");
    f.status.state = 'Z';
    expect(&f, "zombie", "its memory is gone");
    f.status.is_there = false;
    expect(&f, "there is no", "process 4711");
}
END_TEST

int main(void)
{
    return suite_run("process_why",
                     TESTS(test_scopes, test_users, test_capabilities,
                           test_protected, test_namespace, test_others),
                     60);
}
