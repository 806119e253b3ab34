# SPDX-License-Identifier: MIT
"""Buffers for tests of tables, whose values are known to the bit."""
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "make"))
import llpc_cases as box  # noqa: E402

# Bits of floats that text and careless code lose.
FLOATS = [0x7fc00000, 0x7f800001, 0xffc12345, 0x80000000, 0x00000001,
          0x7f800000, 0xff800000, 0x3f800000, 0x00000000, 0x7f7fffff]
DOUBLES = [0x7ff8000000000000, 0x7ff0000000000001, 0xfff8deadbeef0001,
           0x8000000000000000, 0x0000000000000001, 0x7ff0000000000000,
           0xfff0000000000000, 0x3fb999999999999a, 0x0, 0x7fefffffffffffff]
INTS = [0, 1, (1 << 64) - 1, 1 << 63, (1 << 63) - 1, (1 << 53) + 1,
        -(1 << 53) - 1 & (1 << 64) - 1, 42, 1 << 32, 7]


def bits():
    """Each value in a row of its own: u, d, f, big, wide, neg."""
    s = box.Str(0x1111, "u=%u d=%d f=%f big=%llu wide=%f neg=%lld\n",
                "444888")
    rows = []
    for i, (f, d, n) in enumerate(zip(FLOATS, DOUBLES, INTS)):
        rows.append((i, (i - 5) & 0xffffffff, f, n, d, n))
    return ({"image.elf": box.image(s),
             "buffer.bin": box.buffer(*(s(*r) for r in rows))}, rows)


def several(n):
    """Three format strings in turn, the last without arguments; ids that
    nobody knows in between."""
    a = box.Str(0x2221, "ray %u hit t=%f\n", "44")
    b = box.Str(0x2222, "ray %u missed\n", "4")
    c = box.Str(0x2223, "done\n", "")
    entries = []
    for i in range(n):
        entries += [a(i, float(i) / 4), b(2 * i)]
        if i % 3 == 0:
            entries.append(c())
        if i % 5 == 0:
            entries.append(box.entry(0xbadbad, struct.pack("<I", i)))
    return {"image.elf": box.image(a, b, c),
            "buffer.bin": box.buffer(*entries)}


def hostile():
    """Names that are SQL, twice the same, or nothing at all; an entry that is
    shorter and one that is longer than its string says."""
    text = ("select=%u SELECT=%u %u a0=%u index=%u findings=%u table=%u "
            "exact=%u nulls=%u \";drop table x;--=%u '=%u\n")
    s = box.Str(0x3331, text, "4" * 11)
    whole = struct.pack("<11I", *range(11))
    return {"image.elf": box.image(s),
            "buffer.bin": box.buffer(
                s(*range(11)), box.entry(0x3331, whole[:20]),
                box.entry(0x3331, whole + b"\1\0\0\0" * 3), s(*range(11)))}


def words(n):
    """Messages that repeat, few at first and then many."""
    s = box.Str(0x6661, "n=%u\t", "4")
    return {"image.elf": box.image(s),
            "buffer.bin": box.buffer(*(s(i % 100 if i < 16384 else i // 2)
                                       for i in range(n)))}


def wide(n):
    """A format string of so many arguments."""
    s = box.Str(0x4441, "w" + " %u" * n + "\n", "4" * n)
    return {"image.elf": box.image(s),
            "buffer.bin": box.buffer(s(*range(n)), s(*range(n, 2 * n)))}


def write(files, folder):
    for name, data in files.items():
        with open(os.path.join(folder, name), "wb") as f:
            f.write(data)
