/* SPDX-License-Identifier: MIT */
#include "nats/incarnations.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/log.h"
#include "spool/state_dir.h"

static const char first_line[] = "printfdecoded incarnations 1";
static const char file_name[] = "incarnations";

enum {
    N_MAX = 65536, /* in a file */
    FILE_MAX = N_MAX * PFDD_STATE_LINE,
    N_DIGITS = PFDD_INCARNATION_ID - 1,
};

/* No sequence number is larger. */
#define NUMBER_MAX (UINT64_C(1) << 60)

static void drop_all(struct pfdd_incarnations *all)
{
    free(all->items);
    all->items = NULL;
    all->n = 0;
}

void pfdd_incarnations_deinit(struct pfdd_incarnations *all)
{
    drop_all(all);
}

static bool is_id(const char *text)
{
    return strspn(text, "0123456789abcdef") == N_DIGITS;
}

static bool make_id(char ret[PFDD_INCARNATION_ID])
{
    unsigned char bytes[N_DIGITS / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        sprintf(ret + 2 * i, "%02x", bytes[i]);
    return true;
}

static bool add(struct pfdd_incarnations *all, const char *id, uint64_t first)
{
    void *items = realloc(all->items, (all->n + 1) * sizeof *all->items);
    if (!items)
        return false;
    all->items = items;
    struct pfdd_incarnation *new = &all->items[all->n++];
    new->first = first;
    snprintf(new->id, sizeof new->id, "%.32s", id);
    return true;
}

/* ---- the folder's identity ---- */

static bool write_state(const char *dir, const char *path,
                        char ret[PFDD_INCARNATION_ID])
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    bool ok = fd >= 0 && make_id(ret) && pfdd_write_at(fd, ret, N_DIGITS, 0) &&
              fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    if (ok)
        pfdd_sync_dir(dir, "");
    return ok;
}

/* *is_new: it was made. */
static bool find_state(const char *dir, char ret[PFDD_INCARNATION_ID],
                       bool *is_new, char *err, size_t n_err)
{
    char path[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s/edge", dir);
    FILE *file = fopen(path, "re");
    bool ok = file && fread(ret, 1, N_DIGITS, file) == N_DIGITS && is_id(ret);
    *is_new = !file && errno == ENOENT;
    if (file) {
        fclose(file);
        errno = EBADMSG;
    } else if (*is_new) {
        ok = write_state(dir, path, ret);
    }
    if (!ok)
        snprintf(err, n_err, "%s: %s", path, strerror(errno));
    return ok;
}

/* ---- the file ---- */

/* Parses "ID NUMBER". False: malformed. */
static bool parse_line(void *user, const char *line)
{
    struct pfdd_incarnations *ret = user;
    const char *number = line + PFDD_INCARNATION_ID;
    char *end = NULL;
    if (!is_id(line) || number[-1] != ' ' || *number < '0' || *number > '9')
        return false;
    uint64_t first = strtoull(number, &end, 10);
    bool is_next = !ret->n || ret->items[ret->n - 1].first < first;
    return !*end && first && first <= NUMBER_MAX && is_next && ret->n < N_MAX &&
           add(ret, line, first);
}

bool pfdd_incarnations_parse(const char *text, size_t n,
                             struct pfdd_incarnations *ret)
{
    bool ok =
        pfdd_state_file_lines(text, n, first_line, parse_line, ret) && ret->n;
    if (!ok)
        drop_all(ret);
    return ok;
}

bool pfdd_incarnations_read(const char *dir, struct pfdd_incarnations *ret,
                            char *err, size_t n_err)
{
    char path[PFDD_PATH];
    char why[PFDD_STATE_WHY];
    size_t n = 0;
    bool is_new = false;
    *ret = (struct pfdd_incarnations){ .dir = dir };
    if (!find_state(dir, ret->state, &is_new, err, n_err))
        return false;
    snprintf(path, sizeof path, "%.400s/%s", dir, file_name);
    char *text = pfdd_state_file_read(path, FILE_MAX, &n, why);
    bool is_missing = !text && errno == ENOENT;
    if (text ? !pfdd_incarnations_parse(text, n, ret) : !is_missing) {
        pfdd_log(PFDD_ERROR,
                 "%s: %s: what was queued before may come to workers twice",
                 path, text ? "not whole" : why);
    }
    free(text);
    if (!is_missing || is_new || add(ret, ret->state, 1))
        return true;
    snprintf(err, n_err, "%s: out of memory", path);
    return false;
}

static bool store(const struct pfdd_incarnations *all)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return false;
    fprintf(out, "%s\n", first_line);
    for (size_t i = 0; i < all->n; i++)
        fprintf(out, "%s %" PRIu64 "\n", all->items[i].id, all->items[i].first);
    fprintf(out, "%s\n", PFDD_STATE_END);
    bool ok = fclose(out) == 0 &&
              pfdd_state_file_replace(all->dir, "", file_name, text, n);
    free(text);
    return ok;
}

/* ---- drawing ---- */

/* Copies the incarnations with items behind `acked` and before `first`. */
static bool copy_used(const struct pfdd_incarnations *from, uint64_t first,
                      uint64_t acked, struct pfdd_incarnations *to)
{
    for (size_t i = 0; i < from->n && from->items[i].first < first; i++) {
        uint64_t end = i + 1 < from->n && from->items[i + 1].first < first
                           ? from->items[i + 1].first
                           : first;
        if (end > acked + 1 &&
            !add(to, from->items[i].id, from->items[i].first))
            return false;
    }
    return true;
}

bool pfdd_incarnations_draw(struct pfdd_incarnations *all, uint64_t first,
                            uint64_t acked, char *err, size_t n_err)
{
    struct pfdd_incarnations new = { .dir = all->dir };
    char id[PFDD_INCARNATION_ID] = "";
    errno = ENOMEM;
    if (!make_id(id) || !copy_used(all, first, acked, &new) ||
        !add(&new, id, first) || !store(&new)) {
        snprintf(err, n_err, "%.400s/%s: %s", all->dir, file_name,
                 strerror(errno));
        drop_all(&new);
        return false;
    }
    drop_all(all);
    /* `state` stays where it is: the thread of an edge reads it. */
    all->items = new.items;
    all->n = new.n;
    return true;
}

const struct pfdd_incarnation *pfdd_incarnations_of(
    const struct pfdd_incarnations *all, uint64_t seq)
{
    size_t i = all->n - 1;
    while (i > 0 && all->items[i].first > seq)
        i--;
    return &all->items[i];
}

const struct pfdd_incarnation *pfdd_incarnations_current(
    const struct pfdd_incarnations *all)
{
    return &all->items[all->n - 1];
}
