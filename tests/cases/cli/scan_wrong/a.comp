#version 450
void main()
{
    PFD_PRINTF("%d %d\n", 1);
}
