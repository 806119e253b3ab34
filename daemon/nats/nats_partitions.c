/* SPDX-License-Identifier: MIT */
#include "nats/nats_partitions.h"

#include <stdlib.h>

#include "base/log.h"

enum {
    /* That messages of a partition wait for their lists of code objects, of
     * WAITS_MS. */
    CODE_WAIT_MS = 2000,
    WAITS_MS = 10 * CODE_WAIT_MS,
};

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

void pfdd_partitions_init(
    struct pfdd_partitions *partitions, struct pfdd_nats *line,
    void (*give)(void *user, struct pfdd_worker_message *message), void *user)
{
    *partitions = (struct pfdd_partitions){
        .line = line,
        .give = give,
        .user = user,
    };
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++)
        partitions->all[i].number = i;
    pfdd_leases_init(&partitions->leases);
    uv_mutex_init(&partitions->mutex);
}

void pfdd_partitions_deinit(struct pfdd_partitions *partitions)
{
    uv_mutex_destroy(&partitions->mutex);
}

/* ---- one partition ---- */

bool pfdd_partition_is_ours(const struct pfdd_partition *partition)
{
    return partition->leased > now_ms() && partition->is_read &&
           !partition->is_leaving;
}

bool pfdd_partition_is_late(struct pfdd_partition *partition)
{
    uint64_t now = now_ms();
    if (now - partition->period > WAITS_MS) {
        partition->period = now;
        partition->waited = 0;
    }
    if (!partition->waits)
        partition->waits = now;
    return partition->waited + (now - partition->waits) > CODE_WAIT_MS;
}

void pfdd_partition_end_wait(struct pfdd_partition *partition)
{
    if (partition->waits)
        partition->waited += now_ms() - partition->waits;
    partition->waits = 0;
}

/* ---- the end of a term ---- */

static void lose(struct pfdd_partitions *p, struct pfdd_partition *partition)
{
    partition->is_leaving = partition->is_read = false;
    uv_mutex_lock(&p->mutex);
    partition->leased = 0;
    uv_mutex_unlock(&p->mutex);
}

/* Asks the loop to finish with a partition: its items are written first. */
static void begin_to_leave(struct pfdd_partitions *p,
                           struct pfdd_partition *partition)
{
    struct pfdd_worker_message *message = calloc(1, sizeof *message);
    if (!message)
        return;
    message->kind = PFDD_WORKER_MESSAGE_LEAVE;
    message->partition = partition->number;
    partition->is_leaving = true;
    uv_mutex_lock(&p->mutex);
    partition->is_left = false;
    uv_mutex_unlock(&p->mutex);
    p->give(p->user, message);
}

static bool was_left(struct pfdd_partitions *p,
                     const struct pfdd_partition *partition)
{
    uv_mutex_lock(&p->mutex);
    bool ret = partition->is_leaving && partition->is_left;
    uv_mutex_unlock(&p->mutex);
    return ret;
}

/* Gives up partitions that the loop has finished with, after publishing the
 * last acknowledgements. */
static void give_back(struct pfdd_partitions *p)
{
    bool is_complete = false;
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++) {
        if (!was_left(p, &p->all[i]))
            continue;
        jsPubOptions options;
        jsPubOptions_Init(&options);
        options.MaxWait = PFDD_NATS_WAIT_MS;
        is_complete = is_complete ||
                      js_PublishAsyncComplete(p->line->js, &options) == NATS_OK;
        if (!is_complete)
            return;
        lose(p, &p->all[i]);
        pfdd_leases_release(&p->leases, p->line, i);
    }
}

/* Leaves partitions beyond our share. */
static void leave_some(struct pfdd_partitions *p, unsigned share)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++) {
        struct pfdd_partition *partition = &p->all[i];
        bool is_held = partition->leased && !partition->is_leaving;
        if (is_held && n == share) {
            begin_to_leave(p, partition);
        } else if (is_held) {
            n++;
        }
    }
}

/* ---- its beginning ---- */

static void note_leases(struct pfdd_partitions *p)
{
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++) {
        struct pfdd_partition *partition = &p->all[i];
        bool is_lost = partition->leased && !p->leases.tokens[i];
        uv_mutex_lock(&p->mutex);
        if (p->leases.tokens[i])
            partition->leased = p->leases.renewed + PFDD_LEASE_MS * 2 / 3;
        uv_mutex_unlock(&p->mutex);
        if (is_lost)
            lose(p, partition);
    }
}

/* Begins new partitions. Each edge continues behind the last acknowledgement of
 * any worker. */
static void begin_all(struct pfdd_partitions *p)
{
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++) {
        struct pfdd_partition *partition = &p->all[i];
        if (!partition->leased || partition->is_read)
            continue;
        partition->is_read = true;
        partition->term++;
    }
}

/* ---- all of them ---- */

bool pfdd_partitions_share(struct pfdd_partitions *partitions)
{
    struct pfdd_leases *leases = &partitions->leases;
    unsigned share = 0;
    give_back(partitions);
    unsigned before = pfdd_partitions_count(partitions);
    bool ok = pfdd_leases_look(leases, partitions->line, now_ms(), &share);
    note_leases(partitions);
    unsigned after = pfdd_partitions_count(partitions);
    if (after != before) {
        pfdd_log(PFDD_INFO, "nats: %u of %u partitions, %u before; workers: %u",
                 after, PFDD_NATS_PARTITIONS, before, leases->n_workers);
    }
    if (!ok)
        return false;
    leave_some(partitions, share);
    begin_all(partitions);
    return true;
}

void pfdd_partitions_rewind(struct pfdd_partitions *partitions)
{
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++)
        partitions->all[i].position = 0;
}

bool pfdd_partitions_has_most(const struct pfdd_partitions *partitions)
{
    unsigned n = 0;
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++)
        n += pfdd_partition_is_ours(&partitions->all[i]);
    return n > PFDD_PARTITIONS / 2;
}

void pfdd_partitions_release(struct pfdd_partitions *partitions)
{
    pfdd_leases_release_all(&partitions->leases, partitions->line);
}

unsigned pfdd_partitions_count(struct pfdd_partitions *partitions)
{
    unsigned n = 0;
    uv_mutex_lock(&partitions->mutex);
    for (unsigned i = 0; i < PFDD_PARTITIONS; i++)
        n += partitions->all[i].leased > 0;
    uv_mutex_unlock(&partitions->mutex);
    return n;
}

bool pfdd_partitions_is_leased(struct pfdd_partitions *partitions,
                               unsigned number)
{
    uv_mutex_lock(&partitions->mutex);
    bool ret = now_ms() < partitions->all[number].leased;
    uv_mutex_unlock(&partitions->mutex);
    return ret;
}

void pfdd_partitions_leave(struct pfdd_partitions *partitions, unsigned number)
{
    uv_mutex_lock(&partitions->mutex);
    partitions->all[number].is_left = true;
    uv_mutex_unlock(&partitions->mutex);
}
