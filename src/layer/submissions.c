/* SPDX-License-Identifier: MIT */
#include "submissions.h"

#include <stdlib.h>

#include "command_buffers.h"
#include "gpu_copy.h"
#include "log.h"
#include "own_queues.h"
#include "settings.h"
#include "take_buffer.h"

enum {
    NAMED_MAX = 1024,          /* submissions that are kept for named buffers */
    SUBMISSIONS_MAX = 1 << 16, /* submissions without a wait; the oldest count
                                  as finished beyond it */
};

/* ---- finished work ---- */

static void free_submission(struct submission *s)
{
    uses_free(&s->uses);
    uses_free(&s->renewed);
    free(s->signals);
    free(s);
}

/* Marks buffers that the submission writes or restarts. A restarted one is not
 * taken until the submission is finished, since old bytes cannot be
 * distinguished in it. */
static void begin_work(struct device *d, const struct submission *s)
{
    for (size_t i = 0; i < s->uses.n; i++) {
        struct buffer *b = device_buffer(d, &s->uses.at[i]);
        if (b)
            b->n_writing++;
    }
    for (size_t i = 0; i < s->renewed.n; i++) {
        struct buffer *b = device_buffer(d, &s->renewed.at[i]);
        if (b)
            b->n_renewing++;
    }
}

static void end_writing(struct device *d, const struct submission *s)
{
    for (size_t i = 0; i < s->uses.n; i++) {
        struct buffer *b = device_buffer(d, &s->uses.at[i]);
        if (b)
            b->n_writing--;
    }
}

static void end_renewal(struct device *d, const struct submission *s,
                        bool is_done)
{
    for (size_t i = 0; i < s->renewed.n; i++) {
        struct buffer *b = device_buffer(d, &s->renewed.at[i]);
        if (b) {
            b->n_renewing--;
            b->last_sent.is_renewed |= is_done;
        }
    }
}

/* Removes a submission from the list. */
static struct submission *remove_at(struct device *d, struct submission **at)
{
    struct submission *s = *at;
    *at = s->next;
    if (!*at)
        d->submissions.last = at;
    d->submissions.n--;
    return s;
}

/* Takes what a removed submission wrote. A buffer that several submissions of
 * one round write is taken once. is_done: it is known to be finished. */
static void finish(struct device *d, struct submission *s, bool is_done)
{
    for (size_t i = 0; i < s->uses.n; i++) {
        struct buffer *b = device_buffer(d, &s->uses.at[i]);
        if (!b || b->round == d->submissions.round)
            continue;
        b->round = d->submissions.round;
        take_use(d, b, &s->uses.at[i],
                 is_done && !b->n_writing ? s->queue : VK_NULL_HANDLE);
    }
    end_renewal(d, s, true);
    free_submission(s);
}

/* Finishes the submissions of a queue, or of all (null), up to `last`: its
 * fence or semaphore covers the earlier ones, too. All are removed first: what
 * remains in the list is unfinished. */
static void finish_up_to(struct device *d, const struct submission *last)
{
    struct submission *done = NULL;
    struct submission **end = &done;
    struct submission **at = &d->submissions.first;
    VkQueue queue = last ? last->queue : VK_NULL_HANDLE;
    bool is_last = false;
    d->submissions.round++;
    if (last)
        own_queue_finished(d, queue, last->number);
    while (*at && !is_last) {
        is_last = *at == last;
        if (!queue || (*at)->queue == queue) {
            *end = remove_at(d, at);
            end_writing(d, *end);
            end = &(*end)->next;
        } else {
            at = &(*at)->next;
        }
    }
    *end = NULL;
    while (done) {
        struct submission *s = done;
        done = s->next;
        finish(d, s, true);
    }
}

void queue_finish_all(struct device *d)
{
    finish_up_to(d, NULL);
    d->submissions.is_unknown = false;
    take_named(d);
    d->is_dirty = false;
}

static void finish_queue(struct device *d, VkQueue queue)
{
    const struct submission *last = NULL;
    for (struct submission *s = d->submissions.first; s; s = s->next)
        last = s->queue == queue ? s : last;
    if (last)
        finish_up_to(d, last);
}

static void finish_fence(struct device *d, VkFence fence)
{
    const struct submission *last = NULL;
    for (struct submission *s = d->submissions.first; s; s = s->next)
        last = s->fence == fence ? s : last;
    if (last)
        finish_up_to(d, last);
}

static bool signals(const struct submission *s, VkSemaphore semaphore,
                    uint64_t value)
{
    for (size_t i = 0; i < s->n_signals; i++) {
        if (s->signals[i].semaphore == semaphore &&
            s->signals[i].value <= value)
            return true;
    }
    return false;
}

