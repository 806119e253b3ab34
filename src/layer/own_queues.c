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
    uint32_t n = families_of(instance, physical, families);
    *ret = (struct own_request){ .info = *info };
    for (uint32_t i = 0; i < n; i++) {
        if (families[i].queueFlags & CAN_COPY)
            ret->copying |= UINT32_C(1) << i;
    }
    if (info->queueCreateInfoCount > OWN_QUEUES_MAX)
        return;
    for (uint32_t i = 0; i < info->queueCreateInfoCount; i++) {
        VkDeviceQueueCreateInfo *q = &ret->queues[i];
        *q = info->pQueueCreateInfos[i];
        uint32_t family = q->queueFamilyIndex;
        if (!q->flags && family < n && q->queueCount &&
            q->queueCount < OWN_PRIORITIES_MAX && ret->copying >> family & 1 &&
            n_asked(info, family) < families[family].queueCount)
            add(ret, q, ret->priorities[i]);
    }
    ret->info.pQueueCreateInfos = ret->queues;
}

/* Does no extension have further functions that use a queue? The layer would
 * have to see these. */
static bool is_plain(const VkDeviceCreateInfo *info)
{
    static const char *const others[] = {
        "VK_INTEL_performance_query",
        "VK_NV_device_diagnostic_checkpoints",
        "VK_NV_low_latency2",
    };
    for (uint32_t i = 0; i < info->enabledExtensionCount; i++) {
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            if (!strcmp(info->ppEnabledExtensionNames[i], others[k]))
                return false;
        }
    }
    return true;
}

void own_queues_note(struct device *d, const struct own_request *request,
                     PFN_vkSetDeviceLoaderData set_loader_data)
{
    for (size_t i = 0; i < request->n; i++) {
        d->own_queues.at[i].family = request->own[i].family;
        d->own_queues.at[i].index = request->own[i].index;
    }
    d->own_queues.n = request->n;
    d->own_queues.has_one_family = request->info.queueCreateInfoCount == 1;
    d->set_loader_data = set_loader_data;
    d->own_queues.sharing =
        set_loader_data && is_plain(&request->info) ? request->copying : 0;
}

/* ---- the program's queues ---- */

static void share(struct device *d, VkQueue queue, uint32_t family)
{
    if (!(d->own_queues.sharing >> family & 1) ||
        d->own_queues.n == OWN_QUEUES_MAX)
        return;
    struct own_queue *q = &d->own_queues.at[d->own_queues.n];
    q->family = family;
    q->shared = queue;
    if (handle_map_put(&d->objects.queues, KEY(queue), q))
        d->own_queues.n++;
}

static void note_queue(struct device *d, VkQueue queue, uint32_t family)
{
    bool is_noted = false;
    pthread_mutex_lock(&d->lock);
    for (size_t i = 0; i < d->own_queues.n; i++) {
        const struct own_queue *q = &d->own_queues.at[i];
        if (q->shared ? q->shared == queue : q->family == family)
            is_noted = handle_map_put(&d->objects.queues, KEY(queue),
                                      &d->own_queues.at[i]);
    }
    if (!is_noted)
        share(d, queue, family);
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
    if (*ret && !info->flags)
        note_queue(d, *ret, info->queueFamilyIndex);
}

struct own_queue *own_queue_for(struct device *d, VkQueue queue)
{
    if (queue)
        return handle_map_find(&d->objects.queues, KEY(queue));
    return d->own_queues.has_one_family && d->own_queues.n
               ? &d->own_queues.at[0]
               : NULL;
}

/* The last submission on a shared queue; NULL: another thing came behind it. */
static const struct submission *last_of(const struct device *d,
                                        const struct own_queue *q)
{
    const struct submission *s = d->submissions.first;
    while (s && (s->queue != q->shared || s->number != q->last))
        s = s->next;
    return s;
}

