#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""names.py DAEMON DUMP ELF: names that strangers choose, from sockets, files,
folders and captures: whatever their bytes, they are valid and told apart in
records, metrics, the log and files, and Prometheus takes the page."""
import glob
import json
import os
import re
import shutil
import socket
import subprocess

from harness import (DUMP, N_ENTRIES, START, Daemon, dial, dump_frames,
                     elf_frame, frame, has, producer, run, slurp, until)

CONFIG = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
  - {type: directory, path: $T/in, dumps: "*"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: file, path: "$T/out/{buffer}.ndjson"}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if has('http') else '')

# What comes in, and what it is called.
NAMES = {
    b'plain': 'plain', b'a b/c': 'a b/c', 'é€😀'.encode(): 'é€😀',
    b'a\xff': r'a\xff', b'a\xfe': r'a\xfe', b'a\x01': r'a\x01',
    b'a\x02': r'a\x02', b'a?': 'a?', b'a\xef\xbf\xbd': 'a\ufffd',
    rb'a\x01': r'a\x5cx01', b'a\n': r'a\x0a', b'a': 'a', b'a\0b': r'a\x00b',
    b'a\0c': r'a\x00c', b'a"': 'a"', b'a\\': 'a\\', b'a\\"': 'a\\"',
    b'a_b': 'a_b', b'a:b': 'a:b', b'a%3Ab': 'a%3Ab', b'..': '..',
    b'../x': '../x', b'\xed\xa0\x80': r'\xed\xa0\x80',
    b'\xc2\x9b1m': r'\xc2\x9b1m', b'\x1b[1m': r'\x1b[1m',
    b'n\nprintfdecoded: error: x': r'n\x0aprintfdecoded: error: x',
    b'y' * 255: 'y' * 255, b'z' * 254 + b'1': 'z' * 254 + '1',
    b'z' * 254 + b'2': 'z' * 254 + '2', b'\xff' * 63: r'\xff' * 63,
}


def text(name):
    return name.decode(errors='surrogateescape')


def send_all(temp):
    """Two more have none that could be used: they go by their numbers."""
    frames = [elf_frame()]
    for i, name in enumerate([*NAMES, b'x' * 256, b'\xff' * 64]):
        frames += dump_frames(i + 1, text(name))
    return producer(f'{temp}/in.sock', *frames)


def check_page(temp, d, names):
    """Each name has one series, and promtool takes the page."""
    if not has('http'):
        return
    page = d.http()[1]  # is UTF-8
    series = [line.rsplit(' ', 1)[0] for line in page.splitlines()
              if not line.startswith('#')]
    assert len(series) == len(set(series))
    found = re.findall(r'(?m)^printfdecode_source_entries_total\{source="(.*)"\} '
                       + str(N_ENTRIES) + '$', page)
    found = [re.sub(r'\\(.)', r'\1', name) for name in found]
    assert sorted(found) == sorted(names), set(names) ^ set(found)
    if shutil.which('promtool'):
        p = subprocess.run(['promtool', 'check', 'metrics'], input=page.encode(),
                           capture_output=True, check=False)
        assert p.returncode == 0 and not p.stdout + p.stderr, p


def check_log(d):
    with open(d.log_path, 'rb') as f:
        log = f.read()
    for line in log.decode().splitlines():
        assert line.startswith('printfdecoded: ') and line.isprintable(), line
        assert not line.startswith('printfdecoded: error: '), line


def from_sockets(temp):
    os.mkdir(f'{temp}/in')
    os.mkdir(f'{temp}/out')
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    n = len(NAMES) + 2
    with send_all(temp):
        got = lines.entries(n * N_ENTRIES)
        names = {e['source'] for e in got}
        numbered = {f'producer 1/{len(NAMES) + 1}', f'producer 1/{n}'}
        assert names == set(NAMES.values()) | numbered, (
            names ^ (set(NAMES.values()) | numbered))
        check_page(temp, d, names)
        # Each is found by its name, and only it.
        for name in names:
            some = dial(f'{temp}/l.sock', {'source': name, 'from': 'oldest'})
            assert {e['source'] for e in some.entries(N_ENTRIES)} == {name}
            # What could not be named is told to all, wherever it stands.
            while not some.is_quiet(0.02):
                record = some.next()
                assert record['type'] == 'gap', record
            some.close()
    # A file each, below the folder.
    # And one of gaps: of the names that could not be used.
    until('files', lambda: len(glob.glob(f'{temp}/out/[!.]*.ndjson')) == n + 1)
    assert len(os.listdir(temp + '/out')) == n + 1
    assert not glob.glob(f'{temp}/*.ndjson')
    os.remove(f'{temp}/out/producer%201.ndjson')
    wanted = {name: N_ENTRIES for name in names}

    def written():
        found = {}
        for path in glob.glob(f'{temp}/out/*.ndjson'):
            with open(path, encoding='utf-8') as f:
                sources = [json.loads(line)['source'] for line in f
                           if line.endswith('\n') and '"entry"' in line]
            if not sources:
                return False
            assert len(set(sources)) == 1, (path, set(sources))
            assert sources[0] not in found, path
            found[sources[0]] = len(sources)
        return found == wanted
    until('all lines in files', written)
    assert os.path.exists(f'{temp}/out/a%3Ab.ndjson')
    assert os.path.exists(f'{temp}/out/a%253Ab.ndjson')
    d.stop()
    check_log(d)


def from_folders(temp):
    """Of files, and of what a capture in a file says."""
    os.mkdir(f'{temp}/in')
    os.mkdir(f'{temp}/out')
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    wanted = set()
    for name in NAMES:
        if b'/' in name or b'\0' in name or name == b'..' or len(name) > 220:
            continue
        with open(f'{temp}/x.part', 'wb') as f:
            f.write(slurp(DUMP))
        os.rename(f'{temp}/x.part', f'{temp}/in/'.encode() + name)
        shown = f'{temp}/in/{NAMES[name]}'
        wanted.add(shown if len(shown.encode()) <= 230 else 'file')
    got = lines.entries(len(wanted) * N_ENTRIES)
    assert {e['source'] if not e['source'].startswith('file ') else 'file'
            for e in got} == wanted
    with open(f'{temp}/x.part', 'wb') as f:
        f.write(START + elf_frame() + b''.join(
            part for i, name in enumerate(NAMES)
            for part in dump_frames(i + 1, text(b'c' + name[:250]))))
    os.rename(f'{temp}/x.part', f'{temp}/in/capture\n')
    got = lines.entries(len(NAMES) * N_ENTRIES)
    sources = {e['source'] for e in got}
    assert len(sources) == len({name[:250] for name in NAMES}), sources
    d.stop()
    check_log(d)


def labels(temp):
    os.mkdir(f'{temp}/in')
    os.mkdir(f'{temp}/out')
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json'})
    data = slurp(DUMP)

    def sent(keys):
        """The labels of the first line that comes for a buffer with these."""
        pairs = {text(key): 'v' for key in keys}
        with producer(f'{temp}/in.sock', elf_frame(),
                      frame('buffer', buffer=1, name='l', size=len(data),
                            labels=pairs), *dump_frames()[1:]):
            first = lines.entries(N_ENTRIES)[0]
        return first.get('origin', {}).get('labels', {})
    some = [k for k in NAMES if len(k) < 200]
    assert sent(some) == {NAMES[k]: 'v' for k in some}
    assert sent([b'x' * 256]) == {} and sent([b'']) == {}
    assert "a label's name is empty or longer" in d.log()
    d.stop()
    check_log(d)

FARM = '''code_objects: [$E]
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: file, path: "$T/out/{host}/{buffer}.ndjson"}
''' + ('  - {type: http, address: "unix:$T/http.sock"}\n' if has('http') else '')


def on_host(host, n, name='gpu0'):
    """Frames of n buffers of that name, as a machine has sent them."""
    data = slurp(DUMP)
    return [f for i in range(n) for f in (
        frame('buffer', buffer=i + 1, name=name, size=len(data),
              **({'host': host} if host else {})),
        *dump_frames(i + 1, data=data)[1:])]


def hosts_are_told_apart(temp):
    """Buffers of one name on several machines are several sources: in metrics, the
    state, files and for subscribers. This machine's have no host."""
    here = socket.gethostname()
    for folder in 'node1', 'node2', r'%2E.%2Fx', here:
        os.makedirs(f'{temp}/out/{folder}')
    d = Daemon(temp, FARM)
    hosts = {'node1': 1, 'node2': 2, '../x': 3, None: 4, here: 5}
    for host, n in hosts.items():
        with producer(f'{temp}/in.sock', elf_frame(), *on_host(host, n)):
            pass
    own = 4 + 5
    live = dial(f'{temp}/l.sock', {'from': 'oldest'})
    all_of = live.entries(15 * N_ENTRIES)
    assert {e.get('origin', {}).get('host') for e in all_of} >= {'node1', 'node2'}

    def written(folder):
        path = f'{temp}/out/{folder}/gpu0.ndjson'
        text = slurp(path) if os.path.exists(path) else b''
        return text.count(b'"type":"entry"')
    for folder, n in (('node1', 1), ('node2', 2), (r'%2E.%2Fx', 3), (here, own)):
        until(folder, lambda folder=folder, n=n: written(folder) == n * N_ENTRIES)
    for host, n in (('node1', 1), ('node2', 2), (here, own)):
        got = dial(f'{temp}/l.sock', {'from': 'oldest', 'host': host,
                                      'source': 'gpu0'}).entries(n * N_ENTRIES)
        assert {e.get('origin', {}).get('host', here) for e in got} == {host}, host
    if has('http'):
        page = d.http('/metrics')[1]
        for label, n in ((',host="node1"', 1), (',host="node2"', 2),
                         (',host="../x"', 3), ('', own)):
            row = 'printfdecode_source_entries_total{source="gpu0"%s} %d\n' % (
                label, n * N_ENTRIES)
            assert row in page, (row, page)
        state = json.loads(d.http('/state')[1])
        assert {s.get('host'): s['entries'] for s in state['sources']} == {
            'node1': N_ENTRIES, 'node2': 2 * N_ENTRIES, '../x': 3 * N_ENTRIES,
            None: own * N_ENTRIES}, state
    d.stop()



if __name__ == '__main__':
    run(from_sockets, from_folders, labels, hosts_are_told_apart)
