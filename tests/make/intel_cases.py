#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes golden cases of intel: buffers as a kernel of Intel's compiler fills
them, written from the description of the layout alone. Programs are those of
ocloc 22.43 (real.bin, real.elf in the folder), or made here.

    intel_cases.py CASES_FOLDER

Inputs, `cmd` and origin.md are rewritten; other expectations are made empty
where there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
"""
import gzip
import os
import struct

import arguments
import described_cases as described
import khronos_cases as khronos

BASE = 0x7f1234560000
# Forms of the types' data: byte, short, int, float, long, pointer, double.
SCALARS = {1: "i", 2: "i", 3: "i", 4: "f", 6: "q", 7: "Q", 8: "d"}
VECTORS = {9: "b", 10: "h", 11: "i", 12: "q", 13: "f", 14: "d"}


def scalar(kind, value):
    return struct.pack("<I" + SCALARS[kind], kind, value)


def vector(kind, *values):
    form = VECTORS[kind]
    data = struct.pack("<%d%s" % (len(values), form), *values)
    room = len(values) * (8 if form in "qd" else 4)
    return struct.pack("<II", kind, len(values)) + data.ljust(room, b"\xee")


class Encoder:
    """reference: the form of an entry's, and of a text's."""

    def __init__(self, form, places):
        self.form = "<" + form
        self.places = places

    def text(self, k):
        return struct.pack("<I", 5) + struct.pack(self.form, self.places[k])

    def entry(self, k, *values):
        return struct.pack(self.form, self.places[k]) + b"".join(values)


def buffer(*entries, used=None, n_bytes=None):
    data = b"".join(entries)
    data = struct.pack("<I", 4 + len(data) if used is None else used) + data
    return data if n_bytes is None else data[:n_bytes].ljust(n_bytes, b"\0")


def patch_binary(texts, n_kernels=1):
    """A program with patch tokens: texts as the compiler escapes them."""
    patches = struct.pack("<III", 12, 12, 0)
    for i, text in enumerate(texts):
        text = text.encode() + b"\0"
        text = text.ljust((len(text) + 3) // 4 * 4, b"\0")
        patches += struct.pack("<IIII", 28, 16 + len(text), i, len(text)) + text
    kernel = struct.pack("<IQ7I", 0, 0, 4, len(patches), 8, 0, 4, 4, 8)
    kernel += b"k\0\0\0" + bytes(16) + patches
    program = struct.pack("<7I", 0x494e5443, 1081, 18, 8, n_kernels, 0, 3) + b"xyz"
    return described.elf([("Intel(R) OpenCL Device Binary", 0,
                           program + kernel)])


def sample(e):
    """What the kernel of the real programs prints, in four work-items."""
    magic = [e.entry(0, scalar(3, 0xc0ffee01 - (1 << 32)), scalar(3, i))
             for i in range(4)]
    return [magic[0], e.entry(1), magic[1],
            e.entry(2, scalar(3, -7), scalar(4, 1.5), e.text(3), e.text(4)),
            e.entry(5, vector(11, 1, 2, 3, 4), vector(13, 1, 2, 3),
                    vector(9, -1, 5)), *magic[2:]]


def main(root):
    def case(name, origin, data, program, **more):
        khronos.case(root, name, "decode --format intel program.bin buffer.bin",
                     origin, {"buffer.bin": data, "program.bin": program},
                     maker="intel_cases.py", **more)

    def real(name):
        with gzip.open(os.path.join(root, name, "program.bin.gz")) as f:
            return f.read()

    index = Encoder("I", range(6))
    address = Encoder("Q", [BASE + o for o in (0, 17, 30, 45, 49, 52)])
    ours = {"buffer.bin": buffer(*sample(index))}
    khronos.case(root, "by_index", "decode program.bin buffer.bin",
                 "Texts of patch tokens, of ocloc.", ours,
                 maker="intel_cases.py")
    khronos.case(root, "by_address", "decode program.bin buffer.bin",
                 "Texts of a zebin, of ocloc: where they were is found.",
                 {"buffer.bin": buffer(*sample(address))},
                 maker="intel_cases.py")
    zebin = real("by_address")
    case("one_address", "One address: of the texts that have as many values, "
         "the first is taken.", buffer(address.entry(1)), zebin)
    case("addresses_wrong", "An address of no text, and one of the middle of one.",
         buffer(address.entry(0, scalar(3, 1), scalar(3, 2)),
                struct.pack("<Q", BASE + 5), scalar(3, 1),
                address.entry(1), address.entry(0, scalar(3, 3), scalar(3, 4))),
         zebin)
    every = sample(index)
    case("overflow", "The call that found no room wrote -1.",
         buffer(*every[:3], struct.pack("<i", -1), used=500, n_bytes=60),
         patch_binary(["magic %x gid %u\\n", "plain 100%%\\n"]))
    case("overflow_exactly", "The last call's four bytes did not fit, either.",
         buffer(every[0], every[0], used=100, n_bytes=4 + 2 * len(every[0])),
         patch_binary(["magic %x gid %u\\n"]))
    texts = ["tab\\t\\\"q\\\" \\\\ %d\\n", "%d %d\\n", "%f %f %ld %p %c %hd\\n",
             "%s|\\n", "%v2hd %v3lu\\n", ""]
    other = patch_binary(texts)
    case("escapes", "Escapes of C in texts.",
         buffer(index.entry(0, scalar(3, 5))), other)
    case("types", "Values of all types.",
         buffer(index.entry(2, scalar(4, .5), scalar(8, -2.25), scalar(6, -5),
                            scalar(7, 0xdeadbeef0000), scalar(1, 65),
                            scalar(2, -3)),
                index.entry(3, index.text(5)), index.entry(3, index.text(0)),
                index.entry(4, vector(10, -1, 2), vector(12, 1, 2, 3)),
                index.entry(5)), other)
    case("types_wrong", "A float for %d, an int for %f, and a text that is none.",
         buffer(index.entry(1, scalar(4, 3.0), scalar(3, 4)),
                index.entry(2, scalar(3, 1), scalar(4, 2), scalar(6, 3),
                            scalar(7, 4), scalar(1, 66), scalar(2, 6)),
                index.entry(3, struct.pack("<II", 5, 77))), other)
    case("values_missing", "Fewer values than conversions: the next entry's "
         "index is no tag.",
         buffer(index.entry(1, scalar(3, 1)), index.entry(0, scalar(3, 2))),
         other)
    case("unknown", "An index of no text; the way is found again.",
         buffer(index.entry(0, scalar(3, 1)), struct.pack("<I", 99),
                scalar(3, 7), *[index.entry(1, scalar(3, i), scalar(3, -i))
                                for i in range(3)]), other)
    case("cut", "The file ends within an entry.",
         buffer(*every[:4])[:-6], patch_binary(
             ["magic %x gid %u\\n", "plain 100%%\\n", "%d %f %s|%5s|\\n", "str",
              "ab"]))
    for name, used in (("0", 0), ("3", 3), ("all_ones", 0xffffffff)):
        case("used_" + name, "A counter that cannot be.",
             buffer(index.entry(0, scalar(3, 5)), used=used), other)
    case("stray", "Used bytes that are no entry.",
         buffer(index.entry(0, scalar(3, 5)), b"\x01\0"), other)
    case("tokens_cut", "A program whose second kernel is not there.",
         buffer(index.entry(0, scalar(3, 5))), patch_binary(texts, 2))


if __name__ == "__main__":
    main(*arguments.folders(__doc__, "CASES_FOLDER"))
