/* SPDX-License-Identifier: MIT */
#include "service_doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <printfdecode/client.h>

#include "show/fields.h"
#include "socket_peers.h"

static const char subject[] = "service";

struct service {
    char folder[100];
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    int error; /* of connecting; 0: it listens */
    bool has_peers;
    struct socket_peers peers;
};

static int try(const char *path)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    memcpy(to.sun_path, path, strlen(path) + 1);
    int ret = fd < 0 || connect(fd, (const struct sockaddr *)&to, sizeof to)
                  ? errno
                  : 0;
    if (fd >= 0)
        close(fd);
    return ret;
}

static bool read_service(struct service *ret)
{
    *ret = (struct service){ 0 };
    if (!pfd_client_default_dir(ret->folder, sizeof ret->folder) ||
        snprintf(ret->path, sizeof ret->path, "%s/input.sock", ret->folder) >=
            (int)sizeof ret->path)
        return false;
    /* Before this process has connected itself. */
    ret->has_peers = socket_peers_read(&ret->peers, ret->path);
    ret->error = try(ret->path);
    return true;
}

static void show(const struct service *s, bool is_json)
{
    struct fields f;
    fields_begin_facts(&f, is_json, subject);
    fields_text(&f, "socket", s->path);
    fields_flag(&f, "listening", s->error == 0);
    if (s->has_peers)
        fields_number(&f, "connected", s->peers.n);
    for (size_t i = 0; i < s->peers.n && i < SOCKET_PEERS_MAX; i++) {
        const struct socket_peer *p = &s->peers.all[i];
        fields_item(&f, "programs", "program");
        fields_text(&f, "name", *p->name ? p->name : "unknown");
        fields_count(&f, "pid", (uint64_t)p->pid);
        fields_item_end(&f);
    }
    fields_end(&f);
}

static void judge(const struct service *s, struct diagnosis *d)
{
    const char *named = getenv("PRINTFDECODE_DIR");
    if (!s->error) {
        if (s->has_peers && !s->peers.n) {
            diagnosis_add(d, subject, "no_program",
                          "a service listens, and no program has connected to "
                          "it")
                ->is_advice = true;
        }
    } else if (s->error == ECONNREFUSED) {
        fault_command(diagnosis_add(d, subject, "no_listener",
                                    "%s is there, and no process listens on it",
                                    s->path),
                      "printfdecoded");
    } else if (s->error != ENOENT) {
        diagnosis_add(d, subject, "no_access", "%s cannot be connected to: %s",
                      s->path, strerror(s->error));
    } else if (named && *named) {
        fault_command(diagnosis_add(d, subject, "no_folder",
                                    "PRINTFDECODE_DIR names a folder without a "
                                    "service: %s",
                                    named),
                      "unset PRINTFDECODE_DIR");
    }
}

void service_doctor(bool is_json, struct diagnosis *d)
{
    struct service s;
    if (!read_service(&s))
        return;
    show(&s, is_json);
    judge(&s, d);
}
