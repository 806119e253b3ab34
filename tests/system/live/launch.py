#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""launch.py PRINTFDECODE LIVE_BUFFER CODE_OBJECT [INTERRUPT]: `printfdecode run`
prints all that a program says, gives its exit status, passes signals on, and
leaves nothing behind; INTERRUPT is preloaded, and interrupts it early."""
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import tempfile

PROGRAM, LIVE, ELF = (os.path.abspath(a) for a in sys.argv[1:4])
LINES = [f'workgroup size:{i}.000000,{i * 0.5:.6f}' for i in range(10)]


def run(*args, **more):
    return subprocess.run([PROGRAM, 'run', *args], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          **more)


def check_lines():
    for _ in range(5):
        p = run('--', LIVE, ELF)
        assert (p.returncode, p.stdout.splitlines()) == (0, LINES), p
        assert not p.stderr, p.stderr
    p = run('-o', 'json', LIVE, ELF)
    messages = [json.loads(line)['message'].strip()
                for line in p.stdout.splitlines()]
    assert messages == LINES, p
    p = run('sh', '-c', '"$@" & "$@"; wait; exit 3', 'sh', LIVE, ELF)
    assert p.returncode == 3, p
    assert sorted(p.stdout.splitlines()) == sorted(LINES * 2), p.stdout


def check_statuses():
    for args, status, text in (
            (['sh', '-c', 'exit 7'], 7, ''),
            (['sh', '-c', 'kill -9 $$'], 137, ''),
            (['no such program'], 127, 'No such file or directory'),
            (['/'], 126, 'Permission denied'),
            ([], 1, 'no file is given'),
            (['-o', 'xml', 'true'], 1, "'run' has: text, raw, json"),
            (['--', 'sh', '-c', 'test "$*" = "-o --x"', 'sh', '-o', '--x'],
             0, '')):
        p = run(*args)
        assert p.returncode == status and text in p.stderr, (args, p)


def check_options():
    """What follow has, and what is run's own."""
    p = run('--prefix', '-m', ':[89]', '--', LIVE, ELF)
    assert p.stdout == ''.join(f'gpu: {line}\n' for line in LINES[8:]), p
    p = run('--tail', '3', '--prefix=> ', LIVE, ELF)
    assert p.stdout == ''.join(f'> {line}\n' for line in LINES[7:]), p
    p = run('-n', '2', 'sh', '-c', '"$@"; echo on', 'sh', LIVE, ELF)
    assert sorted(p.stdout.splitlines()) == sorted(LINES[:2] + ['on']), p
    p = run('-c', '--where', 'a0 > 5', LIVE, ELF)
    assert (p.returncode, p.stdout) == (0, '4\n'), p
    for status, program in (4, 'exit 0'), (5, 'exit 5'):
        p = run('--fail-on', ':7', 'sh', '-c', f'"$@"; {program}', 'sh', LIVE, ELF)
        assert p.returncode == status and '--fail-on: ' in p.stderr, p
    with tempfile.TemporaryDirectory() as folder:
        p = run('--to', f'{folder}/run.pfcap', '-o', 'quickfix', LIVE, ELF)
        assert p.stdout.splitlines() == ['note: ' + line for line in LINES], p
        p = subprocess.run([PROGRAM, f'{folder}/run.pfcap'], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert (p.returncode, p.stdout.splitlines()) == (0, LINES), p


def check_attached():
    """A program that others start."""
    p = subprocess.Popen([PROGRAM, 'run', '--attach-env'], text=True,
                         stdout=subprocess.PIPE)
    words = p.stdout.readline()
    assert words.startswith("export PRINTFDECODE_DIR='"), words
    subprocess.run(['sh', '-c', words + '"$@"', 'sh', LIVE, ELF], check=True)
    assert [p.stdout.readline().rstrip() for _ in LINES] == LINES
    p.terminate()
    assert p.wait() == 0 and not p.stdout.read()


def check_silence():
    """A program that has nothing to say to us, or was not told to."""
    for program, status in ('true', 0), ('false', 1):
        p = run(program)
        assert p.returncode == status and not p.stdout, p
        assert p.stderr.startswith(f'printfdecode: {program}: it has not'), p
        assert '--vulkan-debug-printf' in p.stderr and '--strings' in p.stderr
    p = run('no such program')
    assert 'connected' not in p.stderr, p


def check_environment():
    """A folder that is only ours, named to the program, gone behind it."""
    p = run('sh', '-c', 'cat; stat -c "%a %u" "$PRINTFDECODE_DIR";'
            ' echo "$PRINTFDECODE_DIR"', input='input\n')
    words = p.stdout.split()
    assert words[:3] == ['input', '700', str(os.geteuid())], p
    assert words[3].startswith(os.environ['TMPDIR'] + '/printfdecode-'), p
    p = run('true', env={**os.environ, 'TMPDIR': '/tmp/' + 'x' * 90})
    assert p.returncode == 1 and 'TMPDIR is too long' in p.stderr, p
    p = run('true', env={**os.environ, 'TMPDIR': '/nonexistent'})
    assert p.returncode == 1 and '/nonexistent' in p.stderr, p


TRAP = ('live=$1 elf=$2; trap \'echo got; "$live" "$elf"; exit 5\' {0};'
        ' echo ready; while :; do sleep 0.1; done')


def check_full():
    """A folder that takes no bytes is said."""
    def no_bytes():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    p = run('true', preexec_fn=no_bytes, restore_signals=False)
    assert p.returncode == 1 and 'File too large' in p.stderr, p


def check_signals():
    for name in ('TERM', 'INT', 'HUP', 'USR1'):
        p = subprocess.Popen([PROGRAM, 'run', 'bash', '-c', TRAP.format(name),
                              'sh', LIVE, ELF], text=True,
                             stdout=subprocess.PIPE)
        assert p.stdout.readline() == 'ready\n'
        p.send_signal(getattr(signal, 'SIG' + name))
        out = p.stdout.read().splitlines()
        assert p.wait() == 5 and out == ['got'] + LINES, (name, out)


def check_terminal():
    """Control-C: the program's, once; the daemon stays for its last lines."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [PROGRAM, 'run', 'bash', '-c', TRAP.format('INT'),
                           'sh', LIVE, ELF])
    out = b''
    while b'ready' not in out:
        out += os.read(terminal, 1000)
    os.write(terminal, b'\x03')
    try:
        while piece := os.read(terminal, 1000):
            out += piece
    except OSError:
        pass
    lines = out.decode().replace('^C', '').split()
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 5, (status, out)
    assert lines.count('got') == 1, out
    assert lines[-20:] == ' '.join(LINES).split(), out


def check_interrupted(preload):
    """A signal that comes once the folder is there is the program's."""
    p = run('sleep', '60', env={**os.environ, 'LD_PRELOAD': preload})
    assert p.returncode == 130, p


def main():
    # Whoever runs this in the background, or with nohup, may have them
    # ignored: no shell can catch them then.
    for name in ('TERM', 'INT', 'HUP', 'USR1'):
        signal.signal(getattr(signal, 'SIG' + name), signal.SIG_DFL)
    with tempfile.TemporaryDirectory() as folder:
        os.environ['TMPDIR'] = folder
        check_lines()
        check_statuses()
        check_options()
        check_attached()
        check_silence()
        check_environment()
        check_full()
        check_signals()
        check_terminal()
        for preload in sys.argv[4:]:
            check_interrupted(os.path.abspath(preload))
        assert not os.listdir(folder), os.listdir(folder)


main()
