/* SPDX-License-Identifier: MIT */
/*
 * VK_LAYER_PFD_messages: above the validation layer. If PFD_LAYER has errors=1,
 * writes validation's errors to standard error, and nowhere else: validation's
 * own log can only be standard output or a file. All other calls go straight to
 * the next layer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/convert.h>

#include "dispatch.h"
#include "handle_map.h"
#include "loader.h"
#include "log.h"
#include "settings.h"

enum {
    INTERFACE_VERSION = 2,
};

struct messages_instance {
    VkInstance handle;
    PFN_vkGetInstanceProcAddr next;
    VkDebugUtilsMessengerEXT messenger; /* null: none */
};

/* Keys are the loader's tables, with which every dispatchable handle begins. */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct table instances; /* struct messages_instance, owned */
static struct table devices;   /* struct messages_device, owned */

struct messages_device {
    PFN_vkGetDeviceProcAddr next;
};

static uint64_t key_of(const void *handle)
{
    return (uint64_t)(uintptr_t) * (const void *const *)handle;
}

static void *find(const struct table *table, const void *handle)
{
    pthread_rwlock_rdlock(&lock);
    void *ret = handle_map_find(table, key_of(handle));
    pthread_rwlock_unlock(&lock);
    return ret;
}

static void *take(struct table *table, const void *handle)
{
    pthread_rwlock_wrlock(&lock);
    void *ret = handle_map_take(table, key_of(handle));
    pthread_rwlock_unlock(&lock);
    return ret;
}

/* Adds value, or frees it when out of memory. */
static void put(struct table *table, const void *handle, void *value)
{
    pthread_rwlock_wrlock(&lock);
    free(handle_map_take(table, key_of(handle)));
    if (value && !handle_map_put(table, key_of(handle), value))
        free(value);
    pthread_rwlock_unlock(&lock);
}

/* ---- messages ---- */

/* Writes a message by one call: other threads write, too. */
static VKAPI_ATTR VkBool32 VKAPI_CALL
show(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
     VkDebugUtilsMessageTypeFlagsEXT types,
     const VkDebugUtilsMessengerCallbackDataEXT *data, void *user)
{
    static const char own[] = "Validation "; /* Error: [ ID ], until 2023 */
    const char *id = data->pMessageIdName ? data->pMessageIdName : "";
    const char *text = data->pMessage ? data->pMessage : "";
    size_t n = strlen(text);
    char *message = malloc(4 * n + 1);
    if (!message)
        return VK_FALSE;
    n = pfd_escape_for_terminal(message, text, n);
    while (n && message[n - 1] == '\n')
        n--;
    bool has_id = !*id || !strncmp(text, own, sizeof own - 1);
    fprintf(stderr, "validation: %s%s%s%.*s\n", has_id ? "" : "[ ",
            has_id ? "" : id, has_id ? "" : " ] ", (int)n, message);
    free(message);
    return VK_FALSE;
}

static const VkDebugUtilsMessengerCreateInfoEXT messenger = {
    .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
    .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
    .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                   VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT,
    .pfnUserCallback = show,
};

static void add_messenger(struct messages_instance *i)
{
    PFN_vkCreateDebugUtilsMessengerEXT create =
        (PFN_vkCreateDebugUtilsMessengerEXT)i->next(
            i->handle, "vkCreateDebugUtilsMessengerEXT");
    if (!create ||
        create(i->handle, &messenger, NULL, &i->messenger) != VK_SUCCESS) {
        i->messenger = VK_NULL_HANDLE;
        log_once(TELL_NO_MESSAGES,
                 "what validation calls an error cannot be shown");
    }
}

static void remove_messenger(const struct messages_instance *i)
{
    PFN_vkDestroyDebugUtilsMessengerEXT destroy =
        (PFN_vkDestroyDebugUtilsMessengerEXT)i->next(
            i->handle, "vkDestroyDebugUtilsMessengerEXT");
    if (i->messenger && destroy)
        destroy(i->handle, i->messenger, NULL);
}

/* ---- instances ---- */

/* Adds a messenger for messages during creation and destruction of the
 * instance. */
static VkResult create_with_messenger(PFN_vkCreateInstance create,
                                      const VkInstanceCreateInfo *info,
                                      const VkAllocationCallbacks *allocator,
                                      VkInstance *ret)
{
    VkDebugUtilsMessengerCreateInfoEXT first = messenger;
    VkInstanceCreateInfo more = *info;
    uint32_t n = info->enabledExtensionCount;
    const char **names = calloc(n + 1, sizeof *names);
    if (!names)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    if (n)
        memcpy(names, info->ppEnabledExtensionNames, n * sizeof *names);
    if (!loader_has_debug_utils(info))
        names[n++] = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    first.pNext = info->pNext;
    more.pNext = &first;
    more.ppEnabledExtensionNames = names;
    more.enabledExtensionCount = n;
    VkResult result = create(&more, allocator, ret);
    free(names);
    return result;
}

