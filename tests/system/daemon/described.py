#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""described.py DAEMON EXAMPLES: follows a ring that a description describes, and
reads one from standard input, also one whose messages are in a code object; inputs have descriptions of their
own, which a reload changes. Goes on behind the last entry of a ring with positions when it starts again,
whether positions grow or begin anew."""
import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

RING = '''ring: drawn
counter: {at: 0, unit: 1, from: 4}
data: 4
messages: {1: "one %u\\n"}
'''
POSITIONS = '''ring: around
write: {at: 0}
data: 64
capacity: 400
positions: {grow: %s}
messages: {1: "one %%u\\n"}
'''
N = 60
TT_METAL = ['tile 3 of 9: 0.500', 'packer waits for 0x0010', 'mode 5 true -7']
PATIENCE = 60  # seconds


def write(path, text):
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)


def until_lines(path, n):
    end = time.monotonic() + PATIENCE
    lines = []
    while len(lines) < n and time.monotonic() < end:
        if os.path.exists(path):
            with open(path, encoding='utf-8') as f:
                lines = f.read().splitlines()
        time.sleep(0.05)
    return lines


def from_stdin(daemon, folder):
    """The same as bytes that are no capture."""
    config, out = os.path.join(folder, 'in.yaml'), os.path.join(folder, 'lines')
    write(config, 'inputs:\n  - {type: stdin, describe: %s}\noutputs:\n'
          '  - {type: file, path: %s, output: raw}\n'
          % (os.path.join(folder, 'ring.yaml'), out))
    running = subprocess.Popen([daemon, '--config', config],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    data = b''.join(struct.pack('<II', 1, i + 1) for i in range(N))
    try:
        running.stdin.write(struct.pack('<I', len(data)) + data)
        running.stdin.close()
        lines = until_lines(out, N)
    finally:
        running.terminate()
        running.wait(PATIENCE)
        err = running.stderr.read().decode()
    assert lines == ['one %d' % (i + 1) for i in range(N)], (lines, err)


def with_code_object(daemon, examples, folder):
    """The description says where messages are in files: it is loaded first."""
    config, out = os.path.join(folder, 'code.yaml'), os.path.join(folder, 'code')
    write(config, 'code_objects: [%s]\ninputs:\n  - {type: stdin, describe: %s}\n'
          'outputs:\n  - {type: file, path: %s, output: raw}\n'
          % (os.path.join(examples, 'data', 'tt-metal.elf'),
             os.path.join(examples, 'tt-metal-elf.yaml'), out))
    with open(os.path.join(examples, 'data', 'tt-metal.bin'), 'rb') as ring:
        running = subprocess.Popen([daemon, '--config', config], stdin=ring,
                                   stderr=subprocess.PIPE, text=True)
        try:
            lines = until_lines(out, 3)
        finally:
            running.terminate()
            err = running.communicate(timeout=PATIENCE)[1]
    assert lines == TT_METAL, (lines, err)


def reload(running, err, path, text):
    """Reloads with another description; the log's next line about it."""
    seen = os.path.getsize(err)
    write(path, text)
    running.send_signal(signal.SIGHUP)
    end = time.monotonic() + PATIENCE
    log = ''
    while 'stays' not in log and 'reloaded' not in log and time.monotonic() < end:
        time.sleep(0.05)
        with open(err, encoding='utf-8') as f:
            f.seek(seen)
            log = f.read()
    return log


def changed(daemon, folder):
    """A reload reads rings by another description, and refuses one with a mistake."""
    config, ring = os.path.join(folder, 're.yaml'), os.path.join(folder, 're.ring')
    err, out = os.path.join(folder, 're.err'), os.path.join(folder, 're.out')
    buffer = os.path.join(folder, 're.bin')
    write(ring, RING)
    write(config, 'inputs:\n  - {type: buffer, path: %s, describe: %s}\n'
          'outputs:\n  - {type: file, path: %s, output: raw}\n' % (buffer, ring, out))
    put_ring(buffer, '<II', 1)
    with open(err, 'w', encoding='utf-8') as log:
        running = subprocess.Popen([daemon, '--config', config], stderr=log)
    try:
        until_in(err, 'ready')
        first = until_lines(out, N)
        same = reload(running, err, ring, RING)
        wrong = reload(running, err, ring, RING.replace('unit', 'units'))
        checked = subprocess.run([daemon, 'check-config', config],
                                 capture_output=True, text=True, check=False)
        other = reload(running, err, ring, RING.replace('one', 'two'))
        lines = until_lines(out, 2 * N)
        without = reload(running, err, config, 'inputs:\n  - {type: buffer, path: %s, '
                         'format: llpc}\noutputs:\n  - {type: file, path: %s, output: '
                         'raw}\n' % (buffer, out))
    finally:
        running.terminate()
        running.wait(PATIENCE)
    assert checked.returncode and 'would not start' in checked.stderr, checked
    assert first == ['one %d' % (i + 1) for i in range(N)], first
    assert lines[N:] == ['two %d' % (i + 1) for i in range(N)], lines
    for log in (same, other, without):
        assert 'reloaded' in log, log
    assert "line 2, column" in wrong and 'the old configuration stays' in wrong, wrong


