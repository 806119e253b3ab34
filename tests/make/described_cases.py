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
import zlib

import arguments
import captures
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


NUMBERED = """ring: numbered
counter: {at: 0, bits: 32, unit: 4, from: 4}
data: 4
text: braces
messages:
  - {text: "[{:*^{}.{}f}] {{}}\\n", types: [f64, u32, u32]}
  - {text: "{x:.1%} of {n}, {n:+=8}\\n", types: {n: i32, x: f32}}
  - {text: "{1:\u2192>6} {0} {0:6}|\\n", types: [bool, i32]}
  - {text: "{:#x} {:>12}\\n", types: [i64, ptr]}
  - {text: "{:-^9.2e}|\\n", types: [f32x3]}
  - {text: "{:c}\\n", types: [u32]}
  - {text: "{0:d}\\n", types: [bool]}
  - "{1,I:#x} {0,h}\\n"
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


PROGRAMS = """ring: programs
counter: {at: 0, bits: 32, unit: 4, from: 4}
data: 4
entry:
  header: 4
  id: {bits: 16}
  length: {at: 2, bits: 16}
  program: {at: 0, value: 0xffff}
messages:
  0: "zero\\n"
  1: "one %u\\n"
  2: "two says %s"
  0x100000001: "another\\n"
  0x100000003: "%u of another\\n"
"""


LANES_IN_SLOTS = """ring: lanes in slots
counter: {at: 0}
data: 4
slots: {bytes: 20}
entry: {header: 8, lanes: {at: 4}}
messages: {1: "one %u\\n"}
"""


def sized(number, form="", *values):
    payload = struct.pack("<" + form, *values)
    return struct.pack("<HH", number, 4 + len(payload)) + payload


def argument(kind, number, rows, columns, form, *values):
    """A tag of slangpy's and its value."""
    data = struct.pack("<" + form, *values)
    return struct.pack("<I", kind << 28 | number << 24 | rows << 20 |
                       columns << 16 | 4 + len(data)) + data


def tagged(text, *arguments):
    data = b"".join(arguments)
    return struct.pack("<III", 12 + len(data), text, len(arguments)) + data


def tt(number, risc, form="", *values):
    data = struct.pack("<" + form, *values)
    return struct.pack("<HH", 1 | risc << 1 | len(data) << 6, number) + data


def headed(number, data, wave=1, lane=2, time=77):
    return struct.pack("<HBBI", number, wave, lane, time) + data + \
        b"\0" * (-len(data) % 4)


TEXTS = """ring: texts
counter: {at: 0, unit: 1, from: 4}
data: 4
entry:
  header: 8
  id: {at: 0, bits: 16}
  origin: {wave: {at: 2, bits: 8}, lane: {at: 3, bits: 8}, time: {at: 4}}
arguments: {align: 1}
enums:
  color: {0: red, 5: blue}
  shape: [point, line]
messages:
  1: {text: "name %s is %s (%d)\\n", types: [text, color, color]}
  2: {text: "%s|%5s|%s %s\\n", types: [text16, id32, bool8, shape]}
  3: {text: "a %u b %s\\n", types: [u8, offset16]}
  4: "plain %s %u\\n"
  5: "message"
"""
SAID = """ring: said
counter: {at: 0, unit: 1, from: 4}
data: 4
entry: {header: 8, length: {at: 0}, text: {at: 4}}
messages: []
"""
COUNTED = """ring: counted
counter: {at: 0, unit: 1, from: 4}
data: 4
entry:
  header: 12
  length: {at: 0}
  id: {at: 4}
  count: {at: 8}
tags:
  bytes: 4
  type: {bits: 8}
  types: {1: u32}
text: none
messages:
  7: "values"
"""

BY_SIZE = """ring: by size
counter: {at: 0, unit: 1, from: 4}
data: 4
arguments: {align: 0, order: size}
messages:
  1: {text: "%u %f %u %u\\n", types: [u8, f64, u16, u32]}
  2: {text: "%v4f | %v3f | %u %u\\n", types: [f32x2x2@16, f16x3@4, u8@4, u8]}
"""


def sdbm(text):
    h = 0
    for c in text.encode():
        h = c + (h << 6) + (h << 16) - h & 0xffffffff
    return h


def fnv1a(text):
    h = 0x811c9dc5
    for c in text.encode():
        h = (h ^ c) * 0x01000193 & 0xffffffff
    return h


