#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compiled.py PROGRAM FOLDER [GLSLANG]: a shader compiled here and now.

The listing of its calls tells the types that glslang gave their operands and
where they stand in hello.comp; then a buffer with values for each call is
decoded with the module, in every layout.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
WANT = [
    ("id %u", ["u32"], 8, [3], "id 3"),
    ("float %f double %f", ["f32", "f64"], 9,
     [0x40400000, 0, 0x400c0000], "float 3.000000 double 3.500000"),
    ("long %ld short %d vector %v3d", ["i64", "i16", "i32x3"], 10,
     [0xfffffffc, 0xffffffff, 0xfff6, 3, 3, 3], "long -4 short -10 vector 3, 3, 3"),
    ("after a #line %v2f", ["f32x2"], 100, [0x40400000, 0x40400000],
     "after a #line 3.000000, 3.000000"),
]


def compile_shader(glslang, source, to):
    return subprocess.run(
        [glslang, "-V", "-g", "--target-env", "vulkan1.3", source, "-o", to],
        capture_output=True, timeout=60)


def run(program, folder, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, timeout=60,
                          capture_output=True)
    assert done.returncode in (0, 2), (arguments, done)
    return done.stdout.decode()


def masks_of(types):
    """Which scalars are double, signed 8 and signed 16 bits wide."""
    ret, at = [0, 0, 0], 0
    for name in types:
        scalar, _, n = name.partition("x")
        for which, kind in enumerate(("f64", "i8", "i16")):
            if scalar == kind:
                ret[which] |= 1 << at
        at += int(n or 1)
    return ret


def printf_record(layout, call, types, values):
    place = call["instruction"] if layout == "p6" else call["ordinal"]
    fmt = call["format_id"]
    body = {"p2": [place, 5, 1, 2, 3, fmt],
            "p5": [place, fmt, *masks_of(types), 5, 1, 2, 3],
            "p6": [5 << 27 | place, 1, 2, 3, fmt, *masks_of(types)]}[layout]
    return [2 + len(body) + len(values), 0] + body + values


def main():
    program, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    glslang = shutil.which("glslangValidator") or shutil.which("glslang")
    if not glslang:
        print("skipped: there is no glslangValidator (Debian: glslang-tools)")
        return SKIPPED
    ok = True
    with tempfile.TemporaryDirectory() as to:
        done = compile_shader(glslang, os.path.join(folder, "hello.comp"),
                              os.path.join(to, "hello.spv"))
        if done.returncode:
            print(done.stdout.decode())
            return 1
        calls = [json.loads(line) for line in run(
            program, to, "strings", "-o", "json", "hello.spv").splitlines()]
        for call, (text, types, line, _, _) in zip(calls, WANT):
            got = (call["string"], call["types"], call["line"])
            if got != (text, types, line):
                print("expected %r\ngiven    %r" % ((text, types, line), got))
                ok = False
        if len(calls) != len(WANT):
            print("%d calls" % len(calls))
            return 1
        want = "".join(w[4] + "\n" for w in WANT)
        for layout in ("p2", "p5", "p6"):
            words = []
            for call, w in zip(calls, WANT):
                words += printf_record(layout, call, w[1], w[3])
            head = [0] if layout == "p2" else []
            head.append(len(words))
            with open(os.path.join(to, "buffer.bin"), "wb") as f:
                f.write(struct.pack("<%dI" % len(head + words), *head, *words))
                f.write(bytes(64))
            got = run(program, to, "--format", "debugprintf", "--shader",
                      "0=hello.spv", "buffer.bin")
            if got != want:
                print("%s: expected %r\n    given %r" % (layout, want, got))
                ok = False
    return 0 if ok else 1


if __name__ == "__main__":
    sys.exit(main())
