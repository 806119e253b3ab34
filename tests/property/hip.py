# SPDX-License-Identifier: MIT
"""Writes what HIP kernels write with -mprintf-kind=buffered: entries with the
hash of their format string or the string itself, arguments of 8 bytes, and
strings, of which null ones take no bytes.
"""
import hashlib
import struct

import model
import rocm_cases as box
from case import Case, Message
from opencl import stale

HEADER = 8


def md5(text):
    return hashlib.md5(text).digest()[:8]


class Number:
    def __init__(self, rng, spec):
        self.spec = spec
        wide = spec.conv == "p" or spec.length in ("l", "ll", "j", "z", "t")
        self.bits = 64 if wide else 32

    def store(self, rng):
        if self.spec.conv in model.FLOATS:
            v = model.float_value(rng, rng.choice((32, 64)))
            return struct.pack("<d", v), model.show(self.spec, v)
        v = model.int_value(rng, self.bits)
        if self.spec.conv == "p":
            v = v or 4096
        return struct.pack("<Q", v), model.show(self.spec, v, self.bits)


class Star:
    """A width or a precision. What of "(null)" is cut is no standard: least
    is 6 for the precision of a string."""

    def __init__(self, least):
        self.least = least

    def store(self, rng):
        self.value = rng.randint(self.least, 20)
        return struct.pack("<Q", self.value & 0xffffffff), b""


class Text:
    """%s of anything: it can change from call to call."""

    def __init__(self, rng, spec, nulls):
        self.spec, self.nulls = spec, nulls
        self.constant = model.string_value(rng) if rng.random() < 0.3 else None

    def store(self, rng):
        if self.constant is None and rng.random() < self.nulls:
            return b"", model.text(self.spec, b"(null)")
        text = self.constant
        text = model.string_value(rng) if text is None else text
        data = text + b"\0"
        fill = bytes if self.constant is not None else \
            lambda n: stale(rng, n)
        return data + fill(-len(data) % 8), model.text(self.spec, text)


class Site:
    def __init__(self, rng, n_max, convs, nulls=0.0):
        self.parts = [literal(rng)]
        for _ in range(rng.randint(0, n_max)):
            conv = rng.choice(convs)
            lengths = ("",) if conv in "csp" + model.FLOATS else (
                "", "", "", "hh", "h", "l", "ll", "z")
            spec = model.spec(rng, conv, lengths, star=0.05)
            if conv == "s" and spec.precision not in (None, "*"):
                spec.precision += 6
            made = [Star(-20)] if spec.width == "*" else []
            if spec.precision == "*":
                made.append(Star(6 if conv == "s" else -20))
            made.append(Text(rng, spec, nulls) if conv == "s" else
                        Number(rng, spec))
            self.parts += [(spec, made), literal(rng)]
        self.text = b"".join(p if isinstance(p, bytes) else
                             p[0].text().encode() for p in self.parts)

    def arguments(self, rng):
        data, out = [], b""
        for part in self.parts:
            if isinstance(part, bytes):
                out += model.plain(part)
                continue
            spec, made = part
            data += [s.store(rng)[0] for s in made[:-1]]
            made[-1].spec = fixed(spec, made)
            stored, shown = made[-1].store(rng)
            data.append(stored)
            out += shown
        return data, out


def fixed(spec, made):
    values = [s.value for s in made[:-1]]
    width = values.pop(0) if spec.width == "*" else spec.width
    precision = values.pop(0) if spec.precision == "*" else spec.precision
    return spec.fixed(width, precision)


def literal(rng):
    extra = rng.choice((b"", b"", b":", b",", b"\\n", b"\\72"))
    return model.literal(rng) + extra


def entry(rng, site, constant):
    """(bytes, message, stream)"""
    err = rng.random() < 0.3
    data, out = site.arguments(rng)
    text = md5(site.text)
    if not constant:
        text = site.text + b"\0"
        text += stale(rng, -len(text) % 8)
    body = text + b"".join(data)
    control = (4 + len(body)) << 2 | 2 * constant | err
    return struct.pack("<I", control) + body, out, \
        "stderr" if err else "stdout"


def build(rng, sites, kind, constant, n_calls=(1, 3, 10, 50)):
    messages, body = [], b""
    for _ in range(rng.choice(n_calls)):
        site = rng.choice(sites)
        data, out, stream = entry(rng, site, constant(rng))
        messages.append(Message(HEADER + len(body), len(data), out,
                                {"stream": stream}))
        body += data
    capacity = len(body) + 65536
    tail = rng.choice((b"", stale(rng, 64), body[:256], body))
    data = struct.pack("<II", len(body), capacity) + body + tail
    rows = [b"0:0:%x,%s" % (struct.unpack("<Q", md5(s.text))[0], s.text)
            for s in sites for _ in range(rng.choice((1, 1, 2)))]
    rows.append(b'0:0:ffffffff,"Non const format string"')
    return Case(["--format", "hip", "buffer.bin", "a.co"],
                {"buffer.bin": data, "a.co": box.hsa(rows)}, messages,
                held=len(body), lost=0, kind=kind)


NUMBERS = model.INTS + model.FLOATS + "p"


def make_sites(rng, convs, nulls=0.0):
    return [Site(rng, rng.choice((1, 4, 8)), convs, nulls)
            for _ in range(rng.choice((1, 3, 6)))]


def numbers(rng):
    return build(rng, make_sites(rng, NUMBERS), "numbers", lambda _: True)


def strings(rng):
    return build(rng, make_sites(rng, NUMBERS + "s" * 12), "strings",
                 lambda _: True)


def inline(rng):
    return build(rng, make_sites(rng, NUMBERS + "s" * 6), "inline",
                 lambda r: r.random() < 0.5)


def nulls(rng):
    return build(rng, make_sites(rng, NUMBERS + "s" * 12, 0.2),
                 "null strings", lambda r: r.random() < 0.8)


def wrong_object(rng):
    """Strings of another program."""
    case, other = strings(rng), strings(rng)
    case.files["a.co"] = other.files["a.co"]
    case.kind = "wrong object"
    return case


KINDS = [(wrong_object, 1), (numbers, 2), (strings, 3), (inline, 2), (nulls, 3)]
# Those whose damage is looked at.
SOUND = (numbers, strings, inline)
