#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the named LLPC cases: one folder for each known defect of the driver's
own decoder (x01 to x33) and of the shader compiler (l1 to l6) that a decoder
can meet, and some for the command line.

    llpc_cases.py CASES_FOLDER

Inputs, `cmd` and origin.md are rewritten; expectations are made empty where
there are none, for REGENERATE=1 of run_cases.py to fill in (read them!).
"""
import gzip
import os
import struct

import arguments

MASK48 = (1 << 48) - 1


# ---- MessagePack, shortest forms ----

def sized(n, fix, fix_max, *wide):
    """A type byte with a length: fix | n, or the first wide form that fits."""
    if n <= fix_max:
        return bytes([fix | n])
    for code, form, limit in wide:
        if n < limit:
            return bytes([code]) + struct.pack(form, n)
    raise ValueError(n)


def pack(v):
    if isinstance(v, Verbatim):
        return v.bytes
    if v is None:
        return b"\xc0"
    if isinstance(v, int):
        return sized(v, 0, 127, (0xcc, ">B", 1 << 8), (0xcd, ">H", 1 << 16),
                     (0xce, ">I", 1 << 32), (0xcf, ">Q", 1 << 64))
    if isinstance(v, str):
        v = v.encode()
    if isinstance(v, bytes):
        return sized(len(v), 0xa0, 31, (0xd9, ">B", 1 << 8),
                     (0xda, ">H", 1 << 16), (0xdb, ">I", 1 << 32)) + v
    if isinstance(v, list):
        return sized(len(v), 0x90, 15, (0xdc, ">H", 1 << 16)) + \
            b"".join(pack(x) for x in v)
    return sized(len(v), 0x80, 15, (0xde, ">H", 1 << 16)) + \
        b"".join(pack(k) + pack(x) for k, x in v.items())


class Verbatim:
    def __init__(self, data):
        self.bytes = data


# ---- ELF ----

def pad(data, align):
    return data + bytes(-len(data) % align)


def note(owner, kind, desc, align=4):
    name = owner + b"\0"
    return pad(pad(struct.pack("<III", len(name), len(desc), kind) + name,
                   align) + desc, align)


def elf(notes, section=".note", segment=False, align=4):
    """A 64-bit AMDGPU ELF file (machine 224, PAL) with a note section, a
    PT_NOTE program header, or both, whose alignment is as stated."""
    n_headers = 64 + (56 if segment else 0)
    names = b"\0.names\0" + (section or "").encode() + b"\0"
    body = notes + names
    body += bytes(-(n_headers + len(body)) % 8)
    sections = b""
    if section:
        sections = bytes(64)
        sections += struct.pack("<IIQQQQIIQQ", 8, 7, 0, 0, n_headers,
                                len(notes), 0, 0, align, 0)
        sections += struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0,
                                n_headers + len(notes), len(names), 0, 0, 1, 0)
    head = b"\x7fELF" + bytes([2, 1, 1, 65]) + bytes(8)
    head += struct.pack("<HHIQQQIHHHHHH", 3 if segment else 1, 224, 1, 0,
                        64 if segment else 0,
                        n_headers + len(body) if section else 0, 0x41, 64, 56,
                        1 if segment else 0, 64, 3 if section else 0,
                        2 if section else 0)
    if segment:
        head += struct.pack("<IIQQQQQQ", 4, 4, n_headers, n_headers, n_headers,
                            len(notes), len(notes), align)
    return head + body + sections


def archive(members):
    out = b"!<arch>\n"
    for name, data in members:
        out += b"%-16s%-12d%-6d%-6d%-8s%-10d`\n" % (name, 0, 0, 0, b"644",
                                                    len(data))
        out += data + b"\n" * (len(data) % 2)
    return out


# ---- format strings and buffers ----

class Str:
    """A format string: its id, and how wide its arguments are ('4' or '8')."""

    def __init__(self, ident, text, widths="", mask=None, argc=None):
        self.id, self.text, self.widths = ident, text, widths
        self.argc = len(widths) if argc is None else argc
        self.mask = mask
        if mask is None:
            words = [0] * ((len(widths) + 63) // 64)
            for i, w in enumerate(widths):
                words[i // 64] |= (w == "8") << (i % 64)
            self.mask = words

    def row(self, **more):
        row = {".64bit_arguments": self.mask, ".argument_count": self.argc,
               ".index": self.id, ".string": self.text}
        row.update(more)
        return row

    def __call__(self, *values, size=None):
        """An entry; float values by their width, the rest as integers."""
        payload = b""
        for w, v in zip(self.widths, values):
            form = {"4f": "<f", "8f": "<d", "4": "<I", "8": "<Q"}[
                w + ("f" if isinstance(v, float) else "")]
            if not isinstance(v, float):
                v &= (1 << (32 if w == "4" else 64)) - 1
            payload += struct.pack(form, v)
        return entry(self.id, payload, size)


def entry(ident, payload=b"", size=None):
    size = 2 + len(payload) // 4 if size is None else size
    return struct.pack("<Q", ident << 16 | size) + payload


def words(*values):
    return struct.pack("<%dI" % len(values), *values)


def table(strings):
    return {"amdpal.format_strings": {
        ".strings": [s if isinstance(s, dict) else s.row() for s in strings],
        ".version": 1}, "amdpal.version": [2, 6]}


def metadata(doc):
    return note(b"AMDGPU", 32, pack(doc))


def image(*strings, **how):
    return elf(metadata(table(strings)), **how)


def buffer(*entries, used=None, cut=0, tail=b""):
    body = b"".join(entries)
    used = len(body) // 4 if used is None else used
    return struct.pack("<QII", used, 0, 0) + body[:len(body) - cut] + tail


# ---- the cases ----

CASES = {}


def case(name, shows, files, cmd="buffer.bin image.elf",
         kinds=("txt", "text", "json")):
    CASES["llpc/" + name] = (shows, files, cmd, kinds)


def both(*entries, strings=None, **how):
    return {"image.elf": image(*strings),
            "buffer.bin": buffer(*entries, **how)}


OUT = Str(0x123456789abc, "Output:%d\n", "4")
SIZE = Str(0xdeadbeef1122, "workgroup size:%f,%f\n", "88")
LONG = Str(0x0badc0ffee00, "long %lld then %u\n", "84")
NONE = Str(0x00aabbccddee, "no arguments\n")


def x_walk():
    case("x01_two_doubles", "X1: two 64-bit arguments take four dwords; the "
         "driver reads two. This is the worked example of the layout.",
         both(OUT(5), SIZE(1.0, 1.0), strings=[OUT, SIZE]))
    case("x02_entries_after_64bit", "X2: after an entry with 64-bit arguments "
         "the driver looks for the next header inside the payload.",
         both(LONG(-5, 7), OUT(1), LONG(1 << 40, 8), SIZE(0.5, 0.25), OUT(2),
              strings=[OUT, SIZE, LONG]))
    case("x03_unknown_id_in_the_middle", "X3: the driver ends at an unknown "
         "id; it is to be shown, stepped over, and the rest printed.",
         both(OUT(1), entry(0x777777777777, words(1, 2, 3)), OUT(2),
              entry(0x888888888888), OUT(3), strings=[OUT]))
    live = [OUT(1), bytes(12), OUT(3)]
    done = [OUT(1), OUT(2), OUT(3)]
    case("x04_in_flight_then_completed", "X4: polling while an entry is not "
         "written yet, then again: nothing may stay out of step.",
         {"image.elf": image(OUT), "live.bin": buffer(*live),
          "done.bin": buffer(*done)}, "live.bin done.bin image.elf")
    for size in (0, 1):
        case("x05_size_%d" % size, "X5: entrySize %d is below its own "
             "header." % size,
             both(OUT(1), entry(OUT.id, b"", size), OUT(2), strings=[OUT]))
    five = Str(0x555555555555, "%d %d %d %d %d\n", "44444")
    case("x06_tail_smaller_than_arguments", "X6: five arguments, entrySize 4, "
         "at the very end: the driver reads beyond its copy.",
         both(OUT(1), entry(five.id, words(10, 20)), strings=[OUT, five]))
    case("x07_overflow_straddles", "X7: the last entry runs over the end of "
         "the buffer, and more was wanted: loss is counted, nothing is "
         "dropped silently.",
         both(OUT(1), SIZE(1.0, 2.0), strings=[OUT, SIZE], cut=8,
              used=9 + 100))
    case("x08_offset_over_clamp", "X8: bufferOffset beyond 2^29 dwords, where "
         "shaders stop writing.",
         both(OUT(1), OUT(2), strings=[OUT], used=(1 << 29) + 100))
    case("x11_stale_tail", "X11: entries of an earlier run stand behind the "
         "used part and must not be printed.",
         both(OUT(1), strings=[OUT], tail=OUT(111) + OUT(112)))
    a = Str(0x1111a0000001, "first pipeline %u\n", "4")
    b = Str(0x2222b0000002, "second pipeline %f\n", "4")
    case("x33_two_pipelines", "X33: entries of two pipelines in one buffer; "
         "the driver knows the strings of one.",
         {"first.elf": image(a), "second.elf": image(b),
          "buffer.bin": buffer(a(1), b(2.5), a(3))},
         "buffer.bin first.elf second.elf")


def x_format():
    wide = Str(0x000012000001, "[%300d]\n", "4")
    left = Str(0x000012000002, "[%-300d]\n", "4")
    case("x12_width_300", "X12: a width beyond the driver's 255 bytes.",
         both(wide(-7), left(8), strings=[wide, left]))
    big = Str(0x000012000003, "%f\n", "8")
    case("x12_float_1e308", "X12: 1e308 in %f has 309 digits.",
         both(big(1e308), big(-1.7976931348623157e308), big(5e-324),
              strings=[big]))
    digits = Str(0x000013000001, "[%" + "0" * 299 + "5d]\n", "4")
    case("x13_long_specifier", "X13: a conversion of 302 characters.",
         both(digits(42), strings=[digits]))
    ld = Str(0x000014000001, "%ld %lu %lld %jd %zd %td\n", "444444")
    case("x14_long_with_32_bits", "X14: long conversions of 32-bit values: "
         "the mask decides, so -1 prints -1.",
         both(ld(*[-1] * 6), ld(1, 2, 3, 4, 5, 6), strings=[ld]))
    u64 = Str(0x000015000001, "%u %d %x %X %o\n", "88888")
    case("x15_plain_with_64_bits", "X15: conversions without a length of "
         "64-bit values print all 64 bits.",
         both(u64(*[(1 << 63) + 5] * 5), strings=[u64]))
    odd = Str(0x000016000001, "%Lf %Lf|%lc|%hhc|%hhd\n", "48444")
    case("x16_long_double", "X16: %Lf prints the stored float, %lc a character; %hhc "
         "has no meaning and is shown as written.",
         both(odd(1.5, 2.25, 65, 66, 0x1ff), strings=[odd]))
    char = Str(0x000017000001, "a%cb%cc\n", "44")
    case("x17_char_nul", "X17: %c of 0 is a NUL byte, not the end.",
         both(char(0, 0x141), strings=[char]))
    ab = Str(0x000018000001, "a %d b %d\n", "4")
    case("x18_fewer_arguments", "X18: two conversions, one argument.",
         both(ab(1), OUT(2), strings=[ab, OUT]))
    more = Str(0x000019000001, "just %d\n", "4848")
    case("x19_more_arguments", "X19: one conversion, four arguments.",
         both(more(1, 2, 3, 4), OUT(2), strings=[more, OUT]), "-v buffer.bin "
         "image.elf")
    percent = Str(0x000020000001, "100%% of %d%%%%\n", "4")
    case("x20_percent_percent", "X20: %% is one percent sign.",
         both(percent(7), strings=[percent]))
    z = Str(0x000022000001, "%y %d %! %k %m %w.\n", "4444")
    case("x22_unknown_conversion", "X22: letters that convert nothing take "
         "their argument and are shown; what is no letter takes none.",
         both(z(1, 2, 3, 4), strings=[z]))
    vec = [Str(0x000023000000 + i, t, w) for i, (t, w) in enumerate([
        ("%v2f\n", "44"), ("%v3d\n", "444"), ("%v4.3f\n", "4444"),
        ("%.3v4f\n", "4444"), ("%v8x\n", "4" * 8), ("%v16d\n", "4" * 16),
        ("%v2ld\n", "88"), ("%5v2hlf|\n", "44")])]
    case("x23_vectors", "X23: vectors, vN before or after the precision.",
         both(*[s(*[float(k + 1) if s.text[-2] in "f|" else k - 2
                    for k in range(len(s.widths))]) for s in vec],
              strings=vec))


# Each row of the driver's grammar faults: the text, its widths, its values.
GRAMMAR = [
    ("[%%d]", "", ()), ("[100%%d]", "", ()), ("[%%5d]", "", ()),
    ("[%%%d]", "4", (7,)), ("[% d]", "4", (7,)), ("[% 5d]", "4", (7,)),
    ("[%s]", "4", (1,)), ("[%p]", "4", (0xbeef,)), ("[%p]", "8", (1 << 40,)),
    ("[%n]", "4", (1,)), ("[%*d]", "44", (6, 7)), ("[%-*d]", "44", (6, 7)),
    ("[%*d]", "44", (-6, 7)), ("[%.*f]", "44", (2, 1.5)),
    ("[%.*f]", "44", (-1, 1.5)), ("[%*.*f]", "448", (9, 3, 1.5)),
    ("[%.f]", "4", (2.5,)), ("[%1$d]", "4", (7,)), ("[%'d]", "4", (1234567,)),
    ("[%s3d]", "4", (7,)), ("[%5s3d]", "4", (7,)), ("[%x4d]", "4", (0xab,)),
    ("[%u8x]", "4", (9,)), ("[50%complete]", "4", (0x43,)),
    ("[%5%d]", "4", (7,)), ("[%v4f]", "4444", (1.0, 2.0, 3.0, 4.0)),
    ("[%v16f]", "4" * 16, tuple(float(i) for i in range(16))),
    ("[%v8d]", "4" * 8, tuple(range(8))),
    ("[%v4.3f]", "4444", (1.0, 2.0, 3.0, 4.0)), ("[%ul]", "8", (1 << 40,)),
    ("[%I64d]", "4", (7,)), ("[%Lf]", "8", (1.5,)), ("[%b]", "4", (5,)),
    ("[%v5d]", "4", (5,)), ("[%vd]", "4", (5,)), ("[%hld]", "4", (5,)),
    ("[%qd]", "8", (-5,)), ("[%+ #0-'8x]", "4", (255,)), ("[%", "", ()),
    ("[%5.", "", ()), ("[%-08.3ll", "", ()), ("[%99999d]", "4", (1,)),
    ("[%*d]", "44", (99999, 1)), ("", "", ()),
]


def x_grammar():
    strings = [Str(0x210000000000 + i, text, widths)
               for i, (text, widths, _) in enumerate(GRAMMAR)]
    entries = [s(*values) for s, (_, _, values) in zip(strings, GRAMMAR)]
    case("x21_grammar", "X21: every string that the driver's regular "
         "expression reads wrongly, and others at the grammar's borders.",
         both(*entries, strings=strings))


def x_metadata():
    good = metadata(table([OUT]))
    dump = buffer(OUT(42))
    wrong = pack(table([Str(OUT.id, "wrong %d\n", "4")]))
    case("x24_foreign_note_type_32", "X24: a note of type 32 that belongs to "
         "another owner.",
         {"image.elf": elf(note(b"OTHER", 32, wrong) + good),
          "buffer.bin": dump})
    case("x25_note_section_name", "X25: the note section is not called .note.",
         {"image.elf": elf(good, section=".note.foo"), "buffer.bin": dump})
    case("x25_pt_note_only", "X25: no sections, only a program header.",
         {"image.elf": elf(good, section=None, segment=True),
          "buffer.bin": dump})
    case("x25_both", "X25: section and program header show the same note, "
         "which counts once.",
         {"image.elf": elf(good, segment=True), "buffer.bin": dump})
    case("x25_no_notes", "X25: no note at all; the driver takes section 0.",
         {"image.elf": elf(b""), "buffer.bin": dump})
    lone = note(b"AMDGPU", 32, pack(table([OUT])), align=8)
    for stated in (4, 8):
        case("note_padded_8_stated_%d" % stated, "A lone note padded to 8 "
             "bytes, in a section whose sh_addralign is %d: read with 4, its "
             "contents would begin in its padding." % stated,
             {"image.elf": elf(lone, align=stated), "buffer.bin": dump})
    case("note_padded_4_stated_8", "A lone note padded to 4 bytes, in a "
         "segment whose p_align is 8.",
         {"image.elf": elf(good, section=None, segment=True, align=8),
          "buffer.bin": dump})
    case("x26_archive_second_member", "X26: an archive whose second member "
         "has the strings.",
         {"image.ar": archive([(b"empty.o/", elf(note(b"GNU", 3, b"id"))),
                               (b"full.o/", image(OUT))]),
          "buffer.bin": dump}, "buffer.bin image.ar")
    extra = OUT.row(**{".is_abort_message": 1, ".data_count": 4,
                       ".constants": [1, 2, {"deep": [None, 2]}]})
    scalar = {".64bit_arguments": 0, ".argument_count": 1,
              ".index": 0x272727272727, ".string": "scalar mask %d\n"}
    abort = {".is_abort_message": 1, ".data_count": 4,
             ".constant_status": [1], ".constants": [7],
             ".index": 0x282828282828}
    case("x27_extra_keys", "X27: rows with more keys than four, with a number "
         "where a list belongs, and of another kind.",
         {"image.elf": image(extra, scalar, abort, NONE),
          "buffer.bin": buffer(OUT(42), NONE())})
    words = [0x74736574, 0x6c25203a, 5, 0x0a646c]
    message = {".is_abort_message": 1, ".data_count": 4,
               ".constant_status": [0b1011],
               ".constants": [words[0], words[1], words[3]],
               ".index": 0x292929292929}
    other = {".is_abort_message": 1, ".data_count": 3, ".constant": [1],
             ".constant_status": [1], ".index": 0x303030303030}
    lacks = {".is_abort_message": 1, ".data_count": 3, ".constants": [1],
             ".constant_status": [3], ".index": 0x313131313131}
    blob = message[".index"]
    case("abort_messages", "Messages of OpAbortKHR: constants stand in the "
         "metadata, the rest in the entry; one entry has all of it, one has "
         "too little, one too much.",
         {"image.elf": image(message, other, lacks, OUT),
          "buffer.bin": buffer(
              entry(blob, struct.pack("<I", 0x21)),
              entry(blob, struct.pack("<4I", *words)), OUT(1), entry(blob),
              entry(other[".index"], struct.pack("<2I", 2, 3)),
              entry(blob, struct.pack("<2I", 7, 8)), OUT(2))})
    case("x28_malformed_msgpack", "X28: metadata that ends in mid-string, and "
         "a second, sound note.",
         {"image.elf": elf(note(b"AMDGPU", 32, pack(table([NONE]))[:50]) +
                           good), "buffer.bin": dump})
    case("x28_unknown_type_byte", "X28: a byte that MessagePack never uses.",
         {"image.elf": elf(metadata({"x": Verbatim(b"\xc1")})),
          "buffer.bin": dump})
    short = Str(0x292929292929, "%d%d" * 33 + "\n", "4" * 66, mask=[0])
    case("x29_short_mask", "X29: 66 arguments, bits for 64.",
         {"image.elf": image(short),
          "buffer.bin": buffer(short(*range(66)))})
    empty = Str(0x303030303030, "")
    nul = Str(0x313131313131, "\0")
    nil = dict(Str(0x323232323232, "").row(), **{".string": None})
    case("x30_empty_string", "X30: empty strings: none, only a NUL, nil.",
         {"image.elf": image(empty, nul, nil, OUT),
          "buffer.bin": buffer(empty(), nul(), entry(0x323232323232), OUT(1))})
    other = Str(OUT.id, "Other:%lld\n", "8")
    third = Str(OUT.id, "Third:%x\n", "4")
    case("x31_collision", "X31: one id, three strings; the entry's size "
         "decides where it can, else the first loaded is taken.",
         {"a.elf": image(OUT), "b.elf": image(other), "c.elf": image(third),
          "buffer.bin": buffer(OUT(1), other(1 << 40))},
         "buffer.bin a.elf b.elf c.elf")
    case("x31_duplicate", "X31: the same string in two files is no collision.",
         {"a.elf": image(OUT, NONE), "b.elf": image(NONE, OUT),
          "buffer.bin": buffer(OUT(1), NONE())}, "buffer.bin a.elf b.elf")
    case("x32_no_code", "X32: a pipeline library of size zero.",
         {"image.elf": b"", "buffer.bin": dump},
         "--strings image.elf --buffer buffer.bin")


def l_compiler():
    pos = Str(0x4c3100000001, "pos %v4f of %d\n", "44")
    case("l1_vector_component_0", "L1: LLPC writes component 0 of a vector "
         "and counts one argument.", both(pos(0.5, 3), strings=[pos]))
    text = " ".join(["%d"] * 32 + ["%lld"]) + "\n"
    wrong = Str(0x4c3200000001, text, "4" * 32 + "8", mask=[1])
    case("l2_33_arguments_last_64bit", "L2: the mask bit of argument 32 is "
         "shifted as an int and lands on argument 0: only the length "
         "modifiers tell.",
         both(wrong(*range(32), 1 << 40), strings=[wrong]))
    for n in (32, 33):
        text = " ".join(["%lu", "%f"] + ["%d"] * (n - 2)) + "\n"
        plain = Str(0x4c3200000000 + n, text, "48" + "4" * (n - 2))
        case("l2_%d_arguments_mask_first" % n, "L2: %d scalars, a right mask "
             "and modifiers that sum to the same: the mask counts. With 33, "
             "argument 0 alone could have been shifted." % n,
             both(plain(7, 1.5, *range(n - 2)), strings=[plain]))
    halves = Str(0x4c3200000040, "%f " * 40 + "\n", "8" + "4" * 39)
    case("l2_40_arguments_doubtful", "L2: bit 0 of a mask over 40 arguments "
         "can mean argument 32, and no modifier tells.",
         both(halves(*[float(i) for i in range(40)]), strings=[halves]))
    site = Str(0x4c3300000001, "value %u\n", "8")
    case("l3_two_call_sites", "L3: one string used with 32 and with 64 bits; "
         "the last call's widths stand in the ELF.",
         both(site(1 << 40), entry(site.id, words(6)), site(7),
              strings=[site]))
    huge = Str(0x4c3400000000, "huge %d\n", "4")
    n = 65540
    case("l4_entry_size_over_16_bits", "L4: an entry of 65,542 dwords: the "
         "size is cut to 16 bits, and what is above leaks into the id.",
         both(OUT(1), struct.pack("<Q", huge.id << 16 | n + 2) +
              words(*[0xffffffff] * n), OUT(2), strings=[OUT, huge]))
    merged = Str(OUT.id | SIZE.id, "Output:%d\n", "48")
    case("l5_merged_elf", "L5: linking ORs the ids of two ELFs: the buffer's "
         "ids are in no table.",
         both(OUT(1), SIZE(1.0, 2.0), OUT(2), strings=[merged]))
    small = Str(0x4c3600000001, "%d %hhd %hd %hhu %u\n", "44444")
    case("l6_i8_zero_extended", "L6: an i8 of -1 arrives as 255; only %hhd "
         "brings the sign back.",
         both(small(255, 255, 0xffff, 0x1ff, 255), strings=[small]))


def torn_and_wide():
    case("torn_header", "Only the low dword of an entry header is written: an "
         "id below 0x10000 with a size that fits.",
         both(OUT(1), struct.pack("<II", (OUT.id & 0xffff) << 16 | 3, 0) +
              words(7), OUT(2), strings=[OUT]))
    wide = dict(OUT.row(), **{".index": 1 << 48})
    case("wide_index", "An id of 49 bits, which no entry can carry.",
         {"image.elf": image(wide, NONE), "buffer.bin": buffer(NONE())})
    two = Str(0x5a5a5a5a5a5a, "a %d\n", "4")
    again = Str(0x5a5a5a5a5a5a, "b %u\n", "4")
    case("ambiguous", "Two strings of one id with the same size.",
         both(two(1), strings=[two, again]))
    latin = Str(0x1a711a711a71, b"caf\xe9 %d\x1b[31m\x9b\xc2\x9b\n", "4")
    case("not_utf8", "A string that is not UTF-8, with terminal controls.",
         both(latin(1), strings=[latin]))
    case("byte_swapped", "The whole buffer is big-endian.",
         {"image.elf": image(OUT), "buffer.bin":
          b"".join(buffer(OUT(1))[i:i + 4][::-1] for i in range(0, 28, 4))})
    bad = entry(0x999999999999, words(1, 2), size=4)
    case("unknown_then_cut", "An unknown id, and behind it an entry that runs "
         "over the end of an overflowing buffer.",
         both(OUT(1), bad, entry(OUT.id, words(1), 200), strings=[OUT],
              used=300))
    case("resync_before_cut", "A size of 0, behind it a sound entry, and then "
         "one that runs over the end of an overflowing buffer: the sound one "
         "is found.",
         both(OUT(1), entry(OUT.id, b"", 0), OUT(2),
              entry(SIZE.id, words(1), 6), strings=[OUT, SIZE], used=300))
    swallows = bytearray(OUT(0))
    swallows[0] ^= 1 << 5
    case("size_swallows_entries", "One flipped bit in an entry's size, 3 to "
         "35: ten sound entries are inside of what it claims.",
         both(OUT(-1), bytes(swallows), *[OUT(i) for i in range(1, 21)],
              strings=[OUT]))
    case("size_too_small", "One flipped bit in an entry's size, 6 to 4: the "
         "next entry begins where its string ends.",
         both(OUT(1), entry(SIZE.id, struct.pack("<2d", 1.0, 2.0), 4), OUT(2),
              strings=[OUT, SIZE]))
    case("unknown_swallows_entries", "An unknown id whose size leads to a "
         "known one, over two sound entries.",
         both(OUT(1), entry(0x777777777777, words(9), 9), OUT(2), OUT(3),
              OUT(4), strings=[OUT]))
    case("inspect", "An annotated walk.",
         both(OUT(5), SIZE(1.0, 1.0), entry(0x777777777777, words(9)), OUT(1),
              bytes(8), strings=[OUT, SIZE]), "inspect buffer.bin image.elf",
         ("out",))
    case("stats", "Counts for each string.",
         both(OUT(5), OUT(6), SIZE(1.0, 1.0), entry(0x777777777777, words(9)),
              strings=[OUT, SIZE]), "stats buffer.bin image.elf",
         ("text", "json"))


def filters():
    entries = [OUT(i) if i % 3 else NONE() for i in range(12)]
    files = both(*entries, strings=[OUT, NONE])
    for name, options in {
            "id": "--id 0x123456789abc", "skip": "--skip 3",
            "limit": "--limit 4", "skip_limit": "--skip 2 --limit 3",
            "limit_0": "--limit 0", "match": "--match 'Output:1[01]?$'",
            "match_skip": "--match Output --skip 2 --limit 2",
            "threads": "--threads 3"}.items():
        case("filter_" + name, "%s over twelve entries." % options, files,
             options + " buffer.bin image.elf")
    case("stdin", "A buffer on standard input.", files,
         "- image.elf < buffer.bin")
    case("two_buffers", "Two buffers in one call, in order.",
         dict(files, **{"second.bin": buffer(OUT(99))}),
         "buffer.bin second.bin image.elf")
    case("no_strings", "A buffer without any strings.", files, "buffer.bin")
    case("color", "Colours where they are asked for.",
         both(OUT(1), entry(0x777777777777, words(9)), strings=[OUT]),
         "--color always buffer.bin image.elf", ("text",))
    case("verbose", "The summary even when all is well.", files,
         "-v buffer.bin image.elf")


def collapse():
    """Runs of entries that are one line each."""
    check = Str(0x1001, "reduce.cu:%d: block: [%u,0,0], thread: [%u,%u,0] "
                "Assertion `i < n` failed.\n", "4444")
    lanes = [check(41, i // 128, i % 128, 0) for i in range(10000)]
    case("collapse_assert", "An assert that 10,000 lanes of a CUDA kernel "
         "printed is one line.", both(*lanes, strings=[check]),
         "--collapse buffer.bin image.elf", ("text", "json"))
    mixed = Str(0x1002, "t=%f at %5d x=%#x big=%lld\n", "4448")
    plain = Str(0x1003, "no arguments\n")
    nan = struct.unpack("<f", b"\0\0\xc0\x7f")[0]
    entries = []
    for i, t in enumerate((0.5, nan, -2.25, nan, 0.5, 7.0)):
        entries += [mixed(t, i * i % 4 - 1, i * 16, (1 << 53) + i), plain()]
        if i % 3 == 1:  # what has a finding stands alone, where it is
            entries.append(entry(0x1002, words(1, 2)))
        entries.append(entry(0xbadbadbadbad, words(i)))
    files = both(*entries, strings=[mixed, plain])
    case("collapse", "Runs of two format strings in turn, and between them "
         "entries with findings, which are shown one by one.", files,
         "--collapse buffer.bin image.elf", ("text", "json"))
    case("collapse_window", "Only what follows each other is a run.", files,
         "--collapse --window 1 buffer.bin image.elf", ("text",))
    case("collapse_equal", "Only equal messages are one line.", files,
         "--collapse=equal buffer.bin image.elf", ("text", "json"))


def usage():
    def cli(name, shows, cmd, files=None):
        CASES["cli/" + name] = (shows, files or {}, cmd, ("out",))

    good = both(OUT(1), strings=[OUT])
    cli("no_file", "No file is given.", "decode")
    cli("missing_file", "A file that is not there.", "nowhere.bin")
    cli("unknown_option", "An option that does not exist.", "--frobnicate x")
    cli("missing_value", "An option without its value.", "x --limit")
    cli("not_a_number", "A limit that is no number.", "--limit ten x")
    cli("bad_regex", "A broken regular expression.", "--match '(' x")
    cli("bad_output", "An output that does not exist.", "--output xml x")
    cli("bad_format", "A buffer format that does not exist.",
        "--format xyz x")
    cli("bad_id", "An id that is no number.", "--id zz x")
    cli("bad_when", "A word that is not auto, always or never.",
        "--color sometimes x")
    cli("only_strings", "No buffer among the files.", "image.elf", good)
    cli("strings_of_a_buffer", "A buffer where strings are wanted.",
        "strings buffer.bin", good)
    cli("directory", "A folder as a buffer.", "--buffer /")
    cli("formats", "The list of buffer formats.", "formats")
    cli("control_bytes_in_name", "File names are foreign text as well.",
        "'no\x1b[31mwhere'")
    cli("force_roles", "Roles by option, whatever the files look like.",
        "--buffer image.elf --strings image.elf", good)


def write(path, data):
    if len(data) > 16384:
        path, data = path + ".gz", gzip.compress(data, 9, mtime=0)
    with open(path, "wb") as f:
        f.write(data)


def main():
    root, = arguments.folders(__doc__, "CASES_FOLDER")
    for make in (x_walk, x_format, x_grammar, x_metadata, l_compiler,
                 torn_and_wide, filters, collapse, usage):
        make()
    for name, (shows, files, cmd, kinds) in CASES.items():
        folder = os.path.join(root, name)
        os.makedirs(folder, exist_ok=True)
        for file, data in files.items():
            write(os.path.join(folder, file), data)
        write(os.path.join(folder, "cmd"), (cmd + "\n").encode())
        write(os.path.join(folder, "origin.md"),
              (shows + "\n\nWritten by tests/make/llpc_cases.py.\n").encode())
        for kind in kinds:
            expected = os.path.join(folder, "expect." + kind)
            if not os.path.exists(expected + ".gz"):
                open(expected, "ab").close()


if __name__ == "__main__":
    main()
