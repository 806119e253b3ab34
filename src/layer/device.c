/* SPDX-License-Identifier: MIT */
#include "device.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "string_files.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct instance *instances;
static struct device *devices;
static atomic_uint n_devices;
static atomic_uint n_removed; /* devices so far: what threads remember of before
                                 is void */

/* Queues and command buffers begin with a pointer to their device's loader
 * table; so do instances and physical devices with the instance's. */
static const void *handle_map_of(const void *handle)
{
    return *(const void *const *)handle;
}

struct instance *instance_of(const void *handle)
{
    pthread_rwlock_rdlock(&lock);
    struct instance *i = instances;
    while (i && handle_map_of(i->handle) != handle_map_of(handle))
        i = i->next;
    pthread_rwlock_unlock(&lock);
    return i;
}

static struct device *find_device(const void *map)
{
    pthread_rwlock_rdlock(&lock);
    struct device *d = devices;
    while (d && handle_map_of(d->handle) != map)
        d = d->next_device;
    pthread_rwlock_unlock(&lock);
    return d;
}

/* glibc has room for a few bytes that need no call; other C libraries open no
 * such layer. */
#ifdef __GLIBC__
#define NEAR __attribute__((tls_model("initial-exec")))
#else
#define NEAR
#endif

/* Each thread remembers the device that it used last: this is called for each
 * command of a program. */
struct device *device_of(const void *handle)
{
    static _Thread_local NEAR struct {
        const void *map;
        struct device *device;
        unsigned n_removed;
    } last;
    const void *map = handle_map_of(handle);
    unsigned now = atomic_load_explicit(&n_removed, memory_order_acquire);
    if (last.map == map && last.n_removed == now)
        return last.device;
    last.device = find_device(map);
    last.map = last.device ? map : NULL;
    last.n_removed = now;
    return last.device;
}

void instance_add(struct instance *instance)
{
    pthread_rwlock_wrlock(&lock);
    instance->next = instances;
    instances = instance;
    pthread_rwlock_unlock(&lock);
}

void instance_remove(struct instance *instance)
{
    pthread_rwlock_wrlock(&lock);
    struct instance **at = &instances;
    while (*at && *at != instance)
        at = &(*at)->next;
    if (*at)
        *at = instance->next;
    pthread_rwlock_unlock(&lock);
    free(instance);
}

static void load(struct device *d, PFN_vkGetDeviceProcAddr next)
{
    d->next.GetDeviceProcAddr = next;
#define LOAD(name, twin)                                      \
    d->next.name = (PFN_vk##name)next(d->handle, "vk" #name); \
    if (!d->next.name)                                        \
        d->next.name = (PFN_vk##name)next(d->handle, "vk" #twin);
    LAYER_FUNCTIONS(LOAD)
#undef LOAD
}

struct device *device_new(struct instance *instance, VkDevice handle,
                          PFN_vkGetDeviceProcAddr next)
{
    struct device *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->frame_output = frame_output_new(atomic_fetch_add(&n_devices, 1) + 1);
    if (!d->frame_output) {
        free(d);
        return NULL;
    }
    d->instance = instance;
    d->handle = handle;
    d->submissions.last = &d->submissions.first;
    d->modules.last = &d->modules.first;
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->own_queues.lock, NULL);
    load(d, next);
    string_files_send(d->frame_output);
    return d;
}

void device_add(struct device *device)
{
    pthread_rwlock_wrlock(&lock);
    device->next_device = devices;
    devices = device;
    pthread_rwlock_unlock(&lock);
}

struct buffer *device_buffer(const struct device *d, const struct use *use)
{
    struct buffer *b = handle_map_find(&d->objects.buffers, KEY(use->buffer));
    return b && b->serial == use->serial ? b : NULL;
}

static void free_device(struct device *d)
{
    frame_output_free(d->frame_output);
    pthread_mutex_destroy(&d->own_queues.lock);
    pthread_mutex_destroy(&d->lock);
    free(d->scratch.bytes);
    free(d);
}

void device_remove(struct device *device, const struct device_end *ends,
                   size_t n)
{
    pthread_mutex_lock(&device->lock);
    for (size_t i = 0; i < n; i++) {
        if (ends[i].finish)
            ends[i].finish(device);
    }
    pthread_mutex_unlock(&device->lock);
    pthread_rwlock_wrlock(&lock);
    struct device **at = &devices;
    while (*at && *at != device)
        at = &(*at)->next_device;
    if (*at)
        *at = device->next_device;
    pthread_rwlock_unlock(&lock);
    atomic_fetch_add(&n_removed, 1);
    for (size_t i = 0; i < n; i++) {
        if (ends[i].forget)
            ends[i].forget(device);
    }
    free_device(device);
}
