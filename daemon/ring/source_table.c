/* SPDX-License-Identifier: MIT */
#include "ring/source_table.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *list_of(struct pfdd_source_table *s, const char *name,
                         const char *host)
{
    uint32_t hash = 2166136261; /* FNV-1a; a producer that forces collisions
                                   makes a lookup compare at most
                                   PFDD_SOURCE_TABLE_MAX names */
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619;
    for (; *host; host++)
        hash = (hash ^ (unsigned char)*host) * 16777619;
    return &s->lists[hash % (sizeof s->lists / sizeof s->lists[0])];
}

bool pfdd_source_table_init(struct pfdd_source_table *s)
{
    *s = (struct pfdd_source_table){ 0 };
    s->items = calloc(16, sizeof *s->items);
    if (!s->items)
        return false;
    s->size = 16;
    s->n = 1;
    s->items[0].name = strdup("\\other");
    s->items[0].host = "";
    s->items[0].refs = 1;
    return s->items[0].name != NULL;
}

void pfdd_source_table_deinit(struct pfdd_source_table *s)
{
    for (uint32_t i = 0; i < s->n; i++)
        free(s->items[i].name);
    free(s->items);
}

/* ---- listed sources ---- */

enum {
    SERIES = 2, /* lines of metrics for each source */
    ROW = 84,   /* bytes of such a line, without the names */
};

static size_t escaped_bytes(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '"' || *text == '\\' ? 2 : 1;
    return n;
}

/* Bytes that a source takes in the page of metrics. */
static size_t bytes_in_page(const struct pfdd_source *it)
{
    return SERIES * (ROW + escaped_bytes(it->name) + escaped_bytes(it->host));
}

static void unlist(struct pfdd_source_table *s, struct pfdd_source *it)
{
    s->others.lines += it->counts.lines;
    s->others.gaps += it->counts.gaps;
    it->counts = (struct pfdd_source_counts){ 0 };
    it->troubles = (struct pfdd_source_troubles){ 0 };
    it->is_listed = false;
    s->n_listed--;
    s->n_listed_bytes -= bytes_in_page(it);
}

/* Of the listed sources that are no longer held, the one that was released
 * first. */
static uint32_t find_gone(const struct pfdd_source_table *s)
{
    uint32_t ret = 0;
    for (uint32_t i = 1; i < s->n; i++) {
        const struct pfdd_source *it = &s->items[i];
        if (it->is_listed && !it->refs &&
            (!ret || it->gone < s->items[ret].gone))
            ret = i;
    }
    return ret;
}

static void drop_unused(struct pfdd_source_table *s, uint32_t source);

static bool has_place(const struct pfdd_source_table *s, size_t n)
{
    return s->n_listed < PFDD_SOURCE_TABLE_LISTED &&
           (!s->n_listed_max || s->n_listed_bytes + n <= s->n_listed_max);
}

static void list(struct pfdd_source_table *s, uint32_t source)
{
    size_t n = bytes_in_page(&s->items[source]);
    if (s->items[source].is_listed)
        return;
    while (!has_place(s, n)) {
        uint32_t gone = find_gone(s);
        if (!gone)
            return;
        unlist(s, &s->items[gone]);
        drop_unused(s, gone);
    }
    s->items[source].is_listed = true;
    s->n_listed++;
    s->n_listed_bytes += n;
}

/* ---- numbers ---- */

static void drop_unused(struct pfdd_source_table *s, uint32_t source)
{
    struct pfdd_source *it = &s->items[source];
    if (it->refs || it->n_held || it->is_listed || !it->name)
        return;
    uint32_t *at = list_of(s, it->name, it->host);
    while (*at != source)
        at = &s->items[*at].next;
    *at = it->next;
    s->n_bytes -= strlen(it->name) + strlen(it->host) + 2;
    free(it->name);
    it->name = NULL;
    it->next = s->free;
    s->free = source;
}

