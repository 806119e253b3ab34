/* SPDX-License-Identifier: MIT */
#include "vulkan_facts.h"

#include <stdlib.h>
#include <string.h>

#include "options/options.h"

/* ---- running it ---- */

/* How the program is prepared, in the child. */
struct preparing {
    driver_prepare_fn prepare;
    void *user;
};

/* The loader says the order of layers if it is asked. Our layer is to find no
 * service, which would take this for a program that prints. */
static bool prepare_report(void *user)
{
    const struct preparing *p = user;
    return !setenv("VK_LOADER_DEBUG", "error,layer", 1) &&
           (!p->prepare || p->prepare(p->user)) &&
           !setenv("PRINTFDECODE_DIR", "/dev/null", 1);
}

/* ---- its lines ---- */

/* The name of a layer at the begin of what the loader says; NULL: another
 * line. */
static char *layer_of(char *line)
{
    char *name = strstr(line, "VK_LAYER_");
    const char *colon = strchr(line, ':');
    if (!name || (colon && strchr(colon + 1, ':')) ||
        (colon && strchr(colon + 1, '"')))
        return NULL;
    name[strcspn(name, " ")] = '\0';
    return name;
}

static void take_said(struct vulkan_facts *f, const char *line)
{
    f->said = options_append(f->said, &f->n_said, sizeof *f->said);
    f->said[f->n_said - 1] = line;
}

/* Lines of the loader are those of a list of layers between its head and the
 * device. */
static void take_line(struct vulkan_facts *f, char *line, bool *is_order)
{
    struct vulkan_fact fact = { { NULL } };
    if (driver_report_split(line, fact.words)) {
        f->all = options_append(f->all, &f->n, sizeof *f->all);
        f->all[f->n - 1] = fact;
    } else if (!strncmp(line, "VK_LAYER_PFD_", 13)) {
        take_said(f, line);
    } else if (!strncmp(line, "Vulkan: ", 8)) {
        f->why = line + 8;
    } else if (strstr(line, "vkCreateDevice layer callstack")) {
        *is_order = true;
        f->n_order = 0;
    } else if (strstr(line, "<Device>")) {
        *is_order = false;
    } else if (*is_order && f->n_order < FACT_ORDER_MAX) {
        char *name = layer_of(line);
        if (name)
            f->order[f->n_order++] = name;
    }
}

void vulkan_facts_read(struct vulkan_facts *ret, driver_prepare_fn prepare,
                       void *user)
{
    char *rest = NULL;
    bool is_order = false;
    struct preparing preparing = { prepare, user };
    *ret = (struct vulkan_facts){ 0 };
    driver_report_run(&ret->report, "vulkan_report", prepare_report,
                      &preparing);
    for (char *line = ret->report.text ? strtok_r(ret->report.text, "\n", &rest)
                                       : NULL;
         line; line = strtok_r(NULL, "\n", &rest))
        take_line(ret, line, &is_order);
    if (ret->report.lacks_loader && !ret->why)
        ret->why = "the Vulkan loader cannot be loaded";
}

void vulkan_facts_free(struct vulkan_facts *facts)
{
    driver_report_free(&facts->report);
    free(facts->all);
    free(facts->said);
    *facts = (struct vulkan_facts){ 0 };
}

const struct vulkan_fact *vulkan_fact_next(const struct vulkan_facts *facts,
                                           size_t *at, const char *kind,
                                           const char *name)
{
    while (*at < facts->n) {
        const struct vulkan_fact *fact = &facts->all[(*at)++];
        if (!strcmp(fact->words[0], kind) &&
            (!name || !strcmp(fact->words[1], name)))
            return fact;
    }
    return NULL;
}

size_t vulkan_facts_place(const struct vulkan_facts *facts, const char *layer)
{
    size_t i = 0;
    while (i < facts->n_order && strcmp(facts->order[i], layer) != 0)
        i++;
    return i;
}
