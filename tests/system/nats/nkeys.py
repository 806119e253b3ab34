# SPDX-License-Identifier: MIT
"""Keys and claims of NATS' decentralised authentication, as its documents have
them (docs.nats.io, JWTs and NKEYS): base32 of a kind, 32 bytes and a CRC; claims
that whoever is above has signed with Ed25519, which is openssl's here."""
import base64
import json
import os
import subprocess
import time

KINDS = {'operator': 14 << 3, 'account': 0, 'user': 20 << 3}
SEED = 18 << 3
PKCS8 = bytes.fromhex('302e020100300506032b657004220420')
NO_LIMITS = {key: -1 for key in (
    'subs', 'data', 'payload', 'imports', 'exports', 'conn', 'leaf',
    'mem_storage', 'disk_storage', 'streams', 'consumer')}
CLAIMS = {
    'operator': {},
    'account': {'limits': {**NO_LIMITS, 'wildcards': True}},
    'user': {'pub': {}, 'sub': {}, 'subs': -1, 'data': -1, 'payload': -1},
}
CREDENTIALS = '''-----BEGIN NATS USER JWT-----
%s
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
%s
------END USER NKEY SEED------
'''


def checksum(data):
    """CRC-16 as XMODEM has it."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x1021 if crc & 0x8000 else 0)) & 0xffff
    return crc.to_bytes(2, 'little')


def encoded(data):
    return base64.b32encode(data + checksum(data)).decode().rstrip('=')


def part(data):
    return base64.urlsafe_b64encode(data).rstrip(b'=')


class Key:
    def __init__(self, temp, kind):
        seed, self.kind = os.urandom(32), kind
        prefix = KINDS[kind]
        self.path = f'{temp}/{kind}-{seed.hex()[:8]}.der'
        with open(self.path, 'wb') as f:
            f.write(PKCS8 + seed)
        public = self.openssl('pkey', '-inform', 'DER', '-in', self.path,
                              '-pubout', '-outform', 'DER')[-32:]
        self.public = encoded(bytes([prefix]) + public)
        self.seed = encoded(bytes([SEED | prefix >> 5, (prefix & 31) << 3]) + seed)

    @staticmethod
    def openssl(*words):
        return subprocess.run(['openssl', *words], check=True,
                              stdout=subprocess.PIPE).stdout

    def sign(self, of, **more):
        """Claims of another key, or of its own."""
        claims = {'jti': of.public, 'iat': int(time.time()), 'iss': self.public,
                  'name': of.kind, 'sub': of.public,
                  'nats': {**CLAIMS[of.kind], **more, 'type': of.kind,
                           'version': 2}}
        text = b'.'.join(part(json.dumps(each).encode()) for each in (
            {'typ': 'JWT', 'alg': 'ed25519-nkey'}, claims))
        with open(f'{self.path}.claims', 'wb') as f:
            f.write(text)
        signature = self.openssl('pkeyutl', '-sign', '-rawin', '-keyform', 'DER',
                                 '-inkey', self.path, '-in',
                                 f'{self.path}.claims')
        return (text + b'.' + part(signature)).decode()


def make_operator(temp, name):
    """What a server's configuration has of it, and a user's credentials."""
    operator, account, system, user = (
        Key(temp, kind) for kind in ('operator', 'account', 'account', 'user'))
    # The system's own account may not have JetStream, so it has no limits.
    preload = (f'  {account.public}: {operator.sign(account)}\n'
               f'  {system.public}: {operator.sign(system, limits={})}\n')
    with open(f'{temp}/{name}.creds', 'w', encoding='ascii') as f:
        f.write(CREDENTIALS % (account.sign(user), user.seed))
    return (f'operator: {operator.sign(operator)}\nresolver: MEMORY\n'
            f'system_account: {system.public}\n'
            f'resolver_preload: {{\n{preload}}}\n')
