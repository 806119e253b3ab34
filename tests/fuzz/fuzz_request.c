/* SPDX-License-Identifier: MIT */
/*
 * A subscriber's request, one line of JSON, and the reader that it makes: a few
 * lines of each kind stand in the ring. A request that is taken wants lines in
 * its form; one that is not says why.
 */
#include <string.h>

#include "delivery/reader.h"
#include "delivery/ring.h"
#include "fuzz.h"

static const char lines[] =
    "{\"type\":\"entry\",\"message\":\"a \\\"b\\\\c\\n\\u001b\\u00e9\","
    "\"id\":\"0x1\",\"args\":[1]}\n"
    "{\"type\":\"entry\",\"message\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab\"}\n"
    "{\"type\":\"entry\",\"message\":\"\xef\xbf\xbd\",\"message_b64\":\"/w==\"}\n"
    "{\"type\":\"entry\",\"id\":\"0x777777777777\",\"args\":[1,4294967295]}\n"
    "{\"type\":\"finding\",\"finding\":\"overflow\"}\n"
    "{\"type\":\"summary\",\"entries\":3}\n";

static void fill(struct pfdd_ring *ring)
{
    struct pfdd_stamp stamp = { .time = UINT64_C(1790000000000000000) };
    pfdd_ring_init(ring, 1 << 20, 5);
    pfdd_ring_append(ring, &stamp, lines, sizeof lines - 1);
    pfdd_ring_gap(ring, &stamp, "sender_lost", 3);
    stamp.time++;
    stamp.source = 1;
    pfdd_ring_append(ring, &stamp, lines, sizeof lines - 1);
}

static const char *source_name(void *user, uint32_t source)
{
    return source ? "other" : "buffer";
}

static void read_lines(struct pfdd_ring *ring, struct pfdd_request *request)
{
    struct pfdd_reader r;
    const char *bytes = NULL;
    size_t n = 0;
    pfdd_reader_init(&r, ring, request);
    r.source_name = source_name;
    while (pfdd_reader_peek(&r, &bytes, &n)) {
        FUZZ_CHECK(n > 0 && memchr(bytes, '\0', n) == NULL);
        pfdd_reader_take(&r, n);
    }
    FUZZ_CHECK(r.lines <= ring->next_seq - 5);
    FUZZ_CHECK(pfdd_reader_seq(&r) == ring->next_seq);
    pfdd_reader_deinit(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char err[256] = "";
    struct pfdd_request request = { .form = PFDD_JSON };
    /* A client that sends more is refused before. */
    if (n <= PFDD_REQUEST_MAX &&
        pfdd_request_read(&request, (const char *)data, n, err, sizeof err)) {
        struct pfdd_ring ring;
        fill(&ring);
        read_lines(&ring, &request);
        pfdd_ring_deinit(&ring);
    } else {
        FUZZ_CHECK(n > PFDD_REQUEST_MAX || err[0]);
        pfdd_filter_deinit(&request.filter);
    }
    return 0;
}
