# SPDX-License-Identifier: MIT
"""The cap of memory: parts that grow by what producers send, and by what their
strings make of little, attack it."""
import collections
import contextlib
import fcntl
import json
import os
import re
import socket
import struct
import sys
import time

from harness import (DUMP, ELF, N_ENTRIES, PROGRAM, START, Daemon, dial,
                     dump_frames, elf_frame, entry_ends, frame, free_port, http,
                     is_sanitized, metric, need, producer, run, slurp, until)

sys.path.append(os.path.join(os.path.dirname(__file__), '..', '..', 'make'))
import container_cases as make  # noqa: E402

CAP = 24 << 20
CONFIG = '''memory_max: 24MiB
ring: 4MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "tcp:127.0.0.1:$P"}
'''
WIDE = b'%4096d%4096d%4096dabcde'
WIDE_ID = 0x9fe7282b62d4


def start(temp):
    need('http')
    port = free_port()
    return Daemon(temp, CONFIG.replace('$P', str(port))), port


def is_below_cap(port, cap=CAP):
    """Now, and at every moment so far."""
    page = http(port, '/metrics')[1]
    parts = dict(re.findall(r'memory_bytes\{part="(\w+)"\} (\d+)', page))
    peak = int(re.search(r'(?m)^\w+memory_peak_bytes (\d+)', page).group(1))
    print(f'{peak} bytes at most, now {parts}')
    assert peak <= cap, (peak, parts)


