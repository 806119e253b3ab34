#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""process.py PRINTFDECODE PRODUCER SOURCE_FOLDER: what is read in a running
program is what its dumps say, and what cannot be read is said."""
import gzip
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from nobody import NOBODY, as_nobody, copied

PROGRAM, PRODUCER, SOURCES = map(os.path.abspath, sys.argv[1:4])
WORK = tempfile.TemporaryDirectory(prefix='printfdecode-process-')
ENV = {k: v for k, v in os.environ.items() if k != 'NO_COLOR'}


def case_file(case, name):
    """A fixture as a plain file of its own; its path."""
    path = f'{SOURCES}/tests/cases/{case}/{name}'
    ret = f'{WORK.name}/{case.replace("/", "_")}_{name}'
    if not os.path.exists(ret):
        opened = (gzip.open(path + '.gz') if os.path.exists(path + '.gz')
                  else open(path, 'rb'))
        with opened as f, open(ret, 'wb') as to:
            to.write(f.read())
    return ret


LLPC = [f'{SOURCES}/examples/data/small.bin', f'{SOURCES}/examples/data/app.elf']
OTHER = [case_file('llpc/filter_threads', n) for n in ('buffer.bin', 'image.elf')]
OPENCL = [case_file('opencl/compiled_dump', n) for n in ('buffer.bin', 'app.co')]
HIP = [case_file('hip/compiled_dump', n) for n in ('buffer.bin', 'app.co')]
OBJECTS = [LLPC[1], OPENCL[1], HIP[1]]


class Producer:
    def __init__(self):
        self.p = subprocess.Popen([PRODUCER], stdin=subprocess.PIPE, text=True,
                                  stdout=subprocess.PIPE, bufsize=1)
        self.pid = str(self.p.pid)

    def tell(self, *words):
        self.p.stdin.write(' '.join(map(str, words)) + '\n')

    def ask(self, *words):
        self.tell(*words)
        return self.p.stdout.readline().strip()

    def place(self, *words):
        """--address and --size of what was placed."""
        address, size = self.ask(*words).split()
        return ['--pid', self.pid, '--address', address, '--size', size]

    def load_all(self):
        """One part of a file among other bytes, others in memory."""
        padded = f'{WORK.name}/with space+#.bin'
        with open(padded, 'wb') as f:
            f.write(b'x' * 100 + open(OBJECTS[1], 'rb').read() + b'y' * 50)
        self.ask('memory', OBJECTS[0])
        self.ask('file', padded.replace(' ', '%20').replace('#', '%23'), 100,
                 hex(os.path.getsize(OBJECTS[1])))
        self.ask('memory', OBJECTS[2])

    def end(self):
        self.p.kill()
        self.p.wait()
        self.p.stdin.close()
        self.p.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def run(*args, status=None, program=PROGRAM, env=None, **kw):
    p = subprocess.run([program, *args], capture_output=True, timeout=120,
                       env=env or ENV, **kw)
    if status is not None:
        assert p.returncode == status, (args, p.returncode, p.stdout, p.stderr)
    return p


def plain(out, name):
    """Without what names the source."""
    return re.sub(rb'"source":"[^"]*"', b'"source":"' + name + b'"', out)


def expect(args, files, *more):
    """The memory says what the dump says, byte for byte."""
    for form in 'text', 'json', 'raw':
        want = run('-o', form, *more, *files, *OBJECTS)
        have = run('-o', form, *more, *args)
        assert plain(have.stdout, b'') == plain(want.stdout, b''), (
            args, form, have.stdout[:400], want.stdout[:400], have.stderr)
        assert have.returncode == want.returncode, (args, have.stderr)
        assert len(want.stdout) > 100


def test_decode():
    with Producer() as p:
        p.load_all()
        for dump in LLPC[0], OPENCL[0], HIP[0]:
            for how in 'buffer', 'share':
                expect(p.place(how, dump), [dump])
        # Files that are given are what counts then.
        args = p.place('buffer', LLPC[0])
        have = run(*args, OPENCL[1])
        assert have.stdout == run(LLPC[0], OPENCL[1]).stdout
        # The whole mapping, where no size is given.
        have = run(*args[:4])
        assert have.stdout == run(LLPC[0], *OBJECTS).stdout
        assert b'size is not given' in have.stderr, have.stderr
        for verb in 'inspect', 'stats':
            assert (run(verb, *args, '--no-filename' if verb == 'inspect'
                        else '-v').stdout ==
                    run(verb, LLPC[0], *OBJECTS).stdout), verb


def test_capture():
    with Producer() as p:
        p.load_all()
        args = p.place('buffer', LLPC[0])
        capture = f'{WORK.name}/live.pfcap'
        run('capture', '-o', capture, *args, status=0)
        assert run(capture, status=0).stdout == run(LLPC[0], *OBJECTS).stdout


def test_code_objects():
    with Producer() as p:
        p.load_all()
        out = run('--pid', p.pid, '--code-objects', status=0).stdout.decode()
        assert f'memory://{p.pid}#offset=0x' in out, out
        assert 'with%20space+%23.bin#offset=100&size=0x' in out, out
        records = [json.loads(line) for line in run(
            '--pid', p.pid, '--code-objects', '-o', 'json',
            status=0).stdout.splitlines()]
        assert len(records) == 3, records
        assert all(r['loaded'] and r['format_strings'] for r in records)
        assert records[1]['address'] == '0x10000', records[1]
        assert [r['bytes'] for r in records] == [os.path.getsize(o)
                                                 for o in OBJECTS]
        # They are written as they were.
        to = f'{WORK.name}/objects'
        run('--pid', p.pid, '--code-objects', '--to', to, status=0)
        assert (sorted(open(f'{to}/{n}', 'rb').read() for n in os.listdir(to))
                == sorted(open(o, 'rb').read() for o in OBJECTS))
        p.ask('unload')
        out = run('--pid', p.pid, '--code-objects', '-o', 'json',
                  status=0).stdout
        assert out.count(b'\n') == 2, out
        # Strings without a buffer.
        strings = run('strings', '--pid', p.pid, status=0).stdout
        assert strings == run('strings', *OBJECTS[1:], status=0).stdout


def is_huge(p, test):
    with open(f'/proc/{p.pid}/maps') as f:
        huge = any(int(m[2], 16) - int(m[1], 16) >= 1 << 40 for m in
                   re.finditer(r'^(\w+)-(\w+) r', f.read(), re.M))
    if huge:
        print(f"{test}: left out, a sanitizer's terabytes take a minute")
    return huge


def test_found():
    """Nobody says where buffers are: they are found, and say what their dumps
    say."""
    dumps = [LLPC[0], OPENCL[0], HIP[0]]
    for how in 'buffer', 'share', 'hidden':
        with Producer() as p:
            p.load_all()
            if is_huge(p, 'test_found'):
                return
            for dump in dumps:
                p.ask(how, dump)
            for form in 'text', 'json', 'raw':
                more = ['--no-filename'] if form == 'text' else []
                q = run('-o', form, *more, '--pid', p.pid, status=0)
                have = plain(q.stdout, b'')
                want = [plain(run('-o', form, dump, *OBJECTS).stdout, b'')
                        for dump in dumps]
                assert len(have) == sum(map(len, want)), (how, form, q.stderr)
                assert all(text in have for text in want), (how, form)
            assert b'100 % decodes' in q.stderr, q.stderr
            q = run('--pid', p.pid, '--format', 'hip', status=0)
            assert q.stdout == run(HIP[0], *OBJECTS).stdout, q.stderr
            capture = f'{WORK.name}/found-{how}.pfcap'
            run('capture', '-o', capture, '--pid', p.pid, status=0)
            q = run('--no-filename', '-o', 'raw', capture, status=0)
            assert len(q.stdout) == len(have), q.stderr


def test_found_later():
    """Buffers, and what names their strings, that come while it is followed."""
    want = run(LLPC[0], LLPC[1], status=0).stdout
    with Producer() as p:
        p.ask('memory', LLPC[1])
        p.ask('unload')
        if is_huge(p, 'test_found_later'):
            return
        with start_follow(['--pid', p.pid]) as q:
            while b'looking again' not in q.stderr.readline():
                pass
            p.load_all()
            for _ in range(2):
                p.ask('share', LLPC[0])
                have = b''.join(wait_for(q, want.count(b'\n')))
                assert have == want, have
            p.ask('share', empty_buffer())
            p.ask('append', OTHER[0])  # without strings: no buffer yet
            p.ask('memory', OTHER[1])
            more = run(*OTHER, status=0).stdout
            have = b''.join(wait_for(q, more.count(b'\n')))
            assert have == more, have
            p.end()
            assert q.wait(60) == 2
            assert q.stdout.read() == b''
        q = run('follow', '--pid', str(os.getpid()), '--until-idle', '0.1',
                status=0)
        assert b'looking again' in q.stderr and not q.stdout, q.stderr
    with Producer() as p:
        with start_follow(['--pid', p.pid]) as q:
            while b'looking again' not in q.stderr.readline():
                pass
            p.end()
            assert q.wait(60) == 1
            err = q.stderr.read()
            assert b'no buffer was found' in err, err


def test_found_none():
    with Producer() as p:
        p.ask('memory', LLPC[1])
        p.ask('unload')
        if is_huge(p, 'test_found_none'):
            return
        q = run('--pid', p.pid, status=1)
        assert b'without format strings' in q.stderr, q.stderr
        p.load_all()
        q = run('--pid', p.pid, status=1)
        assert b'no buffer is found in it with' in q.stderr, q.stderr


TINY = '''
static char buffer[65536] __attribute__((aligned(4096)));
static long call(long n, long a, long b, long c)
{
    long ret;
    __asm__ volatile("int $0x80" : "=a"(ret)
                     : "0"(n), "b"(a), "c"(b), "d"(c) : "memory");
    return ret;
}
void _start(void)
{
    char *at = buffer;
    long n;
    while ((n = call(3, 0, (long)at, 4096)) > 0)
        at += n;
    for (call(4, 1, (long)"\\n", 1);; call(29, 0, 0, 0))
        ;
}
'''


def test_32_bits():
    """A real process of 32 bits, and its core."""
    program = f'{WORK.name}/tiny'
    made = subprocess.run(
        ['cc', '-m32', '-nostdlib', '-static', '-ffreestanding', '-fno-pic',
         '-fno-stack-protector', '-no-pie', '-O1', '-x', 'c', '-', '-o',
         program], input=TINY, text=True, capture_output=True)
    if made.returncode or platform.machine() != 'x86_64':
        print('test_32_bits: left out, no such program can be made here')
        return
    want = run(*LLPC, status=0).stdout
    try:
        subprocess.run([program], stdin=subprocess.DEVNULL, timeout=0.1,
                       stdout=subprocess.DEVNULL)
    except OSError as e:
        print(f'test_32_bits: left out, {e.strerror}')
        return
    except subprocess.TimeoutExpired:
        pass  # it waits, to be looked at
    with open(LLPC[0], 'rb') as f, subprocess.Popen(
            [program], stdin=f, stdout=subprocess.PIPE) as p:
        if p.stdout.readline() != b'\n':
            print('test_32_bits: left out, the kernel does not run it')
            return
        q = run('--pid', str(p.pid), LLPC[1], status=0)
        assert q.stdout == want, q.stderr
        have = subprocess.run(['gcore', '-o', f'{WORK.name}/tiny', str(p.pid)],
                              capture_output=True) if shutil.which(
                                  'gcore') else None
        p.kill()
    core = f'{WORK.name}/tiny.{p.pid}'
    if not have or not os.path.exists(core):
        print('test_32_bits: without a core, gcore is missing or may not')
        return
    assert run('--core', core, LLPC[1], status=0).stdout == want
    assert b'machine: x86\n' in run('info', core, status=0).stdout


def test_no_runtime():
    with subprocess.Popen(['sleep', '1000']) as p:
        q = run('--pid', str(p.pid), '--code-objects', status=0)
        assert b"ROCm's runtime is not in it" in q.stderr, q.stderr
        p.kill()


def test_scan():
    module = f'{SOURCES}/tests/fuzz/corpus/spirv/calls'
    with Producer() as p:
        p.place('hidden', LLPC[1])
        if is_huge(p, 'test_scan'):
            return
        p.place('hidden', module)
        out = run('--pid', p.pid, '--code-objects', '--scan', '-o', 'json',
                  status=0).stdout
        found = [json.loads(line) for line in out.splitlines()]
        sizes = {(r['kind'], r['bytes']) for r in found if not r['loaded']}
        assert ('spirv', os.path.getsize(module)) in sizes, found
        assert ('elf', os.path.getsize(LLPC[1])) in sizes, found
        args = p.place('buffer', LLPC[0])
        assert (run(*args, '--scan').stdout ==
                run(LLPC[0], LLPC[1]).stdout)


def start_follow(args):
    return subprocess.Popen([PROGRAM, 'follow', *args], env=ENV,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(p, n):
    """Lines that come, until there are n."""
    return [p.stdout.readline() for _ in range(n)]


def empty_buffer():
    """One without entries, and room for small.bin's."""
    path = f'{WORK.name}/empty.bin'
    with open(path, 'wb') as f:
        f.write(bytes(65536))
    return path


