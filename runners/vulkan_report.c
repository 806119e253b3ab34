/* SPDX-License-Identifier: MIT */
/*
 * vulkan_report: what Vulkan has here, in lines for `printfdecode doctor`, which
 * runs it apart: drivers and layers are foreign code. It makes a device by the
 * environment that it is given, so that the loader and the layers say on standard
 * error what a program's would.
 *
 * Lines begin with "pfd"; words have tabs between:
 *
 *   loader VERSION
 *   layer NAME VERSION IMPLEMENTATION MANUFACTURER
 *   device NAME VERSION KIND
 *   lacks DEVICE FEATURE
 *   failed CALL RESULT
 *   end
 *
 * Exit status: 0, 77 there is no loader.
 */
#include <stdio.h>

#include "report_line.h"
#include "vulkan.h"

enum {
    LAYERS_MAX = 256,
    DEVICES_MAX = 32,
};

/* Text that stands until the line is put. */
struct number {
    char text[32];
};

static struct number version(uint32_t v)
{
    struct number ret;
    snprintf(ret.text, sizeof ret.text, "%u.%u.%u", VK_API_VERSION_MAJOR(v),
             VK_API_VERSION_MINOR(v), VK_API_VERSION_PATCH(v));
    return ret;
}

static struct number decimal(int n)
{
    struct number ret;
    snprintf(ret.text, sizeof ret.text, "%d", n);
    return ret;
}

static bool did(const char *call, VkResult result)
{
    if (result == VK_SUCCESS)
        return true;
    PUT_LINE("failed", call, decimal(result).text);
    return false;
}

static void report_layers(void)
{
    static VkLayerProperties all[LAYERS_MAX];
    uint32_t n = LAYERS_MAX;
    VkResult result = vk.EnumerateInstanceLayerProperties(&n, all);
    if (result != VK_INCOMPLETE &&
        !did("vkEnumerateInstanceLayerProperties", result))
        return;
    for (uint32_t i = 0; i < n; i++) {
        PUT_LINE("layer", all[i].layerName, version(all[i].specVersion).text,
                 decimal((int)all[i].implementationVersion).text,
                 all[i].description);
    }
}

static const char *kind_of(VkPhysicalDeviceType type)
{
    return type == VK_PHYSICAL_DEVICE_TYPE_CPU              ? "processor"
           : type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? "integrated"
           : type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU    ? "virtual"
                                                            : "gpu";
}

/* The features that the validation layer needs to let these stages print. */
static void report_features(VkPhysicalDevice device, const char *name)
{
    VkPhysicalDeviceFeatures features;
    vk.GetPhysicalDeviceFeatures(device, &features);
    if (!features.fragmentStoresAndAtomics)
        PUT_LINE("lacks", name, "fragmentStoresAndAtomics");
    if (!features.vertexPipelineStoresAndAtomics)
        PUT_LINE("lacks", name, "vertexPipelineStoresAndAtomics");
}

/* Makes a device, so that its layers speak, and none of it is used. */
static void open_device(VkPhysicalDevice physical)
{
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    VkDevice device;
    if (did("vkCreateDevice", vk.CreateDevice(physical, &info, NULL, &device)))
        vk.DestroyDevice(device, NULL);
}

static void report_devices(VkInstance instance)
{
    VkPhysicalDevice all[DEVICES_MAX];
    uint32_t n = DEVICES_MAX;
    VkResult result = vk.EnumeratePhysicalDevices(instance, &n, all);
    if (result != VK_INCOMPLETE && !did("vkEnumeratePhysicalDevices", result))
        return;
    for (uint32_t i = 0; i < n; i++) {
        VkPhysicalDeviceProperties p;
        vk.GetPhysicalDeviceProperties(all[i], &p);
        PUT_LINE("device", p.deviceName, version(p.apiVersion).text,
                 kind_of(p.deviceType));
        report_features(all[i], p.deviceName);
    }
    if (n)
        open_device(all[0]);
}

static void report(void)
{
    uint32_t loader = 0;
    VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .apiVersion = VK_API_VERSION_1_3,
    };
    VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    VkInstance instance;
    if (did("vkEnumerateInstanceVersion", vk.EnumerateInstanceVersion(&loader)))
        PUT_LINE("loader", version(loader).text);
    report_layers();
    fflush(stdout);
    if (!did("vkCreateInstance", vk.CreateInstance(&info, NULL, &instance)))
        return;
    report_devices(instance);
    vk.DestroyInstance(instance, NULL);
}

int main(void)
{
    /* Lines stand in order with what others write to standard error, and those
     * before a driver that crashes are there. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!vulkan_load())
        return 77;
    report();
    PUT_LINE("end");
    return 0;
}
