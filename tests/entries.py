#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""entries.py PROGRAM CASES: of each golden case's buffers, the entries that a
capture keeps instead of bytes say, in JSON, what the buffers said; and their
chunks are what src/stream/capture/README.md says."""
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "make"))
import captures  # noqa: E402

PROGRAM, CASES = (os.path.abspath(a) for a in sys.argv[1:3])
TEMP = tempfile.TemporaryDirectory()
CAPTURE = os.path.join(TEMP.name, "it.pfcap")
OTHER_VERBS = {"strings", "inspect", "stats", "diff", "capture", "recover", "follow",
               "extract", "formats", "spirv-check", "help"}
# What changes the output or what of it is shown is none of a capture.
OTHER_OPTIONS = ("-o", "--output", "--show", "-n", "--limit", "--skip", "-c",
                 "--count", "-j", "--threads", "--color", "--with-", "--no-",
                 "--keep", "-v", "--compat", "-m", "--match", "--where", "--id",
                 "--invert", "--format-string", "--source", "-i", "--collapse",
                 "--window")
NOT_HERE = {
    # What the layer's JSON says of the device has no place in a capture.
    "gpuav/capture_av_dispatch_1",
    # The limit is the first command's alone.
    "container/max_inflated_decode",
}


def arguments(folder):
    """Of the case's decode; None: it is none, or has nothing to compare."""
    with open(os.path.join(folder, "cmd")) as f:
        text = f.read()
    words = shlex.split(text)
    if set(text) & set("<|") or (words and words[0] in OTHER_VERBS):
        return None
    words = words[1:] if words and words[0] == "decode" else words
    return None if any(w.startswith(OTHER_OPTIONS) for w in words) else words


def run(folder, *words):
    return subprocess.run([PROGRAM, *words], cwd=folder, timeout=120,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def records(output, buffers_only):
    """Without what a capture adds."""
    ret = []
    for line in output.splitlines():
        r = json.loads(line)
        for key in ("time", "time_unix_nano", "generation"):
            r.pop(key, None)
        origin = r.get("origin", {})
        for key in ("host", "process", "pid", "uuid"):
            origin.pop(key, None)
        if not origin:
            r.pop("origin", None)
        if r["type"] != "finding" or r["source"] in buffers_only:
            ret.append(r)
    return ret


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        assert self.at + n <= len(self.data), "cut"
        self.at += n
        return self.data[self.at - n:self.at]

    def numbers(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def align(self, n):
        assert not any(self.take(-self.at % n)), "padding"


def read_chunk(data):
    """The entries of one chunk: [(index, offset, key, bytes)]; how many items
    there are."""
    b = Bytes(data)
    version, items, _, n_header, n_kinds, n_strings = b.numbers("6I")
    _, _, zero = b.numbers("3Q")
    assert version == 1 and zero == 0
    for _ in range(1 + n_kinds):
        while b.take(1) != b"\0":
            pass
    b.align(8)
    keys = [b.numbers("QQ")[0] for _ in range(n_strings)]
    index = offset = n_items = 0
    entries = []
    while b.at < len(data):
        head, number = b.numbers("II")
        kind, is_long, n = head & 3, head >> 2 & 1, head >> 8
        assert not head >> 3 & 31
        n_items += kind != 1
        if kind >= 2:
            b.numbers("Q")
        elif is_long:
            at, place, _, _, key, n_bytes, n = b.numbers("5QIIBBBB")[:7]
        else:
            at, place, key, n_bytes = index, offset, keys[number], n
        payload = b.take(n)
        b.align(4)
        if kind == 0:
            entries.append((at, place, key, payload))
            index, offset = at + 1, place + n_bytes
    assert n_items == items, (n_items, items)
    return entries, items


def check_chunks(want):
    """By whoever has only the description."""
    entries, sequence = [], 0
    with open(CAPTURE, "rb") as f:
        data = f.read()
    for frame in captures.frames(data):
        if frame["type"] == "buffer":
            sequence = 0
        if frame["type"] != "entries":
            continue
        assert frame.get("sequence", 0) == sequence
        more, n = read_chunk(frame["bytes"])
        entries += more
        sequence += n
    told = [r for r in want if r["type"] == "entry"]
    got = [e[:3] for e in entries]
    told = [(r["index"], r["offset"], int(r["id"], 16)) for r in told]
    assert got == told, (got, told)


def check(name):
    """None: nothing to compare."""
    folder = os.path.join(CASES, name)
    words = arguments(folder)
    if words is None or name in NOT_HERE:
        return None
    want = run(folder, "decode", "-o", "json", *words)
    assert want.returncode in range(4), want
    if want.returncode not in (0, 2):
        return None
    done = run(folder, "capture", "--entries", "--force", "-o", CAPTURE, *words)
    if b"captures are joined with cat" in done.stderr:
        return None
    assert done.returncode in (0, 2), done.stderr
    got = run(folder, "decode", "-o", "json", CAPTURE)
    assert got.returncode in (0, 2), got
    buffers = {r["source"] for r in map(json.loads, want.stdout.splitlines())
               if r["type"] == "summary"}
    want = records(want.stdout, buffers)
    got = records(got.stdout, buffers)
    assert want == got, next(
        (w, g) for w, g in zip(want + [None], got + [None]) if w != g)
    check_chunks(want)
    return True


def check_cut():
    """A capture that is cut anywhere says so, and gives what came."""
    folder = os.path.join(CASES, "cli", "match_inverted")
    words = ("small.bin", "app.elf")
    assert run(folder, "capture", "--entries", "--force", "-o", CAPTURE,
               *words).returncode == 0
    whole = records(run(folder, "decode", "-o", "json", CAPTURE).stdout, ())
    with open(CAPTURE, "rb") as f:
        data = f.read()
    cut, most = CAPTURE + ".cut", 0
    for n in range(16, len(data), 13):
        with open(cut, "wb") as f:
            f.write(data[:n])
        done = run(folder, "decode", "-o", "json", cut)
        got = [r for r in records(done.stdout, ()) if r["type"] == "entry"]
        assert done.returncode in (1, 2), n
        assert got == whole[:len(got)], n
        most = max(most, len(got))
    assert most == 64, most


def main():
    n = failed = 0
    check_cut()
    for f in sorted(e.name for e in os.scandir(CASES) if e.is_dir()):
        for case in sorted(os.listdir(os.path.join(CASES, f))):
            if not os.path.exists(os.path.join(CASES, f, case, "cmd")):
                continue
            try:
                n += bool(check(f"{f}/{case}"))
            except AssertionError as e:
                failed += 1
                print(f"{f}/{case}: {e!r}")
    print(f"{n} cases the same, {failed} not")
    return failed > 0 or n < 300


if __name__ == "__main__":
    sys.exit(main())