def test_follow():
    want = run(LLPC[0], LLPC[1], status=0).stdout.splitlines(keepends=True)
    with Producer() as p:
        p.load_all()
        args = p.place('share', empty_buffer())
        with start_follow([*args, '--format', 'llpc']) as q:
            p.tell('append', LLPC[0])
            assert wait_for(q, len(want)) == want
            p.tell('append', LLPC[0])
            assert wait_for(q, len(want)) == want
            p.end()
            assert q.wait(60) == 2
            err = q.stderr.read()
            assert b'has ended' in err and b'unreadable' in err, err


def test_follow_loads():
    """A code object that is loaded while its buffer is followed."""
    want = run(*LLPC, status=0).stdout.splitlines(keepends=True)
    more = run(*OTHER, status=0).stdout.splitlines(keepends=True)
    with Producer() as p:
        p.ask('memory', LLPC[1])
        args = p.place('share', empty_buffer())
        with start_follow([*args, '--format', 'llpc']) as q:
            p.ask('append', LLPC[0])
            assert wait_for(q, len(want)) == want
            p.ask('memory', OTHER[1])
            p.ask('append', OTHER[0])
            assert wait_for(q, len(more)) == more
            q.send_signal(signal.SIGTERM)
            status = q.wait(60)
            err = q.stderr.read()
            # Where the second one is long in coming, bytes that both have are in
            # doubt.
            assert status == 0 or (status == 2 and b': stale: ' in err), err


