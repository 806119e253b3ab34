#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""view.py PROGRAM FOLDER_OF_SAMPLES CASES [DAEMON LIVE_BUFFER]: `printfdecode view`
in terminals of several sizes that tmux plays: keys go in, and what stands on the
screen is read."""
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [f'{HERE}/make', f'{HERE}/system/daemon']
import llpc_cases as llpc  # noqa: E402
from harness import free_port  # noqa: E402

PROGRAM, SAMPLES, CASES, *DAEMON = (os.path.abspath(a) for a in sys.argv[1:])
RAYS = [f'{SAMPLES}/rays.bin', f'{SAMPLES}/rays.pfdb']
PATIENCE_S = float(os.environ.get("PATIENCE_S", 30))  # much else may run


def width(text):
    """Columns of a terminal."""
    return sum(2 if unicodedata.east_asian_width(c) in 'WF' else 1 for c in text)


LIVE = """
inputs:
  - {{type: listen, address: "unix:{folder}/printfdecode/input.sock"}}
outputs:
  - {{type: listen, address: "unix:{socket}"}}
  - {{type: listen, address: "{remote}"}}
"""


class Terminal:
    """One of tmux, with a command in it."""

    def __init__(self, columns, rows, *words, term='screen-256color',
                 stdin=None):
        self.folder = tempfile.mkdtemp()
        with open(f'{self.folder}/conf', 'w') as conf:
            conf.write(f'set -g default-terminal {term}\n'
                       'set -g remain-on-exit on\nset -g status off\n')
        command = shlex.join([PROGRAM, *words])
        if stdin:
            command = f'cat {shlex.quote(stdin)} | {command}'
        self.tmux('-f', f'{self.folder}/conf', 'new-session', '-d',
                  '-x', str(columns), '-y', str(rows),
                  f'trap : INT; {command}; echo "rc=$?"; stty -a | tr " ;" "\\n\\n" | '
                  'grep -x -e -echo -e echo; exec cat')

    def tmux(self, *words):
        env = dict(os.environ, LC_ALL='C.UTF-8')
        env.pop('TMUX', None)
        env.pop('NO_COLOR', None)
        return subprocess.run(['tmux', '-S', f'{self.folder}/tmux', *words],
                              check=True, env=env, text=True,
                              stdout=subprocess.PIPE).stdout

    def keys(self, *keys):
        for key in keys:
            self.tmux('send-keys', key)

    def type(self, text):
        self.tmux('send-keys', '-l', '--', text)

    def screen(self, *how):
        return self.tmux('capture-pane', '-p', *how)

    def show(self, what):
        return self.tmux('display-message', '-p', what).strip()

    def wait(self, pattern, *how):
        """The screen as soon as it matches."""
        end = time.monotonic() + PATIENCE_S
        while True:
            screen = self.screen(*how)
            if re.search(pattern, screen, re.M):
                return screen
            if time.monotonic() > end:
                raise AssertionError(f'no {pattern!r} in\n{screen}')
            time.sleep(0.05)

    def pid(self):
        """Of the program."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            done = subprocess.run(['pgrep', '-P', self.show('#{pane_pid}')],
                                  check=False, text=True,
                                  stdout=subprocess.PIPE).stdout.split()
            if done:
                return int(done[0])
            time.sleep(0.05)
        raise AssertionError('it does not run')

    def close(self):
        self.tmux('kill-server')
        shutil.rmtree(self.folder)


