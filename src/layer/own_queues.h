/* SPDX-License-Identifier: MIT */
/*
 * A queue of the layer's own in each family that a program uses, where the
 * device has one left: on it the layer copies without regard to the program's
 * queues, which belong to the program's threads.
 */
#ifndef LAYER_OWN_QUEUES_H
#define LAYER_OWN_QUEUES_H

#include "device.h"

enum {
    OWN_PRIORITIES_MAX = 64, /* queues of a family, with ours */
};

/* A program's request for a device, with the layer's queues. */
struct own_request {
    VkDeviceCreateInfo info;
    VkDeviceQueueCreateInfo queues[OWN_QUEUES_MAX]; /* replaces the program's */
    float priorities[OWN_QUEUES_MAX][OWN_PRIORITIES_MAX];
    struct own_queue own[OWN_QUEUES_MAX]; /* [n] */
    size_t n;
};

/* Adds queues to a request; ret->n is 0 where nothing can be added. */
void own_queues_request(const struct instance *instance,
                        VkPhysicalDevice physical,
                        const VkDeviceCreateInfo *info,
                        struct own_request *ret);

/* Notes the queues that the device was made with. */
void own_queues_note(struct device *device, const struct own_request *request,
                     PFN_vkSetDeviceLoaderData set_loader_data);

/* The layer's queue in the family of a program's queue; NULL: there is none. A
 * null handle: that of the only family that the program uses. The caller holds
 * the device's lock. */
struct own_queue *own_queue_for(struct device *device, VkQueue queue);

VKAPI_ATTR void VKAPI_CALL own_queues_GetDeviceQueue(VkDevice device,
                                                     uint32_t family,
                                                     uint32_t index,
                                                     VkQueue *ret);
VKAPI_ATTR void VKAPI_CALL own_queues_GetDeviceQueue2(
    VkDevice device, const VkDeviceQueueInfo2 *info, VkQueue *ret);

/* Frees the records. */
void own_queues_forget(struct device *device);

#endif
