# SPDX-License-Identifier: MIT
"""Captures, written from the words of src/wire.README.md."""
import struct

POLYNOMIAL = 0x82f63b78
MAGIC = b"\x89PFDCAP\n"


def table():
    rows = []
    for c in range(256):
        for _ in range(8):
            c = c >> 1 ^ (POLYNOMIAL if c & 1 else 0)
        rows.append(c)
    return rows


TABLE = table()


def crc(data, before=0):
    c = before ^ 0xffffffff
    for byte in data:
        c = c >> 8 ^ TABLE[(c ^ byte) & 255]
    return c ^ 0xffffffff


def pack(v):
    if isinstance(v, dict):
        return bytes([0x80 | len(v)]) + b"".join(
            pack(k) + pack(x) for k, x in v.items())
    if isinstance(v, str):
        return bytes([0xd9, len(v.encode())]) + v.encode() if len(v) > 31 \
            else bytes([0xa0 | len(v.encode())]) + v.encode()
    if isinstance(v, bytes):
        return b"\xc6" + struct.pack(">I", len(v)) + v
    return bytes([v]) if v < 128 else b"\xcf" + struct.pack(">Q", v)


def frame(**keys):
    body = pack(keys)
    n = struct.pack("<I", len(body))
    return n + struct.pack("<I", crc(n + body)) + body


def hello(**keys):
    return frame(type="hello", **keys)


def code_object(number, data, **keys):
    return frame(type="code_object", code_object=number, **keys, bytes=data)


def buffer(number, size, **keys):
    return frame(type="buffer", buffer=number, size=size, **keys)


def data(number, offset, content):
    return frame(type="data", buffer=number, offset=offset, bytes=content)


def zeros(number, offset, n):
    return frame(type="data", buffer=number, offset=offset, zeros=n)


def done(number):
    return frame(type="done", buffer=number)


def stream(frames, features=1, end=None):
    """All of it; end: whether it has an end frame (as its features say)."""
    out = MAGIC + struct.pack("<II", 1, features) + b"".join(frames)
    if features & 1 if end is None else end:
        out += frame(type="end", frames=len(frames), total=len(out),
                     crc=crc(out))
    return out
