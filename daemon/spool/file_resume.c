/* SPDX-License-Identifier: MIT */
#include "spool/file_resume.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/own_file.h"
#include "spool/spool_records.h"

enum {
    ROOM = PFDD_SPOOL_LINE_MAX + 1,
    STEP = 1 << 20, /* bytes of one step backward */
    STEPS_MAX = 64, /* search limit for records that are not saved */
};

/* Reads lines of a file, from an offset on. */
struct lines {
    int fd;
    const struct pfdd_json_style *json_style;
    uint64_t size; /* of the file */
    uint64_t at;   /* offset of `bytes` in the file */
    size_t n;
    size_t used;
    char *bytes; /* [n], of ROOM */
};

/* The state of a walk through the lines. */
struct walk {
    uint64_t saved;
    uint64_t first; /* of the records in sequence up to here */
    uint64_t last;
    uint64_t end;   /* offset behind the last line that stays */
    uint64_t place; /* offset of the record `last` */
    size_t n_place;
};

static void move_to(struct lines *l, uint64_t at)
{
    l->at = at;
    l->n = l->used = 0;
}

/* 1: a line [*n]; 0: no whole line is left; -1: errno. */
static int next_line(struct lines *l, const char **line, size_t *n)
{
    for (;;) {
        char *from = l->bytes + l->used;
        const char *nl = memchr(from, '\n', l->n - l->used);
        if (nl) {
            *line = from;
            *n = (size_t)(nl + 1 - from);
            l->used += *n;
            return 1;
        }
        l->n -= l->used;
        memmove(l->bytes, from, l->n);
        l->at += l->used;
        l->used = 0;
        ssize_t got =
            pread(l->fd, l->bytes + l->n, ROOM - l->n, (off_t)(l->at + l->n));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return (int)got;
        l->n += (size_t)got;
    }
}

/* Goes back to a line whose preceding records are all saved, or to the
 * beginning. */
static bool find_start(struct lines *l, uint64_t saved)
{
    uint64_t at = l->size;
    const char *line = NULL;
    size_t n = 0;
    /* Without a saved position little was written since: one step is enough. */
    for (unsigned i = 0; i < (saved ? STEPS_MAX : 1) && at > 0; i++) {
        at = at > STEP ? at - STEP : 0;
        move_to(l, at);
        if (at && next_line(l, &line, &n) < 0) /* the rest of a line */
            return false;
        uint64_t start = l->at + l->used;
        int rc = next_line(l, &line, &n);
        if (rc < 0)
            return false;
        uint64_t number =
            rc ? pfdd_json_style_number(l->json_style, line, n) : 0;
        move_to(l, start);
        if (number && number <= saved + 1)
            return true;
    }
    move_to(l, at ? l->at : 0);
    return true;
}

/* True: the records up to here are ours, in sequence, with no hole behind the
 * saved position. */
static bool is_connected(const struct walk *k)
{
    return k->first && k->first <= k->saved + 1 && k->last >= k->saved;
}

/* True: a line here that does not continue our records was not saved, and will
 * be written again. */
static bool comes_again(const struct walk *k)
{
    return k->saved && is_connected(k);
}

/* False: the line and the rest of the file will be written again. */
static bool take_line(struct walk *k, const struct lines *l, const char *line,
                      size_t n)
{
    uint64_t number = pfdd_json_style_number(l->json_style, line, n);
    bool follows = number && k->last && number <= k->last + 1;
    if (!follows && comes_again(k))
        return false;
    k->end = l->at + l->used;
    if (!number)
        return true;
    if (!follows)
        k->first = number;
    if (!follows || number > k->last) {
        k->last = number;
        k->place = k->end - n;
        k->n_place = n;
    }
    return true;
}

/* True: the bytes behind the last line are the beginning of a record, or zeros
 * that the file system left there. */
