#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What `follow` prints with several threads is what it prints with one: of sound
buffers and of damaged ones, of one file and of two.
usage: many.py PRINTFDECODE DUMP INPUTS.py"""

import os
import random
import re
import subprocess
import sys
import tempfile

PRINTFDECODE, DUMP, INPUTS = sys.argv[1:]
ENTRIES = 300000
STAMP = re.compile(rb',"time":"[^"]*","time_unix_nano":"[0-9]*"')


def follow(arguments, one):
    """With a limit there is one thread."""
    command = [PRINTFDECODE, 'follow', '--until-idle', '0.3', '--settle', '1']
    command += ['-n', '1000000000'] if one else []
    done = subprocess.run(command + arguments, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)
    assert done.returncode in (0, 2), (done.returncode, done.stderr[-400:])
    return STAMP.sub(b'', done.stdout), done.stderr, done.returncode


def make(folder):
    elf, rows = os.path.join(folder, 'x.elf'), os.path.join(folder, 'x.rows')
    sound = os.path.join(folder, 'sound.bin')
    subprocess.run([sys.executable, INPUTS, 'mixed', elf, rows], check=True)
    subprocess.run([DUMP, rows, str(ENTRIES), sound], check=True)
    with open(sound, 'rb') as f:
        data = bytearray(f.read())
    r = random.Random(5)
    for _ in range(40):
        at = r.randrange(16, len(data) - 64)
        n = r.randrange(1, 64)
        data[at:at + n] = r.randbytes(n)
    damaged = os.path.join(folder, 'damaged.bin')
    with open(damaged, 'wb') as f:
        f.write(data)
    return elf, sound, damaged


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        elf, sound, damaged = make(folder)
        runs = [([sound, damaged], ('json',))]
        if 'TEST_WHOLE' in os.environ:
            runs += [([sound], ('raw', 'text', 'json')), ([damaged], ('text', 'json'))]
        for files, outputs in runs:
            for output in outputs:
                arguments = ['-o', output] + files + [elf]
                several = follow(arguments, False)
                one = follow(arguments, True)
                if several != one:
                    wrong += 1
                    print('many: not the same: ' + ' '.join(arguments))
                if several[0].count(b'\n') < ENTRIES * len(files) * 9 // 10:
                    wrong += 1
                    print('many: lines are missing: ' + ' '.join(arguments))
    return 1 if wrong else 0


sys.exit(main())
