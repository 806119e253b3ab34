/* SPDX-License-Identifier: MIT */
/*
 * What `replay --nats` reads: a list of code objects, or, three bytes each,
 * messages of an edge, of which is remembered what came. A bit for each number
 * says the same.
 */
#include <string.h>

#include "fuzz.h"
#include "net/nats_dedup.h"
#include "net/nats_lists.h"

enum {
    NUMBERS = 512,
};

static void check_list(const char *text, size_t n)
{
    struct nats_list list;
    if (!nats_list_read(text, n, &list))
        return;
    for (size_t i = 0; i < list.n; i++) {
        FUZZ_CHECK(list.objects[i].n > 0 && list.objects[i].name);
        FUZZ_CHECK(strlen(list.objects[i].digest) == NATS_DIGEST_HEX - 1);
    }
    nats_list_deinit(&list);
}

static bool are_set(const bool *bits, uint64_t from, uint64_t to)
{
    bool ret = true;
    for (uint64_t i = from; i <= to; i++)
        ret = ret && bits[i];
    return ret;
}

static uint64_t count_holes(const bool *bits)
{
    uint64_t n = 0;
    uint64_t since = 0;
    bool any = false;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        n += bits[i] && any ? since : 0;
        since = bits[i] ? 0 : since + 1;
        any |= bits[i];
    }
    return n;
}

static void check_seen(const uint8_t *data, size_t n)
{
    struct nats_dedup seen = { 0 };
    bool bits[NUMBERS] = { false };
    for (; n >= 3; data += 3, n -= 3) {
        struct nats_message m = { .edge = "e", .previous = data[0] };
        m.first = m.previous + 1 + data[1] % 8;
        m.last = m.first + data[2] % 32;
        FUZZ_CHECK(nats_dedup_has(&seen, &m) == are_set(bits, m.first, m.last));
        FUZZ_CHECK(nats_dedup_take(&seen, &m));
        memset(bits + m.previous + 1, true, m.last - m.previous);
        FUZZ_CHECK(nats_dedup_has(&seen, &m));
        FUZZ_CHECK(nats_dedup_missing(&seen) == count_holes(bits));
    }
    nats_dedup_deinit(&seen);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n && data[0] % 2)
        check_list((const char *)data + 1, n - 1);
    if (n && data[0] % 2 == 0)
        check_seen(data + 1, n - 1);
    return 0;
}
