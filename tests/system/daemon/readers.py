# SPDX-License-Identifier: MIT
"""readers.py DAEMON DUMP ELF: what readers make the daemon have is theirs, and
refused to them: producers get through, and neither what is accounted nor what
the kernel counts is more than the cap."""
import contextlib
import json
import os
import re
import signal
import socket
import struct
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from harness import (PATIENCE, PROGRAM, Daemon, dial, dump_frames, frame,
                     is_sanitized, need, producer, run, until)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', '..', 'bench'))
import inputs  # noqa: E402  pylint: disable=wrong-import-position

CONFIG = '''memory_max: $M
ring: 4MiB
code_objects: [$T/lines.elf]
log_level: warning
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock", max_clients: 128}
  - {type: http, address: "unix:$T/http.sock", max_clients: 128}
'''
LENGTHS = {0x10001: 2, 0x10002: 400, 0x10003: 3000}
PROGRAM_MIB = 24  # beside what is accounted: its code, stacks, libraries


def start(temp, mib, lines=None):
    need('http')
    with open(f'{temp}/lines.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(i, 'x' * (n - 1) + '\n', [])
                            for i, n in LENGTHS.items()] +
                           [inputs.row(0x10009, 'number %u\n', [0])]))
    config = CONFIG.replace('$M', f'{mib}MiB')
    return Daemon(temp, config.replace('$T/lines.elf', lines or '$T/lines.elf'))


def entry(ident, *words):
    return struct.pack('<Q', ident << 16 | 2 + len(words)) + struct.pack(
        f'<{len(words)}I', *words)


def dump(entries):
    data = b''.join(entries)
    return struct.pack('<QQ', len(data) // 4, 0) + data


def numbers(n):
    return dump(entry(0x10009, i) for i in range(n))


def get_through(d, temp, name, n=1000):
    """A producer's lines are all there, for somebody who has no part in it."""
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'source': name})
    time.sleep(0.1)
    with producer(f'{temp}/in.sock', *dump_frames(1, name, numbers(n))):
        assert [e['args'] for e in lines.entries(n)] == [[i] for i in range(n)]
    lines.close()


def is_below_cap(d, mib):
    page = d.http()[1]
    peak = int(re.search(r'(?m)^\w+memory_peak_bytes (\d+)', page)[1]) >> 20
    accounted = int(re.search(r'(?m)^\w+memory_accounted_bytes (\d+)',
                              page)[1]) >> 20
    real = d.memory_kib() >> 10
    print(f'cap {mib} MiB: accounted {accounted}, at most {peak}, real {real}')
    assert peak <= mib, page
    if not is_sanitized(PROGRAM):
        assert real <= mib + PROGRAM_MIB, real


def ask(temp, request):
    """A subscriber, or why there is none."""
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(PATIENCE)
    sock.connect(f'{temp}/l.sock')
    sock.sendall(json.dumps(request).encode() + b'\n')
    return sock


def stream(temp, query):
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(PATIENCE)
    sock.connect(f'{temp}/http.sock')
    sock.sendall(f'GET /lines?{query} HTTP/1.1\r\nHost: localhost\r\n\r\n'
                 .encode())
    return sock


def collapsed(temp, mib):
    d = start(temp, mib)
    socks = [ask(temp, {'match': 'x'}) for _ in range(20)]
    socks += [ask(temp, {'collapse': True}) for _ in range(80)]
    socks += [stream(temp, 'collapse=true') for _ in range(100)]
    time.sleep(1)
    get_through(d, temp, 'first')
    get_through(d, temp, 'second', 20000)
    plain = [dial(f'{temp}/l.sock', {'output': 'json'}) for _ in range(20)]
    with producer(f'{temp}/in.sock', *dump_frames(1, 'third', numbers(9))):
        assert [len(each.entries(9)) for each in plain] == [9] * len(plain)
    socks += [each.sock for each in plain]
    is_below_cap(d, mib)
    for sock in socks:
        sock.close()
    until('none is there', lambda: d.metric('readers') == 0)
    d.stop()


def collapsed_at_64(temp):
    collapsed(temp, 64)


def collapsed_at_256(temp):
    collapsed(temp, 256)


PATTERNS = ['(?:' + c + 'z){5000}' for c in 'abcdefghijklmnop']


