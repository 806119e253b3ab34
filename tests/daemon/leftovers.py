#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""leftovers.py DAEMON DUMP ELF: what a kill can leave in the files of outputs,
made by hand, and what looks like it and is somebody else's."""
import fcntl
import glob
import os

from harness import Daemon, run, slurp, unzstd, until

CONFIG = '''state_dir: $T/state
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: file, path: $T/out%s}
'''
OLD = '20260101T000000.000000001'


def old_ones(temp):
    """Halves go, what is there twice goes once, the rest is compressed; names
    of others and what somebody is about stay."""
    path = f'{temp}/out.{OLD}'
    names = {
        f'{path[:-1]}2': b'whole',  # and its compressed form, below
        f'{path[:-1]}3': b'not compressed',
        f'{path[:-1]}3.zst.part': b'half',
        f'{path[:-1]}4.zst.part': b'half, and its original is gone',
        f'{path[:-1]}5': b'somebody is about it',
        f'{path[:-1]}5.zst.part': b'half',
        f'{temp}/out.2026.zst.part': b'of others',
        f'{temp}/out.notes': b'of others',
        f'{temp}/other.{OLD}.zst.part': b'of others',
        f'{path}x.zst.part': b'of others',
    }
    for name, data in names.items():
        with open(name, 'wb') as f:
            f.write(data)
    os.mkdir(f'{temp}/state')
    with open(f'{temp}/state/checkpoint.part', 'wb') as f:
        f.write(b'half')
    # A link is not written through.
    with open(f'{temp}/target', 'wb') as f:
        f.write(b'of others')
    with open(f'{path[:-1]}6', 'wb') as f:
        f.write(b'stays')
    os.symlink(f'{temp}/target', f'{path[:-1]}6.zst.part')
    os.symlink(f'{temp}/target', f'{path[:-1]}7.zst')
    with open(f'{path[:-1]}7', 'wb') as f:
        f.write(b'not compressed either')
    with open(f'{path[:-1]}2.zst', 'wb') as f:
        f.write(b'compressed')
    with open(f'{path[:-1]}5.zst.part', 'rb') as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        d = Daemon(temp, CONFIG % ', required: true, compress: true')
        until('order', lambda: not os.path.exists(f'{path[:-1]}3') and
              not os.path.exists(f'{path[:-1]}4.zst.part') and
              not os.path.exists(f'{path[:-1]}7'))
        d.stop()
    assert slurp(f'{path[:-1]}2.zst') == b'compressed'
    assert unzstd(f'{path[:-1]}3.zst') == b'not compressed'
    assert unzstd(f'{path[:-1]}7.zst') == b'not compressed either'
    assert slurp(f'{temp}/target') == b'of others'
    assert slurp(f'{path[:-1]}5') == b'somebody is about it'
    left = {name[len(temp) + 1:] for name in glob.glob(f'{temp}/*')}
    gone = {f'out.{OLD[:-1]}{end}' for end in (
        '2', '3', '3.zst.part', '4.zst.part', '4', '7')}
    assert not left & gone, left & gone
    for name, data in names.items():
        if data == b'of others':
            assert slurp(name) == data, name
    assert not os.path.exists(f'{temp}/state/checkpoint.part')
    # Nobody is about it any more.
    d.start()
    until('order', lambda: not os.path.exists(f'{path[:-1]}5.zst.part') and
          not os.path.exists(f'{path[:-1]}5'))
    assert unzstd(f'{path[:-1]}5.zst') == b'somebody is about it'
    d.stop()


def of_each_source(temp):
    path = f'{temp}/out/a.b.ndjson.{OLD}'
    os.mkdir(f'{temp}/out')
    os.mkdir(f'{temp}/other')
    for name in path, f'{temp}/other/a.ndjson.{OLD}', f'{temp}/out/a.{OLD}':
        with open(name, 'wb') as f:
            f.write(b'lines')
    d = Daemon(temp, CONFIG.replace('$T/out', '"$T/out/{buffer}.ndjson"') %
               ', compress: true')
    until('order', lambda: not os.path.exists(path))
    d.stop()
    assert unzstd(f'{path}.zst') == b'lines'
    assert sorted(os.listdir(f'{temp}/out')) == [
        f'a.{OLD}', f'a.b.ndjson.{OLD}.zst'], os.listdir(f'{temp}/out')
    assert os.listdir(f'{temp}/other') == [f'a.ndjson.{OLD}']


run(old_ones, of_each_source)
