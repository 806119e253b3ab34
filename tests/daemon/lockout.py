#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lockout.py DAEMON DUMP ELF: strangers who take what others need, and who have
gone: what they had is given back."""
import contextlib
import glob
import json
import os
import re
import signal
import socket
import struct
import threading

from harness import (DUMP, ELF, N_ENTRIES, PROGRAM, START, Buffer, Daemon,
                     dial, dump_frames, elf_frame, entry_ends, frame, free_port,
                     has, is_sanitized, need, producer, run, slurp, until)

CONFIG = '''ring: 8MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if has('http') else '')


N_FEW = 16  # entries of each of many names: more than the ring has room for


def few_entries():
    data = slurp(DUMP)
    data = data[:entry_ends(data)[N_FEW - 1]]
    return struct.pack('<QQ', (len(data) - 16) // 4, 0) + data[16:]


def give(temp, lines, names):
    """A producer that sends a buffer of each name, and goes."""
    data = few_entries()
    with producer(f'{temp}/in.sock', elf_frame(), *(
            part for i, name in enumerate(names)
            for part in dump_frames(i + 1, name, data))):
        return lines.entries(N_FEW * len(names))


def names_of_sources(temp):
    """As many as there are numbers in a page, and more: who comes then has its
    name in records, filters and metrics, as before."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    n = 4200
    for first in range(0, n, 200):
        got = give(temp, lines, [f's{i}' for i in range(first, first + 200)])
        assert len({e['source'] for e in got}) == 200
    some = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'fresh'})
    until('a reader', lambda: not has('http') or d.metric('readers') == 2)
    assert {e['source'] for e in give(temp, lines, ['fresh'])} == {'fresh'}
    assert {e['source'] for e in some.entries(N_FEW)} == {'fresh'}
    # Old lines have their old names.
    old = dial(f'{temp}/l.sock', {'source': f's{n - 1}', 'from': 'oldest'})
    assert {e['source'] for e in old.entries(N_FEW)} == {f's{n - 1}'}
    assert old.is_quiet(0.05)
    if has('http'):
        until('their end', lambda: d.metric('sessions') == 0)
        page = d.http()[1]
        listed = re.findall(r'source_entries_total\{source="(.*)"\} (\d+)', page)
        assert ('fresh', str(N_FEW)) in listed, listed[:3]
        assert not [name for name, _ in listed if 'other' in name]
        assert len(listed) <= 4097, len(listed)
        assert sum(int(count) for _, count in listed) == (n + 1) * N_FEW
        assert len(page) < 2 << 20
        # They cost something, which is said.
        assert d.metric('memory_accounted_bytes') < 64 << 20
    d.stop()


def files_of_sources(temp):
    """With {buffer}: none is kept open, and who comes later has a file."""
    os.mkdir(f'{temp}/out')
    d = Daemon(temp, CONFIG + '  - {type: file, path: "$T/out/{buffer}"}\n')
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    n = 600
    before = len(os.listdir(f'/proc/{d.process.pid}/fd'))
    for first in range(0, n, 100):
        give(temp, lines, [f's{i}' for i in range(first, first + 100)])

    def whole():
        paths = glob.glob(f'{temp}/out/s*')
        if len(paths) < n:
            return False
        return all(count(path) == N_FEW for path in paths)
    until('files', whole)
    # The same name again goes on in its file, each line once.
    give(temp, lines, ['s0', 's1'])
    until('more', lambda: count(f'{temp}/out/s0') == 2 * N_FEW)
    until('more', lambda: count(f'{temp}/out/s1') == 2 * N_FEW)
    for path in glob.glob(f'{temp}/out/s*'):
        with open(path) as f:
            numbers = [json.loads(line)['sequence'] for line in f]
        assert len(numbers) == len(set(numbers)), path
    until('closed ones', lambda: len(os.listdir(
        f'/proc/{d.process.pid}/fd')) <= before + 8)
    d.stop()


