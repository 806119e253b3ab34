#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""lockout.py DAEMON DUMP ELF: strangers who take what others need, and who have
gone: what they had is given back."""
import contextlib
import fcntl
import glob
import json
import os
import re
import signal
import socket
import struct
import sys
import threading
import time

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, PROGRAM, START, Buffer, Daemon,
                     dial, dump_frames, elf_frame, entry_ends, frame, free_port,
                     has, is_sanitized, known, need, producer, run, slurp, until)

sys.path.append(os.path.join(os.path.dirname(__file__), '..', '..', 'make'))
import container_cases as make  # noqa: E402

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


def files_of_live_sources(temp):
    """More live sources than files are written at a time: each has its turn,
    again and again, and has all of its lines."""
    os.mkdir(f'{temp}/out')
    os.mkdir(f'{temp}/in')
    n = 300
    data = slurp(DUMP)
    ends = entry_ends(data)
    # 300 sessions take some 315 MiB, sometimes more; without room for one its input
    # would wait, for as long as the others live.
    d = Daemon(temp, 'code_objects: [$E]\nmemory_max: 1GiB\n' + CONFIG.replace(
        'inputs:\n', 'inputs:\n' + ''.join(
            f'  - {{type: buffer, path: $T/in/{i}, name: s{i}}}\n'
            for i in range(n))) +
        '  - {type: file, path: "$T/out/{buffer}"}\n')
    buffers = [Buffer(f'{temp}/in/{i}', len(data)) for i in range(n)]
    for part in range(4):
        begin, end = ([16] + ends)[4 * part], ends[4 * part + 3]
        for b in buffers:
            b.put(data, begin, end)
        until('all of them', lambda: all(
            os.path.exists(f'{temp}/out/s{i}') and
            count(f'{temp}/out/s{i}') == 4 * (part + 1) for i in range(n)))
    if has('http'):
        assert d.metric('waiting_files') == 0
        assert d.metric('missed_lines_total') == 0
    d.stop()
    for i in range(n):
        with open(f'{temp}/out/s{i}') as f:
            lines = [json.loads(line) for line in f]
        assert [e['index'] for e in lines] == list(range(16)), i


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


def searching_description():
    """A ring whose messages are in code objects: each is looked at for them."""
    return frame('code_object', code_object=1 << 20, name='ring.yaml', bytes=(
        b'ring: flood\ncounter: {at: 0}\nstrings: {section: .text, id: index}\n'))


def flood_of_objects(temp):
    """While one sends code objects without end, others are decoded."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'b'})
    stop = threading.Event()
    sent = [0]

    def flood():
        with producer(f'{temp}/in.sock', searching_description()) as p:
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


def seconds_of_one(temp, lines, i):
    """Of a producer that comes with a code object that nobody has sent, until
    its last line is there."""
    begun = time.monotonic()
    with producer(f'{temp}/in.sock', *objects(7 << 40 | i, 1), *dump_frames()):
        assert known(lines.entries(N_ENTRIES))
    return time.monotonic() - begun


def objects_in_time(temp):
    """Behind twenty thousand code objects of one, and while it sends more, it
    takes others hardly longer than where nobody sends any."""
    n = 2000 if is_sanitized(PROGRAM) else 20000
    os.mkdir(f'{temp}/calm')
    flooded = Daemon(temp, CONFIG)
    calm = Daemon(f'{temp}/calm', CONFIG)
    sent = [0]
    stop = threading.Event()
    parts = [b''.join(objects(first, 100)) for first in range(0, n, 100)]

    def flood():
        with producer(f'{temp}/in.sock') as p:
            for part in parts:
                p.sendall(part)
                sent[0] += 100
            while not stop.is_set():
                p.sendall(b''.join(objects(1 << 30 | sent[0], 10)))
                sent[0] += 10
    thread = threading.Thread(target=flood, daemon=True)
    thread.start()
    until('a flood', lambda: sent[0] >= n)
    lines = [dial(f'{d.temp}/l.sock', {'output': 'json', 'source': 'b'})
             for d in (flooded, calm)]
    taken = [[seconds_of_one(d.temp, got, i)
              for d, got in zip((flooded, calm), lines)] for i in range(60)]
    stop.set()
    thread.join()
    with_flood, without = (sorted(column) for column in zip(*taken))
    print('median, most: %.4f %.4f s, without a flood %.4f %.4f s' % (
        with_flood[30], with_flood[-1], without[30], without[-1]))
    assert with_flood[30] < 20 * without[30]
    assert with_flood[-1] < 2000 * without[30]
    for d in flooded, calm:
        d.stop()


