#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the fuzz targets' first inputs: fuzz_seeds.py CORPUS_FOLDER"""
import os
import struct
import sys

import llpc_cases as cases


def program(text, payload=b"\x00\x00\x80\x3f" * 16):
    return bytes([len(payload)]) + payload + text.encode("utf-8", "surrogateescape")


def walk(*entries, **how):
    return b"\x07\x00\x00\x00" + cases.buffer(*entries, **how)


def seeds():
    for i, (text, _, _) in enumerate(cases.GRAMMAR):
        yield "program/grammar_%02d" % i, program(text)
    yield "program/utf8", program("\u00e9 % \u00e9 %y\x1b \udcff")
    yield "program/clamp", program("%99999d %.99999f %*.*f", b"\xff\xff\xff\x7f" * 8)

    e = cases.entry
    one = e(0x424242424242, cases.words(7))
    two = e(0x434343434343, cases.words(5, 0, 0x3ff80000, 1, 65))
    none = e(0x414141414141)
    unknown = e(0x777777777777, cases.words(1, 2))
    yield "llpc/sound", walk(one, two, none, one)
    yield "llpc/unknown", walk(one, unknown, none, unknown)
    yield "llpc/overflow", walk(one, two, cut=8, used=100)
    yield "llpc/hole", walk(one, bytes(16), none, one)
    yield "llpc/bad_size", walk(one, e(0x424242424242, b"", 1), one, one)
    yield "llpc/past_end", walk(one, e(0x424242424242, b"", 900), one, one)
    yield "llpc/clamp", walk(one, used=(1 << 29) + 5)
    yield "llpc/wide", walk(e(0x424242424242, cases.words(7, 0)),
                            e(0x444444444444, cases.words(1, 2)),
                            e(0x454545454545, cases.words(1, 2)))
    yield "llpc/odd", walk(one, tail=b"abc")
    yield "llpc/torn", walk(struct.pack("<II", 0x42420003, 0), cases.words(7), one)

    out = cases.Str(0x123456789abc, "Output:%d\n", "4")
    image = cases.image(out, cases.Str(0x1, "x %f", "8"))
    yield "image/section", image
    yield "image/segment", cases.image(out, section=None, segment=True)
    yield "image/both", cases.image(out, segment=True)
    yield "image/archive", cases.archive([(b"a.o/", image), (b"b.o/", image)])
    yield "image/two_notes", cases.elf(
        cases.note(b"AMD", 3, b"x" * 9) +
        cases.metadata(cases.table([out])) * 2)


def main():
    for name, data in seeds():
        path = os.path.join(sys.argv[1], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
