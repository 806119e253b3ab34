#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program with ROCm's list of code objects and with buffers, one of which is
being written, stopped for ever: its core gives the same lines as the dumps,
with no address and no strings given.
usage: standin_test.py PRINTFDECODE PRODUCER SOURCE_FOLDER"""
import glob
import gzip
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

PROGRAM, PRODUCER, SOURCES = map(os.path.abspath, sys.argv[1:4])
CASES = f'{SOURCES}/tests/cases'


def plain(case, name):
    ret = f'{case.replace("/", "_")}_{name}'
    path = f'{CASES}/{case}/{name}'
    with (gzip.open(path + '.gz') if os.path.exists(path + '.gz')
          else open(path, 'rb')) as f, open(ret, 'wb') as to:
        to.write(f.read())
    return os.path.abspath(ret)


def run(*args, status=0):
    done = subprocess.run([PROGRAM, *args], capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == status, (args, done.returncode, done.stderr)
    return done


def make_core(objects, buffers):
    """The process' core; None: nobody may trace here."""
    with subprocess.Popen([PRODUCER], stdin=subprocess.PIPE, bufsize=1,
                          stdout=subprocess.PIPE, text=True) as p:
        def ask(*words):
            p.stdin.write(' '.join(map(str, words)) + '\n')
            return p.stdout.readline()
        for i, path in enumerate(objects):
            if i % 2:
                ask('file', path, 0, os.path.getsize(path))
            else:
                ask('memory', path)
        for path in buffers:
            ask('share', path)
        with open(f'/proc/{p.pid}/maps') as f:
            spans = [int(to, 16) - int(at, 16) for at, to in
                     re.findall(r'^(\w+)-(\w+) ', f.read(), re.M)]
        if max(spans) >= 1 << 40:
            p.kill()
            print("left out: a sanitizer's terabytes would be in the core")
            return None
        made = subprocess.run(['gcore', '-o', 'core', str(p.pid)], check=False,
                              capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(
                                  resource.RLIMIT_FSIZE, (1 << 30, 1 << 30)))
        p.kill()
    core = f'core.{p.pid}'
    if os.path.exists(core):
        return core
    print('left out: gcore may not trace here:', made.stderr.strip()[-200:])
    return None


def main():
    if not shutil.which('gcore'):
        print('left out: there is no gcore (Debian: gdb)')
        sys.exit(77)
    # The live one: a writer was held in the middle of it.
    cases = [('llpc/vk_midflight', 'image.elf'), ('opencl/compiled_dump', 'app.co'),
             ('hip/compiled_dump', 'app.co'), ('llpc/vk_midflight_live0', 'image.elf')]
    buffers = [plain(case, 'buffer.bin') for case, _ in cases]
    objects = [plain(case, name) for case, name in cases[:3]]
    core = make_core(objects, buffers)
    if not core:
        sys.exit(77)
    listed = run('--core', core, '--code-objects')
    assert listed.stdout.count(b'://') >= len(objects), listed.stdout
    run('--core', core, '--code-objects', '--to', 'out')
    written = [open(path, 'rb').read() for path in glob.glob('out/*')]
    for path in objects:
        with open(path, 'rb') as f:
            assert f.read() in written, path
    done = subprocess.run([PROGRAM, '--no-filename', '--core', core],
                          capture_output=True, timeout=120, check=False)
    assert done.returncode in (0, 2), done.stderr
    want = [subprocess.run([PROGRAM, '--buffer', path, *objects], check=False,
                           capture_output=True).stdout for path in buffers]
    assert all(want)
    for path, text in zip(buffers, want):
        assert text in done.stdout, (path, done.stderr)
    assert len(done.stdout) == sum(map(len, want)), done.stderr


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
