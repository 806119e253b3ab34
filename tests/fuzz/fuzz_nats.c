/* SPDX-License-Identifier: MIT */
/*
 * What comes by NATS, and the file that says how far a worker is. The first
 * byte says what it is; a message is its subject, the values of its headers,
 * and its payload, a line each. What is taken is within what numbers can be,
 * and says the same when it is written and read again.
 */
#include <stdio.h>
#include <string.h>

#include "delivery/ledger.h"
#include "delivery/stock.h"
#include "fuzz.h"
#include "net/nats_fetch.h"
#include "net/nats_lease.h"

static void check_ack(const char *text, size_t n)
{
    struct pfdd_nats_ack ack;
    struct pfdd_nats_ack again;
    char copy[80];
    if (!pfdd_ack_get(text, (int)n, &ack))
        return;
    FUZZ_CHECK(ack.acked <= PFDD_NATS_MAX && ack.epoch <= PFDD_NATS_MAX);
    int n_copy = pfdd_ack_put(copy, sizeof copy, &ack);
    FUZZ_CHECK(pfdd_ack_get(copy, n_copy, &again));
    FUZZ_CHECK(again.acked == ack.acked && again.epoch == ack.epoch &&
               again.again == ack.again);
}

static void check_ledger(const char *text, size_t n)
{
    struct pfdd_ledger ledger = { 0 };
    struct pfdd_ledger again = { 0 };
    bool is_whole = pfdd_ledger_parse(text, n, &ledger);
    char *copy = pfdd_ledger_text(&ledger);
    FUZZ_CHECK(copy && pfdd_ledger_parse(copy, strlen(copy), &again));
    FUZZ_CHECK(again.n <= ledger.n);
    for (size_t i = 0; i < again.n; i++) {
        const struct pfdd_ledger_edge *e = &again.edges[i];
        FUZZ_CHECK(e->acked <= PFDD_NATS_MAX && e->acked == e->saved);
        FUZZ_CHECK(pfdd_ledger_find(&ledger, e->id)->acked == e->acked);
    }
    (void)is_whole;
    free(copy);
    pfdd_ledger_deinit(&ledger);
    pfdd_ledger_deinit(&again);
}

static void check_list(const char *text, size_t n)
{
    struct pfdd_stock_list list;
    if (!pfdd_stock_parse(text, n, &list))
        return;
    for (size_t i = 0; i < list.n; i++)
        FUZZ_CHECK(list.items[i].n > 0 && list.items[i].name);
    pfdd_stock_list_deinit(&list);
}

static void check_lease(const char *text, size_t n)
{
    char subject[PFDD_SUBJECT] = "";
    memcpy(subject, text, n < sizeof subject - 1 ? n : sizeof subject - 1);
    int partition = pfdd_lease_partition(subject);
    FUZZ_CHECK(partition >= -1 && partition < PFDD_NATS_PARTITIONS);
}

static void check_entries(natsMsg *message)
{
    struct pfdd_parcel *p = pfdd_fetch_entries(message);
    if (!p)
        return;
    FUZZ_CHECK(strspn(p->edge, "0123456789abcdef") == PFDD_EDGE_NAME - 1);
    FUZZ_CHECK(!*p->code || strlen(p->code) == PFDD_SHA256_TEXT - 1);
    FUZZ_CHECK(p->previous < p->first && p->first <= p->last);
    FUZZ_CHECK(p->last <= PFDD_NATS_MAX && p->acked <= PFDD_NATS_MAX);
    FUZZ_CHECK(p->n > 0 && p->bytes);
    pfdd_parcel_free(p);
}

/* The next line of [*n], with a NUL; empty at the end. */
static void take_line(const char **text, size_t *n, char *ret, size_t n_ret)
{
    const char *end = memchr(*text, '\n', *n);
    size_t n_line = end ? (size_t)(end - *text) : *n;
    size_t k = n_line < n_ret - 1 ? n_line : n_ret - 1;
    memcpy(ret, *text, k);
    ret[k] = '\0';
    n_line += end != NULL;
    *text += n_line;
    *n -= n_line;
}

static void check_message(const char *text, size_t n)
{
    static const char *const headers[] = {
        PFDD_HEADER_EDGE,     PFDD_HEADER_FIRST, PFDD_HEADER_LAST,
        PFDD_HEADER_PREVIOUS, PFDD_HEADER_ACKED, PFDD_HEADER_EPOCH,
        PFDD_HEADER_CODE,
    };
    char line[PFDD_SUBJECT];
    natsMsg *message = NULL;
    natsMsg *whole = NULL;
    take_line(&text, &n, line, sizeof line);
    if (natsMsg_Create(&message, *line ? line : "x", NULL, "", 0) != NATS_OK)
        return;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        take_line(&text, &n, line, sizeof line);
        if (*line)
            natsMsgHeader_Set(message, headers[i], line);
    }
    check_entries(message); /* without a payload it is none */
    if (natsMsg_Create(&whole, natsMsg_GetSubject(message), NULL, text,
                       (int)n) == NATS_OK) {
        for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
            const char *value = NULL;
            if (natsMsgHeader_Get(message, headers[i], &value) == NATS_OK)
                natsMsgHeader_Set(whole, headers[i], value);
        }
        check_entries(whole);
        pfdd_parcel_free(pfdd_fetch_ack(whole));
    }
    natsMsg_Destroy(whole);
    natsMsg_Destroy(message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static void (*const checks[])(const char *text, size_t n) = {
        check_message, check_ack, check_ledger, check_list, check_lease,
    };
    static bool is_open;
    if (n == 0)
        return 0;
    FUZZ_CHECK(is_open || nats_Open(-1) == NATS_OK);
    is_open = true;
    size_t which = data[0] % (sizeof checks / sizeof *checks);
    /* Copied: what is behind it nobody may read. */
    char *text = malloc(n - 1 ? n - 1 : 1);
    FUZZ_CHECK(text);
    memcpy(text, data + 1, n - 1);
    checks[which](text, n - 1);
    free(text);
    return 0;
}
