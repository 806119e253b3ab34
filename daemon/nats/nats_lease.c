/* SPDX-License-Identifier: MIT */
#include "nats/nats_lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/name.h"

enum {
    RENEW_MS = PFDD_LEASE_MS / 4,
    SAFE_MS =
        PFDD_LEASE_MS * 2 / 3, /* that a lease counts as ours without renewal */
    DOUBT_MS = 60000,          /* period in which workers without partitions do
                                  not count, at first */
    DOUBT_MAX_MS = 3600000,
    TRIES = 3,
    WORKERS_MAX = 64, /* considered at a time */
};

static const char workers[] = "gpulease.v1.worker.";

void pfdd_leases_init(struct pfdd_leases *l)
{
    unsigned char bytes[(PFDD_EDGE_ID - 1) / 2] = { 0 };
    *l = (struct pfdd_leases){ 0 };
    (void)!getrandom(bytes, sizeof bytes, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        sprintf(l->worker + 2 * i, "%02x", bytes[i]);
    l->n_workers = 1;
    l->doubt_ms = DOUBT_MS;
}

static bool is_id(const char *text, size_t n)
{
    size_t i = 0;
    while (i < n && strchr("0123456789abcdef", text[i]) && text[i])
        i++;
    return n == PFDD_EDGE_ID - 1 && i == n;
}

const char *pfdd_lease_worker(const char *subject)
{
    const char *id = subject + sizeof workers - 1;
    return !strncmp(subject, workers, sizeof workers - 1) &&
                   is_id(id, strlen(id))
               ? id
               : NULL;
}

int pfdd_lease_partition(const char *subject)
{
    static const char prefix[] = "gpulease.v1.";
    const char *at = subject + sizeof prefix - 1;
    if (strncmp(subject, prefix, sizeof prefix - 1) != 0 || strlen(at) != 2 ||
        strspn(at, "0123456789") != 2)
        return -1;
    int n = 10 * (at[0] - '0') + at[1] - '0';
    return n < PFDD_NATS_PARTITIONS ? n : -1;
}

static void put_subject(unsigned partition, char ret[PFDD_SUBJECT])
{
    snprintf(ret, PFDD_SUBJECT, "gpulease.v1.%02u", partition);
}

/* Replaces the message with this number; 0: there must be none. Returns the new
 * message's number; 0: not stored, the partition is not ours. */
static uint64_t put_lease(const struct pfdd_leases *l, struct pfdd_nats *line,
                          const char *subject, uint64_t token)
{
    jsPubAck *ack = NULL;
    jsPubOptions options;
    uint64_t ret = 0;
    jsPubOptions_Init(&options);
    options.ExpectLastSubjectSeq = token;
    options.ExpectNoMessage = !token;
    if (js_Publish(&ack, line->js, subject, l->worker, (int)strlen(l->worker),
                   &options, NULL) == NATS_OK)
        ret = ack->Sequence;
    jsPubAck_Destroy(ack);
    return ret;
}

/* ---- who leases which partition ---- */

/* Workers that are known to be present, in one check. */
struct roll {
    char ids[WORKERS_MAX][PFDD_EDGE_ID]; /* [n] */
    bool has_some[WORKERS_MAX];          /* it leases a partition */
    unsigned n;
};

static bool says_it_is_there(struct pfdd_nats *line, const char *id)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message m;
    snprintf(subject, sizeof subject, "%s%s", workers, id);
    natsStatus s =
        pfd_stored_message_last(line->nc, PFDD_LEASE_STREAM, subject, &m);
    pfd_stored_message_deinit(&m);
    /* Without an answer it counts as present. */
    return s != NATS_NOT_FOUND;
}

/* A worker's flag. NULL: the worker is not present, or there are too many. */
static bool *find_worker(struct roll *roll, struct pfdd_nats *line,
                         const char *id)
{
    for (unsigned i = 0; i < roll->n; i++) {
        if (!strcmp(roll->ids[i], id))
            return &roll->has_some[i];
    }
    if (roll->n == WORKERS_MAX || !says_it_is_there(line, id))
        return NULL;
    memcpy(roll->ids[roll->n], id, PFDD_EDGE_ID);
    roll->has_some[roll->n] = false;
    return &roll->has_some[roll->n++];
}

