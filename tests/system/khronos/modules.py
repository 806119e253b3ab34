#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No message of a wrong module without a finding: modules.py PROGRAM

Random shaders and what they print, in every layout, encoded from the formats'
description; given with their ids, without ids in several orders, with ids
swapped, and with a module that is none of them. Every message has to be the
one that was encoded, or its entry says that something is uncertain; modules in
another order give the same lines.
"""
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "make"))
import spirv_module as spv  # noqa: E402

ROUNDS = 40
LAYOUTS = ("p1", "p2", "p3", "p5", "p6")
# conversion, type, value -> (dwords, text), bits of the masks
KINDS = [
    ("%u", "u32", lambda r: r.getrandbits(32), None),
    ("%d", "i32", lambda r: r.getrandbits(32), None),
    ("%u", "u8", lambda r: r.getrandbits(8), None),
    ("%d", "i8", lambda r: r.getrandbits(8), 1),
    ("%x", "u32", lambda r: r.getrandbits(32), None),
    ("%lu", "u64", lambda r: r.getrandbits(64), None),
    ("%f", "f32", lambda r: r.randrange(-999, 999) / 4, None),
    ("%f", "f64", lambda r: r.randrange(-999, 999) / 4, 0),
]
# Findings with which a message may be wrong.
DOUBT = {"ambiguous", "wrong_module", "unknown_id"}


def encode(kind, value):
    form, type_name = kind[0], kind[1]
    if type_name[0] == "f":
        code = "f" if type_name == "f32" else "d"
        data = struct.pack("<" + code, value)
        return list(struct.unpack("<%dI" % (len(data) // 4), data)), \
            "%f" % value
    bits = int(type_name[1:])
    number = value - (1 << bits) if type_name[0] == "i" and \
        value >> (bits - 1) else value
    dwords = [value & 0xffffffff] + ([value >> 32] if bits == 64 else [])
    return dwords, ("%x" if form == "%x" else "%d") % number


class Shader:
    """A module of random calls; each call a list of kinds. Modules of other
    numbers have no call at the same place: else nothing could tell them."""

    def __init__(self, rng, stage, number):
        self.m = spv.Module(stage)
        self.stage = spv.STAGES[stage]
        self.calls = []
        for _ in range(1 + 7 * number):
            self.m.value("u32")
        for _ in range(rng.randrange(1, 4)):
            kinds = [rng.choice(KINDS) for _ in range(rng.randrange(4))]
            word = "".join(rng.choice("abcdefgh") for _ in range(5))
            text = " ".join([word] + [k[0] for k in kinds])
            self.m.call(self.m.string(text), [k[1] for k in kinds])
            self.calls.append((word, kinds))
        self.m.words()

    def record(self, rng, layout, number):
        i = rng.randrange(len(self.calls))
        word, kinds = self.calls[i]
        values, texts, masks = [], [word], [0, 0, 0]
        for bit, kind in enumerate(kinds):
            dwords, text = encode(kind, kind[2](rng))
            values += dwords
            texts.append(text)
            if kind[3] is not None:
                masks[kind[3]] |= 1 << bit
        return spv.record(layout, number, self.m, i, values, self.stage,
                          (rng.randrange(64), 0, 0), masks), " ".join(texts)


def decode(program, folder, args):
    done = subprocess.run(
        [program, "decode", "--format", "debugprintf", "-o", "json",
         "buffer.bin"] + args, cwd=folder, capture_output=True, timeout=60)
    assert done.returncode in (0, 2), (done.returncode, done.stderr[-400:])
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    return [x for x in lines if x["type"] == "entry"], done


def silent(entries, texts):
    """Entries whose message is wrong though nothing says so."""
    bad = [(e["message"], t) for e, t in zip(entries, texts)
           if e["message"] not in (t, None) and
           not DOUBT & set(e.get("findings", []))]
    if len(entries) != len(texts):
        bad.append(("%d entries" % len(entries), "%d" % len(texts)))
    return bad


class Test:
    def __init__(self, program, rng, folder):
        self.program, self.rng, self.folder = program, rng, folder
        self.bad, self.n, self.right, self.doubted = [], 0, 0, 0

    def look(self, what, args, texts, all_right):
        entries, done = decode(self.program, self.folder, args)
        right = sum(e["message"] == t for e, t in zip(entries, texts))
        self.n += len(texts)
        self.right += right
        self.doubted += len(texts) - right
        wrong = silent(entries, texts)
        if all_right and right != len(texts):
            wrong.append((right, "all %d" % len(texts)))
        if wrong:
            self.bad.append((what, args, wrong[:2], done.stderr[:200]))
        return done.stdout

    def write(self, name, data):
        with open(os.path.join(self.folder, name), "wb") as f:
            f.write(data)

    def round(self, layout):
        rng = self.rng
        numbers = rng.sample(range(200), 3)
        stages = ["vertex", "fragment", "compute"]
        shaders = [Shader(rng, rng.choice(stages), k) for k in range(3)]
        records, texts = [], []
        for _ in range(rng.randrange(6, 30)):
            k = rng.randrange(3)
            record, text = shaders[k].record(rng, layout, numbers[k])
            records.append(record)
            texts.append(text)
        self.write("buffer.bin", spv.printf_buffer(layout, records))
        for k, shader in enumerate(shaders):
            self.write("s%d.spv" % k, shader.m.bytes())
        told = ["--shader=%d=s%d.spv" % (n, k) for k, n in enumerate(numbers)]
        self.look("told", told, texts, True)
        outputs = {self.look("order", ["s%d.spv" % k for k in order], texts,
                             False)
                   for order in itertools.permutations(range(3))}
        if len(outputs) != 1:
            self.bad.append(("order", layout, "outputs differ", ""))
        swapped = numbers[1:] + numbers[:1]
        self.look("swapped", ["--shader=%d=s%d.spv" % (n, k)
                              for k, n in enumerate(swapped)], texts, False)
        self.write("other.spv", Shader(rng, rng.choice(stages), 3).m.bytes())
        self.look("other", ["--shader=%d=other.spv" % n for n in numbers],
                  texts, False)


def main():
    program = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else ROUNDS
    with tempfile.TemporaryDirectory() as folder:
        test = Test(program, random.Random(seed), folder)
        for i in range(rounds):
            test.round(LAYOUTS[i % len(LAYOUTS)])
    for bad in test.bad[:10]:
        print(bad)
    print("%d messages, %d right, %d said to be uncertain, %d runs failed" % (
        test.n, test.right, test.doubted, len(test.bad)))
    return 1 if test.bad else 0


if __name__ == "__main__":
    sys.exit(main())
