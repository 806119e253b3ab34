log("tile {} of {:.1f}\n", i, n);
log("pass {which}\n", p); log("done\n"); log("begin {}\n", 7);
cpu.log("frame {}\n", n);
