# SPDX-License-Identifier: MIT
"""A live subscription to printfdecoded."""
import asyncio
import collections
import logging
import re
import socket
import threading

from . import _core

TRACE = 5  # below logging.DEBUG
LEVELS = {"error": logging.ERROR, "warning": logging.WARNING, "info": logging.INFO,
          "debug": logging.DEBUG, "trace": TRACE}
# As compilers print it: "%s:%u: %s: Device-side assertion `%s' failed.\n".
ASSERTS = re.compile("assert.*fail", re.IGNORECASE | re.DOTALL)


def level_of(entry):
    """logging's level of an entry: its message's own, or what it is."""
    level = LEVELS.get(entry.origin.get("level"))
    if level is not None:
        return level
    if is_error(entry):
        return logging.ERROR
    return logging.WARNING if entry.stream == "stderr" else logging.INFO


def is_error(entry):
    """An error of GPU-assisted validation, an abort, an assert, or a message
    whose level says so."""
    return (entry.buffer_format in ("gpuav", "abort")
            or entry.origin.get("level") == "error"
            or ASSERTS.search(entry.format or "") is not None)


def _connect(address):
    """A socket of unix:PATH, tcp:HOST:PORT or a path."""
    if address.startswith("tcp:"):
        host, _, port = address[4:].rpartition(":")
        return socket.create_connection((host.strip("[]"), int(port)))
    path = address.removeprefix("unix:")
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect("\0" + path[1:] if path.startswith("@") else path)
    except OSError:
        connection.close()
        raise
    return connection


class Follow:
    """Entries as a daemon has them: iterate, or `async for`, until it is closed.

    One thread at a time reads it; close() may be called by any. findings has what
    came between entries, gaps among them; missed counts what gaps say is lost.
    """

    def __init__(self, address, selection, findings=False):
        request = _core.request(selection)
        try:
            self._socket = _connect(address)
            self._socket.sendall(request)
        except OSError as why:
            error = _core.Error("%s: %s" % (address, why.strerror or why))
            error.file, error.offset, error.reason = address, None, why.strerror or str(why)
            raise error from why
        self._follower = _core.Follower(self._socket.fileno())
        self._queue = collections.deque()
        self._gives_findings = findings
        self._closed = False
        self._thread = None
        self.findings = []

    # ---- reading ----

    def _take(self, timeout_ms):
        """Queues what comes in time. False: the stream is over."""
        if self._closed:
            return False
        got = self._follower.take(timeout_ms)
        self.findings += self._follower.findings()
        for one in got or ():
            if isinstance(one, _core.Finding):
                self.findings.append(one)
                if not self._gives_findings:
                    continue
            self._queue.append(one)
        return got is not None

    def poll(self, timeout=0.0):
        """Entries that are there, or come within so many seconds; None: it is
        over."""
        more = bool(self._queue) or self._take(int(timeout * 1000))
        if not more and not self._queue:
            return None
        got = list(self._queue)
        self._queue.clear()
        return got

    def __iter__(self):
        return self

    def __next__(self):
        while not self._queue:
            if not self._take(200):
                raise StopIteration
        return self._queue.popleft()

    def __aiter__(self):
        return self

    async def __anext__(self):
        loop = asyncio.get_running_loop()
        while not self._queue:
            if not self._take(0):
                raise StopAsyncIteration
            if not self._queue:
                await self._readable(loop)
        return self._queue.popleft()

    async def _readable(self, loop):
        ready = loop.create_future()

        def wake():
            if not ready.done():
                ready.set_result(None)
        loop.add_reader(self._socket, wake)
        try:
            await ready
        finally:
            loop.remove_reader(self._socket)

    @property
    def missed(self):
        """Entries and findings that were not sent."""
        return self._follower.missed

    # ---- giving ----

    def start(self, on_entry):
        """Calls on_entry(entry) on a thread of its own, until close()."""
        def give():
            for entry in self:
                on_entry(entry)
        self._thread = threading.Thread(target=give, name="printfdecode.follow", daemon=True)
        self._thread.start()
        return self._thread

    def to_logging(self, logger=None, wait=True):
        """Logs each entry: its level is the message's, `extra` has gpu (the
        entry), gpu_args and gpu_fields. wait=False: on a thread."""
        if not isinstance(logger, logging.Logger):
            logger = logging.getLogger(logger)

        def log(entry):
            level = level_of(entry)
            if isinstance(entry, _core.Entry) and logger.isEnabledFor(level):
                logger.log(level, "%s", str(entry).rstrip("\n"), extra={
                    "gpu": entry, "gpu_args": entry.args, "gpu_fields": entry.fields})
        if wait:
            for entry in self:
                log(entry)
        else:
            self.start(log)

    # ---- ending ----

    def close(self):
        """Ends the subscription; a thread that reads it ends, too."""
        if self._closed:
            return
        self._closed = True
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the daemon was faster
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()
