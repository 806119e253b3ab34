# SPDX-License-Identifier: MIT
"""A real nats-server, alone or one of three, each in a folder of its own."""
import json
import os
import shutil
import signal
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'daemon'))

from harness import die_with_us, free_port, http, until  # noqa: E402

PATH = os.environ['PATH'] + ':/usr/sbin:/sbin'


def program():
    return shutil.which('nats-server', path=PATH)


class Server:
    """routes: ports of those of all, where it is one of a cluster; more: what
    stands behind its configuration."""

    def __init__(self, temp, name='one', routes=(), own_route=None, more=''):
        self.temp, self.name = temp, name
        self.store = f'{temp}/{name}.store'
        self.port, self.monitor = free_port(), free_port()
        text = (f'port: {self.port}\nhost: 127.0.0.1\nserver_name: {name}\n'
                f'http: 127.0.0.1:{self.monitor}\n'
                f'jetstream {{ store_dir: "{self.store}" }}\n')
        if routes:
            urls = ', '.join(f'"nats://127.0.0.1:{p}"' for p in routes)
            text += ('cluster { name: farm, host: 127.0.0.1, '
                     f'port: {own_route}, routes: [{urls}] }}\n')
        with open(f'{temp}/{name}.conf', 'w', encoding='ascii') as f:
            f.write(text + more)
        self.url = f'nats://127.0.0.1:{self.port}'
        self.process = None

    def start(self):
        with open(f'{self.temp}/{self.name}.log', 'ab') as log:
            self.process = subprocess.Popen(
                [program(), '-c', f'{self.temp}/{self.name}.conf'],
                preexec_fn=die_with_us, stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)
        until('nats-server', self.is_up)
        return self

    def is_up(self):
        assert self.process.poll() is None, self.log()
        try:
            socket.create_connection(('127.0.0.1', self.port)).close()
            return True
        except OSError:
            return False

    def leads(self, stream):
        """Of a cluster: it is the leader of that stream."""
        _, body = http(self.monitor, '/jsz?streams=1')
        return any(each['name'] == stream and
                   each.get('cluster', {}).get('leader') == self.name
                   for account in json.loads(body).get('account_details', [])
                   for each in account.get('stream_detail', []))

    def publish(self, subject, payload, **headers):
        """A message of anybody, as NATS' own protocol has it."""
        lines = ''.join(f'{key.replace("_", "-")}: {value}\r\n'
                        for key, value in headers.items())
        head = f'NATS/1.0\r\n{lines}\r\n'.encode()
        with socket.create_connection(('127.0.0.1', self.port)) as s:
            s.sendall(b'CONNECT {"verbose":false,"headers":true}\r\n' +
                      f'HPUB {subject} {len(head)} {len(head) + len(payload)}'
                      '\r\n'.encode() + head + payload + b'\r\nPING\r\n')
            said = b''
            while b'PONG' not in said:
                said += s.recv(4096)

    def request(self, subject, payload):
        """What answers to a request; it is a message of NATS, too."""
        with socket.create_connection(('127.0.0.1', self.port)) as s:
            s.sendall(b'CONNECT {"verbose":false}\r\nSUB _INBOX.t 1\r\n' +
                      f'PUB {subject} _INBOX.t {len(payload)}\r\n'.encode() +
                      payload + b'\r\n')
            said = b''
            while b'"type"' not in said:
                said += s.recv(4096)
        return said

    def log(self):
        with open(f'{self.temp}/{self.name}.log', encoding='utf-8') as f:
            return f.read()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def roll_back(self, copy=None):
        """What a power failure does: the folder is as it was, or empty."""
        shutil.rmtree(self.store, ignore_errors=True)
        if copy:
            shutil.copytree(copy, self.store)


__all__ = ['Server', 'program']