static bool is_torn(const struct walk *k, const struct lines *l)
{
    const char *rest = l->bytes + l->used;
    size_t n = l->n - l->used;
    const char *begin = l->json_style->begin;
    size_t n_begin = n < strlen(begin) ? n : strlen(begin);
    return n &&
           (comes_again(k) || rest[0] == '\0' || !memcmp(rest, begin, n_begin));
}

static bool keep_last(const struct walk *k, const struct lines *l,
                      struct pfdd_file_resume *ret)
{
    ret->line = malloc(k->n_place);
    if (!ret->line || pread(l->fd, ret->line, k->n_place, (off_t)k->place) !=
                          (ssize_t)k->n_place) {
        pfdd_file_resume_deinit(ret);
        return false;
    }
    ret->n_line = k->n_place;
    ret->time = pfdd_json_style_time(l->json_style, ret->line, ret->n_line);
    ret->seq = k->last;
    return true;
}

static bool go_through(struct lines *l, uint64_t saved,
                       struct pfdd_file_resume *ret)
{
    struct walk k = { .saved = saved };
    const char *line = NULL;
    size_t n = 0;
    int rc = 0;
    if (!find_start(l, saved))
        return false;
    k.end = l->at;
    while ((rc = next_line(l, &line, &n)) > 0 && take_line(&k, l, line, n))
        ;
    if (rc < 0)
        return false;
    ret->end = rc > 0 || is_torn(&k, l) ? k.end : l->size;
    return !is_connected(&k) || k.last == saved || keep_last(&k, l, ret);
}

bool pfdd_file_resume_find(int fd, const struct pfdd_json_style *json_style,
                           uint64_t saved, struct pfdd_file_resume *ret)
{
    struct stat st;
    struct lines l = { .fd = fd, .json_style = json_style };
    *ret = (struct pfdd_file_resume){ 0 };
    if (fstat(fd, &st) != 0)
        return false;
    l.size = (uint64_t)st.st_size;
    l.bytes = malloc(ROOM);
    bool ok = l.bytes && go_through(&l, saved, ret);
    free(l.bytes);
    return ok;
}

void pfdd_file_resume_deinit(struct pfdd_file_resume *file_resume)
{
    free(file_resume->line);
    *file_resume = (struct pfdd_file_resume){ 0 };
}

/* ---- mending ---- */

static void cut(const char *path, int fd, uint64_t size, uint64_t end)
{
    if (end == size)
        return;
    pfdd_log(PFDD_WARNING,
             "%s: %llu bytes behind its last whole record are cut off", path,
             (unsigned long long)(size - end));
    if (ftruncate(fd, (off_t)end) != 0)
        pfdd_log(PFDD_WARNING, "%s: %s", path, strerror(errno));
}

/* Ends an unfinished last line. */
static void end_line(const char *path, int fd, uint64_t size)
{
    char last = '\n';
    ssize_t n = size ? pread(fd, &last, 1, (off_t)size - 1) : 0;
    if (n < 0 || (last != '\n' && pwrite(fd, "\n", 1, (off_t)size) != 1))
        pfdd_log(PFDD_WARNING, "%s: %s", path, strerror(errno));
}

void pfdd_file_resume_mend(const char *path,
                           const struct pfdd_json_style *json_style,
                           uint64_t saved, struct pfdd_file_resume *ret)
{
    struct stat st;
    *ret = (struct pfdd_file_resume){ 0 };
    int fd = pfdd_own_file_open(path, O_RDWR | O_NONBLOCK);
    if (fd < 0)
        return;
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (is_file && !json_style) {
        end_line(path, fd, (uint64_t)st.st_size);
    } else if (is_file && pfdd_file_resume_find(fd, json_style, saved, ret)) {
        cut(path, fd, (uint64_t)st.st_size, ret->end);
    } else if (is_file) {
        pfdd_log(PFDD_WARNING, "%s: %s", path, strerror(errno));
    }
    close(fd);
}
