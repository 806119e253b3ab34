/* Every kind of argument, from work-items that go different ways. */
#define LOG(x)                          \
    PFD_PRINTF("log %d of %s\n", /* in  \
                                  a macro */ \
               x, "mine")

void deep(uint t, PFD_PARAMETERS)
{
    if (t % 5 == 1)
        printf("deep %u\n", t);
}

__kernel void says(PFD_PARAMETERS)
{
    uint t = get_global_id(0);
    float f = t * 0.25f;
    PFD_PRINTF("ray %u t=%f %s|%-6.2s|\n", t, f, "50%", "abc");
    for (uint i = 0; i < t % 4; i++)
        PFD_PRINTF("turn %u.%u\n", t, i), deep(t, PFD_ARGUMENTS);
    if (t % 3 == 0) {
        PFD_PRINTF("v %v3f %v4d %v2u\n", (float3)(f, 1, -f),
                   (int4)(t, -1, 2, 3), (uint2)(t, 4000000000u));
    } else {
        LOG(-(int)t);
    }
    if (t == 7) {
        PFD_PRINTF("none\n");
        PFD_PRINTF("%d %d %hhd %c %#010x %o %i|%5d|%-5u|\n", (bool)true,
                   (short)-3, (char)-4, 'A', 0xbeefu, 8, -9, 42, 43u);
        PFD_PRINTF("%ld %lu %lx %ld %lu %p\n", -5l, 18446744073709551615ul,
                   0x123456789abul, -6, 7u, (__global int *)0x1000);
        PFD_PRINTF("%lf %le %v2lf %v3ld %v2lu\n", 1.25, -0.001,
                   (double2)(0.1, -2.0), (long3)(1, -2, 3), (ulong2)(1, 2));
        PFD_PRINTF("%*d|%-*.*f|%g %e %a\n", 6, 42, 8, 2, 1.5f, 0.1f, 1e10f,
                   0.5f);
        PFD_PRINTF("%f %f %v2f\n", 3.0f, 0.5f, (float2)(1.5f, -0.25f));
        PFD_PRINTF("%v4hhd\n", (char4)(1, 0, 1, 1));
        PFD_PRINTF("%v8hu %v16hhx\n", (ushort8)(65535),
                   (uchar16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                             255));
    }
}
