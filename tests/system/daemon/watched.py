#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""watched.py DAEMON DUMP ELF COMMAND: what others may put into a watched folder
to have files read that they could not read, or to stop the daemon."""
import os
import re
import socket
import subprocess
import threading

from harness import (DUMP, ELF, N_ENTRIES, REST, Daemon, dial, run, slurp,
                     until)

COMMAND = REST[0]
SOMEBODY = 54321  # no user that there is
CONFIG = '''memory_max: 64MiB
ring: 4MiB
inputs:
  - {type: directory, path: $T/in, code_objects: "*.elf", dumps: "*.dump"$MORE}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''


def start(temp, more='', mode=0o755):
    os.makedirs(f'{temp}/in', exist_ok=True)
    os.chmod(f'{temp}/in', mode)
    d = Daemon(temp, CONFIG.replace('$MORE', more))
    return d, dial(f'{temp}/l.sock', {'from': 'oldest'})


def put(temp, name, data=None, owner=None):
    """Moved in, whole, under a name of its own."""
    part = f'{temp}/{name}.part'
    with open(part, 'wb') as f:
        f.write(slurp(DUMP) if data is None else data)
    if owner is not None:
        os.chown(part, owner, owner)
    os.rename(part, f'{temp}/in/{name}')


def link_in(temp, target, name):
    os.symlink(target, f'{temp}/{name}.part')
    os.rename(f'{temp}/{name}.part', f'{temp}/in/{name}')


def make_secret(temp):
    """A capture that is not in the folder, whose entries would say so."""
    with open(f'{temp}/secret', 'wb') as f:
        f.write(slurp(DUMP))
    subprocess.run([COMMAND, 'capture', '-o', f'{temp}/secret.pfcap',
                    f'{temp}/secret', ELF], check=True)


def refused(d, n):
    until(f'{n} refusals', lambda: d.metric('refused_files_total') == n)


def reads(d, lines, temp, name, times=1, **how):
    """Of all that came before, only this is read."""
    put(temp, f'{name}.elf', slurp(ELF), **how)
    put(temp, f'{name}.dump', **how)
    entries = lines.entries(times * N_ENTRIES)
    assert {e['source'] for e in entries} == {f'{temp}/in/{name}.dump'}, entries
    assert all(e['message'] for e in entries), entries


def links(temp):
    make_secret(temp)
    os.mkdir(f'{temp}/in')
    targets = [f'{temp}/secret.pfcap', '../secret.pfcap', 'real.dump', '.',
               '..', 'none', 'loop.dump', '/proc/self/environ', '/dev/zero',
               f'{temp}/in/../secret.pfcap']
    for i, target in enumerate(targets):
        link_in(temp, target, f'a{i}.dump')
        link_in(temp, target, f'a{i}.elf')
    d, lines = start(temp)
    refused(d, 2 * len(targets))
    for i, target in enumerate(targets):
        link_in(temp, target, f'b{i}.dump')
        link_in(temp, target, f'b{i}.elf')
    refused(d, 4 * len(targets))
    reads(d, lines, temp, 'real')
    # One that is made there is refused as one that is moved there.
    os.symlink('real.dump', f'{temp}/in/made.dump')
    refused(d, 4 * len(targets) + 1)
    os.remove(f'{temp}/in/made.dump')
    # The same again is counted, and not told again.
    assert d.log().count('a0.elf: not read: it is a symbolic link') == 1
    link_in(temp, targets[0], 'a0.elf')
    refused(d, 4 * len(targets) + 2)
    assert d.log().count('a0.elf: not read') == 1, d.log()
    d.stop()
    assert 'secret' not in d.log(), d.log()


def no_files(temp):
    """They are not even opened: a writer would find somebody who reads."""
    d, lines = start(temp)
    os.mkfifo(f'{temp}/pipe')
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(f'{temp}/sock')
    names = ['pipe', 'sock']
    if os.geteuid() == 0:
        os.mknod(f'{temp}/device', 0o20644, os.makedev(1, 5))  # zero
        names.append('device')
    n = 0
    for name in names:
        for end in 'elf', 'dump':
            n += 1
            os.link(f'{temp}/{name}', f'{temp}/{name}.part')
            os.rename(f'{temp}/{name}.part', f'{temp}/in/{name}.{end}')
            refused(d, n)
            assert f'in/{name}.{end}: not read: it is not a regular file' in \
                d.log(), d.log()
    try:
        os.close(os.open(f'{temp}/pipe', os.O_WRONLY | os.O_NONBLOCK))
        raise AssertionError('the pipe was opened')
    except OSError:
        pass
    reads(d, lines, temp, 'real')
    d.stop()


def owners(temp):
    if os.geteuid() != 0:
        print('left out: files cannot be given to others')
        return
    d, lines = start(temp)
    put(temp, 'theirs.dump', owner=SOMEBODY)
    put(temp, 'theirs.elf', slurp(ELF), owner=SOMEBODY)
    refused(d, 2)
    assert f'theirs.elf: not read: it belongs to user {SOMEBODY}' in d.log()
    reads(d, lines, temp, 'real')
    # Whose folder it is, puts files there.
    os.chown(f'{temp}/in', SOMEBODY, SOMEBODY)
    reads(d, lines, temp, 'mine', owner=SOMEBODY)
    # Those that are named, and nobody else.
    d.reload(CONFIG.replace('$MORE', f', owners: [{SOMEBODY + 1}]'))
    refused(d, 8)  # all that is there
    put(temp, 'root.dump')
    refused(d, 9)
    reads(d, lines, temp, 'named', owner=SOMEBODY + 1)
    d.stop()


def mended(temp):
    """install(1) sets owner and mode last, after it has closed the file. A file
    that was read is not read again for that."""
    is_root = os.geteuid() == 0  # who may read any mode, but not any owner's

    def change(path, good):
        if is_root:
            os.chown(path, *[0 if good else SOMEBODY] * 2)
        else:
            os.chmod(path, 0o644 if good else 0)

    d, lines = start(temp)
    for n, name in enumerate(('late.elf', 'late.dump')):
        with open(f'{temp}/{name}', 'wb') as f:
            f.write(slurp(ELF if n == 0 else DUMP))
        change(f'{temp}/{name}', False)
        os.rename(f'{temp}/{name}', f'{temp}/in/{name}')
        refused(d, 3 * n + 1)
        os.utime(f'{temp}/in/{name}')
        refused(d, 3 * n + 2)
        os.utime(f'{temp}/in/{name}')
        refused(d, 3 * n + 3)
        change(f'{temp}/in/{name}', True)
    entries = lines.entries(N_ENTRIES)
    assert {e['source'] for e in entries} == {f'{temp}/in/late.dump'}, entries
    for name in 'late.elf', 'late.dump':
        os.utime(f'{temp}/in/{name}')
        os.chmod(f'{temp}/in/{name}', 0o600)
    reads(d, lines, temp, 'real')
    refused(d, 6)
    d.stop()


def second_names(temp):
    """A file that its owner did not put there."""
    make_secret(temp)
    d, lines = start(temp, mode=0o1777)
    os.link(f'{temp}/secret.pfcap', f'{temp}/in/a.dump')
    with open(f'{temp}/in/a.dump', 'ab'):
        pass  # it is closed: read it
    os.link(f'{temp}/secret.pfcap', f'{temp}/in/a.elf')
    with open(f'{temp}/in/a.elf', 'ab'):
        pass
    refused(d, 2)
    assert 'a.dump: not read: it has ' in d.log(), d.log()
    reads(d, lines, temp, 'real')
    # Nobody else could have done it.
    os.chmod(f'{temp}/in', 0o755)
    put(temp, 'twice.dump')
    os.link(f'{temp}/in/twice.dump', f'{temp}/other')
    os.rename(f'{temp}/other', f'{temp}/in/again.dump')
    assert len(lines.entries(2 * N_ENTRIES)) == 2 * N_ENTRIES
    d.stop()
    assert 'secret' not in d.log(), d.log()


def swapped(temp):
    """What is looked at is what is read, however often its name changes."""
    make_secret(temp)
    d, lines = start(temp)
    put(temp, 'real.elf', slurp(ELF))
    until('strings', lambda: 'real.elf: ' in d.log())
    small = slurp(DUMP)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            link_in(temp, f'{temp}/secret.pfcap', 'x.dump')
            put(temp, 'x.dump', small)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        sources = {e['source'] for e in lines.entries(30 * N_ENTRIES)}
    finally:
        stop.set()
        swapper.join()
    assert sources == {f'{temp}/in/x.dump'}, sources
    refusals = d.metric('refused_files_total')
    d.stop()
    assert refusals and 'secret' not in d.log(), d.log()


def another_folder(temp):
    """The folder's path leads elsewhere by now."""
    d, lines = start(temp)
    reads(d, lines, temp, 'real')
    os.mkdir(f'{temp}/evil')
    os.rename(f'{temp}/in', f'{temp}/old')
    os.rename(f'{temp}/evil', f'{temp}/in')
    with open(f'{temp}/in/x.dump', 'wb') as f:
        f.write(slurp(DUMP))
    with open(f'{temp}/old/x.dump', 'wb') as f:
        f.write(slurp(DUMP))
    refused(d, 1)
    assert 'x.dump: not read: the folder is another one by now' in d.log()
    d.stop()
    assert lines.next() is None


