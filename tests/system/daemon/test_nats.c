/* SPDX-License-Identifier: MIT */
/* What comes by NATS is taken when it is as edges and workers make it, and
 * refused else. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "../../unit/suite.h"
#include "inputs/edges_seen.h"
#include "nats/incarnations.h"
#include "nats/nats_fetch.h"
#include "nats/nats_lease.h"
#include "nats/worker_acks.h"
#include "spool/manifest.h"

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

START_TEST(test_incarnations)
{
    static const char begin[] = "printfdecoded incarnations 1\n";
    static const struct {
        const char *rest;
        size_t n; /* 0: refused */
    } cases[] = {
        { EDGE " 1\nend\n", 1 },
        { EDGE " 1\n" EDGE " 9\nend\n", 2 },
        { EDGE " " LARGEST "\nend\n", 1 },
        { EDGE " " LARGER "\nend\n", 0 },
        { EDGE " 9\n" EDGE " 9\nend\n", 0 },
        { EDGE " 0\nend\n", 0 },
        { EDGE " -1\nend\n", 0 },
        { EDGE " 1\n", 0 },
        { EDGE " 1\nend\nmore\n", 0 },
        { "end\n", 0 },
        { "", 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        struct pfdd_incarnations got = { 0 };
        snprintf(text, sizeof text, "%s%s", begin, cases[i].rest);
        bool ok = pfdd_incarnations_parse(text, strlen(text), &got);
        ck_assert_msg(ok == (cases[i].n > 0), "'%s'", text);
        ck_assert_uint_eq(got.n, cases[i].n);
        pfdd_incarnations_deinit(&got);
    }
}
END_TEST

/* Each item has the incarnation under which it was queued; those without items
 * are dropped. */
START_TEST(test_draws)
{
    char dir[] = "/tmp/pfdd-draws-XXXXXX";
    char err[700];
    char first[PFDD_INCARNATION_ID];
    struct pfdd_incarnations all;
    struct pfdd_incarnations again;
    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert(pfdd_incarnations_read(dir, &all, err, sizeof err));
    ck_assert_uint_eq(all.n, 0);
    ck_assert(pfdd_incarnations_draw(&all, 1, 0, err, sizeof err));
    ck_assert(pfdd_incarnations_draw(&all, 1, 0, err, sizeof err));
    ck_assert_uint_eq(all.n, 1);
    memcpy(first, all.items[0].id, sizeof first);
    ck_assert(pfdd_incarnations_draw(&all, 11, 4, err, sizeof err));
    ck_assert_uint_eq(all.n, 2);
    ck_assert_str_eq(pfdd_incarnations_of(&all, 10)->id, first);
    ck_assert_str_ne(pfdd_incarnations_of(&all, 11)->id, first);
    /* A start with the folder as it was. */
    ck_assert(pfdd_incarnations_read(dir, &again, err, sizeof err));
    ck_assert_uint_eq(again.n, 2);
    ck_assert_str_eq(again.state, all.state);
    ck_assert(pfdd_incarnations_draw(&again, 5, 4, err, sizeof err));
    ck_assert_uint_eq(again.n, 1);
    ck_assert_uint_eq(again.items[0].first, 5);
    pfdd_incarnations_deinit(&again);
    pfdd_incarnations_deinit(&all);
    for (size_t i = 0; i < 2; i++) {
        char path[100];
        snprintf(path, sizeof path, "%s/%s", dir, i ? "edge" : "incarnations");
        ck_assert_int_eq(remove(path), 0);
    }
    ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

/* More edges than are remembered: those that are silent make room. */
START_TEST(test_edges_seen)
{
    struct pfdd_edges_seen *seen = calloc(1, sizeof *seen);
    struct pfdd_worker_message m = { .first = 1, .last = 2, .stream = 1 };
    ck_assert_ptr_nonnull(seen);
    for (unsigned i = 0; i < PFDD_EDGES_SEEN + 100; i++) {
        snprintf(m.edge, sizeof m.edge, "%032x", i);
        size_t at = pfdd_edges_seen_note(seen, &m);
        ck_assert_uint_lt(at, PFDD_EDGES_SEEN);
        ck_assert_str_eq(seen->edges[at].state, m.edge);
        ck_assert_uint_eq(pfdd_edges_seen_note(seen, &m), at);
    }
    ck_assert(!pfdd_edges_seen_is_other(seen, &m, 3));
    pfdd_edges_seen_take(seen, &m, 3);
    ck_assert(!pfdd_edges_seen_is_other(seen, &m, 3));
    ck_assert(pfdd_edges_seen_is_other(seen, &m, 5));
    pfdd_edges_seen_take(seen, &m, 5);
    ck_assert(!pfdd_edges_seen_is_other(seen, &m, 3));
    pfdd_edges_seen_deinit(seen);
    free(seen);
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
        struct pfdd_acks acks = { 0 };
        int n = snprintf(text, sizeof text, "%s%s", begin, cases[i].rest);
        ck_assert_msg(pfdd_acks_parse(text, (size_t)n, &acks) ==
                          cases[i].is_whole,
                      "'%s'", cases[i].rest);
        ck_assert_uint_eq(acks.n, cases[i].n);
        if (acks.n)
            ck_assert_uint_eq(pfdd_acks_find(&acks, EDGE)->saved, 7);
        pfdd_acks_deinit(&acks);
    }
}
END_TEST

