/* SPDX-License-Identifier: MIT */
#include "ingest/follower_memory.h"

#include "base/memory_budget.h"
#include "base/resource_account.h"

enum {
    PIECES = 256,  /* memory_max / PIECES: a batch of chunks */
    WINDOWS = 128, /* memory_max / WINDOWS: a copy of the bytes read */
    PIECE_MIN = 256 * 1024,
    PIECE_MAX = 4 << 20,
    WINDOW_MIN = 512 * 1024, /* minimum of a tail */
    WINDOW_MAX = 4 << 20,    /* half of it is emitted in 0.8 ms: several times
                                the throughput of a bus */
    AMPLE = 1 << 20,         /* least bytes of a batch for which threads of the
                                pool walk */
    IMAGES = 64,             /* free memory / IMAGES: an image */
    IMAGE_MIN = 64 * 1024,
    IMAGE_MAX = 4 << 20,
    ROOM_MIN = 64 * 1024, /* minimum of memory that grows by doubling */
    WHOLE_MAX = 1 << 30,
    COPIES = 3,        /* of the bytes read: two passes, and one to compare */
    TAIL = 8 * 1024,   /* bytes of a tail beside them */
    BATCHES = 2,       /* of chunks */
    CHUNK = 64 * 1024, /* bytes of the chunk being written, and its copy */
};

static size_t clamp(size_t n, size_t min, size_t max)
{
    if (n < min)
        return min;
    return n < max ? n : max;
}

bool pfdd_follower_memory_is_ample(const struct pfdd_memory_budget *budget)
{
    return budget->max / PIECES >= AMPLE;
}

void pfdd_follower_memory_init(struct pfdd_follower_memory *m,
                               struct pfdd_memory_budget *budget,
                               struct pfdd_resource_account *account,
                               size_t n_session)
{
    size_t max = budget->max;
    size_t n_image = IMAGE_MAX;
    size_t left = pfdd_memory_budget_left_for(budget, account);
    while (n_image > IMAGE_MIN && n_image > left / IMAGES)
        n_image /= 2;
    *m = (struct pfdd_follower_memory){
        .budget = budget,
        .account = account,
        .n_session = n_session,
        .n_image = n_image,
        .n_window = clamp(max / WINDOWS, WINDOW_MIN, WINDOW_MAX),
        .n_piece = clamp(max / PIECES, PIECE_MIN, PIECE_MAX),
    };
}

static size_t doubled(size_t n)
{
    size_t ret = ROOM_MIN;
    while (ret < n)
        ret *= 2;
    return ret;
}

static size_t image_bytes(const struct pfdd_follower_memory *m)
{
    return m->n_image + m->n_image / 32;
}

static size_t bytes_of(const struct pfdd_follower_memory *m)
{
    size_t n_tail = m->n_tail > image_bytes(m) ? m->n_tail : image_bytes(m);
    return m->n_session + n_tail + m->n_whole + CHUNK;
}

/* Without the temporary memory of a read pass. */
static void count_held(struct pfdd_follower_memory *m, size_t n)
{
    pfdd_resource_account_count(m->account, m->n_held, n);
    m->n_held = n;
}

void pfdd_follower_memory_move(struct pfdd_follower_memory *m,
                               struct pfdd_resource_account *account)
{
    size_t n = m->n_held;
    count_held(m, 0);
    m->account = account;
    count_held(m, n);
}

static void count(struct pfdd_follower_memory *m, size_t n, size_t n_buffer)
{
    m->budget->sessions += n - m->n_charged;
    m->budget->buffers += n_buffer - m->n_buffer_charged;
    m->n_charged = n;
    m->n_buffer_charged = n_buffer;
    pfdd_memory_budget_note(m->budget);
}

/* Bytes that the first read pass will leave. Charged until that pass begins, so
 * that other requests account for them. */
static size_t first_pass(const struct pfdd_follower_memory *m)
{
    return m->n_tail || m->n_granted ? 0 : COPIES * ROOM_MIN + TAIL;
}

void pfdd_follower_memory_charge(struct pfdd_follower_memory *m)
{
    count(m, bytes_of(m) + first_pass(m) + m->n_granted, m->n_written);
    count_held(m, bytes_of(m) + m->n_written);
}

void pfdd_follower_memory_release(struct pfdd_follower_memory *m)
{
    count(m, 0, 0);
    count_held(m, 0);
}

size_t pfdd_follower_memory_wants(const struct pfdd_follower_memory *m,
                                  size_t n_buffer)
{
    size_t n_copy = n_buffer < m->n_window ? n_buffer : m->n_window;
    size_t n = m->n_session + image_bytes(m) + m->n_whole + CHUNK +
               COPIES * doubled(n_copy) + BATCHES * m->n_piece;
    return n > bytes_of(m) ? n - bytes_of(m) : 0;
}

size_t pfdd_follower_memory_whole(struct pfdd_follower_memory *m, size_t n)
{
    /* Read passes have three copies of their bytes; this is the only one. */
    size_t granted = 2 * m->n_window;
    pfdd_follower_memory_give_whole_back(m);
    if (n <= granted || n > WHOLE_MAX ||
        !pfdd_memory_budget_has_for(m->budget, m->account, doubled(n)))
        return granted;
    m->n_whole = doubled(n);
    pfdd_follower_memory_charge(m);
    return n;
}

void pfdd_follower_memory_give_whole_back(struct pfdd_follower_memory *m)
{
    m->n_whole = 0;
}

bool pfdd_follower_memory_grant(struct pfdd_follower_memory *m, size_t n)
{
    if (!pfdd_resource_account_begin_read_pass(m->account))
        return false;
    m->pass_account = m->account;
    m->budget->n_looks++;
    m->budget->looks += n;
    m->n_granted = n;
    pfdd_follower_memory_charge(m);
    return true;
}

void pfdd_follower_memory_give_back(struct pfdd_follower_memory *m)
{
    pfdd_resource_account_end_read_pass(m->pass_account);
    m->pass_account = NULL;
    m->budget->n_looks--;
    m->budget->looks -= m->n_granted;
    m->n_granted = 0;
}
