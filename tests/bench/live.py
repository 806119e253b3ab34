#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How late lines come of a buffer that is written fast.

live.py --build DIR [--vs DIR] [--entries N] [--rate MILLIONS] [--runs N]

A process writes a buffer of 64 format strings into a file in memory, so many
million entries a second (as a GPU at the bus's rate: 30), while `printfdecode
follow` follows it into a pipe that is read: seconds from the last byte that was
written to the last line, medians; those of another build (--vs) in turn. That
all lines came is checked.
"""
import argparse
import mmap
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PIECE = 256 << 10
HEADER = 16


def make(build, folder, entries):
    paths = [os.path.join(folder, name) for name in ("x.elf", "x.rows", "x.bin")]
    subprocess.run([sys.executable, os.path.join(HERE, "inputs.py"), "mixed",
                    paths[0], paths[1]], check=True)
    subprocess.run([os.path.join(build, "tests", "bench", "dump"), paths[1],
                    str(entries), paths[2]], check=True)
    with open(paths[2], "rb") as f:
        data = f.read()
    return paths[0], data, ends(data)


def ends(data):
    """Where pieces of whole entries end."""
    words = memoryview(data)[HEADER:].cast("H")
    result, at, next_end = [], 0, PIECE // 2
    while at < len(words):
        at += 2 * words[at]
        if at >= next_end:
            result.append(HEADER + 2 * at)
            next_end = at + PIECE // 2
    return result + [len(data)]


def produce(data, pieces, buffer, seconds, tell):
    """Space is reserved first, and written then, as shaders do."""
    with open(buffer, "r+b") as f:
        view = mmap.mmap(f.fileno(), len(data))
    time.sleep(0.5)
    start = time.monotonic()
    for at, end in zip([HEADER] + pieces, pieces):
        view[0:8] = ((end - HEADER) // 4).to_bytes(8, "little")
        view[at:end] = data[at:end]
        wait = start + seconds * end / len(data) - time.monotonic()
        if wait > 0:
            time.sleep(wait)
    tell.write(repr(time.monotonic()))
    tell.close()


def follow(build, form, elf, data, pieces, entries, rate):
    """Seconds from the last byte to the last line."""
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as buffer:
        os.truncate(buffer.name, len(data))
        hear, say = os.pipe()
        child = os.fork()
        if child == 0:
            produce(data, pieces, buffer.name, entries / rate / 1e6,
                    os.fdopen(say, "w"))
            os._exit(0)
        os.close(say)
        process = subprocess.Popen(
            [os.path.join(build, "cli", "printfdecode"), "follow",
             "--until-idle", "3", "-o", form, buffer.name, elf],
            stdout=subprocess.PIPE)
        lines = 0
        while lines < entries:
            some = os.read(process.stdout.fileno(), 1 << 20)
            if not some:
                sys.exit("live: only %d of %d lines" % (lines, entries))
            lines += some.count(b"\n")
        last = time.monotonic()
        process.terminate()
        process.stdout.read()
        process.wait()
        os.waitpid(child, 0)
        with os.fdopen(hear) as f:
            return last - float(f.read())


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--build", default="build")
    p.add_argument("--vs")
    p.add_argument("--entries", type=int, default=10000000)
    p.add_argument("--rate", type=float, default=30)
    p.add_argument("--runs", type=int, default=5)
    o = p.parse_args()
    builds = [o.build] + ([o.vs] if o.vs else [])
    with tempfile.TemporaryDirectory() as folder:
        elf, data, pieces = make(o.build, folder, o.entries)
        for form in ("raw", "json"):
            times = {build: [] for build in builds}
            for _ in range(o.runs):
                for build in builds:
                    times[build].append(follow(build, form, elf, data, pieces,
                                               o.entries, o.rate))
            for build in builds:
                print("follow %-5s %s: last line %.3f s late (%.3f to %.3f), "
                      "%d entries in %.2f s" % (
                          form, build, statistics.median(times[build]),
                          min(times[build]), max(times[build]), o.entries,
                          o.entries / o.rate / 1e6))


main()
