/* SPDX-License-Identifier: MIT */
#include "hip_doctor.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "show/fields.h"

static const char subject[] = "hip";
static const char topology[] = "/sys/class/kfd/kfd/topology";
static const char driver[] = "/dev/kfd";

/* Of Linux, drivers/gpu/drm/amd/amdkfd/kfd_crat.h. */
enum {
    LINK_PCIE = 2,
    LINK_NO_ATOMICS_32 = 1 << 2,
    LINK_NO_ATOMICS_64 = 1 << 3,
    PATH_BYTES = 4096,
};

struct path {
    char text[PATH_BYTES];
};

/* Empty: it is too long. */
static struct path path_of(const char *folder, const char *below,
                           const char *name)
{
    struct path ret;
    int n =
        snprintf(ret.text, sizeof ret.text, "%s/%s/%s", folder, below, name);
    if (n < 0 || n >= (int)sizeof ret.text)
        *ret.text = '\0';
    return ret;
}

/* A value of a file with lines of "name value"; 0: it is not there. */
static uint64_t property(const char *path, const char *name)
{
    FILE *file = fopen(path, "re");
    char line[256];
    size_t n = strlen(name);
    uint64_t ret = 0;
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, name, n) && line[n] == ' ')
            ret = strtoull(line + n + 1, NULL, 10);
    }
    if (file)
        fclose(file);
    return ret;
}

/* Calls fn for each entry of a folder whose name is a number. */
typedef void (*number_fn)(void *user, const char *folder, const char *name);

static void each_number(const char *folder, number_fn fn, void *user)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[strspn(entry->d_name, "0123456789")] == '\0')
            fn(user, folder, entry->d_name);
    }
    if (dir)
        closedir(dir);
}

/* ---- a device ---- */

struct device {
    const char *node;
    uint64_t target; /* such as 90402 for gfx942 */
    bool has_link;   /* over PCIe */
    bool lacks_atomics;
};

static void take_link(void *user, const char *folder, const char *name)
{
    struct device *device = user;
    struct path path = path_of(folder, name, "properties");
    uint64_t flags = property(path.text, "flags");
    if (property(path.text, "type") != LINK_PCIE)
        return;
    device->has_link = true;
    device->lacks_atomics |=
        (flags & (LINK_NO_ATOMICS_32 | LINK_NO_ATOMICS_64)) != 0;
}

struct hip {
    struct fields fields;
    struct diagnosis *d;
    size_t n;
};

static void judge_device(const struct device *device, struct diagnosis *d)
{
    if (!device->lacks_atomics)
        return;
    fault_command(
        diagnosis_add(d, subject, "no_atomics",
                      "the device of node %s has no PCIe atomics: "
                      "HIP's printf goes through hostcall by default, "
                      "which prints nothing there, or hangs",
                      device->node),
        "hipcc -mprintf-kind=buffered ...");
}

/* Nodes without SIMDs are processors. */
static void take_node(void *user, const char *folder, const char *name)
{
    struct hip *hip = user;
    struct path properties = path_of(folder, name, "properties");
    struct path links = path_of(folder, name, "io_links");
    struct device device = { .node = name };
    if (!property(properties.text, "simd_count"))
        return;
    device.target = property(properties.text, "gfx_target_version");
    each_number(links.text, take_link, &device);
    hip->n++;
    fields_item(&hip->fields, "devices", "device");
    fields_text(&hip->fields, "node", name);
    fields_number(&hip->fields, "gfx_target_version", device.target);
    if (device.has_link)
        fields_flag(&hip->fields, "pcie_atomics", !device.lacks_atomics);
    fields_item_end(&hip->fields);
    judge_device(&device, hip->d);
}

static void judge_driver(struct diagnosis *d)
{
    if (!access(driver, R_OK | W_OK) || errno == ENOENT)
        return;
    fault_command(diagnosis_add(d, subject, "no_permission",
                                "%s cannot be opened: %s", driver,
                                strerror(errno)),
                  "sudo usermod -aG render $USER (and log in again)");
}

void hip_doctor(const char *folder, bool is_json, struct diagnosis *d)
{
    struct hip hip = { .d = d };
    struct path nodes = path_of(folder ? folder : topology, "nodes", "");
    if (access(nodes.text, R_OK)) {
        if (folder) {
            diagnosis_add(d, subject, "no_topology", "%s: %s", nodes.text,
                          strerror(errno));
        }
        return;
    }
    fields_begin_facts(&hip.fields, is_json, subject);
    each_number(nodes.text, take_node, &hip);
    fields_number(&hip.fields, "device_count", hip.n);
    fields_end(&hip.fields);
    if (!folder)
        judge_driver(d);
}
