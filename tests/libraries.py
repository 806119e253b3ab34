#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""libraries.py PRINTFDECODE LIBRARY: what is loaded when it is needed
(src/core/base/dynamic_library.h) is loaded then only, and where it cannot be, the command
says so. LIBRARY's notes say what that is."""
import os
import re
import shlex
import subprocess
import sys
import tempfile

COMMAND, LIBRARY = map(os.path.abspath, sys.argv[1:3])
# Runs a program of another architecture: meson says it, in a cross build.
WRAPPER = shlex.split(os.environ.get('MESON_EXE_WRAPPER', ''))
OURS = {os.path.realpath(path) for path in (COMMAND, LIBRARY)}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DUMP = [f'{ROOT}/examples/data/small.bin', f'{ROOT}/examples/data/app.elf']


def run(*arguments, **env):
    return subprocess.run([*WRAPPER, COMMAND, *arguments], check=False, text=True,
                          env={**os.environ, **env}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def find_lazy():
    with open(LIBRARY, 'rb') as file:
        return {name.decode() for name in
                re.findall(rb'"soname":\["([^"]+)"\]', file.read())}


def loaded(*arguments):
    """Names of the libraries that ours asks for, itself or when it runs, in a
    run that goes well; what those need in turn is up to them."""
    with tempfile.TemporaryDirectory() as folder:
        p = run(*arguments, LD_DEBUG='files', LD_DEBUG_OUTPUT=f'{folder}/log')
        assert p.returncode == 0, p.stderr
        log = ''
        for name in os.listdir(folder):
            with open(f'{folder}/{name}', encoding='utf-8') as file:
                log += file.read()
    return {os.path.basename(name) for name, of in
            re.findall(r'file=(\S+) \[0\];  (?:needed|dynamically loaded) by '
                       r'(\S+) \[0\]', log)
            if os.path.realpath(of) in OURS}


def assert_missing(soname, *arguments):
    """A file that is no library stands in its place."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f'{folder}/{soname}', 'wb'):
            pass
        path = [folder, os.environ.get('LD_LIBRARY_PATH', '')]
        p = run(*arguments, LD_LIBRARY_PATH=':'.join(filter(None, path)))
    assert p.returncode == 1, (p.returncode, p.stdout, p.stderr)
    assert f'{soname} cannot be loaded: ' in p.stderr, p.stderr


def main():
    lazy = find_lazy()
    assert len(lazy) >= 3, lazy
    plain = loaded(*DUMP)
    assert 'libc.so.6' in plain, plain
    assert not plain & lazy, plain & lazy
    assert 'libpcre2-8.so.0' in loaded('-m', '^half', *DUMP)
    assert_missing('libpcre2-8.so.0', '-m', '^half', *DUMP)
    if 'libpng16.so.16' in lazy:
        plot = ['plot', 'hist', '--format-string', '^half', '--x', '1']
        with tempfile.TemporaryDirectory() as folder:
            assert_missing('libpng16.so.16', *plot, '--to',
                           f'{folder}/plot.png', *DUMP)
    if 'libsqlite3.so.0' in lazy:
        with tempfile.TemporaryDirectory() as folder:
            assert_missing('libsqlite3.so.0', 'table', '--all', '--to',
                           f'{folder}/all.db', *DUMP)


main()
