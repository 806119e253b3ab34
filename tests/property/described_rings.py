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


class Tagged:
    """Entries that state the types of their arguments; some have their text, too.
    A call that finds no room may leave a mark."""
    TYPES = {0: "u32", 1: "i32", 2: "f32", 3: "u8", 4: "i16", 5: "f64", 6: "u64",
             7: "id32", 8: "text16", 9: "i64"}

    def __init__(self, rng):
        self.rng = rng
        self.grammar = rng.choice(("braces", "braces", "none"))
        self.braces = rng.random() < 0.5
        self.has_text = self.grammar == "braces" and rng.random() < 0.4
        self.has_length = rng.random() < 0.7
        self.has_full = self.has_length and rng.random() < 0.6
        self.align = rng.choice((1, 4, 8))
        self.argument_align = rng.choice((1, 4, 4, 8))
        self.tag = rng.choice((1, 2, 4, 4, 8))
        self.type_at = rng.randrange(self.tag)
        self.has_shape = self.tag >= 4 and rng.random() < 0.7
        self.has_size = self.tag == 8 and rng.random() < 0.7
        self.texts = {}
        while len(self.texts) < 5:
            self.texts[rng.getrandbits(32) | 1] = ["message %d" % len(self.texts),
                                                   rng.randrange(5)]
        for t in self.texts.values():
            t[1] = [rng.random() < 0.4 for _ in range(t[1])]

    def form(self, text, floats):
        """The text of a message, by which of its arguments are floats."""
        if self.grammar == "none":
            return text
        return text + "".join(" {:.2f}" if f else " {}" for f in floats) + "\n"

    def description(self):
        entry = {"header": 16, "align": self.align,
                 "count": {"at": 8, "bits": 16},
                 "origin": {"lane": {"at": 12}}}
        entry["text" if self.has_text else "id"] = {"at": 4}
        if self.has_length:
            entry["length"] = {"at": 0}
        if self.has_full:
            entry["full"] = {"at": 0, "value": 0xfffffff0}
        tags = {"bytes": self.tag, "type": {"at": self.type_at, "bits": 8}}
        if self.has_shape:
            low = (self.type_at + 1) % self.tag
            tags.update({"rows": {"at": low, "bits": 4},
                         "columns": {"at": low, "bits": 4, "shift": 4}})
        if self.has_size:
            tags["size"] = {"at": self.size_at(), "bits": 16}
        ret = {"ring": "tagged", "counter": {"at": 0, "from": 8}, "data": 8,
               "entry": entry,
               "arguments": {"align": self.argument_align,
                             "vectors": "braces" if self.braces else "brackets"},
               "text": self.grammar}
        messages = {str(i): self.form(*t) for i, t in self.texts.items()}
        messages.update((str(i), t) for i, t in OTHERS.items())
        text = json.dumps(ret)[:-1] + ', "tags": ' + json.dumps(tags)[:-1] + \
            ', "types": {' + ", ".join("%d: %s" % t for t in self.TYPES.items()) + \
            '}}, "messages": {'
        return text + ", ".join("%s: %s" % (i, json.dumps(m))
                                for i, m in messages.items()) + "}}"

    def size_at(self):
        """Two bytes of the tag that nothing else has."""
        taken = {self.type_at, (self.type_at + 1) % self.tag}
        return next(i for i in range(self.tag - 1) if not taken & {i, i + 1})

    def argument(self, is_float):
        """Bytes behind the tag, what they print as, and the tag."""
        rng = self.rng
        code = rng.choice([c for c, t in self.TYPES.items()
                           if (t[0] == "f") == is_float])
        kind = self.TYPES[code]
        rows = columns = 0
        if kind == "id32":
            i, shown = rng.choice(list(OTHERS.items()))
            data = struct.pack("<I", i)
        elif kind == "text16":
            shown = "".join(rng.choice("abc {}%") for _ in range(rng.randrange(9)))
            data = struct.pack("<H", len(shown)) + shown.encode()
        else:
            if self.has_shape and rng.random() < 0.5:
                rows, columns = rng.randrange(1, 5), rng.choice((0, 1, 2, 3))
            n = max(rows, 1) * max(columns, 1)
            values = [number(rng, kind) for _ in range(n)]
            data = struct.pack("<%d%s" % (n, FORMS[kind]), *values)
            form = "%.2f" if self.grammar != "none" else "%s"
            shown = self.shape([form % v if is_float else str(v) for v in values],
                               rows, columns)
        tag = bytearray(rng.randbytes(self.tag))
        tag[self.type_at] = code
        if self.has_shape:
            tag[(self.type_at + 1) % self.tag] = rows | columns << 4
        if self.has_size:
            pad = rng.choice((0, 0, 3)) if kind != "text16" else 0
            data += bytes(pad)
            at = self.size_at()
            tag[at:at + 2] = struct.pack("<H", self.tag + len(data))
        return bytes(tag), data, shown

    def shape(self, shown, rows, columns):
        left, right = "{}" if self.braces else "[]"
        if len(shown) == 1:
            return shown[0]
        if self.braces and rows > 1 and columns > 1:
            shown = [left + ", ".join(shown[i:i + columns]) + right
                     for i in range(0, len(shown), columns)]
        return left + ", ".join(shown) + right

    def entry(self):
        rng = self.rng
        i = rng.choice(list(self.texts))
        text, floats = self.texts[i]
        if self.grammar == "none":  # numbers of shortest digits are fmt's test
            floats = [False] * rng.randrange(5)
        payload = bytearray()
        if self.has_text:
            payload += self.form(text, floats).encode()
            i = len(payload)
        shown = []
        for is_float in floats:
            tag, data, one = self.argument(is_float)
            payload += bytes(up(len(payload), self.argument_align) - len(payload))
            payload += tag
            if not self.has_size:
                kind = self.TYPES[tag[self.type_at]]
                to = self.argument_align or 1
                payload += bytes(up(len(payload), to) - len(payload))
                del kind
            payload += data
            shown.append(one)
        payload += bytes(up(len(payload), self.argument_align) - len(payload))
        lane = rng.getrandbits(16)
        size = up(16 + len(payload), self.align)
        head = struct.pack("<IIII", size if self.has_length else rng.getrandbits(28),
                           i, len(floats) | rng.getrandbits(16) << 16, lane)
        return (head + payload).ljust(size, b"\0"), \
            "[lane=%d] " % lane + " ".join([text] + shown)

    def buffer(self):
        entries = [self.entry() for _ in range(self.rng.randrange(1, 30))]
        wanted = sum(len(e) for e, _ in entries)
        room = wanted
        if self.rng.random() < 0.5:
            room = self.rng.randrange(0, wanted, 4)
        data, lines = b"", []
        for e, text in entries:
            if len(data) + len(e) > room:
                if self.has_full and len(data) + 4 <= room:
                    data += struct.pack("<I", 0xfffffff0)
                break
            data += e
            lines.append(text)
        return struct.pack("<II", wanted, 0) + data.ljust(room, b"\0"), lines, \
            wanted