static void finish_semaphore(struct device *d, VkSemaphore semaphore,
                             uint64_t value)
{
    const struct submission *last;
    do {
        last = NULL;
        for (struct submission *s = d->submissions.first; s && !last;
             s = s->next)
            last = signals(s, semaphore, value) ? s : NULL;
        if (last)
            finish_up_to(d, last);
    } while (last);
}

/* Takes named buffers: any running work may have written them. */
static void finish_named(struct device *d)
{
    if (d->is_dirty)
        take_named(d);
    d->is_dirty = d->submissions.n > 0;
}

/* Ends a hook's work. The captured bytes are sent by another thread, which gets a
 * moment here. */
static void unlock(struct device *d)
{
    pthread_mutex_unlock(&d->lock);
    frame_output_settle(d->frame_output);
}

/* A lost device writes no more. Every caller gets the error, so the first call
 * takes everything. */
static void check_lost(struct device *d, VkResult result)
{
    if (result != VK_ERROR_DEVICE_LOST)
        return;
    pthread_mutex_lock(&d->lock);
    d->is_lost = true;
    log_once(TELL_LOST, "the device is lost: what its buffers hold is taken");
    queue_finish_all(d);
    take_end(d);
    take_report(d);
    pthread_mutex_unlock(&d->lock);
    frame_output_finish(d->frame_output);
}

/* ---- submissions ---- */

static void check_errors(const struct device *d, const struct command *c)
{
    bool is_bound = false;
    uint32_t version = d->instance->validation;
    for (size_t i = 0; i < POINTS; i++)
        is_bound |= c->pipeline[i] != VK_NULL_HANDLE;
    if (!is_bound || !d->validation.is_checked || d->validation.knows_errors ||
        !settings_get()->takes_gpuav)
        return;
    log_once(TELL_NO_ERRORS,
             "GPU-assisted validation is on, and where the validation layer "
             "(%u.%u.%u) writes what it finds is not known: none of it is "
             "taken",
             VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
             VK_API_VERSION_PATCH(version));
}

static void add_command(struct device *d, struct submission *s,
                        VkCommandBuffer commands)
{
    const struct command *c = command_find(d, commands);
    if (c) {
        check_errors(d, c);
        uses_add(&s->uses, c->uses.at, c->uses.n);
        uses_add(&s->renewed, c->renewed.at, c->renewed.n);
    }
}

static void add_signal(struct submission *s, VkSemaphore semaphore,
                       uint64_t value)
{
    struct signal *more =
        realloc(s->signals, (s->n_signals + 1) * sizeof *more);
    if (more) {
        s->signals = more;
        s->signals[s->n_signals++] = (struct signal){ semaphore, value };
    }
}

static const VkTimelineSemaphoreSubmitInfo *timeline_of(const void *next)
{
    for (const VkBaseInStructure *at = next; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
            return (const void *)at;
    }
    return NULL;
}

static void read_submit(struct device *d, struct submission *s,
                        const VkSubmitInfo *info)
{
    const VkTimelineSemaphoreSubmitInfo *t = timeline_of(info->pNext);
    for (uint32_t i = 0; i < info->commandBufferCount; i++)
        add_command(d, s, info->pCommandBuffers[i]);
    for (uint32_t i = 0; t && i < info->signalSemaphoreCount &&
                         i < t->signalSemaphoreValueCount;
         i++) {
        add_signal(s, info->pSignalSemaphores[i], t->pSignalSemaphoreValues[i]);
    }
}

static void read_submit2(struct device *d, struct submission *s,
                         const VkSubmitInfo2 *info)
{
    for (uint32_t i = 0; i < info->commandBufferInfoCount; i++)
        add_command(d, s, info->pCommandBufferInfos[i].commandBuffer);
    for (uint32_t i = 0; i < info->signalSemaphoreInfoCount; i++) {
        add_signal(s, info->pSignalSemaphoreInfos[i].semaphore,
                   info->pSignalSemaphoreInfos[i].value);
    }
}

static struct submission *submission_new(struct device *d, VkQueue queue,
                                         VkFence fence)
{
    struct submission *s = calloc(1, sizeof *s);
    if (!s) {
        log_once(TELL_MEMORY, "out of memory: something is missing");
        return NULL;
    }
    s->number = ++d->submissions.n_so_far;
    s->queue = queue;
    s->fence = fence;
    d->is_dirty = true;
    return s;
}

/* Can a later wait matter for the submission? With named buffers any can, but
 * the list stays short. */
static bool is_kept(const struct device *d, const struct submission *s)
{
    bool is_waited_for = s->fence || s->n_signals;
    return s->uses.n || s->renewed.n || (is_waited_for && d->submissions.n) ||
           (d->n_named && d->submissions.n < NAMED_MAX);
}

