#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden cases of described: descriptions, and buffers that fit them
or do not.

    described_cases.py CASES_FOLDER

Inputs, `cmd` and origin.md are rewritten; other expectations are made empty
where there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
"""
import os
import struct
import sys

import khronos_cases as khronos

RINGS = os.path.join(os.path.dirname(__file__), "../../examples/rings")
PACKED = """ring: packed
counter: {at: 0, bits: 32, unit: 4, from: 4}
data: 4
entry: {header: 4, id: {at: 0}}
messages:
  1: "one %u\\n"
  2: {text: "two %d %lf %v3f\\n", types: [i32, f64, f32x3]}
  3: "three\\n"
"""


def read(name):
    with open(os.path.join(RINGS, name), "rb") as f:
        return f.read()


def packed(*entries, counter=None, tail=b""):
    data = b"".join(entries)
    return struct.pack("<I", len(data) // 4 if counter is None else counter) \
        + data + tail


def entry(number, form="", *values):
    return struct.pack("<I" + form, number, *values)


def main(root):
    def case(name, origin, data, ring, cmd="decode r.yaml buffer.bin", **more):
        khronos.case(root, name, cmd, origin,
                     {"buffer.bin": data, "r.yaml": ring},
                     maker="described_cases.py", **more)

    case("typegpu", "What TypeGPU 0.9.0 wrote on SwiftShader; its own text was "
         "the same.", read("data/typegpu.bin"), read("typegpu.yaml"))
    case("own", "The description of docs/describe.md.", read("data/own.bin"),
         read("own.yaml"), cmd="decode --describe r.yaml buffer.bin")
    case("blender", "Ids that are hashes.",
         packed(entry(0x9e3779b9, "IIf", 3, 4, 0.5),
                entry(0x7f4a7c15, "I", 0xabc)), read("blender.yaml"))

    sizes = struct.pack("<QQ", 14, 0)
    for i in range(2):
        sizes += struct.pack("<QII", 0x123456789abc << 16 | 4, i, 2)
    sizes += struct.pack("<QIII", 0x777 << 16 | 5, 8, 8, 8)[:20]
    case("sizes", "Lengths in a bit field: an unknown message is passed.",
         sizes + struct.pack("<I", 0), read("sizes.yaml"))
    ring = PACKED
    case("packed", "Types that are stated.",
         packed(entry(1, "I", 7), entry(2, "idfff", -5, 2.5, 1, 2, 3),
                entry(3)), ring)
    case("overflow", "The counter went on.",
         packed(entry(1, "I", 7), entry(3), counter=50), ring)
    case("cut", "The last entry does not end.",
         packed(entry(1, "I", 7), entry(2, "id", -5, 2.5)), ring)
    case("unknown", "An id of no message; decoding goes on behind it.",
         packed(entry(1, "I", 7), entry(9, "III", 8, 8, 8),
                entry(2, "idfff", -5, 2.5, 1, 2, 3), entry(3)), ring)
    case("counter_all_ones", "A damaged counter.",
         packed(b"\xee" * 60, counter=0xffffffff), ring)
    case("short", "Not even a counter.", b"\1\0", ring)
    case("no_counter", "Entries up to zeros.",
         entry(1, "I", 7) + entry(3) + bytes(32),
         "\n".join(line for line in ring.split("\n")
                   if not line.startswith(("counter", "data"))))
    case("slots_overflow", "More calls than slots, counted in the same buffer.",
         struct.pack("<I", 5) + entry(1, "I", 7).ljust(16, b"\0") +
         entry(0).ljust(16, b"\0") + entry(6, "I", 9).ljust(16, b"\0"),
         "ring: slots\ncounter: {at: 0, bits: 32}\ndata: 4\n"
         "slots: {bytes: 16}\nmessages: {1: \"one %u\\n\"}\n")
    case("json_description", "JSON is YAML.",
         packed(entry(0, "I", 7), entry(1, "I", 8)),
         '{"ring": "json", "counter": {"at": 0, "bits": 32, "unit": 4, '
         '"from": 4}, "data": 4, "messages": ["a %u\\n", "b %x\\n"]}\n')
    specs = ["{}", "{:5}|", "{:<5}|", "{:05}|", "{:+}", "{:x}", "{:#x}", "{:o}",
             "{0}", "{{}} {} 100%"]
    floats = ["{}", "{:.2f}", "{:10.3e}|", "{:<9}|", "{:g}", "{:+}"]
    values = [0.1, -2.5, 1e20, 123456.75, 1e-5, 3.0, 0.0, float("inf"), 1e15]
    messages = "".join("  - {text: %s, types: [i32]}\n" % repr(s + "\\n")
                       .replace("\\\\n", "\\n").replace("'", '"')
                       for s in specs)
    messages += "".join("  - {text: %s, types: [f32]}\n" % repr(s + "\\n")
                        .replace("\\\\n", "\\n").replace("'", '"')
                        for s in floats)
    messages += '  - {text: "{} {}\\n", types: [f64, u8x4]}\n'
    calls = [entry(i, "i", v) for i in range(len(specs)) for v in (42,)]
    calls += [entry(len(specs) + i, "f", v) for i in range(len(floats))
              for v in values]
    calls += [entry(len(specs) + len(floats), "d4B", v, 1, 2, 3, 255)
              for v in values]
    case("braces", "Specifications of {}.", packed(*calls),
         "ring: braces\ncounter: {at: 0, bits: 32, unit: 4, from: 4}\ndata: 4\n"
         "text: braces\nmessages:\n" + messages)
    mistakes = {
        "yaml": "ring: a\nentry: {header: 4\n",
        "key": ring.replace("unit", "unti"),
        "number": ring.replace("unit: 4", "unit: four"),
        "range": ring.replace("header: 4", "header: 400"),
        "type": ring.replace("f32x3]", "f33x3]"),
        "field": ring.replace("{at: 0}", "{at: 2}"),
        "counter": ring.replace("bits: 32", "bits: 48"),
        "braces": ring.replace("data: 4", "data: 4\ntext: braces")
                      .replace("two %d", "two {:^5}"),
        "brace": ring.replace("data: 4", "data: 4\ntext: braces")
                     .replace("three", "three }"),
        "message": ring.replace('3: "three\\n"', "3: [1]"),
        "alias": "ring: &a b\nx: *a\n",
    }
    for name, text in mistakes.items():
        case("mistake_" + name, "A mistake in the description, told with its "
             "place.", packed(entry(3)), text, expect=("text",))


if __name__ == "__main__":
    main(sys.argv[1])
