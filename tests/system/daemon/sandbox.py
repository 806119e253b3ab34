#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sandbox.py DAEMON DUMP ELF FOLLOW: everything works in the sandbox; what the
kernel then forbids is refused, and a reload cannot ask for more."""
import fcntl
import glob
import os
import shutil
import socket
import tempfile

from harness import (DUMP, ELF, N_ENTRIES, START, Daemon, dial, dump_frames,
                     elf_frame, frame, free_port, http, is_root_listed, producer,
                     run, skip, slurp, until)

CONFIG = '''state_dir: $T/state
code_objects: [$T/elf/app.elf]
inputs:
  - {type: listen, address: "unix:$T/s/in.sock"}
  - {type: directory, path: $T/in, code_objects: "*.elf", dumps: "*.dump"}
outputs:
  - {type: listen, address: "unix:$T/s/l.sock"}
  - {type: file, path: "$T/out/{buffer}.ndjson", rotate_size: 4KiB,
     compress: true}
  - {type: file, path: $T/out/all, required: true}
'''


def prepared(temp):
    for folder in 's', 'in', 'out', 'elf', 'secret':
        os.mkdir(f'{temp}/{folder}')
    shutil.copy(ELF, f'{temp}/elf/app.elf')
    return Daemon(temp, CONFIG)


def everything(temp):
    d = prepared(temp)
    if 'landlock' not in d.log() and 'seccomp (' not in d.log():
        skip('neither landlock nor seccomp is there')
    lines = dial(f'{temp}/s/l.sock', {'from': 'oldest'})
    # Rotation, compression.
    with producer(f'{temp}/s/in.sock', elf_frame(), *dump_frames(name='b')) as p:
        lines.entries(N_ENTRIES)
        for i in range(5):
            p.sendall(START + b''.join(dump_frames(name='b')))
            lines.entries(N_ENTRIES)
        until('compressed files', lambda: glob.glob(f'{temp}/out/b.*.zst'))
    # Shared memory.
    data = slurp(DUMP)
    memory = os.memfd_create('b', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memory, len(data))
    os.pwrite(memory, data, 0)
    fcntl.fcntl(memory, 1033, 2)  # F_ADD_SEALS, F_SEAL_SHRINK
    sock = producer(f'{temp}/s/in.sock')
    socket.send_fds(sock, [frame('buffer', buffer=1, name='shared',
                                 size=len(data), fds=1)], [memory])
    assert lines.entries(1)[0]['source'] == 'shared'
    lines.entries(N_ENTRIES - 1)
    # A dump that appears.
    shutil.copy(DUMP, f'{temp}/in/x.part')
    os.rename(f'{temp}/in/x.part', f'{temp}/in/x.dump')
    assert 'x.dump' in lines.entries(N_ENTRIES)[0]['source']
    # A reload, with an HTTP server, opened only now.
    port = free_port()
    d.reload(CONFIG + f'  - {{type: http, address: "tcp:127.0.0.1:{port}"}}\n')
    if 'built without' not in d.log():
        assert http(port, '/healthz') == (200, 'ok\n')
        d.reload(CONFIG)
    with producer(f'{temp}/s/in.sock', elf_frame(), *dump_frames()):
        lines.entries(N_ENTRIES)
    until('the required file', lambda: slurp(f'{temp}/out/all').count(
        b'"type":"entry"') == 9 * N_ENTRIES)
    d.stop()


def forbidden(temp):
    d = prepared(temp)
    status = open(f'/proc/{d.process.pid}/status').read()
    if 'seccomp (' in d.log():
        assert 'Seccomp:\t2' in status
    for task in os.listdir(f'/proc/{d.process.pid}/task'):
        status = open(f'/proc/{d.process.pid}/task/{task}/status').read()
        assert 'seccomp (' not in d.log() or 'Seccomp:\t2' in status, task
        assert 'NoNewPrivs:\t1' in status, task
    if 'landlock' not in d.log() or 'no landlock' in d.log():
        print('no landlock: the rest is left out')
        d.stop()
        return
    # What our user may read, and we have no use for.
    with tempfile.TemporaryDirectory() as other:
        shutil.copy(ELF, f'{other}/app.elf')
        why = ('Permission denied' if is_root_listed() else
               '/proc/self/mountinfo lists no mount')
        with producer(f'{temp}/s/in.sock', frame(
                'code_object', code_object=1, uri=f'file://{other}/app.elf')):
            until('a refusal', lambda: f'app.elf: {why}' in d.log())
    # A configuration that wants what the first one did not.
    d.reload(CONFIG + '  - {type: file, path: $T/secret/lines}\n')
    assert 'outside of what this process may use' in d.log()
    assert not os.path.exists(f'{temp}/secret/lines')
    d.reload(CONFIG)
    assert d.log().rstrip().endswith('reloaded')
    d.stop()


def switched_off(temp):
    os.mkdir(f'{temp}/s')
    d = Daemon(temp, 'sandbox: false\ninputs: [{type: stdin}]\noutputs:\n'
               '  - {type: listen, address: "unix:$T/s/l.sock"}\n')
    assert 'no landlock, no seccomp' in d.log()
    assert 'Seccomp:\t0' in open(f'/proc/{d.process.pid}/status').read()
    d.stop()


run(everything, forbidden, switched_off)
