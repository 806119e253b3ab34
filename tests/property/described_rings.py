#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws descriptions of rings, writes buffers as their programs would, and has
the decoder read them: described_rings.py PROGRAM [--seed N] [--count M]

Fails when a message is wrong, missing or made up, or when the bytes of entries,
lost ones and skipped ones are not all that the counter says.
"""
import argparse
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

FORMS = {"u8": "B", "i8": "b", "u16": "H", "i16": "h", "u32": "I", "i32": "i",
         "u64": "Q", "i64": "q", "f32": "f", "f64": "d"}


def up(n, to):
    return -(-n // to) * to


def number(rng, kind):
    if kind[0] == "f":
        v = rng.choice((0.0, 1.5, -2.25, rng.uniform(-1e6, 1e6)))
        return struct.unpack("f", struct.pack("f", v))[0] if kind == "f32" \
            else v
    bits = int(kind[1:])
    v = rng.getrandbits(rng.choice((1, bits // 2, bits)))
    return v - (1 << bits) if kind[0] == "i" and v >> (bits - 1) else v


class Argument:
    def __init__(self, rng, braces):
        self.kind = rng.choice(list(FORMS))
        self.n = rng.choice((1, 1, 1, 2, 3, 4))
        self.braces = braces
        self.digits = rng.randrange(8)
        self.width = rng.choice(("", "", "7", "12"))
        letter = "f" if self.kind[0] == "f" else \
            "d" if self.kind[0] == "i" else rng.choice("ux")
        self.form = "%" + self.width + \
            (".%d" % self.digits if letter == "f" else "") + letter
        self.type = self.kind + ("x%d" % self.n if self.n > 1 else "")

    def spec(self):
        if not self.braces:
            vector = "v%d" % self.n if self.n > 1 else ""
            return self.form[:-1] + vector + self.form[-1]
        letter = self.form[-1].replace("u", "d")
        if self.kind[0] == "f" or letter == "x":
            return "{:%s%s}" % (self.form[1:-1], letter)
        return "{:>%s}" % self.width if self.width else "{}"

    def draw(self, rng):
        values = [number(rng, self.kind) for _ in range(self.n)]
        data = struct.pack("<%d%s" % (self.n, FORMS[self.kind]), *values)
        text = ", ".join(self.form.replace("u", "d") % v for v in values)
        return data, "[%s]" % text if self.braces and self.n > 1 else text


class Message:
    def __init__(self, rng, i, braces):
        self.arguments = [Argument(rng, braces) for _ in range(rng.randrange(5))]
        self.before = "m%d%s" % (i, " 100%" if braces else " 100%%")
        self.text = self.before + "".join(" " + a.spec()
                                          for a in self.arguments)

    def draw(self, rng):
        payload, text = b"", "m" + self.before[1:].replace("%%", "%")
        for a in self.arguments:
            data, shown = a.draw(rng)
            payload += b"\0" * (up(len(payload), 4) - len(payload)) + data
            text += " " + shown
        return payload + b"\0" * (up(len(payload), 4) - len(payload)), text


class Ring:
    def __init__(self, rng):
        self.rng = rng
        braces = rng.random() < 0.5
        self.slots = rng.random() < 0.3
        self.has_length = not self.slots and rng.random() < 0.5
        self.header = rng.choice((4, 8, 12, 16, 24))
        if self.has_length and self.header == 4:
            self.header = 8
        self.align = rng.choice((4, 4, 8, 16))
        wide = self.header >= 8 and rng.random() < 0.4
        top = 64 if wide else 32
        self.id_bits = rng.randrange(8, 17 if self.has_length else top + 1)
        self.shift = rng.randrange(top - self.id_bits + 1)
        self.id_at = rng.randrange(0, self.header - top // 8 + 1, 4)
        if self.has_length:  # the id has the lower half of the same dword
            self.id_at, self.shift = 0, 0
        self.messages = {}
        while len(self.messages) < rng.randrange(1, 9):
            i = rng.randrange(1, min(1 << self.id_bits, (1 << 64) - 1))
            self.messages[i] = Message(rng, len(self.messages), braces)
        largest = max(len(m.draw(rng)[0]) for m in self.messages.values())
        self.slot = up(self.header + largest, 4) + rng.choice((0, 4, 32))
        self.bits = rng.choice((32, 64))
        self.at = rng.randrange(0, 24, 4)
        self.data = up(self.at + self.bits // 8 + rng.choice((0, 8, 16)),
                       self.align)
        self.unit = rng.choice((1, 2, 4))
        self.start = rng.randrange(self.data % self.unit, self.data + 1,
                                   self.unit)
        self.braces = braces

    def description(self):
        ret = {"ring": "drawn", "data": self.data,
               "counter": {"at": self.at, "bits": self.bits}}
        if self.slots:
            ret["slots"] = {"bytes": self.slot}
        else:
            ret["counter"].update({"unit": self.unit, "from": self.start})
        ret["entry"] = {"header": self.header, "align": self.align,
                        "id": {"at": self.id_at, "bits": self.id_bits,
                               "shift": self.shift}}
        if self.has_length:
            ret["entry"]["length"] = {"at": 0, "bits": 16, "shift": 16,
                                      "unit": 1}
        ret["text"] = "braces" if self.braces else "printf"
        messages = {str(i): {"text": m.text, "types": [a.type for a in
                                                       m.arguments]}
                    for i, m in self.messages.items()}
        text = json.dumps(ret)[:-1] + ', "messages": {'
        return text + ", ".join("%s: %s" % (i, json.dumps(m))
                                for i, m in messages.items()) + "}}"

    def entry(self):
        rng = self.rng
        i = rng.choice(list(self.messages))
        payload, text = self.messages[i].draw(rng)
        size = self.slot if self.slots else \
            up(self.header + len(payload), self.align)
        head = bytearray(rng.randbytes(self.header))
        top = 8 if self.id_bits + self.shift > 32 else 4
        word = int.from_bytes(head[self.id_at:self.id_at + top], "little")
        mask = ((1 << self.id_bits) - 1) << self.shift
        word = word & ~mask | i << self.shift
        if self.has_length:
            word = word & 0xffff & mask | size << 16
        head[self.id_at:self.id_at + top] = word.to_bytes(top, "little")
        return (bytes(head) + payload).ljust(size, b"\0"), text

    def buffer(self):
        """The bytes, the lines, and the bytes that calls asked for."""
        rng = self.rng
        entries = [self.entry() for _ in range(rng.randrange(1, 40))]
        wanted = sum(len(e) for e, _ in entries)
        room = wanted + rng.choice((0, 4, 64))
        if rng.random() < 0.3:
            room = rng.randrange(0, wanted, 4)
        data, lines, at = b"", [], 0
        for e, text in entries:
            at += len(e)
            if at > room:
                break
            data += e
            lines.append(text)
        head = bytearray(self.data)
        counter = len(entries) if self.slots else \
            (self.data + wanted - self.start) // self.unit
        if not self.slots and (self.data + wanted - self.start) % self.unit:
            raise AssertionError
        head[self.at:self.at + self.bits // 8] = \
            counter.to_bytes(self.bits // 8, "little")
        return bytes(head) + data.ljust(room, b"\0"), lines, wanted


def check(program, folder, rng):
    ring = Ring(rng)
    data, lines, wanted = ring.buffer()
    with open(os.path.join(folder, "ring.yaml"), "w") as f:
        f.write(ring.description())
    with open(os.path.join(folder, "buffer.bin"), "wb") as f:
        f.write(data)
    done = subprocess.run([program, "decode", "--describe", "ring.yaml",
                           "--buffer", "buffer.bin", "--verbose"], cwd=folder,
                          capture_output=True, text=True)
    given = done.stdout.split("\n") if done.stdout else []
    given = [line for line in given if line]
    account = re.search(r"(\d+) entr\w+ \((\d+) bytes\), (\d+) unknown; (\d+) "
                        r"bytes lost, (\d+) skipped", done.stderr)
    if given != [line for line in lines if line]:
        return "lines differ:\n%s\n%s\n%s" % (lines, given, done.stderr)
    if not account:
        return "no account: " + done.stderr if wanted > len(data) else None
    n = sum(int(account[k]) for k in (2, 4, 5))
    return None if n == wanted else "%d of %d bytes: %s" % (n, wanted,
                                                            done.stderr)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=200,
                   help="times TRUTH_TIMES of the environment")
    o = p.parse_args()
    n_bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(o.count * int(os.environ.get("TRUTH_TIMES", "1"))):
            why = check(os.path.abspath(o.program), folder,
                        random.Random("%d %d" % (o.seed, i)))
            if why:
                n_bad += 1
                print("case %d: %s" % (i, why))
            if n_bad == 5:
                break
    sys.exit(n_bad > 0)


if __name__ == "__main__":
    main()
