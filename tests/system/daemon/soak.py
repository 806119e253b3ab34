#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""soak.py DAEMON DUMP ELF [SECONDS]: 64 mapped buffers are written again and
again for so long, 8 subscribers read, one of them does not. Every entry must
arrive, with rising sequence numbers or a gap record in place of what is
missing, and memory must stay flat, once it has had the time to fill."""
import sys
import tempfile
import time

from harness import (DUMP, PATIENCE, PROGRAM, Buffer, Daemon, Subscriber, dial,
                     entry_ends, is_sanitized, slurp, until)

seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 120
BUFFERS = 64
READERS = 7
ROUNDS = 20  # until the ring is full and what is given back is taken again
data = slurp(DUMP)
ends = entry_ends(data)[:1000]
failures = []

with tempfile.TemporaryDirectory() as temp:
    buffers = [Buffer(f'{temp}/b{i}', ends[-1]) for i in range(BUFFERS)]
    d = Daemon(temp, 'code_objects: [$E]\ninputs:\n' + ''.join(
        f'  - {{type: buffer, path: $T/b{i}, name: b{i}}}\n'
        for i in range(BUFFERS)) +
        'outputs:\n  - {type: listen, address: "unix:$T/l"}\n')
    readers = [Subscriber(f'{temp}/l') for _ in range(READERS)]
    stalled = dial(f'{temp}/l', {'output': 'json'})
    for r in readers:
        r.start()
    written = rounds = 0

    def all_read():
        return all(r.entries + r.missed >= written for r in readers)
    samples = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        # Each buffer in ten steps; then it is cleared, as a driver does between
        # submits, once the readers have seen everything. What is written next
        # is less than before: whenever it is looked at, it is another run.
        step = len(ends) // 10
        for k in range(step, len(ends) + 1, step):
            for b in buffers:
                b.put(data, ends[k - step - 1] if k > step else 16, ends[k - 1])
                written += step
            if k == step:
                until('the first step', all_read)
            time.sleep(0.02)
        until('all of it', all_read)
        for b in buffers:
            b.memory[:] = bytes(ends[-1])
        rounds += 1
        samples.append(d.memory_kib())
    d.stop()
    for r in readers:
        r.join(PATIENCE)
        failures += r.failures
    counts = [r.entries for r in readers]
    gaps = [r.missed for r in readers]
    middle = samples[len(samples) // 2:] or samples
    growth = max(middle) - min(middle)
    print(f'{rounds} rounds, {written} entries written; read: {counts}; '
          f'missed: {gaps}; memory {samples[0]} to {samples[-1]} KiB, '
          f'{growth} KiB of change in the second half')
    if any(c + g < written for c, g in zip(counts, gaps)):
        failures.append('lines are missing without a gap record')
    if sum(gaps):
        failures.append('readers that read were too slow')
    if rounds < ROUNDS or is_sanitized(PROGRAM):
        print('memory is not judged: a sanitizer keeps what is freed'
              if is_sanitized(PROGRAM) else
              f'memory is not judged by less than {ROUNDS} rounds')
    elif growth > 20000:
        failures.append('memory grows')
    if failures:
        print(failures[:10])
        sys.exit(1)
