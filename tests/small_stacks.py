#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden cases with a stack of 128 KiB: an eighth of what the library's threads have,
and what musl gives to those of others. small_stacks.py PROGRAM CASES. Of each
format, those of llpc are all of them."""
import os
import resource
import subprocess
import sys

STACK = 128 << 10
OTHERS = 25  # of each other folder
HERE = os.path.dirname(os.path.abspath(__file__))


def limit():
    resource.setrlimit(resource.RLIMIT_STACK, (STACK, resource.RLIM_INFINITY))


def choose(cases):
    for group in sorted(os.listdir(cases)):
        folder = os.path.join(cases, group)
        if not os.path.isdir(folder):
            continue
        names = sorted(name for name in os.listdir(folder)
                       if os.path.exists(f'{folder}/{name}/cmd'))
        step = 1 if group == 'llpc' else max(1, len(names) // OTHERS)
        yield from (f'{folder}/{name}' for name in names[::step])


def main():
    program, cases = sys.argv[1:3]
    return subprocess.run(
        [sys.executable, '-S', f'{HERE}/run_cases.py', program, *choose(cases)],
        preexec_fn=limit, check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