def count(path):
    with open(path) as f:
        return sum('"type":"entry"' in line for line in f)


def objects(first, n, size=0):
    """Frames of code objects, each another one: behind an ELF file anything
    may stand."""
    elf = slurp(ELF)
    return [frame('code_object', code_object=i + 1, name=f'o{i}',
                  bytes=elf + struct.pack('<Q', first + i) + bytes(size))
            for i in range(n)]


def known(entries):
    """None of them lacks its string."""
    return all('message' in e for e in entries)


def flood_of_objects(temp):
    """While one sends code objects without end, others are decoded."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'b'})
    stop = threading.Event()
    sent = [0]

    def flood():
        with producer(f'{temp}/in.sock') as p:
            for first in range(0, 1 << 20, 100):
                if stop.is_set():
                    return
                p.sendall(b''.join(objects(first, 100)))
                sent[0] += 100
    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    until('a flood', lambda: sent[0] > 500)
    for _ in range(3 if is_sanitized(PROGRAM) else 10):
        with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
            assert known(lines.entries(N_ENTRIES))
        assert thread.is_alive()
    stop.set()
    thread.join()
    d.stop()


def room_of_objects(temp):
    """Whoever has gone leaves room for others; whoever is here keeps what it
    has sent, and has not all of it."""
    d = Daemon(temp, 'memory_max: 64MiB\n' + CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    first = producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='first'))
    assert known(lines.entries(N_ENTRIES))
    for i in range(6):  # each has two thirds of the 16 MiB
        with producer(f'{temp}/in.sock', *objects(i << 20, 5, 2 << 20),
                      elf_frame(), *dump_frames()):
            assert known(lines.entries(N_ENTRIES))
        until('its end', lambda: not has('http') or d.metric('sessions') == 0)
    assert 'no room' not in d.log(), d.log()
    # What one has sent that is here is not what goes.
    first.sendall(START + b''.join(dump_frames(name='first')))
    assert known(lines.entries(N_ENTRIES))
    # Nobody has all of it.
    with producer(f'{temp}/in.sock', *objects(99 << 20, 9, 2 << 20)):
        until('an end of it', lambda: 'no room for it' in d.log())
        with producer(f'{temp}/in.sock', *objects(98 << 20, 1, 1 << 20),
                      elf_frame(), *dump_frames()):
            assert known(lines.entries(N_ENTRIES))
    assert d.log().count('no room for it') < 9, d.log()
    first.close()
    d.stop()


def silent_ones(temp):
    """Who connects and says nothing, or half a word, keeps nobody out."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    silent = []
    for i in range(300):
        s = socket.socket(socket.AF_UNIX)
        s.connect(f'{temp}/in.sock')
        if i % 2:
            s.send(START[:3])
        silent.append(s)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        lines.entries(N_ENTRIES)
    # A producer that speaks is not who makes way for them.
    with producer(f'{temp}/in.sock', elf_frame()) as p:
        for _ in range(300):
            s = socket.socket(socket.AF_UNIX)
            s.connect(f'{temp}/in.sock')
            silent.append(s)
        p.sendall(b''.join(dump_frames(name='late')))
        assert {e['source'] for e in lines.entries(N_ENTRIES)} == {'late'}
    for s in silent:
        s.close()
    d.stop()


