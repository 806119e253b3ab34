/* SPDX-License-Identifier: MIT */
#include "net/read_as_peer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "config/trusted_folder.h"

enum {
    LINKS_MAX = 40,  /* as in the kernel */
    NAMES_MAX = 256, /* on a path, with those of links */
    /* Bit and offset of the mount's id in statx() (linux/stat.h). */
    MOUNT_ID = 0x1000,
    MOUNT_ID_AT = 144,
};
#ifdef STATX_MNT_ID
_Static_assert(MOUNT_ID == STATX_MNT_ID &&
                   MOUNT_ID_AT == offsetof(struct statx, stx_mnt_id),
               "as the kernel's headers have it");
#endif

/* A walk along a path, name by name. */
struct way {
    const struct pfdd_peer *peer;
    int fd; /* of the folder or file that was reached */
    struct stat st;
    uint64_t mount; /* looked up last */
    bool has_mount;
    unsigned n_links;
    char rest[PATH_MAX]; /* of the path */
    char *why;           /* [n_why] */
    size_t n_why;
};

static bool stop(struct way *w, const char *why)
{
    snprintf(w->why, w->n_why, "%s", why);
    return false;
}

/* ---- file systems ---- */

/* False: files of this file system are no data, or come from a program that may
 * not answer. */
static bool is_plain(const char *type, size_t n)
{
    static const char *const others[] = {
        "autofs",   "binfmt_misc", "bpf",       "cgroup",     "cgroup2",
        "configfs", "debugfs",     "devpts",    "efivarfs",   "mqueue",
        "nsfs",     "proc",        "pstore",    "rpc_pipefs", "securityfs",
        "sysfs",    "tracefs",     "selinuxfs",
    };
    if (n >= 4 && !strncmp(type, "fuse", 4))
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strlen(others[i]) == n && !strncmp(type, others[i], n))
            return false;
    }
    return true;
}

/* The type of a mount, if the line is of it. Lines: "36 35 98:0 /root /point
 * options [tags] - type source options"; fields have no blanks. */
static const char *type_of(const char *line, uint64_t mount)
{
    char *end = NULL;
    const char *dash = strstr(line, " - ");
    return dash && strtoull(line, &end, 10) == mount && end > line ? dash + 3
                                                                   : NULL;
}

/* The type of a mount in a process's list of mounts; NULL: not listed. */
static char *find_type(const char *process, uint64_t mount)
{
    char path[40];
    char *line = NULL;
    size_t n = 0;
    const char *type = NULL;
    snprintf(path, sizeof path, "/proc/%s/mountinfo", process);
    FILE *mounts = fopen(path, "re");
    while (mounts && !type && getline(&line, &n, mounts) > 0)
        type = type_of(line, mount);
    char *ret = type ? strndup(type, strcspn(type, " \n")) : NULL;
    if (mounts)
        fclose(mounts);
    free(line);
    return ret;
}

/* In a chroot that is no mount point, the mount with the root is not listed: it
 * is unknown which files the peer sees. */
static bool stop_unlisted(struct way *w, uint64_t mount)
{
    char *type = find_type("self", mount);
    stop(w, type ? "its file system is not one that the process sees"
                 : "/proc/self/mountinfo lists no mount that holds it, as in a "
                   "chroot that is no mount point");
    free(type);
    return false;
}

/* True: the peer sees the mount. With other mounts or another root, the same
 * path would be another file for it. */
static bool knows_mount(struct way *w, uint64_t mount)
{
    char pid[16];
    if (w->has_mount && w->mount == mount)
        return true;
    snprintf(pid, sizeof pid, "%d", (int)w->peer->pid);
    char *type = find_type(pid, mount);
    bool is_listed = type != NULL;
    w->mount = mount;
    w->has_mount = is_listed && is_plain(type, strlen(type));
    free(type);
    if (!is_listed)
        return stop_unlisted(w, mount);
    return w->has_mount || stop(w, "its file system is not one of plain files");
}

/* The mount's id. musl's struct has no name for this field. */
static uint64_t mount_of(const struct statx *sx)
{
    uint64_t ret;
    memcpy(&ret, (const char *)sx + MOUNT_ID_AT, sizeof ret);
    return ret;
}

/* Looks at a file. Checks the mount first, so that no program that serves a
 * file system is asked. */
static bool look(struct way *w, int fd)
{
    struct statx sx;
    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, MOUNT_ID, &sx) != 0)
        return stop(w, strerror(errno));
    if (!(sx.stx_mask & MOUNT_ID))
        return stop(w, "this kernel does not say what is mounted where");
    if (!knows_mount(w, mount_of(&sx)))
        return false;
    return fstat(fd, &w->st) == 0 || stop(w, strerror(errno));
}

/* ---- rights ---- */

/* True: an access control list, besides the mode, determines rights. */
static bool has_list(int fd)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return getxattr(path, "system.posix_acl_access", NULL, 0) > 0 ||
           (errno != ENODATA && errno != EOPNOTSUPP);
}

static bool check(struct way *w, int fd, mode_t rights)
{
    if (!pfdd_peer_may(w->peer, &w->st, rights))
        return stop(w, "its sender may not read it");
    if (w->st.st_uid != w->peer->uid && has_list(fd))
        return stop(w, "an access control list is on its way");
    return true;
}

