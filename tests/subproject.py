#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""subproject.py SOURCE: a project that has this one below it gets the library as
an archive by dependency('libprintfdecode'), nothing else is built or installed
unless it is asked for, and meson has no word against it."""
import json
import os
import subprocess
import sys
import tempfile

SOURCE = os.path.abspath(sys.argv[1])
CASE = f'{SOURCE}/tests/cases/llpc/x01_two_doubles'
PARENT = """project('parent', 'c', version: '1', meson_version: '>=1.0')
executable(
  'decode_file',
  'decode_file.c',
  dependencies: dependency('libprintfdecode'),
  install: true,
)
"""
WRAP = """[wrap-git]
directory = printfdecode
url = https://example.org/printfdecode.git
revision = head

[provide]
dependency_names = libprintfdecode
"""


def run(*command):
    p = subprocess.run(command, text=True, check=False, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    assert p.returncode == 0, (command, p.returncode, p.stdout)
    return p.stdout


def write(path, text):
    with open(path, 'w') as f:
        f.write(text)


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


with tempfile.TemporaryDirectory(prefix='pfd-') as temp:
    os.makedirs(f'{temp}/subprojects')
    os.symlink(SOURCE, f'{temp}/subprojects/printfdecode')
    os.symlink(f'{SOURCE}/examples/decode_file.c', f'{temp}/decode_file.c')
    write(f'{temp}/meson.build', PARENT)
    write(f'{temp}/subprojects/printfdecode.wrap', WRAP)
    build = f'{temp}/build'
    said = run('meson', 'setup', '--force-fallback-for=libprintfdecode',
               '--prefix=/usr', build, temp)
    for word in 'WARNING', 'DEPRECATION', 'deprecated':
        assert word not in said, said
    targets = json.loads(run('meson', 'introspect', '--targets', build))
    kinds = {t['name']: t['type'] for t in targets if t['type'] != 'custom'}
    assert kinds == {'decode_file': 'executable',
                     'printfdecode': 'static library'}, kinds
    run('ninja', '-C', build)
    with open(f'{CASE}/expect.text') as f:
        assert f.read() == run(f'{build}/decode_file', f'{CASE}/buffer.bin',
                               f'{CASE}/image.elf')
    run('meson', 'install', '-C', build, '--destdir', f'{temp}/installed')
    installed = files_below(f'{temp}/installed')
    assert installed == ['usr/bin/decode_file'], installed
    # What is asked for is built.
    run('meson', 'setup', '--reconfigure', '-Dprintfdecode:command=enabled', build,
        temp)
    targets = json.loads(run('meson', 'introspect', '--targets', build))
    assert any(t['name'] == 'printfdecode' and t['type'] == 'executable'
               for t in targets), targets
print('ok')
