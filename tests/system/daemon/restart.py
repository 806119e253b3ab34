#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""restart.py DAEMON DUMP ELF: without a service manager that keeps descriptors, a
daemon with a state folder goes on in shared buffers where it was."""
import json
import os
import signal
import socket
import time

from harness import Daemon, elf_frame, frame, producer, run, until
from systemd import DATA, Shared

CONFIG = '''state_dir: $T/state
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: file, path: $T/all.log, required: true}
  - {type: http, address: "unix:$T/http.sock"}
'''


def records(temp):
    try:
        with open(f'{temp}/all.log', encoding='utf-8') as f:
            # The last line may be half written at any moment.
            return [json.loads(line) for line in f if line.endswith('\n')]
    except FileNotFoundError:
        return []


def indexes(temp, source='live'):
    return [r['index'] for r in records(temp)
            if r['type'] == 'entry' and r['source'] == source]


def announce(b, temp, name='live', generation=0):
    sock = producer(f'{temp}/in.sock',
                    frame('hello', process='tester', pid=os.getpid()),
                    elf_frame())
    socket.send_fds(sock, [frame('buffer', buffer=1, name=name, size=len(DATA),
                                 generation=generation, fds=1)], [b.memory])
    return sock


def arrived(temp, n, source='live'):
    until('entries', lambda: len(indexes(temp, source)) >= n)


def goes_on(temp, end):
    """Each entry comes once, also those that were written meanwhile."""
    d = Daemon(temp, CONFIG)
    b = Shared()
    sock = announce(b, temp)
    for n in 20, 40:
        b.write(10)
        arrived(temp, n - 10)
        end(d)
        sock.close()
        b.write(10)  # nobody looks
        d.start()
        sock = announce(b, temp)
        arrived(temp, n)
    time.sleep(0.3)
    assert indexes(temp) == list(range(40)), indexes(temp)
    numbers = [r['sequence'] for r in records(temp)]
    assert numbers == list(range(1, len(numbers) + 1)), numbers
    # What ends in order is forgotten.
    before = d.log().count('live: ended')
    sock.close()
    until('its end', lambda: d.log().count('live: ended') > before)
    d.stop()
    with open(f'{temp}/state/checkpoint', encoding='ascii') as f:
        assert not json.load(f)['sources']


def stopped(temp):
    goes_on(temp, lambda d: d.stop())


def killed(temp):
    goes_on(temp, lambda d: d.kill())


def used_anew(temp):
    """Another run in the same memory is read from its beginning, whether the
    producer says that it is one or not."""
    for generation in 0, 1:
        at = f'{temp}/{generation}'
        os.mkdir(at)
        d = Daemon(at, CONFIG)
        b = Shared()
        sock = announce(b, at)
        b.write(10)
        arrived(at, 10)
        d.stop()
        sock.close()
        os.pwrite(b.memory, bytes(len(DATA)), 0)
        b.at = 16
        b.write(10)
        if not generation:
            # Not the bytes that were there, of the last argument.
            last = os.pread(b.memory, 1, b.at - 1)[0]
            os.pwrite(b.memory, bytes([last ^ 1]), b.at - 1)
            b.write(10)
        d.start()
        sock = announce(b, at, generation=generation)
        n = 10 if generation else 20
        arrived(at, 10 + n)
        assert indexes(at) == list(range(10)) + list(range(n)), indexes(at)
        assert [r.get('generation', 0) for r in records(at)
                if r['type'] == 'entry'] == [0] * 10 + [1] * n
        sock.close()
        d.stop()


def two_alike(temp):
    """Two buffers of one process with one name: neither is taken for the other,
    and it is said that both come again."""
    d = Daemon(temp, CONFIG)
    buffers = [Shared(), Shared()]
    for i, b in enumerate(buffers):
        b.write(10 + i)
    socks = [announce(b, temp) for b in buffers]
    arrived(temp, 21)
    until('a word', lambda: 'has two buffers of this name' in d.log())
    d.stop()
    for s in socks:
        s.close()
    for b in buffers:
        b.write(5)
    d.start()
    socks = [announce(b, temp) for b in buffers]
    arrived(temp, 21 + 31)
    assert sorted(indexes(temp)[21:]) == sorted([*range(15), *range(16)])
    for s in socks:
        s.close()
    d.stop()


def others(temp):
    """Buffers of one name in two processes are two."""
    d = Daemon(temp, CONFIG)
    children = []
    for i in range(2):
        child = os.fork()
        if child == 0:
            b = Shared()
            b.write(10 + i)
            socks = [announce(b, temp)]

            def again(*_, b=b, socks=socks):
                b.write(5)
                socks[0] = announce(b, temp)
            signal.signal(signal.SIGUSR1, again)
            while True:
                signal.pause()
        children.append(child)
    try:
        arrived(temp, 21)
        d.kill()
        d.start()
        for child in children:
            os.kill(child, signal.SIGUSR1)
        arrived(temp, 31)
        time.sleep(0.3)
        assert sorted(indexes(temp)) == sorted([*range(15), *range(16)])
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    d.stop()


if __name__ == '__main__':
    run(stopped, killed, used_anew, two_alike, others)
