# SPDX-License-Identifier: MIT
"""What the daemon's tests in Python share: a daemon that runs, a buffer that is
mapped, subscribers, metrics, and dumps taken apart."""
import ctypes
import gzip
import json
import mmap
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

SEQUENCE = re.compile(rb'"sequence":(\d+)')


def die_with_us():
    """In the child: no daemon outlives its test."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def can_connect(path):
    """A socket's file is there before anybody listens."""
    with socket.socket(socket.AF_UNIX) as s:
        return s.connect_ex(path) == 0


def wait_for(what, seconds, test):
    """Until test() is true; ends the program with a sentence otherwise."""
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            sys.exit(f'waited {seconds} s for {what}')
        time.sleep(0.005)


def load(path):
    """The bytes of a file that may be compressed."""
    if not os.path.exists(path):
        path += '.gz'
    opened = gzip.open(path) if path.endswith('.gz') else open(path, 'rb')
    with opened as f:
        return f.read()


def used_bytes(dump):
    return 16 + 4 * struct.unpack_from('<Q', dump)[0]


def entry_ends(dump, start=16, end=None):
    """Where each entry of a whole dump ends, from the sizes in the headers."""
    at = start
    end = end or used_bytes(dump)
    ends = []
    while at < end:
        at += 4 * (struct.unpack_from('<Q', dump, at)[0] & 0xffff)
        ends.append(at)
    return ends


class Buffer:
    """A file that is mapped and written as a device would."""

    def __init__(self, path, size):
        self.path = path
        with open(path, 'w+b') as f:
            f.truncate(size)
            self.memory = mmap.mmap(f.fileno(), size)

    def put(self, data, begin=16, end=None):
        """Bytes of a dump, then its header: all below `end` is used."""
        end = end or len(data)
        self.memory[begin:end] = data[begin:end]
        used = min(end, used_bytes(data)) if end != len(data) else None
        self.memory[0:8] = (data[0:8] if used is None else
                            struct.pack('<Q', (used - 16) // 4))

    def snapshot(self, data):
        self.memory[16:len(data)] = data[16:]
        self.memory[0:16] = data[0:16]

    def clear_header(self):
        self.memory[0:16] = bytes(16)


class Daemon:
    """printfdecoded with a configuration; $T in it is the folder."""

    def __init__(self, program, temp, config, env=None, before=()):
        self.temp = temp
        self.path = f'{temp}/config.yaml'
        with open(self.path, 'w') as f:
            f.write(config.replace('$T', temp))
        self.log = open(f'{temp}/daemon.log', 'a+')
        self.process = subprocess.Popen(
            [*before, program, '-c', self.path], stderr=self.log,
            env={**os.environ, **(env or {})}, preexec_fn=die_with_us)
        self.pid = self.process.pid

    def wait_for_socket(self, name):
        wait_for(name, 20, lambda: can_connect(f'{self.temp}/{name}'))

    def stop(self, seconds=30):
        """SIGTERM; the exit status is 0 only when no handle was left."""
        self.process.terminate()
        status = self.process.wait(seconds)
        if status != 0:
            sys.exit(f'the daemon ended with {status}:\n{self.tell_log()}')

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def tell_log(self):
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def cpu_seconds(self):
        with open(f'/proc/{self.pid}/stat') as f:
            fields = f.read().rsplit(')', 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')

    def memory_kib(self):
        with open(f'/proc/{self.pid}/status') as f:
            return int(re.search(r'VmRSS:\s+(\d+)', f.read()).group(1))

    def http(self, path='/metrics', name='http.sock'):
        """(status, body) of a request over the unix socket."""
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(20)
            s.connect(f'{self.temp}/{name}')
            s.sendall(f'GET {path} HTTP/1.1\r\nHost: x\r\n'
                      'Connection: close\r\n\r\n'.encode())
            answer = b''
            while True:
                got = s.recv(1 << 16)
                if not got:
                    break
                answer += got
        head, _, body = answer.partition(b'\r\n\r\n')
        return int(head.split()[1]), body.decode()

    def metric(self, name):
        """The sum of all samples of a metric."""
        total = 0
        found = False
        for line in self.http()[1].splitlines():
            m = re.match(rf'printfdecode_{name}(\{{.*\}})? (\S+)$', line)
            if m:
                total += float(m.group(2))
                found = True
        if not found:
            sys.exit(f'no metric {name}')
        return total


class Subscriber(threading.Thread):
    """Reads JSON lines: counts entries, keeps them if asked, and checks that
    sequence numbers follow one another but for gap records."""

    def __init__(self, path, request=None, keep=False):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.socket.sendall(json.dumps(request or {'output': 'json'}).encode()
                            + b'\n')
        self.entries = self.missed = self.bytes = 0
        self.lines = [] if keep else None
        self.failures = []
        self.gaps = {}
        self.last = None

    def take(self, line):
        if line.startswith(b'{"type":"gap","missed"'):
            gap = json.loads(line)
            self.missed += gap['missed']
            self.last = gap['next_sequence'] - 1
            self.gaps[gap['reason']] = self.gaps.get(gap['reason'], 0) + 1
            return
        found = SEQUENCE.search(line, 0, 100)
        if not found:
            self.failures.append(f'no sequence number: {line[:200]}')
            return
        number = int(found.group(1))
        if self.last is not None and number != self.last + 1:
            self.failures.append(f'{number} behind {self.last}')
        self.last = number
        if line.startswith(b'{"type":"gap"'):
            reason = json.loads(line)['reason']
            self.gaps[reason] = self.gaps.get(reason, 0) + 1
        if line.startswith(b'{"type":"entry"'):
            self.entries += 1
        if self.lines is not None:
            self.lines.append(line)

    def run(self):
        rest = b''
        while True:
            try:
                got = self.socket.recv(1 << 18)
            except OSError:
                break
            if not got:
                break
            self.bytes += len(got)
            lines = (rest + got).split(b'\n')
            rest = lines.pop()
            for line in lines:
                self.take(line)

    def records(self, kind='entry'):
        """Parsed lines of a type so far."""
        start = b'{"type":"%s"' % kind.encode()
        return [json.loads(line) for line in list(self.lines)
                if line.startswith(start)]
