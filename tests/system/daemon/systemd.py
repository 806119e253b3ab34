#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""systemd.py DAEMON DUMP ELF FOLLOW: this plays systemd: it hears what is
notified, keeps descriptors over restarts, hands sockets over."""
import fcntl
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time

from harness import (DUMP, ELF, N_ENTRIES, PROGRAM, REST, START, Daemon, dial,
                     elf_frame, frame, need_listed_root, producer, run, skip, slurp, until)

HERE = os.path.dirname(os.path.abspath(__file__))
CASE = f'{HERE}/../../cases/debugprintf/capture_bytes'
DATA = slurp(DUMP)
CONFIG = '''inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
'''


class Manager:
    """A service manager's side of sd_notify and LISTEN_FDS."""

    def __init__(self, temp):
        self.path = f'{temp}/notify'
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.sock.bind(self.path)
        self.sock.setblocking(False)
        self.said = []
        self.store = {}

    def hear(self):
        while True:
            try:
                text, fds, _, _ = socket.recv_fds(self.sock, 65536, 16)
            except BlockingIOError:
                return self.said
            words = dict(line.split('=', 1) for line in
                         text.decode().splitlines())
            name = words.get('FDNAME')
            if 'FDSTORE' in words:
                assert len(fds) == 1 and name not in self.store, words
                self.store[name] = fds[0]
            elif 'FDSTOREREMOVE' in words:
                self.forget(name)
            self.said.append(words)

    def forget(self, name):
        if name in self.store:
            os.close(self.store.pop(name))

    def knows(self, index):
        """How far it has come is noted right behind the lines: whoever is
        killed between the two has those lines twice."""
        self.hear()
        meta = self.store.get('buffer-0-meta')
        return meta and struct.unpack_from(
            '<QQQ', os.pread(meta, 24, 8)) == (1, 0, index)

    def has_said(self, key, value='1'):
        return any(w.get(key) == value for w in self.hear())


class Service(Daemon):
    """A daemon that was started by a manager, with its descriptors."""

    def __init__(self, temp, config, manager, sockets=(), **env):
        self.manager = manager
        self.sockets = sockets
        self.extra = env
        super().__init__(temp, config)

    def start(self, env=None, pass_fds=(), wait=True):
        given = [('printfdecoded.socket', s.fileno()) for s in self.sockets]
        given += list(self.manager.store.items())
        high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for _, fd in given]

        def place():
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i)
        real = subprocess.Popen

        def popen(args, **kwargs):
            kwargs.update(preexec_fn=place, close_fds=False, pass_fds=())
            return real(['sh', '-c', 'LISTEN_PID=$$ exec "$@"', '-', *args],
                        **kwargs)
        subprocess.Popen = popen
        try:
            env = {'NOTIFY_SOCKET': self.manager.path, **self.extra}
            if given:
                env['LISTEN_FDS'] = str(len(given))
                env['LISTEN_FDNAMES'] = ':'.join(name for name, _ in given)
            super().start(env, (), wait)
        finally:
            subprocess.Popen = real
            for fd in high:
                os.close(fd)