def wrong_frames(temp):
    """A flood of frames that are wrong, or say that something was lost, pushes
    nobody's lines out; what they say is lost is counted to the last."""
    n = 200 if is_sanitized(PROGRAM) else 1000
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'b'})
    gaps = dial(f'{temp}/l.sock', {'output': 'json', 'match': 'no entry'})
    for i in range(3):
        with producer(f'{temp}/in.sock') as p:
            for _ in range(20):
                p.sendall((frame('gap', buffer=1, lost_frames=1) +
                           frame('data', buffer=7, bytes=b'x')) * n)
            with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
                assert known(lines.entries(N_ENTRIES))
    missed = 0
    while missed < 3 * 20 * n:
        line = gaps.next()
        assert line['type'] == 'gap' and line['reason'] in (
            'sender_lost', 'bad_frame'), line
        missed += line['missed']
    assert missed == 3 * 20 * n
    if has('http'):
        assert d.metric('missed_lines_total') == 0
    d.stop()


def many_strings(first):
    """A code object with 2,000 that no other one has."""
    rows = [make.Str((first + 1) << 20 | i, f'{first} {i} %d').row()
            for i in range(2000)]
    return make.elf(make.note(b'AMDGPU', 32, make.pack(
        {'amdpal.format_strings': {'.strings': rows, '.version': 1}})))


def first_entries(numbers):
    """A dump: an entry for the first string of each of many_strings(number)."""
    data = b''.join(struct.pack('<QI', (number + 1) << 36 | 3, 0) for number in numbers)
    return struct.pack('<QQ', len(data) // 4, 0) + data


def room_of_objects(temp):
    """Whoever has gone leaves room for others; whoever is here keeps what it
    has sent."""
    d = Daemon(temp, 'memory_max: 64MiB\n' + CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    first = producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='first'),
                     dump_frames(2, 'open')[0])  # it is not idle
    assert known(lines.entries(N_ENTRIES))

    def has_room(frames, n):
        with producer(f'{temp}/in.sock', *frames):
            return known(lines.entries(n))

    # Each has two thirds of the 16 MiB. What one had is free when the build ends
    # that runs while it goes; until then the next one may have no room.
    for i in range(6):
        numbers = range(5 * i, 5 * i + 5)
        frames = [frame('code_object', code_object=k + 1, name=f'o{k}',
                        bytes=many_strings(number) + bytes(2 << 20))
                  for k, number in enumerate(numbers)]
        frames += dump_frames(data=first_entries(numbers))
        until('room', lambda: has_room(frames, len(numbers)))
    # What one has sent that is here is not what goes.
    first.sendall(START + b''.join(dump_frames(name='first')))
    assert known(lines.entries(N_ENTRIES))
    first.close()
    d.stop()


