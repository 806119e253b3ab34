#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""uris.py DAEMON DUMP ELF: producers that name files and memory which they
could not read themselves, and hope that the daemon can. That something was read
shows in the format strings that are there."""
import contextlib
import ctypes
import os
import shutil
import signal
import socket
import struct
import subprocess
import threading

from harness import (ELF, N_ENTRIES, PROGRAM, START, Daemon, Lacking,
                     dump_frames, frame,
                     free_port, is_root_listed, need_listed_root, producer, run,
                     sent_from, slurp, until)

OTHER = 54321  # no user that there is
GROUP = 54322
CLONE_NEWNS = 0x20000
CONFIG = '''inputs:
  - {type: listen, address: "unix:$T/in.sock", mode: "0666"$MORE}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''
# All folders are there, and the root of them is no mount point.
JAILED = '''#!/bin/sh
exec unshare -m sh -ec '
    for folder in /*; do
        [ -d "$folder" ] && [ ! -L "$folder" ] || continue
        mkdir -p "{jail}$folder"
        mount --rbind "$folder" "{jail}$folder"
    done
    cp -P /lib* "{jail}" 2>/dev/null || :
    exec chroot "{jail}" "{program}" "$@"' - "$@"
'''
libc = ctypes.CDLL(None, use_errno=True)


class Attack:
    """A daemon whose state the test looks at after each URI."""

    def __init__(self, temp, more='', head='', **how):
        os.chmod(temp, 0o755)
        self.temp = temp
        self.d = Daemon(temp, head + CONFIG.replace('$MORE', more), **how)
        self.n = self.n_refused = 0

    def strings(self):
        return self.d.metric('strings')

    def frame(self, uri):
        self.n += 1
        return frame('code_object', code_object=self.n, uri=uri.encode())

    def marker(self):
        """What shows that the code objects before it have been dealt with: its
        buffer waits for these."""
        self.n += 1
        return f'marker{self.n}', b''.join(dump_frames(self.n, f'marker{self.n}'))

    def dealt_with(self, name):
        wanted = f'source_entries_total{{source="{name}"}} {N_ENTRIES}\n'
        until(name, lambda: wanted in self.d.http()[1])

    def send(self, *uris, before=None):
        """before(): what the sender does first."""
        name, marker = self.marker()
        frames = [self.frame(uri) for uri in uris]
        with sent_from(f'{self.temp}/in.sock', lambda: [*frames, marker],
                       before):
            self.dealt_with(name)
        assert self.d.process.poll() is None, self.d.log()

    def is_refused(self, uri, why, **how):
        before = len(self.d.log())
        strings = self.strings()
        self.send(uri, **how)
        assert self.strings() == strings, ('it was read', uri, self.d.log())
        self.n_refused += 1
        if self.n_refused < 9:  # of more the log need not tell at once
            until(f'{why}: {uri}', lambda: why in self.d.log()[before:])

    def is_read(self, uri, **how):
        """The first time."""
        assert self.strings() == 0
        self.send(uri, **how)
        assert self.strings() > 0, (uri, self.d.log())


def become(uid, groups=()):
    os.setgroups(groups)
    os.setgid(uid)
    os.setuid(uid)


def other():
    become(OTHER)


def member():
    become(OTHER, [1, GROUP])


def need_root():
    if os.geteuid() == 0:
        return True
    print('left out: there are no other users for who is not root')
    return False


def put(path, mode=0o644, uid=-1, gid=-1):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(ELF, path)
    os.chown(path, uid, gid)
    os.chmod(path, mode)
    return path


def own_files(temp):
    """What one may read, also through links and .. on the way."""
    put(f'{temp}/a/b/app.elf')
    os.symlink('../a', f'{temp}/a/up')
    os.symlink(f'{temp}/a/up/b', f'{temp}/link')
    a = Attack(temp)
    a.is_refused(f'file://{temp}/none.elf', 'No such file')
    a.is_refused(f'file://{temp}/a', 'it is a folder')
    a.is_refused('file:///', 'it is a folder')
    a.is_refused('file://a/b/app.elf', 'not an absolute path')
    a.is_refused(f'file://{temp}/a/b/app.elf/x', 'Not a directory')
    a.is_refused(f'file://{temp}/' + 'x' * 300, 'File name too long')
    a.is_refused(f'file://{temp}/' + 'a/../' * 200 + 'a/b/app.elf', 'Too many')
    os.symlink(f'{temp}/loop', f'{temp}/loop')
    a.is_refused(f'file://{temp}/loop', 'Too many')
    a.is_read(f'file://{temp}//link/./../b/app.elf')
    a.d.stop()


def no_plain_files(temp):
    """Those that are no data, and those that nobody answers for."""
    a = Attack(temp)
    me = a.d.process.pid
    for path in ('/proc/self/environ', f'/proc/{me}/maps', '/proc/kcore',
                 f'/proc/self/root{temp}/app.elf', '/sys/kernel/mm/ksm/run',
                 f'/proc/{os.getpid()}/cwd/x'):
        a.is_refused(f'file://{path}#offset=0&size=16',
                     'its file system is not one of plain files')
    a.is_refused('file:///dev/zero', 'not a regular file')
    os.mkfifo(f'{temp}/pipe')
    a.is_refused(f'file://{temp}/pipe', 'not a regular file')
    with silent_mount(f'{temp}/fuse') as mounted:
        if mounted:
            for path in 'fuse', 'fuse/', 'fuse/app.elf':
                a.is_refused(f'file://{temp}/{path}',
                             'its file system is not one of plain files')
    a.is_read(f'file://{put(f"{temp}/app.elf")}')
    a.d.stop()


@contextlib.contextmanager
def silent_mount(path):
    """A file system in user space that never answers."""
    os.mkdir(path)
    try:
        fd = os.open('/dev/fuse', os.O_RDWR)
    except OSError:
        fd = -1
    options = f'fd={fd},rootmode=40000,user_id=0,group_id=0'.encode()
    ok = fd >= 0 and libc.mount(b'none', path.encode(), b'fuse', 0,
                                options) == 0
    if not ok:
        print('left out: no file system can be mounted')
    try:
        yield ok
    finally:
        if fd >= 0:
            os.close(fd)
        if ok:
            libc.umount2(path.encode(), 2)  # MNT_DETACH


def others_by_default(temp):
    if not need_root():
        return
    a = Attack(temp)
    path = put(f'{temp}/app.elf')
    a.is_refused(f'file://{path}', 'may not use', before=other)
    a.is_refused('memory://1#offset=4096&size=64', 'may not use', before=other)
    a.is_read(f'file://{path}')
    a.d.stop()
    a = Attack(temp, ', code_object_uris: none')
    a.is_refused(f'file://{path}', 'may not use')
    a.d.stop()


def rights_of_others(temp):
    """Theirs, not ours: of the file and of each folder on the way."""
    if not need_root():
        return
    a = Attack(temp, ', code_object_uris: all')
    no = 'its sender may not read it'
    shut = put(f'{temp}/shut/app.elf')
    os.chmod(f'{temp}/shut', 0o700)
    put(f'{temp}/open/mine.elf', 0o600)
    os.chown(f'{temp}/open', OTHER, OTHER)
    os.symlink(shut, f'{temp}/open/link.elf')
    os.symlink('../shut', f'{temp}/open/folder')
    os.lchown(f'{temp}/open/link.elf', OTHER, OTHER)
    os.link(f'{temp}/open/mine.elf', f'{temp}/open/second.elf')
    for path in ('shut/app.elf', 'open/mine.elf', 'open/link.elf',
                 'open/folder/app.elf', 'open/../shut/app.elf',
                 'open/second.elf', 'shut/../open/mine.elf'):
        a.is_refused(f'file://{temp}/{path}', no, before=other)
    # Who is denied as owner or by group is not one of the others.
    owned = put(f'{temp}/owned.elf', 0o044, OTHER, OTHER)
    a.is_refused(f'file://{owned}', no, before=other)
    denied = put(f'{temp}/denied.elf', 0o604, 0, GROUP)
    a.is_refused(f'file://{denied}', no, before=member)
    # A list says more than the mode.
    listed = put(f'{temp}/listed.elf')
    acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *e) for e in (
        (1, 6, 0xffffffff), (2, 0, OTHER), (4, 4, 0xffffffff),
        (16, 4, 0xffffffff), (32, 4, 0xffffffff)))
    try:
        os.setxattr(listed, 'system.posix_acl_access', acl)
        a.is_refused(f'file://{listed}', 'access control list', before=other)
    except OSError:
        print('left out: no access control lists here')
    # Their memory may be that of a program which they may not read.
    keep = ctypes.create_string_buffer(slurp(ELF))
    for of in os.getpid(), a.d.process.pid, 1:
        a.is_refused(f'memory://{of}#offset={ctypes.addressof(keep)}&size=64',
                     'none of file:// or memory://', before=other)
    path = put(f'{temp}/ours.elf', 0o640, 0, GROUP)
    a.is_refused(f'file://{path}', no, before=other)
    a.is_read(f'file://{path}', before=member)
    a.d.stop()


def memory_of_others(temp):
    """Also of whoever is the sender, but not of our user."""
    if not need_root():
        return
    a = Attack(temp, ', code_object_uris: all', 'sandbox: false\n')
    elf = slurp(ELF)
    keep = ctypes.create_string_buffer(elf, len(elf))
    place = f'#offset={ctypes.addressof(keep)}&size={len(elf)}'
    uris = []

    def of_itself():
        other()
        uris.append(f'memory://{os.getpid()}{place}')
    name, marker = a.marker()
    with sent_from(f'{temp}/in.sock', lambda: [a.frame(uris[0]), marker],
                   of_itself):
        a.dealt_with(name)
    assert a.strings() == 0, a.d.log()
    assert 'not the memory of the process' in a.d.log(), a.d.log()
    a.d.stop()


def swapped(temp):
    """The way changes while it is gone."""
    if not need_root():
        return
    a = Attack(temp, ', code_object_uris: all')
    put(f'{temp}/shut/app.elf')
    os.chmod(f'{temp}/shut', 0o700)
    os.makedirs(f'{temp}/theirs/real')
    with open(f'{temp}/theirs/real/app.elf', 'wb') as f:
        f.write(b'nothing')
    os.symlink('real', f'{temp}/theirs/d')
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            for target in f'{temp}/shut', 'real':
                os.symlink(target, f'{temp}/theirs/new')
                os.rename(f'{temp}/theirs/new', f'{temp}/theirs/d')

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        for _ in range(20):
            a.send(*[f'file://{temp}/theirs/d/app.elf'] * 20, before=other)
            assert a.strings() == 0, a.d.log()
    finally:
        stop.set()
        swapper.join()
    a.d.stop()


def other_mounts(temp):
    """A name that means something else where the sender is."""
    if not need_root():
        return
    a = Attack(temp)
    path = put(f'{temp}/app.elf')

    def leave():
        assert libc.unshare(CLONE_NEWNS) == 0
    a.is_refused(f'file://{path}', 'not one that the process sees',
                 before=leave)
    os.mkdir(f'{temp}/root')
    a.is_refused(f'file://{path}', 'may not', before=other)

    def jail():
        os.chroot(f'{temp}/jail')
    os.mkdir(f'{temp}/jail')
    # It finds the socket by the same name.
    os.makedirs(f'{temp}/jail{temp}')
    os.link(f'{temp}/in.sock', f'{temp}/jail{temp}/in.sock')
    a.is_refused(f'file://{path}', 'not one that the process sees',
                 before=jail)
    a.is_read(f'file://{path}')
    a.d.stop()


def in_chroot(temp):
    """Where no listed mount holds its root, the daemon says so."""
    path = put(f'{temp}/app.elf')
    program = f'{temp}/jailed'
    with open(program, 'w') as f:
        f.write(JAILED.format(jail=f'{temp}/jail', program=PROGRAM))
    os.chmod(program, 0o755)
    how = {}
    if is_root_listed():
        if subprocess.run([program, '--version'], check=False,
                          stdout=subprocess.DEVNULL).returncode:
            raise Lacking('nothing can be mounted')
        how['program'] = program
    a = Attack(temp, **how)
    a.is_refused(f'file://{path}', f'{path}: /proc/self/mountinfo lists no '
                 'mount that holds it, as in a chroot')
    a.d.stop()


def sender_is_gone(temp):
    """Its number is another process' by now, which has more to tell. The socket
    that it connected is ours."""
    a = Attack(temp, head='sandbox: false\n')
    elf = slurp(ELF)
    keep = ctypes.create_string_buffer(elf, len(elf))
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        sock = producer(f'{temp}/in.sock')
        socket.send_fds(theirs, [b'1'], [sock.fileno()])
        os._exit(0)
    sock = socket.socket(fileno=socket.recv_fds(ours, 1, 1)[1][0])
    os.waitpid(child, 0)
    again = fork_as(child)
    path = put(f'{temp}/app.elf')
    name, marker = a.marker()
    sock.sendall(
        a.frame(f'memory://{child}#offset={ctypes.addressof(keep)}'
                f'&size={len(elf)}') + a.frame(f'file://{path}') + marker)
    a.dealt_with(name)
    if again:
        os.kill(again, signal.SIGKILL)
        os.waitpid(again, 0)
    assert a.strings() == 0, a.d.log()
    until('a word of it', lambda: a.d.log().count(
        'the process that named it has ended') == 2)
    a.d.stop()


def fork_as(pid):
    """A process of that number, if we may say so; else None."""
    for _ in range(20):
        try:
            with open('/proc/sys/kernel/ns_last_pid', 'w') as f:
                f.write(str(pid - 1))
        except OSError:
            break
        child = os.fork()
        if child == 0:
            signal.pause()
            os._exit(0)
        if child == pid:
            return child
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    print('left out: no process gets the number of another one')
    return None


def not_known(temp):
    """TCP says nothing of who sends."""
    port = free_port()
    a = Attack(temp, f'}}\n  - {{type: listen, address: "tcp:127.0.0.1:{port}"')
    path = put(f'{temp}/app.elf')
    name, marker = a.marker()
    with socket.create_connection(('127.0.0.1', port)) as sock:
        sock.sendall(START + a.frame(f'file://{path}') + a.frame(
            f'memory://{a.d.process.pid}#offset=4096&size=64') + marker)
        a.dealt_with(name)
    assert a.strings() == 0 and a.d.log().count('may not use') == 2, a.d.log()
    a.is_read(f'file://{path}')
    a.d.stop()


def where_listed(test):
    def checked(temp):
        need_listed_root()
        test(temp)
    checked.__name__ = test.__name__
    return checked


run(in_chroot, memory_of_others,
    *map(where_listed, [own_files, no_plain_files, others_by_default,
                        rights_of_others, swapped, other_mounts, sender_is_gone,
                        not_known]))
