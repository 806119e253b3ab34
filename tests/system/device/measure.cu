/* SPDX-License-Identifier: MIT */
/*
 * PFD_PRINTF on a GPU of NVIDIA, for measure.sh:
 *
 *   measure rate ROUNDS           eight formats of mixed sizes, then the same by
 *                                 CUDA's printf, whose lines go to stdout
 *   measure lines ROUNDS SUBMITS  numbered lines, into an empty buffer each time
 *   measure grow ROUNDS SUBMITS   likewise, one behind the other
 *   measure rules                 what the control block keeps back, and when
 *   measure off                   kernels whose sites are off, and none
 *
 * What was measured is on stderr.
 */
#include <time.h>

#include <printfdecode/device/host.h>

enum {
    BLOCKS = 1056,
    THREADS = 256,
    TENTHS = 20,
};

static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static __device__ uint32_t mix(uint32_t a)
{
    a ^= a >> 16;
    a *= 0x7feb352du;
    a ^= a >> 15;
    a *= 0x846ca68bu;
    return a ^ a >> 16;
}

/* ---- rates ---- */

#define MIXED(print)                                                           \
    switch (x % 8) {                                                           \
    case 0:                                                                    \
        print("Output:%d\n", x);                                               \
        break;                                                                 \
    case 1:                                                                    \
        print("workgroup size:%f,%f\n", 2.0, 1.0);                             \
        break;                                                                 \
    case 2:                                                                    \
        print("ray %u hit t=%.3f prim %#010x\n", x, 0.5f, x >> 3);             \
        break;                                                                 \
    case 3:                                                                    \
        print("addr %llx delta %lld\n", (1ull << 32) + x, (long long)x);       \
        break;                                                                 \
    case 4:                                                                    \
        print("no arguments\n");                                               \
        break;                                                                 \
    case 5:                                                                    \
        print("100%% of %u\n", x);                                             \
        break;                                                                 \
    case 6:                                                                    \
        print("half %f bool %d byte %x\n", 0.5f, 1, x & 255);                  \
        break;                                                                 \
    default:                                                                   \
        print("v3 (%f, %f, %f) d4 (%g %g %g %g)\n", 0.5f, 0.5f, 0.5f, 1.0,     \
              1.0, 1.0, 1.0);                                                  \
    }

__global__ void mixed(int rounds)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        uint32_t x = mix(thread * 977 + (uint32_t)r);
        MIXED(PFD_PRINTF)
    }
}

/* Lanes of a warp print the same, each its own. */
__global__ void alike(int rounds)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        uint32_t x = mix(thread / 32 * 977 + (uint32_t)r);
        MIXED(PFD_PRINTF)
    }
}

__global__ void theirs(int rounds)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        uint32_t x = mix(thread * 977 + (uint32_t)r);
        MIXED(printf)
    }
}

static void rate(pfd::printer &out, const char *name, void (*kernel)(int),
                 int rounds)
{
    out.reset();
    double start = now();
    kernel<<<BLOCKS, THREADS>>>(rounds);
    cudaError_t status = cudaDeviceSynchronize();
    double n = (double)BLOCKS * THREADS * rounds;
    fprintf(stderr, "%s: %.2f M entries/s (%.0f in %.3f s) %s\n", name,
            n / (now() - start) / 1e6, n, now() - start,
            cudaGetErrorString(status));
}

static int run_rates(int rounds)
{
    pfd::printer out((size_t)4 << 30);
    if (out.error()) {
        fprintf(stderr, "measure: %s\n", out.error());
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        rate(out, "PFD_PRINTF, another format in each lane", mixed, rounds);
        rate(out, "PFD_PRINTF, one format in a warp", alike, rounds);
    }
    cudaDeviceSetLimit(cudaLimitPrintfFifoSize, (size_t)1 << 30);
    for (int i = 0; i < 2; i++) {
        double start = now();
        theirs<<<BLOCKS, THREADS>>>(4);
        cudaDeviceSynchronize();
        fprintf(stderr, "CUDA's printf: %.2f M lines/s\n",
                BLOCKS * THREADS * 4 / (now() - start) / 1e6);
    }
    return 0;
}

/* ---- numbered lines ---- */

__global__ void numbered(int rounds, uint32_t first)
{
    uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int r = 0; r < rounds; r++) {
        uint32_t number = first + thread * (uint32_t)rounds + (uint32_t)r;
        PFD_PRINTF("ray %u hit t=%.3f prim %#010x\n", number, 0.25f,
                   number ^ 0x55555555u);
    }
}