static uint32_t take_number(struct pfdd_source_table *s)
{
    uint32_t ret = s->free;
    if (ret) {
        s->free = s->items[ret].next;
        return ret;
    }
    if (s->n == PFDD_SOURCE_TABLE_MAX)
        return 0;
    if (s->n == s->size) {
        void *items = realloc(s->items, 2 * s->size * sizeof *s->items);
        if (!items)
            return 0;
        s->items = items;
        s->n_bytes += s->size * sizeof *s->items;
        s->size *= 2;
    }
    return s->n++;
}

/* Both in one block. NULL: out of memory. */
static char *copy_names(const char *name, const char *host)
{
    size_t n = strlen(name) + 1;
    size_t n_host = strlen(host) + 1;
    char *ret = malloc(n + n_host);
    if (ret) {
        memcpy(ret, name, n);
        memcpy(ret + n, host, n_host);
    }
    return ret;
}

uint32_t pfdd_source_table_find(struct pfdd_source_table *s, const char *name,
                                const char *host)
{
    uint32_t *first = list_of(s, name, host);
    for (uint32_t i = *first; i; i = s->items[i].next) {
        if (!strcmp(s->items[i].name, name) &&
            !strcmp(s->items[i].host, host)) {
            list(s, i);
            return i;
        }
    }
    char *copy = copy_names(name, host);
    uint32_t ret = copy ? take_number(s) : 0;
    if (!ret) {
        free(copy);
        return PFDD_SOURCE_OTHER;
    }
    s->items[ret] = (struct pfdd_source){ .name = copy,
                                          .host = copy + strlen(copy) + 1,
                                          .next = *first,
                                          .born = ++s->clock,
                                          .gone = s->clock };
    *first = ret;
    s->n_bytes += strlen(name) + strlen(host) + 2;
    list(s, ret);
    return ret;
}

void pfdd_source_table_hold(struct pfdd_source_table *s, uint32_t source,
                            bool is_resumed)
{
    s->items[source].refs++;
    s->items[source].is_resumed |= is_resumed;
}

bool pfdd_source_table_is_resumed(const struct pfdd_source_table *s,
                                  uint32_t source)
{
    return source < s->n && s->items[source].is_resumed;
}

void pfdd_source_table_release(struct pfdd_source_table *s, uint32_t source)
{
    if (--s->items[source].refs > 0)
        return;
    s->items[source].gone = ++s->clock;
    drop_unused(s, source);
}

void pfdd_source_table_note(void *sources, uint32_t source, int change)
{
    struct pfdd_source_table *s = sources;
    s->items[source].n_held += (uint64_t)(int64_t)change;
    s->items[source].n_lines += change > 0 ? (uint64_t)change : 0;
    if (change < 0)
        drop_unused(s, source);
}

void pfdd_source_table_count(struct pfdd_source_table *s, uint32_t source,
                             uint64_t n_lines, uint64_t n_gaps)
{
    struct pfdd_source *it = &s->items[source];
    struct pfdd_source_counts *counts =
        it->is_listed ? &it->counts : &s->others;
    counts->lines += n_lines;
    counts->gaps += n_gaps;
}

bool pfdd_troubles_note_id(struct pfdd_source_troubles *troubles, uint64_t id)
{
    for (size_t i = 0; i < troubles->n_ids; i++) {
        if (troubles->ids[i] == id)
            return true;
    }
    if (troubles->n_ids == PFDD_SOURCE_IDS)
        return false;
    troubles->ids[troubles->n_ids++] = id;
    return true;
}

void pfdd_source_table_trouble(struct pfdd_source_table *s, uint32_t source,
                               const struct pfdd_source_troubles *more)
{
    struct pfdd_source_troubles *to = &s->items[source].troubles;
    if (!s->items[source].is_listed)
        return;
    to->findings += more->findings;
    to->unknown += more->unknown;
    to->lost_bytes += more->lost_bytes;
    to->skipped_bytes += more->skipped_bytes;
    for (size_t i = 0; i < more->n_ids; i++)
        pfdd_troubles_note_id(to, more->ids[i]);
    if (more->overflow.lost_bytes >= to->overflow.lost_bytes)
        to->overflow = more->overflow;
}
