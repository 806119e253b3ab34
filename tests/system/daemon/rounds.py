#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""rounds.py DAEMON DUMP ELF: strangers who keep the loop busy without end,
producers and those who ask. What others send is there as fast as that of others
who do the same beside each other: compared with a daemon that nobody attacks."""
import contextlib
import json
import os
import signal
import socket
import struct
import sys
import time

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, PROGRAM, START, Daemon, die_with_us,
                     dial, dump_frames, elf_frame, frame, has, is_sanitized, need,
                     producer, run, slurp, until)

CONFIG = '''inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if has('http') else '')
FLOOD_BYTES = 256 << 10
# Who has no turns waits 6,000 times as long, or for ever; a busy machine makes
# some hundreds out of dozens.
SLOWER_AT_MOST = 2000


@contextlib.contextmanager
def others(*acts):
    """Other processes that each do one of these again and again."""
    children = []
    for act in acts:
        child = os.fork()
        if child == 0:
            try:
                die_with_us()
                os.nice(5)  # what they cost is the daemon's time, not theirs
                while True:
                    with contextlib.suppress(OSError):
                        act()
            finally:
                os._exit(1)
        children.append(child)
    try:
        yield
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def says(path, part):
    """Says it without end, as fast as it is read."""
    def act():
        many = part * (FLOOD_BYTES // len(part) + 1)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
            s.sendall(START)
            while True:
                s.sendall(many)
    return act


def asks(path, request):
    """Connects, says it, reads something of what comes, and leaves."""
    def act():
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(1)
            s.connect(path)
            s.sendall(request)
            s.recv(65536)
    return act


def seconds(temp, lines):
    """Of a producer that comes, until its last line is there."""
    begun = time.monotonic()
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='victim')):
        lines.entries(N_ENTRIES)
    return time.monotonic() - begun


def compare(d, what, lines, calm, *acts):
    n = 10
    with others(*acts):
        time.sleep(0.3)
        taken = [[seconds(temp, got) for temp, got in
                  zip((d.temp, f'{d.temp}/calm'), (lines, calm))]
                 for i in range(n)]
    with_flood, without = (sorted(column) for column in zip(*taken))
    print('%s: median, most: %.4f %.4f s, without %.4f %.4f s' % (
        what, with_flood[n // 2], with_flood[-1], without[n // 2], without[-1]))
    sys.stdout.flush()
    assert with_flood[n // 2] < SLOWER_AT_MOST * without[n // 2], what
    assert with_flood[-1] < SLOWER_AT_MOST * without[-1], what


FLOODS = {
    'start': START,
    'hello': frame('hello', pid=1, host='h' * 200),
    'buffer': frame('buffer', buffer=1, name='same', size=1 << 20),
    'buffers': b''.join(frame('buffer', buffer=i, name=f'n{i}', size=64)
                        for i in range(1000)),
    'restarted': START + b''.join(
        frame('buffer', buffer=i, name=f'n{i}', size=64) for i in range(50)),
    'named': b''.join(frame('buffer', buffer=1, name='x' * 250 + str(i))
                      for i in range(1000)),
    'done': frame('buffer', buffer=1, name='d') + frame('done', buffer=1),
    'data': frame('buffer', buffer=1, name='d') + frame(
        'data', buffer=1, offset=1 << 29, bytes=b'x' * 8) * 1000,
    'spread': frame('buffer', buffer=1, name='d') + b''.join(frame(
        'data', buffer=1, offset=i << 18, bytes=b'x' * 8) for i in range(4000)),
    'gap': frame('gap', buffer=1, lost_frames=1),
    'unknown': frame('what') * 100,
    'labels': frame('buffer', buffer=1, name='l', labels={str(i): 'v' * 900 for i in range(64)}),
    'entries': frame('buffer', buffer=1, name='d') + frame(
        'entries', buffer=1, bytes=struct.pack('<IIIIIIQQQ', 1, 0, 0, 0, 0, 0, 0, 0, 0)) * 100,
}


def start_two(temp):
    """One that is attacked, one that is not; lines of the victims of both."""
    os.mkdir(f'{temp}/calm')
    daemons = [Daemon(place, CONFIG) for place in (temp, f'{temp}/calm')]
    return daemons, [dial(f'{d.temp}/l.sock', {'output': 'json', 'source': 'victim'})
                     for d in daemons]


def attack(daemons, lines, acts):
    """With one kind after the other, two of each; then all of them at once."""
    for what, act in acts.items():
        compare(daemons[0], what[:60], *lines, act, act)
    compare(daemons[0], 'all of them', *lines, *acts.values())
    for d in daemons:
        d.stop()


FEW = ('start', 'hello', 'gap')


def producers(temp):
    """Producers that say one thing without end."""
    daemons, lines = start_two(temp)
    if is_sanitized(PROGRAM):
        print('left out with a sanitizer, which takes minutes for them: all but '
              + ', '.join(FEW))
        floods = {what: FLOODS[what] for what in FEW}
    else:
        floods = FLOODS
    attack(daemons, lines, {what: says(f'{temp}/in.sock', part)
                            for what, part in floods.items()})


def get(what):
    return f'GET {what} HTTP/1.1\r\nHost: x\r\n\r\n'.encode()


def askers(temp):
    """Subscribers and clients of HTTP that come, ask for much, and go."""
    daemons, lines = start_two(temp)
    for _ in range(20):  # so that there is something to be asked for
        seconds(temp, lines[0])
    acts = {f'subscriber {request}': asks(f'{temp}/l.sock', request.encode() + b'\n')
            for request in (
                '{"from":"oldest"}', '{"from":"oldest","output":"entries"}',
                '{"from":"oldest","where":"a0*a0+a0 > 3","match":"(a+b+)+c"}',
                'x' * 4000)}
    if has('http'):
        acts |= {f'http {what}': asks(f'{temp}/http.sock', get(what) * 200)
                 for what in ('/metrics', '/state', '/', '/lines?from=oldest', '/no')}
    attack(daemons, lines, acts)


run(producers, askers)
