/* SPDX-License-Identifier: MIT */
/*
 * A segment of the queue on disk, as what a daemon finds when it starts and
 * then delivers. The first byte says whether checksums are made right, so that
 * what is behind them is reached.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <printfdecode/wire.h>

#include "../system/daemon/made.h"
#include "base/log.h"
#include "core/base/crc32c.h"
#include "fuzz.h"
#include "spool/spool_reader.h"
#include "spool/spool_recovery.h"

static struct made made;
static char dir[] = "/tmp/fuzz-queue-XXXXXX";
static char path[PFDD_PATH];

static void clean_up(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", dir);
    if (system(command) != 0)
        perror(dir);
}

static void begin(void)
{
    char queue[64];
    FUZZ_CHECK(made_init(&made, FUZZ_ELF, FUZZ_DUMP, "buffer"));
    FUZZ_CHECK(mkdtemp(dir));
    snprintf(queue, sizeof queue, "%s/queue", dir);
    FUZZ_CHECK(mkdir(queue, 0700) == 0);
    pfdd_segment_path(dir, 1, path);
    pfdd_log_level(PFDD_ERROR);
    atexit(clean_up);
}

static void mend(uint8_t *bytes, size_t n)
{
    size_t at = PFDD_SEGMENT_HEADER;
    while (at + PFDD_SPOOL_RECORD_HEADER < n) {
        uint32_t length = 0;
        memcpy(&length, bytes + at, sizeof length);
        if (length == 0 || length > n - at - PFDD_SPOOL_RECORD_HEADER)
            return;
        uint32_t crc = pfd_crc32c(0, bytes + at + 8, 8 + length);
        memcpy(bytes + at + 4, &crc, sizeof crc);
        at += PFDD_SPOOL_RECORD_HEADER + length;
    }
}

static void write_segment(const uint8_t *data, size_t n)
{
    uint8_t *bytes = malloc(n + 1);
    FUZZ_CHECK(bytes);
    if (n)
        memcpy(bytes, data, n);
    if (n && data[0] == 'P')
        mend(bytes, n);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
    free(bytes);
}

static void changed(struct pfdd_spool_reader *spool_reader)
{
    (void)spool_reader;
}

static void render(struct pfdd_spool_reader *s, bool is_entries)
{
    uint64_t first = s->batch.first_seq;
    while (s->batch.n_chunks && first < s->batch.end_seq) {
        struct pfdd_rendered_block *p = pfdd_rendered_block_of(
            &s->of->render_cache, s->batch.chunks, s->batch.n_chunks,
            made.binding->strings, NULL, first, is_entries);
        FUZZ_CHECK(p);
        pfdd_rendered_block_render(p);
        pfdd_rendered_block_settle(p);
        FUZZ_CHECK(!p->has_failed && p->end > first &&
                   p->end <= s->batch.end_seq);
        FUZZ_CHECK(p->n == 0 || is_entries || p->text[p->n - 1] == '\n');
        first = p->end;
        pfdd_rendered_block_unref(p);
    }
}

/* What its entries need, but for code objects, of which there are none. */
static void tell(struct pfdd_spool_reader *s)
{
    const struct pfdd_spool_preamble_of of = {
        .dir = dir,
        .manifest = { s->batch.needs.number, 0 },
        .chunks = s->batch.chunks,
        .n = s->batch.n_chunks
    };
    struct pfd_text out = { 0 };
    bool done = false;
    FUZZ_CHECK(
        pfdd_spool_preamble_write(&s->spool_preamble, &of, &out, &done) &&
        done);
    pfd_text_free(&out);
}

static void deliver(struct pfdd_spool_recovery *spool_recovery)
{
    struct pfdd_spool_readers all = { .dir = dir };
    struct pfdd_spool_reader s;
    pfdd_render_cache_init(&all.render_cache, NULL, NULL, NULL, 0, 0);
    pfdd_spool_reader_init(&s, &all, 0, changed);
    while (pfdd_segments_next(&spool_recovery->segments, 0, &s.place.reader,
                              &s.place.todo)) {
        uint64_t at = s.place.reader.at;
        pfdd_spool_reader_fetch(&s);
        FUZZ_CHECK(!s.place.reader.error &&
                   s.place.reader.seq <= spool_recovery->last);
        FUZZ_CHECK(s.place.reader.at > at ||
                   s.place.reader.at == s.place.todo.end);
        render(&s, false);
        tell(&s);
        render(&s, true);
        pfdd_spool_reader_forget(&s);
    }
    pfdd_spool_reader_deinit(&s);
    pfdd_render_cache_deinit(&all.render_cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!made.writer)
        begin();
    struct pfdd_source_offsets source_offsets = { 0 };
    struct pfdd_spool_recovery spool_recovery = { .dir = dir,
                                                  .source_offsets =
                                                      &source_offsets };
    write_segment(data, n);
    spool_recovery.blob_store = pfdd_blob_store_open(dir);
    FUZZ_CHECK(spool_recovery.blob_store);
    pfdd_spool_recovery(&spool_recovery);
    pfdd_blob_store_tidy(spool_recovery.blob_store);
    deliver(&spool_recovery);
    pfdd_blob_store_free(spool_recovery.blob_store);
    pfdd_segments_deinit(&spool_recovery.segments);
    pfdd_source_offsets_deinit(&source_offsets);
    unlink(path);
    return 0;
}
