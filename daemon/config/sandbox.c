/* SPDX-License-Identifier: MIT */
#include "config/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/landlock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/features.h"
#include "base/log.h"

enum {
    GRANTS_MAX = 4096,
};

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

/* Rights of the first ABI; truncation was added by the third. */
#define ALL_OF_ABI_1 ((1ULL << 13) - 1)
#define READ         (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE                                                                \
    (READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
     LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_DIR |           \
     LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_TRUNCATE)
#define SOCKET \
    (READ | LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_REMOVE_FILE)

struct grant {
    const char *path; /* an existing folder or file */
    uint64_t rights;
};

/* Set once, before there are threads. */
static struct grant *grants; /* [n_grants] */
static size_t n_grants;
static int abi;          /* of landlock; 0: not active */
static bool is_open;     /* no landlock: an input reads other processes */
static unsigned n_calls; /* calls that seccomp allows; 0: not active */

/* ---- paths of a configuration ---- */

typedef bool (*want_fn)(void *user, const char *folder, uint64_t rights);

/* Wants the folder of a path, up to the first {word}. */
static bool want_folder_of(want_fn want, void *user, const char *path,
                           uint64_t rights)
{
    char folder[PATH_MAX];
    char real[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", path);
    folder[strcspn(folder, "{")] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash) {
        slash[slash == folder] = '\0';
    } else {
        strcpy(folder, ".");
    }
    if (!want(user, folder, rights))
        return false;
    /* The path may be a link: want the folder of its target, too. */
    if (strchr(path, '{') || !realpath(path, real))
        return true;
    slash = strrchr(real, '/');
    slash[slash == real] = '\0';
    return want(user, real, rights);
}

/* Gets the rights for each path of a configuration. */
struct wish {
    want_fn want;
    void *user;
};

static bool want_path(void *user, enum pfdd_use use, const char *path)
{
    static const struct {
        uint64_t rights;
        bool itself; /* false: the folder that contains it */
    } uses[] = {
        [PFDD_USE_NONE] = { 0, true },
        [PFDD_USE_READ] = { READ, false },
        [PFDD_USE_AWAIT] = { READ, false },
        [PFDD_USE_WATCH] = { READ, true },
        [PFDD_USE_NAMES] = { 0, true },
        [PFDD_USE_WRITE] = { WRITE, false },
        [PFDD_USE_DATABASE] = { WRITE, false },
        [PFDD_USE_KEEP] = { WRITE, true },
        [PFDD_USE_LISTEN] = { SOCKET, false },
        [PFDD_USE_CONNECT] = { SOCKET, false },
    };
    const struct wish *w = user;
    if (!uses[use].rights)
        return true;
    return uses[use].itself
               ? w->want(w->user, path, uses[use].rights)
               : want_folder_of(w->want, w->user, path, uses[use].rights);
}

static bool want_all(const struct pfdd_config *config, want_fn want, void *user)
{
    struct wish wish = { want, user };
    return pfdd_config_paths(config, want_path, &wish);
}

/* The folder, or its closest parent that exists. */
static char *find_folder(const char *path)
{
    char at[PATH_MAX];
    snprintf(at, sizeof at, "%s", path);
    for (;;) {
        char *real = realpath(at, NULL);
        char *slash = strrchr(at, '/');
        if (real || !slash || slash == at)
            return real ? real : strdup(slash ? "/" : ".");
        *slash = '\0';
    }
}

static bool add_grant(void *user, const char *path, uint64_t rights)
{
    char *folder = n_grants < GRANTS_MAX ? find_folder(path) : NULL;
    struct grant *more = realloc(grants, (n_grants + 1) * sizeof *grants);
    if (more)
        grants = more;
    if (!folder || !more) {
        free(folder);
        return false;
    }
    grants[n_grants++] = (struct grant){ folder, rights };
    return true;
}

/* ---- landlock: no wrapper in the C library ---- */

static int landlock_abi(void)
{
    long n = syscall(SYS_landlock_create_ruleset, NULL, 0,
                     LANDLOCK_CREATE_RULESET_VERSION);
    return n > 0 ? (int)n : 0;
}

static void add_rule(int rules, const struct grant *g, uint64_t handled)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = g->rights & handled,
        .parent_fd = open(g->path, O_PATH | O_CLOEXEC),
    };
    if (rule.parent_fd < 0)
        return;
    if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule,
                0) != 0)
        pfdd_log(PFDD_WARNING, "sandbox: %s: %s", g->path, strerror(errno));
    close(rule.parent_fd);
}

