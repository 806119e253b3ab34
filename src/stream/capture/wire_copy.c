/* SPDX-License-Identifier: MIT */
/* Copies of frames that outlive their readers. */
#include <stdlib.h>
#include <string.h>

#include "stream/capture/wire.h"

static struct pfd_wire_bytes text_of(const struct pfd_wire_frame *frame,
                                     size_t i)
{
    struct pfd_wire_bytes ret = { NULL, 0 };
    if (pfd_wire_keys[i].kind != PFD_WIRE_KEY_NUMBER) {
        memcpy(&ret, (const char *)frame + pfd_wire_keys[i].member, sizeof ret);
    }
    return ret;
}

static size_t count(const struct pfd_wire_frame *frame)
{
    size_t n = sizeof *frame + frame->n_labels * sizeof *frame->labels;
    for (size_t i = 0; i < pfd_wire_n_keys; i++)
        n += text_of(frame, i).n;
    for (size_t i = 0; i < frame->n_labels; i++)
        n += frame->labels[i].key.n + frame->labels[i].value.n;
    return n;
}

static struct pfd_wire_bytes put(char **at, struct pfd_wire_bytes bytes)
{
    struct pfd_wire_bytes ret = { bytes.n ? *at : NULL, bytes.n };
    if (bytes.n)
        memcpy(*at, bytes.at, bytes.n);
    *at += bytes.n;
    return ret;
}

struct pfd_wire_frame *pfd_wire_copy(const struct pfd_wire_frame *frame)
{
    struct pfd_wire_frame *ret = malloc(count(frame));
    if (!ret)
        return NULL;
    struct pfd_wire_label *labels = (struct pfd_wire_label *)(ret + 1);
    char *at = (char *)(labels + frame->n_labels);
    *ret = *frame;
    ret->labels = labels;
    for (size_t i = 0; i < frame->n_labels; i++) {
        labels[i].key = put(&at, frame->labels[i].key);
        labels[i].value = put(&at, frame->labels[i].value);
    }
    for (size_t i = 0; i < pfd_wire_n_keys; i++) {
        struct pfd_wire_bytes text = put(&at, text_of(frame, i));
        if (pfd_wire_keys[i].kind != PFD_WIRE_KEY_NUMBER)
            memcpy((char *)ret + pfd_wire_keys[i].member, &text, sizeof text);
    }
    return ret;
}
