#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are no buffers: not one message may come of them.

noise.py PROGRAM CASES [--count N] [--seed N] [--jobs N] [--keep FOLDER]

Random bytes, small numbers, texts, archives, images and files of this system,
without strings and with those of each format: nothing may be printed as an
entry, and nothing reckoned as lost. Each seed is another set; one message fails
the test.
"""
import argparse
import bz2
import concurrent.futures
import gzip
import io
import json
import lzma
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import zipfile
import zlib

AT_ONCE = 25  # files of one command
SIZE_MAX = 1 << 18
FOLDERS = ("/usr/bin", "/usr/lib", "/usr/share", "/usr/include", "/etc")
# Golden cases whose strings are loaded beside: one of each format.
STRINGS = {
    "llpc": ("llpc/stats", ".elf"),
    "opencl": ("opencl/stray_bytes", ".co"),
    "hip": ("hip/long_format", ".co"),
    "spirv": ("debugprintf/empty", ".spv"),
}


# ---- what is drawn ----

def size_of(rng):
    return rng.choice((8, 12, 16, 24, 40, 64, 100, 512, 1008, 4096, 8192,
                       65536, 70000, rng.randrange(8, 20000)))


def random_bytes(rng):
    return rng.randbytes(size_of(rng))


def small_numbers(rng):
    """As tables and headers of many files have them."""
    most = rng.choice((20, 256, 5000))
    form = rng.choice("<I <Q <H >I".split())
    n = (512 + size_of(rng)) // struct.calcsize(form)
    return b"".join(struct.pack(form, rng.randrange(most)) for _ in range(n))


def floats(rng):
    return b"".join(struct.pack("<f", rng.uniform(-1, 1))
                    for _ in range(size_of(rng) // 4 + 1))


def one_byte(rng):
    return bytes([rng.randrange(1, 256)]) * size_of(rng)


def islands(rng):
    """Zeros with something here and there; the first bytes are something."""
    data = bytearray(size_of(rng))
    data[:8] = rng.randbytes(8)
    for _ in range(rng.randrange(1, 30)):
        at = rng.randrange(len(data))
        data[at:at + 8] = rng.randbytes(min(8, len(data) - at))
    return bytes(data)


def text(rng):
    words = "the shader wrote %d of %s lanes; äöü 漢字 value: 0x1f\n".split(" ")
    n = size_of(rng)
    out = " ".join(rng.choice(words) for _ in range(n // 5 + 2)).encode()
    return out[:n].decode("utf-8", "ignore").encode(
        rng.choice(("utf-8", "utf-16", "utf-8-sig")))


def member(rng):
    return rng.choice((random_bytes, small_numbers, text))(rng)


def tar(rng):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        for i in range(rng.randrange(1, 4)):
            info = tarfile.TarInfo("m%d" % i)
            data = member(rng)
            info.size = len(data)
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def zipped(rng):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice((0, 8))) as z:
        z.writestr("m", member(rng))
    return out.getvalue()


def packed(rng):
    return rng.choice((bz2.compress, lzma.compress))(member(rng))


def inflated(rng):
    """What gzip hides is no buffer, either."""
    return gzip.compress(member(rng), mtime=0)


def png(rng):
    w, h = rng.randrange(1, 80), rng.randrange(1, 80)

    def chunk(name, data):
        body = name + data
        return (struct.pack(">I", len(data)) + body +
                struct.pack(">I", zlib.crc32(body)))
    rows = b"".join(b"\0" + rng.randbytes(3 * w) for _ in range(h))
    return (b"\x89PNG\r\n\x1a\n" +
            chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def bmp(rng):
    w, h = rng.randrange(1, 80), rng.randrange(1, 80)
    pixels = rng.randbytes(4 * w * h)
    return (struct.pack("<2sIII", b"BM", 54 + len(pixels), 0, 54) +
            struct.pack("<IiiHHIIiiII", 40, w, h, 1, 32, 0, len(pixels), 0, 0,
                        0, 0) + pixels)


def pixels(rng):
    """An image without a header: slow changes."""
    at, out = rng.randrange(256), bytearray()
    for _ in range(size_of(rng)):
        at = (at + rng.randrange(-2, 3)) % 256
        out.append(at)
    return bytes(out)


def system_files():
    out = []
    for top in FOLDERS:
        for folder, folders, names in os.walk(top):
            folders.sort()
            out += [os.path.join(folder, n) for n in sorted(names)]
    return out


def of_system(rng, paths=[]):
    if not paths:
        paths += system_files()
    for _ in range(20):
        path = rng.choice(paths)
        try:
            if not os.path.isfile(path):
                continue
            with open(path, "rb") as f:
                data = f.read(rng.choice((SIZE_MAX, SIZE_MAX, 4096, 300)))
        except OSError:
            continue
        if any(data):
            return data
    return b"no file of the system could be read"


KINDS = [random_bytes, random_bytes, small_numbers, floats, one_byte, islands,
         text, tar, zipped, packed, inflated, png, bmp, pixels,
         of_system, of_system, of_system, of_system, of_system, of_system]


# ---- what comes of it ----

def strings_of(cases):
    out = {"nothing": []}
    for name, (case, end) in STRINGS.items():
        folder = os.path.join(cases, case)
        out[name] = sorted(os.path.join(folder, f) for f in os.listdir(folder)
                           if f.endswith(end))
        assert out[name], "no strings in %s" % folder
    return out


def decode(program, strings, files, folder):
    words = [program, "decode", "-o", "json"]
    for path in strings:
        words += ["--strings", path]
    for name in files:
        words += ["--buffer", name]
    done = subprocess.run(words, cwd=folder, capture_output=True, timeout=300)
    if done.returncode not in (0, 2):
        raise SystemExit("exit status %d of %s\n%s" % (
            done.returncode, words, done.stderr.decode("utf-8", "replace")))
    return done


def judge(program, label, strings, files, folder):
    """What is wrong, one line each."""
    done = decode(program, strings, files, folder)
    wrong = []
    for line in done.stdout.splitlines():
        item = json.loads(line)
        if item["type"] == "entry":
            wrong.append("%s: with %s, as %s: %s" % (
                item["source"], label, item["format"], str(item["message"])[:80]))
    told = done.stderr.decode("utf-8", "replace")
    lost = re.search(r"; (\d+) bytes lost", told)
    if lost and lost[1] != "0":
        for name in files:
            told = decode(program, strings, [name], folder).stderr.decode(
                "utf-8", "replace")
            if "; 0 bytes lost" not in told and "lost" in told:
                wrong.append("%s: with %s: %s" % (name, label, told[:300]))
    return wrong


def run(o, part, label, strings):
    rng = random.Random("%d %d" % (o.seed, part))
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i in range(AT_ONCE):
            kind = rng.choice(o.kinds)
            name = "%d.%s" % (i, kind.__name__)
            files.append(name)
            with open(os.path.join(folder, name), "wb") as f:
                f.write(kind(rng))
        wrong = judge(o.program, label, strings, files, folder)
        for line in wrong if o.keep else []:
            name = line.split(":")[0]
            os.makedirs(o.keep, exist_ok=True)
            with open(os.path.join(folder, name), "rb") as f, open(
                    os.path.join(o.keep, "%d.%s" % (part, name)), "wb") as to:
                to.write(f.read())
        return ["part %d: %s" % (part, line) for line in wrong]


def options():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("program")
    p.add_argument("cases")
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--kind", nargs="*", default=[], help="these kinds alone")
    p.add_argument("--keep", help="a folder for files that fail")
    o = p.parse_args()
    o.program = os.path.abspath(o.program)
    o.cases = os.path.abspath(o.cases)
    o.kinds = [k for k in KINDS if not o.kind or k.__name__ in o.kind]
    return o


def main():
    o = options()
    labels = list(strings_of(o.cases).items())
    parts = range((o.count + AT_ONCE - 1) // AT_ONCE)
    of_system(random.Random(0))  # lists the files once
    with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
        found = pool.map(lambda i: run(o, i, *labels[i % len(labels)]), parts)
        wrong = [line for lines in found for line in lines]
    for line in wrong[:40]:
        print(line)
    print("%d files, seed %d: %d wrong" % (len(parts) * AT_ONCE, o.seed,
                                           len(wrong)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
