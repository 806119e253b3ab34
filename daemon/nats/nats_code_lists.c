/* SPDX-License-Identifier: MIT */
#include "nats/nats_code_lists.h"

#include <stdlib.h>
#include <string.h>

enum {
    TURN = 32,         /* pieces of each fetch in a turn */
    TURNS_MAX = 64,    /* turns of one fetch, when others need its place */
    MISSING_MS = 1000, /* until a missing list is asked for again */
};

static uint64_t now_ms(void)
{
    return uv_hrtime() / 1000000;
}

static void count_bytes(struct pfdd_nats_code_lists *codes)
{
    size_t n = 0;
    for (size_t i = 0; i < codes->n_coming; i++)
        n += pfdd_nats_code_memory(codes->coming[i]);
    codes->n_bytes = n;
}

static void drop(struct pfdd_nats_code_lists *codes, size_t i)
{
    pfdd_nats_code_free(codes->coming[i]);
    codes->n_coming--;
    memmove(codes->coming + i, codes->coming + i + 1,
            (codes->n_coming - i) * sizeof(void *));
    count_bytes(codes);
}

void pfdd_nats_code_lists_deinit(struct pfdd_nats_code_lists *codes)
{
    while (codes->n_coming)
        drop(codes, codes->n_coming - 1);
}

/* ---- lists that the loop has ---- */

static bool is_known(const struct pfdd_nats_code_lists *codes,
                     const char *digest)
{
    for (size_t i = codes->n_known; i > 0; i--) {
        if (!strcmp(codes->known[i - 1], digest))
            return true;
    }
    return false;
}

static bool forget_known(struct pfdd_nats_code_lists *codes)
{
    struct pfdd_worker_message *p = calloc(1, sizeof *p);
    if (!p)
        return false;
    p->kind = PFDD_WORKER_MESSAGE_FORGET;
    codes->n_known = 0;
    codes->give(codes->user, p);
    return true;
}

/* Hands over a complete list. False: try again later. */
static bool give(struct pfdd_nats_code_lists *codes, size_t i)
{
    struct pfdd_nats_code *code = codes->coming[i];
    if (!is_known(codes, code->digest)) {
        if (codes->n_known == PFDD_CODES_KNOWN && !forget_known(codes))
            return false;
        codes->give(codes->user, pfdd_nats_code_take(code));
        snprintf(codes->known[codes->n_known++], PFDD_SHA256_TEXT, "%s",
                 code->digest);
    }
    drop(codes, i);
    return true;
}

/* ---- missing lists ---- */

static void note_missing(struct pfdd_nats_code_lists *codes,
                         const struct pfdd_nats_code *code)
{
    if (strcmp(codes->digest, code->digest) != 0) {
        pfdd_log_peer(PFDD_WARNING,
                      "nats: the list of code objects %s is not there, or "
                      "not what it needs: edges are asked to send it again",
                      code->digest);
    }
    snprintf(codes->digest, sizeof codes->digest, "%s", code->digest);
    snprintf(codes->place, sizeof codes->place, "%s", code->place);
    codes->missed = now_ms();
}

static bool was_missing(const struct pfdd_nats_code_lists *codes,
                        const struct pfdd_worker_message *p)
{
    return now_ms() - codes->missed < MISSING_MS &&
           !strcmp(codes->digest, p->code) && !strcmp(codes->place, p->place);
}

/* ---- fetches ---- */

/* All fetches together share n_max. The oldest one has priority: others are
 * dropped for it. */
static bool has_room(struct pfdd_nats_code_lists *codes, size_t i)
{
    while (codes->n_bytes + PFDD_CODE_PIECE > codes->n_max &&
           codes->n_coming > 1) {
        if (i > 0)
            return false;
        drop(codes, codes->n_coming - 1);
    }
    return true;
}

/* True: the fetch has ended. */
static bool turn(struct pfdd_nats_code_lists *codes, size_t i)
{
    struct pfdd_nats_code *code = codes->coming[i];
    enum pfdd_code_state state = PFDD_CODE_MORE;
    for (unsigned k = 0; k < TURN && state == PFDD_CODE_MORE; k++) {
        if (!has_room(codes, i))
            return false;
        state = pfdd_nats_code_step(code, codes->line);
        count_bytes(codes);
    }
    code->n_turns++;
    if (state == PFDD_CODE_DONE)
        return give(codes, i);
    if (state != PFDD_CODE_MISSING)
        return false;
    note_missing(codes, code);
    drop(codes, i);
    return true;
}

void pfdd_nats_code_lists_turn(struct pfdd_nats_code_lists *codes)
{
    for (size_t i = 0; i < codes->n_coming;)
        i += !turn(codes, i);
}

static bool is_coming(const struct pfdd_nats_code_lists *codes,
                      const struct pfdd_worker_message *p)
{
    for (size_t i = 0; i < codes->n_coming; i++) {
        if (!strcmp(codes->coming[i]->digest, p->code) &&
            !strcmp(codes->coming[i]->place, p->place))
            return true;
    }
    return false;
}

/* Drops the fetch that has had the most turns, if these are many. */
static bool make_way(struct pfdd_nats_code_lists *codes)
{
    size_t most = 0;
    for (size_t i = 1; i < codes->n_coming; i++) {
        if (codes->coming[i]->n_turns > codes->coming[most]->n_turns)
            most = i;
    }
    if (codes->n_coming > PFDD_CODES_COMING &&
        codes->coming[most]->n_turns > TURNS_MAX)
        drop(codes, most);
    return codes->n_coming <= PFDD_CODES_COMING;
}

enum pfdd_code_state pfdd_nats_code_lists_bring(
    struct pfdd_nats_code_lists *codes, const struct pfdd_worker_message *p)
{
    if (!*p->code || is_known(codes, p->code))
        return PFDD_CODE_DONE;
    if (is_coming(codes, p))
        return PFDD_CODE_MORE;
    if (was_missing(codes, p))
        return PFDD_CODE_MISSING;
    if (codes->n_coming > PFDD_CODES_COMING)
        return PFDD_CODE_MORE;
    struct pfdd_nats_code *code =
        pfdd_nats_code_new(p->code, p->place, codes->n_max);
    if (!code)
        return PFDD_CODE_MISSING;
    codes->coming[codes->n_coming++] = code;
    /* Most lists come in their first turn, even if other fetches take long. */
    if (!turn(codes, codes->n_coming - 1)) {
        if (make_way(codes))
            return PFDD_CODE_MORE;
        drop(codes, codes->n_coming - 1);
    }
    return is_known(codes, p->code) ? PFDD_CODE_DONE : PFDD_CODE_MISSING;
}
