#version 450
layout(local_size_x = 64) in;
#line 20
void main()
{
    PFD_PRINTF("ray %u t=%f at %v2lf of %s\n", /* which */
               gl_GlobalInvocationID.x, 0.25, dvec2(1, 2), "50%");
}
