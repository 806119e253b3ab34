/* SPDX-License-Identifier: MIT */
#include "nats/worker_acks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "spool/state_dir.h"

static const char first_line[] = "printfdecoded edges 1";

enum {
    FILE_MAX = PFDD_ACKS_MAX * PFDD_STATE_LINE,
    ALL_MAX = PFDD_ACKS_MAX + PFDD_ACKS_NEW,
    WAY = PFDD_ACKS_MAX / 8, /* edges that are evicted at a time */
};

/* No edge's sequence number is larger. */
#define NUMBER_MAX (UINT64_C(1) << 60)

void pfdd_acks_deinit(struct pfdd_acks *acks)
{
    free(acks->edges);
    *acks = (struct pfdd_acks){ 0 };
}

/* The index of an id, or of its place in the order. */
static size_t place_of(const struct pfdd_acks *acks, const char *id)
{
    size_t low = 0;
    size_t high = acks->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(acks->edges[middle].id, id) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct pfdd_acks_edge *pfdd_acks_seek(const struct pfdd_acks *acks,
                                      const char *id)
{
    size_t i = place_of(acks, id);
    return i < acks->n && !strcmp(acks->edges[i].id, id) ? &acks->edges[i]
                                                         : NULL;
}

/* ---- eviction ---- */

/* True: GPUACK and the edge have everything that is known of it. */
static bool can_go(const struct pfdd_acks_edge *e)
{
    return !e->n_waiting && !e->is_news && e->acked == e->saved;
}

/* Evicts proved or unproved edges that were not asked for after `since`. */
static void forget(struct pfdd_acks *acks, bool is_proved, uint64_t since)
{
    size_t n = 0;
    for (size_t i = 0; i < acks->n; i++) {
        const struct pfdd_acks_edge *e = &acks->edges[i];
        bool goes = e->is_proved == is_proved && e->heard <= since && can_go(e);
        acks->n_proved -= goes && is_proved;
        if (!goes)
            acks->edges[n++] = *e;
    }
    acks->n = n;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Evicts an eighth of the proved edges, as the search takes a while. */
static void forget_oldest(struct pfdd_acks *acks)
{
    uint64_t *heard = malloc(acks->n * sizeof *heard);
    size_t n = 0;
    for (size_t i = 0; heard && i < acks->n; i++) {
        const struct pfdd_acks_edge *e = &acks->edges[i];
        if (e->is_proved && can_go(e))
            heard[n++] = e->heard;
    }
    if (n) {
        qsort(heard, n, sizeof *heard, by_number);
        forget(acks, true, heard[n < WAY ? n - 1 : WAY - 1]);
    }
    free(heard);
}

/* ---- edges ---- */

static bool make_room(struct pfdd_acks *acks)
{
    if (acks->n - acks->n_proved >= PFDD_ACKS_NEW)
        forget(acks, false, UINT64_MAX);
    if (acks->n - acks->n_proved >= PFDD_ACKS_NEW || acks->n == ALL_MAX)
        return false;
    if (acks->n < acks->size)
        return true;
    size_t size = acks->size ? 2 * acks->size : 16;
    if (size > ALL_MAX)
        size = ALL_MAX;
    void *edges = realloc(acks->edges, size * sizeof *acks->edges);
    if (!edges)
        return false;
    acks->edges = edges;
    acks->size = size;
    return true;
}

struct pfdd_acks_edge *pfdd_acks_find(struct pfdd_acks *acks, const char *id)
{
    struct pfdd_acks_edge *e = pfdd_acks_seek(acks, id);
    if (!e && !make_room(acks))
        return NULL;
    if (!e) {
        size_t i = place_of(acks, id);
        e = &acks->edges[i];
        memmove(e + 1, e, (acks->n - i) * sizeof *e);
        *e = (struct pfdd_acks_edge){ 0 };
        snprintf(e->id, sizeof e->id, "%s", id);
        acks->n++;
    }
    e->heard = ++acks->clock;
    return e;
}

void pfdd_acks_prove(struct pfdd_acks *acks, struct pfdd_acks_edge *e)
{
    if (e->is_proved)
        return;
    e->is_proved = true;
    if (++acks->n_proved > PFDD_ACKS_MAX)
        forget_oldest(acks);
}

/* Parses "EDGE NUMBER". False: malformed. */
static bool read_line(void *user, const char *line)
{
    struct pfdd_acks *ret = user;
    char id[PFDD_ACKS_ID] = "";
    const char *number = line + sizeof id;
    char *end = NULL;
    if (strspn(line, "0123456789abcdef") != sizeof id - 1 ||
        number[-1] != ' ' || *number < '0' || *number > '9')
        return false;
    memcpy(id, line, sizeof id - 1);
    uint64_t acked = strtoull(number, &end, 10);
    struct pfdd_acks_edge *e =
        *end || acked > NUMBER_MAX ? NULL : pfdd_acks_find(ret, id);
    if (!e)
        return false;
    e->acked = e->saved = e->taken = acked;
    pfdd_acks_prove(ret, e);
    return true;
}

bool pfdd_acks_parse(const char *text, size_t n, struct pfdd_acks *ret)
{
    return pfdd_state_file_lines(text, n, first_line, read_line, ret);
}

void pfdd_acks_read(const char *dir, struct pfdd_acks *ret)
{
    char path[PFDD_PATH];
    char why[PFDD_STATE_WHY];
    size_t n = 0;
    snprintf(path, sizeof path, "%.400s/edges", dir);
    *ret = (struct pfdd_acks){ 0 };
    char *text = pfdd_state_file_read(path, FILE_MAX, &n, why);
    if (!text && errno == ENOENT)
        return;
    if (!text || !pfdd_acks_parse(text, n, ret)) {
        pfdd_log(PFDD_ERROR,
                 "%s: %s: what edges send again may be written again", path,
                 text ? "not whole" : why);
    }
    free(text);
}

char *pfdd_acks_text(const struct pfdd_acks *acks)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return NULL;
    fprintf(out, "%s\n", first_line);
    for (size_t i = 0; i < acks->n; i++) {
        if (acks->edges[i].is_proved) {
            fprintf(out, "%s %" PRIu64 "\n", acks->edges[i].id,
                    acks->edges[i].acked);
        }
    }
    fprintf(out, "%s\n", PFDD_STATE_END);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

bool pfdd_acks_write(const char *dir, const char *text)
{
    return pfdd_state_file_replace(dir, "", "edges", text, strlen(text));
}
