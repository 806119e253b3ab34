#version 450
void main() { PFD_PRINTF("x\n"); }
