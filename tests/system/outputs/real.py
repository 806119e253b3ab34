# SPDX-License-Identifier: MIT
"""Real log services for tests, each in a folder of its own."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'daemon'))

from harness import PROGRAM, die_with_us, skip, until  # noqa: E402

JOURNALD = '/usr/lib/systemd/systemd-journald'
JOURNALD_CONF = '''[Journal]
Storage=volatile
RateLimitIntervalSec=0
ReadKMsg=no
Audit=no
ForwardToWall=no
'''
# In a mount and pid namespace: /run is the test's.
JOURNALD_SCRIPT = '''set -e
mount --make-rprivate /
mount --bind "$1/run" /run
mount --bind "$1/journald.conf" /etc/systemd/journald.conf
mount --bind "$1/machine-id" /etc/machine-id
mount -t proc proc /proc
exec "$2"
'''


class Process:
    """A program that is ended with its test."""

    def __init__(self, *args, **kwargs):
        self.process = subprocess.Popen(args, preexec_fn=die_with_us,
                                        stdin=subprocess.DEVNULL, **kwargs)

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def pid(self):
        return self.process.pid

    def signal(self, number):
        self.process.send_signal(number)


class Journald(Process):
    """The real one, whose sockets lie in run/ of a folder; None of it is the
    machine's."""

    def __init__(self, temp):
        self.run = f'{temp}/run'
        self.socket = f'{self.run}/systemd/journal/socket'
        if not os.path.exists(f'{temp}/machine-id'):
            os.makedirs(f'{self.run}/systemd/journal', exist_ok=True)
            os.makedirs(f'{self.run}/log', exist_ok=True)
            for name, text in (('journald.conf', JOURNALD_CONF),
                               ('machine-id', 'f' * 32 + '\n')):
                with open(f'{temp}/{name}', 'w', encoding='ascii') as f:
                    f.write(text)
        with open(f'{temp}/journald.log', 'ab') as log:
            super().__init__('unshare', '-m', '-p', '-f', '--kill-child',
                             'sh', '-c', JOURNALD_SCRIPT, 'sh', temp, JOURNALD,
                             stderr=log, stdout=log)
        until('journald', self.is_up)

    def kill(self):
        """What is behind its socket goes a moment later than we hear of it."""
        super().kill()
        until('the end of journald', lambda: not self.is_up())

    def pid(self):
        """Of unshare it is the child."""
        pid = self.process.pid
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
            return int(f.read())

    def signal(self, number):
        os.kill(self.pid(), number)

    def is_up(self):
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
                s.connect(self.socket)
            return True
        except OSError:
            return False

    @staticmethod
    def is_here():
        """None, or why it cannot be run."""
        if not os.path.exists(JOURNALD) or not shutil.which('journalctl'):
            return 'no systemd-journald'
        tried = subprocess.run(
            ['unshare', '-m', '-p', '-f', 'sh', '-c',
             'mount --make-rprivate / && mount -t proc proc /proc'],
            stderr=subprocess.PIPE, text=True, check=False)
        return tried.stderr.strip() if tried.returncode else None

    def read(self, *matches):
        """Its entries, as journalctl says them."""
        out = subprocess.run(
            ['journalctl', '-D', f'{self.run}/log/journal', '-o', 'json',
             '--all', '--no-pager', '-q', *matches], stdout=subprocess.PIPE,
            check=False).stdout
        return [json.loads(line) for line in out.splitlines()]


def text_of(value):
    """Of a field that journalctl gives as bytes."""
    return bytes(value) if isinstance(value, list) else value.encode()


RSYSLOG_CONF = '''global(workDirectory="%(temp)s/rsyslog.d" maxMessageSize="600k"
       defaultNetstreamDriverCAFile="%(temp)s/ca.pem"
       defaultNetstreamDriverCertFile="%(temp)s/server.pem"
       defaultNetstreamDriverKeyFile="%(temp)s/server.key")
module(load="imtcp" maxFrameSize="1000000"%(tls)s)
module(load="imptcp")
module(load="imuxsock" SysSock.Use="off")
template(name="all" type="list") {
  property(name="pri") constant(value="|")
  property(name="timestamp" dateFormat="rfc3339") constant(value="|")
  property(name="hostname") constant(value="|")
  property(name="app-name") constant(value="|")
  property(name="procid") constant(value="|")
  property(name="msgid") constant(value="|")
  property(name="structured-data") constant(value="|")
  property(name="msg") constant(value="\\n")
}
ruleset(name="to_file") {
  action(type="omfile" file="%(temp)s/syslog" template="all")
}
%(inputs)s
'''
RSYSLOG_INPUTS = {
    'tcp': 'input(type="imtcp" port="%(port)d" address="127.0.0.1" '
           'ruleset="to_file")',
    'stream': 'input(type="imptcp" path="%(temp)s/syslog.sock" '
              'ruleset="to_file")',
    'datagram': 'input(type="imuxsock" socket="%(temp)s/syslog.sock" '
                'useSpecialParser="off" useSysTimestamp="off" '
                'ignoreTimestamp="off" '
                'ruleset="to_file")',
}
RSYSLOG_TLS = ''' streamDriver.Name="ossl" streamDriver.Mode="1"
       streamDriver.AuthMode="x509/certvalid"'''


class Rsyslog(Process):
    """A real rsyslogd, with one input."""

    def __init__(self, temp, kind, port=0, tls=False):
        self.temp, self.kind, self.port = temp, kind, port
        os.makedirs(f'{temp}/rsyslog.d', exist_ok=True)
        words = {'temp': temp, 'port': port, 'tls': RSYSLOG_TLS if tls else ''}
        words['inputs'] = RSYSLOG_INPUTS[kind] % words
        with open(f'{temp}/rsyslog.conf', 'w', encoding='ascii') as f:
            f.write(RSYSLOG_CONF % words)
        with open(f'{temp}/rsyslog.log', 'ab') as log:
            super().__init__('rsyslogd', '-n', '-f', f'{temp}/rsyslog.conf',
                             '-i', f'{temp}/rsyslog.pid', stderr=log,
                             stdout=log)
        until('rsyslogd', self.is_up)

    def is_up(self):
        with open(f'{self.temp}/rsyslog.log', encoding='utf-8') as f:
            assert self.process.poll() is None, f.read()
        kind = (socket.SOCK_DGRAM if self.kind == 'datagram' else
                socket.SOCK_STREAM)
        family, where = ((socket.AF_INET, ('127.0.0.1', self.port))
                         if self.kind == 'tcp' else
                         (socket.AF_UNIX, f'{self.temp}/syslog.sock'))
        try:
            with socket.socket(family, kind) as s:
                s.connect(where)
            return True
        except OSError:
            return False

    @staticmethod
    def is_here():
        return shutil.which('rsyslogd', path=os.environ['PATH'] +
                            ':/usr/sbin:/sbin')

    def read(self):
        """What was written: lists of the template's fields, as bytes."""
        try:
            with open(f'{self.temp}/syslog', 'rb') as f:
                return [line.split(b'|', 7) for line in f.read().split(b'\n')[:-1]]
        except FileNotFoundError:
            return []


def check_config(temp, text, place, words):
    """It is refused there, with these words."""
    path = f'{temp}/refused.yaml'
    with open(path, 'w', encoding='ascii') as f:
        f.write(text + '\n')
    done = subprocess.run([PROGRAM, 'check-config', path], text=True,
                          stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                          check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 78 and words in said, (text, said)
    assert f'{path}:{place}: ' in said, (text, place, said)


__all__ = ['Journald', 'check_config', 'Process', 'Rsyslog',
           'skip', 'text_of']