class Lanes:
    """One entry for several lanes: a header, and arguments of each."""

    def __init__(self, rng):
        self.rng = rng
        self.align = rng.choice((1, 4, 8))

    def description(self):
        return json.dumps({
            "ring": "lanes", "counter": {"at": 0, "from": 8}, "data": 8,
            "entry": {"header": 12, "align": self.align, "lanes": {"at": 0},
                      "id": {"at": 4}, "length": {"at": 8}},
            "arguments": {"align": 1}})[:-1] + ', "messages": {' + \
            '1: {"text": "a %u %d\\n", "types": [u32, i16]}, ' + \
            '2: "none\\n", 3: {"text": "b %u\\n", "types": [u8]}}}'

    def buffer(self):
        rng = self.rng
        data, lines = b"", []
        for _ in range(rng.randrange(1, 20)):
            i, n = rng.randrange(1, 4), rng.randrange(1, 65)
            form = {1: "Ih", 2: "", 3: "B"}[i]
            args = b""
            for _ in range(n):
                v = [number(rng, {"I": "u32", "h": "i16", "B": "u8"}[f])
                     for f in form]
                args += struct.pack("<" + form, *v)
                lines.append({1: "a", 2: "none", 3: "b"}[i] +
                             "".join(" %d" % x for x in v))
            e = struct.pack("<III", n, i, struct.calcsize("<" + form)) + args
            data += e.ljust(up(len(e), self.align), b"\0")
        return struct.pack("<II", len(data), 0) + data, lines, len(data)


KINDS = (Ring, Ring, Ring, Tagged, Lanes)


def check(program, folder, rng):
    ring = rng.choice(KINDS)(rng)
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
