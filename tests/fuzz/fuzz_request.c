/* SPDX-License-Identifier: MIT */
/*
 * A subscriber's request, one line of JSON, and the reader that it makes: some
 * entries, findings and gaps stand in the ring. A request that is taken reads
 * all of them in its form; one that is not says why.
 */
#include <stdlib.h>
#include <string.h>

#include "../system/daemon/made.h"
#include "fuzz.h"
#include "ring/cursor.h"

static struct made made;

static void fill(struct pfdd_ring *ring)
{
    struct pfdd_stamp stamp = { .time = UINT64_C(1790000000000000000),
                                .buffer = made.buffer };
    pfdd_ring_init(ring, 1 << 20, 5);
    made_entries(&made, 20);
    made_finding(&made, PFD_FINDING_unwritten, 20, "of an entry");
    pfdd_ring_append(ring, &stamp, made_chunk(&made));
    pfdd_ring_gap(ring, &stamp, "sender_lost", 3);
    stamp.time++;
    stamp.source = 1;
    made_finding(&made, PFD_FINDING_overflow, PFD_NO_INDEX, "of all");
    made_entries(&made, 3);
    pfdd_ring_append(ring, &stamp, made_chunk(&made));
}

static void read_lines(struct pfdd_ring *ring, struct pfdd_request *request)
{
    struct pfdd_cursor r;
    struct pfdd_render_cache render_cache;
    const char *bytes = NULL;
    size_t n = 0;
    pfdd_render_cache_init(&render_cache, ring, NULL, NULL, 1, 2 << 20);
    FUZZ_CHECK(pfdd_cursor_init(&r, &render_cache, request));
    while (pfdd_cursor_peek(&r, &bytes, &n)) {
        FUZZ_CHECK(n > 0 && memchr(bytes, '\0', n) == NULL);
        pfdd_cursor_consume(&r, n);
    }
    FUZZ_CHECK(r.lines <= ring->next_seq - 5);
    FUZZ_CHECK(r.is_over || pfdd_cursor_seq(&r) == ring->next_seq);
    FUZZ_CHECK(pfdd_cursor_is_done(&r));
    pfdd_cursor_deinit(&r);
    pfdd_render_cache_deinit(&render_cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char err[256] = "";
    struct pfdd_request request = { .form = PFDD_JSON };
    if (!made.writer && !made_init(&made, FUZZ_ELF, FUZZ_DUMP, "buffer"))
        abort();
    /* A client that sends more is refused before. */
    if (n <= PFDD_REQUEST_MAX &&
        pfdd_request_read(&request, (const char *)data, n, err, sizeof err) &&
        pfdd_request_finish(&request, err, sizeof err)) {
        struct pfdd_ring ring;
        fill(&ring);
        read_lines(&ring, &request);
        pfdd_ring_deinit(&ring);
    } else {
        FUZZ_CHECK(n > PFDD_REQUEST_MAX || err[0]);
    }
    pfdd_request_deinit(&request);
    return 0;
}
