#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""leftovers.py DAEMON DUMP ELF: what a kill can leave in the files of outputs,
made by hand, and what looks like it and is somebody else's."""
import contextlib
import fcntl
import glob
import json
import os
import shutil
import struct

from harness import (DUMP, N_ENTRIES, Daemon, dump_frames, elf_frame,
                     entry_ends, producer, run, send_behind, slurp, unzstd,
                     until)

CONFIG = '''state_dir: $T/state
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: file, path: $T/out%s}
'''
REQUIRED = CONFIG % ', required: true'
OLD = '20260101T000000.000000001'


def records(temp, whole=True):
    lines = slurp(f'{temp}/out').split(b'\n')
    assert lines.pop() == b'' or not whole, lines
    return [json.loads(line) for line in lines]


def send(d, temp, n, name='b'):
    """Until there are so many entries in the file."""
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, name)):
        until('the lines', lambda: os.path.exists(f'{temp}/out') and slurp(
            f'{temp}/out').count(b'"type":"entry"') == n)
        if 'required' in d.config:
            saved = f'"{temp}/out": {count(temp)}'.encode()
            until('the checkpoint', lambda: os.path.exists(
                f'{temp}/state/checkpoint') and saved in slurp(
                    f'{temp}/state/checkpoint'))


def count(temp):
    return slurp(f'{temp}/out').count(b'"sequence"')


def numbers(temp):
    return [r['sequence'] for r in records(temp)]


def torn(temp):
    """Whatever there is of a record goes, and comes again if it was one."""
    d = Daemon(temp, REQUIRED)
    send(d, temp, N_ENTRIES)
    n = N_ENTRIES
    first = slurp(f'{temp}/out').splitlines(keepends=True)[0]
    for rest in (b'{', b'{"type":"ent', first[:-1], first[:-2], b'\0' * 5000,
                 b'{"type":"entry"\0\0\0', b'{"type":"' + b'x' * 3000000):
        d.kill()
        before = slurp(f'{temp}/out')
        with open(f'{temp}/out', 'ab') as f:
            f.write(rest)
        d.start()
        until('a cut', lambda: f'out: {len(rest)} bytes behind its last whole '
              'record are cut off' in d.log())
        until('the old length', lambda: slurp(f'{temp}/out') == before)
        n += N_ENTRIES
        send(d, temp, n)
        assert numbers(temp) == list(range(1, count(temp) + 1))
    d.stop()


