/* SPDX-License-Identifier: MIT */
#include "vulkan_doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char subject[] = "vulkan";
static const char validation[] = "VK_LAYER_KHRONOS_validation";
static const char capture[] = "VK_LAYER_PFD_capture";
static const char all_layers[] = "VK_LAYER_PFD_debug_printf";
static const char override[] = "VK_LAYER_LUNARG_override";
static const char by_run[] = "printfdecode run --vulkan-debug-printf -- ./app";

/* ---- reading ---- */

bool vulkan_is_set_up(void)
{
    static const char *const names[] = { "VK_INSTANCE_LAYERS",
                                         "VK_LOADER_LAYERS_ENABLE" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return true;
    }
    return false;
}

static bool prepare(void *user)
{
    const struct vulkan_run *run = user;
    return vulkan_set_environment(run->options, run->settings, run->report);
}

void vulkan_state_read(struct vulkan_state *ret, struct vulkan_run *run)
{
    const char *variable = getenv("VK_LAYER_SETTINGS_PATH");
    *ret = (struct vulkan_state){ .is_run = run != NULL };
    if (!variable && run)
        variable = run->settings;
    vulkan_settings_read(&ret->settings, variable);
    vulkan_facts_read(&ret->facts, run ? prepare : NULL, run);
}

void vulkan_state_free(struct vulkan_state *state)
{
    vulkan_settings_free(&state->settings);
    vulkan_facts_free(&state->facts);
}

/* ---- showing ---- */

static void show_settings(const struct vulkan_settings *s, bool is_run,
                          struct fields *f)
{
    bool is_ours = is_run && s->place == SETTINGS_BY_VARIABLE &&
                   !getenv("VK_LAYER_SETTINGS_PATH");
    fields_text(f, "settings_file",
                is_ours    ? "that which run makes"
                : *s->path ? s->path
                           : NULL);
    if (s->place && !is_ours)
        fields_text(f, "settings_by", settings_place_name(s->place));
    for (size_t i = 0; i < s->n; i++) {
        const struct vulkan_setting *one = &s->all[i];
        fields_item(f, "settings", "setting");
        fields_text_n(f, "name", one->name, strcspn(one->name, "="));
        fields_text(f, "value", one->value);
        fields_text(f, "from", i < s->n_of_file ? "file" : "environment");
        fields_item_end(f);
    }
}

static void show_order(const struct vulkan_facts *facts, struct fields *f)
{
    for (size_t i = 0; i < facts->n_order; i++) {
        fields_item(f, "order", "in order");
        fields_text(f, "layer", facts->order[i]);
        fields_item_end(f);
    }
}

void vulkan_state_show(const struct vulkan_state *state, struct fields *f)
{
    const struct vulkan_facts *facts = &state->facts;
    const struct vulkan_fact *fact;
    size_t at = 0;
    fields_text(f, "environment",
                state->is_run ? "that which run makes" : "as it is");
    fact = vulkan_fact_next(facts, &at, "loader", NULL);
    fields_text(f, "loader", fact ? fact->words[1] : NULL);
    for (at = 0; (fact = vulkan_fact_next(facts, &at, "device", NULL));) {
        fields_item(f, "devices", "device");
        fields_text(f, "name", fact->words[1]);
        fields_text(f, "version", fact->words[2]);
        fields_text(f, "kind", fact->words[3]);
        fields_item_end(f);
    }
    for (at = 0; (fact = vulkan_fact_next(facts, &at, "layer", NULL));) {
        fields_item(f, "layers", "layer");
        fields_text(f, "name", fact->words[1]);
        fields_text(f, "version", fact->words[2]);
        fields_text(f, "implementation", fact->words[3]);
        fields_item_end(f);
    }
    show_order(facts, f);
    show_settings(&state->settings, state->is_run, f);
}

/* ---- judging ---- */

/* Version a.b.c as one number; any other text gives a small one. */
static unsigned long version_of(const char *text)
{
    char *end = NULL;
    unsigned long ret = strtoul(text, &end, 10) << 22;
    ret += *end == '.' ? strtoul(end + 1, &end, 10) << 12 : 0;
    return ret + (*end == '.' ? strtoul(end + 1, &end, 10) : 0);
}

static unsigned long version_of_layer(const struct vulkan_facts *facts,
                                      const char *name)
{
    size_t at = 0;
    const struct vulkan_fact *layer =
        vulkan_fact_next(facts, &at, "layer", name);
    return layer ? version_of(layer->words[2]) : 0;
}

static bool has_fact(const struct vulkan_facts *facts, const char *kind,
                     const char *name)
{
    size_t at = 0;
    return vulkan_fact_next(facts, &at, kind, name) != NULL;
}

