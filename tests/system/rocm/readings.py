#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random printf buffers of OpenCL and HIP, written from what is known of their
compilers, and what printfdecode makes of them:

    readings.py opencl|hip PROGRAM [BUFFERS [SEED [--show]]]

A message that is not what the program printed must have a finding, and what
leaves no doubt must have none: the figures printed are messages that are right
or wrong, with a finding ("doubted") or without.
"""
import base64
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "make"))
import rocm_cases as rocm  # noqa: E402

WORDS = b"block thread value of x=1 kernel.cl done, step: error (ok) [a] ".split()


def literal(rng, n=None):
    """What programs have in quotes: words, colours, UTF-8, any bytes."""
    kind = rng.random()
    n = rng.choice((0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 20, 24, 33)) \
        if n is None else n
    if kind < 0.6:
        text = b" ".join(rng.choice(WORDS) for _ in range(n // 3 + 1))
    elif kind < 0.75:
        text = b"\x1b[%dm" % rng.randrange(30, 38) + \
            b" ".join(rng.choice(WORDS) for _ in range(n // 3 + 1))
    elif kind < 0.85:
        text = "größe → é ✓ ".encode() * (n // 8 + 1)
        return text[:n].decode("utf-8", "ignore").encode()
    else:
        text = bytes(rng.randrange(1, 256) for _ in range(n))
    return text[:n]


class Number:
    """An argument: its conversion and how its value is drawn."""

    KINDS = (("%d", "i", 4), ("%u", "I", 4), ("%x", "I", 4), ("%ld", "q", 8),
             ("%lu", "Q", 8), ("%f", "f", 4), ("%g", "d", 8), ("%c", "I", 4))

    def __init__(self, rng):
        self.text, self.code, self.size = rng.choice(self.KINDS)
        self.style = rng.choice(("small", "count", "any", "same", "letter"))
        self.first = self.draw(rng, "small")
        self.n = 0

    def draw(self, rng, style):
        if self.text == "%c":
            return rng.randrange(32, 127)
        if self.code in "fd":
            value = rng.choice((rng.uniform(-1000, 1000),
                                rng.randrange(1000) / 8))
            return struct.unpack("<f", struct.pack("<f", value))[0]
        if style == "letter":
            return rng.randrange(32, 127)
        if style == "any":
            return rng.getrandbits(8 * self.size) if self.code in "IQ" else \
                rng.getrandbits(8 * self.size) - (1 << 8 * self.size - 1)
        return rng.randrange(1000)

    def value(self, rng):
        self.n += 1
        if self.style == "same":
            return self.first
        if self.style == "count" and self.code not in "fd":
            return (self.first + self.n) % 1000
        return self.draw(rng, self.style)

    def format(self):
        return self.text.encode()

    def shown(self, value):
        text = self.text.replace("l", "")
        if text == "%c":
            return bytes((value & 255,))
        return (text % value).encode()


class OpenCLCall:
    """printf of a literal for each %s, as compilers of both ages do it."""

    def __init__(self, rng, ident, is_new):
        self.id, self.is_new = ident, is_new
        self.parts = []
        n = rng.choice((1, 1, 2, 2, 3, 4, 8, 12))
        for _ in range(n):
            if rng.random() < 0.5:
                self.parts.append(literal(rng))
            else:
                self.parts.append(Number(rng))
        self.n_entries = rng.choice((1, 1, 2, 3, 5, 10, 40))

    def size(self, part):
        return rocm.text_size(len(part), self.is_new) \
            if isinstance(part, bytes) else part.size

    def format(self):
        return b"<" + b"|".join(
            b"%s" if isinstance(p, bytes) else p.format()
            for p in self.parts) + b">"

    def row(self):
        fields = [self.id, len(self.parts)] + [self.size(p)
                                               for p in self.parts]
        return b"".join(b"%d:" % f for f in fields) + self.format() + b"\\n"

    def entry(self, rng, stale):
        data, shown = rocm.u32(self.id), []
        for part in self.parts:
            if isinstance(part, bytes):
                data += rocm.text_bytes(part)
                shown.append(part)
            else:
                value = part.value(rng)
                data += struct.pack("<" + part.code, value)
                shown.append(part.shown(value))
        size = 4 + sum(self.size(p) for p in self.parts)
        while len(data) < size:
            data += stale()
        return data[:size], b"<" + b"|".join(shown) + b">\n"


def stale_of(rng):
    """What memory holds where nobody wrote."""
    kind = rng.randrange(6)
    word = [b"\xee" * 4, bytes(4), rng.randbytes(4), b"xy\0\0",
            struct.pack("<I", rng.randrange(200))][kind % 5]
    if kind == 5:
        return lambda: rng.randbytes(4)
    if kind == 4:
        return lambda: struct.pack("<I", rng.randrange(1000))
    return lambda: word


def opencl_buffer(rng):
    is_new = rng.random() < 0.4
    calls = [OpenCLCall(rng, i + 1, is_new)
             for i in range(rng.choice((1, 1, 2, 5)))]
    stale = stale_of(rng)
    order = [c for c in calls for _ in range(c.n_entries)]
    rng.shuffle(order)
    entries = [c.entry(rng, stale) for c in order]
    return ({"app.co": rocm.hsa([c.row() for c in calls]),
             "buffer.bin": rocm.buffer(*[e for e, _ in entries],
                                       capacity=100000)}, entries)


class Text:
    """A %s of HIP: a literal, or text that the program has at run time, which
    can be null, and is copied with whatever is behind its NUL."""

    def __init__(self, rng):
        self.text = literal(rng)
        self.nulls = rng.choice((0, 0, 0.1, 0.5, 1))
        self.is_copied = self.nulls or rng.random() < 0.5

    def format(self):
        return b"%s"

    def entry(self, rng):
        """What is stored, and shown."""
        if rng.random() < self.nulls:
            return b"", b"(null)"
        text = literal(rng) if self.is_copied and rng.random() < 0.7 \
            else self.text
        data = rocm.text8(text)
        if self.is_copied and rng.random() < 0.5:
            pad = len(data) - len(text) - 1
            data = data[:len(data) - pad] + rng.randbytes(pad)
        return data, text


class HipCall:
    def __init__(self, rng, number):
        self.number = number
        self.parts = [Text(rng) if rng.random() < 0.5 else Number(rng)
                      for _ in range(rng.choice((1, 2, 2, 3, 4, 6, 9)))]
        self.is_constant = rng.random() < 0.8
        self.n_entries = rng.choice((1, 1, 2, 3, 5, 10, 40))

    def format(self):
        return b"%d<" % self.number + \
            b"|".join(p.format() for p in self.parts) + b">\n"

    def entry(self, rng, _):
        data, shown = [], []
        for part in self.parts:
            if isinstance(part, Text):
                stored, text = part.entry(rng)
            else:
                value = part.value(rng)
                stored, text = hip_stored(part, value), part.shown(value)
            data.append(stored)
            shown.append(text)
        return (rocm.hip(self.format(), *data, constant=self.is_constant),
                b"%d<" % self.number + b"|".join(shown) + b">\n")


def hip_stored(part, value):
    """Integers are extended by zeros, floats become doubles."""
    if part.code in "fd":
        return rocm.f64(value)
    return rocm.u64(value & (1 << 8 * part.size) - 1)


def hip_buffer(rng):
    calls = [HipCall(rng, i) for i in range(rng.choice((1, 1, 2, 5)))]
    order = [c for c in calls for _ in range(c.n_entries)]
    rng.shuffle(order)
    entries = [c.entry(rng, None) for c in order]
    return ({"app.co": rocm.hsa([rocm.hip_row(c.format()) for c in calls
                                 if c.is_constant] +
                                [b'0:0:ffffffff,"Non const format string"']),
             "buffer.bin": rocm.buffer(*[e for e, _ in entries],
                                       capacity=200000)}, entries)


BUFFERS = {"opencl": opencl_buffer, "hip": hip_buffer}


def messages(lines):
    """{offset: (message, its findings, others)} of JSON lines."""
    found = {}
    for line in filter(None, lines.split("\n")):
        record = json.loads(line)
        if record["type"] == "entry":
            text = base64.b64decode(record["message_b64"]) \
                if "message_b64" in record else record["message"].encode()
            others = [a.get("message", "") if "message_b64" not in a else
                      base64.b64decode(a["message_b64"])
                      for a in record.get("alternatives", [])]
            found[record["offset"]] = (
                text, record.get("findings", []),
                [o.encode() if isinstance(o, str) else o for o in others])
    return found


NOTES = {"unused_arguments"}
DOUBT = 0.25  # of all messages may be right and have a finding


def try_one(kind, program, seed, show):
    rng = random.Random(seed)
    files, entries = BUFFERS[kind](rng)
    counts = dict.fromkeys(("right", "right, doubted", "wrong",
                            "wrong, doubted", "offered"), 0)
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)
        done = subprocess.run([program, "-o", "json", "--format", kind,
                               "buffer.bin", "app.co"], cwd=folder,
                              capture_output=True, check=False)
    assert done.returncode in (0, 2), (seed, done.returncode, done.stderr)
    found = messages(done.stdout.decode())
    at = 8
    for data, text in entries:
        shown, findings, others = found.get(at, (b"", ["missing"], []))
        doubted = ", doubted" if set(findings) - NOTES else ""
        right = "right" if shown == text else "wrong"
        counts[right + doubted] += 1
        counts["offered"] += right == "wrong" and text in others
        if show and (right == "wrong" and not doubted or show == "all" and
                     right + doubted != "right"):
            print(seed, at, right + doubted, text, shown, others)
        at += len(data)
    return counts


def main():
    kind, program = sys.argv[1], os.path.abspath(sys.argv[2])
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    seed = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    show = sys.argv[5].replace("--show", "") or "wrong" \
        if len(sys.argv) > 5 else ""
    with ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda i: try_one(kind, program, seed * 1000003 + i,
                                             show), range(n))
    sums = {}
    for counts in results:
        for name, count in counts.items():
            sums[name] = sums.get(name, 0) + count
    total = sum(sums.values()) - sums["offered"]
    for name, count in sums.items():
        print("%-16s %7d %6.2f %%" % (name, count, 100.0 * count / total))
    return 1 if sums["wrong"] or sums["right, doubted"] > DOUBT * total else 0


if __name__ == "__main__":
    sys.exit(main())
