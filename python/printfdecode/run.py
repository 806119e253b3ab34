# SPDX-License-Identifier: MIT
"""Programs that print, with a daemon of their own."""
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from . import _core
from .follow import Follow

START_S = 30
LOOK_S = 0.01
CONFIG = """log_level: warning
memory_max: %d
inputs:
  - {type: listen, address: "unix:%s/input.sock"}
outputs:
  - {type: listen, address: "unix:%s/lines.sock"}
"""
PLACES = ("printfdecoded", "../daemon/printfdecoded", "../sbin/printfdecoded")


def _error(reason):
    error = _core.Error(reason)
    error.file, error.offset, error.reason = None, None, reason
    return error


def command():
    """The command's path: $PRINTFDECODE, or from PATH."""
    found = os.environ.get("PRINTFDECODE") or shutil.which("printfdecode")
    if not found:
        raise _error("the command printfdecode is not installed: it is not in PATH")
    return found


def _daemon():
    """The daemon beside the command, else from PATH."""
    base = os.path.dirname(os.path.realpath(command()))
    for place in PLACES:
        path = os.path.normpath(os.path.join(base, place))
        if os.access(path, os.X_OK):
            return path
    found = shutil.which("printfdecoded")
    if not found:
        raise _error("printfdecoded is not installed: it is neither beside the "
                     "command nor in PATH")
    return found


class Session:
    """A daemon with a folder of its own. Programs that get `environment` print to
    it; follow() reads what they print. Buffers live in the daemon's memory, which
    memory_max limits."""

    def __init__(self, vulkan=False, gpu_validation=False, memory_max=256 << 20):
        path = _daemon()
        self.folder = tempfile.mkdtemp(prefix="printfdecode-")
        try:
            self.environment = {"PRINTFDECODE_DIR": self.folder}
            if vulkan or gpu_validation:
                self._set_vulkan(vulkan, gpu_validation)
            self._start(path, memory_max)
        except BaseException:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def _start(self, path, memory_max):
        config = os.path.join(self.folder, "config.yaml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(CONFIG % (memory_max, self.folder, self.folder))
        # A key that interrupts this program must not end the daemon first.
        self._process = subprocess.Popen([path, "--config", config], stdin=subprocess.DEVNULL,
                                         start_new_session=True)
        end = time.monotonic() + START_S
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > end:
                self._stop()
                raise _error("printfdecoded does not start")
            time.sleep(LOOK_S)

    def _listens(self):
        for name in ("input.sock", "lines.sock"):
            with socket.socket(socket.AF_UNIX) as probe:
                try:
                    probe.connect(os.path.join(self.folder, name))
                except OSError:
                    return False
        return True

    def _set_vulkan(self, debug_printf, gpu_validation):
        """What `printfdecode run` sets for the Vulkan loader, moved to our folder."""
        words = ["--vulkan-debug-printf"] * debug_printf
        words += ["--vulkan-gpu-validation"] * gpu_validation
        show = 'env -0; printf "\\0\\0"; cat "$VK_LAYER_SETTINGS_PATH"'
        done = subprocess.run([command(), "run", *words, "--", "sh", "-c", show],
                              capture_output=True, check=False)
        if done.returncode:
            raise _error(done.stderr.decode(errors="replace").strip()
                         or "printfdecode run fails")
        text, _, settings = done.stdout.partition(b"\0\0\0")
        pairs = [os.fsdecode(pair).partition("=") for pair in text.split(b"\0")]
        theirs = {name: value for name, _, value in pairs}
        before = theirs["PRINTFDECODE_DIR"]
        own = os.path.join(self.folder, "vk_layer_settings.txt")
        with open(own, "wb") as file:
            file.write(settings)
        for name, value in theirs.items():
            if name not in ("_", "PWD", "SHLVL") and os.environ.get(name) != value:
                self.environment[name] = value.replace(before, self.folder)

    def follow(self, match=None, *, findings=False, **selection):
        """Everything that programs printed and will print."""
        selection.setdefault("from", "oldest")
        return Follow("unix:%s/lines.sock" % self.folder, dict(selection, match=match),
                      findings)

    def _stop(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        self._process.wait()

    def finish(self, stream):
        """No program prints any more: yields what is left of a stream, and ends
        the daemon."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        yield from stream
        self._process.wait()

    def close(self):
        self._stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()


class Result:
    """A program that ran: its exit status, and what it printed on the GPU.

    entries is empty where on_entry took them. missed counts what was lost."""

    def __init__(self):
        self.returncode, self.entries, self.findings, self.missed = None, [], [], 0

    def __repr__(self):
        return "<Result: exit status %s, %d entries>" % (self.returncode, len(self.entries))


def run(argv, *, vulkan=False, gpu_validation=False, on_entry=None, env=None,
        memory_max=256 << 20, **selection):
    """Runs a program and takes what it prints on the GPU, while it runs.

    vulkan: what shaders print with debugPrintfEXT; gpu_validation: errors that
    GPU-assisted validation finds. on_entry(entry) is called on this thread; without
    it the result has the entries. selection: match=, format=, where=, ...
    """
    result = Result()
    give = on_entry or result.entries.append
    with Session(vulkan, gpu_validation, memory_max) as session, \
            session.follow(**selection) as stream:
        environment = dict(os.environ if env is None else env, **session.environment)
        sys.stdout.flush()
        with subprocess.Popen(argv, env=environment) as program:
            try:
                while program.poll() is None:
                    for entry in stream.poll(0.05) or ():
                        give(entry)
            except BaseException:
                program.kill()
                raise
        for entry in session.finish(stream):
            give(entry)
        result.returncode = program.returncode
        result.findings, result.missed = stream.findings, stream.missed
    return result
