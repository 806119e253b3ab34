#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same.py DAEMON DUMP ELF PRINTFDECODE: the same entry has the same line
everywhere. Golden cases of all formats go through the daemon, `follow`, and a
capture of entries, in each form, and are compared byte for byte with what
`decode` is expected to print; sequence and time aside."""
import gzip
import os
import re
import shutil
import subprocess
import sys

from harness import Daemon, dial, idle, run

CASES = os.path.join(os.path.dirname(__file__), '..', '..', 'cases')
PROGRAM = os.path.abspath(sys.argv[4])
FORMATS = ['llpc', 'opencl', 'hip', 'hostcall', 'debugprintf', 'abort']
OF_EACH = 6
STAMP = re.compile(rb'"sequence":\d+,"time":"[^"]*","time_unix_nano":"\d+",')
# A capture and `follow` say where and when something was, too.
WHEN = re.compile(rb',"time":"[^"]*","time_unix_nano":"\d+","generation":0')
WHERE = re.compile(rb'"host":"[^"]*","uuid":"[^"]*",?')
NOWHERE = b',"origin":{}'

CONFIG = '''code_objects: [%s]
inputs:
  - {type: directory, path: $T/in, dumps: "*.bin"}
outputs:
  - {type: listen, address: "unix:$T/l.sock"}
'''


def has(path):
    return os.path.exists(path) or os.path.exists(path + '.gz')


def read(path):
    if not os.path.exists(path):
        return gzip.open(path + '.gz').read()
    with open(path, 'rb') as f:
        return f.read()


def cases(form):
    """Sound ones, whose command is a buffer and code objects."""
    found = []
    for name in sorted(os.listdir(f'{CASES}/{form}')):
        case = f'{CASES}/{form}/{name}'
        if not all(has(f'{case}/expect.{x}') for x in ('json', 'text', 'txt')):
            continue
        if read(f'{case}/expect.rc') != b'0\n' or read(f'{case}/expect.err'):
            continue
        words = read(f'{case}/cmd').decode().split()
        if words and words[0] == 'buffer.bin' and not any(
                w.startswith('-') or w.endswith('.bin') for w in words[1:]):
            found.append((case, words[1:]))
    return found[::max(1, len(found) // OF_EACH)][:OF_EACH]


def entries(data):
    """Of lines of JSON, but for what is said once of all of them."""
    for pattern in STAMP, WHEN, WHERE:
        data = pattern.sub(b'', data)
    data = data.replace(NOWHERE, b'')
    return [line for line in data.splitlines(True)
            if line.startswith(b'{"type":"entry"')]


def from_daemon(temp, objects, n):
    """What subscribers of each form have of a dump that is moved in."""
    d = Daemon(temp, CONFIG % ', '.join(f'$T/{o}' for o in objects))
    source = f'{temp}/in/buffer.bin'.encode()
    os.rename(f'{temp}/buffer.bin', source)
    lines = dial(f'{temp}/l.sock', {'from': 'oldest'})
    lines.entries(n)
    lines.close()
    got = {}
    for form in 'json', 'text', 'raw':
        # Who ends its own side gets what there is.
        s = dial(f'{temp}/l.sock',
                 {'from': 'oldest', 'output': form, 'findings': False}).sock
        s.shutdown(1)
        got[form] = b''.join(iter(lambda: s.recv(65536), b''))
        # Whoever gets entries makes the same of them.
        followed = output(temp, 'follow', '--until-idle', idle(0.3),
                          '--findings', 'no', '--from', 'oldest', '-o', form, 'l.sock')
        assert followed == got[form], (form, followed, got[form])
    os.rename(source, f'{temp}/buffer.bin')
    d.stop()
    got['json'] = entries(got['json'].replace(b'"source":"' + source,
                                              b'"source":"buffer.bin'))
    return got


def output(temp, *args):
    return subprocess.run([PROGRAM, *args], cwd=temp, check=False,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def same(temp, case, objects):
    wanted = {'json': entries(read(f'{case}/expect.json')),
              'text': read(f'{case}/expect.text'),
              'raw': read(f'{case}/expect.txt')}
    os.makedirs(f'{temp}/in')
    for name in ['buffer.bin', *objects]:
        with open(f'{temp}/{name}', 'wb') as f:
            f.write(read(f'{case}/{name}'))
    n = len(wanted['json'])
    ways = {'daemon': from_daemon(temp, objects, n)}
    output(temp, 'capture', '--entries', '-o', 'run.pfcap', 'buffer.bin',
           *objects)
    ways['capture'] = {form: output(temp, 'decode', '-o', form, 'run.pfcap')
                       for form in wanted}
    ways['follow'] = {form: output(temp, 'follow', '--until-idle', idle(1),
                                   '-o', form, 'buffer.bin', *objects)
                      for form in wanted} if '/llpc/' in case else {}
    for way, got in ways.items():
        for form, value in got.items():
            value = entries(value) if form == 'json' and isinstance(
                value, bytes) else value
            assert value == wanted[form], (case, way, form, value,
                                           wanted[form])
    return n


def one_line_everywhere(temp):
    n_cases = n_entries = 0
    for form in FORMATS:
        for case, objects in cases(form):
            folder = f'{temp}/{n_cases}'
            os.mkdir(folder)
            n_entries += same(folder, case, objects)
            n_cases += 1
            shutil.rmtree(folder)
    assert n_cases >= 4 * OF_EACH, n_cases
    print(f'{n_cases} cases, {n_entries} entries')


run(one_line_everywhere)
