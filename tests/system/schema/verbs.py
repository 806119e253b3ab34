#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""verbs.py PROGRAM CASES NODE VALIDATE SCHEMA: each verb that writes JSON does
so for the inputs of the golden cases, whatever verb they are about, and the
schema has all of it."""
import os
import sys
import tempfile
from concurrent import futures

from lines import Lines

PROGRAM, CASES, *VALIDATE = [os.path.abspath(word) for word in sys.argv[1:]]
sys.path.insert(0, os.path.dirname(CASES))
import run_cases

RECORDS = ('entry', 'finding', 'summary', 'string', 'call', 'object',
           'string_stats', 'dword', 'region', 'facts', 'fault')
N_ENDS = 40  # most lines between are like them
# These say how to read; all others choose what to print, or are a verb's own.
READING = ('--format', '--layout', '--compat', '--opencl-strings', '--buffer',
           '--strings', '--shader', '--shaders', '--max-inflated')
SWITCHES = ('-v', '-c', '-i', '--invert-match', '--keep-going',
            '--with-filename', '--no-filename')


def reading(words):
    """Options that say how to read, and operands."""
    words = iter(words)
    options, operands = [], []
    for word in words:
        if word in READING:
            options += [word, next(words)]
        elif word.startswith('-') and word != '-':
            word in SWITCHES or next(words, None)
        else:
            operands.append(word)
    return options, operands


def commands(words, n, is_expected):
    """What to do with the inputs of the nth case: verbs take turns.
    is_expected: the lines of decode are in the case."""
    how, operands = reading(words)
    modules = [w for pair in zip(how[::2], how[1::2]) for w in pair
               if pair[0] in ('--shader', '--shaders', '--strings')]
    if n % 2:
        yield (['inspect', *how, *operands],
               ['stats', *how, '--where', 'a0 >= 0', *operands],
               ['strings', '-v', *modules, *operands])[n // 2 % 3]
    if not is_expected:
        yield ['decode', *how, *operands]
    if n % 5 == 0:
        yield ['doctor', *operands]
    if n % 30 == 0:
        yield ['inspect', *how, '--entry', '1', *operands]
        yield ['inspect', *how, '--at', '9', *operands]
        yield ['recover', '-v', *modules, *operands]
        yield ['follow', '--until-idle', '0.05', '--settle', '10', *modules,
               *operands]


def run_case(numbered):
    n, case = numbered
    words, stdin = run_cases.arguments(case)
    done = []
    with tempfile.TemporaryDirectory() as folder:
        run_cases.unpack(case, folder)
        for command in commands(words, n, 'expect.json' in os.listdir(case)):
            r = run_cases.run(PROGRAM, command + ['-o', 'json'], stdin, folder)
            assert 0 <= r.returncode <= 3, (case, command, r)
            done.append((command, r.stdout))
    return done


def main():
    cases = sorted(folder for folder, _, names in os.walk(CASES)
                   if 'cmd' in names)
    with tempfile.TemporaryDirectory() as folder:
        lines = Lines(folder)
        with futures.ThreadPoolExecutor(4) as pool:
            for done in pool.map(run_case, enumerate(cases)):
                for command, out in done:
                    lines.add(command, out, N_ENDS)
        return lines.validate(VALIDATE, RECORDS)


if __name__ == '__main__':
    sys.exit(main())
