/* SPDX-License-Identifier: MIT */
/*
 * What a peer of Fluent's Forward protocol says: what is read lies in its bytes,
 * whatever is cut off is waited for, and what was whole stays so with more bytes
 * behind it.
 */
#include <string.h>

#include "fuzz.h"
#include "outputs/forward.h"

static void check_inside(struct pfdd_piece piece, const uint8_t *data, long n)
{
    if (!piece.n)
        return;
    const uint8_t *at = piece.at;
    FUZZ_CHECK(at >= data && at + piece.n <= data + n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct pfdd_forward_said said;
    uint8_t *exact = malloc(n ? n : 1); /* not a byte behind it */
    memcpy(exact, data, n);
    long taken = pfdd_forward_read(exact, n, &said);
    FUZZ_CHECK(taken <= (long)n);
    if (taken > 0) {
        check_inside(said.nonce, exact, taken);
        check_inside(said.auth, exact, taken);
        check_inside(said.host, exact, taken);
        check_inside(said.proof, exact, taken);
        check_inside(said.chunk, exact, taken);
        FUZZ_CHECK(said.kind != PFDD_FORWARD_ACK || said.chunk.n);
        FUZZ_CHECK(pfdd_forward_read(exact, (size_t)taken, &said) == taken);
        FUZZ_CHECK(pfdd_forward_read(exact, (size_t)taken - 1, &said) == 0);
    }
    free(exact);
    return 0;
}
