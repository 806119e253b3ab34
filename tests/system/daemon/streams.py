#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""streams.py DAEMON DUMP ELF PRINTFDECODE: what frames may bring: modules of a
validation layer, code objects named by URIs, times and origins."""
import contextlib
import ctypes
import fcntl
import json
import mmap
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

from harness import (DUMP, ELF, N_ENTRIES, PATIENCE, REST, START, Daemon, dial,
                     dump_frames, elf_frame, entry_ends, frame,
                     known, need_listed_root, producer, run, sent_from, slurp, until, used_bytes)

HERE = os.path.dirname(os.path.abspath(__file__))
CASE = f'{HERE}/../../cases/debugprintf/capture_bytes'
CONFIG = '''inputs:
  - {type: listen, address: "unix:$T/in.sock"}
  - {type: listen, address: "tcp:127.0.0.1:0"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
'''


def decoded(*args, cwd=None):
    return subprocess.run([REST[0], *args], stdout=subprocess.PIPE, cwd=cwd,
                          stderr=subprocess.DEVNULL, check=False, timeout=PATIENCE)


def shaders(temp):
    """capture --shaders, then all of it from the file, and over the socket."""
    capture = f'{temp}/run.pfcap'
    made = decoded('capture', '-o', capture, '--shaders', 'map.json',
                   'buffer.bin', cwd=CASE)
    assert made.returncode == 0
    wanted = slurp(f'{CASE}/expect.text')
    alone = decoded(capture)
    assert alone.stdout == wanted and alone.returncode == 0, alone
    d = Daemon(temp, CONFIG)
    text = dial(f'{temp}/l.sock', {'output': 'text', 'from': 'oldest'})
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(f'{temp}/in.sock')
        sock.sendall(slurp(capture))
        sock.shutdown(socket.SHUT_WR)
        got = b''
        while len(got) < len(wanted):
            got += text.sock.recv(65536)
    assert got == wanted, got
    # A shader of a module that has not come.
    with producer(f'{temp}/in.sock', frame('shader', shader=1, code_object=9)):
        until('a refusal', lambda: 'has not come' in d.log())
    d.stop()


def own_shaders(temp):
    """Every process counts its shaders from 0: each one's records are read
    with its own, at the same time and one after the other, and what nobody
    needs any more goes."""
    cases = [os.path.join(os.path.dirname(CASE), name) for name in (
        'capture_bytes', 'capture_exact', 'capture_types', 'capture_bytes')]
    d = Daemon(temp, CONFIG + '  - {type: http, address: "unix:$T/http.sock"}\n')
    text = dial(f'{temp}/l.sock', {'output': 'text', 'findings': False,
                                   'from': 'oldest'})
    before = d.metric('strings')
    with contextlib.ExitStack() as held:
        for i, case in enumerate(cases):
            capture = f'{temp}/{i}.pfcap'
            made = decoded('capture', '-o', capture, '--shaders', 'map.json',
                           'buffer.bin', cwd=case)
            assert made.returncode == 0, made
            sock = held.enter_context(socket.socket(socket.AF_UNIX))
            sock.connect(f'{temp}/in.sock')
            sock.sendall(slurp(capture))
            wanted = slurp(f'{case}/expect.text')
            got = b''
            while len(got) < len(wanted):
                got += text.sock.recv(65536)
            assert got == wanted, (case, got)
        assert d.metric('strings') > before
        assert 'already' not in d.log(), d.log()
    until('shaders to be dropped', lambda: d.metric('strings') == before)
    d.stop()


def loose_module(temp):
    """A module that no shader speaks of is not lost."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'text', 'from': 'oldest'})
    module = next(n for n in os.listdir(CASE) if n.endswith('.spv'))
    with producer(f'{temp}/in.sock',
                  frame('code_object', code_object=1, name='m',
                        bytes=slurp(f'{CASE}/{module}')),
                  *dump_frames(1, 'b', slurp(f'{CASE}/buffer.bin'))):
        first = slurp(f'{CASE}/expect.text')
        got = b''
        while len(got) < len(first):
            got += lines.sock.recv(65536)
    assert got == first, got
    d.stop()