def not_acknowledged(temp):
    """Records that the checkpoint does not know of: those that are whole are
    not written again, what is behind a broken one is."""
    d = Daemon(temp, REQUIRED)
    send(d, temp, N_ENTRIES)
    d.kill()
    saved = slurp(f'{temp}/state/checkpoint')
    d.start()
    send(d, temp, 2 * N_ENTRIES)
    whole = slurp(f'{temp}/out')
    lines = whole.splitlines(keepends=True)
    keep = len(lines) // 2 + 10
    head = b''.join(lines[:keep])
    for there in (whole, whole[:-1], head, head + lines[keep][:20],
                  head + lines[keep][:20] + b'\n' + b''.join(lines[keep + 1:]),
                  head + b'\0' * 700 + b''.join(lines[keep + 4:]),
                  head + b''.join(lines[keep + 1:]),
                  b''.join(lines[:len(lines) // 2])):
        d.kill()
        with open(f'{temp}/state/checkpoint', 'wb') as f:
            f.write(saved)
        with open(f'{temp}/out', 'wb') as f:
            f.write(there)
        d.start()
        until('all of it', lambda: slurp(f'{temp}/out') == whole)
    d.stop()


def of_others(temp):
    """What only looks as if it was ours, or as if it was cut short."""
    old = b'some notes\n{"type":"entry","sequence":7}\nand no end'
    with open(f'{temp}/out', 'wb') as f:
        f.write(old)
    d = Daemon(temp, REQUIRED)
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        until('the lines', lambda: slurp(f'{temp}/out').count(
            b'"type":"entry"') == N_ENTRIES + 1)
    d.stop()
    assert slurp(f'{temp}/out').startswith(old + b'\n{"type":"entry"')
    # The same numbers, of another queue.
    shutil.rmtree(f'{temp}/state')
    before = slurp(f'{temp}/out')
    d.start()
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1, 'c')):
        until('the lines', lambda: slurp(f'{temp}/out').count(
            b'"type":"entry"') == 2 * N_ENTRIES + 1)
        until('a checkpoint', lambda: os.path.exists(
            f'{temp}/state/checkpoint'))
    d.kill()
    assert slurp(f'{temp}/out').startswith(before)
    # Killed before its first checkpoint, so to speak.
    os.remove(f'{temp}/state/checkpoint')
    d.start()
    until('the lines', lambda: slurp(f'{temp}/out').count(
        b'"type":"entry"') >= 2 * N_ENTRIES + 1)
    d.stop()
    assert slurp(f'{temp}/out').startswith(before)
    assert 'cut off' not in d.log(), d.log()


def not_required(temp):
    d = Daemon(temp, CONFIG % '')
    send(d, temp, N_ENTRIES)
    d.kill()
    with open(f'{temp}/out', 'ab') as f:
        f.write(b'{"type":"entry","seq')
    d.start()
    send(d, temp, 2 * N_ENTRIES)
    d.stop()
    assert len(records(temp)) == count(temp) == 2 * N_ENTRIES
    os.remove(f'{temp}/out')
    d.write_config(CONFIG % ', output: text')
    d.start()
    with open(f'{temp}/out', 'wb') as f:
        f.write(b'half a message')
    d.kill()
    d.start()
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        until('the lines', lambda: slurp(f'{temp}/out').count(b'\n') ==
              N_ENTRIES + 1)
    d.stop()
    assert slurp(f'{temp}/out').startswith(b'half a message\n')


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


STUCK = '''state_dir: $T/state
sandbox: false
workers: 1
ring: 1MiB
queue_max: 8MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/ack.sock", required: true, name: collector}
'''


def sources_wait(temp):
    """Rotated files are tidied while all who decode wait for the queue: what it
    waits for may be the room that they take."""
    data = slurp(DUMP)
    n = entry_ends(data)[-1]
    body = data[16:n] * (4 << 20 >> 10)
    big = struct.pack('<QQ', len(body) // 4, 0) + body
    path = f'{temp}/out.{OLD[:-1]}'
    d = Daemon(temp, STUCK)
    with contextlib.ExitStack() as stack:
        for i in range(4):
            sock = stack.enter_context(producer(f'{temp}/in.sock', elf_frame()))
            send_behind(sock, b''.join(dump_frames(1, f'b{i}', big)))
        until('that it is full', lambda: 'full: the required output' in d.log())
        with open(f'{path}1', 'wb') as f:
            f.write(b'before')
        d.reload(STUCK + f'  - {{type: file, path: {temp}/out, compress: true}}\n')
        until('the old one to be compressed', lambda: not os.path.exists(f'{path}1'))
        assert unzstd(f'{path}1.zst') == b'before'
        d.kill()


def links(temp):
    """A link of another user would say which file of ours grows; the daemon's own
    is followed."""
    with open(f'{temp}/target', 'wb') as f:
        f.write(b'of others\n')
    with open(f'{temp}/ours', 'wb'):
        pass
    os.mkdir(f'{temp}/folder')
    path = f'{temp}/folder/out'
    config = CONFIG.replace('$T/out', path)
    os.symlink('../ours', path)
    for more in '', ', required: true':
        before = len(slurp(f'{temp}/ours'))
        d = Daemon(temp, config % more)
        with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1)):
            until('lines', lambda n=before: len(slurp(f'{temp}/ours')) > n)
        d.stop()
    assert os.path.islink(path)
    if os.geteuid() != 0:
        print('left out: links of others (only root makes some)')
        return
    for target in '../target', 'nowhere', path:
        for more in '', ', required: true':
            os.unlink(path)
            os.symlink(target, path)
            os.lchown(path, 65534, 65534)
            d = Daemon(temp, config % more)
            with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1)):
                until('it is said', lambda: 'out: a link of another user'
                      in d.log())
                assert slurp(f'{temp}/target') == b'of others\n'
                assert not os.path.exists(f'{temp}/folder/nowhere')
                os.unlink(path)
                until('lines', lambda: os.path.exists(path) and
                      slurp(path).count(b'"type":"entry"') >= N_ENTRIES)
            d.stop()


