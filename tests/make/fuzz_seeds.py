#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the fuzz targets' first inputs: fuzz_seeds.py CORPUS_FOLDER"""
import os
import struct
import sys

import container_cases as box
import llpc_cases as cases
import rocm_cases as rocm


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


def image_seeds():
    """Code objects of ROCm, alone and in what holds them."""
    rows = [rocm.Ocl(1, b"%s|%d\\72\\n", 8, 4).row(), b"1:1:4:other %d"]
    packed = rocm.hsa(rows)
    yaml = b"---\nVersion: [ 1, 0 ]\nPrintf:\n  - '1:1:4:it''s %d\\n'\n" \
           b'  - "2:1:8:\\xE9 %g"\n  - 3:0:plain\n...\n\0'
    yield "image/opencl", packed
    yield "image/opencl_v2", rocm.hsa_v2(yaml)
    yield "image/hip", rocm.hsa([rocm.hip_row(b"a:b,c %s\n")])
    yield "image/bundle", box.bundle([(box.GFX906, packed),
                                      (box.GFX90A, rocm.hsa_v2(yaml))])
    yield "image/compressed", box.compressed(3, 0, box.bundle(
        [(box.GFX906, packed)]))
    yield "image/host", box.host([(".hip_fatbin", box.bundle(
        [(box.GFX906, packed)]))])
    yield "image/pal_archive_v2", box.pal_archive([packed], major=2)


def rocm_input(kind, rows, data, piece=3):
    """A byte for format and options, one for the pieces, rows, the buffer."""
    rows = b"".join(r + b"\0" for r in rows)
    return bytes([kind, piece]) + struct.pack("<H", len(rows)) + rows + data


def rocm_seeds():
    opencl, hip, hostcall, clr, old, new = 0, 1, 2, 4, 8, 16
    a = rocm.Ocl(1, b"%s|%d %v3hlf\\n", 8, 4, 16)
    b = rocm.Ocl(2, b"two %c%%%v2hhd", 4, 8)
    rows = [a.row(), b.row(), b"1:1:4:other %d"]
    entries = [a(b"abcd", rocm.u32(65), rocm.f32(1, 2, 3)),
               b(rocm.u32(65, 1, 2)), rocm.u32(9, 9),
               a(b"abc\0abcd", rocm.u32(-2), rocm.f32(1, 2, 3))]
    for name, kind in (("auto", opencl), ("old", opencl | old),
                       ("new", opencl | new), ("clr", opencl | clr)):
        yield "rocm/opencl_" + name, rocm_input(
            kind, rows, rocm.buffer(*entries, capacity=200))
    yield "rocm/opencl_cut", rocm_input(
        opencl, rows, rocm.buffer(*entries, capacity=200, cut=50), 1)

    text = b"%s %d %s %lld|%*.*f"
    values = [rocm.text8(b"abc"), rocm.u64(7), rocm.text8(b"longer than eight"),
              rocm.u64(8), rocm.u64(9), rocm.u64(2), rocm.f64(1.5)]
    entries = [rocm.hip(text, *values), rocm.hip(text, *values[1:]),
               rocm.hip(text, *values, constant=False, stderr=True),
               rocm.hip(text, *values, size=11),
               rocm.hip(b"unknown", rocm.u64(1)), rocm.hip(text)]
    yield "rocm/hip", rocm_input(hip, [rocm.hip_row(text)],
                                 rocm.buffer(*entries, capacity=500))
    yield "rocm/hip_cut", rocm_input(
        hip, [rocm.hip_row(text)],
        rocm.buffer(*entries, capacity=500, cut=99), 1)

    r = rocm.Recording().message({0: 5, 63: 6}, *rocm.pieces(
        rocm.call(b"%s %d", rocm.text8(b"x" * 60), rocm.u64(4))))
    yield "rocm/hostcall", rocm_input(hostcall, [], r.bytes()[:6 * 4120], 255)
    yield "rocm/hostcall_pool", rocm_input(
        hostcall, [], rocm.Recording(True).message(
            {1: 0}, rocm.call(b"%d", rocm.u64(4))).pool(), 255)


def main():
    for name, data in [*seeds(), *image_seeds(), *rocm_seeds()]:
        path = os.path.join(sys.argv[1], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