static bool is_finished(struct device *d, const struct submission *s,
                        uint64_t ns)
{
    if (s->fence) {
        return d->next.WaitForFences(d->handle, 1, &s->fence, VK_TRUE, ns) ==
               VK_SUCCESS;
    }
    size_t i = 0;
    while (i < s->n_signals && !handle_map_find(&d->objects.timelines,
                                                KEY(s->signals[i].semaphore)))
        i++;
    if (i == s->n_signals || !d->next.WaitSemaphores)
        return false;
    VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &s->signals[i].semaphore,
        .pValues = &s->signals[i].value,
    };
    return d->next.WaitSemaphores(d->handle, &info, ns) == VK_SUCCESS;
}

/* The validation layer of 2024 and later has a submission of its own behind
 * each, which takes microseconds. */
bool own_queue_is_free(struct device *d, struct own_queue *q, uint64_t ns)
{
    if (!q->shared)
        return true;
    if (atomic_load_explicit(&q->n_calls, memory_order_acquire))
        return false;
    const struct submission *s = q->last != q->done ? last_of(d, q) : NULL;
    if (s && is_finished(d, s, ns))
        q->done = q->last;
    return q->done == q->last;
}

struct own_queue *own_queue_enter(struct device *d, VkQueue queue, bool is_work)
{
    struct own_queue *q = handle_map_find(&d->objects.queues, KEY(queue));
    if (!q || !q->shared)
        return NULL;
    atomic_fetch_add_explicit(&q->n_calls, 1, memory_order_relaxed);
    if (is_work)
        q->last = d->submissions.n_so_far + 1;
    return q;
}

struct own_queue *own_queue_enter_unlocked(struct device *d, VkQueue queue,
                                           bool is_work)
{
    if (!d->own_queues.sharing)
        return NULL;
    pthread_mutex_lock(&d->lock);
    struct own_queue *q = own_queue_enter(d, queue, is_work);
    pthread_mutex_unlock(&d->lock);
    return q;
}

void own_queue_leave(struct own_queue *q)
{
    if (q)
        atomic_fetch_sub_explicit(&q->n_calls, 1, memory_order_release);
}

void own_queue_finished(struct device *d, VkQueue queue, uint64_t number)
{
    for (size_t i = 0; i < d->own_queues.n; i++) {
        struct own_queue *q = &d->own_queues.at[i];
        uint64_t done = number < q->last ? number : q->last;
        if (q->shared && (!queue || q->shared == queue) && done > q->done)
            q->done = done;
    }
}

/* ---- other functions that use a queue ---- */

VkResult own_queues_QueueBindSparse(VkQueue queue, uint32_t n,
                                    const VkBindSparseInfo *infos,
                                    VkFence fence)
{
    struct device *d = device_of(queue);
    struct own_queue *q = own_queue_enter_unlocked(d, queue, true);
    VkResult result = d->next.QueueBindSparse(queue, n, infos, fence);
    own_queue_leave(q);
    return result;
}

void own_queues_QueueBeginDebugUtilsLabelEXT(VkQueue queue,
                                             const VkDebugUtilsLabelEXT *label)
{
    struct device *d = device_of(queue);
    struct own_queue *q = own_queue_enter_unlocked(d, queue, false);
    d->next.QueueBeginDebugUtilsLabelEXT(queue, label);
    own_queue_leave(q);
}

void own_queues_QueueEndDebugUtilsLabelEXT(VkQueue queue)
{
    struct device *d = device_of(queue);
    struct own_queue *q = own_queue_enter_unlocked(d, queue, false);
    d->next.QueueEndDebugUtilsLabelEXT(queue);
    own_queue_leave(q);
}

void own_queues_QueueInsertDebugUtilsLabelEXT(VkQueue queue,
                                              const VkDebugUtilsLabelEXT *label)
{
    struct device *d = device_of(queue);
    struct own_queue *q = own_queue_enter_unlocked(d, queue, false);
    d->next.QueueInsertDebugUtilsLabelEXT(queue, label);
    own_queue_leave(q);
}

void own_queues_forget(struct device *d)
{
    handle_map_deinit(&d->objects.queues);
    handle_map_deinit(&d->objects.timelines);
}
