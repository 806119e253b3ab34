# SPDX-License-Identifier: MIT
"""pd.open(pid=) and pd.open(core=), which find no command here, give the entries that
the dumps give, found or by their address: process.py PRODUCER CASES."""
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

import support

import printfdecode as pd

sys.path.insert(0, os.path.join(support.SOURCE, "tests/make"))
import cores  # noqa: E402

DAMAGED = 300
PRODUCER, CASES = map(os.path.abspath, sys.argv[1:3])
checks = support.Checks()


class Producer:
    """A program that has what it is told in its memory."""

    def __init__(self):
        self.p = subprocess.Popen([PRODUCER], stdin=subprocess.PIPE, text=True, bufsize=1,
                                  stdout=subprocess.PIPE)
        self.pid = self.p.pid

    def ask(self, *words):
        self.p.stdin.write(" ".join(words) + "\n")
        return self.p.stdout.readline().strip()

    def place(self, path):
        address, size = self.ask("share", path).split()
        return {"address": int(address, 16), "size": int(size)}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.wait()
        self.p.stdin.close()
        self.p.stdout.close()


def said(d):
    """As texts, since a NaN is not equal to another."""
    return [repr((e.message, e.args, e.format, e.buffer_format, e.index)) for e in d]


def same(what, got, want):
    first = next((pair for pair in zip(got, want) if pair[0] != pair[1]), None)
    checks.equal(what, (len(got), first), (len(want), None))
    checks.true(what + ": some", got)


def plain(case, name, folder):
    """A fixture as a file of its own."""
    path = os.path.join(CASES, case, name)
    to = os.path.join(folder, case.replace("/", "_") + name)
    with open(to, "wb") as file:
        file.write(support.read(path + ".gz" * os.path.exists(path + ".gz")))
    return to


def check_memory(what, how, dumps, objects):
    """All that is found there, and each by its address."""
    d = pd.open(**how)
    want = [one for path, _ in dumps for one in said(pd.open(path, *objects))]
    same(what + ": found", sorted(said(d)), sorted(want))
    for path, place in dumps:
        wanted = said(pd.open(path, *objects))
        same(what + ": by address", said(pd.open(**how, **place)), wanted)
        same(what + ": with strings", said(pd.open(*objects, **how, **place)), wanted)
        rest = pd.open(**how, address=place["address"])
        same(what + ": without size", said(rest), wanted)
    return d


def make_core(pid, folder):
    """Its core; None: gcore is not here, or may not trace."""
    with open("/proc/%d/maps" % pid, encoding="utf-8") as file:
        ranges = re.findall(r"^(\w+)-(\w+) ", file.read(), re.M)
    if not shutil.which("gcore") or max(int(b, 16) - int(a, 16) for a, b in ranges) >= 1 << 40:
        return None
    subprocess.run(["gcore", "-o", os.path.join(folder, "core"), str(pid)], check=False,
                   capture_output=True, preexec_fn=lambda: resource.setrlimit(
                       resource.RLIMIT_FSIZE, (1 << 30, 1 << 30)))
    path = os.path.join(folder, "core.%d" % pid)
    return path if os.path.exists(path) else None