static void add_submission(struct device *d, struct submission *s)
{
    if (!is_kept(d, s)) {
        d->submissions.is_unknown = true;
        free_submission(s);
        return;
    }
    while (d->submissions.n >= SUBMISSIONS_MAX) {
        d->submissions.is_unknown = true;
        d->submissions.round++;
        struct submission *oldest = remove_at(d, &d->submissions.first);
        end_writing(d, oldest);
        finish(d, oldest, false);
    }
    *d->submissions.last = s;
    d->submissions.last = &s->next;
    d->submissions.n++;
}

/* Notes a submission before it is made, since another thread may wait for it at
 * once. Returns its number; 0: it is not kept. */
static uint64_t note(struct device *d, struct submission *s)
{
    uint64_t number = s ? s->number : 0;
    take_look(d);
    if (s) {
        begin_work(d, s);
        add_submission(d, s);
    }
    return number;
}

/* Drops a refused submission: it never runs. */
static void check_submitted(struct device *d, uint64_t number, VkResult result)
{
    check_lost(d, result);
    if (result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST)
        return;
    pthread_mutex_lock(&d->lock);
    struct submission **at = &d->submissions.first;
    while (*at && (*at)->number != number)
        at = &(*at)->next;
    if (*at) {
        struct submission *s = remove_at(d, at);
        end_writing(d, s);
        end_renewal(d, s, false);
        free_submission(s);
    }
    pthread_mutex_unlock(&d->lock);
}

VkResult queue_QueueSubmit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos,
                           VkFence fence)
{
    struct device *d = device_of(queue);
    pthread_mutex_lock(&d->lock);
    struct own_queue *q = own_queue_enter(d, queue, true);
    struct submission *s = submission_new(d, queue, fence);
    for (uint32_t i = 0; s && i < n; i++)
        read_submit(d, s, &infos[i]);
    uint64_t number = note(d, s);
    pthread_mutex_unlock(&d->lock);
    VkResult result = d->next.QueueSubmit(queue, n, infos, fence);
    own_queue_leave(q);
    check_submitted(d, number, result);
    return result;
}

VkResult queue_QueueSubmit2(VkQueue queue, uint32_t n,
                            const VkSubmitInfo2 *infos, VkFence fence)
{
    struct device *d = device_of(queue);
    pthread_mutex_lock(&d->lock);
    struct own_queue *q = own_queue_enter(d, queue, true);
    struct submission *s = submission_new(d, queue, fence);
    for (uint32_t i = 0; s && i < n; i++)
        read_submit2(d, s, &infos[i]);
    uint64_t number = note(d, s);
    pthread_mutex_unlock(&d->lock);
    VkResult result = d->next.QueueSubmit2(queue, n, infos, fence);
    own_queue_leave(q);
    check_submitted(d, number, result);
    return result;
}

/* ---- waiting ---- */

VkResult queue_QueueWaitIdle(VkQueue queue)
{
    struct device *d = device_of(queue);
    struct own_queue *q = own_queue_enter_unlocked(d, queue, false);
    VkResult result = d->next.QueueWaitIdle(queue);
    own_queue_leave(q);
    check_lost(d, result);
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&d->lock);
        own_queue_finished(d, queue, UINT64_MAX);
        finish_queue(d, queue);
        finish_named(d);
        unlock(d);
    }
    return result;
}

VkResult queue_QueuePresentKHR(VkQueue queue, const VkPresentInfoKHR *info)
{
    struct device *d = device_of(queue);
    struct own_queue *q = own_queue_enter_unlocked(d, queue, true);
    VkResult result = d->next.QueuePresentKHR(queue, info);
    own_queue_leave(q);
    check_lost(d, result);
    return result;
}

VkResult queue_DeviceWaitIdle(VkDevice device)
{
    struct device *d = device_of(device);
    gpu_copy_suspend(d);
    VkResult result = d->next.DeviceWaitIdle(device);
    gpu_copy_resume(d);
    check_lost(d, result);
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&d->lock);
        own_queue_finished(d, VK_NULL_HANDLE, UINT64_MAX);
        queue_finish_all(d);
        unlock(d);
    }
    return result;
}

/* If one fence is enough, only each fence's status tells which are
 * signalled. */
static void finish_fences(struct device *d, uint32_t n, const VkFence *fences,
                          bool all)
{
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++) {
        if (all || n == 1 ||
            d->next.GetFenceStatus(d->handle, fences[i]) == VK_SUCCESS)
            finish_fence(d, fences[i]);
    }
    finish_named(d);
    unlock(d);
}

