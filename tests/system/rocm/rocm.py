#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles printf.cl and printf.hip for AMD's GPUs and looks whether
`printfdecode strings` finds what is in them:

    rocm.py opencl|hip PROGRAM [CLANG ...]

Each CLANG is tried, for the code object versions that it knows. What should
be found is read from the sources, not from any compiler. Exit status 77: no
compiler that can do this is here.
"""
import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# Of code objects: version and processor.
OPENCL = ((2, "gfx803"), (2, "gfx900"), (3, "gfx900"),
          (4, "gfx906:sramecc+:xnack-"), (4, "gfx90a:xnack+"), (5, "gfx1030"),
          (5, "gfx942"), (6, "gfx1200"), (6, "gfx9-generic"))
KERNELS = ["scalars", "texts", "vectors"]
HIP = ("gfx906", "gfx1030")
HIP_VERSION = 5
ELEMENT_BITS = {"%v4hlf": [32] * 4, "%v2hhd": [32] * 2, "%v4hhx": [8] * 4,
                "%v8hd": [16] * 8, "%v2lf": [64] * 2, "%v3hld": [32] * 3}


def text_of(literal):
    """A C string literal's text, where it is written like Python's."""
    return ast.literal_eval("b" + literal).decode("utf-8")


def calls(source):
    """[(format string, [sizes])] of the lines that call printf."""
    found = []
    with open(os.path.join(HERE, source), encoding="utf-8") as f:
        for line in f:
            call = re.match(r'\s+printf\(("(?:[^"\\]|\\.)*").*;(?: //(.*))?$',
                            line)
            if call:
                sizes = [int(n) for n in (call[2] or "").split()]
                found.append((text_of(call[1]), sizes))
    return found


def widths(text, sizes):
    """What `strings` lists of one call: bits of each scalar, 0 for a text."""
    for conversion, bits in ELEMENT_BITS.items():
        if conversion in text:
            return bits
    return [0 if spec == "s" else 8 * size for spec, size in
            zip(re.findall("%[0-9.l]*([a-zA-Z])", text.replace("%%", "")),
                sizes)]


def compile_to(words, out):
    """None, or why it did not work."""
    done = subprocess.run(words + ["-o", out], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr


def read(program, path):
    done = subprocess.run([program, "strings", "-v", "-o", "json", path],
                          capture_output=True, text=True)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode:
        raise AssertionError("%s: %s" % (path, done.stderr))
    return ([r for r in records if "object" in r],
            [r for r in records if "string" in r])


def expect(what, wanted, got):
    if wanted != got:
        raise AssertionError("%s: expected %r, found %r" % (what, wanted, got))


# ---- OpenCL ----

def check_opencl(program, path, version, target):
    processor, *features = target.split(":")
    objects, strings = read(program, path)
    expect("objects", 1, len(objects))
    o = objects[0]
    expect("version", (version, processor), (o["version"], o["target"]))
    for feature in features:
        expect(feature, "on" if feature.endswith("+") else "off",
               o[feature[:-1]])
    expect("kernels", KERNELS, sorted(k["name"] for k in o["kernels"]))
    expect("printf buffers", [],
           [k for k in o["kernels"] if k["printf_buffer"] is None])
    wanted = sorted((text, widths(text, sizes))
                    for text, sizes in calls("printf.cl"))
    expect("strings", wanted,
           sorted((s["string"], s["widths"]) for s in strings))
    expect("ids", list(range(1, len(wanted) + 1)),
           sorted(int(s["id"], 16) for s in strings))


def opencl(program, clang, folder):
    done = 0
    for version, target in OPENCL:
        path = os.path.join(folder, "opencl.co")
        why = compile_to([
            clang, "-w", "-x", "cl", "-cl-std=CL1.2", "-Xclang",
            "-finclude-default-header", "--target=amdgcn-amd-amdhsa",
            "-mcpu=" + target, "-nogpulib", "-O1",
            "-mcode-object-version=%d" % version, "-c",
            os.path.join(HERE, "printf.cl")], path)
        if why is None:
            check_opencl(program, path, version, target)
            print("%s: OpenCL V%d %s: %d strings as written" % (
                os.path.basename(clang), version, target,
                len(calls("printf.cl"))))
            done += 1
        elif "invalid integral value" not in why and "target" not in why:
            raise AssertionError(why)
    return done


# ---- HIP ----

def check_hip(program, path, ways):
    objects, strings = read(program, path)
    expect("ways in", sorted(ways), sorted(
        o["object"].removeprefix(path) for o in objects))
    expect("versions", {(HIP_VERSION, way[-len(gpu):]) for gpu in HIP
                        for way in ways if way.endswith(gpu)},
           {(o["version"], o["target"]) for o in objects})
    wanted = {text for text, _ in calls("printf.hip")}
    expect("strings", wanted, {s["string"] for s in strings})
    expect("each once", len(wanted), len(strings))


def hip_words(clang, kind, *more):
    return [clang, "-w", "-x", "hip", "-nogpuinc", "-nogpulib", "-O1",
            "--offload-device-only", "-mprintf-kind=" + kind,
            "-mcode-object-version=%d" % HIP_VERSION,
            "-D" + kind.upper(), *more, os.path.join(HERE, "printf.hip")]


def hip(program, clang, folder):
    """Two processors in a bundle, plain and compressed, and hostcall."""
    one = os.path.join(folder, "one.co")
    why = compile_to(hip_words(clang, "buffered", "--no-gpu-bundle-output",
                               "--offload-arch=" + HIP[0]), one)
    if why is not None:
        if "mprintf-kind" in why or "lld" in why:
            return 0  # a compiler before 17, or without its linker
        raise AssertionError(why)
    objects, strings = read(program, one)
    expect("buffered", (1, len({t for t, _ in calls("printf.hip")})),
           (len(objects), len(strings)))
    for compress in (), ("--offload-compress",):
        path = os.path.join(folder, "two.hipfb")
        why = compile_to(hip_words(
            clang, "buffered", "--gpu-bundle-output", *compress,
            *["--offload-arch=" + gpu for gpu in HIP]), path)
        if why is not None and "clang-offload-bundler" in why:
            return 0
        if why is not None:
            raise AssertionError(why)
        with open(path, "rb") as f:
            expect("magic", b"CCOB" if compress else b"__CL", f.read(4))
        check_hip(program, path,
                  [":hipv4-amdgcn-amd-amdhsa--" + gpu for gpu in HIP])
    path = os.path.join(folder, "hostcall.co")
    why = compile_to(hip_words(clang, "hostcall", "--no-gpu-bundle-output",
                               "--offload-arch=" + HIP[0]), path)
    if why is not None:
        raise AssertionError(why)
    objects, strings = read(program, path)
    expect("hostcall", (1, 0), (len(objects), len(strings)))
    if "hostcall" not in (objects[0]["why_none"] or ""):
        raise AssertionError("why there is no table: %r" % objects[0])
    print("%s: HIP: buffered, in bundles, for hostcall" %
          os.path.basename(clang))
    return 1


def run(language, program, compilers):
    """How often the language was compiled and checked."""
    with tempfile.TemporaryDirectory() as folder:
        return sum({"opencl": opencl, "hip": hip}[language](
            program, clang, folder) for clang in compilers)


NEEDED = {"opencl": "no clang for AMD's GPUs is here (Debian: clang-19)",
          "hip": "no clang from 17 on with its lld and bundler is here "
                 "(Debian: clang-19, lld-19, clang-tools-19)"}


def main():
    language, program = sys.argv[1], os.path.abspath(sys.argv[2])
    if run(language, program, [c for c in sys.argv[3:] if shutil.which(c)]):
        return 0
    print("skipped: " + NEEDED[language])
    return 77


if __name__ == "__main__":
    sys.exit(main())
