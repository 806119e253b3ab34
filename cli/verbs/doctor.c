/* SPDX-License-Identifier: MIT */
/* printfdecode doctor: says why nothing is printed, and what to type. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "doctor/file_doctor.h"
#include "doctor/hip_doctor.h"
#include "doctor/opencl_doctor.h"
#include "doctor/service_doctor.h"
#include "doctor/vulkan_doctor.h"
#include "input/open_inputs.h"
#include "show/messages.h"
#include "show/output.h"
#include "verb.h"

/* The verb's values. */
struct doctor_options {
    struct options common;
    bool json;
    const char *kfd; /* the topology of another machine's devices; NULL */
};

static const struct doctor_options *own(const struct options *o)
{
    return (const struct doctor_options *)o;
}

static bool is_json(const struct options *o)
{
    return own(o)->json || (o->output && !strcmp(o->output, "json"));
}

/* ---- Vulkan ---- */

static void look_at_vulkan_of(const struct options *o, struct vulkan_run *run,
                              struct diagnosis *d)
{
    struct vulkan_state state;
    struct fields f;
    vulkan_state_read(&state, run);
    fields_begin_facts(&f, is_json(o), "vulkan");
    vulkan_state_show(&state, &f);
    fields_end(&f);
    vulkan_state_judge(&state, d);
    vulkan_state_free(&state);
}

/* An environment that enables no layer is looked at as `run` would make it. */
static void look_at_vulkan(const struct options *o, struct diagnosis *d)
{
    const struct vulkan_options options = { .debug_printf = true };
    const char *base = getenv("TMPDIR");
    char *settings = NULL;
    int fd = -1;
    if (vulkan_is_set_up()) {
        look_at_vulkan_of(o, NULL, d);
        return;
    }
    if (asprintf(&settings, "%s/printfdecode-XXXXXX",
                 base && *base ? base : "/tmp") >= 0)
        fd = mkstemp(settings);
    struct vulkan_run run = { &options, settings, "/dev/null" };
    if (fd >= 0 && vulkan_write_settings(settings, &options)) {
        look_at_vulkan_of(o, &run, d);
    } else if (fd < 0) {
        message_error("%s: no temporary file can be made",
                      settings ? settings : "out of memory");
    }
    if (fd >= 0) {
        unlink(settings);
        close(fd);
    }
    free(settings);
}

/* ---- notebooks ---- */

/* Jupyter names itself to what it starts. */
static void look_at_notebook(struct diagnosis *d)
{
    if (!getenv("JPY_PARENT_PID") && !getenv("JPY_SESSION_NAME"))
        return;
    diagnosis_add(d, "notebook", "notebook",
                  "this runs below Jupyter: what runtimes print goes to the C "
                  "library's standard output, which is not Python's, and is "
                  "buffered: fflush it, or write a dump and decode that")
        ->is_advice = true;
}

/* ---- files ---- */

/* Findings are told as faults, once all is read. */
static void ignore(void *user, const struct pfd_finding *finding)
{
    (void)user;
    (void)finding;
}

/* ---- all of it ---- */

static int doctor_run(const struct options *o)
{
    struct diagnosis d = { 0 };
    struct inputs in = { 0 };
    bool ok = true;
    if (o->n_files) {
        inputs_open(&in, o, ignore, NULL);
        ok = file_doctor(o, &in, is_json(o), &d) && !in.failed;
    } else {
        look_at_vulkan(o, &d);
        opencl_doctor(is_json(o), &d);
        hip_doctor(own(o)->kfd, is_json(o), &d);
        service_doctor(is_json(o), &d);
        look_at_notebook(&d);
    }
    if (ok || d.n)
        diagnosis_print(&d, is_json(o));
    bool has_faults = diagnosis_has_faults(&d);
    diagnosis_free(&d);
    if (o->n_files)
        inputs_close(&in);
    return output_failed() || !ok ? EXIT_ERROR
           : has_faults           ? EXIT_FINDINGS
                                  : EXIT_CLEAN;
}

static const struct option_row rows[] = {
    { "json", 0, NULL, "JSON, as -o json has it",
      offsetof(struct doctor_options, json), option_flag, false },
    { "kfd", 0, "FOLDER",
      "AMD's devices of another machine: a copy of its /sys/class/kfd/kfd/"
      "topology",
      offsetof(struct doctor_options, kfd), option_text, false },
};
static const struct option_group own_group = OPTION_GROUP(rows);

static const struct option_group *const groups[] = {
    &own_group,
    &options_output,
    &options_strings,
    &options_buffers,
    &options_decoding,
    &options_filter,
    &options_inflated,
    &options_keep_going,
    &options_messages,
    &options_help,
    NULL,
};

const struct verb verb_doctor = {
    .name = "doctor",
    .files = "[FILE...]",
    .help = "say why nothing is printed, and what to type",
    .run = doctor_run,
    .groups = groups,
    .size = sizeof(struct doctor_options),
    .may_lack_files = true,
};
