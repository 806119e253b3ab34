#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Speed, as ratios to a yardstick that runs in turn with us.

bench.py --build DIR [--entries N] [--runs N] [--json FILE] [--growth]
         [--threads LIST] [--check]

Makes the inputs (hot: one format; mixed: 64 formats in random order), runs the
yardstick and printfdecode A B A B ..., output to /dev/null, and prints medians
of the pairs. Every run is a whole process. Before anything is timed, the
text of both is compared byte for byte. Then what large tables cost: starting
with them, and finding strings in them.

--growth  also the time for each entry at 1, 10 and 100 million entries
--threads LIST
          the same work with so many threads each (0: as many as it takes by
          itself), in turn, to /dev/null, a file in memory and a pipe; and
          nothing else. With 0: how many times as long as with the best number
          that takes, the median of the rounds. On 16 processors, 4 minutes:
          bench.py --build DIR --entries 8000000 --runs 5 \
                   --threads 1,2,4,8,16,0
--check   exit status 1 when a target of the table is missed
"""
import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# What, input, arguments, processors, at least so many times faster.
WORK = [
    ("raw", "hot", ["decode", "-o", "raw"], 1, 8),
    ("raw", "hot", ["decode", "-o", "raw"], 2, 14),
    ("raw", "mixed", ["decode", "-o", "raw"], 1, 4.5),
    ("raw", "mixed", ["decode", "-o", "raw"], 2, 8),
    ("text", "hot", ["decode", "-o", "text"], 1, None),
    ("text", "mixed", ["decode", "-o", "text"], 1, None),
    ("json", "hot", ["decode", "-o", "json"], 1, 4.5),
    ("json", "hot", ["decode", "-o", "json"], 2, 8),
    ("json", "mixed", ["decode", "-o", "json"], 1, 2.8),
    ("json", "mixed", ["decode", "-o", "json"], 2, 5),
    ("stats", "hot", ["stats"], 1, None),
    ("stats", "mixed", ["stats"], 1, 60),
    # One entry in a hundred passes.
    ("where", "mixed", ["decode", "--where", "a0 > 16600000000000000000"], 1,
     None),
]


def start(command):
    return subprocess.Popen(command, stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def run(command):
    """Seconds."""
    begin = time.monotonic()
    if start(command).wait():
        sys.exit("bench: failed: " + " ".join(command))
    return time.monotonic() - begin


def peak(command):
    """Bytes of memory at most, input and all. What the system says of a process
    that has ended counts what it was before it ran the command."""
    process = start(command)
    most = 0
    while process.poll() is None:
        with open("/proc/%d/status" % process.pid, encoding="utf-8") as f:
            lines = [line.split() for line in f if line.startswith("VmHWM")]
        most = int(lines[0][1]) * 1024 if lines else most
        time.sleep(0.001)
    return most


def run_into(command, to):
    """Seconds, with output to /dev/null, to a file in memory or to a pipe that
    somebody reads."""
    reader = None
    if to == "memory":
        out = os.memfd_create("out")
    elif to == "pipe":
        reader = subprocess.Popen(["cat"], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL)
        out = os.dup(reader.stdin.fileno())
        reader.stdin.close()
    else:
        out = os.open(os.devnull, os.O_WRONLY)
    start = time.monotonic()
    process = subprocess.run(command, stdout=out, stderr=subprocess.DEVNULL,
                             check=False)
    os.close(out)
    if reader:
        reader.wait()
    seconds = time.monotonic() - start
    if process.returncode:
        sys.exit("bench: failed: " + " ".join(command))
    return seconds


def output(command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout


def compare_auto(what, kind, to, times):
    """The number of threads that it takes by itself, and the best other."""
    best = min((n for n in times if n),
               key=lambda n: statistics.median(times[n]))
    ratios = [a / b for a, b in zip(times[0], times[best])]
    print("%-6s %-6s to %-9s auto takes %.2f times as long as %d (%.2f to "
          "%.2f)" % (what, kind, to, statistics.median(ratios), best,
                     min(ratios), max(ratios)))
    return {"what": what, "input": kind, "to": to, "best": best,
            "auto_to_best": statistics.median(ratios)}


class Bench:
    def __init__(self, options, folder):
        self.o = options
        self.folder = folder
        self.ours = os.path.join(options.build, "cli", "printfdecode")
        self.yardstick = os.path.join(options.build, "tests", "bench",
                                      "yardstick")
        self.dump = os.path.join(options.build, "tests", "bench", "dump")

    def path(self, name):
        return os.path.join(self.folder, name)

    def make(self, kind, entries):
        name = self.path("%s-%d.bin" % (kind, entries))
        elf, rows = self.path(kind + ".elf"), self.path(kind + ".rows")
        if not os.path.exists(elf):
            subprocess.run([sys.executable, os.path.join(HERE, "inputs.py"),
                            kind, elf, rows], check=True)
        if not os.path.exists(name):
            subprocess.run([self.dump, rows, str(entries), name], check=True)
        return name, elf, rows

    def check_text(self):
        for kind in ("hot", "mixed"):
            dump, elf, rows = self.make(kind, 200000)
            theirs = output([self.yardstick, rows, dump])
            for threads in ("1", "2"):
                ours = output([self.ours, "decode", "-o", "raw", "-j", threads,
                               dump, elf])
                if ours != theirs:
                    sys.exit("bench: the text differs for " + kind)

    def pairs(self, command, rows, dump):
        memory = peak(command)  # and all is warm
        a, b = [], []
        for _ in range(self.o.runs):
            a.append(run([self.yardstick, rows, dump]))
            b.append(run(command))
        return a, b, memory

    def work(self):
        result = []
        for what, kind, arguments, processors, target in WORK:
            dump, elf, rows = self.make(kind, self.o.entries)
            command = [self.ours] + arguments + ["-j", str(processors), dump,
                                                 elf]
            a, b, memory = self.pairs(command, rows, dump)
            ratios = [x / y for x, y in zip(a, b)]
            result.append({
                "what": what, "input": kind, "threads": processors,
                "entries": self.o.entries,
                "yardstick_ns": statistics.median(a) / self.o.entries * 1e9,
                "ns": statistics.median(b) / self.o.entries * 1e9,
                "ratio": statistics.median(ratios),
                "ratio_min": min(ratios), "ratio_max": max(ratios),
                "target": target,
                "memory": memory,
            })
            show(result[-1])
        return result

    def npy(self):
        """A column of one of 64 format strings to a file of NumPy's, in turn
        with all as JSON: times as fast, on several threads."""
        dump, elf, rows = self.make("mixed", self.o.entries)
        with open(rows, encoding="utf-8") as f:
            ident = f.readline().split()[0]
        threads = str(min(4, len(os.sched_getaffinity(0))))
        json_to = [self.ours, "decode", "-o", "json", "-j", threads, dump, elf]
        npy_to = [self.ours, "table", "--id", ident, "-j", threads,
                  "--force", "--to", self.path("x.npy"), dump, elf]
        ratios = [run(json_to) / run(npy_to)
                  for _ in range(self.o.runs + 1)][1:]
        result = {"what": "npy", "input": "mixed", "threads": int(threads),
                  "ratio": statistics.median(ratios),
                  "ratio_min": min(ratios), "ratio_max": max(ratios),
                  "target": 5}
        print("table of one of 64 format strings to .npy: %.1f times as fast "
              "as -o json (%.1f to %.1f), %s threads, target 5" % (
                  result["ratio"], min(ratios), max(ratios), threads))
        return result

    def threads(self):
        """Seconds with each number of threads, in turn; and how many times as
        fast as the first number."""
        counts = [int(n) for n in self.o.threads.split(",")]
        result = []
        for what, kind in (("raw", "hot"), ("raw", "mixed"), ("json", "mixed"),
                           ("stats", "mixed")):
            dump, elf, _ = self.make(kind, self.o.entries)
            command = [self.ours] + (["stats"] if what == "stats" else
                                     ["decode", "-o", what])
            for to in ("/dev/null", "memory", "pipe"):
                if what == "stats" and to != "/dev/null":
                    continue
                times = {n: [] for n in counts}
                for i in range(self.o.runs + 1):
                    for n in counts:
                        seconds = run_into(
                            command + ["-j", str(n)] * (n > 0) + [dump, elf],
                            to)
                        if i:
                            times[n].append(seconds)
                first = statistics.median(times[counts[0]])
                for n in counts:
                    seconds = statistics.median(times[n])
                    result.append({
                        "what": what, "input": kind, "to": to, "threads": n,
                        "entries": self.o.entries, "seconds": seconds,
                        "seconds_least": min(times[n]),
                        "speedup": first / seconds})
                print("%-6s %-6s to %-9s %s" % (what, kind, to, "  ".join(
                    "%s: %.3f s (%.2fx)" % (
                        n or "auto", statistics.median(times[n]),
                        first / statistics.median(times[n]))
                    for n in counts)))
                if 0 in times:
                    result.append(compare_auto(what, kind, to, times))
        return result

    def growth(self):
        result = []
        for entries, runs in ((10**6, 25), (10**7, 9), (10**8, 3)):
            dump, elf, _ = self.make("mixed", entries)
            times = []
            command = [self.ours, "decode", "-o", "raw", "-j", "1", dump, elf]
            rss = peak(command)
            for _ in range(runs):
                times.append(run(command) / entries * 1e9)
            result.append({"entries": entries, "ns": statistics.median(times),
                           "ns_least": min(times),
                           "memory": rss})
            print("growth: %11d entries, %5.1f ns each (least %.1f), %4d MiB" %
                  (entries, result[-1]["ns"], min(times), rss >> 20))
            os.remove(dump)
        return result

    def tables(self):
        """What a process costs with an empty buffer, by strings loaded, and
        an entry in a buffer of random ones of them."""
        empty = self.path("empty.bin")
        with open(empty, "wb") as out:
            out.write(bytes(16))
        result = []
        for strings, kind in ((64, "mixed"), (10000, "10k"), (100000, "100k")):
            dump, elf, _ = self.make(kind, self.o.entries)
            first = statistics.median(run([self.ours, empty, elf])
                                      for _ in range(self.o.runs * 3))
            whole = statistics.median(
                run([self.ours, "decode", "-o", "raw", "-j", "1", dump, elf])
                for _ in range(self.o.runs))
            result.append({"strings": strings, "start_up_seconds": first,
                           "raw_ns": (whole - first) / self.o.entries * 1e9})
            print("%6d strings: start-up %5.1f ms, raw %5.1f ns an entry" % (
                strings, first * 1e3, result[-1]["raw_ns"]))
        return result


def show(r):
    target = "%5.1f" % r["target"] if r["target"] else "    -"
    print("%-6s %-6s %d thread%s %7.1f ns %7.1f ns   %5.1fx (%.1f to %.1f)  "
          "target %s   %4d MiB" % (
              r["what"], r["input"], r["threads"],
              "s" if r["threads"] > 1 else " ", r["yardstick_ns"], r["ns"],
              r["ratio"], r["ratio_min"], r["ratio_max"], target,
              r["memory"] >> 20))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--build", default="build")
    p.add_argument("--entries", type=int, default=4000000)
    p.add_argument("--runs", type=int, default=7)
    p.add_argument("--json")
    p.add_argument("--growth", action="store_true")
    p.add_argument("--threads", metavar="LIST")
    p.add_argument("--check", action="store_true")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(o, folder)
        if not o.threads:
            bench.check_text()
        machine = "%s, %d processors, %s" % (
            platform.platform(), len(os.sched_getaffinity(0)), cpu_name())
        print("machine: " + machine)
        report = {"machine": machine, "work": []}
        if o.threads:
            report["threads"] = bench.threads()
        else:
            print("%-6s %-6s %9s %10s %10s   %s" % (
                "what", "input", "", "yardstick", "ours", "ratio (spread)"))
            report["work"] = bench.work() + [bench.npy()]
            report["tables"] = bench.tables()
        if o.growth:
            report["growth"] = bench.growth()
    if o.json:
        with open(o.json, "w") as out:
            json.dump(report, out, indent=1)
            out.write("\n")
    missed = [r for r in report["work"]
              if r["target"] and r["ratio"] < r["target"]]
    for r in missed:
        print("missed: %s %s with %d threads: %.1f of %.1f" % (
            r["what"], r["input"], r["threads"], r["ratio"], r["target"]))
    return 1 if missed and o.check else 0


def cpu_name():
    try:
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


sys.exit(main())