def patterns(temp):
    """Each takes 60 KiB and more once it is compiled."""
    d = start(temp, 64)
    socks = [ask(temp, {'match': PATTERNS, 'format_string': PATTERNS})
             for _ in range(100)]
    said = socks[0].recv(1000)
    assert b'more memory than it may' in said, said
    some = {'match': PATTERNS[:2], 'where': 'a0 < 100'}
    socks += [ask(temp, some) for _ in range(100)]
    time.sleep(1)
    get_through(d, temp, 'first')
    is_below_cap(d, 64)
    for sock in socks:
        sock.close()
    d.stop()


def conditions_of_many_strings(temp):
    """What a condition keeps of each format string has a bound, and what has no
    place is worked out anew: all that is wanted comes."""
    n = 6000
    with open(f'{temp}/many.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x30000 + i, f'v=%u {i}\n', [0])
                            for i in range(n)]))
    d = start(temp, 64, f'{temp}/many.elf')
    where = ' || '.join(f'v == {i * 7}' for i in range(200))
    requests = [{'where': where}] * 15 + [{'where': where, 'match': '[0-9]$'}] * 5
    readers = [dial(f'{temp}/l.sock', {'output': 'json', **r})
               for r in requests]
    until('readers', lambda: d.metric('readers') == len(readers))
    data = dump(entry(0x30000 + i, i % 1401) for i in range(n))
    wanted = [i for i in range(n) if i % 1401 % 7 == 0 and i % 1401 < 1400]
    with producer(f'{temp}/in.sock', *dump_frames(1, 'many', data)):
        for lines in readers:
            got = [e['args'][0] for e in lines.entries(len(wanted))]
            assert got == [i % 1401 for i in wanted]
    is_below_cap(d, 64)
    d.stop()


def busy_loop(temp):
    """A request counts that has come in time, however late the daemon looks."""
    d = start(temp, 64)
    places = f'/proc/{d.process.pid}/fd'
    n = len(os.listdir(places))
    lines = dial(f'{temp}/l.sock')
    until('it is accepted', lambda: len(os.listdir(places)) > n)
    d.signal(signal.SIGSTOP)
    lines.send({'output': 'json', 'match': '7$'})
    time.sleep(0.3)  # more than the daemon waits
    d.signal(signal.SIGCONT)
    until('a reader', lambda: d.metric('readers') == 1)
    with producer(f'{temp}/in.sock', *dump_frames(1, 'some', numbers(30))):
        assert [e['args'] for e in lines.entries(3)] == [[7], [17], [27]]
    d.stop()


def newcomers(temp):
    """However many come, choose, read a byte and go, who has chosen nothing has
    his lines, and so has who has chosen and stays."""
    d = start(temp, 64)
    long = dump(entry(0x10003) for _ in range(1500))
    with producer(f'{temp}/in.sock', *dump_frames(1, 'long', long)):
        until('lines', lambda: d.metric('lines_total') >= 1500)
    # Before them: all of them want more than their user may have.
    chosen = dial(f'{temp}/l.sock', {'output': 'json', 'match': 'number'})
    until('it is in', lambda: d.metric('readers') == 1)
    is_over = threading.Event()
    n_came = []

    def come_and_go():
        socks = []
        while not is_over.is_set():
            while len(socks) < 100:
                with contextlib.suppress(ConnectionError):  # too many at once
                    socks.append(ask(temp, {'output': 'json', 'match': 'x',
                                            'from': str(1 + len(socks))}))
                    socks[-1].setblocking(False)
            for sock in [socks.pop(0) for _ in range(6)]:
                with contextlib.suppress(OSError):
                    sock.recv(1)
                sock.close()
                n_came.append(1)
            time.sleep(0.005)
        for sock in socks:
            sock.close()

    thread = threading.Thread(target=come_and_go)
    thread.start()
    try:
        lines = dial(f'{temp}/l.sock', {'output': 'json'})
        time.sleep(1)
        for _ in range(3):
            with producer(f'{temp}/in.sock', *dump_frames(1, 'b', numbers(500))):
                for each in lines, chosen:
                    assert len(each.entries(500)) == 500
    finally:
        is_over.set()
        thread.join()
    assert len(n_came) > 100, 'none came'
    is_below_cap(d, 64)
    d.stop()


