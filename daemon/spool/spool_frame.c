/* SPDX-License-Identifier: MIT */
#include "spool/spool_frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/lines.h>
#include <printfdecode/wire.h>

#include "core/output/lines.h"
#include "stream/capture/wire.h"

enum {
    ITEM_MIN = 8, /* bytes of an item in a chunk, at least */
};

/* As on disk, little-endian. */
struct disk_head {
    uint32_t place;
    uint32_t n_objects;
    uint64_t stock;
    uint64_t time;
    uint64_t generation;
    uint64_t index;
    uint64_t offset;
    uint32_t n[PFDD_N_KINDS];
    uint32_t last_bytes;
};

static_assert(sizeof(struct disk_head) == PFDD_SPOOL_RECORD_CHUNK,
              "no padding");

void pfdd_spool_record_put(char ret[PFDD_SPOOL_RECORD_CHUNK],
                           const struct pfdd_spool_record_head *head)
{
    const struct pfdd_contents *c = &head->contents;
    struct disk_head disk = {
        .place = head->place,
        .n_objects = head->manifest.n,
        .stock = head->manifest.number,
        .time = head->time,
        .generation = c->generation,
        .index = c->last.index,
        .offset = c->last.offset,
        .last_bytes = c->last_bytes,
    };
    memcpy(disk.n, c->n, sizeof disk.n);
    memcpy(ret, &disk, sizeof disk);
}

uint32_t pfdd_spool_record_items(const struct pfdd_spool_record_head *head)
{
    const uint32_t *n = head->contents.n;
    return n[PFDD_ENTRY] + n[PFDD_FINDING] + n[PFDD_GAP];
}

bool pfdd_spool_record_get(const char *bytes, size_t n,
                           struct pfdd_spool_record_head *ret)
{
    struct disk_head disk;
    uint64_t n_items = 0;
    if (n <= sizeof disk)
        return false;
    memcpy(&disk, bytes, sizeof disk);
    *ret = (struct pfdd_spool_record_head){
        .place = disk.place,
        .manifest = { disk.stock, disk.n_objects },
        .time = disk.time,
        .contents = { .generation = disk.generation,
                      .last = { .generation = disk.generation,
                                .index = disk.index,
                                .offset = disk.offset },
                      .last_bytes = disk.last_bytes },
    };
    for (unsigned i = 0; i < PFDD_N_KINDS; i++) {
        ret->contents.n[i] = disk.n[i];
        n_items += disk.n[i];
    }
    return disk.place < PFDD_PLACES && n_items &&
           n_items <= (n - sizeof disk) / ITEM_MIN;
}

/* ---- buffers ---- */

struct bytes {
    char *at; /* [n] */
    size_t n;
};

static bool gather(void *user, const void *bytes, size_t n)
{
    struct bytes *b = user;
    char *more = malloc(b->n + n + 1);
    if (!more)
        return false;
    if (b->n)
        memcpy(more, b->at, b->n);
    if (n)
        memcpy(more + b->n, bytes, n);
    free(b->at);
    b->at = more;
    b->n += n;
    return true;
}

char *pfdd_spool_record_of_buffer(const struct pfdd_buffer *buffer,
                                  uint32_t place, size_t *n)
{
    const char head[PFDD_SPOOL_RECORD_PLACE] = { (char)place };
    struct bytes b = { 0 };
    if (!gather(&b, head, sizeof head) ||
        pfd_wire_write(buffer->frame, gather, &b, NULL) != PFD_OK) {
        free(b.at);
        return NULL;
    }
    *n = b.n;
    return b.at;
}

static void set_option(struct pfd_options *options, const char *name,
                       const struct pfd_wire_bytes *word)
{
    char text[PFD_OPTION_TEXT];
    if (word->n == 0 || word->n >= sizeof text)
        return;
    memcpy(text, word->at, word->n);
    text[word->n] = '\0';
    /* Ignores a word of a newer version; older versions did the same. */
    (void)pfd_options_set(options, name, text, NULL);
}

static char *copy_name(const struct pfd_wire_bytes *name)
{
    char *ret = malloc(name->n + 1);
    if (!ret)
        return NULL;
    if (name->n)
        memcpy(ret, name->at, name->n);
    ret[name->n] = '\0';
    return ret;
}

static struct pfdd_buffer *make_buffer(const struct pfd_wire_frame *frame)
{
    struct pfd_lines *lines = NULL;
    struct pfd_options options = { 0 };
    struct pfdd_buffer *ret = NULL;
    char *name = copy_name(&frame->name);
    set_option(&options, "layout", &frame->layout);
    set_option(&options, "compat", &frame->compat);
    set_option(&options, "opencl-strings", &frame->opencl_strings);
    set_option(&options, "kernel", &frame->kernel);
    if (name && pfd_lines_new("json", false, true, &lines, NULL) == PFD_OK &&
        pfd_lines_set_origin(lines, frame) == PFD_OK) {
        struct pfdd_buffer_options said = {
            .name = name,
            .frame = frame,
            .origin = pfd_lines_origin_members(lines),
            .scope = frame->scope,
            .options = &options,
        };
        ret = pfdd_buffer_new(&said);
    }
    pfd_lines_free(lines);
    free(name);
    return ret;
}

/* Reads the frame; it comes behind a start, as a frame alone is no stream. */
static enum pfd_status read_frame(struct pfd_wire_reader *reader,
                                  const struct bytes *stream,
                                  struct pfd_wire_frame *ret)
{
    size_t at = 0;
    enum pfd_status status = PFD_MORE;
    do {
        size_t taken = 0;
        if (pfd_wire_reader_feed(reader, stream->at + at, stream->n - at,
                                 &taken, NULL) != PFD_OK)
            return PFD_ERR_NOMEM;
        at += taken;
        status = pfd_wire_reader_next(reader, ret, NULL);
    } while ((status == PFD_OK && ret->type == PFD_WIRE_START) ||
             (status == PFD_MORE && at < stream->n));
    return status;
}

struct pfdd_buffer *pfdd_spool_record_buffer(const char *bytes, size_t n,
                                             uint32_t *place, bool *no_memory)
{
    struct pfd_wire_frame frame;
    struct bytes stream = { 0 };
    struct pfdd_buffer *ret = NULL;
    enum pfd_status status = PFD_ERR_NOMEM;
    *no_memory = false;
    if (n <= PFDD_SPOOL_RECORD_PLACE)
        return NULL;
    *place = (uint8_t)bytes[0];
    struct pfd_wire_reader *reader = pfd_wire_reader_new(0);
    if (reader && pfd_wire_write_start(gather, &stream) == PFD_OK &&
        gather(&stream, bytes + PFDD_SPOOL_RECORD_PLACE,
               n - PFDD_SPOOL_RECORD_PLACE))
        status = read_frame(reader, &stream, &frame);
    if (status == PFD_OK && frame.type == PFD_WIRE_BUFFER)
        ret = make_buffer(&frame);
    *no_memory = status == PFD_ERR_NOMEM ||
                 (status == PFD_OK && frame.type == PFD_WIRE_BUFFER && !ret);
    pfd_wire_reader_free(reader);
    free(stream.at);
    return ret;
}
