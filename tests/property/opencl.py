# SPDX-License-Identifier: MIT
"""Writes what ROCm's OpenCL kernels write, as compilers before and after LLVM
PR 207772 lower printf: the sizes in the metadata and the bytes stored are
made apart from each other, as they are there.
"""
import struct

import model
import rocm_cases as box
from case import Case, Message

HEADER = 8
ESCAPES = {b"\a": b"\\a", b"\b": b"\\b", b"\f": b"\\f", b"\n": b"\\n",
           b"\r": b"\\r", b"\v": b"\\v", b":": b"\\72"}
ELEMENTS = {"hhd": (1, "hh"), "hd": (2, "h"), "hld": (4, "hl"),
            "ld": (8, "l")}


def escaped(text):
    return b"".join(ESCAPES.get(bytes([c]), bytes([c])) for c in text)


def stale(rng, n):
    """What lay there before: nothing, text, a small number, anything."""
    kind = rng.randint(0, 3)
    if kind == 0:
        return bytes(n)
    if kind == 1:
        return (rng.choice((b"xy\0\0", b"abcd", b"q\0\0\0")) * n)[:n]
    if kind == 2:
        return (struct.pack("<I", rng.randint(0, 200)) * n)[:n]
    return rng.randbytes(n)


class Scalar:
    """An argument that is a number: its size in the metadata."""

    def __init__(self, rng, spec):
        self.spec, self.size = spec, 4
        if spec.conv in model.FLOATS:
            narrow = spec.conv == "f" and rng.random() < 0.7
            self.size = 4 if narrow else 8
        elif spec.conv == "p":
            self.size = rng.choice((8, 8, 4))
        elif spec.length in ("l", "ll", "j", "z", "t"):
            self.size = 8

    def draw(self, rng):
        bits = 8 * self.size
        if self.spec.conv in model.FLOATS:
            v = model.float_value(rng, bits)
            return v, struct.pack("<f" if bits == 32 else "<d", v)
        v = model.int_value(rng, bits)
        if self.spec.conv == "p":
            v = v or 4096
        return v, v.to_bytes(self.size, "little")

    def store(self, rng):
        v, data = self.draw(rng)
        return data, model.show(self.spec, v, 8 * self.size)


class Extended:
    """A half or a bfloat that was not converted, as compilers before LLVM PR
    200870 stored it; numbers so small that they look like integers are none of
    those that can be told."""

    def __init__(self, rng, spec):
        self.spec, self.size = spec, 4
        self.kind = rng.choice("eef")

    def store(self, rng):
        v = model.float_value(rng, 16)
        while v and abs(v) < 1e-4:
            v = model.float_value(rng, 16)
        narrow = struct.pack("<" + self.kind, v)[-2:]
        v = struct.unpack("<" + self.kind, bytes(
            2 if self.kind == "f" else 0) + narrow)[0]
        wide = struct.unpack("<h", narrow)[0]
        return struct.pack("<i", wide), model.show(self.spec, v, 32)


class Star(Scalar):
    """A width or a precision from the arguments."""

    def __init__(self):
        self.size = 4

    def store(self, rng):
        self.value = rng.randint(0, 20)
        return struct.pack("<i", self.value), b""


class Vector:
    """%vN of n elements; three take the room of four, the last of which is
    never written. What is no whole dwords is widened, element by element."""

    def __init__(self, rng, spec):
        self.spec, self.n = spec, spec.vector
        self.is_float = spec.conv in model.FLOATS
        self.width = {"hh": 1, "h": 2, "hl": 4, "l": 8}[spec.length]
        self.widened = self.n * self.width % 4 != 0 and self.n != 3
        self.room = 4 if self.n == 3 else self.n
        self.size = self.room * (4 if self.widened else self.width)

    def store(self, rng):
        bits = 8 * self.width
        shown, data = [], b""
        for _ in range(self.n):
            v, element = self.element(rng, bits)
            data += element
            scalar = model.Spec(self.spec.conv, self.spec.flags,
                                self.spec.width, self.spec.precision)
            shown.append(model.show(scalar, v, bits))
        data += stale(rng, self.size - len(data))
        return data, b",".join(shown)

    def element(self, rng, bits):
        if self.is_float:
            v = model.float_value(rng, bits)
            return v, struct.pack({16: "<e", 32: "<f", 64: "<d"}[bits], v)
        v = model.int_value(rng, bits)
        if not self.widened:
            return v, v.to_bytes(self.width, "little")
        wide = v if self.spec.conv in "xXuo" else model.signed(v, bits)
        return v, (wide & 0xffffffff).to_bytes(4, "little")


