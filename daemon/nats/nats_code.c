/* SPDX-License-Identifier: MIT */
#include "nats/nats_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "spool/manifest.h"

enum {
    LIST_SHARE = 4,      /* a list's text may have n_max divided by this */
    LIST_MAX = 64 << 20, /* bytes of a list's text, at most */
    OBJECT_SHARE = 1024, /* bytes of n_max for each object, at least */
};

/* n_max: limit of bytes for everything. NULL: out of memory. */
static struct pfdd_nats_code *nats_code_new(const char *digest,
                                            const char *place, size_t n_max)
{
    struct pfdd_nats_code *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    snprintf(c->digest, sizeof c->digest, "%s", digest);
    snprintf(c->place, sizeof c->place, "%s", place);
    c->n_max = n_max;
    c->worker_message = calloc(1, sizeof *c->worker_message);
    if (!c->worker_message) {
        free(c);
        return NULL;
    }
    c->worker_message->kind = PFDD_WORKER_MESSAGE_CODE;
    snprintf(c->worker_message->code, sizeof c->worker_message->code, "%s",
             digest);
    return c;
}

static void begin_anew(struct pfdd_nats_code *c)
{
    free(c->bytes);
    c->bytes = NULL;
    c->n = c->n_piece = c->n_first = 0;
    c->is_all = false;
}

static void drop_list(struct pfdd_nats_code *c)
{
    if (c->list)
        pfdd_manifest_list_deinit(c->list);
    free(c->list);
    c->list = NULL;
}

static void nats_code_free(struct pfdd_nats_code *c)
{
    if (!c)
        return;
    begin_anew(c);
    drop_list(c);
    pfdd_worker_message_free(c->worker_message);
    free(c);
}

/* Bytes of memory. */
static size_t nats_code_memory(const struct pfdd_nats_code *c)
{
    return sizeof *c + c->n + c->n_held;
}

/* The list of a complete fetch; the caller takes ownership. */
static struct pfdd_worker_message *nats_code_take(struct pfdd_nats_code *c)
{
    struct pfdd_worker_message *ret = c->worker_message;
    c->worker_message = NULL;
    return ret;
}

/* ---- pieces ---- */

/* The list or the object that is being fetched. */
struct wanted {
    char digest[PFDD_SHA256_TEXT];
    size_t n_max;
    bool is_exact;
};

static struct wanted wanted_of(const struct pfdd_nats_code *c)
{
    struct wanted ret = { .is_exact = c->list };
    if (c->list) {
        pfdd_sha256_text(c->list->items[c->i].digest, ret.digest);
        ret.n_max = c->list->items[c->i].n;
    } else {
        snprintf(ret.digest, sizeof ret.digest, "%s", c->digest);
        ret.n_max = c->n_max / LIST_SHARE;
        if (ret.n_max > LIST_MAX)
            ret.n_max = LIST_MAX;
    }
    return ret;
}

/* True: it was added. */
static bool add_piece(struct pfdd_nats_code *c, size_t n_max,
                      const struct pfd_stored_message *m)
{
    char *longer =
        m->n && m->n <= n_max - c->n ? realloc(c->bytes, c->n + m->n) : NULL;
    if (!longer)
        return false;
    memcpy(longer + c->n, m->bytes, m->n);
    c->bytes = longer;
    c->n += m->n;
    if (!c->n_piece++)
        c->n_first = m->n;
    return true;
}

static bool matches_digest(const struct pfdd_nats_code *c,
                           const struct wanted *wanted)
{
    char text[PFDD_SHA256_TEXT] = "";
    uint8_t sum[PFDD_SHA256_BYTES];
    if (!c->bytes || (wanted->is_exact && c->n != wanted->n_max))
        return false;
    pfdd_sha256(c->bytes, c->n, sum);
    pfdd_sha256_text(sum, text);
    return !strcmp(text, wanted->digest);
}

/* PFDD_CODE_DONE: no more pieces, or no more room for them. */
static enum pfdd_code_state ask(struct pfdd_nats_code *c,
                                struct pfdd_nats *line,
                                const struct wanted *wanted)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message m;
    pfdd_code_subject(wanted->digest, c->is_own ? c->place : "", c->n_piece,
                      subject);
    natsStatus s =
        pfd_stored_message_last(line->nc, PFDD_CODE_STREAM, subject, &m);
    size_t n = m.n;
    bool is_added = s == NATS_OK && add_piece(c, wanted->n_max, &m);
    pfd_stored_message_deinit(&m);
    if (s != NATS_OK && s != NATS_NOT_FOUND)
        return PFDD_CODE_UNSURE;
    c->is_all = s == NATS_NOT_FOUND || n == 0 ||
                (is_added && (n < c->n_first || n > PFDD_CODE_PIECE));
    /* A list says nothing of its size; nearly all have one piece. */
    bool is_enough = wanted->is_exact ? c->n == wanted->n_max
                                      : is_added && c->n_piece == 1 &&
                                            matches_digest(c, wanted);
    return is_added && !c->is_all && !is_enough ? PFDD_CODE_MORE
                                                : PFDD_CODE_DONE;
}

