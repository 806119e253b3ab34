# SPDX-License-Identifier: MIT
"""pytest --gpu-printf: what a test's GPU work prints.

The fixture gpu_printf has a socket of its own for each test. Programs that the
test starts get it by their environment. Libraries in this process (our Vulkan
layer, a client) read the environment when they make their first instance: one that
was made before the test keeps what it had, and a report says so.
"""
import os
import time

import pytest

from . import Error, is_error
from .run import Session

QUIET_S = 0.2   # entries on their way when a test ends come within this
WAIT_S = 5.0    # the most that a test waits for them
KEY = pytest.StashKey()


class GpuPrintf:
    """What the GPU work of one test prints: entries, messages, findings.

    allow_errors(): the test expects errors, and does not fail by them.
    """

    def __init__(self, session, stream, had_vulkan):
        self._session, self._stream, self._had_vulkan = session, stream, had_vulkan
        self._entries = []
        self._allows_errors = False

    @property
    def environment(self):
        """For programs that are started with an environment of their own."""
        return dict(self._session.environment)

    @property
    def folder(self):
        """Where the sockets are: a Client takes folder + "/input.sock"."""
        return self._session.folder

    def wait(self, n=1, timeout=WAIT_S):
        """Waits for at least n entries, and returns all that came."""
        end = time.monotonic() + timeout
        while len(self._entries) < n and time.monotonic() < end:
            self._entries += self._stream.poll(0.05) or ()
        return self.entries

    @property
    def entries(self):
        """All entries so far."""
        self._entries += self._stream.poll(0) or ()
        return list(self._entries)

    @property
    def messages(self):
        return [str(entry) for entry in self.entries]

    @property
    def findings(self):
        return list(self._stream.findings)

    @property
    def missed(self):
        return self._stream.missed

    def allow_errors(self):
        self._allows_errors = True

    @property
    def errors(self):
        """Errors of GPU-assisted validation, aborts, failed asserts, and messages
        of level error."""
        return [entry for entry in self.entries if is_error(entry)]

    def _settle(self):
        """Until nothing has come for a while."""
        end = time.monotonic() + WAIT_S
        n = -1
        while n != len(self._entries) and time.monotonic() < end:
            n = len(self._entries)
            self._entries += self._stream.poll(QUIET_S) or ()

    def _unexpected(self):
        return [] if self._allows_errors else self.errors

    def _report(self):
        lines = [str(entry).rstrip("\n") for entry in self.entries]
        lines += ["! %s: %s" % (f.kind, f.text) for f in self.findings]
        if self.missed:
            lines.append("! %d entries were lost" % self.missed)
        if self._had_vulkan:
            lines.append("! a Vulkan library was loaded in this process before the test: "
                         "instances that it had made are not seen")
        return "\n".join(lines)


def _has_vulkan():
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            return any("libvulkan.so" in line for line in maps)
    except OSError:
        return False


def pytest_addoption(parser):
    group = parser.getgroup("gpu-printf", "what GPU programs print (printfdecode)")
    group.addoption("--gpu-printf", action="store_true",
                    help="capture what each test's GPU work prints; errors of validation and "
                         "failed asserts fail the test")
    group.addoption("--gpu-printf-vulkan", action="store_true",
                    help="with debugPrintfEXT of Vulkan")
    group.addoption("--gpu-printf-validation", action="store_true",
                    help="with GPU-assisted validation of Vulkan; of both, validation "
                         "layers of 2023 do this alone")


@pytest.fixture
def gpu_printf(request):
    """What the GPU work of this test prints (GpuPrintf)."""
    found = request.node.stash.get(KEY, None)
    if found is None:
        with _capture(request.node) as found:
            yield found
    else:
        yield found


class _capture:
    """A session around a test: its environment is this process' meanwhile."""

    def __init__(self, item):
        self.item = item
        self.kinds = [item.config.getoption("--gpu-printf-" + name)
                      for name in ("vulkan", "validation")]

    def __enter__(self):
        had_vulkan = _has_vulkan()
        self.session = Session(*self.kinds)
        self.stream = self.session.follow()
        self.before = {name: os.environ.get(name) for name in self.session.environment}
        os.environ.update(self.session.environment)
        self.found = self.item.stash[KEY] = GpuPrintf(self.session, self.stream, had_vulkan)
        return self.found

    def __exit__(self, *why):
        for name, value in self.before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        self.stream.close()
        self.session.close()
        del self.item.stash[KEY]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    if not item.config.getoption("--gpu-printf"):
        yield
        return
    try:
        with _capture(item):
            yield
    except Error as why:
        pytest.exit("--gpu-printf: %s" % why, returncode=4)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    found = item.stash.get(KEY, None)
    if found is None or report.when != "call":
        return
    found._settle()
    wrong = found._unexpected()
    if report.passed and wrong:
        report.outcome = "failed"
        report.longrepr = "the GPU reported %d error%s:\n%s" % (
            len(wrong), "s" * (len(wrong) > 1), "\n".join(str(one) for one in wrong))
    text = found._report()
    if report.failed and text:
        report.sections.append(("GPU printf", text))
