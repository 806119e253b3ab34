# SPDX-License-Identifier: MIT
"""A buffer of which it is known what it says, and whether printfdecode says
it.

A Case is what an encoder writes: files, and the truth about them. judge()
holds the records of `-o json` against it. What is not told is a failure:
a message that is wrong, missing or made up without a finding that counts, and
bytes that no account has.
"""
import base64
import json
import math
import os
import re
import struct
import subprocess

ABSENT = None
TIMEOUT_S = 60


class Message:
    """What one call wrote. text: what it says, or None where that is not
    written down; more: other members of its record that must be so, by their
    path ("origin.lane"); ABSENT: that nobody can know; values: the arguments,
    as they are to stand in JSON, or None."""

    def __init__(self, offset, size, text, more=None, values=None):
        self.offset, self.size, self.text = offset, size, text
        self.more, self.values = more or {}, values


class Case:
    """words: the command line behind `decode`; files: {name: bytes}; held,
    lost: what the buffer's header claims, bytes, None where it does not say;
    kind: for the table."""

    def __init__(self, words, files, messages, held=None, lost=None, kind="",
                 buffer="buffer.bin"):
        self.words, self.files, self.messages = words, files, messages
        self.held, self.lost, self.kind = held, lost, kind
        self.buffer = buffer
        self.touched = None  # bytes of the buffer that were changed afterwards
        self.may_fail = False  # it may be too damaged to be read at all

    def write(self, folder):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        for name, data in self.files.items():
            with open(os.path.join(folder, name), "wb") as f:
                f.write(data)


class Program:
    """printfdecode, run in a folder of its own."""

    def __init__(self, path, source, folder):
        self.path, self.folder = os.path.abspath(path), folder
        with open(os.path.join(source, "include/printfdecode/common.h"),
                  encoding="utf-8") as f:
            self.notes = set(re.findall(r"X\((\w+), 1\)", f.read()))

    def run(self, words, stdin=None):
        """(exit status, output, errors); None, what happened."""
        try:
            done = subprocess.run([self.path] + words, cwd=self.folder,
                                  input=stdin, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=TIMEOUT_S,
                                  check=False)
        except subprocess.TimeoutExpired:
            return None, b"", b"ran for more than %d s" % TIMEOUT_S
        return done.returncode, done.stdout, done.stderr

    def decode(self, case):
        case.write(self.folder)
        rc, out, err = self.run(["decode", "-o", "json"] + case.words)
        records = [json.loads(line) for line in out.splitlines()] \
            if rc in (0, 2) else []
        return rc, records, err.decode("utf-8", "replace")


def message_of(record):
    """A record's message as bytes; None: it has none."""
    if "message_b64" in record:
        return base64.b64decode(record["message_b64"])
    text = record["message"]
    return None if text is None else text.encode()


def says(record, message):
    """Is this record, or one of its other readings, the message?"""
    if message.text is not None and message_of(record) != message.text:
        return False
    if message.values is not None and not (
            len(record["args"]) == len(message.values) and
            all(map(is_value, record["args"], message.values))):
        return False
    return all(member(record, path) == expected
               for path, expected in message.more.items())


def is_value(arg, value):
    """Is arg what JSON says of a value? Floats: in the shortest form that is
    the same again, as it was stored."""
    if isinstance(value, Float):
        if not math.isfinite(value.value):
            return arg == ("nan" if math.isnan(value.value) else
                           "inf" if value.value > 0 else "-inf")
        return isinstance(arg, (int, float)) and \
            struct.pack(value.form, arg) == struct.pack(value.form,
                                                        value.value)
    return arg == value and type(arg) is type(value)


class Float:
    """A float with the form it was stored in."""

    def __init__(self, form, value):
        self.form, self.value = form, value


def others(record):
    """Its other readings, as records."""
    kept = {k: v for k, v in record.items() if k != "message_b64"}
    return [dict(kept, **other) for other in record.get("alternatives", ())]


def member(record, path):
    for key in path.split("."):
        record = record.get(key) if isinstance(record, dict) else ABSENT
    return record


