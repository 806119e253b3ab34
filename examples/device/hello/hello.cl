__kernel void hello(PFD_PARAMETERS)
{
    uint i = get_global_id(0);
    PFD_PRINTF("hello from %u: %f of %s\n", i, i * 0.25f, "OpenCL");
}