/* Edges that have proved nothing make way, and take no place from others; these
 * do for others of their kind, those that have long been silent first. */
START_TEST(test_ledger_room)
{
    struct pfdd_acks acks = { 0 };
    char id[PFDD_ACKS_ID];
    struct pfdd_acks_edge *e = NULL;
    for (unsigned i = 0; i < PFDD_ACKS_MAX; i++) {
        snprintf(id, sizeof id, "a%031x", i);
        e = pfdd_acks_find(&acks, id);
        e->acked = e->saved = 1;
        pfdd_acks_prove(&acks, e);
    }
    for (unsigned i = 0; i < 3 * PFDD_ACKS_NEW; i++) {
        snprintf(id, sizeof id, "b%031x", i);
        ck_assert_ptr_nonnull(pfdd_acks_find(&acks, id));
    }
    ck_assert_uint_eq(acks.n_proved, PFDD_ACKS_MAX);
    ck_assert_uint_le(acks.n, PFDD_ACKS_MAX + PFDD_ACKS_NEW);
    /* What is waited for stays. */
    snprintf(id, sizeof id, "a%031x", 7);
    pfdd_acks_seek(&acks, id)->n_waiting = 1;
    snprintf(id, sizeof id, "a%031x", 8);
    ck_assert_ptr_nonnull(pfdd_acks_find(&acks, id));
    snprintf(id, sizeof id, "c%031x", 1);
    e = pfdd_acks_find(&acks, id);
    ck_assert_ptr_nonnull(e);
    pfdd_acks_prove(&acks, e);
    ck_assert_ptr_nonnull(pfdd_acks_seek(&acks, id));
    ck_assert_uint_lt(acks.n_proved, PFDD_ACKS_MAX);
    for (unsigned i = 0; i < 3; i++) {
        static const unsigned which[] = { 6, 7, 8 };
        snprintf(id, sizeof id, "a%031x", which[i]);
        ck_assert_int_eq(pfdd_acks_seek(&acks, id) != NULL, i > 0);
    }
    pfdd_acks_deinit(&acks);
}
END_TEST

/* New ones that all wait to be written leave no room: that is said. */
START_TEST(test_ledger_full)
{
    struct pfdd_acks acks = { 0 };
    char id[PFDD_ACKS_ID];
    for (unsigned i = 0; i < PFDD_ACKS_NEW; i++) {
        snprintf(id, sizeof id, "%032x", i);
        pfdd_acks_find(&acks, id)->n_waiting = 1;
    }
    ck_assert_ptr_null(pfdd_acks_find(&acks, EDGE));
    pfdd_acks_seek(&acks, id)->n_waiting = 0;
    ck_assert_ptr_nonnull(pfdd_acks_find(&acks, EDGE));
    pfdd_acks_deinit(&acks);
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
        { 1, "5 ", false }, { 2, LARGEST, true }, { 2, LARGER, false },
        { 2, "4", false },  { 3, "5", false },    { 3, "0", true },
        { 3, "-1", false }, { 4, LARGER, false }, { 5, NULL, false },
        { 5, "-1", false },
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char headers[500] = "NATS/1.0\r\n";
        size_t n = strlen(headers);
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *value = i == cases[k].i ? cases[k].value : sound[i];
            if (value) {
                n +=
                    (size_t)sprintf(headers + n, "%s: %s\r\n", names[i], value);
            }
        }
        struct pfd_stored_message message = {
            .bytes = strdup("x"), .n = 1, .headers = headers, .n_headers = n
        };
        struct pfdd_worker_message *p = pfdd_fetch_entries(&message);
        ck_assert_msg((p != NULL) == cases[k].is_taken, "case %zu", k);
        pfdd_worker_message_free(p);
        free(message.bytes);
    }
}
END_TEST