class Verdict:
    def __init__(self):
        self.right = self.flagged = self.offered = 0
        self.failures, self.doubts = [], []

    def fail(self, what):
        self.failures.append(what)


class Judge:
    def __init__(self, program):
        self.program = program

    def counts(self, record):
        """Does a record of an entry say that something is wrong with it?"""
        return set(record.get("findings", ())) - self.program.notes

    def message(self, message, record, verdict):
        """One message against the record at its place."""
        if says(record, message):
            verdict.right += 1
        elif any(says(reading, message) for reading in others(record)):
            verdict.flagged += 1
            verdict.offered += 1
        elif self.counts(record):
            verdict.flagged += 1
            verdict.doubts.append("at %d: %r for %r (%s)" % (
                message.offset, record.get("message"), message.text,
                ", ".join(record["findings"])))
        else:
            verdict.fail("silent: at %d: %r, %s for %r %s, %s for %s" % (
                message.offset, message_of(record), {
                    k: member(record, k) for k in message.more},
                message.text, message.more, record["args"], [
                    getattr(v, "value", v) for v in message.values or ()]))

    def accounts(self, case, summary, verdict, is_unknown):
        here = summary["bytes"] + summary["skipped_bytes"]
        # Of a file that is not known to be a buffer all is skipped, its header,
        # too, and nothing is known to be lost.
        if is_unknown and case.held is not None and here > case.held:
            here = case.held
        if case.held is not None and here != case.held:
            verdict.fail("account: %d bytes in entries, %d skipped: %d are "
                         "held" % (summary["bytes"], summary["skipped_bytes"],
                                   case.held))
        if case.lost is not None and not is_unknown and summary["lost_bytes"] != case.lost:
            verdict.fail("account: %d bytes lost, not %d" % (
                summary["lost_bytes"], case.lost))

    def missing(self, case, message, told, verdict):
        """No record at a message's place: is that said?"""
        if told:
            verdict.flagged += 1
            verdict.doubts.append("at %d: missing: %r" % (message.offset,
                                                           message.text))
        else:
            verdict.fail("missing: at %d: %r" % (message.offset,
                                                 message.text))

    def touched(self, case, at, size):
        return case.touched is not None and at < case.touched[1] and \
            at + size > case.touched[0]

    def records(self, case, records, rc, verdict):
        entries = {r["offset"]: r for r in records if r["type"] == "entry"}
        for m in case.messages:
            record = entries.pop(m.offset, None)
            if self.touched(case, m.offset, m.size):
                continue
            if record is None:
                self.missing(case, m, rc == 2, verdict)
            else:
                self.message(m, record, verdict)
        for at, record in entries.items():
            if not self.counts(record) and not self.touched(case, at, 1):
                verdict.fail("made up: at %d: %r" % (at, message_of(record)))

    def nothing(self, case, rc, err, verdict):
        """Nothing was read at all: an error, or a finding, has to say so."""
        if rc and err:
            verdict.flagged += len(case.messages)
        else:
            verdict.fail("nothing, and nothing said")

    def judge(self, case):
        """A verdict on what the program says of a case."""
        verdict = Verdict()
        rc, records, err = self.program.decode(case)
        if rc not in ((0, 1, 2) if case.may_fail else (0, 2)):
            verdict.fail("exit status %s: %s" % (rc, err[-500:]))
            return verdict
        summaries = [r for r in records if r["type"] == "summary"]
        if case.may_fail and not summaries:
            self.nothing(case, rc, err, verdict)
            return verdict
        if len(summaries) != 1:
            verdict.fail("%d summaries" % len(summaries))
            return verdict
        self.records(case, records, rc, verdict)
        is_unknown = any(r.get("kind") == "unknown_format" for r in records)
        self.accounts(case, summaries[0], verdict, is_unknown)
        findings = summaries[0]["findings"]
        if findings > 0 and rc != 2:
            verdict.fail("exit status %d with %d findings" % (rc, findings))
        return verdict
