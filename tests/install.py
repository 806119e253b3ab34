#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""install.py BUILD [PREFIX]: what meson installs works where it lies: the
programs start and find their library and module, the unit names what is there,
and another program can be built against the library.

The build is installed into a folder, as packagers do, and that folder moved:
paths have to be right below it all the same. PREFIX: it has been installed
there, and is looked at as it is."""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASE = f'{ROOT}/tests/cases/llpc/x01_two_doubles'
BUILD = os.path.abspath(sys.argv[1])
BARE = {'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL': 'C.UTF-8'}


def run(*command, status=0, env=None, cwd='/'):
    p = subprocess.run(command, text=True, check=False, cwd=cwd,
                       env={**BARE, **(env or {})}, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    assert p.returncode == status, (command, p.returncode, p.stdout)
    return p.stdout


def option(name, options=[]):
    if not options:
        options += json.loads(run('meson', 'introspect', '--buildoptions',
                                  BUILD, env=os.environ))
    return next(o['value'] for o in options if o['name'] == name)


class Installed:
    """root: what stands before the paths that the build was told."""

    def __init__(self, root):
        self.root = root

    def path(self, directory, name):
        return self.root + os.path.join(option('prefix'), option(directory),
                                        name)

    def __call__(self, directory, name, *arguments, status=0):
        return run(self.path(directory, name), *arguments, status=status)


def command_starts(at):
    said = at('bindir', 'printfdecode', '--version')
    for part in 'tls', 'nats', 'png', 'sqlite', 'zstd', 'yaml':
        assert re.search(fr'\bwith(out)? .*\b{part}\b', said), (part, said)
    with open(f'{CASE}/expect.text') as f:
        assert at('bindir', 'printfdecode', f'{CASE}/buffer.bin',
                  f'{CASE}/image.elf') == f.read()
    # Its module is found: then nobody answers.
    why = at('bindir', 'printfdecode', 'follow', 'tls:127.0.0.1:1', status=1)
    assert ('Connection refused' if 'with tls' in said else
            'built without TLS') in why, why


def programs_need_no_library(at):
    """Of ours: all that they call is in them."""
    for program in at.path('bindir', 'printfdecode'), \
            at.path('sbindir', 'printfdecoded'):
        if os.path.exists(program):
            said = run('ldd', program)
            assert 'libprintfdecode' not in said, said


def daemon_starts(at):
    if not os.path.exists(at.path('sbindir', 'printfdecoded')):
        print('left out: no daemon')
        return
    said = at('sbindir', 'printfdecoded', '--version')
    config = at.path('sysconfdir', 'printfdecoded.yaml')
    lacks_http = ' http (' in said
    why = at('sbindir', 'printfdecoded', 'check-config', config,
             status=78 if lacks_http else 0)
    assert not lacks_http or '-Dhttp=enabled' in why, why


def unit_is_right(at, temp):
    unit = f"{at.root}{option('prefix')}/lib/systemd/system/printfdecoded.service"
    if not os.path.exists(unit):
        print('left out: no unit')
        return
    with open(unit) as f:
        text = f.read()
    assert '@' not in re.sub('@(system-service|privileged|resources)', '', text)
    words = shlex.split(re.search('^ExecStart=(.*)$', text, re.M)[1])
    assert words[0] == at.path('sbindir', 'printfdecoded')[len(at.root):], words
    assert words[1] == '--config' and len(words) == 3, words
    for path in words[0], words[2]:
        assert os.path.isabs(path) and os.path.exists(at.root + path), path
    if not shutil.which('systemd-analyze', path=BARE['PATH']):
        print('left out: no systemd-analyze')
        return
    # With the paths as they are here: it looks whether they are there.
    with open(f'{temp}/printfdecoded.service', 'w') as f:
        f.write(text.replace(f'"{words[0]}"', f'"{at.root}{words[0]}"'))
    said = run('systemd-analyze', 'verify', '--man=no',
               f'{temp}/printfdecoded.service')
    assert 'printfdecoded' not in said, said
    # In tenths; what is above it ends with an error.
    run('systemd-analyze', 'security', '--offline=true', '--no-pager',
        '--threshold=13', f'{temp}/printfdecoded.service')


def runners_are_found(at):
    """By the command that starts them, and without what they load themselves."""
    folder = at.path('libexecdir', 'printfdecode')
    if not os.path.exists(f'{folder}/vulkan_report'):
        print('left out: no runners')
        return
    p = subprocess.run([at.path('bindir', 'printfdecode'), 'doctor', '--json'],
                       text=True, check=False, env=BARE, timeout=120,
                       stdout=subprocess.PIPE)
    assert p.returncode in (0, 2) and '"no_report"' not in p.stdout, p
    for name in os.listdir(folder):
        said = run('ldd', f'{folder}/{name}')
        assert not re.search('lib(vulkan|OpenCL|printfdecode)', said), said


def layer_is_there(at):
    folder = at.path('datadir', 'vulkan/explicit_layer.d')
    if not os.path.exists(folder):
        print('left out: no Vulkan layer')
        return
    for name in 'capture', 'messages':
        with open(f'{folder}/VkLayer_PFD_{name}.json') as f:
            path = json.load(f)['layer']['library_path']
        assert '@' not in path and os.path.exists(
            path if path.startswith('/') else os.path.join(folder, path)), path
    assert os.path.exists(f'{folder}/VkLayer_PFD_debug_printf.json')


def a_program_can_be_built(at, temp):
    cc = os.environ.get('CC', 'cc').split()
    if option('b_sanitize') != 'none' or not shutil.which(cc[0]):
        print('left out: no plain C compiler')
        return
    moved = [f"--define-variable=prefix={at.root}{option('prefix')}"]
    flags = shlex.split(run(
        'pkg-config', *(moved if at.root else []), '--cflags', '--libs',
        'libprintfdecode', env={**os.environ, 'PKG_CONFIG_PATH':
                                at.path('libdir', 'pkgconfig')}))
    assert not any('png' in flag for flag in flags), flags
    # Where the system's loader does not look the flags say where the library is; else
    # as README says, for a library that lies anywhere.
    says_where = any(flag.startswith('-Wl,-rpath,') for flag in flags)
    assert says_where == (option('prefix') not in ('/usr', '/usr/local')), flags
    libdir = shlex.split(run(
        'pkg-config', *(moved if at.root else []), '--variable=libdir',
        'libprintfdecode', env={**os.environ, 'PKG_CONFIG_PATH':
                                at.path('libdir', 'pkgconfig')}))[0]
    rpath = [] if says_where else [f'-Wl,-rpath,{libdir}']
    run(*cc, '-Wall', '-Werror', '-o', f'{temp}/decode_file',
        f'{ROOT}/examples/decode_file.c', *flags, *rpath,
        env=os.environ)
    with open(f'{CASE}/expect.text') as f:
        assert f.read() == run(
            f'{temp}/decode_file', f'{CASE}/buffer.bin', f'{CASE}/image.elf')
    # What a driver does, the socket of a service that is not there included.
    run(*cc, '-Wall', '-Werror', '-o', f'{temp}/driver',
        f'{ROOT}/examples/driver/driver.c', *flags, *rpath,
        env=os.environ)
    with open(f'{ROOT}/examples/driver/expected.txt') as f:
        assert f.read() == run(f'{temp}/driver', f'{temp}/nobody')


CMAKE = """cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(printfdecode 0.1 REQUIRED CONFIG)
add_executable(decode_file %s)
target_link_libraries(decode_file PRIVATE printfdecode::printfdecode)
"""


def cmake_finds_it(at, temp):
    """Where it was installed: its file of pkg-config knows no other place."""
    if at.root or option('b_sanitize') != 'none' or not shutil.which('cmake'):
        print('left out: cmake (a folder that was moved, sanitizers, or no cmake)')
        return
    os.mkdir(f'{temp}/cmake')
    with open(f'{temp}/cmake/CMakeLists.txt', 'w') as f:
        f.write(CMAKE % f'{ROOT}/examples/decode_file.c')
    run('cmake', '-S', f'{temp}/cmake', '-B', f'{temp}/cmake/build',
        f"-DCMAKE_PREFIX_PATH={option('prefix')}", env=os.environ)
    run('cmake', '--build', f'{temp}/cmake/build', env=os.environ)
    with open(f'{CASE}/expect.text') as f:
        assert f.read() == run(f'{temp}/cmake/build/decode_file',
                               f'{CASE}/buffer.bin', f'{CASE}/image.elf')


def papers_are_there(at):
    papers = [
        ('mandir', 'man1/printfdecode.1'),
        ('datadir', 'printfdecode/printfdecode.schema.json'),
        ('sysconfdir', 'lnav/formats/printfdecode/printfdecode.lnav.json'),
        ('datadir', 'printfdecode/printfdecode-gdb.py'),
        ('datadir', 'printfdecode/printfdecode.nats.conf'),
        ('datadir', 'printfdecode/printfdecoded-nats.conf'),
        ('datadir', 'printfdecode/printfdecoded-remote.conf'),
        ('datadir', 'printfdecode/printfdecode.rules.yml'),
        ('datadir', 'printfdecode/printfdecode.grafana.json'),
        ('datadir', 'bash-completion/completions/printfdecode'),
        ('datadir', 'zsh/site-functions/_printfdecode'),
        ('datadir', 'fish/vendor_completions.d/printfdecode.fish')]
    if os.path.exists(at.path('sbindir', 'printfdecoded')):
        papers += [('mandir', 'man8/printfdecoded.8'),
                   ('mandir', 'man5/printfdecoded.yaml.5'),
                   ('datadir', 'bash-completion/completions/printfdecoded'),
                   ('datadir', 'doc/printfdecode/SECURITY.md')]
    for directory, name in papers:
        assert os.path.getsize(at.path(directory, name)) > 0, name


def gdb_loads_its_script(at, temp):
    """By itself, with the library: gdb searches for PATH-gdb.py of a library's
    whole path below its folders of scripts."""
    library = os.path.realpath(at.path('libdir', 'libprintfdecode.so'))
    scripts = at.path('datadir', 'gdb/auto-load')
    assert os.path.exists(f'{scripts}{library[len(at.root):]}-gdb.py'), scripts
    if not shutil.which('gdb', path=BARE['PATH']):
        print('left out: no gdb')
        return
    beside = f'{temp}/scripts{at.root}'
    os.makedirs(os.path.dirname(beside), exist_ok=True)
    if at.root:
        os.symlink(scripts, beside)
        scripts = f'{temp}/scripts'
    said = run('gdb', '-nx', '-batch', '-iex', 'set auto-load safe-path /',
               '-iex', f'set auto-load scripts-directory {scripts}',
               '-ex', 'info gpu-printf', library, status=1)
    assert 'neither a process nor a core' in said or 'Python' in said, said


def look(at, temp):
    command_starts(at)
    programs_need_no_library(at)
    daemon_starts(at)
    unit_is_right(at, temp)
    runners_are_found(at)
    layer_is_there(at)
    a_program_can_be_built(at, temp)
    cmake_finds_it(at, temp)
    papers_are_there(at)
    gdb_loads_its_script(at, temp)
    print('ok:', at.root or option('prefix'))


def install(temp):
    """Twice: a configuration that was changed stays as it is."""
    destination = f'{temp}/destination'
    at = Installed(destination)
    config = at.path('sysconfdir', 'printfdecoded.yaml')
    for _ in range(2):
        run('meson', 'install', '--no-rebuild', '--quiet', '-C', BUILD,
            env={**os.environ, 'DESTDIR': destination})
        if os.path.exists(config):
            with open(config, 'a') as f:
                f.write('# mine\n')
    if os.path.exists(config):
        with open(config) as f:
            assert f.read().count('# mine\n') == 2
    os.rename(destination, f'{temp}/moved')
    return Installed(f'{temp}/moved')


with tempfile.TemporaryDirectory(prefix='pfd-') as temp_folder:
    if len(sys.argv) > 2:
        assert option('prefix') == sys.argv[2], option('prefix')
        look(Installed(''), temp_folder)
    else:
        look(install(temp_folder), temp_folder)