def by_uri(temp):
    need_listed_root()
    shutil.copy(ELF, f'{temp}/app.elf')
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    n = os.path.getsize(ELF)
    with producer(f'{temp}/in.sock',
                  frame('code_object', code_object=1,
                        uri=f'file://{temp}/app.elf#offset=0&size={n}'),
                  *dump_frames()):
        assert all(e['message'] for e in lines.entries(N_ENTRIES))
    for i, uri in enumerate(('memory://1#offset=4096&size=4096',
                             'http://example/a.elf', 'file:' + 'x' * 5000,
                             f'file://{temp}/none.elf')):
        before = d.log().count('warning')
        # As bytes: a text of more than 255 bytes has another head.
        with producer(f'{temp}/in.sock', frame(
                'code_object', code_object=i + 2, uri=uri.encode())):
            until('a complaint', lambda: d.log().count('warning') > before)
    with producer(f'{temp}/in.sock', *dump_frames()):
        lines.entries(N_ENTRIES)
    d.stop()


def memory_uri(pid, at, n, sign='#'):
    return f'memory://{pid}{sign}offset=0x{at:x}&size={n}'


def may_read(pid):
    """What a process of the same user may see is up to the system."""
    try:
        with open(f'/proc/{pid}/mem', 'rb'):
            return True
    except PermissionError:
        return False


def from_memory(temp):
    """A code object in the memory of the process that sends; the sandbox would
    not let us read it."""
    elf = slurp(ELF)
    keep = ctypes.create_string_buffer(elf, len(elf))
    at = ctypes.addressof(keep)
    for i, sign in enumerate('#?'):
        os.mkdir(f'{temp}/{i}')
        d = Daemon(f'{temp}/{i}', 'sandbox: false\n' + CONFIG)
        lines = dial(f'{temp}/{i}/l.sock', {'from': 'oldest'})
        with sent_from(f'{temp}/{i}/in.sock', lambda: [
                frame('code_object', code_object=1,
                      uri=memory_uri(os.getpid(), at, len(elf), sign)),
                *dump_frames()]) as child:
            if not may_read(child):
                print('left out: memory of other processes cannot be read')
                return
            assert all(e['message'] for e in lines.entries(N_ENTRIES))
        d.stop()


def from_foreign_memory(temp):
    """Neither another process' nor one that only begins like ours, nor more
    than code objects may have."""
    elf = slurp(ELF)
    keep = ctypes.create_string_buffer(elf, len(elf))
    at = ctypes.addressof(keep)
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    me = os.getpid()
    for i, name in enumerate((f'{me}', '{pid}0', '0{pid}', '1')):
        with sent_from(f'{temp}/in.sock', lambda: [frame(
                'code_object', code_object=1,
                uri=memory_uri(name.format(pid=os.getpid()), at, len(elf)))]):
            gap = lines.next()
        assert gap['type'] == 'gap' and gap['reason'] == 'bad_frame', gap
        assert d.log().count('none of file:// or memory://') == i + 1
    with sent_from(f'{temp}/in.sock', lambda: [frame(
            'code_object', code_object=1,
            uri=memory_uri(os.getpid(), at, 1 << 40))]):
        until('a refusal', lambda: '1099511627776 bytes, at most' in d.log())
    with producer(f'{temp}/in.sock', *dump_frames()):
        assert not any(e['message'] for e in lines.entries(N_ENTRIES))
    d.stop()