enum holder {
    HOLDER_UNSURE,
    HOLDER_NONE,    /* no message */
    HOLDER_US,      /* our lease */
    HOLDER_OTHER,   /* the lease of a worker that is present */
    HOLDER_INVALID, /* a message that is no lease */
};

/* Looks up a partition. *number: its message's. */
static enum holder look_at(const struct pfdd_leases *l, struct pfdd_nats *line,
                           struct roll *roll, unsigned partition,
                           uint64_t *number)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message m;
    enum holder ret = HOLDER_INVALID;
    put_subject(partition, subject);
    natsStatus s =
        pfd_stored_message_last(line->nc, PFDD_LEASE_STREAM, subject, &m);
    *number = m.number;
    if (s != NATS_OK) {
        ret = s == NATS_NOT_FOUND ? HOLDER_NONE : HOLDER_UNSURE;
    } else if (m.bytes && is_id(m.bytes, m.n)) {
        bool *has_some = NULL;
        if (!strcmp(m.bytes, l->worker)) {
            ret = HOLDER_US;
        } else if ((has_some = find_worker(roll, line, m.bytes))) {
            *has_some = true;
            ret = HOLDER_OTHER;
        }
    }
    pfd_stored_message_deinit(&m);
    return ret;
}

/* ---- our partitions ---- */

/* Renews our lease over a message that replaced it and is no lease. 0: the
 * partition is not ours any more. */
static uint64_t put_over(struct pfdd_leases *l, struct pfdd_nats *line,
                         unsigned partition)
{
    char subject[PFDD_SUBJECT];
    struct roll roll = { .n = 0 };
    uint64_t number = 0;
    enum holder holder = look_at(l, line, &roll, partition, &number);
    if (holder != HOLDER_INVALID && holder != HOLDER_US)
        return 0;
    pfdd_log_about(&line->told, PFDD_WARNING,
                   "nats: what somebody has put in the place of our lease of "
                   "partition %02u is none",
                   partition);
    line->n_refused++;
    put_subject(partition, subject);
    return put_lease(l, line, subject, number);
}

static void renew(struct pfdd_leases *l, struct pfdd_nats *line, uint64_t now)
{
    char subject[PFDD_SUBJECT];
    jsPubAck *ack = NULL;
    bool is_safe = now - l->renewed < SAFE_MS;
    char about[320];
    int n_about = snprintf(about, sizeof about, "%.255s %d", pfdd_host_name(),
                           (int)getpid());
    snprintf(subject, sizeof subject, "%s%s", workers, l->worker);
    if (js_Publish(&ack, line->js, subject, about, n_about, NULL, NULL) ==
        NATS_OK)
        l->present = ack->Sequence;
    jsPubAck_Destroy(ack);
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++) {
        put_subject(i, subject);
        uint64_t token = l->tokens[i];
        if (token)
            l->tokens[i] = put_lease(l, line, subject, token);
        for (int k = 0; token && !l->tokens[i] && is_safe && k < TRIES; k++)
            l->tokens[i] = put_over(l, line, i);
    }
    l->renewed = now;
}

static unsigned count(const struct pfdd_leases *l)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++)
        n += l->tokens[i] > 0;
    return n;
}

/* ---- free partitions ---- */

/* True: another worker is present that has no partition. */
static bool has_newcomer(const struct pfdd_leases *l, struct pfdd_nats *line,
                         struct roll *roll)
{
    uint64_t number = 1;
    bool ret = false;
    for (unsigned i = 0; i < WORKERS_MAX && !ret; i++) {
        struct pfd_stored_message m;
        char subject[PFDD_SUBJECT];
        snprintf(subject, sizeof subject, "%s*", workers);
        if (pfd_stored_message_next(line->nc, PFDD_LEASE_STREAM, subject,
                                    number, &m) != NATS_OK)
            break;
        const char *id = pfdd_lease_worker(m.subject);
        const bool *has_some = id && strcmp(id, l->worker) != 0
                                   ? find_worker(roll, line, id)
                                   : NULL;
        ret = has_some && !*has_some;
        number = m.number + 1;
        pfd_stored_message_deinit(&m);
    }
    return ret;
}

