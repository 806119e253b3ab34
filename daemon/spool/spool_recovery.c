/* SPDX-License-Identifier: MIT */
#include "spool/spool_recovery.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "base/log.h"
#include "spool/spool_reader.h"

/* A walk through one segment. */
struct walk {
    struct pfdd_spool_recovery *of;
    struct pfdd_segment_reader reader;
    struct pfdd_segment segment;
    char *names[PFDD_PLACES]; /* of buffers, owned */
    uint64_t end;             /* offset behind the last readable record */
};

static void note_line(struct walk *w)
{
    static const char entry[] = "{\"type\":\"entry\"";
    const char *line = w->reader.bytes;
    size_t n = w->reader.n;
    struct pfdd_source_offset source_offset;
    if (n < sizeof entry || memcmp(line, entry, sizeof entry - 1) != 0 ||
        !pfdd_source_offset_find(line, n, &source_offset))
        return;
    /* Arguments may be larger than jansson's integers. */
    json_t *root = json_loadb(line, n, JSON_DECODE_INT_AS_REAL, NULL);
    const char *source = json_string_value(json_object_get(root, "source"));
    if (source)
        pfdd_source_offsets_advance(w->of->source_offsets, source,
                                    &source_offset);
    json_decref(root);
}

static void note_buffer(struct walk *w)
{
    uint32_t place = 0;
    bool no_memory = false;
    struct pfdd_buffer *b = pfdd_spool_record_buffer(
        w->reader.bytes, w->reader.n, &place, &no_memory);
    if (!b)
        return;
    free(w->names[place]);
    char key[PFDD_BUFFER_KEY];
    pfdd_buffer_key(b, key);
    w->names[place] = strdup(key);
    pfdd_buffer_unref(b);
}

/* The number of its last item; 0: malformed. */
static uint64_t note_chunk(struct walk *w)
{
    struct pfdd_spool_record_head head;
    if (!pfdd_spool_record_get(w->reader.bytes, w->reader.n, &head))
        return 0;
    pfdd_blob_store_use(w->of->blob_store, w->segment.first,
                        head.manifest.number);
    if (head.contents.n[PFDD_ENTRY] && w->names[head.place]) {
        pfdd_source_offsets_advance(w->of->source_offsets, w->names[head.place],
                                    &head.contents.last);
    }
    return w->reader.number + pfdd_spool_record_items(&head) - 1;
}

static void note_record(struct walk *w)
{
    uint64_t number = w->reader.number;
    uint64_t last = 0;
    if (number > PFDD_SEQUENCE_MAX)
        return; /* invalid */
    if (w->reader.version == PFDD_SEGMENT_LINES) {
        note_line(w);
        last = number;
    } else if (number) {
        last = note_chunk(w);
    } else {
        note_buffer(w);
    }
    if (last > w->of->last)
        w->of->last = last;
}

/* Counts a cut-off record. Zeros are preallocated space. */
static void count_rest(struct walk *w)
{
    uint32_t rest = 0;
    if (pread(w->reader.fd, &rest, sizeof rest, (off_t)w->end) ==
            (ssize_t)sizeof rest &&
        rest)
        w->of->cut += w->segment.end - w->end;
}

static void walk(struct walk *w)
{
    struct pfdd_segment_reader *r = &w->reader;
    w->end = PFDD_SEGMENT_HEADER;
    while (pfdd_segment_peek(r, &w->segment)) {
        note_record(w);
        pfdd_segment_step(r);
        w->end = r->at;
    }
    count_rest(w);
    for (unsigned i = 0; i < PFDD_PLACES; i++) {
        free(w->names[i]);
        w->names[i] = NULL;
    }
}

/* Segments of a newer version are left for it. */
static void refuse(const struct walk *w, const char *path)
{
    if (w->reader.error) {
        pfdd_log(PFDD_ERROR, "%s: %s: left alone", path,
                 strerror(w->reader.error));
    } else if (w->reader.version) {
        pfdd_log(PFDD_ERROR,
                 "%s: a segment of version %u, which this printfdecoded does "
                 "not know: left alone",
                 path, w->reader.version);
    } else {
        pfdd_log(PFDD_WARNING, "%s: no segment of a queue: removed", path);
        unlink(path);
    }
}

static void keep(struct walk *w, const char *path)
{
    struct pfdd_segments *segments = &w->of->segments;
    if (w->end <= PFDD_SEGMENT_HEADER && !w->reader.error) {
        unlink(path);
        return;
    }
    if (w->reader.error) {
        pfdd_log(PFDD_ERROR, "%s: %s: not read any further", path,
                 strerror(w->reader.error));
    } else if (truncate(path, (off_t)w->end) != 0) {
        pfdd_log(PFDD_WARNING, "%s: %s", path, strerror(errno));
    }
    (void)pfdd_segments_add(segments, w->segment.first, w->end);
}

void pfdd_spool_recovery(struct pfdd_spool_recovery *spool_recovery)
{
    char path[PFDD_PATH];
    size_t n = 0;
    uint64_t *firsts = pfdd_segments_find(spool_recovery->dir, &n);
    for (size_t i = 0; i < n; i++) {
        struct stat st;
        struct walk w = { .of = spool_recovery };
        pfdd_segment_reader_init(&w.reader, 0);
        pfdd_segment_path(spool_recovery->dir, firsts[i], path);
        w.segment.first = firsts[i];
        w.segment.end = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
        /* A new reader counts as being in segment 0: make pfdd_segment_enter()
         * see a change. */
        w.reader.segment = firsts[i] + 1;
        if (pfdd_segment_enter(&w.reader, spool_recovery->dir, &w.segment)) {
            walk(&w);
            keep(&w, path);
        } else {
            refuse(&w, path);
        }
        pfdd_segment_reader_deinit(&w.reader);
    }
    free(firsts);
    if (spool_recovery->cut) {
        pfdd_log(PFDD_WARNING,
                 "queue: %" PRIu64 " bytes could not be read and were cut off",
                 spool_recovery->cut);
    }
}
