#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the fuzz targets' first inputs: fuzz_seeds.py CORPUS_FOLDER"""
import gzip
import os
import random
import re
import struct
import sys

import arguments
import container_cases as box
import cores
import intel_cases as intel
import khronos_cases as khronos
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
    yield "image/intel", intel.patch_binary(["%d %s\\n", "one"], 2)


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


def formats():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "../../formats/meson.build")) as f:
        return re.findall(r"^  '(\w+)',$", f.read(), re.M)


def record_input(name, strings, data, edits=b"", how=0):
    return bytes([formats().index(name), how]) + \
        struct.pack("<2H", len(strings), len(data)) + strings + data + edits


def record_seeds():
    """Buffers of each format; edits of layout, string, length and flags."""
    edits = b"\x01\x03\0" b"\x06\x01\x07\0" b"\x09\x20\0\0" \
        b"\x03\x0c\x0e\0" b"\x0f\x14\0"
    empty = b"\x04\0\x0f\x02\0"
    e = cases.entry
    llpc = cases.buffer(
        e(0x424242424242, cases.words(7)), e(0x474747474747, cases.words(1, 2)),
        e(0x434343434343, cases.words(5, 0, 0x3ff80000, 1, 65)),
        e(0x454545454545, cases.words(1, 2)), e(0x777777777777))
    yield "record/llpc", record_input("llpc", b"", llpc, edits)
    for i, (name, data) in enumerate(rocm_seeds()):
        n_rows = struct.unpack_from("<H", data, 2)[0]
        rows, data, kind = data[4:4 + n_rows], data[4 + n_rows:], data[0]
        yield name.replace("rocm/", "record/"), record_input(
            ("opencl", "hip", "hostcall")[kind % 4], rows, data,
            (empty if i % 2 else b"") + edits, 1 if kind & 4 else 0)

    # Arguments without bytes, which no conversion takes.
    yield "record/opencl_unused", record_input(
        "opencl", b"1:400:" + b"0:" * 400 + b"unused\0",
        rocm.buffer(rocm.u32(1)))

    m, other = khronos.hello_module(), khronos.load_module()
    for how, layout in enumerate(("p1", "p2", "p3", "p4", "p5", "p6")):
        data = khronos.spv.printf_buffer(
            layout, khronos.hello_records(layout, m, shader=0))
        yield "record/" + layout, record_input(
            "debugprintf", m.bytes(), data, edits)
        yield "record/%s_khronos" % layout, record_input(
            "debugprintf", m.bytes(), data, edits,
            2 | 4 | (8 if how % 2 else 0))
    errors = [[12, 1 << 24 | 1 << 18, 4 << 27 | other.loads[0], 0, 0, 0, 3,
               25, 6, 1, 0, 0],
              [10, 0, 5, 5, 1, 2, 3, 0, 9, 8],
              [16, 1, 20, 5, 0, 0, 0, 4, 2, 1, 1, 0, 3, 9, 8, 0]]
    for i, error in enumerate(errors):
        yield "record/gpuav_%d" % i, record_input(
            "gpuav", other.bytes(), khronos.error_buffer([error]),
            empty if i else edits, i % 2 * 2)
    m = khronos.abort_module(b"test: %u", ["u32"], [8], 8)
    m.words()
    pairs = khronos.pair(bytes.fromhex("746573743a2025752a000000")) + \
        khronos.pair(b"\1\2\3\4\5\6\7\x80")
    yield "record/abort", record_input("abort", m.bytes(), pairs, edits)
    yield "record/abort_text", record_input("abort", b"", pairs, edits)
    # Texts as add_intel() of any_format.h has them.
    for name, form, places in (("index", "I", (0, 1, 2)),
                               ("address", "Q", (0x5000, 0x5010, 0x5020))):
        e = intel.Encoder(form, places)
        yield "record/intel_" + name, record_input("intel", b"", intel.buffer(
            e.entry(0, intel.scalar(3, 7), intel.scalar(8, 1.5)),
            e.entry(1, e.text(2), intel.vector(10, 1, 2, 3)), e.entry(2),
            e.entry(0, intel.scalar(4, 7), intel.scalar(6, 1))), edits)


def chunk_seeds():
    """The same buffers, as they are and with a few bits turned over."""
    edits = struct.pack("<HBHBHB", 0x30, 1, 0x51, 0x80, 0x72, 4)
    for name, data in record_seeds():
        whole = data[:6 + sum(struct.unpack_from("<2H", data, 2))]
        name = name.replace("record/", "chunk/")
        yield name, whole
        yield name + "_edited", whole + edits


