#version 450
layout(local_size_x = 1) in;
void main()
{
    PFD_LOG(ERROR, "it broke at %u\n", 1u);
    PFD_LOG(WARNING, "it is late: %u\n", 2u);
    PFD_LOG(INFO, "it went on with %u\n", 3u);
    PFD_LOG(DEBUG, "it took %u\n", 4u);
    PFD_LOG(TRACE, "it was here: %u\n", 5u);
    PFD_PRINTF("it says nothing of how much it matters: %u\n", 6u);
}
