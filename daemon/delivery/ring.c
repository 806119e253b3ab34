/* SPDX-License-Identifier: MIT */
#include "delivery/ring.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <uv.h>

#include "delivery/line.h"
#include "delivery/reader.h"

enum {
    PREFIX = 160, /* "sequence":…,"time":…,"time_unix_nano":… */
    SPARE_MAX = 32,
    LINES_KEPT = 8192, /* of a spare chunk; one that had more is not kept */
};

void pfdd_time_text(uint64_t ns, char ret[PFDD_TIME_TEXT])
{
    struct tm tm;
    time_t seconds = (time_t)(ns / 1000000000);
    gmtime_r(&seconds, &tm);
    size_t n = strftime(ret, PFDD_TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(ret + n, PFDD_TIME_TEXT - n, ".%09uZ",
             (unsigned)(ns % 1000000000));
}

uint64_t pfdd_time_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void pfdd_ring_init(struct pfdd_ring *ring, size_t n_bytes_max,
                    uint64_t first_seq)
{
    *ring = (struct pfdd_ring){ .n_bytes_max = n_bytes_max,
                                .n_chunk = PFDD_CHUNK,
                                .next_seq = first_seq };
}

static size_t chunk_bytes(const struct pfdd_chunk *c)
{
    return sizeof *c + c->size + c->lines_size * sizeof *c->lines;
}

struct pfdd_chunk *pfdd_chunk_ref(struct pfdd_chunk *chunk)
{
    chunk->refs++;
    return chunk;
}

static void free_chunk(struct pfdd_chunk *chunk)
{
    chunk->ring->n_held -= chunk_bytes(chunk);
    free(chunk->lines);
    free(chunk->data);
    free(chunk);
}

/* All of its lines are gone. */
static void forget_lines(struct pfdd_chunk *chunk)
{
    const struct pfdd_ring *ring = chunk->ring;
    size_t n = 0;
    for (size_t i = 0; i < chunk->n_lines; i += n) {
        uint32_t source = chunk->lines[i].source;
        for (n = 1;
             i + n < chunk->n_lines && chunk->lines[i + n].source == source;)
            n++;
        if (ring->held)
            ring->held(ring->held_user, source, -(int)n);
    }
    chunk->n_lines = 0;
}

/* Fresh memory is dear: the system clears every page of it. */
void pfdd_chunk_unref(struct pfdd_chunk *chunk)
{
    if (!chunk || --chunk->refs > 0)
        return;
    struct pfdd_ring *ring = chunk->ring;
    forget_lines(chunk);
    if (ring->n_spare == SPARE_MAX || ring->n_held > ring->n_bytes_max ||
        chunk->size != ring->n_chunk || chunk->lines_size > LINES_KEPT) {
        free_chunk(chunk);
        return;
    }
    chunk->next = ring->spare;
    ring->spare = chunk;
    ring->n_spare++;
}

static struct pfdd_chunk *take_spare(struct pfdd_ring *ring)
{
    struct pfdd_chunk *c = ring->spare;
    if (!c)
        return NULL;
    ring->spare = c->next;
    ring->n_spare--;
    c->refs = 1;
    c->n = 0;
    c->n_lines = 0;
    return c;
}

static void drop_oldest(struct pfdd_ring *ring)
{
    ring->n_bytes -= chunk_bytes(ring->chunks[0]);
    pfdd_chunk_unref(ring->chunks[0]);
    ring->n_chunks--;
    memmove(ring->chunks, ring->chunks + 1, ring->n_chunks * sizeof(void *));
}

void pfdd_ring_deinit(struct pfdd_ring *ring)
{
    assert(!ring->readers);
    while (ring->n_chunks)
        drop_oldest(ring);
    for (struct pfdd_chunk *c = take_spare(ring); c; c = take_spare(ring))
        free_chunk(c);
    free(ring->chunks);
}

struct pfdd_chunk *pfdd_ring_chunk(const struct pfdd_ring *ring,
                                   uint64_t number)
{
    if (ring->n_chunks == 0 || number < ring->chunks[0]->number ||
        number >= ring->next_chunk)
        return NULL;
    return ring->chunks[number - ring->chunks[0]->number];
}

/* Somebody who must not lose any has lines of the oldest chunk to read. */
static bool is_needed(const struct pfdd_ring *ring)
{
    uint64_t oldest = ring->chunks[0]->number;
    for (const struct pfdd_reader *r = ring->readers; r; r = r->next) {
        if (r->must_have_all && pfdd_reader_chunk(r) <= oldest)
            return true;
    }
    return false;
}

bool pfdd_ring_is_full(const struct pfdd_ring *ring)
{
    return ring->n_chunks &&
           ring->n_bytes + ring->n_chunk > ring->n_bytes_max && is_needed(ring);
}

bool pfdd_ring_is_busy(struct pfdd_ring *ring, size_t n_coming)
{
    bool busy = pfdd_ring_is_full(ring);
    uint64_t now = uv_hrtime();
    for (struct pfdd_reader *r = ring->readers; r; r = r->next) {
        uint64_t n = ring->next_chunk - pfdd_reader_chunk(r);
        if (n > 2 && n * ring->n_chunk + n_coming > ring->n_bytes_max / 4 * 3)
            busy |= pfdd_reader_is_awaited(r, now);
    }
    return busy;
}

size_t pfdd_ring_most(const struct pfdd_ring *ring)
{
    size_t n_chunk = sizeof(struct pfdd_chunk) + ring->n_chunk +
                     LINES_KEPT * sizeof(struct pfdd_line);
    size_t n = ring->n_bytes_max + n_chunk;
    for (const struct pfdd_reader *r = ring->readers; r; r = r->next)
        n += n_chunk;
    return n > ring->n_held ? n : ring->n_held;
}

static bool make_room_for_pointer(struct pfdd_ring *ring)
{
    if (ring->n_chunks < ring->chunks_size)
        return true;
    size_t size = ring->chunks_size ? 2 * ring->chunks_size : 64;
    void *chunks = realloc(ring->chunks, size * sizeof(void *));
    if (!chunks)
        return false;
    ring->chunks = chunks;
    ring->chunks_size = size;
    return true;
}

static struct pfdd_chunk *new_chunk(struct pfdd_ring *ring, size_t size)
{
    struct pfdd_chunk *c = size == ring->n_chunk ? take_spare(ring) : NULL;
    if (c)
        return c;
    c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->refs = 1;
    c->ring = ring;
    c->lines_size = 256;
    c->lines = malloc(c->lines_size * sizeof *c->lines);
    c->size = size;
    c->data = malloc(size);
    ring->n_held += chunk_bytes(c);
    if (!c->lines || !c->data) {
        free_chunk(c);
        return NULL;
    }
    return c;
}

static struct pfdd_chunk *add_chunk(struct pfdd_ring *ring, size_t n)
{
    size_t size = n > ring->n_chunk ? n : ring->n_chunk;
    while (ring->n_chunks > 1 && ring->n_bytes + size > ring->n_bytes_max &&
           !is_needed(ring))
        drop_oldest(ring);
    struct pfdd_chunk *c = new_chunk(ring, size);
    if (!c || !make_room_for_pointer(ring)) {
        pfdd_chunk_unref(c);
        return NULL;
    }
    c->number = ring->next_chunk++;
    c->first_seq = ring->next_seq;
    ring->chunks[ring->n_chunks++] = c;
    ring->n_bytes += chunk_bytes(c);
    return c;
}

static bool make_room_for_line(struct pfdd_ring *ring, struct pfdd_chunk *c)
{
    if (c->n_lines < c->lines_size)
        return true;
    size_t more = c->lines_size ? c->lines_size : 256;
    void *lines = realloc(c->lines, (c->lines_size + more) * sizeof *c->lines);
    if (!lines)
        return false;
    ring->n_bytes += more * sizeof *c->lines;
    ring->n_held += more * sizeof *c->lines;
    c->lines = lines;
    c->lines_size += more;
    return true;
}

/* A chunk that takes a line of n bytes. */
static struct pfdd_chunk *find_room(struct pfdd_ring *ring, size_t n)
{
    struct pfdd_chunk *c =
        ring->n_chunks ? ring->chunks[ring->n_chunks - 1] : NULL;
    if (!c || c->size - c->n < n)
        c = add_chunk(ring, n);
    return c && make_room_for_line(ring, c) ? c : NULL;
}

static char *put(char *out, const void *bytes, size_t n)
{
    memcpy(out, bytes, n);
    return out + n;
}

/* What stands behind the sequence number of all lines of a call. */
struct common {
    const struct pfdd_stamp *stamp;
    char time[PREFIX];
    size_t n_time;
};

static char *put_seq(char *out, uint64_t seq)
{
    char digits[20];
    size_t n = 0;
    do {
        digits[n++] = (char)('0' + seq % 10);
        seq /= 10;
    } while (seq);
    while (n)
        *out++ = digits[--n];
    return out;
}

/* The line without its newline. */
static bool append_line(struct pfdd_ring *ring, const struct common *common,
                        const char *line, size_t n)
{
    static const char open[] = "{\"type\":\"";
    size_t n_open = sizeof open - 1;
    const char *quote = n > n_open + 1 && !memcmp(line, open, n_open)
                            ? memchr(line + n_open, '"', n - n_open)
                            : NULL;
    if (!quote || line[n - 1] != '}')
        return false;
    size_t n_type = (size_t)(quote + 1 - line);
    size_t room = n + PREFIX + 2;
    struct pfdd_chunk *c = find_room(ring, room);
    if (!c)
        return false;
    char *start = c->data + c->n;
    char *out = put(start, line, n_type);
    out = put(out, ",\"sequence\":", 12);
    out = put_seq(out, ring->next_seq);
    out = put(out, common->time, common->n_time);
    out = put(out, line + n_type, n - n_type - 1);
    *out++ = '}';
    *out++ = '\n';
    enum pfdd_kind kind = pfdd_line_kind(line, n);
    c->lines[c->n_lines++] = (struct pfdd_line){
        .at = (uint32_t)c->n,
        .n = (uint32_t)(out - start),
        .source = common->stamp->source,
        .kind = kind,
    };
    c->n += (size_t)(out - start);
    if (common->stamp->time > c->time_max)
        c->time_max = common->stamp->time;
    if (ring->held)
        ring->held(ring->held_user, common->stamp->source, 1);
    ring->n_lines[kind]++;
    ring->n_in += (uint64_t)(out - start);
    ring->next_seq++;
    return true;
}

static void init_common(struct common *common, const struct pfdd_stamp *stamp)
{
    char text[PFDD_TIME_TEXT];
    pfdd_time_text(stamp->time, text);
    common->stamp = stamp;
    common->n_time =
        (size_t)snprintf(common->time, sizeof common->time,
                         ",\"time\":\"%s\",\"time_unix_nano\":\"%" PRIu64 "\"",
                         text, stamp->time);
}

static void append_gap(struct pfdd_ring *ring, const struct common *common,
                       const char *reason, uint64_t missed)
{
    char line[160];
    int n =
        snprintf(line, sizeof line,
                 "{\"type\":\"gap\",\"missed\":%" PRIu64 ",\"reason\":\"%s\"",
                 missed, reason);
    /* Readers that round numbers beyond 2^53 have it as text. */
    if (missed > UINT64_C(1) << 53) {
        n += snprintf(line + n, sizeof line - (size_t)n,
                      ",\"missed_exact\":\"%" PRIu64 "\"", missed);
    }
    line[n++] = '}';
    append_line(ring, common, line, (size_t)n);
}

static void tell_readers(struct pfdd_ring *ring)
{
    if (ring->appended)
        ring->appended(ring->user);
    struct pfdd_reader *next = NULL;
    for (struct pfdd_reader *r = ring->readers; r; r = next) {
        next = r->next;
        if (r->wake)
            r->wake(r);
    }
}

void pfdd_ring_append(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                      const char *lines, size_t n)
{
    struct common common;
    uint64_t lost = 0;
    init_common(&common, stamp);
    for (const char *end = lines + n; lines < end;) {
        const char *newline = memchr(lines, '\n', (size_t)(end - lines));
        size_t n_line = (size_t)((newline ? newline : end) - lines);
        if (n_line > PFDD_LINE_MAX) {
            ring->too_long++;
            append_gap(ring, &common, "line_too_long", 1);
        } else if (!append_line(ring, &common, lines, n_line)) {
            lost++;
        }
        lines += n_line + 1;
    }
    if (lost) {
        ring->no_memory += lost;
        append_gap(ring, &common, "no_memory", lost);
    }
    tell_readers(ring);
}

void pfdd_ring_gap(struct pfdd_ring *ring, const struct pfdd_stamp *stamp,
                   const char *reason, uint64_t missed)
{
    struct common common;
    init_common(&common, stamp);
    append_gap(ring, &common, reason, missed);
    tell_readers(ring);
}
