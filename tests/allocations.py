#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""allocations.py PROGRAM FAILING_MALLOC SAMPLES: verbs whose allocations fail, each
by itself, and all from one on. Whatever fails is said, with an exit status; nothing
is left out without a word."""
import os
import subprocess
import sys
import tempfile

PROGRAM, FAILING, SAMPLES = (os.path.abspath(a) for a in sys.argv[1:4])
DUMP = [f'{SAMPLES}/data/small.bin', f'{SAMPLES}/data/app.elf']
RAYS = [f'{SAMPLES}/data/rays.bin', f'{SAMPLES}/data/rays.pfdb']
VERBS = (
    ['decode', *DUMP],
    ['decode', '-o', 'json', '--fields', '-n', '5', *DUMP],
    ['decode', '--where', 'steps > 63', '--collapse', *RAYS],
    ['decode', '--describe', f'{SAMPLES}/rings/slangpy-source.yaml',
     f'{SAMPLES}/rings/data/print.bin', '--strings',
     f'{SAMPLES}/rings/data/print.slang'],
    ['doctor'],
    ['doctor', *DUMP],
    ['extract', DUMP[1], '--force', '--to', '$T'],
    ['formats'],
    ['formats', '--check', '--describe', f'{SAMPLES}/rings/own.yaml',
     f'{SAMPLES}/rings/data/own.bin'],
    ['info', *DUMP],
    ['inspect', *DUMP],
    ['plot', 'heat', '--x', '0', '--y', '1', '--value', '2', '-o', 'blocks',
     '--format-string', 'hit', *RAYS],
    ['plot', 'hist', '--x', '2', '-o', 'png', '--format-string', 'hit', *RAYS],
    ['recover', *DUMP],
    ['scan', f'{SAMPLES}/device/hello/hello.comp', '--force', '-o', '$T/to.comp',
     '--strings', '$T/to.pfdb'],
    ['stats', *DUMP],
    ['strings', DUMP[1]],
    ['table', '--format-string', '^ray', *DUMP],
    ['table', '--format-string', '^ray', '-o', 'arrow', *DUMP],
    ['table', '--format-string', '^ray', '-o', 'npy', *DUMP],
    ['table', '--format-string', '^half', '--group-by', 'bool', '--agg',
     'count,min,p50,max', *DUMP],
    ['table', '--all', '--force', '--to', '$T/all.db', *DUMP],
)
MOST = int(os.environ.get('TEST_WHOLE', 0)) and 10000 or 60


class Failing:
    """A verb, whose N-th allocation fails."""

    def __init__(self, words, folder):
        self.words = [w.replace('$T', folder) for w in words]
        self.env = {**os.environ, 'LD_PRELOAD': FAILING,
                    'FAIL_COUNT': f'{folder}/count'}
        self.whole = self.run()
        with open(f'{folder}/count', encoding='ascii') as f:
            self.n = int(f.read())

    def run(self, **env):
        p = subprocess.run([PROGRAM, *self.words], stdin=subprocess.DEVNULL,
                           env={**self.env, **env}, capture_output=True,
                           timeout=120, check=False)
        return p.returncode, p.stdout, p.stderr

    def check(self, n, **env):
        got = self.run(FAIL_AT=str(n), **env)
        is_whole = got[:2] == self.whole[:2]
        said = b'out of memory' in got[2] and (is_whole or 0 < got[0] < 128)
        if got != self.whole and not said:
            sys.exit(f'{self.words}: allocation {n} of {self.n} {env}: '
                     f'status {got[0]}, {got[2][-300:]}')


def main():
    for words in VERBS:
        with tempfile.TemporaryDirectory() as folder:
            verb = Failing(words, folder)
            if verb.n == 0 or verb.whole[0]:
                sys.exit(f'{words}: status {verb.whole[0]}, {verb.n} allocations')
            step = verb.n // MOST + 1
            for n in range(1, verb.n + 1, step):
                verb.check(n)
                if n // step % 4 == 0:
                    verb.check(n, FAIL_ALL='1')
        print(f'ok: {" ".join(words[:1])}: {verb.n} allocations', flush=True)


if __name__ == '__main__':
    main()
