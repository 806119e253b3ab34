void f() { PFD_PRINTF("x"); }
