# SPDX-License-Identifier: MIT
"""The objects of every golden case say what the command's JSON says.

usage: golden.py CASES_FOLDER
A case whose options the package does not have (another verb, collapse, context)
is counted, not passed over in silence.
"""
import base64
import collections
import json
import math
import os
import re
import shlex
import shutil
import struct
import sys
import tempfile

import support

import printfdecode as pd

OPTIONS = {"--format": "format", "--compat": "compat", "--layout": "layout",
           "--opencl-strings": "opencl_strings", "--kernel": "kernel"}
SELECTIONS = {"--match": "match", "--limit": "limit", "--skip": "skip", "--id": "ids",
              "--where": "where", "--tail": "tail", "-n": "limit"}
WITHOUT_MEANING = {"--color": 1, "--show": 1, "--threads": 1, "-v": 0}
NOT_ENTRIES = ("strings", "stats", "info", "inspect", "recover", "table", "plot", "scan",
               "formats", "extract", "diff", "doctor", "view", "spirv-check")

total = collections.Counter()


class NotHere(Exception):
    pass


def read_words(words):
    """The command's words as what pd.open() and entries() take."""
    how = {"files": [], "strings": [], "buffers": [], "shaders": {}}
    selection = {}
    words = collections.deque(words)
    if words and words[0] == "decode":
        words.popleft()
    while words:
        word, _, value = words.popleft().partition("=")
        if word in WITHOUT_MEANING:
            if WITHOUT_MEANING[word] and not value:
                words.popleft()
            how["notes"] = how.get("notes") or word == "-v"
        elif word in OPTIONS:
            how[OPTIONS[word]] = value or words.popleft()
        elif word == "--collapse":
            how["collapse"] = dict(how.get("collapse", {}), equal=value == "equal")
        elif word == "--window":
            how["collapse"] = dict(how.get("collapse", {}), window=int(value or words.popleft()))
        elif word in SELECTIONS:
            selection[SELECTIONS[word]] = value or words.popleft()
        elif word == "--shader":
            number, _, file = words.popleft().partition("=")
            how["shaders"][int(number, 0)] = file
        elif word == "--shaders":
            how["shaders"] = words.popleft()
        elif word == "--buffer":
            how["buffers"].append(value or words.popleft())
        elif word in ("--strings", "--describe"):
            how["strings"].append(value or words.popleft())
        elif word.startswith("-") and word != "-":
            raise NotHere(word)
        else:
            how["files"].append(word)
    for name in ("limit", "skip", "tail"):
        if name in selection:
            selection[name] = int(selection[name])
    if "ids" in selection:
        selection["ids"] = [int(selection["ids"], 0)]
    return how, selection


def same_float(got, want, width):
    if isinstance(want, str):
        return got == float(want) or (want == "nan" and math.isnan(got))
    if got == want or abs(got - want) <= 1e-3 * abs(want) and width == 2:
        return True
    # Shortest digits that read back as the narrow number.
    try:
        return struct.unpack("<f", struct.pack("<f", want))[0] == got
    except OverflowError:
        return False


def same_text(got, want):
    """JSON has one U+FFFD for each byte that is no UTF-8, an object its value."""
    parts = want.split("\ufffd")
    pattern = r"\\x[89a-f][0-9a-f]".join(map(re.escape, parts))
    return got == want or re.fullmatch(pattern, got, re.DOTALL) is not None


def same_value(got, want):
    if isinstance(got, str) and isinstance(want, str):
        return same_text(got, want)
    if isinstance(got, float):
        return same_float(got, want, 4)
    if isinstance(got, tuple):
        return len(got) == len(want) and all(map(same_value, got, want))
    if isinstance(got, int) and isinstance(want, str):
        return got == int(want, 16)
    return got == want


def exact(record, name):
    """A member, with the numbers that most readers of JSON round."""
    values = record[name]
    more = record.get(name + "_exact")
    return [int(e) if e is not None else v for v, e in zip(values, more)] if more else values


def differences(entry, record, is_alternative=False):
    message = entry.message_bytes
    if "message_b64" in record:
        want = base64.b64decode(record["message_b64"])
    else:
        want = None if record["message"] is None else record["message"].encode()
    if message != want:
        yield "message", message, want
    args = exact(record, "args")
    if len(args) != len(entry.args) or not all(map(same_value, entry.args, args)):
        yield "args", entry.args, args
    if "format_string" in record or not is_alternative:
        if not same_value(entry.format, record["format_string"]):
            yield "format", entry.format, record["format_string"]
    if "id" in record and entry.id != int(record["id"], 16):
        yield "id", entry.id, record["id"]
    if entry.stream != record.get("stream"):
        yield "stream", entry.stream, record.get("stream")
    origin = {k: v for k, v in record.get("origin", {}).items() if not k.endswith("_exact")}
    for key in [k for k in record.get("origin", {}) if k.endswith("_exact")]:
        origin[key[:-6]] = int(record["origin"][key])
    if is_alternative:
        return
    if entry.origin.keys() != origin.keys() or not all(
            same_value(entry.origin[k], origin[k]) for k in origin):
        yield "origin", entry.origin, origin
    for name in ("index", "offset", "source"):
        if getattr(entry, name) != record[name]:
            yield name, getattr(entry, name), record[name]
    if entry.buffer_format != record["format"]:
        yield "buffer_format", entry.buffer_format, record["format"]
    if list(entry.findings) != record.get("findings", []):
        yield "findings", entry.findings, record.get("findings")
    if (entry.time or 0) != int(record.get("time_unix_nano", 0)):
        yield "time", entry.time, record.get("time_unix_nano")
    if "generation" in record and entry.generation != record["generation"]:
        yield "generation", entry.generation, record["generation"]
    others = record.get("alternatives", [])
    if len(entry.alternatives) != len(others):
        yield "alternatives", entry.alternatives, others
    for one, other in zip(entry.alternatives, others):
        for name, got, want in differences(one, other, True):
            yield "alternative's " + name, got, want


