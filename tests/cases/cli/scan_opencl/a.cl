# 7 "in.cl"
__kernel void a(PFD_PARAMETERS)
{
    printf("%p %v4hhd\n", pfd_buffer, (char4)(1));
}