/* Of a report that did not come, or not whole. */
static bool judge_report(const struct vulkan_facts *facts, struct diagnosis *d)
{
    if (facts->report.is_missing) {
        diagnosis_add(d, subject, "no_report",
                      "vulkan_report cannot be run, so nothing is known of "
                      "Vulkan: it is built where Vulkan's headers are (Debian: "
                      "libvulkan-dev)")
            ->is_advice = true;
    } else if (facts->why) {
        fault_command(
            diagnosis_add(d, subject, "no_loader", "Vulkan: %s", facts->why),
            "apt install libvulkan1");
    } else if (facts->report.is_late) {
        diagnosis_add(d, subject, "driver_hangs",
                      "a driver or layer of Vulkan hangs as soon as its "
                      "devices are asked for");
    } else if (facts->report.signal) {
        diagnosis_add(d, subject, "driver_crashes",
                      "a driver or layer of Vulkan ends programs that ask for "
                      "its devices: signal %d, %s",
                      facts->report.signal, strsignal(facts->report.signal));
    } else if (!has_fact(facts, "end", NULL)) {
        diagnosis_add(d, subject, "driver_ends",
                      "a driver or layer of Vulkan ends programs that ask for "
                      "its devices");
    } else {
        return true;
    }
    return false;
}

static void judge_devices(const struct vulkan_facts *facts, struct diagnosis *d)
{
    static const char *const variables[] = { "VK_DRIVER_FILES",
                                             "VK_ICD_FILENAMES" };
    const struct vulkan_fact *fact;
    size_t at = 0;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value && !strchr(value, ':') && access(value, R_OK)) {
            fault_command(diagnosis_add(d, subject, "no_driver_file",
                                        "%s names a file that is not there: %s",
                                        variables[i], value),
                          "unset %s", variables[i]);
            return;
        }
    }
    if (!has_fact(facts, "device", NULL)) {
        fault_command(diagnosis_add(d, subject, "no_device",
                                    "there is no driver of Vulkan for a device "
                                    "that this user may use"),
                      "apt install mesa-vulkan-drivers");
    }
    for (; (fact = vulkan_fact_next(facts, &at, "lacks", NULL));) {
        diagnosis_add(d, subject, "no_feature",
                      "%s has no %s: shaders of %s cannot print",
                      fact->words[1], fact->words[2],
                      *fact->words[2] == 'f' ? "fragments"
                                             : "vertices and geometry")
            ->is_advice = true;
    }
}

/* False: without it nothing else can be said of layers. */
static bool judge_layers(const struct vulkan_facts *facts, struct diagnosis *d)
{
    if (!has_fact(facts, "layer", validation)) {
        fault_command(
            diagnosis_add(
                d, subject, "no_validation",
                "there is no validation layer%s: nothing prints for "
                "shaders",
                getenv("VK_LAYER_PATH") ? " where VK_LAYER_PATH points" : ""),
            "apt install vulkan-validationlayers");
        return false;
    }
    if (!has_fact(facts, "layer", capture) ||
        !has_fact(facts, "layer", all_layers)) {
        char folder[VULKAN_PATH_BYTES];
        bool is_known = vulkan_find_layers(folder);
        fault_command(
            diagnosis_add(d, subject, "no_capture",
                          "the loader does not find our layers, which lie in "
                          "the folder of VkLayer_PFD_debug_printf.json"),
            "export VK_ADD_LAYER_PATH=%s", is_known ? folder : "FOLDER");
        return false;
    }
    return true;
}

static void judge_override(const struct vulkan_facts *facts,
                           struct diagnosis *d)
{
    const char *disabled = getenv("VK_LOADER_LAYERS_DISABLE");
    if (has_fact(facts, "layer", override)) {
        diagnosis_add(d, subject, "override",
                      "vkconfig decides which layers there are: close it, or "
                      "let it leave the layers to programs");
    }
    if (disabled && *disabled) {
        fault_command(diagnosis_add(d, subject, "disabled",
                                    "VK_LOADER_LAYERS_DISABLE turns layers "
                                    "off: %s",
                                    disabled),
                      "unset VK_LOADER_LAYERS_DISABLE");
    }
}

