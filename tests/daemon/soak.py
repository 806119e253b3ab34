#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak.py DAEMON DUMP ELF [SECONDS]: 64 mapped buffers are written again and
again for so long, 8 subscribers read, one of them does not. Every entry must
arrive, with rising sequence numbers or a gap record in place of what is
missing, and memory must stay flat."""
import json
import mmap
import re
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from rig import can_connect, die_with_us, load

daemon, dump, elf = sys.argv[1:4]
seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 120
BUFFERS = 64
READERS = 7
data = load(dump)
used = struct.unpack_from('<Q', data)[0] * 4
ends = []
at = 16
while at < 16 + used:
    at += 4 * (struct.unpack_from('<Q', data, at)[0] & 0xffff)
    ends.append(at)
ends = ends[:1000]
size = ends[-1]
SEQUENCE = re.compile(rb'"sequence":(\d+)')
stop = threading.Event()
failures = []


class Reader(threading.Thread):
    """Counts entries and checks that numbers follow one another."""

    def __init__(self, path):
        super().__init__()
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.sendall(b'{"output":"json"}\n')
        self.entries = self.missed = self.bytes = 0

    def run(self):
        rest = b''
        last = None
        while True:
            got = self.socket.recv(1 << 18)
            if not got:
                break
            self.bytes += len(got)
            lines = (rest + got).split(b'\n')
            rest = lines.pop()
            for line in lines:
                if line.startswith(b'{"type":"gap","missed"'):
                    gap = json.loads(line)
                    self.missed += gap['missed']
                    last = gap['next_sequence'] - 1
                    continue
                number = int(SEQUENCE.search(line, 0, 100).group(1))
                if last is not None and number != last + 1:
                    failures.append(f'{number} behind {last}')
                last = number
                self.entries += line.startswith(b'{"type":"entry"')


def rss(pid):
    with open(f'/proc/{pid}/status') as f:
        return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))


with tempfile.TemporaryDirectory() as temp:
    with open(f'{temp}/c.yaml', 'w') as f:
        f.write(f'code_objects: [{elf}]\ninputs:\n')
        for i in range(BUFFERS):
            f.write(f'  - {{type: buffer, path: {temp}/b{i}, name: b{i}}}\n')
        f.write(f'outputs:\n  - {{type: listen, address: "unix:{temp}/l"}}\n')
    memory = []
    for i in range(BUFFERS):
        with open(f'{temp}/b{i}', 'w+b') as f:
            f.truncate(size)
            memory.append(mmap.mmap(f.fileno(), size))
    p = subprocess.Popen([daemon, '-c', f'{temp}/c.yaml'],
                         stderr=subprocess.DEVNULL,
                         preexec_fn=die_with_us)
    while not can_connect(f'{temp}/l'):
        time.sleep(0.05)
    time.sleep(1)
    readers = [Reader(f'{temp}/l') for _ in range(READERS)]
    stalled = socket.socket(socket.AF_UNIX)
    stalled.connect(f'{temp}/l')
    stalled.sendall(b'{"output":"json"}\n')
    time.sleep(0.5)
    for r in readers:
        r.start()
    written = rounds = 0
    samples = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        # Each buffer in ten steps; then the header is cleared, as a driver
        # does between submits, once the readers have seen everything.
        step = len(ends) // 10
        for k in range(step, len(ends) + 1, step):
            for m in memory:
                begin = ends[k - step - 1] if k > step else 16
                m[begin:ends[k - 1]] = data[begin:ends[k - 1]]
                m[0:8] = struct.pack('<Q', (ends[k - 1] - 16) // 4)
                written += step
            time.sleep(0.02)
        wait = time.monotonic() + 20
        while time.monotonic() < wait and any(
                r.entries + r.missed < written for r in readers):
            time.sleep(0.01)
        for m in memory:
            m[0:size] = bytes(size)
        time.sleep(0.25)
        rounds += 1
        samples.append(rss(p.pid))
    p.terminate()
    status = p.wait(30)
    for r in readers:
        r.join(30)
    counts = [r.entries for r in readers]
    gaps = [r.missed for r in readers]
    middle = samples[len(samples) // 2:] or samples
    growth = max(middle) - min(middle)
    print(f'{rounds} rounds, {written} entries written; read: {counts}; '
          f'missed: {gaps}; memory {samples[0]} to {samples[-1]} KiB, '
          f'{growth} KiB of change in the second half; status {status}')
    if any(c + g < written for c, g in zip(counts, gaps)):
        failures.append('lines are missing without a gap record')
    if sum(gaps):
        failures.append('readers that read were too slow')
    if growth > 20000:
        failures.append('memory grows')
    if failures or status:
        print(failures[:10])
        sys.exit(1)