class View(unittest.TestCase):
    def open(self, *arguments, **named):
        terminal = Terminal(*arguments, **named)
        self.addCleanup(terminal.close)
        return terminal

    def assert_restored(self, terminal, status):
        screen = terminal.wait(r'^-?echo$')
        self.assertIn(f'rc={status}\necho\n', screen)
        self.assertEqual(terminal.show('#{alternate_on} #{cursor_flag}'), '0 1')

    def test_usual(self):
        t = self.open(80, 24, 'view', *RAYS)
        screen = t.wait(r'\? help')
        self.assertIn('198 lines', screen)
        self.assertRegex(screen, r'(?m)^\*   198 all')
        self.assertIn('122 pixel', screen)
        self.assertIn('|tile 0,0 begins', screen)
        t.keys('j')
        t.wait(r'^ 2 of 198')
        t.type('/HIT')
        t.wait(r'of 122  text: HIT')
        t.keys('Enter', 'Enter')
        screen = t.wait(r'^t +2\.4862')
        self.assertIn('pixel.x', screen)
        self.assertIn('rays.comp', screen)
        t.keys('q')
        t.wait(r'of 122')
        t.keys('Escape')
        t.wait(r'of 198')
        t.keys('?')
        t.wait(r'the next finding')
        t.keys('q', 'c')
        screen = t.wait(r'collapsed')
        self.assertIn('\u00d76', screen)
        t.keys('q')
        self.assert_restored(t, 0)

    def test_conditions(self):
        t = self.open(100, 30, 'view', *RAYS)
        t.wait(r'\? help')
        t.type('/t > 20')
        t.wait(r'no line is what')
        t.keys('Tab')
        t.keys('Tab')
        screen = t.wait(r'where: t > 20')
        self.assertIn('gave up at t=', screen)
        t.type(' && nothing')
        t.wait(r"no format string has an argument 'nothing'")
        t.keys('Escape')
        t.wait(r'of 198')
        t.type('/(')
        t.keys('Tab')
        t.wait(r'missing closing parenthesis')
        t.keys('C-c')
        self.assert_restored(t, 130)

    def test_small(self):
        t = self.open(40, 10, 'view', *RAYS)
        screen = t.wait(r'\? help')
        self.assertRegex(screen, r'(?m)^tile 0,0 begins')
        t.keys('?')
        t.wait(r'^Lines')
        t.keys('q', 'G')
        t.wait(r'^ 198 of 198')
        t.keys('q')
        self.assert_restored(t, 0)

    def test_large(self):
        t = self.open(200, 50, 'view', *RAYS)
        screen = t.wait(r'\? help')
        self.assertIn('pixel %u,%u: hit at t=%.3f', screen)
        self.assertEqual(len(screen.splitlines()), 50)

    def test_resized(self):
        t = self.open(80, 24, 'view', *RAYS)
        t.wait(r'\? help')
        t.keys('G')
        t.wait(r'^ 198 of 198')
        for columns, rows in (30, 6), (10, 3), (3, 1), (200, 60), (80, 24):
            t.tmux('resize-window', '-x', str(columns), '-y', str(rows))
        t.wait(r'(?s)198 of 198.*\? help.*details')

    def test_findings(self):
        t = self.open(90, 24, 'view', f'{SAMPLES}/rays.bin')
        t.wait(r'\? help')
        t.keys('n')
        screen = t.wait(r'^ 2 of 202')
        self.assertIn('unknown id', screen)

    def test_damaged(self):
        t = self.open(90, 24, 'view', f'{SAMPLES}/h200_cut.bin')
        t.wait(r'lines')
        t.keys('G')
        t.wait(r' of ')

    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV,
                       signal.SIGBUS, signal.SIGABRT):
            with self.subTest(number):
                t = self.open(80, 24, 'view', *RAYS)
                t.wait(r'\? help')
                os.kill(t.pid(), number)
                screen = t.wait(r'^-?echo$')
                self.assertRegex(screen, r'rc=\d+\necho\n')
                self.assertEqual(t.show('#{alternate_on} #{cursor_flag}'),
                                 '0 1')

    def test_monochrome(self):
        t = self.open(80, 24, 'view', *RAYS, term='vt220')
        screen = t.wait(r'\? help', '-e')
        self.assertIn('\033[7m', screen)
        self.assertNotRegex(screen, r'\033\[[0-9;]*[34][0-7]m')

    def test_hostile(self):
        """Control characters of messages and names are text here."""
        case = f'{CASES}/opencl/escapes'
        t = self.open(80, 24, 'view', f'{case}/buffer.bin', f'{case}/app.co')
        screen = t.wait(r'\? help')
        self.assertIn(r'a:b \x07\x08\x0c\x0d\x0b', screen)
        t.type('/\u00e9\u4e2d')
        screen = t.wait('text: \u00e9\u4e2d')
        self.assertIn('no line is what', screen)
        t.keys('BSpace')
        t.wait('text: \u00e9$')

    def test_wide(self):
        """Characters of two columns, cut at an edge in their midst."""
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        string = llpc.Str(1, '\u6f22\u5b57\u30c6%u\uac12 ' + '\u957f' * 40, '4')
        with open(f'{folder}/wide.elf', 'wb') as f:
            f.write(llpc.image(string))
        with open(f'{folder}/wide.bin', 'wb') as f:
            f.write(llpc.buffer(*(string(i) for i in range(3))))
        for columns in 60, 61:
            t = self.open(columns, 8, 'view', f'{folder}/wide.bin',
                          f'{folder}/wide.elf')
            screen = t.wait(r'\? help')
            self.assertEqual(len(screen.splitlines()), 8)
            lines = re.findall(r'(?m)^(.*)\|(\u6f22\u5b57\u30c6\d\uac12 \u957f+)',
                               screen)
            self.assertEqual(len(lines), 3, screen)
            for left, line in lines: # as many as fit, below each other
                self.assertEqual(width(left), width(lines[0][0]))
                self.assertIn(columns - 1 - width(left) - width(line), (0, 1))
            t.keys('Right') # by 8 columns: the midst of \uac12
            t.wait(r'\|  \u957f')
            t.type('/\u957f')
            t.wait('of 3  text: \u957f')

    def test_origins(self):
        t = self.open(80, 24, 'view', *RAYS)
        t.wait(r'\? help')
        t.keys('o')
        t.wait(r'\[rays.comp:20\] tile 0,0 begins')

    def test_refused(self):
        t = self.open(80, 24, 'view', *RAYS, term='dumb')
        screen = t.wait(r'^rc=')
        self.assertIn('TERM=dumb', screen)
        self.assertIn('rc=1', screen)
        t = self.open(80, 24, 'view', '--tls-ca', RAYS[0], 'unix:/x')
        t.wait('are for tls:')
        t.wait('^rc=1')
        done = subprocess.run([PROGRAM, 'view', *RAYS], check=False, text=True,
                              capture_output=True)
        self.assertEqual((done.returncode, done.stdout), (1, ''))
        self.assertIn('no terminal', done.stderr)
        for words in (['view', '--match', 'x', *RAYS],
                      ['follow', '--view', *RAYS],
                      ['follow', '--view', '-n', '3', 'unix:/x']):
            done = subprocess.run([PROGRAM, *words], check=False, text=True,
                                  capture_output=True)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, 'for the socket|is without|are without')

    def test_piped(self):
        """A dump from standard input, and keys from the terminal."""
        t = self.open(80, 24, 'view', '-', RAYS[1], stdin=RAYS[0])
        t.wait(r'\? help')
        t.keys('j')
        t.wait(r'^ 2 of 198')

    def serve(self, more=''):
        """A daemon, its folder, and what sends it ten lines."""
        if not DAEMON:
            self.skipTest('no daemon was built')
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        env = dict(os.environ, XDG_RUNTIME_DIR=folder)
        socket = f'{folder}/lines.sock'
        remote = f'tcp:127.0.0.1:{free_port()}'
        os.mkdir(f'{folder}/printfdecode')
        with open(f'{folder}/config.yaml', 'w') as config:
            config.write(LIVE.format(folder=folder, socket=socket,
                                     remote=remote) + more)
        with open(f'{folder}/remote', 'w') as f:
            f.write(remote)
        daemon = subprocess.Popen([DAEMON[0], '--config',
                                   f'{folder}/config.yaml'], env=env,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        end = time.monotonic() + PATIENCE_S
        while not os.path.exists(socket) and time.monotonic() < end:
            time.sleep(0.05)

        def write_ten():
            subprocess.run([DAEMON[1], f'{SAMPLES}/app.elf'], env=env,
                           check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        return daemon, folder, write_ten

    def test_live_conditions(self):
        """As the daemon judges them, of old lines and of new ones."""
        _, folder, write_ten = self.serve()
        socket = f'{folder}/lines.sock'
        write_ten()
        t = self.open(100, 14, 'view', '--from', 'oldest', socket)
        t.wait('^ 10 of 10')
        for condition, n in (('a0 > 5', 4), ('size.y == 1.5 || a0 > 8', 2),
                             ('a1 * 2 == size.x', 10), ('size >= 9', 1),
                             ("size == '9'", 0), ('entry.index < 3', 3),
                             ("message == 'x'", 0), ('1', 10), ('!size', 1),
                             ('-size.x < -6 && index != 9', 2)):
            with self.subTest(condition):
                asked = subprocess.run(
                    [PROGRAM, 'follow', '--from', 'oldest', '--until-idle', '1',
                     '--where', condition, socket], text=True, check=False,
                    stdout=subprocess.PIPE)
                self.assertEqual(len(asked.stdout.splitlines()), n)
                t.type('/')
                t.keys('Tab', 'Tab')
                t.type(condition)
                shown = re.escape('where: ' + condition)
                t.wait(f'of {n}  {shown}' if n else f'no line is what')
                t.wait(shown)
                t.keys('Escape')
                t.wait('^ [0-9]+ of 10 *$')
        t.type('/')
        t.keys('Tab', 'Tab')
        t.type('nothing > 3')
        t.wait("no line here has an argument 'nothing'")
        t.keys('Escape')
        t.type('/')
        t.keys('Tab', 'Tab')
        t.type("host == 'x'")
        t.wait("no line here has 'host': --where asks the daemon")
        t.keys('Escape')
        t.type('/')
        t.keys('Tab', 'Tab')
        t.type('a0 > 5')
        t.wait('of 4  where: a0 > 5')
        write_ten()
        t.wait('of 8  where: a0 > 5')
        t.keys('Enter', 'c')
        screen = t.wait('collapsed')
        self.assertRegex(screen, '\u00d78')
        write_ten()
        t.wait('\u00d712')

    def test_tls(self):
        """A daemon that asks for a certificate."""
        if not shutil.which('openssl'):
            self.skipTest('no openssl')
        made = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, made)
        subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                        'ec_paramgen_curve:P-256', '-nodes', '-keyout',
                        f'{made}/key', '-out', f'{made}/ca', '-days', '2',
                        '-subj', '/CN=localhost', '-addext',
                        'subjectAltName=IP:127.0.0.1'], check=True,
                       stderr=subprocess.DEVNULL)
        port = free_port()
        address = f'tls:127.0.0.1:{port}'
        _, _, write_ten = self.serve(
            f'  - {{type: listen, address: "tcp:127.0.0.1:{port}", '
            f'tls_certificate: {made}/ca, tls_key: {made}/key, '
            f'tls_ca: {made}/ca}}\n')
        tls = ['--tls-ca', f'{made}/ca', '--tls-certificate', f'{made}/ca',
               '--tls-key', f'{made}/key']
        write_ten()
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            with socket.socket() as port_of:
                if not port_of.connect_ex(('127.0.0.1', port)):
                    break
            time.sleep(0.05)
        t = self.open(90, 14, 'view', *tls, '--from', 'oldest', address)
        t.wait('^ 10 of 10')
        write_ten()
        t.wait('^ 20 of 20')
        t = self.open(90, 14, 'view', *tls[:2], address)
        t.wait('ended|certificate|closed')

    def test_live(self):
        """Lines of a daemon come, pause, and end with it."""
        daemon, folder, write_ten = self.serve()
        socket = f'{folder}/lines.sock'
        with open(f'{folder}/remote') as f:
            remote = f.read()
        t = self.open(90, 14, 'view', socket)
        t.wait('there is no entry')
        write_ten()
        screen = t.wait('^ 10 of 10')
        self.assertIn('workgroup size:9.000000,4.500000', screen)
        self.assertIn(', live', screen)
        t.keys('p')
        t.wait(', paused')
        t.type('/:7')
        t.wait('^ 1 of 1  text: :7')
        t.keys('Enter', 'p')
        write_ten()
        t.wait('^ 2 of 2  text: :7')
        t.keys('Enter')
        t.wait('^size.x +7')
        t.keys('q', 'Escape', 'c')
        t.wait('collapsed')
        t.wait('\u00d720')
        write_ten() # new lines are collapsed with the others
        t.wait('\u00d730')
        few = self.open(90, 14, 'view', '--memory-max', '3000', '--from',
                        'oldest', socket)
        few.wait('left out')
        few.keys('g')
        few.wait('^ 1 of [1-9]')
        followed = self.open(90, 14, 'follow', '--view', '--from', 'oldest',
                             socket)
        followed.wait('^ 30 of 30')
        far = self.open(90, 14, 'view', '--from', 'oldest', '--where', 'a0 > 5',
                        remote)
        far.wait('^ 12 of 12')
        far.keys('C-c')
        self.assert_restored(far, 130)
        daemon.terminate()
        t.wait('the daemon has ended the connection')
        t.keys('q')
        self.assert_restored(t, 0)


if __name__ == '__main__':
    if not shutil.which('tmux'):
        print('skipped: no tmux')
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
