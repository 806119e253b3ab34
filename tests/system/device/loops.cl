/* Work-items of a work-group that print a different number of times. */
void nested(uint i, PFD_PARAMETERS)
{
    for (uint n = 0; n < i / 16; n++) {
        if (n % 2 == 1)
            continue;
        for (uint k = 0; k <= n; k++)
            PFD_PRINTF("nested %u.%u.%u\n", i, n, k);
    }
}

__kernel void loops(PFD_PARAMETERS)
{
    uint i = get_global_id(0);
    for (uint n = 0; n < i / 8; n++)
        PFD_PRINTF("loop %u.%u\n", i, n);
    PFD_PRINTF("after %u\n", i);
    float t = 0;
    for (uint n = 0; n < 100; n++) {
        t += 0.25f;
        PFD_PRINTF("march %u at %.2f\n", i, t);
        if (t * 16 > (float)i)
            break;
    }
    nested(i, PFD_ARGUMENTS);
    if (i < 24)
        return;
    uint left = i % 5;
    do {
        PFD_PRINTF("left %u.%u\n", i, left);
    } while (left-- > 0);
}