static bool restrict_files(int version)
{
    struct landlock_ruleset_attr attr = {
        .handled_access_fs =
            ALL_OF_ABI_1 | (version >= 3 ? LANDLOCK_ACCESS_FS_TRUNCATE : 0),
    };
    int rules =
        (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (rules < 0)
        return false;
    for (size_t i = 0; i < n_grants; i++)
        add_rule(rules, &grants[i], attr.handled_access_fs);
    bool ok = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return ok;
}

void pfdd_sandbox_files(const struct pfdd_config *config, const char *path)
{
    /* Shared libraries, the user database, this process. */
    static const struct grant always[] = {
        { "/usr", READ },
        { "/lib", READ },
        { "/lib64", READ },
        { "/etc", READ },
        { "/proc", READ },
        { "/sys/devices", READ },
        { "/run/systemd/resolve", READ }, /* resolver of host names */
        { "/dev/urandom", LANDLOCK_ACCESS_FS_READ_FILE },
        { "/dev/null",
          LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE },
    };
    int version = landlock_abi();
    is_open = pfdd_config_reads_processes(config);
    if (!config->sandbox || !version || is_open)
        return;
    /* Its parent will be inaccessible. */
    if (config->state_dir && mkdir(config->state_dir, 0750) != 0 &&
        errno != EEXIST)
        pfdd_log(PFDD_WARNING, "%s: %s", config->state_dir, strerror(errno));
    bool ok = want_all(config, add_grant, NULL) &&
              (!path || want_folder_of(add_grant, NULL, path, READ));
    for (size_t i = 0; ok && i < sizeof always / sizeof *always; i++) {
        if (access(always[i].path, F_OK) == 0)
            ok = add_grant(NULL, always[i].path, always[i].rights);
    }
    if (ok && restrict_files(version))
        abi = version;
}

bool pfdd_sandbox_has_files(void)
{
    return abi > 0;
}

struct question {
    char *err;
    size_t n_err;
};

static bool is_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);
    return !strcmp(folder, "/") ||
           (!strncmp(path, folder, n) && (path[n] == '/' || !path[n]));
}

static bool is_granted(void *user, const char *path, uint64_t rights)
{
    struct question *q = user;
    char *folder = find_folder(path);
    uint64_t have = 0;
    for (size_t i = 0; folder && i < n_grants; i++) {
        if (is_below(folder, grants[i].path))
            have |= grants[i].rights;
    }
    bool ok = folder && (rights & ~have) == 0;
    if (!ok) {
        snprintf(q->err, q->n_err,
                 "'%.200s' is outside of what this process may use since it "
                 "started (sandbox): restart it",
                 path);
    }
    free(folder);
    return ok;
}

bool pfdd_sandbox_covers(const struct pfdd_config *config, char *err, size_t n)
{
    struct question q = { err, n };
    if ((abi || n_calls) && !is_open && pfdd_config_reads_processes(config)) {
        snprintf(err, n,
                 "an input reads processes, which this one may not do since it "
                 "started (sandbox): restart it");
        return false;
    }
    return !abi || want_all(config, is_granted, &q);
}

/* ---- seccomp ---- */

/* The leak checker of a sanitized program traces it at its end, which seccomp
 * would forbid. */
#if defined(__SANITIZE_ADDRESS__)
#undef HAVE_SECCOMP
#define HAVE_SECCOMP 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef HAVE_SECCOMP
#define HAVE_SECCOMP 0
#endif
#endif

#if HAVE_SECCOMP
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

static const char *const plain_calls[] = {
    /* files */
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "preadv2",
    "pwrite64",
    "open",
    "openat",
    "openat2",
    "close",
    "stat",
    "fstat",
    "lstat",
    "newfstatat",
    "statx",
    "statfs",
    "fstatfs",
    "lseek",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getdents64",
    "getxattr",
    "getcwd",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "chmod",
    "fchmod",
    "fchmodat",
    "umask",
    "truncate",
    "ftruncate",
    "fallocate",
    "fadvise64",
    "fsync",
    "fdatasync",
    "syncfs",
    "flock",
    "fcntl",
    "dup",
    "dup2",
    "dup3",
    "memfd_create",
    "inotify_init1",
    "inotify_add_watch",
    "inotify_rm_watch",
    /* sockets and events */
    "bind",
    "listen",
    "accept",
    "accept4",
    "connect",
    "shutdown",
    "getsockopt",
    "setsockopt",
    "getsockname",
    "getpeername",
    "recvmsg",
    "recvmmsg",
    "recvfrom",
    "sendmsg",
    "sendmmsg",
    "sendto",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "eventfd2",
    "pipe2",
    "timerfd_create",
    "timerfd_settime",
    /* memory, threads, time, this process */
    "brk",
    "munmap",
    "mremap",
    "madvise",
    "futex",
    "set_robust_list",
    "rseq",
    "sched_yield",
    "sched_getaffinity",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "tgkill",
    "restart_syscall",
    "exit",
    "exit_group",
    "nanosleep",
    "clock_nanosleep",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "getrandom",
    "getpid",
    "pidfd_open",
    "gettid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "uname",
    "sysinfo",
    "getrusage",
};

