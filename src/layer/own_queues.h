/* SPDX-License-Identifier: MIT */
/*
 * The queues on which the layer copies. Its own in each family that a program
 * uses, where the device has one left: there it needs no regard to the program's
 * queues, which belong to the program's threads. Else a queue of the program,
 * while no call of the program uses it and no work on it is unfinished. Each
 * call that uses it begins with own_queue_enter(), for which the device's lock
 * is needed; a copy holds that lock all the time.
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
    uint32_t copying; /* a bit for each family whose queues can copy */
};

/* Adds queues to a request; ret->n is 0 where nothing can be added. */
void own_queues_request(const struct instance *instance,
                        VkPhysicalDevice physical,
                        const VkDeviceCreateInfo *info,
                        struct own_request *ret);

/* Notes the queues that the device was made with. set_loader_data: NULL if
 * nothing will be copied. */
void own_queues_note(struct device *device, const struct own_request *request,
                     PFN_vkSetDeviceLoaderData set_loader_data);

/* A queue for copies of what a program's queue has written; NULL: there is none.
 * A null handle: of all work, where the program uses one family. The caller
 * holds the device's lock. */
struct own_queue *own_queue_for(struct device *device, VkQueue queue);

/* May the layer copy on the queue now? Waits for at most ns until its work is
 * finished. The caller holds the device's lock, and until the copy is done. */
bool own_queue_is_free(struct device *device, struct own_queue *queue,
                       uint64_t ns);

/* A call of the program is about to use its queue. Returns the queue if it is
 * shared, for own_queue_leave(); else NULL. is_work: it gives the queue
 * something to do; for a submission that gets a number, before it does. The
 * caller holds the device's lock. */
struct own_queue *own_queue_enter(struct device *device, VkQueue queue,
                                  bool is_work);

/* Likewise for a caller that does not hold the lock. */
struct own_queue *own_queue_enter_unlocked(struct device *device, VkQueue queue,
                                           bool is_work);

/* The call is over. NULL is allowed. Any thread. */
void own_queue_leave(struct own_queue *queue);

/* A program's queue, or each of them (null), has finished its submissions up to
 * this number; UINT64_MAX: all work. The caller holds the device's lock. */
void own_queue_finished(struct device *device, VkQueue queue, uint64_t number);

VKAPI_ATTR void VKAPI_CALL own_queues_GetDeviceQueue(VkDevice device,
                                                     uint32_t family,
                                                     uint32_t index,
                                                     VkQueue *ret);
VKAPI_ATTR void VKAPI_CALL own_queues_GetDeviceQueue2(
    VkDevice device, const VkDeviceQueueInfo2 *info, VkQueue *ret);

/* Functions that use a queue, and have nothing else to be noted. */
VKAPI_ATTR VkResult VKAPI_CALL own_queues_QueueBindSparse(
    VkQueue queue, uint32_t n, const VkBindSparseInfo *infos, VkFence fence);
VKAPI_ATTR void VKAPI_CALL own_queues_QueueBeginDebugUtilsLabelEXT(
    VkQueue queue, const VkDebugUtilsLabelEXT *label);
VKAPI_ATTR void VKAPI_CALL own_queues_QueueEndDebugUtilsLabelEXT(VkQueue queue);
VKAPI_ATTR void VKAPI_CALL own_queues_QueueInsertDebugUtilsLabelEXT(
    VkQueue queue, const VkDebugUtilsLabelEXT *label);

/* Frees the records. */
void own_queues_forget(struct device *device);

#endif