/* ---- the way ---- */

static void go_to(struct way *w, int fd)
{
    if (w->fd >= 0)
        close(w->fd);
    w->fd = fd;
}

/* Enters a folder, which the peer must have the right to search. */
static bool enter(struct way *w, int fd)
{
    if (look(w, fd) && check(w, fd, S_IXOTH)) {
        go_to(w, fd);
        return true;
    }
    close(fd);
    return false;
}

static bool enter_root(struct way *w)
{
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? stop(w, strerror(errno)) : enter(w, fd);
}

/* Replaces a link by its target, and closes fd. */
static bool follow(struct way *w, int fd)
{
    char path[PATH_MAX];
    ssize_t n = readlinkat(fd, "", path, sizeof path);
    close(fd);
    size_t n_rest = strlen(w->rest);
    if (n <= 0 || ++w->n_links > LINKS_MAX ||
        (size_t)n + 1 + n_rest >= sizeof w->rest)
        return stop(w, strerror(n < 0 ? errno : ELOOP));
    memmove(w->rest + n + 1, w->rest, n_rest + 1);
    memcpy(w->rest, path, (size_t)n);
    w->rest[n] = '/';
    return path[0] != '/' || enter_root(w);
}

/* Takes the next name of the rest; empty at the end. */
static void take_name(struct way *w, char ret[PATH_MAX])
{
    char *at = w->rest + strspn(w->rest, "/");
    size_t n = strcspn(at, "/");
    memcpy(ret, at, n);
    ret[n] = '\0';
    memmove(w->rest, at + n, strlen(at + n) + 1);
}

/* Goes one name further. */
static bool step(struct way *w, const char *name)
{
    bool is_last = w->rest[strspn(w->rest, "/")] == '\0';
    int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return stop(w, strerror(errno));
    if (!look(w, fd)) {
        close(fd);
        return false;
    }
    if (S_ISLNK(w->st.st_mode))
        return follow(w, fd);
    if (S_ISDIR(w->st.st_mode))
        return enter(w, fd);
    bool ok = is_last && S_ISREG(w->st.st_mode)
                  ? check(w, fd, S_IROTH)
                  : stop(w, is_last ? "not a regular file" : strerror(ENOTDIR));
    go_to(w, fd);
    return ok;
}

static bool go(struct way *w, const char *path)
{
    char name[PATH_MAX];
    size_t n = strlen(path);
    if (path[0] != '/' || n >= sizeof w->rest)
        return stop(w, "not an absolute path, or too long a one");
    memcpy(w->rest, path, n + 1);
    if (!enter_root(w))
        return false;
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        take_name(w, name);
        if (!name[0])
            return S_ISREG(w->st.st_mode) || stop(w, "it is a folder");
        if (!step(w, name))
            return false;
    }
    return stop(w, strerror(ELOOP));
}

static int open_file(const struct pfdd_peer *peer, const char *path, char *why,
                     size_t n_why)
{
    struct way w = { .peer = peer, .fd = -1, .why = why, .n_why = n_why };
    int fd = -1;
    if (go(&w, path)) {
        fd = pfdd_trusted_folder_reopen(w.fd);
        if (fd < 0)
            stop(&w, strerror(-fd));
    }
    go_to(&w, -1);
    return fd;
}

static int open_memory(const struct pfdd_peer *peer, uint64_t pid, char *why,
                       size_t n_why)
{
    char path[40];
    int fd = -1;
    /* A process of another user may by now run a program that its user may not
     * read. */
    if (pid != (uint64_t)peer->pid || peer->uid != geteuid()) {
        snprintf(why, n_why, "not the memory of the process that sends");
        return -1;
    }
    snprintf(path, sizeof path, "/proc/%d/mem", (int)peer->pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        snprintf(why, n_why, "process %d: %s", (int)peer->pid, strerror(errno));
    return fd;
}

static int open_named(void *user, const char *path, uint64_t pid, char *why,
                      size_t n_why)
{
    const struct pfdd_peer *peer = user;
    return path ? open_file(peer, path, why, n_why)
                : open_memory(peer, pid, why, n_why);
}

static enum pfd_status gone(struct pfd_error *err)
{
    *err = (struct pfd_error){ .code = PFD_ERR_IO, .offset = PFD_NO_OFFSET };
    snprintf(err->text, sizeof err->text,
             "the process that named it has ended");
    return PFD_ERR_IO;
}

enum pfd_status pfdd_read_as_peer(const struct pfdd_peer *peer, const char *uri,
                                  size_t n_max, struct pfd_input **ret,
                                  struct pfd_error *err)
{
    if (!pfdd_peer_is_alive(peer))
        return gone(err);
    enum pfd_status status = pfd_input_read_with(
        uri, n_max, open_named, (void *)(uintptr_t)peer, ret, err);
    /* If it has ended, its number may have been reused during the call. */
    if (status == PFD_OK && !pfdd_peer_is_alive(peer)) {
        pfd_input_close(*ret);
        return gone(err);
    }
    return status;
}
