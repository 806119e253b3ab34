void f() { PFD_PRINTF("%d\n", 1, 2); PFD_PRINTF("a
#define DBG(f, x) PFD_PRINTF("[x] " f, x)