VkResult queue_WaitForFences(VkDevice device, uint32_t n, const VkFence *fences,
                             VkBool32 all, uint64_t timeout)
{
    struct device *d = device_of(device);
    VkResult result = d->next.WaitForFences(device, n, fences, all, timeout);
    check_lost(d, result);
    if (result == VK_SUCCESS)
        finish_fences(d, n, fences, all);
    return result;
}

VkResult queue_GetFenceStatus(VkDevice device, VkFence fence)
{
    struct device *d = device_of(device);
    VkResult result = d->next.GetFenceStatus(device, fence);
    check_lost(d, result);
    if (result == VK_SUCCESS)
        finish_fences(d, 1, &fence, true);
    return result;
}

/* A caller that resets or destroys a fence, or destroys a semaphore, knows that
 * its work is finished. */
VkResult queue_ResetFences(VkDevice device, uint32_t n, const VkFence *fences)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < n; i++)
        finish_fence(d, fences[i]);
    unlock(d);
    return d->next.ResetFences(device, n, fences);
}

void queue_DestroyFence(VkDevice device, VkFence fence,
                        const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    if (fence)
        finish_fence(d, fence);
    unlock(d);
    d->next.DestroyFence(device, fence, allocator);
}

static bool is_timeline(const VkSemaphoreCreateInfo *info)
{
    for (const VkBaseInStructure *at = info->pNext; at; at = at->pNext) {
        if (at->sType == VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO) {
            return ((const VkSemaphoreTypeCreateInfo *)at)->semaphoreType ==
                   VK_SEMAPHORE_TYPE_TIMELINE;
        }
    }
    return false;
}

VkResult queue_CreateSemaphore(VkDevice device,
                               const VkSemaphoreCreateInfo *info,
                               const VkAllocationCallbacks *allocator,
                               VkSemaphore *ret)
{
    struct device *d = device_of(device);
    VkResult result = d->next.CreateSemaphore(device, info, allocator, ret);
    if (result == VK_SUCCESS && is_timeline(info)) {
        pthread_mutex_lock(&d->lock);
        handle_map_put(&d->objects.timelines, KEY(*ret), d);
        pthread_mutex_unlock(&d->lock);
    }
    return result;
}

void queue_DestroySemaphore(VkDevice device, VkSemaphore semaphore,
                            const VkAllocationCallbacks *allocator)
{
    struct device *d = device_of(device);
    pthread_mutex_lock(&d->lock);
    if (semaphore) {
        finish_semaphore(d, semaphore, UINT64_MAX);
        handle_map_take(&d->objects.timelines, KEY(semaphore));
    }
    unlock(d);
    d->next.DestroySemaphore(device, semaphore, allocator);
}

static void finish_value(struct device *d, VkSemaphore semaphore)
{
    uint64_t value = 0;
    if (d->next.GetSemaphoreCounterValue(d->handle, semaphore, &value) ==
        VK_SUCCESS)
        finish_semaphore(d, semaphore, value);
}

VkResult queue_WaitSemaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                              uint64_t timeout)
{
    struct device *d = device_of(device);
    VkResult result = d->next.WaitSemaphores(device, info, timeout);
    check_lost(d, result);
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&d->lock);
        for (uint32_t i = 0; i < info->semaphoreCount; i++)
            finish_value(d, info->pSemaphores[i]);
        finish_named(d);
        unlock(d);
    }
    return result;
}

VkResult queue_GetSemaphoreCounterValue(VkDevice device, VkSemaphore semaphore,
                                        uint64_t *ret)
{
    struct device *d = device_of(device);
    VkResult result = d->next.GetSemaphoreCounterValue(device, semaphore, ret);
    check_lost(d, result);
    if (result == VK_SUCCESS) {
        pthread_mutex_lock(&d->lock);
        finish_semaphore(d, semaphore, *ret);
        finish_named(d);
        unlock(d);
    }
    return result;
}

/* ---- destruction ---- */

static bool uses_buffer(const struct submission *s, const struct buffer *b)
{
    for (size_t i = 0; i < s->uses.n; i++) {
        if (s->uses.at[i].serial == b->serial)
            return true;
    }
    return false;
}

void queue_take_last(struct device *d, struct buffer *b)
{
    const struct submission *last;
    do {
        last = NULL;
        for (struct submission *s = d->submissions.first; s && !last;
             s = s->next)
            last = uses_buffer(s, b) ? s : NULL;
        if (last)
            finish_up_to(d, last);
    } while (last);
    take_rest(d, b);
}

void queue_take_memory(struct device *d, VkDeviceMemory memory)
{
    struct handle_map_slot *slot;
    size_t at = 0;
    while ((slot = handle_map_next(&d->objects.buffers, &at))) {
        struct buffer *b = slot->value;
        if (b->memory != memory)
            continue;
        queue_take_last(d, b);
        b->memory = VK_NULL_HANDLE;
    }
}
