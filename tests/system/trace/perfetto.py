#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfetto.py PRINTFDECODE PROTOC: traces of `-o perfetto`, as protoc reads
them by the published numbers, hold every entry that has a time."""
import ast
import json
import math
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "table"))
import inputs  # noqa: E402
from inputs import box  # noqa: E402

PROGRAM = os.path.abspath(sys.argv[1])
PROTOC = sys.argv[2]
ENV = dict(os.environ, ASAN_OPTIONS="exitcode=99")
FILES = ["buffer.bin", "image.elf"]


def run(folder, *words, rc=0):
    done = subprocess.run([PROGRAM, *words], cwd=folder, env=ENV,
                          capture_output=True, timeout=120)
    if done.returncode != rc:
        sys.exit("%s: exit status %d, not %d\n%s" % (
            " ".join(words), done.returncode, rc, done.stderr.decode()))
    return done.stdout, done.stderr.decode()


# ---- what protoc prints ----

def value_of(key, text):
    if text.startswith('"'):
        return ast.literal_eval("b" + text).decode()  # UTF-8, or it raises
    if key.startswith("double"):
        return float(text)
    return int(text) if re.fullmatch(r"-?\d+", text) else text


def message(lines):
    made = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            made.setdefault(line[:-2], []).append(message(lines))
        else:
            key, text = line.split(": ", 1)
            assert key not in made, key  # nothing that repeats is plain
            assert not key.isdigit(), "a field that the schema lacks: " + line
            made[key] = value_of(key, text)
    return made


def packets(trace):
    done = subprocess.run([PROTOC, "--decode=perfetto.protos.Trace",
                           "--proto_path=" + HERE, "trace.proto"],
                          input=trace, capture_output=True, timeout=120)
    if done.returncode or done.stderr:
        sys.exit("protoc: " + done.stderr.decode())
    return message(iter(done.stdout.decode().splitlines())).get("packet", [])


# ---- what a viewer makes of it ----

class Trace:
    def __init__(self, trace):
        self.tracks = {}
        self.instants = []
        self.counters = {}
        events = {}
        words = {}
        for n, p in enumerate(packets(trace)):
            assert p["trusted_packet_sequence_id"] == 1
            assert (n == 0) == (p.get("sequence_flags") == 1)
            if n == 0:
                self.check_clock(p)
            for data in p.get("interned_data", []):
                for names, key in ((events, "event_names"),
                                   (words, "debug_annotation_names")):
                    for name in data.get(key, []):
                        assert name["iid"] == len(names) + 1
                        assert name["name"] not in names.values()
                        names[name["iid"]] = name["name"]
            for track in p.get("track_descriptor", []):
                assert track["uuid"] not in self.tracks
                assert "parent_uuid" not in track or \
                    track["parent_uuid"] in self.tracks
                self.tracks[track["uuid"]] = track
            for event in p.get("track_event", []):
                assert p["timestamp_clock_id"] == 1  # REALTIME
                self.add(event, p["timestamp"], events, words)

    @staticmethod
    def check_clock(packet):
        clock = packet["clock_snapshot"][0]
        assert clock["primary_trace_clock"] == 1
        assert clock["clocks"][0]["clock_id"] == 1

    def add(self, event, when, events, words):
        track = self.tracks[event["track_uuid"]]
        if event["type"] == "TYPE_COUNTER":
            assert "counter" in track
            value = event.get("counter_value",
                              event.get("double_counter_value"))
            self.counters.setdefault(track["name"], []).append((when, value))
            return
        assert event["type"] == "TYPE_INSTANT" and "counter" not in track
        said = {}
        for a in event.get("debug_annotations", []):
            name = a["name"] if "name" in a else words[a["name_iid"]]
            said[name] = next(v for k, v in a.items()
                              if k not in ("name", "name_iid"))
        name = event["name"] if "name" in event else events[event["name_iid"]]
        self.instants.append((when, track["name"], name, said))


def same(a, b):
    return (a == b and math.copysign(1, a) == math.copysign(1, b)) or \
        (math.isnan(a) and math.isnan(b))


def check_bits(folder):
    made, rows = inputs.bits()
    inputs.write(made, folder)
    run(folder, "capture", "--force", "-o", "c", *FILES)
    records = [json.loads(line) for line in
               run(folder, "-o", "json", "c")[0].splitlines()]
    records = [r for r in records if r["type"] == "entry"]
    out, err = run(folder, "-o", "perfetto", "c")
    t = Trace(out)
    finite = 0
    assert len(t.instants) == len(rows)
    for row, record, (when, track, name, said) in zip(rows, records,
                                                      t.instants):
        assert when == int(record["time_unix_nano"])
        assert track == "buffer.bin"
        assert name == record["format_string"].rstrip("\n"), name
        assert said["message"] == record["message"]
        assert said["id"] == record["id"] and said["index"] == record["index"]
        u, d, f, big, wide, neg = row
        f = struct.unpack("<f", struct.pack("<I", f))[0]
        wide = struct.unpack("<d", struct.pack("<Q", wide))[0]
        assert said["u"] == u and said["big"] == big
        assert said["d"] == (d ^ 1 << 31) - (1 << 31)
        assert said["neg"] == (neg ^ 1 << 63) - (1 << 63)
        assert same(said["f"], f) and same(said["wide"], wide), said
        finite += math.isfinite(f) + math.isfinite(wide)
    counters = {k.rsplit(": ", 1)[1]: v for k, v in t.counters.items()}
    assert sorted(counters) == ["big", "d", "f", "neg", "u", "wide"]
    assert len(counters["f"]) + len(counters["wide"]) == finite
    assert [v for _, v in counters["big"]] == [float(r[3]) if r[3] >> 63
                                               else r[3] for r in rows]
    assert "%d values are NaN or infinite" % (2 * len(rows) - finite) in err


def check_several(folder):
    """Names once, two buffers, unknown ids, and any number of threads."""
    inputs.write(inputs.several(3000), folder)
    os.rename(os.path.join(folder, "buffer.bin"), os.path.join(folder, "a"))
    inputs.write(inputs.several(10), folder)
    run(folder, "capture", "--force", "-o", "c", "a", *FILES)
    one, _ = run(folder, "-o", "perfetto", "-j", "1", "c", rc=2)
    four, _ = run(folder, "-o", "perfetto", "-j", "4", "c", rc=2)
    assert one == four
    t = Trace(one)
    count = {}
    for _, track, name, said in t.instants:
        count[track, name] = count.get((track, name), 0) + 1
        assert ("message" in said) == (name != "unknown id")
    want = {}
    for source, n in (("a", 3000), ("buffer.bin", 10)):
        want[source, "ray %u hit t=%f"] = want[source, "ray %u missed"] = n
        want[source, "done"] = (n + 2) // 3
        want[source, "unknown id"] = (n + 4) // 5
    assert count == want, count
    assert one.count(b"ray %u missed") == 1 + 2  # its name, two counters'
    few, _ = run(folder, "-o", "perfetto", "--format-string", "done", "c")
    assert {i[2] for i in Trace(few).instants} == {"done"}


def check_hostile(folder):
    """Bytes that are no UTF-8, names that are too long to be known by numbers,
    and more arguments than have names."""
    long = "x" * 2000 + " %u\n"
    odd = box.Str(0x1, b"\xff\x80 caf\xc3\xa9 \x01 \xed\xa0\x80=%u\n".decode(
        "latin-1"), "4")
    strings = [odd, box.Str(0x2, long, "4"),
               box.Str(0x3, "n=%u " * 300 + "\n", "4" * 300)]
    inputs.write({"image.elf": box.image(*strings), "buffer.bin": box.buffer(
        strings[0](7), strings[1](8), strings[1](9),
        strings[2](*range(300)))}, folder)
    run(folder, "capture", "--force", "-o", "c", *FILES)
    t = Trace(run(folder, "-o", "perfetto", "c")[0])
    assert len(t.instants) == 4
    assert t.instants[1][2] == t.instants[2][2] == long[:-1]
    assert t.instants[3][3]["n"] == 0 and t.instants[3][3]["a299"] == 299
    assert len(t.counters) == 302


def check_no_time(folder):
    inputs.write(inputs.several(3), folder)
    out, err = run(folder, "-o", "perfetto", *FILES, rc=1)
    assert not out and "no entry has a time" in err, err
    run(folder, "-o", "perfetto", "--collapse", *FILES, rc=1)


def check_live(folder):
    """`follow` of a file that grows: times are when entries came."""
    s = box.Str(0x77, "step %d of %f\n", "44")
    made = {"image.elf": box.image(s), "buffer.bin": b""}
    inputs.write(made, folder)
    whole = box.buffer(*(s(i, i / 2) for i in range(20)))
    begin = time.time_ns()
    with open(os.path.join(folder, "buffer.bin"), "wb") as f:
        f.write(box.buffer(s(0, 0)) + bytes(4096))
    with open(os.path.join(folder, "trace"), "wb") as out:
        p = subprocess.Popen([PROGRAM, "follow", "-o", "perfetto", "--limit",
                              "20", *FILES], cwd=folder, env=ENV, stdout=out)
        time.sleep(0.2)
        with open(os.path.join(folder, "buffer.bin"), "r+b") as f:
            f.seek(16)
            f.write(whole[16:])
            f.flush()
            f.seek(0)
            f.write(whole[:16])
        if p.wait(120):
            p.send_signal(signal.SIGKILL)
            sys.exit("follow: exit status %d" % p.returncode)
    with open(os.path.join(folder, "trace"), "rb") as f:
        t = Trace(f.read())
    assert [i[3]["step"] for i in t.instants] == list(range(20))
    times = [i[0] for i in t.instants]
    assert times == sorted(times)
    assert begin <= times[0] and times[-1] <= time.time_ns()
    assert t.counters["step %d of %f: of"][5][1] == 2.5


def main():
    for check in (check_bits, check_several, check_hostile, check_no_time,
                  check_live):
        with tempfile.TemporaryDirectory() as folder:
            check(folder)


main()