# Commands of fuzz_stream.c, in the order of its table.
(OWN, SHARED, DATA, ENTRIES, WRITE, POKE, BELL, DONE, GAP, ELF, MODULE, OBJECT,
 SHADER, HELLO, START, BYTES, GO_ON) = range(17)
RAW, MAY_BE_RAW, SHORT, HURRY, STALLED = 1, 2, 4, 8, 16


def stream(*commands, flags=0, piece=10, how=0):
    """Numbers are commands' names and bytes, texts are taken as they are."""
    return bytes([flags, piece, how]) + b"".join(
        bytes([c]) if isinstance(c, int) else c for c in commands)


def many(id, times, words=4):
    """An entry again and again, as ENTRIES and WRITE have it."""
    args = b"\x07\x00\x00\x00" * (words - 2)
    return bytes([id, words - 2, times - 1]) + args + b"\0"


def stream_seeds():
    at = b"\x01\x00\x00"  # buffer 1, generation 0, offset 0
    own = bytes([OWN, 1 + 16, 0, 16])
    shared = bytes([SHARED, 17, 1 + 16, 0, 16])
    entries = bytes([ENTRIES]) + many(5, 20, 3) + at
    done = bytes([DONE, 1])
    elf = bytes([ELF, 0x81])
    go = bytes([GO_ON, 20])
    write = bytes([WRITE, 1]) + many(2, 30, 5)
    bad = bytes([BYTES, 6]) + b"broken"
    for name, flags in (("plain", 0), ("hurry", HURRY), ("short", SHORT),
                        ("stalled", STALLED)):
        yield f"stream/{name}", stream(elf, own, entries, done, flags=flags)
    yield "stream/bytes", stream(elf, own, entries, done, piece=0, how=255)
    yield "stream/again", stream(elf, own, entries, done, own, entries, done,
                                 own, go, entries)
    yield "stream/many", stream(
        elf, *[own + bytes([ENTRIES]) + many(4, 127, 2) + at + done] * 3)
    yield "stream/shared", stream(elf, shared, go, write, BELL, go, write, go,
                                  done, own, write, go, flags=2)
    yield "stream/poke", stream(
        elf, shared, write, go, bytes([POKE, 1, 64, 0, 4]), b"word", go, done)
    yield "stream/gap", stream(own, GAP, 1, 9, b"reasons.", done, go)
    yield "stream/parts", stream(bytes([ELF, 0x75, ELF, 0x79, ELF, 0xf1]), own,
                                 entries, elf, go, done)
    yield "stream/module", stream(bytes([MODULE, 0xf1, SHADER, 1, 3, 0, 0, 0,
                                         OWN, 1 + 112, 0, 1]), entries, done)
    yield "stream/hello", stream(HELLO, struct.pack("<Q", 7), 4, b"host", 3,
                                 b"\xff\"\n", elf, own, entries, START, own,
                                 entries)
    yield "stream/broken", stream(elf, own, bad, entries, bad, done)
    yield "stream/object", stream(OBJECT, bytes([1, 0, 0, 4, 0, 0, 0]),
                                  b"name\x07file://\x04code", own)
    capture = b"\x89PFDCAP\n" + struct.pack("<II", 1, 0)
    yield "stream/capture", bytes([RAW, 9, 0]) + capture + b"\0" * 40
    yield "stream/buffer", bytes([RAW + MAY_BE_RAW, 9, 0]) + walk(
        cases.entry(0x89932ece85d8, cases.words(7)))[4:]


def request_seeds():
    for name, text in (
            ("all", '{"output":"text","from":7,"match":"a+b","source":"other",'
                    '"entries_only":true}'),
            ("oldest", '{"from":"oldest","output":"raw"}'),
            ("time", '{"from":"2026-09-21T14:13:20.5Z","match":"^(b|c)$"}'),
            ("unknown", '{"what":1}'), ("broken", '{"match":"("}')):
        yield "request/" + name, text.encode()


def config_seeds():
    yield "config/all", b"""log_level: debug
state_dir: /var/lib/x
ring: 2MiB
drain: 5s
sandbox: false
code_objects: ["/a/*.elf"]
inputs:
  - {type: directory, path: /d, code_objects: "*.elf", dumps: "*.bin"}
  - {type: listen, address: "tcp:127.0.0.1:9000", max_clients: 3,
     tls: {certificate: /c, key: /k, authority: /a}}
  - {type: connect, address: "unix:/s", settle: 100ms}
outputs:
  - {type: file, path: "/l/{host}-{pid}-{buffer}", rotate_size: 1MiB, keep: 3,
     compress: true, required: true, output: text, match: "a|b"}
  - {type: listen, address: "unix:/s", mode: 0660, uids: [0, 5], gids: [1],
     on_lag: disconnect}
"""
    yield "config/errors", b"ring: 5\nring: x\ninputs: [{type: tape}]\n"
    yield "config/alias", b"inputs: &a [*a]\n"


