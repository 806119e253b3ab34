/* SPDX-License-Identifier: MIT */
/*
 * Runs kernel.hip's kernel, as clang compiled it for an AMD GPU, on this
 * processor, in waves of one lane: emulate OBJECT OUT writes the buffer to a
 * file, and what should be read of it to standard output. OBJECT is the
 * program's code for a GPU, in which its strings are.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <printfdecode/sites.h>

enum {
    ROOM = 1 << 16,
    HEADER = 16,
    ITEMS = 8, /* of a workgroup */
    GROUPS = 3,
};

/* What the compiler calls, and the variable that it has for the block. */
uint32_t amdgcn_workitem_id_x(void);
uint32_t amdgcn_workitem_id_y(void);
uint32_t amdgcn_workitem_id_z(void);
uint32_t amdgcn_workgroup_id_x(void);
uint32_t amdgcn_workgroup_id_y(void);
uint32_t amdgcn_workgroup_id_z(void);
uint32_t amdgcn_wavefrontsize(void);
uint64_t amdgcn_ballot_i64(bool yes);
uint32_t amdgcn_mbcnt_lo(uint32_t mask, uint32_t sum);
uint32_t amdgcn_mbcnt_hi(uint32_t mask, uint32_t sum);
uint32_t amdgcn_ds_bpermute(uint32_t lane, uint32_t word);
const void *amdgcn_dispatch_ptr(void);
void _Z6kernelPKfydPc(const float *f, unsigned long long u, double d, char *p);
extern struct pfd_control *_ZL16pfd_control_here;

static uint32_t item;
static uint32_t group;

uint32_t amdgcn_workitem_id_x(void)
{
    return item;
}

uint32_t amdgcn_workgroup_id_x(void)
{
    return group;
}

uint32_t amdgcn_workitem_id_y(void)
{
    return 0;
}

uint32_t amdgcn_workitem_id_z(void)
{
    return 0;
}

uint32_t amdgcn_workgroup_id_y(void)
{
    return 0;
}

uint32_t amdgcn_workgroup_id_z(void)
{
    return 0;
}

/* Each item is a wave, whose only lane is the first. */
uint32_t amdgcn_wavefrontsize(void)
{
    return 1;
}

uint64_t amdgcn_ballot_i64(bool yes)
{
    return yes;
}

uint32_t amdgcn_mbcnt_lo(uint32_t mask, uint32_t sum)
{
    return mask ? sum : 0;
}

uint32_t amdgcn_mbcnt_hi(uint32_t mask, uint32_t sum)
{
    return mask ? sum : 0;
}

uint32_t amdgcn_ds_bpermute(uint32_t lane, uint32_t word)
{
    if (lane)
        abort();
    return word;
}

/* hsa_kernel_dispatch_packet_t: the workgroup's sizes from byte 4 on. */
const void *amdgcn_dispatch_ptr(void)
{
    static const uint16_t packet[32] = { 0, 0, ITEMS, 1, 1 };
    return packet;
}

static void expect(const float *f, unsigned long long u, double d, char *p)
{
    int i = (int)item;
    printf("nothing\n");
    printf("ray %u t=%f\n", item, (double)f[i]);
    if (i % 3)
        printf("%llu %g %p %*d %hhx\n", u, d, (void *)p, i, i, 0);
    for (int k = 0; k < i; k++)
        printf("a \"literal\" and %s\n", i & 1 ? "odd" : "even");
    printf("any %f\n", (double)(float)i);
    printf("any %f\n", (double)(float)d);
}

static bool write_file(const char *path, const void *bytes, size_t n)
{
    FILE *out = fopen(path, "wb");
    bool ok = out && fwrite(bytes, 1, n, out) == n;
    return out && !fclose(out) && ok;
}

int main(int argc, char **argv)
{
    static _Alignas(8) char buffer[ROOM];
    static const float f[ITEMS] = { 0.5f, 1, 1e10f, -2, 0.1f, 7, 8, 9 };
    char *const p = (char *)(uintptr_t)0x1234567890;
    struct pfd_sites *sites = NULL;
    struct pfd_error err;
    if (argc != 3)
        return 2;
    if (pfd_sites_new(argv[1], &sites, &err) != PFD_OK) {
        fprintf(stderr, "emulate: %s\n", err.text);
        return 1;
    }
    struct pfd_control *control = pfd_sites_control(sites, NULL);
    control->buffer = (uint64_t)(uintptr_t)buffer;
    control->n_dwords = (ROOM - HEADER) / 4;
    _ZL16pfd_control_here = control;
    for (group = 0; group < GROUPS; group++) {
        for (item = 0; item < ITEMS; item++) {
            _Z6kernelPKfydPc(f, UINT64_MAX - item, 1.25, p);
            expect(f, UINT64_MAX - item, 1.25, p);
        }
    }
    bool ok = write_file(argv[2], buffer, sizeof buffer);
    pfd_sites_free(sites);
    return ok ? 0 : 1;
}
