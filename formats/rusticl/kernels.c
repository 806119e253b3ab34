/* SPDX-License-Identifier: MIT */
#include "kernels.h"

#include <string.h>

#include "core/base/escape.h"

uint32_t rusticl_first_space(const struct pfd_shader *shader)
{
    return shader->id % PFD_SHADER_LOOSE % RUSTICL_MODULES_MAX *
           RUSTICL_KERNELS_MAX;
}

static const uint32_t *words_of(const struct pfd_spirv *module, uint32_t k,
                                uint32_t *n, uint32_t *op)
{
    const uint32_t *w = pfd_spirv_words(module, k, n);
    *op = w[0] & UINT16_MAX;
    return w;
}

bool rusticl_is_kernel(const struct pfd_spirv *module, uint32_t k)
{
    uint32_t n;
    uint32_t op;
    const uint32_t *w = words_of(module, k, &n, &op);
    if (op != PFD_SPV_ENTRY_POINT || n < 4)
        return false;
    k = pfd_spirv_definition(module, w[2]);
    if (k == PFD_SPIRV_NONE)
        return false;
    words_of(module, k, &n, &op);
    return op == PFD_SPV_FUNCTION;
}

/* Has the kernel that k declares this name, [n_name] bytes with its NUL? */
static bool is_called(const struct pfd_spirv *module, uint32_t k,
                      const char *name, size_t n_name)
{
    uint32_t n;
    const uint32_t *w = pfd_spirv_words(module, k, &n);
    return n_name <= 4 * (size_t)(n - 3) && !memcmp(w + 3, name, n_name);
}

size_t rusticl_kernels_called(const struct pfd_shader_table *shader_table,
                              const char *name, uint32_t *ret, size_t max)
{
    size_t n_name = strlen(name) + 1;
    size_t n_ret = 0;
    for (size_t i = 0; i < shader_table->n; i++) {
        const struct pfd_shader *shader = &shader_table->shaders[i];
        uint32_t n = pfd_spirv_n_instructions(shader->module);
        uint32_t n_kernels = 0;
        for (uint32_t k = 0; k < n && n_kernels < RUSTICL_KERNELS_MAX; k++) {
            if (!rusticl_is_kernel(shader->module, k))
                continue;
            if (n_ret < max && is_called(shader->module, k, name, n_name))
                ret[n_ret++] = rusticl_first_space(shader) + n_kernels;
            n_kernels++;
        }
    }
    return n_ret;
}

size_t rusticl_chosen(struct pfd_walk *w, uint32_t *ret, size_t max)
{
    const char *name = w->options->kernel;
    struct pfd_quoted quoted;
    if (!*name)
        return SIZE_MAX;
    size_t n = rusticl_kernels_called(w->shader_table, name, ret, max);
    if (!n && w->shader_table->n) {
        pfd_walk_finding(w, PFD_FINDING_no_format_strings, 0,
                         "no kernel is called '%s' in what is loaded",
                         pfd_quote(&quoted, name, strlen(name)));
    }
    return n;
}
