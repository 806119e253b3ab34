/* SPDX-License-Identifier: MIT */
#include "outputs/socket_writer.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/log.h"
#include "outputs/slow_consumer.h"

enum {
    TURN = 1 << 20,  /* bytes written before other tasks run */
    MUCH = 64 << 10, /* bytes for which a thread is worth the switch */
};

/* ---- on a thread ---- */

static void write_away(struct pfdd_job *job)
{
    struct pfdd_socket_writer *p =
        PFDD_MEMBER_OF(struct pfdd_socket_writer, job, job);
    p->n_written = send(p->to->fd, p->bytes, p->n, MSG_NOSIGNAL);
    p->error = p->n_written < 0 ? errno : 0;
}

/* ---- lifetime ---- */

static void end_reading(struct pfdd_socket_writer *p)
{
    struct pfdd_delivery *delivery = p->output->delivery;
    delivery->count->missed += p->cursor.missed;
    if (p->gone) {
        p->gone->sent += p->cursor.written;
        p->gone->dropped += pfdd_cursor_dropped(&p->cursor);
    }
    if (delivery->sent == p)
        delivery->sent = NULL;
    pfdd_cursor_deinit(&p->cursor);
    p->is_open = false;
}

static void come_back(struct pfdd_job *job)
{
    struct pfdd_socket_writer *p =
        PFDD_MEMBER_OF(struct pfdd_socket_writer, job, job);
    p->is_away = false;
    p->has_come = true;
    p->cursor.is_lent = false;
    if (p->to->closing) {
        end_reading(p);
        pfdd_accepted_client_take_back(p->to); /* this may have freed p */
    } else {
        pfdd_accepted_client_take_back(p->to);
        p->go_on(p->to);
    }
}

bool pfdd_socket_writer_open(struct pfdd_socket_writer *p,
                             const struct pfdd_output *output,
                             struct pfdd_accepted_client *to,
                             struct pfdd_request *request,
                             void (*go_on)(struct pfdd_accepted_client *to))
{
    struct pfdd_delivery *delivery = output->delivery;
    p->is_open =
        pfdd_cursor_init_of(&p->cursor, delivery->render_cache, request,
                            &delivery->readers, &to->limited_peer.key);
    p->cursor.reader.must_have_all = output->config->on_lag == PFDD_WAIT;
    p->output = output;
    p->to = to;
    p->go_on = go_on;
    p->job = (struct pfdd_job){ .run = write_away, .done = come_back };
    return p->is_open;
}

void pfdd_socket_writer_close(struct pfdd_socket_writer *p)
{
    if (p->is_away) {
        p->cursor.wake = NULL;
    } else if (p->is_open) {
        end_reading(p);
    }
}

/* ---- turns ---- */

/* The loop serves a single subscriber faster than a thread. */
static bool is_for_thread(const struct pfdd_socket_writer *p, size_t n)
{
    const struct pfdd_delivery *delivery = p->output->delivery;
    const struct pfdd_pool *senders = delivery->thread_pools->senders;
    bool is_alone = !delivery->sent || delivery->sent == p;
    return n >= MUCH && senders && (!is_alone || pfdd_pool_pending(senders));
}

static void send_away(struct pfdd_socket_writer *p, const char *bytes, size_t n)
{
    p->bytes = bytes;
    p->n = n;
    p->is_away = true;
    p->cursor.is_lent = true;
    pfdd_accepted_client_lend(p->to);
    pfdd_pool_submit(p->output->delivery->thread_pools->senders, &p->job);
}

/* Handles the result of send() for n bytes. False: the turn ends with *ret. */
static bool take(struct pfdd_socket_writer *p, size_t n, ssize_t n_written,
                 int error, enum pfdd_socket_writer_turn *ret)
{
    if (n_written < 0) {
        *ret = error == EAGAIN ? PFDD_SOCKET_WRITER_BLOCKS
                               : PFDD_SOCKET_WRITER_END;
        return error == EINTR;
    }
    pfdd_cursor_consume(&p->cursor, (size_t)n_written);
    *ret = PFDD_SOCKET_WRITER_BLOCKS;
    return (size_t)n_written == n;
}

enum pfdd_socket_writer_turn pfdd_socket_writer_turn(
    struct pfdd_socket_writer *p)
{
    struct pfdd_cursor *cursor = &p->cursor;
    enum pfdd_socket_writer_turn ret = PFDD_SOCKET_WRITER_AWAY;
    const char *bytes = NULL;
    size_t n = 0;
    size_t total = 0;
    if (p->is_away)
        return PFDD_SOCKET_WRITER_AWAY;
    if (p->has_come) {
        p->has_come = false;
        if (!take(p, p->n, p->n_written, p->error, &ret))
            return ret;
    }
    while (pfdd_cursor_peek(cursor, &bytes, &n)) {
        if (pfdd_slow_consumer_is_dropped(p->output, cursor))
            return PFDD_SOCKET_WRITER_END;
        if (total >= TURN)
            return PFDD_SOCKET_WRITER_TURN;
        bool goes_away = is_for_thread(p, n);
        if (n >= MUCH)
            p->output->delivery->sent = p;
        if (goes_away) {
            send_away(p, bytes, n);
            return PFDD_SOCKET_WRITER_AWAY;
        }
        ssize_t n_written = send(p->to->fd, bytes, n, MSG_NOSIGNAL);
        if (!take(p, n, n_written, errno, &ret))
            return ret;
        total += n_written > 0 ? (size_t)n_written : 0;
    }
    if (!cursor->is_over)
        return PFDD_SOCKET_WRITER_EMPTY;
    p->output->delivery->count->costly += cursor->is_costly;
    if (cursor->is_cut) {
        pfdd_log(PFDD_INFO,
                 "a subscriber of %s took nothing, and there was no memory for "
                 "the rest of its line: disconnected",
                 p->output->config->access.address.text);
    }
    return PFDD_SOCKET_WRITER_END;
}
