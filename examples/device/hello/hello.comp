#version 450
layout(local_size_x = 4) in;

void main()
{
    uint i = gl_GlobalInvocationID.x;
    PFD_PRINTF("hello from %u: %f of %s\n", i, float(i) * 0.25, "GLSL");
}
