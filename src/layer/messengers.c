/* SPDX-License-Identifier: MIT */
#include "messengers.h"

#include "log.h"
#include "settings.h"

/* What shaders print is information. */
static bool wants_prints(const VkDebugUtilsMessengerCreateInfoEXT *info)
{
    VkDebugUtilsMessageTypeFlagsEXT types =
        VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
        VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
    return info->messageSeverity &
               VK_DEBUG_UTILS_MESSAGE_SEVERITY_INFO_BIT_EXT &&
           info->messageType & types;
}

static bool report_wants_prints(const VkDebugReportCallbackCreateInfoEXT *info)
{
    return info->flags & VK_DEBUG_REPORT_INFORMATION_BIT_EXT;
}

static void note(struct instance *i, bool wants)
{
    if (!wants || atomic_exchange(&i->wants_prints, true) ||
        settings_get()->drain != DRAIN_UNWANTED)
        return;
    log_once(TELL_NOT_DRAINED,
             "the program has a messenger for what shaders print: validation "
             "reads it, too, which is slow (PFD_LAYER=drain=always takes it "
             "away)");
}

void messengers_note(struct instance *i, const VkInstanceCreateInfo *info)
{
    const VkBaseInStructure *at = info->pNext;
    i->CreateDebugUtilsMessengerEXT =
        (PFN_vkCreateDebugUtilsMessengerEXT)i->GetInstanceProcAddr(
            i->handle, "vkCreateDebugUtilsMessengerEXT");
    i->CreateDebugReportCallbackEXT =
        (PFN_vkCreateDebugReportCallbackEXT)i->GetInstanceProcAddr(
            i->handle, "vkCreateDebugReportCallbackEXT");
    for (; at; at = at->pNext) {
        switch ((int)at->sType) {
        case VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT:
            note(i, wants_prints((const void *)at));
            break;
        case VK_STRUCTURE_TYPE_DEBUG_REPORT_CALLBACK_CREATE_INFO_EXT:
            note(i, report_wants_prints((const void *)at));
            break;
        default:
            break;
        }
    }
}

VkResult messengers_CreateDebugUtilsMessengerEXT(
    VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *info,
    const VkAllocationCallbacks *allocator, VkDebugUtilsMessengerEXT *ret)
{
    struct instance *i = instance_of(instance);
    note(i, wants_prints(info));
    return i->CreateDebugUtilsMessengerEXT(instance, info, allocator, ret);
}

VkResult messengers_CreateDebugReportCallbackEXT(
    VkInstance instance, const VkDebugReportCallbackCreateInfoEXT *info,
    const VkAllocationCallbacks *allocator, VkDebugReportCallbackEXT *ret)
{
    struct instance *i = instance_of(instance);
    note(i, report_wants_prints(info));
    return i->CreateDebugReportCallbackEXT(instance, info, allocator, ret);
}