/* Calls that are allowed if argument `arg`, masked, equals a value. */
static const struct part {
    const char *call;
    unsigned arg;
    uint64_t mask;
    uint64_t value;
} partial_calls[] = {
    { "socket", 0, UINT32_MAX, AF_UNIX },
    { "socket", 0, UINT32_MAX, AF_INET },
    { "socket", 0, UINT32_MAX, AF_INET6 },
    { "socketpair", 0, UINT32_MAX, AF_UNIX },
    /* Never memory that is both writable and executable. */
    { "mmap", 2, PROT_WRITE | PROT_EXEC, 0 },
    { "mmap", 2, PROT_WRITE | PROT_EXEC, PROT_WRITE },
    { "mmap", 2, PROT_WRITE | PROT_EXEC, PROT_EXEC },
    { "mprotect", 2, PROT_EXEC, 0 },
    /* Threads, no processes. */
    { "clone", 0, CLONE_THREAD, CLONE_THREAD },
    { "kill", 1, UINT32_MAX, 0 }, /* test for existence */
    { "prctl", 0, UINT32_MAX, PR_SET_NAME },
    { "prlimit64", 2, UINT64_MAX, 0 }, /* read only */
    { "ioctl", 1, UINT32_MAX, FIONBIO },
    { "ioctl", 1, UINT32_MAX, FIONREAD },
    { "ioctl", 1, UINT32_MAX, SIOCOUTQ },
    { "ioctl", 1, UINT32_MAX, FIOCLEX },
    { "ioctl", 1, UINT32_MAX, TCGETS },
};

/* By number: an old libseccomp does not know their names. */
static const int ring_calls[] = {
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
};

static bool refuse_rings(scmp_filter_ctx filter)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof ring_calls / sizeof *ring_calls; i++) {
        ok &= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), ring_calls[i],
                               0) == 0;
    }
    return ok;
}

static bool add_calls(scmp_filter_ctx filter)
{
    bool ok = true;
    for (size_t i = 0; i < sizeof plain_calls / sizeof *plain_calls; i++) {
        int number = seccomp_syscall_resolve_name(plain_calls[i]);
        if (number != __NR_SCMP_ERROR)
            ok &= seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0) == 0;
    }
    for (size_t i = 0; i < sizeof partial_calls / sizeof *partial_calls; i++) {
        const struct part *p = &partial_calls[i];
        struct scmp_arg_cmp is = { p->arg, SCMP_CMP_MASKED_EQ, p->mask,
                                   p->value };
        int number = seccomp_syscall_resolve_name(p->call);
        if (number == __NR_SCMP_ERROR)
            continue;
        /* -EEXIST: the call is allowed without conditions. */
        int rc = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, number, 1, &is);
        ok &= rc == 0 || rc == -EEXIST;
    }
    if (is_open) {
        ok &= seccomp_rule_add(filter, SCMP_ACT_ALLOW,
                               SCMP_SYS(process_vm_readv), 0) == 0;
    }
    /* seccomp cannot read its flags. ENOSYS makes the C library use clone(). */
    ok &= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3),
                           0) == 0;
    return ok && refuse_rings(filter);
}

bool pfdd_sandbox_rings(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    if (!filter)
        return false;
    bool ok = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
              refuse_rings(filter) && seccomp_load(filter) == 0;
    seccomp_release(filter);
    return ok;
}

bool pfdd_sandbox_calls(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return false;
    if (seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) == 0 &&
        add_calls(filter) && seccomp_load(filter) == 0)
        n_calls = sizeof plain_calls / sizeof *plain_calls;
    seccomp_release(filter);
    return n_calls > 0;
}

#else

bool pfdd_sandbox_rings(void)
{
    return false;
}

bool pfdd_sandbox_calls(void)
{
    return false;
}

#endif

void pfdd_sandbox_log(void)
{
    char files[64] = "no landlock";
    char calls[128] = "no seccomp";
    if (abi)
        snprintf(files, sizeof files, "landlock (version %d)", abi);
    if (is_open) {
        snprintf(files, sizeof files,
                 "no landlock, which keeps from other processes");
    }
    if (n_calls)
        snprintf(calls, sizeof calls, "seccomp (%u system calls)", n_calls);
    if (!pfdd_feature_is_there(PFDD_FEATURE_SECCOMP)) {
        snprintf(calls, sizeof calls, "no seccomp: %s",
                 pfdd_feature_remedy(PFDD_FEATURE_SECCOMP));
    }
    pfdd_log(PFDD_INFO, "sandbox: %s, %s", files, calls);
}
