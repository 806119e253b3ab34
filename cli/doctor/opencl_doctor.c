/* SPDX-License-Identifier: MIT */
#include "opencl_doctor.h"

#include <string.h>

#include "driver_report.h"
#include "show/fields.h"

static const char subject[] = "opencl";

/* What its lines said. */
struct opencl {
    struct fields fields;
    size_t n_devices;
    bool is_whole;
};

static void take_device(struct opencl *all, const char *const *words)
{
    all->n_devices++;
    fields_item(&all->fields, "devices", "device");
    fields_text(&all->fields, "name", words[1]);
    fields_text(&all->fields, "version", words[2]);
    fields_text(&all->fields, "platform", words[3]);
    fields_item_end(&all->fields);
}

static void take_line(struct opencl *all, char *line)
{
    const char *words[REPORT_WORDS];
    if (!driver_report_split(line, words))
        return;
    if (!strcmp(words[0], "device"))
        take_device(all, words);
    all->is_whole |= !strcmp(words[0], "end");
}

static void judge(const struct opencl *all, const struct driver_report *report,
                  struct diagnosis *d)
{
    if (report->is_late) {
        diagnosis_add(d, subject, "opencl_hangs",
                      "a driver of OpenCL hangs as soon as its devices are "
                      "asked for");
    } else if (report->signal) {
        diagnosis_add(d, subject, "opencl_crashes",
                      "a driver of OpenCL ends programs that ask for its "
                      "devices: signal %d, %s",
                      report->signal, strsignal(report->signal));
    } else if (!all->is_whole) {
        diagnosis_add(d, subject, "opencl_ends",
                      "a driver of OpenCL ends programs that ask for its "
                      "devices");
    } else if (!all->n_devices) {
        struct fault *fault = diagnosis_add(
            d, subject, "no_platform",
            "OpenCL's loader finds no driver with a device that this user may "
            "use");
        fault->is_advice = true;
        fault_command(fault, "apt install pocl-opencl-icd");
    }
}

void opencl_doctor(bool is_json, struct diagnosis *d)
{
    struct opencl all = { .n_devices = 0 };
    struct driver_report report;
    char *rest = NULL;
    driver_report_run(&report, "opencl_report", NULL, NULL);
    if (report.text && !report.is_missing && !report.lacks_loader) {
        fields_begin_facts(&all.fields, is_json, subject);
        for (char *line = strtok_r(report.text, "\n", &rest); line;
             line = strtok_r(NULL, "\n", &rest))
            take_line(&all, line);
        fields_number(&all.fields, "device_count", all.n_devices);
        fields_end(&all.fields);
        judge(&all, &report, d);
    }
    driver_report_free(&report);
}