def files_of_strangers(temp):
    """A pipe that nobody writes keeps no worker, and nothing above the code
    objects' share is read."""
    need_listed_root()
    d = Daemon(temp, 'workers: 1\n' + CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    os.mkfifo(f'{temp}/pipe')
    with open(f'{temp}/large', 'wb') as f:
        f.truncate(65 << 20)
    for i, name in enumerate(('pipe', 'large')):
        with producer(f'{temp}/in.sock', frame(
                'code_object', code_object=i + 1, uri=f'file://{temp}/{name}')):
            until('a refusal',
                  lambda: f'{temp}/{name}: ' in d.log())
    assert re.search(r'at most 6[0-9]{7} are taken', d.log())
    with producer(f'{temp}/in.sock', elf_frame(), *dump_frames()):
        assert all(e['message'] for e in lines.entries(N_ENTRIES))
    d.stop()


def origins(temp):
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    when = 1795205389038881123
    data = slurp(DUMP)
    with producer(f'{temp}/in.sock',
                  frame('hello', host='n1', process='trainer', pid=4242),
                  elf_frame(),
                  frame('buffer', buffer=1, name='b', size=len(data),
                        device='gpu0', queue='compute', labels={'job': 'x'}),
                  frame('data', buffer=1, bytes=data, time=when),
                  frame('done', buffer=1)):
        for entry in lines.entries(N_ENTRIES):
            assert entry['time_unix_nano'] == str(when), entry
            assert entry['time'] == '2026-11-20T20:09:49.038881123Z', entry
            o = entry['origin']
            assert (o['host'], o['process'], o['pid'], o['device'],
                    o['queue'], o['labels']) == (
                        'n1', 'trainer', 4242, 'gpu0', 'compute',
                        {'job': 'x'}), o
    d.stop()


def zeros(temp):
    """Bytes that do not come, because they are zero: said so, or left out of a
    buffer that is done, come out as those that do."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'output': 'json', 'from': 'oldest'})
    data = slurp(DUMP)
    used = entry_ends(data)[-1]
    n = 64
    whole = struct.pack('<Q', (used - 16 + n) // 4) + data[8:used] + bytes(n)
    begin = b'\x89PFDCAP\n' + struct.pack('<II', 1, 1)

    def send(says_zeros, size, *parts):
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(f'{temp}/in.sock')
            s.sendall((begin if says_zeros else START) + elf_frame() +
                      frame('buffer', buffer=1, name='z', size=size) +
                      b''.join(frame('data', buffer=1, **p) for p in parts) +
                      frame('done', buffer=1))
            until('its end', lambda: 'z: ended' in d.log()[seen:])
        with producer(f'{temp}/in.sock', *dump_frames(name='end')):
            got = []
            while True:
                line = lines.next()
                if line['source'] == 'end':
                    lines.entries(N_ENTRIES - 1)
                    return got
                if line['type'] == 'gap':  # a stream of which the end is missing
                    continue
                got.append({k: v for k, v in line.items() if k not in (
                    'sequence', 'time', 'time_unix_nano', 'origin')})
    seen = 0
    wanted = send(False, len(whole), {'bytes': whole})
    assert len(wanted) > N_ENTRIES, wanted[-1]
    for says_zeros, parts in (
            (True, [{'bytes': whole[:used]}, {'offset': used, 'zeros': n}]),
            (True, [{'offset': used, 'zeros': n}, {'bytes': whole[:used]}]),
            (False, [{'bytes': whole[:used]}])):
        seen = len(d.log())
        got = send(says_zeros, len(whole), *parts)
        assert got == wanted, (got[N_ENTRIES:], wanted[N_ENTRIES:], len(got), len(wanted))
    # Where zeros are said, others are not made up.
    seen = len(d.log())
    assert send(True, len(whole), {'bytes': whole[:used]}) != wanted
    d.stop()


def shared(path, data, bell, number=1):
    """A producer that hands over memory, and that as its doorbell."""
    memory = os.memfd_create('b', os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.write(memory, data)
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    sock = producer(path, elf_frame())
    socket.send_fds(sock, [frame('buffer', buffer=number, name='shared',
                                 size=len(data), fds=2)], [memory, bell])
    os.close(memory)
    return sock


def doorbells_are_heard(temp):
    """Entries that come right behind a look: none waits for the look that comes
    every two seconds whatever happens."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    data = slurp(DUMP)
    times = 20
    entries = data[16:used_bytes(data)] * times
    ends = entry_ends(data[:16] + entries, end=16 + len(entries))
    memory = os.memfd_create('b', os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.truncate(memory, 16 + len(entries))
    fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    bell = os.eventfd(0)
    at, late = 16, 0
    with mmap.mmap(memory, 16 + len(entries)) as buffer, producer(
            f'{temp}/in.sock', elf_frame()) as sock:
        socket.send_fds(sock, [frame(
            'buffer', buffer=1, name='b', size=len(buffer), fds=2)],
            [memory, bell])
        for i, end in enumerate(ends):
            begun = time.monotonic()
            buffer[at:end] = entries[at - 16:end - 16]
            buffer[0:8] = struct.pack('<Q', (end - 16) // 4)
            os.eventfd_write(bell, 1)
            lines.entries(1)
            late += time.monotonic() - begun > 1
            at = end
            time.sleep(i % 16 * 0.0001)
    d.stop()
    print(f'{late} of {len(ends)} came late')
    # Not even one in a hundred, also where the machine stands still at times.
    assert late * 100 < len(ends), late


def clears_and_drains(bell, done):
    """Keeps it blocking, and takes its count before others can."""
    while not done.is_set():
        fcntl.fcntl(bell, fcntl.F_SETFL, 0)
        with contextlib.suppress(BlockingIOError):  # flags are everybody's
            os.eventfd_write(bell, 1)
            os.eventfd_read(bell)


def lingering():
    """A socket whose close() waits for an hour."""
    listener = socket.create_server(('127.0.0.1', 0))
    sock = socket.create_connection(listener.getsockname())
    peer = listener.accept()[0]
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                    struct.pack('ii', 1, 3600))
    sock.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while True:
            sock.send(bytes(1 << 20))
    return sock, peer


def nothing_waits_for_a_peer(temp):
    """What a peer passes cannot stop the loop, whatever it is."""
    d = Daemon(temp, CONFIG)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    data = slurp(DUMP)
    bell = os.eventfd(0)
    done = threading.Event()
    rival = threading.Thread(target=clears_and_drains, args=(bell, done))
    rival.start()
    with shared(f'{temp}/in.sock', data, bell):
        lines.entries(N_ENTRIES)
        for _ in range(20):
            os.eventfd_write(bell, 1)
            with producer(f'{temp}/in.sock', *dump_frames()):
                lines.entries(N_ENTRIES)
    done.set()
    while rival.is_alive():  # the daemon may have taken what it waits for
        os.eventfd_write(bell, 1)
        rival.join(0.01)
    ends = os.pipe()
    os.set_blocking(ends[0], True)
    os.write(ends[1], b'1')
    for fd in ends[0], os.open('/dev/zero', os.O_RDONLY), os.open(
            temp, os.O_RDONLY):
        with shared(f'{temp}/in.sock', data, fd):
            lines.entries(N_ENTRIES)
    sock, peer = lingering()
    d.signal(signal.SIGSTOP)  # or it might close it before we do
    with shared(f'{temp}/in.sock', data, sock.fileno()):
        sock.close()
        d.signal(signal.SIGCONT)
        lines.entries(N_ENTRIES)
    with producer(f'{temp}/in.sock', *dump_frames()):
        lines.entries(N_ENTRIES)
    d.stop()
    peer.close()



def generation(number, data):
    return [frame('buffer', buffer=1, name='b', size=len(data), generation=number),
            frame('data', buffer=1, bytes=data, generation=number),
            frame('done', buffer=1, generation=number)]


def received_before_the_end(temp):
    """All that the kernel has when the daemon is told to stop comes out: of a
    producer that has gone, and of one that was not even accepted. A buffer's next
    generation waits for the one before it, which waits for strings."""
    data = slurp(DUMP)
    frames = [elf_frame()] + [f for i in range(3) for f in generation(i, data)]
    for is_accepted in True, False:
        out = f'{temp}/out{is_accepted}'
        d = Daemon(temp, CONFIG + f'  - {{type: file, path: "{out}"}}\n')
        sock = socket.socket(socket.AF_UNIX)
        if is_accepted:
            sock.connect(f'{temp}/in.sock')
            time.sleep(0.2)
        d.signal(signal.SIGSTOP)
        if not is_accepted:
            sock.connect(f'{temp}/in.sock')
        sock.setblocking(False)
        sock.sendall(START + b''.join(frames))
        sock.close()
        d.signal(signal.SIGTERM)
        d.signal(signal.SIGCONT)
        assert d.process.wait(PATIENCE) == 0, d.log()
        with open(out, encoding='utf-8') as file:
            entries = [e for e in map(json.loads, file) if e['type'] == 'entry']
        assert known(entries), entries
        assert [e.get('generation', 0) for e in entries] == [
            i for i in range(3) for _ in range(N_ENTRIES)], len(entries)


def a_flood_does_not_hold_it_up(temp):
    """A producer that never stops sending is read as far as it had come."""
    d = Daemon(temp, CONFIG)
    end = threading.Event()

    def flood(sock):
        with contextlib.suppress(OSError):
            sock.sendall(START + elf_frame())
            for i in range(1 << 30):
                if end.is_set():
                    return
                sock.sendall(b''.join(generation(i, slurp(DUMP))))
    socks = [socket.socket(socket.AF_UNIX) for _ in range(4)]
    for sock in socks:
        sock.connect(f'{temp}/in.sock')
        threading.Thread(target=flood, args=(sock,), daemon=True).start()
    time.sleep(0.5)
    d.stop()
    end.set()
    for sock in socks:
        sock.close()


run(zeros, received_before_the_end, a_flood_does_not_hold_it_up,
    nothing_waits_for_a_peer, doorbells_are_heard,
    shaders, own_shaders, loose_module, by_uri, from_memory, from_foreign_memory,
    files_of_strangers, origins)