def check_producer(folder):
    objects = [support.APP, plain("opencl/compiled_dump", "app.co", folder)]
    dumps = [support.SMALL, plain("opencl/compiled_dump", "buffer.bin", folder)]
    with Producer() as p:
        for path in objects:
            p.ask("memory", path)
        places = [p.place(path) for path in dumps]
        both = list(zip(dumps, places))
        d = check_memory("process", {"pid": p.pid}, both, objects)
        checks.true("its name", d.buffers[0].name.startswith("memory://%d#offset=0x" % p.pid))
        checks.equal("no origin", (next(iter(d)).origin.get("pid"), next(iter(d)).generation),
                     (None, None))
        core = make_core(p.pid, folder)
        # What is unmapped is unknown, and is said.
        p.ask("unmap", "0", "4096")
        last = places[-1]
        d = pd.open(*objects, pid=p.pid, **last)
        checks.true("unmapped", "unreadable" in {f.kind for f in d.findings})
        p.ask("unmap", "0", str(-(-last["size"] // 4096) * 4096))
        error = checks.raises("all unmapped", pd.Error,
                              lambda: pd.open(*objects, pid=p.pid, **last))
        checks.true("it says so", error and "can be read" in error.reason)
    checks.raises("ended", pd.Error, lambda: pd.open(pid=p.pid))
    if not core:
        print("left out: gcore is not here, or may not trace")
        return
    d = check_memory("core", {"core": core}, both, objects)
    origin = next(iter(d)).origin
    checks.equal("its origin", (origin["pid"], origin["process"]), (p.pid, "producer"))
    checks.equal("its name", d.buffers[0].name.split("@0x")[0], core)


def check_made_core(folder):
    """A core that is written here, whole and cut; it needs no tracing."""
    data = support.read(support.SMALL)
    whole = cores.core([(0x10000, data + bytes(-len(data) % 4096), len(data))],
                       cores.process(4711, b"app"))
    path = os.path.join(folder, "made")
    want = said(pd.open(support.SMALL, support.APP))
    for n in (len(whole), len(whole) - 4096, len(whole) // 2, 64, 1, 0):
        with open(path, "wb") as file:
            file.write(whole[:n])
        try:
            d = pd.open(support.APP, core=path)
            got = said(d)
            same("cut: no more", got, want[:len(got)])
            checks.true("cut: it is said", n == len(whole) or d.findings)
            checks.true("whole", n < len(whole) or got == want)
            checks.equal("made: origin", next(iter(d)).origin, {"pid": 4711, "process": "app"})
        except pd.Error as error:
            checks.true("refused: %s" % error, n < len(whole) and error.file == path)
    with open(path, "wb") as file:
        file.write(whole)
    error = checks.raises("no strings", pd.Error, lambda: pd.open(core=path))
    checks.true("why", "without format strings" in error.reason)
    error = checks.raises("another format", pd.Error,
                          lambda: pd.open(support.APP, core=path, format="hip"))
    checks.true("why not", "with these format strings" in error.reason)
    checks.raises("not mapped", pd.UsageError,
                  lambda: pd.open(support.APP, core=path, address=0x900000))


def symbol(path, name):
    """The value of a dynamic symbol."""
    done = subprocess.run(["readelf", "--wide", "--dyn-syms", path], check=True,
                          capture_output=True, text=True)
    return next(int(line.split()[1], 16) for line in done.stdout.splitlines()
                if line.split()[-1:] == [name])


def check_dispatch(folder):
    """A queue's packet leads to a buffer, which the queue is the origin of; the code
    object comes from the runtime's list."""
    code_file, dump = (plain("opencl/compiled_dump", name, folder)
                       for name in ("app.co", "buffer.bin"))
    if not shutil.which("readelf"):
        print("left out: readelf is not installed")
        return
    code, data = support.read(code_file), support.read(dump)
    listed = support.command("strings", "-v", "-o", "json", code_file).stdout.splitlines()[0]
    kernel = next(k for k in json.loads(listed)["kernels"] if k["printf_buffer"] is not None)
    load, at_code, lists, ring, arguments, place = (
        0x7f0000000000, 0x100000, 0x200000, 0x300000, 0x400000, 0x500000)
    uri = b"memory://4711#offset=%#x&size=%d\0" % (at_code, len(code))
    debug = struct.pack("<iiQQiiQ", 10, 0, lists + 64, 0, 0, 0, 0).ljust(64, b"\0")
    debug += struct.pack("<QQQQQ", load, lists + 128, 0, 0, 0).ljust(64, b"\0") + uri
    packets, given = bytearray(4096), bytearray(4096)
    struct.pack_into("<HHHHHHIIIIIQQ", packets, 3 * 64, 0x0b02, 1, 64, 1, 1, 0, 64, 1, 1, 0, 0,
                     load + symbol(code_file, kernel["name"] + ".kd"), arguments)
    struct.pack_into("<Q", given, kernel["printf_buffer"], place)
    notes = cores.process(4711, b"app") + cores.gpus(
        lists, [cores.agent()], [cores.queue(number=5, ring=ring, size=4096)])
    path = os.path.join(folder, "dispatch")
    with open(path, "wb") as file:
        file.write(cores.core([
            (at_code, code, len(code)), (lists, debug.ljust(4096, b"\0"), 4096),
            (ring, bytes(packets), 4096), (arguments, bytes(given), 4096),
            (place, data + bytes(-len(data) % 4096), len(data) + -len(data) % 4096)], notes))
    d = pd.open(core=path)
    same("dispatch", said(d), said(pd.open(dump, code_file)))
    checks.equal("its queue", next(iter(d)).origin, {
        "process": "app", "pid": 4711, "queue": "5", "device": "gfx90a, gpu 4711"})
    first = support.command("decode", "-o", "json", "--core", path).stdout.splitlines()[0]
    checks.equal("as the command's", next(iter(d)).origin, json.loads(first)["origin"])


def check_damaged(folder):
    """Any bytes as a core give objects or an exception."""
    data = support.read(support.SMALL)
    whole = cores.core([(0x10000, data + bytes(-len(data) % 4096), len(data))],
                       cores.process(4711, b"app") + cores.gpus(0x10000, [cores.agent()],
                                                                [cores.queue()]))
    path = os.path.join(folder, "damaged")
    source = random.Random(1)
    n_read = 0
    for _ in range(DAMAGED):
        one = bytearray(whole)
        for _ in range(source.randrange(1, 6)):
            at = source.randrange(source.choice((64, 1024, len(one))))
            one[at] = source.choice((0, 1, 0x7f, 0xff, source.randrange(256)))
        with open(path, "wb") as file:
            file.write(one)
        try:
            n_read += len(list(pd.open(support.APP, core=path))) > 0
        except pd.Error:
            pass
    checks.true("some can be read: %d" % n_read, 0 < n_read < DAMAGED)


class Stopped(Exception):
    """A signal's."""


def check_signal(folder):
    """Ctrl-C, or another handler that raises, ends a search."""
    def stop(*_):
        raise Stopped
    small = struct.pack("<4096I", *(i % 97 for i in range(4096))) * 64
    path = os.path.join(folder, "large")
    with open(path, "wb") as file:  # the same bytes stand there once
        file.write(cores.core([(i << 24, small, len(small)) for i in range(1, 2049)]))
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    checks.raises("a search of 2 GiB is ended", Stopped,
                  lambda: pd.open(support.APP, core=path))
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def check_refused():
    for how in ({"pid": 1 << 40}, {"core": "/nowhere/core"}, {"core": support.APP}):
        checks.raises(how, pd.Error, lambda how=how: pd.open(support.APP, **how))
    for how in ({"pid": 1, "core": "x"}, {"address": 1}, {"scan": True}, {"pid": 1, "size": 4},
                {"pid": 0}, {"pid": os.getpid(), "address": 0, "size": 1 << 60}):
        checks.raises(how, pd.UsageError, lambda how=how: pd.open(support.APP, **how))
    checks.raises("negative", OverflowError, lambda: pd.open(pid=-1))
    checks.raises("no number", TypeError, lambda: pd.open(pid="1"))


def main():
    os.environ["PRINTFDECODE"] = "/nowhere/printfdecode"
    os.environ["PATH"] = "/usr/bin:/bin"
    with tempfile.TemporaryDirectory() as folder:
        check_producer(folder)
        check_made_core(folder)
        check_dispatch(folder)
        check_damaged(folder)
        check_signal(folder)
    check_refused()
    checks.end()


main()
