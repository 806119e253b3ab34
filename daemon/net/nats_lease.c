/* SPDX-License-Identifier: MIT */
#include "net/nats_lease.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum {
    RENEW_MS = PFDD_LEASE_MS / 4,
};

void pfdd_leases_init(struct pfdd_leases *l)
{
    unsigned char bytes[(PFDD_EDGE_ID - 1) / 2] = { 0 };
    *l = (struct pfdd_leases){ 0 };
    (void)!getrandom(bytes, sizeof bytes, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        sprintf(l->worker + 2 * i, "%02x", bytes[i]);
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

/* In the place of the message of this number; 0: where there is none. Returns
 * the new one's, 0: it is not ours. */
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

static void renew(struct pfdd_leases *l, struct pfdd_nats *line, uint64_t now)
{
    char subject[PFDD_SUBJECT];
    snprintf(subject, sizeof subject, "gpulease.v1.worker.%s", l->worker);
    js_Publish(NULL, line->js, subject, "", 0, NULL, NULL);
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++) {
        put_subject(i, subject);
        if (l->tokens[i])
            l->tokens[i] = put_lease(l, line, subject, l->tokens[i]);
    }
    l->renewed = now;
}

/* Who is there: workers, and whose partitions are free. */
static bool look(struct pfdd_nats *line, bool taken[PFDD_NATS_PARTITIONS],
                 unsigned *n_workers)
{
    static const char workers[] = "gpulease.v1.worker.";
    jsStreamInfo *info = NULL;
    jsOptions options;
    jsOptions_Init(&options);
    options.Wait = PFDD_NATS_WAIT_MS;
    options.Stream.Info.SubjectsFilter = "gpulease.v1.>";
    natsStatus s =
        js_GetStreamInfo(&info, line->js, PFDD_LEASE_STREAM, &options, NULL);
    if (s != NATS_OK)
        return pfdd_nats_failed(line, PFDD_LEASE_STREAM, s);
    const jsStreamStateSubjects *all = info->State.Subjects;
    for (int i = 0; all && i < all->Count; i++) {
        const char *subject = all->List[i].Subject;
        if (!strncmp(subject, workers, sizeof workers - 1)) {
            ++*n_workers;
        } else {
            int n = pfdd_lease_partition(subject);
            if (n >= 0)
                taken[n] = true;
        }
    }
    jsStreamInfo_Destroy(info);
    return true;
}

static unsigned count(const struct pfdd_leases *l)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS; i++)
        n += l->tokens[i] > 0;
    return n;
}

/* Not all begin with the same one. */
static void take_free(struct pfdd_leases *l, struct pfdd_nats *line,
                      const bool taken[PFDD_NATS_PARTITIONS], unsigned share)
{
    char subject[PFDD_SUBJECT];
    unsigned first = pfdd_partition_of(l->worker);
    unsigned n = count(l);
    for (unsigned i = 0; i < PFDD_NATS_PARTITIONS && n < share; i++) {
        unsigned k = (first + i) % PFDD_NATS_PARTITIONS;
        if (taken[k] || l->tokens[k])
            continue;
        put_subject(k, subject);
        l->tokens[k] = put_lease(l, line, subject, 0);
        n += l->tokens[k] > 0;
    }
}

bool pfdd_leases_look(struct pfdd_leases *l, struct pfdd_nats *line,
                      uint64_t now, unsigned *share)
{
    bool taken[PFDD_NATS_PARTITIONS] = { false };
    unsigned n_workers = 0;
    if (!l->renewed || now - l->renewed >= RENEW_MS)
        renew(l, line, now);
    if (!look(line, taken, &n_workers))
        return false;
    if (n_workers == 0)
        n_workers = 1;
    *share = (PFDD_NATS_PARTITIONS + n_workers - 1) / n_workers;
    take_free(l, line, taken, *share);
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
}