def core_seeds():
    page = bytes(range(256)) * 4
    notes = cores.process(4711, b"app") + cores.auxiliary({3: 0x1000}) + \
        cores.files([(0x1000, 0x2000, 0, b"/bin/app"),
                     (0x5000, 0x6000, 1, b"/lib/x.so")])
    gpus = cores.gpus(0x1010, [cores.agent()], [cores.queue(ring=0x1000, save=0x2000)])
    yield "core/host", cores.core([(0x1000, page, 0x1000), (0x2000, page, 1024)], notes)
    yield "core/merged", cores.core([(0x1000, page, 0x1000), (0x2000, page, 1024)],
                                    notes + gpus)
    yield "core/gpu", cores.core([(0x1000, page, 1024)], gpus, machine=224)
    yield "core/numbered", cores.core([(0x1000, page, 1024)], notes, extended=True)
    yield "core/32_bits", cores.core_32([(0x1000, page, 1024)], cores.process_32(
        4711, b"app") + cores.note(b"CORE", 6, struct.pack("<4I", 3, 5, 0, 0)) +
        cores.files_32([(0x1000, 0x2000, 0, b"/bin/app")]))
    yield "core/gzip", gzip.compress(cores.core([(0x1000, page, 4096)]), mtime=0)


def find_seeds():
    """Buffers of formats that are found, in cores."""
    llpc = b"".join(struct.pack("<Q", id_ << 16 | 2 + len(words)) +
                    struct.pack(f"<{len(words)}I", *words) for id_, words in (
        (0x414141414141, []), (0x424242424242, [7]), (0x424242424242, [1, 2]),
        (0x434343434343, [1, 2, 3, 4, 5])))
    llpc = struct.pack("<QQ", len(llpc) // 4, 0) + llpc
    opencl = struct.pack("<10I", 1, 2, 7, 3, 1, 2, 3, 1, 2, 9) * 3
    opencl = struct.pack("<II", len(opencl), 4088) + opencl
    inline = struct.pack("<I8s", 12 << 2, b"in\n".ljust(8, b"\0"))
    hip = struct.pack("<II", 3 * len(inline), 4088) + 3 * inline
    page = b"".join(b.ljust(512, b"\0") for b in (llpc, opencl, hip)).ljust(4096, b"\0")
    yield "find/each", cores.core([(0x10000, page, 8192)])
    half = page[:544] + bytes(3552)
    calls = struct.pack("<IIiI", 16, 1, -1, 2)  # of the kernel of spirv/kernels
    yield "find/kernel", cores.core([(0x10000, calls.ljust(4096, b"\0"), 4096)])
    yield "find/split", cores.core([(0x10000, page[:528], 528),
                                    (0x10000 + 528, page[528:], 3568)])
    yield "find/copies", cores.core([(0x10000, page, 4096), (0x20000, half, 4096),
                                     (0x30010, page, 4096)],
                                    cores.gpus(0x10010, [cores.agent()],
                                               [cores.queue(ring=0x10000)]))


def rows_seeds():
    """Rows as fuzz_rows.c reads them, and a buffer of their entries."""
    def row(kind, flags, types, text, file=b"a.cu", level=1, line=9):
        return struct.pack("<BBBHBBB", kind, level, flags, line, len(types),
                           len(text), len(file)) + types + text + file

    def entry(number, *words, wrong=0):
        return struct.pack(f"<BBB{len(words)}I", number, wrong, len(words),
                           *words)
    plain = row(1, 0, b"uf", b"ray %u t=%f\\n")
    commit = row(1, 2, b"iU", b"%*d|%lx")
    both = row(1, 3, b"s", b"%-8.3s|")
    text = row(2, 0, b"", b"50% of it", file=b"")
    for name, rows, data in (
            ("plain", [plain], entry(0, 7, 0x3f800000) + entry(0, 7)),
            ("commit", [commit, plain], entry(0, 4, 5, 6) +
             entry(0, 4, 5, 6, wrong=1) + entry(1, 1, 2)),
            ("text", [both, text], entry(0, 1, 2, 3, 4, 5, 6, 7, 8)),
            ("kinds", [row(3, 0, b"u", b"%u"), row(1, 4, b"z", b"%u"), text],
             entry(0, 1) + entry(2, 5) + struct.pack("<BI", 255, 77))):
        yield "rows/" + name, bytes([len(rows)]) + b"".join(rows) + data


def scan_seeds():
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../system/device")
    for kind, name in ((0, "says.comp"), (3, "says.cl")):
        with open(os.path.join(folder, name), "rb") as f:
            yield "scan/" + name, bytes([kind]) + f.read()
    for name, kind, text in (
            ("markers", 3, '# 7 "a.cl" 1\n#line 9\nprintf("%p %s", q, "x\\n");'),
            ("groups", 0, "#version 310 es\n#ifdef A\n#extension B : enable\n"
                          'f();\n#endif\nPFD_PRINTF("%v3lf", v);'),
            ("macro", 12, '#define L(x) PFD_PRINTF("%d" \\\n , x)\nL(1);'),
            ("nested", 3, 'printf("%d", printf("%d", (1)))'),
            ("directive", 3, 'printf("%d",\n#if 1\n 1)'),
            ("open", 1, 'PFD_PRINTF("%d", (1'),
            ("quote", 1, "x 'a \" \n"),
            ("comment", 1, "#error /* \\\n"),
            ("escape", 1, 'PFD_PRINTF("\\x41\\101\\\n\\q")')):
        yield "scan/" + name, bytes([kind]) + text.encode()


BASE = 0x10000


def name_hash(name, gnu):
    h = 5381 if gnu else 0
    for c in name:
        if gnu:
            h = h * 33 + c & 0xffffffff
        else:
            h = (h << 4) + c & 0xffffffff
            h = (h ^ (h & 0xf0000000) >> 24) & 0x0fffffff
    return h


def program_memory(gnu, uris, flags=0, version=10, state=0, cycle=False):
    """A memory with an image whose symbol leads to a runtime's list."""
    m = bytearray(8192)
    m[0] = flags
    symbol = b"_amdgpu_r_debug"

    def put(at, form, *values):
        struct.pack_into("<" + form, m, at, *values)

    debug, links, names, objects = 2048, 2304, 3072, 4096
    put(8, "Q", BASE + debug)
    put(16, "QQQQ", 3, BASE + 128, 5, 3)  # AT_PHDR, AT_PHNUM
    # Header, at 64, where a region begins; three program headers; the tables.
    m[64:80] = b"\x7fELF\x02\x01\x01" + bytes(9)
    put(80, "HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 3, 64, 0, 0)
    put(128, "IIQQQQQQ", 1, 4, 0, 64, 0, 4096, 4096, 4096)
    put(184, "IIQQQQQQ", 2, 4, 512, 576, 0, 256, 256, 8)
    put(240, "IIQQQQQQ", 6, 4, 64, 128, 0, 168, 168, 8)
    tags = [(6, 1024), (5, 1216), (10, 64), (0x6ffffef5 if gnu else 4, 1280), (21, 1600), (0, 0)]
    for i, (tag, at) in enumerate(tags):
        put(576 + 16 * i, "QQ", tag, at + (0 if tag in (0, 10) else BASE))
    put(1024 + 24, "IBBHQQ", 1, 17, 0, 1, debug, 40)
    m[1217:1217 + len(symbol)] = symbol
    if gnu:
        put(1280, "IIII", 1, 1, 1, 0)
        put(1296, "QII", 2 ** 64 - 1, 1, name_hash(symbol, True) | 1)
    else:
        put(1280, "IIIII", 1, 2, 1, 0, 0)
    # The dynamic linker's list has this image.
    put(1600, "IIQ", 1, 0, BASE + 1664)
    put(1664, "QQQQQ", BASE, 0, BASE + 576, 0, 0)
    put(debug, "iiQQiiQ", version, 0, BASE + links if uris else 0, 0, state, 0, 0)
    for i, uri in enumerate(uris):
        last = i + 1 == len(uris)
        following = 0 if last and not cycle else BASE + links + 40 * ((i + 1) % len(uris))
        put(links + 40 * i, "QQQQQ", i, BASE + names + 128 * i, 0, following, 0)
        m[names + 128 * i:names + 128 * i + len(uri)] = uri
    code = cases.elf(b"")
    m[objects:objects + len(code)] = code
    return bytes(m)


def loaded_seeds():
    uris = [b"memory://1#offset=0x11000&size=64", b"file:///a/b.co#offset=1&size=2",
            b"memory://1#offset=0&size=64"]
    yield "loaded/gnu", program_memory(True, uris)
    yield "loaded/sysv", program_memory(False, uris)
    yield "loaded/linker", program_memory(True, uris, flags=2)
    yield "loaded/known", program_memory(True, uris, flags=1)
    yield "loaded/cycle", program_memory(True, uris, flags=1, cycle=True)
    yield "loaded/changing", program_memory(True, uris, flags=1, state=1)
    yield "loaded/version", program_memory(True, uris, flags=1, version=11)
    words = [0x07230203, 0x00010000, 0, 10, 0, 2 << 16 | 17, 1, 3 << 16 | 14, 0, 0,
             5 << 16 | 54, 1, 2, 0, 3, 1 << 16 | 56]
    yield "loaded/module", bytes(64) + struct.pack("<16I", *words) + bytes(64)


def spirv_seeds():
    cases_of = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases")
    for name, case in (("printf", "debugprintf/instrumented_gfx"),
                       ("check", "gpuav/instrumented_av_line")):
        with gzip.open(os.path.join(cases_of, case, "module0.spv.gz")) as f:
            yield "spirv/instrumented_" + name, f.read()
    with open(os.path.join(cases_of, "debugprintf/vvl_tess",
                           "mod7.instrumented.spv"), "rb") as f:
        yield "spirv/layer_printf", f.read()
    sys.path.insert(0, os.path.join(cases_of, "..", "property"))
    import gpuav  # pylint: disable=import-outside-toplevel
    yield "spirv/layer_check", gpuav.checked(random.Random(1)).files["s.spv"]


def nats_seeds():
    edge = "0123456789abcdef" * 2
    digest = "0f" * 32
    for name, subject, values in (
            ("entries", "gpulog.v1.07.h.g", (edge, "5", "9", "4", "3", "17", digest)),
            ("signs", "gpulog.v1.07.h.g", (edge, "+5", " 9", "-4", "3", "", "")),
            ("backwards", "gpulog.v1.07.h.g", (edge, "9", "5", "8", "0", "1", "")),
            ("large", "gpulog.v1.07.h.g", (edge, "1", str(2 ** 64), "0", "0", "1", "")),
            ("ack_of_edge", "gpuack.v1.07." + edge, ("",) * 7),
            ("ack_of_nobody", "gpuack.v1.07." + "-" * 32, ("",) * 7)):
        payload = "12 34 ok" if "ack" in name else "payload"
        yield "nats/" + name, ("\0" + "\n".join((subject, *values, payload))).encode()
    for i, text in enumerate(("12 34 ok", "0 1 again", "-1 2 ok", "1 2 ok ", "9" * 30)):
        yield f"nats/ack_{i}", b"\1" + text.encode()
    whole = f"printfdecoded edges 1\n{edge} 77\n{'f' * 32} 1\nend\n"
    for i, text in enumerate((whole, whole[:-3], whole + "more", whole.replace("77", "-7"),
                              whole.replace(" 1", " 2"), "")):
        yield f"nats/ledger_{i}", b"\2" + text.encode()
    item = '{"sha256":"%s","bytes":%s,"name":"a"%s}'
    for i, text in enumerate((item % (digest, 5, ""), item % (digest, -1, ""),
                              item % (digest, 5, ',"shader":7'), item % ("x", 5, ""), "[]")):
        yield f"nats/list_{i}", b'\3{"version":1,"objects":[' + text.encode() + b"]}"
        yield f"farm/list_{i}", b'\1{"version":1,"objects":[' + text.encode() + b"]}"
    for name, numbers in (("order", (0, 0, 4, 5, 0, 4, 10, 0, 0)),
                          ("hole", (0, 0, 4, 50, 0, 4, 5, 0, 44)),
                          ("again", (0, 0, 4, 0, 0, 4, 3, 7, 31)),
                          ("backwards", (200, 0, 9, 100, 0, 9, 50, 0, 9, 0, 0, 31))):
        yield f"farm/{name}", bytes((0, *numbers))
    for i, text in enumerate(("07", "64", "7", "x", "worker.1", "-1")):
        yield f"nats/lease_{i}", b"\4gpulease.v1." + text.encode()


def main():
    root, = arguments.folders(__doc__, "CORPUS_FOLDER")
    for name, data in [*core_seeds(), *find_seeds(), *seeds(), *image_seeds(), *rocm_seeds(), *record_seeds(),
                       *chunk_seeds(), *scan_seeds(), *rows_seeds(), *loaded_seeds(),
                       *spirv_seeds(), *stream_seeds(), *request_seeds(), *config_seeds(),
                       *nats_seeds()]:
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)


if __name__ == "__main__":
    main()
