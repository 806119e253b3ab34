#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every byte that a buffer's count claims is in an entry, skipped or lost, in
every ending: account.py PROGRAM CASES_FOLDER

Takes each case buffer of debugprintf and gpuav, cuts it at many places and
sets its count to many values, and compares the sums that the program says with
what the count of the layout that it found claims. A count below what is stored
claims less than there is: then what is there counts, and nothing is lost unless
the buffer is full. A count of more than COUNT_MAX bytes, of which not one record is
here, is none: nothing is lost that is not known.
"""
import gzip
import json
import os
import shlex
import struct
import subprocess
import sys
import tempfile

WRAP = 2 ** 34  # bytes
COUNT_MAX = 2 ** 26
FILES = 200     # in one run
STEP = 1 if "TEST_WHOLE" in os.environ else 4  # of cases


def content(folder, name):
    path = os.path.join(folder, name)
    if os.path.exists(path + ".gz"):
        with gzip.open(path + ".gz") as f:
            return f.read()
    with open(path, "rb") as f:
        return f.read()


def variants(buffer):
    """Cuts of all lengths around words, and counts around records."""
    n = len(buffer)
    cuts = sorted(set(list(range(8, min(n, 160), 4)) + [9, 23, 50] +
                      [n * i // 16 // 4 * 4 for i in range(1, 16)] + [n]))
    for cut in cuts:
        if 8 <= cut <= n:
            yield buffer[:cut]
    for data in (1, 2):
        at = 4 * (data - 1)
        count = struct.unpack_from("<I", buffer, at)[0]
        for value in {0, 1, count - 1, count + 1, count // 2, count * 3,
                      n // 4, 0xffffffff}:
            if 0 <= value < 2 ** 32:
                yield buffer[:at] + struct.pack("<I", value) + buffer[at + 4:]


def claims(buffer):
    """Bytes that the count claims, for a header of one word and of two."""
    return [4 * struct.unpack_from("<I", buffer, at)[0] for at in (0, 4)]


def check(buffer, summary):
    held = summary["bytes"] + summary["skipped_bytes"]
    whole = held + summary["lost_bytes"]
    ok = any(whole in (claim, claim + WRAP) or
             (whole > claim and not summary["lost_bytes"] and
              summary["findings"]) or
             (claim > COUNT_MAX and not summary["entries"] and
              not summary["lost_bytes"] and summary["findings"])
             for claim in claims(buffer))
    return ok and held <= len(buffer)


def run(program, words, folder, names):
    done = subprocess.run([program] + words + ["-o", "json"] + names,
                          cwd=folder, capture_output=True, timeout=300)
    assert done.returncode in (0, 2), (done.returncode, done.stderr[-400:])
    lines = done.stdout.decode().splitlines()
    found = [json.loads(line) for line in lines if '"type":"summary"' in line]
    assert len(found) == len(names), done.stderr[:400]
    return found


def check_case(program, case):
    words = shlex.split(content(case, "cmd").decode(), comments=True)
    name = os.path.basename(os.path.dirname(case))
    if "decode" not in words or "buffer.bin" not in words or "<" in words:
        return 0, 0
    words.remove("buffer.bin")
    words[1:1] = [] if "--format" in words else ["--format", name]
    buffers = list(variants(content(case, "buffer.bin")))
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in os.listdir(case):
            file = file.removesuffix(".gz")
            with open(os.path.join(folder, file), "wb") as f:
                f.write(content(case, file))
        for i, buffer in enumerate(buffers):
            with open(os.path.join(folder, "v%d" % i), "wb") as f:
                f.write(buffer)
        for first in range(0, len(buffers), FILES):
            some = range(first, min(first + FILES, len(buffers)))
            names = ["v%d" % i for i in some]
            for i, summary in zip(some, run(program, words, folder, names)):
                if not check(buffers[i], summary):
                    bad += 1
                    print("%s: variant %d of %d bytes, counts %s: %s" % (
                        case, i, len(buffers[i]), claims(buffers[i]), summary))
    return len(buffers), bad


def main():
    program, root = os.path.abspath(sys.argv[1]), sys.argv[2]
    total = failed = 0
    for kind in ("debugprintf", "gpuav"):
        for name in sorted(os.listdir(os.path.join(root, kind)))[::STEP]:
            case = os.path.join(root, kind, name)
            # What the layer printed says nothing of bytes.
            if name.endswith("_khronos") or name in ("short", "strings"):
                continue
            if not os.path.exists(os.path.join(case, "cmd")):
                continue
            n, bad = check_case(program, case)
            total += n
            failed += bad
    print("%d buffers, %d with bytes that are in no account" % (total, failed))
    return 1 if failed or total < 1000 // STEP else 0


if __name__ == "__main__":
    sys.exit(main())