def put_ring(path, entry, message):
    """A ring of N entries behind its counter."""
    data = b''.join(struct.pack(entry, message, i + 1) for i in range(N))
    with open(path, 'wb') as f:
        f.write(struct.pack('<I', len(data)) + data)


def two_inputs(daemon, folder):
    """Two rings, each by a description of its own; ids mean other messages."""
    def at(name):
        return os.path.join(folder, name)

    write(at('left.yaml'), RING.replace('one', 'left'))
    write(at('right.yaml'), RING.replace('1: "one %u', '1: "right %llx')
          .replace('data: 4', 'data: 4\nentry: {header: 4, id: {at: 0, bits: 16}}'))
    put_ring(at('left.bin'), '<II', 1)
    put_ring(at('right.bin'), '<IQ', 1)
    config = ''.join('  - {type: buffer, path: %s, describe: %s}\n'
                     % (at(name + '.bin'), at(name + '.yaml'))
                     for name in ('left', 'right'))
    write(at('both.yaml'), 'inputs:\n%soutputs:\n  - {type: file, path: %s, output: '
          'raw}\n' % (config, at('both')))
    lines, err = run_for(daemon, at('both.yaml'), at('both'), 2 * N)
    for name, form in (('left', '%d'), ('right', '%x')):
        assert [x for x in lines if x.startswith(name)] == [
            name + ' ' + form % (i + 1) for i in range(N)], (lines, err)
    assert err.count('%d entries, 0 unknown, 0 bytes lost, 0 skipped' % N) == 2, err


def two_files(daemon, examples, folder):
    """Two descriptions, of which one finds messages in code objects: dumps of two
    folders, before and behind the code object."""
    def at(name):
        return os.path.join(folder, name)

    write(at('plain.yaml'), RING)
    for name in ('own', 'theirs'):
        os.mkdir(at(name))
    put_ring(at('own/a.bin'), '<II', 1)
    with open(os.path.join(examples, 'data', 'tt-metal.bin'), 'rb') as f:
        ring = f.read()
    with open(at('theirs/b.bin'), 'wb') as f:
        f.write(ring)
    inputs = ''.join('  - {type: directory, path: %s, dumps: "*.bin", describe: %s}\n'
                     % pair for pair in (
                         (at('own'), at('plain.yaml')),
                         (at('theirs'), os.path.join(examples, 'tt-metal-elf.yaml'))))
    write(at('files.yaml'), 'code_objects: [%s]\ninputs:\n%soutputs:\n  - {type: '
          'file, path: %s, output: raw}\n'
          % (os.path.join(examples, 'data', 'tt-metal.elf'), inputs, at('files')))
    lines, err = run_for(daemon, at('files.yaml'), at('files'), N + 3)
    assert sorted(lines) == sorted(['one %d' % (i + 1) for i in range(N)]
                                   + TT_METAL), (lines, err)


def added(daemon, examples, folder):
    """A description that a reload adds finds messages in a code object that was
    loaded before it."""
    def at(name):
        return os.path.join(folder, name)

    config = ('code_objects: [%s]\ninputs:\n  - {type: buffer, path: %s%%s}\noutputs:\n'
              '  - {type: file, path: %s, output: raw}\n'
              % (os.path.join(examples, 'data', 'tt-metal.elf'), at('late.bin'),
                 at('late')))
    write(at('late.yaml'), config % '')
    with open(os.path.join(examples, 'tt-metal-elf.yaml'), encoding='utf-8') as f:
        write(at('elf.yaml'), f.read())
    with open(at('late.err'), 'w', encoding='utf-8') as log:
        running = subprocess.Popen([daemon, '--config', at('late.yaml')], stderr=log)
    try:
        until_in(at('late.err'), 'ready')
        log = reload(running, at('late.err'), at('late.yaml'), config
                     % (', describe: ' + at('elf.yaml')))
        with open(os.path.join(examples, 'data', 'tt-metal.bin'), 'rb') as ring:
            data = ring.read()
        with open(at('late.part'), 'wb') as f:
            f.write(data)
        os.rename(at('late.part'), at('late.bin'))
        lines = until_lines(at('late'), len(TT_METAL))
    finally:
        running.terminate()
        running.wait(PATIENCE)
    assert lines == TT_METAL, (lines, log)


