/* SPDX-License-Identifier: MIT */
#include "core/base/libraries.h"

#include "core/base/dynamic_library.h"

void pfd_libraries_load(void)
{
    for (size_t i = 0; pfd_libraries[i]; i++)
        (void)pfd_dynamic_library_load(pfd_libraries[i], NULL);
}
