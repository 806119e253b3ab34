/* SPDX-License-Identifier: MIT */
/*
 * What comes by NATS, and the file that says how far a worker is. The first
 * byte says what it is; a message is its subject, its headers, and its payload.
 * What is taken is within what numbers can be,
 * and says the same when it is written and read again.
 */
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "nats/nats_fetch.h"
#include "nats/nats_lease.h"
#include "nats/worker_acks.h"
#include "spool/manifest.h"

enum {
    LIST_MAX = 3,
};

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
    struct pfdd_acks acks = { 0 };
    struct pfdd_acks again = { 0 };
    bool is_whole = pfdd_acks_parse(text, n, &acks);
    char *copy = pfdd_acks_text(&acks);
    FUZZ_CHECK(copy && pfdd_acks_parse(copy, strlen(copy), &again));
    FUZZ_CHECK(again.n <= acks.n);
    for (size_t i = 0; i < again.n; i++) {
        const struct pfdd_acks_edge *e = &again.edges[i];
        FUZZ_CHECK(e->acked <= PFDD_NATS_MAX && e->acked == e->saved);
        FUZZ_CHECK(pfdd_acks_find(&acks, e->id)->acked == e->acked);
    }
    (void)is_whole;
    free(copy);
    pfdd_acks_deinit(&acks);
    pfdd_acks_deinit(&again);
}

static void check_list(const char *text, size_t n)
{
    struct pfdd_manifest_list list;
    if (!pfdd_manifest_parse(text, n, LIST_MAX, &list))
        return;
    FUZZ_CHECK(list.n <= LIST_MAX && (!list.is_cut || list.n == LIST_MAX));
    for (size_t i = 0; i < list.n; i++)
        FUZZ_CHECK(list.items[i].n > 0 && list.items[i].name);
    pfdd_manifest_list_deinit(&list);
}

static void check_lease(const char *text, size_t n)
{
    char subject[PFDD_SUBJECT] = "";
    memcpy(subject, text, n < sizeof subject - 1 ? n : sizeof subject - 1);
    int partition = pfdd_lease_partition(subject);
    FUZZ_CHECK(partition >= -1 && partition < PFDD_NATS_PARTITIONS);
}

static void check_entries(struct pfd_stored_message *message)
{
    struct pfdd_worker_message *p = pfdd_fetch_entries(message);
    if (!p)
        return;
    FUZZ_CHECK(strspn(p->edge, "0123456789abcdef") == PFDD_EDGE_NAME - 1);
    FUZZ_CHECK(!*p->code || strlen(p->code) == PFDD_SHA256_TEXT - 1);
    FUZZ_CHECK(!*p->place || strlen(p->place) == PFDD_PLACE - 1);
    FUZZ_CHECK(p->previous < p->first && p->first <= p->last);
    FUZZ_CHECK(p->last <= PFDD_NATS_MAX && p->acked <= PFDD_NATS_MAX);
    FUZZ_CHECK(p->n > 0 && p->bytes);
    pfdd_worker_message_free(p);
}

static char *copy_of(const char *text, size_t n)
{
    char *ret = malloc(n + 1);
    FUZZ_CHECK(ret);
    memcpy(ret, text, n);
    ret[n] = '\0';
    return ret;
}

/* Subject, headers and payload: a line that is empty stands before the latter. */
static void check_message(const char *text, size_t n)
{
    const char *line = memchr(text, '\n', n);
    size_t n_subject = line ? (size_t)(line - text) : n;
    const char *rest = text + n_subject + (line != NULL);
    size_t n_rest = n - n_subject - (line != NULL);
    const char *end = memmem(rest, n_rest, "\n\n", 2);
    size_t n_headers = end ? (size_t)(end - rest) + 1 : n_rest;
    size_t n_bytes = end ? n_rest - n_headers - 1 : 0;
    struct pfd_stored_message message = {
        .subject = copy_of(text, n_subject),
        .headers = copy_of(rest, n_headers),
        .n_headers = n_headers,
        .bytes = copy_of(rest + n_rest - n_bytes, n_bytes),
        .n = n_bytes,
        .number = 1,
    };
    pfdd_worker_message_free(pfdd_fetch_ack(&message));
    check_entries(&message);
    pfd_stored_message_deinit(&message);
}

static void check_answer(const char *text, size_t n)
{
    struct pfd_stored_message message;
    char value[80];
    if (pfd_stored_message_parse(text, n, &message) != NATS_OK)
        return;
    FUZZ_CHECK(message.number > 0 && message.subject);
    pfd_stored_message_header(&message, "Nats-Sequence", value, sizeof value);
    pfd_stored_message_deinit(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static void (*const checks[])(const char *text, size_t n) = {
        check_message, check_ack,   check_ledger,
        check_list,    check_lease, check_answer,
    };
    if (n == 0)
        return 0;
    size_t which = data[0] % (sizeof checks / sizeof *checks);
    /* Copied: what is behind it nobody may read. */
    char *text = malloc(n - 1 ? n - 1 : 1);
    FUZZ_CHECK(text);
    memcpy(text, data + 1, n - 1);
    checks[which](text, n - 1);
    free(text);
    return 0;
}
