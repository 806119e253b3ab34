#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the cases of containers: code objects in bundles, compressed bundles,
offload binaries, archives, caches, host programs, and each of them damaged.

    container_cases.py CASES_FOLDER [SAMPLES_FOLDER]

Inputs, `cmd` and origin.md are rewritten; expectations are made empty where
there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
SAMPLES_FOLDER holds what compilers wrote (hsa/, hip/, pal/); without it those
cases stay as they are.
"""
import gzip
import hashlib
import os
import struct
import zlib

import arguments
from llpc_cases import Str, archive, buffer, elf, note, pack

MAGIC = b"__CLANG_OFFLOAD_BUNDLE__"
HOST = "host-x86_64-unknown-linux--"
GFX906 = "hipv4-amdgcn-amd-amdhsa--gfx906"
GFX90A = "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"


# ---- code objects: each has one string, which says which one it is ----

def code(text, ident=0x1234, segment=False):
    table = {"amdpal.format_strings": {
        ".strings": [Str(ident, text).row()], ".version": 1}}
    return elf(note(b"AMDGPU", 32, pack(table)), segment=segment)


def v2(yaml, nul=False):
    """A code object V2: owner "AMD", type 10, YAML."""
    data = yaml.encode() if isinstance(yaml, str) else yaml
    out = bytearray(elf(note(b"AMD", 10, data + (b"\0" if nul else b""))))
    out[7:9] = b"\x40\x00"  # ELFOSABI_AMDGPU_HSA, ABI version 0
    return bytes(out)


# ---- clang offload bundles ----

def align(data, n):
    return data + bytes(-len(data) % n)


def bundle(entries, page=256, count=None):
    """entries: (id, bytes) or (id, bytes, offset, size) to lie about."""
    table_size = len(MAGIC) + 8 + sum(24 + len(e[0]) for e in entries)
    body = bytes(-table_size % page)
    table = MAGIC + struct.pack("<Q", len(entries) if count is None else count)
    for ident, data, *lie in entries:
        body = body + bytes(-(table_size + len(body)) % page)
        offset, size = lie or (table_size + len(body), len(data))
        table += struct.pack("<QQQ", offset, size, len(ident)) + ident.encode()
        body += data
    return table + body


# ---- compressed bundles ----

def zstd_frame(data, stated=None):
    """A zstd frame (RFC 8878) of blocks that are stored, not compressed."""
    size = len(data) if stated is None else stated
    out = struct.pack("<IBQ", 0xFD2FB528, 0xE0, size)
    at = 0
    while True:
        piece = data[at:at + 0x1FFFF]
        at += len(piece)
        last = at >= len(data)
        out += struct.pack("<I", last | len(piece) << 3)[:3] + piece
        if last:
            return out


def zstd_zeros(n, stated=True):
    """A frame of n zero bytes in blocks that repeat one byte: a bomb."""
    out = struct.pack("<IBQ", 0xFD2FB528, 0xE0, n)
    if not stated:
        out = struct.pack("<IBB", 0xFD2FB528, 0, 0x38)  # a window of 128 KiB
    whole, rest = divmod(n, 0x1FFFF)
    out += (struct.pack("<I", 1 << 1 | 0x1FFFF << 3)[:3] + b"\0") * whole
    return out + struct.pack("<I", 1 | 1 << 1 | rest << 3)[:3] + b"\0"


def zlib_zeros(n):
    """n zero bytes, as a stream of blocks that each repeat what came before."""
    c = zlib.compressobj(9)
    return b"".join(c.compress(bytes(1 << 20)) for _ in range(n >> 20)) + \
        c.flush()


def compressed(version, method, data, packed=None, inflated=None, digest=None,
               total=None):
    if packed is None:
        packed = zstd_frame(data) if method else zlib.compress(data, 9)
    inflated = len(data) if inflated is None else inflated
    digest = hashlib.md5(data).digest()[:8] if digest is None else digest
    head = b"CCOB" + struct.pack("<HH", version, method)
    n_head = {1: 20, 2: 24, 3: 32}[version]
    total = n_head + len(packed) if total is None else total
    if version == 1:
        head += struct.pack("<I", inflated)
    elif version == 2:
        head += struct.pack("<II", total, inflated)
    else:
        head += struct.pack("<QQ", total, inflated)
    return head + digest + packed


# ---- LLVM offload binaries ----

def binary(version, images, packing=None):
    """images: (offload kind, triple, arch, bytes); packing compresses v3."""
    n_head = 40 if version >= 3 else 32
    at = n_head + 40 * len(images)
    entries = tables = b""
    texts, string_size = b"", 16 if version == 1 else 24
    texts_at = at + 2 * string_size * len(images)
    image_at = None
    names = []
    for kind, triple, arch, data in images:
        pairs = []
        for key, value in (("triple", triple), ("arch", arch)):
            key_at = texts_at + len(texts)
            texts += key.encode() + b"\0"
            value_at = texts_at + len(texts)
            texts += value.encode() + b"\0"
            pairs.append((key_at, value_at, len(value)))
        names.append(pairs)
    body = b""
    image_at = -(-(texts_at + len(texts)) // 8) * 8
    for (kind, triple, arch, data), pairs in zip(images, names):
        entries += struct.pack("<HHIQQQQ", 1, kind, 0, at + len(tables),
                               len(pairs), image_at + len(body), len(data))
        for pair in pairs:
            tables += struct.pack("<" + "Q" * (string_size // 8),
                                  *pair[:string_size // 8])
        body += align(data, 8)
    rest = align(entries + tables + texts, 8) + body
    size = n_head + len(rest)
    inflated = 0
    if packing:
        inflated = size
        rest = packing(rest)
        size = n_head + len(rest)
    head = b"\x10\xff\x10\xad" + struct.pack(
        "<IQQQ", version, size, n_head, 40 if version == 1 else len(images))
    if version >= 3:
        head += struct.pack("<Q", inflated)
    return head + rest


# ---- host programs ----

def host(sections, machine=62):
    """An x86-64 ELF file with the named sections."""
    names, offsets = b"\0.names\0", []
    for name, _ in sections:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    body, rows = names, [bytes(64), struct.pack(
        "<IIQQQQIIQQ", 1, 3, 0, 0, 64, len(names), 0, 0, 1, 0)]
    for (name, data), name_at in zip(sections, offsets):
        body += bytes(-(64 + len(body)) % 4096)
        kind = 0x6FFF4C0B if name == ".llvm.offloading" else 1
        rows.append(struct.pack("<IIQQQQIIQQ", name_at, kind, 2, 0,
                                64 + len(body), len(data), 0, 0, 4096, 0))
        body += data
    body = align(body, 8)
    head = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8) + struct.pack(
        "<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, 64 + len(body), 0, 64, 56, 0, 64,
        len(rows), 1)
    return head + body + b"".join(rows)


# ---- caches of AMD's Vulkan driver ----

PAL_MAGIC = bytes.fromhex("23d8fae70f5f47be8bd148f5d8f0b4a7")


def pal_archive(entries, major=1, circle=False, lie=None):
    """Version 2 has 64 bits where version 1 has 32."""
    q = "Q" if major == 2 else "I"
    first, head = (56, 76) if major == 2 else (52, 56)
    out = PAL_MAGIC + struct.pack("<II" + q + "I", major, 3, first, 0)
    out += bytes(20)
    for i, data in enumerate(entries):
        at = len(out)
        after = at + head + len(data)
        size = len(data) if lie is None else lie
        out += b"NTRY" + struct.pack("<" + 4 * q + "QI", i,
                                     first if circle else after, size,
                                     at + head, 0, 0)
        out += bytes([i % 256]) * 20 + struct.pack("<" + q, 0) + data
    return out + b"FOTR" + struct.pack("<" + q + "Q", len(entries), 0) + \
        PAL_MAGIC


def pipeline_cache(entries, lie=None):
    out = struct.pack("<IIII", 32, 1, 0x1002, 0x744C) + bytes(range(16))
    out += bytes(20)
    for i, data in enumerate(entries):
        out += bytes([i]) * 16
        out += struct.pack("<Q", lie if lie is not None and i else len(data))
        out += data
    return out


# ---- the cases ----

ONE = Str(0x1234, "one")
A, B, C = code("one"), code("two", 0x5678), code("three", 0x9abc)
BITCODE = b"BC\xc0\xde" + bytes(60)
SPIRV = struct.pack("<IIIII", 0x07230203, 0x10000, 0, 1, 0)
THREE = bundle([(HOST, b""), (GFX906, C)])
TWO = bundle([(HOST, b""), (GFX906, A), (GFX90A, B)])


def broken_archive():
    out = bytearray(archive([(b"a.o/", A), (b"b.o/", B)]))
    out[8 + 48:8 + 58] = b"99999999  "
    return bytes(out)


def itself():
    """Each entry is the whole bundle."""
    entries = [("hip-%d" % i, b"", 0, 1 << 40) for i in range(64)]
    return bundle(entries + [(GFX906, A)], page=8)


def overlapping(depth=6, width=64):
    """Bundles whose entries are all the same bundle: 64^6 ways down."""
    out = A
    for _ in range(depth):
        head = 32 + width * 27
        entries = [("hip", b"", head, len(out)) for _ in range(width)]
        out = bundle(entries, page=1) + out
    return out


def nested(depth):
    out = bundle([(GFX906, A)], page=8)
    for _ in range(depth):
        out = bundle([("hip-nested", out)], page=8)
    return out


def inflated_zlib(data):
    return zlib.compress(data, 9)


LAUGHS = """---
Version: [ 1, 0 ]
Printf:
  - '1:1:4:before %d\\n'
