#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All of the library, the command and the daemon is C that musl has, too:
musl.py BUILD. Each file is only looked at (-fsyntax-only), as the build compiles
it; headers of other libraries are those of the system, fts.h among them, which
musl-fts has. The daemon wants statx(), which musl has from 1.2.5 on."""
import concurrent.futures
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

SKIP = 77
# Headers of other libraries and of the kernel, as they are included.
OTHERS = '''
CL asm asm-generic curl curses.h check.h check_stdint.h drm elfutils gelf.h jansson.h
jansson_config.h libelf.h libpng16 linux msgpack msgpack.h nats ncurses_dll.h nlist.h openssl
pcre2.h png.h pngconf.h pnglibconf.h seccomp.h seccomp-syscalls.h sqlite3.h sqlite3ext.h systemd uv
term.h unctrl.h uv.h vk_video vulkan yaml.h zconf.h zlib.h zstd.h zstd_errors.h'''
FTS = '''#include <features.h>
#define __BEGIN_DECLS
#define __END_DECLS
#define __THROW
#include "/usr/include/fts.h"
'''
WHERE = ['/usr/include']


def link_headers(folder):
    """The folders of both, where a library has one for each machine."""
    with open(f'{folder}/fts.h', 'w', encoding='ascii') as f:
        f.write(FTS)
    for name in OTHERS.split():
        for where in WHERE:
            path = os.path.join(where, name)
            if os.path.isdir(path):
                os.makedirs(os.path.join(folder, name), exist_ok=True)
                for each in os.listdir(path):
                    link(os.path.join(path, each),
                         os.path.join(folder, name, each))
            elif os.path.exists(path):
                link(path, os.path.join(folder, name))


def link(path, to):
    if not os.path.lexists(to):
        os.symlink(path, to)


def words_of(command):
    """The compiler's, but what is written and where the system's headers are."""
    words = shlex.split(command)
    while not words[0].startswith('-'):
        words.pop(0)
    ret = []
    while words:
        word = words.pop(0)
        if word in ('-o', '-MF', '-MQ'):
            words.pop(0)
        elif word not in ('-c', '-MD') and not word.startswith(
                ('-I/usr', '-isystem/usr', '-Werror', '-fsanitize')):
            ret.append(word)
    return ret


def has_statx():
    done = subprocess.run(
        ['musl-gcc', '-fsyntax-only', '-D_GNU_SOURCE', '-x', 'c', '-'], text=True,
        input='#include <sys/stat.h>\nstruct statx sx;\n', check=False,
        stderr=subprocess.DEVNULL)
    return done.returncode == 0


def main():
    build = os.path.abspath(sys.argv[1])
    if not shutil.which('musl-gcc'):
        print('skipped: there is no musl-gcc (Debian: musl-tools)')
        return SKIP
    machine = subprocess.run(['cc', '-print-multiarch'], text=True,
                             capture_output=True, check=False).stdout.strip()
    WHERE.append(f'/usr/include/{machine}')
    leave = {'tests', 'examples', 'python'} # Python.h is for the C library
    if not has_statx():
        print('the daemon is left out: this musl has no statx()')
        leave.add('daemon')
    with open(f'{build}/compile_commands.json', encoding='utf-8') as f:
        files = {each['file']: each for each in json.load(f)
                 if each['file'].endswith('.c') and
                 not leave & set(each['file'].split('/'))}
    with tempfile.TemporaryDirectory() as folder:
        link_headers(folder)

        def look(each):
            done = subprocess.run(
                ['musl-gcc', '-fsyntax-only', '-w', '-isystem', folder,
                 *words_of(each['command'])], cwd=each['directory'],
                capture_output=True, text=True, check=False)
            return done.stderr if done.returncode else ''
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            said = [text for text in pool.map(look, files.values()) if text]
    print('\n'.join(said))
    print(f'{len(files)} files, {len(said)} are not for musl')
    return 1 if said or not files else 0


if __name__ == '__main__':
    sys.exit(main())
