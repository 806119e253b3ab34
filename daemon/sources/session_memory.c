/* SPDX-License-Identifier: MIT */
#include "sources/session_memory.h"

#include "sources/daemon.h"

enum {
    PART = 256, /* of memory_max: one piece of chunks, and one copy; */
    PIECE_MIN = 256 * 1024,
    PIECE_MAX = 4 << 20,
    FARTHER_MIN = 512 * 1024, /* one window of a tail */
    FARTHER_MAX = 2 << 20,
    IMAGES = 64, /* part of the room that there is */
    IMAGE_MIN = 64 * 1024,
    IMAGE_MAX = 4 << 20,
    ROOM_MIN = 64 * 1024, /* of what grows by doubling */
    COPIES = 3,           /* of what is read: two looks, and what is compared */
    BATCHES = 2,          /* of chunks */
    CHUNK = 64 * 1024,    /* one that is being written, its copy beside it */
};

static size_t clamp(size_t n, size_t min, size_t max)
{
    if (n < min)
        return min;
    return n < max ? n : max;
}

void pfdd_session_memory_init(struct pfdd_session_memory *m, struct pfdd *d,
                              size_t n_session)
{
    size_t max = d->config->config->memory_max;
    size_t n_image = IMAGE_MAX;
    while (n_image > IMAGE_MIN && n_image > pfdd_room(d) / IMAGES)
        n_image /= 2;
    *m = (struct pfdd_session_memory){
        .d = d,
        .n_session = n_session,
        .n_image = n_image,
        .n_farther = clamp(max / PART, FARTHER_MIN, FARTHER_MAX),
        .n_piece = clamp(max / PART, PIECE_MIN, PIECE_MAX),
    };
}

static size_t room_for(size_t n)
{
    size_t room = ROOM_MIN;
    while (room < n)
        room *= 2;
    return room;
}

static size_t image_bytes(const struct pfdd_session_memory *m)
{
    return m->n_image + m->n_image / 32;
}

static size_t bytes_of(const struct pfdd_session_memory *m)
{
    size_t n_tail = m->n_tail > image_bytes(m) ? m->n_tail : image_bytes(m);
    return m->n_session + n_tail + CHUNK;
}

static void count(struct pfdd_session_memory *m, size_t n, size_t n_buffer)
{
    struct pfdd *d = m->d;
    d->session_bytes += n - m->n_charged;
    d->buffer_bytes += n_buffer - m->n_buffer_charged;
    m->n_charged = n;
    m->n_buffer_charged = n_buffer;
    pfdd_note_memory(d);
}

void pfdd_session_memory_charge(struct pfdd_session_memory *m)
{
    count(m, bytes_of(m) + m->n_granted, m->n_written);
}

void pfdd_session_memory_release(struct pfdd_session_memory *m)
{
    count(m, 0, 0);
}

size_t pfdd_session_memory_wants(const struct pfdd_session_memory *m,
                                 size_t n_buffer)
{
    size_t n_copy = n_buffer < m->n_farther ? n_buffer : m->n_farther;
    size_t n = m->n_session + image_bytes(m) + CHUNK +
               COPIES * room_for(n_copy) + BATCHES * m->n_piece;
    return n > bytes_of(m) ? n - bytes_of(m) : 0;
}

void pfdd_session_memory_grant(struct pfdd_session_memory *m, size_t n)
{
    m->d->n_looks++;
    m->d->look_bytes += n;
    m->n_granted = n;
    pfdd_session_memory_charge(m);
}

void pfdd_session_memory_give_back(struct pfdd_session_memory *m)
{
    m->d->n_looks--;
    m->d->look_bytes -= m->n_granted;
    m->n_granted = 0;
}
