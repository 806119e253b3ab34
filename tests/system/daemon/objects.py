#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""objects.py DAEMON DUMP ELF: producers of one user that send code objects,
modules and shaders without end, more and more of them. A producer that comes
with a little one has room for it, and its lines, while they go on."""
import contextlib
import itertools
import os
import signal
import socket
import struct
import sys
import time

from harness import (ELF, N_ENTRIES, PROGRAM, START, Daemon, die_with_us, dial,
                     dump_frames, frame, has, is_sanitized, producer, run, slurp)

HERE = os.path.dirname(os.path.abspath(__file__))
MODULE = slurp(f'{HERE}/../../cases/debugprintf/capture_bytes/bytes.comp.spv')
CONFIG = '''ring: 8MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if has('http') else '')


def code_object(number):
    """Each another one: behind an ELF file anything may stand."""
    return frame('code_object', code_object=1, name='o',
                 bytes=slurp(ELF) + struct.pack('<Q', number))


def tool(number):
    """A module, by the number of the tool that made it."""
    return MODULE[:8] + struct.pack('<I', number % (1 << 32)) + MODULE[12:]


def module(number):
    return frame('code_object', code_object=1, bytes=tool(number))


def shaders(number):
    return module(number) + b''.join(
        frame('shader', shader=1000 * number + i, code_object=1) for i in range(20))


def no_module(number):
    """It cannot be used, however often it comes."""
    del number
    return frame('code_object', code_object=1,
                 bytes=b'\x03\x02\x23\x07' + bytes(60)) + frame(
                     'shader', shader=1, code_object=1) * 20


def streams(number):
    """Each with numbers of its own."""
    return START + shaders(number)


def loose(number):
    """No shader speaks of it."""
    return module(number) + frame('hello', pid=1)


KINDS = shaders, loose, no_module, streams, code_object
N_VISITORS = 10  # processes
N_PARTS = 20  # of 20 each, which are said again and again


def flood(path, parts, tell):
    """All of it once, then tell; then again, as fast as it is read."""
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        s.sendall(START)
        while True:
            for part in parts:
                s.sendall(part)
            with contextlib.suppress(BlockingIOError):
                os.write(tell, b'.')


def visit(path, parts, tell):
    """A producer with all of it and a buffer, which goes, then the next one."""
    numbers = itertools.count(os.getpid() << 20)
    while True:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            said = [START]
            for k in range(len(parts)):
                said += [frame('code_object', code_object=k + 1,
                               bytes=tool(next(numbers)))]
                said += [frame('shader', shader=100 * k + j, code_object=k + 1)
                         for j in range(20)]
            said += dump_frames(name=f'visitor {next(numbers) % 50}')
            s.sendall(b''.join(said))
        with contextlib.suppress(BlockingIOError):
            os.write(tell, b'.')


@contextlib.contextmanager
def flooded(path, kinds, act=flood):
    """A process for each kind, which has said something by now."""
    children = []
    ready, tell = os.pipe()
    os.set_blocking(tell, False)
    for i, kind in enumerate(kinds):
        child = os.fork()
        if child == 0:
            try:
                die_with_us()
                os.nice(5)  # what they cost is the daemon's time, not theirs
                parts = [b''.join(kind(i << 20 | j << 8 | k) for k in range(20))
                         for j in range(N_PARTS)]
                while True:
                    with contextlib.suppress(OSError):
                        act(path, parts, tell)
            finally:
                os._exit(1)
        children.append(child)
    try:
        for _ in children:
            os.read(ready, 1)
        yield
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        os.close(ready)
        os.close(tell)


def seconds(temp, lines, number):
    """Of one that comes with a code object of its own, until its last line is
    there, each with its text."""
    begun = time.monotonic()
    with producer(f'{temp}/in.sock', code_object(number),
                  *dump_frames(name='victim')):
        got = lines.entries(N_ENTRIES)
    assert all('message' in e for e in got), got[0]
    return time.monotonic() - begun


def floods(temp):
    """Of one kind and of all, by few and by many."""
    several = [KINDS * 2] if is_sanitized(PROGRAM) else [
        kind * n for kind in (KINDS[:1], KINDS[1:2]) for n in (2, 8)] + [
            KINDS[:4], KINDS * 2]
    number = 1 << 40
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'victim',
                                    'entries_only': True})
    for kinds in several:
        with flooded(f'{temp}/in.sock', kinds):
            taken = []
            for _ in range(10):
                taken.append(seconds(temp, lines, number))
                number += 1
            if has('http'):
                memory = d.metric('memory_accounted_bytes') / 2**20
                assert memory < 256, memory
                print(f'{memory:.0f} MiB', end=' ')
        print(f'{len(kinds)} of', *sorted({kind.__name__ for kind in kinds}),
              '- median, most: %.4f %.4f s' % (sorted(taken)[5], max(taken)))
        sys.stdout.flush()
    d.stop()


def visitors(temp):
    """Who comes while others come and go without pause, each with shaders of
    its own, has room, too, if not at once: nobody is sent away for what is free
    again soon."""
    d = Daemon(temp, 'memory_max: 64MiB\n' + CONFIG.split('\n', 1)[1])
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'victim',
                                    'entries_only': True})
    taken = []
    with flooded(f'{temp}/in.sock', [shaders] * N_VISITORS, visit):
        end = time.monotonic() + 8
        while time.monotonic() < end:
            taken.append(seconds(temp, lines, (1 << 41) + len(taken)))
    if has('http'):  # nor has anybody who was in lost anything
        assert d.metric('bad_frames_total') == 0, d.log()
    print('visitors: %d, median, most: %.4f %.4f s' %
          (len(taken), sorted(taken)[len(taken) // 2], max(taken)))
    d.stop()


run(floods, visitors)
