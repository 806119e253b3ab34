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


class Number:
    """A number, a vector or a matrix, perhaps with gaps."""

    def __init__(self, rng, braces):
        self.kind = rng.choice(list(FORMS))
        self.run = rng.choice((1, 1, 1, 2, 3, 4))
        self.n = self.run * (rng.choice((1, 1, 2, 3)) if self.run > 1 else 1)
        self.size = struct.calcsize(FORMS[self.kind])
        self.stride = 0
        self.braces = braces
        self.digits = rng.randrange(8)
        self.width = rng.choice(("", "", "7", "12"))
        letter = "f" if self.kind[0] == "f" else \
            "d" if self.kind[0] == "i" else rng.choice("ux")
        self.form = "%" + self.width + \
            (".%d" % self.digits if letter == "f" else "") + letter
        self.type = self.kind
        if self.n > 1:
            self.type += "x%d" % self.run
        if self.n > self.run:
            self.type += "x%d" % (self.n // self.run)
        if rng.random() < 0.2 and self.size < 8:
            least = self.size * (self.run if self.n > self.run else 1)
            self.stride = least + rng.choice((0, 2, 4))
            self.type += "@%d" % self.stride

    def spec(self):
        if not self.braces:  # %vN knows 2, 3 and 4 components
            vector = "v%d" % self.run if self.run > 1 else ""
            one = self.form[:-1] + vector + self.form[-1]
            return " ".join([one] * (self.n // self.run))
        letter = self.form[-1].replace("u", "d")
        if self.kind[0] == "f" or letter == "x":
            return "{:%s%s}" % (self.form[1:-1], letter)
        return "{:>%s}" % self.width if self.width else "{}"

    def draw(self, rng, payload):
        """Appends to the payload; the text."""
        values = [number(rng, self.kind) for _ in range(self.n)]
        apart = self.run if self.n > self.run else 1
        for i, v in enumerate(values):
            payload += struct.pack("<" + FORMS[self.kind], v)
            if self.stride and (i + 1) % apart == 0:
                payload += bytes(self.stride - self.size * apart)
        shown = [self.form.replace("u", "d") % v for v in values]
        if self.braces:
            text = ", ".join(shown)
            return "[%s]" % text if self.n > 1 else text
        return " ".join(", ".join(shown[i:i + self.run])
                        for i in range(0, self.n, self.run))


class Text:
    """A text in the entry, of another message, or a value's name."""
    TYPES = {"text": 1, "text8": 1, "text16": 2, "text32": 4, "id16": 2,
             "id32": 4, "id64": 8, "bool": 4, "bool8": 1, "color": 4}
    ALONE = ("text", "text8", "text16", "text32")

    def __init__(self, rng, braces, by_size):
        self.type = rng.choice([t for t in self.TYPES
                                if not by_size or t not in self.ALONE])
        self.size = self.TYPES[self.type]
        self.braces = braces
        self.width = rng.choice(("", "", "9"))

    def spec(self):
        return "{:>%s}" % (self.width or "0") if self.braces and self.width \
            else "{}" if self.braces else "%" + self.width + "s"

    def draw(self, rng, payload):
        words = "".join(rng.choice("abc xyz%{}") for _ in range(rng.randrange(9)))
        form = {1: "B", 2: "H", 4: "I", 8: "Q"}[self.size]
        if self.type == "text":
            payload += words.encode() + b"\0"
        elif self.type in self.ALONE:
            payload += struct.pack("<" + form, len(words)) + words.encode()
        else:
            value, words = rng.choice(
                [(0, "false"), (1, "true")] if self.type[0] == "b" else
                [(3, "green"), (8, "red"), (9, "9")] if self.type == "color"
                else [(i, text) for i, text in OTHERS.items()])
            payload += struct.pack("<" + form, value)
        return words.rjust(int(self.width or 0))


# Messages that stand for texts only.
OTHERS = {40001: "the floor", 40002: "a wall", 40003: ""}


class Message:
    def __init__(self, rng, i, braces, align, by_size):
        self.align = align
        self.by_size = by_size
        self.arguments = [
            Text(rng, braces, by_size) if rng.random() < 0.3 else
            Number(rng, braces) for _ in range(rng.randrange(5))]
        self.before = "m%d%s" % (i, " 100%" if braces else " 100%%")
        self.text = self.before + "".join(" " + a.spec()
                                          for a in self.arguments)

    def draw(self, rng):
        payload = bytearray()
        texts = [""] * len(self.arguments)
        order = range(len(texts))
        if self.by_size:
            order = sorted(order, key=lambda i: -self.arguments[i].size)
        for i in order:
            a = self.arguments[i]
            to = self.align or a.size
            if a.__class__ is Text and a.type == "text":
                to = self.align or 1
            payload += bytes(up(len(payload), to) - len(payload))
            texts[i] = a.draw(rng, payload)
        payload += bytes(up(len(payload), self.align or 1) - len(payload))
        text = "m" + self.before[1:].replace("%%", "%")
        return bytes(payload), "".join([text] + [" " + t for t in texts])


class Ring:
    """A counter and packed entries, slots, or positions of a ring."""

    def __init__(self, rng):
        self.rng = rng
        braces = rng.random() < 0.5
        self.kind = rng.choice(("counter", "counter", "slots", "ring", "grows"))
        self.slots = self.kind == "slots"
        self.has_length = not self.slots and rng.random() < 0.5
        self.header = rng.choice((4, 8, 12, 16, 24))
        if self.has_length and self.header == 4:
            self.header = 8
        self.align = rng.choice((1, 4, 4, 8, 16))
        wide = self.header >= 8 and rng.random() < 0.4
        top = 64 if wide else 32
        self.id_bits = rng.randrange(8, 16 if self.has_length else top + 1)
        self.shift = rng.randrange(top - self.id_bits + 1)
        self.id_at = rng.randrange(0, self.header - top // 8 + 1, 4)
        if self.has_length:  # the id has the lower half of the same dword
            self.id_at, self.shift = 0, 0
        self.argument_align = rng.choice((4, 4, 4, 1, 8, 0))
        self.by_size = rng.random() < 0.2
        self.wrap = self.kind == "ring" and rng.random() < 0.5
        self.origins = rng.random() < 0.3 and self.header >= 16
        self.messages = {}
        while len(self.messages) < rng.randrange(1, 9):
            i = rng.randrange(1, min(1 << self.id_bits, 1 << 63))
            if i not in OTHERS and i != 0xffff:
                self.messages[i] = Message(rng, len(self.messages), braces,
                                           self.argument_align, self.by_size)
        largest = max(len(m.draw(rng)[0]) for m in self.messages.values())
        # Texts differ in length.
        self.slot = up(self.header + largest + 64, 4) + rng.choice((0, 4, 32))
        self.bits = rng.choice((32, 64))
        self.at = rng.randrange(0, 24, 4)
        self.data = up(self.at + 16 + rng.choice((0, 8, 16)), 16)
        self.unit = 1 if self.align == 1 else rng.choice((1, 2, 4))
        self.start = rng.randrange(self.data % self.unit, self.data + 1,
                                   self.unit)
        self.braces = braces

    def description(self):
        ret = {"ring": "drawn", "data": self.data}
        if self.kind in ("ring", "grows"):
            ret["write"] = {"at": self.at, "bits": self.bits}
            ret["read"] = {"at": self.at + 8, "bits": self.bits}
            ret["positions"] = {"grow": self.kind == "grows"}
        else:
            ret["counter"] = {"at": self.at, "bits": self.bits}
        if self.slots:
            ret["slots"] = {"bytes": self.slot}
        elif self.kind == "counter":
            ret["counter"].update({"unit": self.unit, "from": self.start})
        entry = {"header": self.header, "align": self.align,
                 "id": {"at": self.id_at, "bits": self.id_bits,
                        "shift": self.shift}}
        if self.has_length:
            entry["length"] = {"at": 0, "bits": 16, "shift": 16, "unit": 1}
        if self.wrap:
            entry["wrap"] = {"at": 0, "bits": 32, "value": 0xffffffff}
        if self.origins:
            entry["origin"] = {"lane": {"at": self.header - 1, "bits": 8}}
        ret["entry"] = entry
        ret["arguments"] = {"align": self.argument_align,
                            "order": "size" if self.by_size else "written"}
        ret["enums"] = {"color": {}}
        ret["text"] = "braces" if self.braces else "printf"
        messages = {str(i): {"text": m.text, "types": [a.type for a in
                                                       m.arguments]}
                    for i, m in self.messages.items()}
        messages.update((str(i), {"text": t, "types": []})
                        for i, t in OTHERS.items())
        text = json.dumps(ret)[:-1] + ', "messages": {'
        text = text.replace('"color": {}', '"color": {3: "green", 8: "red"}')
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
        if self.wrap and head[:4] == b"\xff" * 4:
            return self.entry()
        lane = "[lane=%d] " % head[-1] if self.origins else ""
        return (bytes(head) + payload).ljust(size, b"\0"), lane + text

    def buffer(self):
        """The bytes, the lines, and the bytes that calls asked for."""
        entries = [self.entry() for _ in range(self.rng.randrange(1, 40))]
        if self.kind in ("ring", "grows"):
            return self.positions(entries)
        return self.counted(entries)

    def counted(self, entries):
        rng = self.rng
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

    def positions(self, entries):
        """What is between the positions, wherever the ring begins; marks are
        not asked for."""
        rng = self.rng
        total = sum(len(e) for e, _ in entries)
        longest = max(len(e) for e, _ in entries)
        # Behind a mark or a rest that holds no header the ring begins anew.
        room = up(total + (longest + 8 if self.wrap else 0) +
                  rng.choice((1, 5, 64)), self.align)
        at = start = up(rng.randrange(room), self.align) % room
        ring = bytearray(room)
        for e, _ in entries:
            if self.wrap and room - at < len(e):
                if room - at >= self.header:
                    ring[at:at + 4] = b"\xff" * 4
                at = 0
            for c in e:
                ring[at % room] = c
                at += 1
            if self.wrap or self.kind == "ring":
                at %= room
        head = bytearray(self.data)
        n = self.bits // 8
        turns = room * rng.randrange(4) if self.kind == "grows" else 0
        head[self.at:self.at + n] = (at + turns).to_bytes(n, "little")
        head[self.at + 8:self.at + 8 + n] = (start + turns).to_bytes(n, "little")
        return bytes(head) + bytes(ring), [t for _, t in entries], total


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