/* Purges pieces that do not match their digest: GPUCODE keeps the first message
 * of each subject, so they would stay for good. Edges are asked to send again,
 * and store the right pieces there or in places of their own. Call only after
 * reading to the end: a list that states too small a size causes a mismatch,
 * too. */
static void purge_pieces(struct pfdd_nats *line, const char *digest)
{
    char subject[PFDD_SUBJECT];
    jsOptions options;
    jsOptions_Init(&options);
    snprintf(subject, sizeof subject, "gpucode.v1.%s.*", digest);
    options.Stream.Purge.Subject = subject;
    natsStatus s = js_PurgeStream(line->js, PFDD_CODE_STREAM, &options, NULL);
    line->n_refused++;
    pfdd_log_about(&line->told, PFDD_WARNING,
                   "nats: what lies at %s is something else: %s", subject,
                   s == NATS_OK ? "taken away" : natsStatus_GetText(s));
}

/* PFDD_CODE_DONE: all of it is in bytes [n], and matches the digest. */
static enum pfdd_code_state fetch(struct pfdd_nats_code *c,
                                  struct pfdd_nats *line,
                                  const struct wanted *wanted)
{
    enum pfdd_code_state state = ask(c, line, wanted);
    if (state != PFDD_CODE_DONE || matches_digest(c, wanted))
        return state;
    if (!c->is_own && c->bytes && c->is_all)
        purge_pieces(line, wanted->digest);
    begin_anew(c);
    if (c->is_own || !*c->place)
        return PFDD_CODE_MISSING;
    c->is_own = true;
    return PFDD_CODE_MORE;
}

/* ---- lists and objects ---- */

static enum pfdd_code_state read_list(struct pfdd_nats_code *c,
                                      struct pfdd_nats *line)
{
    size_t n_max = c->n_max / OBJECT_SHARE;
    c->list = calloc(1, sizeof *c->list);
    if (!c->list)
        return PFDD_CODE_UNSURE;
    if (!pfdd_manifest_parse(c->bytes, c->n, n_max, c->list)) {
        pfdd_log_about(&line->told, PFDD_WARNING,
                       "nats: what %s is of is no list of code objects",
                       c->digest);
        return PFDD_CODE_MISSING;
    }
    if (c->list->is_cut) {
        pfdd_log_peer(PFDD_ERROR,
                      "nats: no room for more than %zu code objects of a "
                      "list: entries go without the others",
                      n_max);
    }
    c->n_held = c->n;
    begin_anew(c);
    c->worker_message->objects =
        calloc(c->list->n + 1, sizeof *c->worker_message->objects);
    return c->worker_message->objects ? PFDD_CODE_MORE : PFDD_CODE_UNSURE;
}

static enum pfdd_code_state take_object(struct pfdd_nats_code *c)
{
    const struct pfdd_manifest_item *item = &c->list->items[c->i];
    struct pfdd_worker_message_object *o =
        &c->worker_message->objects[c->worker_message->n_objects];
    o->name = strdup(item->name);
    if (!o->name)
        return PFDD_CODE_UNSURE;
    o->bytes = c->bytes;
    o->n = c->n;
    o->is_shader = item->is_shader;
    o->shader = item->shader;
    c->worker_message->n_objects++;
    c->n_held += c->n;
    c->bytes = NULL;
    begin_anew(c);
    c->i++;
    return PFDD_CODE_MORE;
}

/* Skips objects that there is no room for. */
static void leave_out(struct pfdd_nats_code *c, struct pfdd_nats *line)
{
    for (; c->i < c->list->n && c->list->items[c->i].n > c->n_max - c->n_held;
         c->i++) {
        pfdd_log_peer(PFDD_ERROR,
                      "nats: no room for '%.200s': entries go without it",
                      c->list->items[c->i].name);
    }
}

/* Fetches one piece at most. */
static enum pfdd_code_state nats_code_step(struct pfdd_nats_code *c,
                                           struct pfdd_nats *line)
{
    if (c->list && !c->n_piece)
        leave_out(c, line);
    if (c->list && c->i == c->list->n)
        return PFDD_CODE_DONE;
    struct wanted wanted = wanted_of(c);
    enum pfdd_code_state state = fetch(c, line, &wanted);
    if (state != PFDD_CODE_DONE)
        return state;
    c->is_own = false;
    return c->list ? take_object(c) : read_list(c, line);
}

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
        n += nats_code_memory(codes->coming[i]);
    codes->n_bytes = n;
}

static void drop(struct pfdd_nats_code_lists *codes, size_t i)
{
    nats_code_free(codes->coming[i]);
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
        codes->give(codes->user, nats_code_take(code));
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
        state = nats_code_step(code, codes->line);
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
        nats_code_new(p->code, p->place, codes->n_max);
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
