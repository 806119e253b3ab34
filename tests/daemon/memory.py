# SPDX-License-Identifier: MIT
"""The cap of memory: parts that grow by what producers send, and by what their
strings make of little, attack it."""
import contextlib
import fcntl
import json
import os
import re
import socket
import struct
import time

from harness import (DUMP, ELF, Daemon, dial, entry_ends, frame, free_port,
                     http, metric, need, producer, run, slurp, until)

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


def is_below_cap(port):
    """Now, and at every moment so far."""
    page = http(port, '/metrics')[1]
    parts = dict(re.findall(r'memory_bytes\{part="(\w+)"\} (\d+)', page))
    peak = int(re.search(r'(?m)^\w+memory_peak_bytes (\d+)', page).group(1))
    print(f'{peak} bytes at most, now {parts}')
    assert peak <= CAP, (peak, parts)


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


def counts(port):
    return [int(metric(port, name)) for name in (
        'sessions', 'bad_frames_total', 'refused_total')]


def is_same_for_a_while(port):
    before = counts(port)
    time.sleep(1)
    return before == counts(port)


def are_followed(temp, times, size):
    d, port = start(temp)
    data, n = many(size)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    socks = []
    for i in range(times):
        with contextlib.suppress(ConnectionError):  # it may be refused
            socks.append(share(temp, data, slurp(ELF), f'buffer {i}'))
    # One may be told twice that there is no room.
    until('all to be followed or refused', lambda: times <= sum(counts(port)))
    until('nothing more', lambda: is_same_for_a_while(port))
    n_sessions, n_bad, _ = counts(port)
    hear_entries(lines, n * n_sessions, n_bad)
    is_below_cap(port)
    for sock in socks:
        sock.close()
    d.stop()


def large_ones_are_followed(temp):
    """Memory that costs the daemon nothing, but for what it remembers of it."""
    are_followed(temp, 12, 3 << 20)


def many_are_followed(temp):
    """And for what it makes of each."""
    are_followed(temp, 60, 200 << 10)


run(little_becomes_much, large_ones_are_followed, many_are_followed)
