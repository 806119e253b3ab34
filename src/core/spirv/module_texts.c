/* SPDX-License-Identifier: MIT */
#include "core/spirv/module_texts.h"

bool pfd_module_texts_take(uint64_t *left, uint64_t n)
{
    if (n > *left)
        return false;
    *left -= n;
    return true;
}

enum pfd_status pfd_module_texts_end(enum pfd_status status,
                                     const char *messages,
                                     struct pfd_report *report)
{
    if (status != PFD_END)
        return status;
    pfd_report_add(report, PFD_FINDING_too_large, PFD_NO_OFFSET,
                   "the module's %s have more than %d bytes of text: those of "
                   "later ones are unknown",
                   messages, PFD_MODULE_TEXTS_MAX);
    return PFD_OK;
}
