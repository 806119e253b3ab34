/* SPDX-License-Identifier: MIT */
#include "nats/nats_upload.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

enum {
    PIECE_MIN = 1024,
};

/* A piece of a code object or list. */
struct piece {
    const char *digest;
    const char *place; /* the edge's own, or "" */
    size_t i;
    const char *bytes; /* [n] */
    size_t n;
};

/* The contents of the subject that a piece belongs to. */
enum stored {
    LYING_NOTHING,
    LYING_IT,
    LYING_ELSE,   /* other data */
    LYING_UNSURE, /* no answer now */
};

static bool failed_to_store(struct pfdd_nats_upload *e, natsStatus s)
{
    char said[PFD_NATS_FAILURE];
    pfd_nats_failure(e->line->nc, s, natsStatus_GetText(s), said);
    snprintf(e->line->why, sizeof e->line->why,
             "a code object cannot be stored: %.200s", said);
    return false;
}

static enum stored look_at(struct pfdd_nats_upload *e, const struct piece *p)
{
    char subject[PFDD_SUBJECT];
    struct pfd_stored_message m;
    pfdd_code_subject(p->digest, p->place, p->i, subject);
    natsStatus s =
        pfd_stored_message_last(e->line->nc, PFDD_CODE_STREAM, subject, &m);
    enum stored ret = LYING_ELSE;
    if (s == NATS_NOT_FOUND) {
        ret = LYING_NOTHING;
    } else if (s != NATS_OK) {
        failed_to_store(e, s);
        ret = LYING_UNSURE;
    } else if (m.n == p->n && !memcmp(m.bytes, p->bytes, m.n)) {
        ret = LYING_IT;
    }
    pfd_stored_message_deinit(&m);
    return ret;
}

static enum stored put(struct pfdd_nats_upload *e, const struct piece *p)
{
    char subject[PFDD_SUBJECT];
    jsErrCode code = 0;
    pfdd_code_subject(p->digest, p->place, p->i, subject);
    natsStatus s = js_Publish(NULL, e->line->js, subject, p->bytes, (int)p->n,
                              NULL, &code);
    if (s == NATS_OK)
        return LYING_IT;
    /* Another edge has stored it meanwhile, or other data. */
    if (code == JSStreamStoreFailedErr)
        return look_at(e, p);
    failed_to_store(e, s);
    e->is_never =
        s == NATS_MAX_PAYLOAD || code == JSStreamMessageExceedsMaximumErr;
    return LYING_UNSURE;
}

/* Edges at servers with one limit have the same pieces. */
static size_t piece_bytes(const struct pfdd_nats_upload *e)
{
    size_t max = pfdd_nats_room(e->line);
    size_t n = PFDD_CODE_PIECE;
    while (max && n > PIECE_MIN && n > max)
        n /= 2;
    return n;
}

/* size: bytes of each piece but the last. */
static struct piece piece_of(const char *digest, const char *place, size_t i,
                             const char *bytes, size_t n, size_t size)
{
    size_t at = i * size;
    size_t left = n - at;
    return (struct piece){ digest, place, i, bytes + at,
                           left < size ? left : size };
}

/* Stores bytes [n] as pieces under their digest. Unless is_doubtful, all are
 * stored if the last one is. LYING_ELSE: a subject has other data. */
static enum stored put_pieces(struct pfdd_nats_upload *e, const char *digest,
                              const char *place, const char *bytes, size_t n)
{
    size_t size = piece_bytes(e);
    size_t n_pieces = (n + size - 1) / size;
    struct piece last = piece_of(digest, place, n_pieces - 1, bytes, n, size);
    enum stored stored = look_at(e, &last);
    if (stored == LYING_IT && !e->is_doubtful)
        return stored;
    bool is_new = stored == LYING_NOTHING && !e->is_doubtful;
    if (stored == LYING_NOTHING)
        stored = LYING_IT;
    for (size_t i = 0; i < n_pieces && stored == LYING_IT; i++) {
        struct piece p = piece_of(digest, place, i, bytes, n, size);
        stored = is_new ? LYING_NOTHING : look_at(e, &p);
        if (stored == LYING_NOTHING)
            stored = put(e, &p);
    }
    return stored;
}

/* Makes a random name, which is unknown to others until our pieces are
 * stored. */
static void make_place(struct pfdd_nats_upload *e)
{
    unsigned char bytes[(PFDD_PLACE - 1) / 2] = { 0 };
    (void)!getrandom(bytes, sizeof bytes, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        sprintf(e->place + 2 * i, "%02x", bytes[i]);
}

bool pfdd_nats_upload_put(struct pfdd_nats_upload *e, const char *digest,
                          const char *bytes, size_t n)
{
    e->is_never = false;
    enum stored stored = put_pieces(e, digest, "", bytes, n);
    if (stored != LYING_ELSE)
        return stored == LYING_IT;
    if (!*e->place)
        make_place(e);
    e->uses_place = true;
    stored = put_pieces(e, digest, e->place, bytes, n);
    if (stored != LYING_ELSE)
        return stored == LYING_IT;
    snprintf(e->line->why, sizeof e->line->why,
             "something else lies where a code object of ours should be");
    *e->place = '\0';
    return false;
}