def many(n, only=None):
    """A buffer of about n bytes: entries of DUMP again and again, all or those
    of one string; and how many they are."""
    data = slurp(DUMP)
    ends = [16] + entry_ends(data)
    some = [data[a:b] for a, b in zip(ends, ends[1:]) if only is None or
            struct.unpack_from('<Q', data, a)[0] >> 16 == only]
    times = n // len(b''.join(some))
    body = b''.join(some) * times
    return (struct.pack('<QQ', len(body) // 4, 0) + body, len(some) * times)


def share(temp, data, code, name):
    """A producer that hands over memory."""
    memory = os.memfd_create('b', os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(memory, data)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    sock = producer(f'{temp}/in.sock', frame(
        'code_object', code_object=1, bytes=code))
    socket.send_fds(sock, [frame('buffer', buffer=1, name=name,
                                 size=len(data), fds=1)], [memory])
    os.close(memory)
    return sock


def hear_entries(lines, n, n_others=0):
    """So many come, or are said to be missed by a subscriber that is slow: with
    some of the other lines, of which there are so many."""
    rest = b''
    while n > 0:
        more = lines.sock.recv(1 << 20)
        assert more, n
        *whole, rest = (rest + more).split(b'\n')
        n -= sum(line.startswith(b'{"type":"entry"') for line in whole)
        for line in whole:
            if line.startswith(b'{"type":"gap"'):
                gap = json.loads(line)
                if gap['reason'] == 'bad_frame':
                    continue
                assert gap['reason'] == 'subscriber_lag', gap
                n -= gap['missed']
    assert -n_others <= n <= 0, (n, n_others)


def little_becomes_much(temp):
    """Twenty bytes that their string makes 12 KiB of: what a look makes is
    taken in pieces, and nothing of it is lost."""
    d, port = start(temp)
    code = slurp(ELF).replace(b'half %f bool %d byte %x', WIDE)
    assert WIDE in code
    data, n = many(70_000, WIDE_ID)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    socks = [share(temp, data, code, f'wide {i}') for i in range(3)]
    hear_entries(lines, 3 * n)
    is_below_cap(port)
    for sock in socks:
        sock.close()
    d.stop()


def is_same_for_a_while(port):
    before = metric(port, 'sessions')
    time.sleep(1)
    return before == metric(port, 'sessions')


def hear_buffers(lines, n, times, socks):
    """So many buffers, each with all of its n entries or said not to be followed.
    Who is heard is let go, so that those that wait have room: all, where nobody
    knows whose entries were missed."""
    heard = collections.Counter()
    while sum(heard.values()) < n * times:
        line = lines.next()
        if line['type'] == 'entry':
            heard[line['source']] += 1
            if heard[line['source']] == 1:
                socks[line['source'].split('/')[-1]].close()
            assert heard[line['source']] <= n
        elif line['type'] == 'gap' and line['reason'] == 'bad_frame':
            heard['refused'] += n
        elif line['type'] == 'gap':
            assert line['reason'] == 'subscriber_lag', line
            heard['missed'] += line['missed']
            for sock in socks.values():
                sock.close()


def are_followed(temp, times, size):
    d, port = start(temp)
    data, n = many(size)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    socks = {f'buffer {i}': share(temp, data, slurp(ELF), f'buffer {i}')
             for i in range(times)}
    hear_buffers(lines, n, times, socks)
    # Those that had to wait for longer than they do are few.
    assert metric(port, 'bad_frames_total') < times / 2
    is_below_cap(port)
    for sock in socks.values():
        sock.close()
    d.stop()


def large_ones_are_followed(temp):
    """Memory that costs the daemon nothing, but for what it remembers of it."""
    are_followed(temp, 12, 3 << 20)


def many_are_followed(temp):
    """And for what it makes of each."""
    are_followed(temp, 60, 200 << 10)


def growing_objects():
    """Code objects that become much: what they inflate to, also one within
    another; the steps and the escaped text of their strings; what their
    metadata is unpacked to; and one as it should be."""
    def strings(*texts):
        rows = [make.Str(i + 1, text).row() for i, text in enumerate(texts)]
        return make.elf(make.note(b'AMDGPU', 32, make.pack(
            {'amdpal.format_strings': {'.strings': rows, '.version': 1}})))

    def nils(n):
        return make.elf(make.note(
            b'AMDGPU', 32, b'\x82\xa1x\xdd' + struct.pack('>I', n) +
            b'\xc0' * n + b'\xa1y\xc0'))

    def packed(data):
        return make.compressed(3, 0, make.bundle([(make.GFX906, data)]))
    return {
        'inflates': packed(make.code('x') + bytes(CAP)),
        'nested': make.compressed(3, 0, make.compressed(3, 0, packed(
            make.code('x') + bytes(4 << 20)) + bytes(4 << 20)) + bytes(3 << 20)),
        'steps': packed(strings('%d' * (1 << 20))),
        'escaped': packed(strings('\x01' * (2 << 20))),
        'many': strings(*('%d' * 20 + str(i) for i in range(9000))),
        'nils': packed(nils(3 << 20)),
    }


def objects_that_grow(temp):
    """Nothing is taken that was not asked for, for a moment neither."""
    d, port = start(temp)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    for name, code in growing_objects().items():
        with producer(f'{temp}/in.sock', frame(
                'code_object', code_object=1, name=name, bytes=code)):
            until('its end', lambda: f'/{name}: ' in d.log())
        with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
            assert all(e['message'] for e in lines.entries(N_ENTRIES)), name
        if not is_sanitized(PROGRAM):
            with open(f'/proc/{d.process.pid}/status') as f:
                most = int(re.search(r'VmHWM:\s+(\d+)', f.read()).group(1))
            assert most << 10 <= CAP, (name, most)
    is_below_cap(port)
    d.stop()


def configured_ones_wait(temp):
    """Files of the configuration and of watched folders are followed as far as
    there is room for them; a folder's come in their turn."""
    need('http')
    port = free_port()
    n = 80
    os.mkdir(f'{temp}/w')
    data = slurp(DUMP)
    inputs = [f'  - {{type: buffer, path: "$T/b{i}"}}\n' for i in range(n)]
    inputs.append('  - {type: directory, path: "$T/w", dumps: "*.bin"}\n')
    for i in range(n):
        for path in f'{temp}/b{i}', f'{temp}/w/{i}.bin':
            with open(path, 'wb') as f:
                f.write(data)
    d = Daemon(temp, 'code_objects: [$E]\n' + CONFIG.replace(
        '$P', str(port)).replace('outputs:', ''.join(inputs) + 'outputs:'))
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'from': 'oldest'})
    # Where the daemon is slow, each rests before the next begins, and all have
    # room; and of many lines at once the log holds some back.
    until('one that waits', lambda: 'up to its cap; waiting' in d.log() or
          'held back' in d.log() or metric(port, 'sessions') >= n)
    until('those of the folder',
          lambda: metric(port, 'lines_total') >= N_ENTRIES * n)
    until('as many as have room', lambda: metric(port, 'sessions') >= 10)
    until('nothing more', lambda: is_same_for_a_while(port))
    lines.entries(N_ENTRIES * (n + 10))
    is_below_cap(port)
    d.stop()


def gap_chunk():
    """A chunk of entries, but that it has none: one that was lost."""
    return struct.pack('<IIIIIIQQQ', 1, 1, 0, 0, 0, 0, 0, 0, 0) + bytes(8) + \
        struct.pack('<IIQ', 3 | 4 << 8, 0, 1) + b'lost'


def labels_stay_bounded(temp):
    """What is said of a buffer is more than what comes of it, and is there as
    long as one line of it is."""
    d, port = start(temp)
    n = 600
    lines = dial(f'{temp}/l.sock', {'match': 'lost'})
    labels = {str(i): '\x01' * 900 for i in range(64)}  # six times as long in JSON
    said = frame('entries', buffer=1, bytes=gap_chunk())
    buffer = frame('buffer', buffer=1, name='l', labels=labels)
    before = d.memory_kib()
    with producer(f'{temp}/in.sock') as p:
        for _ in range(n):
            p.sendall(buffer + said)
        until('all of them', lambda: metric(port, 'lines_total') >= n)
        print(f'{d.memory_kib() - before} KiB more')
        is_below_cap(port)
        if not is_sanitized(PROGRAM):
            assert d.memory_kib() - before < 2 * CAP >> 10
    lines.close()
    d.stop()


def one_leaves_room(temp):
    """A producer that has all the memory that it can leaves some for another of
    its own user, is told so in the log, and gives all back when it goes."""
    d, port = start(temp)
    code = elf_frame()
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'other'})

    def other():
        with producer(f'{temp}/in.sock', code, *dump_frames(name='other')):
            lines.entries(N_ENTRIES)
    greeds = {
        'sessions': [frame('buffer', buffer=i, name=f's{i}') for i in range(400)],
        'data': [frame('buffer', buffer=1, name='d')] + [
            frame('data', buffer=1, offset=i << 20, bytes=bytes(1 << 20))
            for i in range(24)],
        'frame': [struct.pack('<II', 15 << 20, 0), bytes(14 << 20)],
        'parts': [frame('code_object', code_object=i, total=12 << 20,
                        bytes=bytes(4 << 20)) for i in range(6)],
    }
    for name, frames in greeds.items():
        n_refused = d.log().count('up to its cap')
        with producer(f'{temp}/in.sock') as p:
            with contextlib.suppress(ConnectionError):
                for part in frames:
                    p.sendall(part)
            for _ in range(5):
                other()
            is_below_cap(port)
            until(f'no room for {name}', lambda: d.log().count(
                'up to its cap') > n_refused or metric(port, 'bad_frames_total'))
        until('its end', lambda: metric(port, 'sessions') == 0)
    d.stop()


