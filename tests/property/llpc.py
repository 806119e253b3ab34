# SPDX-License-Identifier: MIT
"""Writes what shaders of LLPC write: a 48-bit id with the entry's size, then
scalars of 32 and 64 bits. Truths come from the operands, not from the bytes.
"""
import struct

import llpc_cases as box
import model
from case import Case, Float, Message

HEADER = 16
# What an operand of the call can be: bits in the payload, how it is looked at.
TYPES = {"i1": 32, "u8": 32, "i8": 32, "u16": 32, "i16": 32, "i32": 32,
         "i64": 64, "f16": 32, "f32": 32, "f64": 64}


class Operand:
    """A scalar and the dwords that LLPC makes of it."""

    def __init__(self, rng, type_name):
        self.bits = TYPES[type_name]
        size = int(type_name[1:])
        if type_name[0] == "f":
            self.value = model.float_value(rng, size)
            self.data = struct.pack("<d" if size == 64 else "<f", self.value)
        else:
            self.value = model.int_value(rng, size)
            self.data = struct.pack("<Q" if size == 64 else "<I", self.value)


    def seen(self, spec):
        if spec.conv in model.FLOATS:
            return Float("<d" if self.bits == 64 else "<f", self.value)
        return model.value(spec, self.value, self.bits)


