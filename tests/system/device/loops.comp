#version 450
/* Subgroups of a workgroup that print a different number of times. */
layout(local_size_x = 64) in;

void nested(uint i)
{
    for (uint n = 0u; n < i / 16u; n++) {
        if (n % 2u == 1u)
            continue;
        for (uint k = 0u; k <= n; k++)
            PFD_PRINTF("nested %u.%u.%u\n", i, n, k);
    }
}

void main()
{
    uint i = gl_GlobalInvocationID.x;
    for (uint n = 0u; n < i / 8u; n++)
        PFD_PRINTF("loop %u.%u\n", i, n);
    PFD_PRINTF("after %u\n", i);
    float t = 0.0;
    for (uint n = 0u; n < 100u; n++) {
        t += 0.25;
        PFD_PRINTF("march %u at %.2f\n", i, t);
        if (t * 16.0 > float(i))
            break;
    }
    nested(i);
    if (i < 24u)
        return;
    uint left = i % 5u;
    do {
        PFD_PRINTF("left %u.%u\n", i, left);
    } while (left-- > 0u);
}
