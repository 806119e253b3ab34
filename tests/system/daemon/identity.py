#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""identity.py DAEMON DUMP ELF: how far a watched buffer has come is its own:
nobody moves it who takes its name, and it is none of a file that comes later
under the same path."""
import collections
import json
import os

from harness import (DUMP, N_ENTRIES, Buffer, Daemon, dump_frames, elf_frame,
                     entry_ends, producer, run, slurp, until)

CONFIG = '''state_dir: $T/state
code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
  - {type: buffer, path: $T/b, name: app}
  - {type: directory, path: $T/dumps, dumps: '*.bin'}
outputs:
  - {type: file, path: $T/out, required: true}
'''
DATA = slurp(DUMP)


def indexes(temp):
    """Of the entries of each source, in the order of the file."""
    ret = collections.defaultdict(list)
    if os.path.exists(f'{temp}/out'):
        # The last line may be half written at any moment.
        for line in slurp(f'{temp}/out').split(b'\n')[:-1]:
            r = json.loads(line)
            if r['type'] == 'entry':
                ret[r['source']].append(r['index'])
    return ret


def has(temp, source, n):
    until(f'{n} entries of {source}', lambda: len(indexes(temp)[source]) >= n)
    assert len(indexes(temp)[source]) == n, indexes(temp)[source]


def started(temp):
    os.makedirs(f'{temp}/dumps', exist_ok=True)
    return Daemon(temp, CONFIG)


def pass_by(temp, name):
    """What a producer sends comes behind what was there before."""
    producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, name)).close()
    has(temp, name, N_ENTRIES)


def name_of_another(temp):
    """A stranger calls its buffer as ours, and is further than we are."""
    middle = entry_ends(DATA)[N_ENTRIES // 2 - 1]
    buffer = Buffer(f'{temp}/b', len(DATA))
    buffer.put(DATA, end=middle)
    d = started(temp)
    has(temp, 'app', N_ENTRIES // 2)
    for name in ('app', f'{temp}/b', f'{temp}/dumps/later.bin'):
        producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, name)).close()
        has(temp, f'producer/{name}', N_ENTRIES)
    for end in (d.stop, d.kill):
        end()
        d.start()
    d.kill()
    buffer.put(DATA)
    with open(f'{temp}/dumps/later.bin', 'wb') as f:
        f.write(DATA)
    d.start()
    has(temp, 'app', N_ENTRIES)
    has(temp, f'{temp}/dumps/later.bin', N_ENTRIES)
    d.stop()
    for of_source in indexes(temp).values():
        assert of_source == list(range(N_ENTRIES))


def another_file(temp):
    """What is at the path later has entries of its own."""
    Buffer(f'{temp}/b', len(DATA)).put(DATA)
    d = started(temp)
    has(temp, 'app', N_ENTRIES)
    for i, end in enumerate((d.stop, d.kill)):
        end()
        d.start()
        pass_by(temp, f'same {i}')
        has(temp, 'app', (i + 1) * N_ENTRIES)
        end()
        Buffer(f'{temp}/new', len(DATA)).put(DATA)
        os.rename(f'{temp}/new', f'{temp}/b')
        d.start()
        has(temp, 'app', (i + 2) * N_ENTRIES)
    d.stop()
    assert indexes(temp)['app'] == 3 * list(range(N_ENTRIES))


run(name_of_another, another_file)
