#version 450
/* Each pixel once, although quads at the edge have helper invocations. */

void main()
{
    uvec2 p = uvec2(gl_FragCoord.xy);
    float slope = dFdx(gl_FragCoord.x);
    PFD_PRINTF("pixel %v2u %f\n", p, slope);
    if ((p.x + p.y) % 3u == 0u)
        PFD_PRINTF("third %u\n", p.x * 100u + p.y);
}
