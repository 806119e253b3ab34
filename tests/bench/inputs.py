#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the benchmark's string tables: inputs.py KIND OUT.elf OUT.rows

hot    one format: int, hex, float
mixed  64 formats of 0 to 6 arguments: ints, hex, 64-bit, floats, doubles
10k    10,000 of them
100k   100,000 of them
pixels one format: two coordinates and a float
OUT.rows is the same table as text (id, kinds, format with \\n escaped), for
dump.c and yardstick.c.
"""
import random
import struct
import sys

WORDS = ("ray tile wave lane group sample color depth normal hit miss count "
         "index offset size level face node leaf pixel block").split()
# Letter for dump.c and yardstick.c, conversion, takes two dwords, weight.
KINDS = [("d", "%d", 0, 6), ("u", "%u", 0, 6), ("x", "0x%08x", 0, 4),
         ("i", "%5d", 0, 2), ("f", "%f", 0, 8), ("f", "%.3f", 0, 4),
         ("g", "%g", 0, 2), ("L", "%llu", 1, 1), ("X", "0x%llx", 1, 1),
         ("D", "%f", 1, 1)]


SIZES = {"mixed": 64, "10k": 10000, "100k": 100000}


def string(b):
    n = len(b)
    if n < 32:
        return bytes([0xa0 | n]) + b
    if n < 256:
        return b"\xd9" + bytes([n]) + b
    return (b"\xda" + struct.pack(">H", n) if n < 65536 else
            b"\xdb" + struct.pack(">I", n)) + b


def uint(v):
    if v < 128:
        return bytes([v])
    for first, code, bits in ((b"\xcc", ">B", 8), (b"\xcd", ">H", 16),
                              (b"\xce", ">I", 32), (b"\xcf", ">Q", 64)):
        if v >> bits == 0:
            return first + struct.pack(code, v)
    raise ValueError(v)


def row(ident, text, wide):
    """As LLPC writes it: keys in order, a NUL behind the text, no word of a
    mask without arguments, everything in its shortest form."""
    mask = sum(w << i for i, w in enumerate(wide))
    return (b"\x84" + string(b".64bit_arguments") +
            (b"\x91" + uint(mask) if wide else b"\x90") +
            string(b".argument_count") + uint(len(wide)) +
            string(b".index") + uint(ident) +
            string(b".string") + string(text.encode() + b"\0"))


def elf(rows):
    """An AMD GPU ELF file with one note section that holds the table."""
    doc = (b"\x82" + string(b"amdpal.format_strings") +
           b"\x83" + string(b".strings") + b"\xdd" +
           struct.pack(">I", len(rows)) + b"".join(rows) +
           string(b".user_data_offset") + uint(0) +
           string(b".version") + uint(1) +
           string(b"amdpal.version") + b"\x92" + uint(3) + uint(6))
    note = struct.pack("<III", 7, len(doc), 32) + b"AMDGPU\0\0" + doc
    note += b"\0" * (-len(note) % 4)
    names = b"\0.note\0.shstrtab\0"
    body = note + names
    body += b"\0" * (-len(body) % 8)
    header = b"\x7fELF\x02\x01\x01\x41" + b"\0" * 8 + struct.pack(
        "<HHIQQQIHHHHHH", 1, 224, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, 3, 2)
    sections = b"\0" * 64
    sections += struct.pack("<IIQQQQIIQQ", 1, 7, 0, 0, 64, len(note), 0, 0, 4, 0)
    sections += struct.pack("<IIQQQQIIQQ", 7, 3, 0, 0, 64 + len(note),
                            len(names), 0, 0, 1, 0)
    return header + body + sections


def mixed(r, n):
    table = {}
    while len(table) < n:
        kinds = r.choices(KINDS, [k[3] for k in KINDS],
                          k=r.choice([0, 1, 1, 2, 2, 3, 3, 3, 4, 4, 5, 6]))
        text = r.choice(WORDS) + " " + r.choice(WORDS)
        for k in kinds:
            text += r.choice([" ", ", ", " " + r.choice(WORDS) + "=", ": "])
            text += k[1]
        ident = r.getrandbits(48)
        if ident >= 0x10000:
            table[text + "\n"] = (ident, kinds)
    return [(i, k, t) for t, (i, k) in table.items()]


def main(kind, elf_path, rows_path):
    if kind == "hot":
        by_letter = {k[0]: k for k in KINDS}
        table = [(0xA1AF6B83F3E4, [by_letter[c] for c in "dxf"],
                  "thread %d: word 0x%x value %f\n")]
    elif kind == "pixels":
        table = [(0x5eed0f91e1a5, [(c, "", 0) for c in "pqs"],
                  "pixel %u,%u: %f\n")]
    else:
        table = mixed(random.Random(1), SIZES[kind])
    with open(elf_path, "wb") as out:
        out.write(elf([row(i, t, [k[2] for k in ks]) for i, ks, t in table]))
    with open(rows_path, "w") as out:
        for i, ks, t in table:
            out.write("%012x\t%s\t%s\n" % (i, "".join(k[0] for k in ks) or "-",
                                           t.replace("\n", "\\n")))


if __name__ == '__main__':
    main(*sys.argv[1:4])
