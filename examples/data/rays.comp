#version 450
/* SPDX-License-Identifier: MIT */
layout(local_size_x = 8, local_size_y = 4) in;

/* How far it is from p to a sphere above a floor. */
float distance_to_scene(vec3 p)
{
    return min(length(p - vec3(0.0, 0.2, 3.0)) - 1.0, p.y + 1.0);
}

/* Marches one ray for each pixel of 16x12. */
void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    vec3 way = normalize(vec3(float(at.x) - 7.5, 5.5 - float(at.y), 12.0));
    float t = 0.0;
    uint steps = 0u;

    if (gl_LocalInvocationIndex == 0u)
        PFD_PRINTF("tile %u,%u begins\n", gl_WorkGroupID.x, gl_WorkGroupID.y);
    while (steps < 64u && t < 40.0) {
        float d = distance_to_scene(t * way);
        if (d < 0.001)
            break;
        t += d;
        steps++;
    }
    if (t < 40.0 && steps < 64u)
        PFD_PRINTF("pixel %u,%u: hit at t=%.3f, steps=%u\n", at.x, at.y, t, steps);
    else if (t < 40.0)
        PFD_PRINTF("pixel %u,%u: gave up at t=%.3f, steps=%u\n", at.x, at.y, t, steps);
    else
        PFD_PRINTF("pixel %u,%u: missed, steps=%u\n", at.x, at.y, steps);
}