A: &a [ ha, ha, ha, ha, ha, ha, ha, ha, ha ]
""" + "".join("%s: &%s [ %s ]\n" % (b.upper(), b, ", ".join(["*" + a] * 9))
              for a, b in zip("abcdefgh", "bcdefghi")) + "...\n"
DEEP = """---
Printf: [ '1:1:4:before %d\\n' ]
Kernels: """
SOUND = v2("---\nPrintf: [ '2:1:4:sound %d\\n' ]\n...\n")


def with_sound(data):
    """A code object and, in the same bundle, a sound one."""
    return bundle([(GFX906, data), (GFX90A, SOUND)])


CASES = [
    # name, file, contents, what it is
    ("bundle", "a.hipfb", TWO,
     "An offload bundle of three entries; the host's is empty."),
    ("bundle_two_of_them", "a.hipfb",
     align(TWO, 4096) + bundle([(HOST, b""), (GFX906, C)], page=4096),
     "Two bundles, one after another, with padding to 4096 between them."),
    ("bundle_magic_inside", "a.hipfb",
     bundle([(GFX906, code("has " + MAGIC.decode())), (GFX90A, B)]) + TWO,
     "A code object that contains a bundle's magic, and a bundle after it "
     "without padding."),
    ("bundle_other_kinds", "a.hipfb",
     bundle([(HOST, b"not code"), (GFX906, BITCODE), ("hip-spirv64", SPIRV),
             (GFX90A, B)]),
     "Entries that are LLVM bitcode, SPIR-V and neither."),
    ("bundle_not_in_file", "a.hipfb",
     bundle([(GFX906, A, 1 << 63, 16), ("hip-b", b"", (1 << 64) - 8, 16),
             (GFX90A, B)]),
     "Entries at offsets that the file does not have, and sums that overflow."),
    ("bundle_cut", "a.hipfb", TWO[:-200],
     "A bundle whose file ends within its last entry."),
    ("bundle_count_2_63", "a.hipfb",
     bundle([(HOST, b""), (GFX906, A)], count=1 << 63),
     "The table says that it has 2^63 entries."),
    ("bundle_id_2_60", "a.hipfb",
     MAGIC + struct.pack("<QQQQ", 2, 4096, 8, 1 << 60) + bytes(200) +
     bundle([(GFX906, A)], page=8),
     "An id of 2^60 bytes; a sound bundle comes after it."),
    ("bundle_of_itself", "a.hipfb", itself(),
     "64 entries that are each the whole file, and a sound one."),
    ("bundle_overlapping", "a.hipfb", overlapping(),
     "Bundles of 64 entries that are all the same bundle, six deep."),
    ("bundle_nested", "a.hipfb", nested(20), "Bundles in bundles, 21 of them."),
    ("bundle_junk_after", "a.hipfb", TWO + b"junk\0junk" + TWO,
     "Bytes between two bundles that are neither padding nor a bundle."),
    ("ccob_v1_zlib", "a.hipfb", compressed(1, 0, TWO) + compressed(1, 0, THREE),
     "Two compressed bundles, version 1, whose size is not stated."),
    ("ccob_v1_zstd", "a.hipfb", compressed(1, 1, TWO) + compressed(1, 1, THREE),
     "The same with zstd."),
    ("ccob_v2_zlib", "a.hipfb", compressed(2, 0, TWO), "Version 2 with zlib."),
    ("ccob_v2_zstd", "a.hipfb", compressed(2, 1, TWO), "Version 2 with zstd."),
    ("ccob_v3_zlib", "a.hipfb", compressed(3, 0, TWO), "Version 3 with zlib."),
    ("ccob_v3_zstd", "a.hipfb",
     compressed(3, 1, TWO) + bytes(7) + compressed(3, 0, THREE),
     "Version 3, with zstd and with zlib, padding between them."),
    ("ccob_magic_inside", "a.hipfb",
     compressed(3, 1, bundle([(GFX906, code("CCOB\x01\0\0\0"))])),
     "Stored data that contains the magic."),
    ("ccob_wrong_hash", "a.hipfb", compressed(3, 0, TWO, digest=b"\xff" * 8),
     "A hash that does not match."),
    ("ccob_cut", "a.hipfb", compressed(2, 1, TWO)[:-300],
     "The compressed data ends early: what came before is read."),
    ("ccob_damaged", "a.hipfb",
     compressed(2, 0, TWO, zlib.compress(TWO)[:40] + b"\xff" * 40) + TWO,
     "Damaged zlib data; a sound bundle comes after it."),
    ("ccob_says_too_much", "a.hipfb", compressed(3, 1, TWO, inflated=1500),
     "The stated size is larger than what comes out."),
    ("ccob_says_too_little", "a.hipfb", compressed(3, 1, TWO, inflated=1100),
     "The stated size is smaller than what comes out."),
    ("ccob_bomb_stated", "a.hipfb",
     compressed(3, 1, b"", zstd_zeros(1 << 34), inflated=1 << 34) + TWO,
     "16 GiB of zeros, and the header says so: not inflated."),
    ("ccob_bomb_hidden", "a.hipfb",
     compressed(3, 1, b"", zstd_zeros(1 << 34, False), inflated=1 << 20) + TWO,
     "16 GiB of zeros, and the header says 1 MiB: that much is inflated."),
    ("ccob_bomb_zlib_stated", "a.hipfb",
     compressed(3, 0, b"", zlib_zeros(1 << 26), inflated=1 << 33) + TWO,
     "8 GiB, says the header of zlib data: not inflated."),
    ("ccob_bomb_zlib_hidden", "a.hipfb",
     compressed(3, 0, b"", zlib_zeros(1 << 26), inflated=1 << 20) + TWO,
     "64 MiB of zeros as zlib data, and the header says 1 MiB: that much is "
     "inflated."),
    ("ccob_size_2_64", "a.hipfb",
     compressed(3, 1, TWO, inflated=(1 << 64) - 1,
                total=(1 << 64) - 1) + TWO,
     "Both sizes of the header are 2^64 - 1; the size of the blob is checked "
     "against the file, and the other one against the limit."),
    ("ccob_impossible", "a.hipfb",
     compressed(3, 0, TWO, inflated=1 << 29),
     "A size that zlib cannot reach from so few bytes: refused before memory "
     "is taken."),
    ("ccob_version_9", "a.hipfb",
     b"CCOB" + struct.pack("<HH", 9, 1) + bytes(40) + TWO,
     "A version that nobody knows; a sound bundle comes after it."),
    ("ccob_in_ccob", "a.hipfb", compressed(3, 0, compressed(3, 1, TWO)),
     "Compressed twice."),
    ("ccob_of_junk", "a.hipfb", compressed(3, 0, b"no bundle at all" * 9),
     "What it inflates to is no bundle."),
    ("offload_v1", "a.out",
     binary(1, [(4, "amdgcn-amd-amdhsa", "gfx906", A)]) +
     binary(1, [(1, "amdgcn-amd-amdhsa", "gfx90a", B)]),
     "LLVM offload binaries, version 1, HIP and OpenMP."),
    ("offload_v2", "a.out",
     binary(2, [(4, "amdgcn-amd-amdhsa", "gfx906", A),
                (8, "spirv64-unknown-unknown", "", SPIRV),
                (4, "amdgcn-amd-amdhsa", "gfx90a", B)]),
     "Version 2 with three images."),
    ("offload_v3", "a.out",
     align(binary(3, [(4, "amdgcn-amd-amdhsa", "gfx906", A)]), 8) +
     binary(3, [(4, "amdgcn-amd-amdhsa", "gfx90a", B)], inflated_zlib) +
     binary(3, [(4, "amdgcn-amd-amdhsa", "gfx1100", C)], zstd_frame),
     "Version 3: plain, zlib, zstd."),
    ("offload_not_in_file", "a.out",
     binary(2, [(4, "amdgcn-amd-amdhsa", "gfx906", A)])[:-100],
     "The file ends within the image."),
    ("offload_many_entries", "a.out",
     b"\x10\xff\x10\xad" + struct.pack("<IQQQ", 2, 200, 32, 1 << 60) +
     bytes(168) + binary(2, [(4, "amdgcn-amd-amdhsa", "gfx906", A)]),
     "2^60 entries; a sound one comes after it."),
    ("host_fatbin", "app", host([(".text", b"\xc3"), (".hip_fatbin", TWO)]),
     "A host program with .hip_fatbin."),
    ("host_offloading", "app.o",
     host([(".llvm.offloading",
            align(binary(2, [(4, "amdgcn-amd-amdhsa", "gfx906", A)]), 8) +
            binary(2, [(1, "amdgcn-amd-amdhsa", "gfx90a", B)]))]),
     "A host object file with .llvm.offloading."),
    ("host_any_section", "app.so",
     host([(".mydata", compressed(3, 0, TWO)), (".rodata", b"CCO" + TWO)]),
     "A section of any name that begins with a bundle counts; one that only "
     "contains it does not."),
    ("host_cut", "app", host([(".hip_fatbin", TWO)])[:4500],
     "A host program whose end, with its section headers, is missing."),
    ("host_without", "app", host([(".text", b"\xc3")]),
     "A host program without code for a device."),
    ("archive_of_fat_objects", "lib.a",
     archive([(b"a.o/", host([(".hip_fatbin", TWO)])), (b"b.o/", C),
              (b"c.hipfb/", bundle([(GFX906, A)])), (b"readme/", b"text")]),
     "A static library: a fat object, a code object, a bundle, and text."),
    ("archive_size_broken", "lib.a", broken_archive(),
     "A member says that it has 99999999 bytes."),
    ("pal_archive", "cache.parc", pal_archive([A, b"compressed", b"hdr." + B]),
     "A PAL archive file: an ELF file, an entry that is not, and one with a "
     "header of its own before the ELF file."),
    ("pal_archive_circle", "cache.parc", pal_archive([A, B], circle=True),
     "The second block is said to be the first."),
    ("pal_archive_v2", "cache.parc",
     pal_archive([A, b"compressed", b"hdr." + B], major=2),
     "Version 2, whose numbers have 64 bits."),
    ("pal_archive_v2_sizes", "cache.parc",
     pal_archive([A, B], major=2, lie=(1 << 64) - 1),
     "Version 2, whose entries have 2^64 - 1 bytes: read as far as the file "
     "goes."),
    ("pal_archive_v3", "cache.parc", pal_archive([A], major=3),
     "A major version that is not known: searched for code objects."),
    ("pal_archive_cut", "cache.parc", pal_archive([A, B])[:-100],
     "The file ends within the last entry."),
    ("yaml_billion_laughs", "a.hipfb", with_sound(v2(LAUGHS)),
     "YAML of a code object V2 whose aliases would be 9^9 words; a sound code "
     "object comes after it."),
    ("yaml_deep_flow", "a.hipfb", with_sound(v2(DEEP + "[" * (1 << 20))),
     "1 MiB of opening brackets in YAML; a sound code object comes after it."),
    ("yaml_deep_block", "a.hipfb", with_sound(v2(DEEP + "\n" + "- " * (1 << 19))),
     "1 MiB of list items within each other in YAML; a sound code object comes "
     "after it."),
    ("pipeline_cache", "cache.bin",
     pipeline_cache([A, b"\x01\0\0\0" + archive([(b"0123456789ABCDEF", B)]),
                     b"no code"]),
     "A VkPipelineCache blob of AMDVLK: an ELF file, an archive after a small "
     "header, and an entry without code."),
    ("pipeline_cache_damaged", "cache.bin",
     pipeline_cache([A, b"junk" + B], lie=1 << 62),
     "An entry of 2^62 bytes: the rest is searched."),
]


# name, command, files, what it is
COMMANDS = [
    ("extract", "extract app a.hipfb lib.a --to out",
     {"app": host([(".hip_fatbin", compressed(3, 0, TWO))]),
      "a.hipfb": TWO + bundle([(GFX906, BITCODE), ("hip-spirv64", SPIRV)]),
      "lib.a": archive([(b"../../x/", C), (b"../../x/", A)])},
     "Code objects, bitcode and SPIR-V; members with names that would leave "
     "the folder, twice the same."),
    ("extract_twice", "extract a.co a.co --to out",
     {"a.co": A}, "The same name twice in one run."),
    ("extract_nothing", "extract app --to out",
     {"app": host([(".text", b"\xc3")])}, "There is nothing to write."),
    ("extract_nowhere", "extract app", {"app": TWO}, "--to is missing."),
    ("extract_in_the_way", "extract a.co --to a.co",
     {"a.co": A}, "What should be a folder is a file."),
    ("extract_limit", "extract --max-inflated 1000 --to out a.hipfb",
     {"a.hipfb": compressed(3, 0, TWO)},
     "A compressed bundle above the limit that was given."),
    ("max_inflated", "strings --max-inflated 1000 a.hipfb b.hipfb",
     {"a.hipfb": compressed(3, 0, TWO), "b.hipfb": compressed(3, 1, THREE)},
     "The limit holds for strings: one bundle is above it, one is not."),
    ("max_inflated_decode", "--max-inflated 1000 buffer.bin a.hipfb",
     {"a.hipfb": compressed(3, 0, TWO), "buffer.bin": buffer(ONE())},
     "The limit holds for decode."),
    ("max_inflated_most", "strings --max-inflated 18446744073709551615 a.hipfb",
     {"a.hipfb": compressed(3, 0, bundle([(GFX906, A + bytes(1 << 20))]))},
     "As good as no limit, for a bundle that is 800 times as large as the "
     "file."),
    ("max_inflated_zero", "strings --max-inflated 0 a.hipfb",
     {"a.hipfb": compressed(3, 0, TWO)}, "0 bytes are no limit."),
    ("yaml_damaged", "strings -v a.co",
     {"a.co": v2("---\nVersion: [ 1, 0 ]\nKernels: [ *x ]\nPrintf: [ 1:0:a ]\n")},
     "Metadata that cannot be read up to its table: nobody may say that there "
     "is none."),
    ("one_is_missing", "strings a.co missing", {"a.co": A},
     "A file that is not there does not keep the others from being listed."),
    ("extract_one_is_missing", "extract a.co missing a.txt --to out",
     {"a.co": A, "a.txt": b"text\n"},
     "The same of extract; one of them holds no code."),
    ("inspect_one_is_missing", "inspect buffer.bin missing",
     {"buffer.bin": buffer(ONE())}, "The same of inspect."),
    ("empty_file", "strings --strings a.co", {"a.co": b""},
     "A code object of 0 bytes."),
    ("no_code", "extract a.txt --to out", {"a.txt": b"text\n"},
     "A file that holds no code objects."),
    ("uri_range", "strings -o json 'file://a%%20b%%23c.bin#offset=0x10&size=%d'"
     % len(A), {"a b#c.bin": bytes(16) + A + bytes(16)},
     "A code object within a file whose name has a blank and a '#'."),
    ("uri_octal_question_mark", "strings -o json 'file://a.bin?offset=020&"
     "size=%d'" % len(A), {"a.bin": bytes(16) + A},
     "Octal numbers, '?' in place of '#'."),
    ("uri_whole_file", "strings -o json file://./a%2ehipfb", {"a.hipfb": TWO},
     "No range; a percent sequence in lower case."),
    ("uri_past_end", "strings 'file://a.co#offset=1&size=%d'" % len(A),
     {"a.co": A}, "A range that the file does not have."),
    ("uri_bad_percent", "strings file://a%2", {"a.co": A},
     "A percent sign with one digit."),
    ("uri_bad_number", "strings 'file://a.co#offset=09&size=1'", {"a.co": A},
     "9 is no octal digit."),
    ("uri_no_code_object", "strings 'file://a.co#offset=1&size=8'", {"a.co": A},
     "A range that is no code object is taken for a buffer."),
    ("uri_dead_process", "strings 'memory://4194305#offset=0x1000&size=16'",
     {"a.co": A}, "A process that cannot be: Linux numbers them below 2^22."),
    ("uri_process_without_range", "strings memory://1", {"a.co": A},
     "The memory of a process needs a range."),
]


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


def write_case(root, name, cmd, files, origin, outputs=("out", "err", "rc")):
    folder = os.path.join(root, "container", name)
    os.makedirs(folder, exist_ok=True)
    for file, data in files.items():
        if len(data) > 100000:
            file, data = file + ".gz", gzip.compress(data, 9, mtime=0)
        write(os.path.join(folder, file), data)
    write(os.path.join(folder, "cmd"), cmd.encode() + b"\n")
    write(os.path.join(folder, "origin.md"), origin.encode() + b"\n")
    for kind in outputs:
        path = os.path.join(folder, "expect." + kind)
        if not os.path.exists(path):
            write(path, b"")


MADE = "%s\nWritten by `tests/make/container_cases.py`."

SAMPLES = ["hip/bundle_2arch.hipfb", "hip/bundler_1arch_ccob.hipfb",
           "hip/host_exe", "hsa/small_v2_gfx803.co", "pal/one_shader.o"]


HIP = ["hip/" + name for name in (
    "buffered_gfx906.co", "hostcall_gfx906.co", "bundle_2arch.hipfb",
    "bundler_1arch_ccob.hipfb", "host_exe")]
HSA = ["hsa/" + name for name in (
    "v2_gfx900.co", "v3_gfx900.co", "v4_gfx906.co", "v5_gfx1030.co",
    "v5_gfx1030_no_sections.co", "v6_gfx1200.co", "no_printf.co")]
VERBOSE = ("text", "json", "err", "rc")


def read_samples(folder, paths):
    files = {}
    for path in paths:
        with open(os.path.join(folder, path), "rb") as f:
            files[os.path.basename(path)] = f.read()
    return files


def main():
    root, samples = arguments.folders(__doc__, "CASES_FOLDER",
                                      "[SAMPLES_FOLDER]")
    for name, file, data, what in CASES:
        write_case(root, name, "strings -o json " + file, {file: data},
                   MADE % what)
    for name, cmd, files, what in COMMANDS:
        write_case(root, name, cmd, files, MADE % what)
    if samples:
        files = read_samples(samples, SAMPLES)
        write_case(root, "strings_hip", "strings -v " + " ".join(
            os.path.basename(path) for path in HIP),
                   read_samples(samples, HIP),
                   "What clang 19 made of one HIP program: buffered, for "
                   "hostcall, in a bundle, in a\ncompressed bundle, in a host "
                   "executable.", VERBOSE)
        write_case(root, "strings_hsa", "strings -v " + " ".join(
            os.path.basename(path) for path in HSA),
                   read_samples(samples, HSA),
                   "What LLVM 14, 16 and 19 made of one OpenCL program: code "
                   "objects V2 to V6, with the\nsame 33 rows, so that each is "
                   "listed once and no two contradict each other; one\nwithout "
                   "section headers, and one that prints nothing.", VERBOSE)
        write_case(root, "extract_samples",
                   "extract %s --to out" % " ".join(files), files,
                   "What LLVM 14 and 19 and their offload bundler wrote: a "
                   "bundle, a compressed one, a\nHIP program's executable, a "
                   "code object V2 and one of PAL.")


if __name__ == "__main__":
    main()
