#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""shipped.py DAEMON DUMP ELF FOLLOW: the configuration as it is installed works
with nobody reading, and whoever holds others up is named."""
import os
import re
import shutil
import struct
import subprocess
import threading

from harness import (DUMP, ELF, N_ENTRIES, PROGRAM, REST, Daemon, die_with_us,
                     dump_frames, elf_frame, free_port, metric, producer, run,
                     slurp, until, used_bytes, written)

COMMAND = REST[0]
HERE = os.path.dirname(os.path.abspath(__file__))
SHIPPED = os.path.join(HERE, '../../../daemon/printfdecoded.yaml')
TIMES = 900  # the entries of DUMP, in a large buffer: 20 MiB of lines


def large():
    data = slurp(DUMP)
    entries = data[16:used_bytes(data)] * TIMES
    return struct.pack('<QQ', len(entries) // 4, 0) + entries


def unit_fits(temp):
    """systemd takes the unit and the drop-in, and what the documentation writes is
    where the unit may write."""
    root = os.path.join(HERE, '../../..')
    with open(f'{root}/daemon/printfdecoded.service.in', encoding='ascii') as f:
        unit = f.read()
    for key in 'StateDirectory', 'LogsDirectory', 'RuntimeDirectory':
        assert re.search(rf'(?m)^{key}=printfdecoded\b', unit), key
    for name in 'docs/farm.md', 'docs/outputs.md', 'docs/daemon.md', 'README.md':
        with open(f'{root}/{name}', encoding='utf-8') as f:
            for path in re.findall(r'(?:path|state_dir): (/var/[^,}\s]+)', f.read()):
                assert re.match('/var/(lib|log)/printfdecoded(/|$)', path), path
    analyze = shutil.which('systemd-analyze')
    if not analyze:
        print('systemd does not check it: no systemd-analyze')
        return
    unit = unit.replace('@sbindir@/printfdecoded', PROGRAM)
    unit = unit.replace('@sysconfdir@', temp)
    os.makedirs(f'{temp}/printfdecoded.service.d')
    with open(f'{temp}/printfdecoded.service', 'w', encoding='ascii') as f:
        f.write(unit)
    for name in 'remote', 'nats':
        shutil.copy(f'{root}/share/printfdecoded-{name}.conf',
                    f'{temp}/printfdecoded.service.d/{name}.conf')
    done = subprocess.run([analyze, 'verify', '--man=no',
                           f'{temp}/printfdecoded.service'], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ours = [line for line in done.stdout.splitlines() if b'printfdecoded' in line]
    assert not ours, ours


def shipped(temp, port):
    """Its folders and its port are ours, and its queue and ring small."""
    for folder in 'run', 'lib', 'lib/incoming':
        os.makedirs(f'{temp}/{folder}')
    text = slurp(SHIPPED).decode()
    for before, after in (
            ('/run/printfdecoded', f'{temp}/run'),
            ('/var/lib/printfdecoded', f'{temp}/lib'), ('9464', str(port)),
            ('queue_max: 1GiB', 'queue_max: 16MiB'), ('32MiB', '1MiB')):
        assert before in text, before
        text = text.replace(before, after)
    return text


def works_unread(temp):
    port = free_port()
    d = Daemon(temp, shipped(temp, port))
    shutil.copy(ELF, f'{temp}/lib/incoming/app.elf')
    shutil.copy(DUMP, f'{temp}/lib/incoming/one.dump')
    data = large()
    with producer(f'{temp}/run/input.sock', elf_frame()) as sock:
        for i in range(3):
            sock.sendall(b''.join(dump_frames(i + 1, f'b{i}', data)))
    total = N_ENTRIES * (3 * TIMES + 1)
    host = os.uname().nodename
    path = f'{temp}/lib/{host}.ndjson'
    until('all lines in the file', lambda:
          written(path).count(b'"type":"entry"') == total)
    assert metric(port, 'lost_entries_total') == 0
    d.stop()
    # The disk may have been slow: nobody else was waited for.
    assert 'required output' not in d.log() and 'error: ' not in d.log(), d.log()
    with open(path) as f:
        numbers = [int(n) for n in re.findall(r'"sequence":(\d+)', f.read())]
    assert numbers == list(range(1, len(numbers) + 1))


# Who decodes waits for who is held, whose strings have to be loaded meanwhile.
HELD = '''state_dir: $T/state
workers: 1
queue_max: 4MiB
ring: 1MiB
inputs:
  - {type: listen, address: "unix:$T/in.sock"}
outputs:
  - {type: listen, address: "unix:$T/ack.sock", required: true, name: collector}
  - {type: file, path: "$T/out.ndjson", required: true}
  - {type: listen, address: "unix:$T/l.sock"}
'''


def culprits_are_named(temp):
    d = Daemon(temp, HELD)
    frames = [f for i in range(4) for f in dump_frames(i + 1, f'b{i}', large())]
    with producer(f'{temp}/in.sock', elf_frame()) as sock:
        # It may have to wait itself.
        threading.Thread(target=sock.sendall, args=[b''.join(frames)],
                         daemon=True).start()
        until('the queue to be full', lambda: 'full: the required output '
              'collector does not take its lines; sources wait' in d.log())
        until('its name', lambda: re.search(
            r'the required output collector holds others up, for \d+\.\d '
            r'seconds now: \d+ lines wait for it, and sources do; nobody is '
            r'connected to it', d.log()))
        assert 'out.ndjson holds' not in d.log()
        assert d.log().count('full: the required output') == 1
        reader = subprocess.Popen(
            [COMMAND, 'follow', '--ack', '--output', 'json',
             f'{temp}/ack.sock'], stdout=subprocess.DEVNULL,
            preexec_fn=die_with_us)
        until('its end', lambda: 'the required output collector holds nobody up '
              'any more, after' in d.log())
        until('lines on disk again', lambda: 'writing again' in d.log())
        until('all lines', lambda: slurp(f'{temp}/out.ndjson').count(
            b'"type":"entry"') == 4 * N_ENTRIES * TIMES)
    d.stop()
    reader.kill()
    reader.wait()


def check(temp, text):
    """Of check-config: its status, what it says, and its warnings."""
    path = f'{temp}/c.yaml'
    with open(path, 'w') as f:
        f.write(text)
    p = subprocess.run([PROGRAM, 'check-config', path], text=True, check=False,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    warnings = p.stderr.replace(f'{path}: warning: ', '').splitlines()
    return p.returncode, p.stdout.splitlines(), warnings


def plans_are_told(temp):
    port = free_port()
    rc, said, warnings = check(temp, shipped(temp, port))
    assert rc == 0 and said[0] == 'ok: 2 inputs, 3 outputs', said
    assert not warnings, warnings
    assert [line.split(':')[0] for line in said] == [
        'ok', 'input', 'input', 'output', 'output', '  required', 'output',
        'limits'], said
    assert said[1] == (f'input: producers connect to unix:{temp}/run/input.sock'
                       ' (64 at most, mode 0660)'), said
    assert 'json in the file' in said[4] and 'each 64 MiB' in said[4], said
    assert '256 MiB of memory' in said[-1], said
    with open(f'{temp}/a.file', 'w'):
        pass
    with open(f'{temp}/b.file', 'w') as f:
        f.write('export A=1\n' * 10)
    rc, said, warnings = check(temp, f'''state_dir: {temp}/none/state
code_objects: [{temp}/none.elf, {temp}/b.file, {ELF}]
inputs:
  - {{type: buffer, path: {temp}/later}}
  - {{type: buffer, path: {temp}}}
  - {{type: directory, path: {temp}/none, dumps: "*.bin"}}
  - {{type: directory, path: {temp}/a.file, dumps: "*"}}
  - {{type: connect, address: "unix:{temp}/s"}}
  - {{type: stdin}}
  - {{type: directory, path: {temp}, dumps: "[*.bin", code_objects: "x/*.elf"}}
  - {{type: directory, path: {temp}, dumps: "*.dump", code_objects: "*.file"}}
outputs:
  - {{type: stdout, output: text, findings: no}}
  - {{type: file, path: "{temp}/none/{{buffer}}.txt", match: x}}
  - {{type: listen, address: "unix:{temp}/none/x.sock", required: true}}
''')
    assert rc == 1 and said[0] == 'not ok: 8 inputs, 3 outputs', said
    missing = 'No such file or directory'
    assert warnings == [
        f'{temp}/none.elf: {missing}',
        f'{temp}/none: {missing}: the folder is to be made before',
        f'{temp}/later: {missing}: it is waited for',
        f'{temp}: not a regular file',
        f'{temp}/none: {missing}: the folder is to be made before the daemon starts',
        f'{temp}/a.file: no folder: the daemon would not start',
        f"'x/*.elf' fits no file: names in the folder {temp} have no '/'",
        f"'[*.bin': its '[' has no ']', and stands for itself",
        f"{temp}: no file there fits '*.dump': it is waited for",
        f'{temp}/b.file: no code objects: neither ELF nor SPIR-V, and no archive, '
        'bundle or cache of them'], warnings
    assert any('then all sources wait' in line for line in said), said
    assert any('text on standard output, without findings' in line
               for line in said), said
    rc, said, warnings = check(temp, 'inputs: [{type: stdin}]')
    assert rc == 0 and warnings == ['no outputs: nobody will see a line'], said


def places_are_checked(temp):
    if os.geteuid() == 0:
        print('left out: everything is writable for root')
        return
    os.mkdir(f'{temp}/closed', 0o555)
    rc, _, warnings = check(temp, f'''inputs: [{{type: stdin}}]
outputs: [{{type: file, path: {temp}/closed/f}}]
''')
    assert rc == 0 and 'not writable' in warnings[0], warnings


def there_has_to_be_an_input(temp):
    for text in ('outputs: [{type: stdout}]', 'inputs: []\n', 'ring: 1MiB'):
        path = f'{temp}/c.yaml'
        with open(path, 'w') as f:
            f.write(text)
        for args in ['check-config', path], ['-c', path]:
            p = subprocess.run([PROGRAM, *args], text=True, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            assert p.returncode == 78 and p.stdout == '', p
            assert p.stderr == f'{path}:1:1: no inputs: there is nothing to do\n'


run(unit_fits, works_unread, culprits_are_named, plans_are_told, places_are_checked,
    there_has_to_be_an_input)