def elf(sections):
    """An ELF file of 64 bits with sections of a name, an address and bytes."""
    names = b"\0"
    body = b""
    headers = bytes(64)
    for name, address, data in [*sections, (".shstrtab", 0, b"")]:
        at = len(names)
        names += name.encode() + b"\0"
        if name == ".shstrtab":
            data = names
        headers += struct.pack("<IIQQQQIIQQ", at, 3 if not address else 1, 2,
                               address, 64 + len(body), len(data), 0, 0, 1, 0)
        body += data
    return struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 0x3e, 1, 0, 0,
                       64 + len(body), 0, 64, 0, 0, 64, len(sections) + 2,
                       len(sections) + 1) + body + headers


def container(*parts):
    """A container of DirectX with parts of a name and bytes."""
    at = 32 + 4 * len(parts)
    offsets = b""
    body = b""
    for name, data in parts:
        offsets += struct.pack("<I", at + len(body))
        body += struct.pack("<4sI", name, len(data)) + data
    return struct.pack("<4s16sHHII", b"DXBC", b"", 1, 0, at + len(body),
                       len(parts)) + offsets + body


def spirv(*texts):
    """A module with these OpString, whose result ids begin with 1."""
    words = b""
    for i, text in enumerate(texts):
        data = text.encode() + b"\0"
        data += bytes(-len(data) % 4)
        words += struct.pack("<II", 7 | 2 + len(data) // 4 << 16, 1 + i) + data
    return struct.pack("<IIIII", 0x07230203, 0x10500, 0, 1 + len(texts), 0) + \
        words


SOURCE = """// "no message" %u
#include "engine.hlsl"
void main(uint3 id : SV_DispatchThreadID)
{
    /* "nor here" */
    log("tile %u\\n", id.x);
    log("a \\"quoted\\" \\x41\\101 "
        "joined %d\\n", -7); char c = '"';
    log("broken
}
"""
HASHED = """ring: hashed
counter: {at: 0, unit: 4, from: 4}
data: 4
strings: {from: source, id: %s}
"""
LISTED = """ring: listed
counter: {at: 0, unit: 4, from: 4}
data: 4
text: braces
enums: {pass: [shadow, lighting]}
strings: {from: %s, id: crc32}
messages:
  - {text: "tile {} of {:.1f}\\n", types: [u32, f32]}
  - {text: "pass {which}\\n", types: {which: pass}}
  - "done\\n"
"""
LISTED_SOURCE = """log("tile {} of {:.1f}\\n", i, n);
log("pass {which}\\n", p); log("done\\n"); log("begin {0,I}\\n", 7);
cpu.log("frame {}\\n", n);
"""


def strings(case):
    """Cases of messages in other files."""
    texts = ("tile %u\n", 'a "quoted" AA joined %d\n')
    for name, function in (("sdbm", sdbm), ("fnv1a", fnv1a),
                           ("crc32", lambda t: zlib.crc32(t.encode()))):
        case("strings_" + name, "Literals of a source by the hash of their text.",
             packed(entry(function(texts[0]), "I", 5),
                    entry(function(texts[1]), "i", -7),
                    entry(function("nor here"))),
             HASHED % name, files={"a.hlsl": SOURCE.encode()})
    case("strings_xxh32", "Hashes of xxHash's test vectors.",
         packed(entry(0x32d153ff), entry(0x63a14d5f)),
         HASHED % "xxh32", files={"a.txt": b'"abc", "abcdefghijklmnopqrstuvwxyz"'})
    case("strings_short_hash", "Hashes of four bits: literals have the same ids.",
         packed(entry(0), entry(14), entry(15)),
         HASHED.replace("data: 4\n", "data: 4\nentry: {id: {bits: 4}}\n")
         % "crc32", files={"a.hlsl": "\n".join(
             'log("message %d\\n");' % i for i in range(12)).encode()})
    case("strings_slang", "print() of slangpy, by its source.",
         struct.pack("<II", 44, 36) + tagged(
             sdbm("thread {} at {}\n"), argument(0, 7, 0, 0, "I", 5),
             argument(1, 10, 3, 0, "3f", 1, 2.5, -3)),
         read("slangpy-source.yaml"),
         files={"print.slang": read("data/print.slang")})
    case("strings_operand", "The same, where the description is named after it.",
         struct.pack("<II", 44, 36) + tagged(
             sdbm("thread {} at {}\n"), argument(0, 7, 0, 0, "I", 5),
             argument(1, 10, 3, 0, "3f", 1, 2.5, -3)),
         read("slangpy-source.yaml"), "decode buffer.bin --strings print.slang r.yaml",
         files={"print.slang": read("data/print.slang")})
    listed(case)
    section = b"first %u\n\0second\n\0\0third %x\n\0open"
    ring = HASHED.replace("from: source, id: %s", "section: .strs, id: %s")
    program = elf([(".other", 0x1000, b"no\0"), (".strs", 0x400000, section)])
    case("strings_offset", "Texts of a section, by their offset.",
         packed(entry(0, "I", 1), entry(10), entry(19, "I", 255)),
         ring % "offset", files={"a.elf": program})
    case("strings_index", "Texts of a section, by their number.",
         packed(entry(0, "I", 1), entry(1), entry(2), entry(3, "I", 255),
                entry(4)), ring % "index", files={"a.elf": program})
    case("strings_address", "Texts of a section, by their address.",
         packed(entry(0x400000, "I", 1), entry(0x400013, "I", 255)),
         ring % "address", files={"a.elf": program})
    table = struct.pack("<IIIIII", 7, 10, 7, 0, 7, 999)
    case("strings_records", "Records with offsets; one leads nowhere.",
         packed(entry(0), entry(1, "I", 9)),
         ring.replace(".strs", ".table, texts: .strs, record: 8, at: 4, "
                      "pointers: offsets") % "index",
         files={"a.elf": elf([(".strs", 0, section), (".table", 0x10, table)])})
    case("strings_part", "A part of a DirectX container, by offsets.",
         packed(entry(0, "I", 1), entry(10)),
         HASHED.replace("from: source, id: %s", "part: ISG9, id: offset"),
         files={"a.dxil": container((b"DXIL", b"xx"), (b"ISG9", section))})
    listed_part = PACKED.partition("messages:")[0] + \
        "strings: {part: ISG9, id: offset}\nmessages:\n" \
        '  0: {text: "first %u\\n", types: [u16]}\n' \
        '  10: {text: "another\\n", types: [u16]}\n'
    case("strings_part_listed", "The description has types of a part's text, and "
         "another text with the id of a second one.",
         packed(entry(0, "HH", 7, 9), entry(19, "I", 255)), listed_part,
         files={"a.dxil": container((b"ISG9", section))})
    case("strings_no_part", "The container has no such part.",
         packed(entry(0, "I", 1)),
         HASHED.replace("from: source, id: %s", "part: ISG8, id: offset"),
         files={"a.dxil": container((b"DXIL", b"xx"), (b"ISG9", section))})
    again = b"x" * 4095 + b"\0"
    parts = bytearray(container((b"ISG9", again)))
    parts[28:36] = struct.pack("<I", 5000) + struct.pack("<I", 32 + 20000) * 5000
    case("strings_parts_again", "A container whose places are all of one part.",
         packed(entry(0)),
         HASHED.replace("from: source, id: %s", "part: ISG9, id: index"),
         files={"a.dxil": bytes(parts)})
    case("strings_records_again", "Records that all lead to one text.",
         packed(entry(0)),
         HASHED.replace("from: source, id: %s", "section: .table, record: 4, "
                        "id: index"),
         files={"a.elf": elf([(".strs", 0x1000, again),
                              (".table", 0x10, struct.pack("<I", 0x1000) * 5000)])})
    case("strings_spirv", "OpString of a module, by the hash of its text.",
         packed(entry(sdbm("gid %u\n"), "I", 7)),
         HASHED.replace("from: source, id: %s", "from: spirv, id: sdbm"),
         files={"a.spv": spirv("shader.glsl", "gid %u\n")})
    case("strings_spirv_id", "OpString of a module, by its result id.",
         packed(entry(2, "I", 7)),
         HASHED.replace("from: source, id: %s", "from: spirv, id: address"),
         files={"a.spv": spirv("shader.glsl", "gid %u\n")})
    proposal = read("data/hlsl-proposal.bin")
    dxil = {"a.dxil": read("data/hlsl-proposal.dxil")}
    ring = read("hlsl-proposal.yaml")
    case("lanes", "Entries of waves: one header, and arguments of each lane.",
         proposal, ring, files=dxil)
    case("lanes_damaged", "No lanes, lanes of an unknown text, and lanes beyond "
         "the end.", struct.pack("<III", 0, 1, 4) + proposal[:16] +
         struct.pack("<IIIII", 2, 77, 4, 5, 6) + proposal[:16] +
         struct.pack("<III", 9, 1, 4) + bytes(8), ring, files=dxil)
    llpc = read("data/llpc.bin")
    case("strings_pfdb", "LLPC's ring with messages of a .pfdb.", llpc,
         read("llpc.yaml"), files={"llpc.pfdb": read("data/llpc.pfdb")})
    case("strings_pfdb_left", "A message with origins, which only llpc can read.",
         llpc, read("llpc.yaml"), files={"origins.pfdb": read(
             "../../tests/cases/described/strings_pfdb_left/origins.pfdb")})
    for name, text in {
            "llpc": read("llpc.yaml").decode() + "text: braces\n",
            "hash": HASHED % "index", "id": HASHED % "sha1",
            "from": HASHED.replace("from: source, id: %s", "id: sdbm"),
            "part": HASHED.replace("from: source, id: %s", "part: ISG"),
            "record": HASHED.replace("from: source, id: %s",
                                     "section: a, record: 2")}.items():
        case("mistake_strings_" + name, "A mistake in the description, told with "
             "its place.", packed(entry(0)), text, expect=("text",))


def listed(case):
    """Cases of messages with types, and hashes of their texts as ids."""
    def made(text, form="", *values):
        return entry(zlib.crc32(text.encode()), form, *values)

    data = packed(made("tile {} of {:.1f}\n", "If", 5, 9),
                  made("pass {which}\n", "I", 1), made("done\n"),
                  made("begin {0,I}\n", "I", 3))
    source = {"a.hlsl": LISTED_SOURCE.encode()}
    case("strings_listed", "A list of messages, by the hash of their text; one "
         "message is not in it.", data, LISTED % "messages")
    case("strings_listed_source", "The list has types of literals of a source.",
         data, LISTED % "source", files=source)
    case("strings_untyped", "Literals with {}, and nothing states their types.",
         data, (LISTED % "source").partition("messages:")[0],
         files={"a.hlsl": LISTED_SOURCE.replace("0,I", "").encode()})
    case("mistake_strings_listed", "Ids, where texts have hashes.", data,
         LISTED.partition("messages:")[0] % "messages" +
         'messages: {1: "done"}\n', expect=("text",))


def rings(case):
    """Cases of tags, texts, positions and marks."""
    entries = [
        tagged(0x5c1d9a23, argument(0, 7, 0, 0, "I", 5),
               argument(1, 10, 3, 0, "3f", 1, 2.5, -3)),
        tagged(0x0b2c6e11, argument(2, 10, 2, 2, "4f", 1, 2, 3, 4),
               argument(0, 0, 0, 0, "I", 1)),
        tagged(0x7f00aa31, argument(0, 12, 0, 0, "I", 0x1122aabb)),
        tagged(0x00000bad, argument(0, 7, 0, 0, "I", 5)),
        tagged(0x5c1d9a23, argument(0, 9, 0, 0, "I", 0x3c00),
               argument(1, 1, 2, 0, "2i", -1, 7))]
    data = b"".join(entries)
    whole = struct.pack("<II", 8 + len(data), len(data)) + data
    case("slangpy", "Types that stand before the arguments.", whole,
         read("slangpy.yaml"))
    case("slangpy_overflow", "A call found no room, and said so.",
         struct.pack("<II", 12 + len(data), len(data) + 1000) + data +
         b"\xff\xff\xff\xff", read("slangpy.yaml"))
    case("slangpy_bad_tag", "A tag of no type, and a size beyond the entry.",
         struct.pack("<II", 8 + len(data), len(data)) + data[:12] +
         struct.pack("<I", 15 << 24 | 8) + data[16:20] + data[20:48] +
         struct.pack("<I", 10 << 24 | 0xffff) + data[52:],
         read("slangpy.yaml"))

    tile = [tt(0, i, "dII", 0.5 * i, i, 9) for i in range(4)]
    ring = bytearray(64)
    ring[40:60] = tile[1]
    ring[60:64] = tt(0xffff, 0)
    ring[0:4] = struct.pack("<HH", 1023 << 6, 9)
    ring[4:24] = tile[2]
    ring[24:32] = tt(1, 4, "HH", 7, 0)
    case("tt_metal", "A ring that began anew behind a mark, and one of another "
         "program.", struct.pack("<IIII", 32, 40, 0, 0) + ring,
         read("tt-metal.yaml"))
    ring = bytearray(100)
    ring[20:40] = tt(0, 1, "dII", 0.5, 1, 0xffffffff)
    ring[20:22] = struct.pack("<H", 1 | 1022 << 6)
    ring[40:80] = tile[2] + tile[3]
    ring[80:84] = tt(0xffff, 0)
    ring[0:8] = tt(1, 4, "HH", 7, 0)
    case("ring_argument_mark", "An argument of a damaged entry reads as the mark "
         "behind which a ring begins anew.",
         struct.pack("<IIII", 8, 20, 0, 0) + ring, read("tt-metal.yaml"))
    program = read("data/tt-metal.elf")
    packer = 0x6000000 + program.index(b"packer\0") - 0x1000
    stream = (tt(0, 0, "dII", 0.5, 3, 9) +
              struct.pack("<HH", 1023 << 6, 7) +
              tt(1, 2, "IHH", packer, 16, 0) + tt(2, 3, "I?bH", 5, True, -7, 0))
    dump = struct.pack("<IIII", len(stream), 0, 0, 0) + stream.ljust(64, b"\0")
    case("tt_metal_elf", "Messages in sections of an ELF file of RISC-V, which "
         "Debian's gcc made.", dump, read("tt-metal-elf.yaml"),
         files={"kernel.elf": program})
    grows = read("tt-metal.yaml").decode().replace(
        "data: 16", "positions: {grow: true}\ndata: 16\n"
        "stall: {at: 8, value: 1}").replace("  wrap:", "  # wrap:")
    stream = b"".join(tile[i % 4] for i in range(9))
    ring = bytearray(72)
    for i, c in enumerate(stream):
        ring[i % 72] = c
    case("positions", "Positions that grow; an entry lies across the end.",
         struct.pack("<IIII", 180, 120, 1, 0) + ring, grows)
    case("positions_lost", "A reader that was passed by the writer.",
         struct.pack("<IIII", 180, 0, 0, 0) + ring, grows)
    case("positions_wrong", "A reader ahead of its writer.",
         struct.pack("<IIII", 180, 200, 0, 0) + ring, grows)

    data = headed(1, b"bob\0" + struct.pack("<II", 5, 5)) + \
        headed(2, struct.pack("<H3sIBI", 3, b"xyz", 5, 1, 1)) + \
        headed(3, struct.pack("<BH", 9, 11) + b"hey\0") + \
        headed(4, struct.pack("<II", 5, 8)) + \
        headed(1, b"a" * 30 + b"\0" + struct.pack("<II", 7, 0), 9, 9) + \
        headed(2, struct.pack("<H3sIBI", 3, b"xyz", 77, 0, 2)) + \
        headed(1, b"no end")
    case("texts", "Texts inline, by id and by offset, and names of values.",
         struct.pack("<I", len(data)) + data, TEXTS)
    data = b"".join(headed(i, struct.pack("<I", 8), 3, lane)
                    for lane, i in enumerate((4, 7, 4)))
    case("origin_unknown", "An unknown message has its header's origin.",
         struct.pack("<I", len(data)) + data,
         TEXTS.replace("  id: {at: 0", "  length: {at: 1, bits: 8, plus: 12}\n"
                       "  id: {at: 0").replace("bits: 16}", "bits: 8}")
              .replace("plain %s %u", "plain %u"))
    said = b"".join(struct.pack("<II", 8 + len(t) + 4, len(t)) + t +
                    struct.pack("<I", v) for t, v in
                    ((b"x is %u.", 7), (b"flags %x", 0xabc)))
    case("said", "Entries that have their text.",
         struct.pack("<I", len(said)) + said + b"", SAID)
    data = b"".join(struct.pack("<IIII", 16 + len(t), len(t), 0, lane) + t
                    for lane, t in enumerate((b"one.", b"two.")))
    case("said_origin", "Entries with their text and an origin; zeros are none.",
         struct.pack("<I", len(data) + 64) + data + bytes(32),
         SAID.replace("header: 8, length: {at: 0}", "header: 16, count: {at: 8}, "
                      "origin: {lane: {at: 12}}") +
         "tags: {type: {bits: 8}, types: {0: u32}}\ntext: braces\n")
    said = b""
    for text, form, values in (
            ("thread {0} of {1}", "<BIBI", (0, 3, 0, 64)),
            ("at {0} {1:.2f}", "<B3fBf", (10, 1, 2.5, -3, 8, 0.125)),
            ("done", "<", ()), ("back {1} {0}", "<BiB2i", (4, -1, 5, 7, 8)),
            ("no type {0}", "<BI", (99, 1))):
        args = struct.pack(form, *values)
        n = 12 + len(text) + len(args)
        n_args = sum(c == "B" for c in form)
        said += (struct.pack("<III", n, len(text), n_args) + text.encode() +
                 args).ljust(n + -n % 4, b"\0")
    case("hlsl", "Entries with their text, and a byte of type before each "
         "argument.", struct.pack("<I", len(said)) + said, read("hlsl.yaml"))
    data = entry(1, "dIHB", 0.5, 3, 2, 1) + bytes(1) + \
        entry(2, "ff8xff8xHxxHxxHxxB3xB", 1, 2, 3, 4, 0x3c00, 0x4000, 0x4200,
              8, 9)
    case("by_size", "The largest first, each at a multiple of its size; "
         "matrices and halves with gaps.",
         struct.pack("<I", len(data) + 3) + data + bytes(3), BY_SIZE)


def behind(case):
    """Cases of bytes behind a ring's end."""
    cores = b"".join(packed(*(entry(1, "I", 100 * core + i) for i in range(n)))
                     .ljust(64, b"\0") for core, n in enumerate((3, 2, 4)))
    ring = PACKED.replace("data: 4\n", "data: 4\ncapacity: 60\n")
    case("behind", "A file of three rings, one for each core, of which the first "
         "one is read.", cores, ring)
    case("behind_full", "The same, where the first ring had no room for all.",
         packed(*(entry(1, "I", i) for i in range(7)), bytes(4), counter=40) +
         cores[64:], ring)
    case("behind_zeros", "Zeros behind a ring are of no other one.",
         cores[:64] + bytes(200), ring)
    case("behind_field", "The capacity is a field.",
         struct.pack("<II", 3, 16) + entry(1, "I", 7) + entry(3) + bytes(5) +
         b"\1\0", PACKED.replace("from: 4", "from: 8")
         .replace("data: 4\n", "data: 8\ncapacity: {at: 4, from: 8}\n"))
    tile = tt(0, 1, "dII", 0.5, 1, 9)
    case("behind_positions", "Two rings with positions.",
         2 * (struct.pack("<IIII", 20, 0, 0, 0) + tile.ljust(48, b"\0")),
         read("tt-metal.yaml").decode().replace("data: 16", "data: 16\n"
                                                "capacity: 48"))


def two_descriptions(read):
    """Buffers of two scopes, with a description each, and one that has none."""
    own, print_ = read("data/own.bin"), read("data/print.bin")
    frames = [captures.hello(),
              captures.code_object(1, read("own.yaml"), scope=1, name="own.yaml"),
              captures.code_object(2, read("slangpy.yaml"), scope=2,
                                   name="slangpy.yaml")]
    for number, name, content in ((1, "own", own), (2, "print", print_),
                                  (3, "other", own)):
        frames += [captures.buffer(number, len(content), scope=number, name=name,
                                   format="described"),
                   captures.data(number, 0, content), captures.done(number)]
    return captures.stream(frames)


def main(root):
    def case(name, origin, data, ring, cmd="decode r.yaml buffer.bin",
             files=None, **more):
        if files and cmd == "decode r.yaml buffer.bin":
            cmd = "decode buffer.bin --describe r.yaml --strings " + \
                " --strings ".join(files)
        khronos.case(root, name, cmd, origin,
                     {"buffer.bin": data, "r.yaml": ring, **(files or {})},
                     maker="described_cases.py", **more)

    for name, calls in (("typegpu", 5), ("typegpu_overflow", 80)):
        counter = read("data/typegpu_counter.bin") if calls == 5 else \
            struct.pack("<I", calls)
        khronos.case(root, name,
                     "decode --describe r.yaml --counter counter.bin buffer.bin",
                     "What TypeGPU 0.9.0 wrote on SwiftShader; its own text was "
                     "the same." if calls == 5 else
                     "The counter of more calls than there are slots, in a file "
                     "of its own.",
                     {"buffer.bin": read("data/typegpu.bin"),
                      "counter.bin": counter, "r.yaml": read("typegpu.yaml")},
                     maker="described_cases.py")
    khronos.case(root, "mistake_counter_file",
                 "decode --describe r.yaml --counter counter.bin buffer.bin",
                 "A counter that ends too soon.",
                 {"buffer.bin": read("data/typegpu.bin"), "counter.bin": b"\5",
                  "r.yaml": read("typegpu.yaml")}, maker="described_cases.py",
                 expect=("text",))
    case("typegpu_uncounted", "The counter, which is in a file of its own, is not "
         "given.", read("data/typegpu.bin"), read("typegpu.yaml"))
    khronos.case(root, "mistake_second",
                 "decode --describe r.yaml --describe s.yaml buffer.bin",
                 "Two descriptions: a ring is read by one.",
                 {"buffer.bin": read("data/own.bin"), "r.yaml": read("own.yaml"),
                  "s.yaml": read("blender.yaml")}, maker="described_cases.py",
                 expect=("text",))
    khronos.case(root, "capture_two", "decode two.capture",
                 "A capture with two descriptions, of which one is loaded: a "
                 "buffer of the other, and one without, are not read.",
                 {"two.capture": two_descriptions(read)},
                 maker="described_cases.py", expect=("text",))
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
    vectors = """ring: vectors
counter: {at: 0, unit: 4, from: 4}
data: 4
text: braces
messages: {1: {text: "at {} of {:.1f}\\n", types: [i32x2, f32x3]}}
"""
    case("braces_collapsed", "Vectors that differ in some components.",
         packed(entry(1, "2i3f", 2, 1, 2, 3, 4), entry(1, "2i3f", 3, 1, 2, 3, 4.5),
                entry(1, "2i3f", 4, 1, 0, 3, 4)),
         vectors, cmd="decode --collapse r.yaml buffer.bin", expect=("out",))
    case("braces_numbered", "Fills, numbers, names, and widths of arguments.",
         packed(entry(0, "dII", 3.14159, 9, 3), entry(1, "if", -1234, 0.5),
                entry(2, "Ii", 1, -42), entry(3, "qQ", -255, 0x1234),
                entry(4, "fff", 0.25, -1, 1e10), entry(5, "I", 0x2192),
                entry(6, "I", 1), entry(7, "hHI", -5, 0, 255)),
         NUMBERED)
    named = """ring: named
counter: {at: 0, bits: 32, unit: 4, from: 4}
data: 4
text: braces
messages:
  - {text: "pixel {x},{y} of {normal:.1f}, {x:>{w}}\\n", types: {normal: f32x3, x: u32, y: u32, w: u32}}
"""
    pixels = packed(*(entry(0, "fffIII", .5, i, 1, i, 2 * i, 4) for i in range(4)))
    case("braces_names", "Names of arguments, in fields.", pixels, named,
         expect=("out",),
         cmd="decode --fields -o json r.yaml buffer.bin")
    case("braces_names_where", "Names of arguments, in a condition.", pixels,
         named, expect=("out",),
         cmd="decode --where 'x > 1 && normal.y < w - 1' r.yaml buffer.bin")
    rings(case)
    strings(case)
    case("joined", "Texts without a grammar, and values behind them.",
         packed(entry(0, "If3f", 4, 2, 1, 2, 3), entry(1), entry(2, "i", -7)),
         "ring: joined\ncounter: {at: 0, bits: 32, unit: 4, from: 4}\n"
         "data: 4\ntext: none\nmessages:\n"
         '  - {text: "thread {", types: [u32, f32, f32x3]}\n'
         '  - "100% %d\\n"\n  - {text: "", types: [i32]}\n')
    case("joined_tags", "The same with types that entries state.",
         struct.pack("<II", 28, 20) + tagged(0x1122aabb,
                                            argument(0, 7, 0, 0, "I", 5)),
         read("slangpy.yaml").decode().replace("text: braces", "text: none"))
    more = ", ".join("%d: u32" % i for i in range(13, 256))
    tagged_by_byte = read("slangpy.yaml").decode() \
        .replace("bits: 4, shift: 24", "bits: 8, shift: 24") \
        .replace("types: {", "types: {%s, " % more)
    case("tags_many", "A type for each value of a byte.",
         struct.pack("<II", 28, 20) + tagged(0x7f00aa31,
                                             argument(15, 15, 0, 0, "I", 5)),
         tagged_by_byte)

    def values(n, first_tag=1):
        return b"".join(struct.pack("<II", first_tag, i) for i in range(n))

    def message(payload, count=b""):
        return struct.pack("<II", 8 + len(count) + len(payload), 7) + \
            count + payload

    def counted(n, payload):
        return message(payload, struct.pack("<I", n))

    def several(*entries):
        return struct.pack("<I", len(b"".join(entries))) + b"".join(entries)
    case("tags_past_limit", "More values than an entry with tags shows, a tag "
         "that is not known, a value\nthat is missing, and none.",
         several(counted(65, values(65)), counted(64, values(64)),
                counted(3, values(1) + values(2, 9)),
                counted(3, values(2)), counted(0, b"")), COUNTED)
    case("tags_past_limit_uncounted", "As tags_past_limit, where a length says "
         "how many values there are. Zeros behind\nthem are none.",
         several(message(values(65)), message(values(64)),
                message(values(1) + values(2, 9)),
                message(values(1) + bytes(8)), message(b"")),
         COUNTED.replace("header: 12", "header: 8")
                .replace("  count: {at: 8}\n", ""))
    # Offset 18 is behind the first argument's value, which has no zero byte there.
    twice = b"".join(b"\x02\x08AB" + struct.pack("<H", 18) + b"xy"
                     for _ in range(2))
    case("tags_text_twice", "A text at one offset, which ends beyond the first of "
         "two arguments, and\nwithin the second.", several(counted(2, twice)),
         COUNTED.replace("type: {bits: 8}", "type: {bits: 8}\n  size: {at: 1, bits: 8}")
                .replace("{1: u32}", "{2: offset16}"))
    # A mark, two entries, two marks, and entries with the same ids.
    mark, text = entry(0xffff), PROGRAMS
    first = mark + sized(1, "I", 7) + sized(2, "I", 1)
    other = sized(1, "I", 8) + sized(0) + sized(2, "I", 1) + sized(3, "I", 4)
    case("programs", "Ids behind a mark are another program's, and so are texts "
         "by id. A mark before\nall entries tells nothing, and two are one.",
         packed(first, mark, mark, other, mark, sized(1, "I", 9)), text)
    case("programs_lost", "The way is lost behind a mark: whose ids stand where it "
         "goes on is not known.",
         packed(first, mark, entry(0xfff00001), entry(7), first, mark,
                sized(1, "I", 9)), text)
    case("length", "Lengths that cannot be: less than a header.",
         packed(first, entry(0x00020001), entry(8), first), text)
    behind(case)
    # Two lanes, no lanes, more than a slot holds, a free slot, an unknown id.
    case("lanes_slots", "Lanes of entries in slots: each is a message, and lanes "
         "that a slot cannot hold\nare told.",
         struct.pack("<I", 6) + b"".join(
             entry(n, "%dI" % (1 + len(v)), lanes, *v).ljust(20, b"\0")
             for n, lanes, v in ((1, 2, (5, 6)), (1, 0, (5,)), (1, 4, (1, 2, 3)),
                                 (0, 0, ()), (9, 2, (3, 4)), (1, 3, (7, 8, 9)))),
         LANES_IN_SLOTS)
    mistakes = {
        "program": text.replace("id: {bits: 16}", "id: {bits: 40}")
                       .replace("header: 4", "header: 8"),
        "tags_many": tagged_by_byte.replace("13: u32", "256: u32, 13: u32"),
        "lanes": read("hlsl-proposal.yaml").decode()
                     .replace("  length: {at: 8}\n", ""),
        "vectors": BY_SIZE.replace("order: size", "vectors: square"),
        "enum": TEXTS.replace("[point, line]", "{point: 1}"),
        "origin": TEXTS.replace("wave:", "wawe:"),
        "order": BY_SIZE.replace("order: size", "order: sise"),
        "tags": read("slangpy.yaml").decode().replace("  type:", "  # type:"),
        "positions": read("tt-metal.yaml").decode()
                         .replace("data: 16", "counter: {at: 8}"),
        "mark": read("tt-metal.yaml").decode()
                    .replace("wrap: {at: 2", "wrap: {at: 3"),
        "braces_text": SAID.replace("messages", "text: braces\nmessages"),
        "yaml": "ring: a\nentry: {header: 4\n",
        "key": ring.replace("unit", "unti"),
        "key_nul": ring.replace("entry:", '"entry\\0x":'),
        "number": ring.replace("unit: 4", "unit: four"),
        "range": ring.replace("header: 4", "header: 400"),
        "type": ring.replace("f32x3]", "f33x3]"),
        "field": ring.replace("{at: 0}", "{at: 2}"),
        "counter": ring.replace("bits: 32", "bits: 48"),
        "braces": ring.replace("data: 4", "data: 4\ntext: braces")
                      .replace("two %d", "two {:^5q}"),
        "braces_numbers": NUMBERED.replace("{0:6}", "{:6}"),
        "braces_both": NUMBERED.replace("{0:6}", "{0:d}"),
        "braces_name": NUMBERED.replace("{n}", "{m}"),
        "braces_names_before": NUMBERED.replace("{0:6}", "{x}"),
        "braces_width": NUMBERED.replace("f64, u32, u32", "f64, f32, u32"),
        "brace": ring.replace("data: 4", "data: 4\ntext: braces")
                     .replace("three", "three }"),
        "message": ring.replace('3: "three\\n"', "3: [1]"),
        "id": ring.replace('3: "three', '0xfffffffffffffffe: "three'),
        "alias": "ring: &a b\nx: *a\n",
    }
    for name, text in mistakes.items():
        case("mistake_" + name, "A mistake in the description, told with its "
             "place.", packed(entry(3)), text, expect=("text",))


if __name__ == "__main__":
    main(*arguments.folders(__doc__, "CASES_FOLDER"))
