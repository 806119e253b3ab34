/* SPDX-License-Identifier: MIT */
/*
 * Runs a kernel of OpenCL C, compiled for this processor with waves.cl, on
 * sub-groups that are stood in for: for drivers that have no ballot.
 *
 *   waves KERNEL.so NAME WIDTH WAVES BUFFER_BYTES DUMP
 */
#include <dlfcn.h>
#include <string.h>

#include "wave.h"

static std::vector<uint32_t> buffer;
static std::vector<uint64_t> masks; /* of each lane, since its last ballot */
static void (*kernel)(uint32_t *to, uint32_t n_dwords);

static uint64_t mask()
{
    return masks[wave::current];
}

extern "C" {

uint64_t wave_lanes(uint64_t site)
{
    uint64_t lanes = pfd::active_lanes(site);
    return masks[wave::current] = lanes;
}

uint32_t wave_first(uint32_t word)
{
    return pfd::shuffle(mask(), word, pfd::first_lane(mask()));
}

uint32_t wave_rank(void)
{
    return pfd::count_lanes(mask() & ((UINT64_C(1) << wave::current) - 1));
}

uint32_t wave_count(void)
{
    return pfd::count_lanes(mask());
}

uint32_t wave_lane(void)
{
    return wave::current;
}

uint32_t wave_number(void)
{
    return wave::number;
}

uint32_t wave_width(void)
{
    return (uint32_t)wave::lanes.size();
}
}

static void run(uint32_t)
{
    kernel(buffer.data(), (uint32_t)buffer.size());
}

int main(int argc, char **argv)
{
    void *program = argc == 7 ? dlopen(argv[1], RTLD_NOW) : nullptr;
    void *symbol = program ? dlsym(program, argv[2]) : nullptr;
    if (!symbol) {
        fprintf(stderr, "waves: %s\n", argc == 7 ? dlerror() : "usage");
        return 1;
    }
    memcpy(&kernel, &symbol, sizeof kernel);
    uint32_t width = (uint32_t)atoi(argv[3]);
    uint32_t n = (uint32_t)atoi(argv[4]);
    buffer.resize((size_t)atoi(argv[5]) / sizeof(uint32_t));
    masks.resize(width);
    for (uint32_t i = 0; i < n; i++) {
        wave::together = i % 2;
        wave::run(width, i, ~UINT64_C(0) >> (64 - width), run);
    }
    FILE *file = fopen(argv[6], "wb");
    bool ok = file && fwrite(buffer.data(), sizeof(uint32_t), buffer.size(),
                             file) == buffer.size();
    return !(file && !fclose(file) && ok);
}
