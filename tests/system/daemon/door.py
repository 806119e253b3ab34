#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""door.py DAEMON DUMP ELF: producers that have connected, and wait until there is
room. Told by the order in which they go in, not by time."""
import contextlib
import os
import resource
import signal
import socket
import struct
import time

from harness import (DUMP, START, Daemon, die_with_us, dial, dump_frames,
                     elf_frame, entry_ends, frame, need, run, send_behind,
                     slurp, until)
from lockout import few_descriptors

CONFIG = '''memory_max: 24MiB
ring: 4MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock", max_clients: 200}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''
N_FEW = 4  # entries of each


def said(name):
    """All that one says who goes at once."""
    data = slurp(DUMP)
    data = data[:entry_ends(data)[N_FEW - 1]]
    return START + elf_frame() + b''.join(dump_frames(
        name=name, data=struct.pack('<QQ', (len(data) - 16) // 4, 0) + data[16:]))


def visit(path, name):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(path)
        with contextlib.suppress(OSError):  # it may be sent away
            s.sendall(said(name))


@contextlib.contextmanager
def visited(path, *names):
    """By another process, once for each name."""
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            die_with_us()
            for name in names:
                visit(path, name)
            os.write(tell, b'.')
            signal.pause()
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(ready, 1) == b'.'
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(ready)


def holds_some(path):
    """A producer with pieces of a code object that never is whole."""
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    send_behind(s, START + b''.join(frame(
        'code_object', code_object=1, offset=k << 18, bytes=bytes(1 << 18),
        total=6 << 20) for k in range(4)))
    return s


def stays(value, seconds=1.5):
    """Longer than the daemon keeps room for somebody who has come."""
    first = value()
    end = time.monotonic() + seconds
    while first and value() and time.monotonic() < end:
        time.sleep(0.05)
    return value()


@contextlib.contextmanager
def no_room(temp, d):
    """So many producers are here that one waits, each with a little."""
    with contextlib.ExitStack() as stack:
        while not stays(lambda: d.metric('waiting_producers')):
            s = stack.enter_context(holds_some(f'{temp}/in.sock'))
            stack.callback(s.shutdown, socket.SHUT_RDWR)  # others send there
        yield int(d.metric('waiting_producers'))


def sources(lines, n):
    """Of n producers, by the order of their last lines."""
    got = [e['source'] for e in lines.entries(n * N_FEW)]
    return sorted(set(got), key=lambda name: len(got) - got[::-1].index(name))


def places():
    """As many as may wait inside, where few descriptors are."""
    return min(300, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 20)


def crowd(n):
    return [f'crowd {i}' for i in range(n)]


def turns(temp):
    """Behind hundreds of connections of one process that has sent all of it, and
    closed them, another one's goes in after one of those. Nothing is lost."""
    need('http')
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    n = places()
    with contextlib.ExitStack() as stack:
        with no_room(temp, d) as before:
            for names in crowd(n), ['victim']:
                stack.enter_context(visited(f'{temp}/in.sock', *names))
            until('all that wait', lambda: d.metric('waiting_producers') ==
                  before + n + 1)
        order = sources(lines, n + 1)
    assert len(order) == n + 1, order
    at = order.index('victim')
    print(f'let in as number {at + 1} of {n + 1}')
    assert at < n // 3, order  # some are in at a time
    assert d.metric('refused_total') == d.metric('waiting_producers') == 0
    d.stop()


def too_many(temp):
    """Where there are no places for all, who has the most waiting has its last
    ones sent away, and nobody else."""
    need('http')
    d = Daemon(temp, CONFIG, program=few_descriptors(temp, 512))
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    n = 100
    with contextlib.ExitStack() as stack:
        with no_room(temp, d) as before:
            stack.enter_context(visited(f'{temp}/in.sock', *crowd(n)))
            until('some that leave', lambda: d.metric('refused_total') > 0 and
                  d.metric('refused_total') + d.metric('waiting_producers') ==
                  before + n)
            n_places = int(d.metric('waiting_producers'))
            assert 16 < n_places < 512 // 12, n_places
            victims = [f'victim {i}' for i in range(8)]
            stack.enter_context(visited(f'{temp}/in.sock', *victims))
            until('as many more', lambda: d.metric('refused_total') ==
                  before + n + 8 - n_places)
            assert d.metric('waiting_producers') == n_places
        n_left = n_places - before - 8
        assert set(sources(lines, n_left + 8)) == {*victims, *crowd(n_left)}
    d.stop()


run(turns, too_many)
