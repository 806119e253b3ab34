/* SPDX-License-Identifier: MIT */
#include "outputs/pump.h"

#include <errno.h>
#include <sys/socket.h>

#include "core/log.h"

enum {
    TURN = 1 << 20, /* bytes written before others have their turn */
};

bool pfdd_pump_has_lagged(const struct pfdd_output *output,
                          const struct pfdd_reader *reader)
{
    if (output->config->on_lag != PFDD_DISCONNECT ||
        !pfdd_reader_has_missed(reader))
        return false;
    output->d->count.disconnected++;
    pfdd_log(PFDD_INFO, "a subscriber of %s was too slow: disconnected",
             output->config->access.address.text);
    return true;
}

enum pfdd_pump pfdd_pump(const struct pfdd_output *output,
                         struct pfdd_reader *reader, int fd)
{
    const char *bytes = NULL;
    size_t n = 0;
    size_t total = 0;
    while (pfdd_reader_peek(reader, &bytes, &n)) {
        if (pfdd_pump_has_lagged(output, reader))
            return PFDD_PUMP_END;
        if (total >= TURN)
            return PFDD_PUMP_TURN;
        ssize_t written = send(fd, bytes, n, MSG_NOSIGNAL);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno == EAGAIN ? PFDD_PUMP_BLOCKS : PFDD_PUMP_END;
        pfdd_reader_take(reader, (size_t)written);
        total += (size_t)written;
        if ((size_t)written < n)
            return PFDD_PUMP_BLOCKS;
    }
    if (!reader->is_over)
        return PFDD_PUMP_EMPTY;
    output->d->count.costly += reader->is_costly;
    return PFDD_PUMP_END;
}
