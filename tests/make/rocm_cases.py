#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the golden cases of opencl, hip and hostcall: one folder for each
known defect of today's runtimes (c01 to c17, b1 to b9) and of buffers, and,
where the folder of dumps is given, what real compilers' code wrote.

    rocm_cases.py CASES_FOLDER [DUMPS_FOLDER]

Inputs, `cmd` and origin.md are rewritten; expectations are made empty where
there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
"""
import gzip
import hashlib
import os
import struct

import arguments
import llpc_cases as base

CASES = {}
KINDS = ("txt", "text", "json")
PACKED = ("txt.gz", "text.gz", "json.gz")
STALE = b"\xe1\xe2\xe3\xe4"


def case(name, shows, files, cmd="buffer.bin app.co", kinds=KINDS):
    CASES[name] = (shows, files, cmd, kinds)


def u32(*values):
    return b"".join(struct.pack("<I", v & 0xffffffff) for v in values)


def u64(*values):
    return b"".join(struct.pack("<Q", v & (1 << 64) - 1) for v in values)


def f16(*values):
    return struct.pack("<%de" % len(values), *values)


def extended(kind, *values):
    """Halves ("e") or bfloats ("f") as LLVM stored them before June 2026: their
    bits, sign-extended."""
    return b"".join(u32(struct.unpack("<h", struct.pack("<" + kind, v)[-2:])[0])
                    for v in values)


def f32(*values):
    return struct.pack("<%df" % len(values), *values)


def f64(*values):
    return struct.pack("<%dd" % len(values), *values)


def hsa(rows, version=4):
    """A code object with these rows of amdhsa.printf."""
    data = bytearray(base.elf(base.note(b"AMDGPU", 32, base.pack({
        "amdhsa.kernels": [], "amdhsa.printf": list(rows),
        "amdhsa.target": "amdgcn-amd-amdhsa--gfx906",
        "amdhsa.version": [1, 1]}))))
    data[7], data[8] = 64, version - 2
    return bytes(data)


def hsa_v2(yaml):
    data = bytearray(base.elf(base.note(b"AMD", 10, yaml)))
    data[7], data[8] = 64, 0
    return bytes(data)


def buffer(*entries, used=None, capacity=1000, tail=b"", cut=None):
    """u32 used, u32 capacity, entries; behind them stale bytes."""
    body = b"".join(entries)
    used = len(body) if used is None else used
    room = (tail + STALE * (capacity // 4 + 1))[:max(0, capacity - len(body))]
    data = u32(used, capacity) + body + room
    return data if cut is None else data[:cut]


# ---- OpenCL ----

def text_size(n, new=False):
    """What the metadata says of a %s of n bytes."""
    return max(4, (n + 3) // 4 * 4) if new else (n + 4) // 4 * 4


def text_bytes(text):
    """What is stored of it: no NUL where its length is a multiple of 4."""
    return text + bytes(-len(text) % 4) if text else b"\0\xff\xff\xff"


class Ocl:
    """One printf call: its ID, format as in the metadata, sizes."""

    def __init__(self, ident, text, *sizes, n=None):
        self.id, self.text, self.sizes = ident, text, sizes
        self.n = len(sizes) if n is None else n

    def row(self):
        fields = [self.id, self.n] + list(self.sizes)
        return b"".join(b"%d:" % f for f in fields) + self.text

    def __call__(self, *arguments):
        data = u32(self.id) + b"".join(arguments)
        size = 4 + sum(self.sizes)
        return (data + STALE * (size // 4))[:size]


def ocl(*entries, strings, rows=(), **how):
    return {"app.co": hsa([s.row() for s in strings] + list(rows)),
            "buffer.bin": buffer(*entries, **how)}


END = Ocl(99, b"end %d\\n", 4)


def one(name, shows, string, *calls, cmd="buffer.bin app.co", **how):
    """Calls of one string between two of END, which show that it is left at
    the right place."""
    entries = [END(u32(1))] + [string(*c) for c in calls] + [END(u32(2))]
    case("opencl/" + name, shows,
         ocl(*entries, strings=[string, END], **how), cmd)


def ocl_halves():
    string = Ocl(1, b"%f\\n", 4)
    signs = [(-1) ** i * (i + 0.5) for i in range(12)]
    one("half_extended", "A scalar half that was not converted: its bits, "
        "sign-extended.", string, *[[extended("e", v)] for v in signs])
    one("half_extended_bfloat", "The same of bfloats.", string,
        *[[extended("f", v)] for v in signs])
    one("half_extended_alone", "One value, again and again: it can be a half, "
        "and is shown as the sizes say.", string, *[[extended("e", 0.5)]] * 3)
    one("half_extended_doubt", "Of 16 bits, but which is not told.", string,
        [extended("e", 0.5)], [extended("e", -1.5)])
    one("half_extended_zeros", "Zeros say nothing: no finding.", string,
        *[[extended("e", 0)]] * 5)
    one("half_extended_late", "Zeros, and then others.", string,
        *[[extended("e", max(0, i - 3))] for i in range(12)])
    one("half_extended_damaged", "A dword that no half is.", string,
        *[[extended("e", v) if v != 4.5 else u32(0x7f004480)] for v in signs])
    one("half_extended_integers", "Small integers that were given to %f: as "
        "ever.", string, *[[u32(i - 5)] for i in range(12)])
    one("half_extended_floats", "Floats, and one that a half could be.", string,
        *[[f32(v)] for v in signs], [u32(0x3800)])
    one("half_extended_mixed", "Beside a string of an old compiler, and a "
        "float.", Ocl(1, b"%s %g %f %e %d\\n", 8, 4, 4, 4, 4),
        *[[b"abcd", extended("e", v), f32(v), extended("f", v), u32(i)]
          for i, v in enumerate(signs)])
    one("half_extended_shared", "Calls of one string: some give a float.",
        string, *[[f32(v) if i % 3 else extended("e", v)]
                  for i, v in enumerate(signs)])
    one("half_extended_many", "More columns than are looked at.",
        Ocl(1, b"%.1f " * 26 + b"\\n", *[4] * 26),
        *[[extended("e", *[v + k for k in range(26)])] for v in signs],
        capacity=4096)


def ocl_conversions():
    one("c01_percent_percent", "C1: %% is one percent sign, with and without "
        "arguments.", Ocl(1, b"%d 100%% %%%%\\n", 4), [u32(7)])
    one("c01_percent_alone", "C1: the same in a string without arguments.",
        Ocl(1, b"100%%\\n"), [])
    one("c02_blank_flag", "C2: '% d' keeps its blank.",
        Ocl(1, b"[% d][%d]\\n", 4, 4), [u32(7), u32(7)])
    one("c03_long_long", "C3: %lld of 8 bytes.",
        Ocl(1, b"%lld %llu %llx\\n", 8, 8, 8), [u64(-5), u64(-5), u64(-5)])
    one("c04_hhd", "C4: %hhd narrows and extends the sign.",
        Ocl(1, b"%hhd %hd %hhu\\n", 4, 4, 4), [u32(-1), u32(-2), u32(-1)])
    one("c05_text_before", "C5: letters h and l of the text itself stay.",
        Ocl(1, b"the %hhd\\n", 4), [u32(65)])
    one("c05_text_before_vector", "C5: the same before vectors.",
        Ocl(1, b"val=%v2hlf hello=%v2hld\\n", 8, 8),
        [f32(1.5, 2.5), u32(1, -2)])
    one("c06_char2", "C6: char2 is widened to 8 bytes; %v2hhd prints signs.",
        Ocl(1, b"%v2hhd %v2hhu\\n", 8, 8), [u32(-1, 1), u32(255, 1)])
    one("c07_v16", "C7: vectors of 16 bytes and of 16 dwords.",
        Ocl(1, b"%v16hhd|%v16hld\\n", 16, 64),
        [bytes(range(248, 256)) + bytes(range(8)), u32(*range(-8, 8))])
    inf, nan = float("inf"), float("nan")
    one("c08_inf_nan", "C8: infinities and NaN of both widths, with width "
        "and flags.", Ocl(1, b"[%f][%8.2f][%-8f][%e][%+F]\\n", 4, 4, 4, 8, 8),
        [f32(inf), f32(-inf), f32(nan), f64(-inf), f64(inf)])
    one("c09_capital", "C9: %F and %A.",
        Ocl(1, b"%F %A %G %E\\n", 8, 8, 8, 8),
        [f64(1.5), f64(1.5), f64(1e-10), f64(1e100)])
    one("c12_more_arguments", "C12: an argument that no conversion takes.",
        Ocl(1, b"just %d\\n", 4, 4, n=2), [u32(1), u32(2)],
        cmd="-v buffer.bin app.co")
    one("c13_fewer_arguments", "C13: a conversion without an argument is "
        "shown as it is written.", Ocl(1, b"a %d b %d c\\n", 4), [u32(1)])
    one("c16_percent_n", "C16: %n takes its argument and prints nothing "
        "but itself.", Ocl(1, b"a%nb %d\\n", 8, 4), [u64(4096), u32(3)])
    one("c17_char_nul", "C17: %c of 0 is a NUL byte.",
        Ocl(1, b"a%cb%c\\n", 4, 4), [u32(0), u32(65)])
    one("pointer_sizes", "%p of 4 bytes (LDS) and of 8.",
        Ocl(1, b"%p %p\\n", 4, 8), [u32(0x1000), u64(0x7f0012345678)])
    one("half", "Halves: a scalar widened to float, vectors as they are.",
        Ocl(1, b"%f %v2hf %v4hf\\n", 4, 4, 8),
        [f32(0.5), f16(1.5, -2.0), f16(6.1e-5, 65504.0, 6e-8, inf)])
    ocl_halves()
    one("vec3_garbage", "The fourth of three components is never written.",
        Ocl(1, b"%v3hlf %v3hhd %v3ld\\n", 16, 4, 32),
        [f32(1, 2, 3) + STALE, b"\x01\xff\x03\xee",
         u64(1, -2, 3) + STALE + STALE])
    one("vector_flags", "Each component has the flags, width and precision.",
        Ocl(1, b"%5.2v4hlf|%#v2hlx\\n", 16, 8),
        [f32(1.5, 1.5, 1.5, 1.5), u32(255, 16)])
    one("vector_sizes", "A size that is no multiple of the components, and a "
        "vector under a scalar's conversion, are shown as they are written.",
        Ocl(1, b"%v4d %d %d\\n", 12, 16, 4), [u32(1, 2, 3), u32(1, 2, 3, 4),
                                             u32(5)])
    one("star", "A width from the arguments.",
        Ocl(1, b"[%*d][%.*f]\\n", 4, 4, 4, 4),
        [u32(5), u32(42), u32(2), f32(1.0)])


def ocl_rows():
    one("row_without_sizes", "N counts arguments that no conversion takes and "
        "that are not stored: 1:1:hi.", Ocl(1, b"hi", n=1), [])
    one("escapes", "The six escapes and \\72; any other backslash is itself, "
        "one before an n cannot be.",
        Ocl(1, b"a\\72b \\a\\b\\f\\r\\v \\t \\\\ \\q \\7 \\712 %d\\n", 4),
        [u32(7)])
    one("escape_at_end", "A backslash at the very end.",
        Ocl(1, b"%d\\", 4), [u32(7)])
    one("no_newline", "No newline is added to what the program wrote.",
        Ocl(1, b"no newline %d", 4), [u32(1)], [u32(2)])
    one("compat_clr", "ROCm's runtime adds a newline where none is.",
        Ocl(1, b"no newline %d", 4), [u32(1)], [u32(2)],
        cmd="--compat clr buffer.bin app.co")
    strings = [Ocl(2, b"first %d\\n", 4), Ocl(7, b"seventh %s\\n", 8)]
    case("opencl/compat_clr_strings", "The newline after a %s, and none after "
         "a string that has one.",
         ocl(Ocl(1, b"%s", 4)(b"abc\0"), strings[0](u32(5)),
             strings=[Ocl(1, b"%s", 4)] + strings),
         "--compat clr buffer.bin app.co")
    case("opencl/c15_gaps", "C15: a table with gaps and a row of ID 0.",
         ocl(strings[0](u32(1)), strings[1](b"hello\0\0\0"), strings=strings,
             rows=[b"0:0:zero\\n", b"0:1:4:%d\\n"]))
    case("opencl/bad_rows", "Rows that are no rows.",
         ocl(strings[0](u32(1)), strings=strings,
             rows=[b"", b":", b"1", b"x:1:4:%d", b"12:", b"5:1",
                   b"99999999999:0:wide", b"4294967296:0:wide",
                   b"3:1:999999999:%d", b"8:0:plain:colon:4:", b"9:0:"]))
    case("opencl/yaml_v2", "Code object V2: the rows are YAML, quoted in three "
         "ways.",
         {"app.co": hsa_v2(b"---\nVersion: [ 1, 0 ]\nPrintf:\n"
                           b"  - '1:1:4:it''s %d\\n'\n"
                           b'  - "2:1:4:tab\\t \\xE9 %d\\\\n"\n'
                           b"  - 3:1:4:plain %d\\n\n...\n\0"),
          "buffer.bin": buffer(u32(1, 10), u32(2, 20), u32(3, 30))})


def ocl_strings():
    plain = Ocl(1, b"<%s> %d\\n", 0, 4)
    for new in (False, True):
        age = "new" if new else "old"
        for text in (b"", b"a", b"abc", b"abcd", b"abcdefgh"):
            s = Ocl(1, plain.text, text_size(len(text), new), 4)
            one("string_%s_%d" % (age, len(text)), "%%s of %d bytes, then a "
                "number, from %s compilers; three entries tell."
                % (len(text), age), s,
                *[[text_bytes(text), u32(v)] for v in (1000, -2, 77)])
    s = Ocl(1, plain.text, 8, 4)
    one("string_guess", "One entry, whose last dword can be text or a number: "
        "a guess, and said to be one.", s, [b"abcd", u32(65)])
    one("string_forced_new", "--opencl-strings new.", s,
        [b"abcdefgh", u32(65)], cmd="--opencl-strings new buffer.bin app.co")
    one("string_forced_old", "--opencl-strings old.", s,
        [b"abcd", f32(1.1)], cmd="--opencl-strings old buffer.bin app.co")
    one("string_zero_follows", "One entry; a zero after the text cannot be "
        "its end.", s, [b"abcd", u32(0)])
    one("string_negative_follows", "One entry; a negative number after the "
        "text is not text.", s, [b"abcd", u32(-2)])
    two = Ocl(1, b"%s|%s|%d|%s|\\n", 8, 4, 4, 16)
    one("c10_two_shifts", "C10: strings of 4 and 12 bytes: the arguments move "
        "twice.", two, [b"abcd", b"x\0\0\0", u32(5), b"twelve bytes"],
        [b"abcd", b"x\0\0\0", u32(-5), b"twelve bytes"])
    one("c11_empty", "C11: empty strings, with text glued to them.",
        Ocl(1, b"a%sb%sc %d\\n", 4, 4, 4),
        [text_bytes(b""), text_bytes(b""), u32(9)])
    one("string_of_pointer", "A %s of a pointer: the compiler stores ???.",
        Ocl(1, b"%s %d\\n", 4, 4), [b"???\0", u32(1)])
    one("string_width", "Width and precision of %s.",
        Ocl(1, b"[%10s][%-10s][%.2s][%8.3s]\\n", 8, 8, 8, 8),
        [b"hello\0\0\0", b"right\0\0\0", b"cut it\0\0",
         b"both!\0\0\0"])


def ocl_evidence():
    """What is told from several entries, whatever the literals are."""
    red = Ocl(1, b"%s|%d\\n", 8, 4)
    one("string_colours_new", "A literal with a terminal's colours, from new "
        "compilers.", red, *[[b"\x1b[31mred", u32(1000 + i)]
                             for i in range(9)])
    red = Ocl(1, b"%s|%d\\n", 12, 4)
    one("string_colours_old", "The same from old ones: the number's place "
        "differs from entry to entry, so it is no text.", red,
        *[[b"\x1b[31mred", u32(1000 + i)] for i in range(5)])
    one("string_colours_forced", "The same with --opencl-strings old.", red,
        *[[b"\x1b[31mred", u32(1000 + i)] for i in range(5)],
        cmd="--opencl-strings old buffer.bin app.co")
    raw = b"\x01\xfe\x80\xff"
    one("string_binary_old", "A literal of any bytes, from old compilers.",
        Ocl(1, b"[%s|%d]\\n", 8, 4), *[[raw, u32(-i)] for i in range(5)])
    for n in (7, 13, 62, 63):
        texts = [b"%04d" % i for i in range(n)]
        s = Ocl(1, b"%s " * n + b"|%d\\n", *[8] * n, 4)
        one("string_%d_shifts" % n, "%d strings of 4 bytes from old compilers, "
            "then a number." % n + (" Of the last one the entry itself tells, "
                                    "and that is said." if n > 62 else ""), s,
            *[[*texts, u32(1000 + i)] for i in range(4)], capacity=4000)
    one("string_stale_text", "A string of 4 bytes at the end, from old "
        "compilers: the dword behind it is stale, and looks like text. It "
        "cannot be told, and is said.",
        Ocl(1, b"[%s]\\n", 8), *[[b"abcd", b"xy\0\0"]] * 3)
    one("string_stale_text_forced", "The same with --opencl-strings old.",
        Ocl(1, b"[%s]\\n", 8), *[[b"abcd", b"xy\0\0"]] * 3,
        cmd="--opencl-strings old buffer.bin app.co")
    one("string_then_letter", "A letter that is always the same, or the end of "
        "the text before it, which would make a character of numbers that are "
        "none, and of stale ones an argument: it is said.",
        Ocl(1, b"<%s|%c|%x>\\n", 20, 4, 4),
        *[[b"\x05Lh\x02\xda\xde%7\xc5CIp\x8e\xcd8\x0e", u32(68),
           u32(960 - 61 * i), u32(481 + 37 * i * i % 500)] for i in range(12)])
    one("string_damaged", "An entry whose text a bit was flipped in has no "
        "vote, and is marked.", Ocl(1, b"%s|%d\\n", 12, 4),
        *[[b"abcd" + (b"efgi" if i == 3 else b"efgh"), u32(1000 + i)]
          for i in range(9)])
    known = Ocl(2, b"<%s>\\n", 4)
    s = Ocl(1, b"[%s]\\n", 8)
    case("opencl/string_age_of_others", "A string of 4 bytes without a NUL is "
         "of a new compiler, and so are the other strings of its code object.",
         ocl(s(b"abcdxy\0\0"), known(b"four"), strings=[s, known]))
    moved = Ocl(2, b"<%s> %d\\n", 8, 4)
    case("opencl/string_stale_of_others", "Where memory that nobody wrote is "
         "all the same, as other strings show, a dword unlike it is text.",
         ocl(s(b"abcdxy\0\0"), *[moved(b"abcd", u32(7000 - i)) for i in
                                 range(6)], strings=[s, moved]))
    vector = Ocl(1, b"%s|%d|%v3hld\\n", 8, 4, 16)
    one("string_before_vec3", "The fourth of three components is stale, and "
        "speaks for nothing.", vector,
        *[[b"\xaa\x01\x98\xacp(\xa7\x99", u32(i * 255),
           u32(-i, 2147483647 - i, 1 << 31 >> i) + b"\xee" * 4]
          for i in range(9)])
    bytes_of = Ocl(1, b"%s|%d|%v4hlf\\n", 8, 4, 4)
    one("string_before_bytes", "A hostile row: floating point of one byte does "
        "not exist, so nothing is weighed as such.", bytes_of,
        *[[b"\xaa\x01\x98\xacp(\xa7\x99", u32(i * 255), u32(i << 23)]
          for i in range(9)])
    a = Ocl(1, b"%s %d\\n", 8, 4)
    case("opencl/string_linked", "Two linked programs with the same format and "
         "other literals: both are confirmed by further entries.",
         ocl(*[a(t, u32(200000 + i)) for i, t in enumerate(
             (b"one:", b"two:", b"one:", b"two:", b"one:", b"two:"))],
             strings=[a]))


def ocl_walk():
    a, b = Ocl(1, b"one %d\\n", 4), Ocl(2, b"two %d %d\\n", 4, 4)
    case("opencl/c14_unknown_id", "C14: an ID that no string has: the next "
         "entry is found again.",
         ocl(a(u32(10)), u32(77, 5, 6), b(u32(3), u32(4)), a(u32(11)),
             strings=[a, b]))
    case("opencl/no_strings", "Without a code object nothing can be read.",
         {"buffer.bin": buffer(a(u32(10)), b(u32(3), u32(4)))},
         "--format opencl buffer.bin")
    first = {"first.co": hsa([a.row()]),
             "second.co": hsa([Ocl(1, b"other %d %d %d\\n", 4, 4, 4).row()])}
    other = Ocl(1, b"other %d %d %d\\n", 4, 4, 4)
    first["buffer.bin"] = buffer(a(u32(10)), other(u32(7), u32(8), u32(9)),
                                 a(u32(11)))
    case("opencl/duplicate_ids", "Linked programs number their strings anew: "
         "what follows tells them apart.", first,
         "buffer.bin first.co second.co")
    same = {"app.co": hsa([b"1:1:4:first %d\\n", b"1:1:4:second %d\\n"]),
            "buffer.bin": buffer(a(u32(10)), a(u32(11)))}
    case("opencl/duplicate_ids_same_size", "Two strings of an ID that take "
         "the same bytes: the first, and said.", same)
    linked_cases()
    case("opencl/nearly_full", "So full that the longest message may not have "
         "fitted.", ocl(*[b(u32(i), u32(i)) for i in range(8)],
                        strings=[a, b], capacity=108))
    case("opencl/used_beyond_file", "The header says more than the file has.",
         ocl(a(u32(1)), b(u32(2), u32(3)), b(u32(4), u32(5)), strings=[a, b],
             cut=8 + 8 + 12 + 4))
    case("opencl/used_beyond_capacity", "A header that contradicts itself.",
         ocl(a(u32(1)), strings=[a], used=5000))
    case("opencl/stale", "What lies behind the used part is not read.",
         ocl(a(u32(1)), strings=[a], tail=a(u32(666))))
    case("opencl/empty", "Nothing was printed.", ocl(strings=[a]))
    case("opencl/short_file", "Seven bytes.",
         {"app.co": hsa([a.row()]), "buffer.bin": bytes(7)})
    case("opencl/stray_bytes", "A used part that ends in three bytes.",
         ocl(a(u32(1)), b"\1\0\0", strings=[a]))
    case("opencl/code_object_v7", "A code object newer than all that are "
         "known is read all the same.",
         {"app.co": hsa([a.row()], 7), "buffer.bin": buffer(a(u32(1)))})
    case("opencl/stdin", "The buffer from standard input.",
         ocl(a(u32(1)), b(u32(2), u32(3)), strings=[a, b]),
         "- app.co < buffer.bin")


def linked_cases():
    """Strings of two code objects that share IDs."""
    def two(first, second, *entries):
        return {"first.co": hsa([s.row() for s in first]),
                "second.co": hsa([s.row() for s in second]),
                "buffer.bin": buffer(*entries)}

    words = "buffer.bin first.co second.co"
    tick, count = Ocl(1, b"tick\\n"), Ocl(1, b"count %d\\n", 4)
    mark = Ocl(2, b"mark\\n")
    case("opencl/duplicate_ids_longer", "A short entry and one behind it, or "
         "one that is longer: the other reading takes more bytes, and the "
         "entry behind may be none.",
         two([tick, mark], [count], count(u32(70000)), tick(), mark(),
             count(u32(90000))), words)
    number, ratio = Ocl(1, b"number %d\\n", 4), Ocl(1, b"ratio %f\\n", 4)
    case("opencl/duplicate_ids_types", "Equal sizes: what the bytes look like "
         "tells them apart.",
         two([number], [ratio], number(u32(7)), ratio(f32(0.5)),
             ratio(f32(12.25)), number(u32(-3))), words)
    mine, its = Ocl(1, b"mine %d\\n", 4), Ocl(1, b"its %d\\n", 4)
    end = Ocl(2, b"end %d %d\\n", 4, 4)
    case("opencl/duplicate_ids_one_file", "What is beyond doubt is all of the "
         "second file, so the rest is likelier to be as well.",
         two([mine], [its, end], its(u32(500)),
             *[end(u32(i), u32(i + 1000)) for i in range(6)]), words)
    case("opencl/duplicate_ids_gap", "Damage between entries of strings that "
         "share an ID.",
         two([tick, mark], [count], count(u32(70000)), u32(666, 777, 888, 999),
             count(u32(80000)), tick(), tick()), words)
    half = Ocl(1, b"half %hd\\n", 2)
    case("opencl/duplicate_ids_odd_size", "A hostile row: entries do not begin "
         "at whole dwords.",
         two([half], [count], half(b"\7\0"), count(u32(70000)),
             half(b"\x08\0"), half(b"\x09\0")), words)
    text, other = Ocl(1, b"old %s %d\\n", 8, 4), Ocl(1, b"new %s %d\\n", 4, 4)
    case("opencl/duplicate_ids_ages", "Compilers of both ages, and texts of a "
         "dword.",
         two([text], [other],
             *[e for i in range(3) for e in (
                 text(b"good", u32(100 + i), STALE[:4]),
                 other(b"evil", u32(200 + i)))]), words)


def choice_cases():
    """Which format a buffer is, when strings of several are there."""
    a, text = Ocl(1, b"opencl %d\\n", 4), b"hip %d\n"
    out = base.OUT
    files = {"llpc.elf": base.image(out), "opencl.co": hsa([a.row()]),
             "hip.co": hsa([hip_row(text)])}
    for name, data in (("llpc", base.buffer(out(5))),
                       ("opencl", buffer(a(u32(5)))),
                       ("hip", buffer(hip(text, u64(5))))):
        case("cli/choose_" + name, "Strings of three formats: the buffer's "
             "first bytes say that it is %s." % name,
             dict(files, **{"buffer.bin": data}),
             "buffer.bin llpc.elf opencl.co hip.co")
        case("cli/choose_%s_stdin" % name, "The same from standard input.",
             dict(files, **{"buffer.bin": data}),
             "- llpc.elf opencl.co hip.co < buffer.bin")
    many = Ocl(1, b"%d of %d, %d\\n", 4, 4, 4)
    wide = Ocl(2, b"%s %d\\n", 2048, 4)
    case("opencl/explained_long", "A buffer of no whole pages, longer than what "
         "is looked at, which small ids explain from one end to the other.",
         ocl(*[many(u32(i, 5000, i % 7)) for i in range(5000)],
             strings=[many, wide], capacity=100000),
         "--tail 2 buffer.bin app.co")
    case("opencl/explained_wide", "The same of long texts: an entry is cut "
         "where the look ends, and hardly a byte is zero.",
         ocl(*[wide(b"w" * 2047, u32(0x7f000000 + i)) for i in range(48)],
             strings=[many, wide], capacity=99330),
         "stats --output json buffer.bin app.co", ("json",))
    case("opencl/explained_one", "One entry, as short as this: the header is "
         "explained with it.",
         ocl(wide(b"w" * 2047, u32(-1)), strings=[many, wide],
             capacity=0x00fefdfe, cut=2064),
         "buffer.bin app.co")
    case("cli/choose_forced", "--format decides, whatever it looks like.",
         dict(files, **{"buffer.bin": buffer(a(u32(5)))}),
         "--format llpc buffer.bin llpc.elf opencl.co hip.co")
    case("cli/strings_rocm", "Strings of OpenCL and HIP as a list.",
         {"opencl.co": hsa([a.row(), Ocl(2, b"%s %v3hhd\\n", 8, 4).row()]),
          "hip.co": hsa([hip_row(text), hip_row(b"%s %*d %f\n")])},
         "strings opencl.co hip.co", ())


# ---- HIP ----

def pad8(data):
    return data + bytes(-len(data) % 8)


def text8(text):
    return pad8(text + b"\0")


def md5(text):
    return int.from_bytes(hashlib.md5(text).digest()[:8], "little")


def hip_row(text, ident=None):
    return b"0:0:%x,%s" % (md5(text) if ident is None else ident, text)


def hip(text, *arguments, stderr=False, constant=True, size=None, ident=None):
    body = b"".join(arguments)
    if constant:
        body = u64(md5(text) if ident is None else ident) + body
    else:
        body = text8(text) + body
    size = 4 + len(body) if size is None else size
    return u32(size << 2 | constant << 1 | stderr) + body


def hips(*entries, texts, rows=(), **how):
    return {"app.co": hsa([hip_row(t) for t in texts] + list(rows)),
            "buffer.bin": buffer(*entries, **how)}


def hip_cases():
    n, s = b"n=%d %s\n", b"%s and %s and %s|\n"
    case("hip/worked_example", "The worked example of the layout, with the "
         "string by its hash and in the entry.",
         hips(hip(n, u64(7), text8(b"abc")),
              hip(n, u64(7), text8(b"abc"), constant=False), texts=[n]))
    case("hip/mixed_streams", "Constant and other formats, to both streams.",
         hips(hip(b"out %d\n", u64(1)), hip(b"err %d\n", u64(2), stderr=True),
              hip(b"made %d\n", u64(3), constant=False),
              hip(b"made err %d\n", u64(4), constant=False, stderr=True),
              texts=[b"out %d\n", b"err %d\n"]))
    case("hip/verbose", "The stream in text, with -v.",
         hips(hip(b"out %d\n", u64(1)), hip(b"err %d\n", u64(2), stderr=True),
              texts=[b"out %d\n", b"err %d\n"]), "-v buffer.bin app.co",
         ("text",))
    case("hip/b1_same_format_twice", "B1: the same format used twice gives "
         "two equal rows: normal.",
         hips(hip(n, u64(1), text8(b"x")), texts=[n, n]))
    for size in (7, 8, 9, 15, 16, 17):
        text = b"%d" + b"x" * (size - 4) + b"\n\0"
        case("hip/b2_b3_text_of_%d" % size, "B2, B3: a format string in the "
             "entry, of %d bytes with its NUL: its padding, or none, is no "
             "argument, and the next entry is found." % size,
             hips(hip(text[:-1], u64(1), constant=False), hip(n, u64(2),
                                                              text8(b"x")),
                  texts=[n]))
    big = b"a long text " * 2000
    case("hip/b8_large_entry", "B8: entries larger than a staging buffer.",
         hips(*[hip(n, u64(i), text8(big)) for i in range(3)], texts=[n],
              capacity=100000), kinds=PACKED)
    long = b"%d " + b"x" * 70000
    case("hip/long_format", "A format string in the entry that is longer than "
         "64 KiB is cut there, and what follows is read.",
         hips(hip(long, u64(5), constant=False), hip(n, u64(2), text8(b"x")),
              texts=[n], capacity=100000), kinds=PACKED)
    case("hip/b4_unknown_hash", "B4: an unknown hash is shown and stepped "
         "over.", hips(hip(b"a %d\n", u64(1)), hip(b"unknown %d\n", u64(2)),
                       hip(b"a %d\n", u64(3)), texts=[b"a %d\n"]))
    raw = b"a:b,c \\n \\72 \"q\" %d\nsecond line %d\n"
    case("hip/raw_format", "Formats are raw: colons, commas, backslashes, "
         "newlines.", hips(hip(raw, u64(1), u64(2)), texts=[raw]))
    zeros = next(b"leading %d %%d\n" % i for i in range(10000)
                 if md5(b"leading %d %%d\n" % i) >> 56 == 0)
    case("hip/hash_leading_zeros", "A hash that begins with zeros, which the "
         "row does not have.", hips(hip(zeros, u64(5)), texts=[zeros]))
    star = b"[%*.*f] [%-*d]\n"
    case("hip/stars", "Width and precision from the arguments.",
         hips(hip(star, u64(10), u64(2), f64(3.14159), u64(5), u64(42)),
              hip(star, u64(-10 & 0xffffffff), u64(-1 & 0xffffffff), f64(1),
                  u64(0), u64(7)), texts=[star]))
    for name, text in (("b6_width", b"%10s|%i\n"), ("b6_precision",
                                                    b"%.2s|%i\n")):
        case("hip/" + name, "B6: the next argument is found by the string's "
             "bytes, not by what is printed.",
             hips(hip(text, text8(b"hello"), u64(5)),
                  hip(text, text8(b"a long string of 27 bytes.."), u64(6)),
                  texts=[text]))
    case("hip/b7_percent_at_end", "B7: a lone percent sign and unknown "
         "conversions do not end the message.",
         hips(hip(b"a %d %y b %", u64(1), u64(2)),
              texts=[b"a %d %y b %"]))
    case("hip/b9_fewer_arguments", "B9: text after a missing argument stays.",
         hips(hip(b"a %d b %d c\n", u64(1)), texts=[b"a %d b %d c\n"]))
    case("hip/more_arguments", "Arguments that no conversion takes.",
         hips(hip(b"a %d\n", u64(1), u64(2), f64(3)), texts=[b"a %d\n"]),
         "-v buffer.bin app.co")
    case("hip/null_one", "A null string takes no bytes.",
         hips(hip(n, u64(7)), hip(b"[%s] %d\n", u64(8)),
              texts=[n, b"[%s] %d\n"]))
    case("hip/null_of_three", "Which of three strings is null cannot be told "
         "when they are alike; when only one way fits, it can.",
         hips(hip(s, text8(b"a"), text8(b"b")),
              hip(s, text8(b"a"), text8(b"b"), text8(b"c")), hip(s),
              texts=[s]))
    order = b"%d %s %lld %s\n"
    case("hip/null_between_numbers", "Null strings between numbers.",
         hips(hip(order, u64(1), u64(0x4142434445464748), text8(b"last")),
              hip(order, u64(1), text8(b"first"), u64(2)),
              hip(order, u64(1), u64(2)), texts=[order]))
    case("hip/empty_string", "An empty string has its NUL.",
         hips(hip(n, u64(1), text8(b"")), texts=[n]))
    case("hip/string_without_end", "A string that does not end in its entry "
         "is cut there.", hips(hip(n, u64(1), b"12345678"),
                               hip(n, u64(2), text8(b"ok")), texts=[n]))
    case("hip/padding_undefined", "What follows a NUL is anything.",
         hips(hip(n, u64(1), b"ab\0\xff\xfe\xfd\xfc\xfb"), texts=[n]))
    widths = b"%d %u %hhd %hd %ld %lld %x %c %p\n"
    case("hip/integers", "Integers are stored zero-extended: the conversion "
         "says how wide they are.",
         hips(hip(widths, u64(0xfffffffe), u64(0xfffffffe), u64(0xff),
                  u64(0xffff), u64(-3), u64(-4), u64(0xffffffff), u64(65),
                  u64(0x7f00deadbeef)), texts=[widths]))
    case("hip/empty_format", "printf(\"\") has its format in the entry.",
         hips(hip(b"", constant=False), hip(b"a\n"), texts=[b"a\n"]))
    for size in (0, 4, 11, 13):
        case("hip/b5_size_%d" % size, "B5: a control word of %d bytes." % size,
             hips(hip(b"a %d\n", u64(1)), hip(b"a %d\n", u64(2), size=size),
                  hip(b"a %d\n", u64(3)), texts=[b"a %d\n"]))
    case("hip/b5_size_huge", "A control word of a gigabyte.",
         hips(hip(b"a %d\n", u64(1)), hip(b"a %d\n", u64(2), size=(1 << 30) - 4),
              hip(b"a %d\n", u64(3)), texts=[b"a %d\n"]))
    case("hip/md5_mismatch", "A row whose hash is not that of its text.",
         hips(hip(b"b %d\n", u64(1), ident=0x1234), texts=[],
              rows=[hip_row(b"b %d\n", 0x1234)]))
    case("hip/dummy_row", "The row of modules without constant formats.",
         hips(hip(b"only %d\n", u64(1), constant=False), texts=[],
              rows=[b'0:0:ffffffff,"Non const format string"']),
         "--format hip buffer.bin app.co")
    case("hip/guessed", "Without strings: inline formats say what it is.",
         {"buffer.bin": buffer(hip(b"only %d\n", u64(1), constant=False))},
         "buffer.bin")
    case("hip/inspect", "Word by word: a hash, a text, a null string.",
         hips(hip(n, u64(7), text8(b"abc")), hip(n, u64(7)),
              hip(b"made %d\n", u64(3), constant=False, stderr=True),
              texts=[n]), "inspect buffer.bin app.co", ())
    case("hip/not_hip", "A buffer of OpenCL with HIP's code object: nothing is "
         "made of what is no text.",
         hips(u32(33, 1), u32(34), f32(-0.0), u32(20 << 2, 0xfffffffe,
                                                 0xffffffff, 0xff, 0),
              u32(16 << 2, 0, 0, 5), u32(33, 2), texts=[n]))
    case("hip/guess_is_close", "Without strings: OpenCL could be meant.",
         {"buffer.bin": buffer(hip(b"a %d\n", u64(1)))}, "buffer.bin")
    case("hip/size_too_small", "Fewer bytes than the arguments need.",
         hips(hip(b"%d %d %d\n", u64(1), u64(2)), texts=[b"%d %d %d\n"]))
    case("hip/odd_bytes", "Bytes that are no whole argument.",
         hips(hip(b"%d\n", u64(1), b"\1\2\3\4"), texts=[b"%d\n"]))
    case("hip/nearly_full", "So full that a message may not have fitted.",
         hips(hip(n, u64(7), text8(b"abc")), texts=[n], capacity=40))


def hip_evidence():
    """Null strings and constant bits, told by all that the bytes say."""
    order = b"%s %d %s\n"
    case("hip/null_upper_half", "A null string before a number: as if none "
         "were null, the number has an upper half.",
         hips(hip(order, u64(65), text8(b"12345678xyz")),
              hip(order, u64(200), text8(b"a longer text")), texts=[order]))
    case("hip/null_or_letter", "A null string, or one of a letter: both fit "
         "nearly as well, which is said.",
         hips(hip(order, u64(65), text8(b"abc")), texts=[order]))
    case("hip/null_inline", "The same where the format string stands in the "
         "entry.", hips(hip(order, u64(65), text8(b"12345678xyz"),
                            constant=False),
                        hip(order, u64(65), text8(b"abc"), constant=False),
                        texts=[]), "--format hip buffer.bin app.co")
    limit = b"%s %lu %10s|%d\n"
    case("hip/null_limits", "Limits of types are usual numbers, and no texts "
         "behind a null string.",
         hips(hip(limit, text8(b"e"), u64(1 << 63),
                  b"\x1d\x1b\\\xbe\x9d\0xy", u64(42)), texts=[limit]))
    many = b"%s " * 20 + b"%d\n"
    case("hip/null_of_20", "One of 20 strings is null: the number says that "
         "there is one, its neighbours are alike.",
         hips(hip(many, *[text8(b"text %d" % i) for i in range(19)], u64(7)),
              hip(many, *[text8(b"text %d" % i) for i in range(20)], u64(7)),
              texts=[many]))
    text = b"n=%d %s\n"
    entries = [hip(text, u64(i), text8(b"abc")) for i in (7, 8, 9)]
    lost = bytes([entries[1][0] & ~2]) + entries[1][1:]
    case("hip/constant_bit_lost", "A control word that says that a format "
         "string follows, and a known hash does: no message is made of it.",
         hips(entries[0], lost, entries[2], texts=[text]))
    case("hip/constant_bit_lost_unknown", "The same with a hash that nobody "
         "knows.", hips(entries[0], u32(u32_of(entries[1]) & ~2) +
                        u64(0x9f1203ff04a5b6c7) + entries[1][12:],
                        entries[2], texts=[text]))
    made = hip(b"made %d\n", u64(3), constant=False)
    case("hip/constant_bit_set", "A format string where a hash should be.",
         hips(entries[0], bytes([made[0] | 2]) + made[1:], entries[2],
              texts=[text]))
    case("hip/inline_colours", "Format strings in entries, with colours and "
         "in UTF-8.",
         hips(hip(b"\x1b[31mred %d\x1b[0m\n", u64(1), constant=False),
              hip("größe → %d\n".encode(), u64(2), constant=False),
              texts=[text]))
    case("hip/inline_latin1", "One in another encoding: it could be a hash.",
         hips(hip(b"gr\xf6sse %d\n", u64(1), constant=False), texts=[text]))


def u32_of(entry):
    return int.from_bytes(entry[:4], "little")


# ---- hostcall ----

BEGIN, LAST = 1, 2


def descriptor(length, flags=0, ident=0):
    return ident << 8 | length << 5 | flags


class Recording:
    """Packets as they are served, old headers or new ones."""

    def __init__(self, new=False):
        self.new, self.packets = new, []

    def packet(self, lanes, service=2, mask=None, control=1):
        """lanes: {lane: (descriptor, data)}."""
        payload = bytearray(b"\xee" * 4096)
        for lane, (desc, data) in lanes.items():
            slot = u64(desc) + data
            payload[64 * lane:64 * lane + len(slot)] = slot
        mask = sum(1 << lane for lane in lanes) if mask is None else mask
        head = struct.pack("<QII", mask, service, 0) if self.new else \
            struct.pack("<QQII", 0, mask, service, control)
        self.packets.append((head, bytes(payload)))
        return self

    def message(self, lanes, *data, ident=None, end=True, begin=True):
        """One printf call of some lanes: {lane: id}; data: of each packet, the
        same for all lanes, or a function of the lane."""
        for i, piece in enumerate(data):
            slots = {}
            for lane, number in lanes.items():
                d = piece(lane) if callable(piece) else piece
                flags = (BEGIN if i == 0 and begin else 0) | \
                    (LAST if i == len(data) - 1 and end else 0)
                slots[lane] = (descriptor(len(d) // 8, flags,
                                          0 if flags & BEGIN else number), d)
            self.packet(slots)
        return self

    def bytes(self):
        return b"".join(h + p for h, p in self.packets)

    def pool(self):
        """The same packets as they lie in the device's memory."""
        n = len(self.packets)
        at = 0x7f0000001000
        arrays = b""
        if self.new:
            phases = u32(*[1] * n) + u32(*[0] * n) + u32(*[0] * n)
            heads = b"".join(h for h, _ in self.packets)
            head = u64(at, at + 4 * n, at + 8 * n, at + 12 * n,
                       at + 12 * n + len(heads), 0, n)
            arrays = phases + heads
        else:
            heads = b"".join(h for h, _ in self.packets)
            head = u64(at, at + len(heads), 0, 0, 0, n - 1, 0)
            arrays = heads
        return head + arrays + b"".join(p for _, p in self.packets)


