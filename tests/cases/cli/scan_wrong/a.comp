#version 450
void main()
{
    PFD_PRINTF("%d %d\n", 1);
}
#if 0
This shouldn't stop it, and neither should PFD_PRINTF
#endif
