#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""process.py DAEMON DUMP ELF PRINTFDECODE PRODUCER CASE: buffers in the memory
of processes that run, come, end, and must not be read. PRODUCER is the stand-in
of tests/system/process, CASE a folder with another buffer and its code object."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from harness import (DUMP, ELF, N_ENTRIES, PROGRAM, REST, Daemon, dial, metric,
                     need, run, slurp, until)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'process'))
from nobody import as_nobody, copied  # noqa: E402  pylint: disable=wrong-import-position

PRINTFDECODE, PRODUCER, CASE = REST
OTHER = f'{CASE}/buffer.bin', f'{CASE}/image.elf'
OUTPUTS = '''
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
  - {type: http, address: "unix:$T/http.sock"}
'''
# Where nothing else is, with a sanitizer as well.
FIXED = 0x300000000000


class Producer:
    def __init__(self, program=PRODUCER):
        self.p = subprocess.Popen([program], stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.PIPE, bufsize=1)
        self.pid = self.p.pid

    def tell(self, *words):
        self.p.stdin.write(' '.join(map(str, words)) + '\n')

    def ask(self, *words):
        self.tell(*words)
        return self.p.stdout.readline().strip()

    def input(self, *words):
        """An input for what was placed."""
        address, size = self.ask(*words).split()
        return (f'inputs:\n  - {{type: process, pid: {self.pid}, '
                f'address: {address}, size: {size}, format: llpc}}' + OUTPUTS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.wait()
        self.p.stdin.close()
        self.p.stdout.close()


def empty(temp):
    """A buffer with nothing in it yet."""
    path = f'{temp}/empty'
    with open(path, 'wb') as f:
        f.write(bytes(1 << 20))
    return path


def decoded(*files):
    """What `printfdecode` says of a dump."""
    out = subprocess.run([PRINTFDECODE, '-o', 'json', *files], check=True,
                         stdout=subprocess.PIPE).stdout
    return [plain(e) for e in map(json.loads, out.splitlines())
            if e['type'] == 'entry']


def plain(entry, *more):
    """Without what says where and when."""
    return {k: v for k, v in entry.items() if k not in (
        'sequence', 'time', 'time_unix_nano', 'source', 'origin',
        'generation', *more)}


def gap(lines):
    return next(e for e in iter(lines.next, None) if e['type'] == 'gap')


def equals_dump(temp):
    with Producer() as p:
        p.ask('memory', ELF)
        d = Daemon(temp, p.input('buffer', DUMP))
        lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
        entries = lines.entries(N_ENTRIES)
        assert list(map(plain, entries)) == decoded(DUMP, ELF)
        assert entries[0]['source'].startswith(f'memory://{p.pid}#offset=0x')
        assert entries[0]['origin'] == {'process': 'producer', 'pid': p.pid}
        # The same file in the same form as from the dump, byte for byte.
        for form in 'text', 'raw':
            sock = dial(f'{temp}/l.sock', {'from': 'oldest', 'output': form,
                                           'findings': False}).sock
            want = subprocess.run(
                [PRINTFDECODE, '-o', form, DUMP, ELF], check=True,
                stdout=subprocess.PIPE).stdout
            have = b''
            while len(have) < len(want):
                have += sock.recv(65536)
            assert have == want, (form, have, want)
        # It is looked at without stopping it, and costs little.
        assert lines.is_quiet()
        d.stop()
        assert p.ask('unload') == 'done'


def follows(temp):
    """What is written while it is followed, and what is loaded meanwhile."""
    want, more = decoded(DUMP, ELF), decoded(*OTHER)
    with Producer() as p:
        p.ask('memory', ELF)
        d = Daemon(temp, p.input('share', empty(temp)))
        lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
        until('it', lambda: 'following' in d.log())
        d.looks_again()
        for _ in range(2):
            p.ask('append', DUMP)
            have = [plain(e, 'index', 'offset')
                    for e in lines.entries(N_ENTRIES)]
            assert have == [plain(e, 'index', 'offset') for e in want]
        p.ask('memory', OTHER[1])
        until('its strings', lambda: d.log().count('code object memory') == 2)
        p.ask('append', OTHER[0])
        have = [plain(e, 'index', 'offset') for e in lines.entries(len(more))]
        assert have == [plain(e, 'index', 'offset') for e in more]
        # Another configuration, without it: what was read stays.
        d.reload('inputs: [{type: listen, address: "unix:$T/i.sock"}]'
                 + OUTPUTS)
        until('its end', lambda: ': ended:' in d.log())
        assert 'process_ended' not in d.log()
        assert p.ask('unload') == 'done'
        d.stop()


def killed(temp):
    """Each line until then is right, and the end is said, once."""
    want = decoded(DUMP, ELF)
    with Producer() as p:
        p.ask('memory', ELF)
        d = Daemon(temp, p.input('share', empty(temp)))
        lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
        until('it', lambda: 'following' in d.log())
        d.looks_again()
        p.tell('append', DUMP)
        have = lines.entries(5)
        p.p.kill()
        for line in iter(lines.next, None):
            if line['type'] == 'gap':
                break
            have.append(line)
        assert line['reason'] == 'process_ended', line
        have = [plain(e) for e in have]
        assert have == want[:len(have)], [p for p in zip(have, want)
                                          if p[0] != p[1]]
        until('the end', lambda: ': ended:' in d.log())
        p.p.wait()
        assert d.metric('sessions') == 0
    assert len(re.findall(f'process {p.pid} has ended', d.log())) == 1, d.log()
    assert lines.is_quiet(1)
    d.stop()


def unmapped(temp):
    with Producer() as p:
        p.ask('memory', ELF)
        d = Daemon(temp, p.input('buffer', DUMP))
        lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
        lines.entries(N_ENTRIES)
        # No more than what it was put in, as libraries are behind that.
        p.ask('unmap', 0, os.path.getsize(DUMP) + 1)
        assert gap(lines)['reason'] == 'read_error'
        # Its header, or, where that had just been read, what is behind it.
        assert re.search('nothing that can be read is mapped at byte (0|16) ',
                         d.log()), d.log()
        assert lines.is_quiet(1)
        p.p.kill()
        assert gap(lines)['reason'] == 'process_ended'
        d.stop()


def comes_later(temp):
    """Those of a name: two at a time, one that comes after them."""
    program = f'{temp}/app-{os.getpid() % 10000}'
    shutil.copy(PRODUCER, program)
    d = Daemon(temp, (f'''inputs:
  - {{type: process, name: "{program.rsplit("/", 1)[1]}*", address: {FIXED},
     format: llpc}}''' + OUTPUTS))
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    want = decoded(DUMP, ELF)
    env = os.environ.get('LD_LIBRARY_PATH', '')
    os.environ['LD_LIBRARY_PATH'] = f'{os.path.dirname(PRODUCER)}:{env}'
    with Producer(program) as one, Producer(program) as two:
        for p in one, two:
            # It is there before its buffer is.
            until('that it is seen', lambda p=p: re.search(
                f'process {p.pid}: nothing is mapped at 0x{FIXED:x}', d.log()))
            p.ask('memory', ELF)
            p.ask('fixed', FIXED, DUMP)
        entries = lines.entries(2 * N_ENTRIES)
        for p in one, two:
            have = [plain(e) for e in entries if e['origin']['pid'] == p.pid]
            assert have == want, (p.pid, len(have))
        one.p.kill()
        assert gap(lines)['reason'] == 'process_ended'
        with Producer(program) as third:
            third.ask('memory', ELF)
            third.ask('fixed', FIXED, DUMP)
            have = lines.entries(N_ENTRIES)
            assert {e['origin']['pid'] for e in have} == {third.pid}
            have = list(map(plain, have))
            assert have == want, [p for p in zip(have, want) if p[0] != p[1]]
        assert gap(lines)['reason'] == 'process_ended'
    os.environ['LD_LIBRARY_PATH'] = env
    d.stop()


def found(temp):
    """Nobody says where buffers are: a name is enough."""
    program = f'{temp}/app-{os.getpid() % 10000}'
    shutil.copy(PRODUCER, program)
    d = Daemon(temp, (f'''inputs:
  - {{type: process, name: "{program.rsplit("/", 1)[1]}"}}''' + OUTPUTS))
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    want, more = decoded(DUMP, ELF), decoded(*OTHER)
    env = os.environ.get('LD_LIBRARY_PATH', '')
    os.environ['LD_LIBRARY_PATH'] = f'{os.path.dirname(PRODUCER)}:{env}'
    with Producer(program) as one, Producer(program) as two:
        for p in one, two:
            p.ask('memory', ELF)
            p.ask('share', DUMP)
        with open(f'/proc/{one.pid}/maps') as f:
            if any(int(m[2], 16) - int(m[1], 16) >= 1 << 40 for m in
                   re.finditer(r'^(\w+)-(\w+) r', f.read(), re.M)):
                os.environ['LD_LIBRARY_PATH'] = env
                d.stop()
                print("found: left out, a sanitizer's terabytes take a minute")
                return
        entries = lines.entries(2 * N_ENTRIES)
        for p in one, two:
            have = [plain(e) for e in entries if e['origin']['pid'] == p.pid]
            assert have == want, (p.pid, len(have))
        assert d.log().count('header and entries agree') == 2, d.log()
        # One more, with strings that come after it; what is known goes on.
        one.ask('share', OTHER[0])
        one.ask('memory', OTHER[1])
        have = list(map(plain, lines.entries(len(more))))
        assert have == more, (have, more)
        two.ask('append', DUMP)
        have = [plain(e, 'index', 'offset') for e in lines.entries(N_ENTRIES)]
        assert have == [plain(e, 'index', 'offset') for e in want]
        one.p.kill()
        assert [gap(lines)['reason'] for _ in range(2)] == ['process_ended'] * 2
        assert lines.is_quiet(1)
    last = gap(lines)
    assert last['reason'] == 'process_ended', last
    assert last['source'].startswith(f'memory://{two.pid}#'), last
    until('their end', lambda: d.log().count(': ended:') == 3)
    os.environ['LD_LIBRARY_PATH'] = env
    assert d.metric('sessions') == 0
    # By its id; the second ends before anything was found.
    with Producer() as p:
        d.reload(f'inputs: [{{type: process, pid: {p.pid}}}]' + OUTPUTS)
        p.ask('memory', ELF)
        p.ask('share', DUMP)
        assert list(map(plain, lines.entries(N_ENTRIES))) == want
    assert gap(lines)['reason'] == 'process_ended'
    with Producer() as p:
        d.reload(f'inputs: [{{type: process, pid: {p.pid}}}]' + OUTPUTS)
        p.ask('memory', ELF)
    assert lines.is_quiet(1)
    d.stop()


def stopped(temp):
    """It ends while it looks at all processes that there are."""
    some = 'inputs: [{type: process, name: "*", settle: %dms}]' + OUTPUTS
    d = Daemon(temp, some % 50)
    for i in range(10):
        # Its log says too much to say each.
        d.write_config(some % (100 + i))
        d.signal(signal.SIGHUP)
        until('a reload', lambda n=i: d.metric('reloads_total') > n)
    d.stop()


def of_another_user(temp):
    """As printfdecode says it: in the log, once, and as a number."""
    if os.geteuid():
        print('of_another_user: left out, only root can be somebody else')
        return
    command, env = copied(PRINTFDECODE, temp)
    program, _ = copied(PROGRAM, temp)
    os.chmod(temp, 0o777)
    with Producer() as p:
        config = p.input('buffer', DUMP)
        said = subprocess.run(
            [command, '--pid', str(p.pid), '--address', '4096'], check=False,
            preexec_fn=as_nobody, stderr=subprocess.PIPE, env=env, cwd='/',
            text=True).stderr
        why = re.search(r'process \d+ is of user 0.*', said)[0]
        path = f'{temp}/config.yaml'
        with open(path, 'w') as f:
            f.write(config.replace('$T', temp))
        with open(f'{temp}/log', 'w+') as log, subprocess.Popen(
                [program, '-c', path], preexec_fn=as_nobody, stderr=log,
                stdin=subprocess.DEVNULL, env=env, cwd='/') as d:
            until('what is wrong', lambda: why in slurp(f'{temp}/log').decode())
            until('its number', lambda: metric(
                f'{temp}/http.sock', 'unread_processes') == 1)
            for _ in range(3):
                dial(f'{temp}/l.sock', {}).is_quiet()
            d.send_signal(signal.SIGTERM)
            assert d.wait(60) == 0
        assert slurp(f'{temp}/log').decode().count(why) == 1


def none_there(temp):
    """It is waited for, and the end does not wait for it."""
    with Producer() as p:
        config = p.input('buffer', DUMP)
    d = Daemon(temp, config)
    until('what is wrong',
          lambda: f'there is no process {p.pid}' in d.log())
    d.stop()


def is_same_for_a_while(d):
    """As many files as have room are followed: on a busy machine it is long
    until the last of them is."""
    n = [d.metric('sessions')]
    while len(n) < 6 and n[-1] == n[0]:
        time.sleep(1)
        n.append(d.metric('sessions'))
    return n[0] > 20 and n[-1] == n[0]


def waits_for_room(temp):
    """Where files have all memory, a process's buffer waits until they go."""
    with Producer() as first, Producer() as p:
        config = 'memory_max: 24MiB\nring: 4MiB\ncode_objects: [$E]\n' + first.input('buffer', DUMP)
        more = config.replace('inputs:\n', p.input('buffer', DUMP).split(OUTPUTS)[0]
                              + '\n', 1)

        def with_files(text):
            return text.replace('inputs:\n', 'inputs:\n' + ''.join(
                f'  - {{type: buffer, path: "{temp}/b{i}"}}\n' for i in range(300)))
        for i in range(300):
            shutil.copy(DUMP, f'{temp}/b{i}')
        d = Daemon(temp, with_files(config))
        until('files to have all', lambda: is_same_for_a_while(d))
        d.reload(with_files(more))
        until('that it waits', lambda: 'a buffer of a process waits' in d.log())
        lines = dial(f'{temp}/l.sock', {'output': 'json'})
        d.reload(more)
        have = []
        while len(have) < N_ENTRIES:
            have += [e for e in lines.entries(1) if
                     e['source'].startswith(f'memory://{p.pid}#')]
        assert list(map(plain, have)) == decoded(DUMP, ELF)
        d.stop()


def sandboxed(temp):
    """A reload cannot add one to a sandbox that keeps from processes."""
    d = Daemon(temp, (
        'inputs: [{type: listen, address: "unix:$T/i.sock"}]' + OUTPUTS))
    closed = ' seccomp (' in d.log() or 'landlock (' in d.log()
    if not closed:
        print('sandboxed: left out, there is no sandbox here')
    else:
        with Producer() as p:
            d.write_config(p.input('buffer', DUMP))
            d.signal(signal.SIGHUP)
            until('a refusal', lambda: 'an input reads processes' in d.log())
    d.stop()


need('http')
run(equals_dump, follows, killed, unmapped, comes_later, found, stopped,
    of_another_user, none_there, waits_for_room, sandboxed)
