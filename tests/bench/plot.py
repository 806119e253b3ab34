#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What pictures cost next to counting: processor time of `stats` for that of
`plot heat`, with as many threads, on the same entries.

plot.py --build DIR [--entries N] [--runs N] [--threads N] [--size WxH]
        [--reduce LIST] [--folder DIR] [--check]

Entries are pixels in raster order, and in random order, which misses the
caches where pictures are larger. Both run in turn, A B A B ..., and the least
of each counts, as all that disturbs them adds to it; the spread is that of the
pairs. Then the same for each further entry, without what a picture costs once:
its first tenth is taken off.

--folder  where the entries lie: 20 bytes each
--check   exit status 1 when a picture takes more than twice as long as stats
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARGET = 0.5


def seconds(command):
    """Of a processor."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("bench: failed: " + " ".join(command))
    return usage.ru_utime + usage.ru_stime


class Bench:
    def __init__(self, options, folder):
        self.o = options
        self.folder = folder
        self.ours = os.path.join(options.build, "cli", "printfdecode")
        self.elf = os.path.join(folder, "pixels.elf")
        self.rows = os.path.join(folder, "pixels.rows")
        subprocess.run([sys.executable, os.path.join(HERE, "inputs.py"),
                        "pixels", self.elf, self.rows], check=True)

    def dump(self, order, entries):
        path = os.path.join(self.folder, "%s-%d.bin" % (order, entries))
        subprocess.run([os.path.join(self.o.build, "tests", "bench", "dump"),
                        self.rows, str(entries), path,
                        *self.o.size.split("x"), order], check=True)
        return path

    def stats(self, dump):
        return seconds([self.ours, "stats", "-j", self.o.threads, dump,
                        self.elf])

    def plot(self, how, dump):
        value = [] if how == "count" else ["--value", "2"]
        return seconds([self.ours, "plot", "heat", "--x", "0", "--y", "1",
                        *value, "--reduce", how, "--bare", "--force", "--to",
                        os.path.join(self.folder, "x.png"), "-j",
                        self.o.threads, dump, self.elf])

    def measure(self, order, how, dumps):
        a, b = ([], []), ([], [])
        for _ in range(self.o.runs):
            for i, dump in enumerate(dumps):
                a[i].append(self.stats(dump))
                b[i].append(self.plot(how, dump))
        ratio = min(a[0]) / min(b[0])
        further = ((min(a[0]) - min(a[1])) / (min(b[0]) - min(b[1])))
        pairs = [x / y for x, y in zip(a[0], b[0])]
        print("%-6s %-5s %6.2f s, stats %6.2f s: %.2f (%.2f to %.2f), each "
              "further entry %.2f" % (
                  order, how, min(b[0]), min(a[0]), ratio, min(pairs),
                  max(pairs), further), flush=True)
        return ratio >= TARGET

    def run(self):
        ok = True
        for order in ("raster", "random"):
            dumps = [self.dump(order, self.o.entries),
                     self.dump(order, self.o.entries // 10)]
            for how in self.o.reduce.split(","):
                ok &= self.measure(order, how, dumps)
            for dump in dumps:
                os.remove(dump)
        return ok


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--build", default="build")
    p.add_argument("--entries", type=int, default=100000000)
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--threads", default="1")
    p.add_argument("--size", default="2048x1024")
    p.add_argument("--reduce", default="last,first,count,min,max,nan,sum,mean")
    p.add_argument("--folder")
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        print("%d entries, %s cells, %s threads, %d processors" % (
            o.entries, o.size, o.threads, len(os.sched_getaffinity(0))))
        ok = Bench(o, folder).run()
    return 0 if ok or not o.check else 1


sys.exit(main())