/* Where a message stands is what the server says outside of its headers. */
START_TEST(test_answers)
{
    static const struct {
        const char *text;
        natsStatus status;
        uint64_t number;
        size_t n;
        size_t n_headers;
    } cases[] = {
        { "{\"message\":{\"subject\":\"a.b\",\"seq\":7,\"data\":\"aGVsbG8=\"}}",
          NATS_OK, 7, 5, 0 },
        /* Nats-Sequence: 99 */
        { "{\"message\":{\"subject\":\"a\",\"seq\":8,\"hdrs\":"
          "\"TkFUUy8xLjANCk5hdHMtU2VxdWVuY2U6IDk5DQoNCg==\"}}",
          NATS_OK, 8, 0, 31 },
        { "{\"message\":{\"subject\":\"\\\"data\\\":\\\"\",\"seq\":9,"
          "\"data\":\"\"}}",
          NATS_OK, 9, 0, 0 },
        { "{\"message\":{\"subject\":\"a\\u0000b\",\"seq\":1}}", NATS_OK, 1, 0,
          0 },
        { "{\"error\":{\"code\":404}}", NATS_NOT_FOUND, 0, 0, 0 },
        { "{\"error\":{\"code\":503}}", NATS_ERR, 0, 0, 0 },
        { "{\"message\":{\"subject\":\"a\",\"seq\":0}}", NATS_ERR, 0, 0, 0 },
        { "{\"message\":{\"subject\":\"a\",\"seq\":-1}}", NATS_ERR, 0, 0, 0 },
        { "{\"message\":{\"seq\":1}}", NATS_ERR, 0, 0, 0 },
        { "{\"message\":{\"subject\":\"a\",\"seq\":1,\"data\":\"a\"}}",
          NATS_ERR, 0, 0, 0 },
        { "{\"message\":{\"subject\":\"a\",\"seq\":1,\"data\":\"a*==\"}}",
          NATS_ERR, 0, 0, 0 },
        { "{\"message\":{\"subject\":\"a\",\"seq\":1,\"data\":\"aaaa", NATS_ERR,
          0, 0, 0 },
        { "[", NATS_ERR, 0, 0, 0 },
        { "", NATS_ERR, 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pfd_stored_message m;
        const char *text = cases[i].text;
        ck_assert_msg(pfd_stored_message_parse(text, strlen(text), &m) ==
                          cases[i].status,
                      "'%s'", text);
        ck_assert_uint_eq(m.number, cases[i].number);
        ck_assert_uint_eq(m.n, cases[i].n);
        ck_assert_uint_eq(m.n_headers, cases[i].n_headers);
        pfd_stored_message_deinit(&m);
    }
}
END_TEST

START_TEST(test_headers)
{
    char text[] = "NATS/1.0\r\nA: 1\r\nA: 2\r\nB:\r\nLong: 123456789\r\nC:3";
    static const struct {
        const char *name;
        const char *value; /* NULL: none */
    } cases[] = {
        { "A", "1" },  { "B", "" },   { "C", "3" },       { "Long", NULL },
        { "D", NULL }, { "a", NULL }, { "NATS/1", NULL },
    };
    struct pfd_stored_message m = { .headers = text,
                                    .n_headers = sizeof text - 1 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char value[8];
        bool is_there = pfd_stored_message_header(&m, cases[i].name, value, 8);
        ck_assert_msg(is_there == (cases[i].value != NULL), "%s",
                      cases[i].name);
        if (is_there)
            ck_assert_str_eq(value, cases[i].value);
    }
}
END_TEST

/* Lists are read an object at a time. */
START_TEST(test_lists)
{
#define ITEM                                                                \
    "{\"sha256\":"                                                          \
    "\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\"," \
    "\"bytes\":3,\"name\":\"a}],{[\\\"\"}"
    static const struct {
        const char *text;
        bool is_taken;
        size_t n;
        bool is_cut;
    } cases[] = {
        { "{\"version\":1,\"objects\":[]}", true, 0, false },
        { "{\"objects\":[" ITEM "]}", true, 1, false },
        { " { \"version\" : 1 , \"objects\" : [ " ITEM " , " ITEM " ] } \n",
          true, 2, false },
        { "{\"objects\":[" ITEM "," ITEM "," ITEM "],\"x\":\"y,\"}", true, 2,
          true },
        { "{\"objects\":[" ITEM "," ITEM ",0]}", false, 0, false },
        { "{\"objects\":[" ITEM ",]}", false, 0, false },
        { "{\"objects\":[],\"objects\":[]}", false, 0, false },
        { "{\"objects\":[0]}", false, 0, false },
        { "{\"objects\":[[]]}", false, 0, false },
        { "{\"objects\":[{\"a\":{}}]}", false, 0, false },
        { "{\"objects\":[{\"a\":[0]}]}", false, 0, false },
        { "{\"objects\":{}}", false, 0, false },
        { "{\"a\":[],\"objects\":[]}", false, 0, false },
        { "{\"objects\":[]} x", false, 0, false },
        { "{\"objects\":[", false, 0, false },
        { "{\"objects\":", false, 0, false },
        { "{\"objects\"", false, 0, false },
        { "{\"version\":1}", false, 0, false },
        { "{}", false, 0, false },
        { "[]", false, 0, false },
        { "", false, 0, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pfdd_manifest_list list;
        const char *text = cases[i].text;
        ck_assert_msg(pfdd_manifest_parse(text, strlen(text), 2, &list) ==
                          cases[i].is_taken,
                      "'%s'", text);
        ck_assert_uint_eq(list.n, cases[i].n);
        ck_assert_msg(list.is_cut == cases[i].is_cut, "'%s'", text);
        pfdd_manifest_list_deinit(&list);
    }
}
END_TEST

int main(void)
{
    return suite_run("nats",
                     TESTS(test_acks, test_incarnations, test_draws,
                           test_edges_seen, test_leases, test_ledgers,
                           test_ledger_room, test_ledger_full, test_entries,
                           test_answers, test_headers, test_lists),
                     10);
}
