/* SPDX-License-Identifier: MIT */
#include "stream/pipeline/ordered_output.h"

#include <stdlib.h>

#include "core/base/thread.h"

bool pfd_ordered_output_init(struct pfd_ordered_output *o, size_t n_slots,
                             void (*write)(void *user, void *product),
                             void *user)
{
    *o = (struct pfd_ordered_output){ .write = write,
                                      .user = user,
                                      .n_slots = n_slots };
    pfd_mutex_init_short(&o->lock);
    for (size_t i = 0; i < PFD_ORDERED_OUTPUT_TURNS; i++)
        pthread_cond_init(&o->turned[i], NULL);
    o->slots = calloc(n_slots + 1, sizeof *o->slots);
    return o->slots;
}

void pfd_ordered_output_deinit(struct pfd_ordered_output *o)
{
    for (size_t i = 0; i < PFD_ORDERED_OUTPUT_TURNS; i++)
        pthread_cond_destroy(&o->turned[i]);
    pthread_mutex_destroy(&o->lock);
    free(o->slots);
}

static pthread_cond_t *turn_of(struct pfd_ordered_output *o, uint64_t number)
{
    return &o->turned[number % PFD_ORDERED_OUTPUT_TURNS];
}

/* With the lock: the product in the slot of the number that has its turn. NULL:
 * it is not ready. */
static void *take_ready(struct pfd_ordered_output *o)
{
    struct pfd_ordered_slot *slot =
        o->n_slots ? &o->slots[o->n_written % o->n_slots] : NULL;
    if (!slot || !slot->is_ready)
        return NULL;
    slot->is_ready = false;
    return slot->product;
}

/* With the lock, which is released meanwhile. */
static void write_one(struct pfd_ordered_output *o, void *product)
{
    pthread_mutex_unlock(&o->lock);
    o->write(o->user, product);
    pthread_mutex_lock(&o->lock);
    o->n_written++;
    pthread_cond_broadcast(turn_of(o, o->n_written));
}

/* Likewise: a product, and those behind it that are ready. */
static void write_on(struct pfd_ordered_output *o, void *product)
{
    write_one(o, product);
    while (!o->is_stopped && (product = take_ready(o))) {
        write_one(o, product);
        /* The last number that has a slot now. */
        pthread_cond_broadcast(turn_of(o, o->n_written + o->n_slots - 1));
    }
}

static bool has_place(const struct pfd_ordered_output *o, uint64_t number,
                      bool slot_will_do)
{
    return number == o->n_written ||
           (slot_will_do && number - o->n_written < o->n_slots);
}

void *pfd_ordered_output_put(struct pfd_ordered_output *o, uint64_t number,
                             void *product, bool slot_will_do)
{
    pthread_mutex_lock(&o->lock);
    while (!o->is_stopped && !has_place(o, number, slot_will_do))
        pthread_cond_wait(turn_of(o, number), &o->lock);
    if (!o->is_stopped && number == o->n_written) {
        write_on(o, product);
    } else if (!o->is_stopped) {
        struct pfd_ordered_slot *slot = &o->slots[number % o->n_slots];
        void *empty = slot->product;
        *slot = (struct pfd_ordered_slot){ product, true };
        product = empty;
    }
    pthread_mutex_unlock(&o->lock);
    return product;
}

bool pfd_ordered_output_has(struct pfd_ordered_output *o, uint64_t number)
{
    pthread_mutex_lock(&o->lock);
    bool ret = o->n_written >= number;
    pthread_mutex_unlock(&o->lock);
    return ret;
}

void pfd_ordered_output_await(struct pfd_ordered_output *o, uint64_t number)
{
    pthread_mutex_lock(&o->lock);
    while (!o->is_stopped && o->n_written < number)
        pthread_cond_wait(turn_of(o, number), &o->lock);
    pthread_mutex_unlock(&o->lock);
}

void pfd_ordered_output_stop(struct pfd_ordered_output *o)
{
    pthread_mutex_lock(&o->lock);
    o->is_stopped = true;
    for (size_t i = 0; i < PFD_ORDERED_OUTPUT_TURNS; i++)
        pthread_cond_broadcast(&o->turned[i]);
    pthread_mutex_unlock(&o->lock);
}
