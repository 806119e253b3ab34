# SPDX-License-Identifier: MIT
"""Captures, written from the words of src/stream/capture/README.md."""
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
        head = bytes([0x80 | len(v)]) if len(v) < 16 else \
            b"\xdf" + struct.pack(">I", len(v))
        return head + b"".join(pack(k) + pack(x) for k, x in v.items())
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


# ---- the other way ----

def unpack(data, at):
    """One object of those that maps of frames have, and where it ends."""
    first, at = data[at], at + 1
    sizes = {0xc4: "B", 0xc5: "H", 0xc6: "I", 0xd9: "B", 0xda: "H", 0xdb: "I",
             0xcc: "B", 0xcd: "H", 0xce: "I", 0xcf: "Q", 0xde: "H"}
    number = first
    if first in sizes:
        number, = struct.unpack_from(">" + sizes[first], data, at)
        at += struct.calcsize(sizes[first])
    if first < 0x80 or 0xcc <= first <= 0xcf:
        return number, at
    if 0x80 <= first <= 0x8f or first == 0xde:
        ret = {}
        for _ in range(number & 15 if first < 0x90 else number):
            key, at = unpack(data, at)
            ret[key], at = unpack(data, at)
        return ret, at
    n = first & 31 if 0xa0 <= first <= 0xbf else number
    body = data[at:at + n]
    return (body if first in (0xc4, 0xc5, 0xc6) else body.decode()), at + n


def frames(data):
    """The maps of a sound stream's frames."""
    assert data.startswith(MAGIC)
    at = 16
    while at < len(data):
        n, = struct.unpack_from("<I", data, at)
        yield unpack(data, at + 8)[0]
        at += 8 + n