def sparse(temp):
    """What takes no room on disk takes none in memory."""
    os.mkdir(f'{temp}/in')
    for i in range(16):
        for end, head in ('elf', slurp(ELF)), ('dump', slurp(DUMP)):
            with open(f'{temp}/in/{i}.{end}', 'wb') as f:
                f.write(head)
                f.truncate(500 << 20)
    d, lines = start(temp)
    until('all of them', lambda: d.log().count('no room for it') > 8)
    put(temp, 'real.elf', slurp(ELF))
    put(temp, 'real.dump')
    sources = set()
    while f'{temp}/in/real.dump' not in sources:
        sources.add(lines.entries(1)[0]['source'])
    with open(f'/proc/{d.process.pid}/status') as f:
        peak = int(re.search(r'VmHWM:\s+(\d+)', f.read()).group(1))
    assert d.metric('memory_peak_bytes') <= 64 << 20
    assert 'Sanitizer' in d.log() or peak < 256 << 10, peak
    d.stop()


def many(temp):
    """More files than their names have room for: nobody waits until all have
    been looked at, and each is in the end."""
    n = 20000
    os.mkdir(f'{temp}/in')
    for i in range(n):
        os.close(os.open(f'{temp}/in/{i}.txt', os.O_CREAT | os.O_WRONLY))
    d = Daemon(temp, CONFIG.replace('$MORE', '').replace('64MiB', '16MiB'))
    assert '.txt: not read' not in d.log().split(': ready')[0]
    refused(d, n)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    put(temp, 'real.elf', slurp(ELF))
    reads(d, lines, temp, 'real.dump')
    refused(d, n)
    assert d.metric('memory_peak_bytes') <= 16 << 20
    d.stop()


run(many, links, no_files, owners, mended, second_names, swapped, another_folder, sparse)
