/* SPDX-License-Identifier: MIT */
/*
 * The program's own messengers. A program that has one for what shaders print
 * gets that from the validation layer, which then has to find it.
 */
#ifndef LAYER_MESSENGERS_H
#define LAYER_MESSENGERS_H

#include "device.h"

/* Notes a new instance: the functions below, and the messengers that are made
 * with it. To be called while the loader makes it: later the loader gives the
 * functions of the layer on top. */
void messengers_note(struct instance *instance,
                     const VkInstanceCreateInfo *info);

VKAPI_ATTR VkResult VKAPI_CALL messengers_CreateDebugUtilsMessengerEXT(
    VkInstance instance, const VkDebugUtilsMessengerCreateInfoEXT *info,
    const VkAllocationCallbacks *allocator, VkDebugUtilsMessengerEXT *ret);
VKAPI_ATTR VkResult VKAPI_CALL messengers_CreateDebugReportCallbackEXT(
    VkInstance instance, const VkDebugReportCallbackCreateInfoEXT *info,
    const VkAllocationCallbacks *allocator, VkDebugReportCallbackEXT *ret);

#endif