static void judge_order(const struct vulkan_state *state, struct diagnosis *d)
{
    const struct vulkan_facts *facts = &state->facts;
    size_t above = vulkan_facts_place(facts, validation);
    size_t below = vulkan_facts_place(facts, capture);
    struct fault *fault = NULL;
    if (!has_fact(facts, "device", NULL) || !facts->n_order)
        return;
    if (above == facts->n_order) {
        fault = diagnosis_add(d, subject, "validation_off",
                              "programs run without the validation layer, "
                              "which alone has a buffer for debugPrintf");
    } else if (below == facts->n_order) {
        fault = diagnosis_add(d, subject, "capture_off",
                              "%s is not loaded: what shaders print stays with "
                              "the validation layer",
                              capture);
    } else if (below < above) {
        fault = diagnosis_add(d, subject, "layer_order",
                              "%s is above the validation layer, and sees "
                              "nothing of its buffers",
                              capture);
    }
    if (fault && !state->is_run)
        fault_command(fault, "export VK_INSTANCE_LAYERS=%s", all_layers);
}

/* What keeps messages out of validation's own log alone. */
static void judge_log(const struct vulkan_settings *s, struct diagnosis *d)
{
    if (vulkan_settings_have(s, "duplicate_message_limit", NULL) ||
        vulkan_settings_have(s, "enable_message_limit", "true")) {
        diagnosis_add(d, subject, "message_limit",
                      "the validation layer shows a message so many times "
                      "only as duplicate_message_limit says; printfdecode, "
                      "which reads its buffer, shows all")
            ->is_advice = true;
    }
    if (vulkan_settings_print(s) &&
        vulkan_settings_have(s, "report_flags", NULL) &&
        !vulkan_settings_have(s, "report_flags", "info")) {
        diagnosis_add(d, subject, "no_info",
                      "the validation layer reports no messages of severity "
                      "info (report_flags), of which debugPrintf's are; "
                      "printfdecode, which reads its buffer, shows them")
            ->is_advice = true;
    }
}

static void judge_settings(const struct vulkan_state *state,
                           struct diagnosis *d)
{
    enum {
        AS_NOW = (1 << 22) + (3 << 12) + 283
    };
    const struct vulkan_settings *s = &state->settings;
    const char *variable = getenv("VK_LAYER_SETTINGS_PATH");
    unsigned long version = version_of_layer(&state->facts, validation);
    bool is_printing = vulkan_settings_print(s);
    bool is_hidden = s->place == SETTINGS_OF_USER && state->is_run;
    if (is_hidden) {
        struct fault *fault = diagnosis_add(
            d, subject, "settings_hidden",
            "vkconfig's settings hide those that run makes%s",
            is_printing ? "" : ", and do not turn on debugPrintf");
        fault->is_advice = is_printing;
        char *word = command_word(s->path);
        fault_command(fault, "rm %s", word);
        free(word);
    } else if (variable && *variable && s->place != SETTINGS_BY_VARIABLE &&
               s->place != SETTINGS_OF_USER) {
        fault_command(diagnosis_add(d, subject, "no_settings",
                                    "VK_LAYER_SETTINGS_PATH names a file that "
                                    "is not there: %s",
                                    variable),
                      "unset VK_LAYER_SETTINGS_PATH");
    }
    if (!is_printing && !is_hidden && !vulkan_settings_check(s)) {
        struct fault *fault = diagnosis_add(
            d, subject, "printf_off",
            "no setting turns on debugPrintf, unless the program does so itself"
            "%s%s",
            *s->path ? "; in force is " : "", s->path);
        fault_command(fault, "%s", by_run);
    } else if (is_printing && version && version < AS_NOW &&
               !vulkan_settings_have(s, "enables", "DEBUG_PRINTF")) {
        fault_command(
            diagnosis_add(d, subject, "setting_unknown",
                          "this validation layer is older than the setting "
                          "that turns on debugPrintf"),
            "khronos_validation.enables = "
            "VK_VALIDATION_FEATURE_ENABLE_DEBUG_PRINTF_EXT (in %s)",
            *s->path ? s->path : "vk_layer_settings.txt");
    } else if (is_printing && version && version < AS_NOW &&
               vulkan_settings_check(s)) {
        diagnosis_add(d, subject, "one_of_both",
                      "this validation layer does debugPrintf or GPU-assisted "
                      "validation, not both");
    }
}

static void judge_said(const struct vulkan_facts *facts, struct diagnosis *d)
{
    for (size_t i = 0; i < facts->n_said; i++) {
        if (!strstr(facts->said[i], "wrong order"))
            diagnosis_add(d, subject, "layer_says", "%s", facts->said[i]);
    }
}

void vulkan_state_judge(const struct vulkan_state *state, struct diagnosis *d)
{
    const struct vulkan_facts *facts = &state->facts;
    if (!judge_report(facts, d))
        return;
    judge_devices(facts, d);
    judge_override(facts, d);
    if (judge_layers(facts, d)) {
        judge_order(state, d);
        judge_settings(state, d);
        judge_log(&state->settings, d);
    }
    judge_said(facts, d);
}
