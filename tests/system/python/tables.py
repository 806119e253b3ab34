# SPDX-License-Identifier: MIT
"""Tables: values as the command's, no copies, and Arrow's streams as a consumer
that was written from its specification walks and releases them."""
import ctypes
import itertools
import json
import sys
import tempfile
import threading
import time

import support

import printfdecode as pd

checks = support.Checks()
DATA = support.many(20)
LAYOUTS = {b"c": "b", b"s": "h", b"i": "i", b"l": "q", b"C": "B", b"S": "H", b"I": "I",
           b"L": "Q", b"e": "e", b"f": "f", b"g": "d", b"tsn:UTC": "q"}


# ---- Arrow's C data interface ----

class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]
Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.c_void_p),
    ("release", ctypes.c_void_p), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [(name, ctypes.c_void_p) for name in (
    "get_schema", "get_next", "get_last_error", "release", "private_data")]


def call(function, *words):
    return ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * len(words))(function)(
        *[ctypes.addressof(word) for word in words])


def release(one):
    if one.release:
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(one.release)(ctypes.addressof(one))
    checks.true("released", not one.release)


def get_pointer(capsule):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, b"arrow_array_stream")


def values(schema, array):
    """A column as Python's values, by the specification alone."""
    n = array.length
    valid = [True] * n
    if array.null_count:
        bits = (ctypes.c_uint8 * (n // 8 + 1)).from_address(array.buffers[0])
        valid = [bits[row // 8] >> row % 8 & 1 for row in range(n)]
    checks.equal("nulls", array.null_count, n - sum(map(bool, valid)))
    if schema.format in (b"u", b"z"):
        checks.equal("buffers", array.n_buffers, 3)
        ends = (ctypes.c_int32 * (n + 1)).from_address(array.buffers[1])
        texts = ctypes.string_at(array.buffers[2], ends[n])
        found = [texts[ends[i]:ends[i + 1]].decode("utf-8", "backslashreplace") for i in range(n)]
    else:
        checks.equal("buffers", array.n_buffers, 2)
        layout = LAYOUTS[schema.format]
        size = memoryview(bytes(8)).cast(layout if layout != "e" else "H").itemsize
        found = memoryview(ctypes.string_at(array.buffers[1], n * size)).cast("B")
        found = list(found.cast(layout))
    return [value if is_valid else None for value, is_valid in zip(found, valid)]


def walk(table, order="whole"):
    """All columns of a stream by name; releases everything, as `order` says."""
    capsule = table.__arrow_c_stream__()
    theirs = Stream.from_address(get_pointer(capsule))
    stream = Stream.from_buffer_copy(theirs)
    theirs.release = None  # moved out
    del theirs, capsule
    schema, array, end = Schema(), Array(), Array()
    checks.equal("schema", call(stream.get_schema, stream, schema), 0)
    checks.equal("batch", call(stream.get_next, stream, array), 0)
    checks.equal("end", (call(stream.get_next, stream, end), bool(end.release)), (0, False))
    if order == "stream first":
        release(stream)
    checks.equal("struct", (schema.format, array.n_buffers), (b"+s", 1))
    checks.equal("children", schema.n_children, array.n_children)
    found = {}
    children = [array.children[i].contents for i in range(schema.n_children)]
    if order == "moved":  # they outlive the batch
        moved = [Array.from_buffer_copy(child) for child in children]
        for child in children:
            child.release = None
        release(array)
        children = moved
    for i, child in enumerate(children):
        of = schema.children[i].contents
        found[of.name.decode()] = values(of, child)
        if order == "moved":
            release(child)
    rest = [one for one in (schema, array, stream) if one.release]
    if order == "on a thread":
        thread = threading.Thread(target=lambda: [release(one) for one in rest])
        thread.start()
        thread.join()
    else:
        for one in rest:
            release(one)
    return found


# ---- against the command ----

def of_command(path, *words):
    done = support.command("table", "--output", "json", *words, path, support.APP)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_arrow(d, path):
    table, = [one for one in d.tables() if one.format.startswith("ray")]
    want = of_command(path, "--format-string", "^ray")
    for order in ("whole", "stream first", "moved", "on a thread"):
        columns = walk(table, order)
        checks.equal("rows", len(columns["ray"]), len(want))
        for name in ("ray", "prim", "index"):
            checks.equal(name, columns[name], [row[name] for row in want])
        checks.equal("t", columns["t"], [float(f32(row["t"])) for row in want])
    unused = table.__arrow_c_stream__()
    checks.true("not taken", unused)
    del unused


def f32(value):
    return ctypes.c_float(value).value


def check_numpy(d):
    try:
        import numpy
    except ImportError:
        print("no NumPy: its arrays are not looked at")
        return
    array = d.table("^ray")
    checks.true("an array", isinstance(array, numpy.ndarray))
    checks.true("no copy", not array.flags.owndata and not array["t"].flags.owndata)
    table, = [one for one in d.tables() if one.format.startswith("ray")]
    for name in ("ray", "t", "prim", "index"):
        checks.equal("array " + name, array[name].tolist(), table[name].tolist())
    checks.equal("where", int(d.table("^ray", where="t > 0").size),
                 int((array["t"] > 0).sum()))
    checks.equal("by Arrow", walk(array)["prim"], array["prim"].tolist())
    checks.raises("a part", TypeError, array[:3].__arrow_c_stream__)
    checks.true("html", "<td>" in array._repr_html_())
    d = pd.open(support.many(2000), support.APP)
    start = time.process_time()
    array = d.table("^ray")
    cost = time.process_time() - start
    start = time.process_time()
    n = sum(len(e.args) > 0 for e in d.entries(format="^ray"))
    print("%d rows in %.1f ms of processors, by entries %.1f ms" % (
        len(array), 1e3 * cost, 1e3 * (time.process_time() - start)))
    checks.equal("rows", n, len(array))


def check_plain(d):
    """Without NumPy: memoryviews."""
    sys.modules["numpy"] = None
    table = d.table("^ray")
    del sys.modules["numpy"]
    checks.equal("names", table.columns[:3], ("ray", "t", "prim"))
    checks.equal("view", (table["t"].format, table["t"].itemsize, len(table["t"])),
                 ("f", 4, len(table)))
    view = table["ray"]
    checks.true("read only", view.readonly)
    del table  # the view keeps the column
    entries = list(d.entries(format="^ray"))
    checks.equal("values", view.tolist(), [e.fields["ray"] for e in entries])
    sums = d.table("^ray", group_by="prim", aggregates="count")
    checks.equal("groups", len(sums), len({e.fields["prim"] for e in entries}))


def main():
    d = pd.open(DATA, support.APP)
    with tempfile.NamedTemporaryFile() as file:
        file.write(DATA)
        file.flush()
        check_arrow(d, file.name)
    check_plain(d)
    check_numpy(d)
    for one in d.tables():
        columns = walk(one)
        for name in one.columns:
            got = list(itertools.islice(one[name], len(one)))
            checks.equal(name, [v for v, null in zip(got, one.nulls(name)) if not null],
                         [v for v in columns[name] if v is not None])
    checks.raises("several strings", pd.UsageError, lambda: d.table())
    checks.raises("no such column", pd.UsageError, lambda: d.table("^ray", columns="nope"))
    checks.raises("none", pd.UsageError, lambda: d.table("no string is called so"))
    checks.raises("a pattern", pd.UsageError, lambda: d.table("("))
    checks.end()


main()
