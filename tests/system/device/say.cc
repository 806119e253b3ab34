/* SPDX-License-Identifier: MIT */
/*
 * Prints with PFD_PRINTF from a device that is stood in for, and says what it
 * printed:
 *
 *   say WIDTH SEED WAVES BYTES BUFFER SAID
 *
 * BUFFER: BYTES of a buffer; SAID: what every call should become, one after
 * another as JSON strings in no order that means anything.
 */
#include <stdarg.h>
#include <string.h>
#include <string>

#include <printfdecode/device/printf.h>
#include <printfdecode/sites.h>

#include "wave.h"

static std::vector<std::string> said;
static uint64_t said_dwords;

static void __attribute__((format(printf, 2, 3)))
say(unsigned dwords, const char *format, ...)
{
    char text[4096];
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    said.push_back(std::string(text, (size_t)n));
    said_dwords += dwords;
#ifdef PFD_ORIGIN
    said_dwords += PFD_ROW_ORIGIN_DWORDS;
#endif
#ifdef PFD_COMMIT
    said_dwords++;
#endif
}

/* Dwords of the entry, and what it says. */
#define BOTH(dwords, ...)         \
    do {                          \
        PFD_PRINTF(__VA_ARGS__);  \
        say(dwords, __VA_ARGS__); \
    } while (0)

enum color : unsigned char {
    red = 7
};
enum class wide : long long {
    far = -5000000000
};

struct half {
    float value;
    operator float() const
    {
        return value;
    }
};

static void integers(uint32_t t)
{
    signed char c = (signed char)(t - 8);
    short h = (short)(-3 * (int)t);
    BOTH(2, "nothing\n");
    BOTH(3, "%d\n", -(int)t);
    BOTH(7, "%u %x %X %o %#010x\n", t, t * 77, t * 99, t, t);
    BOTH(6, "%hhd %hd %d %c\n", c, h, (int)(t & 1), 'a' + (int)(t % 26));
    BOTH(9, "%lld %llu %zu %d\n", -4000000000ll * t, ~0ull - t, sizeof t,
         (int)t);
    BOTH(3, "%d\n", red);
    BOTH(6, "%5d|%-5d|%05d|%+d\n", (int)t, (int)t, (int)t, (int)t);
    BOTH(5, "%*d|%d\n", (int)(t % 9), (int)t, 3);
    BOTH(4, "%p\n", (void *)(uintptr_t)(0x1000 + t));
    PFD_PRINTF("%lld %d\n", wide::far, t % 2 == 0);
    say(5, "%lld %d\n", -5000000000ll, t % 2 == 0);
}

static void floats(uint32_t t)
{
    float f = 0.25f * (float)t;
    double d = 1.0 / (t + 3);
    BOTH(3, "%f\n", f);
    BOTH(4, "%.17g\n", d);
    BOTH(9, "%f %e %g %a %.2f\n", f, f, d, d, f);
    PFD_PRINTF("half %g\n", half{ f });
    say(3, "half %g\n", f);
    BOTH(5, "ray %u hit t=%.3f prim %#010x\n", t, f, t ^ 5);
}

static void texts(uint32_t t)
{
    BOTH(4, "%s\n", "a literal");
    BOTH(5, "100%% of %s, %u%%\n",
         "50% \"quoted\", \\ \t\101\x42"
         "C",
         t);
    BOTH(9, "%10s|%-10s|%.3s|%d\n", "right", "left", "cut off", (int)t);
    PFD_PRINTF("%s and %s\n", t % 2 ? PFD_TEXT("odd") : PFD_TEXT("even"),
               PFD_TEXT("never"));
    say(6, "%s and %s\n", t % 2 ? "odd" : "even", "never");
    BOTH(7, "(%d) %s %s\n", (int)t, "", "b,(c");
}

static void many(uint32_t t)
{
    int i = (int)t;
    double d = t;
    BOTH(34,
         "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
         "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n",
         i, 1, 2, 3, 4, 5, 6, 7, i, 9, 10, 11, 12, 13, 14, 15, i, 17, 18, 19,
         20, 21, 22, 23, i, 25, 26, 27, 28, 29, 30, i);
    BOTH(18, "%g %g %g %g %g %g %g %g\n", d, d + 1, d + 2, d + 3, d + 4, d + 5,
         d + 6, d + 7);
}

template <class T> static void any(const char *, T value)
{
    PFD_LOG(WARNING, "generic %d\n", (int)value);
    say(3, "generic %d\n", (int)value);
}

static void device(uint32_t t)
{
    integers(t);
    if (t % 3)
        floats(t);
    for (uint32_t i = 0; i < t % 4; i++)
        BOTH(4, "loop %u of %u\n", i, t % 4);
    texts(t);
    if (t % 7 == 0)
        many(t);
    any<int>("", (int)t);
    any<float>("", (float)t);
}

static void write_said(FILE *f)
{
    for (const std::string &s : said) {
        fputc('"', f);
        for (char c : s)
            fprintf(f, "\\u%04x", (unsigned char)c);
        fputs("\"\n", f);
    }
    fprintf(f, "%llu\n", (unsigned long long)said_dwords);
}

int main(int argc, char **argv)
{
    if (argc != 7) {
        fputs("usage: say WIDTH SEED WAVES BYTES BUFFER SAID\n", stderr);
        return 2;
    }
    uint32_t width = (uint32_t)atoi(argv[1]);
    wave::seed = (uint32_t)atoi(argv[2]);
    uint32_t waves = (uint32_t)atoi(argv[3]);
    size_t n = (size_t)atol(argv[4]);
    /* Stores beyond the end would be seen. */
    std::vector<uint32_t> buffer(n / 4 + 64);
    for (size_t i = n / 4; i < buffer.size(); i++)
        buffer[i] = 0xdeadbeef;
    pfd_sites *sites = nullptr;
    pfd_error err = {};
    if (pfd_sites_new(nullptr, &sites, &err) != PFD_OK) {
        fprintf(stderr, "say: %s\n", err.text);
        return 1;
    }
    pfd_control *c = pfd_sites_control(sites, nullptr);
    c->buffer = (uint64_t)(uintptr_t)buffer.data();
    c->n_dwords = (uint32_t)(n / 4 - 4);
    pfd_control_here = c;
    for (uint32_t i = 0; i < waves; i++) {
        uint64_t all = width == 64 ? ~UINT64_C(0) : (UINT64_C(1) << width) - 1;
        uint64_t some = (uint64_t)wave::draw() << 40 ^
                        (uint64_t)wave::draw() << 20 ^ wave::draw();
        wave::together = i % 2;
        wave::run(width, i, i % 3 == 2 ? all & some : all, device);
    }
    for (size_t i = n / 4; i < buffer.size(); i++) {
        if (buffer[i] != 0xdeadbeef) {
            fputs("a store beyond the end\n", stderr);
            return 1;
        }
    }
    FILE *f = fopen(argv[5], "wb");
    FILE *g = fopen(argv[6], "wb");
    pfd_sites_free(sites);
    if (!f || !g || fwrite(buffer.data(), 1, n, f) != n)
        return 1;
    write_said(g);
    return fclose(f) || fclose(g);
}