class Text:
    """%s of a literal, which is the same at each call of its site; of
    anything else the compiler stores ???."""

    def __init__(self, rng, spec, new):
        self.spec, self.new = spec, new
        self.text = model.string_value(rng)
        if rng.random() < 0.1:
            self.text = b"???"
        n = len(self.text)
        self.size = max(4, (n + 3) // 4 * 4) if new else (n + 4) // 4 * 4

    def store(self, rng):
        data = self.text + bytes(-len(self.text) % 4)
        return data or b"\0\xff\xff\xff", model.text(self.spec, self.text)


class Site:
    """One printf call of the source."""

    def __init__(self, rng, ident, new, n_max, convs, narrow=0):
        self.id, self.new, self.narrow = ident, new, narrow
        self.parts, self.arguments = [self.literal(rng)], []
        for _ in range(rng.randint(0, n_max)):
            self.add(rng, rng.choice(convs))
            self.parts.append(self.literal(rng))
        self.text = b"".join(p if isinstance(p, bytes) else
                             p[0].text().encode() for p in self.parts)
        self.sizes = [a.size for a in self.arguments]

    @staticmethod
    def literal(rng):
        """Backslashes and what follows them cannot be told from escapes."""
        return model.literal(rng, b"")

    def add(self, rng, conv):
        if conv == "v":
            conv = rng.choice("dduxf")
            spec = model.spec(rng, conv)
            spec.vector = rng.choice((2, 3, 4, 8, 16))
            spec.length = rng.choice(("h", "hl", "l") if conv == "f" else
                                     ("hh", "h", "hl", "l"))
            made = [Vector(rng, spec)]
        else:
            lengths = ("",) if conv in "csp" + model.FLOATS else (
                "", "", "", "hh", "h", "l", "ll")
            spec = model.spec(rng, conv, lengths, star=0.04)
            made = [Star() for w in (spec.width, spec.precision) if w == "*"]
            made.append(self.argument(rng, spec))
        self.arguments += made
        self.parts.append((spec, made))

    def argument(self, rng, spec):
        if spec.conv == "s":
            return Text(rng, spec, self.new)
        if spec.conv in model.FLOATS and rng.random() < self.narrow:
            return Extended(rng, spec)
        return Scalar(rng, spec)

    def call(self, rng):
        """(entry, message)"""
        data, out = struct.pack("<I", self.id), b""
        for part in self.parts:
            if isinstance(part, bytes):
                out += model.plain(part)
                continue
            spec, made = part
            shown = b""
            for a in made[:-1]:
                data += a.store(rng)[0]
            made[-1].spec = fixed(spec, made)
            stored, shown = made[-1].store(rng)
            data += stored
            out += shown
        return data + stale(rng, 4 + sum(self.sizes) - len(data)), out

    def row(self, extra=0):
        fields = [self.id, len(self.sizes) + extra] + self.sizes
        return b"".join(b"%d:" % f for f in fields) + escaped(self.text)


def fixed(spec, made):
    values = [s.value for s in made[:-1]]
    width = values.pop(0) if spec.width == "*" else spec.width
    precision = values.pop(0) if spec.precision == "*" else spec.precision
    out = spec.fixed(width, precision)
    out.vector = spec.vector
    return out


NUMBERS = model.INTS + model.FLOATS + "pvv"


def numbers(rng):
    sites = [Site(rng, i + 1, False, 6, NUMBERS) for i in range(4)]
    return build(rng, sites, "numbers")


def halves(rng):
    sites = [Site(rng, i + 1, False, 6, "dffeg", 0.6) for i in range(4)]
    return build(rng, sites, "halves")


def strings(rng, new, name, n_max=5, n_calls=(3, 8, 30)):
    sites = [Site(rng, i + 1, new, n_max, NUMBERS + "s" * 12)
             for i in range(rng.choice((1, 3, 6)))]
    return build(rng, sites, name, n_calls)


def old_strings(rng):
    return strings(rng, False, "strings, old")


def new_strings(rng):
    return strings(rng, True, "strings, new")


def many_strings(rng):
    return strings(rng, rng.random() < 0.5, "many strings", 14)


def lonely(rng):
    """Few entries: what they do not tell has to be marked."""
    new = rng.random() < 0.5
    return strings(rng, new, "one or two entries", 4, (1, 2))


def forced(rng):
    new = rng.random() < 0.5
    case = strings(rng, new, "--opencl-strings", 8, (1, 5))
    case.words += ["--opencl-strings", "new" if new else "old"]
    return case


def linked(rng):
    """Programs linked of two: each numbers its strings from 1."""
    first = [Site(rng, i + 1, False, 3, NUMBERS) for i in range(3)]
    second = [Site(rng, i + 1, False, 3, NUMBERS) for i in range(2)]
    return two(rng, first, second, "linked programs")


def linked_strings(rng):
    """The same with strings, by compilers of any age."""
    ages = rng.random() < 0.5, rng.random() < 0.5
    n_max = rng.choice((2, 4))
    first, second = ([Site(rng, i + 1, ages[k], n_max, NUMBERS + "s" * 8)
                      for i in range(rng.choice((1, 3)))] for k in (0, 1))
    return two(rng, first, second, "linked strings")


def other_strings(rng):
    """One of the two programs alone, in any order, but both are loaded."""
    sites = [[Site(rng, i + 1, False, 3, NUMBERS + "s" * 4)
              for i in range(3)] for _ in range(2)]
    return two(rng, sites[0], sites[1], "strings of another",
               rng.choice(sites))


def folder(rng):
    """One program of many whose strings are loaded."""
    sites = [[Site(rng, i + 1, False, 3, NUMBERS + "s" * 4)
              for i in range(3)] for _ in range(12)]
    case = build(rng, rng.choice(sites), "strings of many", rows=[
        s.row() for s in sites[0]])
    for i, other in enumerate(sites[1:]):
        case.files["%d.co" % i] = box.hsa([s.row() for s in other])
        case.words.append("%d.co" % i)
    return case


def two(rng, first, second, kind, used=None):
    case = build(rng, used or first + second, kind, rows=[
        s.row() for s in first])
    case.files["b.co"] = box.hsa([s.row() for s in second])
    case.words.append("b.co")
    return case


def build(rng, sites, kind, n_calls=(1, 3, 10, 50), rows=None):
    messages, body = [], b""
    for _ in range(rng.choice(n_calls)):
        site = rng.choice(sites)
        entry, out = site.call(rng)
        messages.append(Message(HEADER + len(body), len(entry), out,
                                {"id": "0x%012x" % site.id}))
        body += entry
    capacity = len(body) + rng.choice((4096, 65536)) + 4096
    tail = rng.choice((b"", stale(rng, 64), body[:256], body))
    data = struct.pack("<II", len(body), capacity) + body + tail
    rows = rows or [s.row() for s in sites]
    return Case(["--format", "opencl", "buffer.bin", "a.co"],
                {"buffer.bin": data, "a.co": box.hsa(rows)}, messages,
                held=len(body), lost=0, kind=kind)


KINDS = [(numbers, 3), (old_strings, 3), (new_strings, 2), (many_strings, 1),
         (lonely, 3), (forced, 2), (linked, 1), (linked_strings, 1),
         (other_strings, 1), (folder, 1), (halves, 1)]
# Those whose damage is looked at.
SOUND = (numbers, forced, linked, linked_strings, other_strings,
         folder)
