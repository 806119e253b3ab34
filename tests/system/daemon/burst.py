#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""burst.py DAEMON BURST ELF ID [ENTRIES]: a burst as an H200 made one, 1.35
million entries as fast as the machine can, up to 1288 of them reserved and not
written at any moment. With the default ring, each line must reach a subscriber
exactly once, in the buffer's order: that holds them all. Once as the machine has
processors, once with helpers of who looks at the buffer, whatever it has."""
import array
import re
import subprocess
import sys
import tempfile
import time

from harness import PATIENCE, Buffer, Daemon, Subscriber

daemon, burst, elf, key = sys.argv[1:5]
entries = int(sys.argv[5]) if len(sys.argv) > 5 else 1350000
HELPED = 1 << 20  # bytes of helpers that have walked over entries
ARGUMENT = re.compile(rb'"args":\[(\d+)\]')
OFFSET = re.compile(rb'"offset":(\d+)')


class Counter(Subscriber):
    """How often each argument came."""

    def __init__(self, path):
        super().__init__(path)
        self.seen = array.array('B', bytes(entries))
        self.read = []

    def run(self):
        """Only reads: whoever is waited for too long loses lines."""
        n_lines = 0
        while n_lines < entries:
            got = self.socket.recv(1 << 20)
            if not got:
                break
            self.read.append(got)
            n_lines += got.count(b'\n')

    def count(self):
        text = b''.join(self.read)
        self.failures += re.findall(rb'{"type":"gap".{,200}', text)
        for number in ARGUMENT.findall(text):
            self.seen[int(number)] += 1
        offsets = list(map(int, OFFSET.findall(text)))
        if offsets != sorted(offsets) or len(offsets) != entries:
            self.failures.append('they are not in order')


def watch(temp, more):
    Buffer(f'{temp}/b', 16 + 12 * entries + 4096)
    d = Daemon(temp, f'''{more}code_objects: [{elf}]
inputs:
  - {{type: buffer, path: $T/b, name: b}}
outputs:
  - {{type: listen, address: "unix:$T/l"}}
  - {{type: http, address: "unix:$T/http.sock"}}
''', program=daemon)
    s = Counter(f'{temp}/l')
    s.start()
    time.sleep(0.5)
    begin = time.monotonic()
    took = subprocess.run([burst, f'{temp}/b', key, str(entries), '8', '1288'],
                          capture_output=True, check=True).stdout.decode()
    s.join(PATIENCE)
    seconds = time.monotonic() - begin
    waits = d.metric('waits_total')
    helpers = d.metric('memory_bytes{part="helpers"}')
    d.stop()
    s.count()
    missing = s.seen.count(0)
    twice = sum(1 for n in s.seen if n > 1)
    print(f'{entries} entries in {took.strip()}, all read after '
          f'{seconds:.2f} s: {missing} missing, {twice} twice, '
          f'sources waited {waits:.0f} times')
    if missing or twice or s.failures:
        sys.exit(str(s.failures[:3]))
    return helpers


for more in '', 'workers: 12\n':
    with tempfile.TemporaryDirectory(dir='/dev/shm') as temp:
        helpers = watch(temp, more)
    if more and helpers < HELPED:
        sys.exit(f'no helper has helped: {helpers:.0f} bytes')
