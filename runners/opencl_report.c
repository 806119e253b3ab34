/* SPDX-License-Identifier: MIT */
/*
 * opencl_report: what OpenCL has here, in lines for `printfdecode doctor`, which
 * runs it apart: drivers are foreign code.
 *
 * Lines begin with "pfd"; words have tabs between:
 *
 *   platform NAME VERSION
 *   device NAME VERSION PLATFORM
 *   end
 *
 * Exit status: 0, 77 there is no loader.
 */
#include "opencl.h"
#include "report_line.h"

enum {
    PLATFORMS_MAX = 32,
    DEVICES_MAX = 64,
    WORD_BYTES = 256,
};

/* Text that a driver gives; "" where it does not. */
struct word {
    char text[WORD_BYTES];
};

static struct word platform_word(cl_platform_id platform, cl_platform_info what)
{
    struct word ret = { "" };
    if (cl.GetPlatformInfo(platform, what, sizeof ret.text - 1, ret.text,
                           NULL) != CL_SUCCESS)
        *ret.text = '\0';
    return ret;
}

static struct word device_word(cl_device_id device, cl_device_info what)
{
    struct word ret = { "" };
    if (cl.GetDeviceInfo(device, what, sizeof ret.text - 1, ret.text, NULL) !=
        CL_SUCCESS)
        *ret.text = '\0';
    return ret;
}

static void report_platform(cl_platform_id platform)
{
    cl_device_id all[DEVICES_MAX];
    cl_uint n = 0;
    struct word name = platform_word(platform, CL_PLATFORM_NAME);
    PUT_LINE("platform", name.text,
             platform_word(platform, CL_PLATFORM_VERSION).text);
    if (cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, DEVICES_MAX, all, &n) !=
        CL_SUCCESS)
        n = 0;
    for (cl_uint i = 0; i < n && i < DEVICES_MAX; i++) {
        PUT_LINE("device", device_word(all[i], CL_DEVICE_NAME).text,
                 device_word(all[i], CL_DEVICE_VERSION).text, name.text);
    }
}

int main(void)
{
    cl_platform_id all[PLATFORMS_MAX];
    cl_uint n = 0;
    /* Lines before a driver that crashes are there. */
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!opencl_load())
        return 77;
    if (cl.GetPlatformIDs(PLATFORMS_MAX, all, &n) != CL_SUCCESS)
        n = 0;
    for (cl_uint i = 0; i < n && i < PLATFORMS_MAX; i++)
        report_platform(all[i]);
    PUT_LINE("end");
    return 0;
}
