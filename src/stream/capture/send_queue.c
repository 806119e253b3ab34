/* SPDX-License-Identifier: MIT */
#include "stream/capture/send_queue.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "stream/capture/wire.h"

static bool put_text(void *user, const void *bytes, size_t n)
{
    struct pfd_text *text = user;
    pfd_text_add(text, bytes, n);
    return !text->failed;
}

enum pfd_status pfd_queued_frame_new(const struct pfd_wire_frame *frame,
                                     bool start, struct pfd_queued_frame **ret,
                                     struct pfd_error *err)
{
    struct pfd_text text = { 0 };
    enum pfd_status status = PFD_OK;
    if (start)
        status = pfd_wire_write_start(put_text, &text);
    if (status == PFD_OK)
        status = pfd_wire_write(frame, put_text, &text, err);
    struct pfd_queued_frame *item =
        status == PFD_OK ? malloc(sizeof *item + text.n) : NULL;
    if (item) {
        *item = (struct pfd_queued_frame){ .n_users = 1, .n = text.n };
        memcpy(item->bytes, text.data, text.n);
        *ret = item;
    } else if (status == PFD_OK || status == PFD_ERR_STOPPED) {
        status = pfd_fail(err, PFD_ERR_NOMEM, PFD_NO_OFFSET, "out of memory");
    }
    pfd_text_free(&text);
    return status;
}

bool pfd_queued_frame_read(const struct pfd_queued_frame *item,
                           struct pfd_wire_reader *reader,
                           struct pfd_wire_frame *ret)
{
    struct pfd_text stream = { 0 };
    struct pfd_error err;
    size_t taken = 0;
    pfd_wire_write_start(put_text, &stream);
    pfd_text_add(&stream, item->bytes, item->n);
    bool ok = !stream.failed &&
              pfd_wire_reader_feed(reader, stream.data, stream.n, &taken,
                                   &err) == PFD_OK &&
              pfd_wire_reader_next(reader, ret, &err) == PFD_OK &&
              pfd_wire_reader_next(reader, ret, &err) == PFD_OK;
    pfd_text_free(&stream);
    return ok;
}

void pfd_queued_frame_drop(struct pfd_queued_frame *item)
{
    if (item && --item->n_users == 0)
        free(item);
}

void pfd_send_queue_init(struct pfd_send_queue *list)
{
    list->first = NULL;
    list->end = &list->first;
}

bool pfd_send_queue_add(struct pfd_send_queue *list,
                        struct pfd_queued_frame *item)
{
    struct pfd_send_queue_node *node = malloc(sizeof *node);
    if (!node)
        return false;
    *node = (struct pfd_send_queue_node){ .item = item };
    item->n_users++;
    *list->end = node;
    list->end = &node->next;
    return true;
}

void pfd_send_queue_remove_first(struct pfd_send_queue *list)
{
    struct pfd_send_queue_node *node = list->first;
    list->first = node->next;
    if (!list->first)
        list->end = &list->first;
    pfd_queued_frame_drop(node->item);
    free(node);
}
