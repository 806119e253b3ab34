


/* As rules.comp, line by line. */
__kernel void rules(PFD_PARAMETERS)
{
    uint t = (uint)get_global_id(0);
    uint n = 0;
    PFD_LOG(ERROR, "first %u\n", t);
    for (uint i = 0; i < 4; i++)
        PFD_LOG(DEBUG, "second %u %u\n", t, i);
    PFD_PRINTF("third %u\n", n++);
    if (t == 70) /* were the third one's arguments evaluated? */
        PFD_PRINTF("evaluated %u\n", n);
}