static int run_lines(int rounds, int submits, bool grow)
{
    pfd::printer out((size_t)2 << 30);
    if (out.error()) {
        fprintf(stderr, "measure: %s\n", out.error());
        return 1;
    }
    usleep(1500000); /* for a reader to come */
    double start = now();
    for (int i = 0; i < submits; i++) {
        uint32_t n = BLOCKS * THREADS * (uint32_t)rounds;
        if (i && !grow)
            out.reset();
        numbered<<<BLOCKS, THREADS>>>(rounds, (uint32_t)i * n);
        cudaDeviceSynchronize();
    }
    double n = (double)BLOCKS * THREADS * rounds * submits;
    fprintf(stderr, "%.0f lines at %.2f M/s\n", n, n / (now() - start) / 1e6);
    return 0;
}

/* ---- rules ---- */

/* One launch; what was printed and what was kept back are all. */
static bool run_rule(pfd::printer &out, const char *name, uint64_t printed)
{
    enum {
        ROUNDS = 8
    };
    const uint64_t all = (uint64_t)BLOCKS * THREADS * ROUNDS;
    numbered<<<BLOCKS, THREADS>>>(ROUNDS, 0);
    cudaDeviceSynchronize();
    uint64_t withheld = out.count();
    bool ok = withheld == all - printed;
    fprintf(stderr, "%s: %llu of %llu printed, expected %llu: %s\n", name,
            (unsigned long long)(all - withheld), (unsigned long long)all,
            (unsigned long long)printed, ok ? "exact" : "WRONG");
    out.reset();
    return ok;
}

static bool run_switch(pfd::printer &out)
{
    const pfd_site_rule off = { sizeof off, false, PFD_NO_BUDGET, 0 };
    double start = now();
    numbered<<<BLOCKS, THREADS>>>(4000, 0);
    usleep(200000);
    out.set(nullptr, off);
    double told = now();
    cudaDeviceSynchronize();
    double ended = now();
    uint64_t dwords = 0;
    FILE *f = fopen(getenv("PFD_BUFFER"), "rb");
    bool ok = f && fread(&dwords, sizeof dwords, 1, f) == 1;
    /* Three words, a header and a commit word. */
    double part = (double)dwords / 6 / ((double)BLOCKS * THREADS * 4000);
    fprintf(stderr,
            "switched off after %.3f s, ended %.3f s later: %.1f %% printed: "
            "%s\n",
            told - start, ended - told, 100 * part,
            ok && part < 1 ? "exact" : "WRONG");
    if (f)
        fclose(f);
    return ok && part < 1;
}

static int run_rules()
{
    const uint64_t n = (uint64_t)BLOCKS * THREADS * 8;
    const pfd_control_range one = { { 777, 0, 0 }, { 777, 0, 0 } };
    const pfd_control_range some = { { 3, 0, 0 }, { 7, 0, 0 } };
    pfd::printer out((size_t)1 << 30);
    if (out.error()) {
        fprintf(stderr, "measure: %s\n", out.error());
        return 1;
    }
    bool ok = run_rule(out, "no rule", n);
    out.set(nullptr, pfd_site_rule{ 0, true, 1000, 0 });
    ok &= run_rule(out, "budget 1000", 1000);
    out.set(nullptr, pfd_site_rule{ 0, true, PFD_NO_BUDGET, 7 });
    ok &= run_rule(out, "every 7th", (n + 6) / 7);
    out.set(nullptr, pfd_site_rule{ 0, true, 12345, 10 });
    ok &= run_rule(out, "every 10th, budget 12345", 12345);
    out.set(nullptr, pfd_site_rule{ 0, true, PFD_NO_BUDGET, 0 });
    out.filter(&one, nullptr);
    ok &= run_rule(out, "thread 777", 8);
    out.filter(nullptr, &some);
    ok &= run_rule(out, "groups 3 to 7", 5 * THREADS * 8);
    out.filter(nullptr, nullptr);
    ok &= run_rule(out, "no rule any more", n);
    ok &= run_switch(out);
    return !ok;
}

/* ---- what a site costs that is off ---- */

/* March through a field, as shaders do: many registers, few loads. What is hit
 * is told in both cases: to keep it for the message alone is no cost of the
 * site. */