class Site:
    """One printf call: parts are text or (spec, type names of its stars and
    itself). vectors: some conversions are %vN; cut: of these LLPC writes
    component 0 alone, as it did when it was read."""

    def __init__(self, rng, n_max, vectors=False, cut=False):
        self.parts, self.cut = [model.literal(rng)], cut
        for _ in range(rng.randint(0, n_max)):
            conv = rng.choice(model.INTS + model.FLOATS)
            spec = model.spec(rng, conv, lengths(rng, conv),
                              star=0 if vectors else 0.05)
            if vectors and conv != "c" and rng.random() < 0.5:
                spec.vector = rng.choice((2, 3, 4))
            self.parts.append((spec, self.types_of(rng, spec)))
            self.parts.append(model.literal(rng))
        self.text = b"".join(p if isinstance(p, bytes) else
                             p[0].text().encode() for p in self.parts)
        self.types = [t for p in self.parts if isinstance(p, tuple)
                      for t in p[1] * self.written(p[0])]
        self.id = rng.getrandbits(48)

    def written(self, spec):
        return 1 if self.cut else spec.vector or 1

    def types_of(self, rng, spec):
        stars = ["i32"] * ((spec.width == "*") + (spec.precision == "*"))
        if spec.conv in model.FLOATS:
            return stars + [rng.choice(("f16", "f32", "f32", "f64"))]
        if spec.length in ("hh", "h"):
            narrow = "i8" if spec.length == "hh" else "i16"
            return stars + [rng.choice((narrow, "i32"))]
        if spec.conv == "c":
            return stars + [rng.choice(("u8", "i32"))]
        return stars + [rng.choice(("i1", "u8", "u16", "i32", "i32", "i32",
                                    "i64"))]

    def call(self, rng):
        """(payload, message, values) of one call."""
        data, out, values = b"", b"", []
        for part in self.parts:
            if isinstance(part, bytes):
                out += model.plain(part)
                continue
            spec, types = part
            if spec.vector:
                operands = [Operand(rng, types[0]) for _ in range(spec.vector)]
                data += b"".join(o.data for o in operands[:self.written(spec)])
                values += [o.seen(spec) for o in operands]
                out += b", ".join(model.show(spec, o.value, o.bits)
                                  for o in operands)
                continue
            operands = [Operand(rng, t) for t in types]
            for star in operands[:-1]:
                star.value = rng.randint(-20, 20)
                star.data = struct.pack("<i", star.value)
                values.append(star.value)
            values.append(operands[-1].seen(spec))
            data += b"".join(o.data for o in operands)
            out += model.show(with_stars(spec, operands), operands[-1].value,
                              operands[-1].bits)
        return data, out, values

    def row(self, broken=False):
        return box.Str(self.id, self.text + b"\0", mask=self.mask(broken),
                       argc=len(self.types)).row()

    def mask(self, broken):
        """broken: as LLPC shifts, in 32 bits of x86."""
        words = [0] * ((len(self.types) + 63) // 64)
        for i, t in enumerate(self.types):
            if TYPES[t] == 32:
                continue
            if broken and i % 32 == 31:
                words[i // 64] |= 0xffffffff80000000
            else:
                words[i // 64] |= 1 << (i % 32 if broken else i % 64)
        return words


def with_stars(spec, operands):
    values = [o.value for o in operands[:-1]]
    width = values.pop(0) if spec.width == "*" else spec.width
    precision = values.pop(0) if spec.precision == "*" else spec.precision
    return spec.fixed(width, precision)


def lengths(rng, conv):
    if conv in model.FLOATS:
        return ("", "", "l")
    return ("",) if conv == "c" else ("", "", "", "hh", "h", "l", "ll", "j",
                                      "z", "t")


def sound(rng):
    sites = [Site(rng, rng.choice((1, 3, 3, 8))) for _ in range(
        rng.choice((1, 2, 5)))]
    return build(rng, sites, "sound")


def wide(rng):
    """More arguments than LLPC's masks can tell of."""
    broken = rng.random() < 0.5
    sites = [Site(rng, rng.choice((32, 40, 70))) for _ in range(2)]
    return build(rng, sites, "wide", broken)


def two_widths(rng):
    """One string with operands of other widths: one row for both calls. Where
    both take the same bytes in another order, nothing in them can tell."""
    site = Site(rng, 3)
    sites, other = [site], Site(rng, 0)
    other.id, other.text = site.id, site.text
    other.parts = [p if isinstance(p, bytes) else (p[0], other.types_of(
        rng, p[0])) for p in site.parts]
    other.types = [t for p in other.parts if isinstance(p, tuple)
                   for t in p[1]]
    if n_words(other) == n_words(site):
        other.parts, other.types = site.parts, site.types
    return build(rng, sites + [other], "two widths", rows=[site.row()])


def n_words(site):
    return sum(TYPES[t] for t in site.types) // 32


def vectors(rng):
    sites = [Site(rng, 5, True) for _ in range(3)]
    return build(rng, sites, "vectors")


def cut_vectors(rng):
    sites = [Site(rng, 5, True, True) for _ in range(3)]
    return build(rng, sites, "vectors, cut")


def collision(rng):
    """Two programs' strings with one id."""
    first, second = Site(rng, 3), Site(rng, 3)
    second.id = first.id
    return build(rng, [first, second], "collision")


def wrong_object(rng):
    case = build(rng, [Site(rng, 3) for _ in range(3)], "wrong object")
    case.files["image.elf"] = box.image(Site(rng, 3).row(), Site(rng, 2).row())
    return case


def build(rng, sites, kind, broken=False, rows=None):
    messages, body = [], b""
    for _ in range(rng.choice((1, 2, 10, 40))):
        site = rng.choice(sites)
        data, out, values = site.call(rng)
        entry = box.entry(site.id, data)
        messages.append(Message(HEADER + len(body), len(entry), out,
                                {"id": "0x%012x" % site.id}, values))
        body += entry
    rows = rows or [s.row(broken) for s in sites]
    rng.shuffle(rows)
    image = box.image(*rows, **rng.choice(({}, {"section": ".note.pal"}, {
        "section": None, "segment": True})))
    if rng.random() < 0.2:
        image = box.archive([(b"0123456789ABCDEF", image)])
    used, lost = len(body), 0
    if rng.random() < 0.2:
        lost = 4 * rng.randint(1, 1000)
    tail = rng.choice((b"", bytes(64), body[:200]))
    if lost:
        tail = b""
    data = struct.pack("<QII", (used + lost) // 4, 0, 0) + body + tail
    return Case(["buffer.bin", "image.elf"],
                {"buffer.bin": data, "image.elf": image}, messages,
                held=used, lost=lost, kind=kind)


KINDS = [(vectors, 1), (cut_vectors, 1), (collision, 1), (wrong_object, 1),
         (sound, 6), (wide, 1), (two_widths, 1)]
# Those whose damage is looked at.
SOUND = (sound,)
