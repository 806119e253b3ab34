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

struct pfdd_nats_code *pfdd_nats_code_new(const char *digest, const char *place,
                                          size_t n_max)
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

void pfdd_nats_code_free(struct pfdd_nats_code *c)
{
    if (!c)
        return;
    begin_anew(c);
    drop_list(c);
    pfdd_worker_message_free(c->worker_message);
    free(c);
}

size_t pfdd_nats_code_memory(const struct pfdd_nats_code *c)
{
    return sizeof *c + c->n + c->n_held;
}

struct pfdd_worker_message *pfdd_nats_code_take(struct pfdd_nats_code *c)
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

enum pfdd_code_state pfdd_nats_code_step(struct pfdd_nats_code *c,
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
