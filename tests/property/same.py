#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""However a buffer comes, the same is said: as a file, on standard input, in
pieces of any size, on one thread or on eight.

    same.py PROGRAM PIECES CASES_FOLDER
    same.py PROGRAM PIECES FORMAT [--seed N] [--count M]
    --few: only the way with most to it and few sizes of pieces; for sanitizers

The first takes the golden cases, the second makes inputs that are larger than
what is looked at together, sound ones and damaged ones.
"""
import argparse
import glob
import gzip
import hashlib
import json
import os
import random
import re
import shlex
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "../make"))
import truth  # noqa: E402

BUFFER = "buffer.bin"
LARGE = 17 << 20  # more than any window, and than an entry can have
FEW = 3 << 20     # more than what is read anew at once
WINDOW = 1 << 20  # what is read anew at once
SIZES = ["0", "3", "1", "4", "64", "4096"]  # the first two for --few
LARGE_SIZES = ["0", "65536", "1048577"]
WAYS = ((8, False), (8, True), (1, False))  # threads, as a file; likewise
AVERAGE = 48      # bytes of an entry, so that what is printed is not too much
KINDS = (("json",), ("text",), ("raw",))
OPTIONS = {
    "--format": {},
    "--layout": {"p%d" % i: str(i) for i in range(1, 7)},
    "--opencl-strings": {"auto": "0", "old": "1", "new": "2"},
    "--compat": {"none": "0", "clr": "1", "khronos": "2"},
}
TIMEOUT_S = 300
# The source in what a line of text may have before its message.
SHOWN = re.compile(rb"(?m)^(\[(?:[^]\n]* )?)" + re.escape(BUFFER.encode())
                   + rb"(?=[] ])")


class Died(Exception):
    """The program ended by a signal, or by a sanitizer: one that does so in
    all ways is not the same, it is dead."""


class Runs:
    """Commands in a folder; what they said, as something to compare."""

    def __init__(self, program, pieces, folder, few=False):
        self.program, self.pieces = map(os.path.abspath, (program, pieces))
        self.folder = folder
        self.few = few
        self.turn = None  # of a golden case, among the ways

    def decode(self, words, kind, threads, as_file):
        """(exit status, hash of the output, what was said beside it)"""
        words = [w if as_file or w != BUFFER else "-" for w in words]
        line = [self.program, "decode", "-o", kind, "-j", str(threads)] + words
        if not as_file:
            line = ["sh", "-c", 'cat "$0" | "$@"', BUFFER] + line
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            done = subprocess.run(line, cwd=self.folder, stdout=out,
                                  stderr=err, stdin=subprocess.DEVNULL,
                                  timeout=TIMEOUT_S, check=False)
            out.seek(0)
            err.seek(0)
            said = out.read().replace(b'"%s"' % BUFFER.encode(), b'"-"')
            said = said.replace(b"==> %s <==" % BUFFER.encode(), b"==> - <==")
            said = SHOWN.sub(rb"\1-", said)
            beside = err.read().replace(b" %s:" % BUFFER.encode(), b" -:")
        if done.returncode not in range(4):
            raise Died("%s: status %d: %r" % (" ".join(line), done.returncode,
                                              beside[-2000:]))
        return done.returncode, hashlib.sha256(said).hexdigest(), len(said), \
            beside

    def ways(self):
        """With few, one and always the same; of golden cases, one each."""
        if self.few:
            return WAYS[:1]
        return WAYS if self.turn is None else [WAYS[self.turn % len(WAYS)]]

    def compare(self, words, kinds):
        """How the ways differ, as a sentence; None: they do not."""
        try:
            return self.difference(words, kinds)
        except Died as why:
            return str(why)

    def difference(self, words, kinds):
        for kind in kinds[:1] if self.few else kinds:
            first = self.decode(words, kind, 1, True)
            for threads, as_file in self.ways():
                other = self.decode(words, kind, threads, as_file)
                if other != first:
                    return "-o %s -j %d, %s: %r, not %r" % (
                        kind, threads, "a file" if as_file else "a pipe",
                        other, first)
        return None

    def in_pieces(self, words, sizes):
        line = tool_words(words, self.folder)
        if line is None:
            return None
        sizes = sizes[:2] if self.few else sizes
        done = subprocess.run([self.pieces] + line + sizes, cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=TIMEOUT_S, check=False)
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        return "%d: %s" % (done.returncode, said) if done.returncode else None


def tool_words(words, folder):
    """The same for the tool that decodes in pieces; None: it cannot."""
    out, words = [BUFFER], list(words)
    while words:
        word = words.pop(0)
        if word in OPTIONS:
            value = words.pop(0)
            out += [word, OPTIONS[word].get(value, value)]
        elif word == "--shader":
            out += [word, words.pop(0)]
        elif word == "--shaders":
            with open(os.path.join(folder, words.pop(0)),
                      encoding="utf-8") as f:
                shaders = json.load(f)["shaders"]
            for ident, of in shaders.items():
                out += ["--shader", "%s=%s" % (
                    ident, of if isinstance(of, str) else of["spv"])]
        elif word.endswith((".elf", ".co")):
            out += ["--strings", word]
        elif word not in (BUFFER, "decode", "-v"):
            return None
    return out


# ---- golden cases ----

def case_words(case):
    """What a case decodes; None: something else."""
    with open(os.path.join(case, "cmd"), encoding="utf-8") as f:
        words = shlex.split(f.read())
    verbs = ("strings", "inspect", "stats", "extract", "recover", "follow",
             "formats", "capture", "spirv-check", "x", "help")
    if not words or words[0] in verbs or BUFFER not in words:
        return None
    if not glob.glob(os.path.join(case, BUFFER + "*")):
        return None  # it is about the command line alone
    words = words[1:] if words[0] == "decode" else words
    return None if "<" in words else words


def unpack(case, folder):
    for name in os.listdir(folder):
        os.unlink(os.path.join(folder, name))
    for name in os.listdir(case):
        if name.startswith(("expect.", "cmd", "origin")):
            continue
        path, opener = os.path.join(case, name), open
        if name.endswith(".gz"):
            name, opener = name[:-3], gzip.open
        with opener(path, "rb") as f, \
                open(os.path.join(folder, name), "wb") as to:
            to.write(f.read())


def golden(runs, root):
    failed = n = 0
    for cmd in sorted(glob.glob(os.path.join(root, "*/*/cmd"))):
        case = os.path.dirname(cmd)
        words = case_words(case)
        if words is None:
            continue
        unpack(case, runs.folder)
        runs.turn = n
        n += 1
        problem = runs.compare(words, ("json", "text")) or \
            runs.in_pieces(words, SIZES)
        if problem:
            failed += 1
            print("%s: %s" % (os.path.relpath(case, root), problem[:1500]))
    print("%d cases, %d failed" % (n, failed))
    return failed > 0 or n == 0


# ---- large ones ----

def enlarge(format_name, case, n_bytes):
    """The case's entries again and again."""
    data = case.files[BUFFER]
    start = case.messages[0].offset
    end = max(m.offset + m.size for m in case.messages)
    body = data[start:end] if format_name != "hostcall" else data
    start = 0 if format_name == "hostcall" else start
    if format_name == "abort":
        body += bytes(-len(body) % 8)
    body *= n_bytes // len(body) + 1
    head = bytearray(data[:start])
    if format_name == "llpc":
        head[:8] = struct.pack("<Q", len(body) // 4)
    elif format_name in ("opencl", "hip"):
        head[:8] = struct.pack("<II", len(body), len(body) + 65536)
    elif start:
        head[start - 4:] = struct.pack("<I", len(body) // 4)
    case.files[BUFFER] = bytes(head) + body
    return start


def damage(rng, data, start):
    """Some words become others, near the front too: sizes that lead beyond
    what is looked at together."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 5, 50))):
        far = rng.random() < 0.5
        at = start + 4 * rng.randrange(
            (min(len(data), WINDOW if far else 4096) - start) // 4 - 1)
        value = rng.choice((0, 1, rng.getrandbits(32), WINDOW,
                            rng.randrange(len(data) // 4)))
        if rng.random() < 0.5:
            data[at] ^= 1 << rng.randrange(8)
        else:
            data[at:at + 4] = struct.pack("<I", value)
    return bytes(data)


def large_case(module, o, i):
    """Input number i: of entries that are not all tiny."""
    rng = random.Random("same %s %d %d" % (o.what, o.seed, i))
    case = None
    while not case or sum(m.size for m in case.messages) < \
            AVERAGE * len(case.messages):
        case = rng.choice(module.SOUND)(rng)
    start = enlarge(o.what, case, FEW if o.few else LARGE)
    if i % 3:
        case.files[BUFFER] = damage(rng, case.files[BUFFER], start)
    if i % 2 and case.words[0] == "--format":
        case.words = case.words[2:]
    return case


def large(runs, module, o):
    failed = 0
    for i in truth.numbers(o):
        case = large_case(module, o, i)
        case.write(runs.folder)
        if o.keep:
            case.write(o.keep)
            print("printfdecode decode " + " ".join(case.words))
        problem = runs.compare(case.words, KINDS[i % len(KINDS)]) or \
            runs.in_pieces(case.words, LARGE_SIZES)
        if problem:
            failed += 1
            print("--seed %d --only %d (%s): %s" % (
                o.seed, i, case.kind, problem[:1500]))
    print("%d failed" % failed)
    return failed > 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("program")
    p.add_argument("pieces")
    p.add_argument("what", help="a format, or the folder of golden cases")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=int, default=6)
    p.add_argument("--only", type=int)
    p.add_argument("--few", action="store_true")
    p.add_argument("--keep", help="write the files of --only to this folder")
    o = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(o.program, o.pieces, folder, o.few)
        if os.path.isdir(o.what):
            return golden(runs, o.what)
        return large(runs, truth.load(o.what), o)


if __name__ == "__main__":
    sys.exit(main())
