#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Has PFD_PRINTF print on waves of 32 and 64 lanes that are stood in for, and
looks whether the buffer says what was said:

    said.py PROGRAM SAY...

PROGRAM: printfdecode. SAY: say.cc, compiled with each choice of options."""
import collections
import json
import os
import subprocess
import sys
import tempfile

HEADER = 16
# Width, seed, waves, bytes of the buffer; 0: as much as is said, and a little.
RUNS = ((32, 1, 6, 0), (64, 2, 6, 0), (32, 3, 1, 0), (64, 4, 3, 40016),
        (32, 5, 4, 4096), (32, 6, 1, 20), (64, 7, 1, 16), (32, 8, 5, 30004))


def print_into(say, folder, width, seed, waves, n_bytes):
    """The buffer's path, what was said, and its dwords."""
    buffer, said = (os.path.join(folder, name) for name in ("b.bin", "said"))
    subprocess.run([say, str(width), str(seed), str(waves),
                    str(n_bytes or 1 << 22), buffer, said], check=True)
    with open(said, encoding="ascii") as f:
        *lines, dwords = f.read().splitlines()
    return buffer, collections.Counter(map(json.loads, lines)), int(dwords)


def decode(program, buffer, say):
    done = subprocess.run([program, "-o", "json", buffer, say],
                          capture_output=True, text=True, check=False)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    by_type = collections.defaultdict(list)
    for record in records:
        by_type[record["type"]].append(record)
    return by_type, by_type["summary"][0], done.returncode


def expect(what, wanted, got):
    if wanted != got:
        raise AssertionError("%s: expected %r, found %r" % (what, wanted, got))


def check(program, say, folder, run):
    buffer, said, dwords = print_into(say, folder, *run)
    by_type, summary, status = decode(program, buffer, say)
    got = collections.Counter(e["message"] for e in by_type["entry"])
    with open(buffer, "rb") as f:
        expect("bufferOffset", dwords, int.from_bytes(f.read(8), "little"))
    room = os.path.getsize(buffer) - HEADER
    lost = max(0, 4 * dwords - room)
    expect("said, but not so", collections.Counter(), got - said)
    expect("lost bytes", lost, summary["lost_bytes"])
    if not lost:
        expect("entries", said, got)
        expect("findings", [], by_type["finding"])
        expect("status", 0, status)
    else:
        kinds = {f["kind"] for f in by_type["finding"]}
        expect("findings", set(),
               kinds - {"overflow", "truncated_entry"})
        expect("bytes", room, summary["bytes"] + summary["skipped_bytes"])
        expect("status", 2, status)
    return sum(got.values()), lost


def check_origins(program, say, folder):
    """Each entry says where it was printed: the lanes are all there."""
    buffer, _, _ = print_into(say, folder, 64, 1, 4, 0)
    by_type, _, _ = decode(program, buffer, say)
    origins = [e["origin"] for e in by_type["entry"]]
    for origin in origins:
        expect("file", "say.cc", os.path.basename(origin["file"]))
    with_words = [o for o in origins if "lane" in o]
    if not with_words:
        return
    expect("entries with an origin", len(origins), len(with_words))
    expect("lanes", set(range(64)), {o["lane"] for o in origins})
    expect("places", {(0, 0), (0, 1), (1, 0), (1, 1)},
           {(o["workgroup"][0], o["wave"]) for o in origins})
    expect("clocks", len({o["clock"] for o in origins}), len(origins))
    expect("levels", {"warning"},
           {o["level"] for o in origins if "level" in o})


def main(program, *says):
    with tempfile.TemporaryDirectory() as folder:
        for say in says:
            for run in RUNS:
                n, lost = check(program, say, folder, run)
                print("%s: %d lanes, %d entries as said, %d bytes lost" % (
                    os.path.basename(say), run[0], n, lost))
            check_origins(program, say, folder)


main(*sys.argv[1:])
