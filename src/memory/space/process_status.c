/* SPDX-License-Identifier: MIT */
#include "memory/space/process_status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A small file of /proc as text; "" if it cannot be read. */
static void slurp(int folder, const char *name, char *ret, size_t n_ret)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    while (fd >= 0 && n + 1 < n_ret) {
        ssize_t got = read(fd, ret + n, n_ret - 1 - n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    ret[n] = '\0';
    if (fd >= 0)
        close(fd);
}

/* The text behind "NAME:" at the beginning of a line; NULL: there is none. A
 * program's name, on the first line, cannot have a newline. */
static const char *find_line(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (!strncmp(line, name, n) && line[n] == ':')
            return line + n + 1;
    }
    return NULL;
}

static uint64_t number_at(const char *text, int base)
{
    return text ? strtoull(text, NULL, base) : 0;
}

/* The last number of a line; *n: how many it has. */
static uint64_t last_number(const char *text, unsigned *n)
{
    uint64_t number = 0;
    *n = 0;
    if (!text)
        return 0;
    while (*text && *text != '\n') {
        char *end;
        number = strtoull(text, &end, 10);
        *n += end > text;
        text = end + strspn(end, " \t");
        if (*text < '0' || *text > '9')
            break;
    }
    return number;
}

/* Field 22 of `stat`, whose field 2 is a name of any bytes. */
static uint64_t start_of(int folder)
{
    char text[1024] = "";
    slurp(folder, "stat", text, sizeof text);
    const char *field = strrchr(text, ')');
    for (int i = 2; field && i < 22; i++) {
        field = strchr(field, ' ');
        field = field ? field + 1 : NULL;
    }
    return number_at(field, 10);
}

struct pfd_process_status pfd_process_status(int folder)
{
    char text[8192] = "";
    struct pfd_process_status ret = { 0 };
    slurp(folder, "status", text, sizeof text);
    const char *state = find_line(text, "State");
    if (!state)
        return ret;
    ret.is_there = true;
    ret.state = state[strspn(state, " \t")];
    ret.group = number_at(find_line(text, "Tgid"), 10);
    ret.pid_inside = last_number(find_line(text, "NSpid"), &ret.n_ids);
    ret.uid = number_at(find_line(text, "Uid"), 10);
    ret.capabilities = number_at(find_line(text, "CapPrm"), 16);
    ret.started = start_of(folder);
    ret.has_memory = find_line(text, "VmSize") != NULL;
    return ret;
}

/* -1: the kernel has no such setting. */
static int ptrace_scope(void)
{
    char text[16] = "";
    slurp(AT_FDCWD, "/proc/sys/kernel/yama/ptrace_scope", text, sizeof text);
    return *text >= '0' && *text <= '9' ? *text - '0' : -1;
}

/* ---- the error message ---- */

static enum pfd_status refused_by_user(const struct pfd_process_facts *f,
                                       struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "process %llu is of user %llu, and this runs as user "
                    "%llu: run it as that user, or as root (CAP_SYS_PTRACE)",
                    (unsigned long long)f->pid,
                    (unsigned long long)f->status.uid,
                    (unsigned long long)f->own_uid);
}

static enum pfd_status refused_by_rights(const struct pfd_process_facts *f,
                                         struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "process %llu has capabilities that this has not: run "
                    "this as root (CAP_SYS_PTRACE)",
                    (unsigned long long)f->pid);
}

static enum pfd_status refused_by_itself(const struct pfd_process_facts *f,
                                         struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "process %llu is protected (it has changed its user, or "
                    "asked for it: prctl(PR_SET_DUMPABLE)): run this as root "
                    "(CAP_SYS_PTRACE)",
                    (unsigned long long)f->pid);
}

/* The process is ours, with no more capabilities than we have. */
static enum pfd_status refused_by_scope(const struct pfd_process_facts *f,
                                        struct pfd_error *err)
{
    static const char *const reasons[] = {
        [1] =
            "kernel.yama.ptrace_scope is 1: only a program's parents may "
            "read it. Run this as root, or 'sysctl kernel.yama.ptrace_scope=0'",
        [2] = "kernel.yama.ptrace_scope is 2: CAP_SYS_PTRACE is needed. Run "
              "this as root",
        [3] = "kernel.yama.ptrace_scope is 3: nobody may read it until the "
              "system starts anew",
    };
    const char *why = "the system forbids it; CAP_SYS_PTRACE may be missing, "
                      "or a security module or a container may keep it from us";
    if (f->scope >= 1 && f->scope <= 3)
        why = reasons[f->scope];
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "process %llu must not be read: %s",
                    (unsigned long long)f->pid, why);
}

/* The process is in a container, where our root may have no rights. */
static enum pfd_status refused_by_namespace(const struct pfd_process_facts *f,
                                            struct pfd_error *err)
{
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "process %llu must not be read: it is in another pid "
                    "namespace (a container), where its id is %llu. Run this "
                    "there with that id, or here as root (CAP_SYS_PTRACE)",
                    (unsigned long long)f->pid,
                    (unsigned long long)f->status.pid_inside);
}

static enum pfd_status refused(const struct pfd_process_facts *f,
                               struct pfd_error *err)
{
    if (f->status.uid != f->own_uid)
        return refused_by_user(f, err);
    if (f->status.capabilities & ~f->own_capabilities)
        return refused_by_rights(f, err);
    if (f->has_owner && f->owner != f->own_uid)
        return refused_by_itself(f, err);
    if (f->status.n_ids > 1 && f->scope < 1)
        return refused_by_namespace(f, err);
    return refused_by_scope(f, err);
}

enum pfd_status pfd_process_explain(const struct pfd_process_facts *f,
                                    struct pfd_error *err)
{
    unsigned long long pid = f->pid;
    if (!f->status.is_there) {
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "there is no process %llu", pid);
    }
    if (f->status.state == 'Z' || f->status.state == 'X') {
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "process %llu has ended (a zombie, until its parent "
                        "asks how): its memory is gone",
                        pid);
    }
    if (!f->status.has_memory) {
        return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                        "process %llu has no memory: it is a thread of the "
                        "kernel, or ends just now",
                        pid);
    }
    if (f->number == EACCES || f->number == EPERM)
        return refused(f, err);
    return pfd_fail(err, PFD_ERR_IO, PFD_NO_OFFSET,
                    "process %llu cannot be read: %s", pid,
                    strerror(f->number));
}

enum pfd_status pfd_process_refused(uint64_t pid, int folder, int number,
                                    struct pfd_error *err)
{
    struct pfd_process_facts facts = {
        .pid = pid,
        .status = pfd_process_status(folder),
        .number = number,
        .own_uid = getuid(),
        .scope = ptrace_scope(),
    };
    struct stat owner;
    int self = open("/proc/self", O_PATH | O_CLOEXEC);
    if (self >= 0) {
        facts.own_capabilities = pfd_process_status(self).capabilities;
        close(self);
    }
    facts.has_owner = fstatat(folder, "mem", &owner, 0) == 0;
    facts.owner = facts.has_owner ? owner.st_uid : 0;
    return pfd_process_explain(&facts, err);
}