def refuse_names(temp, path, config):
    """Until the file's other name is the only one."""
    before = slurp(path)
    for more in '', ', required: true':
        d = Daemon(temp, config % more)
        with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1)):
            until('it is said', lambda: 'out: it has several names' in d.log())
            assert slurp(path) == before
            os.rename(path, f'{path}.away')
            until('lines', lambda: os.path.exists(path) and
                  slurp(path).count(b'"type":"entry"') >= N_ENTRIES)
        d.stop()
        os.rename(f'{path}.away', path)


def hard_links(temp):
    """Of a file of ours, where others may have made them; the daemon's own, as
    of a snapshot, is no obstacle."""
    with open(f'{temp}/target', 'wb') as f:
        f.write(b'of others\n')
    os.mkdir(f'{temp}/folder')
    path = f'{temp}/folder/out'
    config = CONFIG.replace('$T/out', path)
    os.link(f'{temp}/target', path)
    os.chmod(f'{temp}/folder', 0o1777)
    refuse_names(temp, path, config)
    os.symlink(path, f'{temp}/way')
    refuse_names(temp, path, CONFIG.replace('$T/out', f'{temp}/way'))
    os.chmod(f'{temp}/folder', 0o755)
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
        refuse_names(temp, path, config)
        os.chown(path, 0, 0)
    else:
        print('left out: files of others (only root makes some)')
    d = Daemon(temp, config % '')
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames(1)):
        until('lines', lambda: slurp(f'{temp}/target').count(
            b'"type":"entry"') >= N_ENTRIES)
    d.stop()
    assert slurp(f'{temp}/target').startswith(b'of others\n{')


def planted_old_ones(temp):
    """Names of rotated files that others made: of our files, of what they want to
    be read, or of nothing that can be compressed."""
    os.mkdir(f'{temp}/folder')
    os.chmod(f'{temp}/folder', 0o1777)
    for name in 'target', 'secret':
        with open(f'{temp}/{name}', 'wb') as f:
            f.write(b'of others')
    path = f'{temp}/folder/out.{OLD[:-1]}'
    for i in '1', '6', '9':
        with open(f'{path}{i}', 'wb') as f:
            f.write(b'ours')
    os.link(f'{temp}/target', f'{path}1.zst.part')
    os.link(f'{temp}/target', f'{path}2.zst.part')
    os.symlink(f'{temp}/secret', f'{path}3')
    os.link(f'{temp}/secret', f'{path}4')
    os.mkfifo(f'{path}5')
    os.link(f'{temp}/target', f'{path}6.zst')
    os.mkfifo(f'{path}7.zst.part')
    if os.geteuid() == 0:
        with open(f'{path}8', 'wb') as f:
            f.write(b'of others')
        os.chown(f'{path}8', 65534, 65534)
    names = set(os.listdir(f'{temp}/folder'))
    d = Daemon(temp, CONFIG.replace('$T/out', f'{temp}/folder/out') %
               ', compress: true')
    until('the last one', lambda: not os.path.exists(f'{path}9'))
    d.stop()
    assert slurp(f'{temp}/target') == slurp(f'{temp}/secret') == b'of others'
    assert slurp(f'{path}1') == b'ours'
    for i in '6', '9':
        assert unzstd(f'{path}{i}.zst') == b'ours', i
    end = path[len(temp) + 8:]
    assert set(os.listdir(f'{temp}/folder')) - {'out'} == (
        names - {f'{end}6', f'{end}9'} | {f'{end}9.zst'})


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


run(torn, not_acknowledged, of_others, not_required, old_ones, sources_wait, links,
    hard_links, planted_old_ones, of_each_source)