def page_of_long_names(temp):
    """Many ask for metrics and the state at the same time, and again and again;
    some read nothing of what they asked for."""
    d = start(temp, 64)
    n = 4096
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    for first in range(0, n, 8):
        with producer(f'{temp}/in.sock') as sock:
            for i in range(first, first + 8):
                name = f'{i:04}' + '"' * 245
                sock.sendall(b''.join(dump_frames(i % 8 + 1, name,
                                                  numbers(1))))
            assert len(lines.entries(8)) == 8
    socks = []
    for i in range(3 * 60):
        sock = socket.socket(socket.AF_UNIX)
        sock.settimeout(PATIENCE)
        sock.connect(f'{temp}/http.sock')
        path = ('/metrics', '/state', '/picture.js',
                '/excerpt?sequence=4096')[i // 3 % 4]
        sock.sendall(f'GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n'
                     .encode())
        socks.append(sock)
        if i % 3 == 2:
            time.sleep(0.005)
    get_through(d, temp, 'first')
    for sock in socks[1::3]:
        assert sock.recv(12) in (b'HTTP/1.1 200', b'HTTP/1.1 503', b'')
    for sock in socks:
        sock.close()
    page = until('a page', lambda: [text for status, text in [d.http()]
                                    if status == 200])[0]
    rows = re.findall(r'(?m)^\w+source_entries_total\{source="(.*)"\} (\d+)$',
                      page)
    print(f'{len(rows)} names in {len(page)} bytes')
    assert len(page) < 1 << 20 and 250 < len(rows) < n
    assert sum(int(count) for _, count in rows) == n + 1000
    state = until('the state', lambda: [text for status, text in
                                        [d.http('/state')] if status == 200])
    assert len(json.loads(state[0])['sources']) > 200
    is_below_cap(d, 64)
    d.stop()


def stalled(temp):
    """Readers that begin a line of 1 MiB, each its own, and take no more of it:
    what one keeps is its own, or it ends, and others get their lines."""
    n = 60
    with open(f'{temp}/long.elf', 'wb') as f:
        f.write(inputs.elf([inputs.row(0x20001, 'x' * 999000 + ' %u\n',
                                       [0])]))
    d = start(temp, 64, f'{temp}/long.elf')
    with producer(f'{temp}/in.sock', *dump_frames(
            1, 'long', dump(entry(0x20001, i) for i in range(n)))):
        until('they are there', lambda: d.metric('next_sequence') > n)
        socks = [ask(temp, {'output': ('text', 'raw')[i % 2],
                            'from': i + 1, 'entries_only': True})
                 for i in range(n)]
        time.sleep(1)
        honest = [dial(f'{temp}/l.sock', {'output': 'text', 'from': 'oldest',
                                          'findings': i == 0})
                  for i in range(3)]
        with ThreadPoolExecutor() as pool:
            for lines in pool.map(
                    lambda h: [h.next()[-20:] for _ in range(n)], honest):
                assert [int(line.split()[1]) for line in lines] == [*range(n)]
    get_through(d, temp, 'first')
    is_below_cap(d, 64)
    ends = b''
    for sock in socks:
        sock.settimeout(0.2)
        try:
            while more := sock.recv(1 << 20):
                ends = (ends + more)[-200:]
        except TimeoutError:
            pass
        if b'no memory for the rest' in ends:
            break
    else:
        raise AssertionError('none was ended')
    for sock in socks + [h.sock for h in honest]:
        sock.close()
    d.stop()


def lines_of_all_lengths(temp):
    """One producer, and subscribers that come, read a little and go."""
    d = start(temp, 256)
    codes = list(LENGTHS)
    subscribers = []
    with producer(f'{temp}/in.sock') as sock:
        for k in range(1, 120):
            n = 1500 if k % 3 else 3
            some = dump(entry(codes[(i * i + k) % 3 if k % 2 else 0])
                        for i in range(n))
            sock.sendall(b''.join(dump_frames(k % 900 + 1, 'b', some)))
            if len(subscribers) < 3:
                form = ('text', 'raw', 'json', 'entries')[k % 4]
                subscribers.append(
                    dial(f'{temp}/l.sock', {'output': form,
                                            'from': 'oldest'}).sock)
                subscribers[-1].setblocking(False)
            for s in list(subscribers):
                try:
                    s.recv(200000)
                except BlockingIOError:
                    pass
                if (k + len(subscribers)) % 7 == 0:
                    s.close()
                    subscribers.remove(s)
            assert d.process.poll() is None, d.log()
    d.stop()


if __name__ == '__main__':
    run(patterns, busy_loop, conditions_of_many_strings, collapsed_at_64,
        collapsed_at_256, page_of_long_names, stalled, newcomers,
        lines_of_all_lengths)