/* Looks up all partitions, and counts workers. numbers: of messages that are no
 * leases; 0: no message. False: try again later. */
static bool look(struct pfdd_leases *l, struct pfdd_nats *line, uint64_t now,
                 uint64_t numbers[PFDD_NATS_PARTITIONS])
{
    struct roll roll = { .n = 0 };
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++) {
        if (l->tokens[i]) {
            l->idle[i] = 0;
            continue;
        }
        enum holder holder = look_at(l, line, &roll, i, &numbers[i]);
        if (holder == HOLDER_UNSURE) {
            return pfdd_nats_failed(line, PFDD_LEASE_STREAM, NATS_TIMEOUT);
        } else if (holder == HOLDER_OTHER) {
            l->idle[i] = 0;
        } else if (!l->idle[i]) {
            l->idle[i] = now;
        }
    }
    bool has_new = now >= l->trusted && has_newcomer(l, line, &roll);
    l->n_workers = 1 + has_new;
    for (unsigned i = 0; i < roll.n; i++)
        l->n_workers += roll.has_some[i];
    return true;
}

/* Takes free partitions. Up to our share, those without a message are taken at
 * once; those with a message that is no lease after the life of a lease, as it
 * may have replaced one. Beyond our share they are taken when no other worker
 * has done so for twice that time. Workers begin at different partitions. */
static void take_free(struct pfdd_leases *l, struct pfdd_nats *line,
                      uint64_t now, unsigned share,
                      const uint64_t numbers[PFDD_NATS_PARTITIONS])
{
    char subject[PFDD_SUBJECT];
    unsigned first = pfdd_partition_of(l->worker);
    unsigned n = count(l);
    bool is_beyond = false;
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++) {
        unsigned k = (first + i) % PFDD_NATS_PARTITIONS;
        uint64_t wait = n >= share   ? 2 * PFDD_LEASE_MS
                        : numbers[k] ? PFDD_LEASE_MS
                                     : 0;
        if (l->tokens[k] || !l->idle[k] || now - l->idle[k] < wait)
            continue;
        put_subject(k, subject);
        l->tokens[k] = put_lease(l, line, subject, numbers[k]);
        is_beyond |= l->tokens[k] && n >= share;
        n += l->tokens[k] > 0;
    }
    if (!is_beyond)
        return;
    /* The workers that these partitions were left to do not take them. */
    l->trusted = now + l->doubt_ms;
    l->doubt_ms =
        2 * l->doubt_ms < DOUBT_MAX_MS ? 2 * l->doubt_ms : DOUBT_MAX_MS;
}

bool pfdd_leases_look(struct pfdd_leases *l, struct pfdd_nats *line,
                      uint64_t now, unsigned *share)
{
    uint64_t numbers[PFDD_NATS_PARTITIONS] = { 0 };
    if (!l->renewed || now - l->renewed >= RENEW_MS)
        renew(l, line, now);
    bool is_full = count(l) * l->n_workers >= PFDD_NATS_PARTITIONS && l->looked;
    if (!is_full || now - l->looked >= RENEW_MS) {
        if (!look(l, line, now, numbers))
            return false;
        l->looked = now;
        *share = (PFDD_NATS_PARTITIONS + l->n_workers - 1) / l->n_workers;
        take_free(l, line, now, *share, numbers);
    }
    *share = now < l->trusted
                 ? PFDD_NATS_PARTITIONS
                 : (PFDD_NATS_PARTITIONS + l->n_workers - 1) / l->n_workers;
    return true;
}

void pfdd_leases_release(struct pfdd_leases *l, struct pfdd_nats *line,
                         unsigned partition)
{
    if (l->tokens[partition]) {
        js_DeleteMsg(line->js, PFDD_LEASE_STREAM, l->tokens[partition], NULL,
                     NULL);
    }
    l->tokens[partition] = 0;
}

void pfdd_leases_release_all(struct pfdd_leases *l, struct pfdd_nats *line)
{
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++)
        pfdd_leases_release(l, line, i);
    if (l->present)
        js_DeleteMsg(line->js, PFDD_LEASE_STREAM, l->present, NULL, NULL);
}