template <bool prints>
__global__ void march(const float4 *spheres, float *ret, int n, int steps)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    float3 at = { (float)(i % 1024) / 512 - 1, (float)(i / 1024) / 128 - 1, -3 };
    float3 to = { at.x * 0.1f, at.y * 0.1f, 1 };
    float travelled = 0;
    int hit = -1;
    for (int s = 0; s < steps; s++) {
        float nearest = 1e9f;
        int which = 0;
        for (int k = 0; k < n; k++) {
            float4 p = spheres[k];
            float x = at.x - p.x, y = at.y - p.y, z = at.z - p.z;
            float d = sqrtf(x * x + y * y + z * z) - p.w;
            if (d < nearest) {
                nearest = d;
                which = k;
            }
        }
        if (prints)
            PFD_PRINTF("ray %d step %d at %f %f %f\n", i, s, at.x, at.y, at.z);
        at.x += to.x * nearest;
        at.y += to.y * nearest;
        at.z += to.z * nearest;
        travelled += nearest;
        if (nearest < 1e-4f) {
            if (prints)
                PFD_PRINTF("ray %d hit %d t=%f\n", i, which, travelled);
            hit = which;
            break;
        }
    }
    ret[i] = travelled + (float)hit;
}

/* Nothing but memory. */
template <bool prints> __global__ void scale(const float *from, float *to)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    float x = from[i];
    if (prints && x < 0)
        PFD_PRINTF("negative %f at %llu\n", x, (unsigned long long)i);
    to[i] = 2 * x;
}

template <class Launch> static double time_of(Launch launch)
{
    cudaEvent_t start, stop;
    float best = 1e9f;
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    for (int i = 0; i < TENTHS; i++) {
        float ms = 0;
        cudaEventRecord(start);
        launch();
        cudaEventRecord(stop);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
        best = ms < best ? ms : best;
    }
    return best;
}

template <class Kernel> static int registers_of(Kernel kernel)
{
    cudaFuncAttributes attributes;
    cudaFuncGetAttributes(&attributes, kernel);
    return attributes.numRegs;
}

static void report(const char *name, int without, int with, double ms_without,
                   double ms_off)
{
    fprintf(stderr,
            "%s: %d registers without, %d with; %.4f ms without, %.4f ms off "
            "(%+.2f %%)\n",
            name, without, with, ms_without, ms_off,
            100 * (ms_off / ms_without - 1));
}

static int run_off()
{
    enum {
        N = 1 << 26
    };
    pfd::printer out(1 << 20);
    if (out.error()) {
        fprintf(stderr, "measure: %s\n", out.error());
        return 1;
    }
    out.set(nullptr, pfd_site_rule{ 0, false, PFD_NO_BUDGET, 0 });
    float4 *spheres;
    float *from, *to;
    cudaMalloc(&spheres, 32 * sizeof *spheres);
    cudaMalloc(&from, N * sizeof *from);
    cudaMalloc(&to, N * sizeof *to);
    cudaMemset(spheres, 0x3d, 32 * sizeof *spheres);
    cudaMemset(from, 0x3d, N * sizeof *from);
    for (int i = 0; i < 2; i++) {
        double ms[4] = {
            time_of([&] { march<false><<<2048, 128>>>(spheres, to, 32, 40); }),
            time_of([&] { march<true><<<2048, 128>>>(spheres, to, 32, 40); }),
            time_of([&] { scale<false><<<N / 256, 256>>>(from, to); }),
            time_of([&] { scale<true><<<N / 256, 256>>>(from, to); }),
        };
        report("march", registers_of(march<false>), registers_of(march<true>),
               ms[0], ms[1]);
        report("scale", registers_of(scale<false>), registers_of(scale<true>),
               ms[2], ms[3]);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int rounds = argc > 2 ? atoi(argv[2]) : 0;
    int submits = argc > 3 ? atoi(argv[3]) : 0;
    if (!strcmp(what, "rate"))
        return run_rates(rounds);
    if (!strcmp(what, "lines") || !strcmp(what, "grow"))
        return run_lines(rounds, submits, !strcmp(what, "grow"));
    if (!strcmp(what, "rules"))
        return run_rules();
    if (!strcmp(what, "off"))
        return run_off();
    fputs("usage: measure rate|lines|grow|rules|off [ROUNDS [SUBMITS]]\n", stderr);
    return 2;
}
