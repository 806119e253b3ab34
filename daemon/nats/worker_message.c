/* SPDX-License-Identifier: MIT */
#include "nats/worker_message.h"

#include <stdlib.h>

void pfdd_worker_message_free(struct pfdd_worker_message *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n_objects; i++) {
        free(p->objects[i].name);
        free(p->objects[i].bytes);
    }
    free(p->objects);
    free(p->bytes);
    free(p);
}