def run_for(daemon, config, out, n):
    """The lines of a daemon until there are n, and its log."""
    running = subprocess.Popen([daemon, '--config', config],
                               stderr=subprocess.PIPE, text=True)
    try:
        lines = until_lines(out, n)
    finally:
        running.terminate()
        err = running.communicate(timeout=PATIENCE)[1]
    return lines, err


def until_in(path, word):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with open(path, encoding='utf-8') as f:
            if word in f.read():
                return
        time.sleep(0.05)


def started_again(daemon, folder, grows):
    """What the ring still has comes once, and the rest is told as lost."""
    def at(name):
        return os.path.join(folder, name)

    def put(first, n):
        with open(at('around'), 'r+b') as f:
            for i in range(first, first + n):
                f.seek(64 + 8 * i % 400)
                f.write(struct.pack('<II', 1, i))
            end = 8 * (first + n)
            f.seek(0)
            f.write(struct.pack('<I', end if grows else end % 400))

    def run(n_entries):
        lines = []
        running = subprocess.Popen([daemon, '--config', at('around.yaml')],
                                   stderr=subprocess.PIPE, text=True)
        try:
            end = time.monotonic() + PATIENCE
            while time.monotonic() < end:
                lines = [json.loads(line) for line in until_lines(at('told'), 1)]
                messages = [x['message'] for x in lines if 'message' in x]
                if len(messages) >= n_entries:
                    break
                time.sleep(0.05)
        finally:
            running.terminate()
            err = running.communicate(timeout=PATIENCE)[1]
        return messages, [x for x in lines if x['type'] == 'finding'], err

    os.mkdir(at('state'))
    write(at('around-ring.yaml'), POSITIONS % str(grows).lower())
    write(at('around.yaml'), 'state_dir: %s\ninputs:\n  - {type: buffer, path: '
          '%s, describe: %s}\noutputs:\n  - {type: file, path: %s, output: '
          'json, required: true}\n' % (at('state'), at('around'),
                                      at('around-ring.yaml'), at('told')))
    with open(at('around'), 'wb') as f:
        f.truncate(464)
    put(0, 20)
    expected = list(range(20))
    for n in (0, 25, 40, 49):
        put(len(expected), n)
        expected += range(len(expected), len(expected) + n)
        messages, findings, err = run(len(expected))
        assert messages == ['one %d\n' % i for i in expected], (n, messages, err)
        assert not findings, (n, findings)
    if grows:
        put(len(expected), 120)
        expected += range(expected[-1] + 71, expected[-1] + 121)
        messages, findings, err = run(len(expected))
        assert messages == ['one %d\n' % i for i in expected], (messages, err)
        assert [x['kind'] for x in findings] == ['overflow'], findings
        assert findings[0]['text'].startswith('560 bytes'), findings


def main():
    daemon = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        def at(name):
            return os.path.join(folder, name)
        write(at('ring.yaml'), RING)
        config = 'inputs:\n'
        for name in ('a', 'b'):
            config += ('  - {type: buffer, path: %s, describe: %s}\n'
                       % (at(name), at('ring.yaml')))
        write(at('daemon.yaml'), config + 'outputs:\n  - {type: file, path: '
              '%s, output: raw}\n' % at('out'))
        with open(at('a'), 'wb') as f:
            f.truncate(4096)
        running = subprocess.Popen([daemon, '--config', at('daemon.yaml')],
                                   stderr=subprocess.PIPE, text=True)
        try:
            with open(at('a'), 'r+b') as f:
                for i in range(N):
                    f.seek(4 + 8 * i)
                    f.write(struct.pack('<II', 1, i + 1))
                    f.seek(0)
                    f.write(struct.pack('<I', 8 * (i + 1)))
                    f.flush()
                    time.sleep(0.002)
            lines = until_lines(at('out'), N)
        finally:
            running.terminate()
            err = running.communicate(timeout=PATIENCE)[1]
        assert lines == ['one %d' % (i + 1) for i in range(N)], (lines, err)
        assert '%d entries, 0 unknown, 0 bytes lost, 0 skipped' % N in err, err
        from_stdin(daemon, folder)
        with_code_object(daemon, os.path.abspath(sys.argv[2]), folder)
        changed(daemon, folder)
        two_inputs(daemon, folder)
        two_files(daemon, os.path.abspath(sys.argv[2]), folder)
        added(daemon, os.path.abspath(sys.argv[2]), folder)
    for grows in (True, False):
        with tempfile.TemporaryDirectory() as folder:
            started_again(daemon, folder, grows)


if __name__ == '__main__':
    main()
