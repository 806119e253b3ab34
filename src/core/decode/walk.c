/* SPDX-License-Identifier: MIT */
#include "core/decode/walk.h"

#include <stdlib.h>
#include <string.h>

bool pfd_walk_init(struct pfd_walk *walk, const struct pfd_format *format,
                   const struct pfd_strings *strings,
                   const struct pfd_options *options)
{
    *walk = (struct pfd_walk){ .options = options };
    walk->table = pfd_strings_table(strings, &format->strings);
    walk->shader_table = pfd_strings_shaders(strings);
    walk->has_collisions = walk->table->has_collisions;
    size_t more = walk->has_collisions ? format->collisions_size : 0;
    walk->state = calloc(1, format->state_size + more + 1);
    return walk->state != NULL;
}

void pfd_walk_deinit(struct pfd_walk *walk)
{
    free(walk->state);
}

bool pfd_record_batch_init(struct pfd_record_batch *batch, size_t max)
{
    *batch = (struct pfd_record_batch){ .max = max };
    batch->records = malloc(max * sizeof *batch->records);
    return batch->records != NULL;
}

bool pfd_record_batch_init_places(struct pfd_record_batch *batch)
{
    batch->places = calloc(batch->max, sizeof *batch->places);
    return batch->places != NULL;
}

bool pfd_record_batch_init_counts(struct pfd_record_batch *batch,
                                  size_t n_counts)
{
    batch->counts = calloc(n_counts, sizeof *batch->counts);
    batch->n_counts = n_counts;
    return batch->counts != NULL;
}

void pfd_record_batch_deinit(struct pfd_record_batch *batch)
{
    free(batch->records);
    free(batch->counts);
    free(batch->places);
    free(batch->copies);
    pfd_text_free(&batch->text);
    pfd_text_free(&batch->bytes);
}

void pfd_record_batch_clear(struct pfd_record_batch *batch)
{
    batch->n = 0;
    batch->n_others = 0;
    if (batch->n_counted)
        memset(batch->counts, 0, batch->n_counts * sizeof *batch->counts);
    batch->n_counted = 0;
    batch->text.n = 0;
    batch->bytes.n = 0;
    batch->n_copies = 0;
    batch->lost_bytes = 0;
    batch->skipped_bytes = 0;
}

struct pfd_finding pfd_record_batch_finding(
    const struct pfd_record_batch *batch, const struct pfd_record *record,
    const char *source, char *sentence, size_t n)
{
    size_t length = record->n_bytes < n ? record->n_bytes : n - 1;
    if (length)
        memcpy(sentence, batch->text.data + record->key, length);
    sentence[length] = '\0';
    return (struct pfd_finding){
        .kind = (enum pfd_finding_kind)record->layout,
        .offset = record->offset,
        .index = PFD_NO_INDEX,
        .in_buffer = true,
        .source = source,
        .text = sentence,
    };
}
