#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles kernel.cu for NVIDIA's GPUs with clang, and with nvcc where that is
here: what must not be taken is an error, the strings are found in what comes
out, and a kernel whose sites are off needs few registers more than one without.

    cuda.py PROGRAM INCLUDE [CLANG...]

Exit status 77: no compiler that can do this is here."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STRINGS = sorted([
    ("nothing\n", []), ("ray %u t=%f\n", [32, 32]),
    ("%llu %g %p %*d %hhx\n", [64, 64, 64, 32, 32, 32]),
    ("%s and %s\n", [0, 0]), ('a "literal"', []), ("odd", []), ("even", []),
    ("any %f\n", [32])])
WRONG = (
    ('"%d %f\\n", 1, 2',
     "PFD_PRINTF: argument 2 is of another type than its conversion"),
    ('"%d\\n", 1, 2', "PFD_PRINTF: argument 2 has no conversion"),
    ('"%d %d\\n", 1', "PFD_PRINTF: a conversion has no argument"))
# One row, as PTX has it: numbers of bytes.
ROW = re.compile(r"row_of\w*\[(\d+)\] = \{([^}]*)\}")
MORE_REGISTERS = 2
REGISTERS = re.compile(
    r"entry function '_Z5marchILb([01])E.*?Used (\d+) registers", re.S)


def run(words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=False,
                          **options)


def compile_right(words, out):
    done = run([*words, os.path.join(HERE, "kernel.cu"), "-o", out])
    if done.returncode or "warning" in done.stderr:
        sys.exit("%s: %s" % (words[0], done.stderr))


def refuse(words, folder):
    path = os.path.join(folder, "wrong.cu")
    for arguments, why in WRONG:
        with open(path, "w", encoding="ascii") as f:
            f.write('#include "kernel.cu"\n__global__ void wrong() '
                    "{ PFD_PRINTF(%s); }\n" % arguments)
        done = run([*words, "-I" + HERE, path, "-o", path + ".out"])
        if done.returncode == 0 or why not in done.stderr + done.stdout:
            sys.exit("%s: PFD_PRINTF(%s): expected '%s', found:\n%s"
                     % (words[0], arguments, why, done.stderr))


def find_strings(program, path):
    done = run([program, "strings", "-o", "json", path])
    found = sorted((s["string"], s["widths"])
                   for s in map(json.loads, done.stdout.splitlines())
                   if "string" in s)
    if done.returncode or found != STRINGS:
        sys.exit("%s: expected %r, found %r %s"
                 % (path, STRINGS, found, done.stderr))


def check_rows(ptx):
    """Without an assembler: the rows are there, whole, with their texts."""
    with open(ptx, encoding="ascii") as f:
        rows = [bytes(int(n) for n in m[2].split(",")).ljust(int(m[1]), b"\0")
                for m in ROW.finditer(f.read())]
    texts = [text.encode() for text, _ in STRINGS]
    # A text of a type that two functions have is one string at two places.
    if not all(row[:8] == b"\x89PFDROW\n" for row in rows) or not all(
            any(text in row for row in rows) for text in texts):
        sys.exit("%s: rows %r" % (ptx, rows))


def check_clang(program, include, clang, folder):
    words = [clang, "-x", "cuda", "--cuda-gpu-arch=sm_75",
             "-Xclang", "-target-feature", "-Xclang", "+ptx63",
             "--cuda-device-only", "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-std=c++17", "-O2",
             "-Wall", "-Wextra", "-Werror", "-I" + include, "-S"]
    ptx, cubin = (os.path.join(folder, "clang." + e) for e in ("ptx", "cubin"))
    compile_right(words, ptx)
    check_rows(ptx)
    refuse(words, folder)
    if not shutil.which("ptxas"):
        print("%s: compiled; no ptxas to assemble it" % clang)
        return
    subprocess.run(["ptxas", "-arch=sm_90", ptx, "-o", cubin], check=True)
    find_strings(program, cubin)
    print("%s and ptxas: %d strings" % (clang, len(STRINGS)))


def check_nvcc(program, include, folder):
    words = ["nvcc", "-std=c++17", "-O2", "-arch=sm_90", "-cubin",
             "-I" + include]
    cubin = os.path.join(folder, "nvcc.cubin")
    compile_right(words, cubin)
    find_strings(program, cubin)
    refuse(words, folder)
    done = run([*words, "-Xptxas", "-v", os.path.join(HERE, "measure.cu"),
                "-o", cubin])
    used = {kind == "1": int(n)
            for kind, n in REGISTERS.findall(done.stderr + done.stdout)}
    if len(used) != 2 or used[True] > used[False] + MORE_REGISTERS:
        sys.exit("registers %r %s" % (used, done.stderr))
    print("nvcc: %d strings, %d registers without sites, %d with"
          % (len(STRINGS), used[False], used[True]))


def main(program, include, *clangs):
    clang = next((c for c in clangs if shutil.which(c)), None)
    has_nvcc = shutil.which("nvcc") is not None
    if not clang and not has_nvcc:
        print("neither clang nor nvcc is here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        if clang:
            check_clang(program, include, clang, folder)
        if has_nvcc:
            check_nvcc(program, include, folder)
        else:
            print("no nvcc: registers are not counted")


main(*sys.argv[1:])
