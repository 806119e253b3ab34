/* SPDX-License-Identifier: MIT */
#include "spool/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "spool/state_dir.h"

enum {
    VERSION = 1,
    FILE_MAX = 256 << 20,
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
        /* These two are missing in older ones: 0. */
        (uint64_t)json_integer_value(json_array_get(at, 3)),
        (uint64_t)json_integer_value(json_array_get(at, 4)),
    };
    struct pfdd_source_offset none;
    bool is_news = false;
    if (!file)
        return;
    pfdd_source_offsets_begin(source_offsets, source, file, &none, &is_news);
    if (json_array_size(at) == 3 || json_array_size(at) == 5)
        pfdd_source_offsets_set(source_offsets, source, &source_offset);
}

void pfdd_checkpoint_read(const char *dir, struct pfdd_checkpoint *ret)
{
    char path[PFDD_PATH];
    char why[PFDD_STATE_WHY];
    const char *name = NULL;
    json_t *value = NULL;
    *ret = (struct pfdd_checkpoint){ 0 };
    /* Left by a process that was killed while writing it. */
    snprintf(path, sizeof path, "%.400s/checkpoint" PFDD_PART, dir);
    unlink(path);
    snprintf(path, sizeof path, "%.400s/checkpoint", dir);
    size_t n = 0;
    char *text = pfdd_state_file_read(path, FILE_MAX, &n, why);
    bool is_missing = !text && errno == ENOENT;
    json_t *root = text ? json_loadb(text, n, 0, NULL) : NULL;
    free(text);
    if (!root && !is_missing) {
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
    return json_pack("{s:s,s:[I,I,I,I,I]}", "file", item->file, "at",
                     (json_int_t)p->generation, (json_int_t)p->index,
                     (json_int_t)p->offset, (json_int_t)p->n_bytes,
                     (json_int_t)p->check);
}

uint64_t pfdd_checkpoint_acked(const struct pfdd_checkpoint *c,
                               const char *name)
{
    return (uint64_t)json_integer_value(json_object_get(c->acked, name));
}

void pfdd_checkpoint_set_acked(struct pfdd_checkpoint *c, const char *name,
                               uint64_t acked)
{
    if (!c->acked)
        c->acked = json_object();
    json_object_set_new(c->acked, name, json_integer((json_int_t)acked));
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
    return pfdd_state_file_replace(dir, "", "checkpoint", text, strlen(text));
}
