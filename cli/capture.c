#include "options.h"
int capture_run(const struct options *o){(void)o;return 1;}
