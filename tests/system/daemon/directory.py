#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""directory.py DAEMON DUMP ELF COMMAND: files that appear in a folder, in every
order, of every kind."""
import gzip
import json
import os
import shutil
import subprocess

from harness import (DUMP, ELF, N_ENTRIES, REST, Daemon, dial, run, slurp,
                     until)

COMMAND = REST[0]
CONFIG = '''inputs:
  - {type: directory, path: $T/in, code_objects: "*.elf", dumps: "*.dump*"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: file, path: $T/out}
'''


def start(temp):
    os.mkdir(f'{temp}/in')
    d = Daemon(temp, CONFIG)
    return d, dial(f'{temp}/l.sock', {'from': 'oldest'})


def put(temp, name, data=None):
    """Moved in, whole."""
    with open(f'{temp}/part', 'wb') as f:
        f.write(slurp(DUMP) if data is None else data)
    os.rename(f'{temp}/part', f'{temp}/in/{name}')
    return f'{temp}/in/{name}'


def check(entries, path, generation=None):
    assert all(e['message'] and e['source'] == path and
               e.get('generation') == generation for e in entries), entries


def object_first(temp):
    d, lines = start(temp)
    put(temp, 'a.elf', slurp(ELF))
    until('strings', lambda: 'a.elf: ' in d.log())
    path = put(temp, 'a.dump')
    check(lines.entries(N_ENTRIES), path)
    d.stop()
    assert 'held' not in d.log() and d.log().count('ended: ') == 1, d.log()


def dump_first(temp):
    d, lines = start(temp)
    path = put(temp, 'a.dump')
    until('it to be held', lambda: 'a.dump: held for 10 s at most: format '
          f'strings are missing for {N_ENTRIES} of its {N_ENTRIES} entries'
          in d.log())
    put(temp, 'a.elf', slurp(ELF))
    check(lines.entries(N_ENTRIES), path)
    d.stop()
    assert d.log().count('ended: ') == 1 and 'warning' not in d.log(), d.log()


def object_long_after(temp):
    """It is read without strings in the end, and again with them."""
    d, lines = start(temp)
    path = put(temp, 'a.dump')
    assert all(e['message'] is None for e in lines.entries(N_ENTRIES))
    assert 'a.dump: read without the format strings that are missing' in d.log()
    put(temp, 'a.elf', slurp(ELF))
    check(lines.entries(N_ENTRIES), path, 1)
    assert 'a.dump: decoded again, as generation 1: format strings have come' \
        in d.log()
    d.stop()
    with open(f'{temp}/out') as f:
        assert sum(json.loads(line)['type'] == 'entry' for line in f) == \
            2 * N_ENTRIES


def held_at_the_end(temp):
    d, _ = start(temp)
    put(temp, 'a.dump')
    until('it to be held', lambda: 'a.dump: held' in d.log())
    d.stop()
    with open(f'{temp}/out') as f:
        assert sum('"message":null' in line for line in f) == N_ENTRIES


def few_are_held(temp):
    """Of more than 64, the others are read as they are."""
    d, lines = start(temp)
    for i in range(70):
        put(temp, f'{i}.dump')
    assert all(e['message'] is None for e in lines.entries(6 * N_ENTRIES))
    until('64', lambda: d.log().count(': held for') > 40)  # words are limited
    put(temp, 'a.elf', slurp(ELF))
    entries = lines.entries(70 * N_ENTRIES)
    assert all(e['message'] for e in entries), entries
    assert sum(e.get('generation') == 1 for e in entries) == 6 * N_ENTRIES
    assert len({e['source'] for e in entries}) == 70
    d.stop()


def captures_are_read(temp):
    d, lines = start(temp)
    path = f'{temp}/run.pfcap'
    subprocess.run([COMMAND, 'capture', '-o', path, DUMP, ELF], check=True)
    put(temp, 'run.dump', slurp(path))
    entries = lines.entries(N_ENTRIES)
    assert all(e['message'] for e in entries), entries
    put(temp, 'run.elf', slurp(path))  # whatever its name says
    assert lines.entries(N_ENTRIES)[0]['message']
    put(temp, 'cut.dump', slurp(path)[:-100])
    until('a word of it', lambda: 'cut.dump: ' in d.log())
    d.stop()


def others_are_named(temp):
    d, lines = start(temp)
    os.mkdir(f'{temp}/in/folder.dump')
    os.mkfifo(f'{temp}/in/pipe.dump')
    os.link(f'{temp}/in/pipe.dump', f'{temp}/moved')
    os.rename(f'{temp}/moved', f'{temp}/in/pipe2.dump')
    put(temp, '.hidden.dump')
    put(temp, 'notes.txt', b'hello')
    until('it', lambda: "in/notes.txt: not read: neither 'code_objects' nor "
          "'dumps' has its name" in d.log())
    put(temp, 'a.dump.gz', gzip.compress(slurp(DUMP)))
    until('it', lambda: 'in/a.dump.gz: not read: it is compressed' in d.log())
    put(temp, 'bad.elf', b'\x7fELF, so to speak')
    until('it', lambda: 'code object ' in d.log() and 'bad.elf: ' in d.log())
    # An ELF file by the name of a dump is what it is.
    put(temp, 'a.dump', slurp(ELF))
    until('strings', lambda: 'a.dump: 1696 bytes' in d.log())
    put(temp, 'text.dump', b'this is no dump at all, and nothing else either')
    until('it', lambda: 'warning: ' + f'{temp}/in/text.dump: ended: 0 entries'
          in d.log())
    path = put(temp, 'b.dump')
    check(lines.entries(N_ENTRIES), path)
    until('it', lambda: 'in/pipe2.dump: not read: it is not a '
          'regular file' in d.log())
    d.stop()
    assert 'hidden' not in d.log()


def all_are_there(temp):
    os.mkdir(f'{temp}/in')
    for name in 'a.dump', 'm.dump', 'z.dump':
        put(temp, name)
    put(temp, 'n.elf', slurp(ELF))
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    entries = lines.entries(3 * N_ENTRIES)
    assert all(e['message'] for e in entries), entries
    shutil.rmtree(f'{temp}/in')
    until('a word of it', lambda: 'the directory is gone' in d.log())
    d.stop()
    assert 'held' not in d.log(), d.log()


run(object_first, dump_first, object_long_after, held_at_the_end, few_are_held,
    captures_are_read, others_are_named, all_are_there)
