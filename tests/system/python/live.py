# SPDX-License-Identifier: MIT
"""Live: what a client shares comes out of follow(), to_logging(), asyncio and
run() as open() reads it."""
import asyncio
import logging
import sys
import threading
import time

import support

import printfdecode as pd

checks = support.Checks()
DATA = support.read(support.SMALL)
PROGRAM = """
import sys, printfdecode as pd
client = pd.Client()
client.strings(sys.argv[2])
with open(sys.argv[1], "rb") as file:
    shared = client.share(file.read(), name="from a program")
shared.close()
client.close()
sys.exit(7)
"""


def of(entry):
    return entry.message, entry.format, entry.args, entry.fields, entry.id


def wanted(**selection):
    return [of(entry) for entry in pd.open(DATA, support.APP).entries(**selection)]


def give(session, name="shared", data=DATA):
    client = pd.Client(session.folder + "/input.sock", "test")
    client.strings(support.APP)
    client.share(data, name=name, format="llpc").close()
    client.close()


def take(stream, n):
    got = []
    end = time.monotonic() + 60
    while len(got) < n and time.monotonic() < end:
        got += stream.poll(1) or ()
    return got


def check_follow(session):
    give(session)
    with session.follow() as stream:
        got = take(stream, len(wanted()))
        checks.equal("entries", [of(entry) for entry in got], wanted())
        checks.equal("source", {entry.source for entry in got}, {"shared"})
        checks.equal("sequence", [e.sequence for e in got], sorted(e.sequence for e in got))
        checks.true("time", all(entry.time > 1 << 60 for entry in got))
        checks.equal("process", {e.origin.get("process") for e in got}, {"test"})
        checks.equal("format", {e.buffer_format for e in got}, {"llpc"})
        checks.equal("missed", stream.missed, 0)
    address = "unix:%s/lines.sock" % session.folder
    with pd.follow(address, where="ray >= 0", start="oldest") as stream:
        some = wanted(where="ray >= 0")
        checks.equal("where", [of(entry) for entry in take(stream, len(some))], some)
    error = checks.raises("nobody listens", pd.Error, lambda: pd.follow("unix:/nowhere.sock"))
    checks.equal("its file", error.file, "unix:/nowhere.sock")
    with pd.follow(address, where="(") as stream:
        checks.raises("a condition", pd.Error, lambda: take(stream, 1))


def check_asyncio(session):
    async def read():
        got = []
        with session.follow() as stream:
            async for entry in stream:
                got.append(of(entry))
                if len(got) == len(wanted()):
                    return got
        return got

    async def both():
        return await asyncio.wait_for(asyncio.gather(read(), read()), 60)
    first, second = asyncio.run(both())
    checks.equal("two at once", first, second)
    checks.equal("asyncio", first, wanted())


class Kept(logging.Handler):
    def __init__(self):
        super().__init__()
        self.records = []

    def emit(self, record):
        self.records.append(record)


def check_logging(session):
    kept = Kept()
    logger = logging.getLogger("gpu")
    logger.propagate = False
    logger.setLevel(logging.DEBUG)
    logger.addHandler(kept)
    with session.follow() as stream:
        stream.to_logging("gpu", wait=False)
        end = time.monotonic() + 60
        while len(kept.records) < len(wanted()) and time.monotonic() < end:
            time.sleep(0.01)
    checks.equal("records", [r.getMessage() for r in kept.records],
                 [message.rstrip("\n") for message, *_ in wanted()])
    checks.equal("args", [r.gpu_args for r in kept.records], [w[2] for w in wanted()])
    checks.equal("level", {r.levelname for r in kept.records}, {"INFO"})


def check_threads(session):
    """A second reader is refused, close() ends a waiting one."""
    stream = session.follow(match="nothing is called so")
    thread = threading.Thread(target=lambda: list(stream))
    thread.start()
    time.sleep(0.3)
    checks.raises("a second thread", ValueError, lambda: stream.poll(0))
    stream.close()
    thread.join(30)
    checks.true("it ended", not thread.is_alive())


def check_run():
    words = [sys.executable, "-c", PROGRAM, support.SMALL, support.APP]
    result = pd.run(words)
    checks.equal("status", result.returncode, 7)
    checks.equal("of a program", [of(entry) for entry in result.entries], wanted())
    taken = []
    result = pd.run(words, on_entry=taken.append, format="^ray")
    checks.equal("on_entry", [of(entry) for entry in taken], wanted(format="^ray"))
    checks.equal("kept", (result.entries, result.missed), ([], 0))
    checks.raises("no program", FileNotFoundError, lambda: pd.run(["/nowhere"]))


def check_memory(session):
    client = pd.Client(session.folder + "/input.sock")
    client.strings(support.APP)
    shared = client.share(len(DATA), name="written", format="llpc")
    try:
        import numpy
        array = numpy.frombuffer(shared, numpy.uint8)
        checks.true("no copy", not array.flags.owndata and array.flags.writeable)
        checks.raises("in use", BufferError, shared.close)
        array[16:] = numpy.frombuffer(DATA, numpy.uint8)[16:]
        array[:16] = numpy.frombuffer(DATA, numpy.uint8)[:16]
        del array
    except ImportError:
        with memoryview(shared) as view:
            view[:] = DATA
    shared.ring()
    with session.follow(sources="written") as stream:
        checks.equal("written", [of(entry) for entry in take(stream, len(wanted()))], wanted())
    checks.raises("open buffers", pd.UsageError, client.close)
    shared.close()
    client.close()
    checks.raises("closed", pd.UsageError, client.poll)


class Tensor:
    """As torch's: no buffer protocol, but numpy()."""

    def numpy(self):
        return memoryview(DATA)


def check_tensors(session):
    checks.equal("open", [of(entry) for entry in pd.open(Tensor(), support.APP)], wanted())
    give(session, "a tensor", Tensor())
    with session.follow(sources="a tensor") as stream:
        checks.equal("shared", [of(entry) for entry in take(stream, len(wanted()))], wanted())
    try:
        import torch
    except ImportError:
        print("torch is not there: its tensors are not tried")
        return
    data = torch.frombuffer(bytearray(DATA), dtype=torch.uint8)
    checks.equal("torch", [of(entry) for entry in pd.open(data, support.APP)], wanted())
    client = pd.Client(session.folder + "/input.sock")
    client.strings(support.APP)
    shared = client.share(len(DATA), name="torch", format="llpc")
    tensor = torch.frombuffer(shared, dtype=torch.uint8)
    tensor[16:] = data[16:]
    tensor[:16] = data[:16]
    shared.ring()
    with session.follow(sources="torch") as stream:
        checks.equal("one memory", [of(entry) for entry in take(stream, len(wanted()))], wanted())
    shared.close()
    checks.equal("its memory stays", bytes(tensor.numpy()), DATA)
    client.close()


def main():
    with pd.Session() as session:
        for check in (check_follow, check_asyncio, check_logging, check_threads, check_memory,
                      check_tensors):
            check(session)
    check_run()
    checks.end()


main()
