#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles kernel.hip for AMD's GPUs, with waves of 64 lanes and of 32, and
looks whether its strings are found; then has what the compiler made for a GPU
run on this processor, and what comes out read:

    hip.py PROGRAM INCLUDE [CLANG...]

Exit status 77: no compiler that can do this is here."""
import json
import os
import re
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


RETARGET = (  # LLVM's assembly for a GPU, as one of this processor's
    (r'^target (datalayout|triple) = .*$', ''),
    (r',? ?addrspace\(\d+\)', ''),
    (r'\b(protected|hidden|amdgpu_kernel) ', ''),
    (r'"(target-cpu|target-features|amdgpu-[a-z-]+|'
     r'uniform-work-group-size)"="[^"]*"', ''),
    (r'"amdgpu-[a-z-]+"', ''),
    (r'addrspacecast (\([^()]*\)|\S+ \S+) to ptr', r'bitcast \1 to ptr'),
    (r'addrspacecast \(ptr (\S+) to ptr\)', r'\1'),
    (r'range\(i32 0, 1024\) ', ''),
    (r'@llvm\.lifetime\.(start|end)\.p5', r'@llvm.lifetime.\1.p0'),
    (r'@llvm\.amdgcn\.([a-z.0-9]+)',
     lambda m: '@amdgcn_' + m[1].replace('.', '_')))


def execute(program, clang, include, folder):
    here = os.path.dirname(os.path.abspath(__file__))
    library = os.path.join(os.path.dirname(os.path.abspath(program)), "..",
                           "src")
    options = [clang, "-w", "-x", "hip", "--offload-arch=gfx906",
               "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc",
               "-nogpulib", "-std=c++17", "-O1", "-I" + include,
               os.path.join(here, "kernel.hip"), "-o"]
    path = {name: os.path.join(folder, name) for name in (
        "app.co", "gpu.ll", "host.ll", "host.o", "emulate", "dump")}
    subprocess.run([*options, path["app.co"], "-c"], check=True)
    subprocess.run([*options, path["gpu.ll"], "-S", "-emit-llvm"], check=True)
    with open(path["gpu.ll"], encoding="latin-1") as f:
        text = f.read()
    for pattern, by in RETARGET:
        text = re.sub(pattern, by, text, flags=re.M)
    with open(path["host.ll"], "w", encoding="latin-1") as f:
        f.write(text)
    subprocess.run([clang, "-w", "-O1", "-c", path["host.ll"], "-o",
                    path["host.o"]], check=True)
    subprocess.run([clang, "-no-pie", os.path.join(here, "emulate.c"),
                    path["host.o"], "-I" + include, "-L" + library,
                    "-Wl,-rpath," + library, "-Wl,--allow-shlib-undefined",
                    "-lprintfdecode", "-o", path["emulate"]], check=True)
    said = subprocess.run([path["emulate"], path["app.co"], path["dump"]],
                          capture_output=True, text=True, check=True).stdout
    done = subprocess.run([program, path["dump"], path["app.co"]],
                          capture_output=True, text=True, check=True)
    if done.stdout != said or said.count("\n") < 100:
        sys.exit("said %r, read %r" % (said[:500], done.stdout[:500]))
    print("executed: %d lines" % said.count("\n"))


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
            if os.environ.get("PFD_SANITIZED") == "1":
                print("not executed: a sanitizer has to be in the program")
            else:
                execute(program, clang, include, folder)
        return
    print("no clang from 17 on is here")
    sys.exit(77)


main(*sys.argv[1:])
