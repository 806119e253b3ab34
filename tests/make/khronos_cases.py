#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden cases of debugprintf, gpuav and abort: buffers and modules
from (module, values), and, where the folder of captures is given, what a
validation layer really wrote, with the layer's own messages as expectation.

    khronos_cases.py CASES_FOLDER [CAPTURES_FOLDER]

Inputs, `cmd` and origin.md are rewritten; other expectations are made empty
where there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
"""
import gzip
import json
import os
import struct

import arguments
import spirv_module as spv

KINDS = ("text", "json")


def write(folder, name, data):
    if isinstance(data, str):
        data = data.encode()
    if len(data) > 4096:
        name, data = name + ".gz", gzip.compress(data, 9, mtime=0)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data)


def case(root, name, cmd, origin, files, expect=KINDS, exact=None,
         maker="khronos_cases.py"):
    folder = os.path.join(root, name)
    os.makedirs(folder, exist_ok=True)
    for file, data in files.items():
        write(folder, file, data)
    write(folder, "cmd", cmd + "\n")
    write(folder, "origin.md",
          origin + "\n\nWritten by tests/make/%s.\n" % maker)
    for file, data in (exact or {}).items():
        write(folder, file, data)
    for kind in ["expect." + k for k in expect] + ["expect.err", "expect.rc"]:
        if not any(os.path.exists(os.path.join(folder, kind + end))
                   for end in ("", ".gz")):
            write(folder, kind, "")


# ---- printf ----

def f32(v):
    return struct.unpack("<I", struct.pack("<f", v))[0]


def split64(v):
    return [v & 0xffffffff, v >> 32 & 0xffffffff]


def hello_module(stage="compute"):
    """A call without values, one of each kind of value, two that share their
    string, on known source lines."""
    m = spv.Module(stage)
    file = m.string("hello.comp")
    m.source(file, "void main()\n{\n  hello();\n", "  values();\n  twice();\n"
             "  twice();\n}\n")
    m.line(file, 3)
    m.call(m.string("hello"), [])
    m.line(file, 4)
    m.call(m.string("%d %u %ul %f %v2f %d %d %p"),
           ["i32", "u8", "u64", "f64", "f32x2", "i16", "i8", "ptr"])
    twice = m.string("twice %d")
    m.line(file, 5)
    m.call(twice, ["i32"])
    m.line(file, 6)
    m.call(twice, ["i32"])
    m.words()
    return m


def hello_records(layout, m, shader=7, **more):
    values = [0xfffffff9, 200] + split64(0x123456789abcdef0) + \
        split64(struct.unpack("<Q", struct.pack("<d", 2.5))[0]) + \
        [f32(1.5), f32(-2)] + [0xfff9, 0xf8] + split64(0x7f0012345678)
    masks = (1 << 3, 1 << 7, 1 << 6)
    out = [spv.record(layout, shader, m, 0, [], info=(3, 0, 0), **more),
           spv.record(layout, shader, m, 1, values, info=(3, 0, 0),
                      masks=masks, **more),
           spv.record(layout, shader, m, 3, [4], info=(1, 2, 3), **more),
           spv.record(layout, shader, m, 2, [3], info=(0, 0, 0), **more)]
    return out




def printf_cases(root):
    m = hello_module()
    map_json = json.dumps({"shaders": {"7": "m.spv"}})
    for layout in ("p1", "p2", "p3", "p4", "p5", "p6"):
        case(root, "layout_" + layout, "decode --shaders map.json buffer.bin",
             "Four records of one shader in layout %s, found by itself; the "
             "positions tell the two calls of one string apart." % layout,
             {"m.spv": m.bytes(), "map.json": map_json,
              "buffer.bin": spv.printf_buffer(layout,
                                              hello_records(layout, m))})
    records = hello_records("p6", m)
    shader = "decode --shader 7=m.spv buffer.bin"
    case(root, "big_endian_module", shader,
         "A module whose words are stored with the high byte first.",
         {"m.spv": m.bytes(big_endian=True),
          "buffer.bin": spv.printf_buffer("p6", records)})
    other = [12, 9, 0x28000055, 0, 0, 0, 3, 0, 0, 0, 0xaabbccdd, 42]
    case(root, "unknown_shader", shader,
         "A record of a shader that nobody named, between two that are known: "
         "it is skipped alone.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [records[0], other,
                                                 records[1]])})
    again = spv.Module()
    again.call(again.string("first"), [])
    text = again.string("x" * 262000)
    for _ in range(260):
        again.call(text, [])
    again.words()
    case(root, "texts_again", shader,
         "Calls that share a text, more than are read.",
         {"m.spv": again.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [
              spv.record("p6", 7, again, call, []) for call in (0, 260, 0)])})
    many = hello_records("p6", m) * 250
    case(root, "explained_long", "decode --tail 2 --shader 7=m.spv buffer.bin",
         "A thousand records, which their module explains, and a count that "
         "is a word too large.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", many, wanted=sum(
              len(r) for r in many) + 1)})
    no_call = list(records[2])
    no_call[6] = 3  # the OpString of the file name: no call prints it
    case(root, "no_such_call", shader,
         "A record of whose string no call stands at its position: the module "
         "may be another one.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [no_call, records[0]])})
    case(root, "unknown_format", shader,
         "A record whose format id is no OpString at all, so that the module "
         "may be another one.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer(
              "p6", [records[0][:6] + [999] + records[0][7:], records[0]])})
    case(root, "bad_size", shader,
         "A size of 3 where a record should be, then records again.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [records[0], [3, 1, 1],
                                                 records[1]])})
    case(root, "hole", shader,
         "Space that was taken and not written yet, then a record.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [records[0], [0] * 11,
                                                 records[2]])})
    case(root, "overflow", shader,
         "The count says 40 records of 11 dwords, three fit.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [records[2]] * 3,
                                          n_bytes=140, wanted=440)})
    case(root, "cut_by_one", shader,
         "Since SDK 1.4.350 shaders may write one dword beyond the end: the "
         "last record lacks its value.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [records[2]] * 3,
                                          n_bytes=4 * 33, wanted=33)})
    case(root, "wrapped", shader,
         "The count wrapped at 2^32: the buffer is full, and the count says "
         "less.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [records[2]] * 5,
                                          n_bytes=4 * 56,
                                          wanted=2 ** 32 + 22)})
    for count in (0, 5, 22, 24):
        case(root, "count_%d" % count, shader,
             "The count says %d dwords, and five records of 11 are there, with "
             "room behind them: it is too small." % count,
             {"m.spv": m.bytes(),
              "buffer.bin": spv.printf_buffer("p6", [records[2]] * 5,
                                              wanted=count)})
    case(root, "count_no_shader", "decode --format debugprintf buffer.bin",
         "The same count of 24 where no module says what a record is.",
         {"buffer.bin": spv.printf_buffer("p6", [records[2]] * 5, wanted=24)})
    case(root, "count_large", shader,
         "The count says 25 dwords, two records are there and zeros.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [records[2]] * 2, wanted=25)})
    size = list(records[2])
    size[0] = 31
    case(root, "hidden", shader,
         "A size that is three times what it should be: the two records behind "
         "it are records all the same.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", [size, records[0], records[0],
                                                 records[2]])})
    signs = spv.Module()
    signs.call(signs.string("%*d|%v3i|%ld|%d|%u"),
               ["u32", "u32", "u32x3", "u64", "i32", "u32"])
    signs.words()
    top = 1 << 31
    none = [4, 5, 1, 2, 3, 5, 0, top, top]
    wide = [4, 5, 1, 2, 3, top, top, top, top]
    case(root, "unsigned_as_signed", "decode --shader 0=m.spv buffer.bin",
         "Unsigned values under conversions for signed ones: without upper "
         "bits (that of u64 is in its high dword), in one, in another; and in "
         "the low dword of the u64, which shows none as negative.",
         {"m.spv": signs.bytes(), "buffer.bin": spv.printf_buffer(
             "p6", [spv.record("p6", 0, signs, 0, values) for values in (
                 none, [4, top + 5] + none[2:], none[:4] + [top + 3] + none[5:],
                 wide, none[:5] + [top] + none[6:])])})
    case(root, "unsigned_as_signed_khronos",
         "decode --compat khronos --shader 0=m.spv buffer.bin",
         "The same as the layer prints it, which knows of nothing.",
         {"m.spv": signs.bytes(), "buffer.bin": spv.printf_buffer(
             "p6", [spv.record("p6", 0, signs, 0, wide)])})
    case(root, "odd_size", shader, "A buffer that is no whole dwords.",
         {"m.spv": m.bytes(),
          "buffer.bin": spv.printf_buffer("p6", records) + b"\1\2\3"})
    case(root, "empty", shader, "Nothing was printed.",
         {"m.spv": m.bytes(), "buffer.bin": bytes(1024)})
    case(root, "no_shader", "decode --format debugprintf buffer.bin",
         "Without shaders the words are all there is.",
         {"buffer.bin": spv.printf_buffer("p6", records)})
    case(root, "short", "decode --format debugprintf buffer.bin",
         "Three bytes.", {"buffer.bin": b"\1\0\0"})
    case(root, "strings", "strings --shader 7=m.spv",
         "The call sites of a module.", {"m.spv": m.bytes()}, ("out",))
    case(root, "inspect", "inspect --shader 7=m.spv buffer.bin",
         "An annotated walk.", {"m.spv": m.bytes(),
         "buffer.bin": spv.printf_buffer("p6", records[2:3])}, ("out",))
    for stage, info in (("vertex", (4, 2, 0)), ("tess_control", (1, 9, 0)),
                        ("tess_eval", (8, f32(0.25), f32(0.75))),
                        ("geometry", (5, 1, 0)),
                        ("fragment", (f32(10.5), f32(254.5), 0)),
                        ("raygen", (6, 7, 8))):
        s = spv.Module(stage)
        s.call(s.string("from " + stage), [])
        s.words()
        number = 9 if stage == "raygen" else spv.STAGES[stage]
        case(root, "stage_" + stage, "decode -v --shader 0=m.spv buffer.bin",
             "What the stage words of a %s shader say." % stage,
             {"m.spv": s.bytes(), "buffer.bin": spv.printf_buffer(
                 "p6", [spv.record("p6", 0, s, 0, [], number, info)])})
    case(root, "verbose_khronos",
         "decode --compat khronos --shaders map.json buffer.bin",
         "The layer's verbose messages of today.",
         {"m.spv": m.bytes(),
          "map.json": json.dumps({
              "shaders": {"7": {"spv": "m.spv", "name": "m",
                                "handle": "0x30"}},
              "bind_point": "compute", "operation_index": 2, "verbose": True,
              "command_buffer": {"name": "cb", "handle": "0x10"},
              "pipeline": {"name": None, "handle": "0x20"}}),
          "buffer.bin": spv.printf_buffer("p6", records)})
    either = {}
    for letter in "ab":
        s = spv.Module()
        s.call(s.string("%d of %d %d " + letter), ["i32"])
        either[letter] = s
        s.words()
    case(root, "either_module_khronos",
         "decode --compat khronos -v buffer.bin a.spv b.spv",
         "Nothing tells which of two modules the records are of, and the layer "
         "reads on behind each of them, in either reading.",
         {"a.spv": either["a"].bytes(), "b.spv": either["b"].bytes(),
          "buffer.bin": spv.printf_buffer(
              "p6", [spv.record("p6", 3, either["a"], 0, [n])
                     for n in (7, 8)])})


def check_cases(root):
    m = spv.Module()
    file = m.string("bad.comp")
    for line, (text, types) in enumerate((
            ("fine %d", ["i32"]), ("%d %d", ["i32"]), ("%s", ["i32"]),
            ("%f", ["f64"]), ("%x", ["ptr"]), ("%v5f", ["f32x4"])), 10):
        m.line(file, line, 5)
        m.call(m.string(text), types)
    case(root, "spirv_check", "spirv-check m.spv",
         "What the layer's checker says about six calls.",
         {"m.spv": m.bytes()}, ("out",))


# ---- errors ----

def error_buffer(records, flags=1, data=2, wanted=None):
    words = [w for r in records for w in r]
    head = [flags] if data == 2 else []
    head.append(len(words) if wanted is None else wanted)
    return struct.pack("<%dI" % len(head + words), *head, *words)


def load_module(stage="fragment"):
    """A load of set 2, binding 3, and one of set 0, binding 1; the plain
    instruction between them."""
    m = spv.Module(stage)
    u32 = m.type("u32")
    pointer = m.id()
    m.op(m.types, spv.POINTER, pointer, 2, u32)
    places = []
    for descriptor_set, binding in ((2, 3), (0, 1)):
        variable = m.id()
        m.op(m.debug, spv.DECORATE, variable, 34, descriptor_set)
        m.op(m.debug, spv.DECORATE, variable, 33, binding)
        m.op(m.types, spv.VARIABLE, pointer, variable, 2)
        m.op(m.body, spv.LOAD, u32, m.id(), variable)
        places.append(len(m.body) - 1)
        m.op(m.body, spv.UNDEF, u32, m.id())
    m.words()
    m.loads = [m.places[m.first + i][1] for i in places]
    return m


def module_cases(root):
    m = load_module()
    other = spv.Module("fragment")
    other.call(other.string("none"), [])
    other.words()
    other.loads = []

    def bounds(offset, stage=4, where=(0, 1)):
        return [12, 1 << 24 | 1 << 18 | 5, stage << 27 | offset, 0, 0, 0, 3,
                where[0] << 27 | 25, 6, where[1], 0, 0]

    right = error_buffer([bounds(m.loads[1]), bounds(m.loads[0], where=(2, 3))])
    case(root, "module", "decode -v --shader 5=m.spv buffer.bin",
         "The instructions load from the very resources.",
         {"m.spv": m.bytes(), "buffer.bin": right})
    case(root, "module_without_id", "decode -v n.spv m.spv buffer.bin",
         "Only one of the modules loads from these resources at these places.",
         {"m.spv": m.bytes(), "n.spv": other.bytes(), "buffer.bin": right})
    case(root, "module_wrong", "decode -v --shader 5=m.spv buffer.bin",
         "Another resource, no load at all, no instruction, another stage: the "
         "module is not believed, and gives no place.",
         {"m.spv": m.bytes(), "buffer.bin": error_buffer([
             bounds(m.loads[1], where=(0, 2)), bounds(m.loads[1] + 4),
             bounds(m.loads[1] + 1), bounds(m.loads[1], stage=5)])})
    m = load_module("vertex")

    def error(group, offset):
        return [12, group << 24 | 1 << 18 | 5, offset, 2, 0, 0, 3, 0, 0, 0, 0,
                0]

    case(root, "module_errors", "decode -v --shader 5=m.spv buffer.bin",
         "Vertices are checked before the first instruction (the second record "
         "is sound) and races are in no set's memory: not at these loads.",
         {"m.spv": m.bytes(), "buffer.bin": error_buffer([
             error(9, m.loads[0]), error(9, 0), error(15, m.loads[0])])})


def age_cases(root):
    case(root, "own_check_data1", "decode --format gpuav buffer.bin",
         "A check of the layer itself, whose header is all 0, in the layout "
         "before SDK 1.3.236.",
         {"buffer.bin": error_buffer([[0] * 7 + [9, 1, 70000]], data=1) +
             bytes(8)})
    for name, records, data in (
            ("2018", [[9, 3, 108, 4, 0, 0, 0, 6, 6],
                      [9, 3, 108, 4, 0, 0, 1, 6, 0]], 1),
            ("2020", [[11, 3, 110, 5, 0, 0, 0, 0, 25, 6, 0],
                      [10, 3, 110, 5, 0, 0, 0, 2, 0x1000, 1]], 1),
            ("2022", [[11, 3, 110, 5, 0, 0, 0, 0, 25, 6, 0]], 2),
            ("2023_may", [[13, 3, 110, 5, 0, 0, 0, 0, 2, 1, 25, 6, 0],
                          [13, 3, 110, 5, 0, 0, 0, 1, 2, 1, 25, 0, 0]], 2),
            ("2023_june", [[13, 3, 110, 5, 0, 0, 0, 1, 2, 1, 25, 6, 0],
                           [10, 3, 110, 5, 0, 0, 0, 3, 0x1000, 1]], 2),
            ("1_3_280", [[14, 3, 110, 5, 0, 0, 0, 1, 1, 2, 1, 25, 6, 0]], 2),
            ("1_3_283", [[16, 3, 110, 5, 0, 0, 0, 1, 2, 1, 1, 0, 1, 25, 6,
                          0]], 2)):
        case(root, "age_" + name, "decode buffer.bin",
             "Records as they were in %s, found by themselves." %
             name.replace("_", "."),
             {"buffer.bin": error_buffer(records, flags=0, data=data) +
                 bytes(20)})
    case(root, "age_even", "decode buffer.bin",
         "An error 7 without sizes: a texel buffer that is not initialized, or "
         "a destroyed resource, as errors were counted from 0 or from 1.",
         {"buffer.bin": error_buffer([[13, 3, 110, 5, 0, 0, 0, 7, 2, 1, 25, 0,
                                       0]])})


def count_cases(root):
    bounds = [12, 0x01040005, 0x20000123, f32(10.5), f32(10.5), 0, 3, 25, 6, 1,
              0, 0]
    for count in (0, 5, 12, 30):
        case(root, "count_%d" % count, "decode --format gpuav buffer.bin",
             "The count says %d dwords, three records of 12 are there, with "
             "room behind them." % count,
             {"buffer.bin": error_buffer([bounds] * 3, wanted=count) +
                 bytes(64)})
    case(root, "cut", "decode buffer.bin",
         "Six records were wanted, two are there and a part of the third: what "
         "is missing is lost.",
         {"buffer.bin": error_buffer([bounds] * 3, wanted=72)[:124]})
    bindless = [11, 3, 110, 5, 0, 0, 0, 0, 25, 6, 0]
    case(root, "hole_front", "decode --format gpuav buffer.bin",
         "A page that was not written: the record's first words. What is left "
         "is none behind one word, whose position would be 0.",
         {"buffer.bin": error_buffer([[0] * 5 + bindless[5:]]) + bytes(64)})
    case(root, "hole_all", "decode --format gpuav buffer.bin",
         "The only record is zero: the count, which is too large for flags, "
         "says what is missing.",
         {"buffer.bin": error_buffer([[0] * 11], data=1) + bytes(64)})
    size = [16] + bounds[1:]
    case(root, "hidden", "decode buffer.bin",
         "A size that leads into the next record, which is one all the same.",
         {"buffer.bin": error_buffer([bounds, size, bounds, bounds])})


def error_cases(root):
    bounds = [12, 0x01040005, 0x20000123, f32(10.5), f32(10.5), 0, 3, 25, 6, 1,
              0, 0]
    case(root, "now", "decode buffer.bin",
         "Records of today: an index out of bounds, an address without a "
         "buffer, a dispatch that is too large, and a group of tomorrow.",
         {"buffer.bin": error_buffer([
             bounds,
             [12, 2 << 24 | 1 << 18 | 5, 5 << 27 | 77, 1, 2, 3, 0x10000,
              0x12345678, 0x7f00, 0x80000010, 0, 0],
             [12, 5 << 24 | 1 << 18, 0, 0, 0, 0, 0, 70000, 0, 0, 0, 0],
             [12, 200 << 24 | 3 << 18, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0]]) +
             bytes(48)})
    v1 = [9, 1, 108, 4, 0x43d1c000, 0x437e8000, 0, 6, 6]
    v2 = [10, 1, 108, 4, 0x43d1c000, 0x437e8000, 0, 0, 6, 6]
    case(root, "document_2019_v1", "decode --format gpuav buffer.bin",
         "The 2019 document's example with two stage words.",
         {"buffer.bin": error_buffer([v1], data=1) + bytes(16)})
    case(root, "document_2019_v2", "decode --format gpuav buffer.bin",
         "The same with three.",
         {"buffer.bin": error_buffer([v2], data=1) + bytes(16)})
    case(root, "mid_2023", "decode buffer.bin",
         "Renumbered codes with set and binding.",
         {"buffer.bin": error_buffer([
             [13, 1, 20, 5, 0, 0, 0, 1, 2, 3, 9, 8, 0],
             [13, 1, 20, 5, 0, 0, 0, 4, 2, 3, 1, 128, 64],
             [13, 1, 20, 5, 0, 0, 0, 3, 0x1000, 0, 0, 0, 0],
             [13, 1, 20, 5, 0, 0, 0, 7, 2, 3, 4, 0, 0]])})
    case(root, "groups_2023", "decode --format gpuav buffer.bin",
         "Sixteen dwords with a group and a code.",
         {"buffer.bin": error_buffer([
             [16, 1, 20, 5, 0, 0, 0, 4, 2, 1, 1, 0, 3, 9, 8, 0]])})
    case(root, "bad_size", "decode --format gpuav buffer.bin",
         "A size that no record has.",
         {"buffer.bin": error_buffer([bounds, [5] * 12])})
    case(root, "truncated", "decode --format gpuav buffer.bin",
         "The file ends in a record.",
         {"buffer.bin": error_buffer([bounds, bounds])[:-20]})


# ---- aborts ----

def pair(payload):
    return struct.pack("<Q", len(payload)) + payload + bytes(-len(payload) % 8)


def abort_module(text, args, offsets, size_of_text):
    """abort(text, args...) as a compiler lowers it: a struct of constant
    text and values, at these offsets."""
    m = spv.Module()
    u8, length = m.type("u8"), m.constant("u32", size_of_text)
    array, struct_id = m.id(), m.id()
    m.op(m.types, spv.ARRAY, array, u8, length)
    members = [m.type(a) for a in args]
    data = text.ljust(size_of_text, b"\0")
    constant = m.id()
    data += bytes(-len(data) % 4)
    m.op(m.types, spv.CONSTANT_DATA, array, constant,
         *struct.unpack("<%dI" % (len(data) // 4), data))
    m.op(m.types, spv.STRUCT, struct_id, array, *members)
    for i, at in enumerate([0] + offsets):
        m.op(m.debug, spv.MEMBER_DECORATE, struct_id, i, 35, at)
    m.op(m.debug, spv.DECORATE, array, 6, 1)
    values = [m.value(a) for a in args]
    message = m.id()
    file = m.string("abort.comp")
    m.source(file, "void main()\n{\n  abortEXT(...);\n}\n")
    m.line(file, 3)
    m.op(m.body, spv.COMPOSITE_CONSTRUCT, struct_id, message, constant,
         *values)
    m.op(m.body, spv.ABORT, struct_id, message)
    return m


def abort_cases(root):
    a = pair(bytes.fromhex("746573743a20257500cccccc00000100"))
    vectors = {
        "a": (a, "one message"),
        "b": (pair(b"abortTwo" + bytes(4)) + a, "two messages"),
        "c": (pair(bytes.fromhex("62696720256c6c7500000000aaaaaaaa"
                                 "9a78563412000000")), "a 64-bit value"),
        "d": (pair(bytes.fromhex("256868752025686620257500c8aa003e07000000")),
              "small values"),
        "e": (pair(bytes.fromhex("746573743a2025752a000000")),
              "text without a NUL of its own"),
        "f": (bytes(8), "a zero tail"),
        "g": (b"\xff" * 8 + bytes(8), "a size beyond the end"),
        "h": (struct.pack("<Q", 5) + b"hello", "no padding at the end"),
        "hex": (pair(b"\1\2\3\4\5\6\7\x80"), "no text"),
        "tail": (a + b"abc", "bytes behind the last message"),
        "zeros": (a + bytes(40), "zeros behind the last message"),
    }
    for name, (data, what) in vectors.items():
        case(root, "vector_" + name, "decode --format abort buffer.bin",
             "Without modules: %s." % what, {"buffer.bin": data})
    case(root, "no_nul_utf8", "decode --format abort buffer.bin",
         "Without modules: a text without NUL, the fourth byte of which is the "
         "first of a character.", {"buffer.bin": pair(
             "\u00e9t\u00e9 %u ".encode() + b"\xff\xff\0\0")})
    case(root, "size_too_large", "decode --format abort buffer.bin",
         "A size beyond the end: what is there is no whole message.",
         {"buffer.bin": pair(b"whole\0") + struct.pack("<Q", 65535) +
          b"cut off\0"})
    m = abort_module(b"test: %u", ["u32"], [8], 8)
    case(root, "module_no_nul", "decode --shader 0=m.spv buffer.bin",
         "Vector E with its module: the text has no NUL, the value is at 8.",
         {"m.spv": m.bytes(), "buffer.bin": vectors["e"][0]})
    m = abort_module(b"%d %f %u %v3f %d", ["f32", "f16", "i8", "f32x3", "u16"],
                     [20, 24, 26, 28, 40], 17)
    payload = struct.pack("<17s3xfeb1x3fH", b"%d %f %u %v3f %d", 1.5, -2.0, -3,
                          1.0, 2.0, 3.0, 65535)
    case(root, "module_types", "decode --shader 0=m.spv buffer.bin",
         "Real types against the conversions.",
         {"m.spv": m.bytes(), "buffer.bin": pair(payload)})
    case(root, "module_other", "decode --shader 0=m.spv buffer.bin",
         "A module that the message is not of.",
         {"m.spv": m.bytes(), "buffer.bin": a})


# ---- captures ----

def captures(roots, folder):
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            facts = json.load(f)
        stem = name[:-5]
        with open(os.path.join(folder, stem + ".bin"), "rb") as f:
            files = {"buffer.bin": f.read()}
        for shader in facts["shaders"].values():
            flat = os.path.basename(shader["spv"])
            with open(os.path.join(folder, shader["spv"]), "rb") as f:
                files[flat] = f.read()
            shader["spv"] = flat
        kept = {k: facts[k] for k in (
            "shaders", "bind_point", "operation_index", "pipeline",
            "command_buffer", "verbose", "limits") if k in facts}
        files["map.json"] = json.dumps(kept, indent=1)
        with open(os.path.join(folder, stem + ".layer.nul"), "rb") as f:
            layer = f.read().replace(b"\0", b"")
        root = roots[facts["kind"]]
        what = ("What %s wrote on %s." % (facts["producer"], facts["driver"]))
        cmd = "decode --shaders map.json buffer.bin"
        case(root, "capture_" + stem, cmd, what, files)
        if not facts.get("clobbered_by_layer"):
            case(root, "capture_" + stem + "_khronos",
                 cmd.replace("decode", "decode --compat khronos"),
                 what + " expect.txt is what it printed.", files, (),
                 {"expect.txt": layer})


def main():
    root, layers = arguments.folders(__doc__, "CASES_FOLDER",
                                     "[CAPTURES_FOLDER]")
    roots = {}
    for kind, name in (("debug_printf", "debugprintf"),
                       ("gpu_av_error", "gpuav"), ("abort", "abort")):
        roots[kind] = os.path.join(root, name)
    printf_cases(roots["debug_printf"])
    check_cases(roots["debug_printf"])
    error_cases(roots["gpu_av_error"])
    module_cases(roots["gpu_av_error"])
    age_cases(roots["gpu_av_error"])
    count_cases(roots["gpu_av_error"])
    abort_cases(roots["abort"])
    if layers:
        captures(roots, layers)


if __name__ == "__main__":
    main()