def finding_record(finding):
    record = {"type": "finding", "kind": finding.kind, "text": finding.text,
              "source": finding.source}
    for name in ("count", "index", "offset"):
        if getattr(finding, name) is not None:
            record[name] = getattr(finding, name)
    if finding.id is not None:
        record["id"] = "0x%012x" % finding.id
    return record


def opened(how, stdin):
    def take(names):
        for name in names:
            if name == "-":
                how["name"] = "-"
                yield support.read(stdin)
            else:
                yield name
    files = list(take(how.pop("files")))
    how["buffers"] = list(take(how["buffers"]))
    return pd.open(*files, **how)


def compare(case, how, selection, stdin, records):
    d = opened(how, stdin)
    tail = selection.pop("tail", None)
    entries = list(d.entries(**selection))
    if tail is not None:
        entries = entries[-tail:]
    wanted = [r for r in records if r["type"] == "entry"]
    wrong = []
    if len(entries) != len(wanted):
        wrong.append(("entries", len(entries), len(wanted)))
    for entry, record in zip(entries, wanted):
        wrong += list(differences(entry, record))
    found = [finding_record(f) for f in d.findings]
    want = [{k: v for k, v in r.items() if k not in ("origin", "time", "time_unix_nano",
                                                       "generation", "sequence")}
            for r in records if r["type"] == "finding"]
    if found != want:
        wrong.append(("findings", found, want))
    sums = [r for r in records if r["type"] == "summary"]
    if "limit" in selection:  # the command counts up to where it stopped
        sums = []
    for one, record in zip(d.buffers, sums):
        for name in ("entries", "unknown", "bytes", "skipped_bytes"):
            if getattr(one, name) != record[name]:
                wrong.append((name, getattr(one, name), record[name]))
        if one.lost_bytes != int(record.get("lost_bytes_exact", record["lost_bytes"])):
            wrong.append(("lost_bytes", one.lost_bytes, record["lost_bytes"]))
        if one.n_findings != record["findings"]:
            wrong.append(("n_findings", one.n_findings, record["findings"]))
    if len(sums) != len(d.buffers) and "limit" not in selection:
        wrong.append(("buffers", d.buffers, sums))
    for name, got, want in wrong[:3]:
        print("%s: %s: %r, not %r" % (case, name, got, want))
    total["entries"] += len(entries)
    total["findings"] += len(found)
    return not wrong


def compare_collapsed(case, how, collapse, records):
    got = opened(how, None).collapse(**collapse)
    got = [record for record in got if record["type"] == "entry"]
    want = [record for record in records if record["type"] == "entry"]
    if got != want:
        print("%s: collapsed: %r, not %r" % (case, got, want))
    return got == want


def unpack(case, to):
    for name in os.listdir(case):
        path = os.path.join(case, name)
        if os.path.isfile(path + ".gz"):
            continue  # run_cases.py takes that one
        if os.path.isfile(path):
            with open(os.path.join(to, name.removesuffix(".gz")), "wb") as file:
                file.write(support.read(path))
        else:
            shutil.copytree(path, os.path.join(to, name))


def run(case):
    expected = next((os.path.join(case, "expect.json" + end) for end in ("", ".gz")
                     if os.path.exists(os.path.join(case, "expect.json" + end))), None)
    words = shlex.split(support.read(os.path.join(case, "cmd")).decode(), comments=True)
    if not expected or words[0] in NOT_ENTRIES:
        total["other verbs or forms"] += 1
        return True
    stdin = None
    if "<" in words:
        stdin = words[words.index("<") + 1]
        del words[words.index("<"):words.index("<") + 2]
    try:
        how, selection = read_words(words)
    except NotHere as word:
        total["with %s, which is of the command" % word] += 1
        return True
    collapse = how.pop("collapse", None)
    records = [json.loads(line) for line in support.read(expected).splitlines()]
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        unpack(case, folder)
        os.chdir(folder)
        try:
            if collapse:
                ok = compare_collapsed(case, how, collapse, records)
            else:
                ok = compare(case, how, selection, stdin, records)
        except pd.Error as error:
            ok = not records
            if not ok:
                print("%s: %s" % (case, error))
        finally:
            os.chdir(here)
    total["compared"] += 1
    return ok


def main():
    cases = os.path.abspath(sys.argv[1])
    ok = True
    for folder, _, files in sorted(os.walk(cases)):
        if "cmd" in files:
            good = run(folder)
            total["wrong"] += not good
            ok &= good
    print(", ".join("%d %s" % (n, what) for what, n in total.items()))
    sys.exit(not ok or total["compared"] < 400)


main()