def idle_browsers(temp):
    """More idle connections than there are descriptors, to HTTP."""
    need('http')
    port = free_port()
    d = Daemon(temp, CONFIG + f'''
  - {{type: http, address: "tcp:127.0.0.1:{port}", idle_timeout: 200ms}}
''')
    before = len(os.listdir(f'/proc/{d.process.pid}/fd'))
    idle = []
    for i in range(900):
        s = socket.socket(socket.AF_UNIX)
        s.connect(f'{temp}/http.sock')
        s.send(b'GET /healthz HTTP/1.1\r\nHost: x\r\n' + (
            b'\r\n' if i % 3 == 0 else b''))
        idle.append(s)
        if i % 100 == 0:
            assert d.http('/healthz')[0] == 200
    assert d.http('/healthz')[0] == 200
    assert len(os.listdir(f'/proc/{d.process.pid}/fd')) < before + 90
    # However slowly a request comes, and however many: an end comes, too.
    with socket.create_connection(('127.0.0.1', port)) as s:
        s.settimeout(20)
        assert s.recv(1) == b''
    with socket.create_connection(('127.0.0.1', port)) as s:
        s.settimeout(0.01)
        with contextlib.suppress(ConnectionError):
            while True:
                s.send(b'G')
                with contextlib.suppress(TimeoutError):
                    assert s.recv(1) == b''
                    break
    for s in idle:
        s.close()
    d.stop()


def one_user(temp):
    """One user takes all places that there are for one, and another gets in."""
    if os.getuid() != 0:
        print('left out: only root can be two users')
        return
    os.chmod(temp, 0o755)
    d = Daemon(temp, CONFIG.replace('in.sock"', 'in.sock", mode: 0666').replace(
        'l.sock"', 'l.sock", mode: 0666'))
    ready, child = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgid(65534)
        os.setuid(65534)
        held = []
        for name, first in (('in', START), ('l', b'{}\n')):
            for _ in range(70):
                s = socket.socket(socket.AF_UNIX)
                s.connect(f'{temp}/{name}.sock')
                with contextlib.suppress(ConnectionError):
                    s.send(first)
                held.append(s)
        os.write(child, b'x')
        signal.pause()
    assert os.read(ready, 1) == b'x'
    try:
        lines = dial(f'{temp}/l.sock', {'output': 'json'})
        with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
            lines.entries(N_ENTRIES)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    d.stop()


def descriptors(temp):
    """Those that nobody claims: some are left for the daemon's own files, and
    all are given back."""
    program = f'{temp}/few'
    with open(program, 'w') as f:
        f.write(f'#!/bin/sh\nulimit -n 256\nexec "{PROGRAM}" "$@"\n')
    os.chmod(program, 0o755)
    config = 'code_objects: [$E]\n' + CONFIG.replace(
        'inputs:\n', 'inputs:\n  - {type: buffer, path: $T/b, name: own}\n')
    config += '  - {type: file, path: "$T/of-{buffer}"}\n'
    d = Daemon(temp, config, program=program)
    fds = f'/proc/{d.process.pid}/fd'
    before = len(os.listdir(fds))
    null = os.open('/dev/null', os.O_RDONLY)
    senders = []
    while len(senders) < 40 and 'cannot accept' not in d.log():
        s = socket.socket(socket.AF_UNIX)
        s.connect(f'{temp}/in.sock')
        with contextlib.suppress(OSError):
            s.sendall(START)
            for _ in range(4):
                socket.send_fds(s, [frame('hello', pid=1)], [null] * 16)
        senders.append(s)
    until('no more of them', lambda: 'cannot accept' in d.log() or
          'descriptors of a producer were lost' in d.log())
    # Those of a message are more for a moment, until they are closed.
    until('some that are left', lambda: before < len(os.listdir(fds)) < 232)
    data = slurp(DUMP)
    Buffer(f'{temp}/b', len(data)).put(data)
    until('lines in a file', lambda: os.path.exists(f'{temp}/of-own') and
          count(f'{temp}/of-own') >= N_ENTRIES)
    for s in senders:
        s.close()
    until('descriptors', lambda: len(os.listdir(fds)) <= before + 8)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'b'})
    with producer(f'{temp}/in.sock', *dump_frames()):
        lines.entries(N_ENTRIES)
    d.stop()


if __name__ == '__main__':
    run(names_of_sources, files_of_sources, flood_of_objects, room_of_objects,
        silent_ones, idle_browsers, one_user, descriptors)
