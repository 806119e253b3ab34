#version 450
/* Every kind of argument, from invocations that go different ways. */
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;

#define LOG(x)                          \
    PFD_PRINTF("log %d of %s\n", /* in  \
                                  a macro */ \
               x, "mine")

void deep(uint t)
{
    if (t % 5u == 1u)
        PFD_PRINTF("deep %u\n", t);
}

void main()
{
    uint t = gl_GlobalInvocationID.x;
    float f = float(t) * 0.25;
    PFD_PRINTF("ray %u t=%f %s|%-6.2s|\n", t, f, "50%", "abc");
    for (uint i = 0u; i < t % 4u; i++)
        PFD_PRINTF("turn %u.%u\n", t, i), deep(t);
    if (t % 3u == 0u) {
        PFD_PRINTF("v %v3f %v4d %v2u\n", vec3(f, 1, -f), ivec4(t, -1, 2, 3),
                   uvec2(t, 4000000000u));
    } else {
        LOG(-int(t));
    }
    if (t == 7u) {
        PFD_PRINTF("none\n");
        PFD_PRINTF("%d %d %hhd %c %#010x %o %i|%5d|%-5u|\n", true, int16_t(-3),
                   int8_t(-4), 65, 0xbeefu, 8, -9, 42, 43u);
        PFD_PRINTF("%ld %lu %lx %ld %lu %p\n", -5l, 18446744073709551615ul,
                   0x123456789abul, -6, 7u, 0x1000ul);
        PFD_PRINTF("%lf %le %v2lf %v3ld %v2lu\n", 1.25lf, -0.001lf,
                   dvec2(0.1lf, -2.0lf), i64vec3(1, -2, 3), u64vec2(1, 2));
        PFD_PRINTF("%*d|%-*.*f|%g %e %a\n", 6, 42, 8, 2, 1.5, 0.1, 1e10, 0.5);
        PFD_PRINTF("%f %f %v2f\n", 3, float16_t(0.5), f16vec2(1.5, -0.25));
        PFD_PRINTF("%v4d\n", bvec4(true, false, true, true));
    }
}
