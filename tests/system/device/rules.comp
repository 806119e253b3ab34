#version 450
/* Three sites; 256 invocations in four groups. */
layout(local_size_x = 64) in;

void main()
{
    uint t = gl_GlobalInvocationID.x;
    uint n = 0u;
    PFD_LOG(ERROR, "first %u\n", t);
    for (uint i = 0u; i < 4u; i++)
        PFD_LOG(DEBUG, "second %u %u\n", t, i);
    PFD_PRINTF("third %u\n", n++);
    if (t == 70u) /* were the third one's arguments evaluated? */
        PFD_PRINTF("evaluated %u\n", n);
}
