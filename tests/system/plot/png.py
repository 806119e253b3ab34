# SPDX-License-Identifier: MIT
"""PNG files as pixels, by zlib alone."""
import struct
import zlib


def undo(kind, row, above, step):
    for i in range(len(row)):
        a = row[i - step] if i >= step else 0
        u = above[i]
        c = above[i - step] if i >= step else 0
        if kind == 1:
            row[i] = (row[i] + a) & 255
        elif kind == 2:
            row[i] = (row[i] + u) & 255
        elif kind == 3:
            row[i] = (row[i] + (a + u) // 2) & 255
        elif kind == 4:
            p = a + u - c
            pa, pu, pc = abs(p - a), abs(p - u), abs(p - c)
            best = a if pa <= pu and pa <= pc else u if pu <= pc else c
            row[i] = (row[i] + best) & 255
    return row


def read(data):
    """Rows of (r, g, b)."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError("no PNG")
    at, packed, size, colours = 8, b"", None, None
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + n]
        crc, = struct.unpack(">I", data[at + 8 + n:at + 12 + n])
        if crc != zlib.crc32(kind + body):
            raise ValueError("a sum is wrong")
        at += 12 + n
        if kind == b"IHDR":
            size = struct.unpack(">IIBBBBB", body)
        elif kind == b"PLTE":
            colours = [tuple(body[i:i + 3]) for i in range(0, n, 3)]
        elif kind == b"IDAT":
            packed += body
    width, height = size[:2]
    if size[2:] != (8, 3 if colours else 2, 0, 0, 0):
        raise ValueError("not the colours that are written: %r" % (size,))
    raw = zlib.decompress(packed)
    step = 1 if colours else 3
    n = step * width
    rows, above = [], bytearray(n)
    for y in range(height):
        start = y * (n + 1)
        above = undo(raw[start], bytearray(raw[start + 1:start + 1 + n]), above,
                     step)
        rows.append([colours[i] for i in above] if colours else
                    [tuple(above[i:i + 3]) for i in range(0, n, 3)])
    return rows
