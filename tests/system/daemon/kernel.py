#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""kernel.py DAEMON COMMAND CASES: reads buffers of rusticl with an input's key
`kernel`, which a reload changes and a producer's buffer overrides. CASES: the
golden ones of rusticl."""
import gzip
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds
CASES = os.path.abspath(sys.argv[3])


def content(*path):
    with open(os.path.join(CASES, *path), 'rb') as f:
        return f.read()


def write(path, data):
    with open(path, 'wb') as f:
        f.write(data.encode() if isinstance(data, str) else data)


def put_late(path, data):
    """A buffer file that is there as a whole at once."""
    write(path + '.part', data)
    os.rename(path + '.part', path)


def until(what, is_there):
    end = time.monotonic() + PATIENCE
    while not is_there() and time.monotonic() < end:
        time.sleep(0.05)
    assert is_there(), what()


def text_of(path):
    if not os.path.exists(path):
        return ''
    with open(path, encoding='utf-8') as f:
        return f.read()


class Running:
    """A daemon with a configuration, and its log. What it follows comes out as it
    is in the end, of the input or of the daemon."""
    def __init__(self, name, config, stdin=subprocess.DEVNULL):
        self.config, self.log = name + '.yaml', name + '.log'
        write(self.config, config)
        with open(self.log, 'a', encoding='utf-8') as log:
            self.process = subprocess.Popen(
                [sys.argv[1], '--config', self.config], stdin=stdin, stderr=log)
        self.until_log('ready', 0)
        until(lambda: text_of(self.log), lambda: text_of(self.log).count(
            ': code object ') >= config.count('.program'))

    def until_log(self, words, seen):
        until(lambda: text_of(self.log), lambda: words in text_of(self.log)[seen:])

    def reload(self, config):
        seen = len(text_of(self.log))
        write(self.config, config)
        self.process.send_signal(signal.SIGHUP)
        self.until_log('reloaded', seen)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.wait(PATIENCE)


def config_of(code, inputs, outputs):
    return 'code_objects: [%s]\ninputs:\n%soutputs:\n%s' % (
        ', '.join(code), ''.join('  - {%s}\n' % one for one in inputs),
        ''.join('  - {%s}\n' % one for one in outputs))


def entries_of(text, source=None):
    """Messages of a source's entries, all of them whole lines."""
    records = [json.loads(line) for line in text.splitlines(True)
               if line.endswith('\n')]
    return [one['message'] for one in records if one['type'] == 'entry' and
            (not source or one['source'] == source)]


def real_buffers():
    """Two programs, both with a kernel k."""
    code, inputs = [], []
    for name in ('real_k1', 'real_k2'):
        code.append(name + '.program')
        write(code[-1], gzip.decompress(content(name, 'program.bin.gz')))
        inputs.append('type: buffer, name: %s, path: %s.bin, format: rusticl, '
                      'kernel: k' % (name, name))
        put_late(name + '.bin', content(name, 'buffer.bin'))
    wanted = {name: entries_of(content(name, 'expect.json').decode())
              for name in ('real_k1', 'real_k2')}
    output = 'type: file, path: real.out, output: json'
    with Running('real', config_of(code, inputs, [output])):
        pass
    got = {name: entries_of(text_of('real.out'), name) for name in wanted}
    assert got == wanted, (got, text_of('real.log'))


def alike(kernel, output='output: raw'):
    return config_of(
        ['alike.program'],
        ['type: buffer, path: alike.bin, format: rusticl' +
         (', kernel: %s' % kernel if kernel else '')],
        ['type: file, path: alike.out, ' + output])


def reloads():
    """Both kernels fit: the key says which, and a reload another one."""
    put_late('alike.bin', content('kernels_alike', 'buffer.bin'))
    with Running('alike', alike('b')) as running:
        running.reload(alike('a'))
        running.reload(alike('b'))
    got = text_of('alike.out').splitlines()
    assert got == ['b 7', 'a 7', 'b 7'], (got, text_of('alike.log'))


def mistakes():
    """A kernel that is not there is said with the buffer; a name has an end."""
    os.remove('alike.out')
    with Running('none', alike('nobody', 'output: json')):
        pass
    assert "no kernel is called 'nobody'" in text_of('alike.out'), text_of('none.log')
    write('long.yaml', alike('k' * 256))
    p = subprocess.run([sys.argv[1], 'check-config', 'long.yaml'], text=True,
                       capture_output=True, check=False)
    assert p.returncode and "'kernel': kernel has 255 bytes at most" in p.stderr, p


def stated():
    """A producer's buffer states its own kernel; the input's is for others."""
    subprocess.run([sys.argv[2], 'capture', '--kernel', 'b', 'alike.program',
                    'alike.bin', '-o', 'alike.pfcap'], check=True)
    config = config_of([], ['type: stdin, kernel: a'],
                       ['type: file, path: stated.out, output: json'])
    with open('alike.pfcap', 'rb') as capture, \
            Running('stated', config, capture) as running:
        until(lambda: (text_of('stated.out'), text_of(running.log)),
              lambda: entries_of(text_of('stated.out')))
    assert entries_of(text_of('stated.out')) == ['b 7\n'], text_of('stated.out')
    assert 'ambiguous' not in text_of('stated.out'), text_of('stated.out')


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write('alike.program', content('kernels_alike', 'p.bin'))
        real_buffers()
        reloads()
        mistakes()
        stated()


if __name__ == '__main__':
    sys.argv[1:3] = [os.path.abspath(path) for path in sys.argv[1:3]]
    main()
