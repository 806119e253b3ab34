/* SPDX-License-Identifier: MIT */
/* What comes by NATS is taken when it is as edges and workers make it, and
 * refused else. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "../unit/suite.h"
#include "delivery/ledger.h"
#include "net/nats_fetch.h"
#include "net/nats_lease.h"

#define EDGE    "0123456789abcdef0123456789abcdef"
#define LARGEST "1152921504606846976" /* 2^60 */
#define LARGER  "1152921504606846977"

START_TEST(test_acks)
{
    static const struct {
        const char *text;
        bool is_taken;
        uint64_t acked;
        bool again;
    } cases[] = {
        { "12 34 ok", true, 12, false },
        { "0 1 again", true, 0, true },
        { LARGEST " 0 ok", true, PFDD_NATS_MAX, false },
        { LARGER " 0 ok", false, 0, false },
        { "-1 0 ok", false, 0, false },
        { "+1 0 ok", false, 0, false },
        { " 1 0 ok", false, 0, false },
        { "1 0", false, 0, false },
        { "1 0 ok ", false, 0, false },
        { "1 0 no", false, 0, false },
        { "", false, 0, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pfdd_nats_ack ack = { 0 };
        const char *text = cases[i].text;
        ck_assert_msg(pfdd_ack_get(text, (int)strlen(text), &ack) ==
                          cases[i].is_taken,
                      "'%s'", text);
        if (cases[i].is_taken) {
            ck_assert_uint_eq(ack.acked, cases[i].acked);
            ck_assert_int_eq(ack.again, cases[i].again);
        }
    }
}
END_TEST

START_TEST(test_leases)
{
    ck_assert_int_eq(pfdd_lease_partition("gpulease.v1.00"), 0);
    ck_assert_int_eq(pfdd_lease_partition("gpulease.v1.63"), 63);
    static const char *const none[] = {
        "gpulease.v1.64",        "gpulease.v1.7",
        "gpulease.v1.x",         "gpulease.v1.",
        "gpulease.v1.-1",        "gpulease.v1.007",
        "gpulease.v1.worker.07", "",
    };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        ck_assert_int_eq(pfdd_lease_partition(none[i]), -1);
    ck_assert_int_eq(pfdd_log_partition("gpulog.v1.63.host.gpu"), 63);
    ck_assert_int_eq(pfdd_log_partition("gpulog.v1.64.host.gpu"), -1);
    ck_assert_int_eq(pfdd_log_partition("gpulog.v1.063.host.gpu"), -1);
    ck_assert_int_eq(pfdd_log_partition("gpulog.v1.63"), -1);
    ck_assert_int_eq(pfdd_log_partition("other.v1.63.host.gpu"), -1);
}
END_TEST

START_TEST(test_ledgers)
{
    static const char begin[] = "printfdecoded edges 1\n";
    static const struct {
        const char *rest;
        bool is_whole;
        size_t n;
    } cases[] = {
        { "end\n", true, 0 },
        { EDGE " 7\nend\n", true, 1 },
        { EDGE " 7\n", false, 1 },
        { EDGE " 7\nend", false, 1 },
        { EDGE " 7\nend\nmore", false, 1 },
        { EDGE " -7\nend\n", false, 0 },
        { EDGE " " LARGER "\nend\n", false, 0 },
        { EDGE "7\nend\n", false, 0 },
        { "x 7\nend\n", false, 0 },
        { "\n", false, 0 },
        { "", false, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        struct pfdd_ledger ledger = { 0 };
        int n = snprintf(text, sizeof text, "%s%s", begin, cases[i].rest);
        ck_assert_msg(pfdd_ledger_parse(text, (size_t)n, &ledger) ==
                          cases[i].is_whole,
                      "'%s'", cases[i].rest);
        ck_assert_uint_eq(ledger.n, cases[i].n);
        if (ledger.n)
            ck_assert_uint_eq(pfdd_ledger_find(&ledger, EDGE)->saved, 7);
        pfdd_ledger_deinit(&ledger);
    }
}
END_TEST

/* Each with one value that is another. */
START_TEST(test_entries)
{
    static const char *const names[] = {
        PFDD_HEADER_EDGE,     PFDD_HEADER_FIRST, PFDD_HEADER_LAST,
        PFDD_HEADER_PREVIOUS, PFDD_HEADER_ACKED, PFDD_HEADER_EPOCH,
    };
    static const char *const sound[] = { EDGE, "5", "9", "4", "3", "17" };
    static const struct {
        size_t i;
        const char *value; /* NULL: the header is not there */
        bool is_taken;
    } cases[] = {
        { 0, EDGE, true },  { 0, NULL, false },   { 0, "../edge", false },
        { 1, "9", true },   { 1, "10", false },   { 1, "x", false },
        { 1, " 5", false }, { 2, LARGEST, true }, { 2, LARGER, false },
        { 2, "4", false },  { 3, "5", false },    { 3, "0", true },
        { 3, "-1", false }, { 4, LARGER, false }, { 5, NULL, false },
        { 5, "-1", false },
    };
    ck_assert_int_eq(nats_Open(-1), NATS_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        natsMsg *message = NULL;
        ck_assert_int_eq(
            natsMsg_Create(&message, "gpulog.v1.00.h.g", NULL, "x", 1),
            NATS_OK);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *value = i == cases[k].i ? cases[k].value : sound[i];
            if (value)
                natsMsgHeader_Set(message, names[i], value);
        }
        struct pfdd_parcel *p = pfdd_fetch_entries(message);
        ck_assert_msg((p != NULL) == cases[k].is_taken, "case %zu", k);
        pfdd_parcel_free(p);
        natsMsg_Destroy(message);
    }
}
END_TEST

int main(void)
{
    return suite_run(
        "nats", TESTS(test_acks, test_leases, test_ledgers, test_entries), 10);
}
