/* SPDX-License-Identifier: MIT */
#include "own_queues.h"

#include <string.h>

enum {
    FAMILIES_MAX = 32,
    CAN_COPY =
        VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT,
};

static uint32_t families_of(const struct instance *i, VkPhysicalDevice physical,
                            VkQueueFamilyProperties ret[FAMILIES_MAX])
{
    uint32_t n = FAMILIES_MAX;
    PFN_vkGetPhysicalDeviceQueueFamilyProperties get =
        (PFN_vkGetPhysicalDeviceQueueFamilyProperties)i->GetInstanceProcAddr(
            i->handle, "vkGetPhysicalDeviceQueueFamilyProperties");
    if (!get)
        return 0;
    get(physical, &n, ret);
    return n;
}

/* Queues of a family that the program asks for, of any kind. */
static uint32_t n_asked(const VkDeviceCreateInfo *info, uint32_t family)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        const VkDeviceQueueCreateInfo *q = &info->pQueueCreateInfos[i];
        n += q->queueFamilyIndex == family ? q->queueCount : 0;
    }
    return n;
}

/* Adds a queue of the priority of the program's first one. */
static void add(struct own_request *r, VkDeviceQueueCreateInfo *q,
                float priorities[OWN_PRIORITIES_MAX])
{
    memcpy(priorities, q->pQueuePriorities, q->queueCount * sizeof *priorities);
    priorities[q->queueCount] = priorities[0];
    r->own[r->n++] = (struct own_queue){
        .family = q->queueFamilyIndex,
        .index = q->queueCount++,
    };
    q->pQueuePriorities = priorities;
}

void own_queues_request(const struct instance *instance,
                        VkPhysicalDevice physical,
                        const VkDeviceCreateInfo *info, struct own_request *ret)
{
    VkQueueFamilyProperties families[FAMILIES_MAX];
    ret->n = 0;
    ret->info = *info;
    if (info->queueCreateInfoCount > OWN_QUEUES_MAX)
        return;
    uint32_t n = families_of(instance, physical, families);
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        VkDeviceQueueCreateInfo *q = &ret->queues[i];
        *q = info->pQueueCreateInfos[i];
        uint32_t family = q->queueFamilyIndex;
        if (!q->flags && family < n && q->queueCount &&
            q->queueCount < OWN_PRIORITIES_MAX &&
            families[family].queueFlags & CAN_COPY &&
            n_asked(info, family) < families[family].queueCount)
            add(ret, q, ret->priorities[i]);
    }
    ret->info.pQueueCreateInfos = ret->queues;
}

void own_queues_note(struct device *d, const struct own_request *request,
                     PFN_vkSetDeviceLoaderData set_loader_data)
{
    memcpy(d->own_queues, request->own, sizeof d->own_queues);
    d->n_own_queues = request->n;
    d->has_one_family = request->info.queueCreateInfoCount == 1;
    d->set_loader_data = set_loader_data;
}

/* ---- the program's queues ---- */

static void note_queue(struct device *d, VkQueue queue, uint32_t family)
{
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->n_own_queues; i++) {
        if (d->own_queues[i].family == family)
            handle_map_put(&d->queues, KEY(queue), &d->own_queues[i]);
    }
    pthread_mutex_unlock(&d->lock);
}

void own_queues_GetDeviceQueue(VkDevice device, uint32_t family, uint32_t index,
                               VkQueue *ret)
{
    struct device *d = device_of(device);
    d->next.GetDeviceQueue(device, family, index, ret);
    note_queue(d, *ret, family);
}

void own_queues_GetDeviceQueue2(VkDevice device, const VkDeviceQueueInfo2 *info,
                                VkQueue *ret)
{
    struct device *d = device_of(device);
    d->next.GetDeviceQueue2(device, info, ret);
    if (*ret)
        note_queue(d, *ret, info->queueFamilyIndex);
}

struct own_queue *own_queue_for(struct device *d, VkQueue queue)
{
    if (queue)
        return handle_map_find(&d->queues, KEY(queue));
    return d->has_one_family && d->n_own_queues ? &d->own_queues[0] : NULL;
}

void own_queues_forget(struct device *d)
{
    handle_map_deinit(&d->queues);
}
