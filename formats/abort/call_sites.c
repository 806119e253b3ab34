/* SPDX-License-Identifier: MIT */
/* Finds the OpAbortKHR that a payload belongs to. */
#include <string.h>

#include "layout.h"

struct abort_site abort_site_of(const struct pfd_shader_table *shader_table,
                                uint64_t layout)
{
    struct abort_site ret = { 0 };
    size_t s = layout >> 32 & INT32_MAX;
    uint32_t i = (uint32_t)layout - 1;
    if (!layout || s >= shader_table->n ||
        i >= pfd_spirv_n_aborts(shader_table->shaders[s].module))
        return ret;
    ret.shader = &shader_table->shaders[s];
    ret.abort = pfd_spirv_abort(ret.shader->module, i);
    ret.layout = layout;
    return ret;
}

/* Can a message of n bytes belong to this site? */
static bool has_size(const struct pfd_spirv_abort *abort, uint64_t n)
{
    return abort->size && n >= abort->size &&
           n <= abort_align(abort->size, abort->align ? abort->align : 1);
}

bool abort_is_site(const struct pfd_shader_table *shader_table, uint64_t layout,
                   uint64_t n)
{
    struct abort_site site = abort_site_of(shader_table, layout);
    return site.abort && has_size(site.abort, n);
}

/* The number of constant bytes of the site that the payload has, too; -1: it
 * belongs to another site. */
static int64_t match(const struct abort_site *site, const uint8_t *payload,
                     uint64_t n)
{
    const struct pfd_spirv_abort *abort = site->abort;
    int64_t score = 0;
    if (!has_size(abort, n))
        return -1;
    for (uint32_t i = 0; i < abort->n; i++) {
        const struct pfd_spirv_member *member =
            pfd_spirv_member(site->shader->module, abort->first + i);
        if (!member->known || member->offset > n ||
            n - member->offset < member->n_known)
            continue;
        if (!memcmp(payload + member->offset, member->known, member->n_known)) {
            score += (int64_t)member->n_known + 1;
        } else if (!member->is_specialized) {
            return -1;
        }
    }
    return score;
}

/* Do both sites show every payload alike? */
static bool is_alike(const struct abort_site *a, const struct abort_site *b)
{
    bool alike = a->abort->n == b->abort->n;
    for (uint32_t i = 0; alike && i < a->abort->n; i++) {
        const struct pfd_spirv_member *x =
            pfd_spirv_member(a->shader->module, a->abort->first + i);
        const struct pfd_spirv_member *y =
            pfd_spirv_member(b->shader->module, b->abort->first + i);
        alike = x->offset == y->offset && x->is_text == y->is_text &&
                x->type.kind == y->type.kind &&
                x->type.width == y->type.width && x->type.n == y->type.n &&
                x->type.encoding == y->type.encoding;
    }
    return alike;
}

static void add_site(struct abort_sites *all, const struct abort_site *site,
                     int64_t score)
{
    if (score > all->score)
        all->n = 0;
    all->score = score;
    for (size_t i = 0; i < all->n; i++) {
        if (is_alike(&all->site[i], site)) {
            all->site[i].layout |= ABORT_SEVERAL;
            return;
        }
    }
    if (all->n < ABORT_SITES_MAX)
        all->site[all->n++] = *site;
}

static bool is_open(const struct abort_site *site)
{
    bool open = false;
    for (uint32_t i = 0; i < site->abort->n; i++) {
        open |= pfd_spirv_member(site->shader->module, site->abort->first + i)
                    ->is_specialized;
    }
    return open;
}

void abort_find_sites(const struct pfd_shader_table *shader_table,
                      const uint8_t *payload, uint64_t n,
                      struct abort_sites *ret)
{
    *ret = (struct abort_sites){ .score = 1 }; /* a score of 0 is no match */
    for (size_t s = 0; s < shader_table->n; s++) {
        size_t n_aborts = pfd_spirv_n_aborts(shader_table->shaders[s].module);
        for (size_t i = 0; i < n_aborts; i++) {
            struct abort_site site =
                abort_site_of(shader_table, (uint64_t)s << 32 | (i + 1));
            if (!site.abort)
                continue;
            int64_t score = match(&site, payload, n);
            ret->open |= is_open(&site);
            if (score >= ret->score)
                add_site(ret, &site, score);
        }
    }
}
