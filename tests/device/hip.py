#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles kernel.hip for AMD's GPUs, with waves of 64 lanes and of 32, and
looks whether its strings are found:

    hip.py PROGRAM INCLUDE [CLANG...]

Exit status 77: no compiler that can do this is here."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

TARGETS = ("gfx90a", "gfx1100")
TEXT = "%llu %g %p %*d %hhx\n"
STRINGS = sorted([
    ("nothing\n", []), ("ray %u t=%f\n", [32, 32]),
    (TEXT, [64, 64, 64, 32, 32, 32]), ("%s and %s\n", [0, 0]),
    ('a "literal"', []), ("odd", []), ("even", []),
    ("any %f\n", [32])])


def check(program, clang, include, target, folder):
    out = os.path.join(folder, target)
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                          "kernel.hip")
    subprocess.run(
        [clang, "-x", "hip", "--offload-arch=" + target, "--cuda-device-only",
         "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib", "-std=c++17",
         "-O2", "-Wall", "-Wextra", "-Werror", "-I" + include, "-c", source,
         "-o", out], check=True)
    done = subprocess.run([program, "strings", "-o", "json", out],
                          capture_output=True, text=True, check=True)
    found = sorted((s["string"], s["widths"])
                   for s in map(json.loads, done.stdout.splitlines())
                   if "string" in s)
    if found != STRINGS:
        sys.exit("%s: expected %r, found %r" % (target, STRINGS, found))
    print("%s: %d strings" % (target, len(found)))


def main(program, include, *clangs):
    for clang in clangs:
        if not shutil.which(clang):
            continue
        with tempfile.TemporaryDirectory() as folder:
            for target in TARGETS:
                check(program, clang, include, target, folder)
        return
    print("no clang from 17 on is here")
    sys.exit(77)


main(*sys.argv[1:])
