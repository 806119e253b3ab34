/* SPDX-License-Identifier: MIT */
#include "socket_peers.h"

#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "options/options.h"

enum {
    ESTABLISHED = 1, /* of Linux, include/net/tcp_states.h */
    ANSWER_BYTES = 32768,
};

/* The path that is searched for, and the result. */
struct search {
    const char *path;
    size_t n;
    unsigned inodes[SOCKET_PEERS_MAX]; /* of peers */
};

/* ---- the system's list of sockets ---- */

static bool ask(int fd)
{
    static const struct {
        struct nlmsghdr head;
        struct unix_diag_req request;
    } message = {
        .head = { .nlmsg_len = sizeof message,
                  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
        .request = { .sdiag_family = AF_UNIX,
                     .udiag_states = 1U << ESTABLISHED,
                     .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER },
    };
    return send(fd, &message, sizeof message, 0) == (ssize_t)sizeof message;
}

static void take_socket(struct search *s, struct nlmsghdr *head)
{
    const size_t n_head = sizeof(struct unix_diag_msg);
    size_t n_path = strlen(s->path);
    long left = (long)head->nlmsg_len - (long)NLMSG_LENGTH(n_head);
    bool is_ours = false;
    unsigned peer = 0;
    if (left < 0)
        return;
    for (struct rtattr *a =
             (void *)((char *)NLMSG_DATA(head) + NLMSG_ALIGN(n_head));
         RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == UNIX_DIAG_NAME) {
            is_ours =
                RTA_PAYLOAD(a) >= n_path &&
                !memcmp(RTA_DATA(a), s->path, n_path) &&
                (RTA_PAYLOAD(a) == n_path || !((char *)RTA_DATA(a))[n_path]);
        } else if (a->rta_type == UNIX_DIAG_PEER &&
                   RTA_PAYLOAD(a) >= sizeof peer) {
            memcpy(&peer, RTA_DATA(a), sizeof peer);
        }
    }
    if (is_ours && peer && s->n < SOCKET_PEERS_MAX)
        s->inodes[s->n] = peer;
    s->n += is_ours && peer;
}

/* Takes an answer [n bytes]; false: it is the last one, or an error. */
static bool take_answer(struct search *s, char *answer, size_t n, bool *is_done)
{
    unsigned left = (unsigned)n;
    for (struct nlmsghdr *head = (void *)answer; NLMSG_OK(head, left);
         head = NLMSG_NEXT(head, left)) {
        *is_done = head->nlmsg_type == NLMSG_DONE;
        if (*is_done || head->nlmsg_type == NLMSG_ERROR)
            return false;
        if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY)
            take_socket(s, head);
    }
    return true;
}

static bool find_inodes(struct search *s)
{
    struct timeval patience = { .tv_sec = 5 };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    char *answer = malloc(ANSWER_BYTES);
    bool is_done = false;
    if (!answer)
        exit_without_memory();
    bool ok = fd >= 0 && ask(fd);
    if (ok) {
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience,
                         sizeof patience);
    }
    while (ok) {
        ssize_t n = recv(fd, answer, ANSWER_BYTES, 0);
        if (n < 0 && errno == EINTR)
            continue;
        ok = n > 0 && take_answer(s, answer, (size_t)n, &is_done);
    }
    free(answer);
    if (fd >= 0)
        close(fd);
    return is_done;
}

/* ---- processes ---- */

static void read_name(struct socket_peer *peer)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", (int)peer->pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(peer->name, sizeof peer->name, file))
        peer->name[strcspn(peer->name, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Which of the peers has a descriptor that names this? */
static void take_descriptor(struct socket_peers *ret, const struct search *s,
                            pid_t pid, const char *target)
{
    unsigned inode = 0;
    if (strncmp(target, "socket:[", 8) == 0)
        inode = (unsigned)strtoul(target + 8, NULL, 10);
    for (size_t i = 0; inode && i < s->n && i < SOCKET_PEERS_MAX; i++) {
        if (s->inodes[i] != inode || ret->all[i].pid)
            continue;
        ret->all[i].pid = pid;
        read_name(&ret->all[i]);
    }
}

static void look_into(struct socket_peers *ret, const struct search *s,
                      const char *process)
{
    char path[64];
    char target[64];
    const struct dirent *entry;
    int n = snprintf(path, sizeof path, "/proc/%.20s/fd", process);
    DIR *folder = n < (int)sizeof path ? opendir(path) : NULL;
    while (folder && (entry = readdir(folder))) {
        ssize_t length =
            readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1);
        if (length <= 0)
            continue;
        target[length] = '\0';
        take_descriptor(ret, s, (pid_t)strtol(process, NULL, 10), target);
    }
    if (folder)
        closedir(folder);
}

bool socket_peers_read(struct socket_peers *ret, const char *path)
{
    struct search s = { .path = path };
    const struct dirent *entry;
    *ret = (struct socket_peers){ 0 };
    if (!find_inodes(&s))
        return false;
    ret->n = s.n;
    DIR *processes = s.n ? opendir("/proc") : NULL;
    while (processes && (entry = readdir(processes))) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            look_into(ret, &s, entry->d_name);
    }
    if (processes)
        closedir(processes);
    return true;
}
