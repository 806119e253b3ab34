#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""forged.py DAEMON DUMP ELF: entries that a daemon sent come back with other
bytes and right checksums, over and over, while readers of each kind are there;
one reads nothing. Nothing breaks, and who comes then is served."""
import contextlib
import random
import socket
import struct

from harness import (N_ENTRIES, PATIENCE, START, Daemon, crc32c, dial,
                     dump_frames, elf_frame, has, known, producer, run)

CONFIG = '''memory_max: 64MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if has('http') else '')
HEAD = 8  # bytes of a frame before its body: how many follow, and a checksum
N_CONNECTIONS = 4000
WORDS = [b'\xff' * 4, b'\0' * 4, b'\xff\xff\xff\x7f', b'\1\0\0\0', b'\xff' * 8,
         b'\xff' * 7 + b'\x7f', b'\0' * 7 + b'\x10']


def frames_of(temp):
    """The bodies of the frames of all entries that the daemon has."""
    sock = dial(f'{temp}/l.sock', {'from': 'oldest', 'output': 'entries'}).sock
    data = b''
    bodies = []
    while not any(b'entries' in body for body in bodies):
        data += sock.recv(1 << 16)
        bodies = []
        at = len(START)
        while at + HEAD <= len(data):
            n, = struct.unpack_from('<I', data, at)
            if at + HEAD + n > len(data):
                break
            bodies.append(data[at + HEAD:at + HEAD + n])
            at += HEAD + n
    return bodies


def wrap(body):
    n = struct.pack('<I', len(body))
    return n + struct.pack('<I', crc32c(n + body)) + body


def forge(body, rnd):
    body = bytearray(body)
    for _ in range(rnd.choice((0, 1, 1, 2, 4, 16))):
        i = rnd.randrange(len(body))
        way = rnd.randrange(4)
        if way == 0:
            body[i] = rnd.randrange(256)
        elif way == 1:
            word = rnd.choice(WORDS)
            body[i:i + len(word)] = word
        elif way == 2 and len(body) > 16:
            del body[i:i + rnd.randrange(1, 9)]
        else:
            body[i] ^= 1 << rnd.randrange(8)
    return bytes(body)


def is_served(temp):
    """Whoever comes, at the latest when what the others left has been seen to."""
    victim = dial(f'{temp}/l.sock', {'source': 'victim'})
    for _ in range(12):
        victim.sock.settimeout(PATIENCE / 12)
        with contextlib.suppress(OSError), producer(
                f'{temp}/in.sock', elf_frame(), *dump_frames(name='victim')):
            return known(victim.entries(N_ENTRIES))
    return False


def forged_entries(temp):
    d = Daemon(temp, CONFIG)
    rnd = random.Random(7)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        dial(f'{temp}/l.sock', {'from': 'oldest'}).entries(N_ENTRIES)
    bodies = frames_of(temp)
    never = dial(f'{temp}/l.sock', {'from': 'oldest', 'output': 'entries'})
    readers = [dial(f'{temp}/l.sock', {'output': form}).sock
               for form in ('json', 'text', 'raw', 'entries')]
    for r in readers:
        r.setblocking(False)
    for _ in range(N_CONNECTIONS):
        frames = [wrap(forge(b, rnd)) for b in bodies
                  for _ in range(rnd.choice((1, 1, 1, 2, 5)))]
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as s:
            s.connect(f'{temp}/in.sock')
            s.sendall(START + b''.join(frames))
        for r in readers:
            with contextlib.suppress(OSError):
                while r.recv(1 << 20):
                    pass
    assert is_served(temp)
    if has('http'):
        assert d.metric('memory_peak_bytes') <= 64 << 20
    never.sock.close()
    d.stop()


if __name__ == '__main__':
    run(forged_entries)