def many_leave_room(temp):
    """Producers that one after the other take all that they can leave some for
    the next of the same user."""
    need('http')
    port = free_port()
    text = CONFIG.replace('24MiB', '96MiB').replace('$P', str(port))
    d = Daemon(temp, text)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'other'})
    with contextlib.ExitStack() as stack:
        for i in range(12):
            n_refused = metric(port, 'bad_frames_total')
            greedy = stack.enter_context(producer(f'{temp}/in.sock'))
            greedy.sendall(b''.join(frame('buffer', buffer=j, name=f's{j}')
                                    for j in range(400)))
            until(f'{i} has all it can',
                  lambda n=n_refused: metric(port, 'bad_frames_total') > n)
        print(metric(port, 'sessions'), 'sessions')
        is_below_cap(port, 96 << 20)
        for _ in range(3):
            with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(name='other')):
                lines.entries(N_ENTRIES)
        is_below_cap(port, 96 << 20)
    until('their end', lambda: metric(port, 'sessions') == 0)
    d.stop()


def one_we_connect_to_leaves_room(temp):
    """So does a peer that the daemon connects to: a megabyte at once is taken
    from another."""
    need('http')
    port = free_port()
    text = CONFIG.replace('24MiB', '96MiB').replace('$P', str(port)).replace(
        'outputs:', '  - {type: connect, address: "unix:$T/peer.sock"}\noutputs:')
    with socket.socket(socket.AF_UNIX) as place:
        place.bind(f'{temp}/peer.sock')
        place.listen()
        d = Daemon(temp, text)
        with place.accept()[0] as peer:
            peer.sendall(START)
            for i in range(5):
                peer.sendall(frame('buffer', buffer=i, name=f'd{i}') + b''.join(
                    frame('data', buffer=i, offset=k << 20, bytes=bytes(1 << 20))
                    for k in range(24)))
            until('all it can', lambda: metric(port, 'bad_frames_total'))
            big, n = many(1 << 20)
            with producer(f'{temp}/in.sock', elf_frame(),
                          *dump_frames(name='other', data=big)):
                until('all of another', lambda: metric(port, 'lines_total') >= n)
            is_below_cap(port, 96 << 20)
        until('its end', lambda: metric(port, 'sessions') == 0)
        d.stop()


def large_ones_that_nobody_follows(temp):
    """A gigabyte that begins as no buffer does takes no gigabyte at its end."""
    d, port = start(temp)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': 'large'})
    before = d.memory_kib()
    with producer(f'{temp}/in.sock', frame('buffer', buffer=1, name='large'),
                  frame('data', buffer=1, offset=(1 << 30) - 8, bytes=b'x' * 8),
                  frame('done', buffer=1)):
        line = lines.next()
        assert line['type'] == 'finding' and line['kind'] == 'too_large', line
    if not is_sanitized(PROGRAM):
        assert d.memory_kib() - before < CAP >> 10
    is_below_cap(port)
    d.stop()


run(large_ones_that_nobody_follows, labels_stay_bounded, one_leaves_room,
    many_leave_room, one_we_connect_to_leaves_room, objects_that_grow,
    configured_ones_wait, little_becomes_much, large_ones_are_followed,
    many_are_followed)
