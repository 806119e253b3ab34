/* SPDX-License-Identifier: MIT */
/* Code in the sections of a Windows program or object: "file:section". */
#include "core/objects/code_walk.h"
#include "core/objects/coff.h"

enum pfd_status pfd_code_walk_coff(const struct pfd_code_range *range)
{
    enum pfd_status status = PFD_OK;
    struct pfd_coff_section section;
    for (size_t i = 0;
         status == PFD_OK && pfd_coff_section(range->bytes, i, &section); i++) {
        if (!pfd_code_is_blob(pfd_code_kind_of(section.bytes)) &&
            !pfd_code_is_amd(section.bytes))
            continue;
        status = pfd_code_walk_part(
            range, pfd_code_path(range, ":", section.name, section.n_name, ""),
            section.bytes, section.offset, false);
    }
    if (status == PFD_OK && pfd_coff_is_cut(range->bytes)) {
        pfd_report_add(range->report, PFD_FINDING_bad_elf, PFD_NO_OFFSET,
                       "the Windows file's table of sections runs past its "
                       "end: the file is cut");
    }
    return status;
}
