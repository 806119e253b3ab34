/* SPDX-License-Identifier: MIT */
#include "nats/nats_edge_code.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "spool/manifest.h"

static char *read_whole(const char *path, size_t n)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = NULL;
    if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size == n)
        bytes = malloc(n);
    for (size_t at = 0; bytes && at < n;) {
        ssize_t got = pread(fd, bytes + at, n - at, (off_t)at);
        if (got <= 0) {
            free(bytes);
            bytes = NULL;
        } else {
            at += (size_t)got;
        }
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

enum sent {
    SENT,
    SENT_NOT,   /* not now: try again */
    SENT_NEVER, /* it cannot be read, or the servers cannot take it: workers show
                   unknown ids */
};

static enum sent send_object(struct pfdd_nats_edge_code *e,
                             const struct pfdd_manifest_item *item)
{
    char path[PFDD_PATH];
    char digest[PFDD_SHA256_TEXT];
    pfdd_manifest_object_path(e->dir, item->digest, "", path);
    char *bytes = read_whole(path, item->n);
    if (!bytes) {
        pfdd_log(PFDD_ERROR, "%s: cannot be read: workers go without it", path);
        return SENT_NEVER;
    }
    pfdd_sha256_text(item->digest, digest);
    bool ok = pfdd_nats_upload_put(&e->pieces, digest, bytes, item->n);
    free(bytes);
    if (ok || !e->pieces.is_never)
        return ok ? SENT : SENT_NOT;
    pfdd_log(PFDD_ERROR, "nats: '%.200s': %s: workers go without it",
             item->name, e->pieces.line->why);
    return SENT_NEVER;
}

static bool send_list(struct pfdd_nats_edge_code *e,
                      struct pfdd_manifest_list *list,
                      char digest[PFDD_SHA256_TEXT])
{
    uint8_t sum[PFDD_SHA256_BYTES];
    size_t n = 0;
    e->pieces.uses_place = false;
    struct pfdd_manifest_list rest = *list;
    rest.items = calloc(list->n + 1, sizeof *rest.items);
    enum sent sent = rest.items ? SENT : SENT_NOT;
    for (size_t i = 0; i < list->n && sent != SENT_NOT; i++) {
        sent = send_object(e, &list->items[i]);
        if (sent == SENT)
            rest.items[n++] = list->items[i];
    }
    rest.n = n;
    char *text = sent != SENT_NOT ? pfdd_manifest_text(&rest) : NULL;
    free(rest.items);
    if (!text)
        return false;
    pfdd_sha256(text, strlen(text), sum);
    pfdd_sha256_text(sum, digest);
    bool ok = pfdd_nats_upload_put(&e->pieces, digest, text, strlen(text));
    free(text);
    return ok;
}

static const struct pfdd_known_code *find_known(
    const struct pfdd_nats_edge_code *e, const struct pfdd_manifest *manifest)
{
    for (size_t i = e->n; i > 0; i--) {
        const struct pfdd_known_code *k = &e->known[i - 1];
        if (k->manifest.number == manifest->number &&
            k->manifest.n == manifest->n)
            return k;
    }
    return NULL;
}

/* Stores a manifest's list and code objects, unless they are known to be
 * stored. NULL: failed, try again later. */
const struct pfdd_known_code *pfdd_nats_edge_code_send(
    struct pfdd_nats_edge_code *e, const struct pfdd_manifest *manifest)
{
    struct pfdd_manifest_list list;
    char why[PFDD_STATE_WHY];
    const struct pfdd_known_code *k = find_known(e, manifest);
    if (k)
        return k;
    if (e->n == PFDD_KNOWN_CODES)
        e->n = 0;
    if (!pfdd_manifest_read(e->dir, manifest->number, &list, why)) {
        snprintf(e->pieces.line->why, sizeof e->pieces.line->why,
                 "the list of code objects %" PRIu64 ": %s", manifest->number,
                 why);
        return NULL;
    }
    size_t n = list.n;
    list.n = manifest->n < n ? manifest->n : n;
    struct pfdd_known_code *new = &e->known[e->n];
    new->manifest = *manifest;
    bool ok = send_list(e, &list, new->digest);
    list.n = n;
    pfdd_manifest_list_deinit(&list);
    e->n += ok;
    snprintf(new->place, sizeof new->place, "%s",
             e->pieces.uses_place ? e->pieces.place : "");
    return ok ? new : NULL;
}