def test_unmapped():
    with Producer() as p:
        p.load_all()
        args = p.place('share', empty_buffer())
        p.ask('unmap', 8192, 4096)
        q = run(*args, '--format', 'llpc', status=2)
        assert b'unreadable: addresses 0x' in q.stderr, q.stderr
        with start_follow([*args[:4], '--size', '8192', '--format', 'llpc',
                           '-v']) as q:
            p.ask('unmap', 0, 8192)
            assert q.wait(60) == 1
            err = q.stderr.read()
            assert b'nothing that can be read is mapped at 0x' in err, err
        p.ask('unmap', 0, 65536)
        q = run(*args, status=1)
        assert b'nothing of it can be read' in q.stderr, q.stderr
        q = run(*args[:4], status=1)
        assert b'nothing is mapped at 0x' in q.stderr, q.stderr


def test_ends():
    """It may end at any time: an error or findings, and nothing invented."""
    want = run(LLPC[0], *OBJECTS).stdout
    for delay in range(12):
        with Producer() as p:
            p.load_all()
            args = p.place('buffer', LLPC[0])
            with subprocess.Popen([PROGRAM, *args], env=ENV,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as q:
                time.sleep(delay / 2000)
                p.p.kill()
                out, err = q.communicate(timeout=60)
            assert (out == want and q.returncode == 0 or
                    not out and q.returncode == 1 and
                    (b'has ended' in err or b'no process' in err or
                     b'no memory' in err)), (delay, out, err, q.returncode)


def test_zombie():
    with Producer() as p:
        p.tell('exit')
        os.waitid(os.P_PID, p.p.pid, os.WEXITED | os.WNOWAIT)
        q = run('--pid', p.pid, '--address', '4096', status=1)
        assert b'zombie' in q.stderr, q.stderr
    q = run('--pid', p.pid, '--address', '4096', status=1)
    assert b'there is no process' in q.stderr, q.stderr


def test_other_user():
    if os.geteuid():
        print('test_other_user: left out, only root can be somebody else')
        return
    folder = f'{WORK.name}/nobody'
    os.mkdir(folder)
    program, env = copied(PROGRAM, folder)
    q = run('--pid', '1', '--address', '4096', preexec_fn=as_nobody, status=1,
            program=program, env=env, cwd='/')
    assert b'is of user 0' in q.stderr, q.stderr
    assert str(NOBODY).encode() in q.stderr, q.stderr
    assert b'CAP_SYS_PTRACE' in q.stderr, q.stderr
    with subprocess.Popen(['sleep', '1000'], preexec_fn=as_nobody,
                          cwd='/') as p:
        run('--pid', str(p.pid), '--code-objects', status=0)
        p.kill()


def test_wrong():
    for args, text in (
            (['--address', '1'], b'--pid'),
            (['--pid', '1', '--size', '4'], b'--address'),
            (['--pid', '0', '--address', '1'], b'not the id of a process'),
            (['--pid', 'x', '--address', '1'], b'not'),
            (['--pid', '1', '--address', 'x'], b'not a number'),
            (['--pid', '1', '--address', '1', '--address', '2'], b'one'),
            (['--pid', '1', '--address', '1', '--size', '0'], b'above 0'),
            (['--code-objects', 'x'], b'--pid'),
            (['--pid', str(2 ** 31 - 1), '--address', '1'], b'no process')):
        q = run(*args, status=1)
        assert text in q.stderr and not q.stdout, (args, q.stderr)


os.chmod(WORK.name, 0o755)
for name, test in list(globals().items()):
    if name.startswith('test_'):
        test()
        print(name)