static VKAPI_ATTR VkResult VKAPI_CALL
messages_CreateInstance(const VkInstanceCreateInfo *info,
                        const VkAllocationCallbacks *allocator, VkInstance *ret)
{
    VkLayerInstanceCreateInfo *link =
        loader_find(info->pNext, VK_STRUCTURE_TYPE_LOADER_INSTANCE_CREATE_INFO,
                    VK_LAYER_LINK_INFO);
    if (!link || !link->u.pLayerInfo)
        return VK_ERROR_INITIALIZATION_FAILED;
    PFN_vkGetInstanceProcAddr next =
        link->u.pLayerInfo->pfnNextGetInstanceProcAddr;
    PFN_vkCreateInstance create =
        (PFN_vkCreateInstance)next(NULL, "vkCreateInstance");
    struct messages_instance *i = calloc(1, sizeof *i);
    if (!create || !i) {
        free(i);
        return create ? VK_ERROR_OUT_OF_HOST_MEMORY
                      : VK_ERROR_INITIALIZATION_FAILED;
    }
    bool shows = settings_get()->shows_errors && !settings_get()->is_quiet;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = shows
                          ? create_with_messenger(create, info, allocator, ret)
                          : create(info, allocator, ret);
    if (result != VK_SUCCESS) {
        free(i);
        return result;
    }
    i->handle = *ret;
    i->next = next;
    if (shows)
        add_messenger(i);
    put(&instances, *ret, i);
    return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL messages_DestroyInstance(
    VkInstance handle, const VkAllocationCallbacks *allocator)
{
    struct messages_instance *i = handle ? take(&instances, handle) : NULL;
    if (!i)
        return;
    PFN_vkDestroyInstance destroy =
        (PFN_vkDestroyInstance)i->next(handle, "vkDestroyInstance");
    remove_messenger(i);
    free(i);
    destroy(handle, allocator);
}

/* ---- devices ---- */

static VKAPI_ATTR VkResult VKAPI_CALL
messages_CreateDevice(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
                      const VkAllocationCallbacks *allocator, VkDevice *ret)
{
    VkLayerDeviceCreateInfo *link =
        loader_find(info->pNext, VK_STRUCTURE_TYPE_LOADER_DEVICE_CREATE_INFO,
                    VK_LAYER_LINK_INFO);
    const struct messages_instance *i = find(&instances, physical);
    struct messages_device *d = calloc(1, sizeof *d);
    if (!i || !d || !link || !link->u.pLayerInfo) {
        free(d);
        return VK_ERROR_INITIALIZATION_FAILED;
    }
    PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)link->u.pLayerInfo->pfnNextGetInstanceProcAddr(
            i->handle, "vkCreateDevice");
    d->next = link->u.pLayerInfo->pfnNextGetDeviceProcAddr;
    link->u.pLayerInfo = link->u.pLayerInfo->pNext;
    VkResult result = create ? create(physical, info, allocator, ret)
                             : VK_ERROR_INITIALIZATION_FAILED;
    if (result == VK_SUCCESS) {
        put(&devices, *ret, d);
    } else {
        free(d);
    }
    return result;
}

static VKAPI_ATTR void VKAPI_CALL
messages_DestroyDevice(VkDevice handle, const VkAllocationCallbacks *allocator)
{
    struct messages_device *d = handle ? take(&devices, handle) : NULL;
    if (!d)
        return;
    PFN_vkDestroyDevice destroy =
        (PFN_vkDestroyDevice)d->next(handle, "vkDestroyDevice");
    free(d);
    destroy(handle, allocator);
}

/* ---- functions by name ---- */

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
messages_GetDeviceProcAddr(VkDevice device, const char *name)
{
    if (!strcmp(name, "vkGetDeviceProcAddr"))
        return (PFN_vkVoidFunction)messages_GetDeviceProcAddr;
    if (!strcmp(name, "vkDestroyDevice"))
        return (PFN_vkVoidFunction)messages_DestroyDevice;
    const struct messages_device *d = find(&devices, device);
    return d ? d->next(device, name) : NULL;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL
messages_GetInstanceProcAddr(VkInstance instance, const char *name);

static const struct {
    const char *name;
    PFN_vkVoidFunction function;
} hooks[] = {
    { "vkGetInstanceProcAddr",
      (PFN_vkVoidFunction)messages_GetInstanceProcAddr },
    { "vkCreateInstance", (PFN_vkVoidFunction)messages_CreateInstance },
    { "vkDestroyInstance", (PFN_vkVoidFunction)messages_DestroyInstance },
    { "vkCreateDevice", (PFN_vkVoidFunction)messages_CreateDevice },
    { "vkGetDeviceProcAddr", (PFN_vkVoidFunction)messages_GetDeviceProcAddr },
    { "vkDestroyDevice", (PFN_vkVoidFunction)messages_DestroyDevice },
};

static PFN_vkVoidFunction messages_GetInstanceProcAddr(VkInstance instance,
                                                       const char *name)
{
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++) {
        if (!strcmp(hooks[i].name, name))
            return hooks[i].function;
    }
    const struct messages_instance *i =
        instance ? find(&instances, instance) : NULL;
    return i ? i->next(instance, name) : NULL;
}

/* The manifest has this name. */
__attribute__((visibility("default"))) VKAPI_ATTR VkResult VKAPI_CALL
pfd_messages_negotiate(VkNegotiateLayerInterface *interface);

VkResult pfd_messages_negotiate(VkNegotiateLayerInterface *interface)
{
    if (!interface || interface->sType != LAYER_NEGOTIATE_INTERFACE_STRUCT ||
        interface->loaderLayerInterfaceVersion < INTERFACE_VERSION)
        return VK_ERROR_INITIALIZATION_FAILED;
    interface->loaderLayerInterfaceVersion = INTERFACE_VERSION;
    interface->pfnGetInstanceProcAddr = messages_GetInstanceProcAddr;
    interface->pfnGetDeviceProcAddr = messages_GetDeviceProcAddr;
    interface->pfnGetPhysicalDeviceProcAddr = NULL;
    return VK_SUCCESS;
}
