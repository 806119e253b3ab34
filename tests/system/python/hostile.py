# SPDX-License-Identifier: MIT
"""Any bytes as a buffer, strings or a capture give objects or an exception; objects
may be shared by threads; nothing leaks: hostile.py BUFFERS [SEED].

As many buffers as are asked for are changed copies of real ones. The process is
its own test: a crash ends it.
"""
import gc
import glob
import os
import random
import sys
import threading
import time
import tracemalloc

import support

import printfdecode as pd

checks = support.Checks()
CASES = os.path.join(support.SOURCE, "tests/cases")


def samples():
    """Small real buffers, and files with strings."""
    buffers, code = [support.read(support.SMALL)[:2000]], [support.read(support.APP)]
    names = ("buffer.bin", "b.bin", "dump.bin", "capture.pfdc", "d.pfdc")
    for name in names:
        paths = sorted(glob.glob(os.path.join(CASES, "*", "*", name + "*")))
        for path in paths[::max(1, len(paths) // 40)]:
            data = support.read(path)
            if len(data) < 20000:
                buffers.append(data)
    return buffers, code


def damaged(source, data):
    data = bytearray(data)
    for _ in range(source.randrange(1, 6)):
        if not data:
            break
        at = source.randrange(len(data))
        kind = source.randrange(5)
        if kind == 0:
            data[at] ^= 1 << source.randrange(8)
        elif kind == 1:
            data[at:at + 4] = source.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"))
        elif kind == 2:
            del data[at:at + source.randrange(1, 16)]
        elif kind == 3:
            data[at:at] = source.randbytes(source.randrange(1, 16))
        else:
            del data[at:]
    return bytes(data)


def look(d):
    """Everything that objects have."""
    n = 0
    for one in d.entries(findings=True):
        n += 1
        if isinstance(one, pd.Finding):
            continue
        str(one), repr(one), one.args, one.fields, one.origin, one.findings, one.format
        for other in one.alternatives:
            other.message_bytes, other.args, other.origin, other.fields
    return n


def check_hostile(n, seed):
    source = random.Random(seed)
    buffers, code = samples()
    strings = pd.Strings(support.APP)
    n_entries = n_errors = 0
    formats = [None, "llpc", "hip", "opencl", "hostcall", "debugprintf", "gpuav", "abort",
               "clspv", "rusticl"]
    for i in range(n):
        data = damaged(source, source.choice(buffers))
        try:
            d = pd.open(data, strings=strings, format=source.choice(formats))
            n_entries += look(d)
            if i % 16 == 0:
                len(d.findings), d.lost_bytes, d._repr_html_()
            if i % 64 == 0:
                for table in d.tables():
                    [table[name] for name in table.columns], table.__arrow_c_stream__()
                d.collapse()
            if i % 256 == 0:
                look(pd.open(support.read(support.SMALL), damaged(source, code[0])))
        except pd.Error:
            n_errors += 1
    print("%d buffers, %d objects, %d errors" % (n, n_entries, n_errors))
    checks.true("entries", n_entries > n)


def check_threads():
    """One Decoded, many threads; two of them take less than twice one's time."""
    d = pd.open(support.many(500), support.APP)
    want = [entry.args for entry in d]
    wrong = []

    def read():
        if [entry.args for entry in d] != want or len(d) != len(want):
            wrong.append(1)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checks.equal("threads", wrong, [])

    # While one thread decodes, others run.
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            time.sleep(0)

    ticker = threading.Thread(target=tick)
    d = pd.open(support.many(5000), support.APP)
    ticker.start()
    before = len(ticks)
    len(d)  # reads it all, in one call
    during = len(ticks) - before
    done.set()
    ticker.join()
    checks.true("the interpreter was free: %d" % during, during > 0)

    shared = iter(d)
    results = []

    def race():
        try:
            for _ in range(20000):
                next(shared, None)
        except ValueError as why:
            results.append(why)

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    checks.true("refused or not, no crash", len(results) <= 4)


def use_all():
    d = pd.open(support.many(3), support.APP)
    look(d)
    kept = [(entry.message, entry.fields) for entry in d.entries("ray", where="ray > 5")]
    for table in d.tables():
        [table[name] for name in table.columns], table.__arrow_c_stream__()
    d.table("^ray")
    d.collapse(), d.buffers, d.batches(7), d._repr_html_()
    for call in (lambda: pd.open("/nowhere"), lambda: d.entries("("), lambda: d.table(),
                 lambda: pd.open(b"", format="nothing"), lambda: pd.open(b"", layout="p9"),
                 lambda: pd.Strings("/nowhere"), lambda: d.entries(ranges=[(2, 1)])):
        try:
            call()
        except pd.Error:
            pass
    try:
        next(d.entries(where="nothing_is_called_so > 1"))
    except (pd.Error, StopIteration):
        pass
    return len(kept)


def collect():
    """What nothing refers to goes; so do the names that Python's own cache of
    attributes holds, up to 4,096 of them."""
    gc.collect()
    # Python 3.13 calls it otherwise.
    forget = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
    forget()


def check_leaks():
    for _ in range(20):
        use_all()
    collect()
    tracemalloc.start()
    use_all()
    collect()
    before = tracemalloc.take_snapshot()
    memory = resident()
    for _ in range(150):
        use_all()
    collect()
    after = tracemalloc.take_snapshot()
    # By the line that asked for it: ours, or the package's.
    own = [tracemalloc.Filter(True, os.path.join(os.path.dirname(path), "*"))
           for path in (__file__, pd.__file__)]
    grown = [s for s in after.filter_traces(own).compare_to(before.filter_traces(own), "lineno")
             if s.count_diff >= 100]
    checks.equal("Python's memory", [str(s) for s in grown], [])
    tracemalloc.stop()
    if not os.environ.get("SLOWED"):
        checks.true("resident memory", resident() - memory < 16 << 20)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check_late_error(d):
    """What was read before an error is given before it."""
    batches = d.batches(30, where="index >= 0 || nope > 1")
    sizes = []
    error = checks.raises("behind a batch", pd.UsageError,
                          lambda: sizes.extend(map(len, batches)))
    checks.equal("entries before it", sizes, [30, 30, 4])
    checks.true("it names", "nope" in str(error))
    checks.equal("once", list(batches), [])


def check_errors():
    error = checks.raises("no file", pd.Error, lambda: pd.open("/nowhere/dump.bin"))
    checks.equal("members", (error.file, error.reason, error.offset),
                 ("/nowhere/dump.bin", "No such file or directory", None))
    d = pd.open(support.SMALL, support.APP)
    error = checks.raises("a pattern", pd.UsageError, lambda: d.entries("(("))
    checks.equal("its place", error.offset, 2)
    checks.raises("a condition's name", pd.UsageError, lambda: list(d.entries(where="nope > 1")))
    checks.raises("a word", TypeError, lambda: d.entries(wrong=1))
    checks.raises("a set in use", pd.UsageError, lambda: d.strings.load(support.APP))
    checks.equal("ranges", [e.index for e in d.entries(ranges=[(1, 3), (60, 99)])],
                 [1, 2, 60, 61, 62, 63])
    checks.equal("batches", [len(b) for b in d.batches(30)], [30, 30, 4])
    check_late_error(d)
    strings = pd.Strings()
    strings.add(0x5a5a, "by hand %d\n", 1)
    checks.equal("by hand", [tuple(s)[:2] for s in strings], [(0x5a5a, "by hand %d\n")])
    checks.true("no object is made", checks.raises("Entry()", TypeError, lambda: pd.Entry()))


class Closing:
    """A path, or a tensor, that does something while it is asked for its bytes."""

    def __init__(self, act):
        self.act = act

    def __fspath__(self):
        self.act()
        return support.APP


class ClosingTensor:
    def __init__(self, act):
        self.act = act

    def numpy(self):
        self.act()
        return b"bytes"


def check_texts():
    """A text with a NUL is refused: C would see what stands before it alone."""
    d = pd.open(support.SMALL, support.APP)
    for name, call in {
            "match": lambda: d.entries("ray\0x"), "where": lambda: d.entries(where="ray > 5\0&"),
            "format": lambda: d.entries(format=["ray\0"]),
            "columns": lambda: d.table("^ray", columns=["t\0x"]),
            "sort": lambda: d.table("^ray", sort="t\0x"),
            "plot": lambda: d.plot("prim\0x", "ray", "t", select={"format": "^ray"}),
            "an option": lambda: pd.open(support.SMALL, support.APP, layout="p1\0x"),
            "a request": lambda: pd.follow("unix:/nowhere.sock", "a\0b")}.items():
        checks.raises(name, ValueError, call)
    table = d.tables()[0]
    checks.raises("a column", KeyError, lambda: table[table.columns[0] + "\0x"])
    checks.raises("two sources", pd.UsageError,
                  lambda: pd.follow("unix:/nowhere.sock", sources=["a", "b"]))
    stranger = next(iter(pd.open(support.SMALL)))
    checks.equal("an unknown id", str(stranger), "0x%x: no string has this id" % stranger.id)


def check_numbers():
    """A number that does not fit is refused, and never cut."""
    d = pd.open(support.SMALL, support.APP)
    for number in (-1, 1 << 64):
        for name, call in {
                "ranges": lambda: d.entries(ranges=[(0, number)]),
                "window": lambda: d.collapse(window=number),
                "max_inflated": lambda: pd.open(support.SMALL, max_inflated=number),
                "an id": lambda: pd.Strings().add(number, "x", 0),
                "arguments": lambda: pd.Strings().add(1, "x", number),
                "a shader": lambda: pd.Strings().add_shader(support.APP, number),
                "a handle": lambda: pd.Strings().add_shader(support.APP, 1, None, number),
        }.items():
            checks.raises("%s %d" % (name, number), OverflowError, call)
    checks.raises("no pair", TypeError, lambda: d.entries(ranges=[5]))
    checks.equal("a list", [e.index for e in d.entries(ranges=[[1, 3]])], [1, 2])


def check_callbacks():
    """Objects that change what they are given to, while they are asked."""
    for wrong in (lambda: pd.Decoded.__new__(pd.Decoded),
                  type("Bare", (pd.Decoded,), {"__init__": lambda self: None})):
        checks.raises("half made", TypeError, wrong)
    for kind in (Closing, ClosingTensor):
        client = pd.Client("/nowhere.sock")
        checks.raises("share", pd.UsageError, lambda: client.share(kind(client.close)))
        client = pd.Client("/nowhere.sock")
        checks.raises("strings", pd.UsageError, lambda: client.strings(kind(client.close)))
    strings = pd.Strings()
    use = Closing(lambda: pd.open(support.SMALL, strings=strings))
    checks.raises("in use meanwhile", pd.UsageError, lambda: strings.load(use))
    checks.raises("from then on", pd.UsageError, lambda: strings.load(support.APP))
    checks.equal("nothing came", len(strings), 0)
    checks.raises("a word", TypeError, lambda: pd.Strings(support.APP, name="x"))


def check_views():
    """A view that cannot be written, of bytes that are: they are copied."""
    data = bytearray(support.read(support.SMALL))
    want = [e.args for e in pd.open(bytes(data), support.APP)]
    d = pd.open(memoryview(data).toreadonly(), support.APP)
    data[:] = bytes(len(data))
    checks.equal("a view's bytes", [e.args for e in d], want)


def check_filling():
    """A set that one thread fills is not looked at by others, nor read with."""
    data = support.read(support.APP)
    strings = pd.Strings()

    def fill():
        for i in range(200):
            try:
                strings.load(data, "file %d" % i)
            except pd.UsageError:
                return  # it is read with

    filler = threading.Thread(target=fill)
    filler.start()
    while filler.is_alive():
        try:
            [strings[i] for i in range(len(strings))]
        except pd.UsageError:
            pass
    filler.join()
    checks.true("it is filled", len(strings) > 0)


def check_sub_interpreter():
    try:
        import _xxsubinterpreters as interpreters
        make = interpreters.create
    except ImportError:
        import _interpreters as interpreters
        make = lambda: interpreters.create("legacy")
    one = make()
    code = ("import sys; sys.path[:0] = %r\n"
            "try:\n    import printfdecode\nexcept ImportError as why:\n"
            "    assert 'interpreter' in str(why), why\n"
            "else:\n    raise SystemError('it was imported')\n" % (sys.path,))
    failed = interpreters.run_string(one, code)
    checks.true("refused", failed is None)
    interpreters.destroy(one)


def main():
    check_errors()
    check_texts()
    check_numbers()
    check_callbacks()
    check_views()
    check_filling()
    check_sub_interpreter()
    check_threads()
    check_leaks()
    check_hostile(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    checks.end()


main()
