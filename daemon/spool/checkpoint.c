/* SPDX-License-Identifier: MIT */
#include "spool/checkpoint.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "spool/segment_files.h"

enum {
    VERSION = 1,
};

void pfdd_checkpoint_deinit(struct pfdd_checkpoint *c)
{
    json_decref(c->acked);
    pfdd_source_offsets_deinit(&c->source_offsets);
    *c = (struct pfdd_checkpoint){ 0 };
}

static void read_position(struct pfdd_source_offsets *source_offsets,
                          const char *source, const json_t *value)
{
    const char *file = json_string_value(json_object_get(value, "file"));
    const json_t *at = json_object_get(value, "at");
    struct pfdd_source_offset source_offset = {
        (uint64_t)json_integer_value(json_array_get(at, 0)),
        (uint64_t)json_integer_value(json_array_get(at, 1)),
        (uint64_t)json_integer_value(json_array_get(at, 2)),
    };
    struct pfdd_source_offset none;
    bool is_news = false;
    if (!file)
        return;
    pfdd_source_offsets_begin(source_offsets, source, file, &none, &is_news);
    if (json_array_size(at) == 3)
        pfdd_source_offsets_set(source_offsets, source, &source_offset);
}

void pfdd_checkpoint_read(const char *dir, struct pfdd_checkpoint *ret)
{
    char path[PFDD_PATH];
    const char *name = NULL;
    json_t *value = NULL;
    *ret = (struct pfdd_checkpoint){ 0 };
    /* Left by a process that was killed while writing it. */
    snprintf(path, sizeof path, "%.400s/checkpoint.part", dir);
    unlink(path);
    snprintf(path, sizeof path, "%.400s/checkpoint", dir);
    json_t *root = json_load_file(path, 0, NULL);
    if (!root && access(path, F_OK) == 0) {
        pfdd_log(PFDD_WARNING,
                 "%s: cannot be read: all of the queue is "
                 "delivered again",
                 path);
    }
    json_object_foreach(json_object_get(root, "sources"), name, value)
    {
        read_position(&ret->source_offsets, name, value);
    }
    ret->next_seq =
        (uint64_t)json_integer_value(json_object_get(root, "next_seq"));
    json_t *acked = json_object_get(root, "acked");
    ret->acked = json_is_object(acked) ? json_incref(acked) : NULL;
    json_decref(root);
}

static json_t *position_text(const struct pfdd_source_offsets_item *item)
{
    const struct pfdd_source_offset *p = &item->source_offset;
    if (!item->is_known)
        return json_pack("{s:s}", "file", item->file);
    return json_pack("{s:s,s:[I,I,I]}", "file", item->file, "at",
                     (json_int_t)p->generation, (json_int_t)p->index,
                     (json_int_t)p->offset);
}

char *pfdd_checkpoint_text(const struct pfdd_checkpoint *c)
{
    json_t *root =
        json_pack("{s:i,s:I,s:{},s:{}}", "version", VERSION, "next_seq",
                  (json_int_t)c->next_seq, "acked", "sources");
    json_t *sources = json_object_get(root, "sources");
    if (c->acked)
        json_object_update(json_object_get(root, "acked"), c->acked);
    for (size_t i = 0; i < c->source_offsets.n; i++) {
        const struct pfdd_source_offsets_item *item =
            &c->source_offsets.items[i];
        json_object_set_new(sources, item->source, position_text(item));
    }
    char *text = json_dumps(root, JSON_INDENT(1));
    json_decref(root);
    return text;
}

bool pfdd_checkpoint_write(const char *dir, const char *text)
{
    char path[PFDD_PATH];
    char partial[PFDD_PATH];
    snprintf(path, sizeof path, "%.400s/checkpoint", dir);
    snprintf(partial, sizeof partial, "%.400s/checkpoint.part", dir);
    int fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    bool ok = fd >= 0 && pfdd_write_at(fd, text, strlen(text), 0) &&
              fdatasync(fd) == 0;
    if (fd >= 0)
        ok = close(fd) == 0 && ok;
    if (!ok || rename(partial, path) != 0) {
        unlink(partial);
        return false;
    }
    pfdd_sync_dir(dir, "");
    return true;
}
