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


def main():
    program, cases = sys.argv[1:3]
    bad = n = 0
    for group in sorted(os.listdir(cases)):
        folder = os.path.join(cases, group)
        if not os.path.isdir(folder):
            continue
        names = sorted(name for name in os.listdir(folder)
                       if os.path.exists(f'{folder}/{name}/cmd'))
        step = 1 if group == 'llpc' else max(1, len(names) // OTHERS)
        for name in names[::step]:
            case = f'{folder}/{name}'
            done = subprocess.run(
                [sys.executable, '-S', f'{HERE}/run_cases.py', program, case],
                preexec_fn=limit, check=False, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            n += 1
            if done.returncode:
                bad += 1
                print(f'{group}/{name}: {done.stdout[:500]}')
    print(f'{n} cases, {bad} failed')
    return 1 if bad or not n else 0


if __name__ == '__main__':
    sys.exit(main())
