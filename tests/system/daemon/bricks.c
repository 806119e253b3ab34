/* SPDX-License-Identifier: MIT */
#include "bricks.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <check.h>

#include <printfdecode/convert.h>

char temp[64];
const char *elf_path;
const char *dump_path;
uv_loop_t loop;
struct pfdd d;

void take_arguments(char **argv)
{
    dump_path = argv[1];
    elf_path = argv[2];
    signal(SIGPIPE, SIG_IGN);
    pfdd_log_level(getenv("PFDD_TEST_LOG") ? PFDD_DEBUG : PFDD_ERROR);
}

void make_temp(void)
{
    strcpy(temp, "/tmp/pfdd-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(temp));
}

void remove_temp(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", temp);
    ck_assert_int_eq(system(command), 0);
}

char *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    ck_assert_ptr_nonnull(f);
    char *bytes = malloc(16 << 20);
    *n = fread(bytes, 1, 16 << 20, f);
    fclose(f);
    return bytes;
}

void spit(const char *name, const void *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", temp, name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

size_t count_entries(const void *bytes, size_t n)
{
    struct pfd_strings *strings = pfd_strings_new();
    struct pfd_summary summary = { 0 };
    struct pfd_convert convert = { .strings = strings, .limit = UINT64_MAX };
    ck_assert_int_eq(pfd_strings_load_file(strings, elf_path, NULL, NULL, NULL),
                     PFD_OK);
    ck_assert_int_eq(pfd_convert_bytes(&convert, bytes, n, &summary, NULL),
                     PFD_OK);
    pfd_strings_free(strings);
    return summary.entries;
}

void tell(void *user, const char *text)
{
    snprintf(user, 512, "%s", text);
}

char *fill(const char *text)
{
    char *ret = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&ret, &n);
    for (; *text; text++) {
        if (*text == '$' && *++text != '$')
            fputs(*text == 'T' ? temp : elf_path, out);
        else
            fputc(*text, out);
    }
    fclose(out);
    return ret;
}

void start(const char *yaml)
{
    char err[512] = "";
    char *text = fill(yaml);
    struct pfdd_config *config =
        pfdd_config_read_text("test", text, strlen(text), tell, err);
    ck_assert_msg(config != NULL, "%s", err);
    d = (struct pfdd){ 0 };
    uv_loop_init(&loop);
    if (!getenv("PFDD_TEST_LOG"))
        config->log_level = PFDD_ERROR;
    ck_assert_msg(pfdd_start(&d, &loop, config, err, sizeof err), "%s", err);
    free(text);
}

void turn(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
    usleep(500);
}

void stop(void)
{
    pfdd_stop(&d);
    uv_run(&loop, UV_RUN_DEFAULT);
    pfdd_deinit(&d);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

int dial(const char *name)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    snprintf(at.sun_path, sizeof at.sun_path, "%.40s/%.40s", temp, name);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

void hear(struct heard *h)
{
    char bytes[65536];
    ssize_t n = read(h->fd, bytes, sizeof bytes);
    h->ended |= n == 0 || (n < 0 && errno != EAGAIN);
    if (n <= 0)
        return;
    h->bytes = realloc(h->bytes, h->n + (size_t)n + 1);
    memcpy(h->bytes + h->n, bytes, (size_t)n);
    h->n += (size_t)n;
    h->bytes[h->n] = '\0';
}

/* Not by memmem(): ThreadSanitizer would look at all the rest each time. */
size_t count(const struct heard *h, const char *what)
{
    size_t n = 0;
    size_t n_what = strlen(what);
    const char *at = h->bytes;
    const char *end = at ? at + h->n : NULL;
    while (at && (at = memchr(at, what[0], (size_t)(end - at)))) {
        bool is_here =
            (size_t)(end - at) >= n_what && !memcmp(at, what, n_what);
        n += is_here;
        at += is_here ? n_what : 1;
    }
    return n;
}

struct heard subscribe(const char *request)
{
    struct heard h = { .fd = dial("l.sock") };
    if (request)
        ck_assert_int_eq(write(h.fd, request, strlen(request)),
                         (ssize_t)strlen(request));
    return h;
}

void hang_up(struct heard *h)
{
    close(h->fd);
    free(h->bytes);
    *h = (struct heard){ .fd = -1 };
}

bool is_late(uint64_t since)
{
    return uv_hrtime() - since > PATIENCE_S * UINT64_C(1000000000);
}

void await(struct heard *h, const char *what, size_t n)
{
    uint64_t began = uv_hrtime();
    size_t n_here = count(h, what);
    while (n_here < n && !h->ended && !is_late(began)) {
        size_t before = h->n;
        turn();
        hear(h);
        if (h->n != before) /* counting what did not change takes time */
            n_here = count(h, what);
    }
    ck_assert_uint_eq(count(h, what), n);
}

void turn_for(int ms)
{
    uint64_t end = uv_hrtime() + (uint64_t)ms * 1000000;
    while (uv_hrtime() < end)
        turn();
}
