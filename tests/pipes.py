#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pipes.py PRINTFDECODE DATA: what is much goes through a wide pipe, and all of
it arrives; other pipes stay as they were."""
import fcntl
import os
import random
import subprocess
import sys
import tempfile

PROGRAM, DATA = map(os.path.abspath, sys.argv[1:3])
MOST = 1 << 20


def command(n_buffers):
    """In DATA: the JSON has the names, and what is little must stay so."""
    return [PROGRAM, '-o', 'json', *['small.bin'] * n_buffers, 'app.elf']


def through_pipe(n_buffers, size=None):
    """(all that came, how large the pipe was then)"""
    out, into = os.pipe()
    if size:
        fcntl.fcntl(into, fcntl.F_SETPIPE_SZ, size)
    with subprocess.Popen(command(n_buffers), stdout=into, cwd=DATA,
                          stderr=subprocess.DEVNULL) as p:
        os.close(into)
        data = b''
        while more := os.read(out, 1 << 20):
            data += more
        assert p.wait() in (0, 2), p.returncode
    size = fcntl.fcntl(out, fcntl.F_GETPIPE_SZ)
    os.close(out)
    return data, size


def in_file(n_buffers):
    with tempfile.TemporaryFile() as f:
        done = subprocess.run(command(n_buffers), stdout=f, check=False,
                              cwd=DATA, stderr=subprocess.DEVNULL)
        assert done.returncode in (0, 2), done
        f.seek(0)
        return f.read()


def gone():
    """The reader takes a little of it, as head does."""
    with subprocess.Popen(command(200), stdout=subprocess.PIPE, cwd=DATA,
                          stderr=subprocess.PIPE) as p:
        p.stdout.read(100)
        p.stdout.close()
        assert p.stderr.read().count(b'standard output') == 0
        assert p.wait() in (0, 2), p.returncode


def not_named():
    """A buffer in a pipe that no word names: what to say for it."""
    done = subprocess.run([PROGRAM, f'{DATA}/app.elf'], input=b'x', check=False,
                          capture_output=True)
    assert done.returncode == 1 and b'; - is the buffer' in done.stderr, done
    with open(os.devnull, 'rb') as null:
        done = subprocess.run([PROGRAM, f'{DATA}/app.elf'], stdin=null,
                              check=False, capture_output=True)
    assert done.returncode == 1 and b'; - is' not in done.stderr, done


def of_no_format():
    """All bytes of a long stream of no format are counted, and of a short one
    that is text no more is said than of a file."""
    for data in (random.Random(1).randbytes((5 << 20) + 3), b'plain words\n' * 9):
        for jobs in '1', '8':
            done = subprocess.run([PROGRAM, '-j', jobs, '-'], input=data,
                                  check=False, capture_output=True)
            lines = done.stderr.splitlines()
            assert done.returncode == 2 and not done.stdout, done
            assert b' %d skipped' % len(data) in lines[-1], (len(data), done)
            assert len(lines) == 2, lines


first = os.pipe()
plain = fcntl.fcntl(first[0], fcntl.F_GETPIPE_SZ)
much, little = in_file(100), in_file(1)
assert len(much) > 3 * plain > 10 * len(little) > 0, (len(much), len(little))
assert through_pipe(100) == (much, MOST)
assert through_pipe(1) == (little, plain)
assert through_pipe(100, MOST // 2) == (much, MOST)
try:
    fcntl.fcntl(first[0], fcntl.F_SETPIPE_SZ, 2 * MOST)
except PermissionError as e:
    print(f'not looked at: a pipe that is wider than ours ({e})')
else:
    assert through_pipe(100, 2 * MOST) == (much, 2 * MOST)
gone()
not_named()
of_no_format()