def room_for_others(temp):
    """Whoever sends as many code objects as it can has not all of the room."""
    d = Daemon(temp, 'memory_max: 64MiB\n' + CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    with producer(f'{temp}/in.sock', *objects(99 << 20, 9, 2 << 20)):
        until('an end of it', lambda: re.search('no room for it|is not taken',
                                                d.log()))
        with producer(f'{temp}/in.sock', *objects(98 << 20, 1, 1 << 20),
                      elf_frame(), *dump_frames()):
            assert known(lines.entries(N_ENTRIES))
    assert d.log().count('no room for it') < 9, d.log()
    d.stop()


def strings_after_others_went(temp):
    """A buffer that was there before code objects had to go is printed with
    those that come after that."""
    watched = 'inputs:\n  - {type: buffer, path: $T/b, name: watched}\n'
    b = Buffer(f'{temp}/b', len(slurp(DUMP)))
    d = Daemon(temp, 'memory_max: 64MiB\n' + CONFIG.replace('inputs:\n', watched, 1))
    lines = dial(f'{temp}/l.sock', {'source': 'watched'})
    own = dial(f'{temp}/l.sock', {'source': 'own'})
    data = slurp(DUMP)
    half = entry_ends(data)[N_ENTRIES // 2 - 1]
    b.put(data, end=half)
    assert not any(e['message'] for e in lines.entries(N_ENTRIES // 2))
    for i in range(12):  # each has two thirds of the 16 MiB, others go
        large = [frame('code_object', code_object=k + 1, name=f'o{k}',
                       bytes=many_strings(5 * i + k) + bytes(2 << 20))
                 for k in range(5)]
        with producer(f'{temp}/in.sock', *large) as p:
            p.sendall(b''.join(dump_frames()))
        until('its end', lambda: not has('http') or d.metric('sessions') == 1)
    with contextlib.ExitStack() as stack:
        is_there = False
        while not is_there:  # while others are built there may be no room for it
            stack.enter_context(producer(f'{temp}/in.sock', elf_frame(),
                                         *dump_frames(name='own')))
            is_there = known(own.entries(N_ENTRIES))
        b.put(data, begin=half)
        late = lines.entries(N_ENTRIES // 2)
        assert known(late), late[0]
    d.stop()


def sets_made_anew(temp):
    """Of many who have come and gone nothing is left but lines: who stays is
    printed with its own strings, and who comes last has room."""
    d = Daemon(temp, 'memory_max: 64MiB\n' + CONFIG.replace('8MiB', '32MiB'))
    data = slurp(DUMP)
    half = entry_ends(data)[N_ENTRIES // 2 - 1]

    def begun(name, strings, data):
        return (frame('code_object', code_object=1, name=name, bytes=strings),
                frame('buffer', buffer=1, name=name, size=len(data)),
                frame('data', buffer=1, bytes=data))

    early = dial(f'{temp}/l.sock', {'source': 'early'})
    late = dial(f'{temp}/l.sock', {'source': 'late'})
    gone = dial(f'{temp}/l.sock', {'source': 'gone'})
    with producer(f'{temp}/in.sock', *begun('early', slurp(ELF), data[:half])) as p:
        assert known(early.entries(N_ENTRIES // 2))
        for i in range(150):
            with producer(f'{temp}/in.sock', *begun('gone', many_strings(i), data)):
                gone.entries(N_ENTRIES)
        with producer(f'{temp}/in.sock', *begun('late', slurp(ELF), data)):
            assert known(late.entries(N_ENTRIES))
        p.sendall(frame('data', buffer=1, offset=half, bytes=data[half:]))
        assert known(early.entries(N_ENTRIES // 2))
    if has('http'):
        assert d.metric('memory_peak_bytes') <= 64 << 20
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


def share(path, name, bell=None):
    """A producer that hands over memory with DUMP in it, and the memory."""
    data = slurp(DUMP)
    memory = os.memfd_create('b', os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(memory, bytes(len(data)))
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    sock = producer(path, elf_frame())
    fds = [memory] + ([] if bell is None else [bell])
    socket.send_fds(sock, [frame('buffer', buffer=1, name=name, size=len(data),
                                 fds=len(fds))], fds)
    return sock, memory


def write_all(memory):
    data = slurp(DUMP)
    os.pwrite(memory, data[16:], 16)
    os.pwrite(memory, data[:16], 0)


def idle_producers(temp):
    """Who has no buffer and says nothing is closed, however much it said
    before; who has one stays, however silent. The time is one that a machine does
    not stand still for, between two words of ours."""
    d = Daemon(temp, CONFIG.replace('in.sock"', 'in.sock", idle_timeout: 3s'))
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    bell = os.eventfd(0, os.EFD_NONBLOCK)
    rings, rung = share(f'{temp}/in.sock', 'rings', bell)
    silent, seen = share(f'{temp}/in.sock', 'silent')
    slow = producer(f'{temp}/in.sock', *dump_frames(name='slow')[:1])
    until('their buffers', lambda: not has('http') or d.metric('sessions') == 3)
    halves = [b'', START[:5], START, START + frame('hello', pid=1),
              START + elf_frame()[:1000], START + elf_frame(),
              START + frame('hello', pid=1)[:4],
              START + b''.join(dump_frames(name='over'))]
    with contextlib.ExitStack() as idle:
        socks = [idle.enter_context(socket.socket(socket.AF_UNIX))
                 for _ in halves * 2]
        for s, said in zip(socks, halves * 2):
            s.settimeout(PATIENCE)
            s.connect(f'{temp}/in.sock')
            s.sendall(said)
        assert not any(s.recv(1) for s in socks)
    if has('http'):
        assert d.metric('idle_producers_total') == len(halves) * 2
    lines.entries(2 * N_ENTRIES)
    for memory in rung, seen:
        write_all(memory)
        os.eventfd_write(bell, 1)
        got = {e['source'] for e in lines.entries(N_ENTRIES)}
        assert got == {'rings' if memory == rung else 'silent'}
    slow.sendall(b''.join(dump_frames(name='slow')[1:]))
    assert {e['source'] for e in lines.entries(N_ENTRIES)} == {'slow'}
    for s in rings, silent, slow:
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
        s.settimeout(PATIENCE)
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


def few_descriptors(temp, n):
    """A program that is the daemon with so many."""
    path = f'{temp}/few'
    with open(path, 'w') as f:
        f.write(f'#!/bin/sh\nulimit -n {n}\nexec "{PROGRAM}" "$@"\n')
    os.chmod(path, 0o755)
    return path


def descriptors(temp):
    """Those that nobody claims: some are left for the daemon's own files, and
    all are given back."""
    config = 'code_objects: [$E]\n' + CONFIG.replace(
        'inputs:\n', 'inputs:\n  - {type: buffer, path: $T/b, name: own}\n')
    config += '  - {type: file, path: "$T/of-{buffer}"}\n'
    d = Daemon(temp, config, program=few_descriptors(temp, 256))
    fds = f'/proc/{d.process.pid}/fd'
    before = len(os.listdir(fds))
    null = os.open('/dev/null', os.O_RDONLY)
    senders = []
    for _ in range(40):
        s = socket.socket(socket.AF_UNIX)
        s.connect(f'{temp}/in.sock')
        with contextlib.suppress(OSError):
            s.sendall(START)
            for _ in range(4):
                socket.send_fds(s, [frame('hello', pid=1)], [null] * 16)
        senders.append(s)

    def kept():
        names = []
        for fd in os.listdir(fds):
            with contextlib.suppress(FileNotFoundError):
                names.append(os.readlink(f'{fds}/{fd}'))
        return names.count('/dev/null')

    # Half of 224 is one user's, three quarters of these for those that have
    # many. Those of a message are more for a moment, until they are closed.
    # (The daemon's own input is one, too.)
    until('what one user may have', lambda: 112 * 3 // 4 <= kept() <= 112 + 1)
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


def hoard(path):
    """A producer that has as many buffers followed as it can."""
    sock = producer(path, elf_frame())
    memory = os.memfd_create('b', os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(memory, slurp(DUMP))
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    for i in range(200):
        bell = os.eventfd(0)
        socket.send_fds(sock, [frame('buffer', buffer=i, name=f'h{i}', size=64,
                                     fds=2)], [memory, bell])
        os.close(bell)
    os.close(memory)
    return sock


def hoarders(temp):
    """Producers that each take all the descriptors that they can leave some for
    whoever comes after them, however many they are, and give them back."""
    need('http')
    d = Daemon(temp, 'memory_max: 512MiB\n' + CONFIG,
               program=few_descriptors(temp, 512))
    fds = f'/proc/{d.process.pid}/fd'
    before = len(os.listdir(fds))
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'b'})
    socks = []
    most = 0
    for i in range(12):
        refused = d.metric('bad_frames_total')
        socks.append(hoard(f'{temp}/in.sock'))
        until('no more for it', lambda: d.metric('bad_frames_total') > refused)
        if i == 0:
            first = d.metric('sessions')
        most = max(most, len(os.listdir(fds)))
        with producer(f'{temp}/in.sock', *dump_frames()):
            lines.entries(N_ENTRIES)
    assert 20 <= first <= 56, first  # a quarter of 448, two for each
    assert most - before < 448 // 2 + 40, most
    assert d.http('/healthz')[0] == 200
    for s in socks:
        s.close()
    until('all of them', lambda: len(os.listdir(fds)) <= before + 4)
    with hoard(f'{temp}/in.sock'):
        until('as many again', lambda: d.metric('sessions') == first)
    d.stop()


JUNK = """memory_max: 24MiB
ring: 2MiB
state_dir: $T/state
sandbox: false
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
  - {type: directory, path: $T/watched, dumps: "*.bin"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
  - {type: file, path: "$T/each/{buffer}", output: json}
"""


def wrong_places(temp):
    """Junk, by the place that it goes to."""
    null = os.open('/dev/null', os.O_RDONLY)

    def send(path, *parts, fds=(), start=START):
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
            s.settimeout(1)
            s.connect(f'{temp}/{path}')
            socket.send_fds(s, [start, *parts], fds)
            s.shutdown(socket.SHUT_WR)
            s.recv(100)

    def leave(i):
        path = f'{temp}/watched/{i}.bin'
        if i % 2:
            os.mkfifo(path)
        else:
            os.symlink('/etc/passwd', path)
    return (
        lambda _: send('in.sock', frame('data', buffer=7, bytes=b'x') * 30),
        lambda i: send('in.sock', *(frame('code_object', code_object=k, name='junk',
                                          bytes=b'\x7fELF%d.%d' % (i, k))
                                    for k in range(30))),
        lambda _: send('in.sock', frame('buffer', buffer=1, name='n', size=64,
                                        fds=2) * 8, fds=[null] * 16),
        lambda i: send('in.sock', *dump_frames(
            name='cut', data=slurp(DUMP)[:300] + b'\xff' * 64)),
        lambda i: send('in.sock', *dump_frames(name=f's{i % 400}')),
        lambda _: send('in.sock', b'\xff' * 100, start=b'x'),
        lambda _: send('l.sock', b'\xff{"output":' * 9 + b'\n', start=b''),
        lambda _: send('http.sock', b'GET \xff HTTP/9\r\n\r\n',
                       start=b''),
        leave,
    )


def see_our_errors(temp, d):
    d.reload('code_objects: [$T/own.elf]\n' + JUNK)
    until('our code object', lambda: 'code object ' + f'{temp}/own.elf: ' in d.log())
    with producer(f'{temp}/in.sock', *(frame('buffer', buffer=i, name=f'h{i}')
                                       for i in range(200))):
        until('its share', lambda: 'buffer is not followed' in d.log())
    os.mkdir(f'{temp}/own')
    d.reload(JUNK + '  - {type: file, path: $T/own, output: json}\n')
    until('our file', lambda: f'error: {temp}/own: ' in d.log())


def junk_and_our_errors(temp):
    """Whatever junk comes at the same time, and however much: what fails here is
    in the log."""
    need('http')
    for name in 'watched', 'each':
        os.mkdir(f'{temp}/{name}')
    for i in range(400):  # these can never be written
        os.mkdir(f'{temp}/each/s{i}')
    with open(f'{temp}/own.elf', 'wb') as f:
        f.write(b'\x7fELF' + bytes(100))
    d = Daemon(temp, JUNK)
    ended = threading.Event()

    def go_on(wrong):
        i = 0
        while not ended.is_set():
            wrong(i)
            i += 1
    threads = [threading.Thread(target=go_on, args=(wrong,), daemon=True)
               for wrong in wrong_places(temp)]
    with contextlib.ExitStack() as stack:
        for thread in threads:
            thread.start()
            stack.callback(thread.join)
        stack.callback(ended.set)
        for what in ('was not announced', '/junk: ', 'each/s',
                     'sends no frames', 'cut: ended'):
            until(what, lambda w=what: w in d.log())
        until('much more', lambda: d.metric('log_suppressed_total') > 1000)
        see_our_errors(temp, d)
    d.stop()


if __name__ == '__main__':
    run(names_of_sources, files_of_sources, files_of_live_sources,
        flood_of_objects, objects_in_time, wrong_frames,
        room_of_objects, room_for_others, strings_after_others_went,
        sets_made_anew, silent_ones, idle_producers, idle_browsers, one_user,
        hoarders, descriptors, junk_and_our_errors)
