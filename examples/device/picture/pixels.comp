#version 450
/* SPDX-License-Identifier: MIT */
layout(local_size_x = 8, local_size_y = 8) in;

/* How soon each point leaves the Mandelbrot set. */
void main()
{
    uvec2 at = gl_GlobalInvocationID.xy;
    vec2 c = vec2(at) / 128.0 * 2.5 - vec2(1.9, 1.25);
    vec2 z = vec2(0.0);
    int n = 0;
    while (n < 99 && dot(z, z) < 4.0) {
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
        n++;
    }
    PFD_PRINTF("pixel %u,%u: %f\n", at.x, at.y, n < 99 ? log(float(n)) : 0.0 / 0.0);
}