def call(text, *arguments, control=0):
    """The qwords of a message."""
    return u64(control) + text8(text) + b"".join(arguments)


def pieces(data, n=7):
    """Cut into packets of n qwords; the first has the control word alone, as
    device code sends it."""
    out, data = [data[:8]], data[8:]
    while data:
        out.append(data[:8 * n])
        data = data[8 * n:]
    return out


def hostcall(name, shows, data, cmd="buffer.bin", kinds=KINDS):
    case("hostcall/" + name, shows, {"buffer.bin": data}, cmd, kinds)


def hostcall_cases():
    worked = [u64(0), text8(b"n=%d %s\n"), u64(7), text8(b"abc")]
    for new in (False, True):
        age = "new" if new else "old"
        hostcall("worked_example_" + age, "The worked example, recorded with "
                 "%s headers." % age,
                 Recording(new).message({0: 5}, *worked).bytes())
    long = b"a string of more than one hundred bytes, " * 3
    hostcall("long_string", "Strings over several packets.",
             Recording().message({3: 9}, *pieces(
                 call(b"<%s> %d\n", text8(long), u64(42)))).bytes())
    hostcall("long_format", "A format string of more than 64 KiB is cut "
             "there.", Recording().message({3: 9}, *pieces(call(
                 b"%d " + b"x" * 70000, u64(42)))).message(
                     {0: 5}, *worked).bytes(), kinds=PACKED)
    r = Recording()
    for i in range(20):
        r.message({0: 5 + i}, *worked)
    for name, cmd in (("long_recording", "buffer.bin"),
                      ("long_recording_stdin", "- < buffer.bin")):
        hostcall(name, "More than 64 KiB of packets: what they are is told by "
                 "the first ones, however they come.", r.bytes(), cmd)
    lanes = {lane: 100 + lane for lane in (0, 5, 31, 32, 63)}
    hostcall("wave64", "Lanes of a wave of 64, each with its own message.",
             Recording().message(
                 lanes, u64(0), text8(b"lane %d says %s\n"),
                 lambda lane: u64(lane),
                 lambda lane: text8(b"hi" if lane < 32 else b"ho")).bytes())
    r = Recording()
    for first in range(0, 10000, 64):
        r.message({lane: lane for lane in range(min(64, 10000 - first))},
                  u64(1), text8(b"%s:%u: %s: Device-side assertion `%s' "
                                b"failed.\n"),
                  text8(b"reduce.hip"), u64(41), text8(b"reduce"),
                  text8(b"i < n"))
    hostcall("assert_10000", "HIP's assert as its headers send it, on 10,000 "
             "lanes: one line.", r.bytes(), "--collapse buffer.bin",
             ("text", "json"))
    r = Recording()
    a, b = pieces(call(b"first %d\n", u64(1))), pieces(call(b"second %d\n",
                                                            u64(2)))
    r.packet({1: (descriptor(1, BEGIN), a[0])})
    r.packet({2: (descriptor(1, BEGIN), b[0])})
    r.packet({2: (descriptor(len(b[1]) // 8, LAST, 8), b[1])})
    r.packet({1: (descriptor(len(a[1]) // 8, LAST, 7), a[1])})
    hostcall("interleaved_lanes", "Two lanes between each other.", r.bytes())
    r = Recording()
    for ident, (x, _) in ((7, a), (8, b)):
        r.packet({1: (descriptor(1, BEGIN), x)})
    r.packet({1: (descriptor(len(b[1]) // 8, LAST, 8), b[1])})
    r.packet({1: (descriptor(len(a[1]) // 8, LAST, 7), a[1])})
    hostcall("same_lane_two_waves", "Two waves, the same lane: ids are given "
             "in the order of beginnings, so the first to go on is the second.",
             r.bytes())
    hostcall("same_lane_cut_off", "The same without the first beginning: the "
             "second can be that of either message.", r.bytes()[4120:])
    r = Recording()
    for ident, control in ((0, 0), (1, 1)):
        r.packet({1: (descriptor(1, BEGIN), u64(control))})
    one = text8(b"one %d\n") + u64(1)
    two = text8(b"two %d\n") + u64(2)
    r.packet({1: (descriptor(len(two) // 8, LAST, 1), two)})
    r.packet({1: (descriptor(1, BEGIN), u64(1))})
    r.packet({1: (descriptor(len(one) // 8, LAST, 0), one)})
    r.packet({1: (descriptor(len(two) // 8, LAST, 1), two)})
    hostcall("ids_reused", "An id that is free again is given again.",
             r.bytes(), "-v buffer.bin")
    r = Recording()
    for control in (0, 1, 1):
        r.packet({1: (descriptor(1, BEGIN), u64(control))})
    for ident, data in ((7, one), (3, two), (5, one)):
        r.packet({1: (descriptor(len(data) // 8, LAST, ident), data)})
    hostcall("ids_of_no_rule", "Ids that no rule gives: each message can have "
             "begun with any of the beginnings that are left.", r.bytes(),
             "-v buffer.bin")
    hostcall("missing_end", "A message that does not end.",
             Recording().message({0: 5}, *pieces(call(b"cut %d %s\n", u64(7))),
                                 end=False).bytes())
    hostcall("only_begin", "Nothing but beginnings.",
             Recording().message({0: 5, 1: 6}, u64(0), end=False).bytes())
    hostcall("unknown_id", "Packets of a message whose beginning is not "
             "there.", Recording().message({4: 77}, text8(b"lost"), u64(1),
                                           begin=False)
             .message({0: 5}, *worked).bytes())
    hostcall("stderr", "Control 1 is standard error.",
             Recording().message({0: 5}, *pieces(call(b"err %d\n", u64(1),
                                                      control=1))).bytes())
    hostcall("control_2", "Control 2 is nothing that is known.",
             Recording().message({0: 5}, *pieces(call(b"odd %d\n", u64(1),
                                                      control=2))).bytes())
    hostcall("single_packet", "A message in one packet.",
             Recording().message({0: 0}, call(b"%d\n", u64(9))).bytes())
    hostcall("length_0", "Packets without data.",
             Recording().message({0: 5}, u64(0), b"", text8(b"a %d\n"), b"",
                                 u64(3), b"").bytes())
    hostcall("length_7", "Packets with all seven qwords.",
             Recording().message({0: 5}, *pieces(call(
                 b"%d %d %d %d %d %d %d %d %d %d %d %d\n",
                 *[u64(i) for i in range(12)]))).bytes())
    hostcall("empty_string", "A null string is sent as an empty one.",
             Recording().message({0: 5}, *pieces(call(
                 b"[%s] %d\n", u64(0), u64(3)))).bytes())
    hostcall("reserved_bits", "A descriptor with bits that must be zero.",
             Recording().packet({0: (descriptor(3, BEGIN | LAST) | 8,
                                     call(b"a %d\n", u64(1)))}).bytes())
    hostcall("other_services", "Packets for other services are counted.",
             Recording().packet({0: (0, b"")}, service=1)
             .message({0: 5}, *worked).packet({0: (0, b"")}, service=4)
             .packet({0: (0, b"")}, service=9).bytes(), "-v buffer.bin")
    hostcall("verbose", "Where messages come from, in text.",
             Recording().message({0: 5, 9: 6}, *worked).bytes(),
             "-v buffer.bin", ("text",))
    for new in (False, True):
        r = Recording(new).message({0: 5, 1: 6}, call(b"%d\n", u64(9)))
        r.message({2: 7}, u64(0), text8(b"half a message"), end=False)
        if not new:
            r.packet({0: (descriptor(3, BEGIN | LAST),
                          call(b"not handed over\n"))}, control=0)
        hostcall("pool_" + ("new" if new else "old"), "A pool of packets as it "
                 "lies in memory: most messages are not whole there.", r.pool())
    r = Recording(True)
    for i in range(8):
        r.message({i: 0}, call(b"%d\n", u64(i)))
    hostcall("pool_new_of_8", "A new pool without a doorbell: read as an old "
             "one, of one packet, nothing would be in it.", r.pool())
    waves = Recording().packet({0: (descriptor(1, BEGIN), u64(0))})
    waves.packet({0: (descriptor(1, BEGIN, 1 << 37), u64(0))})
    waves.packet({0: (descriptor(1, BEGIN), u64(0))})
    for ident in (8, 7, 9):
        waves.message({0: ident}, call(b"id %d\n", u64(ident))[8:],
                      begin=False)
    hostcall("begin_with_id", "Three waves on one lane; a bit of a beginning's "
             "id is set. The others are joined as without it.", waves.bytes())
    hostcall("pool_new_cut", "The same, cut within packet 6: an old pool with "
             "a packet for another service fits as well.", r.pool()[:-5000],
             "--format hostcall buffer.bin")
    hostcall("pool_old_of_1", "An old pool of one packet, the mask of which is "
             "0: the format is found by its size.", Recording().message(
                 {9: 0}, call(b"one\n")).pool())
    linked = Recording().message({i: i for i in range(8)}, *worked).bytes()
    hostcall("next_of_a_list", "Recorded packets whose first two qwords, next "
             "and lanes, are those of a small pool as well.",
             u64(0x40) + linked[8:].replace(b"\xee", b"\0"))
    hostcall("cut_packet", "The recording ends within a packet.",
             Recording().message({0: 5}, *worked).bytes()[:-100],
             "--format hostcall buffer.bin")
    hostcall("no_packets", "Not a recording at all.", b"hello, world\n" * 10,
             "--format hostcall buffer.bin")
    hostcall("inspect", "Entries, origin and arguments.",
             Recording().message({0: 5}, *worked).bytes()[:3 * 4120],
             "inspect buffer.bin", ())


# ---- what compilers' own code wrote ----

def dump_cases(folder):
    def read(name):
        with open(os.path.join(folder, name), "rb") as f:
            return f.read()
    for kind, name in (("opencl", "ocl"), ("hip", "hip")):
        for dump in ("dump", "overflow"):
            case("%s/compiled_%s" % (kind, dump), "clang's own lowering of "
                 "printf, run on a CPU.",
                 {"app.co": read(name + "_app.co"),
                  "buffer.bin": read("%s_%s.bin" % (name, dump))})


def write(path, data, pack=False):
    if pack or len(data) > 4096:
        path, data = path + ".gz", gzip.compress(data, 9, mtime=0)
    with open(path, "wb") as f:
        f.write(data)


def main():
    root, dumps = arguments.folders(__doc__, "CASES_FOLDER", "[DUMPS_FOLDER]")
    ocl_conversions()
    ocl_rows()
    ocl_strings()
    ocl_evidence()
    ocl_walk()
    hip_cases()
    hip_evidence()
    hostcall_cases()
    choice_cases()
    if dumps:
        dump_cases(dumps)
    for name, (shows, files, cmd, kinds) in CASES.items():
        folder = os.path.join(root, name)
        os.makedirs(folder, exist_ok=True)
        for file, data in files.items():
            write(os.path.join(folder, file), data)
        write(os.path.join(folder, "cmd"), (cmd + "\n").encode())
        write(os.path.join(folder, "origin.md"), (
            shows + "\nWritten by `tests/make/rocm_cases.py`.\n").encode())
        expected = ["expect." + k for k in kinds or ("out",)]
        for file in expected + ["expect.err", "expect.rc"]:
            path = os.path.join(folder, file)
            if not os.path.exists(path) and not os.path.exists(path + ".gz"):
                write(path.removesuffix(".gz"), b"", path.endswith(".gz"))


if __name__ == "__main__":
    main()
