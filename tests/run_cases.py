#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs golden cases: run_cases.py PROGRAM FOLDER...

Each FOLDER is a case, or a folder of cases. They run one after the other: a Python of
its own for each would take longer than the cases. Those that fail are named.

A case is a folder with `cmd` (the program's arguments; `< FILE` gives standard
input), the inputs, and what is expected:

    expect.txt    standard output with --output raw
    expect.text   standard output with --output text
    expect.json   standard output with --output json
    expect.out    standard output of the command as it stands
    expect.err    standard error, the same in each of those runs
    expect.rc     the exit status, likewise

Any of them, and any input, can be FILE.gz instead. All files are put into an
empty folder, where the program runs: names in messages are bare names.

How many bytes of memory something takes is each platform's own: `#` stands in
its place.

REGENERATE=1 in the environment rewrites what exists (read the diff!).
"""
import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

OUTPUTS = {"txt": ["--output", "raw"], "text": ["--output", "text"],
           "json": ["--output", "json"], "out": []}
TIMEOUT_S = 120
SANITIZER_RC = 99
# Runs a program of another architecture: meson says it, in a cross build.
WRAPPER = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
HERE = os.path.dirname(os.path.abspath(__file__))


def read(path):
    if os.path.exists(path + ".gz"):
        with gzip.open(path + ".gz") as f:
            return f.read()
    if os.path.exists(path):
        with open(path, "rb") as f:
            return f.read()
    return None


def write(path, data):
    if os.path.exists(path + ".gz"):
        if read(path) != data:
            with open(path + ".gz", "wb") as f:
                f.write(gzip.compress(data, 9, mtime=0))
    else:
        with open(path, "wb") as f:
            f.write(data)


def unpack(case, to):
    for name in os.listdir(case):
        if os.path.isdir(os.path.join(case, name)):
            shutil.copytree(os.path.join(case, name), os.path.join(to, name))
            continue
        data = read(os.path.join(case, name.removesuffix(".gz")))
        with open(os.path.join(to, name.removesuffix(".gz")), "wb") as f:
            f.write(data)


def arguments(case):
    words = shlex.split(read(os.path.join(case, "cmd")).decode(), comments=True)
    stdin = None
    if "<" in words:
        at = words.index("<")
        stdin = words[at + 1]
        del words[at:at + 2]
    return words, stdin


def run(program, words, stdin, folder):
    env = dict(os.environ, LC_ALL="C.UTF-8",
               ASAN_OPTIONS="exitcode=%d:suppressions=%s" % (
                   SANITIZER_RC, os.path.join(HERE, "asan.supp")),
               UBSAN_OPTIONS="halt_on_error=1:exitcode=%d" % SANITIZER_RC)
    env.pop("NO_COLOR", None)
    with open(os.path.join(folder, stdin) if stdin else os.devnull, "rb") as f:
        return subprocess.run(WRAPPER + [program] + words, cwd=folder, stdin=f, env=env,
                              capture_output=True, timeout=TIMEOUT_S)


def show_difference(name, want, got):
    at = next((i for i, (a, b) in enumerate(zip(want, got)) if a != b),
              min(len(want), len(got)))
    start = max(0, at - 40)
    print("%s differs at byte %d (%d expected, %d given)\n  expected %r\n"
          "  given    %r" % (name, at, len(want), len(got),
                             want[start:at + 80], got[start:at + 80]))


def compare(case, name, got, regenerate):
    path = os.path.join(case, name)
    want = read(path)
    if regenerate:
        write(path, got)
    elif want is None:
        print("%s is missing" % name)
        return False
    elif want != got:
        show_difference(name, want, got)
        return False
    return True


def run_case(program, case, regenerate):
    """Prints what is wrong; returns whether nothing is."""
    kinds = [k for k in OUTPUTS
             if read(os.path.join(case, "expect." + k)) is not None]
    words, stdin = arguments(case)
    if not kinds:
        print("nothing is expected")
        return False
    ok = True
    with tempfile.TemporaryDirectory() as folder:
        unpack(case, folder)
        for i, kind in enumerate(kinds):
            done = run(program, words + OUTPUTS[kind], stdin, folder)
            rc = done.returncode
            if rc < 0 or rc >= 126 or rc == SANITIZER_RC:
                print("%s: exit status %d\n%s" % (
                    kind, rc, done.stderr.decode("utf-8", "replace")[:4000]))
                return False
            again = regenerate and i == 0
            ok &= compare(case, "expect." + kind, done.stdout, regenerate)
            said = re.sub(rb"\d+ (?=bytes of memory\n)", b"# ", done.stderr)
            ok &= compare(case, "expect.err", said, again)
            ok &= compare(case, "expect.rc", b"%d\n" % rc, again)
    return ok


def is_case(folder):
    return os.path.exists(os.path.join(folder, "cmd"))


def cases_of(folder):
    if is_case(folder):
        return [folder]
    return [case for name in sorted(os.listdir(folder))
            if is_case(case := os.path.join(folder, name))]


def passes(program, case, regenerate):
    """One that fails, or cannot be run, is named, and does not end the others."""
    try:
        if run_case(program, case, regenerate):
            return True
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        print(e)
    group, name = os.path.abspath(case).split(os.sep)[-2:]
    print("FAILED: case %s/%s" % (group, name), flush=True)
    return False


def main():
    program = os.path.abspath(sys.argv[1])
    regenerate = os.environ.get("REGENERATE") == "1"
    cases = [case for folder in sys.argv[2:] for case in cases_of(folder)]
    failed = sum(not passes(program, case, regenerate) for case in cases)
    print("%d cases, %d failed" % (len(cases), failed))
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