class Shared:
    """A buffer that is shared, and filled entry by entry."""

    def __init__(self):
        self.memory = os.memfd_create('b', os.MFD_CLOEXEC |
                                      os.MFD_ALLOW_SEALING)
        os.ftruncate(self.memory, len(DATA))
        fcntl.fcntl(self.memory, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK
        self.at = 16

    def announce(self, path, name='live'):
        sock = producer(path, frame('hello', process='tester'), elf_frame())
        socket.send_fds(sock, [frame('buffer', buffer=1, name=name,
                                     size=len(DATA), fds=1)], [self.memory])
        return sock

    def write(self, n):
        for _ in range(n):
            size = 4 * (struct.unpack_from('<Q', DATA, self.at)[0] & 0xffff)
            os.pwrite(self.memory, DATA[self.at:self.at + size], self.at)
            self.at += size
            os.pwrite(self.memory, struct.pack('<Q', (self.at - 16) // 4), 0)


def kept(temp, end):
    m = Manager(temp)
    d = Service(temp, CONFIG, m)
    assert m.has_said('READY')
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    b = Shared()
    sock = b.announce(f'{temp}/in.sock')
    b.write(20)
    seen = lines.entries(20)
    until('the store', lambda: m.hear() and len(m.store) == 2)
    until('the note', lambda: m.knows(19))
    assert sorted(m.store) == ['buffer-0-memory', 'buffer-0-meta'], m.store
    end(d)
    sock.close()
    lines.close()
    b.write(20)  # nobody looks
    d.start()
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    seen += lines.entries(20)
    b.write(10)
    seen += lines.entries(10)
    # The producer finds its way back; it has nothing to repeat.
    sock = b.announce(f'{temp}/in.sock')
    time.sleep(0.2)
    b.write(14)
    seen += lines.entries(14)
    found = [e['index'] for e in seen]
    assert found == list(range(N_ENTRIES)), found
    assert {e['source'] for e in seen} == {'live'}
    assert {e['origin']['process'] for e in seen} == {'tester'}
    assert lines.is_quiet()
    assert len(m.hear()) and len(m.store) == 2
    sock.close()
    until('the store to be empty', lambda: m.hear() and not m.store)
    d.stop()
    assert m.has_said('STOPPING')


def killed(temp):
    kept(temp, lambda d: d.kill())


def stopped(temp):
    kept(temp, lambda d: d.stop())


def restarted(temp, objects, data, wanted, ready=None, least=4096):
    """A shared buffer that is written only after restarts: what the producer
    sent for it must be there, in more than `least` bytes, and take no more room
    each time."""
    m = Manager(temp)
    d = Service(temp, CONFIG, m)
    memory = os.memfd_create('b', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, len(data))
    fcntl.fcntl(memory, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK
    buffer = frame('buffer', buffer=1, name='live', size=len(data), fds=1)
    sock = producer(f'{temp}/in.sock', *objects)
    socket.send_fds(sock, [buffer], [memory])
    until('the store', lambda: m.hear() and len(m.store) == 2)
    until('the object', lambda: ': code object ' in d.log())

    def size():
        m.hear()
        return os.fstat(m.store['buffer-0-meta']).st_size

    def is_kept():
        before = size()
        time.sleep(0.1)
        return before > least and before == size()

    sizes = []
    for _ in range(3):
        until('it is kept', is_kept)
        sizes.append(size())
        d.kill()
        sock.close()
        if ready:
            ready()
        before = len(d.log())
        d.start()
        until('the object', lambda: ': code object kept 0'
              in d.log()[before:])
    os.pwrite(memory, data, 0)
    # The producer is here again, and does not say it all again.
    sock = producer(f'{temp}/in.sock')
    socket.send_fds(sock, [buffer + frame('done', buffer=1)], [memory])
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    got = [e['message'] for e in lines.entries(len(wanted))]
    assert got == wanted, got
    assert len(set(sizes)) == 1, sizes
    d.stop()


def messages(*args):
    """What the same gives in files."""
    done = subprocess.run([REST[0], '-o', 'json', *args], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          cwd=CASE)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    found = [e['message'] for e in lines if e['type'] == 'entry']
    assert found and None not in found, lines
    return found


def module_frame():
    return frame('code_object', code_object=7, name='m',
                 bytes=slurp(f'{CASE}/bytes.comp.spv'))


def shaders_kept(temp):
    restarted(temp, [module_frame(), frame('shader', shader=0, code_object=7)],
              slurp(f'{CASE}/buffer.bin'),
              messages('--shaders', 'map.json', 'buffer.bin'))


def loose_modules_kept(temp):
    restarted(temp, [frame('hello', process='p'), module_frame()],
              slurp(f'{CASE}/buffer.bin'),
              messages('--shaders', 'map.json', 'buffer.bin'))


def named_files_kept(temp):
    """One that is longer than a frame may be, and gone after the restart."""
    need_listed_root()
    with open(f'{temp}/app.elf', 'wb') as f:
        f.write(slurp(ELF) + bytes(17 << 20))
    restarted(temp, [frame('hello', process='p'),
                     frame('code_object', code_object=1,
                           uri=f'file://{temp}/app.elf')],
              DATA, messages(DUMP, ELF),
              lambda: os.path.exists(f'{temp}/app.elf') and
              os.unlink(f'{temp}/app.elf'), least=17 << 20)


def format_kept(temp):
    """The input has a format, and the buffer, which looks like another, none."""
    m = Manager(temp)
    d = Service(temp, CONFIG.replace('in.sock"', 'in.sock", format: abort'), m)
    b = Shared()
    sock = b.announce(f'{temp}/in.sock')
    until('the store', lambda: m.hear() and len(m.store) == 2)
    d.kill()
    sock.close()
    d.start()
    b.write(N_ENTRIES)
    sock = b.announce(f'{temp}/in.sock')
    sock.sendall(frame('done', buffer=1))
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    assert lines.entries(1)[0]['format'] == 'abort'
    d.stop()


def ring_kept(temp):
    """A ring that has come around: bytes before its last entry are others now."""
    with open(f'{temp}/ring.yaml', 'w', encoding='ascii') as f:
        f.write('ring: around\nwrite: {at: 0}\ndata: 64\ncapacity: 400\n'
                'positions: {grow: false}\nmessages: {1: "one %u\\n"}\n')
    m = Manager(temp)
    d = Service(temp, CONFIG.replace(
        'in.sock"', f'in.sock", describe: {temp}/ring.yaml'), m)
    memory = os.memfd_create('b', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, 464)
    fcntl.fcntl(memory, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK

    def put(first, n):
        for i in range(first, first + n):
            os.pwrite(memory, struct.pack('<II', 1, i), 64 + 8 * i % 400)
        os.pwrite(memory, struct.pack('<I', 8 * (first + n) % 400), 0)

    def shown(n):
        lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
        return [e['message'] for e in lines.entries(n)], lines

    sock = producer(f'{temp}/in.sock', frame('hello', process='tester'))
    socket.send_fds(sock, [frame('buffer', buffer=1, name='live', size=464,
                                 fds=1)], [memory])
    put(0, 20)
    messages, lines = shown(20)
    until('the note', lambda: m.knows(19))
    d.kill()
    sock.close()
    put(20, 40)
    d.start()
    messages, lines = shown(40)
    assert messages == [f'one {i}\n' for i in range(20, 60)], messages
    assert lines.is_quiet()
    until('the note', lambda: m.knows(59))
    d.kill()
    put(60, 70)  # the last entry is gone
    d.start()
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    until('a finding', lambda: lines.next().get('kind') == 'reset')
    d.stop()


def reset_meanwhile(temp):
    """Another run has begun in the same memory: nothing of it is taken for
    what was delivered."""
    m = Manager(temp)
    d = Service(temp, CONFIG, m)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    b = Shared()
    sock = b.announce(f'{temp}/in.sock')
    b.write(30)
    lines.entries(30)
    until('the note', lambda: m.knows(29))
    d.kill()
    sock.close()
    os.pwrite(b.memory, bytes(len(DATA)), 0)
    b.at = 16
    b.write(5)
    d.start()
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    assert [e['index'] for e in lines.entries(5)] == list(range(5))
    d.stop()


def producer_gone(temp):
    """Its last lines are told, then it is let go."""
    m = Manager(temp)
    d = Service(temp, CONFIG, m)
    child = os.fork()
    if child == 0:
        os.dup2(os.open('/dev/null', os.O_RDWR), 1)
        os.dup2(1, 2)
        b = Shared()
        sock = b.announce(f'{temp}/in.sock')
        b.write(3)
        signal.pause()  # until it is killed
        sock.close()
        os._exit(0)
    until('the store', lambda: m.hear() and len(m.store) == 2)
    dial(f'{temp}/l.sock', {'from': 'oldest'}).entries(3)
    d.kill()
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    d.start()
    until('the store to be empty', lambda: m.hear() and not m.store)
    assert 'its producer is gone' in d.log()
    d.stop()


def rubbish(temp):
    """What was stored is not what it should be."""
    m = Manager(temp)
    for name in ('buffer-0-memory', 'buffer-0-meta', 'buffer-7-meta',
                 'buffer-9-bell', 'buffer-3-what', 'something'):
        m.store[name] = os.memfd_create('r', os.MFD_CLOEXEC)
        os.write(m.store[name], os.urandom(9000))
    d = Service(temp, CONFIG, m)
    assert m.has_said('READY')
    until('refusals', lambda: m.hear() and not
          [n for n in m.store if re.match(r'buffer-[079]', n)])
    with producer(f'{temp}/in.sock', elf_frame()):
        pass
    d.stop()


def watchdog(temp):
    m = Manager(temp)
    d = Service(temp, CONFIG, m, WATCHDOG_USEC='200000')
    for _ in range(3):
        before = len([w for w in m.hear() if 'WATCHDOG' in w])
        until('a sign of life', lambda: len(
            [w for w in m.hear() if 'WATCHDOG' in w]) > before)
    d.reload(CONFIG + 'log_level: debug\n')
    assert m.has_said('RELOADING')
    d.stop()


def activated(temp):
    """The socket is there before the daemon, and after it."""
    s = socket.socket(socket.AF_UNIX)
    s.bind(f'{temp}/in.sock')
    s.listen(8)
    early = socket.socket(socket.AF_UNIX)
    early.connect(f'{temp}/in.sock')
    early.sendall(START + elf_frame() + frame(
        'buffer', buffer=1, name='early', size=len(DATA)) + frame(
            'data', buffer=1, bytes=DATA))
    d = Service(temp, CONFIG, Manager(temp), sockets=[s])
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    assert lines.entries(N_ENTRIES)[0]['source'] == 'early'
    d.stop()
    assert os.path.exists(f'{temp}/in.sock')
    assert not os.path.exists(f'{temp}/l.sock')


if b'sd_listen_fds' not in slurp(PROGRAM):
    skip('built without libsystemd')
if __name__ == '__main__':
    run(killed, stopped, shaders_kept, loose_modules_kept, named_files_kept,
        format_kept, ring_kept, reset_meanwhile, producer_gone, rubbish, watchdog, activated)
